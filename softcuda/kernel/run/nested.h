// SPDX-License-Identifier: Apache-2.0
/* Kernels that launch kernels (dynamic parallelism): what the blocks of a grid launch is
 * written down as they run, and runs when all of them are over, before the grid counts as
 * done. So nothing of it is under way when its parent's node, or place in a stream, is left.
 *
 *   launch ── nested ── items    kernels, copies, records and waits, in the order in which
 *                   │            they came; streams are chains of them
 *                   ├── tails    those of the tail stream: one by one, after the items
 *                   ├── unused   parameters that were asked for, and not launched yet
 *                   ├── objects  streams and events
 *                   └── errors   the last one of each thread that has one
 *
 * A GPU starts children earlier; no program may rely on it, or on two at a time. */
#ifndef SOFT_KERNEL_RUN_NESTED_H
#define SOFT_KERNEL_RUN_NESTED_H

#include <pthread.h>

#include "base/vec.h"
#include "softcuda/kernel/run/launch.h"

/* An H200 went deeper than the 24 levels that the guide names; here each takes some stack. */
#define SOFT_NESTED_DEPTH 512u
/* Errors of the run time, as kernels get them. */
enum {
    SOFT_NESTED_INVALID_VALUE = 1,
    SOFT_NESTED_NO_MEMORY = 2,
    SOFT_NESTED_INVALID_CONFIGURATION = 9,
    SOFT_NESTED_INVALID_PITCH = 12,
    SOFT_NESTED_INVALID_DIRECTION = 21,
    SOFT_NESTED_TOO_DEEP = 65,
    SOFT_NESTED_TOO_MANY = 69,
    SOFT_NESTED_INVALID_DEVICE = 101,
    SOFT_NESTED_UNSUPPORTED_LIMIT = 215,
    SOFT_NESTED_INVALID_CLUSTER = 912
};
/* Streams that are there without having been made; 1 and 2 are the block's own, too. */
enum { SOFT_NESTED_PER_THREAD = 2, SOFT_NESTED_TAIL = 3, SOFT_NESTED_FORGET = 4 };

/* width bytes x height rows x depth planes. */
typedef struct soft_nested_copy {
    uint64_t dst, src;
    uint64_t dst_pitch, src_pitch, dst_slice, src_slice;
    uint64_t width, height, depth;
    bool fills; /* with bytes of `value`, from nowhere */
    uint8_t value;
} soft_nested_copy;

typedef enum soft_nested_kind {
    SOFT_NESTED_KERNEL,
    SOFT_NESTED_COPY,
    SOFT_NESTED_RECORD,
    SOFT_NESTED_WAIT
} soft_nested_kind;

typedef struct soft_nested_item {
    struct soft_nested_item *next;
    soft_nested_kind kind;
    bool is_pending;                /* it counts */
    struct soft_nested_list *tails; /* of its parent, where it is one of them; or NULL */
    const soft_kernel_launch *parent; /* while it runs */
    uint64_t block;                   /* of the parent: linear */
    uint64_t stream;                  /* 0: the block's own; else a handle */
    uint32_t event;                   /* RECORD, WAIT: which object */
    soft_nested_copy copy;
    const soft_kernel_code *code; /* KERNEL */
    uint32_t *cost_ns;
    soft_kernel_dims dims;
    soft_kernel_launch launch;
    size_t bytes;  /* of the item */
    uint32_t room; /* for parameters */
    _Alignas(16) unsigned char params[];
} soft_nested_item;

typedef struct soft_nested_list {
    soft_nested_item *first, **end; /* end: &first where it is empty */
} soft_nested_list;

typedef struct soft_nested_object {
    uint64_t block;
    bool is_event, is_destroyed; /* work may still go to a stream that was destroyed */
    soft_point point;            /* of an event: what was recorded, as it runs */
} soft_nested_object;

typedef struct soft_nested_error {
    uint64_t block;
    uint32_t thread, error;
} soft_nested_error;

struct soft_nested {
    soft_nested *next, *previous; /* all of the env, under its lock */
    pthread_mutex_t lock;         /* what follows */
    soft_nested_list items, tails;
    soft_nested_item *unused;
    gphi_vec objects; /* soft_nested_object */
    uint32_t events;  /* of them, not destroyed */
    gphi_vec errors;  /* soft_nested_error */
    uint32_t serial;  /* in its handles */
};

/* The record of a launch that runs, made when it is first asked for; NULL: no memory. */
soft_nested *soft_nested_of(soft_kernel_launch *launch);
void soft_nested_destroy(soft_kernel_env *env, soft_nested *nested);
void soft_nested_list_init(soft_nested_list *list);
void soft_nested_append(soft_nested_list *list, soft_nested_item *item);
/* Zeroed, with so many bytes of parameters; NULL: no memory. */
soft_nested_item *soft_nested_item_make(soft_kernel_env *env, uint64_t param_bytes);
void soft_nested_item_free(soft_kernel_env *env, soft_nested_item *item);
/* Whether memory is parameters that a block of this launch has asked for. */
bool soft_nested_holds(soft_kernel_launch *launch, uint64_t address, uint64_t bytes);
/* All blocks of the launch are over: runs what they have launched, on the worker that ended
 * the last one, whose own stack this is, and on others of its team. */
void soft_nested_finish(soft_kernel_launch *launch, soft_worker *worker); /* a hook */
/* What launches that met a fault have left. */
void soft_nested_drop_all(soft_kernel_env *env);

#endif
