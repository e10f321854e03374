// SPDX-License-Identifier: Apache-2.0
/* The runtime's structures, as the toolkit lays them out. */
#include "abi_list.h"
#include "softcuda/runtime/types.h"
#include "test.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const abi_row ours[] = ABI_ROWS;

static void structures_are_the_toolkits(void)
{
    if (!abi_of_toolkit[0].name)
        SKIP("no headers of CUDA " TEXT(RT_MAJOR));
    for (size_t i = 0; ours[i].name; i++)
        if (!CHECK(ours[i].value == abi_of_toolkit[i].value))
            fprintf(stderr, "%s: %zu, in the toolkit %zu\n", ours[i].name, ours[i].value,
                    abi_of_toolkit[i].value);
}

/* From the toolkits 13.0 and 12.9: for machines without them. */
_Static_assert(sizeof(struct cudaDeviceProp) == (RT_MAJOR == 12 ? 1032 : 1008),
               "cudaDeviceProp");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "cudaMemcpy3DParms");
_Static_assert(sizeof(struct cudaGraphNodeParams) == 256, "cudaGraphNodeParams");
_Static_assert(sizeof(struct cudaPointerAttributes) == (RT_MAJOR == 12 ? 24 : 88),
               "cudaPointerAttributes");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "cudaFuncAttributes");
_Static_assert(sizeof(struct cudaKernelNodeParams) == 56, "cudaKernelNodeParams");

int main(void)
{
    RUN(structures_are_the_toolkits);
    return test_done();
}
