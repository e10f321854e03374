// SPDX-License-Identifier: Apache-2.0
/* Addresses: an operand in brackets as a pointer that LLVM knows the base of.
 *
 * An address becomes a pointer by arithmetic on a base: `zero` for global, constant and
 * generic addresses, `shared` and `local` for offsets there, `params` or a slot `%p.N`
 * for parameters. */
#include "softcuda/ptx/lower/lower.h"

#include "softcuda/ptx/abi.h"

static const ptx_variable *variable_of(const ptx_low *l, uint32_t index)
{
    const uint32_t at = index & ~PTX_VAR_LOCAL;
    if (index & PTX_VAR_LOCAL)
        return at < l->function->variable_count ? &l->function->variables[at] : NULL;
    return at < l->module->variable_count ? &l->module->variables[at] : NULL;
}

/* A parameter of the kernel, not a slot of a call. */
static bool is_of_kernel(const ptx_low *l, uint32_t index)
{
    return l->function->is_entry &&
           (index & ~PTX_VAR_LOCAL) < l->function->parameter_count;
}

/* The base pointer of a .param variable, and the offset in it. */
static ptx_value param_pointer(ptx_low *l, uint32_t index)
{
    const uint32_t at = index & ~PTX_VAR_LOCAL;
    if (!is_of_kernel(l, index))
        return ptx_name("%%p.%u", at);
    const ptx_value offset = l->emit->variable_address(l->emit, index);
    return ptx_op(l, "getelementptr i8, ptr %s, i64 %s", l->emit->params.name,
                  offset.name);
}

static ptx_value base_pointer(const ptx_low *l, ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED: return l->emit->shared;
    case PTX_SPACE_LOCAL: return l->emit->local;
    default: return l->emit->zero;
    }
}

/* The pointer to use, once an access is found good. `bytes` is PTX_CHECK_... too. */
ptx_value ptx_add_check(ptx_low *l, ptx_value pointer, ptx_value bytes)
{
    const ptx_value at = ptx_op(l, "ptrtoint ptr %s to i64", pointer.name);
    return ptx_op(l, "call ptr @ptx_rt_check(ptr %s, i32 %s, i64 %s, i32 %s, i32 %u)",
                  l->emit->block.name, l->emit->thread_index.name, at.name, bytes.name,
                  l->insn->line);
}

static uint32_t access_flags(const ptx_low *l, bool write)
{
    return (write ? PTX_CHECK_WRITE : 0) | (l->is_strong ? PTX_CHECK_STRONG : 0);
}

static bool address_kind(ptx_low *l, const ptx_operand *operand, ptx_space *space,
                         bool *is_slot)
{
    *is_slot = false;
    switch ((ptx_operand_kind)operand->base) {
    case PTX_OPERAND_REG:
        return operand->index < l->function->register_count &&
               ptx_type_bytes((ptx_type)l->function->registers[operand->index].type) >= 4;
    case PTX_OPERAND_INT: return *space != PTX_SPACE_PARAM;
    case PTX_OPERAND_VAR: {
        const ptx_variable *variable = variable_of(l, operand->index);
        if (!variable || variable->space == PTX_SPACE_REG)
            return false;
        if (*space == PTX_SPACE_GENERIC)
            *space = (ptx_space)variable->space;
        *is_slot = variable->space == PTX_SPACE_PARAM;
        return variable->space == *space;
    }
    default: return false;
    }
}

/* The address of a constant whose lower half is in a 32-bit register: constants of a
 * module lie within 2 GiB of each other, so any of them has the upper half. */
static ptx_value widen_constant(ptx_low *l, ptx_value half)
{
    uint32_t v = 0;
    while (v < l->module->variable_count &&
           l->module->variables[v].space != PTX_SPACE_CONST)
        v++;
    if (v == l->module->variable_count)
        return half;
    const ptx_value near = l->emit->variable_address(l->emit, v);
    const ptx_value way = ptx_op(l, "sub i64 %s, %s", half.name, near.name);
    const ptx_value low32 = ptx_op(l, "trunc i64 %s to i32", way.name);
    const ptx_value wide = ptx_op(l, "sext i32 %s to i64", low32.name);
    return ptx_op(l, "add i64 %s, %s", near.name, wide.name);
}

/* Addresses of 32 bits there are sums modulo 2^32, displacement included: a register may
 * are before the window by what the displacement adds. */
static bool is_window(ptx_space space)
{
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_LOCAL;
}

/* A register's value or a variable's offset after the base of its space. */
static ptx_value displaced(ptx_low *l, const ptx_operand *operand, ptx_space space)
{
    const ptx_value base = base_pointer(l, space);
    if (operand->base == PTX_OPERAND_INT)
        return ptx_op(l, "getelementptr i8, ptr %s, i64 %lld", base.name,
                      (long long)operand->imm);
    ptx_value address;
    if (operand->base == PTX_OPERAND_VAR) {
        address = l->emit->variable_address(l->emit, operand->index);
    } else {
        ptx_operand reg = *operand;
        reg.kind = PTX_OPERAND_REG;
        reg.negate = 0;
        const ptx_type held = (ptx_type)l->function->registers[operand->index].type;
        const bool is_half = ptx_type_bytes(held) == 4;
        const bool is_signed = is_half && is_window(space);
        address = ptx_operand_value(l->emit, &reg, is_signed ? PTX_B32 : PTX_U64);
        if (is_signed)
            address = ptx_op(l, "sext i32 %s to i64", address.name);
        else if (is_half && space == PTX_SPACE_CONST)
            address = widen_constant(l, address);
    }
    return ptx_op(l, "getelementptr i8, ptr %s, i64 %s", base.name, address.name);
}

bool ptx_address(ptx_low *l, uint32_t nth, ptx_space space, uint32_t bytes, bool write,
                 ptx_place *out)
{
    *out = (ptx_place){.is_shared = false};
    bool is_slot;
    if (nth >= l->count || l->operands[nth]->kind != PTX_OPERAND_ADDRESS ||
        !address_kind(l, l->operands[nth], &space, &is_slot))
        return ptx_refuse(l, "the address is of another kind than the state space");
    const ptx_operand *operand = l->operands[nth];
    out->is_shared = space == PTX_SPACE_SHARED;
    out->is_private = space == PTX_SPACE_PARAM;
    out->is_fixed = is_slot && !write && is_of_kernel(l, operand->index);
    if (!l->emit)
        return true;
    out->pointer =
        is_slot ? param_pointer(l, operand->index) : displaced(l, operand, space);
    if (operand->imm != 0 && operand->base != PTX_OPERAND_INT)
        out->pointer = ptx_op(l, "getelementptr i8, ptr %s, i64 %lld", out->pointer.name,
                              (long long)operand->imm);
    const bool checked = space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL ||
                         space == PTX_SPACE_CONST;
    if (checked && bytes != 0 && l->emit->options->check_memory)
        out->pointer = ptx_add_check(
            l, out->pointer, ptx_name("%d", (int)(bytes | access_flags(l, write))));
    return true;
}

ptx_value ptx_in_shared(ptx_low *l, ptx_value address)
{
    const ptx_value base = ptx_op(l, "ptrtoint ptr %s to i64", l->emit->shared.name);
    const ptx_value offset = ptx_op(l, "sub i64 %s, %s", address.name, base.name);
    const ptx_value grid =
        ptx_load_field(l->emit, "ptr", l->emit->block.name, offsetof(ptx_block, grid));
    const ptx_value bytes =
        ptx_load_field(l->emit, "i32", grid.name, offsetof(ptx_grid, shared_bytes));
    const ptx_value limit = ptx_resize(l, bytes, 32, 64, false);
    return ptx_op(l, "icmp ult i64 %s, %s", offset.name, limit.name);
}
