/* SPDX-License-Identifier: Apache-2.0 */
/* Generated kernels of any length, of five kinds. */
#ifndef BENCH_COMPILE_LARGE_H
#define BENCH_COMPILE_LARGE_H
#include <stddef.h>

typedef enum large_kind {
    LARGE_STRAIGHT,  /* integer and float arithmetic */
    LARGE_DIVERGENT, /* branches over five instructions, by thread */
    LARGE_MEMORY,    /* loads and stores */
    LARGE_BARRIERS,  /* two barriers and four multiplications, again and again */
    LARGE_UNLIKE,    /* the same of random instructions: no two regions are alike */
    LARGE_KINDS
} large_kind;

extern const char *const large_names[LARGE_KINDS];

/* A module with `kernels` kernels k0, k1 ... of about `count` instructions each, that
 * take (.u64 p), where 64 KiB are; free() it. */
char *large_module(large_kind kind, unsigned kernels, unsigned count);
#endif
