// SPDX-License-Identifier: Apache-2.0
/* mbarrier: arrivals and waits as library functions on the object in shared memory. A
 * wait that has to wait answers false; PTX lets try_wait do so, and the loop around it is
 * what sends the kernel to the slow path. */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/lower/lower.h"

/* Scopes and orders: one host thread sees everything in order. */
static void skip_order(ptx_low *l)
{
    ptx_skip(l, PTX_MOD_RELAXED, PTX_MOD_RELEASE);
    ptx_skip(l, PTX_MOD_CTA, PTX_MOD_CLUSTER);
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
}

/* The object at operand `nth`, in shared memory or by a generic address. */
static bool object_at(ptx_low *l, uint32_t nth, ptx_place *place)
{
    const ptx_space space = (ptx_space)l->insn->space;
    return (space == PTX_SPACE_SHARED || space == PTX_SPACE_GENERIC) &&
           ptx_address(l, nth, space, 8, true, place);
}

/* init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes */
static bool change(ptx_low *l, const char *name, bool has_value)
{
    ptx_place place;
    if (l->count != 1u + has_value || !object_at(l, 0, &place) ||
        (has_value && !ptx_check_in(l, 1, PTX_U32)))
        return false;
    ptx_arg args[2] = {{"ptr", place.pointer}};
    if (has_value)
        args[1] = (ptx_arg){"i32", ptx_in(l, 1, PTX_U32)};
    (void)ptx_call_library(l, name, "void", args, 1u + has_value);
    return true;
}

/* arrive{_drop}{.expect_tx}{.noComplete} state, [a]{, count or bytes} */
static bool arrive(ptx_low *l, bool drops)
{
    const bool bytes = ptx_mod(l, PTX_MOD_EXPECT_TX);
    (void)ptx_mod(l, PTX_MOD_NOCOMPLETE); /* a promise: nothing to do */
    ptx_place place;
    const bool has_value = l->count == 3;
    if ((l->count != 2 && !has_value) || (bytes && !has_value) ||
        !ptx_check_out(l, 0, PTX_B64) || (has_value && !ptx_check_in(l, 2, PTX_U32)) ||
        !object_at(l, 1, &place))
        return false;
    const ptx_value name =
        ptx_name("mbarrier_arrive%s%s", drops ? "_drop" : "", bytes ? "_expect_tx" : "");
    const ptx_arg args[] = {{"ptr", place.pointer},
                            {"i32", has_value ? ptx_in(l, 2, PTX_U32) : ptx_name("1")}};
    ptx_out(l, 0, PTX_B64, ptx_call_library(l, name.name, "i64", args, 2));
    return true;
}

/* test_wait{.parity} p, [a], state or parity; try_wait may have a time hint. */
static bool wait_for(ptx_low *l, bool has_hint)
{
    const bool parity = ptx_mod(l, PTX_MOD_PARITY);
    const ptx_type type = parity ? PTX_U32 : PTX_B64;
    ptx_place place;
    if ((l->count != 3 && !(has_hint && l->count == 4)) ||
        !ptx_check_out(l, 0, PTX_PRED) || !ptx_check_in(l, 2, type) ||
        (l->count == 4 && !ptx_check_in(l, 3, PTX_U32)) || !object_at(l, 1, &place))
        return false;
    const ptx_arg args[] = {{"ptr", place.pointer},
                            {ptx_llvm_type(type), ptx_in(l, 2, type)}};
    const ptx_value done = ptx_call_library(
        l, parity ? "mbarrier_wait_parity" : "mbarrier_wait", "i32", args, 2);
    ptx_out(l, 0, PTX_PRED, ptx_op(l, "icmp ne i32 %s, 0", done.name));
    return true;
}

static bool pending_count(ptx_low *l)
{
    if (l->count != 2 || !ptx_check_out(l, 0, PTX_U32) || !ptx_check_in(l, 1, PTX_B64))
        return false;
    const ptx_arg arg = {"i64", ptx_in(l, 1, PTX_B64)};
    ptx_out(l, 0, PTX_U32, ptx_call_library(l, "mbarrier_pending_count", "i32", &arg, 1));
    return true;
}

static bool mbarrier(ptx_low *l)
{
    skip_order(l);
    const bool counted = l->insn->type_count == 1 && ptx_type_at(l, 0) == PTX_B64;
    if (ptx_mod(l, PTX_MOD_ARRIVE_DROP))
        return counted && arrive(l, true);
    if (ptx_mod(l, PTX_MOD_ARRIVE))
        return counted && arrive(l, false);
    if (ptx_mod(l, PTX_MOD_EXPECT_TX))
        return l->insn->type_count <= 1 && change(l, "mbarrier_expect_tx", true);
    if (ptx_mod(l, PTX_MOD_COMPLETE_TX))
        return l->insn->type_count <= 1 && change(l, "mbarrier_complete_tx", true);
    if (!counted)
        return false;
    if (ptx_mod(l, PTX_MOD_INIT))
        return change(l, "mbarrier_init", true);
    if (ptx_mod(l, PTX_MOD_INVAL))
        return change(l, "mbarrier_inval", false);
    if (ptx_mod(l, PTX_MOD_TEST_WAIT))
        return wait_for(l, false);
    if (ptx_mod(l, PTX_MOD_TRY_WAIT))
        return wait_for(l, true);
    return ptx_mod(l, PTX_MOD_PENDING_COUNT) && pending_count(l);
}

/* cp.async.mbarrier.arrive{.noinc}.shared.b64 [a]: the copies are done, so the arrival is
 * now. Without .noinc the pending count first grows by the arrival: nothing changes. */
bool ptx_low_copy_arrive(ptx_low *l)
{
    const bool arrives = ptx_mod(l, PTX_MOD_NOINC);
    ptx_place place;
    if (!ptx_mod(l, PTX_MOD_ARRIVE) || ptx_type_at(l, 0) != PTX_B64 || l->count != 1 ||
        !object_at(l, 0, &place))
        return false;
    if (!arrives)
        return true;
    const ptx_arg args[] = {{"ptr", place.pointer}, {"i32", ptx_name("1")}};
    (void)ptx_call_library(l, "mbarrier_arrive", "i64", args, 2);
    return true;
}

/* Checked where it is not the block's own memory, as far as the bytes that are moved. */
static void check_bulk(ptx_low *l, ptx_place *place, ptx_value bytes, uint32_t flags)
{
    if (!l->emit || !l->emit->options->check_memory)
        return;
    const ptx_value all = ptx_op(l, "or i32 %s, %u", bytes.name,
                                 flags | PTX_CHECK_STRONG | PTX_CHECK_UNALIGNED);
    place->pointer = ptx_add_check(l, place->pointer, all);
}

ptx_value ptx_low_blocks(ptx_low *l, uint32_t nth)
{
    const ptx_value mask = ptx_resize(l, ptx_in(l, nth, PTX_B16), 16, 32, false);
    return ptx_op(l, "call i32 @ptx_rt_multicast(ptr %s, i32 %s, i32 %s)",
                  l->emit->block.name, l->emit->thread_index.name, mask.name);
}

void ptx_low_complete(ptx_low *l, ptx_value object, ptx_value bytes, ptx_value blocks)
{
    const ptx_arg args[] = {{"ptr", object}, {"i32", bytes}, {"i32", blocks}};
    (void)ptx_call_library(l, "mbarrier_complete_tx_in", "void", args, 3);
}

/* To the memory of the blocks that the mask at operand 4 names. */
static void copy_to_blocks(ptx_low *l, const ptx_place *target, const ptx_place *source,
                           ptx_value bytes, const ptx_place *object)
{
    if (!l->emit)
        return;
    const ptx_value blocks = ptx_low_blocks(l, 4);
    const ptx_arg args[] = {{"ptr", target->pointer},
                            {"ptr", source->pointer},
                            {"i32", bytes},
                            {"i32", blocks}};
    (void)ptx_call_library(l, "bulk_copy_in", "void", args, 4);
    ptx_low_complete(l, object->pointer, bytes, blocks);
}

/* cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes,
 * [barrier]{, mask}, or from shared to global memory in a bulk_group: done when it is
 * issued, as all of cp.async. */
bool ptx_low_copy_bulk(ptx_low *l)
{
    const bool loads = ptx_mod(l, PTX_MOD_COMPLETE_BYTES);
    const uint32_t cast = loads && ptx_mod(l, PTX_MOD_MULTICAST_CLUSTER) ? 1 : 0;
    const uint32_t wanted = (loads ? 4 : 3) + cast;
    (void)ptx_mod(l, PTX_MOD_SHARED_CLUSTER);
    const uint32_t hint = ptx_mod(l, PTX_MOD_L2_CACHE_HINT) ? 1 : 0;
    const ptx_space to = loads ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    const ptx_space from = loads ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    ptx_place target, source, object;
    if ((!loads && !ptx_mod(l, PTX_MOD_BULK_GROUP)) || l->count != wanted + hint ||
        l->insn->space != to || l->insn->space2 != from || l->insn->type_count != 0 ||
        !ptx_check_in(l, 2, PTX_U32) || !ptx_address(l, 0, to, 0, true, &target) ||
        !ptx_address(l, 1, from, 0, false, &source) ||
        (loads && !ptx_address(l, 3, PTX_SPACE_SHARED, 8, true, &object)) ||
        (cast != 0 && !ptx_check_in(l, 4, PTX_B16)))
        return false;
    const ptx_value bytes = ptx_in(l, 2, PTX_U32);
    check_bulk(l, loads ? &source : &target, bytes, loads ? 0 : PTX_CHECK_WRITE);
    if (cast != 0) {
        copy_to_blocks(l, &target, &source, bytes, &object);
        return true;
    }
    if (l->emit) {
        const ptx_value wide = ptx_resize(l, bytes, 32, 64, false);
        ptx_do(l, "call void @llvm.memcpy.p0.p0.i64(ptr %s, ptr %s, i64 %s, i1 false)",
               target.pointer.name, source.pointer.name, wide.name);
    }
    if (!loads)
        return true;
    const ptx_arg args[] = {{"ptr", object.pointer}, {"i32", bytes}};
    (void)ptx_call_library(l, "mbarrier_complete_tx", "void", args, 2);
    return true;
}

ptx_family ptx_low_mbarrier = {[PTX_OP_MBARRIER] = mbarrier};
