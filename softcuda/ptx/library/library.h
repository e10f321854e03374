// SPDX-License-Identifier: Apache-2.0
/* The instruction library: what PTX instructions mean where LLVM IR has no instruction of
 * that meaning. Plain C, compiled to textual IR by scripts/ptx_library.py into
 * library_ir.inc (committed; lowering pastes the functions that a kernel needs) and, for
 * unit tests, by the host's compiler.
 *
 * Everything is branch-free arithmetic where it may be in a vectorized thread loop. No
 * function calls anything but another one of these and LLVM intrinsics. Names end in
 * rounding and type as the instructions do; f16 and bf16 are their 16 bits. */
#ifndef SOFT_PTX_LIBRARY_H
#define SOFT_PTX_LIBRARY_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define SIGN32 0x80000000u
#define SIGN64 0x8000000000000000ull
#define INF32 0x7f800000u
#define INF64 0x7ff0000000000000ull

static inline u32 bits32(float x)
{
    union {
        float f;
        u32 u;
    } v = {.f = x};
    return v.u;
}
static inline float float32(u32 x)
{
    union {
        u32 u;
        float f;
    } v = {.u = x};
    return v.f;
}
static inline u64 bits64(double x)
{
    union {
        double f;
        u64 u;
    } v = {.f = x};
    return v.u;
}
static inline double float64(u64 x)
{
    union {
        u64 u;
        double f;
    } v = {.u = x};
    return v.f;
}
static inline int is_nan32(float x)
{
    return x != x;
}
static inline int is_nan64(double x)
{
    return x != x;
}

/* Functions that one file gives to the others. */
float x_cvt_f32_f16(u16 x);
float x_cvt_f32_bf16(u16 x);
u16 x_cvt_rn_f16_f32(float x);
u16 x_cvt_rn_bf16_f32(float x);
float x_odd_f32_f64(double x);
double x_odd_add_f64(double a, double b);
float x_ftz_f32(float x);
float x_ex2_approx_f32(float x);
float x_tanh_approx_f32(float x);
float x_rcp_approx_f32(float x);

#endif
