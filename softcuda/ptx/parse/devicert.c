// SPDX-License-Identifier: Apache-2.0
/* What CUDA's device library (libcudadevrt.a) gives grids, as PTX: numba's grid barrier
 * calls it. The barrier is the one that cooperative groups write into a kernel, on the
 * same word: each block adds 1 and the first block what is missing to 0x80000000, so the
 * top bit turns when all were there. */
#define _GNU_SOURCE
#include <string.h>

#include "base/heap.h"
#include "softcuda/ptx/link.h"

/* The workspace is in %envreg1 and 2, 0 without a cooperative launch; scope 1 is the grid.
 * Its second word counts. Without one a barrier is cudaErrorInvalidValue (1). */
static const char runtime[] =
    ".version 6.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"
    "{\n"
    "    .reg .pred %is_grid;\n"
    "    .reg .b32 %scope, %high, %low;\n"
    "    .reg .b64 %at;\n"
    "    ld.param.u32 %scope, [scope];\n"
    "    mov.u32 %high, %envreg1;\n"
    "    mov.u32 %low, %envreg2;\n"
    "    mov.b64 %at, {%low, %high};\n"
    "    setp.eq.u32 %is_grid, %scope, 1;\n"
    "    selp.b64 %at, %at, 0, %is_grid;\n"
    "    st.param.b64 [handle], %at;\n"
    "    ret;\n"
    "}\n"
    ".weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle,\n"
    "                                                  .param .b32 flags)\n"
    "{\n"
    "    .reg .pred %p, %is_first, %again;\n"
    "    .reg .b32 %x, %y, %z, %blocks, %add, %old, %now;\n"
    "    .reg .b64 %at;\n"
    "    ld.param.u64 %at, [handle];\n"
    "    setp.eq.u64 %p, %at, 0;\n"
    "    @%p bra no_grid;\n"
    "    fence.acq_rel.gpu;\n"
    "    barrier.sync 0;\n"
    "    mov.u32 %x, %tid.x;\n"
    "    mov.u32 %y, %tid.y;\n"
    "    mov.u32 %z, %tid.z;\n"
    "    or.b32 %x, %x, %y;\n"
    "    or.b32 %x, %x, %z;\n"
    "    setp.ne.u32 %p, %x, 0;\n"
    "    @%p bra all_there;\n"
    "    mov.u32 %x, %nctaid.x;\n"
    "    mov.u32 %y, %nctaid.y;\n"
    "    mov.u32 %z, %nctaid.z;\n"
    "    mul.lo.u32 %blocks, %x, %y;\n"
    "    mul.lo.u32 %blocks, %blocks, %z;\n"
    "    mov.u32 %x, %ctaid.x;\n"
    "    mov.u32 %y, %ctaid.y;\n"
    "    mov.u32 %z, %ctaid.z;\n"
    "    or.b32 %x, %x, %y;\n"
    "    or.b32 %x, %x, %z;\n"
    "    setp.eq.u32 %is_first, %x, 0;\n"
    "    sub.u32 %add, 0x80000001, %blocks;\n"
    "    selp.b32 %add, %add, 1, %is_first;\n"
    "    atom.add.u32 %old, [%at+4], %add;\n"
    "wait:\n"
    "    ld.volatile.u32 %now, [%at+4];\n"
    "    xor.b32 %now, %now, %old;\n"
    "    setp.ge.s32 %again, %now, 0;\n"
    "    @%again bra wait;\n"
    "    fence.acq_rel.gpu;\n"
    "all_there:\n"
    "    barrier.sync 0;\n"
    "    st.param.b32 [error], 0;\n"
    "    ret;\n"
    "no_grid:\n"
    "    st.param.b32 [error], 1;\n"
    "    ret;\n"
    "}\n";

static bool mentions(const char *text, size_t bytes, const char *word)
{
    return memmem(text, bytes, word, strlen(word)) != NULL;
}

bool ptx_holds_device_runtime(const char *text, size_t bytes)
{
    return mentions(text, bytes, "__CNPRT_VERSION_NUMBER__");
}

gph_status ptx_link_runtime(const ptx_link_input *input, const gph_allocator *allocator,
                            char **out, size_t *bytes, gph_error *error)
{
    *out = NULL;
    if ((!mentions(input->text, input->bytes, "cudaCGGetIntrinsicHandle") &&
         !mentions(input->text, input->bytes, "cudaCGSynchronize")) ||
        ptx_holds_device_runtime(input->text, input->bytes))
        return GPH_OK;
    const ptx_link_input both[] = {*input,
                                   {runtime, sizeof(runtime) - 1, "the device runtime"}};
    return ptx_link(both, 2, allocator, out, bytes, error);
}
