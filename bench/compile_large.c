// SPDX-License-Identifier: Apache-2.0
#include "compile_large.h"

#include <stdio.h>
#include <stdlib.h>

enum { REGISTERS = 8, FIRST = 10, LINE_BYTES_MAX = 96 };

const char *const large_names[LARGE_KINDS] = {"straight on", "divergent branches",
                                              "loads and stores", "barriers",
                                              "barriers, none alike"};

typedef struct text {
    char *bytes;
    size_t length;
    unsigned insns, label, random;
} text;

#define PUT(t, ...)                                                                      \
    ((t)->insns++, (t)->length += (size_t)sprintf((t)->bytes + (t)->length, __VA_ARGS__))

static void put_straight(text *t, unsigned i, unsigned a, unsigned b, unsigned c)
{
    PUT(t, "mad.lo.s32 %%r%u, %%r%u, %%r%u, %u;\n", a, b, c, i);
    PUT(t, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", i % 8, (i + 1) % 8, (i + 3) % 8,
        (i + 5) % 8);
    PUT(t, "xor.b32 %%r%u, %%r%u, %%r%u;\n", b, a, c);
    PUT(t, "shr.u32 %%r%u, %%r%u, %u;\n", c, c, i % 5);
}

static void put_some(text *t, unsigned count, const char *by, unsigned i, unsigned a,
                     unsigned c)
{
    for (unsigned k = 0; k < count; k++)
        PUT(t, "mad.lo.s32 %%r%u, %s, %%r%u, %u;\n", FIRST + (a + k) % REGISTERS, by, c,
            i + k);
}

static void put_divergent(text *t, unsigned i, unsigned a, unsigned b, unsigned c)
{
    char by[8];
    snprintf(by, sizeof(by), "%%r%u", b);
    PUT(t, "and.b32 %%r30, %%r%u, %u;\n", a, 1u << i % 4);
    PUT(t, "setp.eq.u32 %%p1, %%r30, 0;\n");
    PUT(t, "@%%p1 bra L%u;\n", t->label);
    put_some(t, 5, by, i, a, c);
    PUT(t, "L%u:\nadd.u32 %%r%u, %%r%u, %%r%u;\n", t->label, c, c, a);
    t->label++;
}

static void put_memory(text *t, unsigned i, unsigned a, unsigned b, unsigned c)
{
    PUT(t, "ld.global.u32 %%r30, [%%rd1+%u];\n", i % 64 * 512);
    PUT(t, "mad.lo.s32 %%r%u, %%r30, %%r%u, %u;\n", a, b, i);
    PUT(t, "xor.b32 %%r%u, %%r%u, %%r%u;\n", c, c, a);
    PUT(t, "st.global.u32 [%%rd1+%u], %%r%u;\n", i * 7 % 64 * 512, c);
}

static void put_barriers(text *t, unsigned i, unsigned a, unsigned c)
{
    PUT(t, "st.shared.u32 [%%r3], %%r%u;\n", a);
    PUT(t, "bar.sync 0;\n");
    PUT(t, "ld.shared.u32 %%r30, [%%r4];\n");
    PUT(t, "bar.sync 0;\n");
    put_some(t, 4, "%r30", i, a, c);
}

/* As barriers, with four of seven operations on any registers. */
static void put_unlike(text *t, unsigned a)
{
    static const char *const operations[] = {"add.u32", "sub.u32", "xor.b32",   "and.b32",
                                             "or.b32",  "min.u32", "mul.lo.u32"};
    PUT(t, "st.shared.u32 [%%r3], %%r%u;\n", a);
    PUT(t, "bar.sync 0;\n");
    PUT(t, "ld.shared.u32 %%r30, [%%r4];\n");
    PUT(t, "bar.sync 0;\n");
    for (unsigned k = 0; k < 4; k++) {
        t->random = t->random * 1664525 + 1013904223;
        const unsigned r = t->random >> 8;
        PUT(t, "%s %%r%u, %%r%u, %%r%u;\n", operations[r % 7], FIRST + r / 7 % REGISTERS,
            r & 1024 ? 30 : FIRST + r / 56 % REGISTERS, FIRST + r / 448 % REGISTERS);
    }
}

static void put_kernel(text *t, large_kind kind, unsigned number, unsigned count)
{
    PUT(t,
        ".visible .entry k%u(.param .u64 p)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<40>;\n"
        ".reg .f32 %%f<20>;\n.reg .b64 %%rd<8>;\nld.param.u64 %%rd1, [p];\n"
        "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 4;\n"
        "add.s64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r2, sm;\nshl.b32 %%r3, %%r1, 2;\n"
        "add.u32 %%r3, %%r3, %%r2;\nxor.b32 %%r4, %%r3, 124;\n",
        number);
    for (unsigned i = 0; i < REGISTERS; i++) {
        PUT(t, "add.u32 %%r%u, %%r1, %u;\n", FIRST + i, i * 7);
        PUT(t, "cvt.rn.f32.u32 %%f%u, %%r%u;\n", i, FIRST + i);
    }
    t->insns = 0;
    for (unsigned i = 0; t->insns < count; i++) {
        const unsigned a = FIRST + i % REGISTERS, b = FIRST + (i * 3 + 1) % REGISTERS,
                       c = FIRST + (i * 5 + 2) % REGISTERS;
        switch (kind) {
        case LARGE_STRAIGHT: put_straight(t, i, a, b, c); break;
        case LARGE_DIVERGENT: put_divergent(t, i, a, b, c); break;
        case LARGE_MEMORY: put_memory(t, i, a, b, c); break;
        case LARGE_BARRIERS: put_barriers(t, i, a, c); break;
        default: put_unlike(t, a); break;
        }
    }
    for (unsigned i = 0; i < REGISTERS; i++) {
        PUT(t, "st.global.u32 [%%rd1+%u], %%r%u;\n", 32768 + i * 512, FIRST + i);
        PUT(t, "st.global.f32 [%%rd1+%u], %%f%u;\n", 40960 + i * 512, i);
    }
    PUT(t, "ret;\n}\n");
}

char *large_module(large_kind kind, unsigned kernels, unsigned count)
{
    text t = {.bytes = malloc(1000 + kernels * (4000 + (size_t)count * LINE_BYTES_MAX))};
    if (!t.bytes)
        abort();
    PUT(&t, ".version 7.0\n.target sm_80\n.address_size 64\n"
            ".shared .align 4 .b8 sm[4096];\n");
    for (unsigned k = 0; k < kernels; k++)
        put_kernel(&t, kind, k, count);
    return t.bytes;
}
