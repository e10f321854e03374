// SPDX-License-Identifier: Apache-2.0
/* Indices that several loops share: what is known of them before the loops, and accesses
 * that are rows where all threads made as many rounds. Shuffles by registers that are always
 * one number. Conversions at the edges of whole numbers. */
#include <math.h>

#include "kernel_run.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#include <gph/softcuda.h>

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body)                                                                     \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"        \
         ".reg .pred %p<8>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<8>;\n"  \
         ".shared .align 4 .b8 s[4096];\n"                                               \
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r5, [n];\n" \
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.y;\n"           \
         "mad.lo.s32 %r4, %r3, %r2, %r1;\nmul.wide.u32 %rd3, %r4, 4;\n"                  \
         "add.s64 %rd4, %rd1, %rd3;\nmov.u32 %r20, 0;\n" body                            \
         "st.global.u32 [%rd4], %r20;\nret;\n}\n"

/* A loop over in[i], i = `start`, + 64 ..., as nvcc unrolls it: first what is left over of
 * rounds of four. It is not the same as in those, or both would be one loop
 * (kernel_reroll_test). */
#define UNROLLED(start)                                                                  \
    start "setp.ge.s32 %p1, %r10, %r5;\n@%p1 bra DONE;\nnot.b32 %r11, %r10;\n"           \
          "add.s32 %r11, %r11, %r5;\nshr.u32 %r12, %r11, 6;\nadd.s32 %r12, %r12, 1;\n"   \
          "and.b32 %r13, %r12, 3;\nsetp.eq.s32 %p2, %r13, 0;\n@%p2 bra MAIN;\n"          \
          "REST:\nmul.wide.s32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"              \
          "ld.global.u32 %r21, [%rd6];\nmad.lo.s32 %r20, %r20, 5, %r21;\n"               \
          "add.s32 %r10, %r10, 64;\nadd.s32 %r13, %r13, -1;\n"                           \
          "setp.ne.s32 %p3, %r13, 0;\n@%p3 bra REST;\nMAIN:\n"                           \
          "setp.lt.u32 %p4, %r11, 192;\n@%p4 bra DONE;\nFOUR:\n"                         \
          "mul.wide.s32 %rd7, %r10, 4;\nadd.s64 %rd8, %rd2, %rd7;\n"                     \
          "ld.global.u32 %r21, [%rd8];\nmad.lo.s32 %r20, %r20, 3, %r21;\n"               \
          "ld.global.u32 %r22, [%rd8+256];\nmad.lo.s32 %r20, %r20, 3, %r22;\n"           \
          "ld.global.u32 %r23, [%rd8+512];\nmad.lo.s32 %r20, %r20, 3, %r23;\n"           \
          "ld.global.u32 %r24, [%rd8+768];\nmad.lo.s32 %r20, %r20, 3, %r24;\n"           \
          "add.s32 %r10, %r10, 256;\nsetp.lt.s32 %p5, %r10, %r5;\n@%p5 bra FOUR;\n"      \
          "DONE:\n"
#define SHUFFLE(distance)                                                                \
    "mov.u32 %r30, " distance ";\nmov.u32 %r31, 31;\nmov.u32 %r32, -1;\n"                \
    "shfl.sync.bfly.b32 %r33|%p6, %r20, %r30, %r31, %r32;\nadd.s32 %r20, %r20, %r33;\n"

#define REPORT_BYTES 16384u
static gph_error error;

static const struct {
    const char *name, *text;
    bool rows;  /* there is a copy for them */
    bool whole; /* a shuffle wants all lanes of a warp */
} kernels[] = {
    {"the thread's index", KERNEL(UNROLLED("mov.u32 %r10, %r1;\n")), true, false},
    {"by warps", KERNEL(UNROLLED("and.b32 %r10, %r1, 31;\n") SHUFFLE("8")), true, true},
    {"backwards", KERNEL(UNROLLED("sub.s32 %r10, 63, %r1;\n")), true, false},
    {"every other word", KERNEL(UNROLLED("shl.b32 %r10, %r1, 1;\n")), true, false},
    {"a start from memory",
     KERNEL(UNROLLED("ld.global.u32 %r10, [%rd4];\nand.b32 %r10, %r10, 63;\n")), false,
     false},
    {"a start that no step leads to",
     KERNEL(UNROLLED("mul.lo.s32 %r10, %r1, %r1;\nand.b32 %r10, %r10, 63;\n")), false,
     false},
    {"past the edges",
     KERNEL("setp.eq.s32 %p1, %r1, %r5;\nsetp.eq.s32 %p2, %r3, 1;\n"
            "or.pred %p3, %p1, %p2;\n@%p3 bra END;\nld.global.u32 %r20, [%rd4];\n"
            "add.s32 %r20, %r20, 5;\nEND:\n"),
     false, false},
    {"where two values are not the same",
     KERNEL("sub.s32 %r10, %r5, 40;\nsetp.ne.s32 %p1, %r1, %r10;\n@!%p1 bra END;\n"
            "ld.global.u32 %r20, [%rd4];\nEND:\n"),
     false, false},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static char *ir_of(const char *text, bool checks)
{
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    const ptx_compile_options options = {.check_memory = checks};
    char *ir = NULL;
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, &options, &program, &error), error))
        ir = strdup(program->ir);
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    return ir;
}

static void has_a_copy_for_rows_where_it_can(void)
{
    for (size_t k = 0; k < KERNELS; k++) {
        char *ir = ir_of(kernels[k].text, false);
        if (!CHECK(ir && (strstr(ir, ".row:\n") != NULL) == kernels[k].rows))
            fprintf(stderr, "%s\n", kernels[k].name);
        CHECK(ir && (kernels[k].rows || !strstr(ir, ".full:\n"))); /* nor is it asked */
        free(ir);
        ir = ir_of(kernels[k].text, true);
        CHECK(ir &&
              strstr(ir, ".row:\n") == NULL); /* each access is asked for by itself */
        free(ir);
    }
}

static gph_status append(void *user, const void *text, size_t bytes)
{
    char *said = user;
    if (strlen(said) + bytes < REPORT_BYTES)
        strncat(said, text, bytes);
    return GPH_OK;
}

static unsigned line_of(const char *text, const char *word)
{
    unsigned line = 1;
    for (const char *end = strstr(text, word); end && text < end; text++)
        line += *text == '\n';
    return line;
}

/* The rest of a loop's rounds and its rounds of four, by the lines where they begin. */
static void the_report_names_the_copies(void)
{
    char said[REPORT_BYTES], wanted[64];
    const char *heads[] = {"mul.wide.s32 %rd5", "mul.wide.s32 %rd7"};
    for (size_t k = 0; k < KERNELS; k++) {
        const char *text = kernels[k].text;
        for (int json = 0; json < 2; json++) {
            said[0] = '\0';
            CHECK_OK(gph_softcuda_report_write(text, strlen(text),
                                               GPH_PTX_REPORT_NO_JIT |
                                                   (json ? GPH_PTX_REPORT_JSON : 0u),
                                               append, said, &error),
                     error);
            if (json)
                CHECK((strstr(said, "\"rows\": []") == NULL) == kernels[k].rows);
            else
                CHECK((strstr(said, "copy of rows") != NULL) == kernels[k].rows);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        const char *text = kernels[0].text;
        said[0] = '\0';
        CHECK_OK(gph_softcuda_report_write(text, strlen(text), GPH_PTX_REPORT_NO_JIT,
                                           append, said, &error),
                 error);
        snprintf(wanted, sizeof(wanted),
                 "copy of rows at line %u: ", line_of(text, heads[i]));
        if (!CHECK(strstr(said, wanted) != NULL))
            fprintf(stderr, "%s%s", wanted, said);
    }
}

#define WORDS 4096
static void run_pair(kernel_unit *pair[2], const char *name, const uint32_t shape[3],
                     uint32_t n)
{
    static uint32_t in[WORDS], out[2][WORDS];
    for (int path = 0; path < 2; path++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            in[i] = i * 2654435761u;
            out[path][i] = i * 7;
        }
        const struct {
            void *out, *in;
            uint32_t n;
        } params = {out[path], in, n};
        const kernel_call call = {.name = "k", .block = {shape[0], shape[1], shape[2]}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    if (!CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0))
        fprintf(stderr, "%s, block %u x %u x %u, n %u\n", name, shape[0], shape[1],
                shape[2], n);
}

static void gives_what_the_slow_path_gives(void)
{
    static const uint32_t shapes[][3] = {{64, 1, 1}, {32, 2, 1}, {33, 1, 1}, {31, 2, 1}};
    enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
    static const uint32_t counts[] = {0, 1, 63, 64, 65, 256, 300, 1000, 1024};
    for (size_t k = 0; k < KERNELS; k++) {
        kernel_unit *pair[2] = {kernel_open(kernels[k].text, KERNEL_FAST, &error),
                                kernel_open(kernels[k].text, KERNEL_SLOW, &error)};
        if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
            for (size_t i = 0; i < (kernels[k].whole ? 2 : SHAPES); i++)
                for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
                    run_pair(pair, kernels[k].name, shapes[i], counts[n]);
        kernel_close(pair[0]);
        kernel_close(pair[1]);
    }
}

/* Between barriers the index is used, in a loop after them it is a counter. */
#define SHARED "shl.b32 %r6, %r10, 2;\nmov.u32 %r7, s;\nadd.s32 %r8, %r7, %r6;\n"
#define SUM(n, bytes)                                                                    \
    "bar.sync 0;\nsetp.ge.s32 %p1, %r10, " n ";\n@%p1 bra A" n ";\n"                     \
    "ld.shared.u32 %r21, [%r8];\nld.shared.u32 %r22, [%r8+" bytes "];\n"                 \
    "add.s32 %r21, %r21, %r22;\nst.shared.u32 [%r8], %r21;\nA" n ":\n"
static const char reused[] =
    KERNEL("mov.u32 %r10, %r1;\n" SHARED "st.shared.u32 [%r8], %r10;\n" SUM("16", "64")
               SUM("8", "32") "bar.sync 0;\nL:\nadd.s32 %r20, %r20, %r10;\n"
                              "add.s32 %r10, %r10, 64;\nsetp.lt.s32 %p5, %r10, %r5;\n"
                              "@%p5 bra L;\n");

static uint32_t arrays_of(const char *text)
{
    ptx_module *module = NULL;
    ptx_program *program = NULL;
    uint32_t count = UINT32_MAX;
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error) &&
        CHECK_OK(ptx_compile(module, NULL, &program, &error), error))
        count = program->kernels[0].live_across_cuts;
    ptx_program_destroy(program);
    ptx_module_destroy(module);
    return count;
}

static void an_index_that_is_a_counter_later_is_kept_in_no_array(void)
{
    /* the sum alone: the loop goes from round to round */
    CHECK(arrays_of(reused) == 1);
    static const uint32_t shape[] = {64, 1, 1};
    kernel_unit *pair[2] = {kernel_open(reused, KERNEL_FAST, &error),
                            kernel_open(reused, KERNEL_SLOW, &error)};
    if (CHECK_OK(pair[0] && pair[1] ? GPH_OK : GPH_E_INVALID, error))
        for (uint32_t n = 0; n < 300; n += 37)
            run_pair(pair, "reused", shape, n);
    kernel_close(pair[0]);
    kernel_close(pair[1]);
}

static void shuffles_by_a_number_in_a_register_are_constant(void)
{
    char *ir = ir_of(KERNEL(SHUFFLE("4")), false);
    CHECK(ir && strstr(ir, "ptr %warp.b\n") == NULL);
    free(ir);
    ir = ir_of(KERNEL("mov.u32 %r30, %r5;\nmov.u32 %r31, 31;\nmov.u32 %r32, -1;\n"
                      "shfl.sync.bfly.b32 %r33, %r4, %r30, %r31, %r32;\n"
                      "mov.u32 %r20, %r33;\n"),
               false);
    CHECK(ir && strstr(ir, "ptr %warp.b\n") != NULL); /* only the launch knows it */
    free(ir);
}

/* ---- conversions -------------------------------------------------------------------- */

static const char convert[] =
    HEAD ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b16 %h<4>;\n"
         ".reg .b32 %r<12>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<2>;\n.reg .f64 %d<2>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
         "ld.global.f32 %f1, [%rd4];\nmul.wide.u32 %rd5, %r1, 28;\n"
         "add.s64 %rd6, %rd1, %rd5;\ncvt.rzi.s32.f32 %r2, %f1;\n"
         "cvt.rzi.u32.f32 %r3, %f1;\ncvt.rzi.s8.f32 %r4, %f1;\n"
         "cvt.rzi.u8.f32 %r5, %f1;\ncvt.rzi.s16.f32 %h1, %f1;\ncvt.s32.s16 %r6, %h1;\n"
         "cvt.rzi.u16.f32 %h2, %f1;\ncvt.u32.u16 %r7, %h2;\ncvt.f64.f32 %d1, %f1;\n"
         "cvt.rni.s32.f64 %r8, %d1;\nst.global.u32 [%rd6], %r2;\n"
         "st.global.u32 [%rd6+4], %r3;\nst.global.u32 [%rd6+8], %r4;\n"
         "st.global.u32 [%rd6+12], %r5;\nst.global.u32 [%rd6+16], %r6;\n"
         "st.global.u32 [%rd6+20], %r7;\nst.global.u32 [%rd6+24], %r8;\nret;\n}\n";

/* What a number is in the bounds of a type, and 0 for a NaN. */
static uint32_t clamped(double x, double least, double most)
{
    if (isnan(x))
        return 0;
    x = trunc(x);
    return (uint32_t)(int64_t)(x < least ? least : x > most ? most : x);
}

static void conversions_saturate(void)
{
    static const float in[] = {0,          -0.0f,          1.5f,
                               -1.5f,      127.9f,         128,
                               -128.5f,    -129,           255.5f,
                               256,        32767.5f,       32768,
                               -32769,     65535.5f,       65536,
                               0x1p31f,    0x1.fffffep30f, -0x1p31f,
                               -0x1.2p31f, 0x1p32f,        0x1.fffffep31f,
                               1e30f,      -1e30f,         1e-40f,
                               INFINITY,   -INFINITY,      NAN};
    enum { COUNT = sizeof(in) / sizeof(in[0]) };
    static uint32_t out[COUNT][7];
    kernel_unit *unit = kernel_open(convert, KERNEL_FAST, &error);
    const struct {
        void *out;
        const void *in;
    } params = {out, in};
    const kernel_call call = {.name = "k", .block = {COUNT}};
    if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        return;
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    for (int i = 0; i < COUNT; i++) {
        const double x = in[i];
        const uint32_t want[] = {clamped(x, INT32_MIN, INT32_MAX),
                                 clamped(x, 0, UINT32_MAX),
                                 clamped(x, -128, 127),
                                 clamped(x, 0, 255),
                                 clamped(x, -32768, 32767),
                                 clamped(x, 0, 65535),
                                 isnan(x) ? 0x80000000u
                                          : clamped(rint(x), INT32_MIN, INT32_MAX)};
        for (int k = 0; k < 7; k++)
            if (!CHECK(out[i][k] == want[k]))
                fprintf(stderr, "%g, conversion %d: %x, not %x\n", x, k, out[i][k],
                        want[k]);
    }
    kernel_close(unit);
}

int main(void)
{
    RUN(has_a_copy_for_rows_where_it_can);
    RUN(the_report_names_the_copies);
    RUN(gives_what_the_slow_path_gives);
    RUN(an_index_that_is_a_counter_later_is_kept_in_no_array);
    RUN(shuffles_by_a_number_in_a_register_are_constant);
    RUN(conversions_saturate);
    return test_done();
}
