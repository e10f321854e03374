// SPDX-License-Identifier: Apache-2.0
/* The contract between generated machine code and the run time that calls it.
 *
 * A kernel becomes one function that runs one block (fast path: loops over the threads
 * inside) or one function that runs one thread (slow path: the run time gives each thread
 * a fiber). Generated code reads the structures below by byte offset: softcuda/ptx writes
 * the offsets with offsetof(), so a changed field needs a new PTX_ABI_VERSION (part of
 * the cache key) and nothing else. Generated code calls the run time through the symbols
 * of PTX_RUNTIME_CALLS, which the loader resolves; it takes no lock and touches no other
 * memory of ours. */
#ifndef SOFT_PTX_ABI_H
#define SOFT_PTX_ABI_H

#include <stddef.h>
#include <stdint.h>

#define PTX_ABI_VERSION 11u
#define PTX_WARP_SIZE 32u
#define PTX_SHARED_ALIGN 128u
/* After a block's shared memory, for %reserved_smem_offset_...: cooperative groups keep
 * barriers there. A GPU reserves as much, in front. */
#define PTX_SHARED_RESERVED 1024u
#define PTX_SHARED_USED 288u /* of it, on an H100 */
/* Blocks of a cluster have their shared memory side by side, in the order of their ranks and
 * then, after the last, once more from the first on: each finds the others at the same
 * distance times the ranks between, upwards from its own. So an address in .shared::cluster
 * is an offset from the own block's memory like any in .shared. */
#define PTX_CLUSTER_STRIDE (256u << 10)
#define PTX_CLUSTER_MAX 16u

/* One launch: the same for all its blocks. */
typedef struct ptx_grid {
    uint32_t nctaid[3];
    uint32_t ntid[3];
    uint32_t thread_count; /* ntid.x * ntid.y * ntid.z */
    uint32_t warp_count;
    uint32_t shared_bytes;  /* static + dynamic, of a block */
    uint32_t dynamic_bytes; /* dynamic alone */
    uint32_t cooperative;
    uint32_t multiprocessors; /* %nsmid */
    uint64_t grid_id;
    uint64_t graph_exec;    /* %current_graph_exec */
    const uint32_t *envreg; /* 32 of them */
    const void *params; /* the parameter buffer, laid out as the kernel's .param space */
    void *launch;       /* the run time's own record of this launch */
    uint32_t param_bytes; /* of `params` */
    uint32_t cluster_is_explicit;
    uint32_t cluster[3], cluster_size; /* 1 each where a block is alone */
} ptx_grid;

/* One block that runs. */
typedef struct ptx_block {
    /* Always NULL, and opaque to the optimizer: addresses are formed as zero + integer,
     * so that LLVM sees pointer arithmetic (an inttoptr would hide strides from it). */
    unsigned char *zero;
    unsigned char
        *shared; /* PTX_SHARED_ALIGN aligned; .shared addresses are offsets here */
    unsigned char
        *scratch; /* context arrays, ptx_kernel.scratch_* bytes, 64-byte aligned */
    unsigned char *local; /* .local memory: local_bytes a thread, thread after thread */
    const ptx_grid *grid;
    uint32_t ctaid[3];
    uint32_t smid;
    uint64_t block_index; /* linear */
    void *runtime;        /* the run time's own record of this block */
    uint32_t
        safepoint_budget; /* signed; back edges count it down: 0 or less is the end */
    uint32_t cluster_rank;
    uint32_t is_alone; /* no other thread runs device code, here or in another process */
    uint32_t more_blocks; /* of a kernel with long_rows: after this one, run with it */
    uint64_t aside[2];    /* for stores whose condition does not hold; nobody reads it */
} ptx_block;

/* One thread on the slow path. */
typedef struct ptx_thread {
    ptx_block *block;
    uint32_t tid[3];
    uint32_t index; /* linear */
    uint32_t lane, warp;
    void *runtime; /* its fiber */
} ptx_thread;

typedef void ptx_block_fn(ptx_block *block);
typedef void ptx_thread_fn(ptx_block *block, ptx_thread *thread);

/* Generic addresses: a window for shared and one for local memory is not needed, since a
 * generic address is a host address: cvta.shared gives block->shared + offset, cvta.local
 * the thread's block->local part + offset. isspacep compares against ranges.
 */

/* Operations of ptx_rt_mbarrier and their argument. */
enum {
    PTX_MBARRIER_INIT, /* count */
    PTX_MBARRIER_INVAL,
    PTX_MBARRIER_ARRIVE,           /* count -> state */
    PTX_MBARRIER_ARRIVE_DROP,      /* count -> state */
    PTX_MBARRIER_EXPECT_TX,        /* bytes */
    PTX_MBARRIER_COMPLETE_TX,      /* bytes */
    PTX_MBARRIER_TEST_WAIT,        /* state -> 1 if its phase is complete */
    PTX_MBARRIER_TEST_WAIT_PARITY, /* parity -> 1 if the phase of that parity is */
    PTX_MBARRIER_TRY_WAIT,         /* the same two, letting others run meanwhile */
    PTX_MBARRIER_TRY_WAIT_PARITY,
    PTX_MBARRIER_PENDING_COUNT /* state -> count; address unused */
};

/* Beside the bytes of an access in the argument of ptx_rt_check. A strong access is one
 * that PTX's memory model lets race with its like: atomics, volatile, relaxed and so on.
 */
#define PTX_CHECK_WRITE 0x80000000u
#define PTX_CHECK_STRONG 0x40000000u
#define PTX_CHECK_UNALIGNED 0x20000000u /* many elements at once */
#define PTX_CHECK_FLAGS 0xe0000000u

/* What generated code may call; the loader resolves exactly these (and memcpy, memset,
 * memmove, and the libm functions of PTX_LIBM_CALLS). X(name, LLVM return type, LLVM
 * parameter types). Faults do not return. */
#define PTX_RUNTIME_CALLS(X)                                                                  \
    /* fast path: may switch to another block; also the kernel time limit */                  \
    X(ptx_rt_safepoint, "void", "ptr")                                                        \
    /* trap, brkpt; (block, linear thread index) */                                           \
    X(ptx_rt_trap, "void", "ptr, i32")                                                        \
    /* __assertfail(message, file, line, function, char size) of a thread */                  \
    X(ptx_rt_assertfail, "void", "ptr, i32, i64, i64, i32, i64, i64")                         \
    /* vprintf(format, arguments) -> count */                                                 \
    X(ptx_rt_vprintf, "i32", "ptr, i32, i64, i64")                                            \
    /* cudaGraphSetConditional(handle, value) of a thread */                                  \
    X(ptx_rt_set_conditional, "void", "ptr, i32, i64, i32")                                   \
    /* cudaGraphLaunch(executable, stream) -> error */                                        \
    X(ptx_rt_graph_launch, "i32", "ptr, i32, i64, i64")                                       \
    /* cudaGraphKernelNodeSetParam(node, offset, value, size), SetEnabled(node, */            \
    /* enabled), SetGridDim(node, x, y, z), UpdatesApply(updates, count) -> error */          \
    X(ptx_rt_node_param, "i32", "ptr, i32, i64, i64, i64, i64")                               \
    X(ptx_rt_node_enabled, "i32", "ptr, i32, i64, i32")                                       \
    X(ptx_rt_node_grid, "i32", "ptr, i32, i64, i32, i32, i32")                                \
    X(ptx_rt_node_updates, "i32", "ptr, i32, i64, i64")                                       \
    /* dynamic parallelism: (block, thread, nestedcalls.h's number, its arguments) */         \
    X(ptx_rt_nested, "i64", "ptr, i32, i32, i64, i64, i64, i64, i64, i64, i64, i64")          \
    X(ptx_rt_malloc, "i64", "ptr, i64")                                                       \
    X(ptx_rt_free, "void", "ptr, i64")                                                        \
    /* an instruction that this build cannot run was reached: (block, thread, line) */        \
    X(ptx_rt_unsupported, "void", "ptr, i32, i32")                                            \
    /* an indirect call or branch to what is not a target: (block, thread, address) */        \
    X(ptx_rt_bad_target, "void", "ptr, i32, i64")                                             \
    /* check mode: (block, thread, address, bytes | PTX_CHECK_..., PTX line) -> */            \
    /* where to find the bytes: what the access then uses */                                  \
    X(ptx_rt_check, "ptr", "ptr, i32, i64, i32, i32")                                         \
    X(ptx_rt_clock, "i64", "")                                                                \
    X(ptx_rt_globaltimer, "i64", "")                                                          \
    X(ptx_rt_nanosleep, "void", "ptr, i32")                                                   \
    /* barrier.cluster.wait: of a block all of whose threads are there; of a thread */        \
    X(ptx_rt_cluster_wait, "void", "ptr")                                                     \
    X(ptx_rt_thread_cluster_wait, "void", "ptr")                                              \
    /* slow path: (thread, ...). barrier id, count (0: all), and for red the */               \
    /* operation (0 none, 1 popc, 2 and, 3 or) and predicate */                               \
    X(ptx_rt_barrier, "i32", "ptr, i32, i32, i32, i32")                                       \
    X(ptx_rt_barrier_arrive, "void", "ptr, i32, i32")                                         \
    X(ptx_rt_syncwarp, "void", "ptr, i32")                                                    \
    /* (thread, member mask, mode 0 up 1 down 2 bfly 3 idx, value, b, c) -> value | */        \
    /* predicate << 32 */                                                                     \
    X(ptx_rt_shfl, "i64", "ptr, i32, i32, i32, i32, i32")                                     \
    /* (thread, mask, mode 0 all 1 any 2 uni 3 ballot, predicate) */                          \
    X(ptx_rt_vote, "i32", "ptr, i32, i32, i32")                                               \
    /* (thread, mask, mode 0 any 1 all, bytes 4 or 8, value) -> mask | predicate << */        \
    /* 32 */                                                                                  \
    X(ptx_rt_match, "i64", "ptr, i32, i32, i32, i64")                                         \
    /* (thread, mask, operation 0 add 1 min.u 2 max.u 3 min.s 4 max.s 5 and 6 or 7 */         \
    /* xor, value) */                                                                         \
    X(ptx_rt_redux, "i32", "ptr, i32, i32, i32")                                              \
    /* (thread, mask) -> leader lane | is_leader << 32 */                                     \
    X(ptx_rt_elect, "i64", "ptr, i32")                                                        \
    /* (thread, a number of the instruction: LLVM makes one call of two alike) */             \
    X(ptx_rt_activemask, "i32", "ptr, i32")                                                   \
    /* (block, matrix operation, active lanes, first thread, line where memory is */          \
    /* checked or 0, whether there is a stride, slots of 32 lanes: matrix.h); and of one */   \
    /* thread, whose slots are values */                                                      \
    X(ptx_rt_matrix, "void", "ptr, i64, i32, i32, i32, i32, ptr")                             \
    X(ptx_rt_thread_matrix, "void", "ptr, i64, i32, i32, ptr")                                \
    /* textures and surfaces: (block, thread, textureform.h's word, handle, 12 words) -> 4 */ \
    X(ptx_rt_texture, "<4 x i32>",                                                            \
      "ptr, i32, i64, i64, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32")       \
    /* a box of a tensor (block, thread, tensorform.h's word, address of the map, of the */   \
    /* box in shared memory, 5 coordinates, 2 words of offsets, blocks) -> its bytes */       \
    X(ptx_rt_tensor, "i32",                                                                   \
      "ptr, i32, i32, i64, i64, i32, i32, i32, i32, i32, i32, i32, i32")                      \
    /* (block, thread, mask of ranks) -> blocks: bit k, the own memory and k strides up */    \
    X(ptx_rt_multicast, "i32", "ptr, i32, i32")                                               \
    /* a back edge of the slow path: may switch to another thread or block */                 \
    X(ptx_rt_thread_safepoint, "void", "ptr")                                                 \
    /* mbarrier: (thread, address, operation, argument) */                                    \
    X(ptx_rt_mbarrier, "i64", "ptr, i64, i32, i64")

#endif
