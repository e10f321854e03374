// SPDX-License-Identifier: Apache-2.0
/* Names of what ranks call together. */
#include "event/collective_calls.h"

#include <string.h>

static const struct {
    const char *name;
    gphi_collective_sort sort;
} calls[GPHI_COLLECTIVE_COUNT] = {
#define X(name, sort) {#name, GPHI_COLLECTIVE_##sort},
    GPHI_COLLECTIVES(X)
#undef X
};

const char *gphi_collective_name(uint32_t id)
{
    return id < GPHI_COLLECTIVE_COUNT ? calls[id].name : "?";
}

gphi_collective_sort gphi_collective_sort_of(uint32_t id)
{
    return id < GPHI_COLLECTIVE_COUNT ? calls[id].sort : GPHI_COLLECTIVE_GROUP;
}

bool gphi_collective_is_gph(uint32_t id)
{
    return strncmp(gphi_collective_name(id), "gph", 3) == 0;
}

const char *gphi_collective_dtype(uint32_t id, uint64_t dtype)
{
    /* ncclDataType_t, and gph_dtype from 1 on (GPH_DTYPE_MAP of <gph/callable.h>). */
    static const char *const nccl[] = {"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                       "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
    static const char *const gph[] = {"u8",  "i8",  "bool", "f8e4m3", "f8e5m2",
                                      "i16", "u16", "f16",  "bf16",   "i32",
                                      "u32", "f32", "i64",  "u64",    "f64"};
    if (gphi_collective_is_gph(id))
        return dtype >= 1 && dtype <= sizeof(gph) / sizeof(*gph) ? gph[dtype - 1] : NULL;
    return dtype < sizeof(nccl) / sizeof(*nccl) ? nccl[dtype] : NULL;
}
