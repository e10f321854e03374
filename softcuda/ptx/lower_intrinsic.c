// SPDX-License-Identifier: Apache-2.0
/* Functions that a kernel may declare and call without a body: vprintf, malloc, free and
 * __assertfail become calls of the run time. */
#include "softcuda/ptx/lower.h"

#include <string.h>

static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};

bool ptx_is_intrinsic(const char *callee)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(callee, names[i]) == 0)
            return true;
    return false;
}

static bool is_slot(const low *l, const ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_VAR && (operand->index & PTX_VAR_LOCAL) &&
           l->function->variables[operand->index & ~PTX_VAR_LOCAL].space ==
               PTX_SPACE_PARAM;
}

/* An argument: what lies in its .param slot, or a value. */
static ptx_value argument(low *l, const ptx_operand *operand, ptx_type type)
{
    if (is_slot(l, operand))
        return low_op(l, "load %s, ptr %%p.%u, align %u", ptx_llvm_type(type),
                      operand->index & ~PTX_VAR_LOCAL, ptx_type_bytes(type));
    return ptx_operand_value(l->emit, operand, type);
}

static void give_back(low *l, const ptx_operand *operand, ptx_type type, ptx_value value)
{
    if (is_slot(l, operand))
        low_do(l, "store %s %s, ptr %%p.%u, align %u", ptx_llvm_type(type), value.name,
               operand->index & ~PTX_VAR_LOCAL, ptx_type_bytes(type));
    else
        ptx_store_operand(l->emit, operand, type, value);
}

static void assert_failed(low *l, const ptx_operand *args)
{
    const ptx_value message = argument(l, args, PTX_U64);
    const ptx_value file = argument(l, args + 1, PTX_U64);
    const ptx_value line = argument(l, args + 2, PTX_U32);
    const ptx_value function = argument(l, args + 3, PTX_U64);
    const ptx_value size = argument(l, args + 4, PTX_U64);
    low_do(l,
           "call void @ptx_rt_assertfail(ptr %s, i32 %s, i64 %s, i64 %s, i32 %s, i64 %s, "
           "i64 %s)",
           l->emit->block.name, l->emit->thread_index.name, message.name, file.name,
           line.name, function.name, size.name);
}

bool ptx_lower_intrinsic(ptx_emit *emit, const ptx_insn *insn)
{
    low l = {.emit = emit, .module = emit->module, .function = emit->function};
    l.insn = insn;
    if (insn->operand_count < (uint32_t)insn->return_count + 1)
        return false;
    const ptx_operand *results = &emit->function->operands[insn->operand];
    const ptx_operand *callee = results + insn->return_count, *args = callee + 1;
    if (callee->kind != PTX_OPERAND_FUNC ||
        callee->index >= emit->module->function_count ||
        !emit->module->functions[callee->index].is_extern)
        return false;
    const char *name = emit->module->functions[callee->index].name;
    const char *block = emit->block.name;
    const uint32_t have = insn->argument_count;
    if (strcmp(name, "vprintf") == 0 && have == 2) {
        const ptx_value format = argument(&l, args, PTX_U64);
        const ptx_value list = argument(&l, args + 1, PTX_U64);
        const ptx_value count =
            low_op(&l, "call i32 @ptx_rt_vprintf(ptr %s, i32 %s, i64 %s, i64 %s)", block,
                   emit->thread_index.name, format.name, list.name);
        if (insn->return_count == 1)
            give_back(&l, results, PTX_U32, count);
        return true;
    }
    if (strcmp(name, "malloc") == 0 && have == 1 && insn->return_count == 1) {
        const ptx_value bytes = argument(&l, args, PTX_U64);
        give_back(
            &l, results, PTX_U64,
            low_op(&l, "call i64 @ptx_rt_malloc(ptr %s, i64 %s)", block, bytes.name));
        return true;
    }
    if (strcmp(name, "free") == 0 && have == 1) {
        const ptx_value address = argument(&l, args, PTX_U64);
        low_do(&l, "call void @ptx_rt_free(ptr %s, i64 %s)", block, address.name);
        return true;
    }
    if (strcmp(name, "__assertfail") == 0 && have == 5) {
        assert_failed(&l, args);
        return true;
    }
    return false;
}
