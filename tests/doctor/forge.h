// SPDX-License-Identifier: Apache-2.0
/* Event logs made by hand, as the attached library would write them, for what no program
 * here can show: libraries that are not there. */
#ifndef FORGE_H
#define FORGE_H
#include "event/event_log.h"

#include <stdlib.h>
#include <string.h>

enum { FORGE_THREAD = 100, FORGE_BYTES = 4096 };

typedef struct forge {
    gphi_event_save *save;
    gph_error error;
    uint64_t time_ns;
    uint32_t thread, stack;
    uint64_t snapshots, capture; /* id of the capture that is open, or 0 */
    int failed;
} forge;

/* A record: `words`, then texts, each a part. */
static inline void forge_put(forge *f, gphi_event *head, const uint64_t *words,
                             uint32_t count, const char *const *texts,
                             uint32_t text_count)
{
    _Alignas(64) static char bytes[FORGE_BYTES];
    memset(bytes, 0, sizeof(bytes));
    head->thread = f->thread;
    head->time_ns = f->time_ns += 1000;
    head->word_count = (uint16_t)count;
    head->part_count = (uint16_t)(head->part_count + text_count);
    char *at = bytes + sizeof(*head);
    if (count > 0)
        memcpy(at, words, count * sizeof(*words));
    at += count * sizeof(*words);
    for (uint32_t i = 0; i < text_count; i++) {
        const uint32_t length = (uint32_t)strlen(texts[i]) + 1;
        const gphi_part part = {GPHI_PART_TEXT, 0, length};
        memcpy(at, &part, sizeof(part));
        memcpy(at + sizeof(part), texts[i], length);
        at += sizeof(part) + ((length + 7U) & ~7U);
    }
    head->units = (uint16_t)((size_t)(at - bytes + 63) / 64);
    memcpy(bytes, head, sizeof(*head));
    f->failed |= gphi_event_save_add(f->save, (const gphi_event *)bytes, &f->error) != 0;
}

static inline void forge_text(forge *f, gphi_event_kind kind, uint64_t id,
                              const uint64_t *words, uint32_t count, const char *text)
{
    const char *const texts[] = {text, ""};
    gphi_event head = {.kind = (uint16_t)kind, .id = id};
    forge_put(f, &head, words, count, texts, kind == GPHI_EVENT_FUNCTION ? 1 : 2);
}

static inline void forge_begin(forge *f, const char *path)
{
    *f = (forge){.thread = FORGE_THREAD, .time_ns = 1000000};
    f->failed = gphi_event_save_begin(path, NULL, &f->save, &f->error) != 0;
    const uint64_t words[] = {13000, 0, 1};
    forge_text(f, GPHI_EVENT_PROCESS, 4711, words, 3, "forged");
}

/* Code of a library, 64 KiB from `start`; and a stack whose innermost frame is there. */
static inline void forge_module(forge *f, uint64_t start, const char *path)
{
    const uint64_t words[] = {start, start + 65536, 0};
    forge_text(f, GPHI_EVENT_MODULE, 0, words, 3, path);
}

static inline void forge_stack(forge *f, uint32_t id, uint64_t address)
{
    const uint64_t words[] = {address, 0x10000};
    gphi_event head = {.kind = GPHI_EVENT_STACK, .id = id};
    forge_put(f, &head, words, 2, NULL, 0);
    f->stack = id;
}

/* A kernel with `pointers` arguments of 8 bytes. */
static inline void forge_function(forge *f, uint64_t handle, const char *name,
                                  uint32_t pointers)
{
    uint64_t words[16];
    for (uint32_t i = 0; i < pointers; i++) {
        words[2 * i] = 8 * (uint64_t)i;
        words[2 * i + 1] = 8;
    }
    forge_text(f, GPHI_EVENT_FUNCTION, handle, words, 2 * pointers, name);
}

static inline void forge_thread_name(forge *f, const char *name)
{
    forge_text(f, GPHI_EVENT_THREAD, 0, NULL, 0, name);
}

/* A call; `params` are a kernel's arguments. */
static inline void forge_call(forge *f, gphi_call_id call, int result,
                              const uint64_t *words, uint32_t count)
{
    gphi_event head = {.kind = GPHI_EVENT_CALL,
                       .stack = f->stack,
                       .u.call = {.call = (uint16_t)call,
                                  .status = f->capture != 0 ? 1 : 0xFF,
                                  .result = result,
                                  .duration_ns = 500,
                                  .open = f->capture != 0,
                                  .capture = f->capture}};
    forge_put(f, &head, words, count, NULL, 0);
}

/* A record with an argument buffer of pointers. */
static inline void forge_kernel_record(forge *f, gphi_event *head, const uint64_t *words,
                                       uint32_t count, const uint64_t *pointers,
                                       uint32_t pointer_count)
{
    uint64_t all[64];
    const gphi_part part = {GPHI_PART_PARAMS, 0, pointer_count * 8};
    memcpy(all, words, count * sizeof(*words));
    memcpy(&all[count], &part, sizeof(part));
    memcpy(&all[count + 1], pointers, pointer_count * sizeof(*pointers));
    _Alignas(64) char bytes[1024] = {0};
    head->thread = f->thread;
    head->time_ns = f->time_ns += 1000;
    head->word_count = (uint16_t)count;
    head->part_count = 1;
    head->units = (uint16_t)((sizeof(*head) + (count + 1 + pointer_count) * 8 + 63) / 64);
    memcpy(bytes, head, sizeof(*head));
    memcpy(bytes + sizeof(*head), all, (count + 1 + pointer_count) * 8);
    f->failed |= gphi_event_save_add(f->save, (const gphi_event *)bytes, &f->error) != 0;
}

/* cuLaunchKernel; captured as `node` if a capture is open. */
static inline void forge_launch(forge *f, uint64_t function, uint64_t stream,
                                uint64_t node, const uint64_t *pointers, uint32_t count)
{
    const uint64_t words[] = {function, 8, 1, 1, 128, 1, 1, 0, stream, 1, 0};
    gphi_event head = {.kind = GPHI_EVENT_CALL,
                       .id = node,
                       .stack = f->stack,
                       .u.call = {.call = GPHI_CALL_cuLaunchKernel,
                                  .status = f->capture != 0 ? 1 : 0xFF,
                                  .duration_ns = 3000,
                                  .open = f->capture != 0,
                                  .capture = f->capture}};
    forge_kernel_record(f, &head, words, 11, pointers, count);
}

/* A graph of one kernel, as it is. */
static inline void forge_snapshot(forge *f, uint64_t graph, gphi_snapshot_why why,
                                  uint64_t exec, uint64_t capture, uint64_t node,
                                  uint64_t function, const uint64_t *pointers,
                                  uint32_t count)
{
    const uint64_t number = ++f->snapshots;
    const uint64_t words[] = {number, 1, 0, why, exec, 0, 0, capture};
    const uint64_t of[] = {number, 0, 0, function, 8, 1, 1, 128, 1, 1, 0, 0x1000, 0, 0};
    gphi_event graph_head = {.kind = GPHI_EVENT_GRAPH, .id = graph};
    gphi_event node_head = {.kind = GPHI_EVENT_NODE, .id = node};
    forge_put(f, &graph_head, words, 8, NULL, 0);
    forge_kernel_record(f, &node_head, of, 14, pointers, count);
}

/* Captures one kernel on `stream` into `graph`, and makes `exec` of it. */
static inline void forge_graph(forge *f, uint64_t stream, uint64_t graph, uint64_t exec,
                               uint64_t function, const uint64_t *pointers,
                               uint32_t count)
{
    const uint64_t begin[] = {stream, 0, 0}, end[] = {stream, graph};
    const uint64_t made[] = {exec, graph, 0}, node = graph + 8, capture = graph + 16;
    f->capture = capture;
    forge_call(f, GPHI_CALL_cuStreamBeginCapture, 0, begin, 3);
    forge_launch(f, function, stream, node, pointers, count);
    f->capture = 0;
    forge_snapshot(f, graph, GPHI_SNAPSHOT_CAPTURED, 0, capture, node, function, pointers,
                   count);
    forge_call(f, GPHI_CALL_cuStreamEndCapture, 0, end, 2);
    forge_snapshot(f, graph, GPHI_SNAPSHOT_INSTANTIATED, exec, capture, node, function,
                   pointers, count);
    forge_call(f, GPHI_CALL_cuGraphInstantiateWithFlags, 0, made, 3);
}

static inline void forge_exec_call(forge *f, gphi_call_id call, uint64_t exec,
                                   uint64_t stream)
{
    const uint64_t words[] = {exec, stream};
    forge_call(f, call, 0, words, call == GPHI_CALL_cuGraphLaunch ? 2 : 1);
}

/* Ends the log; `how`: 0 by itself, 2 by a signal, -1: without a word. */
static inline int forge_end(forge *f, int how)
{
    const uint64_t code[] = {0};
    gphi_event head = {.kind = GPHI_EVENT_EXIT, .id = (uint64_t)how};
    if (how >= 0)
        forge_put(f, &head, code, 1, NULL, 0);
    f->failed |= gphi_event_save_end(f->save, !f->failed, &f->error) != 0;
    return f->failed;
}
#endif
