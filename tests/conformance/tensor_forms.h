// SPDX-License-Identifier: Apache-2.0
/* Tensor core instructions for tensor_test.c: which forms there are, what goes into them,
 * and a kernel for each as PTX text.
 *
 * Fragments are given register by register, so nothing here knows which lane holds which
 * element: what a GPU makes of the same registers is recorded. Inputs come in classes that
 * each ask one thing about the arithmetic: see fill_class. */
#ifndef CONFORMANCE_TENSOR_FORMS_H
#define CONFORMANCE_TENSOR_FORMS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum element { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, S32 };

static const struct element_facts {
    const char *name;
    unsigned bits, mantissa, exponent; /* bits of a register's element; of its number */
} element_facts[] = {
    {"f16", 16, 10, 5},  {"bf16", 16, 7, 8}, {"tf32", 32, 23, 8}, {"f32", 32, 23, 8},
    {"f64", 64, 52, 11}, {"e4m3", 8, 3, 4},  {"e5m2", 8, 2, 5},   {"s8", 8, 0, 0},
    {"u8", 8, 0, 0},     {"s4", 4, 0, 0},    {"u4", 4, 0, 0},     {"b1", 1, 0, 0},
    {"s32", 32, 0, 0},
};

/* One mma.sync. `op` follows the types: ".and.popc". */
struct mma_form {
    unsigned m, n, k;
    enum element a, b, c, d;
    const char *before, *op;
};

static const struct mma_form mma_forms[] = {
    {16, 8, 8, F16, F16, F32, F32, "", ""},
    {16, 8, 16, F16, F16, F32, F32, "", ""},
    {16, 8, 8, F16, F16, F16, F16, "", ""},
    {16, 8, 16, F16, F16, F16, F16, "", ""},
    {16, 8, 8, BF16, BF16, F32, F32, "", ""},
    {16, 8, 16, BF16, BF16, F32, F32, "", ""},
    {16, 8, 4, TF32, TF32, F32, F32, "", ""},
    {16, 8, 8, TF32, TF32, F32, F32, "", ""},
    {8, 8, 4, F64, F64, F64, F64, "", ""},
    {16, 8, 4, F64, F64, F64, F64, "", ""},
    {16, 8, 8, F64, F64, F64, F64, "", ""},
    {16, 8, 16, F64, F64, F64, F64, "", ""},
    {16, 8, 32, E4M3, E4M3, F32, F32, "", ""},
    {16, 8, 32, E4M3, E5M2, F32, F32, "", ""},
    {16, 8, 32, E5M2, E4M3, F32, F32, "", ""},
    {16, 8, 32, E5M2, E5M2, F32, F32, "", ""},
    {16, 8, 16, E4M3, E4M3, F32, F32, "", ""},
    {16, 8, 32, E4M3, E4M3, F16, F16, "", ""},
    {8, 8, 16, S8, S8, S32, S32, "", ""},
    {8, 8, 16, U8, U8, S32, S32, "", ""},
    {8, 8, 16, S8, U8, S32, S32, ".satfinite", ""},
    {16, 8, 16, S8, S8, S32, S32, "", ""},
    {16, 8, 16, U8, S8, S32, S32, "", ""},
    {16, 8, 32, S8, S8, S32, S32, "", ""},
    {16, 8, 32, U8, U8, S32, S32, ".satfinite", ""},
    {16, 8, 32, S8, U8, S32, S32, "", ""},
    {8, 8, 32, S4, S4, S32, S32, "", ""},
    {16, 8, 32, U4, U4, S32, S32, "", ""},
    {16, 8, 64, S4, U4, S32, S32, ".satfinite", ""},
    {8, 8, 128, B1, B1, S32, S32, "", ".xor.popc"},
    {16, 8, 128, B1, B1, S32, S32, "", ".and.popc"},
    {16, 8, 256, B1, B1, S32, S32, "", ".xor.popc"},
};

/* One wmma shape; layouts of the three matrices are drawn per form. */
struct wmma_form {
    unsigned m, n, k;
    enum element a, c, d;
    unsigned a_regs, b_regs, c_regs; /* of a fragment */
    const char *a_layout, *b_layout, *op;
};

static const struct wmma_form wmma_forms[] = {
    {16, 16, 16, F16, F32, F32, 8, 8, 8, "row", "col", ""},
    {16, 16, 16, F16, F32, F32, 8, 8, 8, "col", "row", ""},
    {16, 16, 16, F16, F16, F16, 8, 8, 4, "row", "row", ""},
    {16, 16, 16, F16, F32, F16, 8, 8, 8, "col", "col", ""},
    {32, 8, 16, F16, F32, F32, 8, 8, 8, "row", "col", ""},
    {32, 8, 16, F16, F16, F16, 8, 8, 4, "col", "row", ""},
    {8, 32, 16, F16, F32, F32, 8, 8, 8, "row", "row", ""},
    {8, 32, 16, F16, F16, F32, 8, 8, 4, "col", "col", ""},
    {16, 16, 16, BF16, F32, F32, 4, 4, 8, "row", "col", ""},
    {32, 8, 16, BF16, F32, F32, 8, 2, 8, "col", "row", ""},
    {8, 32, 16, BF16, F32, F32, 2, 8, 8, "row", "row", ""},
    {16, 16, 8, TF32, F32, F32, 4, 4, 8, "row", "col", ""},
    {16, 16, 8, TF32, F32, F32, 4, 4, 8, "col", "row", ""},
    {8, 8, 4, F64, F64, F64, 1, 1, 2, "row", "col", ""},
    {16, 16, 16, S8, S32, S32, 2, 2, 8, "row", "col", ""},
    {16, 16, 16, U8, S32, S32, 2, 2, 8, "col", "row", ""},
    {32, 8, 16, S8, S32, S32, 4, 1, 8, "row", "row", ""},
    {8, 32, 16, U8, S32, S32, 1, 4, 8, "row", "col", ".satfinite"},
    {8, 8, 32, S4, S32, S32, 1, 1, 2, "row", "col", ""},
    {8, 8, 128, B1, S32, S32, 1, 1, 2, "row", "col", ".xor.popc"},
};

#define MMA_COUNT (sizeof(mma_forms) / sizeof(mma_forms[0]))
#define WMMA_COUNT (sizeof(wmma_forms) / sizeof(wmma_forms[0]))
#define CLASSES 8u
#define TRIALS_MAX 32u
#define NAME_BYTES 64u

/* ---- inputs ------------------------------------------------------------------------ */

static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number of the format: sign, exponent `power` (held to the format's range), mantissa. */
static uint64_t number_of(enum element e, uint64_t sign, int power, uint64_t mantissa)
{
    const struct element_facts *f = &element_facts[e];
    const int bias = (1 << (f->exponent - 1)) - 1, top = (1 << f->exponent) - 2;
    int field = power + bias;
    if (field < 0)
        field = 0;
    if (field > top)
        field = top;
    const uint64_t mask = ((uint64_t)1 << f->mantissa) - 1;
    return (sign & 1) << (f->mantissa + f->exponent) | (uint64_t)field << f->mantissa |
           (mantissa & mask);
}

static uint64_t special_of(enum element e, uint64_t r)
{
    const struct element_facts *f = &element_facts[e];
    const uint64_t sign = (r >> 8 & 1) << (f->mantissa + f->exponent);
    const uint64_t ones = ((uint64_t)1 << f->exponent) - 1;
    switch (r % 6) {
    case 0: return sign | ones << f->mantissa; /* infinity */
    case 1: return sign | ones << f->mantissa | (r >> 16 & 3) << (f->mantissa - 2);
    case 2: return sign | (((ones << f->mantissa) - 1)); /* the largest number */
    case 3: return sign;
    case 4: return sign | 1; /* the smallest subnormal */
    default: return sign | (uint64_t)1 << f->mantissa;
    }
}

/* What a class asks:
 *  0 sums of like numbers              4 powers of two: what is cut off where
 *  1 every exponent                    5 few terms, so that one cut shows
 *  2 subnormal inputs and sums         6 an addend far above or below the products
 *  3 infinities, NaN, limits, -0       7 full mantissas of equal size: carries, ties */
static uint64_t float_of(enum element e, unsigned class, int is_addend, uint64_t *state)
{
    const uint64_t r = draw(state), sign = r >> 63, low = r;
    const struct element_facts *f = &element_facts[e];
    const int range = 1 << (f->exponent - 1);
    const int draw7 = (int)(r >> 40 & 127);
    switch (class) {
    case 0: return number_of(e, sign, draw7 % 5 - 2, low);
    case 1: return number_of(e, sign, (int)(r >> 40 & 0x7fff) % (2 * range) - range, low);
    case 2:
        return is_addend
                   ? number_of(e, sign, -range + draw7 % 16, low)
                   : number_of(e, sign,
                               draw7 & 1 ? -range : draw7 % range / 2 - range / 2, low);
    case 3:
        return draw7 % 24 == 0 ? special_of(e, r >> 20)
                               : number_of(e, sign, draw7 % 9 - 4, low);
    case 4:
        return number_of(e, sign, (int)(r >> 40 & 0xff) % 28 - 14,
                         draw7 & 1 ? low & 1 : 0);
    case 5:
        return draw7 % 8 && !is_addend
                   ? 0
                   : number_of(e, sign, (int)(r >> 44 & 0xff) % 24 - 12, low);
    case 6: return number_of(e, sign, is_addend ? draw7 % 64 - 36 : draw7 % 3 - 1, low);
    default: return number_of(e, r >> 50 & 1, 0, draw7 % 3 ? ~(uint64_t)0 : low & 7);
    }
}

static uint64_t element_of(enum element e, unsigned class, int is_addend, uint64_t *state)
{
    if (element_facts[e].exponent != 0)
        return float_of(e, class, is_addend, state);
    const uint64_t r = draw(state);
    if (e == S32) /* near the limits in some classes */
        return class % 2 ? r >> 20 : 0x7fffff00u + (r & 0xff) + (r >> 40 & 1) * 0x180u;
    return class == 7 ? r | r >> 1 : r; /* mostly ones: large sums */
}

/* Fills `bytes` of elements, lowest first. */
static void fill_class(void *to, size_t bytes, enum element e, unsigned class,
                       int is_addend, uint64_t *state)
{
    const unsigned bits = element_facts[e].bits;
    uint64_t *word = to;
    for (size_t i = 0; i < bytes / 8; i++) {
        word[i] = 0;
        for (unsigned at = 0; at < 64; at += bits) {
            const uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
            word[i] |= (element_of(e, class, is_addend, state) & mask) << at;
        }
    }
}

/* ---- kernels ----------------------------------------------------------------------- */

#define HEAD                                                                             \
    ".version 8.7\n.target sm_90\n.address_size 64\n"                                    \
    ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 "     \
    "pd)\n"                                                                              \
    "{\n.reg .b32 %%a<32>, %%b<32>, %%c<32>, %%d<32>, %%t, %%u;\n"                       \
    ".reg .f32 %%fc<32>, %%fd<32>;\n"                                                    \
    ".reg .f64 %%ga<32>, %%gb<32>, %%gc<32>, %%gd<32>;\n.reg .b64 %%p<4>, %%o;\n"        \
    "ld.param.u64 %%p0, [pa]; ld.param.u64 %%p1, [pb];\n"                                \
    "ld.param.u64 %%p2, [pc]; ld.param.u64 %%p3, [pd];\n"                                \
    "mov.u32 %%t, %%tid.x; mov.u32 %%u, %%ctaid.x;\n"

/* The registers of an element: "%a", "%fc", "%gd". */
static void register_stem(char *to, char which, enum element e)
{
    if (e == F64)
        sprintf(to, "%%g%c", which);
    else if (e == F32)
        sprintf(to, "%%f%c", which);
    else
        sprintf(to, "%%%c", which);
}

static char *list(char *at, const char *stem, unsigned count)
{
    at += sprintf(at, "{");
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "%s%s%u", i ? ", " : "", stem, i);
    return at + sprintf(at, "}");
}

static const char *access_type(enum element e)
{
    return e == F64 ? "f64" : e == F32 ? "f32" : "b32";
}

/* Moves %p`pointer` to this lane's registers, `count` a lane. */
static char *move_to_lane(char *at, unsigned pointer, unsigned count, unsigned unit)
{
    return at + sprintf(at,
                        "mad.lo.u32 %%d31, %%u, 32, %%t; mul.lo.u32 %%d31, %%d31, %u;\n"
                        "cvt.u64.u32 %%o, %%d31; add.u64 %%p%u, %%p%u, %%o;\n",
                        count * unit, pointer, pointer);
}

static unsigned unit_of(enum element e)
{
    return e == F64 ? 8 : 4;
}

/* Registers a lane for a fragment of `elements` elements in the warp. */
static unsigned registers_of(enum element e, unsigned elements)
{
    return e == F64 ? elements / 32 : elements * element_facts[e].bits / 1024;
}

static char *load_registers(char *at, char which, unsigned pointer, enum element e,
                            unsigned count)
{
    char stem[8];
    register_stem(stem, which, e);
    at = move_to_lane(at, pointer, count, unit_of(e));
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "ld.global.%s %s%u, [%%p%u + %u];\n", access_type(e), stem, i,
                      pointer, i * unit_of(e));
    return at;
}

static char *store_registers(char *at, char which, enum element e, unsigned count)
{
    char stem[8];
    register_stem(stem, which, e);
    at = move_to_lane(at, 3, count, unit_of(e));
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "st.global.%s [%%p3 + %u], %s%u;\n", access_type(e),
                      i * unit_of(e), stem, i);
    return at;
}

static void mma_name(const struct mma_form *f, char *to)
{
    snprintf(to, NAME_BYTES, "mma.m%un%uk%u%s.%s.%s.%s.%s%s", f->m, f->n, f->k, f->before,
             element_facts[f->d].name, element_facts[f->a].name, element_facts[f->b].name,
             element_facts[f->c].name, f->op);
}

static void mma_kernel(const struct mma_form *f, char *at)
{
    const unsigned na = registers_of(f->a, f->m * f->k);
    const unsigned nb = registers_of(f->b, f->n * f->k);
    const unsigned nc = registers_of(f->c, f->m * f->n);
    const unsigned nd = registers_of(f->d, f->m * f->n);
    char stem[8];
    at += sprintf(at, HEAD);
    at = load_registers(at, 'a', 0, f->a, na);
    at = load_registers(at, 'b', 1, f->b, nb);
    at = load_registers(at, 'c', 2, f->c, nc);
    at += sprintf(at, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s%s ", f->m, f->n,
                  f->k, f->before, element_facts[f->d].name, element_facts[f->a].name,
                  element_facts[f->b].name, element_facts[f->c].name, f->op);
    register_stem(stem, 'd', f->d);
    at = list(at, stem, nd);
    at += sprintf(at, ", ");
    register_stem(stem, 'a', f->a);
    at = list(at, stem, na);
    at += sprintf(at, ", ");
    register_stem(stem, 'b', f->b);
    at = list(at, stem, nb);
    at += sprintf(at, ", ");
    register_stem(stem, 'c', f->c);
    at = list(at, stem, nc);
    at += sprintf(at, ";\n");
    at = store_registers(at, 'd', f->d, nd);
    sprintf(at, "ret;\n}\n");
}

static void wmma_name(const struct wmma_form *f, const char *what, char *to)
{
    snprintf(to, NAME_BYTES, "wmma.%s.m%un%uk%u.%s.%s.%s.%s.%s%s", what, f->m, f->n, f->k,
             f->a_layout, f->b_layout, element_facts[f->d].name, element_facts[f->a].name,
             element_facts[f->c].name, f->op);
}

/* "a", "b", "c" or "d": what wmma.load and .store are called by, and how they lie. */
static char *wmma_load(char *at, const struct wmma_form *f, char which, unsigned pointer)
{
    const enum element e = which == 'c' ? f->c : f->a;
    const char *layout = which == 'a' ? f->a_layout : which == 'b' ? f->b_layout : "row";
    const unsigned rows = which == 'b' ? f->k : f->m,
                   columns = which == 'a' ? f->k : f->n;
    const unsigned count = which == 'a'   ? f->a_regs
                           : which == 'b' ? f->b_regs
                                          : f->c_regs;
    char stem[8];
    register_stem(stem, which, e);
    at += sprintf(at,
                  "mul.lo.u32 %%d31, %%u, %u; cvt.u64.u32 %%o, %%d31; add.u64 %%p%u, "
                  "%%p%u, %%o;\n",
                  rows * columns * element_facts[e].bits / 8, pointer, pointer);
    at += sprintf(at, "wmma.load.%c.sync.aligned.%s.m%un%uk%u.global.%s ", which, layout,
                  f->m, f->n, f->k, element_facts[e].name);
    at = list(at, stem, count);
    return at +
           sprintf(at, ", [%%p%u], %u;\n", pointer, layout[0] == 'r' ? columns : rows);
}

/* The whole way: load, multiply, store. */
static void wmma_kernel(const struct wmma_form *f, char *at)
{
    const unsigned d_regs = f->d == F16 ? 4 : f->d == F64 ? 2 : f->m * f->n / 32;
    const int is_float = element_facts[f->a].exponent != 0;
    char stem[8];
    at += sprintf(at, HEAD);
    at = wmma_load(at, f, 'a', 0);
    at = wmma_load(at, f, 'b', 1);
    at = wmma_load(at, f, 'c', 2);
    const int is_bit = f->a == B1;
    at += sprintf(at, "wmma.mma%s.sync.aligned.%s.%s.m%un%uk%u", is_bit ? f->op : "",
                  f->a_layout, f->b_layout, f->m, f->n, f->k);
    if (f->a == F16)
        at += sprintf(at, ".%s.%s ", element_facts[f->d].name, element_facts[f->c].name);
    else
        at += sprintf(at, ".%s.%s.%s.%s%s ", element_facts[f->d].name,
                      element_facts[f->a].name, element_facts[f->a].name,
                      element_facts[f->c].name, is_bit || is_float ? "" : f->op);
    register_stem(stem, 'd', f->d);
    at = list(at, stem, d_regs);
    at += sprintf(at, ", ");
    register_stem(stem, 'a', f->a);
    at = list(at, stem, f->a_regs);
    at += sprintf(at, ", ");
    register_stem(stem, 'b', f->a);
    at = list(at, stem, f->b_regs);
    at += sprintf(at, ", ");
    register_stem(stem, 'c', f->c);
    at = list(at, stem, f->c_regs);
    at += sprintf(at,
                  ";\nmul.lo.u32 %%d31, %%u, %u; cvt.u64.u32 %%o, %%d31; add.u64 %%p3, "
                  "%%p3, %%o;\n",
                  f->m * f->n * element_facts[f->d].bits / 8);
    at += sprintf(at, "wmma.store.d.sync.aligned.row.m%un%uk%u.global.%s [%%p3], ", f->m,
                  f->n, f->k, element_facts[f->d].name);
    register_stem(stem, 'd', f->d);
    at = list(at, stem, d_regs);
    sprintf(at, ", %u;\nret;\n}\n", f->n);
}

/* The registers of one loaded fragment. */
static void wmma_fragment_kernel(const struct wmma_form *f, char which, char *at)
{
    const enum element e = which == 'c' ? f->c : f->a;
    at += sprintf(at, HEAD);
    at = wmma_load(at, f, which, 0);
    at = store_registers(at, which, e,
                         which == 'a'   ? f->a_regs
                         : which == 'b' ? f->b_regs
                                        : f->c_regs);
    sprintf(at, "ret;\n}\n");
}

#endif
