// SPDX-License-Identifier: Apache-2.0
/* Destinations in pinned memory that queued copies will write. A fixed table, since the
 * signal handler reads it without a lock. */
#include "softcuda/memory/pending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda/memory/memory.h"

#define SLOTS 256u
#define RETRIES 64u /* of one thread at one address: somebody else opened it meanwhile */

struct slot {
    _Atomic uint64_t first, bytes; /* stay until the slot is used for another range */
    _Atomic uint32_t copies;       /* queued and not run; 0: free */
    atomic_bool is_said;
};

static struct slot slots[SLOTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t pending;

static void protect(uint64_t first, uint64_t bytes, int access)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t start = first & ~(page - 1);
    const uint64_t end = (first + bytes + page - 1) & ~(page - 1);
    (void)mprotect((void *)(uintptr_t)start, end - start, access);
}

static struct slot *find_locked(uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots[i].copies > 0 && slots[i].first == address && slots[i].bytes == bytes)
            return &slots[i];
    return NULL;
}

bool soft_pending_begin(uint64_t address, uint64_t bytes)
{
    soft_allocation of;
    if (bytes == 0 || !soft_host_find(address, &of) || of.kind != SOFT_MEMORY_HOST)
        return false;
    pthread_mutex_lock(&mutex);
    struct slot *slot = find_locked(address, bytes);
    for (uint32_t i = 0; !slot && i < SLOTS; i++)
        slot = slots[i].copies == 0 ? &slots[i] : NULL;
    if (slot) {
        slot->first = address;
        slot->bytes = bytes;
        slot->is_said = false;
        slot->copies++;
        pending++;
        protect(address, bytes, PROT_NONE);
    }
    pthread_mutex_unlock(&mutex);
    return slot;
}

void soft_pending_end(uint64_t address, uint64_t bytes)
{
    if (atomic_load_explicit(&pending, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&mutex);
    struct slot *slot = find_locked(address, bytes);
    if (slot) {
        slot->copies--;
        pending--;
        protect(address, bytes, PROT_READ | PROT_WRITE);
    }
    pthread_mutex_unlock(&mutex);
}

static bool is_again(uint64_t address)
{
    static _Thread_local uint64_t last;
    static _Thread_local uint32_t times;
    times = last == address ? times + 1 : 0;
    last = address;
    return times >= RETRIES;
}

bool soft_pending_open(uint64_t address, uint64_t *offset, uint64_t *bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    bool is_known = false;
    *bytes = 0;
    for (uint32_t i = 0; i < SLOTS; i++) {
        const uint64_t first = slots[i].first, length = slots[i].bytes;
        if (address < (first & ~(page - 1)) ||
            address >= ((first + length + page - 1) & ~(page - 1)) || length == 0)
            continue;
        is_known = true;
        /* Only what lies in the destination: the rest of the page is anybody's. */
        if (slots[i].copies == 0 || address - first >= length ||
            atomic_exchange(&slots[i].is_said, true))
            continue;
        *offset = address - first;
        *bytes = length;
    }
    if (!is_known || is_again(address))
        return false;
    protect(address, 1, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < SLOTS; i++) /* the rest of one that was said, too */
        if (address - slots[i].first < slots[i].bytes && slots[i].is_said)
            protect(slots[i].first, slots[i].bytes, PROT_READ | PROT_WRITE);
    return true;
}
