// SPDX-License-Identifier: Apache-2.0
/* A recipe: what it is made of, and what is asked of it without a driver.
 *
 *   recipe ── bundle   ranges │ kernels, args │ text │ graphs, each with nodes, edges,
 *                      arguments, copies, fills, words (addresses), tensors, refusals
 *
 * The bundle is flat arrays that refer to each other by index, as the file has them
 * (gph-recipe(5), src/file): it is written and read without being walked, and checked
 * once when it is read, so that everything here may index without a look.
 *
 * Ranges may not overlap, neither at their place nor at their shifted one: the range
 * that an address lies in decides which way it moves, and it has to be one. Their
 * number is small, so they are searched in a row.
 *
 * What is asked is lent: text and arrays point into the bundle, and stay until it grows.
 */
#include "base/fail.h"
#include "base/heap.h"
#include "base/save.h"
#include "file/disk.h"
#include "recipe/parts.h"

#include <string.h>

gph_status gph_recipe_create(const gph_allocator *allocator, gph_recipe **out,
                             gph_error *error)
{
    GPHI_TRY(gphi_need(error, out));
    const gph_allocator heap = gphi_heap(allocator);
    gph_recipe *recipe = gphi_heap_alloc(heap, sizeof(*recipe));
    GPHI_TRY(gphi_made(error, recipe, "making a recipe"));
    gphi_bundle_init(&recipe->bundle, heap);
    *out = recipe;
    return GPH_OK;
}

void gph_recipe_destroy(gph_recipe *recipe)
{
    if (!recipe)
        return;
    const gph_allocator heap = recipe->bundle.heap;
    gphi_bundle_fini(&recipe->bundle);
    gphi_heap_free(heap, recipe, sizeof(*recipe));
}

static bool overlaps(uint64_t a, uint64_t b, uint64_t a_bytes, uint64_t b_bytes)
{
    return a < b ? b - a < a_bytes : a - b < b_bytes;
}

static gph_status check_range(const gphi_bundle *bundle, const gph_recipe_range *range,
                              gph_error *error)
{
    if (!gphi_bundle_is_name(range->name))
        return gphi_fail(error, GPH_E_INVALID,
                         "the range of %llu bytes at 0x%llx needs a printable name",
                         (unsigned long long)range->bytes,
                         (unsigned long long)range->address);
    if (range->bytes == 0 || range->address > UINT64_MAX - range->bytes ||
        range->shifted > UINT64_MAX - range->bytes)
        return gphi_fail(error, GPH_E_INVALID, "range %.100s has %llu bytes", range->name,
                         (unsigned long long)range->bytes);
    if (range->shifted != range->address &&
        overlaps(range->address, range->shifted, range->bytes, range->bytes))
        return gphi_fail(error, GPH_E_INVALID,
                         "range %.100s overlaps its own shifted place", range->name);
    for (size_t i = 0; i < bundle->ranges.count; i++) {
        const struct gphi_bundle_range *other = gphi_recipe_range(bundle, i);
        const char *name = gphi_bundle_text(bundle, other->name);
        if (strcmp(name, range->name) == 0)
            return gphi_fail(error, GPH_E_INVALID, "there is a range %.100s already",
                             name);
        if (overlaps(other->address, range->address, other->bytes, range->bytes) ||
            overlaps(other->shifted, range->shifted, other->bytes, range->bytes))
            return gphi_fail(error, GPH_E_INVALID, "range %.100s overlaps range %.100s",
                             range->name, name);
    }
    return GPH_OK;
}

gph_status gph_recipe_range_add(gph_recipe *recipe, const gph_recipe_range *range,
                                uint32_t *index, gph_error *error)
{
    gph_recipe_range read;
    GPHI_TRY(gphi_need(error, recipe, range));
    GPHI_TRY(gphi_options_read(&read, sizeof(read), "gph_recipe_range", range, error));
    gphi_bundle *bundle = &recipe->bundle;
    GPHI_TRY(check_range(bundle, &read, error));
    if (bundle->ranges.count >= GPHI_BUNDLE_RANGES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "more than %d ranges",
                         GPHI_BUNDLE_RANGES_MAX);
    struct gphi_bundle_range added = {
        .address = read.address, .shifted = read.shifted, .bytes = read.bytes};
    GPHI_TRY(
        gphi_made(error,
                  gphi_vec_reserve(&bundle->ranges, 1) == GPH_OK &&
                      gphi_bundle_text_add(bundle, read.name, &added.name) == GPH_OK &&
                      gphi_vec_push(&bundle->ranges, &added) == GPH_OK,
                  "adding range %.100s", read.name));
    if (index)
        *index = (uint32_t)bundle->ranges.count - 1;
    return GPH_OK;
}

gph_status gph_recipe_arena_add(gph_recipe *recipe, const char *name,
                                const gph_arena *arena, const gph_arena *shifted,
                                uint32_t *index, gph_error *error)
{
    GPHI_TRY(gphi_need(error, arena));
    gph_recipe_range range = {.size = sizeof(gph_recipe_range), .name = name};
    uint64_t bytes = 0;
    gph_arena_range(arena, &range.address, &range.bytes);
    range.shifted = range.address;
    if (shifted)
        gph_arena_range(shifted, &range.shifted, &bytes);
    if (shifted && bytes != range.bytes)
        return gphi_fail(
            error, GPH_E_INVALID, "the arenas of range %.100s have %llu and %llu bytes",
            name ? name : "", (unsigned long long)range.bytes, (unsigned long long)bytes);
    return gph_recipe_range_add(recipe, &range, index, error);
}

static gph_status write_file(void *user, gphi_save *save)
{
    const gphi_vec *bytes = user;
    return gphi_save_write(save, bytes->items, bytes->count);
}

gph_status gph_recipe_save(gph_recipe *recipe, const char *path, gph_error *error)
{
    GPHI_TRY(gphi_need(error, recipe, path));
    gphi_vec bytes;
    gphi_vec_init(&bytes, recipe->bundle.heap, 1);
    gph_status status = gphi_bundle_write(&recipe->bundle, &bytes, error);
    GPHI_THEN(status, gphi_save_file(path, write_file, &bytes, error));
    gphi_vec_fini(&bytes);
    return status;
}

gph_status gph_recipe_load(const char *path, const gph_file_options *options,
                           gph_recipe **out, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_file_options", options, error));
    GPHI_TRY(gphi_need(error, path, out));
    const struct gphi_bundle_limits limits = {
        .unpacked_bytes = opt.bytes_max != 0 ? opt.bytes_max : GPHI_FILE_BYTES_MAX,
        .nodes = opt.nodes_max != 0 ? opt.nodes_max : 1000000,
    };
    gphi_vec bytes;
    gphi_vec_init(&bytes, gphi_heap(opt.allocator), 1);
    gph_recipe *recipe = NULL;
    gph_status status = gphi_file_read(path, limits.unpacked_bytes, &bytes, error);
    GPHI_THEN(status, gph_recipe_create(opt.allocator, &recipe, error));
    if (status == GPH_OK &&
        (status = gphi_bundle_read(&recipe->bundle, bytes.items, bytes.count, &limits,
                                   error)) != GPH_OK)
        gphi_fail_in(error, "%.300s: ", path);
    gphi_vec_fini(&bytes);
    if (status != GPH_OK) {
        gph_recipe_destroy(recipe);
        return status;
    }
    *out = recipe;
    return GPH_OK;
}

static struct gphi_bundle_graph *graph_at(const gph_recipe *recipe, uint32_t index)
{
    if (!recipe || index >= recipe->bundle.graphs.count)
        return NULL;
    return GPHI_BUNDLE_AT(&recipe->bundle.graphs, graph, index);
}

static uint32_t count_images(const gphi_bundle *bundle)
{
    uint32_t count = 0;
    for (size_t i = 0; i < bundle->kernels.count; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = memcmp(GPHI_BUNDLE_AT(&bundle->kernels, kernel, i)->image,
                            GPHI_BUNDLE_AT(&bundle->kernels, kernel, j)->image,
                            GPHI_BUNDLE_HASH_BYTES) != 0;
        count += is_new;
    }
    return count;
}

void gph_recipe_summary_get(const gph_recipe *recipe, gph_recipe_summary *out)
{
    if (!recipe) {
        gphi_struct_write(out, &(gph_recipe_summary){.device = ""}, sizeof(*out));
        return;
    }
    const gphi_bundle *bundle = &recipe->bundle;
    gph_recipe_summary full = {0};
    full.graph_count = (uint32_t)bundle->graphs.count;
    full.range_count = (uint32_t)bundle->ranges.count;
    full.kernel_count = (uint32_t)bundle->kernels.count;
    full.image_count = count_images(bundle);
    full.driver_version = (int32_t)bundle->driver_version;
    full.library_version = bundle->library_version;
    full.capability = bundle->capability;
    full.device = gphi_bundle_text(bundle, bundle->device);
    for (size_t i = 0; i < bundle->graphs.count; i++) {
        const struct gphi_bundle_graph *graph = GPHI_BUNDLE_AT(&bundle->graphs, graph, i);
        full.refused_count += graph->refusals.count > 0;
        full.node_count += graph->nodes.count;
    }
    gphi_struct_write(out, &full, sizeof(full));
}

int gph_recipe_range_get(const gph_recipe *recipe, uint32_t index, gph_recipe_range *out)
{
    if (!recipe || index >= recipe->bundle.ranges.count)
        return 0;
    const struct gphi_bundle_range *range = gphi_recipe_range(&recipe->bundle, index);
    const gph_recipe_range full = {.name = gphi_bundle_text(&recipe->bundle, range->name),
                                   .address = range->address,
                                   .shifted = range->shifted,
                                   .bytes = range->bytes};
    gphi_struct_write(out, &full, sizeof(full));
    return 1;
}

int gph_recipe_kernel_get(const gph_recipe *recipe, uint32_t index, gph_kernel_id *out,
                          uint64_t *nodes)
{
    if (!recipe || index >= recipe->bundle.kernels.count)
        return 0;
    const gphi_bundle *bundle = &recipe->bundle;
    const struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&bundle->kernels, kernel, index);
    memcpy(out->image, kernel->image, sizeof(out->image));
    out->name = gphi_bundle_text(bundle, kernel->name);
    if (!nodes)
        return 1;
    *nodes = 0;
    for (size_t i = 0; i < bundle->graphs.count; i++) {
        const gphi_vec *all = &GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->nodes;
        for (size_t j = 0; j < all->count; j++) {
            const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(all, node, j);
            *nodes += node->kind == GPH_NODE_KERNEL && node->item == index;
        }
    }
    return 1;
}

int gph_recipe_graph_get(const gph_recipe *recipe, uint32_t index, gph_recipe_graph *out)
{
    const struct gphi_bundle_graph *graph = graph_at(recipe, index);
    if (!graph)
        return 0;
    const gph_recipe_graph full = {.name = gphi_bundle_text(&recipe->bundle, graph->name),
                                   .node_count = (uint32_t)graph->nodes.count,
                                   .edge_count = (uint32_t)graph->edges.count,
                                   .pointer_count = (uint32_t)graph->words.count,
                                   .is_movable = graph->is_movable,
                                   .has_check = graph->has_check,
                                   .refusal_count = (uint32_t)graph->refusals.count,
                                   .input_count = graph->input_count,
                                   .output_count = (uint32_t)graph->tensors.count -
                                                   graph->input_count,
                                   .key = graph->keys.items,
                                   .key_count = (uint32_t)graph->keys.count};
    gphi_struct_write(out, &full, sizeof(full));
    return 1;
}

uint32_t gph_recipe_find(const gph_recipe *recipe, const char *name)
{
    for (uint32_t i = 0; recipe && name && i < recipe->bundle.graphs.count; i++)
        if (strcmp(gphi_bundle_text(&recipe->bundle, graph_at(recipe, i)->name), name) ==
            0)
            return i;
    return UINT32_MAX;
}

int gph_recipe_refusal_get(const gph_recipe *recipe, uint32_t graph, uint32_t index,
                           gph_recipe_refusal *out)
{
    const struct gphi_bundle_graph *at = graph_at(recipe, graph);
    if (!at || index >= at->refusals.count)
        return 0;
    const struct gphi_bundle_refusal *refusal =
        GPHI_BUNDLE_AT(&at->refusals, refusal, index);
    const gph_recipe_refusal full = {.node = refusal->node,
                                     .kind = (gph_node_kind)refusal->kind,
                                     .offset = refusal->offset,
                                     .why =
                                         gphi_bundle_text(&recipe->bundle, refusal->why)};
    gphi_struct_write(out, &full, sizeof(full));
    return 1;
}

gph_status gph_recipe_describe(const gph_recipe *recipe, uint32_t index, gph_graph **out,
                               gph_error *error)
{
    const struct gphi_bundle_graph *graph = graph_at(recipe, index);
    if (!graph || !out)
        return gphi_fail(error, GPH_E_INVALID, "the recipe has no graph %u", index);
    return gphi_parts_describe(&recipe->bundle, graph, 0,
                               gphi_bundle_text(&recipe->bundle, graph->name), out,
                               error);
}
