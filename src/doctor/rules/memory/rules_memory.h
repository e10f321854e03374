// SPDX-License-Identifier: Apache-2.0
/* The rules of memory.*, by file. */
#ifndef GPHI_DOCTOR_RULES_MEMORY_H
#define GPHI_DOCTOR_RULES_MEMORY_H
#include "doctor/history/history.h"

/* ---- what rules remember ---- */

/* A copy to the host of what a graph writes. */
typedef struct gphi_output_read {
    gphi_exec_history *exec;
    gphi_call call;
    uint64_t address, bytes, host;
    uint64_t launches, fresh; /* of the executable, since it was read before */
} gphi_output_read;

/* Of memory.output-overwritten. */
typedef struct gphi_output_state {
    gphi_vec reads;  /* first: of gphi_output_read */
    gphi_vec kept;   /* memory_kept.c's */
    gphi_vec added;  /* memory_added.c's */
    gphi_vec inside; /* memory_kept.c's: blocks of libgph's pools, freed while captured */
} gphi_output_state;

/* A launch whose input may be old: what came from the host went elsewhere. */
typedef struct gphi_suspect {
    gphi_exec_history *exec;
    gphi_call launch, upload, input_call;
    uint64_t address, bytes, number; /* of what came; its allocation's number */
    gphi_allocation *memory;
    uint64_t input; /* where the graph reads */
    uint32_t uses;  /* kernels that were given what came, since the launch */
    bool is_anew;   /* the allocator gave its memory out again before anybody read it */
    bool is_unused; /* what came, until the end */
} gphi_suspect;

/* Of memory.input-not-refreshed. */
typedef struct gphi_input_state {
    gphi_vec suspects;     /* first: of gphi_suspect */
    gphi_vec made, places; /* memory_moved.c's */
    uint64_t made_next;    /* that gives way */
} gphi_input_state;

/* Of memory.input-race: kernels outside graphs that must write where they point. */
enum { GPHI_KERNEL_WRITES = 32 };
typedef struct gphi_kernel_writes {
    gphi_work items[GPHI_KERNEL_WRITES]; /* the last; `write`: that address */
    uint64_t count;
} gphi_kernel_writes;

/* Memory that a stream allocates, as long as the host has not waited for it. */
typedef struct gphi_pending {
    gphi_allocation *memory;
    uint64_t number, work; /* of the allocation */
} gphi_pending;
void gphi_rule_elsewhere(gphi_rule_run *run, const gphi_seen *seen);

/* Memory that a thread allocated while it had a capture open. */
typedef struct gphi_workspace {
    gphi_allocation *memory;
    uint64_t number;
    gphi_call made, begin; /* of it, and of the capture */
} gphi_workspace;

typedef struct gphi_trim_state {
    uint64_t allocations; /* outside graphs, from any pool */
    uint64_t trimmed;     /* number of the last trim of graph memory */
} gphi_trim_state;

void gphi_rule_graph_memory_leak_call(gphi_rule_run *run, const gphi_seen *seen);

/* memory_order.c: who reads when */
void gphi_rule_read_before_done(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_host_read(gphi_rule_run *run, const gphi_event *event);
void gphi_rule_input_race(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_output_overwritten(gphi_rule_run *run, const gphi_seen *seen);

/* memory_kept.c */
void gphi_rule_output_init(gphi_rule_run *run);
void gphi_rule_output_kept(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_output_end(gphi_rule_run *run);
void gphi_rule_output_event(gphi_rule_run *run, const gphi_event *event);
/* Where a capture gave back, to one of libgph's pools, the memory at that address, so that
 * what is captured later may get it; NULL: nowhere. */
const gphi_call *gphi_freed_inside(const gphi_rule_run *run, uint64_t address);
void gphi_rule_output_fini(gphi_rule_run *run);

/* memory_added.c */
void gphi_added_init(gphi_rule_run *run);
void gphi_added_note(gphi_rule_run *run, const gphi_touch *pointers, uint32_t count,
                     const gphi_call *call);
void gphi_added_end(gphi_rule_run *run);

/* memory_moved.c */
void gphi_rule_input_init(gphi_rule_run *run);
void gphi_rule_input_moved(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_input_moved_end(gphi_rule_run *run);
void gphi_rule_input_fini(gphi_rule_run *run);

/* memory_block.c: tensors of PyTorch */
typedef struct gphi_block_state {
    gphi_map indices;             /* of blocks in use, by address, in `live` */
    gphi_map addresses;           /* of blocks that are watched */
    gphi_map private_segments;    /* that captures were given memory of */
    gphi_vec live, watched, gone; /* memory_block.c's; gone: watched ones given back */
    gphi_vec dropped;             /* memory_private.c's */
    int64_t captures;             /* open */
    bool has_told_shared;
} gphi_block_state;
void gphi_rule_block_init(gphi_rule_run *run);
void gphi_rule_block_event(gphi_rule_run *run, const gphi_event *event);
void gphi_rule_block_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_block_end(gphi_rule_run *run);
void gphi_rule_block_fini(gphi_rule_run *run);

/* memory_private.c: tensors in the pools of graphs; born: the number of the last call before it
 * was given out */
void gphi_private_init(gphi_rule_run *run);
void gphi_private_fini(gphi_rule_run *run);
/* One that is in use has been read outside graphs. */
void gphi_private_read(gphi_rule_run *run, const gphi_seen *reader, uint64_t address,
                       uint64_t born);
void gphi_private_given_back(gphi_rule_run *run, const gphi_event *event, uint64_t bytes,
                             uint64_t born);
void gphi_private_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_private_end(gphi_rule_run *run);

/* memory_input.c */
void gphi_rule_input_not_refreshed(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_input_not_refreshed_end(gphi_rule_run *run);

/* memory_staging.c: host memory that copies read */
typedef struct gphi_staging_state {
    gphi_vec staged;    /* memory_staging.c's */
    uint64_t signalled; /* last work after which the host may know of it without a wait */
    bool is_ordered;    /* the host may write in the order of a stream */
    gphi_call last[16]; /* of threads, each one's last call, where they fall */
} gphi_staging_state;
void gphi_rule_staging_init(gphi_rule_run *run);
void gphi_rule_staging_event(gphi_rule_run *run, const gphi_event *event);
void gphi_rule_staging(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_staging_fini(gphi_rule_run *run);

/* memory_size.c: how much, and for how long */
void gphi_rule_pool_per_graph(gphi_rule_run *run);
void gphi_rule_allocations_never_freed(gphi_rule_run *run);
void gphi_rule_graph_memory_leak(gphi_rule_run *run);
void gphi_rule_leak_at_exit(gphi_rule_run *run);
void gphi_rule_wrong_trim(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_workspace(gphi_rule_run *run, const gphi_seen *seen);

/* memory_reserved.c */
typedef struct gphi_reserved_state {
    gphi_call destroyed; /* the last executable that allocated */
    uint64_t bytes;      /* the most that one of them had; 0: none, or trimmed */
    uint64_t others;     /* allocations outside graphs since then */
} gphi_reserved_state;
void gphi_rule_graph_memory_kept_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_graph_memory_kept_end(gphi_rule_run *run);

/* cache_class.c: executables of one class over time */
void gphi_rule_executable_growth(gphi_rule_run *run);
void gphi_rule_shape_explosion(gphi_rule_run *run);
void gphi_rule_instantiate_per_launch(gphi_rule_run *run);

/* rules_nccl.c: a thread that NCCL or the process group around it has named. */
bool gphi_is_nccl_thread(const gphi_model *model, uint32_t id);

#endif
