// SPDX-License-Identifier: Apache-2.0
/* How a rule is written. Rules of one class stand in one file (rules_capture.c, ...) and
 * one table; src/doctor/rules.h lists the tables.
 *
 * A rule is called for every call after the model has seen it, for every call in which
 * the process ended (which changed nothing in the model), and at the end. It keeps what
 * it must remember in `state` (zeroed, its own). It reports a finding by
 * gphi_finding_begin() and fills it with this run's values; title, fix and what does not
 * help come from the knowledge base by the rule's id. */
#ifndef GPHI_DOCTOR_RULE_H
#define GPHI_DOCTOR_RULE_H
#include "doctor/model/model.h"
#include <gph/doctor.h>
#include <gph/explain.h>

typedef struct gphi_draft gphi_draft; /* a finding that is being written */
typedef struct gphi_findings gphi_findings;

typedef struct gphi_rule_run {
    gphi_model *model;
    struct gphi_history *history;         /* of accesses, with the call at hand in it */
    const struct gphi_said *said;         /* by the driver's log, until now */
    struct gphi_collectives *collectives; /* with other ranks, with the record at hand */
    gphi_findings *findings;
    void *state; /* the rule's own */
    const struct gphi_rule *rule;
} gphi_rule_run;

typedef struct gphi_rule {
    const char *id;
    gph_severity severity;
    size_t state_bytes;
    uint32_t map_count; /* `state` begins with so many gphi_map: made and freed for it */
    size_t list_bytes;  /* instead: `state` is a gphi_vec of items of so many bytes */
    bool is_aside;      /* said where nothing is wrong, not beside an error */
    /* any of these may be NULL; `init` is of what `state`, zeroed, holds */
    void (*init)(gphi_rule_run *run);
    void (*call)(gphi_rule_run *run, const gphi_seen *seen);
    void (*unreturned)(gphi_rule_run *run, const gphi_seen *seen);
    void (*event)(gphi_rule_run *run, const gphi_event *event); /* all other records */
    void (*end)(gphi_rule_run *run);
    void (*fini)(gphi_rule_run *run); /* frees what `state` holds */
} gphi_rule;

/* A row of a table of rules, and one of a rule that another row's functions report. */
#define GPHI_RULE(name, level, ...)                                                      \
    {                                                                                    \
        .id = (name), .severity = GPH_SEVERITY_##level, __VA_ARGS__                      \
    }
#define GPHI_RULE_NAME(name, level) GPHI_RULE(name, level, .state_bytes = 0)

/* A finding at the place of `at`. One a (rule, stack of `at`, key): a second only counts
 * and gives NULL, so `if (draft)` before filling. `key` distinguishes what has one stack
 * but is not the same (0 where nothing does). */
gphi_draft *gphi_finding_begin(gphi_rule_run *run, const gphi_call *at, uint64_t key);
/* The same, but gives the finding also when it is reported already (*is_new false), so that
 * the consequences of its second time fold under it as well. NULL: too many, no memory.
 */
gphi_draft *gphi_finding_begin_any(gphi_rule_run *run, const gphi_call *at, uint64_t key,
                                   bool *is_new);

/* All NULL-safe; see the macros below. */
void gphi_cause(gphi_draft *draft, const char *format, ...) GPH_PRINTF(2, 3);
void gphi_evidence(gphi_draft *draft, const char *format, ...) GPH_PRINTF(2, 3);
/* "TEXT: cuX at function (file:line), thread 7 "name"", and its stack below. Nothing of a
 * call that was not seen (number 0). */
void gphi_evidence_call(gphi_draft *draft, const gphi_call *call, const char *format, ...)
    GPH_PRINTF(3, 4);
/* "WHAT: node 3 (memcpy), made by: cuX at ...", of a node of a snapshot. */
void gphi_evidence_node(gphi_draft *draft, const gphi_snapshot *snapshot, uint32_t index,
                        const char *what);
/* "the driver says: SAID"; nothing if that is empty. */
void gphi_evidence_said(gphi_draft *draft, const char *said);
/* A later failure that follows from it: reported under it, and no other rule reports it. */
void gphi_consequence(gphi_draft *draft, const gphi_call *call);
/* Whether a call's failure is reported already (as a cause or a consequence). */
bool gphi_is_told(const gphi_rule_run *run, const gphi_call *call);
/* Adds to the knowledge base's fix a sentence of this case. */
void gphi_fix(gphi_draft *draft, const char *format, ...) GPH_PRINTF(2, 3);
/* Another entry of the knowledge base than the rule's has its title and the rest. */
void gphi_finding_explain(gphi_draft *draft, const gph_explain_entry *entry);
/* A finding that accounts for what the program says at `at`, and is found under `entry`: of
 * a rule that the entry names, or, of a driver's code, the one that reported the last
 * failure before. NULL: there is none. */
gphi_draft *gphi_finding_known(const gphi_rule_run *run, const gphi_call *at,
                               const gph_explain_entry *entry);
/* Another call is its place after all: where what fails at the old one was caused. */
void gphi_finding_move(gphi_draft *draft, const gphi_call *at);
/* Takes a finding back (a benign 910 that is followed by an instantiation). */
void gphi_withdraw(gphi_draft *draft);
/* Tells it as info: the program has coped with it. */
void gphi_soften(gphi_draft *draft);
/* Tells it as an error: it is certain that what is computed is wrong. */
void gphi_harden(gphi_draft *draft);
/* The rule is short of memory: gph_doctor_finish() says so. */
void gphi_short(gphi_rule_run *run);

/* A finding that is not begun needs no words: their values are not worked out. */
#define gphi_cause(draft, ...) ((draft) ? gphi_cause(draft, __VA_ARGS__) : (void)0)
#define gphi_evidence(draft, ...) ((draft) ? gphi_evidence(draft, __VA_ARGS__) : (void)0)
#define gphi_evidence_call(draft, ...)                                                   \
    ((draft) ? gphi_evidence_call(draft, __VA_ARGS__) : (void)0)
#define gphi_fix(draft, ...) ((draft) ? gphi_fix(draft, __VA_ARGS__) : (void)0)

/* Words for a message, in storage of the thread, good for the next dozen of these calls:
 * "cuMemAlloc", "kernel scale_add", ... */
const char *gphi_say(const char *format, ...) GPH_PRINTF(1, 2);
/* The same, into a buffer. */
void gphi_say_into(char *out, size_t bytes, const char *format, ...) GPH_PRINTF(3, 4);
const char *gphi_say_call(const gphi_call *call);
const char *gphi_say_node(const gphi_snapshot *snapshot, uint32_t index);
const char *gphi_say_sort(const gph_node *node); /* "kernel scale_add", "memcpy" */
const char *gphi_say_said(const char *said);     /* ": SAID" by the driver, or "" */
const char *gphi_say_result(int32_t result);     /* "904 CUDA_ERROR_STREAM_CAPTURE_..." */
const char *gphi_say_thread(const gphi_model *model, uint32_t thread);
const char *gphi_say_bytes(uint64_t bytes); /* "1.5 MiB" */
/* "1 node", "3 nodes". */
const char *gphi_say_count(uint64_t count, const char *what);
/* Objects have names that a person knows: "the stream made in step (train.c:41)", or "the
 * 2nd stream ..." of one place. The place is the innermost that no other object of the
 * sort was made in, so that a helper that makes all of them is not it. With the
 * handle, "stream 0x55..", where no place is known. */
const char *gphi_say_stream(const gphi_model *model, const gphi_stream *stream);
const char *gphi_say_exec(const gphi_model *model, const gphi_exec_state *exec);
/* By handle; what was never seen as well. */
const char *gphi_say_graph(const gphi_model *model, uint64_t handle);
const char *gphi_say_event(const gphi_model *model, uint64_t handle);
const char *gphi_say_context(const gphi_model *model, uint64_t handle);
const char *gphi_say_pool(const gphi_model *model, uint64_t handle);
/* "the buffer of 4096 bytes from step (train.c:40) + 128", of what is or was there. */
const char *gphi_say_memory(const gphi_model *model, uint64_t address);
const char *gphi_say_allocation(const gphi_model *model, const gphi_allocation *memory);
/* "function (file:line)" of a call, or "". */
const char *gphi_say_place(const gphi_model *model, const gphi_call *call);
#endif
