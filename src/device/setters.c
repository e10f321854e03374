// SPDX-License-Identifier: Apache-2.0
/* The text of the setters, and the comparison once more for the host. */
#include "device/setters.h"

#include <string.h>

/* Both sides become 64 bits wide, by kind: whole numbers without sign, with it, and
 * doubles. What holds between them is one bit, so six comparisons need no branch each. */
/* clang-format off */
#define READ(SIDE, TO) \
    "setp.eq.u32 %p1, %r1, 2;\nsetp.eq.or.u32 %p1, %r1, 3, %p1;\n" \
    "setp.eq.or.u32 %p1, %r1, 5, %p1;\n@%p1 ld.global.u64 " TO ", [" SIDE "];\n" \
    "not.pred %p2, %p1;\n@%p2 ld.global.u32 %r3, [" SIDE "];\n" \
    "@%p2 cvt.u64.u32 " TO ", %r3;\n"

/* A value of four bytes to eight; of a constant the low four count. */
#define WIDEN(TO) \
    "cvt.u32.u64 %r3, " TO ";\n" \
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 cvt.u64.u32 " TO ", %r3;\n" \
    "setp.eq.u32 %p1, %r1, 1;\n" \
    "@%p1 cvt.s64.s32 " TO ", %r3;\n" \
    "setp.eq.u32 %p1, %r1, 4;\nmov.b32 %f1, %r3;\ncvt.f64.f32 %g1, %f1;\n" \
    "@%p1 mov.b64 " TO ", %g1;\n"

#define BIT(TEST, VALUE) \
    TEST "\n@%p1 or.b32 %r4, %r4, " VALUE ";\n"

#define ORDER(TYPE) \
    BIT("setp.lt." TYPE " %p1, %d4, %d5;", "1") \
    BIT("setp.eq." TYPE " %p1, %d4, %d5;", "2") \
    BIT("setp.gt." TYPE " %p1, %d4, %d5;", "4") \
    "bra DECIDED;\n"

#define SET(HANDLE, VALUE) \
    "{ .param .b64 h;\n.param .b32 v;\n" \
    "st.param.b64 [h], " HANDLE ";\nst.param.b32 [v], " VALUE ";\n" \
    "call.uni cudaGraphSetConditional, (h, v);\n}\nret;\n}\n"

#define REGISTERS \
    "{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n" \
    ".reg .f32 %f<2>;\n.reg .f64 %g<4>;\n"

const gphi_kernel_text gphi_setter_text = {
    .what = "the kernels that set conditions",
    .names = {"gph_set_value", "gph_set_word", "gph_set_compare", "gph_set_count_down"},
    .ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"

    ".visible .entry gph_set_value(.param .u64 handle, .param .u32 value)\n" REGISTERS
    "ld.param.u64 %d1, [handle];\nld.param.u32 %r1, [value];\n" SET("%d1", "%r1")

    ".visible .entry gph_set_word(.param .u64 handle, .param .u64 word)\n" REGISTERS
    "ld.param.u64 %d1, [handle];\nld.param.u64 %d2, [word];\n"
    "ld.global.u32 %r1, [%d2];\n" SET("%d1", "%r1")

    ".visible .entry gph_set_compare(.param .align 8 .b8 compare[40])\n" REGISTERS
    "ld.param.u64 %d1, [compare];\nld.param.u64 %d2, [compare+8];\n"
    "ld.param.u64 %d3, [compare+16];\nld.param.u64 %d5, [compare+24];\n"
    "ld.param.u32 %r1, [compare+32];\nld.param.u32 %r2, [compare+36];\n"
    "mov.u32 %r4, 0;\n"
    READ("%d2", "%d4")
    "setp.eq.u64 %p3, %d3, 0;\n@%p3 bra READ_ALL;\n"
    READ("%d3", "%d5")
    "READ_ALL:\n"
    WIDEN("%d4") WIDEN("%d5")
    "setp.ge.u32 %p1, %r1, 4;\n@%p1 bra FLOATS;\n"
    "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra SIGNED;\n"
    ORDER("u64")
    "SIGNED:\n"
    ORDER("s64")
    "FLOATS:\n"
    "mov.b64 %g1, %d4;\nmov.b64 %g2, %d5;\n"
    BIT("setp.lt.f64 %p1, %g1, %g2;", "1")
    BIT("setp.eq.f64 %p1, %g1, %g2;", "2")
    BIT("setp.gt.f64 %p1, %g1, %g2;", "4")
    BIT("setp.nan.f64 %p1, %g1, %g2;", "8")
    "DECIDED:\n"
    "and.b32 %r4, %r4, %r2;\nsetp.ne.u32 %p1, %r4, 0;\nselp.u32 %r5, 1, 0, %p1;\n"
    "and.b32 %r6, %r2, 256;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra SETS;\n"
    "xor.b32 %r6, %r5, 1;\nst.global.u32 [%d1], %r5;\nst.global.u32 [%d1+4], %r6;\nret;\n"
    "SETS:\n" SET("%d1", "%r5")

    ".visible .entry gph_set_count_down(.param .u64 handle, .param .u64 word)\n" REGISTERS
    "ld.param.u64 %d1, [handle];\nld.param.u64 %d2, [word];\n"
    "ld.global.u32 %r1, [%d2];\nsetp.ne.u32 %p1, %r1, 0;\nselp.u32 %r2, 1, 0, %p1;\n"
    "sub.u32 %r1, %r1, %r2;\nst.global.u32 [%d2], %r1;\n" SET("%d1", "%r1")};
/* clang-format on */
_Static_assert(sizeof(gphi_compare_params) == 40, "the parameter of gph_set_compare");

/* ---- the same by the host ---- */

#define HOLDS(a, b)                                                                      \
    ((a) < (b)    ? GPHI_IS_LESS                                                         \
     : (a) > (b)  ? GPHI_IS_GREATER                                                      \
     : (a) == (b) ? GPHI_IS_EQUAL                                                        \
                  : GPHI_IS_UNORDERED)

static double number_of(uint32_t type, uint64_t bits)
{
    float single;
    double number;
    memcpy(&single, &bits, sizeof(single));
    memcpy(&number, &bits, sizeof(number));
    return type == GPHI_COMPARE_F32 ? single : number;
}

uint32_t gphi_compare_values(const gphi_compare_params *compare, uint64_t left,
                             uint64_t right)
{
    unsigned holds = 0;
    switch ((gphi_compare_type)compare->type) {
    case GPHI_COMPARE_U32: holds = HOLDS((uint32_t)left, (uint32_t)right); break;
    case GPHI_COMPARE_I32: holds = HOLDS((int32_t)left, (int32_t)right); break;
    case GPHI_COMPARE_U64: holds = HOLDS(left, right); break;
    case GPHI_COMPARE_I64: holds = HOLDS((int64_t)left, (int64_t)right); break;
    case GPHI_COMPARE_F32:
    case GPHI_COMPARE_F64: {
        const double a = number_of(compare->type, left);
        const double b = number_of(compare->type, right);
        holds = HOLDS(a, b);
        break;
    }
    }
    return (holds & compare->accepts) != 0;
}

size_t gphi_compare_bytes(uint32_t type)
{
    static const unsigned char bytes[] = {4, 4, 8, 8, 4, 8};
    return type < sizeof(bytes) ? bytes[type] : 0;
}
