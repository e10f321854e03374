// SPDX-License-Identifier: Apache-2.0
/* What a program does, reported call by call to the advice, on a machine whose times are known. */
#ifndef ADVICE_STORY_H
#define ADVICE_STORY_H
#include "advice/advice.h"
#include "doctor/model/model_feed.h"
#include "fault.h"
#include "test.h"

/* A launch takes the host 3 us, and the GPU 1 us in a stream, 0.5 us in a graph. */
enum { LAUNCH = 3000, GAP = 100, STREAM_NODE = 1000, GRAPH_NODE = 500 };

static const uint64_t machine[GPHI_ANCHOR_COUNT] = {
    [GPHI_ANCHOR_LAUNCH] = LAUNCH * 1000,
    [GPHI_ANCHOR_STREAM_NODE] = STREAM_NODE * 1000,
    [GPHI_ANCHOR_GRAPH_NODE] = GRAPH_NODE * 1000,
    [GPHI_ANCHOR_GRAPH_LAUNCH] = 2000000,
    [GPHI_ANCHOR_GRAPH_WAIT] = 4500000, /* 2 us of it is waking */
    [GPHI_ANCHOR_CAPTURE_NODE] = 1500000,
    [GPHI_ANCHOR_INSTANTIATE_NODE] = 4000000,
    [GPHI_ANCHOR_UPLOAD_NODE] = 1500000,
    [GPHI_ANCHOR_SET] = 1000000,
};

typedef struct story {
    gph_advice *advice;
    gphi_model *model;
    gph_status status;    /* the first that was not GPH_OK */
    uint64_t now, own_ns; /* own_ns: what the doctor adds to a call; 0: 50 */
    uint32_t thread;
} story;

static gphi_stream streams[3] = {{.handle = 16, .is_alive = true},
                                 {.handle = 32, .is_alive = true},
                                 {.is_legacy = true, .is_blocking = true}};

static const gph_place *no_frames(void *user, uint32_t stack, uint32_t *count)
{
    static const gph_place place = {.function = "step", .file = "a.c", .line = 7};
    (void)user;
    *count = stack != 0;
    return &place;
}

static void take(story *s, const gphi_event *event, const gphi_seen *seen)
{
    if (s->status == GPH_OK)
        s->status = gphi_advice_feed(s->advice, event, seen, NULL);
}

/* A call with four words that takes `ns`. */
static void call_with(story *s, uint32_t call, gphi_stream *stream, uint64_t ns,
                      const uint64_t words[4])
{
    struct {
        gphi_event head;
        uint64_t words[8];
    } record = {.head = {.kind = GPHI_EVENT_CALL,
                         .units = 2,
                         .thread = s->thread,
                         .time_ns = s->now,
                         .word_count = 4,
                         .stack = call + 1}};
    record.head.u.call.call = (uint16_t)call;
    record.head.u.call.status = 0xFF;
    record.head.u.call.duration_ns = (uint32_t)ns;
    memcpy(record.words, words, 4 * sizeof(*words));
    const gphi_seen seen = {.event = &record.head, .stream = stream};
    take(s, &record.head, &seen);
    s->now += ns + (s->own_ns ? s->own_ns : GAP);
}

static void call_of(story *s, uint32_t call, gphi_stream *stream, uint64_t ns)
{
    call_with(s, call, stream, ns, (const uint64_t[4]){0});
}

static void kernel(story *s, uint64_t function)
{
    call_with(s, GPHI_CALL_cuLaunchKernel, &streams[0], LAUNCH,
              (const uint64_t[4]){function, 1, 1, 1});
}

static void wait_for(story *s, uint64_t ns)
{
    call_of(s, GPHI_CALL_cuStreamSynchronize, &streams[0], ns);
}

static void gpu(story *s, const uint64_t *words, uint16_t count)
{
    struct {
        gphi_event head;
        uint64_t words[32];
    } record = {.head = {.kind = GPHI_EVENT_GPU,
                         .units = 5,
                         .thread = s->thread,
                         .time_ns = s->now,
                         .word_count = count}};
    memcpy(record.words, words, count * sizeof(*words));
    take(s, &record.head, NULL);
}

static void window(story *s, uint64_t from, uint32_t calls, uint64_t gpu_ns)
{
    gpu(s,
        (const uint64_t[]){GPHI_GPU_WINDOW, from, from + gpu_ns, 16, from, s->now, calls,
                           s->own_ns ? s->own_ns : 50},
        8);
}

static story *begin(const gph_allocator *heap)
{
    static story s;
    uint64_t words[3 + GPHI_ANCHOR_COUNT] = {GPHI_GPU_ANCHORS};
    s = (story){.now = 1000000, .thread = 7};
    if (gphi_model_create(*heap, &s.model) != GPH_OK)
        return NULL;
    s.status = gphi_advice_make(heap, &s.advice);
    if (s.status != GPH_OK) {
        gphi_model_destroy(s.model);
        return NULL;
    }
    s.advice->model = s.model;
    s.advice->frames = no_frames;
    memcpy(words + 3, machine, sizeof(machine));
    gpu(&s, words, 3 + GPHI_ANCHOR_COUNT);
    return &s;
}

static const gph_prediction *finish(story *s)
{
    if (s->status == GPH_OK)
        s->status = gph_advice_finish(s->advice, NULL);
    return gph_advice_prediction(s->advice, 0);
}

static void end(story *s)
{
    gph_advice_destroy(s->advice);
    gphi_model_destroy(s->model);
}

static const gph_allocator c_heap = {.realloc = fault_realloc,
                                     .user = &(fault_heap){.fail_at = -1}};

/* `count` kernels that take the GPU `gpu_ns` in all, and a wait, `times` over; every
 * fourth is held. */
static void chain(story *s, int count, uint64_t gpu_ns, int times)
{
    const uint64_t host = (uint64_t)count * (LAUNCH + GAP);
    for (int i = 0; i < times; i++) {
        const uint64_t from = s->now;
        for (int k = 0; k < count; k++)
            kernel(s, 100 + (uint64_t)(k % 3));
        const bool is_held = i % 4 == 2;
        const uint64_t rest = gpu_ns > host || is_held ? gpu_ns : 1000;
        wait_for(s, 3000 + (gpu_ns > host && !is_held ? gpu_ns - host : rest));
        if (is_held)
            window(s, from, (uint32_t)count, gpu_ns);
    }
}

static char *text_of(const story *s, int with_colours)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    CHECK(gph_advice_text_write(s->advice, GPH_ADVICE_BOTH, with_colours, gph_write_file,
                                to, NULL) == GPH_OK);
    fclose(to);
    return text;
}

static char *json_of(const story *s, gph_advice_part part)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    CHECK(gph_advice_json_write(s->advice, part, gph_write_file, to, NULL) == GPH_OK);
    fclose(to);
    return text;
}

static bool is_near(double value, double wanted, double share)
{
    return value > wanted * (1 - share) && value < wanted * (1 + share);
}
#endif
