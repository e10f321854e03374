// SPDX-License-Identifier: Apache-2.0
/* Any bytes as PTX, compiled to LLVM IR on both paths: a kernel is compiled or called
 * unsupported with a reason, and nothing crashes. Whether the IR is right is not asked.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/ptx/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compile(const ptx_module *module, uint32_t force_slow)
{
    const ptx_compile_options options = {.force_slow = force_slow,
                                         .check_memory = force_slow};
    ptx_program *program = NULL;
    gph_error error = {0};
    if (ptx_compile(module, &options, &program, &error) != GPH_OK) {
        fprintf(stderr, "ptx_compile: %s\n", error.message);
        abort();
    }
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (program->kernels[i].path == PTX_PATH_UNSUPPORTED &&
            program->kernels[i].reason == NULL)
            abort();
    ptx_program_destroy(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ptx_module *module = NULL;
    if (ptx_parse((const char *)data, size, NULL, &module, NULL) != GPH_OK)
        return 0;
    compile(module, 0);
    compile(module, 1);
    ptx_module_destroy(module);
    return 0;
}
