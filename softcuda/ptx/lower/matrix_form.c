// SPDX-License-Identifier: Apache-2.0
/* Matrix operations as written: which of the forms that the run time has is meant. */
#include "softcuda/ptx/lower/matrix_form.h"

#include <string.h>

static const struct {
    uint8_t modifier, m, n;
    uint16_t k;
} shapes[] = {
    {PTX_MOD_M8N8, 8, 8, 0},         {PTX_MOD_M8N8K4, 8, 8, 4},
    {PTX_MOD_M8N8K16, 8, 8, 16},     {PTX_MOD_M8N8K32, 8, 8, 32},
    {PTX_MOD_M8N8K128, 8, 8, 128},   {PTX_MOD_M16N8K4, 16, 8, 4},
    {PTX_MOD_M16N8K8, 16, 8, 8},     {PTX_MOD_M16N8K16, 16, 8, 16},
    {PTX_MOD_M16N8K32, 16, 8, 32},   {PTX_MOD_M16N8K64, 16, 8, 64},
    {PTX_MOD_M16N8K128, 16, 8, 128}, {PTX_MOD_M16N8K256, 16, 8, 256},
    {PTX_MOD_M16N16K16, 16, 16, 16}, {PTX_MOD_M32N8K16, 32, 8, 16},
    {PTX_MOD_M8N32K16, 8, 32, 16},   {PTX_MOD_M16N16K8, 16, 16, 8},
};

/* M8N8, of ldmatrix and its like, has no k. */
static bool find_shape(const ptx_insn *insn, ptx_matrix *out)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (ptx_has(insn, (ptx_modifier)shapes[i].modifier)) {
            out->m = shapes[i].m;
            out->n = shapes[i].n;
            out->k = shapes[i].k;
            return true;
        }
    return false;
}

/* The nth type written. Four bits wide ones are modifiers as well, in the same order. */
static bool element_at(const ptx_insn *insn, uint32_t nth, ptx_element *out)
{
    uint32_t fours = 0;
    if (nth >= insn->type_count)
        return false;
    for (uint32_t i = 0; i < nth; i++)
        fours += insn->types[i] == PTX_TYPE_OTHER;
    switch ((ptx_type)insn->types[nth]) {
    case PTX_F16: *out = PTX_ELEMENT_F16; return true;
    case PTX_BF16: *out = PTX_ELEMENT_BF16; return true;
    case PTX_TF32: *out = PTX_ELEMENT_TF32; return true;
    case PTX_F32: *out = PTX_ELEMENT_F32; return true;
    case PTX_F64: *out = PTX_ELEMENT_F64; return true;
    case PTX_E4M3: *out = PTX_ELEMENT_E4M3; return true;
    case PTX_E5M2: *out = PTX_ELEMENT_E5M2; return true;
    case PTX_S8: *out = PTX_ELEMENT_S8; return true;
    case PTX_U8: *out = PTX_ELEMENT_U8; return true;
    case PTX_B1: *out = PTX_ELEMENT_B1; return true;
    case PTX_S32: *out = PTX_ELEMENT_S32; return true;
    case PTX_TYPE_OTHER: break;
    default: return false;
    }
    for (uint32_t i = 0; i < insn->mod_count; i++) {
        const bool is_signed = insn->mods[i] == PTX_MOD_S4;
        if (!is_signed && insn->mods[i] != PTX_MOD_U4)
            continue;
        *out = is_signed ? PTX_ELEMENT_S4 : PTX_ELEMENT_U4;
        if (fours-- == 0)
            return true;
    }
    return false;
}

static bool is_int(ptx_element e)
{
    return e >= PTX_ELEMENT_S8 && e <= PTX_ELEMENT_U4;
}

/* The two formats of 8 bits may be mixed, all others may not. */
static bool is_float8(ptx_element e)
{
    return e == PTX_ELEMENT_E4M3 || e == PTX_ELEMENT_E5M2;
}

/* mma.sp: A of 8 bits as whole numbers alone; a row of A has 32 bytes or 64, and half of it
 * is there. */
static bool sparse_types_fit(const ptx_matrix *x, uint32_t row)
{
    if (x->m != 16 || x->n != 8 || (row != 256 && row != 512))
        return false;
    if (x->a == PTX_ELEMENT_S8 || x->a == PTX_ELEMENT_U8)
        return (x->b == PTX_ELEMENT_S8 || x->b == PTX_ELEMENT_U8) &&
               x->c == PTX_ELEMENT_S32 && x->d == PTX_ELEMENT_S32;
    if (x->a == PTX_ELEMENT_F16 && x->c == PTX_ELEMENT_F16)
        return x->b == x->a && x->d == PTX_ELEMENT_F16;
    return (x->a == PTX_ELEMENT_F16 || x->a == PTX_ELEMENT_BF16 ||
            x->a == PTX_ELEMENT_TF32) &&
           x->b == x->a && x->c == PTX_ELEMENT_F32 && x->d == PTX_ELEMENT_F32;
}

/* Bits of a row of A that a form may have: k elements of 16 bytes, of 32, of 8. */
static bool types_fit(const ptx_matrix *x)
{
    const uint32_t row = (uint32_t)x->k * ptx_element_bits((ptx_element)x->a);
    const bool small = x->m == 8 && x->n == 8;
    if (x->is_sparse)
        return sparse_types_fit(x, row);
    if (x->a == PTX_ELEMENT_F64)
        return x->b == x->a && x->c == x->a && x->d == x->a &&
               (small ? x->k == 4 : x->m == 16 && x->n == 8 && x->k <= 16);
    if (is_int((ptx_element)x->a) || x->a == PTX_ELEMENT_B1) {
        if (x->c != PTX_ELEMENT_S32 || x->d != PTX_ELEMENT_S32 ||
            ptx_element_bits((ptx_element)x->b) != ptx_element_bits((ptx_element)x->a))
            return false;
        return x->is_wmma || (small ? row == 128 : row == 128 || row == 256);
    }
    if (x->c != PTX_ELEMENT_F32 && x->c != PTX_ELEMENT_F16)
        return false;
    if (x->d != PTX_ELEMENT_F32 && x->d != PTX_ELEMENT_F16)
        return false;
    if (is_float8((ptx_element)x->a) ? !is_float8((ptx_element)x->b) : x->b != x->a)
        return false;
    if (x->a != PTX_ELEMENT_F16 && !is_float8((ptx_element)x->a) &&
        (x->c != PTX_ELEMENT_F32 || x->d != PTX_ELEMENT_F32))
        return false;
    return x->a <= PTX_ELEMENT_E5M2 && x->a != PTX_ELEMENT_F32 &&
           (x->is_wmma || (!small && x->n == 8 && (row == 128 || row == 256)));
}

/* What may be in the name of such an instruction, beside a shape and types.
 * Modifiers that are read, or change nothing here: .sync and .aligned are promises. */
static const uint8_t known[] = {
    PTX_MOD_SYNC,  PTX_MOD_ALIGNED,    PTX_MOD_ROW,   PTX_MOD_COL, PTX_MOD_SATFINITE,
    PTX_MOD_AND,   PTX_MOD_XOR,        PTX_MOD_POPC,  PTX_MOD_U4,  PTX_MOD_S4,
    PTX_MOD_MMA,   PTX_MOD_LOAD,       PTX_MOD_STORE, PTX_MOD_A,   PTX_MOD_B,
    PTX_MOD_C,     PTX_MOD_D,          PTX_MOD_X1,    PTX_MOD_X2,  PTX_MOD_X4,
    PTX_MOD_TRANS, PTX_MOD_RN,         PTX_MOD_B1, /* the type of one bit */
    PTX_MOD_SP,    PTX_MOD_SP_ORDERED,
};

static bool is_known(uint8_t modifier)
{
    if (memchr(known, modifier, sizeof(known)))
        return true;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (shapes[i].modifier == modifier)
            return true;
    return false;
}

/* .row or .col, the nth of them. */
/* Without either word a matrix lies by rows. */
static bool is_column(const ptx_insn *insn, uint32_t nth)
{
    for (uint32_t i = 0; i < insn->mod_count; i++)
        if ((insn->mods[i] == PTX_MOD_ROW || insn->mods[i] == PTX_MOD_COL) && nth-- == 0)
            return insn->mods[i] == PTX_MOD_COL;
    return false;
}

/* d, a, b, c; f16's wmma names d and c alone. */
static bool read_types(const ptx_insn *insn, ptx_matrix *out)
{
    ptx_element e[4];
    const uint32_t count = insn->type_count;
    if (count == 2 && out->is_wmma) {
        if (!element_at(insn, 0, &e[0]) || !element_at(insn, 1, &e[3]))
            return false;
        e[1] = e[2] = PTX_ELEMENT_F16;
    } else {
        for (uint32_t i = 0; i < 4; i++)
            if (!element_at(insn, i, &e[i]))
                return false;
    }
    out->d = (uint8_t)e[0];
    out->a = (uint8_t)e[1];
    out->b = (uint8_t)e[2];
    out->c = (uint8_t)e[3];
    return true;
}

/* mma.sync has A by rows and B by columns; wmma has them either way. */
static bool read_mma(const ptx_insn *insn, ptx_matrix *out)
{
    out->op = PTX_MATRIX_MMA;
    out->a_by_column = is_column(insn, 0);
    out->b_by_column = is_column(insn, 1);
    out->saturates = ptx_has(insn, PTX_MOD_SATFINITE);
    out->takes_and = ptx_has(insn, PTX_MOD_AND);
    out->is_sparse = ptx_has(insn, PTX_MOD_SP) || ptx_has(insn, PTX_MOD_SP_ORDERED);
    if (!read_types(insn, out) || !types_fit(out))
        return false;
    if (out->a == PTX_ELEMENT_B1 && !ptx_has(insn, PTX_MOD_POPC))
        return false;
    return out->is_wmma || (!out->a_by_column && out->b_by_column);
}

/* Types and shapes that fit no wmma.mma are not looked for: nothing could use them. */
static bool read_wmma(const ptx_insn *insn, ptx_matrix *out)
{
    static const ptx_modifier letters[] = {PTX_MOD_A, PTX_MOD_B, PTX_MOD_C, PTX_MOD_D};
    ptx_element element;
    out->is_wmma = true;
    if (ptx_has(insn, PTX_MOD_MMA))
        return read_mma(insn, out) && !out->is_sparse;
    const bool loads = ptx_has(insn, PTX_MOD_LOAD);
    if (!loads && !ptx_has(insn, PTX_MOD_STORE))
        return false;
    out->op = loads ? PTX_MATRIX_FRAGMENT : PTX_MATRIX_RESULT;
    while (out->which < 4 && !ptx_has(insn, letters[out->which]))
        out->which++;
    if (out->which == 4 || (out->which == 3) == loads || !element_at(insn, 0, &element))
        return false;
    out->a = out->b = out->c = out->d = (uint8_t)element;
    out->a_by_column = is_column(insn, 0);
    return insn->type_count == 1;
}

/* 16 bits of 8 x 8 elements; forms of 8 bits and fewer are those of newer chips. */
static bool read_moves(const ptx_insn *insn, ptx_matrix *out)
{
    out->count = ptx_has(insn, PTX_MOD_X4) ? 4 : ptx_has(insn, PTX_MOD_X2) ? 2 : 1;
    out->transposed = ptx_has(insn, PTX_MOD_TRANS);
    out->op = insn->opcode == PTX_OP_LDMATRIX   ? PTX_MATRIX_LOAD
              : insn->opcode == PTX_OP_STMATRIX ? PTX_MATRIX_STORE
                                                : PTX_MATRIX_MOVE;
    return out->k == 0 && insn->type_count == 1 && insn->types[0] == PTX_B16 &&
           (out->op != PTX_MATRIX_MOVE || (out->transposed && out->count == 1));
}

/* ---- operands ---- */

/* Operands are one flat list, a vector as its head and then its elements.
 * Registers, or numbers, `count` of them in braces (one may be without). */
static const ptx_operand *take(const ptx_function *f, const ptx_insn *insn, uint32_t *at,
                               uint32_t count, uint32_t unit)
{
    if (*at >= insn->operand_count)
        return NULL;
    const ptx_operand *first = &f->operands[insn->operand + *at];
    if (first->kind == PTX_OPERAND_VECTOR) {
        if (first->index != count)
            return NULL;
        *at += 1;
        first++;
    } else if (count != 1) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].kind != PTX_OPERAND_REG && first[i].kind != PTX_OPERAND_INT &&
            first[i].kind != PTX_OPERAND_FLOAT)
            return NULL;
        if (first[i].kind == PTX_OPERAND_REG &&
            ptx_type_bytes((ptx_type)f->registers[first[i].index].type) != unit)
            return NULL;
    }
    *at += count;
    return first;
}

/* A matrix of as many registers as the form gives it. */
static bool take_fragment(const ptx_function *f, const ptx_insn *insn, uint32_t *at,
                          const ptx_matrix *x, char which, ptx_matrix_operands *out)
{
    const uint32_t count = x->op == PTX_MATRIX_LOAD || x->op == PTX_MATRIX_STORE
                               ? x->count
                           : x->op == PTX_MATRIX_MOVE ? 1
                                                      : ptx_matrix_registers(x, which);
    const uint32_t unit = ptx_matrix_unit(x, which);
    const ptx_operand *first = take(f, insn, at, count, unit);
    if (!first || out->count + count > PTX_MATRIX_REGISTERS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        out->unit[out->count] = (uint8_t)unit;
        out->registers[out->count++] = &first[i];
    }
    return true;
}

/* [register + number] or [variable + number]. */
static bool take_address(const ptx_function *f, const ptx_insn *insn, uint32_t *at,
                         ptx_matrix_operands *out)
{
    if (*at >= insn->operand_count)
        return false;
    out->address = &f->operands[insn->operand + (*at)++];
    return out->address->kind == PTX_OPERAND_ADDRESS &&
           (out->address->base == PTX_OPERAND_REG ||
            out->address->base == PTX_OPERAND_VAR);
}

/* A stride that is not written is that of a matrix without gaps. */
static void take_stride(const ptx_function *f, const ptx_insn *insn, uint32_t *at,
                        ptx_matrix_operands *out)
{
    if (*at < insn->operand_count)
        out->stride = &f->operands[insn->operand + (*at)++];
}

/* mma.sp: a register of metadata, and a number that says which lanes have it: one of each
 * four, two, or all, by how much there is. */
static bool take_metadata(const ptx_function *f, const ptx_insn *insn, uint32_t *at,
                          ptx_matrix *x, ptx_matrix_operands *out)
{
    const ptx_operand *metadata = take(f, insn, at, 1, 4);
    if (!metadata || *at >= insn->operand_count || out->count == PTX_MATRIX_REGISTERS_MAX)
        return false;
    const ptx_operand *selector = &f->operands[insn->operand + (*at)++];
    const int64_t lanes = ptx_matrix_metadata_lanes(x);
    if (selector->kind != PTX_OPERAND_INT || selector->imm < 0 ||
        selector->imm >= 4 / lanes)
        return false;
    x->selector = (uint8_t)selector->imm;
    out->unit[out->count] = 4;
    out->registers[out->count++] = metadata;
    return true;
}

/* In the order of the instruction, nothing left over. */
static bool take_operands(const ptx_function *f, const ptx_insn *insn, ptx_matrix *x,
                          ptx_matrix_operands *out)
{
    uint32_t at = 0;
    const char letter = (char)('a' + x->which);
    switch ((ptx_matrix_op)x->op) {
    case PTX_MATRIX_MMA:
        if (!take_fragment(f, insn, &at, x, 'd', out))
            return false;
        out->written = out->count;
        if (!take_fragment(f, insn, &at, x, 'a', out) ||
            !take_fragment(f, insn, &at, x, 'b', out) ||
            !take_fragment(f, insn, &at, x, 'c', out) ||
            (x->is_sparse && !take_metadata(f, insn, &at, x, out)))
            return false;
        break;
    case PTX_MATRIX_MOVE:
        if (!take_fragment(f, insn, &at, x, 'd', out))
            return false;
        out->written = 1;
        if (!take_fragment(f, insn, &at, x, 'a', out))
            return false;
        break;
    case PTX_MATRIX_LOAD:
    case PTX_MATRIX_FRAGMENT:
        if (!take_fragment(f, insn, &at, x, letter, out) ||
            !take_address(f, insn, &at, out))
            return false;
        out->written = out->count;
        take_stride(f, insn, &at, out);
        break;
    default:
        if (!take_address(f, insn, &at, out) ||
            !take_fragment(f, insn, &at, x, letter, out))
            return false;
        take_stride(f, insn, &at, out);
    }
    return at == insn->operand_count;
}

bool ptx_matrix_read(const ptx_function *function, const ptx_insn *insn, ptx_matrix *form,
                     ptx_matrix_operands *operands)
{
    *form = (ptx_matrix){0};
    *operands = (ptx_matrix_operands){0};
    for (uint32_t i = 0; i < insn->mod_count; i++)
        if (!is_known(insn->mods[i]))
            return false;
    form->is_shared = insn->space == PTX_SPACE_SHARED;
    if (insn->space != PTX_SPACE_GENERIC && insn->space != PTX_SPACE_SHARED &&
        insn->space != PTX_SPACE_GLOBAL)
        return false;
    if (!find_shape(insn, form))
        return false;
    bool good;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MMA: good = read_mma(insn, form); break;
    case PTX_OP_WMMA: good = read_wmma(insn, form); break;
    default: good = read_moves(insn, form); break;
    }
    return good && take_operands(function, insn, form, operands);
}
