// SPDX-License-Identifier: Apache-2.0
/* Five ways to make a program fit for graphs, each before and after:
 *
 *   padding        a graph for each length      ->  buckets
 *   branch         one graph with a condition   ->  a graph for each way
 *   preallocation  allocation in a capture      ->  memory that was there before
 *   segments       the host reads in between    ->  two graphs and a host call
 *   prefill        everything launch by launch  ->  prompts eager, tokens as a graph */
#include "common.h"

static void open_all(common *c)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    MUST(gph_open(&options, &c->gph, &c->error));
    c->cu = gph_cuda(c->gph);
    CUcontext context;
    CUmodule module;
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &c->fill, module, "fill");
    CU(ModuleGetFunction, &c->scale_add, module, "scale_add");
    CU(ModuleGetFunction, &c->total, module, "total");
    CU(StreamCreate, &c->stream, 1); /* non-blocking */
    MUST(gph_arena_create(c->gph, NULL, &c->arena, &c->error));
    MUST(gph_pool_create(c->arena, NULL, &c->pool, &c->error));
}

int main(void)
{
    static common all;
    common *c = &all;
    open_all(c);
    pattern_padding(c);
    pattern_branch(c);
    pattern_preallocation(c);
    pattern_segments(c);
    pattern_prefill(c);
    gph_pool_release(c->pool);
    gph_arena_destroy(c->arena);
    gph_close(c->gph);
    return 0;
}
