// SPDX-License-Identifier: Apache-2.0
/* Random use of a pool against a naive model: captures over four streams that allocate,
 * read, free and join at random, replays in random order, eager memory and checkpoints
 * between them.
 *
 *   live       intervals; none may overlap another
 *   shadow[]   who wrote each grain of the arena last: an input is whole while all of its
 *              grains are its maker's, and a replay must be refused exactly else
 *   values     each buffer holds one 32-bit word throughout; a replay that was allowed
 *              must leave its outputs as the recording made them
 *
 * Under SOFTCUDA_CHECK=race,fatal softcuda also finds memory that was used again by work
 * that is not after its last use, by the graph and not by chance. */
#include "memory_common.h"

enum { STREAMS = 4, RECORDINGS = 8, BUFFERS = 40, EAGERS = 3, GRAINS = 1 << 20 };

struct buffer {
    CUdeviceptr address;
    uint64_t bytes;
    unsigned int value;
    int stream;      /* of the last use */
    unsigned joined; /* streams that gph_pool_use() has named */
    int owner;       /* in `recordings`; -1: this capture's */
};

struct input {
    CUdeviceptr address;
    uint64_t bytes;
    gph_recording_id maker;
};

struct recording {
    gph_recording_id id;
    gph_exec *exec;
    struct buffer outputs[BUFFERS];
    int output_count;
    struct input inputs[BUFFERS];
    int input_count;
    gph_pool_range ranges[400];
    uint32_t range_count;
};

static gph_arena *arena;
static gph_pool *pool;
static CUdeviceptr base;
static struct recording recordings[RECORDINGS];
static struct buffer eagers[EAGERS];
static uint32_t shadow[GRAINS]; /* recording ids; EAGER */
static const uint32_t EAGER = UINT32_MAX;
static uint64_t seed;
static long refused, allowed, captured;

static unsigned int draw(unsigned int below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(seed >> 33) % below;
}

static uint64_t draw_bytes(void)
{
    static const uint64_t sizes[] = {512, 1024, 4096, 65536, 300 * 1024, MiB};
    return sizes[draw(6)] + 512 * draw(3);
}

/* ---- the model ---- */

static void paint(CUdeviceptr address, uint64_t bytes, uint32_t who)
{
    for (uint64_t g = (address - base) / 512; g < (address - base + bytes) / 512; g++)
        shadow[g] = who;
}

static bool is_whole(const struct input *input)
{
    const uint64_t first = (input->address - base) / 512;
    for (uint64_t g = first; g < first + input->bytes / 512; g++)
        if (shadow[g] != input->maker)
            return false;
    return true;
}

static bool overlaps(CUdeviceptr a, uint64_t a_bytes, CUdeviceptr b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void check_live(void)
{
    static gph_pool_range live[400];
    uint32_t count = 0;
    gph_pool_live(pool, live, 400, &count);
    CHECK(count <= 400);
    for (uint32_t i = 1; i < count; i++)
        CHECK(live[i - 1].address + live[i - 1].bytes <= live[i].address);
    uint32_t expected = 0;
    for (int i = 0; i < EAGERS; i++)
        expected += eagers[i].address != 0;
    for (int r = 0; r < RECORDINGS; r++)
        expected += (uint32_t)recordings[r].output_count;
    CHECK(count == expected);
    stats_of(pool);
}

static bool may_replay(const struct recording *r)
{
    for (int i = 0; i < r->input_count; i++)
        if (!is_whole(&r->inputs[i]))
            return false;
    for (uint32_t i = 0; i < r->range_count; i++)
        for (int e = 0; e < EAGERS; e++)
            if (r->ranges[i].kind != GPH_RANGE_INPUT && eagers[e].address != 0 &&
                overlaps(r->ranges[i].address, r->ranges[i].bytes, eagers[e].address,
                         eagers[e].bytes))
                return false;
    return true;
}

/* ---- captures ---- */

struct capture {
    struct buffer buffers[BUFFERS];
    int count;
    struct recording *recording;
};

static void add_input(struct capture *c, const struct buffer *buffer)
{
    struct recording *r = c->recording;
    const gph_recording_id maker = recordings[buffer->owner].id;
    for (int i = 0; i < r->input_count; i++)
        if (r->inputs[i].address == buffer->address)
            return;
    r->inputs[r->input_count++] = (struct input){buffer->address, buffer->bytes, maker};
}

/* A buffer of one value, made of nothing or of another one. */
static void make_buffer(struct capture *c)
{
    const int s = (int)draw(STREAMS);
    struct buffer fresh = {.bytes = draw_bytes(), .stream = s, .owner = -1};
    if (c->count == BUFFERS)
        return;
    fresh.address = alloc(pool, fresh.bytes, streams[s]);
    if (c->count > 0 && draw(3) > 0) {
        struct buffer *from = &c->buffers[draw((unsigned int)c->count)];
        const uint64_t bytes = from->bytes < fresh.bytes ? from->bytes : fresh.bytes;
        if (from->stream != s)
            follow(streams[s], streams[from->stream]);
        fresh.value = from->value;
        CU(MemcpyDtoDAsync, fresh.address, from->address, bytes, streams[s]);
        if (fresh.bytes > bytes)
            fill(fresh.address + bytes, fresh.value, fresh.bytes - bytes, streams[s]);
        CHECK_OK(gph_pool_use(pool, from->address, streams[s], &error), error);
        from->joined |= 1u << s;
        if (from->owner >= 0)
            add_input(c, from);
    } else {
        fresh.value = draw(1u << 30);
        fill(fresh.address, fresh.value, fresh.bytes, streams[s]);
    }
    c->buffers[c->count++] = fresh;
}

static void free_buffer(struct capture *c)
{
    if (c->count == 0)
        return;
    const int i = (int)draw((unsigned int)c->count);
    const struct buffer b = c->buffers[i];
    /* Its own stream is after the writer; others were named. */
    give(pool, b.address, streams[b.stream]);
    if (b.owner >= 0) { /* an output of another recording: consumed */
        struct recording *maker = &recordings[b.owner];
        add_input(c, &b);
        for (int k = 0; k < maker->output_count; k++)
            if (maker->outputs[k].address == b.address)
                maker->outputs[k--] = maker->outputs[--maker->output_count];
    }
    c->buffers[i] = c->buffers[--c->count];
}

static void finish(struct capture *c)
{
    struct recording *r = c->recording;
    CUdeviceptr outputs[BUFFERS];
    for (int s = 1; s < STREAMS; s++)
        follow(streams[0], streams[s]);
    for (int i = 0; i < c->count; i++)
        if (c->buffers[i].owner < 0) {
            outputs[r->output_count] = c->buffers[i].address;
            r->outputs[r->output_count++] = c->buffers[i];
        }
    CUgraph graph = end(pool, r->id, streams[0], outputs, (uint32_t)r->output_count);
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &r->exec, &error), error);
    CU(GraphDestroy, graph);
    CHECK_OK(gph_pool_ranges(pool, r->id, r->ranges, 400, &r->range_count, &error),
             error);
    CHECK(r->range_count <= 400);
    captured++;
}

/* Throws it away: the model never saw it. */
static void abandon(struct capture *c, const struct recording *before)
{
    for (int s = 1; s < STREAMS; s++)
        follow(streams[0], streams[s]);
    CUgraph graph = end_capture(streams[0]);
    CU(GraphDestroy, graph);
    gph_pool_record_abort(pool, c->recording->id);
    memcpy(recordings, before, sizeof(recordings));
}

static void capture(struct recording *r)
{
    static struct recording before[RECORDINGS];
    struct capture c = {.recording = r};
    memcpy(before, recordings, sizeof(before));
    CHECK(cu->CtxSynchronize() == GPH_OK);
    /* What others left may be read; seldom, since few replays are allowed then. */
    const bool reads = draw(3) == 0;
    for (int i = 0; i < RECORDINGS; i++)
        for (int k = 0; k < recordings[i].output_count; k++)
            if (reads && draw(8) == 0 && c.count < BUFFERS / 2) {
                c.buffers[c.count] = recordings[i].outputs[k];
                c.buffers[c.count].owner = i;
                c.buffers[c.count++].stream = 0;
            }
    r->id = begin(pool, streams[0], NULL);
    for (int s = 1; s < STREAMS; s++)
        follow(streams[s], streams[0]);
    const int steps = 20 + (int)draw(60);
    for (int i = 0; i < steps; i++) {
        const unsigned int what = draw(10);
        if (what < 5)
            make_buffer(&c);
        else if (what < 9)
            free_buffer(&c);
        else
            follow(streams[draw(STREAMS)], streams[draw(STREAMS)]);
    }
    if (draw(5) == 0)
        abandon(&c, before);
    else
        finish(&c);
}

/* ---- replays and eager work ---- */

static void check_value(const struct buffer *buffer)
{
    static unsigned int words[(MiB + 1024) / 4];
    unsigned int wrong = 0;
    CU(MemcpyDtoH, words, buffer->address, buffer->bytes);
    for (uint64_t i = 0; i < buffer->bytes / 4; i++)
        wrong += words[i] != buffer->value;
    CHECK(wrong == 0);
}

static void replay(struct recording *r)
{
    const bool may = may_replay(r);
    const gph_status status = gph_pool_replay(pool, r->id, &error);
    if (!CHECK(status == (may ? GPH_OK : GPH_E_STATE)))
        printf("  %s\n", error.message);
    (may ? &allowed : &refused)[0]++;
    if (status != GPH_OK)
        return;
    CHECK_OK(gph_exec_launch(r->exec, streams[0], &error), error);
    CHECK_OK(cu->StreamSynchronize(streams[0]), error);
    for (uint32_t i = 0; i < r->range_count; i++)
        if (r->ranges[i].kind != GPH_RANGE_INPUT)
            paint(r->ranges[i].address, r->ranges[i].bytes, r->id);
    for (int i = 0; i < r->output_count; i++)
        check_value(&r->outputs[i]);
}

static void forget(struct recording *r)
{
    CHECK(cu->CtxSynchronize() == GPH_OK);
    gph_exec_destroy(r->exec);
    gph_pool_record_forget(pool, r->id);
    memset(r, 0, sizeof(*r));
}

static void eager(void)
{
    struct buffer *e = &eagers[draw(EAGERS)];
    const int s = (int)draw(STREAMS);
    if (e->address == 0) {
        *e = (struct buffer){.bytes = draw_bytes(), .value = draw(1u << 30), .stream = s};
        e->address = alloc(pool, e->bytes, streams[s]);
        paint(e->address, e->bytes, EAGER);
        fill(e->address, e->value, e->bytes, streams[s]);
        CU(StreamSynchronize, streams[s]);
        return;
    }
    check_value(e);
    if (draw(2) == 0)
        CHECK_OK(gph_pool_use(pool, e->address, streams[s], &error), error);
    give(pool, e->address, streams[e->stream]);
    e->address = 0;
}

/* What came since goes, what went since comes back. */
static void checkpoint(void)
{
    static struct buffer then[EAGERS];
    gph_checkpoint *point = NULL;
    CUdeviceptr keep[EAGERS + RECORDINGS * BUFFERS];
    uint32_t count = 0;
    CHECK(cu->CtxSynchronize() == GPH_OK);
    CHECK_OK(gph_checkpoint_take(pool, &point, &error), error);
    memcpy(then, eagers, sizeof(then));
    for (int i = 0; i < 6; i++)
        eager();
    CHECK(cu->CtxSynchronize() == GPH_OK);
    for (int r = 0; r < RECORDINGS; r++)
        for (int i = 0; i < recordings[r].output_count; i++)
            keep[count++] = recordings[r].outputs[i].address;
    for (int i = 0; i < EAGERS; i++) {
        eagers[i] = then[i];
        if (eagers[i].address == 0)
            continue;
        if (draw(2) == 0) {
            keep[count++] = eagers[i].address;
            fill(eagers[i].address, eagers[i].value, eagers[i].bytes, streams[0]);
        } else {
            eagers[i].address = 0;
        }
    }
    CHECK_OK(gph_checkpoint_restore(pool, point, keep, count, 0, &error), error);
    CU(StreamSynchronize, streams[0]);
    gph_checkpoint_destroy(point);
}

static void play(uint64_t with)
{
    seed = with;
    memset(recordings, 0, sizeof(recordings));
    memset(eagers, 0, sizeof(eagers));
    memset(shadow, 0, sizeof(shadow));
    arena = open_arena(0);
    pool = open_pool(arena, NULL);
    gph_arena_range(arena, &base, NULL);
    for (int i = 0; i < 150 && test_failures == 0; i++) {
        struct recording *r = &recordings[draw(RECORDINGS)];
        const unsigned int what = draw(16);
        if (r->id == 0)
            capture(r);
        else if (what < 11)
            replay(r);
        else if (what == 11)
            forget(r);
        else if (what == 12)
            checkpoint();
        else
            eager();
        check_live();
    }
    for (int i = 0; i < RECORDINGS; i++)
        if (recordings[i].id != 0)
            forget(&recordings[i]);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    if (test_failures != 0)
        printf("# seed %" PRIu64 "\n", with);
}

static void quiet(void *user, gph_log_level level, const char *area, const char *message)
{
    (void)user, (void)level, (void)area, (void)message;
}

static void random_pools_do_as_the_model(void)
{
    unsigned int first = 1, last = 12;
    const char *seeds = getenv("MEMORY_SEEDS");
    if (seeds != NULL)
        sscanf(seeds, "%u:%u", &first, &last);
    for (unsigned int i = first; i <= last && test_failures == 0; i++)
        play(i);
    printf("# %ld captures, %ld replays, %ld refused\n", captured, allowed, refused);
    CHECK(captured > 0 && allowed > 0 && refused > 0);
}

int main(void)
{
    if (!open_driver())
        return 77;
    gph_log_set(quiet, NULL);
    RUN(random_pools_do_as_the_model);
    close_driver();
    return test_done();
}
