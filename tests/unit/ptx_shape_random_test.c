// SPDX-License-Identifier: Apache-2.0
/* Random control flow on both paths: kernels with nested ifs and loops, uniform and
 * divergent, barriers, shuffles, votes, early ends, made from a seed. Fast and slow path
 * must leave the same bytes. `SHAPE_SEEDS=first:count` runs others than the usual ones;
 * a failure prints the seed, `SHAPE_PRINT=1` the program. */
#include <stdarg.h>

#include "kernel_run.h"
#include "test.h"

#define VALUES 6       /* %v0 ... */
#define TEXT_MAX 65536 /* of one kernel */
#define OUT_WORDS (VALUES + 2)
#define THREADS_MAX 128
#define BLOCKS 2

typedef struct maker {
    uint64_t state;
    char text[TEXT_MAX];
    size_t length;
    uint32_t labels, masks, counters, uniforms;
    uint32_t budget; /* statements left */
} maker;

static void say(maker *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    m->length +=
        (size_t)vsnprintf(m->text + m->length, TEXT_MAX - m->length, format, args);
    va_end(args);
    if (m->length >= TEXT_MAX)
        abort();
}

static uint32_t roll(maker *m, uint32_t below)
{
    m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(m->state >> 33) % below;
}

/* Where a statement is. */
typedef struct place {
    uint32_t depth;
    uint32_t mask; /* %m<mask>: the lanes of the warp that come here together */
    bool together; /* all live threads of the block do */
    bool whole;    /* no lane of a whole warp is missing */
    bool in_loop;
} place;

static void statements(maker *m, place at);

static void arithmetic(maker *m)
{
    static const char *const ops[] = {"add.s32", "xor.b32", "mul.lo.s32", "sub.s32",
                                      "min.u32", "max.s32", "and.b32",    "or.b32"};
    const uint32_t to = roll(m, VALUES), a = roll(m, VALUES);
    if (roll(m, 3) == 0)
        say(m, "%s %%v%u, %%v%u, %u;\n", ops[roll(m, 8)], to, a, roll(m, 1000));
    else if (roll(m, 8) == 0)
        say(m, "@%%q%u add.s32 %%v%u, %%v%u, 17;\n", roll(m, 2), to, a);
    else
        say(m, "%s %%v%u, %%v%u, %%v%u;\n", ops[roll(m, 8)], to, a, roll(m, VALUES));
}

/* A predicate: %p, which differs by thread, or a fresh one, the same for all (a register
 * that is divergent anywhere is so everywhere). */
static const char *predicate(maker *m, bool uniform)
{
    static char name[24];
    snprintf(name, sizeof(name), "%%p");
    if (uniform) {
        const uint32_t n = m->uniforms++;
        say(m, "and.b32 %%tu%u, %%u%u, %u;\nsetp.lt.u32 %%pu%u, %%tu%u, %u;\n", n,
            roll(m, 3), roll(m, 7), n, n, roll(m, 6));
        snprintf(name, sizeof(name), "%%pu%u", n);
    } else if (roll(m, 3) == 0) {
        say(m, "setp.lt.u32 %%p, %%me, %u;\n", roll(m, 70));
    } else {
        say(m, "and.b32 %%t0, %%v%u, 7;\nsetp.lt.u32 %%p, %%t0, %u;\n", roll(m, VALUES),
            roll(m, 8));
    }
    return name;
}

/* The lanes of `from` where the predicate holds (or not), as a new mask. */
static uint32_t ballot(maker *m, uint32_t from, const char *p, bool negate)
{
    const uint32_t mask = ++m->masks;
    say(m, "vote.sync.ballot.b32 %%m%u, %s%s, %%m%u;\n", mask, negate ? "!" : "", p,
        from);
    return mask;
}

static void branch(maker *m, place at)
{
    const bool uniform = roll(m, 3) == 0, otherwise = roll(m, 2);
    const uint32_t label = m->labels++;
    place yes = at, no = at;
    const char *p = predicate(m, uniform);
    yes.depth = no.depth = at.depth + 1;
    if (!uniform) {
        yes.mask = ballot(m, at.mask, p, false);
        no.mask = ballot(m, at.mask, p, true);
        yes.together = yes.whole = no.together = no.whole = false;
    }
    say(m, "@!%s bra ELSE%u;\n", p, label);
    statements(m, yes);
    if (otherwise)
        say(m, "bra DONE%u;\n", label);
    say(m, "ELSE%u:\n", label);
    if (otherwise) {
        statements(m, no);
        say(m, "DONE%u:\n", label);
    }
}

static void uniform_loop(maker *m, place at)
{
    const uint32_t label = m->labels++, counter = m->counters++;
    const uint32_t test = m->uniforms++;
    at.depth++;
    at.in_loop = true;
    if (roll(m, 2))
        say(m, "mov.u32 %%c%u, 0;\n", counter);
    else
        say(m, "and.b32 %%c%u, %%u%u, 1;\n", counter, roll(m, 3));
    say(m, "LOOP%u:\n", label);
    statements(m, at);
    say(m, "add.u32 %%c%u, %%c%u, 1;\nadd.u32 %%v%u, %%v%u, %%c%u;\n", counter, counter,
        roll(m, VALUES), roll(m, VALUES), counter);
    say(m, "setp.lt.u32 %%pu%u, %%c%u, %u;\n@%%pu%u bra LOOP%u;\n", test, counter,
        2 + roll(m, 2), test, label);
}

/* Trip counts by thread; the mask follows the threads that stay. */
static void divergent_loop(maker *m, place at)
{
    const uint32_t label = m->labels++, counter = m->counters++, mask = ++m->masks;
    const uint32_t fresh = ++m->masks;
    place body = at;
    body.depth++;
    body.mask = mask;
    body.together = body.whole = false;
    body.in_loop = true;
    say(m, "mov.u32 %%m%u, %%m%u;\n", mask, at.mask);
    say(m, "and.b32 %%c%u, %%v%u, 3;\nLOOP%u:\n", counter, roll(m, VALUES), label);
    say(m, "setp.ne.u32 %%p, %%c%u, 0;\n", counter);
    say(m, "vote.sync.ballot.b32 %%m%u, %%p, %%m%u;\n@!%%p bra DONE%u;\n", fresh, mask,
        label);
    say(m, "mov.u32 %%m%u, %%m%u;\n", mask, fresh);
    statements(m, body);
    say(m, "sub.u32 %%c%u, %%c%u, 1;\nbra LOOP%u;\nDONE%u:\n", counter, counter, label,
        label);
}

/* for (i = tid; i < n; i += stride) */
static void strided_loop(maker *m)
{
    const uint32_t label = m->labels++, counter = m->counters++, v = roll(m, VALUES);
    say(m, "add.u32 %%c%u, %%me, %u;\nsetp.ge.u32 %%p, %%c%u, 200;\n", counter,
        roll(m, 40), counter);
    say(m, "@%%p bra DONE%u;\nLOOP%u:\n", label, label);
    say(m,
        "and.b32 %%t0, %%c%u, 63;\nmul.wide.u32 %%d0, %%t0, 4;\n"
        "add.s64 %%d0, %%in, %%d0;\nld.global.u32 %%t1, [%%d0];\n"
        "mad.lo.u32 %%v%u, %%v%u, 31, %%t1;\n",
        counter, v, v);
    say(m, "add.u32 %%c%u, %%c%u, %%u0;\nsetp.lt.u32 %%p, %%c%u, 200;\n", counter,
        counter, counter);
    say(m, "@%%p bra LOOP%u;\nDONE%u:\n", label, label);
}

/* Among whole warps any lane may be read; else the lowest of those that are here. */
static void shuffle(maker *m, place at)
{
    static const char *const modes[] = {"bfly", "down", "up", "idx"};
    const uint32_t to = roll(m, VALUES), from = roll(m, VALUES);
    if (!at.whole) {
        say(m, "brev.b32 %%t0, %%m%u;\nclz.b32 %%t0, %%t0;\n", at.mask);
        say(m, "shfl.sync.idx.b32 %%v%u, %%v%u, %%t0, 31, %%m%u;\n", to, from, at.mask);
        return;
    }
    const uint32_t mode = roll(m, 4);
    static const uint32_t clamps[] = {31, 7199, 6175}; /* widths 32, 4, 8 */
    const uint32_t c = mode == 2 ? clamps[roll(m, 3)] & ~31u : clamps[roll(m, 3)];
    if (roll(m, 2))
        say(m, "shfl.sync.%s.b32 %%v%u|%%q0, %%v%u, %u, %u, %%m%u;\n", modes[mode], to,
            from, roll(m, 32), c, at.mask);
    else
        say(m, "shfl.sync.%s.b32 %%v%u|%%q1, %%v%u, %%u%u, %u, %%m%u;\n", modes[mode], to,
            from, roll(m, 3), c, at.mask);
}

static void warp_operation(maker *m, place at)
{
    static const char *const votes[] = {"all.pred", "any.pred", "uni.pred"};
    static const char *const reductions[] = {"add.u32", "min.s32", "max.u32", "xor.b32"};
    const uint32_t to = roll(m, VALUES), from = roll(m, VALUES);
    switch (roll(m, 6)) {
    case 0:
        predicate(m, false);
        say(m, "vote.sync.%s %%q%u, %%p, %%m%u;\n", votes[roll(m, 3)], roll(m, 2),
            at.mask);
        break;
    case 1:
        predicate(m, false);
        say(m, "vote.sync.ballot.b32 %%v%u, !%%p, %%m%u;\n", to, at.mask);
        break;
    case 2:
        say(m, "redux.sync.%s %%v%u, %%v%u, %%m%u;\n", reductions[roll(m, 4)], to, from,
            at.mask);
        break;
    case 3:
        say(m, "and.b32 %%t0, %%v%u, 3;\nmatch.any.sync.b32 %%v%u, %%t0, %%m%u;\n", from,
            to, at.mask);
        break;
    default: shuffle(m, at); break;
    }
}

/* Own slot, barrier, another's slot, barrier. */
static void exchange(maker *m)
{
    say(m, "st.shared.u32 [%%slot], %%v%u;\nbar.sync 0;\n", roll(m, VALUES));
    say(m,
        "mad.lo.u32 %%t0, %%me, %u, %u;\nrem.u32 %%t0, %%t0, %%count;\n"
        "shl.b32 %%t0, %%t0, 2;\nmov.u32 %%t1, shared_words;\n"
        "add.u32 %%t0, %%t0, %%t1;\nld.shared.u32 %%v%u, [%%t0];\nbar.sync 0;\n",
        1 + roll(m, 5), roll(m, 20), roll(m, VALUES));
}

static void block_vote(maker *m)
{
    predicate(m, false);
    switch (roll(m, 3)) {
    case 0: say(m, "bar.red.popc.u32 %%v%u, 0, %%p;\n", roll(m, VALUES)); break;
    case 1: say(m, "bar.red.and.pred %%q0, 0, %%p;\n"); break;
    default: say(m, "bar.red.or.pred %%q1, 0, !%%p;\n"); break;
    }
}

static void leave(maker *m)
{
    for (uint32_t v = 0; v < VALUES; v++)
        say(m, "st.global.u32 [%%own+%u], %%v%u;\n", 4 * v, v);
    say(m,
        "selp.u32 %%t0, 1, 0, %%q0;\nselp.u32 %%t1, 2, 0, %%q1;\n"
        "add.u32 %%t0, %%t0, %%t1;\nst.global.u32 [%%own+%u], %%t0;\nret;\n",
        4 * (VALUES + 1));
}

/* Some threads end; from here on the mask names those that are left. */
static void early_end(maker *m, place *at)
{
    const uint32_t label = m->labels++;
    const char *p = predicate(m, roll(m, 4) == 0);
    at->mask = ballot(m, at->mask, p, true);
    at->whole = false;
    say(m, "@!%s bra STAY%u;\n", p, label);
    leave(m);
    say(m, "STAY%u:\n", label);
}

static void memory(maker *m)
{
    const uint32_t v = roll(m, VALUES);
    switch (roll(m, 4)) {
    case 0: say(m, "ld.global.u32 %%v%u, [%%in+%u];\n", v, 4 * roll(m, 64)); break;
    case 1: say(m, "st.global.u32 [%%own+%u], %%v%u;\n", 4 * VALUES, v); break;
    case 2: say(m, "red.global.add.u32 [%%sum], %%v%u;\n", v); break;
    default:
        say(m,
            "and.b32 %%t0, %%v%u, 63;\nmul.wide.u32 %%d0, %%t0, 4;\n"
            "add.s64 %%d0, %%in, %%d0;\nld.global.u32 %%v%u, [%%d0];\n",
            v, roll(m, VALUES));
        break;
    }
}

static void statement(maker *m, place *at)
{
    const uint32_t kind = roll(m, 20);
    if (kind < 3 && at->depth < 4)
        branch(m, *at);
    else if (kind == 3 && at->depth < 3)
        uniform_loop(m, *at);
    else if (kind == 4 && at->depth < 3)
        divergent_loop(m, *at);
    else if (kind == 5)
        strided_loop(m);
    else if (kind < 9)
        warp_operation(m, *at);
    else if (kind == 9 && at->together)
        exchange(m);
    else if (kind == 10 && at->together)
        block_vote(m);
    else if (kind == 11 && at->depth == 0)
        early_end(m, at);
    else if (kind < 15)
        memory(m);
    else
        arithmetic(m);
}

static void statements(maker *m, place at)
{
    for (uint32_t n = 2 + roll(m, 4); n > 0 && m->budget > 0; n--) {
        m->budget--;
        statement(m, &at);
    }
}

static const char head[] =
    "ld.param.u64 %in, [in];\nld.param.u64 %own, [out];\nld.param.u64 %sum, [sum];\n"
    "ld.param.u32 %u0, [a];\nld.param.u32 %u1, [b];\nmov.u32 %u2, %ctaid.x;\n"
    "mov.u32 %v0, %tid.x;\nmov.u32 %v1, %tid.y;\nmov.u32 %v2, %tid.z;\n"
    "mov.u32 %t0, %ntid.x;\nmov.u32 %t1, %ntid.y;\nmov.u32 %t2, %ntid.z;\n"
    "mad.lo.u32 %me, %v2, %t1, %v1;\nmad.lo.u32 %me, %me, %t0, %v0;\n"
    "mul.lo.u32 %count, %t0, %t1;\nmul.lo.u32 %count, %count, %t2;\n"
    "mad.lo.u32 %t2, %u2, %count, %me;\nmul.wide.u32 %d0, %t2, 32;\n"
    "add.s64 %own, %own, %d0;\n"
    "mul.lo.u32 %v3, %t2, 747796405;\nshr.u32 %v4, %v3, 7;\nxor.b32 %v5, %v4, %u1;\n"
    "setp.lt.u32 %q0, %v4, 1000;\nsetp.lt.u32 %q1, %me, 5;\n"
    /* the lanes of this warp: the last one may not be whole */
    "shr.u32 %t0, %me, 5;\nshl.b32 %t0, %t0, 5;\nsub.u32 %t0, %count, %t0;\n"
    "min.u32 %t0, %t0, 32;\nsub.u32 %t0, 32, %t0;\nmov.u32 %m0, -1;\n"
    "shr.u32 %m0, %m0, %t0;\n"
    "mov.u32 %t1, shared_words;\nshl.b32 %t0, %me, 2;\nadd.u32 %slot, %t0, %t1;\n"
    "st.shared.u32 [%slot], %v3;\nbar.sync 0;\n";

static void make_kernel(maker *m, uint64_t seed, bool whole)
{
    static char body[TEXT_MAX];
    m->state = seed * 0x9e3779b97f4a7c15ull + 1;
    m->length = 0;
    m->labels = m->masks = m->counters = m->uniforms = 0;
    m->budget = 40;
    place top = {.together = true, .whole = whole};
    while (m->budget > 0) {
        m->budget--;
        statement(m, &top);
    }
    memcpy(body, m->text, m->length + 1);
    m->length = 0;
    say(m,
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sum, "
        ".param .u32 a, .param .u32 b)\n{\n"
        ".reg .pred %%p, %%pu<%u>, %%q<2>;\n.reg .b32 %%v<%u>, %%u<3>, %%t<3>, %%tu<%u>, "
        "%%me, "
        "%%count, "
        "%%slot, %%m<%u>, %%c<%u>;\n.reg .b64 %%in, %%own, %%sum, %%d0;\n"
        ".shared .align 4 .b8 shared_words[%u];\n%s",
        m->uniforms + 1, VALUES, m->uniforms + 1, m->masks + 1, m->counters + 1,
        4 * THREADS_MAX, head);
    say(m, "%s", body);
    leave(m);
    say(m, "}\n");
}

typedef struct result {
    uint32_t out[BLOCKS * THREADS_MAX * OUT_WORDS], sum;
} result;

static bool run_kernel(const char *text, int flags, const uint32_t *block, uint32_t seed,
                       result *out)
{
    static uint32_t in[64];
    gph_error error = {0};
    memset(out, 0, sizeof(*out));
    for (uint32_t i = 0; i < 64; i++)
        in[i] = i * 2654435761u + seed;
    kernel_unit *unit = kernel_open(text, flags, &error);
    if (!CHECK(unit != NULL)) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    unit->timeout_ns = 20000000000ull;
    const struct {
        uint64_t in, out, sum;
        uint32_t a, b;
    } params = {(uint64_t)(uintptr_t)in, (uint64_t)(uintptr_t)out->out,
                (uint64_t)(uintptr_t)&out->sum, 16 + seed % 50, seed % 13};
    const kernel_call call = {
        .name = "k", .grid = {BLOCKS}, .block = {block[0], block[1], block[2]}};
    const bool ran = CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    const bool fast = kernel_about(unit, "k")->path == PTX_PATH_FAST;
    if (flags == KERNEL_FAST && !CHECK(fast))
        fprintf(stderr, "seed %u is slow: %s\n", seed, kernel_about(unit, "k")->reason);
    kernel_close(unit);
    return ran;
}

static void check_seed(uint32_t seed)
{
    static const uint32_t blocks[][3] = {{64, 1, 1}, {96, 1, 1},  {40, 1, 1}, {8, 8, 1},
                                         {4, 4, 4},  {128, 1, 1}, {33, 3, 1}};
    static maker m;
    static result fast, slow;
    const uint32_t *block = blocks[seed % 7];
    make_kernel(&m, seed, block[0] * block[1] * block[2] % 32 == 0);
    if (getenv("SHAPE_PRINT"))
        fputs(m.text, stdout);
    if (!run_kernel(m.text, KERNEL_SLOW, block, seed, &slow) ||
        !run_kernel(m.text, KERNEL_FAST, block, seed, &fast) ||
        !CHECK(memcmp(&fast, &slow, sizeof(fast)) == 0))
        fprintf(stderr, "seed %u, block %u x %u x %u\n", seed, block[0], block[1],
                block[2]);
}

static void random_programs_are_the_same_on_both_paths(void)
{
    uint32_t first = 1, count = 8;
    const char *seeds = getenv("SHAPE_SEEDS");
    if (seeds != NULL && sscanf(seeds, "%u:%u", &first, &count) != 2)
        count = 0;
    for (uint32_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    CHECK(count > 0);
}

int main(void)
{
    RUN(random_programs_are_the_same_on_both_paths);
    return test_done();
}
