// SPDX-License-Identifier: Apache-2.0
/* gph_softcuda_report_write(): what it says of kernels whose shape is known. */
#include <gph/softcuda.h>

#include "kernel_run.h"
#include "test.h"

static char ptx[1 << 20];
static size_t ptx_bytes;
static gph_error error;

enum { TEXT_MAX = 16 << 20 };

static char *report(uint32_t flags)
{
    gph_buffer to = {malloc(TEXT_MAX), TEXT_MAX, 0};
    to.text[0] = '\0';
    CHECK_OK(
        gph_softcuda_report_write(ptx, ptx_bytes, flags, gph_write_buffer, &to, &error),
        error);
    CHECK(to.length < TEXT_MAX);
    return to.text;
}

/* The part of the text about one kernel. */
static char *about(const char *text, const char *name)
{
    char head[64];
    snprintf(head, sizeof(head), "kernel %s (", name);
    const char *from = strstr(text, head);
    if (!CHECK(from != NULL))
        return calloc(1, 1);
    const char *to = strstr(from + 1, "\nkernel ");
    return strndup(from, to != NULL ? (size_t)(to - from) : strlen(from));
}

static void it_says_path_cuts_and_vectors(void)
{
    char *text = report(0);
    char *one = about(text, "gemv");
    CHECK(strstr(one, "fast path") && strstr(one, "cut at line"));
    CHECK(strstr(one, "vectors of ") && strstr(one, "registers live across cuts"));
    free(one);
    one = about(text, "empty");
    CHECK(strstr(one, "fast path") && strstr(one, "no vectors in loops"));
    free(one);
    one = about(text, "matmul_tiled");
    CHECK(strstr(one, "bar.sync") && strstr(one, "shared 2048"));
    free(one);
    free(text);
}

/* The line of the first instruction of the text that begins so. */
static unsigned line_of(const char *text, const char *insn)
{
    const char *at = strstr(text, insn);
    unsigned line = 1;
    for (const char *c = text; at && c < at; c++)
        line += *c == '\n';
    return line;
}

/* A load side by side, one of every eighth number, one by data; a store side by side. */
static void it_says_what_is_slow_by_line(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
        "ld.global.u32 %r2, [%rd3];\nshl.b32 %r3, %r1, 3;\n"
        "mul.wide.u32 %rd4, %r3, 4;\nadd.u64 %rd5, %rd1, %rd4;\n"
        "ld.global.u32 %r4, [%rd5];\nmul.wide.u32 %rd6, %r2, 4;\n"
        "add.u64 %rd7, %rd1, %rd6;\nld.global.u32 %r5, [%rd7];\n"
        "add.u32 %r6, %r4, %r5;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";
    char eighth[128], data[128];
    memcpy(ptx, text, sizeof(text));
    ptx_bytes = sizeof(text) - 1;
    char *said = report(GPH_PTX_REPORT_NO_JIT);
    snprintf(eighth, sizeof(eighth),
             "slow at line %u: gather: 32 bytes from thread to thread, for 4 bytes\n",
             line_of(text, "ld.global.u32 %r4"));
    snprintf(data, sizeof(data), "slow at line %u: gather: the address is not",
             line_of(text, "ld.global.u32 %r5"));
    CHECK(strstr(said, eighth) && strstr(said, data));
    const char *first = strstr(said, "slow at");
    CHECK(first && strncmp(first, eighth, 12) == 0 && !strstr(said, "scatter"));
    free(said);
    said = report(GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_JSON);
    CHECK(strstr(said, "\"costs\": [{\"line\": ") && strstr(said, "\"by_warps\": false"));
    CHECK(strstr(said, "\"long_rows\": false"));
    free(said);
}

/* Where threads know their place in the grid, but not their block. */
static void it_says_that_blocks_are_run_as_one_row(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
        "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\n"
        "mul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
        "st.global.u32 [%rd3], %r4;\nret;\n}\n";
    memcpy(ptx, text, sizeof(text));
    ptx_bytes = sizeof(text) - 1;
    char *said = report(GPH_PTX_REPORT_NO_JIT);
    CHECK(strstr(said, "blocks that follow each other are run as one long row"));
    free(said);
    said = report(GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_JSON);
    CHECK(strstr(said, "\"long_rows\": true"));
    free(said);
}

/* Its regions are functions of their own. */
static void large_kernels_are_read_whole(void)
{
    char text[8192];
    char *of = calloc(1, TEXT_MAX);
    size_t at = (size_t)sprintf(
        text, "%s",
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n"
        ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n");
    for (int i = 0; i < 40; i++)
        at += (size_t)sprintf(text + at,
                              "ld.global.u32 %%r2, [%%rd1];\nadd.u32 %%r2, %%r2, %d;\n"
                              "st.global.u32 [%%rd1], %%r2;\nbar.sync 0;\n",
                              i);
    at += (size_t)sprintf(text + at, "ret;\n}\n");
    gph_buffer to = {of, TEXT_MAX, 0};
    CHECK_OK(gph_softcuda_report_write(text, at, GPH_PTX_REPORT_ASM, gph_write_buffer,
                                       &to, &error),
             error);
    CHECK(strstr(of, "vectors of ") && strstr(of, "b.k.R"));
    free(of);
}

static void the_slow_path_can_be_asked_for(void)
{
    char *text = report(GPH_PTX_REPORT_SLOW | GPH_PTX_REPORT_NO_JIT);
    CHECK(strstr(text, "slow path") && !strstr(text, "fast path"));
    CHECK(!strstr(text, "machine code"));
    free(text);
}

static void ir_and_assembly_come_on_request(void)
{
    char *plain = report(GPH_PTX_REPORT_NO_JIT);
    char *ir = report(GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_IR);
    char *code = report(GPH_PTX_REPORT_ASM);
    CHECK(!strstr(plain, "define ") && strstr(ir, "define "));
    CHECK(strstr(code, "ret"));
    free(plain);
    free(ir);
    free(code);
}

/* Brackets and quotes balance; nothing more is looked at. */
static bool is_balanced(const char *json)
{
    int depth = 0;
    bool quoted = false;
    for (; *json != '\0'; json++) {
        if (quoted && *json == '\\')
            json++;
        else if (*json == '"')
            quoted = !quoted;
        else if (!quoted && (*json == '{' || *json == '['))
            depth++;
        else if (!quoted && (*json == '}' || *json == ']'))
            depth--;
        if (depth < 0)
            return false;
    }
    return depth == 0 && !quoted;
}

static void json_has_the_same(void)
{
    char *text = report(GPH_PTX_REPORT_JSON | GPH_PTX_REPORT_ASM | GPH_PTX_REPORT_IR);
    CHECK(is_balanced(text));
    CHECK(strstr(text, "\"name\": \"gemv\"") && strstr(text, "\"path\": \"fast\""));
    CHECK(strstr(text, "\"vector_bits\": ") && strstr(text, "\"assembly\": \""));
    free(text);
}

static void wrong_use_is_refused(void)
{
    gph_buffer to = {0};
    CHECK(gph_softcuda_report_write(ptx, ptx_bytes, 1u << 20, gph_write_buffer, &to,
                                    &error) == GPH_E_INVALID);
    CHECK(gph_softcuda_report_write(NULL, 10, 0, gph_write_buffer, &to, &error) ==
          GPH_E_INVALID);
    CHECK(gph_softcuda_report_write(ptx, 0, 0, gph_write_buffer, &to, &error) ==
          GPH_E_INVALID);
    CHECK(gph_softcuda_report_write(ptx, ptx_bytes, 0, NULL, NULL, &error) ==
          GPH_E_INVALID);
    CHECK(gph_softcuda_report_write(ptx, ptx_bytes / 2, 0, gph_write_buffer, &to,
                                    &error) == GPH_E_FORMAT);
    CHECK(error.code == GPH_E_FORMAT && strstr(error.message, "line "));
    CHECK(gph_softcuda_report_write(ptx, ptx_bytes / 2, 0, gph_write_buffer, &to, NULL) ==
          GPH_E_FORMAT);
    CHECK(gph_softcuda_report_write("\177ELF\2\1\1", 8, 0, gph_write_buffer, &to,
                                    &error) == GPH_E_FORMAT);
    CHECK(to.length == 0);
}

int main(void)
{
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
    FILE *file = fopen(KERNEL_BENCH_PTX, "r");
    ptx_bytes = file != NULL ? fread(ptx, 1, sizeof(ptx) - 1, file) : 0;
    if (ptx_bytes == 0)
        return 1;
    fclose(file);
    RUN(it_says_path_cuts_and_vectors);
    RUN(large_kernels_are_read_whole);
    RUN(the_slow_path_can_be_asked_for);
    RUN(ir_and_assembly_come_on_request);
    RUN(json_has_the_same);
    RUN(wrong_use_is_refused);
    RUN(it_says_what_is_slow_by_line);
    RUN(it_says_that_blocks_are_run_as_one_row);
    return test_done();
}
