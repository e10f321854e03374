// SPDX-License-Identifier: Apache-2.0
/* External semaphores, in two forms that any process of the CPU can make, signal and wait
 * for:
 *
 *   OPAQUE_FD              eventfd: read and write of it
 *   TIMELINE_SEMAPHORE_FD  memfd: 8 bytes, mapped; the counter never falls
 *
 * A wait is asked again and again by the engine (memop.c) and must not block, whatever the
 * other process does to its file. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/external.h"
#include "softcuda/memory/fault.h"

#define EVENT_NAME "anon_inode:[eventfd]"

struct semaphore {
    int file;
    uint64_t *counter; /* mapped; NULL: an eventfd */
};

/* Held while one is looked up and used: another thread may destroy it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_eventfd(int file)
{
    char path[32], name[sizeof(EVENT_NAME)];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    const ssize_t read = readlink(path, name, sizeof(name));
    return read == (ssize_t)sizeof(EVENT_NAME) - 1 &&
           memcmp(name, EVENT_NAME, (size_t)read) == 0;
}

static CUresult open_event(int file)
{
    if (file >= 0 && is_eventfd(file))
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_UNKNOWN, "file descriptor %d is not an eventfd", file);
}

static CUresult open_counter(int file, uint64_t **out)
{
    const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    void *page =
        size < (off_t)sizeof(uint64_t)
            ? MAP_FAILED
            : mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        return soft_fail(CUDA_ERROR_UNKNOWN,
                         "file descriptor %d is not a file of 8 bytes that can be mapped "
                         "for reading and writing",
                         file);
    madvise(page, sizeof(uint64_t), MADV_DONTFORK);
    *out = page;
    return CUDA_SUCCESS;
}

/* The codes are an H200's. */
static CUresult open_file(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                          uint64_t **counter)
{
    const bool is_timeline =
        desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (desc->type < CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
        desc->type > CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%d is not a type of external semaphores", (int)desc->type);
    if (desc->flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", desc->flags);
    if (is_timeline && desc->handle.fd < 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "file descriptor %d", desc->handle.fd);
    if (desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC)
        SOFT_TRY(soft_need(desc->handle.nvSciSyncObj, "nvSciSyncObj"));
    switch ((int)desc->type) {
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD: return open_event(desc->handle.fd);
    case CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD:
        return open_counter(desc->handle.fd, counter);
    default:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "external semaphores of type %d: file descriptors alone are "
                         "taken",
                         (int)desc->type);
    }
}

static void close_file(const struct semaphore *semaphore)
{
    if (semaphore->counter)
        munmap(semaphore->counter, sizeof(uint64_t));
    if (semaphore->file >= 0)
        close(semaphore->file);
}

CUresult soft_semaphore_import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                               CUexternalSemaphore *out)
{
    struct semaphore *semaphore = soft_new(sizeof(*semaphore));
    SOFT_TRY(soft_made(semaphore, "no memory for an external semaphore"));
    semaphore->file = -1;
    CUresult status = open_file(desc, &semaphore->counter);
    if (status == CUDA_SUCCESS &&
        (semaphore->file = soft_external_keep(desc->handle.fd)) < 0)
        status = soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                           "the system refuses one more file descriptor");
    if (status == CUDA_SUCCESS)
        status = soft_handle_add(semaphore, SOFT_KIND_SEMAPHORE);
    if (status != CUDA_SUCCESS) {
        close_file(semaphore);
        soft_delete(semaphore);
        return status;
    }
    close(desc->handle.fd);
    *out = (CUexternalSemaphore)semaphore;
    return CUDA_SUCCESS;
}

CUresult soft_semaphore_check(CUexternalSemaphore handle)
{
    if (soft_handle_is(handle, SOFT_KIND_SEMAPHORE))
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is not an external semaphore",
                     (void *)handle);
}

CUresult soft_semaphore_destroy(CUexternalSemaphore handle)
{
    struct semaphore *semaphore = (struct semaphore *)handle;
    pthread_mutex_lock(&lock);
    const bool removed = soft_handle_remove(semaphore, SOFT_KIND_SEMAPHORE);
    if (removed)
        close_file(semaphore);
    pthread_mutex_unlock(&lock);
    if (!removed)
        return soft_semaphore_check(handle);
    soft_delete(semaphore);
    return CUDA_SUCCESS;
}

/* ---- signals and waits ----------------------------------------------------------------- */

/* An event that is full has been signaled, whoever did it. */
static soft_semaphore_state signal_event(int file)
{
    static const uint64_t one = 1;
    struct pollfd ready = {.fd = file, .events = POLLOUT};
    if (poll(&ready, 1, 0) > 0 && (ready.revents & POLLOUT) != 0)
        while (write(file, &one, sizeof(one)) < 0 && errno == EINTR)
            ;
    return SOFT_SEMAPHORE_DONE;
}

/* Another process may take the event between the question and the read, which then must not
 * wait: its own flags say nothing, since descriptors share them. */
static soft_semaphore_state take_event(int file)
{
    uint64_t value;
    const struct iovec into = {&value, sizeof(value)};
    struct pollfd ready = {.fd = file, .events = POLLIN};
    if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLIN) == 0)
        return SOFT_SEMAPHORE_WAITS;
    ssize_t got = preadv2(file, &into, 1, -1, RWF_NOWAIT);
    if (got < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) /* an older kernel */
        got = read(file, &value, sizeof(value));
    return got == (ssize_t)sizeof(value) ? SOFT_SEMAPHORE_DONE : SOFT_SEMAPHORE_WAITS;
}

struct access {
    uint64_t *counter;
    uint64_t value;
    bool is_signal, reached;
};

/* Release and acquire: what the signaler did before is there for who waited. */
static void touch(void *argument)
{
    struct access *a = argument;
    uint64_t now = __atomic_load_n(a->counter, __ATOMIC_ACQUIRE);
    while (a->is_signal && now < a->value &&
           !__atomic_compare_exchange_n(a->counter, &now, a->value, true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
    a->reached = a->is_signal || now >= a->value;
}

static soft_semaphore_state use(CUexternalSemaphore handle, uint64_t value,
                                bool is_signal)
{
    if (!soft_handle_is(handle, SOFT_KIND_SEMAPHORE))
        return SOFT_SEMAPHORE_GONE;
    const struct semaphore *semaphore = (const struct semaphore *)handle;
    if (!semaphore->counter)
        return is_signal ? signal_event(semaphore->file) : take_event(semaphore->file);
    struct access access = {semaphore->counter, value, is_signal, false};
    soft_fault_scope scope;
    scope.ranges[0] = (soft_fault_range){(uint64_t)(uintptr_t)access.counter, 8};
    scope.ranges[1] = (soft_fault_range){0, 0};
    if (!soft_fault_run(&scope, touch, &access))
        return SOFT_SEMAPHORE_GONE;
    return access.reached ? SOFT_SEMAPHORE_DONE : SOFT_SEMAPHORE_WAITS;
}

static soft_semaphore_state use_locked(CUexternalSemaphore handle, uint64_t value,
                                       bool is_signal)
{
    pthread_mutex_lock(&lock);
    const soft_semaphore_state state = use(handle, value, is_signal);
    pthread_mutex_unlock(&lock);
    return state;
}

soft_semaphore_state soft_semaphore_signal(CUexternalSemaphore handle, uint64_t value)
{
    return use_locked(handle, value, true);
}

soft_semaphore_state soft_semaphore_wait(CUexternalSemaphore handle, uint64_t value)
{
    return use_locked(handle, value, false);
}
