// SPDX-License-Identifier: Apache-2.0
/* Copies and fills of boxes, on a driver whose memory is the host's. */
#include "cache/layout.h"
#include "cache/pad.h"
#include "test.h"

#include <stdlib.h>

static gph_error error;
static long calls, cases, fail_at = -1;

static CUresult count_call(void)
{
    return calls++ == fail_at ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    CHECK(to + bytes <= from || from + bytes <= to); /* as the driver wants it */
    memcpy((void *)to, (const void *)from, bytes);
    return count_call();
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream stream)
{
    for (size_t y = 0; y < p->Height; y++)
        memcpy((char *)p->dstDevice + y * p->dstPitch,
               (const char *)p->srcDevice + y * p->srcPitch, p->WidthInBytes);
    (void)stream;
    CHECK(p->dstPitch >= p->WidthInBytes && p->srcPitch >= p->WidthInBytes);
    return count_call();
}

#define SET(bits, type)                                                                  \
    static CUresult set_2d_##bits(CUdeviceptr to, size_t pitch, type value,              \
                                  size_t width, size_t height, CUstream stream)          \
    {                                                                                    \
        (void)stream;                                                                    \
        CHECK(pitch >= width * sizeof(value));                                           \
        for (size_t y = 0; y < height; y++)                                              \
            for (size_t x = 0; x < width; x++)                                           \
                memcpy((char *)to + y * pitch + x * sizeof(value), &value,               \
                       sizeof(value));                                                   \
        return count_call();                                                             \
    }                                                                                    \
    static CUresult set_##bits(CUdeviceptr to, type value, size_t width,                 \
                               CUstream stream)                                          \
    {                                                                                    \
        return set_2d_##bits(to, width * sizeof(value), value, width, 1, stream);        \
    }
SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned int)

static gph_runtime runtime = {.cu = {.cuMemcpyAsync = copy,
                                     .cuMemcpy2DAsync = copy_2d,
                                     .cuMemsetD8Async = set_8,
                                     .cuMemsetD16Async = set_16,
                                     .cuMemsetD32Async = set_32,
                                     .cuMemsetD2D8Async = set_2d_8,
                                     .cuMemsetD2D16Async = set_2d_16,
                                     .cuMemsetD2D32Async = set_2d_32}};

static uint32_t seed = 7;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Offset of an element, bytes. */
static size_t offset_of(const gph_tensor *tensor, const int64_t *at)
{
    int64_t element = 0;
    for (uint32_t d = 0; d < tensor->rank; d++)
        element += at[d] * tensor->stride[d];
    return (size_t)element * gphi_dtype_bytes(tensor->dtype);
}

/* The next index in a shape; 0 at the end. */
static int advance(int64_t *at, const int64_t *shape, uint32_t rank)
{
    for (uint32_t d = rank; d-- > 0;) {
        if (++at[d] < shape[d])
            return 1;
        at[d] = 0;
    }
    return 0;
}

/* What the rule wants at an index of the padding. */
static void expect(const gph_cache_tensor *rule, const gph_tensor *tensor,
                   const unsigned char *before, const gph_tensor *real,
                   const unsigned char *source, const int64_t *at, unsigned char *want)
{
    const size_t bytes = gphi_dtype_bytes(rule->dtype);
    int64_t last[GPH_TENSOR_RANK_MAX];
    int is_real = 1;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        is_real = is_real && at[d] < real->shape[d];
        last[d] = at[d] < real->shape[d] ? at[d] : real->shape[d] - 1;
    }
    if (is_real || (rule->fill == GPH_FILL_LAST))
        memcpy(want, source + offset_of(real, last), bytes);
    else if (rule->fill == GPH_FILL_KEEP)
        memcpy(want, before + offset_of(tensor, at), bytes);
    else
        memset(want, 0, bytes);
    if (!is_real && rule->fill == GPH_FILL_VALUE)
        memcpy(want, &rule->value, bytes);
}

static void check_case(const gph_cache_tensor *rule, const int64_t *sizes,
                       const int64_t *values)
{
    enum { MOST = 1 << 16 };
    static unsigned char source[MOST], target[MOST + 64], before[MOST];
    gph_tensor real, tensor;
    CHECK_OK(gphi_layout_tensor(rule, sizes, (CUdeviceptr)source, &real, &error), error);
    CHECK_OK(gphi_layout_tensor(rule, values, (CUdeviceptr)target, &tensor, &error),
             error);
    size_t bytes = gphi_dtype_bytes(rule->dtype);
    for (uint32_t d = 0; d < tensor.rank; d++)
        bytes *= (size_t)tensor.shape[d];
    if (bytes > MOST)
        return; /* large in every dimension */
    cases++;
    for (size_t i = 0; i < MOST; i++)
        source[i] = (unsigned char)draw(256);
    memset(target, 0xee, sizeof(target));
    memcpy(before, target, sizeof(before));
    CHECK_OK(gphi_pad_copy(&runtime, &tensor, &real, real.shape, NULL, &error), error);
    CHECK_OK(gphi_pad_fill(&runtime, rule, &tensor, real.shape, NULL, &error), error);
    int64_t at[GPH_TENSOR_RANK_MAX] = {0};
    int wrong = 0;
    do {
        unsigned char want[16];
        expect(rule, &tensor, before, &real, source, at, want);
        wrong += memcmp(target + offset_of(&tensor, at), want,
                        gphi_dtype_bytes(rule->dtype)) != 0;
    } while (advance(at, tensor.shape, tensor.rank));
    CHECK(wrong == 0);
    for (int i = 0; i < 64; i++)
        CHECK(target[bytes + (size_t)i] == 0xee);
}

static void padding_is_what_the_rule_says_in_every_shape(void)
{
    static const uint32_t dtypes[] = {GPH_DTYPE_U8,  GPH_DTYPE_F16, GPH_DTYPE_F32,
                                      GPH_DTYPE_I64, GPH_DTYPE_C64, GPH_DTYPE_C128};
    for (int round = 0; round < 3000; round++) {
        gph_cache_tensor rule = {.dtype = dtypes[draw(6)],
                                 .rank = draw(5),
                                 .fill = draw(4),
                                 .value = 0x1122334455667788};
        if (rule.dtype == GPH_DTYPE_C128 && rule.fill == GPH_FILL_VALUE)
            continue;
        int64_t sizes[2] = {1 + draw(4), 1 + draw(4)};
        const int64_t values[2] = {sizes[0] + draw(4), sizes[1] + draw(4)};
        for (uint32_t d = 0; d < rule.rank; d++) {
            rule.shape[d] = 1 + draw(3);
            rule.axis[d] = (uint8_t)draw(3);
            rule.extra[d] = rule.axis[d] != 0 ? (int32_t)draw(2) : 0;
        }
        const int before = atomic_load(&test_failures);
        check_case(&rule, sizes, values);
        if (atomic_load(&test_failures) != before) {
            fprintf(stderr, "  round %d: dtype %u rank %u fill %u\n", round, rule.dtype,
                    rule.rank, rule.fill);
            return;
        }
    }
    CHECK(cases > 1500);
}

static void few_calls_do_it(void)
{
    static char memory[1 << 16];
    const gph_cache_tensor rows = {.dtype = GPH_DTYPE_F32,
                                   .rank = 3,
                                   .shape = {1, 8, 16},
                                   .axis = {1},
                                   .fill = GPH_FILL_ZERO};
    const int64_t sizes[] = {5}, values[] = {8};
    gph_tensor real, tensor;
    CHECK_OK(gphi_layout_tensor(&rows, sizes, (CUdeviceptr)memory, &real, &error), error);
    CHECK_OK(
        gphi_layout_tensor(&rows, values, (CUdeviceptr)memory + 32768, &tensor, &error),
        error);
    calls = 0;
    CHECK_OK(gphi_pad_copy(&runtime, &tensor, &real, real.shape, NULL, &error), error);
    CHECK_OK(gphi_pad_fill(&runtime, &rows, &tensor, real.shape, NULL, &error), error);
    CHECK(calls == 2); /* requests come first: one copy, one fill */

    gph_cache_tensor inner = rows;
    inner.axis[0] = 0;
    inner.axis[1] = 1;
    inner.shape[0] = 6;
    inner.shape[1] = 1;
    CHECK_OK(gphi_layout_tensor(&inner, sizes, (CUdeviceptr)memory, &real, &error),
             error);
    CHECK_OK(
        gphi_layout_tensor(&inner, values, (CUdeviceptr)memory + 32768, &tensor, &error),
        error);
    calls = 0;
    CHECK_OK(gphi_pad_copy(&runtime, &tensor, &real, real.shape, NULL, &error), error);
    CHECK_OK(gphi_pad_fill(&runtime, &inner, &tensor, real.shape, NULL, &error), error);
    CHECK(calls == 2); /* rows: one copy, one fill, in two dimensions */
}

static void a_call_that_the_driver_refuses_is_told(void)
{
    static char memory[4096];
    for (uint32_t fill = GPH_FILL_ZERO; fill <= GPH_FILL_LAST; fill++)
        for (uint32_t dtype = GPH_DTYPE_U8; dtype <= GPH_DTYPE_F64; dtype++) {
            const gph_cache_tensor rule = {.dtype = dtype,
                                           .rank = 2,
                                           .shape = {1, 4},
                                           .axis = {1},
                                           .fill = fill,
                                           .value = 1};
            const int64_t sizes[] = {2}, values[] = {8};
            gph_tensor real, tensor;
            CHECK_OK(gphi_layout_tensor(&rule, sizes, 0, &real, &error), error);
            CHECK_OK(
                gphi_layout_tensor(&rule, values, (CUdeviceptr)memory, &tensor, &error),
                error);
            for (fail_at = 0;; fail_at++) {
                calls = 0;
                const gph_status status =
                    gphi_pad_fill(&runtime, &rule, &tensor, real.shape, NULL, &error);
                CHECK(status == GPH_OK || status == CUDA_ERROR_INVALID_VALUE);
                CHECK((status == GPH_OK) == (calls <= fail_at));
                if (status == GPH_OK || fail_at > 100)
                    break;
            }
            CHECK(fail_at > 0);
        }
    fail_at = -1;
}

int main(void)
{
    RUN(padding_is_what_the_rule_says_in_every_shape);
    RUN(few_calls_do_it);
    RUN(a_call_that_the_driver_refuses_is_told);
    return test_done();
}
