// SPDX-License-Identifier: Apache-2.0
/* atom, red, membar, fence.
 *
 * A block runs on one host thread at a time, so an atomic on .shared memory is a plain
 * load, operation, store; it carries no access group, because threads of a loop may meet
 * at one address. Global and generic ones are atomic instructions; sums of floats that
 * nobody reads may be operations of a warp (flow/join.c). */
#include "softcuda/ptx/lower/lower.h"

#include <string.h>

typedef struct operation {
    ptx_modifier modifier;
    const char *on_signed, *on_unsigned; /* atomicrmw's word */
} operation;

static const operation operations[] = {
    {PTX_MOD_ADD, "add", "add"},      {PTX_MOD_AND, NULL, "and"},
    {PTX_MOD_OR, NULL, "or"},         {PTX_MOD_XOR, NULL, "xor"},
    {PTX_MOD_MIN, "min", "umin"},     {PTX_MOD_MAX, "max", "umax"},
    {PTX_MOD_EXCH, NULL, "xchg"},     {PTX_MOD_INC, NULL, "uinc_wrap"},
    {PTX_MOD_DEC, NULL, "udec_wrap"},
};

typedef struct atomic {
    ptx_type type;
    const char *word;  /* of atomicrmw; NULL: cas */
    const char *order; /* monotonic ... */
    uint32_t address;  /* operand */
    uint32_t elements; /* 0: no vector */
    bool returns;
} atomic;

static const char *ordering(ptx_low *l)
{
    if (ptx_mod(l, PTX_MOD_ACQ_REL))
        return "acq_rel";
    if (ptx_mod(l, PTX_MOD_ACQUIRE))
        return "acquire";
    if (ptx_mod(l, PTX_MOD_RELEASE))
        return "release";
    (void)ptx_mod(l, PTX_MOD_RELAXED);
    return "monotonic";
}

/* inc and dec are u32 alone; bit operations b32 and b64; min and max integers. */
static const char *word_for(ptx_low *l, ptx_type type)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        const operation *o = &operations[i];
        if (!ptx_mod(l, o->modifier))
            continue;
        const bool counts = o->modifier == PTX_MOD_INC || o->modifier == PTX_MOD_DEC;
        if (counts && type != PTX_U32)
            return NULL;
        if (ptx_is_float(type))
            return o->modifier == PTX_MOD_ADD ? "fadd" : NULL;
        if (!o->on_signed && ptx_is_signed(type))
            return NULL;
        return ptx_is_signed(type) ? o->on_signed : o->on_unsigned;
    }
    return NULL;
}

/* The same on memory that no other host thread touches. */
static ptx_value plain_result(ptx_low *l, const atomic *a, ptx_value old, ptx_value b)
{
    const char *llvm = ptx_llvm_type(a->type), *word = a->word;
    if (strcmp(word, "xchg") == 0)
        return b;
    const size_t length = strlen(word);
    if (length > 5) { /* uinc_wrap, udec_wrap */
        const ptx_arg args[] = {{llvm, old}, {llvm, b}};
        return ptx_call_library(l, word[1] == 'i' ? "wrap_inc_u32" : "wrap_dec_u32", llvm,
                                args, 2);
    }
    const ptx_value both[] = {old, b};
    if (strcmp(word, "min") == 0 || strcmp(word, "max") == 0)
        return ptx_call_llvm(l, ptx_name("s%s", word).name, a->type, both, 2);
    if (word[0] == 'u')
        return ptx_call_llvm(l, word, a->type, both, 2);
    return ptx_op(l, "%s %s %s, %s", word, llvm, old.name, b.name);
}

static ptx_value exchange_or_modify(ptx_low *l, const atomic *a, const ptx_place *place)
{
    const char *llvm = ptx_llvm_type(a->type), *at = place->pointer.name;
    const uint32_t bytes = ptx_type_bytes(a->type);
    const ptx_value b = ptx_in(l, a->address + 1, a->type);
    if (!place->is_shared && a->type == PTX_F32 && a->word[0] == 'f') {
        ptx_value keeps = ptx_name("0");
        if (l->insn->space == PTX_SPACE_GENERIC) {
            const ptx_value address = ptx_op(l, "ptrtoint ptr %s to i64", at);
            keeps = ptx_resize(l, ptx_in_shared(l, address), 1, 32, false);
        }
        const ptx_arg args[] = {{"ptr", place->pointer}, {"float", b}, {"i32", keeps}};
        return ptx_call_library(l, "atom_add_f32", "float", args, 3);
    }
    if (!place->is_shared)
        return ptx_op(l, "atomicrmw %s ptr %s, %s %s %s, align %u", a->word, at, llvm,
                      b.name, a->order, bytes);
    const ptx_value old = ptx_op(l, "load %s, ptr %s, align %u", llvm, at, bytes);
    const ptx_value changed = plain_result(l, a, old, b);
    ptx_do(l, "store %s %s, ptr %s, align %u", llvm, changed.name, at, bytes);
    return old;
}

static ptx_value compare_and_swap(ptx_low *l, const atomic *a, const ptx_place *place)
{
    const char *llvm = ptx_llvm_type(a->type), *at = place->pointer.name;
    const uint32_t bytes = ptx_type_bytes(a->type);
    const ptx_value b = ptx_in(l, a->address + 1, a->type);
    const ptx_value c = ptx_in(l, a->address + 2, a->type);
    if (!place->is_shared) {
        const bool acquires = strncmp(a->order, "acq", 3) == 0;
        const ptx_value pair =
            ptx_op(l, "cmpxchg ptr %s, %s %s, %s %s %s %s, align %u", at, llvm, b.name,
                   llvm, c.name, a->order, acquires ? "acquire" : "monotonic", bytes);
        return ptx_op(l, "extractvalue {%s, i1} %s, 0", llvm, pair.name);
    }
    const ptx_value old = ptx_op(l, "load %s, ptr %s, align %u", llvm, at, bytes);
    const ptx_value same = ptx_op(l, "icmp eq %s %s, %s", llvm, old.name, b.name);
    const ptx_value next =
        ptx_op(l, "select i1 %s, %s %s, %s %s", same.name, llvm, c.name, llvm, old.name);
    ptx_do(l, "store %s %s, ptr %s, align %u", llvm, next.name, at, bytes);
    return old;
}

/* atom.add.noftz.f16x2, red.min.noftz.v4.bf16 and so on: the library's name, which tries
 * compare-and-swap in a loop; f32 flushes. */
static bool float_name(ptx_low *l, const atomic *a, ptx_value *name)
{
    const bool half = ptx_is_half(a->type);
    const char *word = ptx_mod(l, PTX_MOD_ADD)                       ? "add"
                       : a->elements != 0 && ptx_mod(l, PTX_MOD_MIN) ? "min"
                       : a->elements != 0 && ptx_mod(l, PTX_MOD_MAX) ? "max"
                                                                     : NULL;
    if (!word || (half && !ptx_mod(l, PTX_MOD_NOFTZ)) ||
        (!half && (a->type != PTX_F32 || word[0] != 'a')))
        return false;
    *name = ptx_name("atom_%s_%s", word, ptx_type_name(a->type));
    return ptx_has_library(name->name);
}

/* One element after the other: PTX asks for no more. */
static bool modify_floats(ptx_low *l, const atomic *a)
{
    ptx_value name;
    const uint32_t n = a->elements ? a->elements : 1, value = a->address + 1;
    const uint32_t bytes = ptx_type_bytes(a->type);
    const bool global =
        l->insn->space == PTX_SPACE_GLOBAL || l->insn->space == PTX_SPACE_GENERIC;
    if (!float_name(l, a, &name) || (a->elements != 0 && !global) ||
        !ptx_check_vector(l, value, a->elements, a->type, false) ||
        (a->elements != 0 && a->returns &&
         !ptx_check_vector(l, 0, a->elements, a->type, true)))
        return false;
    ptx_place place;
    l->is_strong = true;
    if (!ptx_address(l, a->address, (ptx_space)l->insn->space, n * bytes, true, &place))
        return false;
    if (!l->emit)
        return true;
    const char *llvm = ptx_llvm_type(a->type);
    const uint32_t skip = a->elements ? 1 : 0;
    ptx_value old[8];
    for (uint32_t i = 0; i < n; i++) {
        const ptx_value at =
            ptx_op(l, "getelementptr i8, ptr %s, i64 %u", place.pointer.name, i * bytes);
        const ptx_arg args[] = {
            {"ptr", at},
            {llvm, ptx_operand_value(l->emit, l->operands[value] + skip + i, a->type)},
            {"i32", ptx_name("0")}};
        old[i] = ptx_call_library(l, name.name, llvm, args, a->type == PTX_F32 ? 3 : 2);
    }
    for (uint32_t i = 0; i < n && a->returns; i++)
        ptx_store_operand(l->emit, l->operands[0] + skip + i, a->type, old[i]);
    return true;
}

static bool skip_scope(ptx_low *l)
{
    ptx_skip(l, PTX_MOD_CTA, PTX_MOD_SYS);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    return ptx_mod(l, PTX_MOD_L2_CACHE_HINT);
}

static bool modify(ptx_low *l)
{
    atomic a = {.type = ptx_type_at(l, 0), .returns = l->insn->opcode == PTX_OP_ATOM};
    a.address = a.returns ? 1 : 0;
    const bool hint = skip_scope(l);
    a.order = ordering(l);
    a.elements = ptx_vector_length(l);
    const bool cas = ptx_mod(l, PTX_MOD_CAS);
    if (l->insn->type_count != 1 || l->count != a.address + 2u + cas + hint ||
        (a.returns && a.elements == 0 && !ptx_check_out(l, 0, a.type)) ||
        (a.elements == 8 && a.type != PTX_F16 && a.type != PTX_BF16) ||
        l->insn->space == PTX_SPACE_LOCAL || l->insn->space == PTX_SPACE_PARAM)
        return false;
    if (ptx_is_half(a.type) || a.elements != 0)
        return modify_floats(l, &a);
    const bool wide =
        a.type == PTX_B128 && a.returns && (cas || ptx_has(l->insn, PTX_MOD_EXCH));
    const bool known = ptx_is_number(a.type) || wide || (!cas && ptx_is_float(a.type));
    if (!known || ptx_bits(a.type) < (cas ? 16u : 32u) ||
        !ptx_check_in(l, a.address + 1, a.type) ||
        (cas && !ptx_check_in(l, a.address + 2, a.type)))
        return false;
    if (!cas && !(a.word = word_for(l, a.type)))
        return false;
    ptx_place place;
    l->is_strong = true;
    if (!ptx_address(l, a.address, (ptx_space)l->insn->space, ptx_type_bytes(a.type),
                     true, &place))
        return false;
    if (!l->emit)
        return true;
    const ptx_value old =
        cas ? compare_and_swap(l, &a, &place) : exchange_or_modify(l, &a, &place);
    if (a.returns)
        ptx_out(l, 0, a.type, old);
    return true;
}

/* membar.cta and fence.acq_rel.cta: within a block only the compiler can reorder. */
static bool fence(ptx_low *l)
{
    const bool block = ptx_mod(l, PTX_MOD_CTA);
    const bool weak = ptx_mod(l, PTX_MOD_ACQ_REL);
    (void)ptx_mod(l, PTX_MOD_SC);
    (void)ptx_mod(l, PTX_MOD_GL);
    ptx_skip(l, PTX_MOD_CLUSTER, PTX_MOD_SYS);
    /* Copies are done when they are issued: their proxy sees what all others see. */
    (void)ptx_mod(l, PTX_MOD_PROXY);
    (void)ptx_mod(l, PTX_MOD_ASYNC);
    (void)ptx_mod(l, PTX_MOD_ALIAS);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    if (ptx_mod(l, PTX_MOD_MBARRIER_INIT))
        (void)ptx_mod(l, PTX_MOD_RELEASE);
    if (l->count != 0)
        return false;
    ptx_do(l, "fence %s%s", block ? "syncscope(\"singlethread\") " : "",
           weak ? "acq_rel" : "seq_cst");
    return true;
}

ptx_family ptx_low_atomic = {
    [PTX_OP_ATOM] = modify,
    [PTX_OP_RED] = modify,
    [PTX_OP_MEMBAR] = fence,
    [PTX_OP_FENCE] = fence,
};
