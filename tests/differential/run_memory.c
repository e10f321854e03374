// SPDX-License-Identifier: Apache-2.0
/* The runner's graph memory: frees, attributes, trims. */
#include "run.h"

static void attribute(const int32_t *a, struct answer *out)
{
    cuuint64_t value = 0;
    out->code =
        (int32_t)cu.cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)a[0], &value);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, (int32_t)(value >> 10));
}

void run_memory_step(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    cuuint64_t value = (cuuint64_t)a[1];
    switch (step->op) {
    case OP_MEM_FREE:
        if (run.buffers[BUFFER_ALLOC + a[0]] == 0)
            out->code = SKIPPED;
        else
            out->code = (int32_t)cu.cuMemFree(run.buffers[BUFFER_ALLOC + a[0]]);
        return;
    case OP_MEM_ATTRIBUTE: attribute(a, out); return;
    case OP_MEM_SET_ATTRIBUTE:
        out->code = (int32_t)cu.cuDeviceSetGraphMemAttribute(
            0, (CUgraphMem_attribute)a[0], &value);
        return;
    default: out->code = (int32_t)cu.cuDeviceGraphMemTrim(a[0]); return;
    }
}
