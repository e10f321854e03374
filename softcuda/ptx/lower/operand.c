// SPDX-License-Identifier: Apache-2.0
/* The pieces that every family of instructions uses: modifiers, types, operands, and
 * writing lines of IR. Nothing in here knows what an instruction means. */
#include "softcuda/ptx/lower/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ptx_refuse(ptx_low *l, const char *reason)
{
    if (!l->reason)
        l->reason = reason;
    return false;
}

/* ---- modifiers and types ----------------------------------------------------------- */

bool ptx_mod(ptx_low *l, ptx_modifier modifier)
{
    bool found = false;
    for (uint32_t i = 0; i < l->insn->mod_count; i++) {
        if (l->insn->mods[i] != modifier)
            continue;
        l->used |= (uint16_t)(1u << i);
        found = true;
    }
    return found;
}

ptx_modifier ptx_one_of(ptx_low *l, ptx_modifier first, ptx_modifier last)
{
    for (ptx_modifier m = first; m <= last; m++)
        if (ptx_mod(l, m))
            return m;
    return PTX_MOD_UNKNOWN;
}

void ptx_skip(ptx_low *l, ptx_modifier first, ptx_modifier last)
{
    for (ptx_modifier m = first; m <= last; m++)
        (void)ptx_mod(l, m);
}

uint32_t ptx_vector_length(ptx_low *l)
{
    const ptx_modifier word = ptx_one_of(l, PTX_MOD_V2, PTX_MOD_V8);
    return word != PTX_MOD_UNKNOWN ? 2u << (word - PTX_MOD_V2) : 0;
}

ptx_type ptx_type_at(const ptx_low *l, uint32_t nth)
{
    return nth < l->insn->type_count ? (ptx_type)l->insn->types[nth] : PTX_NONE;
}

bool ptx_is_int(ptx_type type)
{
    return type >= PTX_U8 && type <= PTX_S64;
}
bool ptx_is_number(ptx_type type)
{
    return ptx_is_int(type) || ptx_is_bits(type);
}
bool ptx_is_float(ptx_type type)
{
    return type == PTX_F32 || type == PTX_F64;
}
bool ptx_is_bits(ptx_type type)
{
    return type >= PTX_B8 && type <= PTX_B64;
}
bool ptx_is_signed(ptx_type type)
{
    return type >= PTX_S8 && type <= PTX_S64;
}
bool ptx_is_half(ptx_type type)
{
    return type >= PTX_F16 && type <= PTX_BF16X2;
}
uint32_t ptx_bits(ptx_type type)
{
    return type == PTX_PRED ? 1 : 8 * ptx_type_bytes(type);
}

const char *ptx_int_name(uint32_t bits)
{
    switch (bits) {
    case 1: return "i1";
    case 8: return "i8";
    case 16: return "i16";
    case 32: return "i32";
    case 64: return "i64";
    default: return "i128";
    }
}

/* ---- writing ---------------------------------------------------------------------- */

ptx_value ptx_name(const char *format, ...)
{
    ptx_value value;
    va_list args;
    va_start(args, format);
    vsnprintf(value.name, sizeof(value.name), format, args);
    va_end(args);
    return value;
}

ptx_value ptx_op(ptx_low *l, const char *format, ...)
{
    ptx_value value = {""};
    if (!l->emit)
        return value;
    va_list args;
    va_start(args, format);
    value = ptx_letv(l->emit, format, args);
    va_end(args);
    return value;
}

void ptx_do(ptx_low *l, const char *format, ...)
{
    if (!l->emit)
        return;
    va_list args;
    va_start(args, format);
    ptx_linev(l->emit, format, args);
    va_end(args);
}

ptx_value ptx_call_library(ptx_low *l, const char *name, const char *result,
                           const ptx_arg *args, uint32_t count)
{
    if (!ptx_has_library(name)) {
        (void)ptx_refuse(l, PTX_NO_FORM);
        return (ptx_value){""};
    }
    char list[320];
    gphi_text text;
    gphi_text_fix(&text, list, sizeof(list));
    for (uint32_t i = 0; i < count; i++)
        gphi_text_add(&text, "%s%s %s", i ? ", " : "", args[i].type, args[i].value.name);
    if (strcmp(result, "void") != 0)
        return ptx_op(l, "call %s @x_%s(%s)", result, name, list);
    ptx_do(l, "call void @x_%s(%s)", name, list);
    return (ptx_value){""};
}

ptx_value ptx_call_llvm(ptx_low *l, const char *name, ptx_type type,
                        const ptx_value *args, uint32_t count)
{
    const char *llvm = ptx_llvm_type(type);
    char list[160];
    gphi_text text;
    gphi_text_fix(&text, list, sizeof(list));
    for (uint32_t i = 0; i < count; i++)
        gphi_text_add(&text, "%s%s %s", i ? ", " : "", llvm, args[i].name);
    return ptx_op(l, "call %s @llvm.%s.%s(%s)", llvm, name,
                  ptx_is_float(type) ? ptx_type_name(type) : llvm, list);
}

ptx_value ptx_resize(ptx_low *l, ptx_value value, uint32_t from, uint32_t to, bool sign)
{
    if (from == to)
        return value;
    return ptx_op(l, "%s %s %s to %s", from > to ? "trunc" : (sign ? "sext" : "zext"),
                  ptx_int_name(from), value.name, ptx_int_name(to));
}

ptx_value ptx_join(ptx_low *l, ptx_value low, ptx_value high)
{
    const ptx_value lo = ptx_resize(l, low, 16, 32, false);
    const ptx_value hi = ptx_resize(l, high, 16, 32, false);
    const ptx_value up = ptx_op(l, "shl i32 %s, 16", hi.name);
    return ptx_op(l, "or i32 %s, %s", lo.name, up.name);
}

/* ---- operands --------------------------------------------------------------------- */

static bool is_wide_sreg(uint32_t sreg)
{
    return sreg == PTX_SREG_CLOCK64 || sreg == PTX_SREG_GLOBALTIMER ||
           sreg == PTX_SREG_GRIDID || sreg == PTX_SREG_CURRENT_GRAPH_EXEC;
}

static bool is_known_register(const ptx_function *function, uint32_t index)
{
    if (index >= function->register_count)
        return false;
    const ptx_type type = (ptx_type)function->registers[index].type;
    return type > PTX_NONE && type < PTX_TYPE_OTHER;
}

/* PTX lets an operand be of any type of the right kind: sizes are the shape's business
 * (a wider register is cut), predicates and numbers never mix. */
static bool can_read(const ptx_low *l, const ptx_operand *operand, ptx_type type)
{
    const bool number = ptx_is_int(type) || ptx_is_bits(type) || type == PTX_B128;
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REG:
        return is_known_register(l->function, operand->index) &&
               (l->function->registers[operand->index].type == PTX_PRED) ==
                   (type == PTX_PRED);
    case PTX_OPERAND_SREG:
        return operand->index == PTX_SREG_IS_EXPLICIT_CLUSTER
                   ? type == PTX_PRED
                   : number && operand->index != PTX_SREG_UNKNOWN;
    case PTX_OPERAND_INT: return number || type == PTX_PRED || ptx_is_half(type);
    case PTX_OPERAND_FLOAT:
        return type == PTX_F32 || type == PTX_F64 || type == PTX_B32 || type == PTX_B64;
    case PTX_OPERAND_VAR:
    case PTX_OPERAND_FUNC: return number;
    default: return false;
    }
}

/* A sink takes anything; what can be written is a register. */
static bool check_operand(ptx_low *l, const ptx_operand *operand, ptx_type type,
                          bool is_out)
{
    if (is_out && operand->kind == PTX_OPERAND_SINK)
        return true;
    if ((!is_out || operand->kind == PTX_OPERAND_REG) && can_read(l, operand, type))
        return true;
    return ptx_refuse(
        l, is_out ? "the destination is not a register of the instruction's type"
                  : "an operand is of another kind than the instruction's type");
}

static bool check_nth(ptx_low *l, uint32_t nth, ptx_type type, bool is_out)
{
    if (nth >= l->count || type == PTX_NONE || type >= PTX_TYPE_OTHER)
        return ptx_refuse(l, "an operand is missing");
    return check_operand(l, l->operands[nth], type, is_out);
}

bool ptx_check_in(ptx_low *l, uint32_t nth, ptx_type type)
{
    return check_nth(l, nth, type, false);
}

bool ptx_check_out(ptx_low *l, uint32_t nth, ptx_type type)
{
    return check_nth(l, nth, type, true);
}

bool ptx_check_vector(ptx_low *l, uint32_t nth, uint32_t elements, ptx_type type,
                      bool is_out)
{
    if (elements == 0)
        return check_nth(l, nth, type, is_out);
    const ptx_operand *vector = l->operands[nth];
    if (nth >= l->count || vector->kind != PTX_OPERAND_VECTOR ||
        vector->index != elements)
        return ptx_refuse(l, "the vector has another length than the instruction");
    for (uint32_t i = 0; i < elements; i++)
        if (!check_operand(l, vector + 1 + i, type, is_out))
            return false;
    return true;
}

bool ptx_check_all(ptx_low *l, ptx_type type, uint32_t inputs)
{
    if (l->count != inputs + 1)
        return ptx_refuse(l, "the number of operands is another than this form has");
    if (!ptx_check_out(l, 0, type))
        return false;
    for (uint32_t i = 1; i <= inputs; i++)
        if (!ptx_check_in(l, i, type))
            return false;
    return true;
}

ptx_value ptx_in(ptx_low *l, uint32_t nth, ptx_type type)
{
    if (!l->emit)
        return (ptx_value){""};
    return ptx_operand_value(l->emit, l->operands[nth], type);
}

void ptx_out(ptx_low *l, uint32_t nth, ptx_type type, ptx_value value)
{
    if (l->emit)
        ptx_store_operand(l->emit, l->operands[nth], type, value);
}

/* Any value as the integer of its bits, and back. */
static bool is_llvm_float(const char *type)
{
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

/* What a register holds is bits: f32 in a .b64 is its low half, and so on. */
static ptx_value convert_bits(ptx_low *l, ptx_value value, ptx_type from, ptx_type to,
                              bool sign)
{
    const char *from_llvm = ptx_llvm_type(from);
    const char *to_llvm = ptx_llvm_type(to);
    if (strcmp(from_llvm, to_llvm) == 0)
        return value;
    if (is_llvm_float(from_llvm))
        value = ptx_op(l, "bitcast %s %s to %s", from_llvm, value.name,
                       ptx_int_name(ptx_bits(from)));
    value = ptx_resize(l, value, ptx_bits(from), ptx_bits(to), sign);
    if (is_llvm_float(to_llvm))
        value = ptx_op(l, "bitcast %s %s to %s", ptx_int_name(ptx_bits(to)), value.name,
                       to_llvm);
    return value;
}

static ptx_value double_constant(uint64_t bits)
{
    return ptx_name("0x%016llX", (unsigned long long)bits);
}

/* A float is written as the double of its value; a NaN by its bits, since a conversion
 * could change them. */
static ptx_value float_constant(uint32_t bits)
{
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return ptx_name("bitcast (i32 %d to float)", (int)bits);
    float single;
    memcpy(&single, &bits, sizeof(single));
    const double wide = single;
    uint64_t wide_bits;
    memcpy(&wide_bits, &wide, sizeof(wide_bits));
    return double_constant(wide_bits);
}

static ptx_value float_literal(const ptx_operand *operand, ptx_type type)
{
    uint64_t bits = (uint64_t)operand->imm;
    if (operand->single) {
        const uint32_t single = (uint32_t)bits;
        if (type == PTX_F32)
            return float_constant(single);
        if (type == PTX_B32)
            return ptx_name("%d", (int)single);
        float value;
        memcpy(&value, &single, sizeof(value));
        const double wide = value;
        memcpy(&bits, &wide, sizeof(bits));
    } else if (type == PTX_F32 || type == PTX_B32) {
        double wide;
        memcpy(&wide, &bits, sizeof(wide));
        const float narrow = (float)wide;
        uint32_t single;
        memcpy(&single, &narrow, sizeof(single));
        return type == PTX_F32 ? float_constant(single) : ptx_name("%d", (int)single);
    }
    if (type == PTX_B64)
        return ptx_name("%lld", (long long)bits);
    return double_constant(bits);
}

static ptx_value int_literal(int64_t imm, ptx_type type)
{
    switch (ptx_bits(type)) {
    case 1: return ptx_name("%s", imm ? "true" : "false");
    case 8: return ptx_name("%d", (int8_t)imm);
    case 16: return ptx_name("%d", (int16_t)imm);
    case 32: return ptx_name("%d", (int32_t)imm);
    default: return ptx_name("%lld", (long long)imm);
    }
}

/* The address of a variable as i64: in .param space a host address (see emit.h). */
static ptx_value variable_value(ptx_low *l, const ptx_operand *operand)
{
    ptx_emit *emit = l->emit;
    const uint32_t local = operand->index & ~PTX_VAR_LOCAL;
    ptx_value address;
    if ((operand->index & PTX_VAR_LOCAL) &&
        emit->function->variables[local].space == PTX_SPACE_PARAM) {
        const bool kernels =
            emit->function->is_entry && local < emit->function->parameter_count;
        if (kernels) {
            const ptx_value offset = emit->variable_address(emit, operand->index);
            const ptx_value base = ptx_op(l, "ptrtoint ptr %s to i64", emit->params.name);
            address = ptx_op(l, "add i64 %s, %s", base.name, offset.name);
        } else {
            address = ptx_op(l, "ptrtoint ptr %%p.%u to i64", local);
        }
    } else {
        address = emit->variable_address(emit, operand->index);
    }
    if (operand->imm == 0)
        return address;
    return ptx_op(l, "add i64 %s, %lld", address.name, (long long)operand->imm);
}

ptx_value ptx_operand_value(ptx_emit *emit, const ptx_operand *operand, ptx_type type)
{
    ptx_low l = {.emit = emit, .module = emit->module, .function = emit->function};
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_INT: return int_literal(operand->imm, type);
    case PTX_OPERAND_FLOAT: return float_literal(operand, type);
    case PTX_OPERAND_SREG: {
        const ptx_value value = emit->special_register(emit, (ptx_sreg)operand->index);
        if (type == PTX_PRED)
            return value;
        const bool wide = is_wide_sreg(operand->index);
        return convert_bits(&l, value, wide ? PTX_U64 : PTX_U32, type, false);
    }
    case PTX_OPERAND_VAR:
        return convert_bits(&l, variable_value(&l, operand), PTX_U64, type, false);
    case PTX_OPERAND_FUNC: {
        const ptx_value value = ptx_fresh(emit);
        const ptx_function *to = &emit->module->functions[operand->index];
        gphi_text_add(emit->out, "  %s = ptrtoint ptr @\"%c.%s\" to i64\n", value.name,
                      to->is_entry ? 'k' : 'f', to->name);
        return convert_bits(&l, value, PTX_U64, type, false);
    }
    default: break;
    }
    const ptx_value value = ptx_load_register(emit, operand->index);
    if (type == PTX_PRED)
        return operand->negate ? ptx_op(&l, "xor i1 %s, true", value.name) : value;
    const ptx_type held = (ptx_type)emit->function->registers[operand->index].type;
    return convert_bits(&l, value, held, type, false);
}

void ptx_store_operand(ptx_emit *emit, const ptx_operand *operand, ptx_type type,
                       ptx_value value)
{
    if (operand->kind != PTX_OPERAND_REG)
        return;
    ptx_low l = {.emit = emit, .module = emit->module, .function = emit->function};
    const ptx_type held = (ptx_type)emit->function->registers[operand->index].type;
    ptx_store_register(emit, operand->index,
                       convert_bits(&l, value, type, held, ptx_is_signed(type)));
}
