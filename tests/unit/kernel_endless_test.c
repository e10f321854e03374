// SPDX-License-Identifier: Apache-2.0
/* Kernels that run forever, or for longer than anybody waits: the time limit ends each
 * of them on both paths, whatever they do. */
#include "kernel_run.h"
#include "test.h"

#include <unistd.h>

#define LIMIT_NS 20000000u
#define PATIENCE_S 30u /* for one kernel, on a busy machine and under a sanitizer */

#define HEAD                                                                             \
    ".version 7.8\n.target sm_80\n.address_size 64\n"                                    \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"             \
    ".extern .func (.param .b64 p) malloc(.param .b64 n);\n"                             \
    ".extern .func free(.param .b64 p);\n.global .align 4 .u32 word;\n"
#define KERNEL(body)                                                                     \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<16>;\n"        \
    ".reg .b64 %rd<16>;\n.shared .align 8 .b8 s[64];\n"                                  \
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"        \
    "add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r2, 0;\nmov.u64 %rd3, 0;\n" body "\nret;\n}\n"
#define FUNCTION(name, body)                                                             \
    ".func (.param .b32 r) " name "(.param .b32 a)\n{\n.reg .pred %p<4>;\n"              \
    ".reg .b32 %r<8>;\n.reg .b64 %rd<2>;\nld.param.b32 %r1, [a];\n" body                 \
    "st.param.b32 [r], %r2;\nret;\n}\n"
#define PROTOTYPE(name) ".func (.param .b32 r) " name "(.param .b32 a);\n"
#define CALL(name)                                                                       \
    "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\ncall (y), " name         \
    ", (x);\nld.param.b32 %r2, [y];\n}\n"
#define STORE "st.global.u32 [%rd2], %r2;\n"
#define FOR_EVER "setp.ne.s64 %p1, %rd1, 0;\n@%p1 bra L;\n" /* the parameter is not 0 */
#define COUNT_TO_2_62                                                                    \
    "add.s64 %rd3, %rd3, 1;\nsetp.lt.u64 %p1, %rd3, 0x4000000000000000;\n@%p1 bra L;\n"
#define ROUND "mad.lo.u32 %r2, %r2, 1664525, %r1;\n"

typedef struct endless {
    const char *name, *text;
    uint32_t grid[3], threads; /* 0: 64 */
} endless;

static const endless kernels[] = {
    {"a jump to itself", HEAD KERNEL("L:\nbra L;"), {2}, 0},
    {"an empty counted loop", HEAD KERNEL("L:\n" COUNT_TO_2_62), {2}, 0},
    {"a counted loop", HEAD KERNEL("L:\n" ROUND COUNT_TO_2_62 STORE), {2}, 0},
    {"a counted loop that writes", HEAD KERNEL("L:\n" ROUND STORE COUNT_TO_2_62), {2}, 0},
    {"one block of 1024", HEAD KERNEL("L:\n" ROUND COUNT_TO_2_62 STORE), {1}, 1024},
    {"one thread of many",
     HEAD KERNEL("setp.ne.u32 %p2, %r1, 3;\n@%p2 bra E;\nL:\n" ROUND "bra L;\nE:\n"),
     {2},
     0},
    {"rounds that differ by thread",
     HEAD KERNEL("cvt.u64.u32 %rd3, %r1;\nL:\n" ROUND COUNT_TO_2_62 STORE),
     {2},
     0},
    {"a step of nothing",
     HEAD KERNEL("ld.global.u32 %r3, [%rd1];\nmov.u32 %r4, %r1;\nL:\nmul.wide.u32 %rd4, "
                 "%r4, 4;\nadd.s64 %rd4, %rd1, %rd4;\nld.global.u32 %r5, [%rd4];\n"
                 "add.u32 %r2, %r2, %r5;\nadd.u32 %r4, %r4, %r3;\n"
                 "setp.lt.u32 %p1, %r4, 64;\n@%p1 bra L;\n" STORE),
     {2},
     0},
    {"a loop in a loop",
     HEAD KERNEL(
         "L:\nmov.u32 %r3, 0;\nM:\nmad.lo.u32 %r2, %r2, %r1, %r3;\n"
         "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, %r1;\n@%p2 bra M;\n" COUNT_TO_2_62
             STORE),
     {2},
     0},
    {"a long loop in a short one",
     HEAD KERNEL(
         "cvt.u64.u32 %rd4, %r1;\nM:\nmov.u64 %rd3, 0;\nL:\n" ROUND COUNT_TO_2_62
         "add.s64 %rd4, %rd4, 1;\nsetp.lt.u64 %p2, %rd4, 100;\n@%p2 bra M;\n" STORE),
     {2},
     0},
    {"a barrier", HEAD KERNEL("L:\nbar.sync 0;\n" COUNT_TO_2_62), {2}, 0},
    {"a named barrier", HEAD KERNEL("L:\nbar.sync 1, 64;\n" COUNT_TO_2_62), {2}, 0},
    {"a shuffle",
     HEAD KERNEL("L:\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n" COUNT_TO_2_62 STORE),
     {2},
     0},
    {"a vote that never comes true",
     HEAD KERNEL("L:\nsetp.eq.u32 %p2, %r1, 70;\nvote.sync.any.pred %p3, %p2, -1;\n"
                 "@!%p3 bra L;\n"),
     {2},
     0},
    {"some threads end before",
     HEAD KERNEL(
         "setp.gt.u32 %p2, %r1, 40;\n@%p2 exit;\nL:\nbar.sync 0;\n" COUNT_TO_2_62),
     {2},
     0},
    {"a table of jumps",
     HEAD KERNEL("L:\nadd.u32 %r2, %r2, 1;\nand.b32 %r3, %r2, 1;\nT: .branchtargets A, "
                 "B;\nbrx.idx %r3, T;\nA:\nbra L;\nB:\nbra L;\n"),
     {2},
     0},
    {"two ways into a loop",
     HEAD KERNEL("setp.eq.u32 %p2, %r1, 0;\n@%p2 bra M;\nL:\n" ROUND
                 "M:\n" ROUND FOR_EVER),
     {2},
     0},
    {"a spin on a word",
     HEAD KERNEL("L:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 77;\n"
                 "@%p2 bra L;\n"),
     {2},
     0},
    {"a compare-and-swap that never does",
     HEAD KERNEL(
         "L:\natom.global.cas.b32 %r2, [%rd1], 77, 1;\nsetp.ne.u32 %p2, %r2, 77;\n"
         "@%p2 bra L;\n"),
     {2},
     0},
    {"a wait at an mbarrier",
     HEAD KERNEL("mov.u32 %r3, s;\nsetp.ne.u32 %p2, %r1, 0;\n"
                 "@!%p2 mbarrier.init.shared.b64 [%r3], 1000;\nbar.sync 0;\nL:\n"
                 "mbarrier.test_wait.parity.shared.b64 %p3, [%r3], 0;\n@!%p3 bra L;\n"),
     {2},
     0},
    {"sleeping", HEAD KERNEL("L:\nnanosleep.u32 4000000000;\n" COUNT_TO_2_62), {2}, 0},
    {"the device heap",
     HEAD KERNEL("L:\n{\n.param .b64 n;\n.param .b64 at;\nst.param.b64 [n], 16;\n"
                 "call (at), malloc, (n);\nld.param.b64 %rd5, [at];\n}\n{\n.param .b64 "
                 "at;\nst.param.b64 [at], %rd5;\ncall free, (at);\n}\n" COUNT_TO_2_62),
     {2},
     0},
    {"a function with a loop",
     HEAD FUNCTION("f", "L:\nadd.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r1, 5000;\n"
                        "@%p1 bra L;\n") KERNEL(CALL("f") STORE),
     {2},
     0},
    {"a function with a barrier in a loop",
     HEAD FUNCTION("f", "L:\nadd.u32 %r2, %r2, 1;\nbar.sync 0;\n"
                        "setp.lt.u32 %p1, %r1, 5000;\n@%p1 bra L;\n")
         KERNEL(CALL("f") STORE),
     {2},
     0},
    {"a call after a call", /* LLVM makes a loop of it */
     HEAD PROTOTYPE("f") FUNCTION("f", "add.u32 %r1, %r1, 2;\n" CALL("f"))
         KERNEL(CALL("f") STORE),
     {1},
     0},
    {"two that call each other",
     HEAD PROTOTYPE("g") FUNCTION("f", CALL("g")) FUNCTION("g", CALL("f"))
         KERNEL(CALL("f") STORE),
     {1},
     0},
    {"all nodes of a tree", /* depth 60, each calls itself twice */
     HEAD PROTOTYPE("f")
         FUNCTION("f", "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 1;\n@%p1 bra E;\n"
                       "sub.u32 %r1, %r1, 1;\n" CALL("f") "mov.u32 %r3, %r2;\n" CALL(
                           "f") "mad.lo.u32 %r2, %r2, 31, %r3;\nE:\n")
             KERNEL("or.b32 %r1, %r1, 60;\nand.b32 %r1, %r1, 60;\n" CALL("f") STORE),
     {1},
     0},
    {"calls by address",
     HEAD FUNCTION("f", "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                        "mov.u64 %rd1, f;\n{\n.param .b32 x;\n.param .b32 y;\n"
                        "add.u32 %r1, %r1, 1;\nst.param.b32 [x], %r1;\n"
                        "call (y), %rd1, (x), P;\nld.param.b32 %r2, [y];\n}\n")
         KERNEL(CALL("f") STORE),
     {1},
     0},
    {"blocks without end", HEAD KERNEL(STORE), {2147483647, 65535, 65535}, 1024},
    {"empty blocks without end", HEAD KERNEL(""), {2147483647, 65535, 65535}, 1},
    {"blocks without end that look at memory",
     HEAD KERNEL("L:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 77;\n"
                 "@%p2 bra L;\n"),
     {2147483647, 65535, 65535},
     1},
};

static gph_error error;
static uint32_t memory[2048];

/* Endless recursion may as well run out of its stack first. */
static bool is_an_end(const endless *k, gph_status status)
{
    const bool recurses = strstr(k->text, ".func (.param .b32 r) f(") != NULL &&
                          strstr(k->text, "bra L") == NULL;
    return status == SOFT_ERROR_LAUNCH_TIMEOUT ||
           (recurses && status == SOFT_ERROR_ILLEGAL_ADDRESS);
}

static void ends(const endless *k, int path)
{
    kernel_unit *unit = kernel_open(k->text, path, &error);
    if (!CHECK(unit != NULL)) {
        fprintf(stderr, "%s: %s\n", k->name, error.message);
        return;
    }
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    const kernel_call call = {.name = "k",
                              .grid = {k->grid[0], k->grid[1], k->grid[2]},
                              .block = {k->threads ? k->threads : 64}};
    memset(memory, 0, sizeof(memory));
    unit->timeout_ns = LIMIT_NS;
    alarm(PATIENCE_S);
    const gph_status status = kernel_run(unit, &call, &address, &error);
    alarm(0);
    if (!CHECK(is_an_end(k, status)))
        fprintf(stderr, "%s, path %d: %d %s\n", k->name, path, (int)status,
                status ? error.message : "");
    kernel_close(unit);
}

static void the_time_limit_ends_them(void)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        for (int path = 0; path < 2; path++) {
            if (getenv("ENDLESS_SHOW") != NULL)
                fprintf(stderr, "%s, path %d\n", kernels[i].name, path);
            ends(&kernels[i], path == 0 ? KERNEL_FAST : KERNEL_SLOW);
        }
}

/* Each function calls the one before twice: no recursion, and too many calls to write
 * each in its place. */
static void trees_of_calls_end(void)
{
    static char text[1 << 16];
    size_t at =
        (size_t)sprintf(text, "%s",
                        HEAD FUNCTION("f0", "add.u32 %r1, %r1, 1;\n"
                                            "st.volatile.global.u32 [word], %r1;\n"
                                            "mul.lo.u32 %r2, %r1, %r1;\n"));
    for (int i = 1; i <= 40; i++) {
        at += (size_t)sprintf(text + at,
                              ".func (.param .b32 r) f%d(.param .b32 a)\n{\n"
                              ".reg .b32 %%r<8>;\nld.param.b32 %%r1, [a];\n",
                              i);
        for (int k = 0; k < 2; k++)
            at += (size_t)sprintf(text + at,
                                  "{\n.param .b32 x;\n.param .b32 y;\n"
                                  "st.param.b32 [x], %%r1;\ncall (y), f%d, (x);\n"
                                  "ld.param.b32 %%r1, [y];\n}\n",
                                  i - 1);
        at += (size_t)sprintf(text + at, "st.param.b32 [r], %%r1;\nret;\n}\n");
    }
    sprintf(text + at, "%s", KERNEL(CALL("f40") STORE));
    for (int path = 0; path < 2; path++) {
        const endless tree = {"2^40 calls", text, {2}, 0};
        ends(&tree, path == 0 ? KERNEL_FAST : KERNEL_SLOW);
    }
}

int main(void)
{
    RUN(trees_of_calls_end);
    RUN(the_time_limit_ends_them);
    return test_done();
}
