// SPDX-License-Identifier: Apache-2.0
/* R1-R28: nodes, dependencies, edges, parameters. */
#include "rule.h"

static void no_dependencies_make_a_root(void)
{
    CUgraph graph;
    CUgraphNode node = NULL, roots[2];
    size_t count = 2;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cu.cuGraphGetRootNodes(graph, roots, &count));
    CHECK(count == 1 && roots[0] == node);
    REFUSED(INVALID_VALUE, cu.cuGraphAddEmptyNode(&node, graph, NULL, 1));
    OK(cu.cuGraphDestroy(graph));
}

static void run(void)
{
    RULE_TEST(R1, no_dependencies_make_a_root);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
