// SPDX-License-Identifier: Apache-2.0
/* The rules of caches, trees and recipes, by what these say when they are made and used:
 *
 *   cache made ── misses, and nothing is ever recorded: reported at the end, where it was made
 *   cache made ── a padded replay in a bucket that a larger call has filled, rest kept
 *   function added ── recorded for each of many places of one static input, all refilled
 *   recipe loaded, a range left where it was ── another buffer of its size that nobody reads */
#include "doctor/findings/stacks.h"
#include "doctor/rules/libgph/rules_libgph.h"

#include <gph/cache.h>
#include <gph/reason.h>
#include <inttypes.h>
#include <string.h>

enum { OBJECTS_MAX = 64 };

/* ---- libgph.cache-never-records ---- */

static gphi_libgph_cache *cache_of(gphi_rule_run *run, const gphi_event *event)
{
    const uint64_t key = gphi_event_word(event, 0);
    if (event->kind != GPHI_EVENT_NOTE ||
        (event->id != GPHI_NOTE_CACHE_MADE && event->id != GPHI_NOTE_CACHE_HIT &&
         event->id != GPHI_NOTE_CACHE_RECORD))
        return NULL;
    gphi_libgph_cache *cache = gphi_vec_keyed(run->state, &key, sizeof(key), OBJECTS_MAX);
    if (cache && event->id == GPHI_NOTE_CACHE_MADE) {
        *cache = (gphi_libgph_cache){.cache = key,
                                     .lazy = gphi_event_word(event, 1),
                                     .sizes = gphi_event_word(event, 2),
                                     .kept = gphi_event_word(event, 3),
                                     .made = gphi_libgph_at(run, event)};
        gphi_say_into(cache->name, sizeof(cache->name), "%s", gphi_event_text(event, 0));
    }
    return cache && cache->made.number != 0 ? cache : NULL;
}

static void report_idle(gphi_rule_run *run, gphi_libgph_cache *cache)
{
    enum { MISSES_MIN = 16 };
    if (cache->made.number == 0 || cache->is_used || cache->misses < MISSES_MIN ||
        cache->lazy == GPH_CACHE_LAZY_CALL)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &cache->made, cache->cache);
    gphi_cause(draft,
               "cache \"%.200s\" was called (times: %" PRIu64
               ") for keys that it would serve, and no key was ever captured: every "
               "call ran eagerly",
               cache->name, cache->misses);
    gphi_evidence(draft, "called first at %s",
                  gphi_say_place(run->model, &cache->missed));
    if (cache->lazy == GPH_CACHE_LAZY_WORK)
        gphi_evidence(draft, "with GPH_CACHE_LAZY_WORK keys are captured in "
                             "gph_cache_start() and gph_cache_work() alone");
    else
        gphi_evidence(draft, "with GPH_CACHE_LAZY_OFF keys are captured in "
                             "gph_cache_start() alone");
}

void gphi_libgph_idle_event(gphi_rule_run *run, const gphi_event *event)
{
    enum { MISS = 3 };
    const gphi_vec *caches = run->state;
    const uint64_t key = gphi_event_word(event, 0);
    if (event->kind == GPHI_EVENT_NOTE && event->id == GPHI_NOTE_CACHE_MADE)
        GPHI_EACH (gphi_libgph_cache, one, caches)
            if (one->cache == key) /* another one where it was, or its buffers moved */
                report_idle(run, one);
    gphi_libgph_cache *cache = cache_of(run, event);
    if (!cache || event->id == GPHI_NOTE_CACHE_MADE)
        return;
    const bool is_miss =
        event->id == GPHI_NOTE_CACHE_HIT && gphi_event_word(event, 3) == MISS;
    if (is_miss && cache->misses++ == 0)
        cache->missed = gphi_libgph_at(run, event);
    cache->is_used = cache->is_used || event->id == GPHI_NOTE_CACHE_RECORD ||
                     gphi_event_word(event, 3) < 2;
}

void gphi_libgph_idle_end(gphi_rule_run *run)
{
    const gphi_vec *caches = run->state;
    GPHI_EACH (gphi_libgph_cache, one, caches)
        report_idle(run, one);
}

/* ---- libgph.padding-kept ---- */

static bool is_of_cache(gphi_rule_run *run, const gphi_call *call)
{
    const char *entered = gphi_stacks_entered(run->model->stacks, call->stack);
    return entered && strncmp(entered, "gph_cache_", 10) == 0;
}

/* The host may have put the real size, or a mask, where a kernel of the graph reads it. */
static bool may_be_told(gphi_rule_run *run, const gphi_exec_history *exec)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        const gphi_allocation *at = gphi_model_memory(run->model, touch->address, false);
        const gphi_memory_history *memory =
            at ? gphi_history_memory(run->history, at) : NULL;
        if (!memory)
            continue;
        if (memory->overflows)
            return true;
        GPHI_EACH (const gphi_range_history, range, &memory->written)
            if (touch->address >= range->start && touch->address < range->end &&
                range->last.number > exec->first_launch.number &&
                !is_of_cache(run, &range->last))
                return true;
    }
    return false;
}

void gphi_libgph_padding_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_vec *caches = run->state;
    if (caches->count == 0 || !gphi_is_launch(seen) || !seen->exec ||
        !is_of_cache(run, &seen->call))
        return;
    GPHI_EACH (gphi_libgph_cache, cache, caches)
        cache->launched = seen->exec;
}

static void report_kept(gphi_rule_run *run, const gphi_libgph_cache *cache,
                        const gphi_event *event, uint64_t before)
{
    const gphi_call at = gphi_libgph_at(run, event);
    gphi_draft *draft = gphi_finding_begin(run, &cache->made, cache->cache);
    gphi_cause(draft,
               "input %" PRIu64
               " of cache \"%.200s\" is padded with GPH_FILL_KEEP, no output has its "
               "axis, and no kernel of the graph has the address of the real sizes: "
               "what an earlier call left beyond the real size is part of the result",
               cache->kept - 1, cache->name);
    gphi_evidence(draft,
                  "at %s a call of size %" PRIu64 " came after one of size %" PRIu64
                  " in the same graph",
                  gphi_say_place(run->model, &at), gphi_event_word(event, 1), before);
}

void gphi_libgph_padding_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_libgph_cache *cache = cache_of(run, event);
    const uint64_t asked = gphi_event_word(event, 1), key = gphi_event_word(event, 2);
    if (!cache || event->id != GPHI_NOTE_CACHE_HIT || cache->kept == 0 ||
        gphi_event_word(event, 3) > 1 || key >= GPHI_LIBGPH_KEYS)
        return;
    const gphi_exec_history *exec =
        cache->launched ? gphi_history_exec(run->history, cache->launched) : NULL;
    const uint64_t before = cache->most[key];
    if (asked > before)
        cache->most[key] = asked;
    if (asked >= before || !exec || exec->has_bodies || exec->touches.count == 0 ||
        gphi_history_touches(run->history, exec, cache->sizes, sizeof(uint64_t)) ||
        may_be_told(run, exec))
        return;
    report_kept(run, cache, event, before);
}

/* ---- libgph.static-input-moves ---- */

void gphi_libgph_moves_event(gphi_rule_run *run, const gphi_event *event)
{
    const uint64_t key[] = {gphi_event_word(event, 0), gphi_event_word(event, 1)};
    const bool is_added = event->id == GPHI_NOTE_TREE_FUNCTION;
    if (event->kind != GPHI_EVENT_NOTE ||
        (!is_added && event->id != GPHI_NOTE_TREE_RECORD))
        return;
    gphi_libgph_function *function =
        gphi_vec_keyed(run->state, key, sizeof(key), OBJECTS_MAX);
    if (!function)
        return;
    if (is_added) {
        *function = (gphi_libgph_function){.tree = key[0], .function = key[1]};
        function->added = gphi_libgph_at(run, event);
        gphi_say_into(function->name, sizeof(function->name), "%s",
                      gphi_event_text(event, 0));
    } else if (gphi_event_word(event, 3) == GPH_TREE_STATIC &&
               function->count < GPHI_LIBGPH_PLACES && gphi_event_word(event, 5) != 0) {
        function->recorded = gphi_libgph_at(run, event);
        function->places[function->count++].address = gphi_event_word(event, 5);
    }
}

void gphi_libgph_moves_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_touch touches[4];
    gphi_call_ranges ranges = {0};
    const gphi_vec *functions = run->state;
    if (functions->count == 0 || seen->call.result != 0 || seen->capture || !seen->work)
        return;
    const bool is_copy = gphi_call_ranges_of(seen, &ranges);
    const uint32_t count =
        gphi_call_written(run->model, seen, touches, sizeof(touches) / sizeof(*touches));
    GPHI_EACH (gphi_libgph_function, function, functions)
        for (uint32_t i = 0; i < function->count; i++) {
            const uint64_t at = function->places[i].address;
            bool is = is_copy && at - ranges.write < ranges.write_bytes;
            for (uint32_t t = 0; t < count; t++)
                is = is || touches[t].address == at;
            function->places[i].refilled += is;
        }
}

/* Weights are recorded for each place, too, and stay as they are; what is filled again and
 * again is an input. */
void gphi_libgph_moves_end(gphi_rule_run *run)
{
    enum { PLACES_MIN = 3, REFILLED_MIN = 2 };
    const gphi_vec *functions = run->state;
    GPHI_EACH (const gphi_libgph_function, function, functions) {
        uint32_t inputs = 0;
        for (uint32_t i = 0; i < function->count; i++)
            inputs += function->places[i].refilled >= REFILLED_MIN;
        if (inputs < PLACES_MIN || function->added.number == 0)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &function->added, function->function);
        gphi_cause(draft,
                   "function \"%.200s\" of a tree has a static input, and was recorded "
                   "again since it lay elsewhere (times: %u); %u of these places were "
                   "filled again and again: it is an input that comes in several buffers",
                   function->name, function->count, inputs);
        gphi_evidence(draft, "recorded last at %s",
                      gphi_say_place(run->model, &function->recorded));
    }
}

/* ---- libgph.range-not-placed ---- */

void gphi_libgph_unplaced_event(gphi_rule_run *run, const gphi_event *event)
{
    gphi_libgph_range new = {.address = gphi_event_word(event, 1),
                             .bytes = gphi_event_word(event, 2)};
    const gphi_vec *ranges = run->state;
    if (event->kind != GPHI_EVENT_NOTE || event->id != GPHI_NOTE_UNPLACED ||
        ranges->count >= OBJECTS_MAX || new.bytes == 0)
        return;
    new.loaded = gphi_libgph_at(run, event);
    gphi_say_into(new.name, sizeof(new.name), "%s", gphi_event_text(event, 0));
    if (gphi_vec_push(run->state, &new) != GPH_OK)
        gphi_short(run);
}

/* Whether anything reads or may read there: a graph, a copy, a kernel. */
static bool is_looked_at(const gphi_rule_run *run, const gphi_memory_history *memory,
                         uint64_t start, uint64_t bytes)
{
    GPHI_EACH (const gphi_range_history, read, &memory->read)
        if (gphi_ranges_meet(read->start, read->end - read->start, start, bytes))
            return true;
    GPHI_EACH (const gphi_touch, touch, &memory->pointers)
        if (gphi_touch_meets(run->history, touch, start, bytes))
            return true;
    for (size_t i = 0; i < run->history->execs.count; i++)
        if (gphi_history_touches(run->history, gphi_history_exec_at(run->history, i),
                                 start, bytes))
            return true;
    return false;
}

/* What the program filled since it had loaded the recipe, as large as the range, and nobody
 * reads. */
static const gphi_range_history *spare(const gphi_rule_run *run,
                                       const gphi_libgph_range *of)
{
    for (size_t i = 0; i < run->history->memories.count; i++) {
        const gphi_memory_history *memory = gphi_vec_pointer(&run->history->memories, i);
        if (memory->overflows)
            continue;
        GPHI_EACH (const gphi_range_history, range, &memory->written)
            if (range->end - range->start == of->bytes &&
                range->last.number > of->loaded.number &&
                !gphi_ranges_meet(range->start, of->bytes, of->address, of->bytes) &&
                !is_looked_at(run, memory, range->start, of->bytes))
                return range;
    }
    return NULL;
}

static const gphi_exec_history *reader(const gphi_rule_run *run,
                                       const gphi_libgph_range *of)
{
    for (size_t i = 0; i < run->history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(run->history, i);
        if (exec->launches > 0 && exec->first_launch.number > of->loaded.number &&
            gphi_history_touches(run->history, exec, of->address, of->bytes))
            return exec;
    }
    return NULL;
}

void gphi_libgph_unplaced_end(gphi_rule_run *run)
{
    const gphi_vec *ranges = run->state;
    GPHI_EACH (const gphi_libgph_range, range, ranges) {
        const gphi_exec_history *exec = reader(run, range);
        const gphi_range_history *other = exec ? spare(run, range) : NULL;
        if (!other)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &range->loaded, range->address);
        gphi_cause(
            draft,
            "the recipe was loaded without a place for its range \"%.200s\" of %s: "
            "graphs use it where it was recorded, and %s, which was filled since, "
            "is as large and used by nothing",
            range->name, gphi_say_bytes(range->bytes),
            gphi_say_memory(run->model, other->start));
        gphi_evidence_call(draft, &other->last, "filled by");
        gphi_evidence_call(draft, &exec->first_launch, "the graph was launched by");
    }
}
