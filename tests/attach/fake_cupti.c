// SPDX-License-Identifier: Apache-2.0
/* As much of CUPTI as attach/cupti/cupti.c calls, so that its way is tested without a GPU: a
 * node is reported by fake_cupti_node(), each flush gives one kernel, one copy, one graph,
 * a kernel that ends before it begins, and one that the buffer cuts.
 * FAKE_CUPTI_HELD: another tool is there. */
#include "cuda/abi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

typedef void callback(void *, int, uint32_t, const void *);
typedef void request(uint8_t **, size_t *, size_t *);
typedef void complete(CUcontext, uint32_t, uint8_t *, size_t, size_t);

enum { RECORD_BYTES = 208, RECORDS = 3, ODD = 2, CUT_BYTES = 100 };

static callback *listener;
static request *ask;
static complete *give;
static int kinds[64];

EXPORT int cuptiSubscribe(void **subscriber, callback *function, void *user);
EXPORT int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id);
EXPORT int cuptiFinalize(void);
EXPORT int cuptiActivityRegisterCallbacks(request *asks, complete *gives);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, const void **record);
EXPORT int cuptiGetTimestamp(uint64_t *out);
EXPORT int cuptiGetGraphNodeId(CUgraphNode node, uint64_t *out);
EXPORT int cuptiGetGraphExecId(CUgraphExec exec, uint32_t *out);
EXPORT int fake_cupti_node(CUgraph graph, CUgraphNode node);

int cuptiSubscribe(void **subscriber, callback *function, void *user)
{
    (void)user;
    if (getenv("FAKE_CUPTI_HELD") != NULL)
        return 39;
    listener = function;
    *subscriber = &listener;
    return 0;
}

int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id)
{
    return on == 1 && subscriber == &listener && domain == 3 && id < 24 ? 0 : 1;
}

int cuptiFinalize(void)
{
    listener = NULL;
    return 0;
}

int cuptiActivityRegisterCallbacks(request *asks, complete *gives)
{
    ask = asks;
    give = gives;
    return 0;
}

int cuptiActivityEnable(int kind)
{
    kinds[kind] = 1;
    return 0;
}

static void put(uint8_t *at, size_t offset, uint64_t value, size_t bytes)
{
    memcpy(at + offset, &value, bytes);
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    uint8_t *buffer = NULL;
    size_t bytes = 0, records = 0;
    uint64_t now;
    cuptiGetTimestamp(&now);
    if (ask == NULL)
        return 1;
    ask(&buffer, &bytes, &records);
    static const int which[RECORDS] = {10, 1, 51};
    for (int i = 0; i < RECORDS; i++) {
        uint8_t *at = buffer + (size_t)i * RECORD_BYTES;
        put(at, 0, kinds[which[i]] ? (uint64_t)which[i] : 63, 4);
        put(at, i == 2 ? 8 : 16, now - 5000, 8);
        put(at, i == 2 ? 16 : 24, now - 2000, 8);
        put(at, i == 0 ? 48 : i == 1 ? 40 : 36, 7, 4);                /* stream */
        put(at, i == 0 ? 92 : i == 1 ? 44 : 4, 900 + (uint64_t)i, 4); /* correlation */
        put(at, i == 0 ? 144 : i == 1 ? 64 : 40, 77, 8);              /* node */
    }
    put(buffer, 104, (uint64_t)(uintptr_t) "a_kernel", 8);
    memcpy(buffer + RECORDS * RECORD_BYTES, buffer, ODD * RECORD_BYTES);
    put(buffer + RECORDS * RECORD_BYTES, 24, now - 9000, 8);
    put(buffer + (RECORDS + 1) * RECORD_BYTES, 0, kinds[10] ? 10 : 63, 4);
    give(NULL, 0, buffer, bytes, (RECORDS + ODD - 1) * RECORD_BYTES + CUT_BYTES);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, const void **record)
{
    const uint8_t *at =
        *record == NULL ? buffer : (const uint8_t *)*record + RECORD_BYTES;
    if (at >= buffer + bytes)
        return 12;
    *record = at;
    return 0;
}

int cuptiGetTimestamp(uint64_t *out)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    *out = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    return 0;
}

int cuptiGetGraphNodeId(CUgraphNode node, uint64_t *out)
{
    *out = (uint64_t)(uintptr_t)node >> 4;
    return 0;
}

int cuptiGetGraphExecId(CUgraphExec exec, uint32_t *out)
{
    *out = (uint32_t)((uintptr_t)exec >> 4);
    return 0;
}

/* Whether somebody listened. */
int fake_cupti_node(CUgraph graph, CUgraphNode node)
{
    const struct {
        CUgraph graph, original_graph;
        CUgraphNode node, original_node;
        CUgraphNodeType type;
        CUgraphNode dependency;
        CUgraphExec exec;
    } data = {.graph = graph, .node = node};
    const struct {
        CUcontext context;
        void *handle;
        const void *descriptor;
    } resource = {.descriptor = &data};
    if (listener == NULL)
        return 0;
    listener(NULL, 3, 13, &resource);
    return 1;
}
