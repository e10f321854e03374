/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  What softcuda, the software CUDA driver, offers beyond CUDA's own calls. Its
 *  libcuda.so.1 exports these names; libgph does not. Find them with dlsym, or with
 *  gph_cuda_find(). Tier: experimental. */
#ifndef GPH_SOFTCUDA_H
#define GPH_SOFTCUDA_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a kernel report has beyond path, cuts, vector width and registers. */
enum {
    GPH_PTX_REPORT_IR = 1 << 0,     /**< the LLVM IR */
    GPH_PTX_REPORT_ASM = 1 << 1,    /**< the machine code as assembly text */
    GPH_PTX_REPORT_SLOW = 1 << 2,   /**< force the slow path */
    GPH_PTX_REPORT_NO_JIT = 1 << 3, /**< do not compile: only path and cuts */
    GPH_PTX_REPORT_JSON = 1 << 4    /**< JSON instead of text */
};

/** Compiles PTX as cuModuleLoadData would and reports, per kernel, which path it took,
 *  where it is cut and what caused each cut, the vector width, and the registers live
 *  across cuts.
 *
 *  ptx    borrowed for the call; `bytes` of it, no zero needed.
 *  flags  GPH_PTX_REPORT_ bits.
 *  write  borrowed for the call; gets the text, no zero at the end.
 *  user   borrowed for the call.
 *  error  may be NULL; says line and column.
 *
 *  Fails with GPH_E_INVALID (flags), GPH_E_FORMAT (bad PTX), GPH_E_UNSUPPORTED (this
 *  build cannot compile), GPH_E_NO_MEMORY and what `write` returns. Needs no cuInit.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_softcuda_report_write(const char *ptx, size_t bytes,
                                                         uint32_t flags,
                                                         gph_write_fn *write, void *user,
                                                         gph_error *error);

/** One setting of softcuda: an environment variable. All text is static. Layout
 *  frozen: an array of static storage. */
typedef struct gph_softcuda_setting {
    const char *name;          /**< the variable, such as "SOFTCUDA_MEMORY" */
    const char *default_value; /**< its default value */
    const char *meaning;       /**< one phrase */
} gph_softcuda_setting;

/** All settings of softcuda.
 *
 *  count  the caller's: how many there are.
 *
 *  Returns an array of static storage. Thread: any. */
GPH_API const gph_softcuda_setting *gph_softcuda_settings(size_t *count);

/** Whether softcuda implements a call of the CUDA driver API. A call that it does not
 *  implement returns CUDA_ERROR_NOT_SUPPORTED and names itself in the log.
 *
 *  symbol  borrowed for the call: as exported, such as "cuMemAlloc_v2".
 *
 *  Returns 1, 0, or -1 if it is not an exported symbol. Thread: any. */
GPH_API int gph_softcuda_has(const char *symbol);

/** What the memory of a device did so far. */
typedef struct gph_softcuda_memory {
    uint32_t size;             /**< sizeof(gph_softcuda_memory) */
    uint64_t map_calls;        /**< memory mapping calls to the system, of all kinds */
    uint64_t graph_map_calls;  /**< those that back graphs with memory: a launch that
                                    needs no remap adds none */
    uint64_t graph_bytes;      /**< present physical memory of graphs, in chunks of 2
                                    MiB */
    uint64_t graph_peak_bytes; /**< the most there was */
    uint64_t graph_live_bytes; /**< allocations that outlived the launch that made them */
} gph_softcuda_memory;

/** Reports what the memory of a device did.
 *
 *  device  its ordinal.
 *  out     the caller's. Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (no such device; before cuInit there is none). Thread: any.
 */
GPH_API GPH_CHECKED gph_status gph_softcuda_memory_get(int device,
                                                       gph_softcuda_memory *out);

/** Kernels of this process: how many were loaded, and how many were compiled. Loading a
 *  module only describes its kernels; the machine code of each is made when the kernel is
 *  first launched, put into an executable graph, or requested by cuFuncLoad(). */
typedef struct gph_softcuda_code {
    uint32_t size;       /**< sizeof(gph_softcuda_code) */
    uint64_t kernels;    /**< in the modules that were loaded so far */
    uint64_t compiled;   /**< times that machine code was made: of a kernel, or of all
                            functions of a module whose addresses are taken */
    uint64_t cached;     /**< times that it came from the disk cache */
    uint64_t compile_ns; /**< time in the compiler, summed over threads */
    uint64_t parsed;  /**< times that PTX was parsed; not if the disk cache has it all */
    uint64_t written; /**< times that LLVM IR was written, to compile or to find what was
                         compiled */
} gph_softcuda_code;

/** Reports what was compiled.
 *
 *  out  the caller's. Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (out is NULL). Needs no cuInit. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_softcuda_code_get(gph_softcuda_code *out);

/** What a word of gph_softcuda_trail() says about its node, in the last launch that
 *  began. */
enum {
    GPH_TRAIL_WAITS = 0, /**< it has not begun */
    GPH_TRAIL_ENDED = 1, /**< it has ended; after an error in the context no node does */
    GPH_TRAIL_RUNS = 2,  /**< it has begun */
    GPH_TRAIL_ORDER = 3  /**< it runs nothing and only orders others */
};

/** From the next launch of an executable on, the workers that run it store the state of
 *  each node in words: GPH_TRAIL_WAITS and so on. A child graph or a conditional node
 *  counts as one node. The words may be in memory that other processes read.
 *
 *  exec   a CUgraphExec.
 *  words  borrowed until the process ends: launches may still run when the executable is
 *         destroyed. The first word is for the first node that cuGraphGetNodes returns
 *         for the graph it was made from, and so on; after updates, for that node's
 *         partner. NULL: stop.
 *  count  of them; as many as there were nodes.
 *
 *  Fails with GPH_E_INVALID (not an executable, or another count) and GPH_E_NO_MEMORY.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_softcuda_trail(void *exec, uint32_t *words,
                                                  uint32_t count);

/** softcuda's version as text. Its presence distinguishes softcuda from NVIDIA's driver.
 *  Static storage. Thread: any. */
GPH_API const char *gph_softcuda_version(void);

#ifdef __cplusplus
}
#endif
#endif
