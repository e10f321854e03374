// SPDX-License-Identifier: Apache-2.0
/* fma.rm of a saturated number by constants, as nvcc's expf has it, has the bytes of fma.rm
 * of any numbers, which the kernel asks for too: the same number with two definitions. */
#include "kernel_run.h"
#include "test.h"

#include <math.h>

#define THREADS 65536u
#define ROUNDS 1024u

static const char text[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 step)\n{\n"
    ".reg .b32 %r<16>;\n.reg .f32 %f<12>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [first];\nld.param.u32 %r2, [step];\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.u32 %r5, %r3, 256, %r4;\n"
    "mad.lo.u32 %r6, %r5, %r2, %r1;\nmul.lo.u32 %r7, %r2, 65536;\n"
    "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.f32 %f5, 0f437C0000;\n"
    "mov.f32 %f6, 0f4B400001;\nmov.u32 %r13, %r1;\n"
    "NEXT:\nmov.b32 %f1, %r6;\ncvt.sat.f32.f32 %f2, %f1;\n"
    "fma.rm.f32 %f3, %f2, %f5, %f6;\n"
    "mov.f32 %f4, %f2;\nsetp.eq.u32 %p2, %r8, 5000;\n@%p2 mov.f32 %f4, 0f7FC00000;\n"
    "fma.rm.f32 %f7, %f4, %f5, %f6;\n"
    "mov.b32 %r10, %f3;\nmov.b32 %r11, %f7;\nxor.b32 %r12, %r10, %r11;\n"
    "or.b32 %r9, %r9, %r12;\nadd.u32 %r6, %r6, %r7;\nadd.u32 %r8, %r8, 1;\n"
    "setp.lt.u32 %p1, %r8, 1024;\n@%p1 bra NEXT;\n"
    "mul.wide.u32 %rd2, %r5, 8;\nadd.u64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r9;\nst.global.u32 [%rd3+4], %r10;\nret;\n}\n";

/* Of the last number of a thread. */
static uint32_t wanted(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    const double s = x > 0 ? fmin((double)x, 1.0) : 0.0;
    return 0x4b400001u + (uint32_t)floor(252.0 * s);
}

static void check(kernel_unit *unit, uint32_t first, uint32_t step)
{
    static uint32_t out[THREADS][2];
    gph_error error = {0};
    memset(out, 0xff, sizeof(out));
    const kernel_call call = {.name = "k", .grid = {THREADS / 256}, .block = {256}};
    struct {
        void *out;
        uint32_t first, step;
    } params = {out, first, step};
    CHECK_OK(kernel_run(unit, &call, &params, &error), error);
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < THREADS; t++)
        wrong += out[t][0] != 0 ||
                 out[t][1] != wanted(first + ((ROUNDS - 1) * THREADS + t) * step);
    CHECK(wrong == 0);
}

static void every_saturated_number(void)
{
    gph_error error = {0};
    kernel_unit *unit = kernel_open(text, KERNEL_FAST, &error);
    if (!CHECK_OK(unit ? GPH_OK : GPH_E_INVALID, error))
        return;
    check(unit, 0x3b800001, 1); /* each from 1/256 to 1: below, 252 of it are under 1 */
    check(unit, 0, 15);         /* from 0 to 1/128 */
    check(unit, 0, 64);         /* negative ones, above 1, NaN */
    check(unit, 63, 64);
    kernel_close(unit);
}

int main(void)
{
    RUN(every_saturated_number);
    return test_done();
}
