// SPDX-License-Identifier: Apache-2.0
/* What recordings used of a pool: kept with their graphs, and laid out again.
 *
 * A graph's addresses mean something only where its memory is as it was: temporaries
 * over each other, outputs and kept ranges allocated, eager memory that it reads in its
 * place. Ranges are stored as offsets into the recipe's ranges, so they move with an
 * arena. Eager memory is shared by graphs and noted once; where the caller has allocated
 * it already, at the same place, it is left alone. */
#include "recipe/footprint.h"
#include "base/fail.h"
#include "memory/pool.h"

static gph_status fail_memory(gph_error *error)
{
    return gphi_fail(error, GPH_E_NO_MEMORY, "the memory of a recorded graph");
}

/* By range and offset, never by address: what is stored is right wherever the range
 * lies when it is loaded. */
static gph_status add_block(const gphi_survey *survey, gphi_vec *to,
                            const gph_pool_range *from)
{
    struct gphi_bundle_block block = {
        .range = gphi_range_of(survey->bundle, from->address, from->bytes),
        .kind = (uint32_t)from->kind,
        .maker = from->maker,
        .first = from->first,
        .last = from->last,
        .bytes = from->bytes};
    if (block.range == GPHI_BUNDLE_NONE)
        return gphi_fail(survey->error, GPH_E_INVALID,
                         "%llu bytes of the pool at 0x%llx are in no range of the recipe",
                         (unsigned long long)from->bytes, from->address);
    block.offset =
        from->address - gphi_recipe_range(survey->bundle, block.range)->address;
    return gphi_vec_push(to, &block) == GPH_OK ? GPH_OK : fail_memory(survey->error);
}

/* Eager memory is noted once, whichever graph it was met with. */
static gph_status add_eager(const gphi_survey *survey, const gph_pool_range *from)
{
    gphi_vec *eager = &survey->bundle->eager;
    for (size_t i = 0; i < eager->count; i++) {
        const struct gphi_bundle_block *block = GPHI_BUNDLE_AT(eager, block, i);
        if (gphi_recipe_range(survey->bundle, block->range)->address + block->offset ==
            from->address)
            return GPH_OK;
    }
    return add_block(survey, eager, from);
}

/* Live eager memory counts for every graph of the pool: which of it a graph reads is
 * not known, and an address in its arguments may point anywhere. */
gph_status gphi_footprint_keep(const gphi_survey *survey, gph_pool *pool,
                               gph_recording_id recording,
                               struct gphi_bundle_graph *graph)
{
    if (!pool)
        return GPH_OK;
    gphi_vec ranges;
    gphi_vec_init(&ranges, survey->bundle->heap, sizeof(gph_pool_range));
    gph_status status = gphi_pool_list(pool, 0, 0, &ranges, survey->error);
    for (size_t i = 0; i < ranges.count && status == GPH_OK; i++) {
        const gph_pool_range *range = gphi_vec_at(&ranges, i);
        if (range->recording == 0)
            status = add_eager(survey, range);
    }
    graph->recording = recording;
    ranges.count = 0;
    if (status == GPH_OK && recording != 0)
        status = gphi_pool_list(pool, recording, 0, &ranges, survey->error);
    for (size_t i = 0; i < ranges.count && status == GPH_OK; i++)
        status = add_block(survey, &graph->blocks, gphi_vec_at(&ranges, i));
    gphi_vec_fini(&ranges);
    return status;
}

/* ---- laying out again ---- */

void gphi_footprint_init(gphi_footprint *footprint, gph_allocator heap)
{
    *footprint = (gphi_footprint){0};
    gphi_vec_init(&footprint->eager, heap, sizeof(CUdeviceptr));
    gphi_map_init(&footprint->ids, heap);
}

/* In the other order than it was allocated. Recordings have been forgotten before:
 * they lie around this memory. */
void gphi_footprint_fini(gphi_footprint *footprint)
{
    for (size_t i = footprint->eager.count; i-- > 0;)
        gphi_ignore(gph_pool_free(footprint->pool,
                                  *(CUdeviceptr *)gphi_vec_at(&footprint->eager, i),
                                  CU_STREAM_PER_THREAD, NULL),
                    "the pool keeps it then, and says so in the end");
    gphi_vec_fini(&footprint->eager);
    gphi_map_fini(&footprint->ids);
    gph_pool_release(footprint->pool);
    footprint->pool = NULL;
}

static CUdeviceptr address_of(const gphi_footprint *footprint,
                              const struct gphi_bundle_block *block)
{
    return gphi_recipe_range(footprint->bundle, block->range)->address +
           footprint->shift[block->range] + block->offset;
}

/* Whether exactly this is allocated already: by the caller, who knew where. */
static gph_status is_live(const gphi_footprint *footprint, CUdeviceptr address,
                          uint64_t bytes, bool *out, gph_error *error)
{
    gphi_vec ranges;
    gphi_vec_init(&ranges, footprint->eager.heap, sizeof(gph_pool_range));
    const gph_status status = gphi_pool_list(footprint->pool, 0, 0, &ranges, error);
    *out = false;
    GPHI_EACH (const gph_pool_range, range, &ranges)
        *out = *out || (range->address == address && range->bytes >= bytes);
    gphi_vec_fini(&ranges);
    return status;
}

/* Eager memory first: recordings are laid out around it. */
gph_status gphi_footprint_begin(gphi_footprint *footprint, gph_pool *pool,
                                const gphi_bundle *bundle, const uint64_t *shift,
                                gph_error *error)
{
    footprint->pool = gph_pool_retain(pool);
    footprint->bundle = bundle;
    footprint->shift = shift;
    for (size_t i = 0; i < bundle->eager.count; i++) {
        const struct gphi_bundle_block *block = GPHI_BUNDLE_AT(&bundle->eager, block, i);
        const CUdeviceptr address = address_of(footprint, block);
        bool is_there = false;
        GPHI_TRY(is_live(footprint, address, block->bytes, &is_there, error));
        if (is_there)
            continue;
        if (gphi_vec_reserve(&footprint->eager, 1) != GPH_OK)
            return fail_memory(error);
        GPHI_TRY(
            gph_pool_alloc_at(pool, address, block->bytes, CU_STREAM_PER_THREAD, error));
        *(CUdeviceptr *)gphi_vec_add(&footprint->eager, 1) = address;
    }
    return GPH_OK;
}

/* Numbers of recordings are of a pool, so makers of inputs are translated by `ids`. What a
 * recording itself fills before each replay has itself for a maker, whose number is not
 * known yet: UINT32_MAX, as gph_pool_record_restore() has it. */
gph_status gphi_footprint_restore(gphi_footprint *footprint,
                                  const struct gphi_bundle_graph *graph, const char *name,
                                  gph_recording_id *out, gph_error *error)
{
    gphi_vec ranges;
    gphi_vec_init(&ranges, footprint->eager.heap, sizeof(gph_pool_range));
    if (graph->blocks.count > 0 && !gphi_vec_add(&ranges, graph->blocks.count))
        return fail_memory(error);
    gph_status status = GPH_OK;
    for (size_t i = 0; i < graph->blocks.count && status == GPH_OK; i++) {
        const struct gphi_bundle_block *block = GPHI_BUNDLE_AT(&graph->blocks, block, i);
        const uint64_t *maker = gphi_map_get(&footprint->ids, block->maker);
        if (block->maker != 0 && block->maker != graph->recording && !maker)
            status = gphi_fail(error, GPH_E_STATE,
                               "it reads memory of recording %u, which is not here",
                               block->maker);
        *(gph_pool_range *)gphi_vec_at(&ranges, i) =
            (gph_pool_range){.address = address_of(footprint, block),
                             .bytes = block->bytes,
                             .recording = UINT32_MAX,
                             .maker = block->maker == graph->recording ? UINT32_MAX
                                      : maker ? (gph_recording_id)*maker
                                              : 0,
                             .kind = (gph_range_kind)block->kind,
                             .first = block->first,
                             .last = block->last};
    }
    gph_recording_id id = 0;
    GPHI_THEN(status, gph_pool_record_restore(footprint->pool, name, ranges.items,
                                              (uint32_t)ranges.count, &id, error));
    gphi_vec_fini(&ranges);
    if (status == GPH_OK &&
        gphi_map_set(&footprint->ids, graph->recording, id) != GPH_OK) {
        gph_pool_record_forget(footprint->pool, id);
        status = fail_memory(error);
    }
    if (status == GPH_OK)
        *out = id;
    return status;
}
