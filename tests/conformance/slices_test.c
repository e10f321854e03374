// SPDX-License-Identifier: Apache-2.0
/* Boxes of interleaved tensors: dimensions are W, (H, D,) slices of channels, images. A step
 * along W is a slice of 16 or 32 bytes, whatever the type is; a box has one slice of the
 * channels, however many it names. What an H200 moved of 1,600 maps is this; here each load
 * also waits for exactly the bytes that it is to be. */
#include "boxes.h"

#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define U32 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define F16 CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define NONE CU_TENSOR_MAP_SWIZZLE_NONE

typedef struct slice_case {
    const char *name;
    CUtensorMapDataType type;
    unsigned rank, slice; /* bytes */
    CUtensorMapSwizzle swizzle;
    cuuint32_t box[5], step[5];
    int at[5];
    int fill;
    bool is_stored; /* it may be: no place is negative */
} slice_case;

static const cuuint64_t sizes[] = {10, 6, 5, 3, 2};

/* clang-format off */
static const slice_case cases[] = {
    {"three", U16, 3, 16, NONE, {8, 1, 2}, {1, 1, 1}, {0, 0, 0}, 0, true},
    {"many channels", U16, 3, 16, NONE, {8, 40, 2}, {1, 1, 1}, {1, 2, 1}, 0, true},
    {"past W", U16, 3, 32, NONE, {16, 8, 2}, {1, 1, 1}, {3, 5, 4}, 0, true},
    {"before W", U16, 3, 16, NONE, {8, 8, 2}, {1, 1, 1}, {-3, 1, 1}, 0, false},
    {"no such slice", U16, 3, 16, NONE, {8, 8, 2}, {1, 1, 1}, {0, 6, 0}, 0, true},
    {"four", U16, 4, 16, NONE, {8, 3, 8, 2}, {1, 1, 1, 1}, {2, 4, 3, 1}, 0, true},
    {"four of 32", U32, 4, 32, NONE, {8, 3, 4, 1}, {1, 1, 1, 1}, {0, -1, 1, 0}, 0, false},
    {"five", U16, 5, 16, NONE, {8, 2, 2, 9, 2}, {1, 1, 1, 1, 1}, {1, 1, 4, 2, 0}, 0, true},
    {"every second", U16, 4, 16, NONE, {16, 4, 1, 2}, {2, 2, 2, 1}, {1, 0, 2, 0}, 0, true},
    {"swizzled by 32", U16, 4, 32, SWIZZLE_32B, {16, 5, 1, 2}, {1, 1, 1, 1}, {1, 0, 2, 0}, 0,
     true},
    {"swizzled by 64", U16, 4, 16, SWIZZLE_64B, {16, 5, 1, 2}, {1, 1, 1, 1}, {1, 0, 2, 0}, 0,
     true},
    {"swizzled by 128", U16, 4, 16, SWIZZLE_128B, {24, 5, 1, 2}, {1, 1, 1, 1}, {-1, 0, 2, 1}, 0,
     false},
    {"NaN outside", F16, 3, 16, NONE, {8, 1, 2}, {1, 1, 1}, {5, 0, 0}, 1, true},
};
/* clang-format on */

static void strides_of(const slice_case *c, cuuint64_t out[4])
{
    out[0] = sizes[0] * 32 + 32;
    for (unsigned i = 1; i < 4; i++)
        out[i] = out[i - 1] * sizes[i] + 32;
    (void)c;
}

static CUresult encode(const slice_case *c, CUtensorMap *map)
{
    cuuint64_t strides[4];
    strides_of(c, strides);
    return cu.cuTensorMapEncodeTiled(
        map, c->type, c->rank, (void *)(uintptr_t)tensor, sizes, strides, c->box, c->step,
        c->slice == 32 ? CU_TENSOR_MAP_INTERLEAVE_32B : CU_TENSOR_MAP_INTERLEAVE_16B,
        c->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)c->fill);
}

static unsigned count_of(const slice_case *c, unsigned nth)
{
    return nth == c->rank - 2 ? 1 : (c->box[nth] + c->step[nth] - 1) / c->step[nth];
}

static unsigned slices_of(const slice_case *c)
{
    unsigned count = 1;
    for (unsigned i = 0; i < c->rank; i++)
        count *= count_of(c, i);
    return count;
}

/* Where slice `nth` of the box lies in the tensor; -1: outside. */
static long place_of(const slice_case *c, unsigned nth)
{
    cuuint64_t strides[4];
    long place = 0;
    strides_of(c, strides);
    for (unsigned i = 0; i < c->rank; i++) {
        const long step = i == c->rank - 2 ? 1 : (long)c->step[i];
        const long at = c->at[i] + (long)(nth % count_of(c, i)) * step;
        nth /= count_of(c, i);
        if (at < 0 || at >= (long)sizes[i])
            return -1;
        place += at * (i == 0 ? (long)c->slice : (long)strides[i - 1]);
    }
    return place;
}

#define EACH(c)                                                                          \
    for (const slice_case *c = cases; c < cases + sizeof(cases) / sizeof(cases[0]); c++)

static arguments arguments_of(const slice_case *c)
{
    arguments a = {.bytes = slices_of(c) * c->slice};
    memcpy(a.at, c->at, sizeof(a.at));
    return a;
}

static void slices_are_loaded(void)
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
            const long place = place_of(c, i / c->slice);
            const unsigned char outside = c->fill == 0 ? 0 : i % 2 ? 0x7f : 0xf7;
            wanted[swizzled(i, c->swizzle)] =
                place < 0 ? outside : before[place + (long)(i % c->slice)];
        }
        write_load(c->rank, false, text);
        if (run(text, &map, &a, shown))
            compare(c->name, shown, ROOM);
    }
}

static void slices_are_stored(void)
{
    char text[PTX_BYTES];
    EACH(c)
    {
        CUtensorMap map __attribute__((aligned(64)));
        const arguments a = arguments_of(c);
        if (!c->is_stored)
            continue;
        OK(encode(c, &map));
        memcpy(wanted, before, TENSOR_BYTES);
        for (unsigned i = 0; i < a.bytes; i++) {
            const long place = place_of(c, i / c->slice);
            if (place >= 0)
                wanted[place + (long)(i % c->slice)] =
                    counted(swizzled(i, c->swizzle), 1001);
        }
        write_store(c->rank, NULL, text);
        if (run(text, &map, &a, NULL))
            compare(c->name, after, TENSOR_BYTES);
    }
}

static void slices_are_added(void)
{
    const slice_case c = {"added",   U32,       3,         16, NONE,
                          {8, 1, 2}, {1, 1, 1}, {4, 1, 3}, 0,  true};
    const arguments a = arguments_of(&c);
    CUtensorMap map __attribute__((aligned(64)));
    char text[PTX_BYTES];
    OK(encode(&c, &map));
    memcpy(wanted, before, TENSOR_BYTES);
    for (unsigned i = 0; i < a.bytes; i += 4) {
        const long place = place_of(&c, i / c.slice);
        unsigned old;
        if (place < 0)
            continue;
        memcpy(&old, before + place + i % c.slice, 4);
        old += (i / 2 + 1001) | (i / 2 + 1002) << 16;
        memcpy(wanted + place + i % c.slice, &old, 4);
    }
    write_store(c.rank, ".add", text);
    if (run(text, &map, &a, NULL))
        compare(c.name, after, TENSOR_BYTES);
}

/* Pixels go along W first; corners are of W, H, D, a slice of channels stays. */
static void pixels_are_slices(void)
{
    const slice_case c = {"pixels", U16, 4, 16, NONE, {0}, {0}, {2, 0, 1, 0}, 0, false};
    const int lower[] = {-1, 0}, upper[] = {-2, -1};
    const cuuint32_t step[] = {2, 1, 1, 1};
    const unsigned pixels = 30, channels = 24;
    cuuint64_t strides[4];
    arguments a = {.at = {2, 0, 1, 0}, .bytes = pixels * 16, .offsets = {1}};
    CUtensorMap map __attribute__((aligned(64)));
    unsigned char shown[ROOM];
    char text[PTX_BYTES];
    int w = a.at[0], h = a.at[1], n = a.at[3];
    strides_of(&c, strides);
    OK(cu.cuTensorMapEncodeIm2col(
        &map, U16, 4, (void *)(uintptr_t)tensor, sizes, strides, lower, upper, channels,
        pixels, step, CU_TENSOR_MAP_INTERLEAVE_16B, NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    memset(wanted, 0xee, ROOM);
    for (unsigned i = 0; i < pixels; i++) {
        const long x = w + 1; /* the filter's offset */
        const long place = x * 16 + h * (long)strides[0] + a.at[2] * (long)strides[1] +
                           n * (long)strides[2];
        const bool inside = x >= 0 && x < (long)sizes[0] && n < (int)sizes[3];
        for (unsigned k = 0; k < 16; k++)
            wanted[16 * i + k] = inside ? before[place + (long)k] : 0;
        w += 2;
        if (w < (int)sizes[0] + upper[0])
            continue;
        w = lower[0];
        if (++h < (int)sizes[1] + upper[1])
            continue;
        h = lower[1];
        n++;
    }
    write_load(4, true, text);
    if (run(text, &map, &a, shown))
        compare("pixels", shown, ROOM);
}

int main(void)
{
    DEVICE_OR_SKIP();
    const int begun = begin_boxes();
    if (begun != 0)
        return begun;
    RUN(slices_are_loaded);
    RUN(slices_are_stored);
    RUN(slices_are_added);
    RUN(pixels_are_slices);
    return test_done();
}
