// SPDX-License-Identifier: Apache-2.0
/* Which words of a graph are addresses.
 *
 * A driver does not report what an argument of 8 bytes means, and guessing by value
 * breaks when a number happens to look like an address. So a work is captured twice, with
 * its memory at other places:
 *
 *   first     0x7f0000001000  0x000003e8  0x7f4000000000    range `arena` 0x7f0000000000
 *   shifted   0x7f1000001000  0x000003e8  0x7f4000000000    shifted to    0x7f1000000000
 *             ^ moved as      ^ a number, or a pointer that is right while the range that
 *               the arena did   it points into stays: here the third, in `weights`
 *
 * A word that moved in any other way is refused, and so is one that points into a range
 * that moved, but did not move itself: somebody kept an address of the first capture. A
 * graph that was captured once is kept as it is, and loads only where it was recorded.
 *
 * Arguments that are structures have bytes that nobody sets: padding, the byte of an empty
 * functor, entries of arrays beyond their count. What lies there is what the stack had: old
 * addresses, whole or in part. With `unset` the first graph alone decides, since that is the
 * one which is kept. What lies in a range moves with it, however it changed. Any other word
 * that changed stays, if no memory is there, and if it did not change as what is computed
 * from addresses does. */
#include "base/fail.h"
#include "base/map.h"
#include "cuda/status.h"
#include "device/setters.h"
#include "recipe/parts.h"

#include <stdio.h>
#include <string.h>

struct hunt {
    const gphi_survey *survey;
    gphi_bundle *bundle;
    struct gphi_bundle_graph *graph;
    const struct gphi_bundle_graph *shifted;       /* or NULL */
    unsigned char setters[GPHI_BUNDLE_HASH_BYTES]; /* the image of libgph's own */
    gphi_map outside;         /* words that were asked for: CUmemorytype, 0: no memory */
    gphi_map distances;       /* with `unset`: by which ranges moved, and 0 */
    uint64_t lowest, highest; /* of the ranges: the first byte, and one past the last */
    uint32_t kept_node,
        kept_end; /* the last word that moves: its node, the byte after it */
};

/* `by`: how far the range must have moved; NULL: any. */
static uint32_t find_range(const gphi_bundle *bundle, uint64_t address, uint64_t bytes,
                           const uint64_t *by)
{
    uint32_t found = GPHI_BUNDLE_NONE;
    for (size_t i = 0; i < bundle->ranges.count; i++) {
        const struct gphi_bundle_range *range = gphi_recipe_range(bundle, i);
        const uint64_t offset = address - range->address;
        if (address < range->address || offset > range->bytes ||
            bytes > range->bytes - offset ||
            (by && range->shifted - range->address != *by))
            continue;
        found = (uint32_t)i;
        if (offset < range->bytes) /* where one ends, another may begin */
            break;
    }
    return found;
}

uint32_t gphi_range_of(const gphi_bundle *bundle, uint64_t address, uint64_t bytes)
{
    return find_range(bundle, address, bytes, NULL);
}

/* Of a word: where one range ends and another begins, the one that moved as it did. */
static uint32_t range_of_word(const struct hunt *hunt, uint64_t value, uint64_t by)
{
    const uint32_t range = find_range(hunt->bundle, value, 0, &by);
    return hunt->shifted && range != GPHI_BUNDLE_NONE
               ? range
               : gphi_range_of(hunt->bundle, value, 0);
}

static gph_status fail_memory(const struct hunt *hunt)
{
    return gphi_fail(hunt->survey->error, GPH_E_NO_MEMORY, "looking for addresses");
}

static gph_status use_range(const struct hunt *hunt, uint32_t range, bool is_fixed)
{
    gphi_vec *uses = &hunt->graph->uses;
    for (size_t i = 0; i < uses->count; i++) {
        struct gphi_bundle_use *use = GPHI_BUNDLE_AT(uses, use, i);
        if (use->range == range) {
            use->is_fixed |= is_fixed;
            return GPH_OK;
        }
    }
    const struct gphi_bundle_use use = {.range = range, .is_fixed = is_fixed};
    return gphi_vec_push(uses, &use) == GPH_OK ? GPH_OK : fail_memory(hunt);
}

/* A place in a graph. */
struct spot {
    uint32_t node;
    uint32_t offset;
    bool is_address; /* certainly: of a copy or a fill */
};

/* `what` is said of the place: "0x1000 is host memory", with the kernel. */
static gph_status refuse_spot(const struct hunt *hunt, const struct spot *spot,
                              const char *what)
{
    const struct gphi_bundle_node *node =
        GPHI_BUNDLE_AT(&hunt->graph->nodes, node, spot->node);
    if (node->kind != GPH_NODE_KERNEL)
        return gphi_refuse(hunt->survey, hunt->graph, spot->node, node->kind,
                           spot->offset, "%s", what);
    const struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&hunt->bundle->kernels, kernel, node->item);
    return gphi_refuse(hunt->survey, hunt->graph, spot->node, node->kind, spot->offset,
                       "%s (byte %u of the arguments of %.160s)", what, spot->offset,
                       gphi_bundle_text(hunt->bundle, kernel->name));
}

static gph_status refuse_at(const struct hunt *hunt, const struct spot *spot,
                            const char *why, uint64_t value)
{
    char what[128];
    snprintf(what, sizeof(what), "0x%llx %s", (unsigned long long)value, why);
    return refuse_spot(hunt, spot, what);
}

static gph_status refuse_change(const struct hunt *hunt, const struct spot *spot,
                                const char *why, uint64_t value, uint64_t shifted)
{
    char what[160];
    snprintf(what, sizeof(what), "0x%llx changed to 0x%llx, %s",
             (unsigned long long)value, (unsigned long long)shifted, why);
    return refuse_spot(hunt, spot, what);
}

gph_status gphi_memory_kind(gph_runtime *runtime, gphi_map *known, uint64_t address,
                            uint64_t *out, gph_error *error)
{
    const uint64_t *noted = gphi_map_get(known, address);
    if (noted) {
        *out = *noted;
        return GPH_OK;
    }
    unsigned int kind = 0; /* an address that the driver does not know is not a failure */
    const CUresult result = runtime->cu.cuPointerGetAttribute(
        &kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
        return gphi_cuda_fail(error, (gph_status)result, "cuPointerGetAttribute",
                              "0x%llx", (unsigned long long)address);
    *out = result == CUDA_SUCCESS ? kind : 0;
    GPHI_TRY(gphi_made(error, gphi_map_set(known, address, *out) == GPH_OK,
                       "looking for addresses"));
    return GPH_OK;
}

/* Whether the driver knows memory at an address that is in no range. */
static gph_status look_outside(struct hunt *hunt, uint64_t value, uint64_t *out)
{
    *out = 0;
    if (value < 65536 || value >= UINT64_C(1) << 57) /* no address of a process */
        return GPH_OK;
    return gphi_memory_kind(hunt->survey->runtime, &hunt->outside, value, out,
                            hunt->survey->error);
}

/* Notes that a word moves with a range. */
static gph_status keep_word(struct hunt *hunt, const struct spot *spot, uint32_t range)
{
    const struct gphi_bundle_word word = {spot->node, spot->offset, range};
    if (gphi_vec_push(&hunt->graph->words, &word) != GPH_OK)
        return fail_memory(hunt);
    hunt->kept_node = spot->node;
    hunt->kept_end = spot->offset + 8;
    return use_range(hunt, range, false);
}

/* With `unset` a word that lies in a range moves with it, however it changed: if it is an
 * address, that is what the first graph needs; if nobody set it, nobody reads it. */
static bool may_move(const struct hunt *hunt, const struct spot *spot,
                     const struct gphi_bundle_range *range)
{
    return hunt->survey->unset && hunt->shifted && !spot->is_address &&
           range->shifted != range->address;
}

/* A word that is the same in both captures, or of the only one. */
static gph_status judge_still(struct hunt *hunt, const struct spot *spot, uint64_t value)
{
    const uint32_t range = range_of_word(hunt, value, 0);
    if (range != GPHI_BUNDLE_NONE) {
        const struct gphi_bundle_range *at = gphi_recipe_range(hunt->bundle, range);
        if (may_move(hunt, spot, at))
            return keep_word(hunt, spot, range);
        if (hunt->shifted && at->shifted != at->address)
            return refuse_at(hunt, spot,
                             "is in a range that moved, but did not move with it", value);
        return use_range(hunt, range, true);
    }
    if (spot->is_address)
        return refuse_at(hunt, spot, "is an address outside every range", value);
    if (spot->offset % 8 != 0)
        return GPH_OK;
    uint64_t kind = 0;
    GPHI_TRY(look_outside(hunt, value, &kind));
    if (kind == 0)
        return GPH_OK;
    return refuse_at(hunt, spot,
                     kind == CU_MEMORYTYPE_HOST ? "is host memory"
                                                : "is device memory outside every range",
                     value);
}

/* How far before or after its range an address may be that a kernel adds an offset to. */
enum { NEAR_BYTES = 1 << 30 };

/* Whether a word in no range may be computed from addresses of range `i`: it is near that
 * range and moved with it, or is the negative of an address, or the distance of two. */
static bool may_follow(const struct hunt *hunt, size_t i, uint64_t value, uint64_t by)
{
    const struct gphi_bundle_range *range = gphi_recipe_range(hunt->bundle, i);
    const uint64_t distance = range->shifted - range->address;
    if (by == distance &&
        value - (range->address - NEAR_BYTES) < range->bytes + 2 * (uint64_t)NEAR_BYTES)
        return true;
    if (by == 0 - distance && 0 - value - range->address <= range->bytes)
        return true;
    if (!gphi_map_get(&hunt->distances, distance - by))
        return false;
    for (size_t j = 0; j < hunt->bundle->ranges.count; j++) {
        const struct gphi_bundle_range *from = gphi_recipe_range(hunt->bundle, j);
        const uint64_t lowest = range->address - from->address - from->bytes;
        if (by == distance - (from->shifted - from->address) &&
            value - lowest <= range->bytes + from->bytes)
            return true;
    }
    return false;
}

/* Whether a word can be near a range, the negative of an address or a distance at all: most
 * of what nobody set cannot, and ranges are many. */
static bool may_be_computed(const struct hunt *hunt, uint64_t value, uint64_t by)
{
    const uint64_t span = hunt->highest - hunt->lowest;
    if (value - (hunt->lowest - NEAR_BYTES) > span + 2 * (uint64_t)NEAR_BYTES &&
        0 - value - hunt->lowest > span && value + span > 2 * span)
        return false;
    for (size_t i = 0; i < hunt->bundle->ranges.count; i++)
        if (may_follow(hunt, i, value, by))
            return true;
    return false;
}

/* A word that changed as no range did, in no range of the first capture. */
static gph_status judge_unset(struct hunt *hunt, const struct spot *spot, uint64_t value,
                              uint64_t shifted)
{
    if (!hunt->survey->unset || spot->is_address)
        return refuse_change(hunt, spot, "and is in no range", value, shifted);
    if (may_be_computed(hunt, value, shifted - value))
        return refuse_change(hunt, spot,
                             "as what is computed from addresses, and is in no range",
                             value, shifted);
    uint64_t kind = 0;
    GPHI_TRY(look_outside(hunt, value, &kind));
    if (kind != 0 && (uint32_t)value == (uint32_t)shifted && shifted != 0)
        GPHI_TRY(look_outside(hunt, shifted, &kind)); /* a number of 4 bytes, beside what
                                                         may be half of an old address */
    if (kind == 0)
        return GPH_OK;
    return refuse_change(hunt, spot, "and is memory outside every range", value, shifted);
}

/* A word that moved. */
static gph_status judge_moved(struct hunt *hunt, const struct spot *spot, uint64_t value,
                              uint64_t shifted)
{
    const uint32_t range = range_of_word(hunt, value, shifted - value);
    if (range == GPHI_BUNDLE_NONE)
        return judge_unset(hunt, spot, value, shifted);
    const struct gphi_bundle_range *at = gphi_recipe_range(hunt->bundle, range);
    if (shifted - value != at->shifted - at->address && !may_move(hunt, spot, at))
        return refuse_change(hunt, spot, "by another distance than its range", value,
                             shifted);
    return keep_word(hunt, spot, range);
}

/* A word at an offset that is not a multiple of 8, of a packed structure: with `unset` the
 * aligned words around it may have been taken for unset. One beside it that is an address
 * has none of its bytes. `next`: the aligned word that it reaches into, or 0. */
static gph_status judge_packed(struct hunt *hunt, const struct spot *spot, uint64_t value,
                               uint64_t next)
{
    const uint32_t range = gphi_range_of(hunt->bundle, value, 0);
    if (range == GPHI_BUNDLE_NONE ||
        !may_move(hunt, spot, gphi_recipe_range(hunt->bundle, range)) ||
        (hunt->kept_node == spot->node && spot->offset < hunt->kept_end) ||
        gphi_range_of(hunt->bundle, next, 0) != GPHI_BUNDLE_NONE)
        return GPH_OK;
    return keep_word(hunt, spot, range);
}

static gph_status judge(struct hunt *hunt, const struct spot *spot, uint64_t value,
                        uint64_t shifted)
{
    return value == shifted ? judge_still(hunt, spot, value)
                            : judge_moved(hunt, spot, value, shifted);
}

/* ---- handles of conditional nodes ---- */

/* Addresses do not begin below, so a number may well be the same. */
enum { HANDLE_MIN = 65536 };

static uint32_t flow_of(const struct gphi_bundle_graph *graph, uint64_t value)
{
    for (uint32_t i = 0; i < graph->flows.count && value != 0; i++)
        if (GPHI_BUNDLE_AT(&graph->flows, flow, i)->handle == value)
            return i;
    return GPHI_BUNDLE_NONE;
}

/* The part that the node of a flow is in. */
static uint32_t part_of_flow(const struct gphi_bundle_graph *graph, uint32_t flow)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, i);
        if (node->kind == GPH_NODE_CONDITIONAL && node->item == flow)
            return gphi_bundle_part(graph, i);
    }
    return 0;
}

static gph_status keep_handle(struct hunt *hunt, const struct spot *spot, uint32_t flow,
                              uint64_t value)
{
    struct gphi_bundle_graph *graph = hunt->graph;
    const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, spot->node);
    if (gphi_bundle_part(graph, spot->node) < part_of_flow(graph, flow))
        return refuse_at(hunt, spot,
                         "is the handle of a node in a body, which is made after it",
                         value);
    const struct gphi_bundle_handle handle = {spot->node, spot->offset, flow};
    if (gphi_vec_push(&graph->handles, &handle) != GPH_OK)
        return fail_memory(hunt);
    memset((char *)gphi_vec_at(&graph->data, (size_t)node->data_first) + spot->offset, 0,
           sizeof(value));
    return GPH_OK;
}

/* The kernel that the caller has captured to set it. */
static bool is_set_by(const struct gphi_bundle_flow *flow, uint32_t node)
{
    return flow->set[0] == node || flow->set[1] == node;
}

/* Whether a word is the handle of a node of this graph: for certain where libgph's own
 * kernels have theirs, and in a kernel that was captured to set it; elsewhere a number may
 * look like it, unless handles are large, as NVIDIA's are. */
static gph_status judge_handle(struct hunt *hunt, const struct spot *spot, uint64_t value,
                               uint64_t shifted, bool *is_done)
{
    const uint32_t flow = flow_of(hunt->graph, value);
    *is_done = false;
    if (flow == GPHI_BUNDLE_NONE)
        return GPH_OK;
    const struct gphi_bundle_node *node =
        GPHI_BUNDLE_AT(&hunt->graph->nodes, node, spot->node);
    const struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&hunt->bundle->kernels, kernel, node->item);
    const bool is_own = memcmp(kernel->image, hunt->setters, sizeof(hunt->setters)) == 0;
    const uint64_t other =
        hunt->shifted ? GPHI_BUNDLE_AT(&hunt->shifted->flows, flow, flow)->handle : value;
    const bool is_meant =
        is_own
            ? spot->offset == 0
            : value >= HANDLE_MIN ||
                  is_set_by(GPHI_BUNDLE_AT(&hunt->graph->flows, flow, flow), spot->node);
    if (!is_meant || shifted != other)
        return GPH_OK; /* a number that is the same */
    *is_done = true;
    return keep_handle(hunt, spot, flow, value);
}

static uint64_t word_at(const unsigned char *bytes, size_t count, size_t offset)
{
    uint64_t word = 0;
    memcpy(&word, bytes + offset, count - offset < 8 ? count - offset : 8);
    return word;
}

/* Every aligned word; and, for addresses in packed structures, what is at other
 * offsets and has not moved, or has and may have been taken for unset. */
static gph_status hunt_arguments(struct hunt *hunt, uint32_t index,
                                 const struct gphi_bundle_node *node,
                                 const struct gphi_bundle_node *twin)
{
    if (node->data_bytes == 0)
        return GPH_OK;
    const size_t bytes = node->data_bytes;
    const unsigned char *data = gphi_vec_at(&hunt->graph->data, (size_t)node->data_first);
    const unsigned char *other =
        twin ? gphi_vec_at(&hunt->shifted->data, (size_t)twin->data_first) : data;
    for (size_t offset = 0; offset < bytes; offset++) {
        const struct spot spot = {.node = index, .offset = (uint32_t)offset};
        const uint64_t value = word_at(data, bytes, offset);
        const uint64_t shifted = word_at(other, bytes, offset);
        bool is_handle = false;
        if (offset % 8 == 0 && bytes - offset >= 8)
            GPHI_TRY(judge_handle(hunt, &spot, value, shifted, &is_handle));
        if (is_handle)
            offset += 7; /* none of its bytes is another word's */
        else if (offset % 8 == 0 && (value != shifted || bytes - offset >= 8))
            GPHI_TRY(judge(hunt, &spot, value, shifted));
        else if (offset % 8 != 0 && bytes - offset >= 8 && hunt->survey->unset)
            GPHI_TRY(judge_packed(hunt, &spot, value,
                                  word_at(data, bytes, (offset + 7) / 8 * 8)));
        else if (offset % 8 != 0 && value == shifted && bytes - offset >= 8)
            GPHI_TRY(judge_still(hunt, &spot, value));
    }
    return GPH_OK;
}

static bool is_same_side(const gph_memcpy_side *a, const gph_memcpy_side *b)
{
    return a->memory == b->memory && a->lod == b->lod && a->x_bytes == b->x_bytes &&
           a->y == b->y && a->z == b->z && a->pitch_bytes == b->pitch_bytes &&
           a->height == b->height;
}

/* Both sides are addresses for certain; everything else must be alike. */
static gph_status hunt_copy(struct hunt *hunt, uint32_t index,
                            const struct gphi_bundle_node *node,
                            const struct gphi_bundle_node *twin)
{
    const gph_memcpy_params *copy = gphi_vec_at(&hunt->graph->copies, node->item);
    const gph_memcpy_params *other =
        twin ? gphi_vec_at(&hunt->shifted->copies, twin->item) : copy;
    if (!is_same_side(&copy->dst, &other->dst) ||
        !is_same_side(&copy->src, &other->src) ||
        copy->width_bytes != other->width_bytes || copy->height != other->height ||
        copy->depth != other->depth)
        return gphi_refuse(hunt->survey, hunt->graph, index, node->kind, -1,
                           "its shape differs between the captures");
    const struct spot dst = {index, GPHI_BUNDLE_DST, true};
    const struct spot src = {index, GPHI_BUNDLE_SRC, true};
    GPHI_TRY(judge(hunt, &dst, copy->dst.address, other->dst.address));
    return judge(hunt, &src, copy->src.address, other->src.address);
}

static gph_status hunt_fill(struct hunt *hunt, uint32_t index,
                            const struct gphi_bundle_node *node,
                            const struct gphi_bundle_node *twin)
{
    const gph_memset_params *fill = gphi_vec_at(&hunt->graph->fills, node->item);
    const gph_memset_params *other =
        twin ? gphi_vec_at(&hunt->shifted->fills, twin->item) : fill;
    if (fill->pitch_bytes != other->pitch_bytes || fill->width != other->width ||
        fill->height != other->height || fill->value != other->value ||
        fill->element_bytes != other->element_bytes)
        return gphi_refuse(hunt->survey, hunt->graph, index, node->kind, -1,
                           "its shape or value differs between the captures");
    const struct spot spot = {index, GPHI_BUNDLE_DST, true};
    return judge(hunt, &spot, fill->address, other->address);
}

static bool has_same_attributes(const struct hunt *hunt,
                                const struct gphi_bundle_node *node,
                                const struct gphi_bundle_node *twin)
{
    if (node->attribute_count != twin->attribute_count)
        return false;
    for (uint32_t i = 0; i < node->attribute_count; i++)
        if (memcmp(gphi_vec_at(&hunt->graph->attributes, node->attribute_first + i),
                   gphi_vec_at(&hunt->shifted->attributes, twin->attribute_first + i),
                   sizeof(struct gphi_bundle_attribute)) != 0)
            return false;
    return true;
}

/* What differs between a node and its twin besides words, or NULL. */
static const char *difference(const struct hunt *hunt,
                              const struct gphi_bundle_node *node,
                              const struct gphi_bundle_node *twin)
{
    if (node->kind != twin->kind)
        return "its kind";
    if (node->kind == GPH_NODE_CONDITIONAL &&
        GPHI_BUNDLE_AT(&hunt->graph->flows, flow, node->item)->form !=
            GPHI_BUNDLE_AT(&hunt->shifted->flows, flow, twin->item)->form)
        return "its form";
    if (node->kind != GPH_NODE_KERNEL)
        return NULL;
    if (node->item != twin->item)
        return "its kernel";
    if (memcmp(node->grid, twin->grid, sizeof(node->grid)) != 0)
        return "its grid";
    if (memcmp(node->block, twin->block, sizeof(node->block)) != 0)
        return "its block";
    if (node->shared_bytes != twin->shared_bytes)
        return "its shared memory";
    return has_same_attributes(hunt, node, twin) ? NULL : "its attributes";
}

static gph_status hunt_node(struct hunt *hunt, uint32_t index)
{
    const struct gphi_bundle_node *node =
        GPHI_BUNDLE_AT(&hunt->graph->nodes, node, index);
    const struct gphi_bundle_node *twin =
        hunt->shifted ? GPHI_BUNDLE_AT(&hunt->shifted->nodes, node, index) : NULL;
    const char *differs = twin ? difference(hunt, node, twin) : NULL;
    if (differs)
        return gphi_refuse(hunt->survey, hunt->graph, index, node->kind, -1,
                           "%s differs between the captures", differs);
    switch (node->kind) {
    case GPH_NODE_KERNEL: return hunt_arguments(hunt, index, node, twin);
    case GPH_NODE_MEMCPY: return hunt_copy(hunt, index, node, twin);
    case GPH_NODE_MEMSET: return hunt_fill(hunt, index, node, twin);
    default: return GPH_OK;
    }
}

/* Whether both captures have the same nodes, edges and bodies, by number. */
static bool has_same_shape(const struct gphi_bundle_graph *a,
                           const struct gphi_bundle_graph *b)
{
    return a->nodes.count == b->nodes.count && a->edges.count == b->edges.count &&
           a->flows.count == b->flows.count && a->bodies.count == b->bodies.count &&
           (a->bodies.count == 0 ||
            memcmp(a->bodies.items, b->bodies.items,
                   a->bodies.count * sizeof(struct gphi_bundle_body)) == 0) &&
           (a->edges.count == 0 || memcmp(a->edges.items, b->edges.items,
                                          a->edges.count * sizeof(gph_edge)) == 0);
}

static gph_status list_distances(struct hunt *hunt)
{
    gph_status status = gphi_map_set(&hunt->distances, 0, 1);
    hunt->lowest = UINT64_MAX;
    for (size_t i = 0; i < hunt->bundle->ranges.count && status == GPH_OK; i++) {
        const struct gphi_bundle_range *range = gphi_recipe_range(hunt->bundle, i);
        const uint64_t end = range->address + range->bytes;
        hunt->lowest = range->address < hunt->lowest ? range->address : hunt->lowest;
        hunt->highest = end > hunt->highest ? end : hunt->highest;
        status = gphi_map_set(&hunt->distances, range->shifted - range->address, 1);
    }
    return status == GPH_OK ? GPH_OK : fail_memory(hunt);
}

gph_status gphi_find_words(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                           const struct gphi_bundle_graph *shifted)
{
    if (shifted && !has_same_shape(graph, shifted))
        return gphi_refuse(survey, graph, -1, 0, -1,
                           "the captures differ: %zu nodes and %zu edges, then %zu and "
                           "%zu, or other edges",
                           graph->nodes.count, graph->edges.count, shifted->nodes.count,
                           shifted->edges.count);
    struct hunt hunt = {.survey = survey,
                        .bundle = survey->bundle,
                        .graph = graph,
                        .shifted = shifted,
                        .kept_node = GPHI_BUNDLE_NONE};
    gphi_map_init(&hunt.outside, survey->bundle->heap);
    gphi_map_init(&hunt.distances, survey->bundle->heap);
    gphi_sha256_text(gphi_setter_text.ptx, hunt.setters);
    gph_status status = survey->unset ? list_distances(&hunt) : GPH_OK;
    for (uint32_t i = 0; i < graph->nodes.count && status == GPH_OK; i++)
        status = hunt_node(&hunt, i);
    gphi_map_fini(&hunt.distances);
    gphi_map_fini(&hunt.outside);
    return status;
}
