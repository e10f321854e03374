// SPDX-License-Identifier: Apache-2.0
/* The race check against a model that keeps a byte for each byte of memory and each node,
 * and finds order by trying all paths: random graphs, random accesses, random lives of
 * allocations. */
#include <pthread.h>

#include "fault.h"
#include "softcuda/check/mode.h"
#include "softcuda/check/race.h"
#include "test.h"

enum { NODES = 14, BYTES = 9000, FOUND_MAX = 256, WINDOWS = 3, BASE = 0x7000ff00 };
enum { READ = 1, WRITE = 2, STRONG_READ = 4, STRONG_WRITE = 8 };

static _Thread_local soft_trace_memory seen;
static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* ---- the model ---- */

typedef struct model {
    uint32_t node_count, edge_count, window_count;
    soft_edge edges[NODES * NODES];
    bool above[NODES][NODES]; /* [a][b]: a path from b to a */
    uint8_t touches[NODES];
    uint8_t bytes[NODES][BYTES];
    soft_race_window windows[WINDOWS];
} model;

typedef struct found {
    soft_finding list[FOUND_MAX];
    uint32_t count;
    bool incomplete;
} found;

static void close_paths(model *m)
{
    for (uint32_t e = 0; e < m->edge_count; e++)
        m->above[m->edges[e].to][m->edges[e].from] = true;
    for (uint32_t k = 0; k < m->node_count; k++)
        for (uint32_t i = 0; i < m->node_count; i++)
            for (uint32_t j = 0; j < m->node_count; j++)
                m->above[i][j] |= m->above[i][k] && m->above[k][j];
}

static void make_graph(model *m)
{
    m->node_count = 2 + random_below(NODES - 1);
    const uint32_t density = 1 + random_below(6);
    uint32_t names[NODES]; /* so that edges go up and down */
    for (uint32_t i = 0; i < m->node_count; i++) {
        const uint32_t at = random_below(i + 1);
        names[i] = names[at];
        names[at] = i;
    }
    for (uint32_t i = 0; i < m->node_count; i++)
        for (uint32_t j = i + 1; j < m->node_count; j++)
            if (random_below(8) < density)
                m->edges[m->edge_count++] = (soft_edge){names[i], names[j]};
    close_paths(m);
    for (uint32_t i = 0; i < m->node_count; i++)
        m->touches[i] = random_below(5) != 0;
}

static bool racing(uint8_t a, uint8_t b)
{
    const uint8_t writes = WRITE | STRONG_WRITE, weak = READ | WRITE;
    return ((a & writes && b & weak) || (a & weak && b & writes) ||
            (a & WRITE && b & (STRONG_READ | STRONG_WRITE)) ||
            (b & WRITE && a & (STRONG_READ | STRONG_WRITE)));
}

/* The lowest racing byte of two nodes, or -1. */
static int race_byte(const model *m, uint32_t a, uint32_t b)
{
    if (a == b || m->above[a][b] || m->above[b][a])
        return -1;
    for (int i = 0; i < BYTES; i++)
        if (racing(m->bytes[a][i], m->bytes[b][i]))
            return i;
    return -1;
}

static bool lives(const model *m, uint32_t node, const soft_race_window *w)
{
    return (w->alloc == SOFT_RACE_NO_NODE || m->above[node][w->alloc]) &&
           (w->free == SOFT_RACE_NO_NODE || m->above[w->free][node]);
}

/* The lowest byte that the node touches in some life of it, but in none that holds. */
static int dead_byte(const model *m, uint32_t node)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        bool dead = false, alive = false;
        for (uint32_t w = 0; m->bytes[node][i] && w < m->window_count; w++)
            if (BASE + i - m->windows[w].base < m->windows[w].bytes) {
                alive |= lives(m, node, &m->windows[w]);
                dead |= !lives(m, node, &m->windows[w]);
            }
        if (dead && !alive)
            return (int)i;
    }
    return -1;
}

static void rows(soft_trace *trace, uint64_t address, uint64_t bytes, uint64_t count,
                 uint64_t pitch, bool write)
{
    const soft_touched_rows touched = {.address = address,
                                       .bytes = bytes,
                                       .rows = count,
                                       .pitch = pitch,
                                       .write = write};
    soft_trace_rows(trace, &touched);
}

/* ---- accesses, reported to both ---- */

static void touch(model *m, soft_race *race, uint32_t node)
{
    soft_trace *trace = soft_race_trace(race, node);
    const bool write = random_below(3) == 0, strong = random_below(4) == 0;
    const uint32_t size = 1u << random_below(5);
    const uint32_t stride = size * (1 + random_below(40));
    const uint32_t count = 1 + random_below(60);
    uint32_t at = random_below(BYTES) / 16 * 16;
    for (uint32_t i = 0; i < count && at + size <= BYTES; i++, at += stride) {
        const soft_touch one = {.address = BASE + at,
                                .block = i / 32,
                                .bytes = size,
                                .thread = i % 32,
                                .line = 10 + size,
                                .write = write,
                                .strong = strong};
        if (trace)
            soft_trace_touch(trace, &seen, &one);
        for (uint32_t b = 0; b < size; b++)
            m->bytes[node][at + b] |=
                strong ? (write ? STRONG_WRITE : STRONG_READ) : (write ? WRITE : READ);
    }
}

static void touch_rows(model *m, soft_race *race, uint32_t node)
{
    soft_trace *trace = soft_race_trace(race, node);
    const bool write = random_below(2) == 0;
    const uint32_t bytes = 1 + random_below(300), count = 1 + random_below(5);
    const uint32_t pitch = bytes + random_below(3) * 50;
    const uint32_t at = random_below(BYTES);
    if (at + pitch * count > BYTES)
        return;
    if (trace)
        rows(trace, BASE + at, bytes, count, pitch, write);
    for (uint32_t y = 0; y < count; y++)
        for (uint32_t x = 0; x < bytes; x++)
            m->bytes[node][at + y * pitch + x] |= write ? WRITE : READ;
}

static void note(void *user, const soft_finding *finding)
{
    found *all = user;
    if (CHECK(all->count < FOUND_MAX))
        all->list[all->count++] = *finding;
}

static void note_incomplete(void *user, const char *why)
{
    (void)why;
    ((found *)user)->incomplete = true;
}

static soft_race *open_race(const model *m, fault_heap *heap, gph_status *status)
{
    const gph_allocator allocator = {.realloc = fault_realloc, .user = heap};
    const soft_race_options options = {.node_count = m->node_count,
                                       .window_count = m->window_count,
                                       .edges = m->edges,
                                       .edge_count = m->edge_count,
                                       .touches = m->touches,
                                       .windows = m->windows,
                                       .allocator = &allocator};
    soft_race *race = NULL;
    gph_error error;
    *status = soft_race_create(&options, &race, &error);
    return race;
}

static void touch_all(model *m, soft_race *race)
{
    for (uint32_t n = 0; n < m->node_count; n++)
        for (uint32_t i = random_below(3); m->touches[n] && i > 0; i--)
            random_below(3) ? touch(m, race, n) : touch_rows(m, race, n);
}

static const soft_finding *find(const found *all, bool race, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const soft_finding *f = &all->list[i];
        if ((f->kind == SOFT_FINDING_RACE) == race && f->first.node == a &&
            (f->second.node == b || b == SOFT_RACE_NO_NODE))
            return f;
    }
    return NULL;
}

static bool agrees(const model *m, const found *all)
{
    uint32_t expected = 0;
    bool right = true;
    for (uint32_t a = 0; a < m->node_count; a++)
        for (uint32_t b = a + 1; b < m->node_count; b++) {
            const int byte = race_byte(m, a, b);
            const soft_finding *f = find(all, true, a, b);
            expected += byte >= 0;
            right &= (byte >= 0) == (f != NULL);
            if (byte >= 0 && f)
                right &= f->address == BASE + (uint64_t)byte &&
                         (f->first.write || f->second.write);
        }
    uint32_t races = 0;
    for (uint32_t i = 0; i < all->count; i++)
        races += all->list[i].kind == SOFT_FINDING_RACE;
    return right && races == expected;
}

static uint32_t check_seed(uint64_t seed)
{
    random_state = seed * 7919 + 1;
    static model m;
    static found all;
    memset(&m, 0, sizeof(m));
    make_graph(&m);
    fault_heap heap = {.fail_at = -1};
    gph_status status;
    soft_race *race = open_race(&m, &heap, &status);
    if (!CHECK(race != NULL))
        return 0;
    const soft_race_report report = {&all, note, note_incomplete};
    uint32_t races = 0;
    for (int launch = 0; launch < 2; launch++) { /* what was touched is forgotten */
        memset(m.bytes, 0, sizeof(m.bytes));
        memset(&all, 0, sizeof(all));
        soft_race_destroy(race);
        race = open_race(&m, &heap, &status);
        if (launch == 1) { /* reads of everything by all, then all over again */
            for (uint32_t n = 0; n < m.node_count; n++)
                if (soft_race_trace(race, n))
                    rows(soft_race_trace(race, n), BASE, BYTES, 1, 0, false);
            soft_race_finish(race, &report);
            CHECK(all.count == 0);
        }
        touch_all(&m, race);
        soft_race_finish(race, &report);
        if (!CHECK(agrees(&m, &all) && !all.incomplete))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        races += all.count;
    }
    soft_race_destroy(race);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    return races;
}

static void random_graphs_give_the_races_of_the_model(void)
{
    uint32_t races = 0;
    for (uint64_t seed = 1; seed <= 400; seed++)
        races += check_seed(seed);
    CHECK(races > 400);
}

static void make_windows(model *m)
{
    m->window_count = 1 + random_below(WINDOWS);
    for (uint32_t i = 0; i < m->window_count; i++) {
        soft_race_window *w = &m->windows[i];
        w->base = BASE + random_below(BYTES / 2);
        w->bytes = 1 + random_below(BYTES / 3);
        w->alloc = random_below(m->node_count);
        w->free = random_below(m->node_count);
        if (w->alloc == w->free)
            w->free = SOFT_RACE_NO_NODE;
        m->touches[w->alloc] = 0;
        if (w->free != SOFT_RACE_NO_NODE)
            m->touches[w->free] = 0;
        if (random_below(4) == 0 && w->free != SOFT_RACE_NO_NODE)
            w->alloc = SOFT_RACE_NO_NODE;
    }
}

static void accesses_outside_of_a_life_are_found(void)
{
    uint32_t outside = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        random_state = seed * 104729;
        static model m;
        static found all;
        memset(&m, 0, sizeof(m));
        memset(&all, 0, sizeof(all));
        make_graph(&m);
        make_windows(&m);
        fault_heap heap = {.fail_at = -1};
        gph_status status;
        soft_race *race = open_race(&m, &heap, &status);
        if (!CHECK(race != NULL))
            return;
        touch_all(&m, race);
        const soft_race_report report = {&all, note, note_incomplete};
        soft_race_finish(race, &report);
        bool right = agrees(&m, &all);
        for (uint32_t n = 0; n < m.node_count; n++) {
            const int byte = dead_byte(&m, n);
            const soft_finding *f = find(&all, false, n, SOFT_RACE_NO_NODE);
            right &= (byte >= 0) == (f != NULL);
            outside += byte >= 0;
        }
        if (!CHECK(right))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        soft_race_destroy(race);
    }
    CHECK(outside > 300);
}

/* ---- single cases ---- */

static void what_is_wrong_with_a_life_is_said(void)
{
    /* 0 alloc, 1 before it, 2 in between, 3 free, 4 after it, 5 and 6 beside it. */
    static model m;
    static found all;
    const soft_edge edges[] = {{1, 0}, {0, 2}, {2, 3}, {3, 4}, {0, 5}, {6, 3}};
    memset(&m, 0, sizeof(m));
    memset(&all, 0, sizeof(all));
    m.node_count = 7;
    m.edge_count = 6;
    memcpy(m.edges, edges, sizeof(edges));
    memset(m.touches, 1, 7);
    m.touches[0] = m.touches[3] = 0;
    m.window_count = 1;
    m.windows[0] = (soft_race_window){BASE, 256, 0, 3};
    fault_heap heap = {.fail_at = -1};
    gph_status status;
    soft_race *race = open_race(&m, &heap, &status);
    if (!CHECK(race != NULL))
        return;
    for (uint32_t n = 1; n < 7; n++)
        if (n != 3)
            rows(soft_race_trace(race, n), BASE + 8 * n, 8, 1, 0, true);
    const soft_race_report report = {&all, note, note_incomplete};
    soft_race_finish(race, &report);
    CHECK(all.count == 4);
    const soft_finding *f = find(&all, false, 1, 0);
    CHECK(f && f->kind == SOFT_FINDING_BEFORE_ALLOC && f->address == BASE + 8);
    f = find(&all, false, 4, 3);
    CHECK(f && f->kind == SOFT_FINDING_AFTER_FREE && f->address == BASE + 32);
    f = find(&all, false, 5, 3);
    CHECK(f && f->kind == SOFT_FINDING_FREE_UNORDERED && f->address == BASE + 40);
    f = find(&all, false, 6, 0);
    CHECK(f && f->kind == SOFT_FINDING_ALLOC_UNORDERED && f->address == BASE + 48);
    /* Said once. */
    all.count = 0;
    rows(soft_race_trace(race, 4), BASE, 8, 1, 0, true);
    soft_race_finish(race, &report);
    CHECK(all.count == 0);
    soft_race_destroy(race);
}

static void a_finding_names_lines_and_threads(void)
{
    static found all;
    const uint8_t touches[] = {1, 1};
    const soft_race_options options = {.node_count = 2, .touches = touches};
    soft_race *race = NULL;
    gph_error error;
    memset(&all, 0, sizeof(all));
    if (!CHECK_OK(soft_race_create(&options, &race, &error), error))
        return;
    const uint32_t grid[3] = {3, 2, 1}, block[3] = {4, 4, 2};
    soft_trace_kernel(soft_race_trace(race, 0), "writer", grid, block);
    soft_trace_kernel(soft_race_trace(race, 1), "reader", grid, block);
    for (uint32_t i = 32 * 6; i-- > 0;) { /* backwards: the first is the least */
        const soft_touch write = {.address = BASE + 4 * i,
                                  .block = i / 32,
                                  .thread = i % 32,
                                  .bytes = 4,
                                  .line = 12,
                                  .write = true};
        soft_trace_touch(soft_race_trace(race, 0), &seen, &write);
    }
    const soft_touch read = {
        .address = BASE + 256, .block = 5, .thread = 31, .bytes = 8, .line = 34};
    soft_trace_touch(soft_race_trace(race, 1), &seen, &read);
    const soft_race_report report = {&all, note, note_incomplete};
    soft_race_finish(race, &report);
    CHECK(all.count == 1);
    const soft_race_side *a = &all.list[0].first, *b = &all.list[0].second;
    CHECK(all.list[0].kind == SOFT_FINDING_RACE && all.list[0].address == BASE + 256);
    CHECK(strcmp(a->kernel, "writer") == 0 && a->line == 12 && a->write && a->bytes == 4);
    CHECK(a->has_thread && a->block[0] == 2 && a->block[1] == 0 && a->thread[0] == 0);
    CHECK(strcmp(b->kernel, "reader") == 0 && b->line == 34 && !b->write);
    CHECK(b->has_thread && b->block[0] == 2 && b->block[1] == 1 && b->thread[0] == 3 &&
          b->thread[1] == 3 && b->thread[2] == 1);
    soft_race_destroy(race);
}

static void *touch_in_a_thread(void *argument)
{
    soft_trace *trace = argument;
    for (uint32_t i = 0; i < 20000; i++) {
        const soft_touch one = {.address = BASE + 4 * (i * 7 % 20000),
                                .block = i,
                                .bytes = 4,
                                .line = 1 + i % 3,
                                .write = true};
        soft_trace_touch(trace, &seen, &one);
    }
    return NULL;
}

static void many_threads_note_into_one_trace(void)
{
    static found all;
    const uint8_t touches[] = {1, 1};
    const soft_race_options options = {.node_count = 2, .touches = touches};
    soft_race *race = NULL;
    gph_error error;
    memset(&all, 0, sizeof(all));
    if (!CHECK_OK(soft_race_create(&options, &race, &error), error))
        return;
    const soft_race_report report = {&all, note, note_incomplete};
    for (int launch = 0; launch < 3; launch++) {
        pthread_t threads[4];
        for (uint32_t i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, touch_in_a_thread,
                           soft_race_trace(race, i % 2));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        soft_race_finish(race, &report);
    }
    CHECK(all.count == 1 && all.list[0].address == BASE);
    soft_race_destroy(race);
}

/* What is ordered with everything needs no trace; nor does what touches nothing. */
static void only_what_can_race_is_watched(void)
{
    const uint8_t touches[] = {1, 1, 1, 1, 0};
    const soft_edge edges[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    const soft_race_options options = {
        .node_count = 5, .edges = edges, .edge_count = 4, .touches = touches};
    soft_race *race = NULL;
    gph_error error;
    if (!CHECK_OK(soft_race_create(&options, &race, &error), error))
        return;
    CHECK(soft_race_trace(race, 0) == NULL && soft_race_trace(race, 3) == NULL);
    CHECK(soft_race_trace(race, 1) != NULL && soft_race_trace(race, 2) != NULL);
    CHECK(soft_race_trace(race, 4) == NULL);
    soft_race_destroy(race);
}

static void too_large_a_graph_is_refused(void)
{
    const uint32_t count = 60000;
    uint8_t *touches = malloc(count);
    memset(touches, 1, count);
    const soft_race_options options = {.node_count = count, .touches = touches};
    soft_race *race = NULL;
    gph_error error;
    CHECK(soft_race_create(&options, &race, &error) == GPH_E_UNSUPPORTED);
    CHECK(race == NULL && strstr(error.message, "60000 nodes") != NULL);
    free(touches);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        random_state = 12345;
        static model m;
        static found all;
        memset(&m, 0, sizeof(m));
        memset(&all, 0, sizeof(all));
        make_graph(&m);
        make_windows(&m);
        fault_heap heap = {.fail_at = nth};
        gph_status status;
        soft_race *race = open_race(&m, &heap, &status);
        CHECK((race != NULL) == (status == GPH_OK));
        if (race) {
            touch_all(&m, race);
            const soft_race_report report = {&all, note, note_incomplete};
            soft_race_finish(race, &report);
        }
        soft_race_destroy(race);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (atomic_load(&heap.fail_at) >= 0) { /* none failed */
            CHECK(!all.incomplete && agrees(&m, &all));
            return;
        }
    }
}

static void the_words_of_the_setting(void)
{
    soft_check_mode mode;
    char word[8];
    CHECK(soft_check_mode_parse(NULL, &mode, NULL, 0) && !mode.memory && !mode.race);
    CHECK(soft_check_mode_parse("memory", &mode, NULL, 0) && mode.memory && !mode.race);
    CHECK(soft_check_mode_parse("race", &mode, NULL, 0) && mode.memory && mode.race);
    CHECK(soft_check_mode_parse("all,fatal", &mode, NULL, 0) && mode.race && mode.fatal);
    CHECK(!soft_check_mode_parse("memory,races,x", &mode, word, sizeof(word)));
    CHECK(strcmp(word, "races") == 0 && mode.memory);
}

int main(void)
{
    RUN(random_graphs_give_the_races_of_the_model);
    RUN(accesses_outside_of_a_life_are_found);
    RUN(what_is_wrong_with_a_life_is_said);
    RUN(a_finding_names_lines_and_threads);
    RUN(many_threads_note_into_one_trace);
    RUN(only_what_can_race_is_watched);
    RUN(too_large_a_graph_is_refused);
    RUN(survives_every_failed_allocation);
    RUN(the_words_of_the_setting);
    return test_done();
}
