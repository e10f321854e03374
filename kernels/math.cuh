// SPDX-License-Identifier: Apache-2.0
/* What nvcc's headers would give a kernel, for clang without the CUDA toolkit: the words
 * __global__, __shared__ and so on, indices, barriers, shuffles, atomics, and exp, rsqrt,
 * sin and cos without libdevice. Everything becomes one PTX instruction or a few lines of
 * arithmetic, so that a kernel written with it reads as it would under nvcc. */
#ifndef KERNELS_MATH_CUH
#define KERNELS_MATH_CUH

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __attribute__((always_inline)) inline
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define KERNEL extern "C" __global__ void

typedef unsigned int u32;
typedef unsigned long long u64;

/* The device's clock, which all its multiprocessors share. */
__device__ __forceinline__ u64 now_ns()
{
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* What was written before is seen before what is written afterwards, by the host too. */
__device__ __forceinline__ void fence()
{
    asm volatile("membar.sys;" ::: "memory");
}

#define INDEX3(name, sreg)                                                               \
    struct name##_t {                                                                    \
        __declspec(property(get = get_x)) u32 x;                                         \
        __declspec(property(get = get_y)) u32 y;                                         \
        __declspec(property(get = get_z)) u32 z;                                         \
        static __device__ __forceinline__ u32 get_x()                                    \
        {                                                                                \
            return (u32)__nvvm_read_ptx_sreg_##sreg##_x();                               \
        }                                                                                \
        static __device__ __forceinline__ u32 get_y()                                    \
        {                                                                                \
            return (u32)__nvvm_read_ptx_sreg_##sreg##_y();                               \
        }                                                                                \
        static __device__ __forceinline__ u32 get_z()                                    \
        {                                                                                \
            return (u32)__nvvm_read_ptx_sreg_##sreg##_z();                               \
        }                                                                                \
    };                                                                                   \
    extern const __device__ __attribute__((weak)) name##_t name;

INDEX3(threadIdx, tid)
INDEX3(blockIdx, ctaid)
INDEX3(blockDim, ntid)
INDEX3(gridDim, nctaid)
#undef INDEX3

static const u32 WARP = 32, ALL_LANES = 0xffffffffu;

__device__ __forceinline__ void __syncwarp()
{
    __nvvm_bar_warp_sync(ALL_LANES);
}

__device__ __forceinline__ float __int_as_float(int x)
{
    return __builtin_bit_cast(float, x);
}
__device__ __forceinline__ int __float_as_int(float x)
{
    return __builtin_bit_cast(int, x);
}

__device__ __forceinline__ int __shfl_xor_sync(u32 mask, int x, int lane_mask)
{
    return __nvvm_shfl_sync_bfly_i32(mask, x, lane_mask, 31);
}
__device__ __forceinline__ float __shfl_xor_sync(u32 mask, float x, int lane_mask)
{
    return __nvvm_shfl_sync_bfly_f32(mask, x, lane_mask, 31);
}
__device__ __forceinline__ float __shfl_down_sync(u32 mask, float x, u32 delta)
{
    return __nvvm_shfl_sync_down_f32(mask, x, (int)delta, 31);
}

__device__ __forceinline__ float atomicAdd(float *at, float x)
{
    return __nvvm_atom_add_gen_f(at, x);
}
__device__ __forceinline__ int atomicAdd(int *at, int x)
{
    return __nvvm_atom_add_gen_i(at, x);
}

__device__ __forceinline__ u32 __umulhi(u32 a, u32 b)
{
    return (u32)(((u64)a * b) >> 32);
}

__device__ __forceinline__ float fmaxf(float a, float b)
{
    return __nvvm_fmax_f(a, b);
}
__device__ __forceinline__ float fminf(float a, float b)
{
    return __nvvm_fmin_f(a, b);
}
__device__ __forceinline__ float fmaf(float a, float b, float c)
{
    return __nvvm_fma_rn_f(a, b, c);
}
__device__ __forceinline__ float rsqrtf(float x)
{
    return __nvvm_rsqrt_approx_f(x);
}

/* 2 ulp near 0; for |x| up to 88 the rounding of x * log2(e) adds some 1e-6 relative. */
__device__ __forceinline__ float __expf(float x)
{
    return __nvvm_ex2_approx_f(x * 1.4426950408889634f);
}

__device__ __forceinline__ float __fdividef(float a, float b)
{
    return __nvvm_div_approx_f(a, b);
}

/* Sine and cosine of |x| < 1e5, to about 1e-7 absolute while |x| < 1e4.
 * x = n * pi/2 + r with |r| <= pi/4; pi/2 in three parts, so that n * part is exact for
 * small n (Cody and Waite); then the minimax polynomials of Cephes' sinf and cosf. */
__device__ __forceinline__ void sincosf(float x, float *sine, float *cosine)
{
    const float n = __nvvm_round_f(x * 0.636619772f);
    float r = fmaf(n, -1.5703125f, x);
    r = fmaf(n, -4.83751296997070313e-4f, r);
    r = fmaf(n, -7.54978942e-8f, r);
    const float r2 = r * r;
    float s = fmaf(-1.9515295891e-4f, r2, 8.3321608736e-3f);
    s = fmaf(s, r2, -1.6666654611e-1f);
    s = fmaf(s * r2, r, r);
    float c = fmaf(2.443315711809948e-5f, r2, -1.388731625493765e-3f);
    c = fmaf(c, r2, 4.166664568298827e-2f);
    c = fmaf(c, r2 * r2, fmaf(-0.5f, r2, 1.0f));
    const int quarter = (int)n & 3;
    const float a = (quarter & 1) ? c : s;
    const float b = (quarter & 1) ? s : c;
    *sine = (quarter & 2) ? -a : a;
    *cosine = ((quarter + 1) & 2) ? -b : b;
}

/* Sums and maxima over a warp; every lane gets the result. */
__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step >>= 1)
        x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}
__device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int step = 16; step > 0; step >>= 1)
        x = fmaxf(x, __shfl_xor_sync(ALL_LANES, x, step));
    return x;
}

#endif
