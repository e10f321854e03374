// SPDX-License-Identifier: Apache-2.0
/* A piece of work for tests of recipes, and memory at chosen addresses.
 *
 *   memory  base         x, input, COUNT floats
 *           base + Y     y
 *           base + OUT   output
 *   work    y = 0; y = 2 y + x; y = 3 y + x; side: z = 0; out = y and z joined */
#ifndef RECIPE_WORK_H
#define RECIPE_WORK_H
#include "cuda/abi.h"
#include "runtime.h"

enum {
    COUNT = 1000,
    BYTES = COUNT * 4,
    Y = 64 << 10,
    Z = 128 << 10,
    OUT = 192 << 10,
    PLACE = 2 << 20
};

/* y[i] = y[i] * a + x[i] */
#define AXPY_ENTRY                                                                       \
    ".visible .entry axpy(.param .u64 py, .param .u64 px, .param .f32 pa, .param .u32 "  \
    "pn)\n"
#define AXPY_BODY                                                                        \
    "{\n"                                                                                \
    ".reg .pred %p<2>;\n.reg .f32 %f<4>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"          \
    "ld.param.u64 %d1, [py];\n"                                                          \
    "ld.param.u64 %d2, [px];\n"                                                          \
    "ld.param.f32 %f1, [pa];\n"                                                          \
    "ld.param.u32 %r1, [pn];\n"                                                          \
    "mov.u32 %r2, %ctaid.x;\n"                                                           \
    "mov.u32 %r3, %ntid.x;\n"                                                            \
    "mov.u32 %r4, %tid.x;\n"                                                             \
    "mad.lo.u32 %r5, %r2, %r3, %r4;\n"                                                   \
    "setp.ge.u32 %p1, %r5, %r1;\n"                                                       \
    "@%p1 bra DONE;\n"                                                                   \
    "mul.wide.u32 %d3, %r5, 4;\n"                                                        \
    "add.u64 %d4, %d1, %d3;\n"                                                           \
    "add.u64 %d5, %d2, %d3;\n"                                                           \
    "ld.global.f32 %f2, [%d4];\n"                                                        \
    "ld.global.f32 %f3, [%d5];\n"                                                        \
    "fma.rn.f32 %f2, %f2, %f1, %f3;\n"                                                   \
    "st.global.f32 [%d4], %f2;\n"                                                        \
    "DONE:\n"                                                                            \
    "ret;\n"                                                                             \
    "}\n"
#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
static const char work_ptx[] = PTX_HEAD AXPY_ENTRY AXPY_BODY
    ".visible .entry pair(.param .align 8 .b8 both[24]) { ret; }\n"
    ".visible .entry ncclDevKernel_AllReduce(.param .u64 p) { ret; }\n";
/* The same kernel, another image. */
static const char changed_ptx[] = PTX_HEAD "// changed\n" AXPY_ENTRY AXPY_BODY;
/* The same name, other arguments. */
static const char other_ptx[] =
    PTX_HEAD ".visible .entry axpy(.param .u64 py, .param .u32 pn) { ret; }\n";

static CUfunction axpy;
static CUstream stream, side;
static CUevent forked, joined;

static inline gph_status launch_axpy(CUstream where, CUdeviceptr to, CUdeviceptr from,
                                     float factor)
{
    unsigned int count = COUNT;
    void *params[] = {&to, &from, &factor, &count};
    return cu->LaunchKernel(axpy, (COUNT + 127) / 128, 1, 1, 128, 1, 1, 0, where, params,
                            NULL);
}

/* The work with its memory at `base`, as a graph. `factor` makes variants. */
static inline CUgraph capture_work(CUdeviceptr base, float factor)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    if (!CHECK_OK(gph_capture_begin(runtime, stream, NULL, &capture, &error), error))
        return NULL;
    CU(EventRecord, forked, stream);
    CU(StreamWaitEvent, side, forked, 0);
    CU(MemsetD32Async, base + Z, 0, COUNT, side);
    CU(MemsetD32Async, base + Y, 0, COUNT, stream);
    CHECK(launch_axpy(stream, base + Y, base, 2.0f) == GPH_OK);
    CHECK(launch_axpy(stream, base + Y, base, factor) == GPH_OK);
    CU(EventRecord, joined, side);
    CU(StreamWaitEvent, stream, joined, 0);
    CU(MemcpyDtoDAsync, base + OUT, base + Y, BYTES, stream);
    CU(MemcpyDtoDAsync, base + OUT, base + Z, 16, stream);
    CHECK_OK(gph_capture_end(capture, &graph, &error), error);
    return graph;
}

/* What out[i] is after it, where x[i] = i. */
static inline float expected(int i, float factor)
{
    return i < 4 ? 0.0f : (float)i * factor + (float)i;
}

static inline void write_x(CUdeviceptr base)
{
    float host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    CU(MemcpyHtoDAsync, base, host, BYTES, stream);
    CU(StreamSynchronize, stream);
}

static inline int is_right(CUdeviceptr base, float factor)
{
    float host[COUNT] = {0};
    CU(MemcpyDtoHAsync, host, base + OUT, BYTES, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != expected(i, factor);
    return wrong == 0;
}

static inline void clear(CUdeviceptr base)
{
    CU(MemsetD8Async, base + Y, 0xff, PLACE - Y, stream);
    CU(StreamSynchronize, stream);
}

static CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr,
                           unsigned long long);
static CUresult (*create)(CUmemGenericAllocationHandle *, size_t,
                          const CUmemAllocationProp *, unsigned long long);
static CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                       unsigned long long);
static CUresult (*set_access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);

#define FIND(name, to)                                                                   \
    CHECK_OK(gph_cuda_find(runtime, name, (gph_cuda_fn *)&(to), &error), error)

/* PLACE bytes of device memory at `wanted` (0: anywhere); 0 if that is not to be had. */
static inline CUdeviceptr place(CUdeviceptr wanted)
{
    FIND("cuMemAddressReserve", reserve);
    FIND("cuMemCreate", create);
    FIND("cuMemMap", map);
    FIND("cuMemSetAccess", set_access);
    CUdeviceptr at = 0;
    CUmemGenericAllocationHandle pages = 0;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(reserve(&at, PLACE, 0, wanted, 0) == 0);
    if (wanted != 0 && at != wanted)
        return 0;
    CHECK(create(&pages, PLACE, &prop, 0) == 0);
    CHECK(map(at, PLACE, 0, pages, 0) == 0);
    CHECK(set_access(at, PLACE, &access, 1) == 0);
    return at;
}

/* Driver, context, streams; nonzero: a driver is there. The arguments of main. */
static inline int work_begin(const gph_allocator *allocator)
{
    gph_options options = GPH_OPTIONS_INIT;
    options.driver = GPH_DRIVER_DEFAULT;
    options.allocator = allocator;
    if (getenv("GPH_DRIVER") == NULL)
        options.driver = GPH_DRIVER_SOFT;
    if (gph_open(&options, &runtime, &error) != GPH_OK) {
        printf("no driver: %s\n", error.message);
        return 0;
    }
    cu = gph_cuda(runtime);
    CUcontext context = NULL;
    if (cu->DevicePrimaryCtxRetain(&context, 0) != 0 || cu->CtxSetCurrent(context) != 0)
        return 0;
    CU(StreamCreate, &stream, 1);
    CU(StreamCreate, &side, 1);
    CU(EventCreate, &forked, 2);
    CU(EventCreate, &joined, 2);
    return 1;
}

static inline void work_end(void)
{
    cu->EventDestroy(joined);
    cu->EventDestroy(forked);
    cu->StreamDestroy(side);
    cu->StreamDestroy(stream);
    cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
}
#endif
