// SPDX-License-Identifier: Apache-2.0
/* Arithmetic of f16 on a processor that has it: the bytes of the library in C, which knows
 * nothing of f16, for every number. */
#include "kernel_run.h"
#include "test.h"

#define NUMBERS 65536u
#define RESULTS 6u /* by number: as f32, from f32, and four of two or three numbers */

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 second)\n{\n"
    ".reg .b16 %h<8>;\n.reg .b32 %r<12>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [second];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r2, 256, %r3;\n"
    "cvt.u16.u32 %h1, %r4;\ncvt.u16.u32 %h2, %r1;\nmul.wide.u32 %rd2, %r4, 24;\n"
    "add.u64 %rd3, %rd1, %rd2;\n"
    "cvt.f32.f16 %f1, %h1;\nst.global.f32 [%rd3], %f1;\n"
    /* near every number of f16 and between two, by its bits and those of `second` */
    "shl.b32 %r5, %r4, 13;\nadd.u32 %r5, %r5, 0x37ff0000;\nxor.b32 %r5, %r5, %r1;\n"
    "mov.b32 %f2, %r5;\ncvt.rn.f16.f32 %h3, %f2;\nst.global.u16 [%rd3+4], %h3;\n"
    "mov.b32 %r6, {%h1, %h2};\nmov.b32 %r7, {%h2, %h1};\n"
    "add.rn.f16x2 %r8, %r6, %r7;\nst.global.u32 [%rd3+8], %r8;\n"
    "sub.rn.f16x2 %r8, %r6, %r7;\nst.global.u32 [%rd3+12], %r8;\n"
    "mul.rn.f16x2 %r8, %r6, %r7;\nst.global.u32 [%rd3+16], %r8;\n"
    "mov.b32 %r9, {%h3, %h3};\nfma.rn.f16x2 %r8, %r6, %r7, %r9;\n"
    "st.global.u32 [%rd3+20], %r8;\nret;\n}\n";

/* Zero, one, subnormals, the largest, infinity, NaN, numbers with all bits set. */
static const uint32_t seconds[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x03ff,
                                   0x8400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
                                   0x7d01, 0x3555, 0xb7ff, 0x1a01};

static void every_number_is_as_without_it(void)
{
    static uint32_t wanted[NUMBERS * RESULTS], out[NUMBERS * RESULTS];
    gph_error error = {0};
    kernel_unit *plain = kernel_open(text, KERNEL_FAST, &error);
    if (!CHECK_OK(plain ? GPH_OK : GPH_E_INVALID, error))
        return;
    for (int level = 1; level <= (int)soft_code_host_half(); level++) {
        kernel_unit *unit = kernel_open(text, level * KERNEL_HALF, &error);
        if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
            break;
        for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
            const kernel_call call = {
                .name = "k", .grid = {NUMBERS / 256}, .block = {256}};
            struct {
                void *out;
                uint32_t second;
            } params = {wanted, seconds[i]};
            CHECK_OK(kernel_run(plain, &call, &params, &error), error);
            params.out = out;
            CHECK_OK(kernel_run(unit, &call, &params, &error), error);
            if (!CHECK(memcmp(out, wanted, sizeof(out)) == 0))
                for (uint32_t n = 0; n < NUMBERS * RESULTS; n++)
                    if (out[n] != wanted[n]) {
                        fprintf(stderr,
                                "level %d, %04x and %04x, result %u: %08x not "
                                "%08x\n",
                                level, n / RESULTS, seconds[i], n % RESULTS, out[n],
                                wanted[n]);
                        break;
                    }
        }
        kernel_close(unit);
    }
    kernel_close(plain);
}

int main(void)
{
    RUN(every_number_is_as_without_it);
    return test_done();
}
