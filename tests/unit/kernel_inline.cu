// SPDX-License-Identifier: Apache-2.0
/* Device functions with barriers, warp operations and ends of threads in them, which are
 * put in place of their calls. kernel_inline.ptx is made of it:
 *     clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -O2
 *         -Xclang -target-feature -Xclang +ptx70 -S kernel_inline.cu -o kernel_inline.ptx
 */
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static __attribute__((device)) __attribute__((noinline))
#define SHARED static __attribute__((shared))
typedef unsigned u32;
typedef unsigned long long u64;

static __attribute__((device)) u32 tid()
{
    return __nvvm_read_ptx_sreg_tid_x();
}

static __attribute__((device)) u32 cta()
{
    return __nvvm_read_ptx_sreg_ctaid_x();
}

DEVICE u32 warp_sum(u32 x)
{
    for (int step = 16; step > 0; step >>= 1)
        x += __nvvm_shfl_sync_bfly_i32(~0u, x, step, 31);
    return x;
}

/* Calls the one above; its own shared memory. */
DEVICE u32 block_sum(u32 x)
{
    SHARED u32 part[32];
    x = warp_sum(x);
    if (tid() % 32 == 0)
        part[tid() / 32] = x;
    __syncthreads();
    x = part[tid() % 32 < __nvvm_read_ptx_sreg_ntid_x() / 32 ? tid() % 32 : 0];
    if (tid() % 32 >= __nvvm_read_ptx_sreg_ntid_x() / 32)
        x = 0;
    x = warp_sum(x);
    __syncthreads();
    return x;
}

struct pair {
    u64 low;
    float high, more;
};

/* A result and a parameter of several parts. */
DEVICE pair exchange(pair mine, u32 lane)
{
    pair p;
    p.low = (u64)__nvvm_shfl_sync_idx_i32(~0u, (u32)mine.low, lane, 31) << 32 |
            (u32)(mine.low >> 32);
    p.high = __nvvm_shfl_sync_idx_f32(~0u, mine.high, lane, 31);
    p.more = mine.more + 1;
    return p;
}

/* Comes back in the middle. */
DEVICE u32 vote(u32 x, u32 n)
{
    if (n == 0)
        return 7;
    return __nvvm_vote_ballot_sync(~0u, x > n);
}

/* The thread may end in it. */
DEVICE u32 leave(u32 x, u32 n)
{
    if (x >= n)
        asm volatile("exit;");
    return x * 3;
}

/* Not inlined by anyone, nothing to cut in it. */
DEVICE u32 scramble(u32 x)
{
    for (u32 i = 0; i < (x & 7); i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

KERNEL sums(u32 *out, const u32 *in, u32 n)
{
    u32 total = 0;
    for (u32 i = 0; i < n; i++)
        total += block_sum(scramble(in[i * 128 + tid()]) & 0xffff) * (i + 1);
    if (n & 1)
        total += block_sum(total & 0xff);
    out[cta() * 128 + tid()] = total + warp_sum(tid());
}

KERNEL parts(u64 *out, const u32 *in)
{
    pair p = {(u64)in[tid()] << 32 | tid(), in[tid()] * 0.5f, 1.0f};
    p = exchange(p, tid() * 5 % 32);
    p = exchange(p, 31 - tid() % 32);
    out[2 * tid()] = p.low;
    out[2 * tid() + 1] = (u64)(p.high * 2 + p.more);
}

KERNEL votes(u32 *out, const u32 *in, u32 n)
{
    u32 sum = 0;
    if (n != 3)
        sum = vote(in[tid()], n);
    out[tid()] = sum + vote(in[tid()] & 0xff, n * 10);
}

KERNEL leaves(u32 *out, const u32 *in, u32 n)
{
    const u32 x = leave(tid(), n);
    out[tid()] = x + in[tid()];
    __syncthreads();
    out[tid()] += block_sum(1) * 1000;
}
