// SPDX-License-Identifier: Apache-2.0
/* PTX text to results, without the driver API, on both paths; and what ends a kernel. */
#include "kernel_run.h"
#include "test.h"

#include <unistd.h>

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static gph_error error;

/* out[i] = a * in[i] + out[i] for i < n */
static const char saxpy[] = PTX_HEAD
    ".visible .entry saxpy(.param .u64 out, .param .u64 in, .param .f32 a, .param .u32 "
    "n)\n"
    "{\n.reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.f32 %f1, [a];\n"
    "ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra DONE;\n"
    "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
    "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"
    "ld.global.f32 %f2, [%rd7];\nld.global.f32 %f3, [%rd6];\n"
    "fma.rn.f32 %f4, %f1, %f2, %f3;\nst.global.f32 [%rd6], %f4;\nDONE:\nret;\n}\n";

/* out[block] = sum of the block's thread numbers, through shared memory and shuffles */
static const char reduce[] =
    PTX_HEAD ".visible .entry reduce(.param .u64 out)\n{\n"
             ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.shared .align 4 "
             ".b8 part[128];\n"
             "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %r1;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 16, 31, -1;\nadd.s32 %r2, %r2, %r3;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1;\nadd.s32 %r2, %r2, %r3;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 4, 31, -1;\nadd.s32 %r2, %r2, %r3;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 2, 31, -1;\nadd.s32 %r2, %r2, %r3;\n"
             "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nadd.s32 %r2, %r2, %r3;\n"
             "and.b32 %r4, %r1, 31;\nsetp.ne.s32 %p1, %r4, 0;\nshr.u32 %r5, %r1, 5;\n"
             "shl.b32 %r6, %r5, 2;\nmov.u32 %r7, part;\nadd.s32 %r8, %r7, %r6;\n"
             "@%p1 bra SKIP;\nst.shared.u32 [%r8], %r2;\nSKIP:\nbar.sync 0;\n"
             "setp.ne.s32 %p2, %r1, 0;\n@%p2 bra DONE;\n"
             "mov.u32 %r9, 0;\nmov.u32 %r10, %ntid.x;\nshr.u32 %r10, %r10, 5;\nmov.u32 "
             "%r11, part;\n"
             "LOOP:\nld.shared.u32 %r12, [%r11];\nadd.s32 %r9, %r9, %r12;\nadd.s32 %r11, "
             "%r11, 4;\n"
             "sub.s32 %r10, %r10, 1;\nsetp.ne.s32 %p3, %r10, 0;\n@%p3 bra LOOP;\n"
             "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r13, %ctaid.x;\nmul.wide.u32 "
             "%rd3, %r13, 4;\n"
             "add.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r9;\nDONE:\nret;\n}\n";

/* Globals with initial values, one of them an address. */
static const char globals[] =
    PTX_HEAD ".visible .global .align 4 .u32 counter = 40;\n"
             ".const .align 4 .u32 step = 2;\n"
             ".visible .global .align 8 .u64 where = counter;\n"
             ".visible .entry bump()\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
             "ld.global.u64 %rd1, [where];\nld.const.u32 %r1, [step];\n"
             "atom.global.add.u32 %r2, [%rd1], %r1;\nret;\n}\n";

static const char endings[] = PTX_HEAD
    ".visible .entry wild(.param .u64 at)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [at];\nmov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
    ".visible .entry stop()\n{\ntrap;\nret;\n}\n"
    ".visible .entry forever(.param .u64 flag)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [flag];\nL:\nld.volatile.global.u32 %r1, "
    "[%rd1];\n"
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;\n}\n";

static const int paths[] = {KERNEL_FAST, KERNEL_SLOW};

static void saxpy_gives_the_same_on_both_paths(void)
{
    enum { N = 1000 };
    static float out[2][1024], in[1024];
    for (int path = 0; path < 2; path++) {
        kernel_unit *unit = kernel_open(saxpy, paths[path], &error);
        if (!CHECK_OK(unit == NULL, error))
            return;
        CHECK(kernel_about(unit, "saxpy")->path == (ptx_path)paths[path]);
        for (int i = 0; i < 1024; i++) {
            in[i] = (float)i;
            out[path][i] = 1;
        }
        const struct {
            void *out, *in;
            float a;
            uint32_t n;
        } params = {out[path], in, 3, N};
        const kernel_call call = {.name = "saxpy", .grid = {8}, .block = {128}};
        CHECK_OK(kernel_run(unit, &call, &params, &error), error);
        for (int i = 0; i < 1024; i++)
            CHECK(out[path][i] == (i < N ? 3 * (float)i + 1 : 1));
        kernel_close(unit);
    }
}

static void a_reduction_gives_the_same_on_both_paths(void)
{
    for (int path = 0; path < 2; path++) {
        kernel_unit *unit = kernel_open(reduce, paths[path], &error);
        if (!CHECK_OK(unit == NULL, error))
            return;
        uint32_t out[20] = {0};
        void *params = out;
        const kernel_call call = {.name = "reduce", .grid = {20}, .block = {256}};
        CHECK_OK(kernel_run(unit, &call, &params, &error), error);
        for (int i = 0; i < 20; i++)
            CHECK(out[i] == 255 * 256 / 2);
        kernel_close(unit);
    }
}

static void globals_have_their_initial_values(void)
{
    for (int path = 0; path < 2; path++) {
        kernel_unit *unit = kernel_open(globals, paths[path], &error);
        if (!CHECK_OK(unit == NULL, error))
            return;
        const uint32_t *counter = kernel_global(unit, "counter");
        CHECK(soft_code_global_count(unit->code) == 3);
        CHECK(counter != NULL && *counter == 40);
        const kernel_call call = {.name = "bump", .block = {32}};
        CHECK_OK(kernel_run(unit, &call, NULL, &error), error);
        CHECK(*counter == 40 + 64);
        kernel_close(unit);
    }
}

static void a_kernel_that_ends_badly_ends_alone(void)
{
    for (int path = 0; path < 2; path++) {
        kernel_unit *unit = kernel_open(endings, paths[path], &error);
        if (!CHECK_OK(unit == NULL, error))
            return;
        uint64_t address = 0x1000;
        kernel_call call = {.name = "wild", .grid = {3}, .block = {32}};
        CHECK(kernel_run(unit, &call, &address, &error) == SOFT_ERROR_ILLEGAL_ADDRESS);
        CHECK(unit->fault.address == 0x1000 && strstr(error.message, "wild") != NULL);
        call.name = "stop";
        CHECK(kernel_run(unit, &call, NULL, &error) == SOFT_ERROR_LAUNCH_FAILED);
        static uint32_t flag;
        address = (uint64_t)(uintptr_t)&flag;
        call.name = "forever";
        unit->timeout_ns = 20000000;
        CHECK(kernel_run(unit, &call, &address, &error) == SOFT_ERROR_LAUNCH_TIMEOUT);
        kernel_close(unit);
    }
}

/* Rounds that are counted: nobody waits for anybody, and yet somebody may be in a hurry.
 */
static void a_counted_loop_meets_the_time_limit(void)
{
    static const char text[] =
        PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n"
                 ".reg .pred %p<2>; .reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
                 "ld.param.u64 %rd1, [out];\nmov.u64 %rd2, 0;\nmov.u32 %r1, %tid.x;\n"
                 "L:\nmul.lo.u32 %r1, %r1, 1664525;\nxor.b32 %r1, %r1, 12345;\n"
                 "add.u64 %rd2, %rd2, 1;\nsetp.lt.u64 %p1, %rd2, 0x10000000000;\n"
                 "@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
                 ".visible .entry one(.param .u64 out)\n{\n"
                 ".reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\n"
                 "st.global.u32 [%rd1], 1;\nret;\n}\n";
    for (int path = 0; path < 2; path++)
        for (uint32_t blocks = 1; blocks <= 9; blocks += 4) {
            kernel_unit *unit = kernel_open(text, paths[path], &error);
            if (!CHECK_OK(unit == NULL, error))
                return;
            uint32_t out = 0;
            const uint64_t address = (uint64_t)(uintptr_t)&out;
            kernel_call call = {.name = "k", .grid = {blocks}, .block = {64}};
            unit->timeout_ns = 20000000;
            CHECK(kernel_run(unit, &call, &address, &error) == SOFT_ERROR_LAUNCH_TIMEOUT);
            CHECK(strstr(error.message, "SOFTCUDA_KERNEL_TIMEOUT_MS") != NULL);
            call.name = "one";
            CHECK_OK(kernel_run(unit, &call, &address, &error), error);
            CHECK(out == 1);
            kernel_close(unit);
        }
}

#define STRIDE(name, type)                                                               \
    ".visible .entry " name "(.param .u64 out, .param .u32 from, .param .u32 n, "        \
    ".param .u32 step)\n{\n"                                                             \
    ".reg .pred %p<3>; .reg .b64 %rd<4>; .reg .b32 %r<9>;\n"                             \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [from];\nld.param.u32 %r2, [n];\n"     \
    "ld.param.u32 %r3, [step];\nmov.u32 %r4, %tid.x;\nmul.wide.u32 %rd2, %r4, 4;\n"      \
    "add.s64 %rd1, %rd1, %rd2;\nadd.s32 %r5, %r1, %r4;\nmov.u32 %r6, 0;\n"               \
    "setp.ge." type " %p1, %r5, %r2;\n@%p1 bra E;\n"                                     \
    "L:\nmad.lo.u32 %r6, %r6, 31, %r5;\nadd.s32 %r5, %r5, %r3;\n"                        \
    "setp.lt." type " %p2, %r5, %r2;\n@%p2 bra L;\n"                                     \
    "E:\nst.global.u32 [%rd1], %r6;\nbar.sync 0;\nret;\n}\n"

typedef struct stride_params {
    uint64_t out;
    uint32_t from, n, step;
} stride_params;

/* What a thread gets; false if it goes round too often for a test. */
static bool stride_expected(const stride_params *p, uint32_t thread, bool is_signed,
                            uint32_t *out)
{
    uint32_t i = p->from + thread, sum = 0;
    for (int rounds = 0; rounds < 3000; rounds++, i += p->step) {
        if (is_signed ? (int32_t)i >= (int32_t)p->n : i >= p->n) {
            *out = sum;
            return true;
        }
        sum = sum * 31 + i;
    }
    return false;
}

static void stride_once(kernel_unit *unit, bool is_signed, stride_params p)
{
    uint32_t out[96], expected[96];
    p.out = (uint64_t)(uintptr_t)out;
    for (uint32_t t = 0; t < 96; t++)
        if (!stride_expected(&p, t, is_signed, &expected[t]))
            return;
    const kernel_call call = {.name = is_signed ? "s" : "u", .block = {96}};
    if (CHECK_OK(kernel_run(unit, &call, &p, &error), error) &&
        !CHECK(memcmp(out, expected, sizeof(out)) == 0))
        fprintf(stderr, "%s from %x n %x step %x\n", call.name, p.from, p.n, p.step);
}

/* Several rounds at once end where single ones do, at the edges of the numbers, too. */
static void strided_loops_make_every_round(void)
{
    static const char text[] = PTX_HEAD STRIDE("u", "u32") STRIDE("s", "s32");
    static const uint32_t edges[] = {0,          1,          95,         96,
                                     0x7fffff00, 0x7fffffff, 0x80000000, 0x80000060,
                                     0xffffff00, 0xffffffff};
    static const uint32_t steps[] = {1,          96,         97,         1000,
                                     0x10000000, 0x15555555, 0x15555556, 0x40000000,
                                     0x60000001, 0xffffffa0};
    kernel_unit *unit = kernel_open(text, 0, &error);
    if (!CHECK_OK(unit == NULL, error))
        return;
    for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++)
        for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++)
            for (uint32_t more = 0; more < 12; more++) {
                const uint32_t far = more * steps[s] + more % 3 * 40;
                stride_once(unit, false,
                            (stride_params){0, edges[e], edges[e] + far, steps[s]});
                stride_once(unit, true,
                            (stride_params){0, edges[e], edges[e] + far, steps[s]});
            }
    kernel_close(unit);
}

static void *refuse(void *user, uint64_t address, uint64_t bytes, bool write,
                    char *reason, size_t room)
{
    (void)user;
    (void)bytes;
    (void)write;
    snprintf(reason, room, "it is not yours");
    return address % 4096 != 0 ? (void *)(uintptr_t)address : NULL;
}

static void checked_accesses_ask_first(void)
{
    for (int path = 0; path < 2; path++) {
        kernel_unit *unit = kernel_open(endings, paths[path] | KERNEL_CHECK, &error);
        if (!CHECK_OK(unit == NULL, error))
            return;
        unit->check = refuse;
        uint64_t address = 0x5000;
        const kernel_call call = {.name = "wild", .block = {4}};
        CHECK(kernel_run(unit, &call, &address, &error) == SOFT_ERROR_ILLEGAL_ADDRESS);
        CHECK(strstr(error.message, "it is not yours") != NULL);
        address = 0x5001;
        CHECK(kernel_run(unit, &call, &address, &error) == SOFT_ERROR_MISALIGNED_ADDRESS);
        kernel_close(unit);
    }
}

static void bad_ptx_says_where(void)
{
    kernel_unit *unit =
        kernel_open(PTX_HEAD ".visible .entry k()\n{\n  bogus %r1;\n", 0, &error);
    CHECK(unit == NULL && error.code == SOFT_ERROR_INVALID_PTX);
    CHECK(strstr(error.message, "line ") != NULL);
    kernel_close(unit);
}

static void the_cache_spares_the_compiler(void)
{
    char folder[] = "/tmp/kernel_run_XXXXXX", command[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    setenv("SOFTCUDA_CACHE", folder, 1);
    for (int round = 0; round < 3; round++) {
        kernel_unit *unit =
            kernel_open(round == 2 ? reduce : saxpy, KERNEL_CACHE, &error);
        if (CHECK_OK(unit == NULL, error))
            CHECK(soft_code_was_cached(unit->code) == (round == 1));
        kernel_close(unit);
    }
    unsetenv("SOFTCUDA_CACHE");
    snprintf(command, sizeof(command), "rm -r %s", folder);
    CHECK(system(command) == 0);
}

int main(void)
{
    RUN(saxpy_gives_the_same_on_both_paths);
    RUN(a_reduction_gives_the_same_on_both_paths);
    RUN(globals_have_their_initial_values);
    RUN(a_kernel_that_ends_badly_ends_alone);
    RUN(a_counted_loop_meets_the_time_limit);
    RUN(strided_loops_make_every_round);
    RUN(checked_accesses_ask_first);
    RUN(bad_ptx_says_where);
    RUN(the_cache_spares_the_compiler);
    return test_done();
}
