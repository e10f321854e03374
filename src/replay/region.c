// SPDX-License-Identifier: Apache-2.0
/* Names for nodes: what is recorded between push and pop belongs to a region.
 *
 * CUDA does not report which nodes a call added, but a captured graph can be asked for
 * its nodes at any time. At each push and pop those that are new get the region that was
 * open until then. They come in the order in which they were added, so that the new ones
 * are the last; where a driver should ever do otherwise, they are found by handle. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "cuda/status.h"
#include "event/note.h"
#include "replay/capture.h"

#include <string.h>

static uint32_t open_region(const gph_capture *capture)
{
    const gphi_vec *stack = &capture->region_stack;
    return stack->count > 0 ? *(uint32_t *)gphi_vec_at(stack, stack->count - 1) : 0;
}

/* The region of each of `fresh`, by handle. */
static gph_status find_regions(const gph_capture *capture, const gphi_vec *fresh,
                               uint32_t *regions)
{
    gphi_map known;
    gphi_map_init(&known, capture->runtime->heap);
    gph_status status = GPH_OK;
    for (size_t i = 0; i < capture->nodes.count && status == GPH_OK; i++) {
        CUgraphNode *node = gphi_vec_at(&capture->nodes, i);
        const uint32_t *region = gphi_vec_at(&capture->current.regions, i);
        status = gphi_map_set(&known, (uintptr_t)*node, *region);
    }
    for (size_t i = 0; i < fresh->count && status == GPH_OK; i++) {
        CUgraphNode *node = gphi_vec_at(fresh, i);
        const uint64_t *region = gphi_map_get(&known, (uintptr_t)*node);
        regions[i] = region ? (uint32_t)*region : open_region(capture);
    }
    gphi_map_fini(&known);
    return status;
}

static gph_status take_nodes(gph_capture *capture, gphi_vec *fresh)
{
    const size_t known = capture->nodes.count;
    gphi_vec *regions = &capture->current.regions;
    const bool is_tail =
        fresh->count >= known && (known == 0 || memcmp(fresh->items, capture->nodes.items,
                                                       known * sizeof(CUgraphNode)) == 0);
    if (is_tail && fresh->count > known) {
        uint32_t *at = gphi_vec_add(regions, fresh->count - known);
        if (!at)
            return GPH_E_NO_MEMORY;
        for (size_t i = known; i < fresh->count; i++)
            *at++ = open_region(capture);
    } else if (!is_tail) {
        gphi_vec found;
        gphi_vec_init(&found, capture->runtime->heap, sizeof(uint32_t));
        uint32_t *at = gphi_vec_add(&found, fresh->count + 1);
        if (!at || find_regions(capture, fresh, at) != GPH_OK) {
            gphi_vec_fini(&found);
            return GPH_E_NO_MEMORY;
        }
        found.count = fresh->count;
        gphi_vec_fini(regions);
        *regions = found;
    }
    gphi_vec_fini(&capture->nodes);
    capture->nodes = *fresh;
    gphi_vec_init(fresh, capture->runtime->heap, sizeof(CUgraphNode));
    return GPH_OK;
}

static gph_status sync(gph_capture *capture, gph_error *error)
{
    gphi_capture_info info;
    GPHI_TRY(gphi_cuda_check(
        error, gphi_capture_info_read(&capture->runtime->cu, capture->stream, &info),
        "cuStreamGetCaptureInfo", "stream %p", (void *)capture->stream));
    if (!info.graph)
        return GPH_OK; /* invalid: the end of the capture says why */

    gphi_vec fresh;
    gphi_vec_init(&fresh, capture->runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(capture->runtime, info.graph, &fresh, error);
    if (status == GPH_OK && take_nodes(capture, &fresh) != GPH_OK)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "naming %zu nodes", fresh.count);
    gphi_vec_fini(&fresh);
    return status;
}

gph_status gphi_region_sync(gph_capture *capture, gph_error *error)
{
    return capture->recording->regions.count > 0 ? sync(capture, error) : GPH_OK;
}

/* "layer.17" in "model" is "model/layer.17". */
static char *join_path(gph_allocator heap, const char *outer, const char *name)
{
    if (!outer)
        return gphi_heap_text(heap, name);
    const size_t front = strlen(outer), back = strlen(name);
    char *path = gphi_heap_alloc(heap, front + back + 2);
    if (!path)
        return NULL;
    memcpy(path, outer, front);
    path[front] = '/';
    memcpy(path + front + 1, name, back + 1);
    return path;
}

static bool is_same(const gphi_region *region, const char *path, const char *place)
{
    const bool same_place = place && region->place ? strcmp(region->place, place) == 0
                                                   : !place && !region->place;
    return same_place && strcmp(region->path, path) == 0;
}

/* Its number from 1, which takes `path`; 0 for lack of memory. */
static uint32_t add_region(gph_recording *recording, char *path, const char *place)
{
    const gph_allocator heap = recording->runtime->heap;
    char *copy = place ? gphi_heap_text(heap, place) : NULL;
    if ((place && !copy) ||
        gphi_vec_push(&recording->regions, &(gphi_region){path, copy}) != GPH_OK) {
        gphi_heap_text_free(heap, copy);
        gphi_heap_text_free(heap, path);
        return 0;
    }
    return (uint32_t)recording->regions.count;
}

/* The number from 1 of a region in another one, or in none, which is added if it is new; 0
 * for lack of memory. */
static uint32_t find_region(gph_recording *recording, const gphi_region *outer,
                            const char *name, const char *place)
{
    const gph_allocator heap = recording->runtime->heap;
    char *path = join_path(heap, outer ? outer->path : NULL, name);
    if (!path)
        return 0;
    if (!place && outer)
        place = outer->place;
    for (size_t i = 0; i < recording->regions.count; i++)
        if (is_same(gphi_vec_at(&recording->regions, i), path, place)) {
            gphi_heap_text_free(heap, path);
            return (uint32_t)i + 1;
        }
    return add_region(recording, path, place);
}

static void tell_region(const gph_capture *capture, const char *name)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)capture->stream, name ? 1 : 0};
    gphi_note(GPHI_NOTE_REGION, name, words, 2);
}

gph_status gph_region_push_at(const char *place, gph_capture *capture, const char *name,
                              gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (!name || name[0] == '\0')
        return gphi_fail(error, GPH_E_INVALID,
                         "a region of the capture of stream %p has no name",
                         (void *)capture->stream);
    GPHI_TRY(sync(capture, error));

    gph_recording *recording = capture->recording;
    const uint32_t outer = open_region(capture);
    const gphi_region *around =
        outer > 0 ? gphi_vec_at(&recording->regions, outer - 1) : NULL;
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&capture->region_stack, 1) == GPH_OK,
                       "opening region %.200s", name));
    const uint32_t region = find_region(recording, around, name, place);
    if (region == 0)
        return gphi_fail(error, GPH_E_NO_MEMORY, "opening region %.200s", name);
    *(uint32_t *)gphi_vec_add(&capture->region_stack, 1) = region;
    tell_region(capture, name);
    return GPH_OK;
}

/* Its own name, which the header makes a macro. */
#undef gph_region_push
gph_status gph_region_push(gph_capture *capture, const char *name, gph_error *error)
{
    return gph_region_push_at(NULL, capture, name, error);
}

gph_status gph_region_pop(gph_capture *capture, gph_error *error)
{
    GPHI_TRY(gphi_capture_check(capture, error));
    if (capture->region_stack.count == 0)
        return gphi_fail(error, GPH_E_STATE, "no region of stream %p is open",
                         (void *)capture->stream);
    GPHI_TRY(sync(capture, error));
    capture->region_stack.count--;
    tell_region(capture, NULL);
    return GPH_OK;
}

/* ---- of what was recorded ---- */

static const gphi_region *region_at(const gph_recording *recording,
                                    const gphi_segment *segment, size_t node)
{
    if (node >= segment->regions.count)
        return NULL;
    const uint32_t region = *(uint32_t *)gphi_vec_at(&segment->regions, node);
    return region > 0 ? gphi_vec_at(&recording->regions, region - 1) : NULL;
}

const char *gphi_segment_region(const gph_recording *recording,
                                const gphi_segment *segment, size_t node)
{
    const gphi_region *region = region_at(recording, segment, node);
    return region ? region->path : NULL;
}

const char *gphi_segment_place(const gph_recording *recording,
                               const gphi_segment *segment, size_t node)
{
    const gphi_region *region = region_at(recording, segment, node);
    return region && region->place ? region->place : recording->place;
}
