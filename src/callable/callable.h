// SPDX-License-Identifier: Apache-2.0
/* A callable: a record, what is done with its outputs, and who else is of its list. */
#ifndef GPHI_CALLABLE_CALLABLE_H
#define GPHI_CALLABLE_CALLABLE_H
#include "callable/record.h"

#include <stdatomic.h>

/* When the callables of a list were called, and who overwrites whose outputs. It outlives
 * each of them, so that a destroyed one is still known to have been called. Alone, a
 * callable has none. */
typedef struct gphi_group {
    gph_allocator heap;
    atomic_uint users;
    uint32_t count;
    _Atomic uint64_t clock;    /* calls of all members */
    _Atomic uint64_t *called;  /* the clock at a member's last call; 0: never */
    unsigned char *overwrites; /* [reader * count + writer] */
} gphi_group;

gph_status gphi_group_create(gph_allocator heap, uint32_t count, gphi_group **out,
                             gph_error *error);
void gphi_group_release(gphi_group *group);
/* Whether the outputs of member `self` are still whole; `epoch`: its last call. */
gph_status gphi_group_check(const gphi_group *group, uint32_t self, uint64_t epoch,
                            gph_error *error);

struct gph_callable {
    gphi_record *record;
    uint64_t epoch;                   /* calls */
    uint32_t copied_count;            /* outputs of GPH_OUTPUT_COPIED */
    uint32_t member;                  /* of the group */
    gphi_group *group;                /* NULL: alone */
    uint8_t *policies;                /* gph_output_policy */
    CUdeviceptr *copy_to, *copy_from; /* of outputs, one batch */
    size_t *copy_bytes;
    gphi_copier *copier; /* or NULL; with two copied outputs and more */
};

/* As gph_callable_create(), for options that gphi_callable_options_read() has read. */
gph_status gphi_callable_make(gph_runtime *runtime, const gph_callable_options *options,
                              gph_callable **out, gph_error *error);

/* The current version of options, checked but for the sample. */
gph_status gphi_callable_options_read(gph_callable_options *out,
                                      const gph_callable_options *options, bool is_listed,
                                      gph_error *error);
#endif
