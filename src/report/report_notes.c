// SPDX-License-Identifier: Apache-2.0
/* What libgph reported about itself: hits of caches, paths of trees, bytes of pools,
 * summed up.
 */
#include "base/heap.h"
#include "report/report.h"

/* An item of `vec` by its id in this process. */
static void *item_of(gph_report *report, gphi_vec *vec, gphi_map *map, uint64_t id)
{
    return gphi_report_item(vec, map, gphi_report_key(report, id), NULL);
}

/* The first name stays: notes repeat it each time. */
static void name_it(gph_report *report, char **name, const char *text)
{
    if (!*name && text[0] != 0)
        *name = gphi_heap_text(report->heap, text);
}

/* Words of a hit: object, size, bucket, outcome, size that ran; of a recording: object,
 * bucket, ns, bytes; of an eviction: object, bucket. */
static gph_status take_cache(gph_report *report, const gphi_event *event)
{
    report_cache *cache =
        item_of(report, &report->caches, &report->cache_map, gphi_event_word(event, 0));
    if (!cache)
        return GPH_E_NO_MEMORY;
    if (cache->buckets.item_bytes == 0)
        gphi_vec_init(&cache->buckets, report->heap, sizeof(report_bucket));
    cache->id = gphi_event_word(event, 0);
    name_it(report, &cache->name, gphi_event_text(event, 0));
    const bool is_hit = event->id == GPHI_NOTE_CACHE_HIT;
    const uint64_t which = gphi_event_word(event, is_hit ? 2 : 1);
    report_bucket *bucket =
        gphi_vec_keyed(&cache->buckets, &which, sizeof(which), SIZE_MAX);
    if (!bucket)
        return GPH_E_NO_MEMORY;
    if (is_hit) {
        const uint64_t outcome = gphi_event_word(event, 3);
        bucket->counts[outcome < 4 ? outcome : 3]++;
        if (outcome < 2) { /* replayed: what was asked, and what ran for it */
            bucket->asked += gphi_event_word(event, 1);
            bucket->ran += gphi_event_word(event, 4);
        }
    } else if (event->id == GPHI_NOTE_CACHE_RECORD) {
        bucket->records++;
        bucket->record_ns += gphi_event_word(event, 2);
        bucket->bytes = gphi_event_word(event, 3);
    } else {
        bucket->evictions++;
        bucket->bytes = 0;
    }
    return GPH_OK;
}

/* A node is a function at the end of one path: its own number, and that of what is
 * before it. */
static gph_status take_tree(gph_report *report, const gphi_event *event)
{
    report_tree *tree =
        item_of(report, &report->trees, &report->tree_map, gphi_event_word(event, 0));
    if (!tree)
        return GPH_E_NO_MEMORY;
    if (tree->nodes.item_bytes == 0)
        gphi_vec_init(&tree->nodes, report->heap, sizeof(report_tree_node));
    tree->id = gphi_event_word(event, 0);
    const uint64_t id = gphi_event_word(event, 2);
    const size_t before = tree->nodes.count;
    report_tree_node *node = gphi_vec_keyed(&tree->nodes, &id, sizeof(id), SIZE_MAX);
    if (!node)
        return GPH_E_NO_MEMORY;
    if (tree->nodes.count > before) {
        node->function = gphi_event_word(event, 1);
        node->parent = gphi_event_word(event, 4);
    }
    name_it(report, &node->name, gphi_event_text(event, 0));
    if (event->id == GPHI_NOTE_TREE_RECORD) {
        node->records++;
        node->why = gphi_event_word(event, 3);
    } else {
        node->replays++;
    }
    return GPH_OK;
}

/* Peaks, not the last values: what a pool was at its most is what it costs. */
static gph_status take_pool(gph_report *report, const gphi_event *event)
{
    report_pool *pool =
        item_of(report, &report->pools, &report->pool_map, gphi_event_word(event, 0));
    if (!pool)
        return GPH_E_NO_MEMORY;
    pool->id = gphi_event_word(event, 0);
    name_it(report, &pool->name, gphi_event_text(event, 0));
    if (gphi_event_word(event, 1) > pool->reserved)
        pool->reserved = gphi_event_word(event, 1);
    if (gphi_event_word(event, 2) > pool->used)
        pool->used = gphi_event_word(event, 2);
    return GPH_OK;
}

/* Notes of a later libgph that are not known here are passed over. */
gph_status gphi_report_note(gph_report *report, const gphi_event *event)
{
    switch (event->id) {
    case GPHI_NOTE_CACHE_HIT:
    case GPHI_NOTE_CACHE_RECORD:
    case GPHI_NOTE_CACHE_EVICT: return take_cache(report, event);
    case GPHI_NOTE_TREE_RECORD:
    case GPHI_NOTE_TREE_REPLAY: return take_tree(report, event);
    case GPHI_NOTE_POOL: return take_pool(report, event);
    case GPHI_NOTE_DECISION:
    case GPHI_NOTE_DECISIONS:
    case GPHI_NOTE_DEVICE_RUN:
    case GPHI_NOTE_DEVICE_REFUSED: return gphi_report_device_note(report, event);
    default: return GPH_OK;
    }
}
