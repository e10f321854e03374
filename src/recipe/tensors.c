// SPDX-License-Identifier: Apache-2.0
/* Tensors as places in ranges, and a replay on given inputs.
 *
 * A check compares hashes and keeps no outputs: those of a model are gigabytes, its
 * inputs 16 MiB at most. Outputs come to the host in pieces of 1 MiB, each waited for:
 * checks run once, when a recipe is made or loaded, and their speed is that of the link.
 */
#include "base/fail.h"
#include "cuda/status.h"
#include "recipe/recipe.h"

#include <string.h>

gph_tensor gphi_tensor_at(const struct gphi_bundle_tensor *tensor, uint64_t base)
{
    gph_tensor out = {
        .data = base + tensor->offset, .dtype = tensor->dtype, .rank = tensor->rank};
    memcpy(out.shape, tensor->shape, sizeof(out.shape));
    memcpy(out.stride, tensor->stride, sizeof(out.stride));
    return out;
}

/* A tensor lies in one range with all that it spans, so that it moves in one piece;
 * one outside every range could not be found again. */
gph_status gphi_add_tensors(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                            const gph_tensor *tensors, uint32_t count, const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        const gph_tensor *from = &tensors[i];
        if (from->rank > GPH_TENSOR_RANK_MAX || from->dtype < GPH_DTYPE_U8 ||
            from->dtype > GPH_DTYPE_C128)
            return gphi_fail(survey->error, GPH_E_INVALID, "%s %u: rank %u, type %u",
                             what, i, from->rank, from->dtype);
        const uint64_t bytes = gph_tensor_bytes(from);
        struct gphi_bundle_tensor to = {
            .range = gphi_range_of(survey->bundle, from->data, bytes),
            .dtype = from->dtype,
            .rank = from->rank};
        if (to.range == GPHI_BUNDLE_NONE)
            return gphi_fail(survey->error, GPH_E_INVALID,
                             "%s %u: %llu bytes at 0x%llx are in no range", what, i,
                             (unsigned long long)bytes, from->data);
        to.offset = from->data - gphi_recipe_range(survey->bundle, to.range)->address;
        memcpy(to.shape, from->shape, from->rank * sizeof(*to.shape));
        memcpy(to.stride, from->stride, from->rank * sizeof(*to.stride));
        GPHI_TRY(gphi_made(survey->error, gphi_vec_push(&graph->tensors, &to) == GPH_OK,
                           "recording %s %u", what, i));
    }
    return GPH_OK;
}

uint64_t gphi_check_input_bytes(const gph_tensor *tensors, uint32_t inputs)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        const uint64_t bytes = gph_tensor_bytes(&tensors[i]);
        if (bytes > GPHI_CHECK_BYTES_MAX - all)
            return UINT64_MAX;
        all += bytes;
    }
    return all;
}

static gph_status synchronize(const gphi_check *check, gph_error *error)
{
    return gphi_cuda_check(error, check->runtime->cu.cuStreamSynchronize(check->stream),
                           "cuStreamSynchronize", "a check of a graph");
}

/* Both ways with one walk: inputs are read when a check is made, and put back before
 * each replay. */
gph_status gphi_check_copy(const gphi_check *check, void *bytes, bool to_device,
                           gph_error *error)
{
    const gphi_cuda_table *cu = &check->runtime->cu;
    char *at = bytes;
    for (uint32_t i = 0; i < check->inputs; i++) {
        const uint64_t count = gph_tensor_bytes(&check->tensors[i]);
        const CUdeviceptr data = check->tensors[i].data;
        if (count == 0)
            continue;
        GPHI_TRY(gphi_cuda_check(
            error,
            to_device ? cu->cuMemcpyHtoDAsync(data, at, count, check->stream)
                      : cu->cuMemcpyDtoHAsync(at, data, count, check->stream),
            to_device ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", "input %u of a check",
            i));
        at += count;
    }
    return synchronize(check, error);
}

static gph_status hash_output(const gphi_check *check, const gph_tensor *tensor,
                              gphi_vec *room, gphi_sha256 *hash, gph_error *error)
{
    const uint64_t bytes = gph_tensor_bytes(tensor);
    for (uint64_t done = 0; done < bytes; done += room->count) {
        const uint64_t part = bytes - done < room->count ? bytes - done : room->count;
        GPHI_TRY(
            gphi_cuda_check(error,
                            check->runtime->cu.cuMemcpyDtoHAsync(
                                room->items, tensor->data + done, part, check->stream),
                            "cuMemcpyDtoHAsync", "an output of a check"));
        GPHI_TRY(synchronize(check, error));
        gphi_sha256_add(hash, room->items, part);
    }
    return GPH_OK;
}

/* The hash is over all outputs in their order: which of them differs is not asked, as
 * the graph is captured again in any case. */
gph_status gphi_check_replay(const gphi_check *check,
                             unsigned char out[GPHI_BUNDLE_HASH_BYTES], gph_error *error)
{
    enum { ROOM = 1 << 20 };
    GPHI_TRY(gph_exec_launch(check->exec, check->stream, error));
    GPHI_TRY(synchronize(check, error));
    gphi_vec room;
    gphi_vec_init(&room, check->runtime->heap, 1);
    GPHI_TRY(gphi_made(error, gphi_vec_add(&room, ROOM), "checking a graph"));
    gphi_sha256 hash;
    gphi_sha256_begin(&hash);
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < check->outputs && status == GPH_OK; i++)
        status =
            hash_output(check, &check->tensors[check->inputs + i], &room, &hash, error);
    gphi_sha256_end(&hash, out);
    gphi_vec_fini(&room);
    return status;
}
