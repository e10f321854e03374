// SPDX-License-Identifier: Apache-2.0
/* Modules, libraries, functions: loading, the JIT's options, names, attributes. */
#include <unistd.h>

#include "driver.h"
#include "kernels.h"

static CUmodule load(void)
{
    CUmodule module = NULL;
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    return module;
}

static void functions_are_found_by_name(void)
{
    CUmodule module = load(), of = NULL;
    CUfunction f = NULL, none = (CUfunction)8, all[16];
    unsigned count = 0;
    const char *name = "";
    REFUSED(NOT_FOUND, cu.cuModuleGetFunction(&none, module, "subtract"));
    CHECK(none == NULL); /* an H100's driver leaves no handle */
    OK(cu.cuModuleGetFunction(&f, module, "add"));
    REFUSED(INVALID_VALUE, cu.cuModuleGetFunction(NULL, module, "add"));
    REFUSED(INVALID_VALUE, cu.cuModuleGetFunction(&f, module, NULL));
    OK(cu.cuModuleGetFunctionCount(&count, module));
    CHECK(count == 6);
    OK(cu.cuModuleEnumerateFunctions(all, count, module));
    for (unsigned i = 0; i < count; i++)
        CHECK(all[i] != NULL);
    OK(cu.cuFuncGetName(&name, f));
    CHECK(strcmp(name, "add") == 0);
    OK(cu.cuFuncGetModule(&of, f));
    CHECK(of == module);
    OK(cu.cuModuleUnload(module));
}

static void variables_are_found_and_hold_their_start_value(void)
{
    CUmodule module = load();
    CUdeviceptr p = 0;
    size_t bytes = 0;
    OK(cu.cuModuleGetGlobal(&p, &bytes, module, "counter"));
    CHECK(p != 0 && bytes == 4);
    unsigned value = 0;
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 7);
    CUfunction bump;
    OK(cu.cuModuleGetFunction(&bump, module, "bump"));
    for (int i = 0; i < 3; i++)
        OK(cu.cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 10);
    unsigned table[4] = {0};
    OK(cu.cuModuleGetGlobal(&p, &bytes, module, "table"));
    CHECK(bytes == 16);
    OK(cu.cuMemcpyDtoH(table, p, 16));
    CHECK(table[0] == 1 && table[3] == 4);
    OK(cu.cuModuleGetGlobal(NULL, &bytes, module, "table"));
    OK(cu.cuModuleGetGlobal(&p, NULL, module, "table"));
    REFUSED(INVALID_VALUE, cu.cuMemFree(p));
    REFUSED(INVALID_VALUE, cu.cuModuleGetGlobal(&p, &bytes, module, NULL));
    REFUSED(NOT_FOUND, cu.cuModuleGetGlobal(&p, &bytes, module, "chair"));
    CHECK(p == 0); /* an H100's driver leaves no address */
    OK(cu.cuModuleUnload(module));
    /* A second load starts afresh. */
    module = load();
    OK(cu.cuModuleGetGlobal(&p, &bytes, module, "counter"));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 7);
    OK(cu.cuModuleUnload(module));
}

static void wrong_images_are_refused(void)
{
    CUmodule module = (CUmodule)8;
    REFUSED(INVALID_PTX,
            cu.cuModuleLoadData(&module, PTX_HEAD
                                ".visible .entry k() { add.s32 %r1, %r1, 1; }\n"));
    REFUSED(INVALID_PTX, cu.cuModuleLoadData(&module, PTX_HEAD ".visible .entry k() {"));
    REFUSED(INVALID_IMAGE, cu.cuModuleLoadData(&module, "this is not an image at all"));
    REFUSED(INVALID_IMAGE, cu.cuModuleLoadData(&module, "// only a comment\n"));
    REFUSED(INVALID_IMAGE, cu.cuModuleLoadData(&module, "\177ELF and then garbage"));
    REFUSED(INVALID_PTX,
            cu.cuModuleLoadData(&module, PTX_HEAD ".visible .entry k() { .reg .b32 r;\n"
                                                  "add.bogus.u32 r, r, r; }\n"));
    REFUSED(INVALID_IMAGE, cu.cuModuleLoadData(&module, ""));
    REFUSED(INVALID_PTX, cu.cuModuleLoadData(&module, ".version 7.0\n"));
    REFUSED(INVALID_PTX, cu.cuModuleLoadData(&module, PTX_HEAD ".visible .entry k()\n"
                                                               "{ nonsense; }\n"));
    REFUSED(UNSUPPORTED_PTX_VERSION,
            cu.cuModuleLoadData(&module, ".version 99.0\n.target sm_70\n"
                                         ".address_size 64\n"
                                         ".visible .entry k() { ret; }\n"));
    REFUSED(INVALID_VALUE, cu.cuModuleLoadData(&module, NULL));
    REFUSED(INVALID_VALUE, cu.cuModuleLoadData(NULL, kernels_ptx));
    REFUSED(FILE_NOT_FOUND, cu.cuModuleLoad(&module, "/no/such/file"));
    CHECK(module == (CUmodule)8);
}

static void the_jit_writes_logs(void)
{
    static char errors[1024], info[1024];
    CUmodule module = NULL;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME};
    void *values[] = {errors, (void *)sizeof(errors), info, (void *)sizeof(info), NULL};
    REFUSED(INVALID_PTX,
            cu.cuModuleLoadDataEx(
                &module, PTX_HEAD ".visible .entry k()\n{\n  add.s32 %r1, %r1, 1;\n}\n",
                5, options, values));
    CHECK(strlen(errors) > 0 && strstr(errors, "line 6") != NULL);
    CHECK((size_t)values[1] > 0 && (size_t)values[1] < sizeof(errors));
    errors[0] = '\0';
    values[1] = (void *)sizeof(errors);
    values[3] = (void *)sizeof(info);
    OK(cu.cuModuleLoadDataEx(&module, kernels_ptx, 5, options, values));
    CHECK(strlen(errors) == 0 && values[1] == NULL);
    OK(cu.cuModuleUnload(module));
    /* A buffer that is too small is filled, never overrun. */
    char tiny[8] = "1234567";
    values[0] = tiny;
    values[1] = (void *)4;
    values[3] = (void *)sizeof(info);
    REFUSED(INVALID_PTX,
            cu.cuModuleLoadDataEx(&module,
                                  PTX_HEAD ".visible .entry k() { add.s32 %r1, %r1, 1; }",
                                  5, options, values));
    CHECK(strlen(tiny) <= 3 && memcmp(tiny + 4, "567", 4) == 0);
}

static void files_are_images_too(void)
{
    char path[] = "/tmp/gph-module-XXXXXX";
    const int file = mkstemp(path);
    CHECK(file >= 0);
    CHECK(write(file, kernels_ptx, strlen(kernels_ptx)) == (ssize_t)strlen(kernels_ptx));
    close(file);
    CUmodule module = NULL;
    CUfunction f = NULL;
    OK(cu.cuModuleLoad(&module, path));
    OK(cu.cuModuleGetFunction(&f, module, "store"));
    OK(cu.cuModuleUnload(module));
    unlink(path);
}

static void functions_have_attributes(void)
{
    CUmodule module = load();
    CUfunction f = NULL;
    int value = -1;
    OK(cu.cuModuleGetFunction(&f, module, "small"));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    CHECK(value == 64);
    OK(cu.cuModuleGetFunction(&f, module, "add"));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
    CHECK(value == 1024);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    CHECK(value == 0);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f));
    CHECK(value == 0);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    CHECK(value > 0 && value < 256);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, f));
    CHECK(value == 70);
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                             f));
    CHECK(value == -1);
    OK(cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    OK(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                             f));
    CHECK(value == 50);
    REFUSED(INVALID_VALUE, cu.cuFuncGetAttribute(&value, (CUfunction_attribute)99, f));
    REFUSED(INVALID_VALUE,
            cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 32));
    REFUSED(INVALID_VALUE,
            cu.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  1 << 30));
    size_t offset = 99, bytes = 99;
    OK(cu.cuFuncGetParamInfo(f, 3, &offset, &bytes));
    CHECK(offset == 24 && bytes == 4);
    REFUSED(INVALID_VALUE, cu.cuFuncGetParamInfo(f, 4, &offset, &bytes));
    OK(cu.cuModuleUnload(module));
}

static size_t eight_a_thread(int threads)
{
    return (size_t)threads * 8;
}

static void occupancy_counts_blocks(void)
{
    CUmodule module = load();
    CUfunction f = NULL;
    int blocks = 0, grid = 0, block = 0, multiprocessors = 0;
    OK(cu.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                               0));
    OK(cu.cuModuleGetFunction(&f, module, "nothing"));
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
    CHECK(blocks == 2);
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
    CHECK(blocks == 32);
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 49152));
    CHECK(blocks == 4);
    REFUSED(INVALID_VALUE,
            cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 128, 0));
    REFUSED(INVALID_VALUE,
            cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0));
    size_t room = 0; /* no more than a launch may ask for */
    OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&room, f, 1, 128));
    CHECK(room == 49152);
    OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&room, f, 8, 128));
    CHECK(room > 0 && room < 49152);
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    CHECK(block == 1024 && grid == 2 * multiprocessors);
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, f, eight_a_thread, 0, 256));
    CHECK(block <= 256 && block % 32 == 0);
    OK(cu.cuModuleUnload(module));
}

/* It is loaded all the same, without kernels; who asks for one has the error. */
static void a_library_of_a_wrong_image_has_the_error_later(void)
{
#define IMAGE_HEAD ".target sm_80\n.address_size 64\n.visible .entry k() "
    static const struct {
        const char *image;
        CUresult status;
    } wrong[] = {
        {"no PTX", CUDA_ERROR_INVALID_IMAGE},
        {".version 8.0\n" IMAGE_HEAD "{ bad; }\n", CUDA_ERROR_INVALID_PTX},
        {".version 9.9\n" IMAGE_HEAD "{ ret; }\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CUlibrary library = NULL;
        CUkernel kernel = NULL;
        CUmodule module = NULL;
        CUdeviceptr address;
        size_t bytes;
        unsigned count = 7;
        OK(cu.cuLibraryLoadData(&library, wrong[i].image, NULL, NULL, 0, NULL, NULL, 0));
        OK(cu.cuLibraryGetKernelCount(&count, library));
        OK(cu.cuLibraryEnumerateKernels(&kernel, 1, library));
        CHECK(count == 0 && !kernel);
        CHECK_IS(cu.cuLibraryGetKernel(&kernel, library, "k"), wrong[i].status);
        CHECK_IS(cu.cuLibraryGetModule(&module, library), wrong[i].status);
        CHECK_IS(cu.cuLibraryGetGlobal(&address, &bytes, library, "v"), wrong[i].status);
        CHECK_IS(cu.cuLibraryGetManaged(&address, &bytes, library, "v"), wrong[i].status);
        OK(cu.cuLibraryUnload(library));
    }
}

static void libraries_need_no_context(void)
{
    CUcontext before = NULL;
    OK(cu.cuCtxGetCurrent(&before));
    OK(cu.cuCtxSetCurrent(NULL));
    CUlibrary library = NULL, of = NULL;
    CUkernel kernel = NULL, all[16];
    unsigned count = 0;
    OK(cu.cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "store"));
    REFUSED(NOT_FOUND, cu.cuLibraryGetKernel(&kernel, library, "restore"));
    OK(cu.cuLibraryGetKernelCount(&count, library));
    CHECK(count == 6);
    OK(cu.cuLibraryEnumerateKernels(all, count, library));
    OK(cu.cuKernelGetLibrary(&of, kernel));
    CHECK(of == library);
    const char *name = "";
    OK(cu.cuKernelGetName(&name, kernel));
    CHECK(strcmp(name, "store") == 0);
    size_t offset, bytes;
    REFUSED(INVALID_CONTEXT, cu.cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
    CUfunction f = NULL;
    REFUSED(INVALID_CONTEXT, cu.cuKernelGetFunction(&f, kernel));
    OK(cu.cuCtxSetCurrent(before));
    OK(cu.cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
    CHECK(offset == 8 && bytes == 4);
    OK(cu.cuKernelGetFunction(&f, kernel));
    /* The kernel itself can be launched, too. */
    CUdeviceptr p;
    OK(cu.cuMemAlloc(&p, 4));
    unsigned v = 9, value = 0;
    void *params[] = {&p, &v};
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 9);
    v = 11;
    OK(cu.cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 11);
    CUmodule module = NULL;
    OK(cu.cuLibraryGetModule(&module, library));
    CHECK(module != NULL);
    CUdeviceptr counter = 0;
    OK(cu.cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
    CHECK(counter != 0 && bytes == 4);
    REFUSED(NOT_FOUND, cu.cuLibraryGetGlobal(&counter, &bytes, library, "no"));
    int threads = 0;
    OK(cu.cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel,
                               0));
    CHECK(threads == 1024);
    OK(cu.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536,
                               kernel, 0));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 65536, NULL, params, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree(p));
    OK(cu.cuLibraryUnload(library));
}

static void the_linker_passes_one_input_on(void)
{
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    CUmodule module = NULL;
    CUfunction f = NULL;
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    OK(cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels_ptx,
                        sizeof(kernels_ptx), "kernels", 0, NULL, NULL));
    OK(cu.cuLinkComplete(link, &image, &bytes));
    CHECK(image != NULL && bytes > 0);
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuLinkDestroy(link));
    OK(cu.cuModuleGetFunction(&f, module, "nothing"));
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuModuleUnload(module));
    static const char wrong[] = PTX_HEAD ".visible .entry k() { add.s32 %x, %x, 1; }";
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    REFUSED(INVALID_PTX,
            cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)wrong,
                             sizeof(wrong), "k", 0, NULL, NULL));
    REFUSED(FILE_NOT_FOUND,
            cu.cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file", 0, NULL, NULL));
    OK(cu.cuLinkDestroy(link));
    REFUSED(INVALID_VALUE, cu.cuLinkCreate(0, NULL, NULL, NULL));
}

/* Nothing of one is needed here; an H100 takes libcudadevrt.a the same way. */
static void a_library_is_an_input(void)
{
    static const char empty[] = "!<arch>\n",
                      some[] = "!<arch>\nnone/           0           0     0     644     "
                               "0         `\n";
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    OK(cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)kernels_ptx,
                        sizeof(kernels_ptx), "kernels", 0, NULL, NULL));
    REFUSED(INVALID_IMAGE,
            cu.cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void *)(uintptr_t)empty,
                             sizeof(empty) - 1, "l", 0, NULL, NULL));
    if (driver_is_soft)
        OK(cu.cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, (void *)(uintptr_t)some,
                            sizeof(some) - 1, "l", 0, NULL, NULL));
    OK(cu.cuLinkComplete(link, &image, &bytes));
    CHECK(image != NULL && bytes > 0);
    OK(cu.cuLinkDestroy(link));
}

/* ---- several inputs ---- */

#define TWICE "(.param .b32 r) twice(.param .b32 x)"
#define TWICE_BODY(op)                                                                   \
    "{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n" op                                   \
    " %r2, %r1, 2;\nst.param.b32 [r], %r2;\nret;\n}\n"
/* Stores twice(21). */
#define KERNEL(name)                                                                     \
    ".visible .entry " name                                                              \
    "(.param .u64 p)\n{\n.reg .b32 %r<4>; .reg .b64 %d<2>;\nld.param.u64 %d1, [p];\n{\n" \
    ".param .b32 a; .param .b32 b; mov.u32 %r1, 21; st.param.b32 [a], %r1;\n"            \
    "call.uni (b), twice, (a); ld.param.b32 %r2, [b];\n}\n"                              \
    "st.global.u32 [%d1], %r2;\nret;\n}\n"

static const char
    user[] = PTX_HEAD ".extern .func " TWICE ";\n" KERNEL("use_it"),
    doubles[] = PTX_HEAD ".visible .func " TWICE TWICE_BODY("mul.lo.u32"),
    newer[] = ".version 7.4\n.target sm_80\n.address_size 64\n"
              ".visible .func " TWICE TWICE_BODY("mul.lo.u32"),
    adds[] = PTX_HEAD ".visible .func " TWICE TWICE_BODY("add.u32"),
    weak_adds[] = PTX_HEAD ".weak .func " TWICE TWICE_BODY("add.u32"),
    own_doubles[] = PTX_HEAD ".func " TWICE TWICE_BODY("mul.lo.u32") KERNEL("one"),
    own_adds[] = PTX_HEAD ".func " TWICE TWICE_BODY("add.u32") KERNEL("two"),
    word[] = PTX_HEAD ".visible .global .align 4 .u32 shared_word = 77;\n",
    word_user[] = PTX_HEAD
    ".extern .global .align 4 .u32 shared_word;\n.visible .entry read_it(.param .u64 p)\n"
    "{\n.reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];\n"
    "ld.global.u32 %r1, [shared_word]; st.global.u32 [%d1], %r1; ret; }\n",
    common_word[] = PTX_HEAD ".common .global .align 4 .u32 room;\n",
    common_room[] = PTX_HEAD
    ".common .global .align 4 .b8 room[64];\n.visible .entry fill(.param .u64 p)\n{\n"
    ".reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [p]; mov.u32 %r1, 31;\n"
    "st.global.u32 [room+60], %r1; ld.global.u32 %r2, [room+60];\n"
    "st.global.u32 [%d1], %r2; ret; }\n",
    unused[] = PTX_HEAD ".extern .func " TWICE ";\n.visible .entry none() { ret; }\n";

static CUresult add_input(CUlinkState link, const char *input)
{
    return cu.cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)input,
                            strlen(input) + 1, NULL, 0, NULL, NULL);
}

static CUresult link_of(const char *const *inputs, int count, CUlinkState *link,
                        void **image, size_t *bytes)
{
    OK(cu.cuLinkCreate(0, NULL, NULL, link));
    for (int i = 0; i < count; i++)
        OK(add_input(*link, inputs[i]));
    return cu.cuLinkComplete(*link, image, bytes);
}

/* What a kernel of the linked module stores. */
static unsigned linked_value(const char *const *inputs, int count, const char *kernel)
{
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUdeviceptr p;
    unsigned got = 0;
    if (!CHECK(link_of(inputs, count, &link, &image, &bytes) == CUDA_SUCCESS))
        return 0;
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuLinkDestroy(link));
    OK(cu.cuModuleGetFunction(&f, module, kernel));
    OK(cu.cuMemAlloc(&p, 4));
    void *args[] = {&p};
    OK(cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cu.cuMemcpyDtoH(&got, p, 4));
    OK(cu.cuMemFree(p));
    OK(cu.cuModuleUnload(module));
    return got;
}

#define LINKED(kernel, ...)                                                              \
    linked_value((const char *const[]){__VA_ARGS__},                                     \
                 (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)),     \
                 kernel)

static void several_inputs_are_linked(void)
{
    CHECK(LINKED("use_it", user, doubles) == 42);
    CHECK(LINKED("use_it", doubles, user) == 42);
    CHECK(LINKED("use_it", user, newer) == 42);
    CHECK(LINKED("read_it", word_user, word) == 77);
    CHECK(LINKED("read_it", word, user, doubles, word_user) == 77);
}

static void weak_definitions_give_way(void)
{
    CHECK(LINKED("use_it", user, weak_adds) == 23);
    CHECK(LINKED("use_it", user, weak_adds, doubles) == 42);
    CHECK(LINKED("use_it", doubles, weak_adds, user) == 42);
    CHECK(LINKED("use_it", weak_adds, user, weak_adds) == 23);
    CHECK(LINKED("fill", common_word, common_room) == 31);
}

static void private_names_stay_apart(void)
{
    CHECK(LINKED("one", own_doubles, own_adds) == 42);
    CHECK(LINKED("two", own_doubles, own_adds) == 23);
    CHECK(LINKED("one", own_doubles, adds) == 42);
    CHECK(LINKED("use_it", own_doubles, adds, user) == 23);
}

/* An H100's linker says INVALID_SOURCE in some processes and UNKNOWN in others, for the
 * same inputs. */
static bool is_no_link(CUresult result)
{
    return result == CUDA_ERROR_INVALID_SOURCE ||
           (!driver_is_soft && result == CUDA_ERROR_UNKNOWN);
}

static void what_is_missing_is_not_linked(void)
{
    const char *const alone[] = {user}, *const nowhere[] = {user, word},
                      *const hidden[] = {user, own_doubles},
                      *const fine[] = {unused, word}, *const data[] = {word_user};
    CUlinkState link;
    void *const untouched = &link;
    void *image = untouched;
    size_t bytes = 9;
    CHECK(is_no_link(link_of(alone, 1, &link, &image, &bytes)));
    OK(cu.cuLinkDestroy(link));
    CHECK(is_no_link(link_of(data, 1, &link, &image, &bytes)));
    OK(cu.cuLinkDestroy(link));
    CHECK(is_no_link(link_of(nowhere, 2, &link, &image, &bytes)));
    OK(cu.cuLinkDestroy(link));
    CHECK(is_no_link(link_of(hidden, 2, &link, &image, &bytes)));
    OK(cu.cuLinkDestroy(link));
    CHECK(image == untouched && bytes == 9);
    OK(link_of(fine, 2, &link, &image, &bytes)); /* declared, not used */
    OK(cu.cuLinkDestroy(link));
}

static void what_is_there_twice_is_not_linked(void)
{
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    OK(add_input(link, user));
    OK(add_input(link, doubles));
    CHECK(is_no_link(add_input(link, adds)));
    CHECK(is_no_link(cu.cuLinkComplete(link, &image, &bytes)));
    CHECK(image == NULL && bytes == 0);
    OK(cu.cuLinkDestroy(link));
}

static void the_log_of_a_link_names_what_is_wrong(void)
{
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUlinkState link = NULL;
    void *image = NULL;
    size_t bytes = 0;
    OK(cu.cuLinkCreate(2, options, values, &link));
    OK(add_input(link, doubles));
    REFUSED(INVALID_PTX, add_input(link, PTX_HEAD ".visible .entry x() { foo; }\n"));
    OK(add_input(link, word)); /* the link goes on, and the log stays */
    CHECK(is_no_link(add_input(link, adds)));
    CHECK(is_no_link(cu.cuLinkComplete(link, &image, &bytes)));
    OK(cu.cuLinkDestroy(link));
    CHECK(strstr(log, "foo") != NULL && strstr(log, "twice") != NULL);
}

static void a_link_is_completed_once(void)
{
    CUlinkState link = NULL;
    CUmodule module = NULL;
    void *image = NULL, *again = NULL;
    size_t bytes = 0;
    OK(cu.cuLinkCreate(0, NULL, NULL, &link));
    OK(cu.cuLinkComplete(link, &image, &bytes)); /* of nothing */
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuModuleUnload(module));
    REFUSED(INVALID_VALUE, add_input(link, doubles));
    REFUSED(INVALID_HANDLE, cu.cuLinkComplete(link, &again, &bytes));
    CHECK(again == NULL);
    OK(cu.cuLinkDestroy(link));
}

static void dead_handles_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("dead handles crash the real driver");
    CUmodule module = load();
    CUfunction f = NULL;
    int value;
    OK(cu.cuModuleGetFunction(&f, module, "nothing"));
    OK(cu.cuModuleUnload(module));
    REFUSED(INVALID_HANDLE, cu.cuModuleUnload(module));
    REFUSED(INVALID_HANDLE, cu.cuModuleGetFunction(&f, module, "nothing"));
    REFUSED(INVALID_HANDLE, cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    REFUSED(INVALID_HANDLE, cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    REFUSED(INVALID_HANDLE, cu.cuLibraryUnload((CUlibrary)module));
    REFUSED(INVALID_HANDLE, cu.cuModuleUnload((CUmodule)f));
    REFUSED(INVALID_HANDLE, cu.cuModuleUnload(NULL));
}

static void functions_stay_in_their_context(void)
{
    CUmodule module = load();
    CUfunction f = NULL;
    CUcontext other = NULL;
    OK(cu.cuModuleGetFunction(&f, module, "nothing"));
    OK(cu.cuCtxCreate(&other, NULL, 0, 0));
    REFUSED(INVALID_HANDLE, cu.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuCtxDestroy(other));
    use_primary();
    OK(cu.cuModuleUnload(module));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    RUN(functions_are_found_by_name);
    RUN(variables_are_found_and_hold_their_start_value);
    RUN(wrong_images_are_refused);
    RUN(the_jit_writes_logs);
    RUN(files_are_images_too);
    RUN(functions_have_attributes);
    RUN(occupancy_counts_blocks);
    RUN(libraries_need_no_context);
    RUN(a_library_of_a_wrong_image_has_the_error_later);
    RUN(the_linker_passes_one_input_on);
    RUN(a_library_is_an_input);
    RUN(several_inputs_are_linked);
    RUN(weak_definitions_give_way);
    RUN(private_names_stay_apart);
    RUN(what_is_missing_is_not_linked);
    RUN(what_is_there_twice_is_not_linked);
    RUN(the_log_of_a_link_names_what_is_wrong);
    RUN(a_link_is_completed_once);
    RUN(dead_handles_are_refused);
    RUN(functions_stay_in_their_context);
    return test_done();
}
