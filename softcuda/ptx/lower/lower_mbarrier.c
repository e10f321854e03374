// SPDX-License-Identifier: Apache-2.0
/* mbarrier: arrivals and waits as library functions on the object in shared memory. A
 * wait that has to wait answers false; PTX lets try_wait do so, and the loop around it is
 * what sends the kernel to the slow path. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>

/* Scopes and orders: one host thread sees everything in order. */
static void skip_order(low *l)
{
    static const ptx_modifier words[] = {PTX_MOD_RELEASE, PTX_MOD_ACQUIRE,
                                         PTX_MOD_RELAXED, PTX_MOD_CTA,
                                         PTX_MOD_CLUSTER, PTX_MOD_SHARED_CLUSTER};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        (void)low_mod(l, words[i]);
}

/* The object at operand `nth`, in shared memory or by a generic address. */
static bool object_at(low *l, uint32_t nth, low_place *place)
{
    const ptx_space space = (ptx_space)l->insn->space;
    return (space == PTX_SPACE_SHARED || space == PTX_SPACE_GENERIC) &&
           low_address(l, nth, space, 8, true, place);
}

/* init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes */
static bool change(low *l, const char *name, bool has_value)
{
    low_place place;
    if (l->count != 1u + has_value || !object_at(l, 0, &place) ||
        (has_value && !low_check_in(l, 1, PTX_U32)))
        return false;
    low_arg args[2] = {{"ptr", place.pointer}};
    if (has_value)
        args[1] = (low_arg){"i32", low_in(l, 1, PTX_U32)};
    return low_call(l, name, "void", args, 1u + has_value, NULL);
}

/* arrive{_drop}{.expect_tx}{.noComplete} state, [a]{, count or bytes} */
static bool arrive(low *l, bool drops)
{
    const bool bytes = low_mod(l, PTX_MOD_EXPECT_TX);
    (void)low_mod(l, PTX_MOD_NOCOMPLETE); /* a promise: nothing to do */
    low_place place;
    const bool has_value = l->count == 3;
    if ((l->count != 2 && !has_value) || (bytes && !has_value) ||
        !low_check_out(l, 0, PTX_B64) || (has_value && !low_check_in(l, 2, PTX_U32)) ||
        !object_at(l, 1, &place))
        return false;
    char name[40];
    snprintf(name, sizeof(name), "mbarrier_arrive%s%s", drops ? "_drop" : "",
             bytes ? "_expect_tx" : "");
    const low_arg args[] = {{"ptr", place.pointer},
                            {"i32", has_value ? low_in(l, 2, PTX_U32) : low_name("1")}};
    ptx_value state;
    if (!low_call(l, name, "i64", args, 2, &state))
        return false;
    low_out(l, 0, PTX_B64, state);
    return true;
}

/* test_wait{.parity} p, [a], state or parity; try_wait may have a time hint. */
static bool wait_for(low *l, bool has_hint)
{
    const bool parity = low_mod(l, PTX_MOD_PARITY);
    const ptx_type type = parity ? PTX_U32 : PTX_B64;
    low_place place;
    if ((l->count != 3 && !(has_hint && l->count == 4)) ||
        !low_check_out(l, 0, PTX_PRED) || !low_check_in(l, 2, type) ||
        (l->count == 4 && !low_check_in(l, 3, PTX_U32)) || !object_at(l, 1, &place))
        return false;
    const low_arg args[] = {{"ptr", place.pointer},
                            {ptx_llvm_type(type), low_in(l, 2, type)}};
    ptx_value done;
    if (!low_call(l, parity ? "mbarrier_wait_parity" : "mbarrier_wait", "i32", args, 2,
                  &done))
        return false;
    low_out(l, 0, PTX_PRED, low_op(l, "icmp ne i32 %s, 0", done.name));
    return true;
}

static bool pending_count(low *l)
{
    if (l->count != 2 || !low_check_out(l, 0, PTX_U32) || !low_check_in(l, 1, PTX_B64))
        return false;
    const low_arg arg = {"i64", low_in(l, 1, PTX_B64)};
    ptx_value count;
    if (!low_call(l, "mbarrier_pending_count", "i32", &arg, 1, &count))
        return false;
    low_out(l, 0, PTX_U32, count);
    return true;
}

bool low_mbarrier(low *l)
{
    skip_order(l);
    const bool counted = l->insn->type_count == 1 && low_type(l, 0) == PTX_B64;
    if (low_mod(l, PTX_MOD_ARRIVE_DROP))
        return counted && arrive(l, true);
    if (low_mod(l, PTX_MOD_ARRIVE))
        return counted && arrive(l, false);
    if (low_mod(l, PTX_MOD_EXPECT_TX))
        return l->insn->type_count <= 1 && change(l, "mbarrier_expect_tx", true);
    if (low_mod(l, PTX_MOD_COMPLETE_TX))
        return l->insn->type_count <= 1 && change(l, "mbarrier_complete_tx", true);
    if (!counted)
        return false;
    if (low_mod(l, PTX_MOD_INIT))
        return change(l, "mbarrier_init", true);
    if (low_mod(l, PTX_MOD_INVAL))
        return change(l, "mbarrier_inval", false);
    if (low_mod(l, PTX_MOD_TEST_WAIT))
        return wait_for(l, false);
    if (low_mod(l, PTX_MOD_TRY_WAIT))
        return wait_for(l, true);
    return low_mod(l, PTX_MOD_PENDING_COUNT) && pending_count(l);
}

/* cp.async.mbarrier.arrive{.noinc}.shared.b64 [a]: the copies are done, so the arrival is
 * now. Without .noinc the pending count first grows by the arrival: nothing changes. */
bool low_copy_arrive(low *l)
{
    const bool arrives = low_mod(l, PTX_MOD_NOINC);
    low_place place;
    if (!low_mod(l, PTX_MOD_ARRIVE) || low_type(l, 0) != PTX_B64 || l->count != 1 ||
        !object_at(l, 0, &place))
        return false;
    if (!arrives)
        return true;
    const low_arg args[] = {{"ptr", place.pointer}, {"i32", low_name("1")}};
    ptx_value state;
    return low_call(l, "mbarrier_arrive", "i64", args, 2, &state);
}
