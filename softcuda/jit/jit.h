// SPDX-License-Identifier: Apache-2.0
/* From textual LLVM IR to relocatable objects: the interface of softcuda-jit.so, the one
 * part of softcuda that LLVM is linked to. Opened with dlopen on a miss of the disk cache
 * only, so that a cached program never loads LLVM. */
#ifndef SOFT_JIT_JIT_H
#define SOFT_JIT_JIT_H

#include <stddef.h>
#include <stdint.h>

#define SOFT_JIT_VERSION 3u
#define SOFT_JIT_FILE "softcuda-jit.so"
#define SOFT_JIT_PARTS_MAX 64u

typedef enum soft_jit_tier {
    SOFT_JIT_NONE, /* hand-made tests */
    SOFT_JIT_BEST,
    SOFT_JIT_QUICK /* a few passes, loops over threads still as vectors; simple machine code */
} soft_jit_tier;

typedef struct soft_jit_request {
    const char *ir; /* NUL-terminated: ir[ir_bytes] is 0 */
    size_t ir_bytes;
    uint32_t vector_bits; /* preferred vector width, 0: the target's */
    uint32_t part_count;  /* objects to split the kernels over, each made by a thread */
    uint32_t optimize;    /* soft_jit_tier */
    /* One part: a kernel of many regions becomes several objects, by so many threads; 0
     * is 1. */
    uint32_t thread_count;
    /* NULL, or not 0: it fails soon. */
    const _Atomic uint32_t *cancel;
} soft_jit_request;

typedef struct soft_jit_object {
    unsigned char *bytes; /* malloc'ed: api->release() */
    size_t count;
} soft_jit_object;

/* Objects may need each other. Kernels are the defined functions "b.<name>" and "t.<name>": each goes to one part.
 * Every other definition with external linkage is part 0's; the other parts know its
 * body for inlining but call part 0's, so that its address is one. */
typedef struct soft_jit_result {
    soft_jit_object objects[SOFT_JIT_PARTS_MAX];
    uint32_t object_count;
    char message[1024]; /* why it failed */
} soft_jit_result;

typedef void soft_jit_line_fn(void *user, uint64_t offset, const char *text);

typedef struct soft_jit_api {
    uint32_t version;
    const char *llvm_version; /* "19.1.7" */
    const char *(*cpu_name)(void);
    /* 0, or -1 with result->message filled and no objects. Thread: any. */
    int (*compile)(const soft_jit_request *request, soft_jit_result *result);
    void (*release)(soft_jit_result *result);
    /* The optimized IR as text, malloc'ed: api->free_text(); NULL if the IR is bad. */
    char *(*optimized_ir)(const soft_jit_request *request);
    void (*free_text)(char *text);
    /* Calls `line` for each instruction. 0, or -1 without a disassembler. */
    int (*disassemble)(const unsigned char *code, size_t bytes, soft_jit_line_fn *line,
                       void *user);
} soft_jit_api;

/* The one symbol of softcuda-jit.so. */
#define SOFT_JIT_SYMBOL "soft_jit_get"
typedef const soft_jit_api *soft_jit_get_fn(void);

#endif
