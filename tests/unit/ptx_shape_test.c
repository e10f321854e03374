// SPDX-License-Identifier: Apache-2.0
/* Which path a kernel takes, what cuts it and what lives across the cuts. */
#include "fault.h"
#include "softcuda/ptx/compile.h"
#include "test.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) HEAD KERNEL_BODY(body)
#define KERNEL_BODY(body)                                                                \
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                               \
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<8>;\n"        \
    ".shared .align 4 .b8 s[128];\n"                                                     \
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"            \
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" body "\nret;\n}\n"

typedef struct unit {
    ptx_module *module;
    ptx_program *program;
    const ptx_kernel *kernel;
} unit;

static unit compile(const char *text, const ptx_compile_options *options)
{
    unit u = {0};
    gph_error error = {0};
    if (CHECK_OK(ptx_parse(text, strlen(text), NULL, &u.module, &error), error) &&
        CHECK_OK(ptx_compile(u.module, options, &u.program, &error), error))
        u.kernel = &u.program->kernels[0];
    return u;
}

static void drop(unit *u)
{
    ptx_program_destroy(u->program);
    ptx_module_destroy(u->module);
}

static bool has_cut(const ptx_kernel *k, const char *reason)
{
    for (uint32_t i = 0; i < k->cut_count; i++)
        if (strcmp(k->cuts[i].reason, reason) == 0)
            return true;
    return false;
}

/* The path, the number of cuts and of registers kept in arrays. */
static void expect(const char *text, ptx_path path, uint32_t cuts, uint32_t live)
{
    unit u = compile(text, NULL);
    if (u.kernel != NULL &&
        !CHECK(u.kernel->path == path && u.kernel->cut_count == cuts &&
               u.kernel->live_across_cuts == live))
        fprintf(stderr, "path %d, %u cuts, %u live: %s\n", u.kernel->path,
                u.kernel->cut_count, u.kernel->live_across_cuts,
                u.kernel->reason ? u.kernel->reason : "");
    drop(&u);
}

static void expect_slow(const char *text, const char *reason)
{
    unit u = compile(text, NULL);
    if (u.kernel != NULL && CHECK(u.kernel->path == PTX_PATH_SLOW)) {
        CHECK(u.kernel->reason != NULL && strstr(u.kernel->reason, reason) != NULL);
        CHECK(strncmp(u.kernel->reason, "line ", 5) == 0);
        CHECK(strstr(u.program->ir, "@\"t.k\"") != NULL);
    }
    drop(&u);
}

#define BARRIER "bar.sync 0;\n"
#define EARLY "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra END;\n"

static void plain_kernels_have_no_cut(void)
{
    expect(KERNEL("st.global.u32 [%rd3], %r2;"), PTX_PATH_FAST, 0, 0);
    expect(KERNEL(EARLY "st.global.u32 [%rd3], %r2;\nEND:"), PTX_PATH_FAST, 0, 0);
    /* a loop whose trips differ by thread and by data stays by thread */
    expect(KERNEL("ld.global.u32 %r3, [%rd3];\nL:\nadd.u32 %r3, %r3, -1;\n"
                  "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\nst.global.u32 [%rd3], %r3;"),
           PTX_PATH_FAST, 0, 0);
}

static void barriers_cut(void)
{
    /* %r3 was loaded: it needs an array; indices are computed again */
    expect(KERNEL("ld.global.u32 %r3, [%rd3];\n" BARRIER "st.global.u32 [%rd3], %r3;"),
           PTX_PATH_FAST, 1, 1);
    expect(KERNEL(BARRIER "st.global.u32 [%rd3], %r2;\n" BARRIER), PTX_PATH_FAST, 2, 0);
    /* threads that end early do not keep the others from a barrier */
    expect(KERNEL(EARLY BARRIER "st.global.u32 [%rd3], %r2;\nEND:"), PTX_PATH_FAST, 1, 0);
    /* under a condition that all threads share */
    expect(KERNEL("setp.eq.u32 %p1, %r1, 3;\n@%p1 bra END;\n" BARRIER "END:"),
           PTX_PATH_FAST, 1, 0);
}

static void uniform_loops_go_outside(void)
{
    static const char text[] =
        KERNEL("mov.u32 %r3, 0;\nmov.f32 %f1, 0f00000000;\nmov.u64 %rd4, %rd3;\nL:\n"
               "ld.global.f32 %f2, [%rd4];\nadd.f32 %f1, %f1, %f2;\n"
               "add.s64 %rd4, %rd4, 512;\nadd.u32 %r3, %r3, 1;\n"
               "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\nst.global.f32 [%rd3], %f1;");
    unit u = compile(text, NULL);
    /* the sum alone: the pointer is a base and a uniform offset */
    if (u.kernel != NULL) {
        CHECK(u.kernel->path == PTX_PATH_FAST && u.kernel->live_across_cuts == 1);
        CHECK(has_cut(u.kernel, "uniform loop"));
    }
    drop(&u);
}

static void strided_loops_run_in_lockstep(void)
{
    static const char text[] =
        KERNEL("mov.u32 %r3, %r2;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, 0;\n" EARLY "L:\n"
               "mul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
               "ld.global.u32 %r6, [%rd5];\nadd.u32 %r5, %r5, %r6;\n"
               "add.u32 %r3, %r3, %r4;\nsetp.lt.u32 %p2, %r3, %r1;\n@%p2 bra L;\n"
               "st.global.u32 [%rd3], %r5;\nEND:");
    unit u = compile(text, NULL);
    if (u.kernel != NULL) {
        CHECK(u.kernel->path == PTX_PATH_FAST);
        CHECK(has_cut(u.kernel, "lockstep loop"));
    }
    drop(&u);
}

/* The index itself moves on, and starts another loop before: no less an index. */
static void reused_indices_run_in_lockstep(void)
{
    static const char text[] =
        KERNEL("mov.u32 %r3, %r2;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, 0;\n" EARLY "A:\n"
               "add.u32 %r5, %r5, %r3;\nadd.u32 %r3, %r3, %r4;\n"
               "setp.lt.u32 %p2, %r3, %r1;\n@%p2 bra A;\nB:\n"
               "add.u32 %r5, %r5, %r2;\nadd.u32 %r2, %r2, %r4;\n"
               "setp.lt.u32 %p3, %r2, %r1;\n@%p3 bra B;\n"
               "st.global.u32 [%rd3], %r5;\nEND:");
    unit u = compile(text, NULL);
    if (u.kernel != NULL)
        CHECK(u.kernel->path == PTX_PATH_FAST && u.kernel->cut_count == 2);
    drop(&u);
}

static void warp_operations_stay_fast_under_conditions(void)
{
    expect(KERNEL("shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\nst.global.u32 [%rd3], %r3;"),
           PTX_PATH_FAST, 1, 2);
    unit u = compile(KERNEL("setp.gt.u32 %p1, %r2, 31;\n@%p1 bra END;\n"
                            "vote.sync.ballot.b32 %r3, %p1, -1;\n"
                            "st.global.u32 [%rd3], %r3;\nEND:"
                            "\nst.global.u32 [%rd3+4096], %r2;"),
                     NULL);
    if (u.kernel != NULL)
        CHECK(u.kernel->path == PTX_PATH_FAST &&
              has_cut(u.kernel, "vote.sync.ballot.b32"));
    drop(&u);
}

/* Sums rows of the block, or of the grid, and then by a shuffle and over a barrier. */
#define ROWS(step)                                                                       \
    KERNEL(                                                                              \
        "mov.u32 %r3, %r2;\nmov.u32 %r5, %ntid.x;\nmov.u32 %r6, %nctaid.x;\n"            \
        "mul.lo.s32 %r7, %r5, %r6;\nmov.f32 %f1, 0f00000000;\n"                          \
        "setp.ge.s32 %p1, %r3, %r1;\n@%p1 bra DONE;\nLOOP:\n"                            \
        "mul.wide.s32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"                        \
        "ld.global.f32 %f2, [%rd5];\nadd.f32 %f1, %f1, %f2;\n"                           \
        "add.s32 %r3, %r3, " step ";\nsetp.lt.s32 %p2, %r3, %r1;\n@%p2 bra LOOP;\n"      \
        "DONE:\nmov.b32 %r8, %f1;\nshfl.sync.bfly.b32 %r9, %r8, 16, 31, -1;\n" BARRIER   \
        "st.global.u32 [%rd3], %r9;")

static void rows_of_a_block_may_be_torn_by_its_warps(void)
{
    static const char *const texts[] = {ROWS("%r5"), ROWS("%r7")};
    for (int k = 0; k < 2; k++) {
        unit u = compile(texts[k], NULL);
        if (u.kernel != NULL)
            CHECK((strstr(u.program->ir, "@\"w.k\"") != NULL) == (k == 0));
        drop(&u);
    }
}

static void what_has_no_fast_form_is_slow(void)
{
    expect_slow(KERNEL("setp.gt.u32 %p1, %r2, 31;\n@%p1 bra J;\n" BARRIER
                       "J:\nst.global.u32 [%rd3], %r2;"),
                "a barrier that not all threads reach together");
    expect_slow(KERNEL("bar.sync 1, 64;"), "a named or partial barrier");
    expect_slow(KERNEL("L:\nld.acquire.gpu.global.u32 %r3, [%rd3];\n"
                       "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;"),
                "a loop in which a thread may wait for another");
    /* trying a compare-and-swap again is not waiting */
    expect(
        KERNEL("ld.global.u32 %r3, [%rd3];\nL:\nadd.u32 %r4, %r3, 1;\nmov.u32 %r5, %r3;\n"
               "atom.global.cas.b32 %r3, [%rd3], %r5, %r4;\n"
               "setp.ne.u32 %p1, %r3, %r5;\n@%p1 bra L;"),
        PTX_PATH_FAST, 0, 0);
}

static void the_slow_path_can_be_asked_for(void)
{
    const ptx_compile_options options = {.force_slow = 1};
    unit u = compile(KERNEL(BARRIER), &options);
    if (u.kernel != NULL)
        CHECK(u.kernel->path == PTX_PATH_SLOW && u.kernel->scratch_thread_bytes == 0);
    drop(&u);
}

static void kernels_are_described(void)
{
    unit u = compile(KERNEL("red.global.add.u32 [%rd3], %r2;\n" BARRIER), NULL);
    if (u.kernel != NULL) {
        const ptx_kernel *k = u.kernel;
        CHECK(strcmp(k->name, "k") == 0 && k->line == 4);
        CHECK(k->param_count == 2 && k->params[1].offset == 8 && k->param_bytes == 12);
        CHECK(k->static_shared_bytes == 128 && k->max_threads == 1024);
        CHECK(k->uses_atomics && k->uses_barrier && !k->uses_printf);
        CHECK(k->registers > 0 && k->registers <= 255);
    }
    drop(&u);
}

/* As on a GPU, which counts what the variables need; what a launch adds follows, aligned. */
static void shared_bytes_are_counted(void)
{
    unit u = compile(HEAD ".extern .shared .align 4 .b8 rest[];\n"
                          ".entry a()\n{\n.reg .b32 %r<2>;\n"
                          ".shared .align 4 .b8 s[40];\n"
                          "st.shared.u32 [s], 1;\nret;\n}\n"
                          ".entry b()\n{\n.reg .b32 %r<2>;\n"
                          ".shared .align 4 .b8 s[40];\n"
                          "st.shared.u32 [s], 1;\nst.shared.u32 [rest], 1;\nret;\n}\n",
                     NULL);
    if (u.kernel != NULL) {
        CHECK(u.kernel[0].static_shared_bytes == 40);
        CHECK(u.kernel[1].static_shared_bytes == 48);
    }
    drop(&u);
}

/* Mangled names of nested functions are longer than any buffer. */
static void calls_name_all_of_a_function(void)
{
    static const char format[] =
        HEAD ".func %s()\n{\nret;\n}\n.entry k()\n{\ncall %s, ();\nret;\n}\n";
    char name[1200], text[2600], called[1300];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text), format, name, name);
    snprintf(called, sizeof(called), "call i1 @\"f.%s\"(", name);
    unit u = compile(text, &(ptx_compile_options){.force_slow = true});
    if (u.kernel != NULL)
        CHECK(strstr(u.program->ir, called) != NULL);
    drop(&u);
}

static void one_bad_kernel_leaves_the_others(void)
{
    unit u = compile(HEAD ".visible .entry bad()\n{\n.reg .b32 %r<4>;\n"
                          "vset2.b32 %r1, %r2;\nret;\n}\n"
                          ".visible .entry good()\n{\nret;\n}\n",
                     NULL);
    if (u.kernel != NULL && CHECK(u.program->kernel_count == 2)) {
        CHECK(u.kernel[0].path == PTX_PATH_UNSUPPORTED);
        CHECK(strstr(u.kernel[0].reason, "line 7") &&
              strstr(u.kernel[0].reason, "vset2"));
        CHECK(u.kernel[1].path == PTX_PATH_FAST);
    }
    drop(&u);
}

#define FUNCTION(name, body)                                                             \
    ".func (.param .b32 r) " name "(.param .b32 a)\n{\n.reg .pred %p<2>;\n.reg .b32 "    \
    "%r<4>;\nld.param.b32 %r1, [a];\n" body "st.param.b32 [r], %r2;\nret;\n}\n"
#define CALL(name)                                                                       \
    "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\ncall (y), " name         \
    ", (x);\nld.param.b32 %r2, [y];\n}\n"
#define VOTE "setp.ne.u32 %p1, %r1, 0;\nvote.sync.ballot.b32 %r2, %p1, -1;\n"
#define STORE "st.global.u32 [%rd3], %r2;\n"
#define ROUNDS_OF_ITSELF(name, body)                                                     \
    ".func (.param .b32 r) " name "(.param .b32 a);\n" FUNCTION(                         \
        name, "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 0;\n@%p1 bra E;\n" body            \
              "sub.u32 %r1, %r1, 1;\n" CALL(name) "E:\n")

static void functions_with_cuts_are_put_in_place(void)
{
    expect(HEAD FUNCTION("f", VOTE) KERNEL_BODY(CALL("f") STORE), PTX_PATH_FAST, 1, 1);
    expect(HEAD FUNCTION("f", VOTE) FUNCTION("g", CALL("f"))
               KERNEL_BODY(CALL("g") STORE CALL("f") STORE),
           PTX_PATH_FAST, 2, 2);
    /* recursion of a function without cuts is not its caller's */
    expect(HEAD ROUNDS_OF_ITSELF("d", "") FUNCTION("f", VOTE CALL("d"))
               KERNEL_BODY(CALL("f") STORE),
           PTX_PATH_FAST, 1, 1);
}

static void what_cannot_be_put_in_place_is_slow(void)
{
    expect_slow(HEAD ROUNDS_OF_ITSELF("f", BARRIER) KERNEL_BODY(CALL("f")), "call of f");
    expect_slow(HEAD FUNCTION("f", VOTE) KERNEL_BODY(
                    "{\n.reg .b64 %a;\nmov.u64 %a, f;\n.param .b32 x;\n.param .b32 y;\n"
                    "st.param.b32 [x], %r1;\n"
                    "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                    "call (y), %a, (x), P;\n}\n"),
                "indirect call");
    /* the address of a parameter */
    expect_slow(HEAD FUNCTION("f", "{\n.reg .b64 %a;\nmov.u64 %a, a;\n"
                                   "ld.param.b32 %r1, [%a];\n}\n" VOTE)
                    KERNEL_BODY(CALL("f")),
                "call of f");
}

/* f0 calls f1 twice, f1 f2, ...: 2^24 copies of the last. */
static void too_much_is_not_put_in_place(void)
{
    static char text[1 << 16];
    size_t at = (size_t)sprintf(text, "%s", HEAD FUNCTION("f24", VOTE));
    for (int i = 23; i >= 0; i--) {
        at += (size_t)sprintf(text + at,
                              ".func (.param .b32 r) f%d(.param .b32 a)\n{\n.reg .b32 "
                              "%%r<4>;\nld.param.b32 %%r1, [a];\n",
                              i);
        for (int k = 0; k < 2; k++)
            at += (size_t)sprintf(text + at,
                                  "{\n.param .b32 x;\n.param .b32 y;\n"
                                  "st.param.b32 [x], %%r1;\ncall (y), f%d, (x);\n"
                                  "ld.param.b32 %%r2, [y];\n}\n",
                                  i + 1);
        at += (size_t)sprintf(text + at, "st.param.b32 [r], %%r2;\nret;\n}\n");
    }
    sprintf(text + at, "%s", KERNEL_BODY(CALL("f0")));
    expect_slow(text, "call of f0");
}

/* Each allocation of compiling the text fails in turn. */
static void sweep(const char *text)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    if (!CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error))
        return;
    for (long nth = 0; nth < 10000; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        const ptx_compile_options options = {.allocator = &allocator};
        ptx_program *program = NULL;
        const gph_status status = ptx_compile(module, &options, &program, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((program != NULL) == (status == GPH_OK));
        ptx_program_destroy(program);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            break;
    }
    ptx_module_destroy(module);
}

/* %r3 is the thread's index until a barrier, and something else after it: two registers,
 * of which the first is computed again. */
static const char two_meanings[] =
    KERNEL("mov.u32 %r3, %r2;\n" BARRIER "mul.wide.u32 %rd4, %r3, 8;\n"
           "add.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r3, [%rd5];\n"
           "st.global.u32 [%rd3], %r3;");

/* A row of a table is copied. Its number is loaded for all threads that have a part of it;
 * but after a store each thread keeps its own, which is taken to be the same in all: whether it
 * is is asked for. */
#define ROW_OF_A_TABLE(before)                                                           \
    KERNEL("mov.u32 %r6, %tid.x;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra END;\n"           \
           "mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %rd4, %r3, 4;\n" before                 \
           "add.s64 %rd4, %rd1, %rd4;\nld.global.u32 %r4, [%rd4];\n"                     \
           "mul.wide.s32 %rd5, %r4, %r1;\nmov.u32 %r5, %ntid.x;\nL:\n"                   \
           "cvt.s64.s32 %rd6, %r6;\nadd.s64 %rd6, %rd5, %rd6;\nshl.b64 %rd6, %rd6, 2;\n" \
           "add.s64 %rd7, %rd1, %rd6;\nld.global.f32 %f1, [%rd7];\n"                     \
           "st.global.f32 [%rd7], %f1;\nadd.s32 %r6, %r6, %r5;\n"                        \
           "setp.lt.s32 %p2, %r6, %r1;\n@%p2 bra L;\nEND:")
static const char row_of_a_table[] = ROW_OF_A_TABLE("");
static const char row_after_a_store[] = ROW_OF_A_TABLE("st.global.u32 [%rd3], %r6;\n");

static void meanings_get_registers_of_their_own(void)
{
    expect(two_meanings, PTX_PATH_FAST, 1, 0);
}

static void what_a_row_has_in_common_is_loaded_once(void)
{
    expect(row_of_a_table, PTX_PATH_FAST, 1, 0);
}

static void guessed_rows_are_asked_for(void)
{
    unit u = compile(row_after_a_store, NULL);
    if (u.kernel != NULL)
        CHECK(u.kernel->path == PTX_PATH_FAST &&
              strstr(u.program->ir, "call i1 @soft.row.") != NULL);
    drop(&u);
}

static void survives_every_failed_allocation(void)
{
    sweep(HEAD FUNCTION("f", VOTE) KERNEL_BODY(CALL(
        "f") "ld.global.f32 %f1, [%rd3];\nmov.u32 %r3, 0;\nL:\n"
             "shfl.sync.down.b32 %f2, %f1, 4, 31, -1;\nadd.f32 %f1, %f1, %f2;\n" BARRIER
             "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra L;\n"
             "st.global.f32 [%rd3], %f1;"));
    sweep(two_meanings);
    sweep(row_of_a_table);
}

static void expect_waits(const char *text, bool waits)
{
    unit u = compile(text, NULL);
    if (u.kernel != NULL && !CHECK(!u.kernel->uses_safepoints == !waits))
        fprintf(stderr, "%s\n", text);
    drop(&u);
}

#define ROUND(body) "mov.u32 %r3, 0;\nL:\n" body "@%p1 bra L;\n"
#define COUNT "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r1;\n"

/* Only where memory decides whether a loop goes on can a block wait for another. */
static void only_waiting_loops_need_a_stack(void)
{
    expect_waits(KERNEL("st.global.u32 [%rd3], %r2;"), false);
    expect_waits(KERNEL(ROUND(COUNT) "st.global.u32 [%rd3], %r3;"), false);
    /* what is added up does not decide, nor does a bound that was read before */
    expect_waits(
        KERNEL(ROUND("ld.global.u32 %r4, [%rd3];\nadd.u32 %r5, %r5, %r4;\n" COUNT)),
        false);
    expect_waits(KERNEL("ld.global.u32 %r1, [%rd3];\n" ROUND(COUNT)), false);
    expect_waits(KERNEL(ROUND("atom.global.add.u32 %r4, [%rd1], 1;\n" COUNT)), false);
    /* a branch on what was read, that meets again inside */
    expect_waits(KERNEL(ROUND("ld.global.u32 %r4, [%rd3];\nsetp.eq.u32 %p2, %r4, 0;\n"
                              "@%p2 bra M;\nadd.u32 %r5, %r5, 1;\nM:\n" COUNT)),
                 false);
    /* not counted, but made of registers alone */
    expect_waits(KERNEL("mov.u32 %r3, %r1;\nL:\nshr.u32 %r3, %r3, 1;\n"
                        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n"),
                 false);
    /* trying again until a compare-and-swap succeeds */
    expect_waits(
        KERNEL("ld.global.u32 %r3, [%rd3];\nL:\nmov.u32 %r4, %r3;\n"
               "add.u32 %r5, %r4, 1;\natom.global.cas.b32 %r3, [%rd3], %r4, %r5;\n"
               "setp.ne.u32 %p1, %r3, %r4;\n@%p1 bra L;\n"),
        false);

    expect_waits(KERNEL(ROUND("ld.volatile.global.u32 %r4, [%rd1];\n"
                              "setp.eq.u32 %p1, %r4, 0;\n")),
                 true);
    expect_waits(KERNEL(ROUND("ld.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p1, %r4, 0;\n")),
                 true);
    expect_waits(KERNEL(ROUND("atom.global.cas.b32 %r4, [%rd1], 0, 1;\n"
                              "setp.ne.u32 %p1, %r4, 0;\n")),
                 true);
    /* the value decides by way of a branch, through memory of the thread, or from within
     */
    expect_waits(KERNEL(ROUND("ld.global.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n"
                              "@%p2 bra M;\nmov.u32 %r3, 7;\nM:\n"
                              "setp.ne.u32 %p1, %r3, 7;\n")),
                 true);
    expect_waits(KERNEL(ROUND("ld.acquire.gpu.global.u32 %r4, [%rd1];\n"
                              "setp.ne.u32 %p2, %r4, 0;\n@%p2 bra END;\n"
                              "setp.eq.u32 %p1, %r1, %r1;\n") "END:\n"),
                 true);
}

int main(void)
{
    RUN(plain_kernels_have_no_cut);
    RUN(barriers_cut);
    RUN(only_waiting_loops_need_a_stack);
    RUN(uniform_loops_go_outside);
    RUN(strided_loops_run_in_lockstep);
    RUN(reused_indices_run_in_lockstep);
    RUN(warp_operations_stay_fast_under_conditions);
    RUN(rows_of_a_block_may_be_torn_by_its_warps);
    RUN(what_has_no_fast_form_is_slow);
    RUN(the_slow_path_can_be_asked_for);
    RUN(kernels_are_described);
    RUN(shared_bytes_are_counted);
    RUN(calls_name_all_of_a_function);
    RUN(one_bad_kernel_leaves_the_others);
    RUN(functions_with_cuts_are_put_in_place);
    RUN(what_cannot_be_put_in_place_is_slow);
    RUN(too_much_is_not_put_in_place);
    RUN(meanings_get_registers_of_their_own);
    RUN(what_a_row_has_in_common_is_loaded_once);
    RUN(guessed_rows_are_asked_for);
    RUN(survives_every_failed_allocation);
    return test_done();
}
