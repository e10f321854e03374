// SPDX-License-Identifier: Apache-2.0
/* bench/load: the graphs, whoever makes them. */
#include <stdio.h>

#include "load.h"

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
static const char kernel_text[] =
    ".visible .entry layer%d(.param .u64 sum, .param .u64 a, .param .u64 b, .param .u64 "
    "c, "
    ".param .u32 n, .param .f32 s)\n"
    "{\n"
    ".reg .pred %%p<2>;\n.reg .b32 %%r<4>;\n.reg .b64 %%d<2>;\n"
    "mov.u32 %%r1, %%tid.x;\n"
    "setp.ne.u32 %%p1, %%r1, 0;\n"
    "@%%p1 bra DONE;\n"
    "ld.param.u64 %%d1, [sum];\n"
    "ld.param.u32 %%r2, [n];\n"
    "red.global.add.u32 [%%d1], %%r2;\n"
    "DONE:\n"
    "ret;\n"
    "}\n";

const char *load_ptx(size_t *bytes)
{
    static char ptx[16384];
    size_t used = (size_t)snprintf(ptx, sizeof(ptx), "%s", head);
    for (int i = 0; i < LOAD_KERNELS; i++)
        used += (size_t)snprintf(ptx + used, sizeof(ptx) - used, kernel_text, i);
    *bytes = used;
    return ptx;
}

int load_node_count(int graph, int graph_count)
{
    return 200 + graph * 16 / graph_count * 400 / 15;
}

int load_is_beside(int node, int count)
{
    return node % 8 == 7 && node + 1 < count;
}

unsigned int load_sum(int graph_count)
{
    unsigned int sum = 0;
    for (int graph = 0; graph < graph_count; graph++)
        sum += (unsigned int)(load_node_count(graph, graph_count) * (graph + 1) *
                              (1 + graph % 4));
    return sum;
}

struct load_node load_node_at(uint64_t base, int graph, int node)
{
    const uint64_t a = base + 4096 + (uint64_t)(node % 300) * 65536;
    return (struct load_node){.sum = base,
                              .a = a,
                              .b = a + 32768,
                              .c = a + 1024 * (uint64_t)(graph % 16),
                              .n = (unsigned int)(graph + 1),
                              .blocks = 1 + (unsigned int)graph % 4,
                              .s = (float)node};
}
