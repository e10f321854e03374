// SPDX-License-Identifier: Apache-2.0
/* The entry to lowering, and the pieces that every family of instructions uses:
 * modifiers, operands, and writing lines of IR. */
#include "softcuda/ptx/lower/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- which family an opcode belongs to --------------------------------------------- */

static ptx_lower_fn *const families[PTX_OP_COUNT] = {
    [PTX_OP_ADD] = ptx_low_integer,         [PTX_OP_SUB] = ptx_low_integer,
    [PTX_OP_MUL] = ptx_low_integer,         [PTX_OP_MAD] = ptx_low_integer,
    [PTX_OP_MUL24] = ptx_low_integer,       [PTX_OP_MAD24] = ptx_low_integer,
    [PTX_OP_DIV] = ptx_low_integer,         [PTX_OP_REM] = ptx_low_integer,
    [PTX_OP_ABS] = ptx_low_integer,         [PTX_OP_NEG] = ptx_low_integer,
    [PTX_OP_MIN] = ptx_low_integer,         [PTX_OP_MAX] = ptx_low_integer,
    [PTX_OP_SAD] = ptx_low_integer,         [PTX_OP_DP4A] = ptx_low_integer,
    [PTX_OP_DP2A] = ptx_low_integer,        [PTX_OP_ADDC] = ptx_low_carry,
    [PTX_OP_SUBC] = ptx_low_carry,          [PTX_OP_MADC] = ptx_low_carry,
    [PTX_OP_AND] = ptx_low_bits_family,     [PTX_OP_OR] = ptx_low_bits_family,
    [PTX_OP_XOR] = ptx_low_bits_family,     [PTX_OP_NOT] = ptx_low_bits_family,
    [PTX_OP_CNOT] = ptx_low_bits_family,    [PTX_OP_SHL] = ptx_low_bits_family,
    [PTX_OP_SHR] = ptx_low_bits_family,     [PTX_OP_SHF] = ptx_low_bits_family,
    [PTX_OP_LOP3] = ptx_low_bits_family,    [PTX_OP_PRMT] = ptx_low_bits_family,
    [PTX_OP_POPC] = ptx_low_bits_family,    [PTX_OP_CLZ] = ptx_low_bits_family,
    [PTX_OP_BFIND] = ptx_low_bits_family,   [PTX_OP_FNS] = ptx_low_bits_family,
    [PTX_OP_BREV] = ptx_low_bits_family,    [PTX_OP_BFE] = ptx_low_bits_family,
    [PTX_OP_BFI] = ptx_low_bits_family,     [PTX_OP_BMSK] = ptx_low_bits_family,
    [PTX_OP_SZEXT] = ptx_low_bits_family,   [PTX_OP_FMA] = ptx_low_float,
    [PTX_OP_RCP] = ptx_low_float,           [PTX_OP_SQRT] = ptx_low_float,
    [PTX_OP_RSQRT] = ptx_low_float,         [PTX_OP_SIN] = ptx_low_float,
    [PTX_OP_COS] = ptx_low_float,           [PTX_OP_LG2] = ptx_low_float,
    [PTX_OP_EX2] = ptx_low_float,           [PTX_OP_TANH] = ptx_low_float,
    [PTX_OP_COPYSIGN] = ptx_low_float,      [PTX_OP_TESTP] = ptx_low_float,
    [PTX_OP_CVT] = ptx_low_convert,         [PTX_OP_SET] = ptx_low_compare,
    [PTX_OP_SETP] = ptx_low_compare,        [PTX_OP_SELP] = ptx_low_compare,
    [PTX_OP_SLCT] = ptx_low_compare,        [PTX_OP_LD] = ptx_low_memory,
    [PTX_OP_LDU] = ptx_low_memory,          [PTX_OP_ST] = ptx_low_memory,
    [PTX_OP_CP] = ptx_low_memory,           [PTX_OP_PREFETCH] = ptx_low_memory,
    [PTX_OP_PREFETCHU] = ptx_low_memory,    [PTX_OP_ATOM] = ptx_low_atomic,
    [PTX_OP_RED] = ptx_low_atomic,          [PTX_OP_MEMBAR] = ptx_low_atomic,
    [PTX_OP_FENCE] = ptx_low_atomic,        [PTX_OP_MOV] = ptx_low_misc,
    [PTX_OP_CVTA] = ptx_low_misc,           [PTX_OP_ISSPACEP] = ptx_low_misc,
    [PTX_OP_NANOSLEEP] = ptx_low_misc,      [PTX_OP_TRAP] = ptx_low_misc,
    [PTX_OP_BRKPT] = ptx_low_misc,          [PTX_OP_PMEVENT] = ptx_low_misc,
    [PTX_OP_GRIDDEPCONTROL] = ptx_low_misc, [PTX_OP_DISCARD] = ptx_low_misc,
    [PTX_OP_APPLYPRIORITY] = ptx_low_misc,  [PTX_OP_CREATEPOLICY] = ptx_low_misc,
    [PTX_OP_SETMAXNREG] = ptx_low_misc,     [PTX_OP_MAPA] = ptx_low_misc,
    [PTX_OP_GETCTARANK] = ptx_low_misc,     [PTX_OP_MBARRIER] = ptx_low_mbarrier,
    [PTX_OP_VADD] = ptx_low_video,          [PTX_OP_VADD2] = ptx_low_video,
    [PTX_OP_VADD4] = ptx_low_video,         [PTX_OP_VSUB] = ptx_low_video,
    [PTX_OP_VSUB2] = ptx_low_video,         [PTX_OP_VSUB4] = ptx_low_video,
    [PTX_OP_VABSDIFF] = ptx_low_video,      [PTX_OP_VABSDIFF2] = ptx_low_video,
    [PTX_OP_VABSDIFF4] = ptx_low_video,     [PTX_OP_VMIN] = ptx_low_video,
    [PTX_OP_VMIN2] = ptx_low_video,         [PTX_OP_VMIN4] = ptx_low_video,
    [PTX_OP_VMAX] = ptx_low_video,          [PTX_OP_VMAX2] = ptx_low_video,
    [PTX_OP_VMAX4] = ptx_low_video,         [PTX_OP_VAVRG2] = ptx_low_video,
    [PTX_OP_VAVRG4] = ptx_low_video,        [PTX_OP_VSET] = ptx_low_video,
    [PTX_OP_VSET2] = ptx_low_video,         [PTX_OP_VSET4] = ptx_low_video,
    [PTX_OP_VSHL] = ptx_low_video,          [PTX_OP_VSHR] = ptx_low_video,
    [PTX_OP_VMAD] = ptx_low_video,
};

static ptx_low low_begin(ptx_emit *emit, const ptx_module *module,
                         const ptx_function *function, const ptx_insn *insn)
{
    ptx_low l = {.emit = emit, .module = module, .function = function, .insn = insn};
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const ptx_operand *operand = &function->operands[insn->operand + i];
        if (l.count == LOW_OPERANDS_MAX) {
            l.too_many = true;
            break;
        }
        l.operands[l.count++] = operand;
        if (operand->kind == PTX_OPERAND_VECTOR)
            i += operand->index;
    }
    return l;
}

static bool low_run(ptx_low *l)
{
    ptx_lower_fn *family = families[l->insn->opcode];
    if (family == NULL)
        return ptx_refuse(l, "this build does not have the instruction");
    if (l->too_many)
        return ptx_refuse(l, "too many operands");
    if (!family(l))
        return ptx_refuse(l, "this build does not have this form of the instruction");
    if (l->used != (uint16_t)((1u << l->insn->mod_count) - 1))
        return ptx_refuse(l, "a modifier that this build does not have here");
    return true;
}

bool ptx_can_lower(const ptx_module *module, const ptx_function *function,
                   const ptx_insn *insn, const char **reason)
{
    ptx_low l = low_begin(NULL, module, function, insn);
    const bool can = low_run(&l);
    if (!can && reason != NULL)
        *reason = l.reason;
    return can;
}

void ptx_lower(ptx_emit *emit, const ptx_insn *insn)
{
    ptx_low l = low_begin(emit, emit->module, emit->function, insn);
    (void)low_run(&l); /* cannot fail: asked before */
}

bool ptx_refuse(ptx_low *l, const char *reason)
{
    if (l->reason == NULL)
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

ptx_round ptx_rounding(ptx_low *l)
{
    if (ptx_mod(l, PTX_MOD_RN))
        return LOW_RN;
    if (ptx_mod(l, PTX_MOD_RZ))
        return LOW_RZ;
    if (ptx_mod(l, PTX_MOD_RM))
        return LOW_RM;
    if (ptx_mod(l, PTX_MOD_RP))
        return LOW_RP;
    return LOW_NO_ROUND;
}

ptx_type ptx_type_at(const ptx_low *l, uint32_t nth)
{
    return nth < l->insn->type_count ? (ptx_type)l->insn->types[nth] : PTX_NONE;
}

bool ptx_is_int(ptx_type type)
{
    return type >= PTX_U8 && type <= PTX_S64;
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

/* ---- writing ------------------------------------------------------------------------
 */

ptx_value ptx_name(const char *format, ...)
{
    ptx_value value;
    va_list args;
    va_start(args, format);
    vsnprintf(value.name, sizeof(value.name), format, args);
    va_end(args);
    return value;
}

static void write_line(ptx_low *l, const char *result, const char *format, va_list args)
{
    char line[512]; /* the longest is a call with six arguments: < 350 */
    vsnprintf(line, sizeof(line), format, args);
    if (result != NULL)
        gphi_text_add(l->emit->out, "  %s = %s\n", result, line);
    else
        gphi_text_add(l->emit->out, "  %s\n", line);
}

ptx_value ptx_op(ptx_low *l, const char *format, ...)
{
    ptx_value value = {""};
    if (l->emit == NULL)
        return value;
    value = ptx_fresh(l->emit);
    va_list args;
    va_start(args, format);
    write_line(l, value.name, format, args);
    va_end(args);
    return value;
}

void ptx_do(ptx_low *l, const char *format, ...)
{
    if (l->emit == NULL)
        return;
    va_list args;
    va_start(args, format);
    write_line(l, NULL, format, args);
    va_end(args);
}

bool ptx_call_library(ptx_low *l, const char *name, const char *result,
                      const ptx_arg *args, uint32_t count, ptx_value *out)
{
    if (!ptx_has_library(name))
        return ptx_refuse(l, "this build does not have this form of the instruction");
    char list[320] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s %s", i ? ", " : "",
                               args[i].type, args[i].value.name);
    if (strcmp(result, "void") == 0)
        ptx_do(l, "call void @x_%s(%s)", name, list);
    else
        *out = ptx_op(l, "call %s @x_%s(%s)", result, name, list);
    return true;
}

ptx_value ptx_resize(ptx_low *l, ptx_value value, uint32_t from, uint32_t to, bool sign)
{
    if (from == to)
        return value;
    return ptx_op(l, "%s %s %s to %s", from > to ? "trunc" : (sign ? "sext" : "zext"),
                  ptx_int_name(from), value.name, ptx_int_name(to));
}

ptx_value ptx_bitcast(ptx_low *l, const char *from, ptx_value value, const char *to)
{
    if (strcmp(from, to) == 0)
        return value;
    return ptx_op(l, "bitcast %s %s to %s", from, value.name, to);
}

/* ---- operands -----------------------------------------------------------------------
 */

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

static bool can_read(const ptx_low *l, const ptx_operand *operand, ptx_type type)
{
    const bool number = ptx_is_int(type) || ptx_is_bits(type) || type == PTX_B128;
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REG:
        return is_known_register(l->function, operand->index) &&
               (l->function->registers[operand->index].type == PTX_PRED) ==
                   (type == PTX_PRED);
    case PTX_OPERAND_SREG: return number && operand->index != PTX_SREG_UNKNOWN;
    case PTX_OPERAND_INT: return number || type == PTX_PRED || ptx_is_half(type);
    case PTX_OPERAND_FLOAT:
        return type == PTX_F32 || type == PTX_F64 || type == PTX_B32 || type == PTX_B64;
    case PTX_OPERAND_VAR:
    case PTX_OPERAND_FUNC: return number;
    default: return false;
    }
}

bool ptx_check_in(ptx_low *l, uint32_t nth, ptx_type type)
{
    if (nth >= l->count || type == PTX_NONE || type == PTX_TYPE_OTHER)
        return ptx_refuse(l, "an operand is missing");
    if (!can_read(l, l->operands[nth], type))
        return ptx_refuse(l, "an operand is of another kind than the instruction's type");
    return true;
}

bool ptx_check_out(ptx_low *l, uint32_t nth, ptx_type type)
{
    if (nth >= l->count || type == PTX_NONE || type == PTX_TYPE_OTHER)
        return ptx_refuse(l, "an operand is missing");
    const ptx_operand *operand = l->operands[nth];
    if (operand->kind == PTX_OPERAND_SINK)
        return true;
    if (operand->kind != PTX_OPERAND_REG || !can_read(l, operand, type))
        return ptx_refuse(l, "the destination is no register of the instruction's type");
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
    if (l->emit == NULL)
        return (ptx_value){""};
    return ptx_operand_value(l->emit, l->operands[nth], type);
}

void ptx_out(ptx_low *l, uint32_t nth, ptx_type type, ptx_value value)
{
    if (l->emit != NULL)
        ptx_store_operand(l->emit, l->operands[nth], type, value);
}

/* Any value as the integer of its bits, and back. */
static bool is_llvm_float(const char *type)
{
    return strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
}

static ptx_value convert_bits(ptx_low *l, ptx_value value, ptx_type from, ptx_type to,
                              bool sign)
{
    const char *from_llvm = ptx_llvm_type(from);
    const char *to_llvm = ptx_llvm_type(to);
    if (strcmp(from_llvm, to_llvm) == 0)
        return value;
    if (is_llvm_float(from_llvm))
        value = ptx_bitcast(l, from_llvm, value, ptx_int_name(ptx_bits(from)));
    value = ptx_resize(l, value, ptx_bits(from), ptx_bits(to), sign);
    if (is_llvm_float(to_llvm))
        value = ptx_bitcast(l, ptx_int_name(ptx_bits(to)), value, to_llvm);
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
        const bool wide = is_wide_sreg(operand->index);
        return convert_bits(&l, value, wide ? PTX_U64 : PTX_U32, type, false);
    }
    case PTX_OPERAND_VAR:
        return convert_bits(&l, variable_value(&l, operand), PTX_U64, type, false);
    case PTX_OPERAND_FUNC: {
        const ptx_value value = ptx_fresh(emit);
        gphi_text_add(emit->out, "  %s = ptrtoint ptr @\"f.%s\" to i64\n", value.name,
                      emit->module->functions[operand->index].name);
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
