// SPDX-License-Identifier: Apache-2.0
/* Texture and surface instructions as a table: what each one is written like, what its
 * coordinates are, and the resources that they are asked of. */
#ifndef TEXTURE_FORMS_H
#define TEXTURE_FORMS_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cuda/calls.h"

#define POINTS 64u /* threads of one launch */
#define COORDINATES 12u
#define RESULTS 4u

/* ---- resources ---- */

enum resource {
    R_1D,
    R_2D,
    R_3D,
    R_A1D,
    R_A2D,
    R_CUBE,
    R_ACUBE,
    R_MIP_1D,
    R_MIP_2D,
    R_MIP_3D,
    R_MIP_A2D,
    R_MIP_CUBE,
    R_LINEAR,
    R_PITCH,
    R_COUNT
};

struct resource_facts {
    const char *name;
    unsigned width, height, depth, flags, levels;
};

static const struct resource_facts resources[R_COUNT] = {
    [R_1D] = {"1d", 67, 0, 0, 0, 0},
    [R_2D] = {"2d", 13, 7, 0, 0, 0},
    [R_3D] = {"3d", 11, 5, 3, 0, 0},
    [R_A1D] = {"a1d", 17, 0, 4, CUDA_ARRAY3D_LAYERED, 0},
    [R_A2D] = {"a2d", 9, 5, 3, CUDA_ARRAY3D_LAYERED, 0},
    [R_CUBE] = {"cube", 9, 9, 6, CUDA_ARRAY3D_CUBEMAP, 0},
    [R_ACUBE] = {"acube", 5, 5, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 0},
    [R_MIP_1D] = {"mip1d", 32, 0, 0, 0, 6},
    [R_MIP_2D] = {"mip2d", 13, 7, 0, 0, 4},
    [R_MIP_3D] = {"mip3d", 16, 8, 4, 0, 5},
    [R_MIP_A2D] = {"mipa2d", 8, 8, 3, CUDA_ARRAY3D_LAYERED, 4},
    [R_MIP_CUBE] = {"mipcube", 8, 8, 6, CUDA_ARRAY3D_CUBEMAP, 4},
    [R_LINEAR] = {"linear", 37, 0, 0, 0, 0},
    [R_PITCH] = {"pitch", 13, 7, 0, 0, 0},
};

struct format_facts {
    const char *name;
    CUarray_format format;
    unsigned channels, bytes; /* of a channel */
};

enum format {
    U8X4,
    S8X2,
    U16X1,
    S16X2,
    U32X1,
    S32X4,
    F16X4,
    F32X1,
    F32X4,
    F16X1,
    U8X1,
    F32X2
};
static const struct format_facts formats[] = {
    [U8X4] = {"u8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4, 1},
    [S8X2] = {"s8x2", CU_AD_FORMAT_SIGNED_INT8, 2, 1},
    [U16X1] = {"u16x1", CU_AD_FORMAT_UNSIGNED_INT16, 1, 2},
    [S16X2] = {"s16x2", CU_AD_FORMAT_SIGNED_INT16, 2, 2},
    [U32X1] = {"u32x1", CU_AD_FORMAT_UNSIGNED_INT32, 1, 4},
    [S32X4] = {"s32x4", CU_AD_FORMAT_SIGNED_INT32, 4, 4},
    [F16X4] = {"f16x4", CU_AD_FORMAT_HALF, 4, 2},
    [F32X1] = {"f32x1", CU_AD_FORMAT_FLOAT, 1, 4},
    [F32X4] = {"f32x4", CU_AD_FORMAT_FLOAT, 4, 4},
    [F16X1] = {"f16x1", CU_AD_FORMAT_HALF, 1, 2},
    [U8X1] = {"u8x1", CU_AD_FORMAT_UNSIGNED_INT8, 1, 1},
    [F32X2] = {"f32x2", CU_AD_FORMAT_FLOAT, 2, 4},
};

/* ---- instructions ---- */

/* `text` has # for the destinations {%d0,%d1,%d2,%d3} and $0 ... $9, $a, $b for words of
 * the thread's input. What these are, `coordinates` says, a letter each:
 *   x y z  a coordinate as float, near and around the resource
 *   i j k  an integer one, around the resource     l  a layer, around
 *   X Y Z  a direction                              L  a level, D a derivative
 *   p q r  integers inside, a place for each thread, in bytes where the form is `bytes`
 *   u v w  the same, and the last thread outside
 *   n      a layer, as q of a row                   m  a level or layer inside
 *   o      the same, and two threads outside */
struct form {
    const char *name, *coordinates, *text;
    unsigned unit; /* bytes of one p or u; 1: elements */
};

#define TEX(geometry, coordinates, vector)                                               \
    {                                                                                    \
        "tex." geometry ".f32", coordinates,                                             \
            "tex." geometry ".v4.f32.f32 #,[%h,{" vector "}];", 1                        \
    }
#define TEX_S32(geometry, coordinates, vector)                                           \
    {                                                                                    \
        "tex." geometry ".s32", coordinates,                                             \
            "tex." geometry ".v4.f32.s32 #,[%h,{" vector "}];", 1                        \
    }
#define LEVEL(geometry, coordinates, vector, level)                                      \
    {                                                                                    \
        "tex.level." geometry, coordinates,                                              \
            "tex.level." geometry ".v4.f32.f32 #,[%h,{" vector "}]," level ";", 1        \
    }
#define GRAD(geometry, coordinates, vector, dx, dy)                                      \
    {                                                                                    \
        "tex.grad." geometry, coordinates,                                               \
            "tex.grad." geometry ".v4.f32.f32 #,[%h,{" vector "}],{" dx "},{" dy "};", 1 \
    }
#define TLD4(component, geometry, coordinates, vector)                                   \
    {                                                                                    \
        "tld4." component "." geometry, coordinates,                                     \
            "tld4." component "." geometry ".v4.f32.f32 #,[%h,{" vector "}];", 1         \
    }
#define ASK(opcode, query)                                                               \
    {                                                                                    \
        opcode "." query, "", opcode "." query ".b32 %d0,[%h];", 1                       \
    }

enum form_number {
    TEX_1D,
    TEX_2D,
    TEX_3D,
    TEX_A1D,
    TEX_A2D,
    TEX_CUBE,
    TEX_ACUBE,
    I_1D,
    I_2D,
    I_3D,
    I_A1D,
    I_A2D,
    LEVEL_1D,
    LEVEL_2D,
    LEVEL_3D,
    LEVEL_A1D,
    LEVEL_A2D,
    LEVEL_CUBE,
    LEVEL_ACUBE,
    LEVEL_I_2D,
    GRAD_1D,
    GRAD_2D,
    GRAD_3D,
    GRAD_A1D,
    GRAD_A2D,
    GRAD_CUBE,
    TLD4_R,
    TLD4_G,
    TLD4_B,
    TLD4_A,
    TLD4_A2D,
    TLD4_CUBE,
    TLD4_ACUBE,
    F16_2D,
    F16X2_2D,
    F16_1D_S32,
    U32_1D,
    U32_2D,
    S32_2D,
    U32_3D,
    U32_I_1D,
    S32_I_2D,
    TLD4_U32,
    FORM_COUNT
};

static const struct form forms[FORM_COUNT] = {
    [TEX_1D] = TEX("1d", "x", "$0"),
    [TEX_2D] = TEX("2d", "xy", "$0,$1"),
    [TEX_3D] = TEX("3d", "xyz", "$0,$1,$2,$2"),
    [TEX_A1D] = TEX("a1d", "lx", "$0,$1"),
    [TEX_A2D] = TEX("a2d", "lxy", "$0,$1,$2,$2"),
    [TEX_CUBE] = TEX("cube", "XYZ", "$0,$1,$2,$2"),
    [TEX_ACUBE] = TEX("acube", "lXYZ", "$0,$1,$2,$3"),
    [I_1D] = TEX_S32("1d", "i", "$0"),
    [I_2D] = TEX_S32("2d", "ij", "$0,$1"),
    [I_3D] = TEX_S32("3d", "ijk", "$0,$1,$2,$2"),
    [I_A1D] = TEX_S32("a1d", "li", "$0,$1"),
    [I_A2D] = TEX_S32("a2d", "lij", "$0,$1,$2,$2"),
    [LEVEL_1D] = LEVEL("1d", "xL", "$0", "$1"),
    [LEVEL_2D] = LEVEL("2d", "xyL", "$0,$1", "$2"),
    [LEVEL_3D] = LEVEL("3d", "xyzL", "$0,$1,$2,$2", "$3"),
    [LEVEL_A1D] = LEVEL("a1d", "lxL", "$0,$1", "$2"),
    [LEVEL_A2D] = LEVEL("a2d", "lxyL", "$0,$1,$2,$2", "$3"),
    [LEVEL_CUBE] = LEVEL("cube", "XYZL", "$0,$1,$2,$2", "$3"),
    [LEVEL_ACUBE] = LEVEL("acube", "lXYZL", "$0,$1,$2,$3", "$4"),
    [LEVEL_I_2D] = {"tex.level.2d.s32", "ijm",
                    "tex.level.2d.v4.f32.s32 #,[%h,{$0,$1}],$2;", 1},
    [GRAD_1D] = GRAD("1d", "xDD", "$0", "$1", "$2"),
    [GRAD_2D] = GRAD("2d", "xyDDDD", "$0,$1", "$2,$3", "$4,$5"),
    [GRAD_3D] = GRAD("3d", "xyzDDDDDD", "$0,$1,$2,$2", "$3,$4,$5,$5", "$6,$7,$8,$8"),
    [GRAD_A1D] = GRAD("a1d", "lxDD", "$0,$1", "$2", "$3"),
    [GRAD_A2D] = GRAD("a2d", "lxyDDDD", "$0,$1,$2,$2", "$3,$4", "$5,$6"),
    [GRAD_CUBE] = GRAD("cube", "XYZDDDDDD", "$0,$1,$2,$2", "$3,$4,$5,$5", "$6,$7,$8,$8"),
    [TLD4_R] = TLD4("r", "2d", "xy", "$0,$1"),
    [TLD4_G] = TLD4("g", "2d", "xy", "$0,$1"),
    [TLD4_B] = TLD4("b", "2d", "xy", "$0,$1"),
    [TLD4_A] = TLD4("a", "2d", "xy", "$0,$1"),
    [TLD4_A2D] = TLD4("g", "a2d", "lxy", "$0,$1,$2,$2"),
    [TLD4_CUBE] = TLD4("r", "cube", "XYZ", "$0,$1,$2,$2"),
    [TLD4_ACUBE] = TLD4("b", "acube", "lXYZ", "$0,$1,$2,$3"),
    [F16_2D] = {"tex.2d.v4.f16.f32", "xy",
                "tex.2d.v4.f16.f32 {%e0,%e1,%e2,%e3},[%h,{$0,$1}];"
                "mov.b32 %d0,{%e0,%e1};mov.b32 %d1,{%e2,%e3};",
                1},
    [F16X2_2D] = {"tex.2d.v2.f16x2.f32", "xy",
                  "tex.2d.v2.f16x2.f32 {%d0,%d1},[%h,{$0,$1}];", 1},
    [F16_1D_S32] = {"tex.1d.v4.f16.s32", "i",
                    "tex.1d.v4.f16.s32 {%e0,%e1,%e2,%e3},[%h,{$0}];"
                    "mov.b32 %d0,{%e0,%e1};mov.b32 %d1,{%e2,%e3};",
                    1},
    [U32_1D] = {"tex.1d.u32", "x", "tex.1d.v4.u32.f32 #,[%h,{$0}];", 1},
    [U32_2D] = {"tex.2d.u32", "xy", "tex.2d.v4.u32.f32 #,[%h,{$0,$1}];", 1},
    [S32_2D] = {"tex.2d.s32.f32", "xy", "tex.2d.v4.s32.f32 #,[%h,{$0,$1}];", 1},
    [U32_3D] = {"tex.3d.u32", "xyz", "tex.3d.v4.u32.f32 #,[%h,{$0,$1,$2,$2}];", 1},
    [U32_I_1D] = {"tex.1d.u32.s32", "i", "tex.1d.v4.u32.s32 #,[%h,{$0}];", 1},
    [S32_I_2D] = {"tex.2d.s32.s32", "ij", "tex.2d.v4.s32.s32 #,[%h,{$0,$1}];", 1},
    [TLD4_U32] = {"tld4.g.2d.u32", "xy", "tld4.g.2d.v4.u32.f32 #,[%h,{$0,$1}];", 1},
};

static const struct form queries[] = {
    ASK("txq", "width"),
    ASK("txq", "height"),
    ASK("txq", "depth"),
    {"txq.level.width", "", "mov.b32 %c0,1;txq.level.width.b32 %d0,[%h],%c0;", 1},
};

static const struct form surface_queries[] = {
    ASK("suq", "width"),
    ASK("suq", "height"),
    ASK("suq", "depth"),
};

struct surface_form {
    struct form form;
    enum resource resource;
    enum format format;
};

#define SULD1(mode, b, c)                                                                \
    {                                                                                    \
        "suld.b.1d.v1." b "." mode, c, "suld.b.1d.v1." b "." mode " {%d0},[%h,{$0}];", 0 \
    }
#define SULD(geometry, v, dst, b, mode, c, vector, unit)                                 \
    {                                                                                    \
        "suld.b." geometry v "." b "." mode, c,                                          \
            "suld.b." geometry v "." b "." mode " " dst ",[%h,{" vector "}];", unit      \
    }
#define SUST(geometry, v, b, mode, c, vector, src, unit)                                 \
    {                                                                                    \
        "sust.b." geometry v "." b "." mode, c,                                          \
            "sust.b." geometry v "." b "." mode " [%h,{" vector "}]," src ";", unit      \
    }

/* %e: 16 bits, %w: 64 bits, made into words after a load and from words before a store. */
#define E0 "mov.b32 {%e0,%e1},$b;"
#define TO_E0 "mov.b32 %d0,{%e0,%e0};"
static const struct surface_form surface_forms[] = {
    {SULD("1d", "", "%d0", "b32", "trap", "p", "$0", 4), R_1D, F32X1},
    {SULD("1d", "", "%d0", "b32", "clamp", "u", "$0", 4), R_1D, F32X1},
    {SULD("1d", "", "%d0", "b32", "zero", "u", "$0", 4), R_1D, F32X1},
    {SULD("1d", ".v4", "#", "b32", "zero", "u", "$0", 16), R_1D, F32X4},
    {SULD("1d", ".v2", "{%d0,%d1}", "b32", "clamp", "u", "$0", 8), R_1D, F32X2},
    {{"suld.b.1d.b8.trap", "p", "suld.b.1d.b8.trap %e0,[%h,{$0}];" TO_E0, 1}, R_1D, U8X1},
    {{"suld.b.1d.b16.zero", "u", "suld.b.1d.b16.zero %e0,[%h,{$0}];" TO_E0, 2},
     R_1D,
     U16X1},
    {{"suld.b.1d.b64.zero", "u",
      "suld.b.1d.b64.zero %w0,[%h,{$0}];mov.b64 {%d0,%d1},%w0;", 8},
     R_1D,
     F16X4},
    {{"suld.b.2d.v2.b64.trap", "pq",
      "suld.b.2d.v2.b64.trap {%w0,%w1},[%h,{$0,$1}];mov.b64 {%d0,%d1},%w0;mov.b64 "
      "{%d2,%d3},%w1;",
      16},
     R_2D,
     S32X4},
    {{"suld.b.2d.v4.b8.clamp", "uv",
      "suld.b.2d.v4.b8.clamp {%e0,%e1,%e2,%e3},[%h,{$0,$1}];mov.b32 "
      "%d0,{%e0,%e1};mov.b32 %d1,{%e2,%e3};",
      4},
     R_2D,
     U8X4},
    {{"suld.b.2d.v2.b16.zero", "uv",
      "suld.b.2d.v2.b16.zero {%e0,%e1},[%h,{$0,$1}];mov.b32 %d0,{%e0,%e1};", 4},
     R_2D,
     S16X2},
    {SULD("2d", "", "%d0", "b32", "trap", "pq", "$0,$1", 4), R_2D, F32X1},
    {SULD("2d", "", "%d0", "b32", "clamp", "uv", "$0,$1", 4), R_2D, F32X1},
    {SULD("2d", "", "%d0", "b32", "zero", "uv", "$0,$1", 4), R_2D, F32X1},
    {SULD("3d", "", "%d0", "b32", "clamp", "uvw", "$0,$1,$2,$2", 4), R_3D, F32X1},
    {SULD("3d", "", "%d0", "b32", "zero", "uvw", "$0,$1,$2,$2", 4), R_3D, U8X4},
    {SULD("a1d", "", "%d0", "b32", "zero", "mu", "$0,$1", 4), R_A1D, F32X1},
    {SULD("a1d", "", "%d0", "b32", "clamp", "lu", "$0,$1", 4), R_A1D, F32X1},
    {SULD("a2d", "", "%d0", "b32", "clamp", "luv", "$0,$1,$2,$2", 4), R_A2D, F32X1},
    {SULD("a2d", "", "%d0", "b32", "zero", "luv", "$0,$1,$2,$2", 4), R_A2D, F32X1},
    {SULD("a2d", "", "%d0", "b32", "zero", "luv", "$0,$1,$2,$2", 4), R_CUBE, F32X1},
    /* an access narrower, and wider, than an element */
    {SULD("2d", "", "%d0", "b32", "zero", "uv", "$0,$1", 4), R_2D, F32X4},
    {SULD("2d", ".v2", "{%d0,%d1}", "b32", "zero", "uv", "$0,$1", 8), R_2D, F32X1},
    {SUST("1d", "", "b32", "trap", "p", "$0", "$b", 4), R_1D, F32X1},
    {SUST("1d", ".v4", "b32", "zero", "u", "$0", "{$8,$9,$a,$b}", 16), R_1D, F32X4},
    {{"sust.b.1d.b8.zero", "u", E0 "sust.b.1d.b8.zero [%h,{$0}],%e0;", 1}, R_1D, U8X1},
    {{"sust.b.1d.b16.clamp", "u", E0 "sust.b.1d.b16.clamp [%h,{$0}],%e0;", 2},
     R_1D,
     U16X1},
    {{"sust.b.2d.b64.zero", "uv",
      "mov.b64 %w0,{$a,$b};sust.b.2d.b64.zero [%h,{$0,$1}],%w0;", 8},
     R_2D,
     F16X4},
    {SUST("2d", "", "b32", "clamp", "uv", "$0,$1", "$b", 4), R_2D, F32X1},
    {SUST("2d", "", "b32", "zero", "uv", "$0,$1", "$b", 4), R_2D, U8X4},
    {SUST("3d", "", "b32", "zero", "uvw", "$0,$1,$2,$2", "$b", 4), R_3D, F32X1},
    {SUST("a1d", "", "b32", "trap", "np", "$0,$1", "$b", 4), R_A1D, F32X1},
    {SUST("a1d", "", "b32", "clamp", "ou", "$0,$1", "$b", 4), R_A1D, F32X1},
    {SUST("a1d", "", "b32", "zero", "ou", "$0,$1", "$b", 4), R_A1D, U8X4},
    {SUST("a2d", "", "b32", "trap", "npq", "$0,$1,$2,$2", "$b", 4), R_A2D, F32X1},
    {SUST("a2d", "", "b32", "clamp", "ouv", "$0,$1,$2,$2", "$b", 4), R_A2D, F32X1},
    {SUST("a2d", "", "b32", "zero", "ouv", "$0,$1,$2,$2", "$b", 4), R_A2D, U8X4},
    {SUST("a2d", ".v4", "b32", "zero", "ouv", "$0,$1,$2,$2", "{$8,$9,$a,$b}", 16), R_A2D,
     F32X4},
    {SUST("a2d", "", "b32", "zero", "ouv", "$0,$1,$2,$2", "$b", 4), R_CUBE, F32X1},
    {SUST("a2d", "", "b32", "clamp", "ouv", "$0,$1,$2,$2", "$b", 4), R_ACUBE, F32X1},
    {{"sust.p.a2d.b32.zero u8x4", "ouv",
      "sust.p.a2d.v4.b32.zero [%h,{$0,$1,$2,$2}],{$8,$9,$a,$b};", 1},
     R_A2D,
     U8X4},
    {{"sust.p.a1d.b32.clamp f16x4", "ou",
      "sust.p.a1d.v4.b32.clamp [%h,{$0,$1}],{$8,$9,$a,$b};", 1},
     R_A1D,
     F16X4},
    {{"sust.p.1d.b32.trap f32", "p", "sust.p.1d.v4.b32.trap [%h,{$0}],{$8,$9,$a,$b};", 1},
     R_1D,
     F32X1},
    {{"sust.p.2d.b32.zero u8x4", "uv",
      "sust.p.2d.v4.b32.zero [%h,{$0,$1}],{$8,$9,$a,$b};", 1},
     R_2D,
     U8X4},
    {{"sust.p.2d.b32.clamp s16x2", "uv",
      "sust.p.2d.v4.b32.clamp [%h,{$0,$1}],{$8,$9,$a,$b};", 1},
     R_2D,
     S16X2},
    {{"sust.p.2d.b32.trap f16x4", "pq",
      "sust.p.2d.v4.b32.trap [%h,{$0,$1}],{$8,$9,$a,$b};", 1},
     R_2D,
     F16X4},
    {{"sured.b.add.2d.u32.trap", "pq", "sured.b.add.2d.u32.trap [%h,{$0,$1}],$b;", 4},
     R_2D,
     U32X1},
    {{"sured.b.min.2d.s32.zero", "uv", "sured.b.min.2d.s32.zero [%h,{$0,$1}],$b;", 4},
     R_2D,
     U32X1},
    {{"sured.b.max.1d.u32.clamp", "u", "sured.b.max.1d.u32.clamp [%h,{$0}],$b;", 4},
     R_1D,
     U32X1},
    {{"sured.b.or.1d.b32.zero", "u", "sured.b.or.1d.b32.zero [%h,{$0}],$b;", 4},
     R_1D,
     U32X1},
    {{"sured.b.and.1d.b32.zero", "u", "sured.b.and.1d.b32.zero [%h,{$0}],$b;", 4},
     R_1D,
     U32X1},
    {{"sured.p.add.2d.b32.trap", "pq", "sured.p.add.2d.b32.trap [%h,{$0,$1}],$b;", 1},
     R_2D,
     U32X1},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#endif
