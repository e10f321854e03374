// SPDX-License-Identifier: Apache-2.0
/* R79: what kernels change of kernel nodes. */
#include <stddef.h>

#include "device_nodes.h"

/* struct cudaGraphKernelNodeUpdate of driver_types.h. */
enum { FIELD_GRID = 1, FIELD_PARAM, FIELD_ENABLED };
struct node_update {
    CUgraphDeviceNode node;
    int field;
    union {
        unsigned grid[3];
        struct {
            CUdeviceptr value;
            size_t offset, bytes;
        } param;
        unsigned enabled;
    } u;
};
_Static_assert(sizeof(struct node_update) == 40, "as kernels lay it out");

static CUgraphNode switches(CUgraph graph, CUgraphNode before, CUgraphDeviceNode node,
                            unsigned on, unsigned at)
{
    CUdeviceptr out = answer + 4ull * at;
    void *args[] = {&node, &on, &out};
    return node_behind(graph, before, "set_enabled", args);
}

static CUgraphNode resizes(CUgraph graph, CUgraphNode before, CUgraphDeviceNode node,
                           unsigned x, unsigned at)
{
    CUdeviceptr out = answer + 4ull * at;
    void *args[] = {&node, &x, &out};
    return node_behind(graph, before, "set_grid", args);
}

/* ---- what kernels change ----------------------------------------------------------- */

static void changes_want_an_upload(void)
{
    struct target t = {.graph = new_graph()};
    t.node = marks(t.graph, NULL, 7);
    t.handle = updatable(t.node);
    CUgraphExec setter = setter_of(t.handle, 8);
    clear();
    launch_and_wait(setter);
    ANSWERED(0, 1);
    t.exec = instantiate(t.graph);
    clear();
    launch_and_wait(setter);
    ANSWERED(0, 1);
    OK(cu.cuGraphUpload(t.exec, stream));
    clear();
    launch_and_wait(setter);
    ANSWERED(0, 0);
    launch_and_wait(t.exec);
    LOGGED(8);
    launch_and_wait(t.exec);
    LOGGED(8, 8);
    OK(cu.cuGraphExecDestroy(setter));
    drop(&t);
}

/* By a kernel ahead of the node, in the same launch. */
static void the_own_graph_changes_ahead(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = marks(graph, NULL, 1);
    const CUgraphDeviceNode handle = updatable(node);
    CUgraphNode sets = sets_value(graph, NULL, handle, 8, value_of(0, 5), 4, 0);
    OK(cu.cuGraphAddDependencies(graph, &sets, &node, NULL, 1));
    CUgraphExec exec = instantiate(graph);
    clear();
    launch_and_wait(exec);
    ANSWERED(0, 0);
    LOGGED(5);
    value_of(0, 6);
    launch_and_wait(exec);
    LOGGED(5, 6);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void switches_and_grids_change(void)
{
    CUgraph graph = new_graph(), changing = new_graph();
    CUdeviceptr counter = log_ + 256;
    void *args[] = {&counter};
    CUgraphNode node = node_behind(graph, NULL, "blocks", args);
    const CUgraphDeviceNode handle = updatable(node);
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphUpload(exec, stream));
    resizes(changing, NULL, handle, 77, 0);
    CUgraphExec grid = instantiate_and_drop(changing);
    changing = new_graph();
    switches(changing, NULL, handle, 0, 1);
    CUgraphExec off = instantiate_and_drop(changing);
    changing = new_graph();
    switches(changing, NULL, handle, 1, 2);
    CUgraphExec on = instantiate_and_drop(changing);
    clear();
    launch_and_wait(grid);
    launch_and_wait(exec);
    ANSWERED(0, 0);
    CHECK(word_at(counter) == 77);
    launch_and_wait(off);
    launch_and_wait(exec);
    ANSWERED(1, 0);
    CHECK(word_at(counter) == 77);
    unsigned enabled = 0; /* the host does not see it */
    OK(cu.cuGraphNodeGetEnabled(exec, node, &enabled));
    CHECK(enabled == 1);
    launch_and_wait(on);
    launch_and_wait(exec);
    CHECK(word_at(counter) == 154);
    OK(cu.cuGraphNodeSetEnabled(exec, node, 0)); /* by the host; on again by a kernel */
    OK(cu.cuGraphUpload(exec, stream));
    launch_and_wait(exec);
    CHECK(word_at(counter) == 154);
    launch_and_wait(on);
    launch_and_wait(exec);
    CHECK(word_at(counter) == 155); /* the grid is the host's again */
    OK(cu.cuGraphExecDestroy(grid));
    OK(cu.cuGraphExecDestroy(off));
    OK(cu.cuGraphExecDestroy(on));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static CUgraphExec applies(const struct node_update *updates, size_t count)
{
    CUgraph graph = new_graph();
    const CUdeviceptr at = word + 1024;
    void *args[] = {(void *)(uintptr_t)&at, &count, &answer};
    OK(cu.cuMemcpyHtoD(at, updates, count * sizeof(*updates)));
    node_behind(graph, NULL, "apply", args);
    return instantiate_and_drop(graph);
}

static void changes_come_together(void)
{
    CUgraph graph = new_graph();
    CUdeviceptr counter = log_ + 256;
    void *args[] = {&counter};
    CUgraphNode node = node_behind(graph, NULL, "blocks", args);
    const CUgraphDeviceNode grid = updatable(node);
    node = marks(graph, NULL, 1);
    const CUgraphDeviceNode first = updatable(node);
    const CUgraphDeviceNode second = updatable(marks(graph, node, 2));
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphUpload(exec, stream));
    const struct node_update all[] = {
        {.node = grid, .field = FIELD_GRID, .u.grid = {3, 4, 5}},
        {.node = first, .field = FIELD_PARAM, .u.param = {value_of(0, 9), 8, 4}},
        {.node = second, .field = FIELD_ENABLED, .u.enabled = 0}};
    CUgraphExec apply = applies(all, 3);
    clear();
    launch_and_wait(apply);
    ANSWERED(0, 0);
    launch_and_wait(exec);
    LOGGED(9);
    CHECK(word_at(counter) == 60);
    OK(cu.cuGraphExecDestroy(apply));
    const struct node_update wrong[] = {
        {.node = second, .field = FIELD_ENABLED, .u.enabled = 1},
        {.node = first, .field = 9},
        {.node = first, .field = FIELD_PARAM, .u.param = {value_of(0, 10), 8, 4}}};
    apply = applies(wrong, 3);
    clear();
    launch_and_wait(apply);
    ANSWERED(0, 1); /* and none is made */
    clear();
    launch_and_wait(exec);
    LOGGED(9);
    OK(cu.cuGraphExecDestroy(apply));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* Two parameters at once; and what no node has. */
static void nothing_of_it_is_checked(void)
{
    struct target t = target_of(7, true);
    CUgraph graph = new_graph();
    const struct {
        CUdeviceptr log;
        unsigned value;
    } both = {log_ + 128, 6};
    OK(cu.cuMemcpyHtoD(word, &both, 12));
    CUgraphNode node = sets_value(graph, NULL, t.handle, 0, word, 12, 0);
    node = resizes(graph, node, t.handle, 0, 1);
    CUgraphExec setter = instantiate_and_drop(graph);
    clear();
    launch_and_wait(setter);
    ANSWERED(0, 0);
    ANSWERED(1, 1); /* a grid of 0 blocks */
    launch_and_wait(t.exec);
    LOGGED_NOTHING();
    CHECK(word_at(log_ + 128) == 1 && word_at(log_ + 132) == 6);
    OK(cu.cuGraphExecDestroy(setter));
    drop(&t);
}

static void the_host_has_the_last_word(void)
{
    struct target t = target_of(7, true);
    CUgraphExec setter = setter_of(t.handle, 8);
    unsigned value = 3;
    void *args[] = {&log_, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("mark"), args);
    clear();
    launch_and_wait(setter);
    launch_and_wait(t.exec);
    LOGGED(8);
    OK(cu.cuGraphExecKernelNodeSetParams(t.exec, t.node, &params));
    launch_and_wait(t.exec);
    LOGGED(8, 3);
    launch_and_wait(setter);
    launch_and_wait(t.exec);
    LOGGED(8, 3, 8);
    OK(cu.cuGraphExecKernelNodeSetParams(t.exec, t.node, &params));
    launch_and_wait(setter); /* before the upload: it is lost by it */
    OK(cu.cuGraphUpload(t.exec, stream));
    launch_and_wait(t.exec);
    LOGGED(8, 3, 8, 3);
    launch_and_wait(setter);
    OK(cu.cuGraphUpload(t.exec, stream)); /* nothing of the host is new */
    launch_and_wait(t.exec);
    LOGGED(8, 3, 8, 3, 8);
    OK(cu.cuGraphExecDestroy(setter));
    drop(&t);
}

/* Though it is on: what kernels changed is the host's again. */
static void switching_on_is_an_edit(void)
{
    struct target t = target_of(7, true);
    CUgraphExec setter = setter_of(t.handle, 8);
    clear();
    launch_and_wait(setter);
    launch_and_wait(t.exec);
    LOGGED(8);
    OK(cu.cuGraphNodeSetEnabled(t.exec, t.node, 1));
    launch_and_wait(t.exec);
    LOGGED(8, 7);
    OK(cu.cuGraphExecDestroy(setter));
    drop(&t);
}

/* The host changes one node; a kernel has changed another one of the same graph. */
static void other_nodes_keep_their_changes(void)
{
    CUgraph graph = new_graph();
    CUgraphNode first = marks(graph, NULL, 1), second = marks(graph, first, 2);
    const CUgraphDeviceNode handle = updatable(first);
    CUgraphExec exec = instantiate(graph), setter = setter_of(handle, 8);
    unsigned value = 3;
    void *args[] = {&log_, &value};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("mark"), args);
    OK(cu.cuGraphUpload(exec, stream));
    clear();
    launch_and_wait(setter);
    OK(cu.cuGraphExecKernelNodeSetParams(exec, second, &params));
    launch_and_wait(exec);
    LOGGED(8, 3);
    OK(cu.cuGraphExecDestroy(setter));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void functions_change_and_nodes_rest(void)
{
    struct target t = target_of(7, true);
    CUdeviceptr counter = log_ + 256;
    void *args[] = {&counter};
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function("blocks"), args);
    clear();
    OK(cu.cuGraphNodeSetEnabled(t.exec, t.node, 0));
    launch_and_wait(t.exec);
    LOGGED_NOTHING();
    OK(cu.cuGraphExecKernelNodeSetParams(t.exec, t.node, &params));
    launch_and_wait(t.exec);
    CHECK(word_at(counter) == 0);
    OK(cu.cuGraphNodeSetEnabled(t.exec, t.node, 1));
    launch_and_wait(t.exec);
    CHECK(word_at(counter) == 1);
    LOGGED_NOTHING();
    drop(&t);
}

/* In a graph that kernels launch, and that changes before it is launched again. */
static void device_graphs_change(void)
{
    CUgraph graph = new_graph(), host = new_graph();
    CUgraphNode node = marks(graph, NULL, 7);
    const CUgraphDeviceNode handle = updatable(node);
    CUgraphExec exec = for_device(graph);
    OK(cu.cuGraphUpload(exec, stream));
    node = sets_value(host, NULL, handle, 8, value_of(0, 4), 4, 0);
    fires(host, node, exec, TAIL, 1);
    CUgraphExec launcher = instantiate_and_drop(host);
    clear();
    launch_and_wait(launcher);
    ANSWERED(0, 0);
    ANSWERED(1, 0);
    LOGGED(4);
    OK(cu.cuGraphExecDestroy(launcher));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void bodies_have_them(void)
{
    CUgraph graph = new_graph(), body = NULL;
    CUgraphConditionalHandle condition = 0;
    CUgraphNode branch = NULL, node;
    OK(cu.cuGraphConditionalHandleCreate(&condition, graph, context, 1, 1));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = condition;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    OK(cu.cuGraphAddNode(&branch, graph, NULL, NULL, 0, &params));
    body = params.conditional.phGraph_out[0];
    node = marks(body, NULL, 7);
    const CUgraphDeviceNode handle = updatable(node);
    CUgraphExec exec = instantiate(graph), setter = setter_of(handle, 8);
    OK(cu.cuGraphUpload(exec, stream));
    clear();
    launch_and_wait(exec);
    launch_and_wait(setter);
    ANSWERED(0, 0);
    launch_and_wait(exec);
    LOGGED(7, 8);
    OK(cu.cuGraphExecDestroy(setter));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* The last test: the context is over. */
static void handles_are_of_nodes(void)
{
    CUgraphExec nobody = setter_of(NULL, 8);
    clear();
    launch_and_wait(nobody);
    ANSWERED(0, 1);
    CUgraphExec wrong = setter_of((CUgraphDeviceNode)(uintptr_t)0x1230, 8);
    OK(cu.cuGraphLaunch(wrong, stream));
    CHECK(cu.cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void run(void)
{
    if (!rule_listing)
        set_up();
    RULE_TEST(R79, changes_want_an_upload);
    RULE_TEST(R79, the_own_graph_changes_ahead);
    RULE_TEST(R79, switches_and_grids_change);
    RULE_TEST(R79, changes_come_together);
    RULE_TEST(R79, nothing_of_it_is_checked);
    RULE_TEST(R79, the_host_has_the_last_word);
    RULE_TEST(R79, switching_on_is_an_edit);
    RULE_TEST(R79, other_nodes_keep_their_changes);
    RULE_TEST(R79, functions_change_and_nodes_rest);
    RULE_TEST(R79, device_graphs_change);
    RULE_TEST(R79, bodies_have_them);
    RULE_TEST(R79, handles_are_of_nodes);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
