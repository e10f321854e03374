// SPDX-License-Identifier: Apache-2.0
/* libgph's setter kernels, each in a graph whose SWITCH says what was set, beside what the
 * host computes; loading while a stream is captured; failures.
 *
 *   graph:  setter ── SWITCH of CASES ── body i: *out = i + 1 */
#include "device/setters.h"
#include "fault.h"
#include "shim.h"
#include "test.h"

#include <math.h>

enum { CASES = 4, NOTHING = 0 };

static atomic_int modules;
static CUcontext context;
static CUstream stream;
static CUdeviceptr words; /* 0: out, 1 and 2: left and right, of 8 bytes each */
static gph_runtime *runtime;
static gphi_kernels *kernels;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuCtxGetId),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_GIVE(cuModuleLoadData, modules, 1),
    SHIM_GIVE(cuModuleUnload, modules, -1),
    SHIM_END,
};

#define OK(call) CHECK((call) == CUDA_SUCCESS)

/* ---- a graph of a setter ---- */

struct probe {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode setter;
    CUgraphConditionalHandle handle;
};

static CUdeviceptr word(int index)
{
    return words + (CUdeviceptr)index * 8;
}

static CUDA_KERNEL_NODE_PARAMS params_of(gphi_setter setter, void **args)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = kernels->functions[setter],
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = args};
}

static void open_probe(struct probe *probe)
{
    OK(below.cuGraphCreate(&probe->graph, 0));
    OK(below.cuGraphConditionalHandleCreate(&probe->handle, probe->graph, context, 99,
                                            1));
    CUdeviceptr none = word(1);
    void *args[] = {&probe->handle, &none};
    const CUDA_KERNEL_NODE_PARAMS params = params_of(GPHI_SET_WORD, args);
    OK(below.cuGraphAddKernelNode(&probe->setter, probe->graph, NULL, 0, &params));
    CUgraphNodeParams wanted = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    wanted.conditional.handle = probe->handle;
    wanted.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    wanted.conditional.size = CASES;
    wanted.conditional.ctx = context;
    CUgraphNode chooser = NULL, fill = NULL;
    OK(below.cuGraphAddNode(&chooser, probe->graph, &probe->setter, NULL, 1, &wanted));
    for (unsigned i = 0; i < CASES; i++) {
        const CUDA_MEMSET_NODE_PARAMS value = {
            .dst = word(0), .value = i + 1, .elementSize = 4, .width = 1, .height = 1};
        OK(below.cuGraphAddMemsetNode(&fill, wanted.conditional.phGraph_out[i], NULL, 0,
                                      &value, context));
    }
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    OK(below.cuGraphInstantiateWithParams(&probe->exec, probe->graph, &how));
}

static void close_probe(struct probe *probe)
{
    OK(below.cuGraphExecDestroy(probe->exec));
    OK(below.cuGraphDestroy(probe->graph));
}

/* 1 + the value that was set; NOTHING: CASES and more. */
static unsigned run_probe(struct probe *probe, gphi_setter setter, void **args)
{
    unsigned got = 77;
    const CUDA_KERNEL_NODE_PARAMS params = params_of(setter, args);
    OK(below.cuGraphExecKernelNodeSetParams(probe->exec, probe->setter, &params));
    OK(below.cuMemsetD32Async(word(0), NOTHING, 1, stream));
    OK(below.cuGraphLaunch(probe->exec, stream));
    OK(below.cuMemcpyDtoHAsync(&got, word(0), sizeof(got), stream));
    OK(below.cuStreamSynchronize(stream));
    return got;
}

static void store(int index, uint64_t value)
{
    OK(below.cuMemcpyHtoDAsync(word(index), &value, sizeof(value), stream));
}

/* ---- values ---- */

static void values_and_words_are_set(void)
{
    struct probe probe = {0};
    open_probe(&probe);
    for (unsigned value = 0; value < CASES + 2; value++) {
        const unsigned wanted = value < CASES ? value + 1 : NOTHING;
        void *constant[] = {&probe.handle, &value};
        CHECK(run_probe(&probe, GPHI_SET_VALUE, constant) == wanted);
        CUdeviceptr at = word(1) + 4;
        void *loaded[] = {&probe.handle, &at};
        store(1, (uint64_t)value << 32 | 0xABCD);
        CHECK(run_probe(&probe, GPHI_SET_WORD, loaded) == wanted);
    }
    close_probe(&probe);
}

static void a_count_ends_at_zero(void)
{
    struct probe probe = {0};
    CUdeviceptr at = word(1);
    uint64_t left = 0;
    open_probe(&probe);
    store(1, 0x500000003);
    for (unsigned round = 0; round < 5; round++) {
        void *args[] = {&probe.handle, &at};
        const unsigned rest = round < 3 ? 2 - round : 0;
        CHECK(run_probe(&probe, GPHI_SET_COUNT_DOWN, args) == rest + 1);
        OK(below.cuMemcpyDtoHAsync(&left, at, sizeof(left), stream));
        OK(below.cuStreamSynchronize(stream));
        CHECK(left == (UINT64_C(5) << 32) + rest); /* the word alone */
    }
    close_probe(&probe);
}

/* ---- comparisons ---- */

static uint64_t bits_of(uint32_t type, double number)
{
    const float single = (float)number;
    uint64_t bits = 0;
    if (type == GPHI_COMPARE_F32)
        memcpy(&bits, &single, sizeof(single));
    else
        memcpy(&bits, &number, sizeof(number));
    return bits;
}

/* Values of a type at which a comparison may go wrong: by sign, by width, by halves. */
static size_t values_of(uint32_t type, uint64_t out[8])
{
    static const double numbers[] = {-1.5, -0.0, 0.0, 2.25, 1e30};
    static const uint64_t whole[] = {0,          1,           0x7fffffff, 0x80000000,
                                     0xffffffff, 0x100000000, UINT64_MAX, 1ull << 63};
    size_t count = 0;
    if (type < GPHI_COMPARE_F32) {
        memcpy(out, whole, sizeof(whole));
        return 8;
    }
    for (; count < 5; count++)
        out[count] = bits_of(type, numbers[count]);
    out[count++] = bits_of(type, INFINITY);
    out[count++] = bits_of(type, NAN);
    return count;
}

/* What C says of two values, by other words than the library's. */
static uint32_t holds(uint32_t type, uint64_t a, uint64_t b)
{
    double x, y;
    float u, v;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    memcpy(&u, &a, 4);
    memcpy(&v, &b, 4);
    switch (type) {
    case GPHI_COMPARE_U32: x = (uint32_t)a, y = (uint32_t)b; break;
    case GPHI_COMPARE_I32: x = (int32_t)(uint32_t)a, y = (int32_t)(uint32_t)b; break;
    case GPHI_COMPARE_U64:
        return a < b ? GPHI_IS_LESS : a == b ? GPHI_IS_EQUAL : GPHI_IS_GREATER;
    case GPHI_COMPARE_I64:
        return (int64_t)a < (int64_t)b ? GPHI_IS_LESS
               : a == b                ? GPHI_IS_EQUAL
                                       : GPHI_IS_GREATER;
    case GPHI_COMPARE_F32: x = u, y = v; break;
    default: break;
    }
    if (isnan(x) || isnan(y))
        return GPHI_IS_UNORDERED;
    return x < y ? GPHI_IS_LESS : x > y ? GPHI_IS_GREATER : GPHI_IS_EQUAL;
}

/* One accepted bit at a time shows what holds; some sets of bits show that they add. */
static void check_pair(struct probe *probe, uint32_t type, uint64_t a, uint64_t b)
{
    static const uint32_t accepted[] = {1, 2, 4, 8, 3, 13, 6, 0};
    const uint32_t wanted = holds(type, a, b);
    for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++) {
        gphi_compare_params compare = {probe->handle, word(1),    i % 2 ? word(2) : 0, b,
                                       type,          accepted[i]};
        void *args[] = {&compare};
        const bool is = (wanted & accepted[i]) != 0;
        if (!CHECK(run_probe(probe, GPHI_SET_COMPARE, args) == 1u + is) ||
            !CHECK(gphi_compare_values(&compare, a, b) == is))
            fprintf(stderr, "  type %u, %llx and %llx, accepts %u\n", type,
                    (unsigned long long)a, (unsigned long long)b, accepted[i]);
    }
}

static void comparisons_are_those_of_c(void)
{
    struct probe probe = {0};
    open_probe(&probe);
    for (uint32_t type = 0; gphi_compare_bytes(type) > 0; type++) {
        uint64_t values[8];
        const size_t count = values_of(type, values);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < count; k++) {
                store(1, values[i]);
                store(2, values[k]);
                check_pair(&probe, type, values[i], values[k]);
            }
    }
    close_probe(&probe);
}

/* ---- loading ---- */

static void a_context_has_them_once(void)
{
    gphi_kernels *again = NULL;
    gph_error error = {0};
    CHECK(modules == 1);
    CHECK_OK(gphi_kernels_retain(runtime, &gphi_setter_text, &again, &error), error);
    CHECK(again == kernels && modules == 1);
    gphi_kernels_release(again);
    CHECK(modules == 1);
}

static void they_load_in_a_capture(void)
{
    CUgraph graph = NULL;
    gphi_kernels *fresh = NULL;
    gph_error error = {0};
    gphi_kernels_release(kernels);
    CHECK(modules == 0);
    OK(below.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK_OK(gphi_kernels_retain(runtime, &gphi_setter_text, &fresh, &error), error);
    OK(below.cuStreamEndCapture(stream, &graph));
    OK(below.cuGraphDestroy(graph));
    kernels = fresh;
    CHECK(modules == 1);
}

static void every_call_and_allocation_fails(void)
{
    gphi_kernels *fresh = NULL;
    gph_runtime *other = NULL;
    gph_error error = {0};
    long nth = 0;
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &other, &error), error);
    for (; nth < 100; nth++) {
        error = (gph_error){0};
        shim.fail_at = nth;
        const gph_status status =
            gphi_kernels_retain(other, &gphi_setter_text, &fresh, &error);
        const bool is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        CHECK(error.code == status && (fresh != NULL) == (status == GPH_OK));
        if (is_done)
            break;
        CHECK(status != GPH_OK && modules == 1);
        CHECK(strstr(error.message, "loading the kernels that set conditions") != NULL);
    }
    CHECK(nth == 12); /* three questions, the module, two calls for each entry */
    gphi_kernels_release(fresh);
    fresh = NULL;
    CHECK(modules == 1);
    atomic_store(&heap.fail_at, 0);
    CHECK(gphi_kernels_retain(other, &gphi_setter_text, &fresh, &error) ==
          GPH_E_NO_MEMORY);
    CHECK(fresh == NULL && modules == 1);
    atomic_store(&heap.fail_at, -1);
    gph_close(other);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

int main(void)
{
    const gph_driver kind =
        getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_SOFT;
    gph_error error = {0};
    if (!shim_open(kind, rules))
        return 77;
    if (!CHECK(below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
               below.cuCtxSetCurrent(context) == 0 &&
               below.cuStreamCreate(&stream, 1) == 0 &&
               below.cuMemAlloc(&words, 64) == 0) ||
        !CHECK_OK(gphi_runtime_create(NULL, &shim_source, &runtime, &error), error) ||
        !CHECK_OK(gphi_kernels_retain(runtime, &gphi_setter_text, &kernels, &error),
                  error))
        return 1;
    RUN(values_and_words_are_set);
    RUN(a_count_ends_at_zero);
    RUN(comparisons_are_those_of_c);
    RUN(a_context_has_them_once);
    RUN(they_load_in_a_capture);
    RUN(every_call_and_allocation_fails);
    gphi_kernels_release(kernels);
    CHECK(modules == 0);
    gph_close(runtime);
    shim_close();
    return test_done();
}
