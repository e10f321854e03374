// SPDX-License-Identifier: Apache-2.0
/* Host memory that graphs read and write: a copy node keeps the address, so the memory
 * must still be there, and hold what is meant, at every launch. Executables with such
 * nodes are remembered; before they are launched the memory is looked at, by the kernel,
 * which says so where it is gone. That is written before the launch, which may crash. */
#define _GNU_SOURCE
#include "attach/track/host.h"
#include "attach/driver/find.h"
#include "attach/peek/memory.h"
#include "attach/peek/stack.h"
#include "attach/track/freed.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXECS = 1 << 10, PROBES = 16, FIRST_LAUNCHES = 4 };

typedef struct host_operand {
    uint64_t address, bytes;
    bool is_read;
} host_operand;

/* Written while the program does not have the handle yet. */
typedef struct host_exec {
    _Atomic uint64_t exec;
    _Atomic uint32_t count, launches;
    host_operand operands[ATTACH_HOSTS_MAX];
} host_exec;

static host_exec execs[EXECS];

static host_exec *exec_at(uint64_t exec, bool add)
{
    const uint32_t first = (uint32_t)gphi_hash_mix(exec);
    for (uint32_t i = 0; exec != 0 && i < PROBES; i++) {
        host_exec *at = &execs[(first + i) % EXECS];
        uint64_t there = atomic_load_explicit(&at->exec, memory_order_acquire);
        if (there == exec)
            return at;
        if (there != 0)
            continue;
        if (!add)
            return NULL;
        if (atomic_compare_exchange_strong(&at->exec, &there, exec) || there == exec)
            return at;
    }
    return NULL;
}

void attach_host_forget(uint64_t exec)
{
    host_exec *at = exec_at(exec, false);
    if (!at)
        return;
    atomic_store(&at->count, 0);
    atomic_store(&at->launches, 0);
}

static void add_operand(uint64_t exec, uint64_t address, uint64_t bytes, bool is_read)
{
    host_exec *at = exec_at(exec, true);
    const uint32_t count = at ? atomic_load(&at->count) : ATTACH_HOSTS_MAX;
    if (count >= ATTACH_HOSTS_MAX)
        return;
    at->operands[count] = (host_operand){address, bytes, is_read};
    atomic_store_explicit(&at->count, count + 1, memory_order_release);
}

void attach_host_copy(uint64_t exec, const CUDA_MEMCPY3D *copy)
{
    if (copy->Height > 1 || copy->Depth > 1)
        return; /* rows lie apart */
    const uint64_t from = copy->srcMemoryType == CU_MEMORYTYPE_HOST
                              ? (uint64_t)(uintptr_t)copy->srcHost
                              : copy->srcDevice;
    const uint64_t to = copy->dstMemoryType == CU_MEMORYTYPE_HOST
                            ? (uint64_t)(uintptr_t)copy->dstHost
                            : copy->dstDevice;
    if (copy->srcMemoryType == CU_MEMORYTYPE_HOST ||
        (copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED && attach_is_host(from)))
        add_operand(exec, from + copy->srcXInBytes, copy->WidthInBytes, true);
    if (copy->dstMemoryType == CU_MEMORYTYPE_HOST ||
        (copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED && attach_is_host(to)))
        add_operand(exec, to + copy->dstXInBytes, copy->WidthInBytes, false);
}

void attach_host_user(uint64_t exec, const void *user)
{
    add_operand(exec, (uint64_t)(uintptr_t)user, ATTACH_HOST_USER_BYTES, false);
}

/* The C library marks small blocks that were given back with a number of the process, in
 * their second word: read off one. 0: this library does not. */
static uint64_t freed_mark(void)
{
    enum { BYTES = 24, WORD = 0x5a5a };
    static _Atomic uint64_t known;
    uint64_t mark = atomic_load_explicit(&known, memory_order_relaxed);
    if (mark != 0)
        return mark != WORD ? mark : 0;
    uint64_t *volatile block = malloc(BYTES);
    if (!block)
        return 0;
    const uintptr_t at = (uintptr_t)block;
    block[1] = WORD;
    free(block);
    if (!attach_read(&mark, (const void *)(at + sizeof(mark)), sizeof(mark)) || mark == 0)
        mark = WORD;
    atomic_store_explicit(&known, mark, memory_order_relaxed);
    return mark != WORD ? mark : 0;
}

/* Whether glibc's free() was called on a block that begins there: small ones have the
 * mark, larger ones are in a list, whose neighbors point back at them. */
static bool is_freed(uint64_t address)
{
    enum { FORWARD = 2, BACK = 3 };
    const uint64_t *block = (const uint64_t *)(uintptr_t)address;
    uint64_t link[2], back = 0, forward = 0;
    if (address % 16 != 0 || !attach_read(link, block, sizeof(link)))
        return false;
    if (link[1] != 0 && link[1] == freed_mark())
        return true;
    const uint64_t chunk = address - 2 * sizeof(uint64_t);
    return link[0] % 16 == 0 && link[1] % 16 == 0 && link[0] > 4096 && link[1] > 4096 &&
           attach_read(&back, (const uint64_t *)(uintptr_t)link[0] + BACK,
                       sizeof(back)) &&
           attach_read(&forward, (const uint64_t *)(uintptr_t)link[1] + FORWARD,
                       sizeof(forward)) &&
           back == chunk && forward == chunk;
}

gphi_host_bytes attach_host_now(const attach_call *call, uint64_t address, uint64_t bytes,
                                bool is_read)
{
    gphi_host_bytes out = {.address = address, .bytes = bytes};
    /* What is below was the program's once. */
    const uint64_t here = (uint64_t)(uintptr_t)call->above;
    const uint64_t top = attach_stack_end(here);
    if (address >= here && address < top)
        out.flags |= GPHI_HOST_ON_STACK;
    if (address < here && here - address < ATTACH_STACK_MAX && here < top)
        out.flags |= GPHI_HOST_LEFT;
    if ((out.flags & (GPHI_HOST_ON_STACK | GPHI_HOST_LEFT)) == 0 &&
        (attach_freed_since(address) || is_freed(address)))
        out.flags |= GPHI_HOST_FREED;
    if (attach_hash(address, bytes, &out.hash))
        out.flags |= GPHI_HOST_READABLE | (is_read ? GPHI_HOST_HASHED : 0U);
    return out;
}

void attach_host_launch(const attach_call *call)
{
    const uint64_t exec = call->words[0];
    host_exec *at = exec_at(exec, false);
    const uint32_t count =
        at ? atomic_load_explicit(&at->count, memory_order_acquire) : 0;
    if (count == 0)
        return;
    const uint32_t nth = atomic_fetch_add(&at->launches, 1) + 1;
    if (nth > FIRST_LAUNCHES && (nth & (nth - 1)) != 0)
        return;
    gphi_host_bytes now[ATTACH_HOSTS_MAX];
    attach_draft draft = {.head.kind = GPHI_EVENT_HOST, .head.id = exec};
    for (uint32_t i = 0; i < count; i++) {
        const host_operand *operand = &at->operands[i];
        now[i] =
            attach_host_now(call, operand->address, operand->bytes, operand->is_read);
        attach_add(&draft, GPHI_PART_HOST, 0, &now[i], sizeof(now[i]));
    }
    draft.head.stack = attach_stack(call->above);
    attach_write(&draft);
}

void attach_host_written(uint64_t exec, void (*each)(uint64_t address, uint64_t bytes))
{
    const host_exec *at = exec_at(exec, false);
    const uint32_t count =
        at ? atomic_load_explicit(&at->count, memory_order_acquire) : 0;
    for (uint32_t i = 0; i < count; i++)
        if (!at->operands[i].is_read && at->operands[i].bytes > ATTACH_HOST_USER_BYTES)
            each(at->operands[i].address, at->operands[i].bytes);
}
