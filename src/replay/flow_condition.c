// SPDX-License-Identifier: Apache-2.0
/* Conditions: what a caller may ask, and the kernels that are captured for it. */
#include "base/fail.h"
#include "cuda/status.h"
#include "replay/flow.h"

#include <string.h>

/* The public numbers are the kernel's: they go through as they are. */
_Static_assert((int)GPH_VALUE_F64 == (int)GPHI_COMPARE_F64 &&
                   GPH_NOT_EQUAL == (GPHI_COMPARE_BITS & ~GPHI_IS_EQUAL) &&
                   GPH_GREATER_EQUAL == (GPHI_IS_GREATER | GPHI_IS_EQUAL),
               "comparisons");

static gph_status check_address(CUdeviceptr at, size_t bytes, const char *what,
                                gph_error *error)
{
    if (at == 0)
        return gphi_fail(error, GPH_E_INVALID, "condition.%s is 0", what);
    if (at % bytes != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.%s 0x%llx is not a multiple of %zu", what, at, bytes);
    return GPH_OK;
}

static gph_status check_compare(const gph_condition *condition, gph_flow_kind kind,
                                gph_error *error)
{
    const size_t bytes = gphi_compare_bytes(condition->type);
    const uint32_t relation = condition->relation;
    if (kind == GPH_FLOW_SWITCH)
        return gphi_fail(error, GPH_E_INVALID,
                         "a comparison is 0 or 1: a choice of cases takes a word");
    if (bytes == 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.type %u is not a gph_value_type", condition->type);
    if (relation != GPH_LESS && relation != GPH_EQUAL && relation != GPH_LESS_EQUAL &&
        relation != GPH_GREATER && relation != GPH_GREATER_EQUAL &&
        relation != GPH_NOT_EQUAL)
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.relation %u is not a gph_relation", relation);
    GPHI_TRY(check_address(condition->left, bytes, "left", error));
    return condition->right != 0 ? check_address(condition->right, bytes, "right", error)
                                 : GPH_OK;
}

static gph_status check_flags(const gph_condition *condition, gph_flow_kind kind,
                              gph_error *error)
{
    if (condition->flags == 0)
        return GPH_OK;
    if (kind != GPH_FLOW_IF)
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.flags 0x%llx: only an IF has some", condition->flags);
    if (condition->kind == GPH_CONDITION_KERNEL)
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.flags 0x%llx: a kernel that decides sets a handle, "
                         "there is none",
                         condition->flags);
    return check_address(condition->flags, 8, "flags", error);
}

gph_status gphi_condition_read(const gph_condition *condition, gph_flow_kind kind,
                               gph_condition *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, condition));
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_condition", condition, error));
    GPHI_TRY(check_flags(out, kind, error));
    switch (out->kind) {
    case GPH_CONDITION_WORD: return check_address(out->left, 4, "left", error);
    case GPH_CONDITION_COMPARE: return check_compare(out, kind, error);
    case GPH_CONDITION_KERNEL:
        return out->set ? GPH_OK
                        : gphi_fail(error, GPH_E_INVALID, "condition.set is NULL");
    default:
        return gphi_fail(error, GPH_E_INVALID,
                         "condition.kind %u is not a gph_condition_kind", out->kind);
    }
}

/* ---- kernels ---- */

static gph_status launch(const gph_capture *capture, gphi_setter setter, void **args,
                         gph_error *error)
{
    const CUfunction function = capture->recording->setters->functions[setter];
    const CUresult result = capture->runtime->cu.cuLaunchKernel(
        function, 1, 1, 1, 1, 1, 1, 0, capture->stream, args, NULL);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuLaunchKernel",
                              "capturing the kernel that sets a condition in stream %p",
                              (void *)capture->stream);
    return GPH_OK;
}

gph_status gphi_condition_put(gph_capture *capture, uint64_t handle, uint32_t value,
                              gph_error *error)
{
    void *args[] = {&handle, &value};
    return launch(capture, GPHI_SET_VALUE, args, error);
}

uint64_t gphi_condition_constant(const gph_condition *condition)
{
    uint64_t bits = condition->constant.u; /* a whole number's low bytes come first */
    if (condition->type == GPH_VALUE_F32) {
        const float single = (float)condition->constant.f;
        bits = 0;
        memcpy(&bits, &single, sizeof(single));
    }
    return bits;
}

static gph_status compare(const gph_capture *capture, const gph_condition *condition,
                          uint64_t handle, uint32_t flags, gph_error *error)
{
    gphi_compare_params wanted = {.handle = handle,
                                  .left = condition->left,
                                  .right = condition->right,
                                  .constant = gphi_condition_constant(condition),
                                  .type = condition->type,
                                  .accepts = condition->relation | flags};
    void *args[] = {&wanted};
    return launch(capture, GPHI_SET_COMPARE, args, error);
}

static gph_status set_one(const gph_capture *capture, const gph_condition *condition,
                          uint64_t handle, gph_error *error)
{
    if (condition->kind == GPH_CONDITION_COMPARE)
        return compare(capture, condition, handle, 0, error);
    if (condition->kind == GPH_CONDITION_KERNEL)
        return condition->set(condition->user, capture->stream, handle, error);
    CUdeviceptr word = condition->left;
    void *args[] = {&handle, &word};
    return launch(capture, GPHI_SET_WORD, args, error);
}

/* An IF node for each case: all are decided before the first of them runs, which may
 * change the word. */
static gph_status set_cases(const gph_capture *capture, const gph_condition *condition,
                            const gphi_flow *flow, gph_error *error)
{
    gph_condition is_case = *condition;
    is_case.kind = GPH_CONDITION_COMPARE;
    is_case.type = GPH_VALUE_U32;
    is_case.relation = GPH_EQUAL;
    for (uint32_t i = 0; i < flow->count; i++) {
        is_case.constant.u = i;
        GPHI_TRY(compare(capture, &is_case, flow->bodies[i].handle, 0, error));
    }
    return GPH_OK;
}

gph_status gphi_condition_flag(const gph_capture *capture, const gph_condition *condition,
                               gph_error *error)
{
    gph_condition asked = *condition;
    if (asked.kind == GPH_CONDITION_WORD) {
        asked.type = GPH_VALUE_U32;
        asked.relation = GPH_NOT_EQUAL;
        asked.right = 0;
        asked.constant.u = 0;
    }
    return compare(capture, &asked, asked.flags, GPHI_COMPARE_FLAGS, error);
}

/* The kernel that the caller has just captured, for who saves the graph. */
static void note_set(const gph_capture *capture, gphi_flow *flow)
{
    gphi_capture_info info = {0};
    const bool is_second = flow->bodies[0].graph != NULL; /* its node is there */
    if (gphi_capture_info_read(&capture->runtime->cu, capture->stream, &info) ==
            CUDA_SUCCESS &&
        info.count == 1)
        flow->set[is_second] = info.dependencies[0];
}

gph_status gphi_condition_set(gph_capture *capture, const gph_condition *condition,
                              gphi_flow *flow, gph_error *error)
{
    if (flow->way == GPH_FLOW_NODES && flow->kind == GPH_FLOW_SWITCH)
        return set_cases(capture, condition, flow, error);
    GPHI_TRY(set_one(capture, condition, flow->bodies[0].handle, error));
    if (condition->kind == GPH_CONDITION_KERNEL)
        note_set(capture, flow);
    /* The second node's body runs unless the first one's says no: so it is for kernels of
     * the caller's, too, whose value nobody can read. */
    if (flow->way == GPH_FLOW_NODES)
        return gphi_condition_put(capture, flow->bodies[1].handle, 1, error);
    return GPH_OK;
}
