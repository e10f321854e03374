// SPDX-License-Identifier: Apache-2.0
/* Large kernels are cut where nothing asks for it: they have many regions, no carry and no
 * call is cut apart, and both tiers give the bytes of the slow path. */
#include "kernel_run.h"
#include "test.h"

#define HEAD                                                                             \
    ".version 7.0\n.target sm_80\n.address_size 64\n"                                    \
    ".func (.param .b32 out) mix(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<4>;\n"   \
    "ld.param.u32 %r1, [a];\nld.param.u32 %r2, [b];\nmad.lo.u32 %r3, %r1, 5, %r2;\n"     \
    "st.param.b32 [out], %r3;\nret;\n}\n"
#define BLOCK 96

static gph_error error;

/* Of every kind of instruction that can be cut apart, in pieces; `only`: straight code of
 * that length. */
static char *make_kernel(uint32_t pieces, uint32_t only)
{
    char *text = malloc(2000 + 900 * (size_t)pieces + 60 * (size_t)only);
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(
        text,
        "%s.visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<4>;\n"
        ".reg .b32 %%r<30>;\n.reg .f32 %%f<4>;\n.reg .b64 %%rd<8>;\n"
        "ld.param.u64 %%rd1, [p];\nld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%tid.x;\n"
        "mul.wide.u32 %%rd2, %%r2, 4;\nadd.s64 %%rd1, %%rd1, %%rd2;\n"
        "mov.u32 %%r3, %%r2;\nmov.u32 %%r4, 7;\ncvt.rn.f32.u32 %%f1, %%r2;\n",
        HEAD);
    for (uint32_t i = 0; i < only; i++)
        at += (size_t)sprintf(text + at, "mad.lo.u32 %%r%u, %%r%u, 1664525, %u;\n",
                              3 + i % 2, 4 - i % 2, i);
    for (uint32_t i = 0; i < pieces; i++)
        at += (size_t)sprintf(
            text + at,
            "add.cc.u32 %%r5, %%r3, 0x%x;\nfma.rn.f32 %%f1, %%f1, 0f3F800001, %%f1;\n"
            "addc.cc.u32 %%r4, %%r4, %%r3;\naddc.u32 %%r6, %%r4, 0;\n"
            "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 o;\nst.param.b32 [a], %%r5;\n"
            "xor.b32 %%r7, %%r6, %%r3;\nst.param.b32 [b], %%r7;\n"
            "call (o), mix, (a, b);\nld.param.b32 %%r8, [o];\n}\n"
            "and.b32 %%r9, %%r8, %u;\nsetp.eq.u32 %%p1, %%r9, 0;\n@%%p1 bra M%u;\n"
            "mad.lo.u32 %%r3, %%r8, 3, %%r9;\nst.global.u32 [%%rd1], %%r3;\n"
            "M%u:\nxor.b32 %%r3, %%r3, %%r8;\nmov.u32 %%r10, 0;\n",
            0x80000000u + i * 77, 1u << i % 5, i, i);
    sprintf(text + at,
            "mov.b32 %%r11, %%f1;\nxor.b32 %%r3, %%r3, %%r11;\n"
            "xor.b32 %%r3, %%r3, %%r4;\nst.global.u32 [%%rd1], %%r3;\nret;\n}\n");
    return text;
}

#define LOOP ", !llvm.loop !"      /* over threads */
#define CALL " = call i1 @\"b.k.R" /* of a region's function */
#define FUNCTION "define internal i1 @\"b.k.R"

/* How often the IR of a kernel has this. */
static uint32_t count_of(const char *what, const char *text)
{
    uint32_t count = 0;
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error)) {
        CHECK(program->kernels[0].path == PTX_PATH_FAST);
        for (const char *at = program->ir; (at = strstr(at, what)) != NULL; at++)
            count++;
    }
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    return count;
}

static void regions_are_bounded_where_nothing_cuts(void)
{
    char *small = make_kernel(0, 900), *large = make_kernel(0, 4000);
    CHECK(count_of(LOOP, small) == 1);
    const uint32_t regions = count_of(LOOP, large);
    CHECK(regions >= 6 && regions <= 20);
    free(small);
    free(large);
}

static void run(int path, uint32_t tier, const char *text, uint32_t *out)
{
    const struct {
        void *out;
        uint32_t n;
    } params = {out, 3};
    const kernel_call call = {.name = "k", .block = {BLOCK}};
    setenv("SOFTCUDA_TIER", tier == SOFT_TIER_QUICK ? "quick" : "best", 1);
    kernel_unit *unit = kernel_open(text, path, &error);
    if (CHECK(unit != NULL)) {
        CHECK_OK(kernel_run(unit, &call, &params, &error), error);
        CHECK(kernel_about(unit, "k")->path ==
              (path == KERNEL_SLOW ? PTX_PATH_SLOW : PTX_PATH_FAST));
    }
    kernel_close(unit);
}

static void paths_and_tiers_agree(void)
{
    static uint32_t slow[BLOCK], best[BLOCK], quick[BLOCK], lazy[BLOCK];
    char *text = make_kernel(150, 300);
    CHECK(count_of(LOOP, text) > 1);
    run(KERNEL_SLOW, SOFT_TIER_BEST, text, slow);
    run(KERNEL_FAST, SOFT_TIER_BEST, text, best);
    run(KERNEL_FAST, SOFT_TIER_QUICK, text, quick);
    run(KERNEL_SLOW, SOFT_TIER_QUICK, text, lazy);
    CHECK(memcmp(best, slow, sizeof(best)) == 0);
    CHECK(memcmp(quick, slow, sizeof(quick)) == 0);
    CHECK(memcmp(lazy, slow, sizeof(lazy)) == 0);
    CHECK(slow[0] != 0 && slow[0] != slow[1]);
    free(text);
}

/* Steps that differ by their registers alone: eight kinds, however many there are. With
 * `more` that is not 0 by constants, too. */
static char *make_steps(uint32_t steps, uint32_t more)
{
    char *text = malloc(3000 + 400 * (size_t)steps);
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(
        text,
        ".version 7.0\n.target sm_80\n.address_size 64\n.shared .b32 s[%u];\n"
        ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<4>;\n"
        ".reg .b32 %%r<30>;\n.reg .b64 %%rd<8>;\nld.param.u64 %%rd1, [p];\n"
        "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\n"
        "add.s64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r2, s;\nshl.b32 %%r3, %%r1, 2;\n"
        "add.u32 %%r3, %%r3, %%r2;\nxor.b32 %%r4, %%r3, 60;\n",
        BLOCK);
    for (uint32_t i = 0; i < 8; i++)
        at += (size_t)sprintf(text + at, "mad.lo.u32 %%r%u, %%r1, %u, %u;\n", 10 + i,
                              i + 3, i * i);
    for (uint32_t i = 0; i < steps; i++)
        at += (size_t)sprintf(
            text + at,
            "st.shared.u32 [%%r3], %%r%u;\nbar.sync 0;\nld.shared.u32 %%r5, [%%r4];\n"
            "bar.sync 0;\nadd.u32 %%r5, %%r5, %u;\nst.global.u32 [%%rd1+%u], %%r5;\n"
            "mad.lo.u32 %%r%u, %%r5, %u, %%r%u;\n",
            10 + i % 8, 3 + i * more, i * more % 7 * 4096, 10 + (i + 3) % 8,
            1664525 + 2 * i * more, 10 + i * 5 % 8);
    for (uint32_t i = 1; i < 8; i++)
        at += (size_t)sprintf(text + at, "xor.b32 %%r10, %%r10, %%r%u;\n", 10 + i);
    sprintf(text + at, "st.global.u32 [%%rd1], %%r10;\nret;\n}\n");
    return text;
}

#define OUT_WORDS (8u * 1024u)

static void check_paths(const char *text)
{
    static uint32_t slow[OUT_WORDS], best[OUT_WORDS], quick[OUT_WORDS];
    run(KERNEL_SLOW, SOFT_TIER_BEST, text, slow);
    run(KERNEL_FAST, SOFT_TIER_BEST, text, best);
    run(KERNEL_FAST, SOFT_TIER_QUICK, text, quick);
    CHECK(memcmp(best, slow, sizeof(best)) == 0);
    CHECK(memcmp(quick, slow, sizeof(quick)) == 0);
    CHECK(slow[0] != 0 && slow[0] != slow[1]);
}

static void regions_that_do_the_same_have_one_function(void)
{
    char *text = make_steps(100, 0);
    CHECK(count_of(CALL, text) > 200);
    CHECK(count_of(FUNCTION, text) < 20);
    check_paths(text);
    free(text);
}

/* Of one function in quick code (jit_split_test), and of several objects. */
static void regions_that_differ_by_constants_agree(void)
{
    char *text = make_steps(80, 1);
    CHECK(count_of(FUNCTION, text) > 75);
    check_paths(text);
    free(text);
}

int main(void)
{
    RUN(regions_that_do_the_same_have_one_function);
    RUN(regions_that_differ_by_constants_agree);
    RUN(regions_are_bounded_where_nothing_cuts);
    RUN(paths_and_tiers_agree);
    return test_done();
}
