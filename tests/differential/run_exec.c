// SPDX-License-Identifier: Apache-2.0
/* The runner's executables. */
#include "run.h"

static void instantiate(const int32_t *a, struct answer *out)
{
    const CUgraph graph = a[1] == NONE ? NULL : run.graphs[a[1]];
    CUgraphExec exec = NULL;
    if (graph == NULL && a[1] != NONE) {
        out->code = SKIPPED;
        return;
    }
    if (a[3] == 0) {
        out->code = (int32_t)cu.cuGraphInstantiateWithFlags(&exec, graph,
                                                            (unsigned long long)a[2]);
    } else {
        CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = (cuuint64_t)a[2],
                                           .hUploadStream = run.streams[a[4]],
                                           .result_out = (CUgraphInstantiateResult)77};
        out->code = (int32_t)cu.cuGraphInstantiateWithParams(&exec, graph, &p);
        answer_push(out, (int32_t)p.result_out);
        answer_push(out, p.hErrNode_out != NULL);
    }
    if (out->code == CUDA_SUCCESS)
        run.execs[a[0]] = exec;
}

static void update(const int32_t *a, struct answer *out)
{
    const CUgraph graph = a[1] == NONE ? NULL : run.graphs[a[1]];
    if (run.execs[a[0]] == NULL || (graph == NULL && a[1] != NONE)) {
        out->code = SKIPPED;
        return;
    }
    CUgraphExecUpdateResultInfo info = {.result = (CUgraphExecUpdateResult)77};
    out->code = (int32_t)cu.cuGraphExecUpdate(run.execs[a[0]], graph, &info);
    answer_push(out, (int32_t)info.result);
    answer_push(out, run_slot_of_node(info.errorNode));
    answer_push(out, run_slot_of_node(info.errorFromNode));
}

static CUresult set_typed(const struct work *work, CUgraphExec exec, CUgraphNode node)
{
    struct built b;
    run_build(work, &b);
    const bool null = work->bad == BAD_NULL;
    switch (work->kind) {
    case WORK_KERNEL:
        return cu.cuGraphExecKernelNodeSetParams(exec, node, null ? NULL : &b.u.kernel);
    case WORK_MEMCPY:
        return cu.cuGraphExecMemcpyNodeSetParams(exec, node, null ? NULL : &b.u.memcpy,
                                                 run.context);
    case WORK_MEMSET:
        return cu.cuGraphExecMemsetNodeSetParams(exec, node, null ? NULL : &b.u.memset,
                                                 run.context);
    case WORK_HOST:
        return cu.cuGraphExecHostNodeSetParams(exec, node, null ? NULL : &b.u.host);
    case WORK_CHILD:
        return cu.cuGraphExecChildGraphNodeSetParams(
            exec, node, work->p[0] >= 0 ? run.graphs[work->p[0]] : NULL);
    case WORK_WAIT:
        return cu.cuGraphExecEventWaitNodeSetEvent(exec, node, run.events[work->p[0]]);
    case WORK_RECORD:
        return cu.cuGraphExecEventRecordNodeSetEvent(exec, node, run.events[work->p[0]]);
    default:
        return cu.cuGraphExecBatchMemOpNodeSetParams(exec, node,
                                                     null ? NULL : &b.u.batch);
    }
}

static void exec_set(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const struct work work = step_work(step);
    const bool childless =
        work.kind == WORK_CHILD && work.p[0] >= 0 && run.graphs[work.p[0]] == NULL;
    if (run.execs[a[0]] == NULL || run.nodes[a[1]] == NULL || childless) {
        out->code = SKIPPED;
        return;
    }
    if (a[2] & 1) {
        struct built built;
        CUgraphNodeParams params;
        run_build(&work, &built);
        run_generic(&work, &built, &params);
        out->code = (int32_t)cu.cuGraphExecNodeSetParams(run.execs[a[0]], run.nodes[a[1]],
                                                         &params);
    } else {
        out->code = (int32_t)set_typed(&work, run.execs[a[0]], run.nodes[a[1]]);
    }
}

static void enabled(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    if (run.execs[a[0]] == NULL || run.nodes[a[1]] == NULL) {
        out->code = SKIPPED;
        return;
    }
    if (step->op == OP_SET_ENABLED) {
        out->code = (int32_t)cu.cuGraphNodeSetEnabled(run.execs[a[0]], run.nodes[a[1]],
                                                      (unsigned)a[2]);
        return;
    }
    unsigned value = 77;
    out->code =
        (int32_t)cu.cuGraphNodeGetEnabled(run.execs[a[0]], run.nodes[a[1]], &value);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, (int32_t)value);
}

static void one_exec(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const CUgraphExec exec = a[0] == NONE ? NULL : run.execs[a[0]];
    if (exec == NULL && a[0] != NONE) {
        out->code = SKIPPED;
        return;
    }
    cuuint64_t flags = 77;
    switch (step->op) {
    case OP_EXEC_DESTROY:
        out->code = (int32_t)cu.cuGraphExecDestroy(exec);
        if (out->code == CUDA_SUCCESS)
            run.execs[a[0]] = NULL;
        return;
    case OP_EXEC_FLAGS:
        out->code = (int32_t)cu.cuGraphExecGetFlags(exec, &flags);
        if (out->code == CUDA_SUCCESS)
            answer_push(out, (int32_t)flags);
        return;
    case OP_LAUNCH:
        out->code = (int32_t)cu.cuGraphLaunch(exec, run.streams[a[1]]);
        return;
    default: out->code = (int32_t)cu.cuGraphUpload(exec, run.streams[a[1]]); return;
    }
}

void run_exec_step(const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_INSTANTIATE: instantiate(step->a, out); return;
    case OP_EXEC_UPDATE: update(step->a, out); return;
    case OP_EXEC_SET: exec_set(step, out); return;
    case OP_SET_ENABLED:
    case OP_GET_ENABLED: enabled(step, out); return;
    default: one_exec(step, out); return;
    }
}
