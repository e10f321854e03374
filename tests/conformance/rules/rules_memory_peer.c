// SPDX-License-Identifier: Apache-2.0
/* Memory nodes and several devices: access descriptors. Needs two, which softcuda is
 * asked for. */
#include "../kernels.h"
#include "memory_help.h"

static CUcontext contexts[2];
static CUfunction store; /* of device 1 */
static bool peers;

#define NEEDS_PEERS()                                                                    \
    do {                                                                                 \
        if (!peers) {                                                                    \
            SKIP("there are no two devices that are peers");                             \
            return;                                                                      \
        }                                                                                \
    } while (0)

static void set_up(void)
{
    int count = 0, can = 0;
    CUmodule module;
    OK(cu.cuDeviceGetCount(&count));
    if (count < 2)
        return;
    OK(cu.cuDeviceCanAccessPeer(&can, 1, 0));
    peers = can != 0;
    for (int i = 1; peers && i >= 0; i--) {
        OK(cu.cuDevicePrimaryCtxRetain(&contexts[i], i));
        OK(cu.cuCtxSetCurrent(contexts[i]));
        if (i == 1) {
            OK(cu.cuModuleLoadData(&module, kernels_ptx));
            OK(cu.cuModuleGetFunction(&store, module, "store"));
        }
    }
}

/* A kernel of device 1 stores a word. */
static CUresult store_from_1(CUdeviceptr address, unsigned value)
{
    void *args[] = {&address, &value};
    OK(cu.cuCtxSetCurrent(contexts[1]));
    OK(cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    const CUresult result = cu.cuCtxSynchronize();
    OK(cu.cuCtxSetCurrent(contexts[0]));
    return result;
}

static const CUmemAccessDesc for_1 = {{CU_MEM_LOCATION_TYPE_DEVICE, 1},
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static void descriptors_let_peers_in(void)
{
    NEEDS_PEERS();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemAccessDesc given = for_1;
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(MIB), got = {0};
    params.accessDescs = &given;
    params.accessDescCount = 1;
    OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    given.location.id = 0; /* the node has its own copy */
    OK(cu.cuGraphMemAllocNodeGetParams(node, &got));
    CHECK(got.accessDescCount == 1 && got.accessDescs[0].location.id == 1);
    add_fill(graph, node, params.dptr, 3, 1024);
    CUgraphExec exec = instantiate(graph, 0);
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    OK(store_from_1(params.dptr + 4, 71));
    CHECK(word_at(params.dptr) == 3 && word_at(params.dptr + 4) == 71);
    OK(cu.cuMemFree(params.dptr));
    drop(exec, graph);
}

static void run(void)
{
    if (!rule_listing)
        set_up();
    RULE_TEST(M_graph_peers, descriptors_let_peers_in);
}

int main(int argc, char **argv)
{
    (void)setenv("SOFTCUDA_DEVICES", "2", 0);
    return rule_main(argc, argv, run);
}
