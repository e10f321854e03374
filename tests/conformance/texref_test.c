// SPDX-License-Identifier: Apache-2.0
/* Texture and surface references: what an instruction that names a .texref reads is what one
 * with an object of the same description reads. CUDA 13's headers have these calls no
 * longer, so they are looked up by symbol. */
#include <string.h>

#include "driver.h"
#include "kernels.h"

static const char texref_ptx[] = PTX_HEAD
    ".visible .global .texref image;\n"
    ".visible .global .surfref plane;\n"
    ".visible .global .align 8 .u64 plain;\n"
/* (x, y) of thread t is (t % 16, t / 16) * scale + shift */
#define PLACE                                                                            \
    "  .reg .b32 %t, %x, %y; .reg .f32 %a<2>, %c<4>, %s, %h; .reg .b64 %o, %u, %w;\n"    \
    "  ld.param.u64 %o, [out]; ld.param.f32 %s, [scale]; ld.param.f32 %h, [shift];\n"    \
    "  mov.u32 %t, %tid.x; and.b32 %x, %t, 15; shr.u32 %y, %t, 4;\n"                     \
    "  cvt.rn.f32.u32 %a0, %x; cvt.rn.f32.u32 %a1, %y;\n"                                \
    "  fma.rn.f32 %a0, %a0, %s, %h; fma.rn.f32 %a1, %a1, %s, %h;\n"                      \
    "  mul.wide.u32 %u, %t, 16; add.s64 %o, %o, %u;\n"
#define PARAMETERS                                                                       \
    "(.param .u64 out, .param .u64 object, .param .f32 scale, .param .f32 shift)"
#define STORE "  st.global.v4.f32 [%o], {%c0, %c1, %c2, %c3}; ret;\n}\n"
    ".visible .entry by_name" PARAMETERS "\n{\n" PLACE
    "  tex.2d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [image, {%a0, %a1}];\n" STORE
    ".visible .entry by_object" PARAMETERS "\n{\n" PLACE "  ld.param.u64 %w, [object];\n"
    "  tex.2d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [%w, {%a0, %a1}];\n" STORE
    ".visible .entry row" PARAMETERS "\n{\n" PLACE
    "  tex.1d.v4.f32.s32 {%c0, %c1, %c2, %c3}, [image, {%t}];\n" STORE
    ".visible .entry levels" PARAMETERS "\n{\n" PLACE
    "  tex.level.2d.v4.f32.f32 {%c0, %c1, %c2, %c3}, [image, {%a0, %a1}], %h;\n" STORE
    ".visible .entry put(.param .u32 v)\n{\n"
    "  .reg .b32 %t, %x, %y, %v;\n"
    "  ld.param.u32 %v, [v]; mov.u32 %t, %tid.x; and.b32 %x, %t, 15; shr.u32 %y, %t, 4;\n"
    "  shl.b32 %x, %x, 2; add.u32 %v, %v, %t;\n"
    "  sust.b.2d.b32.trap [plane, {%x, %y}], {%v}; ret;\n}\n";

#define CALLS(X)                                                                         \
    X(cuModuleGetTexRef, (CUtexref *, CUmodule, const char *))                           \
    X(cuModuleGetSurfRef, (CUsurfref *, CUmodule, const char *))                         \
    X(cuTexRefCreate, (CUtexref *))                                                      \
    X(cuTexRefDestroy, (CUtexref))                                                       \
    X(cuTexRefSetArray, (CUtexref, CUarray, unsigned))                                   \
    X(cuTexRefSetMipmappedArray, (CUtexref, CUmipmappedArray, unsigned))                 \
    X(cuTexRefSetAddress_v2, (size_t *, CUtexref, CUdeviceptr, size_t))                  \
    X(cuTexRefSetAddress2D_v3,                                                           \
      (CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t))                    \
    X(cuTexRefSetFormat, (CUtexref, CUarray_format, int))                                \
    X(cuTexRefSetAddressMode, (CUtexref, int, CUaddress_mode))                           \
    X(cuTexRefSetFilterMode, (CUtexref, CUfilter_mode))                                  \
    X(cuTexRefSetMipmapFilterMode, (CUtexref, CUfilter_mode))                            \
    X(cuTexRefSetMipmapLevelBias, (CUtexref, float))                                     \
    X(cuTexRefSetMipmapLevelClamp, (CUtexref, float, float))                             \
    X(cuTexRefSetMaxAnisotropy, (CUtexref, unsigned))                                    \
    X(cuTexRefSetBorderColor, (CUtexref, float *))                                       \
    X(cuTexRefSetFlags, (CUtexref, unsigned))                                            \
    X(cuTexRefGetArray, (CUarray *, CUtexref))                                           \
    X(cuTexRefGetMipmappedArray, (CUmipmappedArray *, CUtexref))                         \
    X(cuTexRefGetAddress_v2, (CUdeviceptr *, CUtexref))                                  \
    X(cuTexRefGetAddressMode, (CUaddress_mode *, CUtexref, int))                         \
    X(cuTexRefGetFilterMode, (CUfilter_mode *, CUtexref))                                \
    X(cuTexRefGetFormat, (CUarray_format *, int *, CUtexref))                            \
    X(cuTexRefGetMipmapFilterMode, (CUfilter_mode *, CUtexref))                          \
    X(cuTexRefGetMipmapLevelBias, (float *, CUtexref))                                   \
    X(cuTexRefGetMipmapLevelClamp, (float *, float *, CUtexref))                         \
    X(cuTexRefGetMaxAnisotropy, (int *, CUtexref))                                       \
    X(cuTexRefGetBorderColor, (float *, CUtexref))                                       \
    X(cuTexRefGetFlags, (unsigned *, CUtexref))                                          \
    X(cuSurfRefSetArray, (CUsurfref, CUarray, unsigned))                                 \
    X(cuSurfRefGetArray, (CUarray *, CUsurfref))                                         \
    X(cuParamSetTexRef, (CUfunction, int, CUtexref))
static struct {
#define X(name, args) CUresult(*name) args;
    CALLS(X)
#undef X
} old;

enum { THREADS = 256, WIDTH = 16, HEIGHT = 8 };

static CUmodule module;
static CUfunction by_name, by_object, row, levels, put;
static CUtexref image;
static CUsurfref plane;
static CUdeviceptr out;

static bool load_calls(void)
{
    bool all = true;
#define X(name, args)                                                                    \
    *(void **)&old.name = dlsym(driver_library, #name);                                  \
    all = all && old.name != NULL;
    CALLS(X)
#undef X
    return all;
}

static void run(CUfunction function, CUtexObject object, float scale, float shift,
                float to[4 * THREADS])
{
    void *params[] = {&out, &object, &scale, &shift};
    OK(cu.cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(to, out, sizeof(float) * 4 * THREADS));
}

static CUarray new_array(CUarray_format format, unsigned channels, unsigned bytes,
                         unsigned flags)
{
    static unsigned char texels[WIDTH * HEIGHT * 16];
    CUarray array = NULL;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = WIDTH,
                                          .Height = HEIGHT,
                                          .Format = format,
                                          .NumChannels = channels,
                                          .Flags = flags};
    OK(cu.cuArray3DCreate(&array, &desc));
    for (unsigned i = 0; i < sizeof(texels); i++)
        texels[i] = (unsigned char)(i * 7 + i / 5);
    if (format == CU_AD_FORMAT_FLOAT)
        for (unsigned i = 0; i < sizeof(texels) / 4; i++) {
            const float value = (float)(i % 31) / 8.f;
            memcpy(texels + 4 * i, &value, 4);
        }
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = texels,
                                .srcPitch = (size_t)WIDTH * channels * bytes,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = (size_t)WIDTH * channels * bytes,
                                .Height = HEIGHT};
    OK(cu.cuMemcpy2D(&copy));
    return array;
}

static void equal_to_object(CUarray array, CUaddress_mode mode, CUfilter_mode filter,
                            unsigned flags)
{
    float named[4 * THREADS], objected[4 * THREADS], border[4] = {1, 2, 3, 4};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = array};
    CUDA_TEXTURE_DESC texture = {
        .addressMode = {mode, mode, mode}, .filterMode = filter, .flags = flags};
    CUtexObject object = 0;
    memcpy(texture.borderColor, border, sizeof(border));
    OK(cu.cuTexObjectCreate(&object, &resource, &texture, NULL));
    OK(old.cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    for (int axis = 0; axis < 3; axis++)
        OK(old.cuTexRefSetAddressMode(image, axis, mode));
    OK(old.cuTexRefSetFilterMode(image, filter));
    OK(old.cuTexRefSetFlags(image, flags));
    OK(old.cuTexRefSetBorderColor(image, border));
    const bool normalized = (flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    const float scale = normalized ? 1.f / 11 : 1.3f, shift = normalized ? -.2f : -1.7f;
    run(by_name, 0, scale, shift, named);
    run(by_object, object, scale, shift, objected);
    if (!CHECK(memcmp(named, objected, sizeof(named)) == 0))
        fprintf(stderr, "  mode %d, filter %d, flags 0x%x\n", (int)mode, (int)filter,
                flags);
    OK(cu.cuTexObjectDestroy(object));
}

static void unbind(CUtexref ref)
{
    size_t offset;
    OK(old.cuTexRefSetAddress_v2(&offset, ref, 0, 0));
}

static void arrays_are_read_as_by_objects(void)
{
    CUarray bytes = new_array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, 0);
    CUarray floats = new_array(CU_AD_FORMAT_FLOAT, 1, 4, 0);
    for (int mode = 0; mode < 4; mode++)
        for (int filter = 0; filter < 2; filter++)
            for (unsigned flags = 0; flags <= 2; flags += 2) {
                equal_to_object(bytes, (CUaddress_mode)mode, (CUfilter_mode)filter,
                                flags);
                equal_to_object(floats, (CUaddress_mode)mode, (CUfilter_mode)filter,
                                flags);
            }
    CUarray is = NULL;
    OK(old.cuTexRefGetArray(&is, image));
    CHECK(is == floats);
    CUarray_format format;
    int channels = 0;
    OK(old.cuTexRefGetFormat(&format, &channels, image));
    CHECK(format == CU_AD_FORMAT_FLOAT && channels == 1); /* the array's */
    OK(old.cuTexRefSetArray(image, floats, 0));           /* the format is set already */
    OK(old.cuTexRefGetArray(&is, image));
    CHECK(is == floats);
    OK(cu.cuArrayDestroy(bytes));
    REFUSED(INVALID_HANDLE, old.cuTexRefSetArray(image, NULL, CU_TRSA_OVERRIDE_FORMAT));
    if (driver_is_soft) {
        OK(old.cuTexRefGetArray(&is, image));
        CHECK(is == floats);
    }
    unbind(image);
    if (driver_is_soft) {
        REFUSED(INVALID_VALUE, old.cuTexRefGetArray(&is, image));
        OK(old.cuTexRefSetFormat(image, CU_AD_FORMAT_FLOAT, 2)); /* not the array's */
        REFUSED(INVALID_VALUE, old.cuTexRefSetArray(image, floats, 0));
        REFUSED(INVALID_VALUE, old.cuTexRefSetArray(image, floats, 2));
    }
    OK(cu.cuArrayDestroy(floats));
}

/* Linear memory begins at a multiple of a unit; the rest is an offset in bytes. */
static void memory_is_read_from_its_offset(void)
{
    float values[THREADS], read[4 * THREADS];
    CUdeviceptr memory = 0, is = 0;
    size_t offset = 77;
    OK(cu.cuMemAlloc(&memory, 4096));
    for (int i = 0; i < THREADS; i++)
        values[i] = (float)i * .5f;
    OK(cu.cuMemcpyHtoD(memory + 64, values, sizeof(values)));
    OK(old.cuTexRefSetFormat(image, CU_AD_FORMAT_FLOAT, 1));
    OK(old.cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_POINT));
    OK(old.cuTexRefSetFlags(image, 0));
    OK(old.cuTexRefSetAddress_v2(&offset, image, memory + 64, sizeof(values)));
    CHECK(offset == 64);
    run(row, 0, 1, 0, read);
    CHECK(read[4 * 16] == 0 && read[4 * 20] == values[4]);
    CHECK(read[4 * 255] == values[239]);
    OK(old.cuTexRefGetAddress_v2(&is, image));
    if (driver_is_soft)
        CHECK(is == memory); /* on an H200 it is not memory + 64 either */
    CUarray none;
    REFUSED(INVALID_VALUE, old.cuTexRefGetArray(&none, image));
    REFUSED(INVALID_VALUE, old.cuTexRefSetAddress_v2(NULL, image, memory + 64, 64));
    OK(old.cuTexRefSetAddress_v2(NULL, image, memory + 512, 64));
    /* Four bytes a texel become floats from 0 to 1. */
    OK(cu.cuMemsetD8(memory + 512, 51, 64));
    OK(old.cuTexRefSetFormat(image, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    run(row, 0, 1, 0, read);
    CHECK(read[0] == 51.f / 255 && read[3] == 51.f / 255);
    unbind(image);
    OK(old.cuTexRefGetAddress_v2(&is, image));
    if (driver_is_soft)
        CHECK(is == 0);
    OK(cu.cuMemFree(memory));
}

static void pitched_memory_is_a_plane(void)
{
    float read[4 * THREADS];
    CUdeviceptr memory = 0, is = 0;
    const CUDA_ARRAY_DESCRIPTOR desc = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1};
    OK(cu.cuMemAlloc(&memory, 512 * HEIGHT));
    for (unsigned y = 0; y < HEIGHT; y++)
        OK(cu.cuMemsetD32(memory + 512 * y, 0x3f800000 + (y << 20), WIDTH));
    OK(old.cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_POINT));
    OK(old.cuTexRefSetFlags(image, 0));
    OK(old.cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_CLAMP));
    OK(old.cuTexRefSetAddressMode(image, 1, CU_TR_ADDRESS_MODE_CLAMP));
    OK(old.cuTexRefSetAddress2D_v3(image, &desc, memory, 512));
    run(by_name, 0, 1, .5f, read);
    for (unsigned t = 0; t < 16 * HEIGHT; t++) {
        const unsigned bits = 0x3f800000 + (t / 16 << 20);
        CHECK(memcmp(&read[4 * t], &bits, 4) == 0);
    }
    OK(old.cuTexRefGetAddress_v2(&is, image));
    CHECK(is == memory);
    unbind(image);
    OK(cu.cuMemFree(memory));
}

static void levels_are_chosen(void)
{
    float read[4 * THREADS], bias = 9, least = 9, most = 9;
    CUmipmappedArray made = NULL, is = NULL;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    OK(cu.cuMipmappedArrayCreate(&made, &desc, 3));
    for (unsigned i = 0; i < 3; i++) {
        float texels[256];
        CUarray level;
        for (unsigned t = 0; t < 256; t++)
            texels[t] = (float)(i + 1);
        OK(cu.cuMipmappedArrayGetLevel(&level, made, i));
        const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                    .srcHost = texels,
                                    .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                    .dstArray = level,
                                    .WidthInBytes = 64u >> i,
                                    .Height = 16u >> i};
        OK(cu.cuMemcpy2D(&copy));
    }
    OK(old.cuTexRefSetMipmappedArray(image, made, CU_TRSA_OVERRIDE_FORMAT));
    OK(old.cuTexRefSetFlags(image, CU_TRSF_NORMALIZED_COORDINATES));
    OK(old.cuTexRefSetMipmapLevelClamp(image, 0, 2));
    OK(old.cuTexRefGetMipmappedArray(&is, image));
    CHECK(is == made);
    run(levels, 0, .01f, 1, read);
    CHECK(read[0] == 2);
    OK(old.cuTexRefSetMipmapLevelClamp(image, 2, 2));
    run(levels, 0, .01f, 1, read);
    CHECK(read[0] == 3);
    OK(old.cuTexRefSetMipmapLevelBias(image, -1));
    OK(old.cuTexRefSetMipmapLevelClamp(image, 0, 2));
    run(levels, 0, .01f, 1, read);
    CHECK(read[0] == 1);
    OK(old.cuTexRefGetMipmapLevelBias(&bias, image));
    OK(old.cuTexRefGetMipmapLevelClamp(&least, &most, image));
    CHECK(bias == -1 && least == 0 && most == 2);
    OK(old.cuTexRefSetMipmapLevelBias(image, 0));
    unbind(image);
    OK(cu.cuMipmappedArrayDestroy(made));
}

static void settings_are_read_back(void)
{
    CUaddress_mode mode;
    CUfilter_mode filter;
    unsigned flags = 0;
    int most = 0;
    float color[4] = {4, 3, 2, 1}, is[4];
    CUtexref ref = NULL;
    OK(old.cuTexRefCreate(&ref));
    OK(old.cuTexRefSetAddressMode(ref, 1, CU_TR_ADDRESS_MODE_MIRROR));
    OK(old.cuTexRefGetAddressMode(&mode, ref, 1));
    CHECK(mode == CU_TR_ADDRESS_MODE_MIRROR);
    OK(old.cuTexRefSetFilterMode(ref, CU_TR_FILTER_MODE_LINEAR));
    OK(old.cuTexRefGetFilterMode(&filter, ref));
    CHECK(filter == CU_TR_FILTER_MODE_LINEAR);
    OK(old.cuTexRefSetMipmapFilterMode(ref, CU_TR_FILTER_MODE_LINEAR));
    OK(old.cuTexRefGetMipmapFilterMode(&filter, ref));
    CHECK(filter == CU_TR_FILTER_MODE_LINEAR);
    OK(old.cuTexRefSetFlags(ref, CU_TRSF_READ_AS_INTEGER));
    OK(old.cuTexRefGetFlags(&flags, ref));
    CHECK((flags & CU_TRSF_READ_AS_INTEGER) != 0);
    OK(old.cuTexRefSetMaxAnisotropy(ref, 4));
    OK(old.cuTexRefGetMaxAnisotropy(&most, ref));
    CHECK(most == 4);
    OK(old.cuTexRefSetBorderColor(ref, color));
    OK(old.cuTexRefGetBorderColor(is, ref));
    CHECK(memcmp(color, is, sizeof(is)) == 0);
    REFUSED(INVALID_VALUE, old.cuTexRefSetAddressMode(ref, 3, CU_TR_ADDRESS_MODE_WRAP));
    REFUSED(INVALID_VALUE, old.cuTexRefSetFormat(ref, CU_AD_FORMAT_FLOAT, 3));
    CUarray_format format;
    size_t offset;
    OK(old.cuTexRefSetFormat(ref, (CUarray_format)0x77, 1)); /* judged when it is bound */
    OK(old.cuTexRefGetFormat(&format, &most, ref));
    CHECK(format == (CUarray_format)0x77 && most == 1);
    if (driver_is_soft) {
        REFUSED(INVALID_VALUE, old.cuTexRefSetAddress_v2(&offset, ref, out, 64));
        unbind(ref);
    }
    REFUSED(INVALID_VALUE, old.cuTexRefGetFlags(NULL, ref));
    OK(old.cuTexRefDestroy(ref));
    if (driver_is_soft) {
        REFUSED(INVALID_HANDLE, old.cuTexRefGetFlags(&flags, ref));
        REFUSED(INVALID_HANDLE, old.cuTexRefSetFlags((CUtexref)module, 0));
        REFUSED(INVALID_HANDLE, old.cuTexRefSetFlags((CUtexref)plane, 0));
    }
}

static void surfaces_are_written(void)
{
    unsigned texels[WIDTH * HEIGHT], base = 1000;
    CUarray array =
        new_array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, CUDA_ARRAY3D_SURFACE_LDST);
    CUarray is = NULL;
    REFUSED(INVALID_VALUE, old.cuSurfRefGetArray(&is, plane));
    OK(old.cuSurfRefSetArray(plane, array, 0));
    OK(old.cuSurfRefGetArray(&is, plane));
    CHECK(is == array);
    void *params[] = {&base};
    OK(cu.cuLaunchKernel(put, 1, 1, 1, WIDTH * HEIGHT, 1, 1, 0, NULL, params, NULL));
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = array,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = texels,
                                .WidthInBytes = WIDTH * 4,
                                .Height = HEIGHT};
    OK(cu.cuMemcpy2D(&copy));
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        CHECK(texels[i] == 1000 + i);
    OK(cu.cuArrayDestroy(array));
}

static void references_are_found_by_name(void)
{
    CUtexref again = NULL;
    CUsurfref other = NULL;
    OK(old.cuModuleGetTexRef(&again, module, "image"));
    CHECK(again == image);
    REFUSED(NOT_FOUND, old.cuModuleGetTexRef(&again, module, "none"));
    REFUSED(NOT_FOUND, old.cuModuleGetTexRef(&again, module, "plain"));
    REFUSED(NOT_FOUND, old.cuModuleGetTexRef(&again, module, "plane"));
    REFUSED(NOT_FOUND, old.cuModuleGetSurfRef(&other, module, "image"));
    /* Of the oldest way to launch: no unit of textures is given to one any more. */
    REFUSED(INVALID_VALUE, old.cuParamSetTexRef(by_name, -1, image));
    REFUSED(INVALID_VALUE, old.cuParamSetTexRef(by_name, 0, image));
    REFUSED(INVALID_VALUE, old.cuModuleGetTexRef(NULL, module, "image"));
    REFUSED(INVALID_VALUE, old.cuModuleGetTexRef(&again, module, NULL));
}

/* Kernels that were launched before see what was bound then. */
static void a_launch_has_what_was_bound(void)
{
    float read[4 * THREADS];
    CUarray first = new_array(CU_AD_FORMAT_FLOAT, 1, 4, 0);
    CUarray second = new_array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, 0);
    CUdeviceptr object = 0, keep = out, other = 0;
    float scale = 1, shift = .5f;
    void *params[] = {&other, &object, &scale, &shift};
    OK(cu.cuMemAlloc(&other, sizeof(read)));
    OK(old.cuTexRefSetFlags(image, 0));
    OK(old.cuTexRefSetArray(image, first, CU_TRSA_OVERRIDE_FORMAT));
    for (int i = 0; i < 20; i++)
        OK(cu.cuLaunchKernel(by_name, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(old.cuTexRefSetArray(image, second, CU_TRSA_OVERRIDE_FORMAT));
    OK(cu.cuMemcpyDtoH(read, other, sizeof(read)));
    CHECK(read[4 * 3] == 3 / 8.f && read[4 * 3 + 1] == 0);
    run(by_name, 0, 1, .5f, read);
    CHECK(read[1] != 0);
    unbind(image);
    CHECK(keep == out);
    OK(cu.cuMemFree(other));
    OK(cu.cuArrayDestroy(first));
    OK(cu.cuArrayDestroy(second));
}

static void they_go_with_their_module(void)
{
    CUmodule shorter = NULL;
    CUtexref ref = NULL;
    unsigned flags;
    OK(cu.cuModuleLoadData(&shorter, texref_ptx));
    OK(old.cuModuleGetTexRef(&ref, shorter, "image"));
    CHECK(ref != NULL && ref != image);
    OK(cu.cuModuleUnload(shorter));
    if (driver_is_soft)
        REFUSED(INVALID_HANDLE, old.cuTexRefGetFlags(&flags, ref));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    if (!load_calls()) {
        printf("the driver has no texture references\n");
        return 77;
    }
    const CUresult loaded = cu.cuModuleLoadData(&module, texref_ptx);
    if (!driver_is_soft && loaded != CUDA_SUCCESS) {
        printf("the driver's compiler takes no .texref: %d\n", (int)loaded);
        return 77;
    }
    OK(loaded);
    OK(cu.cuModuleGetFunction(&by_name, module, "by_name"));
    OK(cu.cuModuleGetFunction(&by_object, module, "by_object"));
    OK(cu.cuModuleGetFunction(&row, module, "row"));
    OK(cu.cuModuleGetFunction(&levels, module, "levels"));
    OK(cu.cuModuleGetFunction(&put, module, "put"));
    OK(old.cuModuleGetTexRef(&image, module, "image"));
    OK(old.cuModuleGetSurfRef(&plane, module, "plane"));
    OK(cu.cuMemAlloc(&out, sizeof(float) * 4 * THREADS));
    RUN(references_are_found_by_name);
    RUN(arrays_are_read_as_by_objects);
    RUN(memory_is_read_from_its_offset);
    RUN(pitched_memory_is_a_plane);
    RUN(levels_are_chosen);
    RUN(settings_are_read_back);
    RUN(surfaces_are_written);
    RUN(a_launch_has_what_was_bound);
    RUN(they_go_with_their_module);
    return test_done();
}
