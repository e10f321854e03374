// SPDX-License-Identifier: Apache-2.0
/* Barriers and warp operations where one thread's code is written (slow path, device
 * functions): calls of the run time, in which the thread waits for the others. */
#include "softcuda/ptx/shape/shape.h"

#include <stdio.h>

static ptx_value value_or(ptx_emit *emit, const ptx_operand *operand, ptx_type type,
                          const char *fallback)
{
    ptx_value value;
    if (operand)
        return ptx_operand_value(emit, operand, type);
    snprintf(value.name, sizeof(value.name), "%s", fallback);
    return value;
}

/* A predicate operand, negated as written, as i32. */
static ptx_value predicate_value(ptx_emit *emit, const ptx_operand *operand)
{
    const ptx_value value = ptx_operand_value(emit, operand, PTX_PRED);
    return ptx_let(emit, "zext i1 %s to i32", value.name);
}

/* Splits "value | predicate << 32" to the two destinations. The run time returns both in
 * one register; memory for a second result would be a slot in each frame. */
static void store_pair(ptx_emit *emit, const ptx_cut_form *cut, ptx_value pair)
{
    const ptx_value low = ptx_let(emit, "trunc i64 %s to i32", pair.name);
    const ptx_value high = ptx_let(emit, "lshr i64 %s, 32", pair.name);
    const ptx_value flag = ptx_let(emit, "trunc i64 %s to i1", high.name);
    ptx_store_operand(emit, cut->out, PTX_B32, low);
    if (cut->out_pred)
        ptx_store_operand(emit, cut->out_pred, PTX_PRED, flag);
}

static void store_flag(ptx_emit *emit, const ptx_operand *out, ptx_value result)
{
    ptx_store_operand(emit, out, PTX_PRED,
                      ptx_let(emit, "icmp ne i32 %s, 0", result.name));
}

static void call_barrier(ptx_emit *emit, const ptx_cut_form *cut, const char *thread)
{
    if (cut->cluster) {
        ptx_line(emit, "call void @ptx_rt_thread_cluster_wait(ptr %s)", thread);
        return;
    }
    /* bar.sync without operands is barrier 0 and all threads; the run time takes a count
     * of 0 as all. */
    const ptx_value id = value_or(emit, cut->id, PTX_B32, "0");
    const ptx_value count = value_or(emit, cut->threads, PTX_B32, "0");
    if (cut->kind == SHAPE_CUT_ARRIVE) {
        ptx_line(emit, "call void @ptx_rt_barrier_arrive(ptr %s, i32 %s, i32 %s)", thread,
                 id.name, count.name);
        return;
    }
    ptx_value predicate = value_or(emit, NULL, PTX_B32, "0");
    if (cut->kind == SHAPE_CUT_REDUCE)
        predicate = predicate_value(emit, cut->value);
    const ptx_value result =
        ptx_let(emit, "call i32 @ptx_rt_barrier(ptr %s, i32 %s, i32 %s, i32 %u, i32 %s)",
                thread, id.name, count.name,
                cut->kind == SHAPE_CUT_REDUCE ? cut->mode : 0, predicate.name);
    if (cut->kind != SHAPE_CUT_REDUCE)
        return;
    if (cut->mode == 1)
        ptx_store_operand(emit, cut->out, PTX_U32, result);
    else
        store_flag(emit, cut->out, result);
}

static void call_vote(ptx_emit *emit, const ptx_cut_form *cut, const char *thread,
                      const char *mask)
{
    const ptx_value predicate = predicate_value(emit, cut->value);
    const ptx_value result =
        ptx_let(emit, "call i32 @ptx_rt_vote(ptr %s, i32 %s, i32 %u, i32 %s)", thread,
                mask, cut->mode, predicate.name);
    if (cut->mode == 3)
        ptx_store_operand(emit, cut->out, PTX_B32, result);
    else
        store_flag(emit, cut->out, result);
}

/* One call for both widths: it compares 64 bits, of which the upper half is 0 for
 * .b32. */
static void call_match(ptx_emit *emit, const ptx_cut_form *cut, const char *thread,
                       const char *mask)
{
    const bool wide = ptx_type_bytes(cut->type) == 8;
    ptx_value value = ptx_operand_value(emit, cut->value, wide ? PTX_B64 : PTX_B32);
    if (!wide)
        value = ptx_let(emit, "zext i32 %s to i64", value.name);
    store_pair(emit, cut,
               ptx_let(emit,
                       "call i64 @ptx_rt_match(ptr %s, i32 %s, i32 %u, i32 %u, i64 "
                       "%s)",
                       thread, mask, cut->mode, wide ? 8u : 4u, value.name));
}

static void call_shfl(ptx_emit *emit, const ptx_cut_form *cut, const char *thread,
                      const char *mask)
{
    const ptx_value value = ptx_operand_value(emit, cut->value, PTX_B32);
    const ptx_value b = ptx_operand_value(emit, cut->b, PTX_B32);
    const ptx_value c = ptx_operand_value(emit, cut->c, PTX_B32);
    store_pair(emit, cut,
               ptx_let(emit,
                       "call i64 @ptx_rt_shfl(ptr %s, i32 %s, i32 %u, i32 %s, i32 "
                       "%s, i32 %s)",
                       thread, mask, cut->mode, value.name, b.name, c.name));
}

ptx_value ptx_write_meeting(ptx_emit *emit, uint32_t place)
{
    const ptx_writer *w = emit->shape;
    return ptx_let(emit, "call i32 @ptx_rt_activemask(ptr %s, i32 %u)", w->thread.name,
                   place);
}

void ptx_write_slow_cut(ptx_emit *emit, uint32_t insn)
{
    const ptx_writer *w = emit->shape;
    const ptx_cut_form cut = ptx_cut_of(w->s, insn);
    const char *thread = w->thread.name;
    if (cut.kind == SHAPE_CUT_SUM) {
        ptx_lower(emit, &emit->function->insns[insn]);
        return;
    }
    if (cut.kind == SHAPE_CUT_MATRIX) {
        ptx_write_slow_matrix(emit, insn);
        return;
    }
    if (cut.kind <= SHAPE_CUT_REDUCE) {
        call_barrier(emit, &cut, thread);
        return;
    }
    /* Forms without .sync, of before sm_70, have no mask: all lanes of the warp. */
    const ptx_value mask = value_or(emit, cut.mask, PTX_B32, "-1");
    switch (cut.kind) {
    case SHAPE_CUT_WARPSYNC:
        ptx_line(emit, "call void @ptx_rt_syncwarp(ptr %s, i32 %s)", thread, mask.name);
        break;
    case SHAPE_CUT_SHFL: call_shfl(emit, &cut, thread, mask.name); break;
    case SHAPE_CUT_VOTE: call_vote(emit, &cut, thread, mask.name); break;
    case SHAPE_CUT_MATCH: call_match(emit, &cut, thread, mask.name); break;
    case SHAPE_CUT_REDUX: {
        const ptx_value value = ptx_operand_value(emit, cut.value, PTX_B32);
        ptx_store_operand(
            emit, cut.out, PTX_B32,
            ptx_let(emit, "call i32 @ptx_rt_redux(ptr %s, i32 %s, i32 %u, i32 %s)",
                    thread, mask.name, cut.mode, value.name));
        break;
    }
    case SHAPE_CUT_ELECT:
        store_pair(
            emit, &cut,
            ptx_let(emit, "call i64 @ptx_rt_elect(ptr %s, i32 %s)", thread, mask.name));
        break;
    default:
        ptx_store_operand(emit, cut.out, PTX_B32, ptx_write_meeting(emit, 2 * insn));
        break;
    }
}

/* ---- blocks ----------------------------------------------------------------------- */
