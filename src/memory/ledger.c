// SPDX-License-Identifier: Apache-2.0
/* What pages of arenas and executables take of a device. Below the arena. */
#include "memory/ledger.h"
#include "base/thread.h"

#include <stdatomic.h>

/* ---- the device ---- */

enum { DEVICES = 64 };

static _Atomic int64_t page_bytes[DEVICES];
static gphi_mutex measure_mutex = GPHI_MUTEX_INIT; /* around an instantiation */
static gphi_mutex exec_mutex = GPHI_MUTEX_INIT;    /* guards the list; the innermost */
static gphi_ledger_exec *execs;

static bool is_device(int device)
{
    return device >= 0 && device < DEVICES;
}

void gphi_ledger_pages(int device, int64_t bytes)
{
    if (is_device(device)) /* relaxed: a sum */
        atomic_fetch_add_explicit(&page_bytes[device], bytes, memory_order_relaxed);
}

static int64_t pages_now(int device)
{
    return is_device(device)
               ? atomic_load_explicit(&page_bytes[device], memory_order_relaxed)
               : 0;
}

/* ---- executables ---- */

/* The mutex stays locked until the end, so that two instantiations are not counted
 * as one. */
void gphi_ledger_exec_begin(const gph_runtime *runtime, gphi_ledger_measure *measure)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    size_t free_bytes = 0, total = 0;
    CUdevice device = -1;
    gphi_mutex_lock(&measure_mutex);
    *measure = (gphi_ledger_measure){.device = -1};
    if (runtime->cu.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        runtime->cu.cuMemGetInfo(&free_bytes, &total) != CUDA_SUCCESS)
        return;
    *measure = (gphi_ledger_measure){device, free_bytes, pages_now(device)};
}

/* Pages that arenas took meanwhile are not the executable's. */
void gphi_ledger_exec_end(const gph_runtime *runtime, const gphi_ledger_measure *measure,
                          gphi_ledger_exec *entry, const void *exec)
    GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis)
{
    size_t free_bytes = 0, total = 0;
    int64_t taken = 0;
    if (entry && measure->device >= 0 &&
        runtime->cu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS)
        taken = (int64_t)measure->free_bytes - (int64_t)free_bytes -
                (pages_now(measure->device) - measure->page_bytes);
    gphi_mutex_unlock(&measure_mutex);
    if (!entry)
        return;
    gphi_mutex_lock(&exec_mutex);
    *entry = (gphi_ledger_exec){.next = execs,
                                .exec = exec,
                                .device = measure->device,
                                .bytes = taken > 0 ? (uint64_t)taken : 0};
    if (execs)
        execs->previous = entry;
    execs = entry;
    gphi_mutex_unlock(&exec_mutex);
}

void gphi_ledger_exec_remove(gphi_ledger_exec *entry)
{
    gphi_mutex_lock(&exec_mutex);
    if (entry->previous)
        entry->previous->next = entry->next;
    else if (execs == entry)
        execs = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    gphi_mutex_unlock(&exec_mutex);
}

void gphi_ledger_exec_swap(gphi_ledger_exec *a, gphi_ledger_exec *b)
{
    gphi_mutex_lock(&exec_mutex);
    const uint64_t bytes = a->bytes;
    const int device = a->device;
    a->bytes = b->bytes;
    a->device = b->device;
    b->bytes = bytes;
    b->device = device;
    gphi_mutex_unlock(&exec_mutex);
}

void gphi_ledger_exec_each(int device, gphi_ledger_see *see, void *user)
{
    gphi_mutex_lock(&exec_mutex);
    for (const gphi_ledger_exec *e = execs; e; e = e->next)
        if (e->device == device)
            see(user, e);
    gphi_mutex_unlock(&exec_mutex);
}

static void add_bytes(void *user, const gphi_ledger_exec *entry)
{
    *(uint64_t *)user += entry->bytes;
}

uint64_t gphi_ledger_exec_bytes(int device)
{
    uint64_t bytes = 0;
    gphi_ledger_exec_each(device, add_bytes, &bytes);
    return bytes;
}
