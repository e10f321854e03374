// SPDX-License-Identifier: Apache-2.0
/* The runner's state: the driver's calls, and the handle in each slot. */
#ifndef RUN_H
#define RUN_H
#include <stdatomic.h>

#include "differential.h"
#include "tests/driver.h"

/* What a host function works on; lives until the program ends. */
struct host_job {
    unsigned char *cell;
    int32_t p[3];
};

enum { JOBS = 512 };

struct run {
    CUcontext context;
    CUfunction kernels[KERNELS];
    CUdeviceptr buffers[BUFFERS];
    CUstream streams[STREAMS];
    CUevent events[EVENTS];
    CUgraph graphs[GRAPHS], graph_in[GRAPHS]; /* graph_in: whose node owns it */
    CUgraphNode graph_of[GRAPHS];             /* the node that owns it */
    CUgraphNode nodes[NODES];
    CUgraph node_in[NODES];
    CUgraphExec execs[EXECS];
    CUgraph capturing[STREAMS]; /* of captures that began here */
    CUuserObject objects[OBJECTS];
    int32_t object_mine[OBJECTS];
    struct host_job jobs[JOBS];
    int job_count;
};

extern struct run run;
extern atomic_int run_destroyed[OBJECTS];

/* run.c */
int run_slot_of_node(CUgraphNode node);
void run_put_node(int slot, CUgraphNode node, CUgraph graph);
/* Handles that die with it. */
void run_forget_graph(CUgraph graph);
void run_forget_node(CUgraphNode node);
CUdeviceptr run_address(int32_t address);
/* (buffer, offset) of an address, or MISSING. */
int32_t run_where(CUdeviceptr at);

/* run_work.c: parameters of each kind, from a work */
union work_params {
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D memcpy;
    CUDA_MEMSET_NODE_PARAMS memset;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUdeviceptr free;
};
struct built {
    union work_params u;
    void *arguments[4];
    CUdeviceptr addresses[3];
    unsigned value;
    CUstreamBatchMemOpParams operations[4];
};
void run_build(const struct work *work, struct built *out);
void run_generic(const struct work *work, struct built *built, CUgraphNodeParams *out);
CUresult run_on_stream(const struct work *work, CUstream stream);

/* the families */
void run_graph_step(const struct step *step, struct answer *out);
void run_query_step(const struct step *step, struct answer *out);
void run_exec_step(const struct step *step, struct answer *out);
void run_stream_step(const struct step *step, struct answer *out);
void run_memory_step(const struct step *step, struct answer *out);
void run_object_step(const struct step *step, struct answer *out);
void CUDA_CB run_object_destroyed(void *user);

/* which family a step belongs to: as the model has it */
bool op_is_graph(int op);
bool op_is_query(int op);
bool op_is_exec(int op);
bool op_is_object(int op);
bool op_is_memory(int op);
#endif
