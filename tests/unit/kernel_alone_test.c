// SPDX-License-Identifier: Apache-2.0
/* One thread of a block that waits for other blocks while its own goes to a barrier: on
 * the fast path, but where it might wait for a thread of its own block. */
#include "kernel_run.h"
#include "test.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define BEGIN                                                                            \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 state)\n{\n"                    \
         ".reg .pred %p<8>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<12>;\n"                    \
         ".shared .align 4 .b8 s[4];\n"                                                  \
         "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [state];\n"                      \
         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"         \
         "mul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd4, %rd2, %rd3;\n"                       \
         "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd5, %r4, 4;\n"                  \
         "add.u64 %rd6, %rd1, %rd5;\n"
/* Waits until the block before has left its sum, and leaves its own. */
#define LOOK                                                                             \
    "mov.u32 %r5, 0;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra FOUND;\n"                       \
    "WAIT:\nld.volatile.global.u32 %r5, [%rd4+-4];\nsetp.eq.u32 %p3, %r5, 0;\n"          \
    "@%p3 bra WAIT;\n"                                                                   \
    "FOUND:\nadd.u32 %r6, %r5, %r3;\nst.shared.u32 [s], %r5;\n"                          \
    "st.volatile.global.u32 [%rd4], %r6;\n"
#define END                                                                              \
    "bar.sync 0;\nld.shared.u32 %r7, [s];\nadd.u32 %r8, %r7, %r1;\n"                     \
    "st.global.u32 [%rd6], %r8;\nret;\n}\n"

static const char chain[] =
    BEGIN "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\n" LOOK "JOIN:\n" END;
static const char last_thread[] =
    BEGIN "setp.eq.u32 %p1, %r1, 31;\n@!%p1 bra JOIN;\n" LOOK "JOIN:\n" END;
static const char several[] =
    BEGIN "setp.gt.u32 %p1, %r1, 1;\n@%p1 bra JOIN;\n" LOOK "JOIN:\n" END;
static const char writes_meanwhile[] =
    BEGIN "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\n" LOOK
          "JOIN:\nst.global.u32 [%rd6], %r1;\n" END;
static const char writes_beside[] =
    BEGIN "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra OTHER;\n" LOOK
          "bra JOIN;\nOTHER:\nst.global.u32 [%rd6], %r1;\nJOIN:\n" END;

/* All threads count, then the first waits for all of the grid: its own block's, too. */
static const char counts[] =
    BEGIN "atom.global.add.u32 %r5, [%rd2], 1;\nmov.u32 %r6, %nctaid.x;\n"
          "mul.lo.u32 %r6, %r6, %r3;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\n"
          "WAIT:\nld.volatile.global.u32 %r5, [%rd2];\nsetp.lt.u32 %p3, %r5, %r6;\n"
          "@%p3 bra WAIT;\nst.shared.u32 [s], %r5;\nJOIN:\n" END;

/* Cooperative groups' barrier of a grid: one thread of a block, of any shape, adds to a word
 * whose top bit changes when the last block has come. All have counted before. */
#define GRID(condition)                                                                  \
    BEGIN "mov.u32 %r9, %tid.y;\nmov.u32 %r10, %tid.z;\nmov.u32 %r16, %ntid.y;\n"        \
          "mov.u32 %r17, %ntid.z;\nmul.lo.u32 %r18, %r3, %r16;\n"                        \
          "mul.lo.u32 %r18, %r18, %r17;\nmad.lo.u32 %r19, %r10, %r16, %r9;\n"            \
          "mad.lo.u32 %r19, %r19, %r3, %r1;\nmad.lo.u32 %r19, %r2, %r18, %r19;\n"        \
          "mul.wide.u32 %rd5, %r19, 4;\nadd.u64 %rd6, %rd1, %rd5;\n"                     \
          "atom.global.add.u32 %r5, [%rd2+4], 1;\nbar.sync 0;\n" condition               \
          "@%p1 bra JOIN;\nmov.u32 %r13, %nctaid.x;\nmov.u32 %r14, -2147483647;\n"       \
          "sub.s32 %r14, %r14, %r13;\nsetp.eq.u32 %p2, %r2, 0;\n"                        \
          "selp.b32 %r15, %r14, 1, %p2;\natom.add.release.gpu.u32 %r5, [%rd2], %r15;\n"  \
          "WAIT:\nld.acquire.gpu.u32 %r6, [%rd2];\nxor.b32 %r6, %r6, %r5;\n"             \
          "setp.gt.s32 %p3, %r6, -1;\n@%p3 bra WAIT;\nJOIN:\nbar.sync 0;\n"              \
          "ld.global.u32 %r7, [%rd2+4];\nst.global.u32 [%rd6], %r7;\nret;\n}\n"
static const char grid_barrier[] = GRID("neg.s32 %r11, %r9;\nadd.s32 %r12, %r1, %r10;\n"
                                        "setp.ne.s32 %p1, %r12, %r11;\n");
static const char one_off[] = GRID("neg.s32 %r11, %r9;\nadd.s32 %r12, %r1, %r10;\n"
                                   "add.s32 %r12, %r12, -1;\n"
                                   "setp.ne.s32 %p1, %r12, %r11;\n");
static const char differences[] = GRID("sub.s32 %r12, %r1, %r10;\n"
                                       "setp.ne.s32 %p1, %r12, %r9;\n");
static const char floats[] = GRID("add.f32 %r12, %r1, %r10;\nadd.s32 %r12, %r12, %r9;\n"
                                  "setp.ne.s32 %p1, %r12, 0;\n");

/* The same after a shuffle: warps in turn where the wait is right after a barrier, and not
 * where it is for what later warps have yet to do. */
#define SHUFFLE "shfl.sync.bfly.b32 %r12, %r1, 1, 31, -1;\n"
static const char by_warps[] = BEGIN SHUFFLE
    "bar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\n" LOOK "JOIN:\n" END;
static const char counts_by_block[] = BEGIN SHUFFLE
    "bar.sync 0;\natom.global.add.u32 %r5, [%rd2], 1;\nmov.u32 %r6, %nctaid.x;\n"
    "mul.lo.u32 %r6, %r6, %r3;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra JOIN;\n"
    "WAIT:\nld.volatile.global.u32 %r5, [%rd2];\nsetp.lt.u32 %p3, %r5, %r6;\n"
    "@%p3 bra WAIT;\nst.shared.u32 [s], %r5;\nJOIN:\n" END;

/* Threads of the first column: each waits for that of the row after it. */
static const char rows[] =
    BEGIN "mov.u32 %r9, %tid.y;\nmov.u32 %r10, %ntid.y;\nsetp.ne.u32 %p1, %r1, 0;\n"
          "@%p1 bra JOIN;\nadd.u32 %r11, %r9, 1;\nmul.wide.u32 %rd7, %r9, 4;\n"
          "add.u64 %rd8, %rd2, %rd7;\nsetp.eq.u32 %p2, %r11, %r10;\nmov.u32 %r5, 1;\n"
          "@%p2 bra FOUND;\n"
          "WAIT:\nld.volatile.global.u32 %r5, [%rd8+4];\nsetp.eq.u32 %p3, %r5, 0;\n"
          "@%p3 bra WAIT;\n"
          "FOUND:\nadd.u32 %r6, %r5, 1;\nst.volatile.global.u32 [%rd8], %r6;\n"
          "st.shared.u32 [s], %r6;\nJOIN:\n" END;

static gph_error error;

static kernel_unit *open(const char *text, ptx_path path)
{
    kernel_unit *unit = kernel_open(text, KERNEL_FAST, &error);
    if (CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        CHECK(soft_code_kernel(unit->code, 0)->path == path);
    return unit;
}

#define BLOCKS 500u
#define THREADS 32u

static uint32_t out[BLOCKS * THREADS], state[BLOCKS];

static void run(kernel_unit *unit, const kernel_call *call)
{
    const struct {
        void *out, *state;
    } params = {out, state};
    memset(out, 0, sizeof(out));
    memset(state, 0, sizeof(state));
    CHECK_OK(kernel_run(unit, call, &params, &error), error);
}

static void blocks_wait_for_the_one_before(void)
{
    const char *const texts[] = {chain, last_thread};
    for (size_t k = 0; k < 2; k++) {
        kernel_unit *unit = open(texts[k], PTX_PATH_FAST);
        for (uint32_t workers = 1; unit && workers <= 4; workers++) {
            unit->workers = workers;
            run(unit, &(kernel_call){.name = "k", .grid = {BLOCKS}, .block = {THREADS}});
            for (uint32_t i = 0; i < BLOCKS * THREADS; i++)
                CHECK(out[i] == i);
        }
        kernel_close(unit);
    }
}

static void the_others_have_done_what_stands_before(void)
{
    kernel_unit *unit = open(counts, PTX_PATH_FAST);
    unit->workers = 2;
    const kernel_call call = {
        .name = "k", .grid = {7}, .block = {THREADS}, .cooperative = 1};
    run(unit, &call);
    for (uint32_t i = 0; i < 7 * THREADS; i++)
        CHECK(out[i] == 7 * THREADS + i % THREADS);
    kernel_close(unit);
}

static void warps_run_in_turn_where_they_may(void)
{
    kernel_unit *unit = open(by_warps, PTX_PATH_FAST);
    CHECK(soft_code_kernel(unit->code, 0)->by_warps);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        unit->workers = workers;
        run(unit, &(kernel_call){.name = "k", .grid = {100}, .block = {96}});
        for (uint32_t i = 0; i < 9600; i++)
            CHECK(out[i] == i);
    }
    kernel_close(unit);
    unit = open(counts_by_block, PTX_PATH_FAST);
    CHECK(!soft_code_kernel(unit->code, 0)->by_warps);
    unit->workers = 2;
    run(unit, &(kernel_call){.name = "k", .grid = {7}, .block = {96}, .cooperative = 1});
    for (uint32_t i = 0; i < 672; i++)
        CHECK(out[i] == 672 + i % 96);
    kernel_close(unit);
}

static void rows_of_a_block_may_wait_for_each_other(void)
{
    kernel_unit *unit = open(rows, PTX_PATH_FAST);
    const kernel_call call = {.name = "k", .block = {THREADS, 5}};
    run(unit, &call);
    for (uint32_t y = 0; y < 5; y++)
        CHECK(state[y] == 6 - y);
    kernel_close(unit);
}

static void a_grid_waits_for_all_its_blocks(void)
{
    kernel_unit *unit = open(grid_barrier, PTX_PATH_FAST);
    CHECK(!soft_code_kernel(unit->code, 0)->one_row);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        unit->workers = workers;
        const kernel_call call = {
            .name = "k", .grid = {9}, .block = {8, 2, 3}, .cooperative = 1};
        run(unit, &call);
        for (uint32_t i = 0; i < 9 * 48; i++)
            CHECK(out[i] == 9 * 48);
        CHECK(state[0] == 0x80000000u);
    }
    kernel_close(unit);
    kernel_close(open(one_off, PTX_PATH_SLOW));
    kernel_close(open(differences, PTX_PATH_SLOW));
    kernel_close(open(floats, PTX_PATH_SLOW));
}

static void threads_that_may_wait_for_their_block_are_run_one_by_one(void)
{
    kernel_close(open(several, PTX_PATH_SLOW));
    kernel_close(open(writes_meanwhile, PTX_PATH_SLOW));
    kernel_close(open(writes_beside, PTX_PATH_SLOW));
}

int main(void)
{
    RUN(blocks_wait_for_the_one_before);
    RUN(the_others_have_done_what_stands_before);
    RUN(warps_run_in_turn_where_they_may);
    RUN(rows_of_a_block_may_wait_for_each_other);
    RUN(a_grid_waits_for_all_its_blocks);
    RUN(threads_that_may_wait_for_their_block_are_run_one_by_one);
    return test_done();
}
