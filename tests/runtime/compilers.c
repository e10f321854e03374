// SPDX-License-Identifier: Apache-2.0
/* compilers NVRTC NVJITLINK: asks libraries that compile for a GPU for machine code, as
 * cuda.core and numba-cuda do: by dlopen(). What comes must be PTX that runs. */
#include "runtime_api.h"
#include "test.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *nvrtc, *nvjitlink;

#define OK(call) CHECK((call) == 0)

/* What it is called as; a call through it is as a program's. */
#define FIND(library, name, type)                                                        \
    type name;                                                                           \
    do {                                                                                 \
        void *object = dlsym(library, #name);                                            \
        CHECK(object);                                                                   \
        memcpy(&name, &object, sizeof(object));                                          \
    } while (0)

typedef int size_fn(void *, size_t *);
typedef int get_fn(void *, void *);
typedef int create_fn(void **, uint32_t, const char **);
typedef int destroy_fn(void **);
typedef int add_fn(void *, int, const void *, size_t, const char *);
typedef int complete_fn(void *);

enum { INPUT_CUBIN = 1, INPUT_PTX = 2, INPUT_LTOIR = 3, INPUT_LIBRARY = 6 };

static const char caller[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".extern .func give();\n"
                             ".visible .entry go() { call give; ret; }\n";
static const char callee[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .func give() { ret; }\n";

static void nvrtc_gives_ptx(void)
{
    FIND(nvrtc, nvrtcGetCUBINSize, size_fn *);
    FIND(nvrtc, nvrtcGetCUBIN, get_fn *);
    char out[sizeof(ptx)] = "";
    size_t bytes = 0;
    OK(nvrtcGetCUBINSize((void *)(uintptr_t)ptx, &bytes));
    CHECK(bytes == sizeof(ptx));
    OK(nvrtcGetCUBIN((void *)(uintptr_t)ptx, out));
    CHECK(memcmp(out, ptx, sizeof(ptx)) == 0);
}

static char *link_inputs(const char **options, uint32_t option_count, int type,
                         const char *const *texts, size_t count, size_t *bytes)
{
    void *handle = NULL;
    FIND(nvjitlink, nvJitLinkCreate, create_fn *);
    FIND(nvjitlink, nvJitLinkAddData, add_fn *);
    FIND(nvjitlink, nvJitLinkComplete, complete_fn *);
    FIND(nvjitlink, nvJitLinkGetLinkedCubinSize, size_fn *);
    FIND(nvjitlink, __nvJitLinkGetLinkedCubin_13_0, get_fn *);
    FIND(nvjitlink, nvJitLinkDestroy, destroy_fn *);
    OK(nvJitLinkCreate(&handle, option_count, options));
    for (size_t i = 0; i < count; i++)
        OK(nvJitLinkAddData(handle, type, texts[i], strlen(texts[i]), "a text"));
    OK(nvJitLinkComplete(handle));
    OK(nvJitLinkGetLinkedCubinSize(handle, bytes));
    char *out = calloc(1, *bytes + 1);
    OK(__nvJitLinkGetLinkedCubin_13_0(handle, out));
    OK(nvJitLinkDestroy(&handle));
    return out;
}

static void one_input_stays_as_it_is(void)
{
    const char *options[] = {"-arch=sm_90"}, *texts[] = {ptx};
    size_t bytes = 0;
    char *out = link_inputs(options, 1, INPUT_PTX, texts, 1, &bytes);
    CHECK(bytes == sizeof(ptx) && memcmp(out, ptx, sizeof(ptx)) == 0);
    free(out);
}

static void several_inputs_are_linked(void)
{
    const char *options[] = {"-arch=sm_90"}, *texts[] = {caller, callee};
    size_t bytes = 0;
    char *out = link_inputs(options, 1, INPUT_PTX, texts, 2, &bytes);
    if (!CHECK(strstr(out, ".entry go") && strstr(out, ".func give")))
        fprintf(stderr, "%s\n", out);
    CHECK(bytes == strlen(out) + 1);
    free(out);
}

/* The library does that itself, and must have been asked for PTX. */
static void link_time_optimization_is_the_librarys(void)
{
    const char *options[] = {"-arch=sm_90", "-lto"}, *texts[] = {callee};
    size_t bytes = 0;
    char *out = link_inputs(options, 2, INPUT_LTOIR, texts, 1, &bytes);
    CHECK(strcmp(out, callee) == 0);
    free(out);
}

/* PTX among its inputs, which the library itself would refuse with -ptx. */
static void ptx_is_linked_with_what_was_optimized(void)
{
    const char *options[] = {"-arch=sm_90", "-lto"};
    void *handle = NULL;
    size_t bytes = 0;
    FIND(nvjitlink, nvJitLinkCreate, create_fn *);
    FIND(nvjitlink, nvJitLinkAddData, add_fn *);
    FIND(nvjitlink, nvJitLinkComplete, complete_fn *);
    FIND(nvjitlink, nvJitLinkGetLinkedCubinSize, size_fn *);
    FIND(nvjitlink, nvJitLinkGetLinkedCubin, get_fn *);
    FIND(nvjitlink, nvJitLinkDestroy, destroy_fn *);
    OK(nvJitLinkCreate(&handle, 2, options));
    OK(nvJitLinkAddData(handle, INPUT_LTOIR, caller, strlen(caller), "optimized"));
    OK(nvJitLinkAddData(handle, INPUT_PTX, callee, strlen(callee), "a text"));
    OK(nvJitLinkAddData(handle, INPUT_LIBRARY, "!<arch>\n", 8, "/x/libcudadevrt.a"));
    OK(nvJitLinkComplete(handle));
    OK(nvJitLinkGetLinkedCubinSize(handle, &bytes));
    char *out = calloc(1, bytes + 1);
    OK(nvJitLinkGetLinkedCubin(handle, out));
    CHECK(strstr(out, ".entry go") && strstr(out, ".func give"));
    free(out);
    OK(nvJitLinkDestroy(&handle));
}

static void machine_code_is_refused_by_name(void)
{
    void *handle = NULL;
    char text[1024] = "";
    size_t bytes = 0;
    FIND(nvjitlink, nvJitLinkCreate, create_fn *);
    FIND(nvjitlink, nvJitLinkAddData, add_fn *);
    FIND(nvjitlink, nvJitLinkComplete, complete_fn *);
    FIND(nvjitlink, nvJitLinkGetErrorLogSize, size_fn *);
    FIND(nvjitlink, nvJitLinkGetErrorLog, get_fn *);
    FIND(nvjitlink, nvJitLinkDestroy, destroy_fn *);
    OK(nvJitLinkCreate(&handle, 0, NULL));
    CHECK(nvJitLinkAddData(handle, INPUT_CUBIN, "\177ELF....", 8, "old.cubin") != 0);
    OK(nvJitLinkGetErrorLogSize(handle, &bytes));
    if (CHECK(bytes > 1 && bytes <= sizeof(text)))
        OK(nvJitLinkGetErrorLog(handle, text));
    CHECK(strstr(text, "old.cubin: machine code"));
    CHECK(nvJitLinkAddData(handle, INPUT_LTOIR, "\355CN\177....", 8, "new.ltoir") != 0);
    OK(nvJitLinkGetErrorLog(handle, text));
    CHECK(strstr(text, "new.ltoir: LTOIR") && strstr(text, "-lto alone"));
    OK(nvJitLinkDestroy(&handle));
    CHECK(!handle && nvJitLinkDestroy(&handle) != 0);
}

/* As the library: a module without functions. */
static void nothing_can_be_linked(void)
{
    size_t bytes = 0;
    char *linked = link_inputs(NULL, 0, INPUT_PTX, NULL, 0, &bytes);
    CHECK(bytes > 1 && strncmp(linked, ".version", 8) == 0 && !strstr(linked, ".entry"));
    free(linked);
}

/* Without -lto, too: what is wrong with them is said where they are given. */
static void options_are_judged_at_once(void)
{
    const char *options[] = {"-arch=sm_99", "-lto"};
    void *handle = NULL;
    FIND(nvjitlink, nvJitLinkCreate, create_fn *);
    CHECK(nvJitLinkCreate(&handle, 1, options) == 1);
    CHECK(nvJitLinkCreate(&handle, 2, options) == 1);
    CHECK(!handle);
}

int main(int count, char **words)
{
    (void)add_one, (void)touch, (void)no_kernel;
    if (count != 3 || !(nvrtc = dlopen(words[1], RTLD_NOW)) ||
        !(nvjitlink = dlopen(words[2], RTLD_NOW))) {
        fprintf(stderr, "%s\n", count == 3 ? dlerror() : "compilers NVRTC NVJITLINK");
        return 1;
    }
    register_kernels();
    RUN(nvrtc_gives_ptx);
    RUN(one_input_stays_as_it_is);
    RUN(several_inputs_are_linked);
    RUN(link_time_optimization_is_the_librarys);
    RUN(ptx_is_linked_with_what_was_optimized);
    RUN(machine_code_is_refused_by_name);
    RUN(nothing_can_be_linked);
    RUN(options_are_judged_at_once);
    return test_done();
}
