// SPDX-License-Identifier: Apache-2.0
/* Waiting for a stream while ranks are watched, and what is called when a group fails. */
#define _GNU_SOURCE
#include "ranks/ranks.h"
#include "test.h"

#include <time.h>

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUstream stream;

static void nap_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* Work of a stream that waits for another rank, as a kernel does. */
typedef struct work {
    atomic_bool may_end, has_ended;
    atomic_int failed, idle;
    gph_ranks *ranks;
    gphi_ranks_watch watch;
} work;

static void run_work(void *user)
{
    work *self = user;
    while (!atomic_load(&self->may_end))
        nap_ms(1);
    atomic_store(&self->has_ended, true);
}

static void on_failed(void *user)
{
    work *self = user;
    atomic_fetch_add(&self->failed, 1);
    atomic_store(&self->may_end, true);
}

static void on_idle(void *user)
{
    work *self = user;
    /* Takes itself out in its third beat. */
    if (atomic_fetch_add(&self->idle, 1) == 2)
        gphi_ranks_watch_remove(self->ranks, &self->watch);
}

static gph_ranks *open_alone(void)
{
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    gph_error error;
    options.count = 1, options.notice_ns = UINT64_C(20000000);
    CHECK_OK(gph_ranks_open(&options, &ranks, &error), error);
    return ranks;
}

static void *fail_soon(void *user)
{
    const gph_error cause = {.code = GPH_E_IO, .message = "no disk"};
    nap_ms(100);
    gph_ranks_fail(user, &cause);
    return NULL;
}

static void a_stream_is_waited_for(void)
{
    gph_ranks *ranks = open_alone();
    gph_error error;
    static work self;
    CHECK_OK(gph_ranks_wait(ranks, runtime, stream, &error), error); /* it is empty */
    CHECK(cu->LaunchHostFunc(stream, run_work, &self) == 0);
    atomic_store(&self.may_end, true);
    CHECK_OK(gph_ranks_wait(ranks, runtime, stream, &error), error);
    CHECK(atomic_load(&self.has_ended));
    gph_ranks_close(ranks);
}

static void a_failure_ends_the_work_and_is_returned(void)
{
    static work self;
    gph_ranks *ranks = open_alone();
    gph_error error;
    pthread_t thread;
    self.watch = (gphi_ranks_watch){.failed = on_failed, .user = &self};
    gphi_ranks_watch_add(ranks, &self.watch);
    CHECK(cu->LaunchHostFunc(stream, run_work, &self) == 0);
    pthread_create(&thread, NULL, fail_soon, ranks);
    CHECK(gph_ranks_wait(ranks, runtime, stream, &error) == GPH_E_IO);
    CHECK(strcmp(error.message, "rank 0: no disk") == 0 && error.hint[0] == '\0');
    CHECK(atomic_load(&self.has_ended));
    pthread_join(thread, NULL);
    CHECK(gph_ranks_wait(ranks, runtime, stream, &error) == GPH_E_IO);
    nap_ms(60);
    CHECK(atomic_load(&self.failed) == 1); /* once, however often it is looked */
    gphi_ranks_watch_remove(ranks, &self.watch);
    gph_ranks_close(ranks);
}

static void work_that_does_not_end_is_not_waited_for(void)
{
    static work self;
    gph_ranks *ranks = open_alone();
    gph_error error;
    CHECK(cu->LaunchHostFunc(stream, run_work, &self) == 0);
    const gph_error cause = {.code = GPH_E_IO, .message = "no disk"};
    gph_ranks_fail(ranks, &cause);
    const uint64_t begin = now_ms();
    CHECK(gph_ranks_wait(ranks, runtime, stream, &error) == GPH_E_IO);
    CHECK(now_ms() - begin < 5000);
    CHECK(strstr(error.hint, "has not ended") != NULL);
    CHECK(!atomic_load(&self.has_ended));
    atomic_store(&self.may_end, true);
    CHECK(cu->StreamSynchronize(stream) == 0);
    gph_ranks_close(ranks);
}

static void entries_are_called_without_a_wait(void)
{
    static work self, late;
    gph_ranks *ranks = open_alone();
    self.ranks = ranks;
    self.watch = (gphi_ranks_watch){.failed = on_failed, .idle = on_idle, .user = &self};
    gphi_ranks_watch_add(ranks, &self.watch);
    for (int i = 0; i < 500 && atomic_load(&self.idle) < 3; i++)
        nap_ms(10);
    nap_ms(60);
    CHECK(atomic_load(&self.idle) == 3); /* it took itself out */
    gphi_ranks_watch_add(ranks, &self.watch);
    gph_ranks_fail(ranks, NULL);
    for (int i = 0; i < 500 && atomic_load(&self.failed) < 1; i++)
        nap_ms(10);
    CHECK(atomic_load(&self.failed) == 1);
    /* Whoever comes after the failure has it at once. */
    late.watch = (gphi_ranks_watch){.failed = on_failed, .user = &late};
    gphi_ranks_watch_add(ranks, &late.watch);
    CHECK(atomic_load(&late.failed) == 1);
    gphi_ranks_watch_remove(ranks, &late.watch);
    gphi_ranks_watch_remove(ranks, &self.watch);
    gph_ranks_close(ranks);
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_error error;
    CUcontext context = NULL;
    CUdevice device = 0;
    RUN(entries_are_called_without_a_wait);
    options.driver = GPH_DRIVER_AUTO;
    if (gph_open(&options, &runtime, &error) != GPH_OK) {
        printf("waiting is left out: %s\n", error.message);
        return test_done();
    }
    cu = gph_cuda(runtime);
    CHECK(cu->DeviceGet(&device, 0) == 0);
    CHECK(cu->DevicePrimaryCtxRetain(&context, device) == 0);
    CHECK(cu->CtxSetCurrent(context) == 0);
    CHECK(cu->StreamCreate(&stream, 1) == 0); /* not ordered with the default stream */
    RUN(a_stream_is_waited_for);
    RUN(a_failure_ends_the_work_and_is_returned);
    RUN(work_that_does_not_end_is_not_waited_for);
    CHECK(cu->StreamDestroy(stream) == 0);
    CHECK(cu->DevicePrimaryCtxRelease(device) == 0);
    gph_close(runtime);
    return test_done();
}
