// SPDX-License-Identifier: Apache-2.0
/* Functions of tests by description, and what they compute.
 *
 * A tensor is some units of 64 bytes, each with one value. A function fills a tensor with
 * a hash of its salt and of everything in the tensors it reads, so that a unit that was
 * overwritten too early shows in every value after it. */
#ifndef TREE_SPEC_H
#define TREE_SPEC_H
#include "test.h"
#include <gph/tree.h>
#include <stdbool.h>

enum { UNIT = 64, OUTPUTS_MAX = 3, UNITS_MAX = 8, FROM_MAX = 4 };

static uint64_t spec_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 29);
}

static gph_tensor spec_tensor(CUdeviceptr address, uint32_t units)
{
    return (gph_tensor){.data = address,
                        .dtype = GPH_DTYPE_F64,
                        .rank = 1,
                        .shape = {units * (UNIT / 8)},
                        .stride = {1}};
}

static uint32_t spec_units(const gph_tensor *tensor)
{
    return tensor->rank == 0 ? 1 : (uint32_t)tensor->shape[0] / (UNIT / 8);
}

typedef struct spec {
    uint64_t salt;
    uint32_t temporaries; /* of 3 units each */
    uint32_t outputs;
    uint32_t units[OUTPUTS_MAX];       /* 0: no elements */
    uint32_t view_input[OUTPUTS_MAX];  /* 1 + i: the output is input i */
    uint32_t view_output[OUTPUTS_MAX]; /* 1 + i: it is output i < its own */
    uint32_t mutates;                  /* 1 + i: input i is written */
    gph_status capture_fails;
    uint32_t calls; /* times that it ran or was captured */
} spec;

static uint64_t spec_salt(const spec *s, uint32_t output, const int64_t *key,
                          uint32_t key_count)
{
    uint64_t salt = spec_mix(s->salt, output + 1);
    for (uint32_t i = 0; i < key_count; i++)
        salt = spec_mix(salt, (uint64_t)key[i]);
    return salt;
}

/* ---- values ---- */

typedef struct value {
    uint32_t units;
    uint64_t unit[UNITS_MAX];
} value;

/* What a store of `spec_store` leaves in `units` units. */
static value spec_value(const spec *s, uint32_t output, const int64_t *key,
                        uint32_t key_count, const value *inputs, uint32_t input_count,
                        uint32_t units)
{
    uint64_t hash = spec_salt(s, output, key, key_count);
    for (uint32_t i = 0; i < input_count && i < FROM_MAX; i++)
        for (uint32_t u = 0; u < inputs[i].units; u++)
            hash = spec_mix(hash, inputs[i].unit[u]);
    value out = {.units = units};
    for (uint32_t u = 0; u < units; u++)
        out.unit[u] = spec_mix(hash, u);
    return out;
}

static bool same_value(const value *a, const value *b)
{
    return a->units == b->units &&
           memcmp(a->unit, b->unit, a->units * sizeof(a->unit[0])) == 0;
}

#endif
