// SPDX-License-Identifier: Apache-2.0
/* The level that a gradient takes, in steps of 1/256, is an H200's or one beside it
 * (texture_levels.expected, recorded by `GPH_DRIVER=cuda texture_levels_test --record
 * FILE`): each level of a texture holds its number, so the fetch is the level. Directions
 * of cube maps on each face and off it, steps on the face, over its edges and to the other
 * side. */
#include <math.h>
#include <stdint.h>

#include "driver.h"

#ifndef LEVELS_EXPECTED /* built without CMake, run in the root of the repository */
#define LEVELS_EXPECTED "tests/conformance/texture_levels.expected"
#endif

#define POINTS 1536u
#define BLOCK 64u
#define SIZE 64u
#define LEVELS 7u
#define UNIT 256.f
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

typedef struct shape {
    const char *name;
    unsigned flags, depth, record; /* which of the recordings */
    const char *fetch;
    unsigned equal, by_two; /* so many at least, so many at most; none by three */
} shape;

#define OUT "{%d0,%d1,%d2,%d3}"
static const shape shapes[] = {
    {"cube", CUDA_ARRAY3D_CUBEMAP, 6, 0,
     "tex.grad.cube.v4.f32.f32 " OUT ",[%h,{%c0,%c1,%c2,%c2}],{%c3,%c4,%c5,%c5},"
     "{%c6,%c7,%c8,%c8};",
     1150, 4},
    {"acube", CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 12, 0,
     "tex.grad.acube.v4.f32.f32 " OUT ",[%h,{%l,%c0,%c1,%c2}],{%c3,%c4,%c5,%c5},"
     "{%c6,%c7,%c8,%c8};",
     1150, 4},
    {"2d", 0, 0, 1, "tex.grad.2d.v4.f32.f32 " OUT ",[%h,{%c0,%c1}],{%c3,%c4},{%c6,%c7};",
     1280, 0},
    {"3d", 0, SIZE, 2,
     "tex.grad.3d.v4.f32.f32 " OUT ",[%h,{%c0,%c1,%c2,%c2}],{%c3,%c4,%c5,%c5},"
     "{%c6,%c7,%c8,%c8};",
     1270, 2},
};

static float in[POINTS][9], got[POINTS];
static uint16_t expected[3][POINTS];
static FILE *recording;

/* ---- points ---- */

static uint64_t seed = 88172645463325252ull;

static float drawn(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (float)((int)(seed >> 20 & 0xffff) - 32768) / 32768.f;
}

static unsigned ordered_points(void)
{
    static const float directions[][3] = {
        {0, 0, 1},       {0, 0, 2},      {0, 0, -1},  {1, 0, 0},      {-1, 0, 0},
        {0, 1, 0},       {0, -1, 0},     {.5f, 0, 1}, {.5f, .25f, 1}, {-.75f, .5f, 1},
        {1, .5f, -.25f}, {.3f, -1, .6f}, {2, 1, .5f}, {1, 1, 1}};
    static const float steps[] = {.03125f, .1f, .25f, .5f, 1, 3};
    unsigned n = 0;
    for (unsigned k = 0; k < COUNT(directions); k++)
        for (unsigned axis = 0; axis < 3; axis++)
            for (unsigned m = 0; m < COUNT(steps); m++, n++) {
                memcpy(in[n], directions[k], sizeof(directions[k]));
                in[n][3 + axis] = steps[m];
                if (m & 1)
                    in[n][6 + (axis + 1) % 3] = .2f;
            }
    return n;
}

static void fill_points(void)
{
    for (unsigned n = ordered_points(); n < POINTS; n++) {
        const float size = n & 2 ? .15f : n & 4 ? 1.f : 4.f;
        for (unsigned i = 0; i < 3; i++)
            in[n][i] = drawn();
        if (n & 1)
            in[n][n % 3] = in[n][n % 3] < 0 ? -1.f : 1.f;
        for (unsigned i = 3; i < 9; i++)
            in[n][i] = drawn() * size;
        if (n & 8)
            in[n][6] = in[n][7] = in[n][8] = 0;
        if (n & 16)
            in[n][3] = 0;
        if (n & 32)
            in[n][5] = 0;
    }
}

/* ---- textures ---- */

/* Level k holds k. */
static void fill_level(const shape *s, CUmipmappedArray array, unsigned level)
{
    static float content[SIZE * SIZE * SIZE];
    const unsigned width = SIZE >> level;
    const unsigned depth = s->flags ? s->depth : s->depth >> level;
    const unsigned count = width * width * (depth ? depth : 1);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = content,
                          .srcPitch = 4u * width,
                          .srcHeight = width,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = 4u * width,
                          .Height = width,
                          .Depth = depth ? depth : 1};
    for (unsigned i = 0; i < count; i++)
        content[i] = (float)level;
    OK(cu.cuMipmappedArrayGetLevel(&copy.dstArray, array, level));
    OK(cu.cuMemcpy3D(&copy));
}

static CUtexObject make_texture(const shape *s, CUmipmappedArray *array)
{
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = SIZE,
                                          .Height = SIZE,
                                          .Depth = s->depth,
                                          .Format = CU_AD_FORMAT_FLOAT,
                                          .NumChannels = 1,
                                          .Flags = s->flags};
    const CUaddress_mode mode = CU_TR_ADDRESS_MODE_CLAMP;
    const CUDA_TEXTURE_DESC how = {.addressMode = {mode, mode, mode},
                                   .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                   .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                                   .flags = CU_TRSF_NORMALIZED_COORDINATES,
                                   .maxMipmapLevelClamp = 20.f};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
    CUtexObject texture = 0;
    OK(cu.cuMipmappedArrayCreate(array, &desc, LEVELS));
    for (unsigned level = 0; level < LEVELS; level++)
        fill_level(s, *array, level);
    resource.res.mipmap.hMipmappedArray = *array;
    OK(cu.cuTexObjectCreate(&texture, &resource, &how, NULL));
    return texture;
}

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 h, .param .u64 pi, .param .u64 po)\n{\n"
    ".reg .b64 %h, %i, %o, %u; .reg .b32 %t, %c<9>, %d<4>, %l, %n;\n"
    "ld.param.u64 %h, [h]; ld.param.u64 %i, [pi]; ld.param.u64 %o, [po];\n"
    "mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %t, %n, 64, %t;\n"
    "mul.wide.u32 %u, %t, 36; add.u64 %i, %i, %u; mul.wide.u32 %u, %t, 4;\n"
    "add.u64 %o, %o, %u; mov.u32 %l, 1;\n";

static void fetch(const shape *s, CUtexObject texture)
{
    char text[4096];
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr from = 0, to = 0;
    size_t at = (size_t)snprintf(text, sizeof(text), "%s", head);
    for (unsigned i = 0; i < 9; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "ld.global.b32 %%c%u, [%%i+%u];\n", i, 4 * i);
    snprintf(text + at, sizeof(text) - at, "%s\nst.global.b32 [%%o], %%d0;\nret;\n}\n",
             s->fetch);
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    OK(cu.cuMemAlloc(&from, sizeof(in)));
    OK(cu.cuMemAlloc(&to, sizeof(got)));
    OK(cu.cuMemcpyHtoD(from, in, sizeof(in)));
    void *params[] = {&texture, &from, &to};
    OK(cu.cuLaunchKernel(kernel, POINTS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params,
                         NULL));
    OK(cu.cuMemcpyDtoH(got, to, sizeof(got)));
    OK(cu.cuMemFree(from));
    OK(cu.cuMemFree(to));
    OK(cu.cuModuleUnload(module));
}

/* ---- comparing ---- */

static void compare(const shape *s)
{
    unsigned equal = 0, by_two = 0, by_more = 0, first = POINTS;
    for (unsigned n = 0; n < POINTS; n++) {
        const float by = fabsf(got[n] * UNIT - (float)expected[s->record][n]);
        equal += by == 0;
        by_two += by == 2;
        if (!(by <= 2) && by_more++ == 0)
            first = n;
    }
    printf("%s: %u of %u levels equal, %u by two\n", s->name, equal, POINTS, by_two);
    CHECK(equal >= s->equal);
    CHECK(by_two <= s->by_two);
    if (!CHECK(by_more == 0))
        fprintf(stderr, "  %s: %u by more: the first, point %u, is %g, not %u\n", s->name,
                by_more, first, (double)(got[first] * UNIT), expected[s->record][first]);
}

static void levels_of_gradients(void)
{
    fill_points();
    for (unsigned i = 0; i < COUNT(shapes); i++) {
        const shape *s = &shapes[i];
        CUmipmappedArray array;
        const CUtexObject texture = make_texture(s, &array);
        fetch(s, texture);
        for (unsigned n = 0; n < POINTS && recording; n++)
            expected[s->record][n] = (uint16_t)(got[n] * UNIT);
        compare(s);
        OK(cu.cuTexObjectDestroy(texture));
        OK(cu.cuMipmappedArrayDestroy(array));
    }
}

static bool read_expected(void)
{
    FILE *file = fopen(LEVELS_EXPECTED, "rb");
    const bool all = file && fread(expected, sizeof(expected), 1, file) == 1;
    if (file)
        fclose(file);
    return all;
}

int main(int argc, char **argv)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    if (argc == 3 && strcmp(argv[1], "--record") == 0)
        recording = fopen(argv[2], "wb");
    else if (!read_expected())
        return 1;
    RUN(levels_of_gradients);
    if (recording) {
        CHECK(fwrite(expected, sizeof(expected), 1, recording) == 1);
        CHECK(fclose(recording) == 0);
    }
    return test_done();
}
