// SPDX-License-Identifier: Apache-2.0
/* Functions that a kernel may declare and call without a body: vprintf, malloc, free,
 * __assertfail and what speaks to graphs become calls of the run time. */
#include "softcuda/ptx/lower/lower.h"
#include "softcuda/ptx/nestedcalls.h"

#include <stdio.h>
#include <string.h>

static bool is_slot(const ptx_low *l, const ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_VAR && (operand->index & PTX_VAR_LOCAL) &&
           l->function->variables[operand->index & ~PTX_VAR_LOCAL].space ==
               PTX_SPACE_PARAM;
}

/* Can the operand be passed, or (for `returns`) be given, a value of the type? PTX_NONE:
 * `bytes`, which are in no register. */
static bool fits(const ptx_low *l, const ptx_operand *operand, ptx_type type,
                 uint32_t bytes, bool returns)
{
    if (type != PTX_NONE)
        bytes = ptx_type_bytes(type);
    if (is_slot(l, operand)) {
        const uint32_t index = operand->index & ~PTX_VAR_LOCAL;
        const bool kernels =
            l->function->is_entry && index < l->function->parameter_count;
        return !kernels && operand->imm == 0 &&
               l->function->variables[index].bytes >= bytes;
    }
    if (type == PTX_NONE)
        return false;
    ptx_low one = {.function = l->function, .module = l->module, .count = 1};
    one.operands[0] = operand;
    return returns ? ptx_check_out(&one, 0, type) : ptx_check_in(&one, 0, type);
}

/* The external function that `insn` calls, or NULL. */
static const ptx_function *external_callee(const ptx_module *module,
                                           const ptx_function *function,
                                           const ptx_insn *insn)
{
    if (insn->operand_count < (uint32_t)insn->return_count + 1)
        return NULL;
    const ptx_operand *callee = &function->operands[insn->operand + insn->return_count];
    if (callee->kind != PTX_OPERAND_FUNC || callee->index >= module->function_count ||
        !module->functions[callee->index].is_extern)
        return NULL;
    return &module->functions[callee->index];
}

bool ptx_intrinsic_fits(const ptx_module *module, const ptx_function *function,
                        const ptx_insn *insn)
{
    const ptx_function *callee = external_callee(module, function, insn);
    const ptx_signature *s = callee ? ptx_intrinsic(callee->name) : NULL;
    if (!s)
        return true; /* the shape's business */
    ptx_low l = {.module = module, .function = function, .insn = insn};
    const ptx_operand *results = &function->operands[insn->operand];
    const ptx_operand *args = results + insn->return_count + 1;
    if (insn->argument_count != s->count || insn->return_count > 1 ||
        insn->operand_count != (uint32_t)insn->return_count + 1 + s->count)
        return false;
    if (insn->return_count == 1 &&
        (s->result == PTX_NONE || !fits(&l, results, s->result, 0, true)))
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (!fits(&l, args + i, s->arguments[i], s->bytes[i], false))
            return false;
    return true;
}

/* An argument: what lies in its .param slot, or a value. */
static ptx_value argument(ptx_low *l, const ptx_operand *operand, ptx_type type)
{
    if (is_slot(l, operand))
        return ptx_op(l, "load %s, ptr %%p.%u, align 1", ptx_llvm_type(type),
                      operand->index & ~PTX_VAR_LOCAL);
    return ptx_operand_value(l->emit, operand, type);
}

static void give_back(ptx_low *l, const ptx_operand *operand, ptx_type type,
                      ptx_value value)
{
    if (is_slot(l, operand))
        ptx_do(l, "store %s %s, ptr %%p.%u, align 1", ptx_llvm_type(type), value.name,
               operand->index & ~PTX_VAR_LOCAL);
    else
        ptx_store_operand(l->emit, operand, type, value);
}

static void assert_failed(ptx_low *l, const ptx_operand *args)
{
    const ptx_value message = argument(l, args, PTX_U64);
    const ptx_value file = argument(l, args + 1, PTX_U64);
    const ptx_value line = argument(l, args + 2, PTX_U32);
    const ptx_value function = argument(l, args + 3, PTX_U64);
    const ptx_value size = argument(l, args + 4, PTX_U64);
    ptx_do(l,
           "call void @ptx_rt_assertfail(ptr %s, i32 %s, i64 %s, i64 %s, i32 %s, i64 %s, "
           "i64 %s)",
           l->emit->block.name, l->emit->thread_index.name, message.name, file.name,
           line.name, function.name, size.name);
}

/* Word `i` of an argument of three. */
static ptx_value word_of(ptx_low *l, const ptx_operand *operand, uint32_t i)
{
    const ptx_value at = ptx_op(l, "getelementptr i8, ptr %%p.%u, i64 %u",
                                operand->index & ~PTX_VAR_LOCAL, 4 * i);
    return ptx_op(l, "load i32, ptr %s, align 1", at.name);
}

/* Functions of CUDA's device run time that give an error: (block, thread, arguments). */
static bool lower_graph_call(ptx_low *l, const char *name, const ptx_operand *results,
                             const ptx_operand *args)
{
    static const struct {
        const char *name, *call;
    } calls[] = {{"cudaGraphLaunch", "graph_launch"},
                 {"cudaGraphKernelNodeSetParam", "node_param"},
                 {"cudaGraphKernelNodeSetEnabled", "node_enabled"},
                 {"cudaGraphKernelNodeSetGridDim", "node_grid"},
                 {"cudaGraphKernelNodeUpdatesApply", "node_updates"}};
    const ptx_signature *s = ptx_intrinsic(name);
    size_t which = 0;
    while (which < sizeof(calls) / sizeof(calls[0]) &&
           strcmp(calls[which].name, name) != 0)
        which++;
    if (which == sizeof(calls) / sizeof(calls[0]))
        return false;
    char list[256] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; k < (s->arguments[i] == PTX_NONE ? 3u : 1u); k++) {
            const ptx_type type = s->arguments[i] == PTX_NONE ? PTX_U32 : s->arguments[i];
            const ptx_value value = s->arguments[i] == PTX_NONE
                                        ? word_of(l, args + i, k)
                                        : argument(l, args + i, type);
            at += (size_t)snprintf(list + at, sizeof(list) - at, ", %s %s",
                                   ptx_llvm_type(type), value.name);
        }
    const ptx_value error =
        ptx_op(l, "call i32 @ptx_rt_%s(ptr %s, i32 %s%s)", calls[which].call,
               l->emit->block.name, l->emit->thread_index.name, list);
    if (l->insn->return_count == 1)
        give_back(l, results, PTX_U32, error);
    return true;
}

/* Its number and its arguments, as words: see nestedcalls.h. */
static bool lower_nested(ptx_low *l, const ptx_signature *s, const ptx_operand *results,
                         const ptx_operand *args)
{
    char list[PTX_NESTED_ARGUMENTS * 48] = "";
    size_t at = 0;
    if (s->nested == 0)
        return false;
    for (uint32_t i = 0; i < PTX_NESTED_ARGUMENTS; i++) {
        ptx_value word = {.name = "0"};
        if (i < s->count && s->arguments[i] == PTX_NONE)
            word =
                ptx_op(l, "ptrtoint ptr %%p.%u to i64", args[i].index & ~PTX_VAR_LOCAL);
        else if (i < s->count)
            word = argument(l, args + i, s->arguments[i]);
        if (i < s->count && s->arguments[i] == PTX_U32)
            word = ptx_op(l, "zext i32 %s to i64", word.name);
        at += (size_t)snprintf(list + at, sizeof(list) - at, ", i64 %s", word.name);
    }
    ptx_value got =
        ptx_op(l, "call i64 @ptx_rt_nested(ptr %s, i32 %s, i32 %u%s)",
               l->emit->block.name, l->emit->thread_index.name, s->nested, list);
    if (l->insn->return_count == 0)
        return true;
    if (s->result == PTX_U32)
        got = ptx_op(l, "trunc i64 %s to i32", got.name);
    give_back(l, results, s->result, got);
    return true;
}

bool ptx_lower_intrinsic(ptx_emit *emit, const ptx_insn *insn)
{
    ptx_low l = {.emit = emit, .module = emit->module, .function = emit->function};
    l.insn = insn;
    const ptx_function *callee = external_callee(emit->module, emit->function, insn);
    if (!callee || !ptx_intrinsic(callee->name))
        return false;
    const ptx_operand *results = &emit->function->operands[insn->operand];
    const ptx_operand *args = results + insn->return_count + 1;
    const char *name = callee->name;
    const char *block = emit->block.name;
    if (strcmp(name, "vprintf") == 0) {
        const ptx_value format = argument(&l, args, PTX_U64);
        const ptx_value list = argument(&l, args + 1, PTX_U64);
        const ptx_value count =
            ptx_op(&l, "call i32 @ptx_rt_vprintf(ptr %s, i32 %s, i64 %s, i64 %s)", block,
                   emit->thread_index.name, format.name, list.name);
        if (insn->return_count == 1)
            give_back(&l, results, PTX_U32, count);
        return true;
    }
    if (strcmp(name, "malloc") == 0) {
        const ptx_value bytes = argument(&l, args, PTX_U64);
        const ptx_value at =
            ptx_op(&l, "call i64 @ptx_rt_malloc(ptr %s, i64 %s)", block, bytes.name);
        if (insn->return_count == 1)
            give_back(&l, results, PTX_U64, at);
        return true;
    }
    if (strcmp(name, "free") == 0) {
        const ptx_value address = argument(&l, args, PTX_U64);
        ptx_do(&l, "call void @ptx_rt_free(ptr %s, i64 %s)", block, address.name);
        return true;
    }
    if (strcmp(name, "cudaGraphSetConditional") == 0) {
        const ptx_value handle = argument(&l, args, PTX_U64);
        const ptx_value value = argument(&l, args + 1, PTX_U32);
        ptx_do(&l, "call void @ptx_rt_set_conditional(ptr %s, i32 %s, i64 %s, i32 %s)",
               block, emit->thread_index.name, handle.name, value.name);
        return true;
    }
    if (!lower_nested(&l, ptx_intrinsic(name), results, args) &&
        !lower_graph_call(&l, name, results, args))
        assert_failed(&l, args);
    return true;
}
