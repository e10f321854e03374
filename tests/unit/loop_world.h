// SPDX-License-Identifier: Apache-2.0
/* Bodies for loops, on what update_world.h has. */
#ifndef LOOP_WORLD_H
#define LOOP_WORLD_H
#include "tests/node.h"
#include "update_world.h"
#include <gph/loop.h>

/* down(word, done): a step that counts the word down and `done` up, unless it is 0
 * tick(done): a step that only counts
 * nap(us); stray(word, at): writes where nothing is once the word has come down to `at`
 * into(slot, value): adds to the word whose address the slot holds */
static const char loop_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry down(.param .u64 word, .param .u64 done)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<3>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %a1, [word];\nld.param.u64 %a2, [done];\n"
    "ld.global.u32 %r1, [%a1];\nsetp.eq.u32 %q, %r1, 0;\n@%q bra END;\n"
    "sub.u32 %r1, %r1, 1;\nst.global.u32 [%a1], %r1;\n"
    "ld.global.u32 %r2, [%a2];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%a2], %r2;\n"
    "END:\nret;\n}\n"
    ".visible .entry tick(.param .u64 done)\n"
    "{\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\nld.param.u64 %a1, [done];\n"
    "ld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%a1], "
    "%r1;\nret;\n}\n"
    ".visible .entry nap(.param .u32 us)\n"
    "{\n.reg .pred %q;\n.reg .b32 %r<2>;\nld.param.u32 %r1, [us];\n"
    "AGAIN:\nsetp.eq.u32 %q, %r1, 0;\n@%q bra END;\nnanosleep.u32 1000;\n"
    "sub.u32 %r1, %r1, 1;\nbra.uni AGAIN;\nEND:\nret;\n}\n"
    ".visible .entry stray(.param .u64 word, .param .u32 at)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<3>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %a1, [word];\nld.param.u32 %r1, [at];\nld.global.u32 %r2, [%a1];\n"
    "setp.ne.u32 %q, %r1, %r2;\n@%q bra END;\nmov.u64 %a2, 64;\n"
    "st.global.u32 [%a2], %r2;\nEND:\nret;\n}\n"
    ".visible .entry into(.param .u64 slot, .param .u32 value)\n"
    "{\n.reg .b64 %a<3>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [slot];\n"
    "ld.param.u32 %r1, [value];\nld.global.u64 %a2, [%a1];\nld.global.u32 %r2, [%a2];\n"
    "add.u32 %r2, %r2, %r1;\nst.global.u32 [%a2], %r2;\nret;\n}\n";

static const gph_loop_way loop_ways[] = {GPH_LOOP_WHILE, GPH_LOOP_TAIL, GPH_LOOP_HOST};
enum { LOOP_WAYS = 3 };

static struct {
    CUmodule module;
    CUdeviceptr word, done; /* of 4 bytes each */
} loops;

static void loops_open(void)
{
    OK(world.cu->cuModuleLoadData(&loops.module, loop_ptx));
    loops.word = world.at[AT_DEVICE];
    loops.done = world.at[AT_DEVICE] + 4;
}

static CUgraphNode loop_node(CUgraph graph, const CUgraphNode *after, const char *name,
                             void **arguments)
{
    CUfunction function = NULL;
    CUgraphNode node = NULL;
    OK(world.cu->cuModuleGetFunction(&function, loops.module, name));
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, arguments);
    OK(world.cu->cuGraphAddKernelNode(&node, graph, after, after != NULL, &params));
    return node;
}

static CUgraph loop_graph(void)
{
    CUgraph graph = NULL;
    OK(world.cu->cuGraphCreate(&graph, 0));
    return graph;
}

/* down(), and a fill after it. */
static inline CUgraph down_body(void)
{
    CUgraph graph = loop_graph();
    CUgraphNode fill = NULL;
    void *arguments[] = {&loops.word, &loops.done};
    const CUgraphNode node = loop_node(graph, NULL, "down", arguments);
    const CUDA_MEMSET_NODE_PARAMS params = {.dst = world.at[AT_SECOND],
                                            .value = 5,
                                            .elementSize = 4,
                                            .width = 8,
                                            .height = 1};
    OK(world.cu->cuGraphAddMemsetNode(&fill, graph, &node, 1, &params, world.context));
    return graph;
}

static CUgraph tick_body(void)
{
    CUgraph graph = loop_graph();
    void *arguments[] = {&loops.done};
    loop_node(graph, NULL, "tick", arguments);
    return graph;
}

static gph_loop_options loop_options(gph_loop_way way)
{
    gph_loop_options options = GPH_LOOP_OPTIONS_INIT;
    options.way = (uint32_t)way;
    options.condition = loops.word;
    options.ceiling = 1000;
    options.stream = world.stream;
    options.poll_ns = 1;
    options.name = "adder";
    return options;
}

static void set_words(uint32_t word, uint32_t done)
{
    const uint32_t both[] = {word, done};
    OK(world.cu->cuMemcpyHtoD(loops.word, both, sizeof(both)));
    OK(world.cu->cuStreamSynchronize(NULL)); /* a GPU may still copy */
}

static inline uint32_t word_at(CUdeviceptr at)
{
    uint32_t value = 0;
    OK(world.cu->cuMemcpyDtoH(&value, at, sizeof(value)));
    return value;
}
/* Takes the body. */
static inline gph_loop *loop_of(CUgraph body, const gph_loop_options *options)
{
    gph_loop *loop = NULL;
    FINE(gph_loop_create(world.runtime, body, options, &loop, &world.error));
    OK(world.cu->cuGraphDestroy(body));
    return loop;
}

static inline gph_loop_result run(gph_loop *loop, gph_status wanted)
{
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    FINE(gph_loop_launch(loop, world.stream, &world.error));
    world.error = (gph_error){0};
    const gph_status status = gph_loop_wait(loop, world.stream, &result, &world.error);
    if (!CHECK(status == wanted))
        fprintf(stderr, "  %d: %s\n", status, world.error.message);
    return result;
}

static inline bool says(const char *part)
{
    return strstr(world.error.message, part) != NULL;
}
#endif
