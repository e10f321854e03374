// SPDX-License-Identifier: Apache-2.0
/* How many kernels of the corpus take the fast path, and why the others do not. Fails
 * below 90 %. `corpus_share --shares` also prints what the kernels use. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/ptx/compile.h"

enum { BARRIER, ATOMIC, SHUFFLE, VOTE, USES };
static const char *const use_names[] = {"barriers", "atomics", "shuffles", "votes"};

static unsigned kernel_count, fast_count, used_by[USES];

static int use_of(const ptx_insn *insn)
{
    switch (insn->opcode) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return ptx_has(insn, PTX_MOD_WARP) ? -1 : BARRIER;
    case PTX_OP_ATOM:
    case PTX_OP_RED: return ATOMIC;
    case PTX_OP_SHFL: return SHUFFLE;
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_ACTIVEMASK: return VOTE;
    default: return -1;
    }
}

static void count_uses(const ptx_module *module)
{
    for (uint32_t f = 0; f < module->function_count; f++) {
        const ptx_function *function = &module->functions[f];
        bool uses[USES] = {false};
        for (uint32_t i = 0; function->is_entry && i < function->insn_count; i++) {
            const int use = use_of(&function->insns[i]);
            if (use >= 0)
                uses[use] = true;
        }
        for (int use = 0; use < USES; use++)
            used_by[use] += uses[use];
    }
}

static char *read_text(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    if (file == NULL || text == NULL) {
        perror(path);
        exit(1);
    }
    *bytes = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static void add_file(const char *path)
{
    size_t bytes;
    char *text = read_text(path, &bytes);
    const char *base = strrchr(path, '/') + 1;
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    gph_error error = {0};
    if (ptx_parse(text, bytes, NULL, &module, &error) != GPH_OK ||
        ptx_compile(module, NULL, &program, &error) != GPH_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        exit(1);
    }
    count_uses(module);
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        const ptx_kernel *kernel = &program->kernels[i];
        kernel_count++;
        fast_count += kernel->path == PTX_PATH_FAST;
        if (kernel->path != PTX_PATH_FAST)
            printf("%s: %s: %s: %s\n", base, kernel->name,
                   kernel->path == PTX_PATH_SLOW ? "slow" : "unsupported",
                   kernel->reason ? kernel->reason : "no reason given");
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    free(text);
}

int main(int count, char **words)
{
    glob_t found;
    if (glob(CORPUS_PTX "/*.ptx", 0, NULL, &found) != 0) {
        fprintf(stderr, "no PTX in %s\n", CORPUS_PTX);
        return 1;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_file(found.gl_pathv[i]);
    globfree(&found);
    printf("%u of %u kernels take the fast path (%.1f %%)\n", fast_count, kernel_count,
           100.0 * fast_count / kernel_count);
    for (int use = 0; count > 1 && strcmp(words[1], "--shares") == 0 && use < USES; use++)
        printf("%-8s %3u (%.1f %%)\n", use_names[use], used_by[use],
               100.0 * used_by[use] / kernel_count);
    return 10 * fast_count >= 9 * kernel_count ? 0 : 1;
}
