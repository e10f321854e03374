// SPDX-License-Identifier: Apache-2.0
/* What the files of the rules capture.* share.
 *
 * A capture that fails has one first cause; what fails later because of it is folded
 * under it. So these rules are one: gphi_rules_capture[0] sees every call, keeps a watch
 * of each open capture, judges each failing call once and reports it under the one rule
 * that fits (an incident). The table's other entries have an id and a severity only. */
#ifndef GPHI_DOCTOR_RULES_CAPTURE_H
#define GPHI_DOCTOR_RULES_CAPTURE_H
#include "doctor/findings/rule.h"
#include "doctor/model/call_kinds.h"

/* ---- the matrix ---- */

typedef enum gphi_call_class {
    GPHI_CLASS_SAFE,     /* does nothing to captures */
    GPHI_CLASS_UNSAFE,   /* forbidden by the modes of captures and threads */
    GPHI_CLASS_CONTEXT,  /* concerns all streams of a context: never while one captures */
    GPHI_CLASS_WORK,     /* goes to a stream: captured, or run */
    GPHI_CLASS_PROPERTY, /* asks a stream what it is */
    GPHI_CLASS_CONTROL,  /* begins, edits, ends a capture */
    GPHI_CLASS_SYNC,     /* uses and waits for the default stream */
    GPHI_CLASS_WAIT,     /* waits for a stream: never one that captures, else unsafe */
    GPHI_CLASS_MEMORY,   /* captured by a stream that captures, else unsafe */
    GPHI_CLASS_REFUSED,  /* goes to a stream, cannot be captured: ends the capture */
    GPHI_CLASS_ATTACH,   /* the same; on other streams unsafe */
    GPHI_CLASS_DROPPED,  /* cannot be captured: the capture goes on without it */
    GPHI_CLASS_ASK,      /* asks a stream about its capture */
    GPHI_CLASS_EVENT,    /* waits for an event: never a captured one, else unsafe */
    GPHI_CLASS_TIME      /* asks two events for their times: never captured ones */
} gphi_call_class;

typedef enum gphi_call_target {
    GPHI_TARGET_OTHER,     /* a stream or event that no capture has, or none at all */
    GPHI_TARGET_CAPTURING, /* a stream that captures, an event that was captured */
    GPHI_TARGET_LEGACY     /* the legacy stream */
} gphi_call_target;

enum { GPHI_MODE_GLOBAL, GPHI_MODE_THREAD_LOCAL, GPHI_MODE_RELAXED };

/* A cell of the matrix. */
typedef struct gphi_capture_cell {
    gphi_call_class class;
    gphi_call_target target;
    bool is_same_thread; /* the caller began the capture */
    bool is_blocking;    /* a stream of the capture waits for the legacy stream */
    uint32_t mode;       /* of the capture */
    uint32_t caller;     /* of the calling thread (cuThreadExchangeStreamCaptureMode) */
} gphi_capture_cell;

gphi_call_class gphi_capture_class(uint32_t call);

/* What the call returns there: CUDA_SUCCESS, or 900, 906, 907. */
int32_t gphi_capture_verdict(const gphi_capture_cell *cell);

/* "global", "thread-local", "relaxed" */
const char *gphi_capture_mode_name(uint32_t mode);

/* ---- the rules, in the order of the table ---- */

typedef enum gphi_capture_rule {
    GPHI_RULE_UNSAFE_CALL,
    GPHI_RULE_OTHER_THREAD,
    GPHI_RULE_LEGACY_STREAM,
    GPHI_RULE_ISOLATION,
    GPHI_RULE_UNJOINED_FORK,
    GPHI_RULE_MERGE,
    GPHI_RULE_BEGIN_ON_LEGACY,
    GPHI_RULE_CAPTURED_EVENT,
    GPHI_RULE_EVENT_AFTER,
    GPHI_RULE_UNMATCHED_END,
    GPHI_RULE_WRONG_THREAD_END,
    GPHI_RULE_NEVER_ENDED,
    GPHI_RULE_SILENT_DROP,
    GPHI_RULE_INVALID_WORK,
    GPHI_RULE_ESCAPE,
    GPHI_RULE_EMPTY_GRAPH,
    GPHI_RULE_MISSING_WARM_UP,
    GPHI_RULE_DESTRUCTOR,
    GPHI_RULE_SYNCHRONIZE,
    GPHI_RULE_HOST_POINTER,
    GPHI_RULE_WRONG_DEVICE,
    GPHI_RULE_GRAPH_LAUNCH,
    GPHI_RULE_CAPTURE_COUNT,
    /* of other tables, which report what is not reported here */
    GPHI_RULE_DURING_CAPTURE = GPHI_RULE_CAPTURE_COUNT, /* instantiate.during-capture */
    GPHI_RULE_WATCHDOG                                  /* nccl.watchdog-query */
} gphi_capture_rule;

/* ---- what is remembered ---- */

enum { GPHI_ALSO_MAX = 6 };

/* A first cause and what became of it. */
typedef struct gphi_incident {
    gphi_draft *draft;
    gphi_draft *fresh; /* `draft` if it was reported just now, for its words; else NULL */
    gphi_capture_rule rule;
    gphi_call root;
    uint64_t site;     /* of the root call, or 0 */
    uint32_t captures; /* that it broke */
    uint32_t handled;  /* of them, whose work the program ran eagerly afterwards */
    uint32_t noticed;  /* later failures */
    uint32_t also;     /* other illegal calls, folded under it */
    uint64_t also_keys[GPHI_ALSO_MAX];
    gphi_call later[16]; /* the first of what was noticed */
    bool is_misused;     /* the program used what the capture should have given */
    bool is_root_again;  /* the root's thread made the call again, and it held */
    bool is_other_thread;
    bool is_seen; /* a 901 was reported */
} gphi_incident;

/* Work that ran while its thread captured something else. */
typedef struct gphi_escaped {
    gphi_call call;
    const gphi_stream *stream;
    uint64_t context;
    uint64_t touched[8]; /* addresses of allocations */
    uint32_t touched_count;
    uint32_t nodes_before; /* captured until then */
    bool is_kernel, is_unknown;
} gphi_escaped;

/* Work that a capture was to have. */
typedef struct gphi_tried {
    uint64_t signature;
    bool is_run; /* eagerly, since the capture failed */
} gphi_tried;

/* A capture that is watched: from its begin until its failure was handled, or the end. */
typedef struct gphi_watch {
    gphi_capture *capture;
    uint64_t begun;          /* number of the call that began it */
    gphi_incident *incident; /* that ended it, or NULL */
    gphi_incident *dropped;  /* the first refusal that did not end it, or NULL */
    gphi_draft *left_open;   /* it was left, and begun again, before it broke; or NULL */
    uint64_t dropped_work;   /* its signature */
    gphi_vec early;          /* of gphi_call: failures before their cause was seen */
    gphi_vec tried;          /* of gphi_tried */
    gphi_vec escaped;        /* of gphi_escaped */
    gphi_map touched;        /* allocations by address */
    uint64_t context;        /* of its stream, or 0 */
    uint64_t last_own;       /* number of its thread's last call while it was open */
    uint64_t work_before;    /* gphi_model.work_count when it began */
    uint32_t nodes;          /* captured */
    uint32_t loads;          /* modules, libraries, functions got since the last work */
    gphi_call load;          /* the first */
    gphi_call within; /* the first begin that was refused on its stream, further in */
    uint32_t withins;
    bool is_over, is_handled, is_told;
} gphi_watch;

/* A loaded file. */
typedef struct gphi_loaded {
    uint64_t start, end;
    bool is_library, is_cuda, is_nccl, is_libc;
    bool is_binding; /* of Python: all calls of a kind come from one place in it */
} gphi_loaded;

/* A captured copy from or to host memory. */
typedef struct gphi_host_copy {
    gphi_call call;
    const gphi_capture *capture;
    uint64_t begun; /* number of the call that began it */
    gphi_host_bytes first;
    const gphi_allocation *memory; /* pinned, registered, managed; or NULL */
    bool is_told;
} gphi_host_copy;

enum { GPHI_CAPTURE_MAPS = 5 };

typedef struct gphi_capture_state {
    gphi_map contexts;  /* thread -> current context */
    gphi_map owners;    /* module, function, memory -> context it was made in */
    gphi_map sites;     /* call site -> calls that held there */
    gphi_map stacks;    /* stack -> index of its count in `frames` */
    gphi_map reported;  /* begins (call numbers) of captures whose graph was reported */
    gphi_vec watches;   /* of gphi_watch *: open ones and those that failed */
    gphi_vec incidents; /* of gphi_incident * */
    gphi_vec frames;    /* of uint64_t: count, then addresses, innermost first */
    gphi_vec modules;   /* of gphi_loaded */
    gphi_vec hosts;     /* of gphi_host_copy */
    gphi_incident *refused_begin; /* the last, on the legacy stream */
    uint32_t open;                /* watches that are not over */
    bool is_short;                /* of memory */
} gphi_capture_state;

/* ---- capture_watch.c ---- */

/* Tells a first cause. An incident of the same rule and place is counted up. `watch` is
 * the capture it ended, or NULL. NULL without memory. */
gphi_incident *gphi_capture_tell(gphi_rule_run *run, gphi_capture_rule rule,
                                 const gphi_call *root, gphi_watch *watch);
/* The capture ends by this; the watch keeps the cause. NULL: it has one already, or no
 * memory. */
gphi_draft *gphi_first_cause(gphi_rule_run *run, gphi_capture_rule rule,
                             const gphi_seen *seen, gphi_watch *watch);
/* Another finding of these rules, at a call. */
gphi_draft *gphi_capture_find(gphi_rule_run *run, gphi_capture_rule rule,
                              const gphi_call *at, uint64_t key);
/* A later failure that follows from the capture's first cause, which may come yet. */
void gphi_watch_noticed(gphi_watch *watch, const gphi_call *call);
/* Folds what came before its cause did. */
void gphi_watch_settle(gphi_watch *watch);
void gphi_incident_noticed(gphi_incident *incident, const gphi_call *call);
gphi_watch *gphi_watch_of(const gphi_capture_state *state, const gphi_capture *capture);
gphi_watch *gphi_watch_at(const gphi_capture_state *state, size_t index);

/* ---- capture_judge.c: which rule a failing call breaks ---- */

void gphi_capture_judge(gphi_rule_run *run, const gphi_seen *seen);

/* ---- capture_event.c ---- */

void gphi_tell_event_after(gphi_rule_run *run, const gphi_seen *seen,
                           const gphi_cuda_event *event);
/* 907. `event` may be NULL. */
void gphi_tell_captured_event(gphi_rule_run *run, const gphi_seen *seen,
                              const gphi_cuda_event *event);

/* ---- capture_form.c: those that are not of the matrix ---- */

void gphi_tell_begin_on_legacy(gphi_rule_run *run, const gphi_seen *seen);
void gphi_tell_dropped(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch);
void gphi_tell_invalid_work(gphi_rule_run *run, const gphi_seen *seen, gphi_watch *watch);
/* 902, 905 */
void gphi_tell_foreign_event(gphi_rule_run *run, const gphi_seen *seen);
/* 903, 904, 908 */
void gphi_tell_end(gphi_rule_run *run, const gphi_seen *seen);
/* A begin or an end that failed otherwise. */
void gphi_tell_control(gphi_rule_run *run, const gphi_seen *seen);
/* Perhaps the use of a graph or executable that a failed capture did not give. */
void gphi_tell_misuse(gphi_rule_run *run, const gphi_seen *seen);
/* A capture that is open when the program ends, or when its stream begins another. */
void gphi_tell_never_ended(gphi_rule_run *run, gphi_watch *watch, const gphi_call *again);
/* What a begin that was refused in the middle of a capture was, now that its end, NULL:
 * the program's, has come. */
void gphi_tell_within(gphi_rule_run *run, gphi_watch *watch, const gphi_call *end);

/* ---- capture_words.c ---- */

/* "its own global capture of a blocking stream", "the global capture ... by thread 7". */
const char *gphi_say_capture(const gphi_model *model, const gphi_capture *capture,
                             uint32_t caller);
/* Begin site, thread, what was captured until the call. */
void gphi_tell_capture(const gphi_model *model, gphi_draft *draft,
                       const gphi_capture *capture);
/* The cell of the matrix and its neighbors; and the fix that follows from them. */
void gphi_tell_cell(gphi_draft *draft, const gphi_capture_cell *cell,
                    const gphi_call *call);

/* ---- capture_trace.c: stacks, contexts, what calls touch ---- */

void gphi_capture_event(gphi_rule_run *run, const gphi_event *event);
void gphi_capture_contexts(gphi_capture_state *state, const gphi_seen *seen);
uint64_t gphi_capture_context(const gphi_capture_state *state, uint32_t thread);
/* A number for the call and the place it was made at, which of a binding's is the line of
 * Python; 0: unknown. `run`: of a capture rule, whose state has stacks and modules. */
uint64_t gphi_call_site(const gphi_rule_run *run, const gphi_call *call);
/* Whether the frame that made the call lies in a shared library; a binding's calls are the
 * program's own. */
bool gphi_call_by_library(const gphi_capture_state *state, const gphi_call *call);
/* Whether the C library runs the call for the program, as pthread_once() does. */
bool gphi_call_by_once(const gphi_capture_state *state, const gphi_call *call);
/* Whether a frame of the call lies in NCCL. */
bool gphi_call_by_nccl(const gphi_capture_state *state, const gphi_call *call);
/* Whether the function that made the call of stack `a` had not returned at that of `b`,
 * as far as can be seen: the frames outside it are the same. */
bool gphi_caller_is_active(const gphi_rule_run *run, uint32_t a, uint32_t b);
/* How many of the outermost places of two stacks are the same: with functions that were
 * inlined, which have no frame of their own. */
uint32_t gphi_common_places(const gphi_rule_run *run, uint32_t a, uint32_t b);
/* Allocations that the call's arguments point into, at most `room`. *unknown: there may
 * be more. */
uint32_t gphi_call_touches(const gphi_model *model, const gphi_seen *seen,
                           uint64_t *touched, uint32_t room, bool *unknown);
uint64_t gphi_work_signature(const gphi_seen *seen);
bool gphi_call_is_work(uint32_t call);

/* ---- capture_escape.c ---- */

void gphi_escape_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_escape_end(gphi_rule_run *run, gphi_watch *watch, const gphi_seen *seen);
void gphi_escape_made(gphi_rule_run *run, const gphi_seen *seen);

/* ---- capture_host.c ---- */

void gphi_host_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_host_launch(gphi_rule_run *run, const gphi_event *event);
void gphi_host_fini(gphi_rule_run *run);

#endif
