// SPDX-License-Identifier: Apache-2.0
/* A program's graphs on a driver. */
#ifndef DIFFERENTIAL_DEVICE_DRIVE_H
#define DIFFERENTIAL_DEVICE_DRIVE_H
#include "program.h"
#include "tests/driver.h"

#define KERNELS_OF(X)                                                                    \
    X(mix)                                                                               \
    X(take)                                                                              \
    X(note)                                                                              \
    X(blocks) X(decide) X(count) X(fire) X(self) X(param) X(enable) X(grid) X(apply)

enum {
    TABLE_EXECS = 0,
    TABLE_NODES = 256,
    TABLE_UPDATES = 1024,
    TABLE_VALUES = 8192,
    TABLE_BYTES = 16384
};

struct drive {
    CUcontext context;
    CUstream stream;
    CUdeviceptr words, table; /* the table is not compared: handles are in it */
    struct {
#define X(name) CUfunction name;
        KERNELS_OF(X)
#undef X
    } kernel;
    /* Of the program that runs. */
    const struct device_program *p;
    struct result *out;
    CUgraph graphs[DEVICE_GRAPHS];
    CUgraphExec execs[DEVICE_GRAPHS];
    CUgraphNode nodes[ITEMS];
    CUgraphConditionalHandle handles[HANDLES];
    unsigned char host_table[TABLE_BYTES];
    int applies, values;
};
extern struct drive drive;

/* Notes the first call that fails; whether this one went well. */
bool drive_check(CUresult code, const char *call);
#define DID(call) drive_check(call, #call)

CUdeviceptr drive_word(int at);
/* Parameters of the kernel of an item; they are kept until the next call. */
const CUDA_KERNEL_NODE_PARAMS *drive_kernel(const struct item *item, uint32_t value);
/* build.c: graphs, nodes, handles of nodes; what kernels read of them is in host_table. */
bool drive_build(void);
#endif
