// SPDX-License-Identifier: Apache-2.0
/* Barriers and warp operations of the fast path. A block barrier needs no code: the loop
 * over the threads before it has ended. A warp operation works on the context arrays of
 * its registers, a warp (32 lanes) at a time, as vectors.
 *
 *   %ctx.7   | t0 t1 ... t31 | t32 ... t63 | t64 ... t69 ..... |
 *              %wb = 0         %wb = 32      %wb = 64: the rest of it is padding
 *
 * Which lanes take part: those that exist, have not ended, and (in divergent code) wait
 * here. Other lanes of a result keep what they had.
 *
 * Modes of a cut are those of the run time's calls (abi.h): shfl 0 up 1 down 2 bfly
 * 3 idx, vote 0 all 1 any 2 uni 3 ballot, redux 0 add 1 min.u 2 max.u 3 min.s 4 max.s
 * 5 and 6 or 7 xor, bar.red 1 popc 2 and 3 or. */
#include <stdio.h>
#include <string.h>

#include "softcuda/ptx/shape/warp.h"

#define CONTEXT ", !alias.scope !8"
#define LANES                                                                            \
    "<i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, "            \
    "i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, "           \
    "i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, "           \
    "i32 28, i32 29, i32 30, i32 31>"

/* ---- vectors ---------------------------------------------------------------------- */

/* One value for all 32 lanes. */
ptx_value ptx_warp_splat(ptx_warp *w, const char *type, const char *value)
{
    const ptx_value one =
        ptx_let(w->e, "insertelement <32 x %s> poison, %s %s, i32 0", type, type, value);
    return ptx_let(w->e,
                   "shufflevector <32 x %s> %s, <32 x %s> poison, <32 x i32> "
                   "zeroinitializer",
                   type, one.name, type);
}

/* The lanes of the warp out of an array by thread. Arrays are padded to whole warps, so a
 * short last warp reads what nobody uses. */
ptx_value ptx_warp_load_lanes(ptx_warp *w, const char *type, const char *array,
                              uint32_t n)
{
    const ptx_value at =
        ptx_let(w->e, "getelementptr %s, ptr %s%u, i64 %s", type, array, n, w->base);
    return ptx_let(w->e, "load <32 x %s>, ptr %s, align %u" CONTEXT, type, at.name,
                   strcmp(type, "i8") == 0 ? 1u : 4u);
}

static void store_lanes(ptx_warp *w, const char *type, const char *array, uint32_t n,
                        ptx_value value)
{
    const ptx_value at =
        ptx_let(w->e, "getelementptr %s, ptr %s%u, i64 %s", type, array, n, w->base);
    ptx_line(w->e, "store <32 x %s> %s, ptr %s, align %u" CONTEXT, type, value.name,
             at.name, strcmp(type, "i8") == 0 ? 1u : 4u);
}

static ptx_value flags(ptx_warp *w, const char *array, uint32_t n)
{
    const ptx_value bytes = ptx_warp_load_lanes(w, "i8", array, n);
    return ptx_let(w->e, "icmp ne <32 x i8> %s, zeroinitializer", bytes.name);
}

/* A register that is uniform, or a number, has no array: it is splatted. */
bool ptx_warp_is_array(const ptx_warp *w, const ptx_operand *o)
{
    return o && o->kind == PTX_OPERAND_REG && w->f->s->regs[o->index].divergent;
}

/* A 32- or 64-bit operand of every lane. */
ptx_value ptx_warp_lanes(ptx_warp *w, const ptx_operand *o, const char *type)
{
    if (ptx_warp_is_array(w, o))
        return ptx_warp_load_lanes(w, type, "%ctx.", o->index);
    const ptx_value value =
        ptx_operand_value(w->e, o, strcmp(type, "i64") == 0 ? PTX_B64 : PTX_B32);
    return ptx_warp_splat(w, type, value.name);
}

static ptx_value predicate_of(ptx_warp *w, const ptx_operand *o)
{
    if (!ptx_warp_is_array(w, o)) {
        const ptx_value value = ptx_operand_value(w->e, o, PTX_PRED);
        return ptx_warp_splat(w, "i1", value.name);
    }
    const ptx_value set = flags(w, "%ctx.", o->index);
    if (!o->negate)
        return set;
    const ptx_value all = ptx_warp_splat(w, "i1", "true");
    return ptx_let(w->e, "xor <32 x i1> %s, %s", set.name, all.name);
}

/* ---- results ---------------------------------------------------------------------- */

/* Nobody reads most predicates of shuffles. */
static bool is_stored(const ptx_warp *w, const ptx_operand *out)
{
    return out && out->kind == PTX_OPERAND_REG &&
           ptx_bit(w->region->live_out, out->index);
}

/* In a masked region the lanes that are elsewhere keep what they have. */
void ptx_warp_store_active(ptx_warp *w, const char *type, uint32_t reg, ptx_value value)
{
    if (w->region->masked) {
        const ptx_value old = ptx_warp_load_lanes(w, type, "%ctx.", reg);
        value = ptx_let(w->e, "select <32 x i1> %s, <32 x %s> %s, <32 x %s> %s",
                        w->active.name, type, value.name, type, old.name);
    }
    store_lanes(w, type, "%ctx.", reg, value);
}

void ptx_warp_store_result(ptx_warp *w, const ptx_operand *out, ptx_value value)
{
    if (is_stored(w, out))
        ptx_warp_store_active(w, "i32", out->index, value);
}

void ptx_warp_store_predicate(ptx_warp *w, const ptx_operand *out, ptx_value value)
{
    if (!is_stored(w, out))
        return;
    value = ptx_let(w->e, "zext <32 x i1> %s to <32 x i8>", value.name);
    ptx_warp_store_active(w, "i8", out->index, value);
}

/* One value, or (under a member mask by lane) a vector of them. */
static const char *width(const ptx_warp *w)
{
    return w->many_masks ? "<32 x i32>" : "i32";
}

static void store_either(ptx_warp *w, const ptx_operand *out, ptx_value value)
{
    if (!w->many_masks)
        value = ptx_warp_splat(w, "i32", value.name);
    ptx_warp_store_result(w, out, value);
}

static void store_either_predicate(ptx_warp *w, const ptx_operand *out, ptx_value value)
{
    if (!w->many_masks)
        value = ptx_warp_splat(w, "i1", value.name);
    ptx_warp_store_predicate(w, out, value);
}

/* ---- shfl ---- */

typedef struct lane_source {
    uint32_t lane;
    bool in_range;
} lane_source;

/* Where a lane reads by PTX's rule for shfl, known when b and c are constants: then the
 * shuffle is one instruction of a processor, or two. */
static lane_source source_of(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c)
{
    const int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31), at = (int)lane;
    const int by = (int)(b & 31), low = at & segment;
    const int high = low | (clamp & ~segment);
    int from = 0;
    bool good = false;
    switch (mode) {
    case 0:
        from = at - by;
        good = from >= high;
        break;
    case 1:
        from = at + by;
        good = from <= high;
        break;
    case 2:
        from = at ^ by;
        good = from <= high;
        break;
    default:
        from = low | (by & ~segment);
        good = from <= high;
        break;
    }
    return (lane_source){good ? (uint32_t)from : lane, good};
}

static void shuffle_constant(ptx_warp *w, ptx_value value)
{
    const uint32_t b = (uint32_t)w->cut.b->imm, c = (uint32_t)w->cut.c->imm;
    const ptx_value moved = ptx_fresh(w->e);
    gphi_text_add(w->e->out,
                  "  %s = shufflevector <32 x i32> %s, <32 x i32> poison, <32 x i32> <",
                  moved.name, value.name);
    for (uint32_t l = 0; l < 32; l++)
        gphi_text_add(w->e->out, "%si32 %u", l ? ", " : "",
                      source_of(w->cut.mode, l, b, c).lane);
    gphi_text_put(w->e->out, ">\n");
    ptx_warp_store_result(w, w->cut.out, moved);
    if (!is_stored(w, w->cut.out_pred))
        return;
    const ptx_value good = ptx_fresh(w->e);
    gphi_text_add(w->e->out, "  %s = xor <32 x i1> zeroinitializer, <", good.name);
    for (uint32_t l = 0; l < 32; l++)
        gphi_text_add(w->e->out, "%si1 %s", l ? ", " : "",
                      source_of(w->cut.mode, l, b, c).in_range ? "true" : "false");
    gphi_text_put(w->e->out, ">\n");
    ptx_warp_store_predicate(w, w->cut.out_pred, good);
}

ptx_value ptx_warp_op(ptx_warp *w, const char *op, ptx_value a, const char *b)
{
    return ptx_let(w->e, "%s <32 x i32> %s, %s", op, a.name, b);
}

ptx_value ptx_warp_number(ptx_warp *w, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    return ptx_warp_splat(w, "i32", text);
}

/* The lane that each lane reads from, and whether it is in range; see source_of(). */
static ptx_value source_lanes(ptx_warp *w, ptx_value *good)
{
    const ptx_value b = ptx_warp_lanes(w, w->cut.b, "i32"),
                    c = ptx_warp_lanes(w, w->cut.c, "i32");
    const ptx_value k31 = ptx_warp_number(w, 31), ones = ptx_warp_number(w, -1);
    const ptx_value shifted = ptx_warp_op(w, "lshr", c, ptx_warp_number(w, 8).name);
    const ptx_value segment = ptx_warp_op(w, "and", shifted, k31.name);
    const ptx_value rest = ptx_warp_op(w, "xor", segment, ones.name);
    const ptx_value clamp = ptx_warp_op(w, "and", c, k31.name);
    const ptx_value by = ptx_warp_op(w, "and", b, k31.name);
    const ptx_value low = ptx_warp_op(w, "and", segment, LANES);
    const ptx_value top = ptx_warp_op(w, "and", clamp, rest.name);
    const ptx_value high = ptx_warp_op(w, "or", low, top.name);
    ptx_value from;
    if (w->cut.mode == 0)
        from = ptx_let(w->e, "sub <32 x i32> " LANES ", %s", by.name);
    else if (w->cut.mode == 1)
        from = ptx_warp_op(w, "add", by, LANES);
    else if (w->cut.mode == 2)
        from = ptx_warp_op(w, "xor", by, LANES);
    else
        from = ptx_warp_op(w, "or", low, ptx_warp_op(w, "and", by, rest.name).name);
    *good = ptx_let(w->e, "icmp %s <32 x i32> %s, %s", w->cut.mode == 0 ? "sge" : "sle",
                    from.name, high.name);
    return ptx_let(w->e, "select <32 x i1> %s, <32 x i32> %s, <32 x i32> " LANES,
                   good->name, from.name);
}

/* A loop over the 32 lanes; returns the name of the lane, i64. */
static ptx_value open_lanes(ptx_warp *w, uint32_t *label, const char *before)
{
    *label = ptx_new_label(w->e);
    ptx_line(w->e, "br label %%%s%u", before, *label);
    gphi_text_add(w->e->out, "%s%u:\n  br label %%LL%u\nLL%u:\n", before, *label, *label,
                  *label);
    ptx_value lane;
    snprintf(lane.name, sizeof(lane.name), "%%lane.%u", *label);
    ptx_line(w->e, "%s = phi i64 [ 0, %%%s%u ], [ %%lane1.%u, %%LE%u ]", lane.name,
             before, *label, *label, *label);
    return lane;
}

static void close_lanes(ptx_warp *w, uint32_t label)
{
    gphi_text_add(
        w->e->out,
        "  br label %%LE%u\nLE%u:\n  %%lane1.%u = add nuw nsw i64 %%lane.%u, 1\n"
        "  %%lc.%u = icmp ult i64 %%lane1.%u, 32\n"
        "  br i1 %%lc.%u, label %%LL%u, label %%LD%u\nLD%u:\n",
        label, label, label, label, label, label, label, label, label, label);
}

/* Lane by lane, for what has no vector form. */
static ptx_value element(ptx_warp *w, const char *array, const char *index)
{
    const ptx_value at = ptx_let(w->e, "getelementptr i32, ptr %s, i64 %s", array, index);
    return ptx_let(w->e, "load i32, ptr %s", at.name);
}

static void set_element(ptx_warp *w, const char *array, const char *index,
                        ptx_value value)
{
    const ptx_value at = ptx_let(w->e, "getelementptr i32, ptr %s, i64 %s", array, index);
    ptx_line(w->e, "store i32 %s, ptr %s", value.name, at.name);
}

/* IR shuffles by constants only: with lanes known at run time the values go through
 * memory. */
static void shuffle_any(ptx_warp *w, ptx_value value)
{
    ptx_value good;
    uint32_t label;
    const ptx_value from = source_lanes(w, &good);
    ptx_line(w->e, "store <32 x i32> %s, ptr %%warp.a", value.name);
    ptx_line(w->e, "store <32 x i32> %s, ptr %%warp.b", from.name);
    const ptx_value lane = open_lanes(w, &label, "LB");
    const ptx_value source = element(w, "%warp.b", lane.name);
    const ptx_value wide = ptx_let(w->e, "zext i32 %s to i64", source.name);
    set_element(w, "%warp.c", lane.name, element(w, "%warp.a", wide.name));
    close_lanes(w, label);
    const ptx_value moved = ptx_let(w->e, "load <32 x i32>, ptr %%warp.c");
    ptx_warp_store_result(w, w->cut.out, moved);
    ptx_warp_store_predicate(w, w->cut.out_pred, good);
}

/* A lane that is not there has 0 for the others, as on an H200. */
static void write_shfl(ptx_warp *w)
{
    const ptx_value all = ptx_warp_lanes(w, w->cut.value, "i32");
    const ptx_value value =
        ptx_let(w->e, "select <32 x i1> %s, <32 x i32> %s, <32 x i32> zeroinitializer",
                w->active.name, all.name);
    if (w->cut.b->kind == PTX_OPERAND_INT && w->cut.c->kind == PTX_OPERAND_INT)
        shuffle_constant(w, value);
    else
        shuffle_any(w, value);
}

/* ---- vote, activemask, elect ------------------------------------------------------ */

/* `bits` under the member mask. */
static ptx_value among_members(ptx_warp *w, ptx_value bits)
{
    if (w->many_masks)
        bits = ptx_warp_splat(w, "i32", bits.name);
    return ptx_let(w->e, "and %s %s, %s", width(w), bits.name, w->members.name);
}

/* A vote is a comparison of masks: the predicates as one word of 32 bits. */
static void write_vote(ptx_warp *w)
{
    const ptx_value set = predicate_of(w, w->cut.value);
    const ptx_value here =
        ptx_let(w->e, "and <32 x i1> %s, %s", set.name, w->active.name);
    const ptx_value bits = ptx_let(w->e, "bitcast <32 x i1> %s to i32", here.name);
    const ptx_value yes = among_members(w, bits), all = among_members(w, w->bits);
    if (w->cut.mode == 3) {
        store_either(w, w->cut.out, yes);
        return;
    }
    const char *type = width(w), *zero = w->many_masks ? "zeroinitializer" : "0";
    ptx_value result = ptx_let(w->e, "icmp eq %s %s, %s", type, yes.name, all.name);
    if (w->cut.mode == 1)
        result = ptx_let(w->e, "icmp ne %s %s, %s", type, yes.name, zero);
    if (w->cut.mode == 2) {
        const ptx_value none = ptx_let(w->e, "icmp eq %s %s, %s", type, yes.name, zero);
        result = ptx_let(w->e, "or %s %s, %s", w->many_masks ? "<32 x i1>" : "i1",
                         result.name, none.name);
    }
    store_either_predicate(w, w->cut.out, result);
}

/* The lowest active member leads. */
static void write_elect(ptx_warp *w)
{
    uint32_t label;
    const ptx_value all = among_members(w, w->bits);
    const ptx_value vector = w->many_masks ? all : ptx_warp_splat(w, "i32", all.name);
    ptx_line(w->e, "store <32 x i32> %s, ptr %%warp.a", vector.name);
    const ptx_value lane = open_lanes(w, &label, "LB");
    const ptx_value bits = element(w, "%warp.a", lane.name);
    const ptx_value leader =
        ptx_let(w->e, "call i32 @llvm.cttz.i32(i32 %s, i1 false)", bits.name);
    const ptx_value inside = ptx_let(w->e, "and i32 %s, 31", leader.name);
    set_element(w, "%warp.b", lane.name, inside);
    close_lanes(w, label);
    const ptx_value leaders = ptx_let(w->e, "load <32 x i32>, ptr %%warp.b");
    ptx_warp_store_result(w, w->cut.out, leaders);
    ptx_warp_store_predicate(
        w, w->cut.out_pred, ptx_let(w->e, "icmp eq <32 x i32> %s, " LANES, leaders.name));
}

/* ---- match, redux ---- */

static ptx_value member_of(ptx_warp *w, const char *lane)
{
    return w->many_masks ? element(w, "%warp.m", lane) : w->members;
}

/* In memory, since the code for each lane is a loop of its own. */
static void keep_masks(ptx_warp *w)
{
    if (w->many_masks)
        ptx_line(w->e, "store <32 x i32> %s, ptr %%warp.m", w->members.name);
}

/* 32 rounds: each compares one lane's value with those of all. */
static void write_match(ptx_warp *w)
{
    uint32_t label;
    if (ptx_warp_match_bits(w))
        return;
    const bool wide = ptx_type_bytes(w->cut.type) == 8;
    const char *type = wide ? "i64" : "i32";
    const ptx_value value = ptx_warp_lanes(w, w->cut.value, type);
    ptx_line(w->e, "store <32 x %s> %s, ptr %%warp.a", type, value.name);
    keep_masks(w);
    const ptx_value lane = open_lanes(w, &label, "LB");
    const ptx_value at =
        ptx_let(w->e, "getelementptr %s, ptr %%warp.a, i64 %s", type, lane.name);
    const ptx_value mine = ptx_let(w->e, "load %s, ptr %s", type, at.name);
    const ptx_value all = ptx_warp_splat(w, type, mine.name);
    const ptx_value same =
        ptx_let(w->e, "icmp eq <32 x %s> %s, %s", type, value.name, all.name);
    const ptx_value here =
        ptx_let(w->e, "and <32 x i1> %s, %s", same.name, w->active.name);
    const ptx_value bits = ptx_let(w->e, "bitcast <32 x i1> %s to i32", here.name);
    const ptx_value member = member_of(w, lane.name);
    ptx_value found = ptx_let(w->e, "and i32 %s, %s", bits.name, member.name);
    if (w->cut.mode == 1) {
        const ptx_value needed =
            ptx_let(w->e, "and i32 %s, %s", w->bits.name, member.name);
        const ptx_value good =
            ptx_let(w->e, "icmp eq i32 %s, %s", found.name, needed.name);
        found = ptx_let(w->e, "select i1 %s, i32 %s, i32 0", good.name, found.name);
    }
    set_element(w, "%warp.b", lane.name, found);
    close_lanes(w, label);
    const ptx_value results = ptx_let(w->e, "load <32 x i32>, ptr %%warp.b");
    ptx_warp_store_result(w, w->cut.out, results);
    ptx_warp_store_predicate(
        w, w->cut.out_pred,
        ptx_let(w->e, "icmp ne <32 x i32> %s, zeroinitializer", results.name));
}

static ptx_value combine(ptx_warp *w, ptx_value a, ptx_value b)
{
    static const char *const plain[] = {"add", NULL,  NULL, NULL,
                                        NULL,  "and", "or", "xor"};
    static const char *const compare[] = {NULL, "ult", "ugt", "slt", "sgt"};
    if (plain[w->cut.mode])
        return ptx_let(w->e, "%s i32 %s, %s", plain[w->cut.mode], a.name, b.name);
    const ptx_value first =
        ptx_let(w->e, "icmp %s i32 %s, %s", compare[w->cut.mode], a.name, b.name);
    return ptx_let(w->e, "select i1 %s, i32 %s, i32 %s", first.name, a.name, b.name);
}

/* Reduces %warp.a over the lanes set in `members`; the result is in %warp.one. */
static void reduce_lanes(ptx_warp *w, ptx_value members, const char *label_name)
{
    static const char *const identity[] = {"0",           "-1", "0", "2147483647",
                                           "-2147483648", "-1", "0", "0"};
    uint32_t label;
    ptx_line(w->e, "store i32 %s, ptr %%warp.one", identity[w->cut.mode]);
    const ptx_value lane = open_lanes(w, &label, label_name);
    const ptx_value shift = ptx_let(w->e, "trunc i64 %s to i32", lane.name);
    const ptx_value moved = ptx_let(w->e, "lshr i32 %s, %s", members.name, shift.name);
    const ptx_value set = ptx_let(w->e, "trunc i32 %s to i1", moved.name);
    const ptx_value old = ptx_let(w->e, "load i32, ptr %%warp.one");
    const ptx_value now = combine(w, old, element(w, "%warp.a", lane.name));
    const ptx_value kept =
        ptx_let(w->e, "select i1 %s, i32 %s, i32 %s", set.name, now.name, old.name);
    ptx_line(w->e, "store i32 %s, ptr %%warp.one", kept.name);
    close_lanes(w, label);
}

/* With one mask for the whole warp once, else for each lane and its own mask. */
static void write_redux(ptx_warp *w)
{
    uint32_t label;
    const ptx_value value = ptx_warp_lanes(w, w->cut.value, "i32");
    ptx_line(w->e, "store <32 x i32> %s, ptr %%warp.a", value.name);
    if (!w->many_masks) {
        reduce_lanes(w, among_members(w, w->bits), "LB");
        const ptx_value one = ptx_let(w->e, "load i32, ptr %%warp.one");
        ptx_warp_store_result(w, w->cut.out, ptx_warp_splat(w, "i32", one.name));
        return;
    }
    keep_masks(w);
    const ptx_value lane = open_lanes(w, &label, "LB");
    const ptx_value members =
        ptx_let(w->e, "and i32 %s, %s", w->bits.name, member_of(w, lane.name).name);
    reduce_lanes(w, members, "LI");
    set_element(w, "%warp.b", lane.name, ptx_let(w->e, "load i32, ptr %%warp.one"));
    close_lanes(w, label);
    ptx_warp_store_result(w, w->cut.out, ptx_let(w->e, "load <32 x i32>, ptr %%warp.b"));
}

/* ---- a warp ---- */

/* Which lanes exist, have not ended and, in a masked region, were sent here. A mask
 * includes the live flags, since a thread that has ended is sent nowhere. */
static void find_active(ptx_warp *w)
{
    if (w->region->masked) {
        w->active = flags(w, "%mask.", w->region->mask);
    } else if (w->region->needs_live) {
        w->active = flags(w, "%live.", 0);
    } else {
        const ptx_value first = ptx_let(w->e, "trunc i64 %s to i32", w->base);
        const ptx_value all = ptx_warp_splat(w, "i32", first.name);
        const ptx_value lanes = ptx_warp_op(w, "add", all, LANES);
        /* A warp's form has whole warps: LLVM sees that each comparison is true. */
        const char *count = w->f->s->by_warp ? "32" : "%threads";
        w->active = ptx_let(w->e, "icmp ult <32 x i32> %s, %s", lanes.name,
                            ptx_warp_splat(w, "i32", count).name);
    }
    w->bits = ptx_let(w->e, "bitcast <32 x i1> %s to i32", w->active.name);
}

/* Those that the mask names and that are here; PTX leaves undefined what a lane gets that
 * is not. */
static void find_members(ptx_warp *w)
{
    w->many_masks = ptx_warp_is_array(w, w->cut.mask);
    if (w->many_masks)
        w->members = ptx_warp_load_lanes(w, "i32", "%ctx.", w->cut.mask->index);
    else if (w->cut.mask)
        w->members = ptx_operand_value(w->e, w->cut.mask, PTX_B32);
    else
        snprintf(w->members.name, sizeof(w->members.name), "-1");
}

static void write_operation(ptx_warp *w)
{
    find_active(w);
    find_members(w);
    switch (w->cut.kind) {
    case SHAPE_CUT_SHFL: write_shfl(w); break;
    case SHAPE_CUT_VOTE: write_vote(w); break;
    case SHAPE_CUT_MATCH: write_match(w); break;
    case SHAPE_CUT_REDUX: write_redux(w); break;
    case SHAPE_CUT_ELECT: write_elect(w); break;
    case SHAPE_CUT_SUM: ptx_warp_write_sum(w); break;
    case SHAPE_CUT_MATRIX: ptx_warp_write_matrix(w); break;
    default:
        ptx_warp_store_result(w, w->cut.out, ptx_warp_splat(w, "i32", w->bits.name));
        break;
    }
}

/* The masks of threads that waited here move to where they go on. Flags are bytes of 0 or
 * 1, and a thread is in one mask at most: so `or` adds and `sub` clears. */
static void move_masks(ptx_warp *w)
{
    const ptx_shape *s = w->f->s;
    if (!w->region->masked)
        return;
    const ptx_value mine = ptx_warp_load_lanes(w, "i8", "%mask.", w->region->mask);
    if (w->region->exits) {
        const ptx_value live = ptx_warp_load_lanes(w, "i8", "%live.", 0);
        const ptx_value gone =
            ptx_let(w->e, "sub <32 x i8> %s, %s", live.name, mine.name);
        store_lanes(w, "i8", "%live.", 0, gone);
    }
    for (uint32_t k = 0; k < w->region->target_count; k++) {
        const ptx_region *to = &s->regions[w->region->targets[k]];
        if (!to->masked)
            continue;
        const ptx_value old = ptx_warp_load_lanes(w, "i8", "%mask.", to->mask);
        store_lanes(w, "i8", "%mask.", to->mask,
                    ptx_let(w->e, "or <32 x i8> %s, %s", old.name, mine.name));
    }
    const ptx_value none = ptx_let(w->e, "xor <32 x i8> %s, %s", mine.name, mine.name);
    store_lanes(w, "i8", "%mask.", w->region->mask, none);
}

/* How many warps have a thread here: if they are the first ones, those up to the last. */
static ptx_value warps_of(ptx_fast *f, const char *scan)
{
    ptx_value all = {"%warps"};
    if (scan[0] == 0 || f->s->by_warp)
        return all;
    const ptx_value prefix = ptx_let(&f->emit, "icmp sge i32 %s, 0", scan);
    const ptx_value up = ptx_let(&f->emit, "add i32 %s, 31", scan);
    const ptx_value some = ptx_let(&f->emit, "lshr i32 %s, 5", up.name);
    return ptx_let(&f->emit, "select i1 %s, i32 %s, i32 %%warps", prefix.name, some.name);
}

/* A loop over the warps of the block; a scan says where the last thread is. */
static void write_warps(ptx_fast *f, const ptx_cut_form *cut, const char *scan)
{
    ptx_warp w = {
        .f = f, .e = &f->emit, .region = &f->s->regions[f->region], .cut = *cut};
    gphi_text *out = f->emit.out;
    const uint32_t r = f->region;
    const ptx_value warps = warps_of(f, scan);
    snprintf(w.base, sizeof(w.base), "%%wb.%u", r);
    if (f->s->by_warp) {
        snprintf(w.base, sizeof(w.base), "0");
        if (cut->kind != SHAPE_CUT_WARPSYNC)
            write_operation(&w);
        move_masks(&w);
        return;
    }
    gphi_text_add(out,
                  "  br label %%W%u.in\nW%u.in:\n  br label %%W%u\n"
                  "W%u:\n  %%wi.%u = phi i32 [ 0, %%W%u.in ], [ %%wj.%u, %%W%u.end ]\n"
                  "  %%wf.%u = shl nuw nsw i32 %%wi.%u, 5\n"
                  "  %%wb.%u = zext i32 %%wf.%u to i64\n",
                  r, r, r, r, r, r, r, r, r, r, r, r);
    if (cut->kind != SHAPE_CUT_WARPSYNC)
        write_operation(&w);
    move_masks(&w);
    gphi_text_add(out,
                  "  br label %%W%u.end\nW%u.end:\n"
                  "  %%wj.%u = add nuw nsw i32 %%wi.%u, 1\n"
                  "  %%wc.%u = icmp ult i32 %%wj.%u, %s\n"
                  "  br i1 %%wc.%u, label %%W%u, label %%W%u.out\nW%u.out:\n",
                  r, r, r, r, r, r, warps.name, r, r, r, r);
}

/* ---- bar.red ---- */

/* A loop over the warps of the block; one letter its labels begin with, one its values. */
static ptx_warp open_warps(ptx_fast *f, const ptx_cut_form *cut, const char letters[2])
{
    ptx_warp w = {
        .f = f, .e = &f->emit, .region = &f->s->regions[f->region], .cut = *cut};
    const uint32_t r = f->region;
    const char c = letters[0], v = letters[1];
    snprintf(w.base, sizeof(w.base), "%%%cb.%u", v, r);
    gphi_text_add(f->emit.out,
                  "  br label %%%c%u.in\n%c%u.in:\n  br label %%%c%u\n"
                  "%c%u:\n  %%%cb.%u = phi i64 [ 0, %%%c%u.in ], [ %%%cn.%u, %%%c%u ]\n",
                  c, r, c, r, c, r, c, r, v, r, c, r, v, r, c, r);
    return w;
}

static void close_warps(ptx_fast *f, const char letters[2])
{
    const uint32_t r = f->region;
    const char c = letters[0], v = letters[1];
    gphi_text_add(f->emit.out,
                  "  %%%cn.%u = add nuw nsw i64 %%%cb.%u, 32\n"
                  "  %%%cc.%u = icmp ult i64 %%%cn.%u, %%lanes\n"
                  "  br i1 %%%cc.%u, label %%%c%u, label %%%c%u.out\n%c%u.out:\n",
                  v, r, v, r, v, r, v, r, v, r, c, r, c, r, c, r);
}

static void store_everywhere(ptx_fast *f, const ptx_cut_form *cut, ptx_value result)
{
    ptx_warp w = open_warps(f, cut, "Vv");
    if (cut->mode == 1)
        store_lanes(&w, "i32", "%ctx.", cut->out->index,
                    ptx_warp_splat(&w, "i32", result.name));
    else
        ptx_warp_store_predicate(&w, cut->out, ptx_warp_splat(&w, "i1", result.name));
    close_warps(f, "Vv");
}

/* Counts the threads whose predicate is set, and those that are still there: .and holds
 * if the two are equal, so that threads that have ended do not count. */
static void write_reduce(ptx_fast *f, const ptx_cut_form *cut)
{
    ptx_emit *e = &f->emit;
    gphi_text_put(e->out, "  store i32 0, ptr %warp.one\n  store i32 0, ptr %warp.two\n");
    ptx_warp w = open_warps(f, cut, "Qr");
    find_active(&w);
    const ptx_value set = predicate_of(&w, cut->value);
    const ptx_value here = ptx_let(e, "and <32 x i1> %s, %s", set.name, w.active.name);
    const ptx_value bits = ptx_let(e, "bitcast <32 x i1> %s to i32", here.name);
    const char *const slots[] = {"%warp.one", "%warp.two"};
    const ptx_value sets[] = {bits, w.bits};
    for (int k = 0; k < 2; k++) {
        const ptx_value count =
            ptx_let(e, "call i32 @llvm.ctpop.i32(i32 %s)", sets[k].name);
        const ptx_value old = ptx_let(e, "load i32, ptr %s", slots[k]);
        const ptx_value now = ptx_let(e, "add i32 %s, %s", old.name, count.name);
        ptx_line(e, "store i32 %s, ptr %s", now.name, slots[k]);
    }
    close_warps(f, "Qr");
    ptx_value result = ptx_let(e, "load i32, ptr %%warp.one");
    const ptx_value all = ptx_let(e, "load i32, ptr %%warp.two");
    if (cut->mode == 2)
        result = ptx_let(e, "icmp eq i32 %s, %s", result.name, all.name);
    else if (cut->mode == 3)
        result = ptx_let(e, "icmp ne i32 %s, 0", result.name);
    if (ptx_warp_is_array(&w, cut->out))
        store_everywhere(f, cut, result);
    else
        ptx_store_operand(e, cut->out, cut->mode == 1 ? PTX_U32 : PTX_PRED, result);
}

/* A block barrier has nothing left to do here: the loops before it are over. Other blocks of
 * the cluster are waited for. */
void ptx_fast_write_cut(ptx_fast *f, const char *scan)
{
    const ptx_region *r = &f->s->regions[f->region];
    const ptx_cut_form cut = ptx_cut_of(f->s, f->s->blocks[r->head].first);
    ptx_fast_set_scalar(f, true);
    if (f->s->by_warp && cut.kind == SHAPE_CUT_SYNC)
        ptx_fast_write_phase(f);
    else if (cut.cluster)
        ptx_line(&f->emit, "call void @ptx_rt_cluster_wait(ptr %s)", f->emit.block.name);
    else if (cut.kind == SHAPE_CUT_REDUCE)
        write_reduce(f, &cut);
    else if (cut.kind > SHAPE_CUT_REDUCE)
        write_warps(f, &cut, scan);
}
