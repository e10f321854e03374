// SPDX-License-Identifier: Apache-2.0
/* The rules launch.*, over several files: rules_launch.c has the table and what a failing
 * call reports by itself, launch_order.c what runs beside what,
 * launch_fault.c errors that come with a later call, and operands that are gone,
 * launch_standing.c how far a replay was. */
#ifndef GPHI_DOCTOR_RULES_LAUNCH_H
#define GPHI_DOCTOR_RULES_LAUNCH_H
#include "doctor/findings/rule.h"
#include "doctor/history/history.h"
#include "doctor/model/call_kinds.h"
#include <gph/sentinel.h>

/* ---- launch_common.c ---- */

/* A launch, or another use of an executable; `made` separates executables that have
 * the same place one after the other. */
typedef struct gphi_launch_use {
    gphi_call call;
    gphi_exec_state *exec;
    const gphi_stream *stream;
    uint64_t made, work;
    uint64_t node; /* that the call set, or 0 */
} gphi_launch_use;

enum { GPHI_LAUNCH_USES = 48, GPHI_LAUNCH_PAIRS = 32 };

typedef struct gphi_launch_uses {
    gphi_launch_use recent[GPHI_LAUNCH_USES];
    uint32_t next;
} gphi_launch_uses;

/* Notes a use; the one that lies `back` uses after the last, or NULL. */
void gphi_launch_keep(gphi_launch_uses *uses, const gphi_seen *seen);
const gphi_launch_use *gphi_launch_at(const gphi_launch_uses *uses, uint32_t back);

/* Whether the address was memory and is none any more. */
bool gphi_launch_is_gone(const gphi_model *model, uint64_t address);

/* Addresses that a node may use: of a copy both sides, of a kernel each argument of 8
 * bytes. 0 where the nth is none. */
uint32_t gphi_launch_operand_count(const gph_node *node);
uint64_t gphi_launch_operand_at(const gph_node *node, uint32_t nth);
/* The first of them that is gone; 0: none. */
uint64_t gphi_launch_gone_operand(const gphi_model *model, const gph_node *node);

/* ---- launch_order.c ---- */

/* What is known of two executables: whether they write into each other. */
typedef struct gphi_launch_pair {
    uint64_t a, b; /* when they were made */
    const gphi_snapshot *holds_a, *holds_b;
    uint64_t address;   /* 0: they do not */
    bool is_written;    /* a kernel of one has no other address: it writes there */
    bool is_concluded;  /* that one writes there: nobody else has */
    uint32_t count;     /* overlaps seen */
    gphi_call reported; /* the launch at which it was reported */
} gphi_launch_pair;

typedef struct gphi_launch_overlaps {
    gphi_launch_uses uses;
    gphi_launch_pair pairs[GPHI_LAUNCH_PAIRS];
    uint32_t next_pair;
} gphi_launch_overlaps;

typedef struct gphi_launch_waits {
    struct {
        uint64_t made;
        uint32_t count;
    } waits[GPHI_LAUNCH_PAIRS];
    uint32_t next;
} gphi_launch_waits;

void gphi_launch_overlap(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_serialised(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_used(gphi_rule_run *run, const gphi_seen *seen);

/* ---- launch_fault.c ---- */

typedef struct gphi_launch_faults {
    gphi_launch_uses uses;
    gphi_draft *draft; /* of the error that is being reported */
    bool is_over;      /* the context is dead */
    char said[320];    /* of a kernel, by the driver */
} gphi_launch_faults;

void gphi_launch_fault(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_fault_event(gphi_rule_run *run, const gphi_event *event);

/* ---- launch_nodes.c ---- */

/* A node that was taken out of a graph, or an edge: what it lay between is not ordered by it
 * any more. Or an edge that was added. */
typedef struct gphi_launch_cut {
    uint64_t graph, made; /* made: number of the call that made the graph */
    uint64_t from, to;    /* nodes; of an edge that was added, else 0 */
    gphi_call call;
} gphi_launch_cut;

/* Before its second launch: one node read what only another after it writes. */
typedef struct gphi_launch_turned {
    const gphi_exec_history *exec;
    uint64_t created;        /* of the executable */
    uint32_t reader, writer; /* of its touches */
} gphi_launch_turned;

enum { GPHI_LAUNCH_TURNED = 16 };

typedef struct gphi_launch_edges {
    gphi_vec cuts;
    uint32_t turned_count;
    gphi_launch_turned turned[GPHI_LAUNCH_TURNED];
} gphi_launch_edges;

void gphi_launch_nodes_init(gphi_rule_run *run);
void gphi_launch_nodes_fini(gphi_rule_run *run);
void gphi_launch_nodes(gphi_rule_run *run, const gphi_seen *seen);

/* ---- launch_event.c ---- */

/* An event that was waited for, or recorded. */
typedef struct gphi_launch_awaited {
    uint64_t event;
    uint64_t made;                  /* number of the call that made it */
    bool is_recorded, is_kept;      /* kept: waited for when it had been recorded */
    gphi_call wait, record, writer; /* of the first wait without; number 0: none */
    uint64_t after;                 /* the last work before that wait */
    const gphi_stream *stream;      /* that waits */
    uint64_t address;               /* written too late */
    gphi_call asked, launch; /* the host's first wait without, and the launch before it */
    uint64_t times;          /* of such waits, each after another launch */
} gphi_launch_awaited;

void gphi_launch_event(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_event_end(gphi_rule_run *run);

/* ---- launch_late.c ---- */

/* An event that the host waits for, and the launch that it was recorded before. */
typedef struct gphi_launch_late {
    uint64_t event, made;
    gphi_call record, launch, wait;
    const gphi_stream *stream;
    gphi_exec_state *exec;
    uint64_t late, idle, kept; /* waits that miss a launch; those of an event that nothing
                                  came before; waits that do not miss it */
    bool is_idle, is_timing;
} gphi_launch_late;

void gphi_launch_late_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_late_end(gphi_rule_run *run);

/* ---- launch_operand.c ---- */

/* What an executable uses and what was freed or destroyed. */
typedef struct gphi_launch_gone {
    gphi_exec_state *exec;
    uint64_t made;
    uint64_t start, end; /* of memory; else: a handle, 0 */
    bool is_code;        /* of a module or library, not of an event */
    uint32_t node;
    gphi_call call;
} gphi_launch_gone;

void gphi_launch_operand(gphi_rule_run *run, const gphi_seen *seen);
/* A launch that never returned. */
void gphi_launch_operand_unreturned(gphi_rule_run *run, const gphi_seen *seen);

/* ---- launch_crash.c ---- */

enum { GPHI_LAUNCH_INSIDE = 16 };

typedef struct gphi_launch_crash {
    uint32_t count, threads;
    uint32_t silent; /* the newest thread, if it has made no call */
    gphi_call calls[GPHI_LAUNCH_INSIDE];
    gphi_dead dead[GPHI_LAUNCH_INSIDE];
} gphi_launch_crash;

void gphi_launch_unreturned(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_crash_event(gphi_rule_run *run, const gphi_event *event);
void gphi_launch_crash_end(gphi_rule_run *run);

/* launch.crash-elsewhere */
typedef struct gphi_launch_elsewhere {
    gphi_call last; /* that returned and was recorded; number 0: none */
    bool is_inside; /* a thread was, of a call */
    uint32_t threads;
} gphi_launch_elsewhere;

void gphi_launch_elsewhere_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_elsewhere_unreturned(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_elsewhere_event(gphi_rule_run *run, const gphi_event *event);
void gphi_launch_elsewhere_end(gphi_rule_run *run);

/* ---- launch_standing.c ---- */

/* How far each node of an executable was; false: that is not known. */
bool gphi_launch_put_standing(gphi_draft *draft, const gphi_exec_state *exec);
/* A gph_node_state. */
gph_node_state gphi_launch_node_state(const gphi_exec_state *exec, uint32_t node);

/* ---- launch_hang.c ---- */

typedef struct gphi_launch_hang {
    gphi_call call;  /* that hung; number 0: not seen yet */
    uint64_t stream; /* that it waits for; valid if `has_stream` */
    bool has_stream;
    uint32_t count;
    gphi_call others[GPHI_LAUNCH_INSIDE];
} gphi_launch_hang;

void gphi_launch_hang_unreturned(gphi_rule_run *run, const gphi_seen *seen);
void gphi_launch_hang_end(gphi_rule_run *run);
#endif
