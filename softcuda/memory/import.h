// SPDX-License-Identifier: Apache-2.0
/* Inside softcuda/memory: allocations of other processes at addresses of this one, and the
 * ledger by which others find ours. Everything here is called with memory->mutex held. */
#ifndef SOFT_MEMORY_IMPORT_H
#define SOFT_MEMORY_IMPORT_H
#include "softcuda/memory/arena.h"
#include "softcuda/memory/share.h"

struct soft_pool {
    struct soft_heap heap;
    soft_pool_policy policy;
    soft_pool *after;                     /* of the memory */
    struct soft_block *oldest, *youngest; /* pending, by time of free */
    uint64_t live_count, used_bytes, used_high, reserved_high;
    bool dying;
    bool is_import; /* another process' pool: its segments are there */
    bool is_export; /* its handle was given out: pointers may follow */
};
/* pool.c; takes over `file`, on failure too. Without the mutex. */
gph_status soft_pool_make(soft_memory *memory, const soft_pool_policy *policy, int file,
                          soft_pool **out, gph_error *error);

/* One allocation of another process, mapped here once. */
struct soft_import {
    struct soft_import *next; /* of the memory */
    uint32_t slot, slot_count;
    soft_allocation info;
    soft_share_handle source; /* what it was opened by */
    uint32_t opens;
    bool pending;     /* of a pool: freed in stream order, mapped until: */
    soft_point freed; /* is reached */
};

/* Maps places of a file, the allocation `offset` bytes into the first. NULL if there is no
 * room, or the system refuses. The caller completes `info`. */
struct soft_import *soft_import_add(soft_memory *memory, const struct soft_places *places,
                                    uint64_t offset, uint64_t bytes,
                                    const soft_share_handle *source);
/* One that came by the same handle and was not freed. */
struct soft_import *soft_import_of(const soft_memory *memory,
                                   const soft_share_handle *source);
struct soft_import *soft_import_at(const soft_memory *memory, uint64_t address);
bool soft_import_find(const soft_memory *memory, uint64_t address, soft_allocation *out);
void soft_import_drop(soft_memory *memory, struct soft_import *import);
/* Of a pool: true if `address` is one, which is gone once `freed` is reached. */
bool soft_import_free(soft_memory *memory, uint64_t address, soft_point freed);
void soft_imports_reap(soft_memory *memory);
void soft_imports_drop(soft_memory *memory);

/* ipc.c: the allocation is freed: its handles lead nowhere. */
void soft_ledger_forget(soft_memory *memory, struct soft_block *block);
void soft_ledger_drop(soft_memory *memory);

#endif
