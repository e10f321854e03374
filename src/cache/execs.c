// SPDX-License-Identifier: Apache-2.0
/* Executables: one for each class of graphs, own ones for keys that are replayed often.
 *
 * Whether a graph is of a class is not predicted but tried: a whole update of the class'
 * executable by it costs less than describing the graph, and it is the driver's own word.
 * When a class has two keys it is described all the same: where keys differ in arguments
 * and grids alone, a patch takes the place of the executable (patch.h), and keys that it
 * does not fit are of another class. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cache/cache.h"
#include "cuda/status.h"
#include "replay/exec.h"

#include <gph/plan_ladder.h>

enum {
    DECIDE_AFTER = 64,    /* replays since the last decision before another one is made */
    PATCH_NODES_MIN = 16, /* an update of fewer costs no more than what a patch adds */
};
/* A key that has its own keeps it until others are used so much more. */
static const double STAY = 1.5;
/* Until one was measured: a whole update of 1,000 nodes takes 58.6 us on an H100. */
static const double UPDATE_NS_A_NODE = 60;
static const double LAUNCH_NS = 2000;

static gph_status make_exec(gph_cache *cache, const gphi_entry *entry, CUstream stream,
                            gph_exec **out, gph_error *error)
{
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = stream;
    return gph_exec_create(cache->runtime, entry->record->graph, &options, out, error);
}

/* The driver's own update, not gph_exec_update(), which would look for the reason of each
 * refusal: here they are ordinary, since this is how classes are found. What the
 * executable holds after a refusal is not relied on. */
static gph_status update(gph_cache *cache, gphi_class *class, uint32_t key,
                         const gphi_entry *entry, gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    CUgraphExecUpdateResultInfo info = {0};
    class->holder = GPH_CACHE_NONE;
    const CUresult result = cache->runtime->cu.cuGraphExecUpdate(
        gph_exec_handle(class->exec), entry->record->graph, &info);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuGraphExecUpdate",
                              "%s: graph of key %u, result %d", cache->name, key,
                              (int)info.result);
    cache->update_ns = (double)(gphi_clock_ns() - begin);
    class->holder = key;
    return GPH_OK;
}

/* A class whose executable takes the graph; GPHI_CLASS_NONE if none does. */
static uint32_t find_class(gph_cache *cache, uint32_t key, const gphi_entry *entry)
{
    for (uint32_t i = 0; i < cache->classes.count; i++) {
        gphi_class *class = gphi_class_at(cache, i);
        gph_error why = {0};
        if (!class->exec || class->node_count != entry->node_count ||
            class->edge_count != entry->edge_count)
            continue;
        if (update(cache, class, key, entry, &why) == GPH_OK)
            return i;
        gphi_log("cache", GPH_LOG_DEBUG, "%s: key %u is not of class %u: %s", cache->name,
                 key, i, why.message);
    }
    return GPHI_CLASS_NONE;
}

/* A place for a new class: one without users, or one more. */
static gphi_class *place_class(gph_cache *cache, uint32_t *index)
{
    for (uint32_t i = 0; i < cache->classes.count; i++)
        if (gphi_class_at(cache, i)->users == 0) {
            *index = i;
            return gphi_class_at(cache, i);
        }
    *index = (uint32_t)cache->classes.count;
    return gphi_vec_add(&cache->classes, 1);
}

/* What the driver took for an executable, as the ledger has it. */
static uint64_t measure(const gph_exec *exec, uint32_t node_count)
{
    return exec->ledger.bytes != 0 ? exec->ledger.bytes
                                   : (uint64_t)node_count * GPHI_CACHE_NODE_BYTES;
}

/* ---- patches ---- */

static bool may_patch(const gph_cache *cache, const gphi_entry *entry)
{
    return cache->options.cold == GPH_CACHE_COLD_PATCH && !cache->options.rng &&
           entry->node_count >= PATCH_NODES_MIN;
}

/* A class whose patch takes the graph, for which the entry has its block then. */
static uint32_t find_patched(gph_cache *cache, uint32_t key, gphi_entry *entry,
                             CUstream stream)
{
    for (uint32_t i = 0; i < cache->classes.count; i++) {
        const gphi_class *class = gphi_class_at(cache, i);
        gph_error why = {0};
        if (!class->patch || class->node_count != entry->node_count ||
            class->edge_count != entry->edge_count)
            continue;
        if (gphi_patch_block(class->patch, entry->record->graph, stream, &entry->block,
                             &why) == GPH_OK)
            return i;
        gphi_log("cache", GPH_LOG_DEBUG, "%s: key %u is not of class %u: %s", cache->name,
                 key, i, why.message);
    }
    return GPHI_CLASS_NONE;
}

static void free_blocks(gph_cache *cache, uint32_t index, gphi_patch *patch)
{
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        gphi_entry *entry = cache->buckets[k].entry;
        if (!entry || entry->class_index != index)
            continue;
        gphi_patch_block_free(patch, entry->block);
        entry->block = 0;
    }
}

/* Blocks of all keys that the class has so far. */
static gph_status make_blocks(gph_cache *cache, uint32_t index, gphi_patch *patch,
                              CUstream stream, gph_error *error)
{
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        gphi_entry *entry = cache->buckets[k].entry;
        if (entry && entry->class_index == index)
            GPHI_TRY(gphi_patch_block(patch, entry->record->graph, stream, &entry->block,
                                      error));
    }
    return GPH_OK;
}

static gph_status make_patch(gph_cache *cache, uint32_t index, gphi_entry *entry,
                             CUstream stream, gphi_patch **out, gph_error *error)
{
    gphi_patch *patch = NULL;
    GPHI_TRY(
        gphi_patch_create(cache->runtime, entry->record->graph, stream, &patch, error));
    gph_status status = make_blocks(cache, index, patch, stream, error);
    GPHI_THEN(status, gphi_patch_block(patch, entry->record->graph, stream, &entry->block,
                                       error));
    if (status == GPH_OK) {
        *out = patch;
        return GPH_OK;
    }
    free_blocks(cache, index, patch);
    gphi_patch_destroy(patch);
    return status;
}

/* Puts a patch in the place of an executable that a second key has come to. Where that
 * fails, the executable serves as well. */
static void try_patch(gph_cache *cache, uint32_t index, uint32_t key, gphi_entry *entry,
                      CUstream stream)
{
    gphi_class *class = gphi_class_at(cache, index);
    gph_error why = {0};
    if (class->is_plain || !may_patch(cache, entry))
        return;
    if (make_patch(cache, index, entry, stream, &class->patch, &why) != GPH_OK) {
        class->is_plain = true;
        gphi_log("cache", GPH_LOG_DEBUG, "%s: class %u is updated, since key %u %s",
                 cache->name, index, key, why.message);
        return;
    }
    gph_exec_destroy(class->exec);
    class->exec = NULL;
    class->holder = GPH_CACHE_NONE;
    class->bytes = measure(gphi_patch_exec(class->patch), entry->node_count) +
                   gphi_patch_bytes(class->patch);
}

/* ---- classes ---- */

static gph_status join_class(gph_cache *cache, uint32_t key, gphi_entry *entry,
                             CUstream stream, gph_error *error)
{
    uint32_t index = find_patched(cache, key, entry, stream);
    if (index == GPHI_CLASS_NONE) {
        index = find_class(cache, key, entry);
        if (index != GPHI_CLASS_NONE)
            try_patch(cache, index, key, entry, stream);
    }
    if (index == GPHI_CLASS_NONE) {
        gphi_class *class = place_class(cache, &index);
        GPHI_TRY(gphi_made(error, class, "a class of key %u", key));
        *class = (gphi_class){.holder = key,
                              .node_count = entry->node_count,
                              .edge_count = entry->edge_count};
        GPHI_TRY(make_exec(cache, entry, stream, &class->exec, error));
        class->bytes = measure(class->exec, entry->node_count);
    }
    gphi_class_at(cache, index)->users++;
    entry->class_index = index;
    return GPH_OK;
}

/* Room for every executable that may ever be retired is made before the first one is:
 * taking one away cannot fail then. */
static gph_status give_own(gph_cache *cache, uint32_t key, gphi_entry *entry,
                           CUstream stream, gph_error *error)
{
    gph_exec *exec = NULL;
    /* so that every own executable there is can be retired */
    GPHI_TRY(gphi_made(
        error, gphi_vec_reserve(&cache->retired, cache->layout.key_count) == GPH_OK,
        "%u executables", cache->layout.key_count));
    GPHI_TRY(make_exec(cache, entry, stream, &exec, error));
    entry->own_exec_bytes = measure(exec, entry->node_count);
    /* with the load of a replay */
    atomic_store_explicit(&cache->buckets[key].own, exec, memory_order_seq_cst);
    return GPH_OK;
}

gph_status gphi_cache_attach(gph_cache *cache, uint32_t key, gphi_entry *entry,
                             CUstream stream, gph_error *error)
{
    if (cache->options.hot_share < 0)
        return give_own(cache, key, entry, stream, error);
    return join_class(cache, key, entry, stream, error);
}

/* No key uses it now: keys with their own may come back to it, and then it is made
 * again. A patch stays as long as one key is of the class: work that is queued in any
 * stream may read what lies around it. */
static void drop_exec(gph_cache *cache, uint32_t index)
{
    gphi_class *class = gphi_class_at(cache, index);
    if (class->patch && class->users > 0)
        return;
    gphi_patch_destroy(class->patch);
    class->patch = NULL;
    gph_exec_destroy(class->exec);
    class->exec = NULL;
    class->holder = GPH_CACHE_NONE;
    class->bytes = 0;
}

static bool has_cold_user(const gph_cache *cache, uint32_t index)
{
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        const gphi_bucket *bucket = &cache->buckets[k];
        if (bucket->entry && bucket->entry->class_index == index &&
            !atomic_load_explicit(&bucket->own, memory_order_relaxed))
            return true;
    }
    return false;
}

/* What the executable holds is of no graph then: the next replay of the class updates
 * it. */
static void leave_class(gph_cache *cache, uint32_t key, gphi_entry *entry)
{
    gphi_class *class = gphi_class_at(cache, entry->class_index);
    if (class->holder == key)
        class->holder = GPH_CACHE_NONE;
    if (class->patch)
        gphi_patch_block_free(class->patch, entry->block);
    entry->block = 0;
    class->users--;
    entry->class_index = GPHI_CLASS_NONE;
}

/* The class has taken the graph once and refuses it now: its executable was made again
 * from another one. */
static gph_status change_class(gph_cache *cache, uint32_t key, gphi_entry *entry,
                               CUstream stream, gph_exec **out, gph_error *error)
    GPHI_REQUIRES(&cache->mutex)
{
    const uint32_t before = entry->class_index;
    leave_class(cache, key, entry);
    const gph_status status = join_class(cache, key, entry, stream, error);
    if (status == GPH_OK)
        *out = gphi_class_at(cache, entry->class_index)->exec;
    if (gphi_class_at(cache, before)->users == 0)
        drop_exec(cache, before);
    return status;
}

gph_status gphi_cache_hold(gph_cache *cache, uint32_t key, CUstream stream,
                           gph_exec **out, gph_error *error)
{
    gphi_entry *entry = cache->buckets[key].entry;
    if (entry->class_index == GPHI_CLASS_NONE)
        GPHI_TRY(join_class(cache, key, entry, stream, error));
    gphi_class *class = gphi_class_at(cache, entry->class_index);
    if (class->patch) {
        *out = gphi_patch_exec(class->patch);
        return GPH_OK;
    }
    if (!class->exec) {
        GPHI_TRY(make_exec(cache, entry, stream, &class->exec, error));
        class->bytes = measure(class->exec, entry->node_count);
        class->holder = key;
    } else if (class->holder != key) {
        const gph_status status = update(cache, class, key, entry, error);
        if (status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
            return change_class(cache, key, entry, stream, out, error);
        GPHI_TRY(status);
        atomic_fetch_add_explicit(&cache->updates, 1, memory_order_relaxed);
    }
    *out = class->exec;
    return GPH_OK;
}

gph_status gphi_cache_launch(gph_cache *cache, uint32_t key, CUstream stream,
                             gph_error *error)
{
    const gphi_entry *entry = cache->buckets[key].entry;
    gph_exec *exec = NULL;
    GPHI_TRY(gphi_cache_hold(cache, key, stream, &exec, error));
    gphi_class *class = gphi_class_at(cache, entry->class_index);
    if (!class->patch)
        return gph_exec_launch(exec, stream, error);
    GPHI_TRY(gphi_patch_launch(class->patch, entry->block, stream, error));
    if (class->holder != key)
        atomic_fetch_add_explicit(&cache->updates, 1, memory_order_relaxed);
    class->holder = key;
    return GPH_OK;
}

/* A replay may be reading it: it is destroyed when the bucket has no reader, see
 * gphi_cache_reap(). */
static void retire(gph_cache *cache, uint32_t key)
{
    gph_exec *exec =
        atomic_exchange_explicit(&cache->buckets[key].own, NULL, memory_order_seq_cst);
    if (!exec)
        return;
    gphi_retired *place = gphi_vec_add(&cache->retired, 1);
    if (place)
        *place = (gphi_retired){exec, key};
    else
        gphi_log("cache", GPH_LOG_ERROR, "%s: the executable of key %u stays",
                 cache->name, key);
}

void gphi_cache_detach(gph_cache *cache, uint32_t key, gphi_entry *entry)
{
    retire(cache, key);
    entry->own_exec_bytes = 0;
    if (entry->class_index == GPHI_CLASS_NONE)
        return;
    const uint32_t index = entry->class_index;
    leave_class(cache, key, entry);
    if (gphi_class_at(cache, index)->users == 0 || !has_cold_user(cache, index))
        drop_exec(cache, index);
}

gph_status gphi_cache_own(gph_cache *cache, uint32_t key, CUstream stream,
                          gph_error *error)
{
    gphi_entry *entry = cache->buckets[key].entry;
    GPHI_TRY(give_own(cache, key, entry, stream, error));
    if (entry->class_index != GPHI_CLASS_NONE &&
        !has_cold_user(cache, entry->class_index))
        drop_exec(cache, entry->class_index);
    return GPH_OK;
}

gph_status gphi_cache_unown(gph_cache *cache, uint32_t key, gph_error *error)
{
    gph_exec *shared = NULL;
    GPHI_TRY(gphi_cache_hold(cache, key, NULL, &shared, error));
    cache->buckets[key].entry->own_exec_bytes = 0;
    retire(cache, key);
    return GPH_OK;
}

void gphi_cache_reap(gph_cache *cache, bool all)
{
    gphi_retired *items = cache->retired.items;
    size_t kept = 0;
    for (size_t i = 0; i < cache->retired.count; i++) {
        const gphi_bucket *bucket = &cache->buckets[items[i].key];
        /* a reader that comes later finds another executable in the bucket */
        if (all || atomic_load_explicit(&bucket->readers, memory_order_seq_cst) == 0)
            gph_exec_destroy(items[i].exec);
        else
            items[kept++] = items[i];
    }
    cache->retired.count = kept;
}

static uint64_t block_bytes(const gph_cache *cache, const gphi_entry *entry)
{
    return entry->block == 0
               ? 0
               : gphi_patch_block_bytes(gphi_class_at(cache, entry->class_index)->patch);
}

uint64_t gphi_cache_exec_bytes(const gph_cache *cache)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < cache->classes.count; i++)
        bytes += gphi_class_at(cache, (uint32_t)i)->bytes;
    for (uint32_t k = 0; k < cache->layout.key_count; k++)
        if (cache->buckets[k].entry)
            bytes += cache->buckets[k].entry->own_exec_bytes +
                     block_bytes(cache, cache->buckets[k].entry);
    return bytes;
}

/* ---- who is hot ---- */

struct choice {
    gph_plan_sharer *graphs;
    uint32_t *keys, *owners;
    uint32_t count;   /* captured keys */
    uint32_t classes; /* of them */
    uint32_t hot_max; /* of them may have their own */
};

static void choice_fini(const gph_cache *cache, struct choice *choice, uint32_t capacity)
{
    gphi_heap_free(cache->runtime->heap, choice->graphs,
                   capacity * sizeof(*choice->graphs));
    gphi_heap_free(cache->runtime->heap, choice->keys, capacity * sizeof(*choice->keys));
    gphi_heap_free(cache->runtime->heap, choice->owners,
                   capacity * sizeof(*choice->owners));
}

/* How often each captured key was replayed since the last decision. */
static uint64_t collect(const gph_cache *cache, struct choice *choice)
{
    uint64_t all = 0;
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        const gphi_bucket *bucket = &cache->buckets[k];
        if (!bucket->entry)
            continue;
        const uint64_t replays = gphi_bucket_replays(bucket) - bucket->seen;
        const bool is_own = atomic_load_explicit(&bucket->own, memory_order_relaxed);
        const uint32_t nodes = bucket->entry->node_count;
        all += replays;
        choice->keys[choice->count] = k;
        choice->graphs[choice->count++] = (gph_plan_sharer){
            .topology = bucket->entry->class_index,
            .bytes = bucket->entry->own_exec_bytes != 0
                         ? bucket->entry->own_exec_bytes
                         : (uint64_t)nodes * GPHI_CACHE_NODE_BYTES,
            .frequency = (double)replays * (is_own ? STAY : 1),
            .launch_cost = LAUNCH_NS,
            .update_cost = cache->update_ns > 0 ? cache->update_ns
                                                : UPDATE_NS_A_NODE * (double)nodes};
    }
    for (uint32_t i = 0; i < choice->count; i++) {
        bool is_new = true;
        for (uint32_t j = 0; j < i && is_new; j++)
            is_new = choice->graphs[j].topology != choice->graphs[i].topology;
        choice->classes += is_new;
        choice->hot_max +=
            choice->graphs[i].frequency > 0 &&
            choice->graphs[i].frequency >= cache->options.hot_share * (double)all;
    }
    if (choice->hot_max > cache->options.own_max)
        choice->hot_max = cache->options.own_max;
    return all;
}

/* Whether the plan wants a key to have its own: it is its own owner, and no other graph
 * uses what it has. */
static bool wants_own(const struct choice *choice, uint32_t index)
{
    if (choice->owners[index] != index || choice->graphs[index].frequency <= 0)
        return false;
    for (uint32_t i = 0; i < choice->count; i++)
        if (i != index && choice->owners[i] == index)
            return false;
    return true;
}

/* One change a call: an instantiation takes milliseconds, and a step must not wait for
 * several. Taking comes before giving, so that the number of executables never exceeds
 * the plan's. */
static gph_status choose(gph_cache *cache, struct choice *choice,
                         gph_cache_work_kind *kind, uint32_t *key, gph_error *error)
{
    gph_plan_share_options options = GPH_PLAN_SHARE_OPTIONS_INIT;
    options.exec_max = choice->classes + choice->hot_max;
    options.allocator = &cache->runtime->heap;
    GPHI_TRY(gph_plan_share(choice->graphs, choice->count, &options, choice->owners, NULL,
                            error));
    for (int pass = 0; pass < 2; pass++) /* first take, then give */
        for (uint32_t i = 0; i < choice->count; i++) {
            const bool is_own = atomic_load_explicit(&cache->buckets[choice->keys[i]].own,
                                                     memory_order_relaxed);
            const bool wants = choice->hot_max > 0 && wants_own(choice, i);
            if (is_own == wants || is_own != (pass == 0))
                continue;
            *kind = is_own ? GPH_CACHE_WORK_SHARE : GPH_CACHE_WORK_OWN;
            *key = choice->keys[i];
            return GPH_OK;
        }
    for (uint32_t i = 0; i < choice->count; i++) { /* all is done: look again */
        gphi_bucket *bucket = &cache->buckets[choice->keys[i]];
        bucket->seen = gphi_bucket_replays(bucket);
    }
    return GPH_OK;
}

gph_status gphi_cache_decide(gph_cache *cache, gph_cache_work_kind *kind, uint32_t *key,
                             gph_error *error)
{
    const uint32_t capacity = cache->layout.key_count;
    const gph_allocator heap = cache->runtime->heap;
    if (cache->options.hot_share < 0)
        return GPH_OK;
    struct choice choice = {
        .graphs = gphi_heap_array(heap, capacity, sizeof(*choice.graphs)),
        .keys = gphi_heap_array(heap, capacity, sizeof(*choice.keys)),
        .owners = gphi_heap_array(heap, capacity, sizeof(*choice.owners))};
    gph_status status = GPH_OK;
    if (!choice.graphs || !choice.keys || !choice.owners)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "%u keys", capacity);
    else if (collect(cache, &choice) >= DECIDE_AFTER && choice.count > 0)
        status = choose(cache, &choice, kind, key, error);
    choice_fini(cache, &choice, capacity);
    return status;
}
