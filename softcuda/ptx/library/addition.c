// SPDX-License-Identifier: Apache-2.0
/* Additions of f32 in global memory by the lanes of a warp. Each is the sum that
 * x_atom_add_f32() makes, in the order of the lanes: neighbors at one place are added to
 * what was read once, which is as if nobody came between. */
#include "library.h"

float x_ftz_f32(float x);

/* Two words by one operation. */
static void add_pair(u64 at, const float *value)
{
    u64 *words = (u64 *)at, old = __atomic_load_n(words, __ATOMIC_RELAXED), next;
    do {
        const float low = x_ftz_f32(float32((u32)old)) + x_ftz_f32(value[0]);
        const float high = x_ftz_f32(float32((u32)(old >> 32))) + x_ftz_f32(value[1]);
        next = bits32(x_ftz_f32(low)) | (u64)bits32(x_ftz_f32(high)) << 32;
    } while (!__atomic_compare_exchange_n(words, &old, next, 1, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

/* A subnormal sum, which is flushed before the next is added. */
static u32 is_flushed(float x)
{
    return (bits32(x) << 1) - 1 < 0x00ffffffu;
}

/* All of `value`, flushed before, added to `first`, one after the other. */
static float add_up(float first, const float *value, u32 count)
{
    float sum = first;
    u32 odd = 0;
    for (u32 k = 0; k < count; k++) {
        sum += value[k];
        odd |= is_flushed(sum);
    }
    if (!odd)
        return sum;
    sum = first;
    for (u32 k = 0; k < count; k++)
        sum = x_ftz_f32(sum + value[k]);
    return sum;
}

static void add_run(u64 at, const float *value, u32 count, u32 alone)
{
    u32 *word = (u32 *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED), next;
    do {
        next = bits32(add_up(x_ftz_f32(float32(old)), value, count));
        if (alone) {
            __atomic_store_n(word, next, __ATOMIC_RELAXED);
            return;
        }
    } while (!__atomic_compare_exchange_n(word, &old, next, 1, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

/* 32 words side by side. */
static void add_row(u64 at, const float *value, u32 alone)
{
    if (alone) {
        float *row = (float *)at;
        for (u64 k = 0; k < 32; k++)
            row[k] = x_ftz_f32(x_ftz_f32(row[k]) + x_ftz_f32(value[k]));
        return;
    }
    const u32 odd = at >> 2 & 1;
    if (odd) {
        const float ends[] = {x_ftz_f32(value[0]), x_ftz_f32(value[31])};
        add_run(at, &ends[0], 1, 0);
        add_run(at + 124, &ends[1], 1, 0);
    }
    for (u64 k = odd; k + 1 < 32; k += 2)
        add_pair(at + 4 * k, value + k);
}

void x_sum_lanes_f32(const u64 *at, const float *value, u32 active, u32 alone)
{
    u64 apart = 0;
    for (u64 k = 0; k < 32; k++)
        apart |= at[k] ^ (at[0] + 4 * k);
    if (apart == 0 && active == 0xffffffffu) {
        add_row(at[0], value, alone);
        return;
    }
    float flushed[32];
    for (u64 k = 0; k < 32; k++)
        flushed[k] = x_ftz_f32(value[k]);
    u32 same = 0; /* bit k: lane k + 1 adds there, too */
    for (u64 k = 0; k < 31; k++)
        same |= (u32)(at[k] == at[k + 1]) << k;
    same &= active & active >> 1;
    while (active != 0) {
        const u32 k = (u32)__builtin_ctz(active);
        const u32 count = (u32)__builtin_ctz(~(same >> k)) + 1;
        add_run(at[k], flushed + k, count, alone);
        active &= (u32)(~0ull << (k + count));
    }
}
