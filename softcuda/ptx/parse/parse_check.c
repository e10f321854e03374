// SPDX-License-Identifier: Apache-2.0
/* Operand counts of the opcodes where one count fits all forms; operands of barriers and
 * warp operations one by one.
 *
 * What is refused here makes the whole module invalid; a form that is only not supported
 * makes its kernel so, and is lowering's to find. */
#include <stdio.h>

#include "softcuda/ptx/parse/parse.h"

struct bounds {
    uint8_t min, max, is_checked;
};

/* clang-format off */
/* Vectors and pairs count once. No entry: not checked. */
#define COUNTS(X)                                                                         \
    X(ABS, 2, 2) X(ACTIVEMASK, 1, 1) X(ADD, 3, 3) X(ADDC, 3, 3) X(AND, 3, 3)              \
    X(ATOM, 2, 5) X(BFE, 4, 4) X(BFI, 5, 5) X(BFIND, 2, 2) X(BMSK, 3, 3) X(BRA, 1, 1)     \
    X(BREV, 2, 2) X(BRX, 2, 2) X(CLZ, 2, 2) X(CNOT, 2, 2) X(COPYSIGN, 3, 3) X(COS, 2, 2)  \
    X(CVT, 2, 4) X(CVTA, 2, 2) X(DIV, 3, 3) X(DP2A, 4, 4) X(DP4A, 4, 4) X(EX2, 2, 2)      \
    X(FMA, 4, 4) X(FNS, 4, 4) X(ISSPACEP, 2, 2) X(LD, 2, 3) X(LDU, 2, 3) X(LG2, 2, 2)     \
    X(LOP3, 5, 6) X(MAD, 4, 4) X(MAD24, 4, 4) X(MADC, 4, 4) X(MATCH, 3, 3) X(MAX, 3, 4)   \
    X(MIN, 3, 4) X(MOV, 2, 2) X(MUL, 3, 3) X(MUL24, 3, 3) X(NANOSLEEP, 1, 1)              \
    X(NEG, 2, 2) X(NOT, 2, 2) X(OR, 3, 3) X(POPC, 2, 2) X(PRMT, 4, 4) X(RCP, 2, 2)        \
    X(RED, 2, 3) X(REDUX, 3, 3) X(REM, 3, 3) X(RSQRT, 2, 2) X(SAD, 4, 4) X(SELP, 4, 4)    \
    X(SET, 3, 4) X(SETP, 3, 4) X(SHF, 4, 4) X(SHFL, 4, 5) X(SHL, 3, 3) X(SHR, 3, 3)       \
    X(SIN, 2, 2) X(SLCT, 4, 4) X(SQRT, 2, 2) X(ST, 2, 3) X(SUB, 3, 3) X(SUBC, 3, 3)       \
    X(SZEXT, 3, 3) X(TANH, 2, 2) X(TESTP, 2, 2) X(VOTE, 2, 3) X(XOR, 3, 3) X(RET, 0, 0)  \
    X(EXIT, 0, 0) X(TRAP, 0, 0) X(BRKPT, 0, 0) X(MEMBAR, 0, 0)
/* clang-format on */

static const struct bounds counts[PTX_OP_COUNT] = {
#define X(name, min, max) [PTX_OP_##name] = {min, max, 1},
    COUNTS(X)
#undef X
};

/* Elements that a load or store moves: .v4 -> 4. */
static uint32_t vector_width(const ptx_insn *insn)
{
    return ptx_has(insn, PTX_MOD_V2)   ? 2
           : ptx_has(insn, PTX_MOD_V4) ? 4
           : ptx_has(insn, PTX_MOD_V8) ? 8
                                       : 1;
}

/* .v2 and .v4 say how many elements the operand in braces must have. */
static gph_status check_vector(ptx_parser *parser, const ptx_insn *insn,
                               const ptx_token *opcode, const ptx_insn_form *form)
{
    const uint32_t width = vector_width(insn);
    const uint32_t size = form->has_vector ? form->vector_size : 1;
    if (width == size)
        return GPH_OK;
    if (!form->has_vector)
        return ptx_fail_at(parser, opcode, "write the elements as {a, b}",
                           "%s.v%u without a vector operand", ptx_quote(opcode).text,
                           width);
    return ptx_fail_at(parser, &form->vector, NULL,
                       "a vector of %u elements, but %s moves %u", size,
                       ptx_quote(opcode).text, width);
}

/* ---- barriers and warp operations ------------------------------------------------- */

/* One letter an operand: d a register, D one that may be half of a pair d|p, q a
 * predicate register, E the pair of elect; v a register or number, p a predicate or
 * number. */
static const char *const *patterns(const ptx_insn *insn)
{
    static const struct {
        uint8_t opcode, modifiers[2]; /* those that it needs; PTX_MOD_UNKNOWN: none */
        const char *patterns[4];      /* up to a NULL */
    } forms[] = {
        {PTX_OP_SHFL, {0}, {"Dvvvv", "Dvvv"}},
        {PTX_OP_VOTE, {PTX_MOD_BALLOT}, {"dpv", "dp"}},
        {PTX_OP_VOTE, {0}, {"qpv", "qp"}},
        {PTX_OP_MATCH, {0}, {"Dvv"}},
        {PTX_OP_REDUX, {0}, {"dvv"}},
        {PTX_OP_ELECT, {0}, {"Ev"}},
        {PTX_OP_ACTIVEMASK, {0}, {"d"}},
        {PTX_OP_BAR, {PTX_MOD_RED, PTX_MOD_POPC}, {"dvp", "dvvp"}},
        {PTX_OP_BAR, {PTX_MOD_RED}, {"qvp", "qvvp"}},
        {PTX_OP_BAR, {PTX_MOD_ARRIVE}, {"vv", ""}},
        {PTX_OP_BAR, {0}, {"v", "vv", ""}},
    };
    const ptx_opcode opcode =
        insn->opcode == PTX_OP_BARRIER ? PTX_OP_BAR : (ptx_opcode)insn->opcode;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const uint8_t *needs = forms[i].modifiers;
        if (forms[i].opcode == opcode && (needs[0] == 0 || ptx_has(insn, needs[0])) &&
            (needs[1] == 0 || ptx_has(insn, needs[1])))
            return forms[i].patterns;
    }
    return NULL;
}

/* 1: a register of that sort, 2: a number, 0: neither. */
static int sort_of(const ptx_parser *parser, const ptx_operand *operand,
                   bool is_predicate)
{
    const ptx_register *registers = parser->body.registers.items;
    if (operand->kind == PTX_OPERAND_INT)
        return 2;
    return operand->kind == PTX_OPERAND_REG &&
           (registers[operand->index].type == PTX_PRED) == is_predicate;
}

/* Operands that fit the letter: 1, 2 for a pair, 0 if they do not. */
static uint32_t fits(const ptx_parser *parser, const ptx_operand *at, char letter)
{
    const bool is_second = at->pair && (at[1].kind == PTX_OPERAND_SINK ||
                                        sort_of(parser, &at[1], true) == 1);
    switch (letter) {
    case 'D':
        return sort_of(parser, at, false) != 1 ? 0 : !at->pair ? 1 : is_second ? 2 : 0;
    case 'E':
        return is_second &&
                       (at->kind == PTX_OPERAND_SINK || sort_of(parser, at, false) == 1)
                   ? 2
                   : 0;
    case 'd': return !at->pair && sort_of(parser, at, false) == 1;
    case 'q': return !at->pair && sort_of(parser, at, true) == 1;
    case 'v': return !at->pair && sort_of(parser, at, false) != 0;
    default: return !at->pair && sort_of(parser, at, true) != 0;
    }
}

/* How many letters of the pattern the operands fit; *all if it fits wholly. */
static uint32_t fit(const ptx_parser *parser, const ptx_insn *insn, const char *pattern,
                    bool *all)
{
    const ptx_operand *operands = parser->body.operands.items;
    uint32_t used = 0, letters = 0;
    while (pattern[letters] != '\0' && used < insn->operand_count) {
        const uint32_t count =
            fits(parser, &operands[insn->operand + used], pattern[letters]);
        if (count == 0)
            break;
        used += count;
        letters++;
    }
    *all = pattern[letters] == '\0' && used == insn->operand_count;
    return letters;
}

static gph_status check_patterns(ptx_parser *parser, const ptx_insn *insn,
                                 const ptx_token *opcode)
{
    const char *const *pattern = patterns(insn);
    uint32_t most = 0;
    if (!pattern)
        return GPH_OK;
    for (; *pattern; pattern++) {
        bool all;
        const uint32_t letters = fit(parser, insn, *pattern, &all);
        if (all)
            return GPH_OK;
        most = letters > most ? letters : most;
    }
    return ptx_fail_at(
        parser, opcode, "look at the type of its register, or at its place",
        "%s has no form with such an operand %u", ptx_quote(opcode).text, most + 1);
}

gph_status ptx_check_insn(ptx_parser *parser, const ptx_insn *insn,
                          const ptx_token *opcode, const ptx_insn_form *form)
{
    if (ptx_has(insn, PTX_MOD_UNKNOWN))
        return GPH_OK; /* a form that we do not know may take anything */
    const struct bounds bounds = counts[insn->opcode];
    if (bounds.is_checked && (form->count < bounds.min || form->count > bounds.max)) {
        char range[16] = "no";
        if (bounds.max > 0 && bounds.min == bounds.max)
            snprintf(range, sizeof(range), "%u", bounds.min);
        else if (bounds.max > 0)
            snprintf(range, sizeof(range), "%u to %u", bounds.min, bounds.max);
        return ptx_fail_at(parser, opcode, NULL, "%s takes %s operands, found %u",
                           ptx_quote(opcode).text, range, form->count);
    }
    if (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU ||
        insn->opcode == PTX_OP_ST)
        return check_vector(parser, insn, opcode, form);
    return check_patterns(parser, insn, opcode);
}
