/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  The ledger of an arena: which bytes each pool, recording and executable uses.
 *  Tier: experimental. */
#ifndef GPH_MEMORY_LEDGER_H
#define GPH_MEMORY_LEDGER_H

#include <gph/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an entry counts. */
typedef enum gph_ledger_kind {
    GPH_LEDGER_POOL = 1,      /**< a pool: its pages, and how much of them is allocated */
    GPH_LEDGER_RECORDING = 2, /**< a recording: bytes of its own, and shared ones */
    GPH_LEDGER_EXEC = 3       /**< an executable: the driver's memory, as measured */
} gph_ledger_kind;

/** A line of the ledger. Bytes. Layout frozen: the caller's array; later members take the
 *  place of `reserved`. */
typedef struct gph_ledger_entry {
    gph_ledger_kind kind;  /**< what it counts */
    uint32_t id;           /**< of the recording, or 0 */
    char name[32];         /**< cut where it is longer */
    const void *object;    /**< the gph_pool (also for a recording), or the gph_exec */
    uint64_t own_bytes;    /**< a recording: bytes that no other recording of the pool
                                uses; a pool: allocated bytes; an executable: all its
                                bytes */
    uint64_t shared_bytes; /**< a recording: bytes that others use too */
    uint64_t pool_bytes;   /**< a pool: its pages */
    uint64_t reserved[2];  /**< zero */
} gph_ledger_entry;

/** The totals. Bytes. */
typedef struct gph_ledger_total {
    uint32_t size;          /**< sizeof(gph_ledger_total) */
    uint64_t mapped_bytes;  /**< pages of all pools */
    uint64_t cached_bytes;  /**< pages of the arena that are in no pool */
    uint64_t exec_bytes;    /**< of executables, as measured when they were made */
    uint64_t budget_bytes;  /**< of the arena; 0: none */
    uint64_t driver_bytes;  /**< what the driver says is in use on the device */
    uint64_t foreign_bytes; /**< of those in use: neither the arena's nor its
                                 executables' */
} gph_ledger_total;

/** Reads the ledger: the pools of the arena, each followed by its recordings, then the
 *  executables of its device. `entries`: the caller's, room for `capacity`, may be NULL
 *  with 0; `count`: the caller's, how many there are; `total`: the caller's, may be NULL.
 *  Fails with GPH_E_INVALID, GPH_E_STATE (`total`, if neither now nor when the arena was
 *  made a context of its device was current), GPH_E_NO_MEMORY and what the driver returns.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ledger_get(gph_arena *arena, gph_ledger_entry *entries,
                                              uint32_t capacity, uint32_t *count,
                                              gph_ledger_total *total, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
