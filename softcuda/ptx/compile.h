// SPDX-License-Identifier: Apache-2.0
/* From a parsed module to textual LLVM IR and a description of every kernel.
 * Pure: no LLVM, no device. softcuda/jit turns the IR into machine code. */
#ifndef SOFT_PTX_COMPILE_H
#define SOFT_PTX_COMPILE_H

#include "softcuda/ptx/ptx.h"

typedef enum ptx_path {
    PTX_PATH_FAST,       /* one function runs a block: ptx_block_fn "b.<name>" */
    PTX_PATH_SLOW,       /* one function runs a thread: ptx_thread_fn "t.<name>" */
    PTX_PATH_UNSUPPORTED /* launching it fails with CUDA_ERROR_NOT_SUPPORTED */
} ptx_path;

/* What the processor that will run the code knows of f16. */
typedef enum ptx_half {
    PTX_HALF_NONE,
    PTX_HALF_CONVERTS, /* to and from f32: F16C, any aarch64 */
    PTX_HALF_COMPUTES  /* arithmetic as well: AVX512-FP16, FEAT_FP16 */
} ptx_half;

/* What is written of a module. Machine code of a kernel is made when it is launched, so
 * each is written alone: with the functions that it calls, but for those whose address is
 * taken. They have one address for all kernels, and are a part by themselves. */
typedef enum ptx_part {
    PTX_PART_ALL,      /* every kernel and function in one text (reports) */
    PTX_PART_NONE,     /* no text: what is known of the kernels */
    PTX_PART_KERNEL,   /* one kernel: options.kernel */
    PTX_PART_FUNCTIONS /* the functions whose address is taken */
} ptx_part;

typedef struct ptx_compile_options {
    uint32_t force_slow;   /* every kernel on the slow path (tests) */
    uint32_t check_memory; /* SOFTCUDA_CHECK: a ptx_rt_check before each access */
    uint32_t contract;     /* allow mul+add to fuse where PTX has no .rn */
    uint32_t vector_bits;  /* preferred width, 0: the target's */
    uint32_t half;         /* ptx_half; results are the same with all */
    uint32_t costs;        /* fill ptx_kernel.costs (the kernel report) */
    ptx_part part;
    uint32_t kernel; /* PTX_PART_KERNEL: which, in the order of the text */
    const gph_allocator *allocator;
} ptx_compile_options;

typedef struct ptx_cut {
    uint32_t line;      /* in the PTX */
    const char *reason; /* "bar.sync", "shfl.sync", "uniform loop" */
} ptx_cut;

typedef struct ptx_param {
    uint32_t offset, bytes, align;
} ptx_param;

typedef struct ptx_kernel {
    const char *name;
    ptx_path path;
    const char
        *reason; /* why it is slow or unsupported, with line and instruction; or NULL */
    const ptx_param *params;
    uint32_t param_count, param_bytes;
    uint32_t static_shared_bytes;
    uint32_t const_bytes;
    uint32_t local_bytes;         /* a thread */
    uint32_t memory_align;        /* of a block's shared and local memory; a power of 2 */
    uint32_t registers;           /* an estimate as the GPU would report it, <= 255 */
    uint32_t max_threads;         /* of .maxntid / .reqntid, else 1024 */
    uint32_t required_threads[3]; /* 0: none */
    uint32_t required_cluster[3]; /* likewise, in blocks */
    uint32_t max_cluster;         /* blocks, 0: what a device has */
    uint32_t explicit_cluster;    /* a launch has to name one */
    uint32_t scratch_thread_bytes; /* context arrays: scratch = fixed + threads * this */
    uint32_t scratch_fixed_bytes;
    uint32_t uses_safepoints;      /* it may wait for another block: a stack of its own */
    uint32_t one_row;              /* fast where a block has one row, else "t.<name>" */
    uint32_t long_rows;            /* blocks of a row of the grid may be run as one */
    uint32_t launches_graphs;      /* it may call cudaGraphLaunch() */
    uint32_t launches_kernels;     /* it may call functions of dynamic parallelism */
    uint32_t names_functions;      /* its code needs PTX_PART_FUNCTIONS beside it */
    uint32_t uses_reserved_shared; /* %reserved_smem_offset_..., here or in a function */
    uint32_t uses_barrier, uses_atomics, uses_printf, uses_malloc, uses_dynamic_shared;
    uint32_t live_across_cuts; /* registers kept in context arrays */
    /* Lines of a volatile store to shared memory, and of a load from another place of it that
     * no barrier parts from it: threads of a warp are taken to act in lockstep. 0: none. */
    uint32_t lockstep_store, lockstep_load;
    const ptx_cut *cuts;
    uint32_t cut_count;
    uint32_t by_warps; /* it has a form for blocks whose rows are multiples of it; or 0 */
    const ptx_cut *costs; /* what makes it slow on the fast path; of options.costs */
    uint32_t cost_count;
    const uint32_t *rows; /* lines at which regions begin that have a copy for rows */
    uint32_t row_count;
    const uint32_t *rerolled; /* lines of loops that a compiler unrolled: flow/reroll.c */
    uint32_t rerolled_count;
    uint32_t line; /* of its .entry */
} ptx_kernel;

/* A .global or .const variable, or a function whose address is taken: an external symbol
 * "g.<name>" of the IR (functions are defined: "f.<name>", as threads call them). */
typedef struct ptx_global {
    const char *name;
    uint32_t variable; /* index in the module */
} ptx_global;

typedef struct ptx_program {
    const char *ir;
    size_t ir_bytes;
    const ptx_kernel *kernels;
    uint32_t kernel_count;
    const ptx_global *globals;
    uint32_t global_count;
    struct ptx_arena *arena;
} ptx_program;

/* Compiles the kernels of the module, or the part of it that the options name: then the
 * program has that kernel alone, or none. A kernel that cannot be compiled is UNSUPPORTED,
 * with its reason; that is not a failure. Fails with GPH_E_NO_MEMORY.
 *
 *  module   borrowed until the program is destroyed (names are lent).
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: ptx_program_destroy(). Thread: any. */
GPH_CHECKED gph_status ptx_compile(const ptx_module *module,
                                   const ptx_compile_options *options, ptx_program **out,
                                   gph_error *error);
void ptx_program_destroy(ptx_program *program); /* takes NULL */

#endif
