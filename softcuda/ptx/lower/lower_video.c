// SPDX-License-Identifier: Apache-2.0
/* Video instructions (vadd ... vset, and those of two and four elements) and cvt.pack:
 * library functions that get all that is written besides operands as constants
 * (library/video.c says which bit is what). */
#include "softcuda/ptx/lower/lower.h"

typedef struct video {
    uint8_t operation; /* as of the library */
    uint8_t elements;  /* 1, 2 or 4 */
} video;

enum { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR, AVRG, SET };

static const video known[PTX_OP_COUNT] = {
    [PTX_OP_VADD] = {ADD, 1},         [PTX_OP_VADD2] = {ADD, 2},
    [PTX_OP_VADD4] = {ADD, 4},        [PTX_OP_VSUB] = {SUB, 1},
    [PTX_OP_VSUB2] = {SUB, 2},        [PTX_OP_VSUB4] = {SUB, 4},
    [PTX_OP_VMIN] = {MIN, 1},         [PTX_OP_VMIN2] = {MIN, 2},
    [PTX_OP_VMIN4] = {MIN, 4},        [PTX_OP_VMAX] = {MAX, 1},
    [PTX_OP_VMAX2] = {MAX, 2},        [PTX_OP_VMAX4] = {MAX, 4},
    [PTX_OP_VSET] = {SET, 1},         [PTX_OP_VSET2] = {SET, 2},
    [PTX_OP_VSET4] = {SET, 4},        [PTX_OP_VSHL] = {SHL, 1},
    [PTX_OP_VAVRG2] = {AVRG, 2},      [PTX_OP_VAVRG4] = {AVRG, 4},
    [PTX_OP_VSHR] = {SHR, 1},         [PTX_OP_VABSDIFF2] = {ABSDIFF, 2},
    [PTX_OP_VABSDIFF] = {ABSDIFF, 1}, [PTX_OP_VABSDIFF4] = {ABSDIFF, 4},
};

/* .b0 ... .b3 are 1 to 4, .h0 and .h1 5 and 6, nothing is 0. */
static uint32_t selection(const ptx_low *l, uint32_t nth)
{
    const uint8_t select = l->operands[nth]->select;
    if (select == 0)
        return 0;
    return select >= PTX_MOD_H0 ? 5u + (select - PTX_MOD_H0) : 1u + (select - PTX_MOD_B0);
}

static bool is_word(ptx_type type)
{
    return type == PTX_U32 || type == PTX_S32;
}

/* The bits of types and saturation; vset has no type of its own for d. */
static bool read_types(ptx_low *l, bool has_result, uint32_t *traits)
{
    const uint32_t first = has_result ? 1 : 0;
    if (l->insn->type_count != first + 2)
        return false;
    for (uint32_t i = 0; i < first + 2; i++)
        if (!is_word(ptx_type_at(l, i)))
            return false;
    *traits |= (uint32_t)(has_result && ptx_type_at(l, 0) == PTX_S32) << 16 |
               (uint32_t)(ptx_type_at(l, first) == PTX_S32) << 17 |
               (uint32_t)(ptx_type_at(l, first + 1) == PTX_S32) << 18 |
               (uint32_t)ptx_mod(l, PTX_MOD_SAT) << 19;
    return true;
}

/* The comparison of vset, or how shifts take large counts. */
static bool read_mode(ptx_low *l, uint32_t operation, uint32_t *traits)
{
    if (operation != SET && operation != SHL && operation != SHR)
        return true;
    const ptx_modifier first = operation == SET ? PTX_MOD_EQ : PTX_MOD_CLAMP;
    const ptx_modifier mode =
        ptx_one_of(l, first, operation == SET ? PTX_MOD_GE : PTX_MOD_WRAP);
    *traits |= (uint32_t)(mode - first) << 4;
    return mode != PTX_MOD_UNKNOWN;
}

static bool call(ptx_low *l, const char *name, uint32_t count, uint32_t traits,
                 const uint32_t *more)
{
    ptx_arg args[5];
    for (uint32_t i = 0; i < 3; i++)
        args[i] =
            (ptx_arg){"i32", i + 1 < count ? ptx_in(l, i + 1, PTX_U32) : ptx_name("0")};
    args[3] = (ptx_arg){"i32", ptx_name("%d", (int)traits)};
    if (more)
        args[4] = (ptx_arg){"i32", ptx_name("%d", (int)*more)};
    ptx_out(l, 0, PTX_U32, ptx_call_library(l, name, "i32", args, more ? 5 : 4));
    return true;
}

/* A GPU has some forms in ways of its own, which differ from what PTX says of them: those
 * are left out. */
static bool is_usual(uint32_t operation, uint32_t traits)
{
    const uint32_t into = traits >> 7 & 7, second = traits >> 20 & 3;
    const bool d = traits >> 16 & 1, a = traits >> 17 & 1, b = traits >> 18 & 1;
    const bool saturates = traits >> 19 & 1;
    if (into == 6 || (into != 0 && saturates) || (operation == SHL && saturates) ||
        (second != 0 && saturates && second != 1))
        return false;
    if (second < 2) /* none, or addition */
        return true;
    switch (operation) {
    case ADD:
    case SUB: return d;
    case ABSDIFF: return !d;
    case MIN:
    case MAX: return d == a && d == b;
    case SET: return !a && !b;
    default: return false;
    }
}

/* .add .min .max as 1, 2, 3. */
static uint32_t second_operation(ptx_low *l)
{
    if (ptx_mod(l, PTX_MOD_ADD))
        return 1;
    const ptx_modifier word = ptx_one_of(l, PTX_MOD_MIN, PTX_MOD_MAX);
    return word != PTX_MOD_UNKNOWN ? 2u + (word - PTX_MOD_MIN) : 0;
}

/* d{.sel}, a{.sel}, b{.sel}{, c}: c where d is merged into it, or a second operation. */
static bool scalar(ptx_low *l, const video *v)
{
    uint32_t traits = v->operation;
    if (!read_types(l, v->operation != SET, &traits) ||
        !read_mode(l, v->operation, &traits) || l->count < 3)
        return false;
    const uint32_t second = second_operation(l), into = selection(l, 0);
    const bool has_third = second != 0 || into != 0;
    if ((second != 0 && into != 0) || !ptx_check_all(l, PTX_U32, has_third ? 3 : 2))
        return false;
    traits |= into << 7 | selection(l, 1) << 10 | selection(l, 2) << 13 | second << 20;
    return is_usual(v->operation, traits) && call(l, "video", l->count, traits, NULL);
}

/* {-}a, {-}b, {-}c: one of the product and c is negated at most, none with .po. */
static bool multiply_add(ptx_low *l)
{
    uint32_t traits = 0;
    if (!read_types(l, true, &traits) || !ptx_check_all(l, PTX_U32, 3) ||
        selection(l, 0) != 0 || selection(l, 3) != 0)
        return false;
    const bool product = l->operands[1]->negate != l->operands[2]->negate;
    const bool third = l->operands[3]->negate != 0;
    const bool more = ptx_mod(l, PTX_MOD_PO);
    const bool any = l->operands[1]->negate || l->operands[2]->negate || third;
    if ((product && third) || (more && any))
        return false;
    const uint32_t shift = ptx_mod(l, PTX_MOD_SHR7)    ? 7
                           : ptx_mod(l, PTX_MOD_SHR15) ? 15
                                                       : 0;
    const bool is_signed = (traits >> 17 & 3) != 0 || product || third;
    if (!is_signed && shift != 0 && (traits >> 19 & 1)) /* see is_usual() */
        return false;
    traits |= shift | (uint32_t)product << 5 | (uint32_t)third << 6 |
              (uint32_t)more << 7 | selection(l, 1) << 10 | selection(l, 2) << 13;
    return call(l, "video_mad", 4, traits, NULL);
}

/* The digits of .h32 or .b7654 as nibbles, the last one lowest; `usual` without. */
static bool digits(const ptx_low *l, uint32_t nth, uint32_t elements, uint32_t usual,
                   uint32_t *out)
{
    const ptx_operand *operand = l->operands[nth];
    *out = usual;
    if (operand->select == 0)
        return true;
    *out = (uint32_t)operand->imm & 0xffff;
    return operand->select == PTX_SELECT_DIGITS &&
           (uint32_t)operand->imm >> 16 == elements;
}

/* The elements of d that are written, a bit each. */
static bool mask_of(const ptx_low *l, uint32_t elements, uint32_t *out)
{
    const ptx_operand *operand = l->operands[0];
    *out = elements == 2 ? 3 : 15;
    if (operand->select == 0)
        return true;
    if (operand->select != PTX_SELECT_DIGITS)
        return false;
    *out = 0;
    for (uint32_t i = 0; i < (uint32_t)operand->imm >> 16; i++)
        *out |= 1u << ((uint32_t)operand->imm >> (4 * i) & 15);
    return *out < 1u << elements;
}

static bool parallel(ptx_low *l, const video *v)
{
    uint32_t traits = v->operation, a, b, mask;
    const uint32_t n = v->elements;
    if (!read_types(l, v->operation != SET, &traits) ||
        !read_mode(l, v->operation, &traits) || !ptx_check_all(l, PTX_U32, 3) ||
        l->operands[3]->select != 0 || !mask_of(l, n, &mask) ||
        !digits(l, 1, n, n == 2 ? 0x10 : 0x3210, &a) ||
        !digits(l, 2, n, n == 2 ? 0x32 : 0x7654, &b))
        return false;
    traits |= (uint32_t)ptx_mod(l, PTX_MOD_ADD) << 20 | mask << 24;
    const uint32_t selections = a | b << 16;
    return call(l, n == 2 ? "video_two" : "video_four", 4, traits, &selections);
}

static bool video_form(ptx_low *l)
{
    const video *v = &known[l->insn->opcode];
    return v->elements == 1 ? scalar(l, v) : parallel(l, v);
}

/* cvt.pack.sat.s16.s32 d, a, b; cvt.pack.sat.u4.s32.b32 d, a, b, c */
bool ptx_low_pack(ptx_low *l)
{
    const ptx_type to = ptx_type_at(l, 0);
    const ptx_modifier narrow = ptx_one_of(l, PTX_MOD_U2, PTX_MOD_S4);
    const uint32_t sub = narrow != PTX_MOD_UNKNOWN ? 1u + (narrow - PTX_MOD_U2) : 0;
    const uint32_t bits = sub != 0 ? (sub <= 2 ? 2 : 4) : ptx_bits(to);
    const bool is_signed = sub != 0 ? sub % 2 == 0 : ptx_is_signed(to);
    const bool narrows =
        sub != 0 || to == PTX_U8 || to == PTX_S8 || to == PTX_U16 || to == PTX_S16;
    const bool has_third = bits != 16;
    if (!ptx_mod(l, PTX_MOD_PACK) || !ptx_mod(l, PTX_MOD_SAT) || !narrows ||
        ptx_type_at(l, 1) != PTX_S32 || l->insn->type_count != 2u + has_third ||
        (has_third && ptx_type_at(l, 2) != PTX_B32) ||
        !ptx_check_all(l, PTX_U32, 2u + has_third))
        return false;
    const ptx_arg args[] = {{"i32", ptx_in(l, 1, PTX_S32)},
                            {"i32", ptx_in(l, 2, PTX_S32)},
                            {"i32", has_third ? ptx_in(l, 3, PTX_B32) : ptx_name("0")},
                            {"i32", ptx_name("%u", bits)},
                            {"i32", ptx_name("%d", is_signed)}};
    ptx_out(l, 0, PTX_B32, ptx_call_library(l, "cvt_pack", "i32", args, 5));
    return true;
}

ptx_family ptx_low_video = {
    [PTX_OP_VMAD] = multiply_add,    [PTX_OP_VADD] = video_form,
    [PTX_OP_VADD2] = video_form,     [PTX_OP_VADD4] = video_form,
    [PTX_OP_VSUB] = video_form,      [PTX_OP_VSUB2] = video_form,
    [PTX_OP_VSUB4] = video_form,     [PTX_OP_VABSDIFF] = video_form,
    [PTX_OP_VABSDIFF2] = video_form, [PTX_OP_VABSDIFF4] = video_form,
    [PTX_OP_VMIN] = video_form,      [PTX_OP_VMIN2] = video_form,
    [PTX_OP_VMIN4] = video_form,     [PTX_OP_VMAX] = video_form,
    [PTX_OP_VMAX2] = video_form,     [PTX_OP_VMAX4] = video_form,
    [PTX_OP_VAVRG2] = video_form,    [PTX_OP_VAVRG4] = video_form,
    [PTX_OP_VSET] = video_form,      [PTX_OP_VSET2] = video_form,
    [PTX_OP_VSET4] = video_form,     [PTX_OP_VSHL] = video_form,
    [PTX_OP_VSHR] = video_form,
};
