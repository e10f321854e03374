// SPDX-License-Identifier: Apache-2.0
/* What may be replayed when: which recordings lie over which, and whose inputs are whole.
 *
 * Each input of a recording has a place. A recording has three rows of bits by place:
 *
 *   needs       the inputs that it reads
 *   overwrites  those that lie under what it allocated, and that another made
 *   makes       those that are its outputs
 *   bad         (of the pool) those that are overwritten now
 *
 * A replay is refused if needs & bad; else bad = (bad | overwrites) & ~makes. */
#include "base/fail.h"
#include "base/heap.h"
#include "memory/pool.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* A lock of its own, so that a replay does not wait for an allocation elsewhere. */
static void lock_bits(struct gphi_proof *proof)
{
    int tries = 0; /* acquire: pairs with unlock_bits */
    while (atomic_flag_test_and_set_explicit(&proof->busy, memory_order_acquire))
        if (++tries % 64 == 0)
            sched_yield();
}

static void unlock_bits(struct gphi_proof *proof)
{
    atomic_flag_clear_explicit(&proof->busy, memory_order_release);
}

static uint64_t *row(const struct gphi_proof *proof, uint64_t *bits, int which)
{
    return bits + (size_t)which * proof->words;
}
/* BEFORE: `bad` as it was before the last replay. */
enum { NEEDS, OVERWRITES, MAKES, BEFORE, ROWS };

static void set_bit(uint64_t *bits, uint32_t place)
{
    bits[place / 64] |= 1ull << place % 64;
}

static bool has_bit(const uint64_t *bits, uint32_t place)
{
    return bits[place / 64] >> place % 64 & 1;
}

static void clear_bit(uint64_t *bits, uint32_t place)
{
    bits[place / 64] &= ~(1ull << place % 64);
}

static struct gphi_input *input_at(const struct gphi_proof *proof, uint32_t i)
{
    return gphi_vec_at(&proof->inputs, i);
}

/* Whether spans, merged and by address, touch [first, end). */
static bool spans_touch(const gphi_vec *spans, uint64_t first, uint64_t end)
{
    const struct gphi_span *span = spans->items;
    size_t low; /* the first span that ends after `first` */
    GPHI_HALVE(low, spans->count, at, span[at].end <= first);
    return low < spans->count && span[low].first < end;
}

/* ---- the bits ---- */

void gphi_proof_fini(gph_pool *pool)
{
    struct gphi_proof *proof = &pool->proof;
    const gph_allocator heap = pool->arena->heap;
    gphi_heap_free(heap, proof->bad, proof->words * sizeof(*proof->bad));
    gphi_heap_free(heap, proof->by_id, proof->id_count * sizeof(struct gphi_recording *));
    gphi_vec_fini(&proof->inputs);
}

/* The old rows stay as they are, so that a failure halfway changes nothing. */
static uint64_t *wider(const gph_pool *pool, const uint64_t *old, uint32_t words,
                       int rows)
{
    const uint32_t had = pool->proof.words;
    uint64_t *bits =
        gphi_heap_array(pool->arena->heap, (size_t)words * (size_t)rows, sizeof(*bits));
    for (int i = 0; bits && old && i < rows; i++)
        memcpy(bits + (size_t)i * words, old + (size_t)i * had, had * sizeof(*bits));
    return bits;
}

static void free_bits(const gph_pool *pool, uint64_t *bits, uint32_t words, int rows)
{
    gphi_heap_free(pool->arena->heap, bits, (size_t)words * (size_t)rows * sizeof(*bits));
}

/* Room for places: longer rows for all. New arrays first, so that it fails as a whole. */
static gph_status widen(gph_pool *pool, uint32_t places)
{
    struct gphi_proof *proof = &pool->proof;
    const uint32_t had = proof->words;
    uint32_t words = had == 0 ? 1 : had;
    while (words * 64 < places)
        words *= 2;
    if (words == had)
        return GPH_OK;
    gphi_vec fresh;
    gphi_vec_init(&fresh, pool->arena->heap, sizeof(uint64_t *));
    uint64_t *bad = wider(pool, proof->bad, words, 1);
    bool fine = bad;
    if (fine && pool->recordings.count > 0)
        fine = gphi_vec_add(&fresh, pool->recordings.count) != NULL;
    uint64_t **rows = fresh.items;
    for (size_t i = 0; fine && i < fresh.count; i++)
        if (gphi_recording_at(pool, i)->bits) {
            rows[i] = wider(pool, gphi_recording_at(pool, i)->bits, words, ROWS);
            fine = rows[i] != NULL;
        }
    if (fine) {
        lock_bits(proof);
        for (size_t i = 0; i < fresh.count; i++) {
            struct gphi_recording *r = gphi_recording_at(pool, i);
            uint64_t *old = r->bits;
            r->bits = rows[i];
            rows[i] = old;
        }
        uint64_t *old = proof->bad;
        proof->bad = bad;
        proof->words = words;
        bad = old;
        unlock_bits(proof);
    }
    for (size_t i = 0; i < fresh.count; i++)
        free_bits(pool, rows[i], fine ? had : words, ROWS);
    free_bits(pool, bad, fine ? had : words, 1);
    gphi_vec_fini(&fresh);
    return fine ? GPH_OK : GPH_E_NO_MEMORY;
}

static gph_status widen_ids(gph_pool *pool, gph_recording_id id)
{
    struct gphi_proof *proof = &pool->proof;
    const gph_allocator heap = pool->arena->heap;
    if (id < proof->id_count)
        return GPH_OK;
    uint32_t count = proof->id_count == 0 ? 16 : proof->id_count;
    while (count <= id)
        count *= 2;
    struct gphi_recording **fresh = gphi_heap_array(heap, count, sizeof(*fresh));
    if (!fresh)
        return GPH_E_NO_MEMORY;
    const uint32_t had = proof->id_count;
    struct gphi_recording **old = proof->by_id;
    if (had > 0)
        memcpy(fresh, old, had * sizeof(struct gphi_recording *));
    lock_bits(proof);
    proof->by_id = fresh;
    proof->id_count = count;
    unlock_bits(proof);
    gphi_heap_free(heap, old, had * sizeof(struct gphi_recording *));
    return GPH_OK;
}

/* An unused place, or one more. Room is reserved. */
static uint32_t new_place(struct gphi_proof *proof)
{
    for (uint32_t i = 0; i < proof->inputs.count; i++)
        if (input_at(proof, i)->reader == 0)
            return i;
    gphi_vec_add(&proof->inputs, 1);
    return (uint32_t)(proof->inputs.count - 1);
}

static bool is_counted(const gph_pool_range *range)
{
    return range->kind == GPH_RANGE_INPUT && range->maker != range->recording;
}

/* ---- what is overwritten by what is known no more ---- */

static bool is_left(const gph_pool_range *range)
{
    return range->kind == GPH_RANGE_OUTPUT || range->kind == GPH_RANGE_KEPT;
}

/* What `r` leaves under `spans` is invalidated, unless it was made since `when`. */
static void note_overwritten(gph_pool *pool, struct gphi_recording *r,
                             const gphi_vec *spans, uint64_t when)
{
    lock_bits(&pool->proof);
    const uint64_t made = r->last_replay;
    unlock_bits(&pool->proof);
    if (made >= when)
        return;
    const struct gphi_overwrite *all = r->overwrites.items;
    bool is_old = true; /* all that is noted has been made again */
    for (size_t i = 0; i < r->overwrites.count; i++)
        is_old = is_old && all[i].when <= made;
    if (is_old)
        r->overwrites.count = 0;
    for (size_t i = 0; i < r->ranges.count; i++) {
        const gph_pool_range *range = gphi_vec_at(&r->ranges, i);
        const uint64_t end = range->address + range->bytes;
        if (!is_left(range) || !spans_touch(spans, range->address, end))
            continue;
        struct gphi_overwrite *note = gphi_vec_add(&r->overwrites, 1);
        if (!note)
            r->overwritten_all = when;
        else
            *note = (struct gphi_overwrite){{range->address, end}, when};
    }
}

/* When a part of what `r` leaves was last invalidated so. */
static uint64_t overwritten_when(const struct gphi_recording *r,
                                 const gph_pool_range *range)
{
    uint64_t when = r->overwritten_all;
    const struct gphi_overwrite *all = r->overwrites.items;
    for (size_t i = 0; i < r->overwrites.count; i++)
        if (all[i].when > when && all[i].span.first < range->address + range->bytes &&
            range->address < all[i].span.end)
            when = all[i].when;
    return when;
}

/* ---- places ---- */

/* Fills the rows of all recordings for one place. With the bits locked. */
static void add_place(gph_pool *pool, struct gphi_recording *r,
                      const gph_pool_range *range)
{
    struct gphi_proof *proof = &pool->proof;
    const uint32_t place = new_place(proof);
    *input_at(proof, place) =
        (struct gphi_input){.span = {range->address, range->address + range->bytes},
                            .reader = r->id,
                            .maker = range->maker};
    set_bit(row(proof, r->bits, NEEDS), place);
    clear_bit(proof->bad, place);
    uint64_t made = 0, overwritten = 0;
    bool is_made_here = false;
    for (size_t i = 0; i < pool->recordings.count; i++) {
        struct gphi_recording *q = gphi_recording_at(pool, i);
        if (!q->bits)
            continue;
        if (q->id == range->maker) {
            set_bit(row(proof, q->bits, MAKES), place);
            made = q->last_replay;
            const uint64_t lost = overwritten_when(q, range);
            if (lost > overwritten)
                overwritten = lost;
            is_made_here = true;
        } else if (spans_touch(&q->writes, range->address,
                               range->address + range->bytes)) {
            set_bit(row(proof, q->bits, OVERWRITES), place);
            if (q->last_replay > overwritten)
                overwritten = q->last_replay;
        }
    }
    /* What its maker has not made yet, or not since, is not whole. */
    if (is_made_here && (made == 0 || overwritten > made))
        set_bit(proof->bad, place);
}

static gph_status reserve_places(gph_pool *pool, size_t count)
{
    struct gphi_proof *proof = &pool->proof;
    if (proof->inputs.count + count > UINT32_MAX / 2)
        return GPH_E_NO_MEMORY;
    if (count > 0)
        GPHI_TRY(gphi_vec_reserve(&proof->inputs, count));
    return widen(pool, (uint32_t)(proof->inputs.count + count));
}

static uint32_t count_blocked(const gph_pool *pool, const struct gphi_recording *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->blocks.items.count; i++) {
        const struct gphi_block *block = gphi_block_at(&pool->blocks, i);
        count += block->state == GPHI_BLOCK_LIVE && block->owner == 0 &&
                 spans_touch(&r->writes, block->address, block->address + block->bytes);
    }
    return count;
}

gph_status gphi_proof_add(gph_pool *pool, struct gphi_recording *r, gph_error *error)
{
    struct gphi_proof *proof = &pool->proof;
    size_t count = 0;
    for (size_t i = 0; i < r->ranges.count; i++)
        count += is_counted(gphi_vec_at(&r->ranges, i));
    uint64_t *bits = NULL;
    if (reserve_places(pool, count) == GPH_OK && widen_ids(pool, r->id) == GPH_OK)
        bits = gphi_heap_array(pool->arena->heap, (size_t)proof->words * ROWS,
                               sizeof(*bits));
    GPHI_TRY(gphi_made(error, bits, "the proof of %s", r->name));
    r->blocked = count_blocked(pool, r);
    lock_bits(proof);
    r->bits = bits;
    for (uint32_t place = 0; place < proof->inputs.count; place++) {
        const struct gphi_input *input = input_at(proof, place);
        if (input->reader != 0 &&
            spans_touch(&r->writes, input->span.first, input->span.end))
            set_bit(row(proof, bits, OVERWRITES), place);
    }
    for (size_t i = 0; i < r->ranges.count; i++)
        if (is_counted(gphi_vec_at(&r->ranges, i)))
            add_place(pool, r, gphi_vec_at(&r->ranges, i));
    proof->by_id[r->id] = r;
    unlock_bits(proof);
    return GPH_OK;
}

gph_status gphi_proof_input(gph_pool *pool, struct gphi_recording *r,
                            const gph_pool_range *range, gph_error *error)
{
    GPHI_TRY(
        gphi_made(error, reserve_places(pool, 1) == GPH_OK, "an input of %s", r->name));
    lock_bits(&pool->proof);
    add_place(pool, r, range);
    unlock_bits(&pool->proof);
    return GPH_OK;
}

void gphi_proof_remove(gph_pool *pool, struct gphi_recording *r)
{
    struct gphi_proof *proof = &pool->proof;
    uint64_t *bits = r->bits;
    if (!bits)
        return;
    lock_bits(proof);
    proof->by_id[r->id] = NULL; /* not replayed from now on */
    const uint64_t last = r->last_replay;
    unlock_bits(proof);
    const bool matters = pool->users > 0 && last > 0;
    for (size_t i = 0; matters && i < pool->recordings.count; i++)
        if (gphi_recording_at(pool, i) != r && gphi_recording_at(pool, i)->bits)
            note_overwritten(pool, gphi_recording_at(pool, i), &r->writes, last);
    lock_bits(proof);
    for (uint32_t place = 0; place < proof->inputs.count; place++) {
        if (input_at(proof, place)->reader != r->id)
            continue;
        input_at(proof, place)->reader = 0;
        clear_bit(proof->bad, place);
        for (size_t i = 0; i < pool->recordings.count; i++) {
            uint64_t *other = gphi_recording_at(pool, i)->bits;
            for (int k = 0; other && k < ROWS; k++)
                clear_bit(row(proof, other, k), place);
        }
    }
    r->bits = NULL;
    unlock_bits(proof);
    free_bits(pool, bits, proof->words, ROWS);
}

/* Eager memory over a recording's inputs invalidates them as a replay would. */
void gphi_proof_eager(gph_pool *pool, uint64_t address, uint64_t bytes, int by,
                      bool is_new)
{
    struct gphi_proof *proof = &pool->proof;
    if (!proof->by_id)
        return; /* nothing has been recorded */
    lock_bits(proof);
    for (size_t i = 0; i < pool->recordings.count; i++) {
        struct gphi_recording *r = gphi_recording_at(pool, i);
        if (r->bits && spans_touch(&r->writes, address, address + bytes))
            r->blocked += (uint32_t)by;
    }
    for (uint32_t place = 0; is_new && place < proof->inputs.count; place++) {
        const struct gphi_input *input = input_at(proof, place);
        if (input->reader != 0 && input->span.first < address + bytes &&
            address < input->span.end)
            set_bit(proof->bad, place);
    }
    const uint64_t when = is_new ? ++proof->replay_count : 0;
    unlock_bits(proof);
    struct gphi_span span = {address, address + bytes};
    const gphi_vec spans = {.item_bytes = sizeof(span), .count = 1, .items = &span};
    for (size_t i = 0; is_new && i < pool->recordings.count; i++) {
        struct gphi_recording *r = gphi_recording_at(pool, i);
        if (r->bits && spans_touch(&r->writes, address, address + bytes))
            note_overwritten(pool, r, &spans, when);
    }
}

/* ---- replay ---- */

static const char *name_of(const gph_pool *pool, gph_recording_id id)
{
    const struct gphi_recording *r = gphi_recording_find(pool, id);
    return r ? r->name : "a recording that is forgotten";
}

/* The range of a recording that lies over [first, end). */
static const gph_pool_range *range_over(const struct gphi_recording *r, uint64_t first,
                                        uint64_t end)
{
    GPHI_EACH (const gph_pool_range, range, &r->ranges)
        if (range->kind != GPH_RANGE_INPUT && range->address < end &&
            first < range->address + range->bytes)
            return range;
    return NULL;
}

static gph_status fail_blocked(const gph_pool *pool, const struct gphi_recording *r,
                               gph_error *error)
{
    for (uint32_t i = 0; i < pool->blocks.items.count; i++) {
        const struct gphi_block *block = gphi_block_at(&pool->blocks, i);
        const gph_pool_range *range =
            block->state == GPHI_BLOCK_LIVE && block->owner == 0
                ? range_over(r, block->address, block->address + block->bytes)
                : NULL;
        if (range)
            return gphi_fail(
                error, GPH_E_STATE,
                "a replay of %s would overwrite %" PRIu64 " bytes at 0x%" PRIx64
                ", eager memory that is alive, with its own %" PRIu64 " bytes at 0x%llx",
                r->name, block->bytes, block->address, range->bytes, range->address);
    }
    return gphi_fail(error, GPH_E_STATE,
                     "a replay of %s would overwrite eager memory that has died since",
                     r->name);
}

/* Who overwrote an input last, or NULL: eager memory. */
static const struct gphi_recording *last_writer(const gph_pool *pool, uint32_t place)
{
    const struct gphi_recording *last = NULL;
    for (size_t i = 0; i < pool->recordings.count; i++) {
        const struct gphi_recording *q = gphi_recording_at(pool, i);
        if (q->bits && q->last_replay > 0 &&
            has_bit(row(&pool->proof, q->bits, OVERWRITES), place) &&
            (!last || q->last_replay > last->last_replay))
            last = q;
    }
    return last;
}

static gph_status fail_input(const gph_pool *pool, const struct gphi_recording *r,
                             uint32_t place, gph_error *error)
{
    const struct gphi_input *input = input_at(&pool->proof, place);
    const struct gphi_recording *maker = gphi_recording_find(pool, input->maker);
    const struct gphi_recording *writer = last_writer(pool, place);
    const unsigned long long bytes = input->span.end - input->span.first;
    const unsigned long long first = input->span.first;
    const char *made = input->maker == 0 ? "eager memory" : name_of(pool, input->maker);
    if (maker && maker->last_replay == 0)
        return gphi_fail(error, GPH_E_STATE,
                         "%s reads %llu bytes at 0x%llx, which %s makes: it has not been "
                         "replayed",
                         r->name, bytes, first, made);
    if (!writer || (maker && writer->last_replay < maker->last_replay))
        return gphi_fail(error, GPH_E_STATE,
                         "%s reads %llu bytes at 0x%llx of %s, over which eager memory "
                         "was allocated since",
                         r->name, bytes, first, made);
    const gph_pool_range *range = range_over(writer, input->span.first, input->span.end);
    gphi_fail(error, GPH_E_STATE,
              "%s reads %llu bytes at 0x%llx of %s, which replay %llu, of %s, has "
              "overwritten with its %llu bytes at 0x%llx",
              r->name, bytes, first, made, (unsigned long long)writer->last_replay,
              writer->name, range ? (unsigned long long)range->bytes : 0,
              range ? range->address : 0);
    if (maker)
        gphi_hint(error, "replay %s again before", maker->name);
    return GPH_E_STATE;
}

/* Says why a replay was refused; what it was may have changed meanwhile. */
__attribute__((noinline, cold)) static gph_status
fail_replay(gph_pool *pool, gph_recording_id id, gph_error *error)
{
    struct gphi_proof *proof = &pool->proof;
    gph_status status = GPH_OK;
    gphi_mutex_lock(&pool->arena->mutex);
    const struct gphi_recording *r = gphi_recording_find(pool, id);
    if (!r || !r->bits) {
        status = gphi_fail(error, GPH_E_INVALID, "pool %s has no recording %u%s",
                           pool->name, id, r ? " that has ended" : "");
    } else {
        lock_bits(proof);
        for (uint32_t place = 0; place < proof->inputs.count && status == GPH_OK; place++)
            if (has_bit(row(proof, r->bits, NEEDS), place) && has_bit(proof->bad, place))
                status = fail_input(pool, r, place, error);
        unlock_bits(proof);
        GPHI_THEN(status, fail_blocked(pool, r, error));
    }
    gphi_mutex_unlock(&pool->arena->mutex);
    return status;
}

gph_status gph_pool_replay(gph_pool *pool, gph_recording_id id, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool));
    struct gphi_proof *proof = &pool->proof;
    lock_bits(proof);
    struct gphi_recording *r = id < proof->id_count ? proof->by_id[id] : NULL;
    uint64_t refused = !r || r->blocked != 0;
    if (r) {
        const uint32_t words = proof->words;
        uint64_t *bits = r->bits;
        for (uint32_t i = 0; i < words; i++)
            refused |= proof->bad[i] & bits[i];
        if (refused == 0) {
            for (uint32_t i = 0; i < words; i++) {
                bits[BEFORE * words + i] = proof->bad[i];
                proof->bad[i] = (proof->bad[i] | bits[OVERWRITES * words + i]) &
                                ~bits[MAKES * words + i];
            }
            r->replay_before = r->last_replay;
            r->last_replay = ++proof->replay_count;
        }
    }
    unlock_bits(proof);
    return refused == 0 ? GPH_OK : fail_replay(pool, id, error);
}

void gphi_pool_replay_undo(gph_pool *pool, gph_recording_id id, bool has_written)
{
    struct gphi_proof *proof = &pool->proof;
    lock_bits(proof);
    struct gphi_recording *r = id < proof->id_count ? proof->by_id[id] : NULL;
    if (r && r->bits && r->last_replay > 0) {
        /* What others noted since may rest on ours: then only what is safe. */
        const bool is_whole = !has_written && r->last_replay == proof->replay_count;
        for (uint32_t i = 0; i < proof->words; i++) {
            const uint64_t before = row(proof, r->bits, BEFORE)[i];
            proof->bad[i] |= before & row(proof, r->bits, MAKES)[i];
            if (is_whole)
                proof->bad[i] &= before | ~row(proof, r->bits, OVERWRITES)[i];
        }
        if (!has_written)
            r->last_replay = r->replay_before;
    }
    unlock_bits(proof);
}

/* ---- may they? ---- */

static void report(const gph_pool *pool, const gph_pool_range *x, const gph_pool_range *y,
                   const char *why, gph_pool_conflict *conflict, gph_error *error)
{
    static const char *const kinds[] = {"",     "temporary", "output",
                                        "kept", "input",     "eager memory"};
    char text[sizeof(conflict->text)];
    snprintf(text, sizeof(text),
             "%s's %s of %" PRIu64 " bytes at 0x%llx %s %s's %s of %" PRIu64
             " bytes at 0x%llx",
             name_of(pool, y->recording), kinds[y->kind], y->bytes, y->address, why,
             name_of(pool, x->recording), kinds[x->kind], x->bytes, x->address);
    if (conflict) {
        gph_pool_conflict full = {.first = *x, .second = *y};
        memcpy(full.text, text, sizeof(text));
        gphi_struct_write(conflict, &full, sizeof(full));
    }
    gphi_fail(error, GPH_E_STATE, "%s", text);
}

/* What of a recording is looked at. */
typedef bool filter_fn(const gph_pool_range *range);

static bool is_written(const gph_pool_range *range)
{
    return range->kind != GPH_RANGE_INPUT;
}
static bool is_input(const gph_pool_range *range)
{
    return range->kind == GPH_RANGE_INPUT;
}
/* The first range of `r` that passes and that `writer` writes over, and the writer's.
 * `own_counts`: also what the writer makes for it to read. */
static bool find_collision(const struct gphi_recording *r, filter_fn *filter,
                           const struct gphi_recording *writer, bool own_counts,
                           const gph_pool_range **out, const gph_pool_range **over)
{
    GPHI_EACH (const gph_pool_range, range, &r->ranges) {
        const bool is_own = range->kind == GPH_RANGE_INPUT && range->maker == writer->id;
        if (!filter(range) || (is_own && !own_counts) ||
            !spans_touch(&writer->writes, range->address, range->address + range->bytes))
            continue;
        *over = range_over(writer, range->address, range->address + range->bytes);
        *out = range;
        return true;
    }
    return false;
}

static gph_status at_once(const gph_pool *pool, const struct gphi_recording *a,
                          const struct gphi_recording *b, gph_pool_conflict *conflict,
                          gph_error *error)
{
    const gph_pool_range *x = NULL, *y = NULL;
    if (a == b)
        return a->writes.count == 0
                   ? GPH_OK
                   : gphi_fail(error, GPH_E_STATE,
                               "%s cannot run at the same time as itself", a->name);
    if (find_collision(a, is_written, b, false, &x, &y) ||
        find_collision(a, is_input, b, true, &x, &y) ||
        find_collision(b, is_input, a, true, &y, &x)) {
        report(pool, x, y, "overlaps", conflict, error);
        return GPH_E_STATE;
    }
    return GPH_OK;
}

static gph_status after(const gph_pool *pool, const struct gphi_recording *first,
                        const struct gphi_recording *second, gph_pool_conflict *conflict,
                        gph_error *error)
{
    const gph_pool_range *x = NULL, *y = NULL;
    if (first != second && find_collision(first, is_left, second, false, &x, &y)) {
        report(pool, x, y, "overwrites", conflict, error);
        return GPH_E_STATE;
    }
    if (find_collision(second, is_counted, first, false, &y, &x)) {
        report(pool, x, y, "is overwritten before: it is under", conflict, error);
        return GPH_E_STATE;
    }
    return GPH_OK;
}

gph_status gph_pool_may_replay(const gph_pool *pool, gph_recording_id first,
                               gph_recording_id second, gph_replay_order order,
                               gph_pool_conflict *conflict, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool));
    if (order != GPH_REPLAY_AT_ONCE && order != GPH_REPLAY_AFTER)
        return gphi_fail(error, GPH_E_INVALID, "order %d is not a gph_replay_order",
                         (int)order);
    gph_status status = GPH_OK;
    gphi_mutex_lock(&pool->arena->mutex);
    const struct gphi_recording *a = gphi_recording_find(pool, first);
    const struct gphi_recording *b = gphi_recording_find(pool, second);
    if (!a || a->is_open || !b || b->is_open)
        status = gphi_fail(error, GPH_E_INVALID, "pool %s has no recording %u that ended",
                           pool->name, !a || a->is_open ? first : second);
    else if (order == GPH_REPLAY_AT_ONCE)
        status = at_once(pool, a, b, conflict, error);
    else
        status = after(pool, a, b, conflict, error);
    gphi_mutex_unlock(&pool->arena->mutex);
    return status;
}
