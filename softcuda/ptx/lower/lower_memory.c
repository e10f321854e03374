// SPDX-License-Identifier: Apache-2.0
/* Loads, stores, asynchronous copies (done at once) and prefetches (ignored).
 *
 * An address becomes a pointer by arithmetic on a base that LLVM knows: `zero` for
 * global, constant and generic addresses, `shared` and `local` for offsets there,
 * `params` or a slot `%p.N` for parameters. Vectors are taken apart: LLVM's loop
 * vectorizer groups scalar accesses, and does not touch vector ones. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>

#include "softcuda/ptx/abi.h"

/* ---- addresses ------------------------------------------------------------------------
 */

static const ptx_variable *variable_of(const ptx_low *l, uint32_t index)
{
    const uint32_t at = index & ~PTX_VAR_LOCAL;
    if (index & PTX_VAR_LOCAL)
        return at < l->function->variable_count ? &l->function->variables[at] : NULL;
    return at < l->module->variable_count ? &l->module->variables[at] : NULL;
}

/* The base pointer of a .param variable, and the offset in it. */
static ptx_value param_pointer(ptx_low *l, uint32_t index)
{
    const uint32_t at = index & ~PTX_VAR_LOCAL;
    if (!l->function->is_entry || at >= l->function->parameter_count)
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
static ptx_value add_check(ptx_low *l, ptx_value pointer, ptx_value bytes)
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
        if (variable == NULL || variable->space == PTX_SPACE_REG)
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

/* A register's value or a variable's offset behind the base of its space. */
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
        address = ptx_operand_value(l->emit, &reg, PTX_U64);
        const ptx_type held = (ptx_type)l->function->registers[operand->index].type;
        if (space == PTX_SPACE_CONST && ptx_type_bytes(held) == 4)
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
    if (l->emit == NULL)
        return true;
    out->pointer =
        is_slot ? param_pointer(l, operand->index) : displaced(l, operand, space);
    if (operand->imm != 0 && operand->base != PTX_OPERAND_INT)
        out->pointer = ptx_op(l, "getelementptr i8, ptr %s, i64 %lld", out->pointer.name,
                              (long long)operand->imm);
    const bool checked = space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL ||
                         space == PTX_SPACE_CONST;
    if (checked && bytes != 0 && l->emit->options->check_memory)
        out->pointer = add_check(l, out->pointer,
                                 ptx_name("%d", (int)(bytes | access_flags(l, write))));
    return true;
}

/* ---- loads and stores
 * ------------------------------------------------------------------ */

/* Scopes and cache hints: nothing to do, since every host load is coherent. Returns the
 * number of cache-policy operands. */
static uint32_t skip_hints(ptx_low *l)
{
    static const ptx_modifier hints[] = {PTX_MOD_WEAK,
                                         PTX_MOD_CTA,
                                         PTX_MOD_CLUSTER,
                                         PTX_MOD_GPU,
                                         PTX_MOD_SYS,
                                         PTX_MOD_CA,
                                         PTX_MOD_CG,
                                         PTX_MOD_CS,
                                         PTX_MOD_LU,
                                         PTX_MOD_WB,
                                         PTX_MOD_WT,
                                         PTX_MOD_NC,
                                         PTX_MOD_L1_EVICT_NORMAL,
                                         PTX_MOD_L1_EVICT_UNCHANGED,
                                         PTX_MOD_L1_EVICT_FIRST,
                                         PTX_MOD_L1_EVICT_LAST,
                                         PTX_MOD_L1_NO_ALLOCATE,
                                         PTX_MOD_L2_64B,
                                         PTX_MOD_L2_128B,
                                         PTX_MOD_L2_256B,
                                         PTX_MOD_L2_EVICT_LAST,
                                         PTX_MOD_L2_EVICT_NORMAL,
                                         PTX_MOD_L2_EVICT_FIRST,
                                         PTX_MOD_SHARED_CLUSTER};
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        (void)ptx_mod(l, hints[i]);
    return ptx_mod(l, PTX_MOD_L2_CACHE_HINT) ? 1 : 0;
}

typedef struct access {
    ptx_type type;
    ptx_space space;
    const char *order; /* " monotonic", or NULL: a plain access */
    uint32_t elements; /* 0: no vector */
} access;

static uint32_t vector_length(ptx_low *l)
{
    if (ptx_mod(l, PTX_MOD_V2))
        return 2;
    if (ptx_mod(l, PTX_MOD_V4))
        return 4;
    return ptx_mod(l, PTX_MOD_V8) ? 8 : 0;
}

static bool read_access(ptx_low *l, access *a, bool is_load, uint32_t *extra)
{
    a->type = ptx_type_at(l, 0);
    a->space = (ptx_space)l->insn->space;
    a->elements = vector_length(l);
    *extra = skip_hints(l);
    a->order = NULL;
    bool relaxed = ptx_mod(l, PTX_MOD_RELAXED); /* each is asked: asking is taking */
    relaxed |= ptx_mod(l, PTX_MOD_VOLATILE);
    relaxed |= ptx_mod(l, PTX_MOD_MMIO);
    relaxed |= is_load && ptx_mod(l, PTX_MOD_CV);
    if (relaxed)
        a->order = "monotonic";
    if (is_load && ptx_mod(l, PTX_MOD_ACQUIRE))
        a->order = "acquire";
    if (!is_load && ptx_mod(l, PTX_MOD_RELEASE))
        a->order = "release";
    const bool known = ptx_is_int(a->type) || ptx_is_bits(a->type) ||
                       a->type == PTX_F32 || a->type == PTX_F64 || a->type == PTX_B128 ||
                       a->type == PTX_F16 || a->type == PTX_BF16 ||
                       a->type == PTX_F16X2 || a->type == PTX_BF16X2;
    return known && l->insn->type_count == 1 && a->space != PTX_SPACE_REG;
}

/* The register or value operand(s) at `nth`: one, or a vector of the right length. */
static bool check_values(ptx_low *l, uint32_t nth, const access *a, bool is_load)
{
    if (nth >= l->count)
        return false;
    const ptx_operand *operand = l->operands[nth];
    if (a->elements == 0)
        return is_load ? ptx_check_out(l, nth, a->type) : ptx_check_in(l, nth, a->type);
    if (operand->kind != PTX_OPERAND_VECTOR || operand->index != a->elements)
        return ptx_refuse(l, "the vector has another length than the instruction");
    for (uint32_t i = 0; i < a->elements; i++) {
        ptx_low one = {.function = l->function, .module = l->module, .count = 1};
        one.operands[0] = operand + 1 + i;
        if (is_load ? !ptx_check_out(&one, 0, a->type) : !ptx_check_in(&one, 0, a->type))
            return ptx_refuse(l, one.reason);
    }
    return true;
}

/* A slot of this thread's own must not be called parallel to the other threads' use. */
static const char *access_suffix(const ptx_low *l, const ptx_place *place)
{
    return place->is_private && place->pointer.name[1] == 'p' ? "" : l->emit->access;
}

static ptx_value element_pointer(ptx_low *l, const ptx_place *place, uint64_t offset)
{
    if (offset == 0)
        return place->pointer;
    return ptx_op(l, "getelementptr i8, ptr %s, i64 %llu", place->pointer.name,
                  (unsigned long long)offset);
}

static bool load(ptx_low *l)
{
    access a;
    uint32_t extra;
    if (!read_access(l, &a, true, &extra) || l->count != 2 + extra ||
        !check_values(l, 0, &a, true))
        return false;
    const uint32_t bytes = ptx_type_bytes(a.type), n = a.elements ? a.elements : 1;
    ptx_place place;
    l->is_strong = a.order != NULL;
    if (!ptx_address(l, 1, a.space, bytes * n, false, &place))
        return false;
    if (l->emit == NULL)
        return true;
    const ptx_operand *first = l->operands[0] + (a.elements ? 1 : 0);
    ptx_value values[8];
    const char *llvm = ptx_llvm_type(a.type);
    for (uint32_t i = 0; i < n; i++) {
        const ptx_value at = element_pointer(l, &place, (uint64_t)i * bytes);
        values[i] = a.order != NULL ? ptx_op(l, "load atomic %s, ptr %s %s, align %u",
                                             llvm, at.name, a.order, bytes)
                                    : ptx_op(l, "load %s, ptr %s, align %u%s", llvm,
                                             at.name, bytes, access_suffix(l, &place));
    }
    for (uint32_t i = 0; i < n; i++)
        ptx_store_operand(l->emit, first + i, a.type, values[i]);
    return true;
}

static bool store(ptx_low *l)
{
    access a;
    uint32_t extra;
    if (!read_access(l, &a, false, &extra) || l->count != 2 + extra ||
        !check_values(l, 1, &a, false))
        return false;
    const uint32_t bytes = ptx_type_bytes(a.type), n = a.elements ? a.elements : 1;
    ptx_place place;
    l->is_strong = a.order != NULL;
    if (!ptx_address(l, 0, a.space, bytes * n, true, &place))
        return false;
    if (l->emit == NULL)
        return true;
    const ptx_operand *first = l->operands[1] + (a.elements ? 1 : 0);
    const char *llvm = ptx_llvm_type(a.type);
    for (uint32_t i = 0; i < n; i++) {
        const ptx_value value = ptx_operand_value(l->emit, first + i, a.type);
        const ptx_value at = element_pointer(l, &place, (uint64_t)i * bytes);
        if (a.order != NULL)
            ptx_do(l, "store atomic %s %s, ptr %s %s, align %u", llvm, value.name,
                   at.name, a.order, bytes);
        else
            ptx_do(l, "store %s %s, ptr %s, align %u%s", llvm, value.name, at.name, bytes,
                   access_suffix(l, &place));
    }
    return true;
}

/* ---- cp.async
 * ---------------------------------------------------------------------------- */

static bool is_group_word(ptx_low *l)
{
    bool is_word = ptx_mod(l, PTX_MOD_COMMIT_GROUP); /* each is asked, as above */
    is_word |= ptx_mod(l, PTX_MOD_WAIT_GROUP);
    is_word |= ptx_mod(l, PTX_MOD_WAIT_ALL);
    return is_word;
}

static void copy_words(ptx_low *l, const ptx_place *to, const ptx_place *from,
                       uint32_t bytes)
{
    const uint32_t step = bytes == 4 ? 4 : 8;
    for (uint32_t at = 0; at < bytes; at += step) {
        const ptx_value source = element_pointer(l, from, at);
        const ptx_value target = element_pointer(l, to, at);
        const ptx_value word = ptx_op(l, "load i%u, ptr %s, align %u%s", 8 * step,
                                      source.name, step, l->emit->access);
        ptx_do(l, "store i%u %s, ptr %s, align %u%s", 8 * step, word.name, target.name,
               step, l->emit->access);
    }
}

/* The fourth operand: bytes to read (zeros follow them), or a predicate that ignores the
 * source altogether. */
static bool source_bytes(ptx_low *l, uint32_t bytes, ptx_value *out)
{
    const ptx_operand *operand = l->operands[3];
    const bool is_predicate = operand->kind == PTX_OPERAND_REG &&
                              operand->index < l->function->register_count &&
                              l->function->registers[operand->index].type == PTX_PRED;
    if (!ptx_check_in(l, 3, is_predicate ? PTX_PRED : PTX_U32))
        return false;
    *out = ptx_in(l, 3, is_predicate ? PTX_PRED : PTX_U32);
    if (is_predicate)
        *out = ptx_op(l, "select i1 %s, i32 0, i32 %u", out->name, bytes);
    return true;
}

/* Checks the bytes that are really read, which may be none. */
static void check_source(ptx_low *l, ptx_place *from, uint32_t bytes, ptx_value source)
{
    if (l->emit == NULL || !l->emit->options->check_memory)
        return;
    const ptx_value length =
        ptx_op(l, "call i32 @llvm.umin.i32(i32 %s, i32 %u)", source.name, bytes);
    from->pointer = add_check(l, from->pointer, length);
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes to read}. It is done when it is
 * issued, so committing and waiting have nothing left to do. */
static bool copy_async(ptx_low *l)
{
    if (!ptx_mod(l, PTX_MOD_ASYNC))
        return false;
    if (is_group_word(l))
        return l->insn->type_count == 0;
    if (ptx_mod(l, PTX_MOD_MBARRIER))
        return ptx_low_copy_arrive(l);
    const uint32_t extra = skip_hints(l);
    if (l->insn->space != PTX_SPACE_SHARED || l->insn->space2 != PTX_SPACE_GLOBAL ||
        l->count < 3 + extra || l->count > 4 + extra ||
        l->operands[2]->kind != PTX_OPERAND_INT)
        return false;
    const int64_t bytes = l->operands[2]->imm;
    const bool partial = l->count == 4 + extra;
    ptx_value source = {""};
    if ((bytes != 4 && bytes != 8 && bytes != 16) ||
        (partial && !source_bytes(l, (uint32_t)bytes, &source)))
        return false;
    ptx_place to, from;
    if (!ptx_address(l, 0, PTX_SPACE_SHARED, (uint32_t)bytes, true, &to) ||
        !ptx_address(l, 1, PTX_SPACE_GLOBAL, partial ? 0 : (uint32_t)bytes, false, &from))
        return false;
    if (!partial) {
        if (l->emit != NULL)
            copy_words(l, &to, &from, (uint32_t)bytes);
        return true;
    }
    check_source(l, &from, (uint32_t)bytes, source);
    const ptx_arg args[] = {{"ptr", to.pointer},
                            {"ptr", from.pointer},
                            {"i32", ptx_name("%u", (uint32_t)bytes)},
                            {"i32", source}};
    return ptx_call_library(l, "copy_zfill", "void", args, 4, NULL);
}

static bool prefetch(ptx_low *l)
{
    (void)skip_hints(l);
    (void)ptx_mod(l, PTX_MOD_L1);
    (void)ptx_mod(l, PTX_MOD_L2);
    return l->count == 1 && l->operands[0]->kind == PTX_OPERAND_ADDRESS;
}

bool ptx_low_memory(ptx_low *l)
{
    switch ((ptx_opcode)l->insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU: return load(l);
    case PTX_OP_ST: return store(l);
    case PTX_OP_CP: return copy_async(l);
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU: return prefetch(l);
    default: return false;
    }
}
