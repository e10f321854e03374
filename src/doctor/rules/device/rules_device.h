// SPDX-License-Identifier: Apache-2.0
/* Rules device.*: graphs that decide and launch on the device. What a kernel does there no
 * call says; but a kernel can only use what it was given, and handles are given as
 * arguments. So the rules remember which kernel was given which handle:
 *
 *   conditional handle   which graph's, its node, whether any kernel was given it
 *   device graph         uploaded, edited since; which graphs' kernels were given it
 *   device node          which kernel was given it, and whether that was launched
 *
 * A handle that comes to the device in memory is not seen: then nothing is said, unless
 * softcuda's check mode says it, which knows. */
#ifndef GPHI_DOCTOR_RULES_DEVICE_H
#define GPHI_DOCTOR_RULES_DEVICE_H
#include "doctor/history/history.h"
#include "doctor/rules/rules.h"

/* Rows of the table, in its order. */
enum {
    DEVICE_NOT_UPLOADED,
    DEVICE_STALE_UPLOAD,
    DEVICE_STILL_RUNNING,
    DEVICE_TOO_MANY,
    DEVICE_SELF_LAUNCH,
    DEVICE_OUTSIDE,
    DEVICE_NEVER_SET,
    DEVICE_FOREIGN_HANDLE,
    DEVICE_BODY_NODE,
    DEVICE_SECOND,
    DEVICE_OVERWRITTEN,
    DEVICE_ENDLESS,
    DEVICE_UNORDERED,
    DEVICE_BRANCH_BESIDE,
    DEVICE_NO_BODY
};

/* Of each of the lists below: a program that makes more is looked at no further. */
enum { DEVICE_ITEMS_MAX = 4096 };

/* A conditional handle. */
typedef struct device_condition {
    uint64_t handle;
    uint64_t graph; /* that it was made for: the outermost; 0: that is gone */
    uint32_t initial, type;
    bool assigns, has_node;
    bool is_in_memory; /* it may have come to the device by a copy */
    bool is_told;
    gphi_call created, node, given; /* given: to a kernel; number 0: to none */
    uint64_t given_graph;           /* the graph, or body, that this kernel is in, or 0 */
    uint32_t setters;               /* kernels that were given it */
    const gphi_exec_state *exec;    /* made of the graph, or NULL */
    uint64_t launched;              /* number of that one's last launch, or 0 */
    bool has_work;                  /* something was added to a body of its node */
} device_condition;

/* An executable that kernels may launch. */
typedef struct device_exec {
    gphi_exec_state *exec;
    bool is_uploaded;
    gphi_call edited; /* by the host since it was uploaded; number 0: not */
} device_exec;

/* A kernel that was given an executable: a node of a graph, or of a capture that becomes
 * one, and then of what was instantiated of it. */
typedef struct device_use {
    gphi_call call;
    uint64_t capture, graph;     /* one of them, else 0 */
    const gphi_exec_state *from; /* or this one's node */
    uint64_t target;             /* handle of the executable */
    bool is_forgotten; /* the next argument says: into the fire and forget stream */
} device_use;

/* A kernel node that kernels may change. */
typedef struct device_node {
    uint64_t handle; /* CUgraphDeviceNode */
    uint64_t node, graph;
    gphi_call made;
    gphi_call given; /* the kernel that was given it; number 0: none */
    uint64_t given_graph, given_capture; /* of that kernel */
    const gphi_exec_state *changer;      /* that has that kernel, or NULL */
    gphi_call
        changed; /* the launch in which it ran last, unless the host has set the node
                          since */
    const gphi_exec_state *exec; /* that has the node, or NULL */
} device_node;

/* A body, or a body's body, and the graph that it is in. */
typedef struct device_body {
    uint64_t body, graph;
    uint64_t handle; /* of its node */
} device_body;

/* A node that was added to a body and may not stand in one. */
typedef struct device_stranger {
    uint64_t graph, node; /* the outermost graph */
    gphi_call call;
} device_stranger;

/* A SWITCH node. */
typedef struct device_switch {
    uint64_t node;
    uint32_t bodies;
    bool has_first; /* its body 0 ran */
    gphi_call made;
    gphi_call came;         /* what wrote the number that its setter reads, or number 0 */
    gphi_call given;        /* its setter */
    uint64_t times, misses; /* misses: a number that no body has */
    uint64_t value;         /* the first of these numbers */
} device_switch;

typedef struct device_state {
    gphi_vec conditions, execs, uses, nodes, bodies, strangers, switches;
    gphi_draft *failed; /* the last instantiation that gave nothing, and whose it was */
    uint32_t failed_thread;
    gphi_draft *endless; /* the last loop that softcuda said does not end, or NULL */
    gphi_draft *beside;  /* the last launch by the host beside one by a kernel, or NULL */
    const gphi_exec_state *beside_of;
} device_state;

/* A finding of row `rule`; as gphi_finding_begin(). */
gphi_draft *device_begin(const gphi_rule_run *run, uint32_t rule, const gphi_call *at,
                         uint64_t key);
gphi_draft *device_begin_any(const gphi_rule_run *run, uint32_t rule, const gphi_call *at,
                             uint64_t key, bool *is_new);

/* The node that a call made; GPH_NODE_NONE: it is in a body, or not known. */
uint32_t device_made_by(const gphi_snapshot *snapshot, const gphi_call *call);
/* As evidence: the node that a call has added, with its number and region, as the newest
 * executable has it; where none has it, the call. */
void device_put_node(const gphi_rule_run *run, gphi_draft *draft, const gphi_call *added);

/* The outermost graph that a graph is a body in; itself where it is none. */
uint64_t device_root(const device_state *state, uint64_t graph);

/* The graph that a call adds a node to: its argument, or what it captures into; 0: not known
 * yet. */
uint64_t device_graph_of(const gphi_seen *seen);

/* A new item at the end; NULL: too many, or no memory. */
void *device_add(gphi_rule_run *run, gphi_vec *list);

/* Each word of 8 bytes that a kernel launch or node passes. `next`: the word after it in
 * the kernel's arguments, 0 where there is none. */
typedef void device_word_fn(gphi_rule_run *run, const gphi_seen *seen, uint64_t word,
                            uint64_t next);
void device_words(gphi_rule_run *run, const gphi_seen *seen, device_word_fn *on_word);

/* device_body.c */
void device_body_call(gphi_rule_run *run, const gphi_seen *seen);

/* device_condition.c */
const char *device_say_type(uint32_t type);
/* The newest handle of that number; graph 0: of any. */
device_condition *device_condition_of(const device_state *state, uint64_t graph,
                                      uint64_t handle);
void device_condition_call(gphi_rule_run *run, const gphi_seen *seen);
void device_condition_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word);
void device_condition_said(gphi_rule_run *run, const char *text);

/* device_endless.c */
void device_endless_launch(gphi_rule_run *run, const gphi_seen *seen);
void device_endless_end(gphi_rule_run *run);

/* device_launch.c */
const device_use *device_use_of(const device_state *state, const gphi_exec_state *from);
void device_launch_call(gphi_rule_run *run, const gphi_seen *seen);
void device_launch_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word,
                        uint64_t next);
void device_launch_said(gphi_rule_run *run, const char *text);

/* device_switch.c */
void device_switch_call(gphi_rule_run *run, const gphi_seen *seen);
void device_switch_event(gphi_rule_run *run, const gphi_event *event);
void device_switch_end(gphi_rule_run *run);

/* device_node.c */
void device_node_call(gphi_rule_run *run, const gphi_seen *seen);
void device_node_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word);
#endif
