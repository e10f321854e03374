// SPDX-License-Identifier: Apache-2.0
/* Loader, blocks, fibers, threads, faults: with kernels written by hand as LLVM IR. */
#include "kernel_hand.h"
#include "test.h"

#include <stddef.h>

/* Offsets in ptx_block, ptx_grid and ptx_thread that the IR below uses. */
_Static_assert(offsetof(ptx_block, shared) == 8, "block");
_Static_assert(offsetof(ptx_block, grid) == 32, "block");
_Static_assert(offsetof(ptx_block, ctaid) == 40, "block");
_Static_assert(offsetof(ptx_thread, index) == 20, "thread");

#define HEAD                                                                             \
    "declare void @ptx_rt_safepoint(ptr)\n"                                              \
    "declare void @ptx_rt_trap(ptr, i32)\n"                                              \
    "declare void @ptx_rt_thread_safepoint(ptr)\n"                                       \
    "declare i32 @ptx_rt_barrier(ptr, i32, i32, i32, i32)\n"                             \
    "declare i64 @ptx_rt_shfl(ptr, i32, i32, i32, i32, i32)\n"                           \
    "declare i32 @ptx_rt_activemask(ptr, i32)\n"                                         \
    "declare i32 @ptx_rt_vote(ptr, i32, i32, i32)\n"                                     \
    "define internal ptr @params(ptr %b) alwaysinline {\n"                               \
    "  %p = getelementptr i8, ptr %b, i64 32\n  %g = load ptr, ptr %p\n"                 \
    "  %q = getelementptr i8, ptr %g, i64 " PARAMS_AT "\n"                               \
    "  %r = load ptr, ptr %q\n  %o = load ptr, ptr %r\n  ret ptr %o\n}\n"                \
    "define internal i32 @ctaid(ptr %b) alwaysinline {\n"                                \
    "  %p = getelementptr i8, ptr %b, i64 40\n  %v = load i32, ptr %p\n  ret i32 "       \
    "%v\n}\n"                                                                            \
    "define internal i32 @tid(ptr %t) alwaysinline {\n"                                  \
    "  %p = getelementptr i8, ptr %t, i64 20\n  %v = load i32, ptr %p\n  ret i32 "       \
    "%v\n}\n"
#define PARAMS_AT "72"
_Static_assert(offsetof(ptx_grid, params) == 72, "grid");

#if defined(__x86_64__)
#define ILLEGAL "ud2"
#else
#define ILLEGAL "udf #0"
#endif

static const char ir[] = HEAD
    /* out[ctaid] += ctaid + 1 */
    "define void @b.count(ptr %b) {\n"
    "  %o = call ptr @params(ptr %b)\n  %c = call i32 @ctaid(ptr %b)\n"
    "  %p = getelementptr i32, ptr %o, i32 %c\n  %v = load i32, ptr %p\n"
    "  %w = add i32 %v, %c\n  %x = add i32 %w, 1\n  store i32 %x, ptr %p\n  ret void\n}\n"
    /* writes to the address in the parameters */
    "define void @b.wild(ptr %b) {\n"
    "  %o = call ptr @params(ptr %b)\n  store volatile i32 7, ptr %o\n  ret void\n}\n"
    "define void @b.trap(ptr %b) {\n"
    "  %c = call i32 @ctaid(ptr %b)\n  %is = icmp eq i32 %c, 3\n"
    "  br i1 %is, label %bad, label %good\n"
    "bad:\n  call void @ptx_rt_trap(ptr %b, i32 5)\n  unreachable\n"
    "good:\n  ret void\n}\n"
    /* forever, with a safepoint */
    "define void @b.forever(ptr %b) {\n  br label %l\n"
    "l:\n  call void @ptx_rt_safepoint(ptr %b)\n  br label %l\n}\n"
    /* block c waits until out[0] == nctaid - 1 - c: the last block goes first */
    "define void @b.backwards(ptr %b) {\n"
    "  %o = call ptr @params(ptr %b)\n  %c = call i32 @ctaid(ptr %b)\n"
    "  %gp = getelementptr i8, ptr %b, i64 32\n  %g = load ptr, ptr %gp\n"
    "  %n = load i32, ptr %g\n  %n1 = sub i32 %n, 1\n  %turn = sub i32 %n1, %c\n"
    "  br label %l\n"
    "l:\n  %v = load atomic i32, ptr %o acquire, align 4\n"
    "  %mine = icmp eq i32 %v, %turn\n  br i1 %mine, label %go, label %wait\n"
    "wait:\n  call void @ptx_rt_safepoint(ptr %b)\n  br label %l\n"
    "go:\n  %w = add i32 %v, 1\n  store atomic i32 %w, ptr %o release, align 4\n"
    "  ret void\n}\n"
    /* thread t of block c: shared[t] = t; barrier; out[c * 64 + t] = shared[63 - t] */
    "define void @t.reverse(ptr %b, ptr %t) {\n"
    "  %o = call ptr @params(ptr %b)\n  %c = call i32 @ctaid(ptr %b)\n"
    "  %i = call i32 @tid(ptr %t)\n"
    "  %sp = getelementptr i8, ptr %b, i64 8\n  %s = load ptr, ptr %sp\n"
    "  %p = getelementptr i32, ptr %s, i32 %i\n  store i32 %i, ptr %p\n"
    "  %z = call i32 @ptx_rt_barrier(ptr %t, i32 0, i32 0, i32 0, i32 0)\n"
    "  %j = sub i32 63, %i\n  %q = getelementptr i32, ptr %s, i32 %j\n"
    "  %v = load i32, ptr %q\n  %cb = mul i32 %c, 64\n  %k = add i32 %cb, %i\n"
    "  %r = getelementptr i32, ptr %o, i32 %k\n  store i32 %v, ptr %r\n  ret void\n}\n"
    /* out[t] = shfl.bfly(t, 1); then lanes 0-7 ask who is active: out[t] += 1000 * mask
     */
    "define void @t.warp(ptr %b, ptr %t) {\n"
    "  %o = call ptr @params(ptr %b)\n  %i = call i32 @tid(ptr %t)\n"
    "  %v = call i64 @ptx_rt_shfl(ptr %t, i32 -1, i32 2, i32 %i, i32 1, i32 31)\n"
    "  %w = trunc i64 %v to i32\n  %p = getelementptr i32, ptr %o, i32 %i\n"
    "  store i32 %w, ptr %p\n  %low = icmp ult i32 %i, 8\n"
    "  br i1 %low, label %some, label %end\n"
    "some:\n  %m = call i32 @ptx_rt_activemask(ptr %t, i32 1)\n  %k = mul i32 %m, 1000\n"
    "  %x = add i32 %w, %k\n  store i32 %x, ptr %p\n  br label %end\n"
    "end:\n  ret void\n}\n"
    /* thread 0 waits at barrier 1, the others at barrier 0: never */
    "define void @t.deadlock(ptr %b, ptr %t) {\n"
    "  %i = call i32 @tid(ptr %t)\n  %z = icmp eq i32 %i, 0\n"
    "  %id = select i1 %z, i32 1, i32 0\n"
    "  %r = call i32 @ptx_rt_barrier(ptr %t, i32 %id, i32 0, i32 0, i32 0)\n"
    "  ret void\n}\n"
    /* the odd threads leave before the barrier */
    "define void @t.leave(ptr %b, ptr %t) {\n"
    "  %o = call ptr @params(ptr %b)\n  %i = call i32 @tid(ptr %t)\n"
    "  %a = and i32 %i, 1\n  %odd = icmp eq i32 %a, 1\n"
    "  br i1 %odd, label %end, label %stay\n"
    "stay:\n  %r = call i32 @ptx_rt_barrier(ptr %t, i32 0, i32 0, i32 1, i32 1)\n"
    "  %p = getelementptr i32, ptr %o, i32 %i\n  store i32 %r, ptr %p\n  br label %end\n"
    "end:\n  ret void\n}\n"
    "define void @t.rounds(ptr %b, ptr %t) {\n  br label %l\n"
    "l:\n  %r = call i32 @ptx_rt_barrier(ptr %t, i32 0, i32 0, i32 0, i32 0)\n"
    "  br label %l\n}\n"
    "define void @b.illegal(ptr %b) {\n  call void asm sideeffect \"" ILLEGAL
    "\", \"\"()\n"
    "  ret void\n}\n"
    "define void @t.wild(ptr %b, ptr %t) {\n"
    "  %o = call ptr @params(ptr %b)\n  %i = call i32 @tid(ptr %t)\n"
    "  %r = call i32 @ptx_rt_barrier(ptr %t, i32 0, i32 0, i32 0, i32 0)\n"
    "  %is = icmp eq i32 %i, 37\n  br i1 %is, label %bad, label %end\n"
    "bad:\n  store volatile i32 7, ptr %o\n  br label %end\nend:\n  ret void\n}\n";

static hand_unit unit;
static gph_error error;

static void blocks_run_once_each(void)
{
    enum { N = 5000 };
    static uint32_t out[N];
    void *params = out;
    for (uint32_t workers = 1; workers <= 4; workers += 3) {
        memset(out, 0, sizeof(out));
        hand_call call = {"b.count",         .grid = N,          .block = 1,
                          .params = &params, .workers = workers, .repeat = 1};
        CHECK_OK(hand_run(&unit, &call, &error), error);
        bool right = true;
        for (uint32_t i = 0; i < N; i++)
            right = right && out[i] == 2 * (i + 1);
        CHECK(right);
        call.safepoints = 1;
        CHECK_OK(hand_run(&unit, &call, &error), error);
        for (uint32_t i = 0; i < N; i++)
            right = right && out[i] == 4 * (i + 1);
        CHECK(right);
    }
}

static void a_wild_access_is_an_error_of_the_launch(void)
{
    void *params = (void *)0x10;
    const hand_call call = {"b.wild", .grid = 100, .block = 32, .params = &params};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(hand_run(&unit, &call, &error), error);
        CHECK(unit.fault.code == SOFT_ERROR_ILLEGAL_ADDRESS);
        CHECK(unit.fault.address == 0x10 && unit.faults == 1);
        CHECK(strstr(unit.fault.text, "kernel wild") != NULL);
    }
    const hand_call slow = {"t.wild", .grid = 2, .block = 64, .params = &params};
    CHECK_OK(hand_run(&unit, &slow, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_ILLEGAL_ADDRESS);
    CHECK(unit.fault.has_thread && unit.fault.tid[0] == 37);
    const hand_call fibers = {"b.wild", .grid = 100, .block = 32, .params = &params,
                              .safepoints = 1};
    CHECK_OK(hand_run(&unit, &fibers, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_ILLEGAL_ADDRESS);
}

static void a_trap_names_block_and_thread(void)
{
    const hand_call call = {"b.trap", .grid = 10, .block = 32};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_LAUNCH_FAILED);
    CHECK(unit.fault.ctaid[0] == 3 && unit.fault.has_thread && unit.fault.tid[0] == 5);
}

static void an_endless_kernel_meets_its_time_limit(void)
{
    const hand_call call = {"b.forever",     .grid = 40,   .block = 1,
                            .safepoints = 1, .workers = 2, .timeout_ns = 30000000};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_LAUNCH_TIMEOUT);
    const hand_call rounds = {"t.rounds", .grid = 2, .block = 40, .timeout_ns = 30000000};
    CHECK_OK(hand_run(&unit, &rounds, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_LAUNCH_TIMEOUT);
}

static void an_illegal_instruction_ends_the_launch(void)
{
    const hand_call call = {"b.illegal", .grid = 3, .block = 1};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_ILLEGAL_INSTRUCTION);
}

static void parked_blocks_let_later_ones_run(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        uint32_t turn[64] = {0};
        void *params = turn;
        const hand_call call = {"b.backwards",    .grid = 200,      .block = 1,
                                .safepoints = 1,  .cooperative = 1, .workers = workers,
                                .params = &params};
        CHECK_OK(hand_run(&unit, &call, &error), error);
        CHECK(unit.fault.code == 0 && turn[0] == 200);
    }
}

static void threads_meet_at_a_barrier(void)
{
    static uint32_t out[64 * 20];
    void *params = out;
    const hand_call call = {"t.reverse", .grid = 20, .block = 64, .shared_bytes = 256,
                            .params = &params};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == 0);
    bool right = true;
    for (uint32_t i = 0; i < 64 * 20; i++)
        right = right && out[i] == 63 - i % 64;
    CHECK(right);
}

static void lanes_meet_in_their_warp(void)
{
    static uint32_t out[40];
    void *params = out;
    const hand_call call = {"t.warp", .grid = 1, .block = 40, .params = &params};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == 0);
    for (uint32_t i = 0; i < 40; i++)
        CHECK(out[i] == (i ^ 1) + (i < 8 ? 255000u : 0));
}

static void a_deadlock_is_found_and_told(void)
{
    const hand_call call = {"t.deadlock", .grid = 2, .block = 32};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == SOFT_ERROR_LAUNCH_TIMEOUT);
    CHECK(strstr(unit.fault.text, "barrier 1") && strstr(unit.fault.text, "barrier 0"));
}

static void threads_that_left_are_not_waited_for(void)
{
    static uint32_t out[64];
    void *params = out;
    const hand_call call = {"t.leave", .grid = 1, .block = 64, .params = &params};
    CHECK_OK(hand_run(&unit, &call, &error), error);
    CHECK(unit.fault.code == 0 && out[0] == 32 && out[62] == 32 && out[1] == 0);
}

static void wrong_sizes_are_refused(void)
{
    hand_call call = {"b.count", .grid = 0, .block = 1};
    CHECK(hand_run(&unit, &call, &error) == 1);
    call = (hand_call){"b.count", .grid = 1, .block = 1025};
    CHECK(hand_run(&unit, &call, &error) == 1 && strstr(error.message, "1025"));
    call = (hand_call){"b.count", .grid = 1, .block = 1, .shared_bytes = 228 << 10};
    CHECK(hand_run(&unit, &call, &error) == 1);
}

static void parts_call_each_other(void)
{
    static const char split[] =
        "define i32 @f.twice(i32 %x) noinline {\n  %y = shl i32 %x, 1\n  ret i32 %y\n}\n"
        "@table = internal constant [2 x ptr] [ptr @f.twice, ptr @f.twice]\n"
        "define void @b.one(ptr %b) {\n  %p = getelementptr i8, ptr %b, i64 8\n"
        "  %v = call i32 @f.twice(i32 21)\n  store i32 %v, ptr %p\n  ret void\n}\n"
        "define void @b.two(ptr %b) {\n  %p = getelementptr i8, ptr %b, i64 8\n"
        "  %i = load i64, ptr %p\n  %q = getelementptr ptr, ptr @table, i64 %i\n"
        "  %f = load ptr, ptr %q\n  %v = call i32 %f(i32 4)\n"
        "  store i32 %v, ptr %p\n  ret void\n}\n";
    hand_unit other;
    CHECK_OK(hand_open(&other, split, 2, &error), error);
    CHECK(other.result.object_count == 2);
    const char *names[] = {"b.one", "b.two"};
    const uint32_t wanted[] = {42, 8};
    for (int i = 0; i < 2; i++) {
        const soft_image_function *f = soft_image_find(&other.image, names[i]);
        if (!CHECK(f != NULL))
            continue;
        uint64_t block[4] = {0};
        ((ptx_block_fn *)((uintptr_t)other.image.base + f->start))((void *)block);
        CHECK((uint32_t)block[1] == wanted[i]);
    }
    hand_close(&other);
}

static void bad_ir_is_refused_with_a_reason(void)
{
    hand_unit other;
    /* LLVM would end the process here. */
    CHECK(hand_open(&other,
                    "define void @b.x(ptr %b) {\n"
                    "  %v = call i32 asm sideeffect \"\", \"={nosuchregister}\"()\n"
                    "  store i32 %v, ptr %b\n  ret void\n}",
                    1, &error) != 0);
    hand_close(&other);
    CHECK(hand_open(&other,
                    "define i8 @b.x(ptr %b) {\n"
                    "  %v = call i8 @llvm.experimental.gc.result.i8(token none)\n"
                    "  ret i8 %v\n}\n"
                    "declare i8 @llvm.experimental.gc.result.i8(token)\n",
                    1, &error) != 0);
    hand_close(&other);
    CHECK(hand_open(&other, "define void @b.x(ptr %b) { ret i32 0 }", 1, &error) != 0);
    CHECK(error.message[0] != '\0');
    hand_close(&other);
    CHECK(hand_open(&other,
                    "declare void @nobody()\n"
                    "define void @b.x(ptr %b) {\n  call void @nobody()\n  ret void\n}",
                    1, &error) == SOFT_ERROR_INVALID_IMAGE);
    CHECK(strstr(error.message, "nobody") != NULL);
    hand_close(&other);
}

/* Every byte of an object flipped, one at a time, and every length: the loader refuses or
 * loads, but stays within its bounds (asan sees to that). */
static void damaged_objects_are_survived(void)
{
    const soft_jit_object *whole = &unit.result.objects[0];
    unsigned char *copy = malloc(whole->count);
    soft_object object = {copy, whole->count};
    const soft_loader_input input = {
        .objects = &object, .object_count = 1, .resolve = hand_resolve};
    for (size_t i = 0; i < whole->count; i += 1 + i / 512) {
        memcpy(copy, whole->bytes, whole->count);
        copy[i] ^= (unsigned char)(1u << i % 8 | 0x80);
        soft_image image;
        if (soft_image_load(&input, NULL, &image, &error) == GPH_OK)
            soft_image_unload(&image);
    }
    free(copy);
    for (size_t n = 0; n < whole->count; n += 97) {
        copy = malloc(n + 1);
        memcpy(copy, whole->bytes, n);
        object = (soft_object){copy, n};
        soft_image image;
        const gph_status status = soft_image_load(&input, NULL, &image, &error);
        CHECK(status == SOFT_ERROR_INVALID_IMAGE);
        free(copy);
    }
}

int main(void)
{
    if (hand_open(&unit, ir, 2, &error) != GPH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    RUN(blocks_run_once_each);
    RUN(a_wild_access_is_an_error_of_the_launch);
    RUN(a_trap_names_block_and_thread);
    RUN(an_endless_kernel_meets_its_time_limit);
    RUN(an_illegal_instruction_ends_the_launch);
    RUN(parked_blocks_let_later_ones_run);
    RUN(threads_meet_at_a_barrier);
    RUN(lanes_meet_in_their_warp);
    RUN(a_deadlock_is_found_and_told);
    RUN(threads_that_left_are_not_waited_for);
    RUN(wrong_sizes_are_refused);
    RUN(parts_call_each_other);
    RUN(bad_ir_is_refused_with_a_reason);
    RUN(damaged_objects_are_survived);
    hand_close(&unit);
    return test_done();
}
