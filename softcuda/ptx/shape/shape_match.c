// SPDX-License-Identifier: Apache-2.0
/* match.any of values of few bits. */
#include "softcuda/ptx/shape/warp.h"

#define MATCH_BITS_MAX 10u

/* How many bits the values of match.any may have that are not 0; 32 or more: any. */
static uint32_t match_bits(const ptx_warp *w)
{
    const ptx_fast *f = w->f;
    if (w->cut.mode != 0 || !ptx_warp_is_array(w, w->cut.value) || !f->ranges ||
        f->ranges[w->cut.value->index].low < 0)
        return 32;
    uint32_t bits = 1;
    while (bits < 32 && f->ranges[w->cut.value->index].high >> bits != 0)
        bits++;
    return bits;
}

/* Few bits (the digits of a sort): of each a word says which lanes have it, and a lane's equals
 * are those that have or have not what it has. No rounds, and nothing through memory. */
static void match_by_bits(ptx_warp *w, uint32_t bits)
{
    ptx_emit *e = w->e;
    const ptx_value value = ptx_warp_lanes(w, w->cut.value, "i32");
    ptx_value equals = ptx_warp_splat(w, "i32", w->bits.name);
    for (uint32_t k = 0; k < bits; k++) {
        const ptx_value up =
            ptx_warp_op(w, "shl", value, ptx_warp_number(w, (int)(31 - k)).name);
        const ptx_value sign = ptx_warp_op(w, "ashr", up, ptx_warp_number(w, 31).name);
        const ptx_value set =
            ptx_let(e, "icmp ne <32 x i32> %s, zeroinitializer", sign.name);
        const ptx_value word = ptx_let(e, "bitcast <32 x i1> %s to i32", set.name);
        const ptx_value others = ptx_let(e, "xor i32 %s, -1", word.name);
        /* those without the bit, turned round in lanes that have it */
        const ptx_value turned =
            ptx_warp_op(w, "xor", ptx_warp_splat(w, "i32", others.name), sign.name);
        equals = ptx_warp_op(w, "and", equals, turned.name);
    }
    const ptx_value members =
        w->many_masks ? w->members : ptx_warp_splat(w, "i32", w->members.name);
    const ptx_value results = ptx_warp_op(w, "and", equals, members.name);
    ptx_warp_store_result(w, w->cut.out, results);
    ptx_warp_store_predicate(
        w, w->cut.out_pred,
        ptx_let(e, "icmp ne <32 x i32> %s, zeroinitializer", results.name));
}

bool ptx_warp_match_bits(ptx_warp *w)
{
    const uint32_t bits = match_bits(w);
    if (bits > MATCH_BITS_MAX)
        return false;
    match_by_bits(w, bits);
    return true;
}
