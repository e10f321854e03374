// SPDX-License-Identifier: Apache-2.0
/* The CUDA runtime that a program or a library has inside: where its functions lie, by the
 * object's symbol table, or without one by the table that static_runtime.py makes. Nothing
 * here allocates or calls the dynamic linker. */
#ifndef SOFT_RUNTIME_INSIDE_H
#define SOFT_RUNTIME_INSIDE_H
#include "softcuda/runtime/elf.h"

#include <stdint.h>

enum { RT_NEAR_BYTES = 5 }; /* e9 rel32: shorter functions cannot be replaced */

/* A function there, and the one that takes its place. */
typedef struct rt_place {
    uint64_t at, to;
} rt_place;

/* An object that is loaded, its file and what is to be found in it. */
typedef struct rt_inside {
    const rt_elf *elf;
    uint64_t base;
    uint64_t (*replacement)(const char *name, int major); /* 0: there is none */
    rt_place *places;                                     /* room for `room` */
    size_t room, count;
    int major; /* of the runtime: 13, 12, or 11 for all before; 0: it has none */
} rt_inside;

/* What names say: whether there is a runtime among them, and of which version. */
typedef struct rt_names {
    bool registers, has_threads, has_second;
} rt_names;
void rt_names_see(rt_names *names, const char *name);
int rt_names_major(const rt_names *names);
/* Notes a function of the object. */
void rt_inside_add(rt_inside *out, const char *name, uint64_t at, uint64_t bytes);

/* The tables of static_runtime.py, once a process; `environment` as main() has it. */
void rt_tables_open(char **environment);

/* Fills in `places`, `count` and `major` by the symbol table. */
void rt_inside_named(rt_inside *out);
/* Whether an object that has none by its names has one all the same: kernels that it
 * registers, with nothing of another object's, or the texts of a runtime. */
bool rt_inside_unnamed(const rt_elf *elf);
/* The same by the tables. */
void rt_inside_stripped(rt_inside *out);
#endif
