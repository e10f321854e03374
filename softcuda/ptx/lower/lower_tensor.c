// SPDX-License-Identifier: Apache-2.0
/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor: boxes of a tensor that a map
 * describes. A call of the run time moves one; like all of cp.async it is done when it is
 * issued, so what is left is to report its bytes to the mbarrier. */
#include "softcuda/ptx/tensorform.h"

#include "softcuda/ptx/lower/lower.h"

#define OFFSETS_MAX 3u /* of im2col */

typedef struct copy {
    ptx_tensor form;
    ptx_place map, box, object;
    ptx_value words[PTX_TENSOR_RANK_MAX + OFFSETS_MAX];
    ptx_value blocks; /* of the cluster: ptx_rt_multicast's, or the own one */
} copy;

/* .1d ... .5d */
static bool take_rank(ptx_low *l, copy *c)
{
    static const ptx_modifier words[] = {PTX_MOD_D1, PTX_MOD_D2, PTX_MOD_D3, PTX_MOD_D4,
                                         PTX_MOD_D5};
    for (uint32_t i = 0; i < PTX_TENSOR_RANK_MAX; i++)
        if (ptx_mod(l, words[i]))
            c->form.rank = (uint8_t)(i + 1);
    return c->form.rank != 0;
}

/* What a reduction does, or a store where it is none. */
static bool take_operation(ptx_low *l, copy *c)
{
    static const struct {
        ptx_modifier word;
        ptx_tensor_op op;
    } operations[] = {
        {PTX_MOD_ADD, PTX_TENSOR_ADD}, {PTX_MOD_MIN, PTX_TENSOR_MIN},
        {PTX_MOD_MAX, PTX_TENSOR_MAX}, {PTX_MOD_INC, PTX_TENSOR_INC},
        {PTX_MOD_DEC, PTX_TENSOR_DEC}, {PTX_MOD_AND, PTX_TENSOR_AND},
        {PTX_MOD_OR, PTX_TENSOR_OR},   {PTX_MOD_XOR, PTX_TENSOR_XOR},
    };
    c->form.op = PTX_TENSOR_STORE;
    if (!ptx_mod(l, PTX_MOD_REDUCE))
        return true;
    for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (ptx_mod(l, operations[i].word)) {
            c->form.op = (uint8_t)operations[i].op;
            return true;
        }
    return false;
}

/* The elements of a vector, or one number, from word `first` on. */
static bool take_words(ptx_low *l, copy *c, uint32_t nth, uint32_t count, ptx_type type,
                       uint32_t first)
{
    if (nth >= l->count)
        return false;
    const bool is_vector = l->operands[nth]->kind == PTX_OPERAND_VECTOR;
    if ((is_vector ? l->operands[nth]->index : 1) != count ||
        (is_vector ? !ptx_check_vector(l, nth, count, type, false)
                   : !ptx_check_in(l, nth, type)))
        return false;
    for (uint32_t i = 0; i < count && l->emit; i++) {
        const ptx_value word =
            ptx_operand_value(l->emit, l->operands[nth] + is_vector + i, type);
        c->words[first + i] = ptx_resize(l, word, ptx_bits(type), 32, false);
    }
    return true;
}

/* [map, coordinates] from operand `nth` on. */
static bool take_map(ptx_low *l, copy *c, uint32_t nth)
{
    return ptx_address(l, nth, PTX_SPACE_GENERIC, 0, false, &c->map) &&
           take_words(l, c, nth + 1, c->form.rank, PTX_B32, 0);
}

static ptx_value write_call(ptx_low *l, const copy *c)
{
    const ptx_value *w = c->words;
    const ptx_value map = ptx_op(l, "ptrtoint ptr %s to i64", c->map.pointer.name);
    const ptx_value box = ptx_op(l, "ptrtoint ptr %s to i64", c->box.pointer.name);
    const ptx_value high = ptx_op(l, "shl i32 %s, 16", w[6].name);
    const ptx_value pair = ptx_op(l, "or i32 %s, %s", w[5].name, high.name);
    return ptx_op(
        l,
        "call i32 @ptx_rt_tensor(ptr %s, i32 %s, i32 %u, i64 %s, i64 %s, i32 %s, "
        "i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, i32 %s, i32 %s)",
        l->emit->block.name, l->emit->thread_index.name, ptx_tensor_pack(&c->form),
        map.name, box.name, w[0].name, w[1].name, w[2].name, w[3].name, w[4].name,
        pair.name, w[7].name, c->blocks.name);
}

/* [box], [map, coordinates], [mbarrier]{, offsets}{, mask}{, hint} */
static bool load(ptx_low *l, copy *c, uint32_t hint)
{
    const uint32_t offsets = c->form.is_im2col ? c->form.rank - 2u : 0;
    const uint32_t cast = ptx_mod(l, PTX_MOD_MULTICAST_CLUSTER) ? 1 : 0;
    const uint32_t mask = 4 + (offsets != 0 ? 1u : 0), wanted = mask + cast + hint;
    if ((c->form.is_im2col && c->form.rank < 3) || l->count != wanted ||
        l->insn->space != PTX_SPACE_SHARED || l->insn->space2 != PTX_SPACE_GLOBAL ||
        !ptx_address(l, 0, PTX_SPACE_SHARED, 0, true, &c->box) || !take_map(l, c, 1) ||
        !ptx_address(l, 3, PTX_SPACE_SHARED, 8, true, &c->object) ||
        (offsets != 0 && !take_words(l, c, 4, offsets, PTX_B16, PTX_TENSOR_RANK_MAX)) ||
        (cast != 0 && !ptx_check_in(l, mask, PTX_B16)))
        return false;
    if (!l->emit)
        return true;
    if (cast != 0)
        c->blocks = ptx_low_blocks(l, mask);
    const ptx_value bytes = write_call(l, c);
    if (cast != 0) {
        ptx_low_complete(l, c->object.pointer, bytes, c->blocks);
        return true;
    }
    const ptx_arg args[] = {{"ptr", c->object.pointer}, {"i32", bytes}};
    (void)ptx_call_library(l, "mbarrier_complete_tx", "void", args, 2);
    return true;
}

/* [map, coordinates], [box]{, hint} */
static bool store(ptx_low *l, copy *c, uint32_t hint)
{
    if (!ptx_mod(l, PTX_MOD_BULK_GROUP) || !take_operation(l, c) ||
        l->count != 3 + hint || l->insn->space != PTX_SPACE_GLOBAL ||
        l->insn->space2 != PTX_SPACE_SHARED || !take_map(l, c, 0) ||
        !ptx_address(l, 2, PTX_SPACE_SHARED, 0, false, &c->box))
        return false;
    if (l->emit)
        (void)write_call(l, c);
    return true;
}

/* [map, coordinates]{, offsets}{, hint}: into a cache that is not there. */
static bool prefetch(ptx_low *l, copy *c)
{
    const bool cached = ptx_mod(l, PTX_MOD_L2);
    return cached && l->insn->space == PTX_SPACE_GLOBAL && take_map(l, c, 0);
}

bool ptx_low_tensor(ptx_low *l)
{
    copy c = {.form = {.op = PTX_TENSOR_LOAD}, .blocks = ptx_name("1")};
    for (uint32_t i = 0; i < PTX_TENSOR_RANK_MAX + OFFSETS_MAX; i++)
        c.words[i] = ptx_name("0");
    const uint32_t hint = ptx_mod(l, PTX_MOD_L2_CACHE_HINT) ? 1 : 0;
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    (void)ptx_mod(l, PTX_MOD_TILE);
    const bool is_store =
        ptx_mod(l, PTX_MOD_IM2COL_NO_OFFS); /* im2col of one, without offsets */
    c.form.is_im2col = ptx_mod(l, PTX_MOD_IM2COL) || is_store;
    if (l->insn->type_count != 0 || !take_rank(l, &c))
        return false;
    if (ptx_mod(l, PTX_MOD_PREFETCH))
        return prefetch(l, &c);
    if (ptx_mod(l, PTX_MOD_COMPLETE_BYTES))
        return !is_store && load(l, &c, hint);
    return is_store == c.form.is_im2col && store(l, &c, hint);
}
