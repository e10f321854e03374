// SPDX-License-Identifier: Apache-2.0
/* Kernels of very many instructions: what is written for LLVM grows with them and no
 * faster, and no function of it grows with them; they give on the fast path what they
 * give on the slow one. */
#include "kernel_run.h"
#include "test.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define BLOCK 96

static gph_error error;

/* A sum by thread over pieces: each a loop, a shuffle in a divergent branch and a
 * barrier. */
static char *make_kernel(uint32_t pieces)
{
    char *text = malloc(1000 + 700 * (size_t)pieces);
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(
        text,
        HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<4>;\n"
             ".reg .b32 %%r<%u>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
             "ld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%tid.x;\nmul.wide.u32 %%rd2, %%r2, "
             "4;\nadd.s64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r3, %%r2;\n",
        20 + 2 * pieces);
    for (uint32_t i = 0; i < pieces; i++)
        at += (size_t)sprintf(
            text + at,
            "mov.u32 %%r4, 0;\nL%u:\nmad.lo.u32 %%r3, %%r3, 1664525, %%r4;\n"
            "add.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, %%r1;\n@%%p1 bra L%u;\n"
            "mov.u32 %%r%u, %%r3;\nsetp.gt.u32 %%p2, %%r2, %u;\n@%%p2 bra M%u;\n"
            "shfl.sync.bfly.b32 %%r5, %%r3, %u, 31, -1;\nadd.u32 %%r3, %%r3, %%r5;\n"
            "M%u:\nst.global.u32 [%%rd1], %%r3;\nbar.sync 0;\n",
            i, i, 20 + i, 32 * (i % 3) + 31, i, 1 + i % 31, i);
    for (uint32_t i = 0; i < pieces; i += pieces / 10)
        at += (size_t)sprintf(text + at, "xor.b32 %%r3, %%r3, %%r%u;\n", 20 + i);
    sprintf(text + at, "st.global.u32 [%%rd1], %%r3;\nret;\n}\n");
    return text;
}

typedef struct sizes {
    size_t all, part; /* bytes of IR, and of the longest function but the kernel's own */
} sizes;

static sizes measure(uint32_t pieces)
{
    sizes found = {0, 0};
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    char *text = make_kernel(pieces);
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        CHECK(program->kernels[0].path == PTX_PATH_FAST);
        found.all = program->ir_bytes;
        for (const char *at = program->ir; (at = strstr(at, "\ndefine ")) != NULL;) {
            const char *end = strstr(at, "\n}");
            if (strncmp(at, "\ndefine void @\"b.k\"", 19) != 0 && end != NULL &&
                (size_t)(end - at) > found.part)
                found.part = (size_t)(end - at);
            at++;
        }
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    free(text);
    return found;
}

static void code_grows_with_the_kernel(void)
{
    const sizes few = measure(100), many = measure(1000);
    CHECK(many.all < 12 * few.all);
    CHECK(many.part < few.part + 1000);
}

static void run(int path, const char *text, uint32_t *out)
{
    const struct {
        void *out;
        uint32_t n;
    } params = {out, 3};
    const kernel_call call = {.name = "k", .block = {BLOCK}};
    kernel_unit *unit = kernel_open(text, path, &error);
    if (CHECK(unit != NULL)) {
        CHECK_OK(kernel_run(unit, &call, &params, &error), error);
        CHECK(kernel_about(unit, "k")->path ==
              (path == KERNEL_SLOW ? PTX_PATH_SLOW : PTX_PATH_FAST));
    }
    kernel_close(unit);
}

static void paths_agree(void)
{
    static uint32_t fast[BLOCK], slow[BLOCK];
    char *text = make_kernel(40);
    run(KERNEL_FAST, text, fast);
    run(KERNEL_SLOW, text, slow);
    CHECK(memcmp(fast, slow, sizeof(fast)) == 0);
    CHECK(fast[0] != 0 && fast[0] != fast[1]);
    free(text);
}

/* More blocks and registers than the plan has room for. */
static void what_is_too_large_to_cut_is_slow(void)
{
    const uint32_t pieces = 12000;
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    char *text = make_kernel(pieces);
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        CHECK(program->kernels[0].path == PTX_PATH_SLOW);
        CHECK(strstr(program->kernels[0].reason, "too large to be cut") != NULL);
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    free(text);
}

int main(void)
{
    RUN(code_grows_with_the_kernel);
    RUN(paths_agree);
    RUN(what_is_too_large_to_cut_is_slow);
    return test_done();
}
