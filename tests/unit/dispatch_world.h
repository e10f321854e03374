// SPDX-License-Identifier: Apache-2.0
/* Graphs for dispatch, on what update_world.h has. */
#ifndef DISPATCH_WORLD_H
#define DISPATCH_WORLD_H
#include "tests/node.h"
#include "update_world.h"
#include <gph/dispatch.h>

/* add(block): the word at block[0] += block[1]
 * note(block): appends block[1] to the log at block[0], which begins with its length
 * nap(block): block[0] us; stray(block): writes where nothing is */
static const char dispatch_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 block)\n"
    "{\n.reg .b64 %a<3>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [block];\n"
    "ld.global.u64 %a2, [%a1];\nld.global.u32 %r1, [%a1+8];\n"
    "red.global.add.u32 [%a2], %r1;\nret;\n}\n"
    ".visible .entry note(.param .u64 block)\n"
    "{\n.reg .b64 %a<5>;\n.reg .b32 %r<3>;\nld.param.u64 %a1, [block];\n"
    "ld.global.u64 %a2, [%a1];\nld.global.u32 %r1, [%a1+8];\n"
    "atom.global.add.u32 %r2, [%a2], 1;\nmul.wide.u32 %a3, %r2, 4;\n"
    "add.s64 %a4, %a2, %a3;\nst.global.u32 [%a4+4], %r1;\nret;\n}\n"
    ".visible .entry nap(.param .u64 block)\n"
    "{\n.reg .pred %q;\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\nld.param.u64 %a1, [block];\n"
    "ld.global.u32 %r1, [%a1];\n"
    "AGAIN:\nsetp.eq.u32 %q, %r1, 0;\n@%q bra END;\nnanosleep.u32 1000;\n"
    "sub.u32 %r1, %r1, 1;\nbra.uni AGAIN;\nEND:\nret;\n}\n"
    ".visible .entry stray(.param .u64 block)\n"
    "{\n.reg .b64 %a<2>;\n.reg .b32 %r<2>;\n"
    "mov.u64 %a1, 64;\nmov.u32 %r1, 1;\nst.global.u32 [%a1], %r1;\nret;\n}\n";

static CUmodule dispatch_module;

static void dispatch_open(void)
{
    OK(world.cu->cuModuleLoadData(&dispatch_module, dispatch_ptx));
}

/* A graph of one kernel, which is given the next block. */
static CUgraph graph_for(const gph_dispatch *dispatch, const char *name)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUfunction function = NULL;
    CUdeviceptr block = gph_dispatch_block(dispatch);
    void *arguments[] = {&block};
    OK(world.cu->cuModuleGetFunction(&function, dispatch_module, name));
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, arguments);
    OK(world.cu->cuGraphCreate(&graph, 0));
    OK(world.cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return graph;
}

static uint32_t word_at(CUdeviceptr at)
{
    uint32_t value = 0;
    OK(world.cu->cuMemcpyDtoH(&value, at, sizeof(value)));
    return value;
}
#endif
