// SPDX-License-Identifier: Apache-2.0
/* What check mode says of the device side: rounds of loops, conditional handles, launches by
 * kernels that are refused. Each wrong program has its right form beside it. */
#include "rules/device_kernels.h"

/* at(counter, base, shift): base[(counter + shift) % 8] = 1; look(...): reads it
 * down(handle, counter): one less, which is then the handle's value; set(handle, value)
 * late(handle, counter): counts, and sets the handle to 0 at 1500, not before. */
static const char check_ptx[] = DEVICE_HEAD
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
#define REGS "{\n  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %d<5>;\n"
#define PLACE                                                                            \
    "  ld.param.u64 %d1, [counter]; ld.param.u64 %d2, [base]; ld.param.u32 %r1, "        \
    "[shift];\n"                                                                         \
    "  ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r1; and.b32 %r2, %r2, 7;\n"          \
    "  mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d2, %d3;\n"
#define SET                                                                              \
    "  { .param .b64 h; .param .b32 v; st.param.b64 [h], %d1; st.param.b32 [v], %r1;\n"  \
    "    call.uni cudaGraphSetConditional, (h, v); }\n"
    ".visible .entry at(.param .u64 counter, .param .u64 base, .param .u32 shift)\n" REGS
        PLACE "  st.global.u32 [%d3], 1;\n  ret;\n}\n"
    ".visible .entry look(.param .u64 counter, .param .u64 base, .param .u32 "
    "shift)\n" REGS PLACE "  ld.global.u32 %r3, [%d3];\n  ret;\n}\n"
    ".visible .entry down(.param .u64 handle, .param .u64 counter)\n" REGS
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [counter];\n"
    "  ld.global.u32 %r1, [%d2]; sub.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;\n" SET
    "  ret;\n}\n"
    ".visible .entry set(.param .u64 handle, .param .u32 value)\n" REGS
    "  ld.param.u64 %d1, [handle]; ld.param.u32 %r1, [value];\n" SET "  ret;\n}\n"
    ".visible .entry late(.param .u64 handle, .param .u64 counter)\n" REGS
    "  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [counter];\n"
    "  ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;\n"
    "  setp.ne.u32 %p1, %r2, 1500; @%p1 bra done; mov.u32 %r1, 0;\n" SET
    "done:\n  ret;\n}\n";

static CUmodule check_module;
static char heard[1 << 16];

static void CUDA_CB listen(void *user, CUlogLevel level, char *message, size_t bytes)
{
    (void)user, (void)level;
    const size_t have = strlen(heard);
    snprintf(heard + have, sizeof(heard) - have, "%.*s\n", (int)bytes, message);
}

static unsigned count_of(const char *text)
{
    unsigned count = 0;
    for (const char *at = heard; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

static bool quiet(void)
{
    if (heard[0] != '\0')
        fprintf(stderr, "heard: %s", heard);
    return heard[0] == '\0';
}

/* That many sentences with the text, and no other ones. */
static bool said(unsigned count, const char *text)
{
    const bool good = count_of("\n") == count && count_of(text) == count;
    if (!good)
        fprintf(stderr, "not %u times \"%s\": %s\n", count, text, heard);
    return good;
}

static CUgraphNode node_of(CUgraph graph, CUgraphNode before, const char *name,
                           void **args)
{
    CUgraphNode node = NULL;
    CUfunction found = NULL;
    OK(cu.cuModuleGetFunction(&found, check_module, name));
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(found, args);
    OK(cu.cuGraphAddKernelNode(&node, graph, &before, before != NULL, &params));
    return node;
}

static CUgraphNode touches(CUgraph graph, CUgraphNode before, const char *name,
                           CUdeviceptr counter, unsigned shift)
{
    void *args[] = {&counter, &log_, &shift};
    return node_of(graph, before, name, args);
}

static CUgraphNode counts(CUgraph graph, CUgraphNode before, const char *name,
                          CUgraphConditionalHandle handle, CUdeviceptr counter)
{
    void *args[] = {&handle, &counter};
    return node_of(graph, before, name, args);
}

static CUgraphNode sets(CUgraph graph, CUgraphNode before,
                        CUgraphConditionalHandle handle, unsigned value)
{
    void *args[] = {&handle, &value};
    return node_of(graph, before, "set", args);
}

static CUgraph body_of(CUgraph graph, CUgraphNode before, bool is_loop,
                       CUgraphConditionalHandle handle, CUgraphNode *node)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = is_loop ? CU_GRAPH_COND_TYPE_WHILE : CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    OK(cu.cuGraphAddNode(node, graph, &before, NULL, before != NULL, &params));
    return params.conditional.phGraph_out[0];
}

static CUgraphConditionalHandle handle_of(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    OK(cu.cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

/* Launches twice with counters at 4 and 3; what is said of a pair is said once. */
static void run_counting(CUgraph graph)
{
    CUgraphExec exec = instantiate(graph);
    heard[0] = '\0';
    for (int launch = 0; launch < 2; launch++) {
        OK(cu.cuMemsetD32(word, 4, 1));
        OK(cu.cuMemsetD32(word + 64, 3, 1));
        OK(cu.cuCtxSynchronize());
        launch_and_wait(exec);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Two kernels of a body that nothing orders; `apart`: they write the same word, but one in one
 * round, and the other in the next. */
static void loop_of_two(unsigned apart)
{
    CUgraph graph = new_graph();
    const CUgraphConditionalHandle handle = handle_of(graph);
    CUgraphNode node, pair[2];
    CUgraph body = body_of(graph, NULL, true, handle, &node);
    pair[0] = touches(body, NULL, "at", word, 0);
    pair[1] = touches(body, NULL, "at", word, apart);
    CUgraphNode last = counts(body, pair[0], "down", handle, word);
    OK(cu.cuGraphAddDependencies(body, &pair[1], &last, NULL, 1));
    run_counting(graph);
}

static void rounds_follow_each_other(void)
{
    loop_of_two(1);
    CHECK(quiet());
    loop_of_two(0);
    CHECK(said(1, "race: kernel at (node "));
}

/* In an outer loop: an inner one that writes word after word, and a kernel beside it that reads
 * one of them. `shift`: of those it writes in this outer round, or in another one. */
static void nested_loops(unsigned shift)
{
    CUgraph graph = new_graph();
    const CUgraphConditionalHandle outer = handle_of(graph), inner = handle_of(graph);
    CUgraphNode loop, nested;
    CUgraph body = body_of(graph, NULL, true, outer, &loop);
    CUgraphNode first = sets(body, NULL, inner, 1);
    CUgraph rounds = body_of(body, first, true, inner, &nested);
    touches(rounds, NULL, "at", word, 0); /* the outer counter, in each inner round */
    sets(rounds, NULL, inner, 0);
    CUgraphNode beside = touches(body, NULL, "look", word, shift);
    CUgraphNode last = counts(body, nested, "down", outer, word);
    OK(cu.cuGraphAddDependencies(body, &beside, &last, NULL, 1));
    run_counting(graph);
}

static void loops_in_loops(void)
{
    nested_loops(1);
    CHECK(quiet());
    nested_loops(0);
    CHECK(said(1, "race: kernel at (node "));
}

/* A body, and a kernel beside its loop: whichever round it was. */
static void beside_a_loop(unsigned shift)
{
    CUgraph graph = new_graph();
    const CUgraphConditionalHandle handle = handle_of(graph);
    CUgraphNode loop;
    CUgraph body = body_of(graph, NULL, true, handle, &loop);
    counts(body, touches(body, NULL, "at", word, 0), "down", handle, word);
    touches(graph, NULL, "look", word + 64, shift); /* word 3 + shift */
    run_counting(graph);
}

static void siblings_of_a_loop(void)
{
    beside_a_loop(4); /* the loop writes words 1 to 4 */
    CHECK(quiet());
    beside_a_loop(0);
    CHECK(said(1, "race: kernel at (node "));
}

/* What launches that touched something keep is kept once by those that touch nothing. */
static void launches_may_touch_nothing(void)
{
    CUgraph graph = new_graph();
    const CUgraphNode nodes[] = {touches(graph, NULL, "at", word, 0),
                                 touches(graph, NULL, "at", word, 1)};
    CUgraphExec exec = instantiate(graph);
    heard[0] = '\0';
    for (unsigned launch = 0; launch < 8; launch++) {
        for (int i = 0; i < 2; i++)
            OK(cu.cuGraphNodeSetEnabled(exec, nodes[i], launch % 4 == 0));
        launch_and_wait(exec);
    }
    CHECK(quiet());
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- handles ----------------------------------------------------------------------- */

static void handles_have_one_setter_at_a_time(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUgraph graph = new_graph();
        const CUgraphConditionalHandle handle = handle_of(graph);
        CUgraphNode one = sets(graph, NULL, handle, 1), node;
        CUgraphNode two = sets(graph, ordered ? one : NULL, handle, 0);
        body_of(graph, two, false, handle, &node);
        if (!ordered)
            OK(cu.cuGraphAddDependencies(graph, &one, &node, NULL, 1));
        run_counting(graph);
        if (ordered)
            CHECK(quiet());
        else
            CHECK(said(1, "handle race: kernel set (node ") &&
                  count_of(") sets conditional handle 1 and kernel set (node ") == 1);
    }
}

static void handles_are_set_before_they_are_read(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        CUgraph graph = new_graph();
        const CUgraphConditionalHandle handle = handle_of(graph);
        CUgraphNode one = sets(graph, NULL, handle, 1), node;
        body_of(graph, ordered ? one : NULL, false, handle, &node);
        run_counting(graph);
        if (ordered)
            CHECK(quiet());
        else
            CHECK(said(1, "handle race: ") && count_of("conditional node (node ") == 1);
    }
}

static void loops_decide(void)
{
    for (int decides = 0; decides < 2; decides++) {
        CUgraph graph = new_graph();
        const CUgraphConditionalHandle handle = handle_of(graph);
        CUgraphNode loop;
        CUgraph body = body_of(graph, NULL, true, handle, &loop);
        CUgraphNode first = decides ? sets(body, NULL, handle, 1) : NULL;
        counts(body, first, "late", handle, word + 128);
        OK(cu.cuMemsetD32(word + 128, 0, 1));
        OK(cu.cuCtxSynchronize());
        CUgraphExec exec = instantiate(graph);
        heard[0] = '\0';
        launch_and_wait(exec);
        CHECK(word_at(word + 128) == 1500);
        CHECK(decides ? quiet() : said(1, "loop without a decision: the WHILE node"));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
}

/* ---- launches by kernels ----------------------------------------------------------- */

static CUgraphExec launching(CUgraphExec exec, uint64_t where, unsigned times)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    for (unsigned i = 0; i < times; i++)
        node = fires(graph, node, exec, where, i);
    CUgraphExec made = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    return made;
}

static void refusals_are_told(void)
{
    CUgraph graph = new_graph();
    marks(graph, NULL, 7);
    CUgraphExec exec = for_device(graph), host = launching(exec, TAIL, 1);
    clear();
    heard[0] = '\0';
    launch_and_wait(host);
    launch_and_wait(host);
    CHECK(said(1, "it was not uploaded"));
    OK(cu.cuGraphUpload(exec, stream));
    heard[0] = '\0';
    launch_and_wait(host);
    CHECK(quiet());
    CUgraphExec twice = launching(exec, TAIL, 2);
    launch_and_wait(twice);
    CHECK(said(1, "a launch of it has not ended"));
    CUgraphExec nobody = launching(NULL, TAIL, 1);
    heard[0] = '\0';
    launch_and_wait(nobody);
    CHECK(said(1, "cudaGetCurrentGraphExec() is 0"));
    CUgraphExec nowhere = launching(exec, 2, 1);
    heard[0] = '\0';
    launch_and_wait(nowhere);
    CHECK(said(1, "that stream is none of the three"));
    const CUgraphExec all[] = {exec, host, twice, nobody, nowhere};
    for (int i = 0; i < 5; i++)
        OK(cu.cuGraphExecDestroy(all[i]));
    OK(cu.cuGraphDestroy(graph));
}

static void limits_are_told(void)
{
    enum { MANY = 121 };
    CUgraphExec execs[MANY];
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    for (unsigned i = 0; i < MANY; i++) {
        execs[i] = marking(i);
        node = fires(graph, node, execs[i], FORGET, i);
    }
    CUgraphExec host = instantiate(graph);
    clear();
    heard[0] = '\0';
    launch_and_wait(host);
    CHECK(said(1, "fires and forgets 120 graphs at most"));
    OK(cu.cuGraphExecDestroy(host));
    OK(cu.cuGraphDestroyNode(node));
    host = instantiate(graph);
    heard[0] = '\0';
    launch_and_wait(host);
    CHECK(quiet());
    OK(cu.cuGraphExecDestroy(host));
    OK(cu.cuGraphDestroy(graph));
    for (unsigned i = 0; i < MANY; i++)
        OK(cu.cuGraphExecDestroy(execs[i]));
}

int main(void)
{
    CUlogsCallbackHandle handle;
    setenv("SOFTCUDA_CHECK", "race", 1);
    DEVICE_OR_SKIP();
    if (!driver_is_soft) {
        printf("a GPU computes on\n");
        return 77;
    }
    use_primary();
    set_up();
    OK(cu.cuModuleLoadData(&check_module, check_ptx));
    OK(cu.cuLogsRegisterCallback(listen, NULL, &handle));
    RUN(rounds_follow_each_other);
    RUN(loops_in_loops);
    RUN(siblings_of_a_loop);
    RUN(launches_may_touch_nothing);
    RUN(handles_have_one_setter_at_a_time);
    RUN(handles_are_set_before_they_are_read);
    RUN(loops_decide);
    RUN(refusals_are_told);
    RUN(limits_are_told);
    return test_done();
}
