// SPDX-License-Identifier: Apache-2.0
/* Random kernels, as PTX text, whose result does not depend on timing: nested branches,
 * loops and switches that are uniform in the block, in the warp or not at all, with
 * barriers, shuffles, votes, shared and local memory and calls where PTX allows them. The
 * same seed gives the same text on every machine.
 *
 * A thread has eight values %r0 ... %r7 of its own, and %u0 ... %u3 that all threads of
 * the block share; at the end it stores a hash of its own. */
#ifndef CONFORMANCE_RANDOM_KERNEL_H
#define CONFORMANCE_RANDOM_KERNEL_H
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* How much of the block is sure to be at a place together. */
enum random_together { ALONE, WARP, BLOCK };

struct random_kernel {
    char *text;
    size_t bytes, length;
    uint64_t state;
    unsigned labels; /* used so far */
    unsigned loops;  /* open ones: %c<n> counts the nth */
    int left;        /* statements that may still be written */
};

static inline uint32_t random_next(struct random_kernel *k, uint32_t below)
{
    k->state = k->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(k->state >> 33) % below;
}

static inline void random_put(struct random_kernel *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void random_put(struct random_kernel *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(k->text + k->length, k->bytes - k->length, format, args);
    va_end(args);
    if (n > 0 && k->length + (size_t)n < k->bytes)
        k->length += (size_t)n;
}

/* A source operand into `out`: a value of the thread, of the block, or a number. */
static inline const char *random_source(struct random_kernel *k, char out[16])
{
    switch (random_next(k, 5)) {
    case 0: snprintf(out, 16, "%%u%u", random_next(k, 4)); break;
    case 1: snprintf(out, 16, "%u", random_next(k, 64)); break;
    default: snprintf(out, 16, "%%r%u", random_next(k, 8)); break;
    }
    return out;
}

static inline void random_arithmetic(struct random_kernel *k, const char *to)
{
    static const char *const two[] = {
        "add.s32",    "sub.s32", "mul.lo.s32", "xor.b32",     "and.b32", "or.b32",
        "min.s32",    "max.u32", "shl.b32",    "shr.u32",     "shr.s32", "mul.hi.u32",
        "mul.hi.s32", "min.u32", "max.s32",    "mul24.lo.u32"};
    static const char *const one[] = {"popc.b32", "clz.b32", "brev.b32",  "not.b32",
                                      "neg.s32",  "abs.s32", "bfind.u32", "cnot.b32"};
    static const char *const three[] = {"mad.lo.s32",      "sad.u32",   "bfe.u32",
                                        "prmt.b32",        "bfe.s32",   "shf.l.wrap.b32",
                                        "shf.r.clamp.b32", "mad.hi.u32"};
    char a[16], b[16], c[16];
    switch (random_next(k, 7)) {
    case 0:
        random_put(k, "%s %s,%s;\n", one[random_next(k, 8)], to, random_source(k, a));
        break;
    case 1:
        random_put(k, "%s %s,%s,%s,%s;\n", three[random_next(k, 8)], to,
                   random_source(k, a), random_source(k, b), random_source(k, c));
        break;
    case 2:
        random_put(k, "setp.%s.s32 %%q,%s,%s;\nselp.b32 %s,%s,%s,%%q;\n",
                   random_next(k, 2) ? "lt" : "ne", random_source(k, a),
                   random_source(k, b), to, a, b);
        break;
    case 3: /* by 0 gives what the chip likes */
        random_put(k, "or.b32 %%x,%s,1;\n%s %s,%s,%%x;\n", random_source(k, b),
                   random_next(k, 2) ? "div.u32" : "rem.u32", to, random_source(k, a));
        break;
    default:
        random_put(k, "%s %s,%s,%s;\n", two[random_next(k, 16)], to, random_source(k, a),
                   random_source(k, b));
        break;
    }
}

/* Sets %q by a condition that is the same for as many threads as `together` says. */
static inline void random_condition(struct random_kernel *k,
                                    enum random_together together)
{
    const unsigned bit = 1u << random_next(k, 3);
    if (together == BLOCK)
        random_put(k, "and.b32 %%t,%%u%u,%u;\n", random_next(k, 4), bit);
    else if (together == WARP)
        random_put(k, "and.b32 %%t,%%w,%u;\n", bit);
    else
        random_put(k, "and.b32 %%t,%%r%u,%u;\n", random_next(k, 8), bit);
    random_put(k, "setp.%s.u32 %%q,%%t,0;\n", random_next(k, 2) ? "eq" : "ne");
}

static inline enum random_together random_lesser(struct random_kernel *k,
                                                 enum random_together together)
{
    return (enum random_together)random_next(k, (uint32_t)together + 1);
}

static inline void random_block(struct random_kernel *k, enum random_together together,
                                int depth);

static inline void random_if(struct random_kernel *k, enum random_together together,
                             int depth)
{
    const enum random_together inside = random_lesser(k, together);
    const unsigned label = k->labels;
    const int has_else = random_next(k, 2) != 0;
    k->labels += 2;
    random_condition(k, inside);
    random_put(k, "@%%q bra L%u;\n", label);
    random_block(k, inside, depth + 1);
    if (has_else)
        random_put(k, "bra L%u;\n", label + 1);
    random_put(k, "L%u:\n", label);
    if (has_else)
        random_block(k, inside, depth + 1);
    random_put(k, "L%u:\n", label + 1);
}

/* At most five trips, as many for every thread as `inside` says; may be left early. */
static inline void random_loop(struct random_kernel *k, enum random_together together,
                               int depth)
{
    const enum random_together inside = random_lesser(k, together);
    const unsigned label = k->labels, counter = k->loops++;
    char limit[16];
    k->labels += 2;
    if (inside == WARP)
        snprintf(limit, sizeof(limit), "%%w");
    else
        snprintf(limit, sizeof(limit), "%%%c%u", inside == BLOCK ? 'u' : 'r',
                 random_next(k, 4));
    random_put(k, "and.b32 %%c%u,%s,3;\nadd.u32 %%c%u,%%c%u,%u;\nL%u:\n", counter, limit,
               counter, counter, random_next(k, 2), label);
    if (random_next(k, 2)) /* tested at the top: none is possible */
        random_put(k, "setp.eq.u32 %%q,%%c%u,0;\n@%%q bra L%u;\n", counter, label + 1);
    random_block(k, inside, depth + 1);
    if (random_next(k, 3) == 0) {
        random_condition(k, inside);
        random_put(k, "@%%q bra L%u;\n", label + 1);
        random_block(k, inside, depth + 1);
    }
    random_put(k,
               "sub.u32 %%c%u,%%c%u,1;\nsetp.gt.s32 %%q,%%c%u,0;\n@%%q bra L%u;\nL%u:\n",
               counter, counter, counter, label, label + 1);
    k->loops--;
}

static inline void random_switch(struct random_kernel *k, enum random_together together,
                                 int depth)
{
    const enum random_together inside = random_lesser(k, together);
    const unsigned label = k->labels;
    k->labels += 5;
    random_put(k, "and.b32 %%t,%%%c%u,3;\nT%u: .branchtargets L%u,L%u,L%u,L%u;\n",
               inside == BLOCK ? 'u' : 'r', random_next(k, 4), label, label, label + 1,
               label + 2, label + 1);
    random_put(k, "brx.idx %%t,T%u;\n", label);
    for (unsigned i = 0; i < 3; i++) {
        random_put(k, "L%u:\n", label + i);
        random_block(k, inside == BLOCK ? BLOCK : ALONE, depth + 1);
        if (random_next(k, 3)) /* else falls through */
            random_put(k, "bra L%u;\n", label + 4);
    }
    random_put(k, "L%u:\n", label + 4);
}

/* Every thread gives a value to another one of the block. */
static inline void random_exchange(struct random_kernel *k)
{
    random_put(k,
               "st.shared.b32 [%%s],%%r%u;\nbar.sync 0;\nadd.u32 %%t,%%tx,%u;\n"
               "rem.u32 %%t,%%t,%%n;\nshl.b32 %%t,%%t,2;\nadd.u32 %%t,%%base,%%t;\n"
               "ld.shared.b32 %%r%u,[%%t];\nbar.sync 0;\n",
               random_next(k, 8), random_next(k, 200), random_next(k, 8));
}

static inline void random_block_operation(struct random_kernel *k)
{
    switch (random_next(k, 4)) {
    case 0:
        random_put(k, "setp.lt.s32 %%q,%%r%u,%%r%u;\nbar.red.popc.u32 %%r%u,0,%%q;\n",
                   random_next(k, 8), random_next(k, 8), random_next(k, 8));
        break;
    case 1: { /* the value of the block changes: from shared memory */
        const unsigned value = random_next(k, 4);
        random_put(
            k,
            "st.shared.b32 [%%s],%%r%u;\nbar.sync 0;\nld.shared.b32 %%t,[buffer+%u];\n"
            "xor.b32 %%u%u,%%u%u,%%t;\nbar.sync 0;\n",
            random_next(k, 8), 4 * random_next(k, 64), value, value);
        break;
    }
    case 2:
        random_put(k,
                   "red.shared.add.u32 [count],%%r%u;\nbar.sync 0;\n"
                   "ld.shared.u32 %%r%u,[count];\nbar.sync 0;\n",
                   random_next(k, 8), random_next(k, 8));
        break;
    default: random_exchange(k); break;
    }
}

static inline void random_warp_operation(struct random_kernel *k)
{
    static const char *const modes[] = {"bfly", "up", "down", "idx"};
    static const char *const bounds[] = {"31", "0", "31", "31"};
    const unsigned mode = random_next(k, 4), to = random_next(k, 8),
                   from = random_next(k, 8);
    switch (random_next(k, 4)) {
    case 0:
        random_put(k, "setp.gt.s32 %%q,%%r%u,%u;\nvote.sync.ballot.b32 %%r%u,%%q,-1;\n",
                   from, random_next(k, 100), to);
        break;
    case 1:
        random_put(k, "and.b32 %%t,%%r%u,3;\nmatch.any.sync.b32 %%r%u,%%t,-1;\n", from,
                   to);
        break;
    default:
        random_put(k, "shfl.sync.%s.b32 %%r%u|%%q,%%r%u,%u,%s,-1;\n", modes[mode], to,
                   from, random_next(k, 32), bounds[mode]);
        random_put(k, "@!%%q add.u32 %%r%u,%%r%u,1;\n", to, to);
        break;
    }
}

/* Some lanes leave for a block in which they shuffle among themselves. */
static inline void random_masked(struct random_kernel *k)
{
    const unsigned label = k->labels++, value = random_next(k, 8);
    random_condition(k, ALONE);
    random_put(k, "vote.sync.ballot.b32 %%m,%%q,-1;\n@!%%q bra L%u;\n", label);
    random_put(k, "shfl.sync.bfly.b32 %%t|%%q,%%r%u,%u,31,%%m;\n", value,
               1u << random_next(k, 5));
    /* a lane outside the mask gives nothing that may be used */
    random_put(k, "popc.b32 %%t,%%m;\nadd.u32 %%r%u,%%r%u,%%t;\n", value, value);
    random_put(k, "vote.sync.all.pred %%q,%%q,%%m;\nbar.warp.sync %%m;\nL%u:\n", label);
}

static inline void random_local(struct random_kernel *k)
{
    random_put(k,
               "and.b32 %%t,%%r%u,15;\nshl.b32 %%t,%%t,2;\nadd.u32 %%t,%%stack,%%t;\n"
               "ld.local.b32 %%x,[%%t];\nst.local.b32 [%%t],%%r%u;\n"
               "xor.b32 %%r%u,%%r%u,%%x;\n",
               random_next(k, 8), random_next(k, 8), random_next(k, 8),
               random_next(k, 8));
}

static inline void random_call(struct random_kernel *k)
{
    random_put(
        k,
        "{ .param .b32 a; .param .b32 b; .param .b32 c;\nst.param.b32 [a],%%r%u;\n"
        "st.param.b32 [b],%%r%u;\ncall (c),collatz,(a,b);\nld.param.b32 %%r%u,[c]; "
        "}\n",
        random_next(k, 8), random_next(k, 8), random_next(k, 8));
}

static inline void random_statement(struct random_kernel *k,
                                    enum random_together together, int depth)
{
    char to[16];
    const uint32_t choice = random_next(k, 20);
    if (choice < 3 && depth < 4) {
        random_if(k, together, depth);
    } else if (choice < 5 && depth < 3 && k->loops < 3) {
        random_loop(k, together, depth);
    } else if (choice == 5 && depth < 3) {
        random_switch(k, together, depth);
    } else if (choice < 8 && together == BLOCK) {
        random_block_operation(k);
    } else if (choice < 10 && together >= WARP) {
        random_warp_operation(k);
    } else if (choice == 10 && together >= WARP) {
        random_masked(k);
    } else if (choice == 11) {
        random_local(k);
    } else if (choice == 12) {
        random_call(k);
    } else if (choice == 13 && together == BLOCK) {
        snprintf(to, sizeof(to), "%%u%u", random_next(k, 4));
        random_put(k, "mad.lo.u32 %s,%s,%u,%%u%u;\n", to, to, random_next(k, 99),
                   random_next(k, 4));
    } else {
        snprintf(to, sizeof(to), "%%r%u", random_next(k, 8));
        random_arithmetic(k, to);
    }
}

static inline void random_block(struct random_kernel *k, enum random_together together,
                                int depth)
{
    for (uint32_t n = 1 + random_next(k, depth == 0 ? 20 : 5); n > 0 && k->left > 0;
         n--) {
        k->left--;
        random_statement(k, together, depth);
    }
}

static inline void random_begin(struct random_kernel *k)
{
    random_put(k, ".version 7.0\n.target sm_70\n.address_size 64\n"
                  ".func (.param .b32 out) collatz(.param .b32 a,.param .b32 b)\n{\n"
                  ".reg .b32 %%x<6>;\n.reg .pred %%p<3>;\n"
                  "ld.param.b32 %%x0,[a];\nld.param.b32 %%x1,[b];\nand.b32 %%x1,%%x1,7;\n"
                  "AGAIN:\nsetp.eq.u32 %%p0,%%x1,0;\n@%%p0 bra DONE;\n"
                  "and.b32 %%x2,%%x0,1;\nsetp.eq.u32 %%p1,%%x2,0;\n@%%p1 bra EVEN;\n"
                  "mad.lo.u32 %%x0,%%x0,3,1;\nbra NEXT;\nEVEN:\nshr.u32 %%x0,%%x0,1;\n"
                  "NEXT:\nsub.u32 %%x1,%%x1,1;\nbra AGAIN;\nDONE:\n"
                  "st.param.b32 [out],%%x0;\nret;\n}\n");
}

/* Adds the kernel `k<number>(out, seed)`: u32 out[blocks * threads]. */
static inline void random_add(struct random_kernel *k, unsigned number)
{
    k->state = number * 2654435761u + 12345;
    k->labels = k->loops = 0;
    k->left = 60;
    random_put(k,
               ".visible .entry k%u(.param .u64 out,.param .u32 seed)\n{\n"
               ".reg .pred %%q;\n.reg .b32 %%r<8>,%%u<4>,%%c<4>;\n"
               ".reg .b32 %%t,%%x,%%s,%%n,%%w,%%m,%%tx,%%base,%%lane,%%stack;\n"
               ".reg .b64 %%rd<4>;\n.shared .align 4 .b8 buffer[1024];\n"
               ".shared .align 4 .b32 count;\n.local .align 4 .b8 depot[64];\n"
               "mov.u32 %%tx,%%tid.x;\nmov.u32 %%n,%%ntid.x;\nmov.u32 %%lane,%%laneid;\n"
               "shr.u32 %%w,%%tx,5;\nmov.u32 %%base,buffer;\nshl.b32 %%s,%%tx,2;\n"
               "add.u32 %%s,%%base,%%s;\nmov.u32 %%stack,depot;\n"
               "st.shared.b32 [%%s],%%tx;\nst.shared.b32 [count],0;\n",
               number);
    for (int i = 0; i < 16; i++)
        random_put(k, "st.local.b32 [depot+%d],%d;\n", 4 * i, i * i);
    random_put(k, "ld.param.u32 %%u0,[seed];\nmov.u32 %%t,%%ctaid.x;\n"
                  "add.u32 %%u1,%%u0,%%t;\nmul.lo.u32 %%u2,%%u1,2654435761;\n"
                  "shr.u32 %%u3,%%u2,7;\n");
    for (int i = 0; i < 8; i++)
        random_put(k,
                   "mad.lo.u32 %%r%d,%%tx,%u,%%u%d;\nshr.u32 %%t,%%r%d,%d;\n"
                   "xor.b32 %%r%d,%%r%d,%%t;\n",
                   i, 2246822519u + 2u * (unsigned)i * 77u, i % 4, i, 5 + i, i, i);
    random_put(k, "bar.sync 0;\n");
    while (k->left > 0)
        random_block(k, BLOCK, 0);
    for (int i = 1; i < 8; i++)
        random_put(k, "mad.lo.u32 %%r0,%%r0,31,%%r%d;\n", i);
    random_put(k, "mov.u32 %%t,%%ctaid.x;\nmad.lo.u32 %%t,%%t,%%n,%%tx;\n"
                  "ld.param.u64 %%rd0,[out];\ncvta.to.global.u64 %%rd0,%%rd0;\n"
                  "mul.wide.u32 %%rd1,%%t,4;\nadd.u64 %%rd0,%%rd0,%%rd1;\n"
                  "st.global.u32 [%%rd0],%%r0;\nret;\n}\n");
}
#endif
