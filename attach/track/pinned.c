// SPDX-License-Identifier: Apache-2.0
/* The host reads pinned memory without the driver, and so without us: while a copy that does not
 * wait has yet to write it, its pages are closed, and who touches them ends up in our handler.
 *
 *   copy to it, not waited for ─> closed ─┬─ a call that may wait ─> open
 *                                         └─ a touch: SIGSEGV ─> said, open; it runs again
 *
 * The device writes through a mapping of its own. A call that the kernel makes of such memory
 * (write(), send()) fails instead (EFAULT), which is why this is asked for; so is a wait that no
 * call shows (a flag in memory), after which the first touch is taken for a mistake.
 *
 * Ranges stay in the table when they are open: another thread may be on its way to the handler. */
#define _GNU_SOURCE
#include "attach/track/pinned.h"
#include "attach/driver/find.h"
#include "attach/driver/symbol.h"
#include "attach/track/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANGES = 64, REGISTERED = 64, RETRIES = 64 };

typedef struct closed_range {
    _Atomic uint64_t first, bytes; /* what the copy writes; bytes 0: never used */
    _Atomic uint64_t start, end;   /* the pages around it */
    atomic_bool is_closed;
} closed_range;

static closed_range ranges[RANGES];
static _Atomic uint32_t closed; /* of them */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next;
/* Of the program's own allocator, where others' blocks lie in the first and last page. */
static struct {
    _Atomic uint64_t start;
    uint64_t end;
} registered[REGISTERED];
static _Atomic uint32_t registered_count;

atomic_bool attach_pinned_is_on;

void attach_pinned_start(void)
{
    const char *asked = getenv("GPH_DOCTOR_PINNED");
    atomic_store(&attach_pinned_is_on, asked && strcmp(asked, "1") == 0);
}

static uint64_t page_bytes(void)
{
    static _Atomic uint64_t bytes;
    uint64_t now = atomic_load_explicit(&bytes, memory_order_relaxed);
    if (now == 0)
        atomic_store(&bytes, now = (uint64_t)sysconf(_SC_PAGESIZE));
    return now;
}

static void set_access(const closed_range *range, int access)
{
    (void)mprotect((void *)(uintptr_t)range->start, range->end - range->start, access);
}

static void open_pages(closed_range *range)
{
    if (!atomic_exchange(&range->is_closed, false))
        return;
    set_access(range, PROT_READ | PROT_WRITE);
    (void)atomic_fetch_sub(&closed, 1);
}

static void open_all(void)
{
    (void)pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < RANGES; i++)
        open_pages(&ranges[i]);
    (void)pthread_mutex_unlock(&mutex);
}

static bool is_registered(uint64_t address)
{
    const uint32_t count = atomic_load(&registered_count);
    for (uint32_t i = 0; i < count && i < REGISTERED; i++)
        if (address >= registered[i].start && address < registered[i].end)
            return true;
    return count > REGISTERED;
}

static bool is_pinned(uint64_t address)
{
    CUmemorytype type = 0;
    return ATTACH_ASK(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                      address) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_HOST;
}

/* Whether the device uses the host's page tables, as on Grace: it would find them closed. */
static bool is_seen_by_device(void)
{
    static _Atomic int known; /* 1: no, 2: yes */
    int value = 1;
    if (atomic_load(&known) == 0) {
        const CUresult result = ATTACH_ASK(
            cuDeviceGetAttribute, &value,
            CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0);
        atomic_store(&known, result == CUDA_SUCCESS && value == 0 ? 1 : 2);
    }
    return atomic_load(&known) == 2;
}

static void close_pages(uint64_t address, uint64_t bytes)
{
    const uint64_t page = page_bytes(), inside = page - 1;
    const bool is_others = is_registered(address);
    const uint64_t start = (is_others ? address + inside : address) & ~inside;
    const uint64_t end =
        (is_others ? address + bytes : address + bytes + inside) & ~inside;
    if (bytes == 0 || start >= end)
        return;
    (void)pthread_mutex_lock(&mutex);
    closed_range *range = &ranges[next++ % RANGES];
    open_pages(range);
    atomic_store(&range->first, address);
    atomic_store(&range->bytes, bytes);
    atomic_store(&range->start, start);
    atomic_store(&range->end, end);
    atomic_store(&range->is_closed, true);
    (void)atomic_fetch_add(&closed, 1);
    set_access(range, PROT_NONE);
    (void)pthread_mutex_unlock(&mutex);
}

static void close_written(uint64_t address, uint64_t bytes)
{
    if (is_pinned(address) && !is_seen_by_device())
        close_pages(address, bytes);
}

/* What only queues, or asks: it ends no wait, and says nothing to the host. Kernels that write
 * flags are the doctor's to know. */
static bool only_queues(const attach_call *call)
{
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuLaunchKernel:
    case GPHI_CALL_cuLaunchKernelEx:
    case GPHI_CALL_cuLaunchCooperativeKernel:
    case GPHI_CALL_cuMemsetD8Async:
    case GPHI_CALL_cuMemsetD16Async:
    case GPHI_CALL_cuMemsetD32Async:
    case GPHI_CALL_cuMemcpyDtoDAsync:
    case GPHI_CALL_cuMemcpyDtoHAsync:
    case GPHI_CALL_cuEventRecord:
    case GPHI_CALL_cuStreamWaitEvent: return true;
    default: return call->symbol->policy == ATTACH_FAIL; /* getters */
    }
}

void attach_pinned_before(const attach_call *call)
{
    if (atomic_load(&closed) != 0 && !only_queues(call))
        open_all();
}

static void note_registered(uint64_t start, uint64_t bytes)
{
    const uint32_t slot = atomic_fetch_add(&registered_count, 1);
    if (slot >= REGISTERED)
        return;
    registered[slot].end = start + bytes;
    atomic_store(&registered[slot].start, start);
}

void attach_pinned_after(const attach_call *call, bool (*is_caught)(void))
{
    const uint64_t *words = call->words;
    switch ((gphi_call_id)call->symbol->call) {
    case GPHI_CALL_cuMemHostRegister: note_registered(words[0], words[1]); break;
    case GPHI_CALL_cuMemcpyDtoHAsync:
        if (call->open == 0 && is_caught())
            close_written(words[0], words[2]);
        break;
    case GPHI_CALL_cuGraphLaunch:
        if (is_caught())
            attach_host_written(words[0], close_written);
        break;
    default: break;
    }
}

static bool is_again(uint64_t address)
{
    static _Thread_local uint64_t last;
    static _Thread_local uint32_t times;
    times = last == address ? times + 1 : 0;
    last = address;
    return times >= RETRIES;
}

bool attach_pinned_open(uint64_t address, uint64_t *first, uint64_t *bytes)
{
    bool is_known = false;
    *bytes = 0;
    for (uint32_t i = 0; i < RANGES; i++) {
        closed_range *range = &ranges[i];
        if (range->bytes == 0 || address < range->start || address >= range->end)
            continue;
        is_known = true;
        const bool was_closed = range->is_closed;
        open_pages(range);
        if (was_closed && address - range->first < range->bytes) {
            *first = range->first;
            *bytes = range->bytes;
        }
    }
    return is_known && !is_again(address);
}

void attach_pinned_forked(void)
{
    atomic_store(&attach_pinned_is_on, false);
    for (uint32_t i = 0; i < RANGES; i++)
        open_pages(&ranges[i]);
}
