// SPDX-License-Identifier: Apache-2.0
/* The runtime's structures, as the toolkit lays them out. */
#include "abi_list.h"
#include "softcuda/runtime/types.h"
#include "test.h"

static const abi_row ours[] = ABI_ROWS;

static void structures_are_the_toolkits(void)
{
    if (!abi_of_toolkit[0].name)
        SKIP("no CUDA toolkit 13");
    for (size_t i = 0; ours[i].name; i++)
        if (!CHECK(ours[i].value == abi_of_toolkit[i].value))
            fprintf(stderr, "%s: %zu, in the toolkit %zu\n", ours[i].name, ours[i].value,
                    abi_of_toolkit[i].value);
}

/* From the toolkit 13.0: for machines without it. */
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "cudaDeviceProp");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "cudaMemcpy3DParms");
_Static_assert(sizeof(struct cudaGraphNodeParams) == 256, "cudaGraphNodeParams");
_Static_assert(sizeof(struct cudaPointerAttributes) == 88, "cudaPointerAttributes");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "cudaFuncAttributes");
_Static_assert(sizeof(struct cudaKernelNodeParams) == 56, "cudaKernelNodeParams");

int main(void)
{
    RUN(structures_are_the_toolkits);
    return test_done();
}
