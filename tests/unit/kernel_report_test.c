// SPDX-License-Identifier: Apache-2.0
/* gph_softcuda_ptx_report(): what it says of kernels whose shape is known. */
#include <gph/softcuda.h>

#include "kernel_run.h"
#include "test.h"

static char ptx[1 << 20];
static size_t ptx_bytes;
static gph_error error;

static char *report(uint32_t flags)
{
    char *text = NULL;
    CHECK_OK(gph_softcuda_ptx_report(ptx, ptx_bytes, flags, &text, &error), error);
    return text != NULL ? text : calloc(1, 1);
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
    gph_softcuda_text_free(text);
}

static void the_slow_path_can_be_asked_for(void)
{
    char *text = report(GPH_PTX_REPORT_SLOW | GPH_PTX_REPORT_NO_JIT);
    CHECK(strstr(text, "slow path") && !strstr(text, "fast path"));
    CHECK(!strstr(text, "machine code"));
    gph_softcuda_text_free(text);
}

static void ir_and_assembly_come_on_request(void)
{
    char *plain = report(GPH_PTX_REPORT_NO_JIT);
    char *ir = report(GPH_PTX_REPORT_NO_JIT | GPH_PTX_REPORT_IR);
    char *code = report(GPH_PTX_REPORT_ASM);
    CHECK(!strstr(plain, "define ") && strstr(ir, "define "));
    CHECK(strstr(code, "ret"));
    gph_softcuda_text_free(plain);
    gph_softcuda_text_free(ir);
    gph_softcuda_text_free(code);
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
    gph_softcuda_text_free(text);
}

static void wrong_use_is_refused(void)
{
    char *text = NULL;
    CHECK(gph_softcuda_ptx_report(ptx, ptx_bytes, 1u << 20, &text, &error) ==
          GPH_E_INVALID);
    CHECK(gph_softcuda_ptx_report(NULL, 10, 0, &text, &error) == GPH_E_INVALID);
    CHECK(gph_softcuda_ptx_report(ptx, 0, 0, &text, &error) == GPH_E_INVALID);
    CHECK(gph_softcuda_ptx_report(ptx, ptx_bytes, 0, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_softcuda_ptx_report(ptx, ptx_bytes / 2, 0, &text, &error) == GPH_E_FORMAT);
    CHECK(error.code == GPH_E_FORMAT && strstr(error.message, "line "));
    CHECK(gph_softcuda_ptx_report(ptx, ptx_bytes / 2, 0, &text, NULL) == GPH_E_FORMAT);
    CHECK(gph_softcuda_ptx_report("\177ELF\2\1\1", 8, 0, &text, &error) == GPH_E_FORMAT);
    CHECK(text == NULL);
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
    RUN(the_slow_path_can_be_asked_for);
    RUN(ir_and_assembly_come_on_request);
    RUN(json_has_the_same);
    RUN(wrong_use_is_refused);
    return test_done();
}
