// SPDX-License-Identifier: Apache-2.0
/* The model, fed with records made here: which work ends before which, what lives where.
 */
#include "base/heap.h"
#include "doctor/model/model_feed.h"
#include "test.h"

enum { A = 0x1000, B = 0x2000, EVENT = 0x3000, NON_BLOCKING = 1, BLOCKING = 0 };

static gphi_model *model;

/* A call that has worked. */
static const gphi_seen *call(gphi_call_id id, uint32_t count, const uint64_t *words)
{
    static _Alignas(64) unsigned char room[512];
    static gphi_seen seen;
    gphi_event *event = (gphi_event *)(void *)room;
    memset(room, 0, sizeof(room));
    event->kind = GPHI_EVENT_CALL;
    event->units = 4;
    event->thread = 7;
    event->word_count = (uint16_t)count;
    event->u.call.call = (uint16_t)id;
    event->u.call.status = 0xFF;
    memcpy(event + 1, words, count * sizeof(*words));
    CHECK(gphi_model_feed(model, event, &seen) == GPH_OK);
    return &seen;
}
#define CALL(name, ...)                                                                  \
    call(GPHI_CALL_##name, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),         \
         (const uint64_t[]){__VA_ARGS__})

static uint64_t fill(uint64_t stream)
{
    const gphi_seen *seen = CALL(cuMemsetD32Async, 0x10000, 0, 16, stream);
    CHECK(seen->work != NULL);
    return seen->work != NULL ? seen->work->number : 0;
}

static void begin(uint64_t flags)
{
    CHECK(gphi_model_create(gphi_heap(NULL), &model) == GPH_OK);
    CALL(cuStreamCreate, A, flags);
    CALL(cuStreamCreate, B, flags);
    CALL(cuEventCreate, EVENT, 0);
}

static void test_streams_are_apart(void)
{
    begin(NON_BLOCKING);
    const uint64_t a = fill(A), again = fill(A), b = fill(B), legacy = fill(0);
    CHECK(gphi_model_ordered(model, a, again));
    CHECK(!gphi_model_ordered(model, again, a));
    CHECK(!gphi_model_ordered(model, a, b));
    CHECK(!gphi_model_ordered(model, a, legacy));
    CHECK(!gphi_model_ordered(model, a, GPHI_WORK_NOW));
    gphi_model_destroy(model);
}

static void test_events_order(void)
{
    begin(NON_BLOCKING);
    const uint64_t before = fill(A);
    CALL(cuEventRecord, EVENT, A);
    const uint64_t after = fill(A), early = fill(B);
    CALL(cuStreamWaitEvent, B, EVENT, 0);
    const uint64_t late = fill(B);
    CHECK(!gphi_model_ordered(model, before, early));
    CHECK(gphi_model_ordered(model, before, late));
    CHECK(!gphi_model_ordered(model, after, late));
    CALL(cuEventSynchronize, EVENT);
    CHECK(gphi_model_ordered(model, before, GPHI_WORK_NOW));
    CHECK(!gphi_model_ordered(model, after, GPHI_WORK_NOW));
    CALL(cuStreamSynchronize, A);
    CHECK(gphi_model_ordered(model, after, GPHI_WORK_NOW));
    CHECK(gphi_model_ordered(model, after, fill(B)));
    CHECK(!gphi_model_ordered(model, late, GPHI_WORK_NOW));
    gphi_model_destroy(model);
}

static void test_legacy_orders_blocking(void)
{
    begin(BLOCKING);
    const uint64_t a = fill(A), legacy = fill(0), b = fill(B);
    CHECK(gphi_model_ordered(model, a, legacy));
    CHECK(gphi_model_ordered(model, legacy, b));
    CHECK(gphi_model_ordered(model, a, b));
    gphi_model_destroy(model);
}

static void test_memory(void)
{
    begin(NON_BLOCKING);
    CALL(cuMemAlloc, 0x10000, 4096);
    gphi_allocation *first = gphi_model_memory(model, 0x10800, false);
    CHECK(first != NULL && first->address == 0x10000 && first->freed.number == 0);
    CHECK(gphi_model_memory(model, 0x11000, false) == NULL);
    CALL(cuMemFree, 0x10000);
    CHECK(gphi_model_memory(model, 0x10800, false) == NULL);
    CHECK(gphi_model_memory(model, 0x10800, true) == first && first->freed.number != 0);
    CALL(cuMemAllocAsync, 0x10400, 1024, A);
    gphi_allocation *second = gphi_model_memory(model, 0x10500, false);
    CHECK(second != NULL && second != first && second->kind == GPHI_MEM_ASYNC);
    CHECK(gphi_model_memory(model, 0x10500, true) == first);
    gphi_model_destroy(model);
}

/* Objects of a program that runs forever are forgotten, oldest first. */
static void test_bounds(void)
{
    begin(NON_BLOCKING);
    for (uint64_t i = 0; i < 200000; i++) {
        CALL(cuMemAllocAsync, 0x100000 + i % 1000 * 0x1000, 4096, A);
        CALL(cuMemFreeAsync, 0x100000 + i % 1000 * 0x1000, A);
    }
    CHECK(model->allocations.count < 150000);
    CHECK(model->work_count == 400000);
    CHECK(gphi_model_work(model, 1) == NULL);
    CHECK(gphi_model_work(model, 400000) != NULL);
    CHECK(gphi_model_ordered(model, 1, 400000));
    gphi_model_destroy(model);
}

int main(void)
{
    RUN(test_streams_are_apart);
    RUN(test_events_order);
    RUN(test_legacy_orders_blocking);
    RUN(test_memory);
    RUN(test_bounds);
    return test_done();
}
