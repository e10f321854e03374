// SPDX-License-Identifier: Apache-2.0
/* Modules are loaded without the machine code of their kernels: it is made when it is
 * needed, wherever that is, and a module may go meanwhile. */
#include <gph/softcuda.h>
#include <pthread.h>
#include <unistd.h>

#include "driver.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define MANY 350

static gph_status (*code_get)(gph_softcuda_code *out);
static CUcontext context;

/* Since the call before; zeros on a GPU. */
static gph_softcuda_code counted(void)
{
    static gph_softcuda_code last;
    gph_softcuda_code now = {.size = sizeof(now)}, since = {0};
    if (code_get && CHECK(code_get(&now) == GPH_OK)) {
        since.kernels = now.kernels - last.kernels;
        since.compiled = now.compiled - last.compiled;
        since.cached = now.cached - last.cached;
        since.parsed = now.parsed - last.parsed;
        since.written = now.written - last.written;
    }
    last = now;
    return since;
}

/* Kernels that store their number, `extra` instructions later. */
static char *make_module(unsigned count, unsigned extra)
{
    char *text = malloc(200 + count * (400 + 40ull * extra));
    if (text == NULL)
        abort();
    size_t at = (size_t)sprintf(text, HEAD);
    for (unsigned i = 0; i < count; i++) {
        at += (size_t)sprintf(text + at,
                              ".visible .entry k%u(.param .u64 p)\n{\n.reg .b32 %%r<4>;\n"
                              ".reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\n"
                              "mov.u32 %%r1, %%tid.x;\n",
                              i);
        for (unsigned k = 0; k < extra; k++)
            at += (size_t)sprintf(text + at, "mad.lo.u32 %%r1, %%r1, %%r1, %u;\n", k);
        at += (size_t)sprintf(
            text + at, "mov.u32 %%r1, %u;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n", i);
    }
    return text;
}

static unsigned launch(CUfunction f)
{
    CUdeviceptr p;
    unsigned value = UINT32_MAX;
    OK(cu.cuMemAlloc(&p, 4));
    void *params[] = {&p};
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    OK(cu.cuMemFree(p));
    return value;
}

static void many_kernels_load_without_code(void)
{
    char *text = make_module(MANY, 0);
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_MAX;
    int value = -1, blocks = 0;
    counted();
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&f, module, "k349"));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    CHECK(value > 0);
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 0));
    CHECK(blocks > 0);
    OK(cu.cuFuncIsLoaded(&state, f));
    /* NVIDIA's driver has compiled all of a PTX module when it gives a function of it. */
    CHECK(state == (driver_is_soft ? CU_FUNCTION_LOADING_STATE_UNLOADED
                                   : CU_FUNCTION_LOADING_STATE_LOADED));
    gph_softcuda_code code = counted();
    CHECK(!code_get || (code.kernels == MANY && code.compiled == 0));
    CHECK(launch(f) == 349);
    OK(cu.cuFuncIsLoaded(&state, f));
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cu.cuModuleGetFunction(&f, module, "k8"));
    OK(cu.cuFuncLoad(f));
    OK(cu.cuFuncIsLoaded(&state, f));
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
    CHECK(launch(f) == 8);
    code = counted();
    CHECK(!code_get || code.compiled == 2);
    OK(cu.cuModuleUnload(module));
    free(text);
}

/* A capture records; what it recorded is compiled when it is instantiated. */
static void a_graph_is_compiled_when_it_is_instantiated(void)
{
    char *text = make_module(3, 0);
    CUmodule module = NULL;
    CUfunction f[3];
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p[3];
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; i++) {
        char name[4];
        snprintf(name, sizeof(name), "k%d", i);
        OK(cu.cuModuleGetFunction(&f[i], module, name));
        OK(cu.cuMemAlloc(&p[i], 4));
    }
    counted();
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 1; i < 3; i++) {
        void *params[] = {&p[i]};
        OK(cu.cuLaunchKernel(f[i], 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    }
    OK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(counted().compiled == 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(!code_get || counted().compiled == 2);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    for (int i = 1; i < 3; i++) {
        unsigned value = UINT32_MAX;
        OK(cu.cuMemcpyDtoH(&value, p[i], 4));
        CHECK(value == (unsigned)i);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 3; i++)
        OK(cu.cuMemFree(p[i]));
    OK(cu.cuModuleUnload(module));
    free(text);
}

struct launcher {
    CUfunction function;
    CUdeviceptr memory;
    CUresult result;
};

static void *launch_once(void *argument)
{
    struct launcher *l = argument;
    void *params[] = {&l->memory};
    CHECK(cu.cuCtxSetCurrent(context) == CUDA_SUCCESS);
    l->result = cu.cuLaunchKernel(l->function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    return NULL;
}

/* The launch that waits for the compiler is not to run in code that is gone. */
static void a_module_may_go_while_its_kernel_is_compiled(void)
{
    char *text = make_module(1, 3000);
    CUmodule module = NULL;
    struct launcher l = {.result = CUDA_ERROR_UNKNOWN};
    pthread_t thread;
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&l.function, module, "k0"));
    OK(cu.cuMemAlloc(&l.memory, 4));
    CHECK(pthread_create(&thread, NULL, launch_once, &l) == 0);
    usleep(30000); /* long before LLVM is done */
    OK(cu.cuModuleUnload(module));
    pthread_join(thread, NULL);
    CHECK(l.result == CUDA_SUCCESS || l.result == CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(l.memory));
    free(text);
}

static void a_missing_compiler_fails_the_launch(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver brings its compiler");
    char *text = make_module(1, 0);
    CUmodule module = NULL;
    CUfunction f;
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&f, module, "k0"));
    CUdeviceptr p = 0;
    void *params[] = {&p};
    REFUSED(JIT_COMPILER_NOT_FOUND,
            cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    REFUSED(JIT_COMPILER_NOT_FOUND, cu.cuFuncLoad(f));
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    const CUDA_KERNEL_NODE_PARAMS what = {.func = f,
                                          .gridDimX = 1,
                                          .gridDimY = 1,
                                          .gridDimZ = 1,
                                          .blockDimX = 1,
                                          .blockDimY = 1,
                                          .blockDimZ = 1,
                                          .kernelParams = params};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &what));
    REFUSED(JIT_COMPILER_NOT_FOUND, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuModuleUnload(module));
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    REFUSED(JIT_COMPILER_NOT_FOUND, cu.cuModuleLoadData(&module, text));
    unsetenv("CUDA_MODULE_LOADING");
    free(text);
}

/* As on a GPU: all of a module's code is there when it is loaded. */
static void eager_loading_compiles_at_the_load(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver reads the variable once");
    char *text = make_module(5, 1);
    CUmodule module = NULL;
    CUfunction f;
    CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
    counted();
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    OK(cu.cuModuleLoadData(&module, text));
    unsetenv("CUDA_MODULE_LOADING");
    CHECK(counted().compiled == 5);
    OK(cu.cuModuleGetFunction(&f, module, "k4"));
    OK(cu.cuFuncIsLoaded(&state, f));
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED);
    CHECK(launch(f) == 4);
    CHECK(counted().compiled == 0);
    OK(cu.cuModuleUnload(module));
    free(text);
}

static unsigned load_and_launch(const char *text)
{
    CUmodule module = NULL;
    CUfunction f;
    OK(cu.cuModuleLoadData(&module, text));
    OK(cu.cuModuleGetFunction(&f, module, "k2"));
    const unsigned value = launch(f);
    OK(cu.cuModuleUnload(module));
    return value;
}

/* What the disk cache has is neither parsed nor written as IR again; what is malformed is
 * refused each time. */
static void a_cached_module_is_only_read(void)
{
    if (!driver_is_soft)
        SKIP("NVIDIA's driver has its own cache");
    char folder[] = "/tmp/conformance_lazy_XXXXXX", command[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    char *text = make_module(4, 2);
    CUmodule module = NULL;
    setenv("SOFTCUDA_CACHE", folder, 1);
    counted();
    CHECK(load_and_launch(text) == 2);
    gph_softcuda_code code = counted();
    CHECK(code.compiled == 1 && code.cached == 0 && code.parsed == 1 &&
          code.written == 1);
    CHECK(load_and_launch(text) == 2);
    code = counted();
    CHECK(code.compiled == 0 && code.cached == 1 && code.parsed == 0 &&
          code.written == 0);
    memcpy(strstr(text, "mov.u32"), "mov.x32", 7);
    for (int i = 0; i < 2; i++) {
        REFUSED(INVALID_PTX, cu.cuModuleLoadData(&module, text));
        CHECK(counted().parsed == 1);
    }
    setenv("SOFTCUDA_CACHE", "off", 1);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK(system(command) == 0);
    free(text);
}

int main(void)
{
    const char *jit = getenv("SOFTCUDA_JIT");
    char *setting = jit ? strdup(jit) : NULL;
    setenv("SOFTCUDA_CACHE", "off", 1);
    if (driver_wants_soft())
        setenv("SOFTCUDA_JIT", "/nowhere/softcuda-jit.so", 1);
    DEVICE_OR_SKIP();
    context = use_primary();
    *(void **)&code_get = dlsym(driver_library, "gph_softcuda_code_get");
    RUN(a_missing_compiler_fails_the_launch); /* before anybody has found it */
    if (setting)
        setenv("SOFTCUDA_JIT", setting, 1);
    else
        unsetenv("SOFTCUDA_JIT");
    free(setting);
    RUN(many_kernels_load_without_code);
    RUN(a_graph_is_compiled_when_it_is_instantiated);
    RUN(a_module_may_go_while_its_kernel_is_compiled);
    RUN(eager_loading_compiles_at_the_load);
    RUN(a_cached_module_is_only_read);
    return test_done();
}
