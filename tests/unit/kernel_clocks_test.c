// SPDX-License-Identifier: Apache-2.0
/* Kernels that wait for time alone: all threads of a block beside each other, each at least
 * as long as it asked for. No test here depends on how long anything takes. */
#include "kernel_run.h"
#include "test.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
/* out[thread] = {from, to, rounds}; %rd5: how long */
#define BEGIN                                                                            \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 n)\n{\n"                        \
         ".reg .pred %p<8>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"                    \
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [n];\nmov.u32 %r1, %tid.x;\n"    \
         "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, "     \
         "%r1;\nmul.wide.u32 %rd3, %r4, 24;\nadd.u64 %rd4, %rd1, %rd3;\n"                \
         "mov.u64 %rd5, %rd2;\n"
#define SPIN                                                                             \
    "mov.u64 %rd6, %clock64;\n"                                                          \
    "WAIT:\nmov.u64 %rd7, %clock64;\nsub.s64 %rd8, %rd7, %rd6;\n"                        \
    "setp.lt.s64 %p1, %rd8, %rd5;\n@%p1 bra WAIT;\n"
#define STORE "st.global.u64 [%rd4], %rd6;\nst.global.u64 [%rd4+8], %rd7;\n"
#define END "DONE:\nret;\n}\n"

static const char all[] = BEGIN SPIN STORE END;
/* A deadline, as `globaltimer` has it, with a bound that another loop's rounds give. */
static const char deadline[] =
    BEGIN "mov.u64 %rd6, %globaltimer;\nadd.u64 %rd9, %rd6, %rd5;\n"
          "WAIT:\nmov.u64 %rd7, %globaltimer;\nsetp.ge.u64 %p1, %rd7, %rd9;\n"
          "@%p1 bra OVER;\nbra WAIT;\nOVER:\n" STORE END;
/* 32 bits that wrap, as NVIDIA's clockBlock() has them. */
static const char narrow[] =
    BEGIN "mov.u32 %r5, %clock;\nsetp.lt.s64 %p1, %rd5, 1;\n@%p1 bra DONE;\n"
          "WAIT:\nmov.u32 %r6, %clock;\nsub.s32 %r7, %r6, %r5;\ncvt.u64.u32 %rd8, %r7;\n"
          "setp.lt.s64 %p1, %rd8, %rd5;\n@%p1 bra WAIT;\n"
          "cvt.u64.u32 %rd6, %r5;\nadd.s64 %rd7, %rd6, %rd8;\n" STORE END;
/* Each thread its own time, and what it read last stays its own. */
static const char by_thread[] =
    BEGIN "add.u32 %r8, %r1, 1;\nmul.wide.u32 %rd10, %r8, 300;\nadd.u64 %rd5, %rd2, "
          "%rd10;\nmov.u64 %rd6, %clock64;\nmov.u64 %rd11, 0;\n"
          "WAIT:\nmov.u64 %rd7, %clock64;\nadd.u64 %rd11, %rd11, 1;\n"
          "sub.s64 %rd8, %rd7, %rd6;\nsetp.lt.s64 %p1, %rd8, %rd5;\n@%p1 bra WAIT;\n"
          "st.global.u64 [%rd4+16], %rd11;\n" STORE END;
static const char some[] =
    BEGIN "setp.gt.u32 %p2, %r1, 6;\n@%p2 bra DONE;\n" SPIN STORE END;
static const char one[] = BEGIN "setp.ne.u32 %p2, %r1, 3;\n@%p2 bra JOIN;\n" SPIN STORE
                                "JOIN:\nbar.sync 0;\n" END;
/* A warp operation before and after: not one warp after the other. */
#define SHUFFLE "shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;\n"
static const char warps[] = BEGIN SHUFFLE SPIN STORE SHUFFLE END;
/* Waits twice: what the first left is before what the second begins with. */
static const char twice[] = BEGIN SPIN
    "st.global.u64 [%rd4], %rd6;\nmov.u64 %rd11, %rd7;\nmov.u64 %rd6, %clock64;\n"
    "AGAIN:\nmov.u64 %rd7, %clock64;\nsub.s64 %rd8, %rd7, %rd6;\n"
    "setp.lt.s64 %p1, %rd8, %rd5;\n@%p1 bra AGAIN;\n"
    "setp.lt.s64 %p1, %rd6, %rd11;\n@%p1 trap;\n"
    "st.global.u64 [%rd4+8], %rd7;\n" END;
/* Not a wait for time alone: it writes as it waits. */
static const char writes[] =
    BEGIN "mov.u64 %rd6, %clock64;\n"
          "WAIT:\nmov.u64 %rd7, %clock64;\n" STORE "sub.s64 %rd8, %rd7, %rd6;\n"
          "setp.lt.s64 %p1, %rd8, %rd5;\n@%p1 bra WAIT;\n" END;
/* The lanes of a named barrier: thread by thread. */
static const char slow[] = BEGIN "bar.sync 1, 64;\n" SPIN STORE END;

enum { BLOCKS = 40, THREADS = 64, N = 2000 };

typedef struct span {
    uint64_t from, to, rounds;
} span;

static gph_error error;
static span out[BLOCKS * THREADS];

/* Runs it and says on which path; every thread that wrote has waited long enough. */
static ptx_path run(const char *text, int flags, uint64_t n)
{
    const struct {
        void *out;
        uint64_t n;
    } params = {out, n};
    kernel_unit *unit = kernel_open(text, flags, &error);
    memset(out, 0, sizeof(out));
    if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        return PTX_PATH_UNSUPPORTED;
    const kernel_call call = {.name = "k", .grid = {BLOCKS}, .block = {THREADS}};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    const ptx_path path = kernel_about(unit, "k")->path;
    CHECK(kernel_about(unit, "k")->uses_safepoints);
    kernel_close(unit);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        CHECK(out[i].from == 0 || out[i].to - out[i].from >= n);
    return path;
}

static bool all_wrote(void)
{
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        if (out[i].from == 0)
            return false;
    return true;
}

/* All threads of each block began and ended at the same moment. */
static bool together(void)
{
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
        const span *first = &out[i - i % THREADS];
        if (out[i].from != first->from || out[i].to != first->to)
            return false;
    }
    return true;
}

static void a_block_waits_once_for_all_its_threads(void)
{
    const char *const texts[] = {all, deadline, narrow, warps};
    for (size_t k = 0; k < 4; k++) {
        CHECK(run(texts[k], KERNEL_FAST, N) == PTX_PATH_FAST);
        CHECK(all_wrote() && together());
        CHECK(run(texts[k], KERNEL_SLOW, N) == PTX_PATH_SLOW);
        CHECK(all_wrote());
    }
}

static void a_second_wait_begins_after_the_first(void)
{
    for (int flags = KERNEL_FAST; flags <= KERNEL_SLOW; flags++) {
        run(twice, flags, N);
        for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
            CHECK(out[i].to - out[i].from >= 2 * N);
    }
}

/* Threads that leave in a later round read the clock again: what they read is not that of the
 * others. In which round each leaves is not known: 300 cycles may pass between any two. */
static void a_thread_keeps_what_it_read_last(void)
{
    for (int flags = KERNEL_FAST; flags <= KERNEL_SLOW; flags++) {
        CHECK(run(by_thread, flags, N) ==
              (flags == KERNEL_FAST ? PTX_PATH_FAST : PTX_PATH_SLOW));
        for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
            CHECK(out[i].rounds != 0 &&
                  out[i].to - out[i].from >= N + 300 * (i % THREADS + 1));
        for (uint32_t i = 1; i < BLOCKS * THREADS && flags == KERNEL_FAST; i++)
            if (i % THREADS != 0 && out[i].rounds != out[i - 1].rounds)
                CHECK((out[i].rounds > out[i - 1].rounds) == (out[i].to > out[i - 1].to));
    }
}

static void threads_that_do_not_wait_go_on(void)
{
    CHECK(run(some, KERNEL_FAST, N) == PTX_PATH_FAST);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        CHECK((out[i].from != 0) == (i % THREADS <= 6));
    CHECK(run(one, KERNEL_FAST, N) == PTX_PATH_FAST);
    for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
        CHECK((out[i].from != 0) == (i % THREADS == 3));
}

static void no_time_is_no_wait(void)
{
    run(narrow, KERNEL_FAST, 0);
    CHECK(!all_wrote() && together());
}

static void threads_on_stacks_of_their_own_wait_too(void)
{
    CHECK(run(slow, KERNEL_FAST, N) == PTX_PATH_SLOW);
    CHECK(all_wrote());
}

static void a_loop_that_writes_is_each_threads_own(void)
{
    kernel_unit *unit = kernel_open(writes, KERNEL_FAST, &error);
    if (CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        CHECK(kernel_about(unit, "k")->cut_count == 0 &&
              !kernel_about(unit, "k")->uses_safepoints);
    kernel_close(unit);
}

int main(void)
{
    RUN(a_block_waits_once_for_all_its_threads);
    RUN(a_second_wait_begins_after_the_first);
    RUN(a_thread_keeps_what_it_read_last);
    RUN(threads_that_do_not_wait_go_on);
    RUN(no_time_is_no_wait);
    RUN(threads_on_stacks_of_their_own_wait_too);
    RUN(a_loop_that_writes_is_each_threads_own);
    return test_done();
}
