// SPDX-License-Identifier: Apache-2.0
/* Loads relocatable ELF objects, as LLVM writes them for kernels, into one mapping. */
#ifndef SOFT_KERNEL_LOAD_LOADER_H
#define SOFT_KERNEL_LOAD_LOADER_H

#include <gph/base.h>
#include <stdbool.h>

typedef struct soft_object {
    const unsigned char *bytes; /* 8-byte aligned; borrowed as long as the image lives */
    size_t count;
} soft_object;

/* Names are lent by the object. */
typedef struct soft_image_function {
    const char *name;
    uint64_t start, bytes; /* offset in the image */
} soft_image_function;

typedef struct soft_image {
    unsigned char *base;
    size_t bytes;      /* of the mapping */
    size_t text_bytes; /* of its executable part, which comes first */
    soft_image_function *functions;
    uint32_t function_count;
    gph_allocator heap;
} soft_image;

/* The address of a symbol that no object defines; 0: unknown. */
typedef uint64_t soft_resolve_fn(void *user, const char *name);

typedef struct soft_loader_input {
    const soft_object *objects;
    uint32_t object_count;
    soft_resolve_fn *resolve;
    void *user;
} soft_loader_input;

/* Maps, relocates and protects (text read and execute, constants read only). Fails with
 * 200 (an object that is damaged, of another machine, or needs what this loader does not
 * know, named), 2 (no memory to map) and GPH_E_NO_MEMORY. Thread: any. */
GPH_CHECKED gph_status soft_image_load(const soft_loader_input *input,
                                       const gph_allocator *allocator, soft_image *out,
                                       gph_error *error);
void soft_image_unload(soft_image *image);
/* A function by name, or NULL. */
const soft_image_function *soft_image_find(const soft_image *image, const char *name);

/* ---- relocations of this machine: loader_x86_64.c, loader_aarch64.c --------------- */

typedef enum soft_relocation_need {
    SOFT_RELOCATION_PLAIN,
    SOFT_RELOCATION_GOT,   /* the address of the symbol's slot of the table */
    SOFT_RELOCATION_BRANCH /* a call or jump: through a stub if the symbol is outside */
} soft_relocation_need;

#define SOFT_STUB_BYTES 16u

typedef struct soft_patch {
    uint32_t type;
    unsigned char *where;
    uint64_t room;  /* bytes from `where` to the end of its section */
    uint64_t place; /* P: the address `where` will run at */
    uint64_t value; /* S, or the slot's or stub's address, as the need says */
    int64_t addend; /* A */
} soft_patch;

extern const uint16_t soft_machine; /* EM_X86_64 ... */
/* Whether this loader knows a type of relocation. */
bool soft_relocation_known(uint32_t type, soft_relocation_need *need);
/* False: does not fit (too far, misaligned, past the section). */
bool soft_relocation_apply(const soft_patch *patch);
/* Writes a jump to `target`, SOFT_STUB_BYTES long. */
void soft_stub_write(unsigned char *where, uint64_t target);

#endif
