// SPDX-License-Identifier: Apache-2.0
/* mbarrier objects, eight bytes of shared memory:
 *
 *   bits 0-19 pending arrivals   20-39 expected arrivals   40-62 pending bytes   63 phase
 *
 * Threads of a block run on one host thread at a time, so plain accesses do; volatile,
 * since a waiting loop reads again and again. */
#include "library.h"

#define BLOCKS 16u          /* PTX_CLUSTER_MAX of abi.h */
#define STRIDE (256u << 10) /* PTX_CLUSTER_STRIDE */

#define COUNT(word) ((u32)(word)&0xfffffu)
#define EXPECTED(word) ((u32)((word) >> 20) & 0xfffffu)
#define BYTES(word) ((u32)((word) >> 40) & 0x7fffffu)

typedef volatile u64 object;

static u64 make(u32 pending, u32 expected, u32 bytes, u64 phase)
{
    return pending | (u64)expected << 20 | (u64)(bytes & 0x7fffffu) << 40 | phase << 63;
}

/* The next phase begins when nothing is pending. Bytes may be reported complete before
 * they are expected: the field is modulo 2^23, and 0 again when both have come. */
static void settle(object *at, u32 pending, u32 expected, u32 bytes, u64 phase)
{
    const u32 complete = pending == 0 && bytes == 0;
    *at = make(complete ? expected : pending, expected, bytes, complete ? !phase : phase);
}

static u64 arrive(object *at, u32 count, u32 dropped, u32 bytes)
{
    const u64 old = *at;
    const u32 pending = COUNT(old), expected = EXPECTED(old);
    settle(at, pending - (count < pending ? count : pending),
           expected - (dropped < expected ? dropped : expected), BYTES(old) + bytes,
           old >> 63);
    return old;
}

void x_mbarrier_init(object *at, u32 count)
{
    *at = make(count, count, 0, 0);
}
void x_mbarrier_inval(object *at)
{
    *at = 0;
}
u64 x_mbarrier_arrive(object *at, u32 count)
{
    return arrive(at, count, 0, 0);
}
u64 x_mbarrier_arrive_drop(object *at, u32 count)
{
    return arrive(at, count, count, 0);
}
u64 x_mbarrier_arrive_expect_tx(object *at, u32 bytes)
{
    return arrive(at, 1, 0, bytes);
}
u64 x_mbarrier_arrive_drop_expect_tx(object *at, u32 bytes)
{
    return arrive(at, 1, 1, bytes);
}
void x_mbarrier_expect_tx(object *at, u32 bytes)
{
    (void)arrive(at, 0, 0, bytes);
}
void x_mbarrier_complete_tx(object *at, u32 bytes)
{
    (void)arrive(at, 0, 0, 0 - bytes);
}

/* In the blocks of a cluster: bit k is the object k strides up. */
void x_mbarrier_complete_tx_in(object *at, u32 bytes, u32 blocks)
{
    for (u32 k = 0; k < BLOCKS; k++)
        if (blocks >> k & 1)
            (void)arrive((object *)((u8 *)at + (u64)k * STRIDE), 0, 0, 0 - bytes);
}
void x_bulk_copy_in(u8 *to, const u8 *from, u32 bytes, u32 blocks)
{
    for (u32 k = 0; k < BLOCKS; k++)
        if (blocks >> k & 1)
            __builtin_memcpy(to + (u64)k * STRIDE, from, bytes);
}

/* Has the phase of that state (of that parity) been completed? */
u32 x_mbarrier_wait(object *at, u64 state)
{
    return *at >> 63 != state >> 63;
}
u32 x_mbarrier_wait_parity(object *at, u32 parity)
{
    return *at >> 63 != (parity & 1);
}
u32 x_mbarrier_pending_count(u64 state)
{
    return COUNT(state);
}
