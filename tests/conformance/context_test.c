// SPDX-License-Identifier: Apache-2.0
/* Contexts: the primary one, created ones, the stack of each thread. */
#include <pthread.h>

#include "driver.h"

static CUcontext current(void)
{
    CUcontext context = (CUcontext)1;
    OK(cu.cuCtxGetCurrent(&context));
    return context;
}

static CUcontext create(void)
{
    CUcontext context = NULL;
    OK(cu.cuCtxCreate(&context, NULL, 0, 0));
    return context;
}

static void no_context_at_first(void)
{
    CUdeviceptr p;
    CUdevice device;
    CHECK(current() == NULL);
    REFUSED(INVALID_CONTEXT, cu.cuMemAlloc(&p, 4));
    REFUSED(INVALID_CONTEXT, cu.cuCtxSynchronize());
    REFUSED(INVALID_CONTEXT, cu.cuCtxGetDevice(&device));
    REFUSED(INVALID_VALUE, cu.cuCtxGetCurrent(NULL));
}

static void primary_context_is_counted(void)
{
    CUcontext first = NULL, second = NULL;
    unsigned flags;
    int active = -1;
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    OK(cu.cuDevicePrimaryCtxRetain(&first, 0));
    OK(cu.cuDevicePrimaryCtxRetain(&second, 0));
    CHECK(first != NULL && first == second);
    CHECK(current() == NULL);
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 1);
    OK(cu.cuDevicePrimaryCtxRelease(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 1);
    OK(cu.cuDevicePrimaryCtxRelease(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    REFUSED(INVALID_CONTEXT, cu.cuDevicePrimaryCtxRelease(0));
    REFUSED(INVALID_VALUE, cu.cuDevicePrimaryCtxRetain(NULL, 0));
    REFUSED(INVALID_DEVICE, cu.cuDevicePrimaryCtxRetain(&first, 1000));
}

static void created_context_is_pushed(void)
{
    CUcontext context = create();
    CUdevice device = -1;
    CHECK(context != NULL && current() == context);
    OK(cu.cuCtxGetDevice(&device));
    CHECK(device == 0);
    OK(cu.cuCtxDestroy(context));
    CHECK(current() == NULL);
    CUcontext none = NULL;
    REFUSED(INVALID_DEVICE, cu.cuCtxCreate(&none, NULL, 0, 1000));
    REFUSED(INVALID_VALUE, cu.cuCtxCreate(NULL, NULL, 0, 0));
    REFUSED(INVALID_VALUE, cu.cuCtxCreate(&none, NULL, 0x10000, 0));
    CHECK(none == NULL);
}

static void stack_pushes_and_pops(void)
{
    CUcontext a = create(), b = create(), out = NULL;
    CHECK(current() == b);
    OK(cu.cuCtxPushCurrent(a));
    CHECK(current() == a);
    OK(cu.cuCtxPopCurrent(&out));
    CHECK(out == a && current() == b);
    OK(cu.cuCtxPopCurrent(&out));
    CHECK(out == b && current() == a);
    OK(cu.cuCtxSetCurrent(b)); /* replaces the top */
    CHECK(current() == b);
    OK(cu.cuCtxSetCurrent(NULL)); /* pops it */
    CHECK(current() == NULL);
    REFUSED(INVALID_CONTEXT, cu.cuCtxPopCurrent(&out));
    REFUSED(INVALID_VALUE, cu.cuCtxPushCurrent(NULL));
    REFUSED(INVALID_VALUE, cu.cuCtxDestroy(NULL));
    OK(cu.cuCtxDestroy(a));
    OK(cu.cuCtxDestroy(b));
}

static void *in_a_thread(void *context)
{
    CHECK(current() == NULL); /* the stack is the thread's own */
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuCtxSynchronize());
    return NULL;
}

static void each_thread_has_its_own_stack(void)
{
    CUcontext context = create();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_a_thread, context) == 0);
    pthread_join(thread, NULL);
    CHECK(current() == context);
    OK(cu.cuCtxDestroy(context));
}

struct meeting {
    pthread_barrier_t barrier;
    CUcontext context;
};

static void *uses_it_after_its_end(void *user)
{
    struct meeting *meeting = user;
    CUdeviceptr p;
    OK(cu.cuCtxSetCurrent(meeting->context));
    pthread_barrier_wait(&meeting->barrier);
    pthread_barrier_wait(&meeting->barrier); /* destroyed by the other thread */
    REFUSED(CONTEXT_IS_DESTROYED, cu.cuMemAlloc(&p, 4));
    REFUSED(CONTEXT_IS_DESTROYED, cu.cuCtxSynchronize());
    OK(cu.cuCtxSetCurrent(NULL));
    return NULL;
}

static void other_threads_learn_of_the_end(void)
{
    struct meeting meeting = {.context = create()};
    pthread_barrier_init(&meeting.barrier, NULL, 2);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, uses_it_after_its_end, &meeting) == 0);
    pthread_barrier_wait(&meeting.barrier);
    OK(cu.cuCtxDestroy(meeting.context));
    pthread_barrier_wait(&meeting.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting.barrier);
}

static void properties_can_be_read_and_set(void)
{
    CUcontext context = NULL;
    OK(cu.cuCtxCreate(&context, NULL, CU_CTX_SCHED_YIELD, 0));
    unsigned flags = 0, version = 0;
    unsigned long long id = 0;
    OK(cu.cuCtxGetFlags(&flags));
    CHECK((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_YIELD);
    OK(cu.cuCtxGetApiVersion(context, &version));
    CHECK(version >= 3010);
    OK(cu.cuCtxGetId(context, &id));
    CHECK(id != 0);
    size_t bytes = 0;
    OK(cu.cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    CHECK(bytes == 1024);
    OK(cu.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048));
    OK(cu.cuCtxGetLimit(&bytes, CU_LIMIT_STACK_SIZE));
    CHECK(bytes == 2048);
    OK(cu.cuCtxGetLimit(&bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
    CHECK(bytes == 8388608);
    REFUSED(INVALID_VALUE, cu.cuCtxGetLimit(&bytes, (CUlimit)77));
    REFUSED(INVALID_VALUE, cu.cuCtxSetLimit((CUlimit)77, 1));
    /* What an H100 does not have, and what can be read only. */
    REFUSED(UNSUPPORTED_LIMIT, cu.cuCtxGetLimit(&bytes, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH));
    REFUSED(UNSUPPORTED_LIMIT, cu.cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2));
    REFUSED(NOT_PERMITTED, cu.cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1024));
    REFUSED(INVALID_VALUE, cu.cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    int least = 9, greatest = 9;
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    OK(cu.cuCtxGetStreamPriorityRange(NULL, NULL));
    CUfunc_cache config;
    OK(cu.cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cu.cuCtxGetCacheConfig(&config));
    CHECK(config == CU_FUNC_CACHE_PREFER_L1);
    OK(cu.cuCtxDestroy(context));
}

static void primary_context_is_not_destroyed(void)
{
    CUcontext context = NULL;
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    REFUSED(INVALID_CONTEXT, cu.cuCtxDestroy(context));
    OK(cu.cuDevicePrimaryCtxRelease(0));
}

static void reset_ends_what_is_current(void)
{
    CUcontext context = NULL;
    CUdeviceptr p;
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuMemAlloc(&p, 4));
    OK(cu.cuDevicePrimaryCtxReset(0));
    REFUSED(CONTEXT_IS_DESTROYED, cu.cuCtxSynchronize());
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuMemAlloc(&p, 4));
    OK(cu.cuMemFree(p));
    OK(cu.cuCtxSetCurrent(NULL));
    OK(cu.cuDevicePrimaryCtxRelease(0));
}

static void memory_ends_with_its_context(void)
{
    CUcontext context = create();
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 1 << 20));
    OK(cu.cuCtxDestroy(context));
    CUmemorytype type;
    REFUSED(INVALID_VALUE,
            cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
}

static void garbage_is_no_context(void)
{
    if (!driver_is_soft)
        SKIP("a garbage handle crashes the real driver");
    int garbage[64] = {0};
    REFUSED(INVALID_CONTEXT, cu.cuCtxSetCurrent((CUcontext)garbage));
    REFUSED(INVALID_CONTEXT, cu.cuCtxPushCurrent((CUcontext)8));
    REFUSED(INVALID_CONTEXT, cu.cuCtxDestroy((CUcontext)garbage));
    CUcontext dead = create();
    OK(cu.cuCtxDestroy(dead));
    REFUSED(INVALID_CONTEXT, cu.cuCtxDestroy(dead));
    REFUSED(INVALID_CONTEXT, cu.cuCtxSetCurrent(dead));
}

int main(void)
{
    DEVICE_OR_SKIP();
    RUN(no_context_at_first);
    RUN(primary_context_is_counted);
    RUN(created_context_is_pushed);
    RUN(stack_pushes_and_pops);
    RUN(each_thread_has_its_own_stack);
    RUN(other_threads_learn_of_the_end);
    RUN(properties_can_be_read_and_set);
    RUN(primary_context_is_not_destroyed);
    RUN(reset_ends_what_is_current);
    RUN(memory_ends_with_its_context);
    RUN(garbage_is_no_context);
    return test_done();
}
