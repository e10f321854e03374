// SPDX-License-Identifier: Apache-2.0
/* The rules libgph.*, over several files: libgph_refused.c what libgph refused and nobody
 * looked at, libgph_slots.c tables of slots, libgph_past.c what is done to an executable
 * past libgph, libgph_memory.c memory of pools, libgph_objects.c caches, trees, recipes. */
#ifndef GPHI_DOCTOR_RULES_LIBGPH_H
#define GPHI_DOCTOR_RULES_LIBGPH_H
#include "doctor/findings/rule.h"
#include "doctor/history/history.h"
#include "doctor/model/call_kinds.h"
#include <gph/base.h>

/* The place of a note: a call of its own has none. */
gphi_call gphi_libgph_at(const gphi_rule_run *run, const gphi_event *event);

/* ---- libgph_refused.c ---- */

/* What would show that the program saw that a function failed. */
typedef enum gphi_libgph_sort {
    GPHI_LIBGPH_MEMORY, /* it allocates: memory from elsewhere */
    GPHI_LIBGPH_CHANGE, /* it binds, sets, updates: another executable */
    GPHI_LIBGPH_RUN,    /* it launches: kernels, another graph */
    GPHI_LIBGPH_MAKE,   /* it records, makes: kernels, another capture */
    GPHI_LIBGPH_OTHER
} gphi_libgph_sort;

typedef struct gphi_libgph_refusal {
    gphi_call at, used; /* used: what went on as if it had succeeded; number 0: nothing */
    char function[64], said[256];
    gph_status status;
    gphi_libgph_sort sort;
    bool is_open; /* nothing has shown yet what the program did about it */
    bool is_left; /* at the end: nothing of its thread succeeded after it */
    uint64_t more;
} gphi_libgph_refusal;

void gphi_libgph_refused_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_refused_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_refused_end(gphi_rule_run *run);

/* ---- libgph_slots.c ---- */

typedef struct gphi_libgph_slot {
    uint64_t table, index;
    char name[64];
    uint64_t kind, buffer, bytes, there; /* as GPHI_NOTE_SLOT */
    gphi_call bound, written, launched;
    uint64_t binds, launches; /* launches since it was bound that use it */
    uint64_t stale;           /* of these, with contents written since the copy */
    bool is_read;             /* a node of a graph that was launched has its address */
    bool is_unsure;           /* it may be read where nobody sees it */
} gphi_libgph_slot;

void gphi_libgph_slots_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_rebind_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_unread_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_unread_end(gphi_rule_run *run);
void gphi_libgph_bypass_call(gphi_rule_run *run, const gphi_seen *seen);

/* ---- libgph_memory.c ---- */

typedef struct gphi_libgph_memory {
    gphi_map by_address; /* of blocks in use, in `blocks` */
    gphi_vec blocks, gone, inside;
    /* where blocks lie that were freed in their capture and that others got; until 0: none */
    uint64_t passed_from, passed_until;
} gphi_libgph_memory;

void gphi_libgph_memory_init(gphi_rule_run *run);
void gphi_libgph_memory_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_memory_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_memory_end(gphi_rule_run *run);
void gphi_libgph_memory_fini(gphi_rule_run *run);

/* ---- libgph_past.c ---- */

void gphi_libgph_past_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_past_call(gphi_rule_run *run, const gphi_seen *seen);

/* Of an executable that libgph keeps up to date. */
typedef struct gphi_libgph_tracked {
    uint64_t exec;
    gphi_call tracked,
        edited; /* edited: by no function of libgph, since the last update */
} gphi_libgph_tracked;

/* ---- libgph_objects.c ---- */

enum { GPHI_LIBGPH_KEYS = 64, GPHI_LIBGPH_PLACES = 16 };

/* lazy, sizes, kept: as GPHI_NOTE_CACHE_MADE has them */
typedef struct gphi_libgph_cache {
    uint64_t cache, lazy, sizes, kept;
    char name[64];
    gphi_call made, missed; /* missed: the first time */
    uint64_t misses;
    bool is_used;                    /* a key was captured or replayed */
    const gphi_exec_state *launched; /* by the call that is about to be noted */
    uint64_t most[GPHI_LIBGPH_KEYS]; /* size that a key was asked for */
} gphi_libgph_cache;

typedef struct gphi_libgph_function {
    uint64_t tree, function;
    char name[64];
    gphi_call added, recorded;
    uint32_t count;
    struct {
        uint64_t address, refilled;
    } places[GPHI_LIBGPH_PLACES]; /* of its static input, each with a recording */
} gphi_libgph_function;

/* Of a recipe that was loaded: where it was recorded, as the caller did not place it. */
typedef struct gphi_libgph_range {
    uint64_t address, bytes;
    char name[64];
    gphi_call loaded;
} gphi_libgph_range;

void gphi_libgph_idle_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_idle_end(gphi_rule_run *run);
void gphi_libgph_padding_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_padding_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_moves_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_libgph_moves_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_moves_end(gphi_rule_run *run);
void gphi_libgph_unplaced_event(gphi_rule_run *run, const gphi_event *event);
void gphi_libgph_unplaced_end(gphi_rule_run *run);
#endif
