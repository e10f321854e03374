// SPDX-License-Identifier: Apache-2.0
/* See made_log.h. Records are laid out as the attached library does. */
#include "made_log.h"
#include "event/collective_calls.h"
#include "event/event_log.h"
#include "event/note.h"

#include <stdio.h>
#include <string.h>

enum {
    PID = 4242,
    WORKER = 4243,
    KERNELS = 6,
    STEP = 24,
    FUNCTION = 0x1000,
    STREAM = 0x2000,
    CROWD = 150
};
enum { EVENT = 0x6000, ELAPSED = 0x3cf5c28f }; /* 0.03 ms, as float */
enum { GRAPH = 0x3000, EXEC = 0x4000, NODE = 0x50000 };
static const uint64_t MEMORY = 0x7f0000000;

typedef struct maker {
    gphi_event_save *save;
    gph_error *error;
    gph_status status;
    uint64_t now, drawn;
    uint32_t thread, stack;
} maker;

static uint64_t draw(maker *m, uint64_t below)
{
    m->drawn = m->drawn * 6364136223846793005u + 1442695040888963407u;
    return (m->drawn >> 33) % below;
}

/* A record: `head` says kind, id and more; then words and up to two texts. */
static void put(maker *m, gphi_event head, const uint64_t *words, uint32_t word_count,
                const char *const texts[2])
{
    static union {
        gphi_event event;
        uint64_t words[4096];
    } room;
    memset(&room, 0, sizeof(room));
    room.event = head;
    room.event.thread = m->thread;
    room.event.word_count = (uint16_t)word_count;
    if (word_count > 0)
        memcpy(&room.event + 1, words, word_count * sizeof(*words));
    char *at = (char *)(&room.event + 1) + word_count * sizeof(*words);
    for (int i = 0; texts != NULL && i < 2 && texts[i] != NULL; i++) {
        const gphi_part part = {GPHI_PART_TEXT, 0, (uint32_t)strlen(texts[i]) + 1};
        memcpy(at, &part, sizeof(part));
        memcpy(at + sizeof(part), texts[i], part.bytes);
        at += sizeof(part) + ((part.bytes + 7) & ~7u);
        room.event.part_count++;
    }
    const size_t bytes = (size_t)(at - (char *)&room.event);
    room.event.units = (uint16_t)((bytes + 63) / 64);
    if (m->status == GPH_OK)
        m->status = gphi_event_save_add(m->save, &room.event, m->error);
}

static void put_text(maker *m, gphi_event_kind kind, uint64_t id, const char *text)
{
    put(m, (gphi_event){.kind = (uint16_t)kind, .id = id, .time_ns = m->now}, NULL, 0,
        (const char *const[2]){text, NULL});
}

typedef struct made_call {
    gphi_call_id call;
    uint64_t duration;
    const uint64_t *words;
    uint32_t word_count;
    int32_t result;
    uint64_t capture, node;
} made_call;

static void call(maker *m, const made_call *c)
{
    gphi_event head = {
        .kind = GPHI_EVENT_CALL, .id = c->node, .time_ns = m->now, .stack = m->stack};
    head.u.call.call = (uint16_t)c->call;
    head.u.call.status = c->capture != 0 ? 1 : 0;
    head.u.call.result = c->result;
    head.u.call.duration_ns = (uint32_t)c->duration;
    head.u.call.open = c->capture != 0;
    head.u.call.capture = c->capture;
    put(m, head, c->words, c->word_count, NULL);
    m->now += c->duration + 100 + draw(m, 500);
}

#define CALL(m, name, ns, ...)                                                           \
    call(m, &(made_call){.call = GPHI_CALL_##name,                                       \
                         .duration = (ns),                                               \
                         .words = (const uint64_t[]){__VA_ARGS__},                       \
                         .word_count = sizeof((const uint64_t[]){__VA_ARGS__}) / 8})

static void launch(maker *m, uint64_t stream, uint32_t kernel, uint64_t capture,
                   uint64_t node)
{
    const uint64_t words[] = {
        FUNCTION + kernel % KERNELS, 8, 1, 1, 128, 1, 1, 0, stream, 0, 0};
    call(m, &(made_call){.call = GPHI_CALL_cuLaunchKernel,
                         .duration = 700 + draw(m, 900),
                         .words = words,
                         .word_count = 11,
                         .capture = capture,
                         .node = node});
}

static void begin(maker *m, int is_hostile)
{
    static const char *const plain[KERNELS] = {
        "rms_norm",    "gemv<float, 128>(float const*)", "rotary", "attention", "swiglu",
        "argmax_token"};
    static const char *const hostile[KERNELS] = {
        "</script><script>window.broken=1</script>",
        "\"><img src=x onerror=window.broken=1>",
        "<!--<script>",
        "\\u003c/script>\\",
        "\xff\xfe\x80 no utf-8 \x01\x1f",
        "' onload='x'"};
    put(m, (gphi_event){.kind = GPHI_EVENT_PROCESS, .id = PID, .time_ns = m->now},
        (const uint64_t[]){13000, 1700000000000000000u, 1}, 3,
        (const char *const[2]){is_hostile ? "</title><b>x\n--a=</script>"
                                          : "made\n--both",
                               "/usr/lib/gph/soft/libcuda.so.1"});
    put(m, (gphi_event){.kind = GPHI_EVENT_DEVICE},
        (const uint64_t[]){9, 0, 4, (uint64_t)16 << 30}, 4,
        (const char *const[2]){is_hostile ? "</script>" : "softcuda", NULL});
    put_text(m, GPHI_EVENT_THREAD, 0, is_hostile ? "</script>" : "made");
    for (uint32_t i = 0; i < KERNELS; i++)
        put_text(m, GPHI_EVENT_FUNCTION, FUNCTION + i,
                 is_hostile ? hostile[i] : plain[i]);
    static const char *const stacks[] = {
        "model.py:31 setup\nmain.py:9 main\n", "model.py:52 step\nmain.py:14 main\n",
        "layers.py:20 norm\nmodel.py:70 capture\nmain.py:20 main\n",
        "layers.py:44 attention\nmodel.py:71 capture\nmain.py:20 main\n",
        "model.py:69 capture\nmain.py:20 main\n"};
    for (uint32_t i = 0; i < 5; i++)
        put_text(m, GPHI_EVENT_PYTHON, i + 1,
                 is_hostile && i == 1 ? "</script>.py:1 <b>\n" : stacks[i]);
    m->stack = 1;
    CALL(m, cuInit, 90000, 0);
    CALL(m, cuStreamCreate, 9000, STREAM, 1);
    CALL(m, cuStreamCreate, 9000, STREAM + 1, 1);
    CALL(m, cuEventCreate, 800, EVENT, 0);
    CALL(m, cuEventCreate, 800, EVENT + 1, 0);
    for (uint64_t i = 0; i < 12; i++)
        CALL(m, cuMemAlloc, 3000, MEMORY + (i << 21), (uint64_t)1 << 21);
}

static void eager(maker *m, uint32_t steps)
{
    m->stack = 2;
    for (uint32_t i = 0; i < steps; i++) {
        CALL(m, cuMemcpyHtoDAsync, 1400, MEMORY, 0x10000, 4096, STREAM);
        const int has_events = i % 4 == 1;
        if (has_events)
            CALL(m, cuEventRecord, 300, EVENT, STREAM);
        for (uint32_t k = 0; k < STEP; k++)
            launch(m, STREAM, k % (KERNELS - 1), 0, 0);
        if (has_events) {
            CALL(m, cuEventRecord, 300, EVENT + 1, STREAM);
            CALL(m, cuEventSynchronize, 15000 + draw(m, 9000), EVENT + 1);
            CALL(m, cuEventElapsedTime, 700, ELAPSED, EVENT, EVENT + 1);
        } else {
            CALL(m, cuStreamSynchronize, 15000 + draw(m, 9000), STREAM);
        }
    }
}

/* Records of a graph: a chain, or with `width` a lattice of layers. */
static void snapshot(maker *m, uint64_t number, uint64_t handle, uint32_t nodes,
                     uint32_t width)
{
    const uint32_t edges = width > 0 ? 2 * (nodes - width) : nodes - 1;
    put(m, (gphi_event){.kind = GPHI_EVENT_GRAPH, .id = handle, .time_ns = m->now},
        (const uint64_t[]){number, nodes, edges, GPHI_SNAPSHOT_INSTANTIATED, 0, 0, 0,
                           number == 1},
        8, NULL);
    for (uint32_t i = 0; i < nodes; i++)
        put(m, (gphi_event){.kind = GPHI_EVENT_NODE, .id = handle * 65536 + NODE + i},
            (const uint64_t[]){number, i, 0, FUNCTION + i % (KERNELS - 1), 8, 1, 1, 128,
                               1, 1, 0, 1, 0, 0},
            14, NULL);
    for (uint32_t i = width > 0 ? width : 1; i < nodes; i++) {
        const uint64_t up = width > 0 ? i - width : i - 1;
        const uint64_t side =
            width > 0 ? i / width * width - width + (i + 1) % width : up;
        put(m, (gphi_event){.kind = GPHI_EVENT_EDGES, .id = number},
            (const uint64_t[]){up << 32 | i, 0, side << 32 | i, 0},
            width > 0 && side != up ? 4 : 2, NULL);
    }
}

static void capture(maker *m)
{
    m->stack = 5;
    call(m, &(made_call){.call = GPHI_CALL_cuStreamBeginCapture,
                         .duration = 2100,
                         .words = (const uint64_t[]){STREAM, 0, 0},
                         .word_count = 3,
                         .capture = 1});
    for (uint32_t k = 0; k < STEP; k++) {
        m->stack = k % 4 < 2 ? 3 : 4;
        launch(m, STREAM, k % (KERNELS - 1), 1, GRAPH * (uint64_t)65536 + NODE + k);
    }
    m->stack = 5;
    snapshot(m, 1, GRAPH, STEP, 0);
    CALL(m, cuStreamEndCapture, 5200, STREAM, GRAPH);
    CALL(m, cuGraphInstantiateWithParams, 96000, EXEC, GRAPH, 0);
}

static void replay(maker *m, uint32_t times)
{
    m->stack = 2;
    for (uint32_t i = 0; i < times; i++) {
        if (i % 64 == 0) {
            CALL(m, cuMemAllocAsync, 900,
                 MEMORY + ((uint64_t)1 << 32) + (i / 64 % 3 << 20), (uint64_t)1 << 20,
                 STREAM);
        }
        CALL(m, cuGraphLaunch, 1200 + draw(m, 700), EXEC, STREAM);
        CALL(m, cuStreamSynchronize, 11000 + draw(m, 9000), STREAM);
        if (i % 64 == 63)
            CALL(m, cuMemFreeAsync, 500,
                 MEMORY + ((uint64_t)1 << 32) + (i / 64 % 3 << 20), STREAM);
    }
}

/* A capture that a wait in its midst ends. */
static void failure(maker *m)
{
    m->thread = WORKER;
    m->stack = 5;
    put_text(m, GPHI_EVENT_THREAD, 0, "worker");
    call(m, &(made_call){.call = GPHI_CALL_cuStreamBeginCapture,
                         .duration = 900,
                         .words = (const uint64_t[]){STREAM + 1, 0, 0},
                         .word_count = 3,
                         .capture = 2});
    for (uint32_t k = 0; k < 6; k++)
        launch(m, STREAM + 1, k, 2, 0x900000 + k);
    call(m, &(made_call){.call = GPHI_CALL_cuStreamSynchronize,
                         .duration = 1500,
                         .words = (const uint64_t[]){STREAM + 1},
                         .word_count = 1,
                         .result = 900,
                         .capture = 2});
    call(m, &(made_call){.call = GPHI_CALL_cuStreamEndCapture,
                         .duration = 1500,
                         .words = (const uint64_t[]){STREAM + 1, 0},
                         .word_count = 2,
                         .result = 901});
    m->thread = PID;
}

/* The call that the process ended in. */
static void end_inside(maker *m)
{
    gphi_event last = {.kind = GPHI_EVENT_CALL, .time_ns = m->now, .stack = 2};
    last.u.call.call = GPHI_CALL_cuCtxSynchronize;
    last.u.call.flags = GPHI_CALL_UNRETURNED;
    last.u.call.result = CUDA_ERROR_UNKNOWN;
    last.u.call.duration_ns = 4000;
    put(m, last, NULL, 0, NULL);
    m->now += 5000;
}

static void notes(maker *m, int is_hostile)
{
    const char *const name[2] = {is_hostile ? "</script>" : "decode", NULL};
    const gphi_event note = {.kind = GPHI_EVENT_NOTE, .time_ns = m->now};
    gphi_event hit = note, tree = note, pool = note;
    hit.id = GPHI_NOTE_CACHE_HIT;
    tree.id = GPHI_NOTE_TREE_REPLAY;
    pool.id = GPHI_NOTE_POOL;
    for (uint64_t i = 0; i < 60; i++) {
        const uint64_t bucket = i % 5, size = (uint64_t)1 << bucket;
        put(m, hit,
            (const uint64_t[]){7, i % 3 == 0 ? size : (size + 1) / 2, bucket, i % 3 != 0,
                               size},
            5, name);
        put(m, tree, (const uint64_t[]){8, 1, i % 4, 0, i % 4 == 0 ? 0 : i % 4}, 5, name);
    }
    put(m, pool, (const uint64_t[]){9, 8 << 20, 6 << 20}, 3, name);
}

/* A loop of three rounds, a branch that was not taken, a launch by a kernel into the tail, one
 * that was refused; and a thousand more rounds, summed up. */
static void device_notes(maker *m, uint64_t exec, uint64_t node)
{
    const gphi_event note = {.kind = GPHI_EVENT_NOTE, .time_ns = m->now};
    const char *const why[2] = {"it was not uploaded", NULL};
    gphi_event decided = note, sum = note, run = note, refused = note;
    decided.id = GPHI_NOTE_DECISION;
    sum.id = GPHI_NOTE_DECISIONS;
    run.id = GPHI_NOTE_DEVICE_RUN;
    refused.id = GPHI_NOTE_DEVICE_REFUSED;
    const uint64_t at = m->now - 9000;
    put(m, decided,
        (const uint64_t[]){exec, node, 1, 0, 3, at, at + 6000, at + 100, at + 2000,
                           at + 4000},
        10, NULL);
    put(m, decided, (const uint64_t[]){exec, node + 1, 0, UINT64_MAX, 0, at, at + 50}, 7,
        NULL);
    put(m, sum, (const uint64_t[]){exec, node, 1, 10, 1000, 10, 0, 0, 0, 0, 0, 0, 0, 0},
        14, NULL);
    put(m, run, (const uint64_t[]){exec, exec, 1, 2, at + 6000, at + 8000}, 6, NULL);
    put(m, refused, (const uint64_t[]){0, exec, at + 7000}, 3, why);
}

static void collective(maker *m, gphi_collective_id id, gphi_collective_phase phase,
                       uint64_t comm, int result)
{
    const uint64_t words[GPHI_COLLECTIVE_WORDS] = {
        [GPHI_COLLECTIVE_ID] = id,
        [GPHI_COLLECTIVE_PHASE] = phase,
        [GPHI_COLLECTIVE_RESULT] = (uint64_t)(int64_t)result,
        [GPHI_COLLECTIVE_STREAM] = STREAM,
        [GPHI_COLLECTIVE_ELEMENTS] = 4096,
        [GPHI_COLLECTIVE_DTYPE] = 7, /* ncclFloat32 */
        [GPHI_COLLECTIVE_RANK] = 1,
        [GPHI_COLLECTIVE_RANKS] = 2};
    put(m,
        (gphi_event){.kind = GPHI_EVENT_COLLECTIVE,
                     .id = comm,
                     .time_ns = m->now,
                     .stack = m->stack},
        words, GPHI_COLLECTIVE_WORDS, (const char *const[2]){"", NULL});
    m->now += 300;
}

/* Made, two in a group that launches once, one that never launches, one refused, an end. */
static void collectives(maker *m)
{
    const uint64_t comm = 0x9000;
    collective(m, GPHI_COLLECTIVE_ncclCommInitRank, GPHI_COLLECTIVE_CALLED, 0, 0);
    collective(m, GPHI_COLLECTIVE_ncclCommInitRank, GPHI_COLLECTIVE_RETURNED, comm, 0);
    collective(m, GPHI_COLLECTIVE_ncclGroupStart, GPHI_COLLECTIVE_CALLED, 0, 0);
    collective(m, GPHI_COLLECTIVE_ncclAllReduce, GPHI_COLLECTIVE_CALLED, comm, 0);
    collective(m, GPHI_COLLECTIVE_ncclAllGather, GPHI_COLLECTIVE_CALLED, comm, 0);
    launch(m, STREAM, 0, 0, 0);
    collective(m, GPHI_COLLECTIVE_ncclBroadcast, GPHI_COLLECTIVE_CALLED, comm, 0);
    collective(m, GPHI_COLLECTIVE_ncclReduce, GPHI_COLLECTIVE_CALLED, comm, 0);
    collective(m, GPHI_COLLECTIVE_ncclReduce, GPHI_COLLECTIVE_RETURNED, comm, 5);
    collective(m, GPHI_COLLECTIVE_ncclCommDestroy, GPHI_COLLECTIVE_CALLED, comm, 0);
    collective(m, GPHI_COLLECTIVE_ncclCommDestroy, GPHI_COLLECTIVE_RETURNED, comm, 0);
}

static void gpu_times(maker *m, uint64_t until)
{
    /* branches of a graph: three at once */
    for (uint64_t at = 1000000; at < until; at += 9000)
        for (uint64_t side = 0; side < 3; side++)
            put(m, (gphi_event){.kind = GPHI_EVENT_GPU, .id = at + side},
                (const uint64_t[]){GPHI_GPU_KERNEL, at + side * 700,
                                   at + side * 700 + 6500, STREAM, 0, 0, 0},
                7, (const char *const[2]){"measured", NULL});
}

/* A capture of a few kernels, on a stream of its own. */
static void short_capture(maker *m, uint64_t number)
{
    const uint64_t stream = STREAM + 2 + number % CROWD;
    call(m, &(made_call){.call = GPHI_CALL_cuStreamBeginCapture,
                         .duration = 900,
                         .words = (const uint64_t[]){stream, 0, 0},
                         .word_count = 3,
                         .capture = number});
    for (uint32_t k = 0; k < 4; k++)
        launch(m, stream, k, number, (number << 16) + k);
    CALL(m, cuStreamEndCapture, 1500, stream, (number << 8) + 1);
    CALL(m, cuGraphDestroy, 700, (number << 8) + 1);
}

/* Calls of many threads on many streams, in no order, with allocations that lie apart and
 * ones that touch, some of them freed. */
static void crowd(maker *m, uint32_t calls)
{
    static uint64_t live[1024];
    uint64_t apart = MEMORY + ((uint64_t)1 << 40), close = MEMORY + ((uint64_t)1 << 41);
    memset(live, 0, sizeof(live));
    for (uint64_t i = 0; i < CROWD; i++)
        CALL(m, cuStreamCreate, 900, STREAM + 2 + i, 1);
    for (uint32_t i = 0; i < calls; i++) {
        const uint64_t stream = STREAM + 2 + draw(m, CROWD), what = draw(m, 100);
        m->thread = PID + (uint32_t)draw(m, CROWD);
        uint64_t *const slot = &live[draw(m, 1024)];
        if (what < 70) {
            launch(m, stream, (uint32_t)what, 0, 0);
        } else if (what < 80) {
            CALL(m, cuStreamSynchronize, 9000 + draw(m, 9000), stream);
        } else if (what < 98 && *slot != 0 && what % 3 == 0) {
            CALL(m, cuMemFree, 900, *slot);
            *slot = 0;
        } else if (what < 98) {
            const uint64_t bytes = (uint64_t)512 << draw(m, 10);
            *slot = what % 2 == 0 ? (apart += (uint64_t)1 << 20) : (close += bytes);
            CALL(m, cuMemAlloc, 3000, *slot, bytes);
        } else if (what == 98) {
            short_capture(m, i + 16);
        }
    }
    m->thread = PID;
}

gph_status made_log_write(const char *path, const made_log_options *options,
                          gph_error *error)
{
    maker m = {.error = error, .now = 1000000, .drawn = 1, .thread = PID};
    m.status = gphi_event_save_begin(path, NULL, &m.save, error);
    if (m.status != GPH_OK)
        return m.status;
    if (options->calls > 0) {
        const uint32_t rest = options->calls > 200 ? options->calls - 100 : 100;
        begin(&m, options->is_hostile);
        if (options->is_crowded)
            crowd(&m, rest);
        eager(&m, options->is_crowded ? 1 : 1 + rest * 3 / 5 / (STEP + 2));
        capture(&m);
        if (options->nodes > 0) {
            snapshot(&m, 2, GRAPH + 1, options->nodes, 25);
            CALL(&m, cuGraphInstantiateWithParams, 96000, EXEC + 1, GRAPH + 1, 0);
        }
        if (!options->is_crowded)
            collectives(&m);
        replay(&m, options->is_crowded ? 1 : 1 + rest * 2 / 5 / 2);
        failure(&m);
        if (options->is_crowded)
            end_inside(&m);
        notes(&m, options->is_hostile);
        if (!options->is_crowded)
            device_notes(&m, EXEC, GRAPH * (uint64_t)65536 + NODE);
        if (options->has_gpu_times)
            gpu_times(&m, m.now);
    }
    const gph_status status = gphi_event_save_end(m.save, m.status == GPH_OK, error);
    return m.status != GPH_OK ? m.status : status;
}
