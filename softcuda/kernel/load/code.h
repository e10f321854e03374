// SPDX-License-Identifier: Apache-2.0
/* Code: what a module image (PTX text or a fatbin) becomes.
 *
 *   image --> soft_code -----------> soft_binding ------------> soft_kernel_code
 *             kernels, globals;      machine code mapped and    entry point and
 *             a relocatable object   relocated for one set of   description of one
 *             a kernel, made when    addresses of globals       kernel
 *             it is needed;          (a context's)
 *             process-wide
 *
 * Loading parses, checks and describes. Machine code of a kernel is made by the first
 * soft_kernel_ready(), or comes from the disk cache: other threads that need the same
 * kernel wait for it, those that need another one do not.
 *
 * Knows no CUDA context: who loads a module allocates the globals and says where. */
#ifndef SOFT_KERNEL_LOAD_CODE_H
#define SOFT_KERNEL_LOAD_CODE_H

#include <stdatomic.h>

#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/compile.h"

/* CUresults that this folder gives (the driver's ABI header is not below it). */
enum {
    SOFT_ERROR_INVALID_VALUE = 1,
    SOFT_ERROR_OUT_OF_RESOURCES = 701,
    SOFT_ERROR_NO_BINARY_FOR_GPU = 209,
    SOFT_ERROR_INVALID_PTX = 218,
    SOFT_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    SOFT_ERROR_INVALID_IMAGE = 200,
    SOFT_ERROR_JIT_COMPILER_NOT_FOUND = 221,
    SOFT_ERROR_ILLEGAL_ADDRESS = 700,
    SOFT_ERROR_LAUNCH_TIMEOUT = 702,
    SOFT_ERROR_ASSERT = 710,
    SOFT_ERROR_ILLEGAL_INSTRUCTION = 715,
    SOFT_ERROR_MISALIGNED_ADDRESS = 716,
    SOFT_ERROR_INVALID_PC = 718,
    SOFT_ERROR_LAUNCH_FAILED = 719,
    SOFT_ERROR_OUT_OF_MEMORY = 2,
    SOFT_ERROR_NOT_SUPPORTED = 801,
    SOFT_ERROR_UNKNOWN = 999
};

typedef struct soft_code soft_code;       /* counted: any thread */
typedef struct soft_binding soft_binding; /* any thread */

/* How much is asked of LLVM. Results are the same with all. */
typedef enum soft_code_tier {
    SOFT_TIER_SIZE, /* by the size of the IR: see unit.c */
    SOFT_TIER_BEST,
    SOFT_TIER_QUICK,
    SOFT_TIER_BOTH, /* quick where the best takes long, and that beside the program */
    SOFT_TIER_SOON  /* the same for all that can, after a block's first run: for tests */
} soft_code_tier;

typedef struct soft_code_options {
    uint32_t force_slow;   /* SOFTCUDA_PATH=slow */
    uint32_t check_memory; /* SOFTCUDA_CHECK=memory */
    uint32_t contract;     /* allow mul+add to fuse where PTX has no .rn */
    uint32_t vector_bits;  /* preferred width, 0: the target's */
    uint32_t half;         /* ptx_half of the processor */
    uint32_t tier;         /* soft_code_tier */
    uint32_t eager;        /* a binding makes the machine code of all kernels */
    const char *cache; /* NULL: as SOFTCUDA_CACHE says; "off"; or a directory; borrowed */
    const gph_allocator *allocator; /* NULL: the C library's heap; copied */
} soft_code_options;

/* The options that the environment asks for (SOFTCUDA_PATH, SOFTCUDA_CHECK,
 * SOFTCUDA_TIER, SOFTCUDA_WORKERS: one leaves no other to work beside), and what the processor knows of f16. */
void soft_code_options_init(soft_code_options *options);
/* A ptx_half. Thread: any. */
uint32_t soft_code_host_half(void);
/* Bits of the vectors that code should have, 0: what LLVM thinks. Thread: any. */
uint32_t soft_code_host_vectors(void);

/* A .global or .const variable of the module. */
typedef struct soft_code_global {
    const char *name;
    uint64_t bytes;
    uint32_t align;
    uint8_t space;      /* ptx_space: PTX_SPACE_GLOBAL or PTX_SPACE_CONST */
    uint8_t is_visible; /* .visible, .weak or .common */
    uint8_t is_extern;  /* declared only: its address must come from elsewhere */
    uint8_t is_managed; /* the host reads and writes it, too */
    uint8_t reference;  /* ptx_reference */
    uint8_t reserved[7];
} soft_code_global;

/* Parses an image and describes its kernels, or takes that from the disk cache.
 *
 *  image    borrowed for the call: PTX text, or a fatbin with PTX in it (also its
 *           wrapper, as __cudaRegisterFatBinary gets it).
 *  bytes    its size, or 0: PTX text ends at its NUL, a fatbin says its size.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: soft_code_release(). Untouched on failure.
 *  error    its message is what belongs in the JIT error log.
 *
 *  Fails with SOFT_ERROR_INVALID_PTX and "line 12, column 5: ...", with
 *  SOFT_ERROR_UNSUPPORTED_PTX_VERSION, with SOFT_ERROR_NO_BINARY_FOR_GPU (a fatbin
 *  without PTX, an ELF image), SOFT_ERROR_INVALID_IMAGE (neither) and GPH_E_NO_MEMORY.
 *  A kernel that cannot be compiled is not a failure: its path is PTX_PATH_UNSUPPORTED.
 *  Thread: any. */
GPH_CHECKED gph_status soft_code_create(const void *image, size_t bytes,
                                        const soft_code_options *options, soft_code **out,
                                        gph_error *error);
void soft_code_retain(soft_code *code);
void soft_code_release(soft_code *code); /* takes NULL */

uint32_t soft_code_kernel_count(const soft_code *code);
const ptx_kernel *soft_code_kernel(const soft_code *code, uint32_t index); /* lent */
uint32_t soft_code_global_count(const soft_code *code);
const soft_code_global *soft_code_global_at(const soft_code *code, uint32_t index);
/* What the information log of the JIT says: lent, never NULL. */
const char *soft_code_info(const soft_code *code);
bool soft_code_was_cached(const soft_code *code);

/* Of this process. */
typedef struct soft_code_counts {
    uint64_t described; /* kernels of the modules that were loaded */
    uint64_t parsed;    /* texts, of modules or once more for their parts */
    uint64_t written;   /* parts whose IR was written */
    uint64_t compiled;  /* parts that LLVM made: a kernel, or the functions of a module
                           whose address is taken */
    uint64_t cached;    /* parts that came from the disk cache */
    uint64_t compile_ns;
} soft_code_counts;
void soft_code_count(soft_code_counts *out);
/* The .version and .target of the PTX: 90 -> 9.0, and 70 for sm_70. */
uint32_t soft_code_ptx_version(const soft_code *code);
uint32_t soft_code_ptx_target(const soft_code *code);

/* One kernel, ready to be launched: lives as long as its binding. */
typedef struct soft_kernel_code {
    const ptx_kernel *kernel;
    soft_binding *binding;
    union {
        ptx_block_fn *block;   /* PTX_PATH_FAST */
        ptx_thread_fn *thread; /* PTX_PATH_SLOW */
    } entry;
    const struct soft_kernel_code
        *by_threads;        /* of kernel->one_row: the slow path; or NULL */
    atomic_bool ready;      /* its entry is there: soft_kernel_ready() */
    struct soft_tier *tier; /* its entry is that of quick code so far; or NULL: tier.h */
} soft_kernel_code;

/* A place for the code, with one set of addresses of globals. Machine code is made of
 * functions whose address is an initial value and, eagerly, of all kernels: fails as
 * soft_kernel_ready() does, too.
 *
 *  code       retained until the binding is released.
 *  addresses  copied: the device address of each global, by index.
 *  out        owned by the caller on success: soft_binding_destroy(). */
GPH_CHECKED gph_status soft_binding_create(soft_code *code, const uint64_t *addresses,
                                           soft_binding **out, gph_error *error);

/* Makes and maps the machine code of a kernel of a binding, if nobody did; waits for a
 * thread that is at it. A failure is not kept: the next call tries again. Fails with
 * SOFT_ERROR_INVALID_PTX (LLVM refuses), SOFT_ERROR_JIT_COMPILER_NOT_FOUND
 * (softcuda-jit.so is missing), SOFT_ERROR_OUT_OF_MEMORY and GPH_E_NO_MEMORY; nothing is
 * made of a kernel whose path is PTX_PATH_UNSUPPORTED. Thread: any. */
GPH_CHECKED gph_status soft_kernel_ready(const soft_kernel_code *kernel,
                                         gph_error *error);
/* Several of one heap at once, on as many processors; the first failure. Thread: any. */
GPH_CHECKED gph_status soft_kernels_ready(const soft_kernel_code *const *kernels,
                                          uint32_t count, gph_error *error);
void soft_binding_destroy(soft_binding *binding); /* takes NULL */

/* By index as in soft_code_kernel(); lent. */
const soft_kernel_code *soft_binding_kernel(const soft_binding *binding, uint32_t index);
/* By name, or NULL. */
const soft_kernel_code *soft_binding_find(const soft_binding *binding, const char *name);

/* Writes the initial value of a global (zeros where it has none), addresses of other
 * globals and of functions filled in, to `destination`, which holds its `bytes`. */
void soft_binding_init_global(const soft_binding *binding, uint32_t index,
                              void *destination);

#endif
