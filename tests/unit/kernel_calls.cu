// SPDX-License-Identifier: Apache-2.0
/* Kernels that call the run time, wait for each other, or end badly. kernel_calls.ptx is
 * made of it:
 *     clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -O2
 *         -Xclang -target-feature -Xclang +ptx70 -S kernel_calls.cu -o kernel_calls.ptx
 */
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define SHARED static __attribute__((shared))
typedef unsigned u32;
typedef unsigned long long u64;

extern "C" DEVICE int vprintf(const char *, void *);
extern "C" DEVICE void *malloc(u64);
extern "C" DEVICE void free(void *);
extern "C" DEVICE void __assertfail(const char *, const char *, u32, const char *, u64);

static DEVICE u32 tid()
{
    return __nvvm_read_ptx_sreg_tid_x();
}

static DEVICE u32 cta()
{
    return __nvvm_read_ptx_sreg_ctaid_x();
}

KERNEL print()
{
    struct {
        int a;
        double b;
        const char *s;
        long long l;
        u32 x;
        int width, value;
    } p = {(int)tid(), tid() * 0.5, "text", -5, 255, 6, 7};
    if (tid() < 2 && cta() == 0)
        vprintf("thread %d half %.2f %s %lld%% %#x|%*d|\n", &p);
}

KERNEL heap(u32 *out, u32 n)
{
    u32 *p = (u32 *)malloc(n * 4);
    if (!p) {
        out[tid()] = 0;
        return;
    }
    u32 sum = 0;
    for (u32 i = 0; i < n; i++)
        p[i] = tid() + i;
    for (u32 i = 0; i < n; i++)
        sum += p[i];
    out[tid()] = sum;
    free(p);
}

KERNEL wild_free(u32 *out)
{
    if (tid() == 3)
        free(out);
}

KERNEL check(u32 n)
{
    if (cta() * 32 + tid() == n)
        __assertfail("n is small", "file.cu", 42, "check(u32)", 1);
}

KERNEL clocks(u64 *out)
{
    u64 now, time;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    out[0] = now;
    out[1] = time;
    asm volatile("nanosleep.u32 1000;");
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    out[2] = now;
}

/* Each block waits for the one before it. */
KERNEL look_back(volatile u32 *state, u32 *out)
{
    SHARED u32 mine;
    const u32 c = cta();
    if (tid() == 0) {
        u32 before = 0;
        if (c)
            while (!(before = state[c - 1]))
                ;
        mine = before;
        __nvvm_membar_gl();
        state[c] = before + 1;
    }
    __syncthreads();
    if (tid() == 31)
        out[c] = mine;
}

/* Every block adds one and waits for all the others. */
KERNEL all_blocks(u32 *count, u32 *out, u32 n)
{
    if (tid() == 0) {
        u32 now;
        asm volatile("red.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(now)
                         : "l"(count)
                         : "memory");
        } while (now < n);
    }
    __syncthreads();
    out[cta() * 32 + tid()] = *count;
}

KERNEL spin_lock(u32 *lock, u32 *sum)
{
    bool done = false;
    while (!done) {
        u32 old;
        asm volatile("atom.global.cas.b32 %0, [%1], 0, 1;"
                     : "=r"(old)
                     : "l"(lock)
                     : "memory");
        if (old == 0) {
            *(volatile u32 *)sum = *(volatile u32 *)sum + 1;
            __nvvm_membar_gl();
            asm volatile("st.volatile.global.u32 [%0], 0;" ::"l"(lock) : "memory");
            done = true;
        }
    }
}

/* Warp halves and odd threads meet apart. */
KERNEL divergent(u32 *out)
{
    u32 v = tid();
    if (tid() < 16) {
        v = v * 2;
        asm volatile("bar.warp.sync 0xffff;");
    } else {
        v = v * 3;
        asm volatile("bar.warp.sync 0xffff0000;");
    }
    if (tid() & 1) {
        __syncthreads();
        out[tid()] = v;
    } else {
        __syncthreads();
        out[tid()] = v + 1;
    }
}

/* A frame of local memory, and a call that no one inlines. */
static DEVICE __attribute__((noinline)) u32 fold(volatile u32 *part, u32 n)
{
    u32 sum = 0;
    for (u32 i = 0; i < n; i++)
        sum = sum * 31 + part[i];
    return sum;
}

KERNEL local(u32 *out, u32 n)
{
    volatile u32 part[32];
    for (u32 i = 0; i < n; i++)
        part[i & 31] = tid() * i;
    out[cta() * 32 + tid()] = fold(part, n & 31);
}
