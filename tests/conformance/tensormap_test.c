// SPDX-License-Identifier: Apache-2.0
/* Boxes of tensors that a kernel moves, element by element as CUDA and PTX describe them. Elements of the tensor count up, so that each says
 * where it comes from; what was in shared memory before is 0xee. */
#include "boxes.h"

#define U8 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define S32 CU_TENSOR_MAP_DATA_TYPE_INT32
#define F64 CU_TENSOR_MAP_DATA_TYPE_FLOAT64
#define BF16 CU_TENSOR_MAP_DATA_TYPE_BFLOAT16

typedef struct box_case {
    const char *name;
    CUtensorMapDataType type;
    unsigned rank, bytes; /* of an element */
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    CUtensorMapSwizzle swizzle;
    int at[5];
} box_case;

/* clang-format off */
#define PLANE U16, 2, 2, {40, 10}, {96}, {16, 4}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_NONE
#define NONE CU_TENSOR_MAP_SWIZZLE_NONE
static const box_case cases[] = {
    {"a plane", PLANE, {8, 2}},
    {"before its begin", PLANE, {-8, -1}},
    {"past its end", PLANE, {32, 8}},
    {"far outside", PLANE, {1000, -1000}},
    {"a row of bytes", U8, 1, 1, {100}, {0}, {48}, {1}, NONE, {64}},
    {"a box above its tensor", F64, 2, 8, {3, 2}, {32}, {8, 5}, {1, 1}, NONE, {0, -1}},
    {"every second row", U16, 2, 2, {40, 20}, {96}, {16, 8}, {1, 2}, NONE, {0, 1}},
    {"every third, of eight", U16, 2, 2, {40, 20}, {96}, {16, 8}, {1, 3}, NONE, {8, 1}},
    {"three", U16, 3, 2, {24, 6, 4}, {48, 288}, {8, 3, 2}, {1, 1, 1}, NONE, {16, -1, 3}},
    {"four", S32, 4, 4, {14, 6, 4, 3}, {64, 384, 1536}, {4, 2, 2, 2}, {1, 1, 1, 1}, NONE,
     {12, 1, 3, -1}},
    {"five", BF16, 5, 2, {24, 6, 4, 3, 2}, {48, 288, 1152, 3456}, {8, 2, 2, 1, 2},
     {1, 1, 1, 1, 1}, NONE, {0, 5, 0, 2, 0}},
    {"five with steps", U16, 5, 2, {24, 6, 4, 3, 2}, {48, 288, 1152, 3456}, {8, 4, 2, 3, 2},
     {1, 2, 1, 2, 1}, NONE, {16, 1, -1, 0, 0}},
    {"swizzled by 32", U16, 2, 2, {512, 32}, {1024}, {16, 24}, {1, 1}, SWIZZLE_32B, {16, 3}},
    {"swizzled by 64", U32, 2, 4, {256, 32}, {1024}, {16, 24}, {1, 1}, SWIZZLE_64B, {16, 3}},
    {"swizzled by 128", U16, 2, 2, {512, 32}, {1024}, {64, 24}, {1, 1}, SWIZZLE_128B,
     {480, -2}},
    {"half a span of 32", U16, 2, 2, {512, 32}, {1024}, {8, 24}, {1, 1}, SWIZZLE_32B,
     {0, 3}},
    {"three quarters of 64", U16, 2, 2, {512, 32}, {1024}, {24, 24}, {1, 1}, SWIZZLE_64B,
     {0, 3}},
    {"48 bytes of 128", U16, 3, 2, {512, 8, 4}, {1024, 8192}, {24, 8, 2}, {1, 1, 1},
     SWIZZLE_128B, {64, 3, 1}},
};
/* clang-format on */

/* ---- what a box is --------------------------------------------------------------------- */

/* Where byte `i` of what moves lies: with a swizzle each row takes the whole span. */
static unsigned lies_at(const box_case *c, unsigned i)
{
    static const unsigned spans[] = {0, 32, 64, 128};
    const unsigned row = c->box[0] * c->bytes, span = spans[c->swizzle];
    return span == 0 ? i : swizzled(i / row * span + i % row, c->swizzle);
}

static unsigned count_of(const box_case *c, unsigned nth)
{
    return nth == 0 ? c->box[0] : (c->box[nth] + c->step[nth] - 1) / c->step[nth];
}

static unsigned elements_of(const box_case *c)
{
    unsigned elements = 1;
    for (unsigned i = 0; i < c->rank; i++)
        elements *= count_of(c, i);
    return elements;
}

/* Where in the tensor element `nth` of the box lies; -1: outside. */
static long place_of(const box_case *c, unsigned nth)
{
    long place = 0;
    for (unsigned i = 0; i < c->rank; i++) {
        const unsigned in_box = nth % count_of(c, i);
        const long at = c->at[i] + (long)in_box * (i == 0 ? 1 : (long)c->step[i]);
        nth /= count_of(c, i);
        if (at < 0 || at >= (long)c->size[i])
            return -1;
        place += at * (i == 0 ? (long)c->bytes : (long)c->stride[i - 1]);
    }
    return place;
}

static CUresult encode(const box_case *c, CUtensorMap *map)
{
    return cu.cuTensorMapEncodeTiled(
        map, c->type, c->rank, (void *)(uintptr_t)tensor, c->size, c->stride, c->box,
        c->step, CU_TENSOR_MAP_INTERLEAVE_NONE, c->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static arguments arguments_of(const box_case *c)
{
    arguments a = {.bytes = elements_of(c) * c->bytes};
    memcpy(a.at, c->at, sizeof(a.at));
    return a;
}

#define EACH(c)                                                                          \
    for (const box_case *c = cases; c < cases + sizeof(cases) / sizeof(cases[0]); c++)

static void boxes_are_loaded(void)
{
    unsigned char shown[ROOM];
    char text[PTX_BYTES];
    EACH(c)
    {
        CUtensorMap map __attribute__((aligned(64)));
        const arguments a = arguments_of(c);
        OK(encode(c, &map));
        memset(wanted, 0xee, ROOM);
        for (unsigned i = 0; i < a.bytes; i++) {
            const long place = place_of(c, i / c->bytes);
            wanted[lies_at(c, i)] = place < 0 ? 0 : before[place + (long)(i % c->bytes)];
        }
        write_load(c->rank, false, text);
        if (run(text, &map, &a, shown))
            compare(c->name, shown, ROOM);
    }
}

static bool is_negative(const box_case *c)
{
    bool any = false;
    for (unsigned i = 0; i < c->rank; i++)
        any = any || c->at[i] < 0;
    return any;
}

/* What is past the end within the last 16 bytes of a row is stored, too (an H200). */
static void boxes_are_stored(void)
{
    char text[PTX_BYTES];
    EACH(c)
    {
        CUtensorMap map __attribute__((aligned(64)));
        if (is_negative(c))
            continue;
        const arguments a = arguments_of(c);
        OK(encode(c, &map));
        memcpy(wanted, before, TENSOR_BYTES);
        for (unsigned i = 0; i < a.bytes; i++) {
            box_case whole = *c;
            whole.size[0] = (c->size[0] * c->bytes + 15) / 16 * 16 / c->bytes;
            const long place = place_of(&whole, i / c->bytes);
            if (place >= 0)
                wanted[place + (long)(i % c->bytes)] = counted(lies_at(c, i), 1001);
        }
        write_store(c->rank, NULL, text);
        if (run(text, &map, &a, NULL))
            compare(c->name, after, TENSOR_BYTES);
    }
}

static unsigned word_at(const unsigned char *at)
{
    unsigned word;
    memcpy(&word, at, 4);
    return word;
}

static void boxes_are_reduced(void)
{
    static const char *const operations[] = {".add", ".min", ".max", ".inc",
                                             ".dec", ".and", ".or",  ".xor"};
    const box_case c = {"reduced", U32, 2, 4, {20, 10}, {96}, {8, 4}, {1, 1}, 0, {4, 7}};
    const arguments a = arguments_of(&c);
    CUtensorMap map __attribute__((aligned(64)));
    char text[PTX_BYTES];
    OK(encode(&c, &map));
    for (unsigned n = 0; n < 8; n++) {
        memcpy(wanted, before, TENSOR_BYTES);
        for (unsigned i = 0; i < elements_of(&c); i++) {
            const long place = place_of(&c, i);
            if (place < 0)
                continue;
            const unsigned old = word_at(before + place);
            const unsigned by = (2 * i + 1001) | (2 * i + 1002) << 16;
            const unsigned results[] = {old + by,
                                        by < old ? by : old,
                                        by > old ? by : old,
                                        old >= by ? 0 : old + 1,
                                        old == 0 || old > by ? by : old - 1,
                                        old & by,
                                        old | by,
                                        old ^ by};
            memcpy(wanted + place, &results[n], 4);
        }
        write_store(c.rank, operations[n], text);
        if (run(text, &map, &a, NULL))
            compare(operations[n], after, TENSOR_BYTES);
    }
}

/* ---- im2col ---------------------------------------------------------------------------- */

typedef struct pixel_case {
    const char *name;
    unsigned rank;
    int lower, upper;    /* of each dimension */
    cuuint32_t step;     /* of each, too */
    int at[5];           /* a channel, pixels, an image */
    unsigned offsets[3]; /* of the filter */
} pixel_case;

#define CHANNELS 8u
#define PIXELS 20u
static const cuuint64_t image_sizes[][5] = {{0},        {0},           {0},
                                            {16, 9, 3}, {16, 6, 5, 3}, {16, 4, 3, 3, 2}};

static const pixel_case pixel_cases[] = {
    {"a line", 3, -1, -1, 1, {0, -1, 0}, {0}},
    {"a line's filter", 3, -1, -1, 1, {8, 2, 1}, {2}},
    {"a picture", 4, -1, -1, 1, {0, -1, -1, 0}, {0, 0}},
    {"a picture's filter", 4, -1, -1, 1, {0, -1, -1, 0}, {1, 2}},
    {"from its middle", 4, -1, -1, 1, {8, 2, 3, 1}, {2, 0}},
    {"past the last one", 4, -1, -1, 1, {0, 3, 3, 2}, {0, 0}},
    {"with steps", 4, -1, -1, 2, {0, -1, -1, 0}, {0, 0}},
    {"without a border", 4, 0, -2, 1, {0, 0, 0, 1}, {2, 2}},
    {"a volume", 5, -1, -1, 1, {0, -1, -1, -1, 0}, {2, 1, 0}},
};

static CUresult encode_pixels(const pixel_case *c, cuuint64_t stride[4], CUtensorMap *map)
{
    const cuuint64_t *size = image_sizes[c->rank];
    int lower[3], upper[3];
    cuuint32_t step[5];
    stride[0] = 32;
    for (unsigned i = 1; i + 1 < c->rank; i++)
        stride[i] = stride[i - 1] * size[i];
    for (unsigned i = 0; i < 5; i++)
        step[i] = i == 0 || i + 1 == c->rank ? 1 : c->step;
    for (unsigned i = 0; i < 3; i++) {
        lower[i] = c->lower;
        upper[i] = c->upper;
    }
    return cu.cuTensorMapEncodeIm2col(
        map, U16, c->rank, (void *)(uintptr_t)tensor, size, stride, lower, upper,
        CHANNELS, PIXELS, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* The pixels of one column after the other, as a filter's first place goes over them. */
static void want_pixels(const pixel_case *c, const cuuint64_t stride[4])
{
    const cuuint64_t *size = image_sizes[c->rank];
    int at[5];
    memcpy(at, c->at, sizeof(at));
    memset(wanted, 0xee, ROOM);
    for (unsigned n = 0; n < PIXELS; n++) {
        long place = 2l * at[0];
        bool inside = true;
        for (unsigned i = 1; i < c->rank; i++) {
            const long p = at[i] + (i + 1 < c->rank ? (long)c->offsets[i - 1] : 0);
            inside = inside && p >= 0 && p < (long)size[i];
            place += p * (long)stride[i - 1];
        }
        for (unsigned i = 0; i < 2 * CHANNELS; i++)
            wanted[2 * CHANNELS * n + i] = inside ? before[place + (long)i] : 0;
        unsigned i = 1;
        for (; i + 1 < c->rank; i++) {
            at[i] += (int)c->step;
            if (at[i] < (int)size[i] + c->upper)
                break;
            at[i] = c->lower;
        }
        if (i + 1 == c->rank)
            at[i]++;
    }
}

static void pixels_are_loaded(void)
{
    unsigned char shown[ROOM];
    char text[PTX_BYTES];
    for (unsigned n = 0; n < sizeof(pixel_cases) / sizeof(pixel_cases[0]); n++) {
        const pixel_case *c = &pixel_cases[n];
        CUtensorMap map __attribute__((aligned(64)));
        cuuint64_t stride[4];
        arguments a = {.bytes = PIXELS * CHANNELS * 2,
                       .offsets = {c->offsets[0] | c->offsets[1] << 16, c->offsets[2]}};
        memcpy(a.at, c->at, sizeof(a.at));
        OK(encode_pixels(c, stride, &map));
        want_pixels(c, stride);
        write_load(c->rank, true, text);
        if (run(text, &map, &a, shown))
            compare(c->name, shown, ROOM);
    }
}

/* The NaN that is asked for has the same bytes in all types. */
static void nan_fills_what_is_outside(void)
{
    static const CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                                CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                                CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
    unsigned char shown[ROOM];
    char text[PTX_BYTES];
    write_load(1, false, text);
    for (unsigned n = 0; n < 3; n++) {
        const unsigned bytes = 2u << n;
        const box_case c = {"NaN", types[n],     1,   bytes, {64 / bytes},
                            {0},   {64 / bytes}, {1}, NONE,  {-16 / (int)bytes}};
        const arguments a = arguments_of(&c);
        CUtensorMap map __attribute__((aligned(64)));
        OK(cu.cuTensorMapEncodeTiled(
            &map, c.type, 1, (void *)(uintptr_t)tensor, c.size, c.stride, c.box, c.step,
            CU_TENSOR_MAP_INTERLEAVE_NONE, NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
        memset(wanted, 0xee, ROOM);
        for (unsigned i = 0; i < 64; i++)
            wanted[i] = i >= 16 ? before[i - 16] : i % 2 ? 0x7f : 0xf7;
        if (run(text, &map, &a, shown))
            compare(c.name, shown, ROOM);
    }
}

/* 10 bits of mantissa, to even; NaN is one; nothing is flushed. As an H200 loads it. */
static void tf32_is_rounded(void)
{
    static const unsigned words[][2] = {
        {0x00001fff, 0x00002000}, {0x01012100, 0x01012000}, {0x02022201, 0x02022000},
        {0x7fc01234, 0x7fffe000}, {0x00000123, 0x00000000}, {0x80000123, 0x80000000},
        {0x7f801fff, 0x7fffe000}, {0x3f801000, 0x3f800000}, {0x3f801001, 0x3f802000},
        {0x3f803000, 0x3f804000}, {0xff801000, 0x7fffe000}, {0x7f7fffff, 0x7f800000},
        {0x007fffff, 0x00800000}, {0x00800001, 0x00800000}, {0x807ff000, 0x80800000},
        {0xff800000, 0xff800000}};
    static const CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
                                                CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
                                                CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ};
    unsigned char kept[sizeof(words)], shown[ROOM];
    char text[PTX_BYTES];
    memcpy(kept, before, sizeof(kept));
    write_load(1, false, text);
    for (unsigned n = 0; n < 3; n++) {
        const box_case c = {"rounded", types[n], 1, 4, {16}, {0}, {16}, {1}, NONE, {0}};
        const arguments a = arguments_of(&c);
        CUtensorMap map __attribute__((aligned(64)));
        OK(encode(&c, &map));
        memset(wanted, 0xee, ROOM);
        for (unsigned i = 0; i < 16; i++) {
            memcpy(before + 4 * i, &words[i][0], 4);
            memcpy(wanted + 4 * i, &words[i][n < 2], 4);
        }
        if (run(text, &map, &a, shown))
            compare(c.name, shown, ROOM);
    }
    memcpy(before, kept, sizeof(kept));
}

static void a_replaced_address_is_loaded(void)
{
    const box_case c = {"replaced", U16, 1, 2, {4096}, {0}, {64}, {1}, 0, {0}};
    const arguments a = arguments_of(&c);
    CUtensorMap map __attribute__((aligned(64)));
    unsigned char shown[ROOM];
    char text[PTX_BYTES];
    OK(encode(&c, &map));
    OK(cu.cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(tensor + 4096)));
    REFUSED(INVALID_VALUE,
            cu.cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(tensor + 8)));
    if (driver_is_soft) /* NVIDIA's driver ends the process */
        REFUSED(INVALID_VALUE,
                cu.cuTensorMapReplaceAddress(NULL, (void *)(uintptr_t)tensor));
    memset(wanted, 0xee, ROOM);
    memcpy(wanted, before + 4096, a.bytes);
    write_load(c.rank, false, text);
    if (run(text, &map, &a, shown))
        compare(c.name, shown, ROOM);
}

/* Ends the context: the last test. A box may begin at whole 16 bytes alone. */
static void a_begin_that_is_not_aligned_is_a_fault(void)
{
    const box_case c = {"not aligned", PLANE, {2, 0}};
    const arguments a = arguments_of(&c);
    CUtensorMap map __attribute__((aligned(64)));
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr out = 0;
    char text[PTX_BYTES];
    arguments passed = a;
    OK(encode(&c, &map));
    write_load(c.rank, false, text);
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    OK(cu.cuMemAlloc(&out, ROOM));
    void *params[] = {&map, &passed, &out};
    OK(cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    REFUSED(ILLEGAL_INSTRUCTION, cu.cuCtxSynchronize());
}

/* One that ends its context, which is made again: an H200 refuses the device then. */
static void is_fault(const box_case *c, const char *operation)
{
    CUtensorMap map __attribute__((aligned(64)));
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr out = 0;
    char text[PTX_BYTES];
    arguments passed = arguments_of(c);
    OK(cu.cuDevicePrimaryCtxReset(0));
    use_primary();
    OK(cu.cuMemAlloc(&tensor, TENSOR_BYTES));
    OK(cu.cuMemAlloc(&out, ROOM));
    OK(encode(c, &map));
    write_store(c->rank, operation, text);
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    void *params[] = {&map, &passed, &out};
    OK(cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    REFUSED(ILLEGAL_INSTRUCTION, cu.cuCtxSynchronize());
}

/* Each of them was one in a process of its own on an H200. */
static void stores_and_reductions_that_are_faults(void)
{
    static const box_case left = {"left", PLANE, {-8, 2}},
                          above = {"above", PLANE, {8, -1}};
    static const box_case words = {"words", U32,    2,      4, {20, 10},
                                   {96},    {8, 4}, {1, 1}, 0, {4, -1}};
    static const box_case halves = {"16 bits", PLANE, {8, 2}};
    static const box_case doubles = {"f64", F64, 1, 8, {16}, {0}, {4}, {1}, NONE, {0}};
    if (!driver_is_soft)
        SKIP("each ends its process on a GPU");
    is_fault(&left, NULL);
    is_fault(&above, NULL);
    is_fault(&words, ".add");
    is_fault(&halves, ".add");
    is_fault(&doubles, ".min");
}

int main(void)
{
    DEVICE_OR_SKIP();
    const int begun = begin_boxes();
    if (begun != 0)
        return begun;
    RUN(boxes_are_loaded);
    RUN(boxes_are_stored);
    RUN(boxes_are_reduced);
    RUN(pixels_are_loaded);
    RUN(nan_fills_what_is_outside);
    RUN(tf32_is_rounded);
    RUN(a_replaced_address_is_loaded);
    RUN(a_begin_that_is_not_aligned_is_a_fault);
    RUN(stores_and_reductions_that_are_faults);
    return test_done();
}
