// SPDX-License-Identifier: Apache-2.0
/* Quotients of small numbers, all of them, and vectors of bytes, which are words. */
#include "kernel_run.h"
#include "test.h"

#define NUMBERS (1u << 20)

static gph_error error;

/* Of a number whose digits to bases 4096, 16 and 1 are bytes of three arrays: that it is
 * small is known from the types of the loads alone. */
static const char quotient[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %%r<20>;\n.reg .b16 %%h<4>;\n.reg .b64 %%rd<12>;\n"
    "ld.param.u64 %%rd1, [out];\nld.param.u64 %%rd2, [in];\nmov.u32 %%r1, %%tid.x;\n"
    "mov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r3, %%ntid.x;\n"
    "mad.lo.s32 %%r4, %%r2, %%r3, %%r1;\nmul.wide.u32 %%rd3, %%r4, 4;\n"
    "add.s64 %%rd4, %%rd2, %%rd3;\nadd.s64 %%rd5, %%rd1, %%rd3;\n"
    "ld.global.v4.u8 {%%r5, %%r6, %%r7, %%r8}, [%%rd4];\n"
    "mul.lo.s32 %%r9, %%r5, 4096;\nmad.lo.s32 %%r10, %%r6, 16, %%r9;\n"
    "add.s32 %%r11, %%r10, %%r7;\nmul.wide.u32 %%rd6, %%r11, %lld;\n"
    "shr.u64 %%rd7, %%rd6, %u;\ncvt.u32.u64 %%r12, %%rd7;\n"
    "st.global.u32 [%%rd5], %%r12;\nret;\n}\n";

/* What a compiler multiplies and shifts by for x / d. */
static uint32_t factor_of(uint32_t d, uint32_t *shift)
{
    for (*shift = 47; *shift >= 32; --*shift) {
        const uint64_t m = (((uint64_t)1 << *shift) + d - 1) / d;
        if (m <= UINT32_MAX)
            return (uint32_t)m;
    }
    return 0;
}

static void quotients_are_exact(void)
{
    static const uint32_t divisors[] = {3, 7, 10, 17, 100, 255, 641, 1000, 9999, 32767};
    static uint32_t in[NUMBERS], out[NUMBERS];
    for (uint32_t i = 0; i < NUMBERS; i++)
        in[i] = i >> 12 | (i >> 4 & 255) << 8 | (i & 15) << 16;
    for (size_t k = 0; k < sizeof(divisors) / sizeof(divisors[0]); k++) {
        char text[2048];
        uint32_t shift, wrong = 0;
        const uint32_t d = divisors[k], m = factor_of(d, &shift);
        snprintf(text, sizeof(text), quotient, (long long)(int32_t)m, shift);
        kernel_unit *unit = kernel_open(text, KERNEL_FAST, &error);
        if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
            return;
        const struct {
            void *out;
            const void *in;
        } params = {out, in};
        const kernel_call call = {.name = "k", .grid = {NUMBERS / 256}, .block = {256}};
        CHECK_OK(kernel_run(unit, &call, &params, &error), error);
        for (uint32_t i = 0; i < NUMBERS; i++)
            wrong += out[i] != i / d;
        if (!CHECK(wrong == 0))
            fprintf(stderr, "%u quotients by %u are wrong\n", wrong, d);
        kernel_close(unit);
    }
}

/* Bytes and words of 16 bits, not all of which are wanted, to the same places and to their
 * neighbors'. */
static const char vectors[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %r<20>;\n.reg .b16 %h<20>;\n.reg .b64 %rd<12>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nadd.s64 %rd5, %rd1, %rd3;\n"
    "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd4];\n"
    "ld.global.v4.s8 {%r2, %r3, %r4, %r5}, [%rd4+1024];\n"
    "ld.global.v2.u16 {%h5, %h6}, [%rd4+2048];\nld.global.v2.s8 {%h7, %h8}, [%rd4+2];\n"
    "add.u16 %h1, %h1, %h5;\nxor.b16 %h3, %h3, %h7;\nadd.s32 %r2, %r2, %r5;\n"
    "st.global.v4.u8 [%rd5], {%h3, %h1, 7, %h2};\n"
    "st.global.v4.s8 [%rd5+1024], {%r5, %r2, %r3, %r3};\n"
    "st.global.v2.b16 [%rd5+2048], {%h8, %h6};\n"
    "and.b32 %r6, %r4, 1;\nsetp.eq.s32 %p1, %r6, 0;\n@%p1 bra END;\n"
    "st.global.v2.u8 [%rd5+3072], {%h4, %h8};\nEND:\nret;\n}\n";

static void vectors_of_bytes_are_words(void)
{
    static uint32_t in[1024], out[2][1024];
    kernel_unit *pair[2] = {kernel_open(vectors, KERNEL_FAST, &error),
                            kernel_open(vectors, KERNEL_SLOW, &error)};
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = i * 2654435761u ^ i << 13;
    for (int path = 0; path < 2 && CHECK(pair[path] != NULL); path++) {
        const struct {
            void *out;
            const void *in;
        } params = {out[path], in};
        const kernel_call call = {.name = "k", .block = {256}};
        CHECK_OK(kernel_run(pair[path], &call, &params, &error), error);
    }
    CHECK(memcmp(out[0], out[1], sizeof(out[0])) == 0);
    for (uint32_t i = 0; i < 256; i++) {
        uint8_t from[4], to[4];
        memcpy(from, &in[i], 4);
        memcpy(to, &out[0][i], 4);
        const int8_t third = (int8_t)from[2];
        CHECK(to[0] == (uint8_t)(from[2] ^ (uint8_t)third));
        CHECK(to[1] == (uint8_t)(from[0] + (uint8_t)in[512 + i]));
        CHECK(to[2] == 7 && to[3] == from[1]);
        CHECK(out[0][512 + i] ==
              ((uint32_t)(uint16_t)(int8_t)from[3] | (in[512 + i] >> 16) << 16));
    }
    kernel_close(pair[0]);
    kernel_close(pair[1]);
}

int main(void)
{
    RUN(quotients_are_exact);
    RUN(vectors_of_bytes_are_words);
    return test_done();
}
