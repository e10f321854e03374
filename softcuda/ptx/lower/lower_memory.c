// SPDX-License-Identifier: Apache-2.0
/* Loads, stores, asynchronous copies (done at once) and prefetches (ignored).
 *
 * Vectors are taken apart: LLVM's loop vectorizer groups scalar accesses, and does not
 * touch vector ones. */
#include "softcuda/ptx/lower/lower.h"

/* ---- loads and stores ------------------------------------------------------------- */

/* Scopes and cache hints: nothing to do, since every host load is coherent. Returns the
 * number of cache-policy operands. */
static uint32_t skip_hints(ptx_low *l)
{
    (void)ptx_mod(l, PTX_MOD_WEAK);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    ptx_skip(l, PTX_MOD_CTA, PTX_MOD_SYS);
    ptx_skip(l, PTX_MOD_CA, PTX_MOD_LU); /* .cv is a volatile load */
    ptx_skip(l, PTX_MOD_WB, PTX_MOD_NC);
    ptx_skip(l, PTX_MOD_L1_EVICT_NORMAL, PTX_MOD_L1_NO_ALLOCATE);
    ptx_skip(l, PTX_MOD_L2_64B, PTX_MOD_L2_EVICT_FIRST);
    return ptx_mod(l, PTX_MOD_L2_CACHE_HINT) ? 1 : 0;
}

typedef struct access {
    ptx_type type;
    ptx_space space;
    const char *order; /* " monotonic", or NULL: a plain access */
    uint32_t elements; /* 0: no vector */
} access;

static bool read_access(ptx_low *l, access *a, bool is_load, uint32_t *extra)
{
    a->type = ptx_type_at(l, 0);
    a->space = (ptx_space)l->insn->space;
    a->elements = ptx_vector_length(l);
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
    const bool known = ptx_is_number(a->type) || ptx_is_float(a->type) ||
                       ptx_is_half(a->type) || a->type == PTX_B128;
    return known && l->insn->type_count == 1 && a->space != PTX_SPACE_REG;
}

/* A slot of this thread's own must not be called parallel to the other threads' use. That
 * a store cannot change a parameter of the kernel, LLVM does not see by itself: it would
 * load it again for each warp. */
static const char *access_suffix(const ptx_low *l, const ptx_place *place)
{
    if (place->is_fixed)
        return ", !noalias !8, !invariant.load !13";
    return place->is_private && place->pointer.name[1] == 'p' ? "" : l->emit->access;
}

static ptx_value element_pointer(ptx_low *l, const ptx_place *place, uint64_t offset)
{
    if (offset == 0)
        return place->pointer;
    return ptx_op(l, "getelementptr i8, ptr %s, i64 %llu", place->pointer.name,
                  (unsigned long long)offset);
}

/* ld.v4.u8 and st.v4.u8, v2 of 8 or 16 bits: one word of the processor and shifts. LLVM makes
 * of the bytes of neighboring threads a word each only where all of them are wanted. */
static bool is_word(const access *a, uint32_t n)
{
    const uint32_t bytes = ptx_type_bytes(a->type) * n;
    return n > 1 && !a->order && (bytes == 2 || bytes == 4) &&
           ptx_type_bytes(a->type) < 4 && !ptx_is_half(a->type);
}

static void load_word(ptx_low *l, const access *a, const ptx_place *place, uint32_t n,
                      ptx_value *values)
{
    const uint32_t bits = ptx_bits(a->type);
    const ptx_value word = ptx_op(l, "load i%u, ptr %s, align %u%s", bits * n,
                                  place->pointer.name, bits / 8, access_suffix(l, place));
    for (uint32_t i = 0; i < n; i++) {
        const ptx_value down =
            i == 0 ? word : ptx_op(l, "lshr i%u %s, %u", bits * n, word.name, bits * i);
        values[i] = ptx_op(l, "trunc i%u %s to i%u", bits * n, down.name, bits);
    }
}

/* All elements are loaded before one is stored to its register: the address may be in one
 * of them. */
static bool load(ptx_low *l)
{
    access a;
    uint32_t extra;
    if (!read_access(l, &a, true, &extra) || l->count != 2 + extra ||
        !ptx_check_vector(l, 0, a.elements, a.type, true))
        return false;
    const uint32_t bytes = ptx_type_bytes(a.type), n = a.elements ? a.elements : 1;
    ptx_place place;
    l->is_strong = a.order;
    if (!ptx_address(l, 1, a.space, bytes * n, false, &place))
        return false;
    if (!l->emit)
        return true;
    const ptx_operand *first = l->operands[0] + (a.elements ? 1 : 0);
    ptx_value values[8];
    const char *llvm = ptx_llvm_type(a.type);
    if (is_word(&a, n))
        load_word(l, &a, &place, n, values);
    for (uint32_t i = 0; i < n && !is_word(&a, n); i++) {
        const ptx_value at = element_pointer(l, &place, (uint64_t)i * bytes);
        values[i] = a.order ? ptx_op(l, "load atomic %s, ptr %s %s, align %u", llvm,
                                     at.name, a.order, bytes)
                            : ptx_op(l, "load %s, ptr %s, align %u%s", llvm, at.name,
                                     bytes, access_suffix(l, &place));
    }
    for (uint32_t i = 0; i < n; i++)
        ptx_store_operand(l->emit, first + i, a.type, values[i]);
    return true;
}

static ptx_value value_or_old(ptx_low *l, const char *llvm, ptx_value at, ptx_value value)
{
    const ptx_value old =
        ptx_op(l, "load %s, ptr %s, align 1%s", llvm, at.name, l->emit->access);
    return ptx_op(l, "select i1 %s, %s %s, %s %s", l->emit->only_if.name, llvm,
                  value.name, llvm, old.name);
}

static void store_word(ptx_low *l, const access *a, const ptx_place *place, uint32_t n,
                       const ptx_operand *first)
{
    const uint32_t bits = ptx_bits(a->type);
    ptx_value word = {"0"};
    for (uint32_t i = 0; i < n; i++) {
        const ptx_value value = ptx_operand_value(l->emit, first + i, a->type);
        const ptx_value wide =
            ptx_op(l, "zext i%u %s to i%u", bits, value.name, bits * n);
        const ptx_value up = ptx_op(l, "shl i%u %s, %u", bits * n, wide.name, bits * i);
        word = i == 0 ? wide : ptx_op(l, "or i%u %s, %s", bits * n, word.name, up.name);
    }
    ptx_do(l, "store i%u %s, ptr %s, align %u%s", bits * n, word.name,
           place->pointer.name, bits / 8, access_suffix(l, place));
}

static bool store(ptx_low *l)
{
    access a;
    uint32_t extra;
    if (!read_access(l, &a, false, &extra) || l->count != 2 + extra ||
        !ptx_check_vector(l, 1, a.elements, a.type, false))
        return false;
    const uint32_t bytes = ptx_type_bytes(a.type), n = a.elements ? a.elements : 1;
    ptx_place place;
    l->is_strong = a.order;
    if (!ptx_address(l, 0, a.space, bytes * n, true, &place))
        return false;
    if (!l->emit)
        return true;
    const ptx_operand *first = l->operands[1] + (a.elements ? 1 : 0);
    const char *llvm = ptx_llvm_type(a.type);
    if (is_word(&a, n) && l->emit->only_if.name[0] == 0) {
        store_word(l, &a, &place, n, first);
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        ptx_value value = ptx_operand_value(l->emit, first + i, a.type);
        ptx_value at = element_pointer(l, &place, (uint64_t)i * bytes);
        if (l->emit->only_if.name[0] != 0 && l->emit->aside.name[0] != 0)
            at = ptx_op(l, "select i1 %s, ptr %s, ptr %s, !unpredictable !13",
                        l->emit->only_if.name, at.name, l->emit->aside.name);
        else if (l->emit->only_if.name[0] != 0)
            value = value_or_old(l, llvm, at, value);
        if (a.order)
            ptx_do(l, "store atomic %s %s, ptr %s %s, align %u", llvm, value.name,
                   at.name, a.order, bytes);
        else
            ptx_do(l, "store %s %s, ptr %s, align %u%s", llvm, value.name, at.name, bytes,
                   access_suffix(l, &place));
    }
    return true;
}

/* ---- cp.async --------------------------------------------------------------------- */

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
    if (!l->emit || !l->emit->options->check_memory)
        return;
    const ptx_value length =
        ptx_op(l, "call i32 @llvm.umin.i32(i32 %s, i32 %u)", source.name, bytes);
    from->pointer = ptx_add_check(l, from->pointer, length);
}

/* cp.async.ca.shared.global [to], [from], bytes{, bytes to read}. It is done when it is
 * issued, so committing and waiting have nothing left to do. */
static bool copy_async(ptx_low *l)
{
    if (!ptx_mod(l, PTX_MOD_ASYNC))
        return false;
    const bool is_bulk = ptx_mod(l, PTX_MOD_BULK);
    if (is_group_word(l)) {
        (void)ptx_mod(l, PTX_MOD_READ);
        return l->insn->type_count == 0;
    }
    if (is_bulk)
        return ptx_mod(l, PTX_MOD_TENSOR) ? ptx_low_tensor(l) : ptx_low_copy_bulk(l);
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
        if (l->emit)
            copy_words(l, &to, &from, (uint32_t)bytes);
        return true;
    }
    check_source(l, &from, (uint32_t)bytes, source);
    const ptx_arg args[] = {{"ptr", to.pointer},
                            {"ptr", from.pointer},
                            {"i32", ptx_name("%u", (uint32_t)bytes)},
                            {"i32", source}};
    (void)ptx_call_library(l, "copy_zfill", "void", args, 4);
    return true;
}

static bool prefetch(ptx_low *l)
{
    (void)skip_hints(l);
    (void)ptx_mod(l, PTX_MOD_L1);
    (void)ptx_mod(l, PTX_MOD_L2);
    (void)ptx_mod(l, PTX_MOD_TENSORMAP);
    return l->count == 1 && l->operands[0]->kind == PTX_OPERAND_ADDRESS;
}

ptx_family ptx_low_memory = {
    [PTX_OP_LD] = load,       [PTX_OP_LDU] = load,          [PTX_OP_ST] = store,
    [PTX_OP_CP] = copy_async, [PTX_OP_PREFETCH] = prefetch, [PTX_OP_PREFETCHU] = prefetch,
};
