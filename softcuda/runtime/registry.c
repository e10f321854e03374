// SPDX-License-Identifier: Apache-2.0
/* Fat binaries and what the host calls the things in them.
 *
 * nvcc's start-up code registers before main() and while libraries are loaded, when no
 * driver needs to be there: all that is done then is to note it.
 *
 *   binary   what __cudaRegisterFatBinary() got; a CUlibrary from its first use on
 *   symbol   a host address and the name that it has in the binary: a kernel's stub, a
 *            variable's shadow, or a managed variable's pointer
 *
 * A library's kernels are the same in every context; a function is looked up for the
 * current one at each use. */
#include "softcuda/runtime/registry.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/thread.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct binary {
    const void *image;
    CUlibrary library;  /* NULL: not loaded */
    cudaError_t failed; /* what loading it returned: said at each use */
    struct symbol *symbols;
    struct binary *next;
} binary;

/* A stub or a shadow. Names are constants of the program. */
typedef struct symbol {
    const void *host;
    const char *name;
    binary *of;
    CUkernel kernel;     /* of a stub, once it was used */
    void **managed;      /* of a managed variable: the program's pointer to it */
    bool is_said;        /* that its kernel is missing */
    struct symbol *next; /* of the same binary */
} symbol;

static gphi_mutex mutex = GPHI_MUTEX_INIT;
static bool is_ready;
static gphi_map by_host; /* host address -> symbol */
static binary *binaries;

static gph_allocator heap(void)
{
    return gphi_heap(NULL);
}

/* ---- registration ------------------------------------------------------------------- */

/* Without memory the thing is not known later on, and its use says so. */
static void add_symbol(binary *of, const void *host, const char *name, void **managed)
{
    if (!of || !host)
        return;
    symbol *made = gphi_heap_alloc(heap(), sizeof(*made));
    if (!made)
        return;
    *made = (symbol){.host = host, .name = name, .of = of, .managed = managed};
    gphi_mutex_lock(&mutex);
    made->next = of->symbols;
    of->symbols = made;
    (void)gphi_map_set(&by_host, (uint64_t)(uintptr_t)host, (uint64_t)(uintptr_t)made);
    gphi_mutex_unlock(&mutex);
}

GPH_API void **__cudaRegisterFatBinary(void *image);
void **__cudaRegisterFatBinary(void *image)
{
    binary *made = gphi_heap_alloc(heap(), sizeof(*made));
    if (!made)
        return NULL;
    made->image = image;
    gphi_mutex_lock(&mutex);
    if (!is_ready)
        gphi_map_init(&by_host, heap());
    is_ready = true;
    made->next = binaries;
    binaries = made;
    gphi_mutex_unlock(&mutex);
    return (void **)made;
}

GPH_API void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

GPH_API void __cudaRegisterFunction(void **handle, const char *host, char *device,
                                    const char *name, int thread_limit, void *thread,
                                    void *block, dim3 *block_dim, dim3 *grid_dim,
                                    int *warp_size);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
                            const char *name, int thread_limit, void *thread, void *block,
                            dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block;
    (void)block_dim, (void)grid_dim, (void)warp_size;
    add_symbol((binary *)handle, host, name, NULL);
}

GPH_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                               int is_extern, size_t bytes, int is_constant,
                               int is_global);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                       int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add_symbol((binary *)handle, host, name, NULL);
}

GPH_API void __cudaRegisterHostVar(void **handle, const char *name, char *host,
                                   size_t bytes);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)bytes;
    add_symbol((binary *)handle, host, name, NULL);
}

GPH_API void __cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                                      const char *name, int is_extern, size_t bytes,
                                      int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                              const char *name, int is_extern, size_t bytes,
                              int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add_symbol((binary *)handle, pointer, name, pointer);
}

GPH_API void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
    binary *gone = (binary *)handle;
    const rt_driver *cu;
    if (!gone)
        return;
    gphi_mutex_lock(&mutex);
    for (binary **at = &binaries; *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    for (symbol *each = gone->symbols; each;) {
        symbol *next = each->next;
        gphi_map_remove(&by_host, (uint64_t)(uintptr_t)each->host);
        gphi_heap_free(heap(), each, sizeof(*each));
        each = next;
    }
    const CUlibrary library = gone->library;
    gphi_heap_free(heap(), gone, sizeof(*gone));
    gphi_mutex_unlock(&mutex);
    if (library && !rt_is_ending() && rt_load(&cu, RT_LEGACY) == cudaSuccess)
        cu->cuLibraryUnload(library);
}

/* ---- use ---------------------------------------------------------------------------- */

/* A program without kernels never registers any: there is not yet a map then. */
static symbol *find(const void *host)
{
    return is_ready ? gphi_map_pointer(&by_host, (uint64_t)(uintptr_t)host) : NULL;
}

/* What the driver does not find by its name has an error of its own here. */
static cudaError_t named(CUresult result, cudaError_t unknown)
{
    return result == CUDA_ERROR_NOT_FOUND ? unknown : (cudaError_t)result;
}

/* What __cudaRegisterFatBinary() gets from nvcc. */
typedef struct wrapper {
    unsigned magic, version;
    const void *data;
    const void *const *parts; /* of a version 2: fatbins of relocatable code, then NULL */
} wrapper;

/* The beginning of a fatbin. */
typedef struct fatbin {
    unsigned magic;
    unsigned short version, header_bytes;
    unsigned long long bytes; /* after the header */
} fatbin;

static const unsigned wrapper_magic = 0x466243b1, fatbin_magic = 0xba55ed50;
enum { LINKED = 2 };

/* With -rdc=true the program's fatbin holds machine code alone, which nvlink made; what was
 * linked is beside it, with its PTX. Fails where a part has none, or is missing one. */
static CUresult load_parts(const rt_driver *cu, const wrapper *from, CUlibrary *out)
{
    CUlinkState link;
    void *linked;
    size_t bytes;
    CUresult result = cu->cuLinkCreate(0, NULL, NULL, &link);
    if (result != CUDA_SUCCESS)
        return result;
    for (size_t i = 0; from->parts[i] && result == CUDA_SUCCESS; i++) {
        const fatbin *part = from->parts[i];
        result =
            part->magic == fatbin_magic
                ? cu->cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, (void *)(uintptr_t)part,
                                    part->header_bytes + part->bytes, NULL, 0, NULL, NULL)
                : CUDA_ERROR_INVALID_IMAGE;
    }
    if (result == CUDA_SUCCESS)
        result = cu->cuLinkComplete(link, &linked, &bytes);
    if (result == CUDA_SUCCESS)
        result = cu->cuLibraryLoadData(out, linked, NULL, NULL, 0, NULL, NULL, 0);
    cu->cuLinkDestroy(link);
    return result;
}

/* Libraries drop errors of launches (CuPy's of CUB do), and what their kernels should have
 * written is then silently missing: one sentence a binary, or a kernel. */
static void say_missing(const rt_driver *cu, const binary *of, const char *kernel,
                        CUresult code)
{
    const char *name = NULL;
    Dl_info where = {0};
    (void)cu->cuGetErrorName(code, &name);
    const bool is_known = dladdr(of->image, &where) && where.dli_fname;
    fprintf(stderr,
            "softcuda: %s%s of %s cannot be %s (%s): launches of %s fail and compute "
            "nothing, also where the program does not look at the error; %s\n",
            kernel ? "kernel " : "the kernels", kernel ? kernel : "",
            is_known ? where.dli_fname : "the program",
            code == CUDA_ERROR_NOT_FOUND ? "found" : "loaded",
            name ? name : "unknown error", kernel ? "it" : "them",
            code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                ? "pin the packages that compile to CUDA 13.0"
                : "CUDA_LOG_FILE=stderr says more");
}

static cudaError_t load(const rt_driver *cu, binary *of) GPHI_REQUIRES(&mutex)
{
    const wrapper *from = of->image;
    if (of->library || of->failed != cudaSuccess)
        return of->failed;
    const bool has_parts = from->magic == wrapper_magic && from->version == LINKED &&
                           from->parts && from->parts[0];
    of->failed =
        (cudaError_t)(has_parts ? load_parts(cu, from, &of->library)
                                : cu->cuLibraryLoadData(&of->library, of->image, NULL,
                                                        NULL, 0, NULL, NULL, 0));
    if (of->failed != cudaSuccess)
        say_missing(cu, of, NULL, (CUresult)of->failed);
    return of->failed;
}

/* What was never registered as a kernel: CUDA 13's runtime takes it for a CUkernel, and has
 * the driver's error for a wrong handle (an H100); CUDA 12's has an error of its own. */
#define NOT_REGISTERED                                                                   \
    (RT_MAJOR == 12 ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle)

static cudaError_t kernel_locked(const rt_driver *cu, symbol *stub, CUkernel *out)
    GPHI_REQUIRES(&mutex)
{
    if (!stub || stub->managed)
        return NOT_REGISTERED;
    if (!stub->kernel) {
        const cudaError_t result = load(cu, stub->of);
        if (result != cudaSuccess)
            return result;
        const CUresult got =
            cu->cuLibraryGetKernel(&stub->kernel, stub->of->library, stub->name);
        if (got != CUDA_SUCCESS && !stub->is_said)
            say_missing(cu, stub->of, stub->name, got);
        stub->is_said = true;
        if (got != CUDA_SUCCESS)
            return named(got, cudaErrorInvalidDeviceFunction);
    }
    *out = stub->kernel;
    return cudaSuccess;
}

cudaError_t rt_kernel(const rt_driver *cu, const void *host, CUkernel *out)
{
    if (!host)
        return cudaErrorInvalidDeviceFunction;
    gphi_mutex_lock(&mutex);
    symbol *stub = find(host);
    const cudaError_t result = kernel_locked(cu, stub, out);
    gphi_mutex_unlock(&mutex);
    CUfunction function;
    if (stub)
        return result;
    /* A CUkernel of cudaGetKernel() or of a library passes for a stub. */
    const CUresult got = cu->cuKernelGetFunction(&function, (CUkernel)(uintptr_t)host);
    if (got != CUDA_SUCCESS) /* or the context is in error, and the kernel is known */
        return got == CUDA_ERROR_INVALID_HANDLE ? NOT_REGISTERED : (cudaError_t)got;
    *out = (CUkernel)(uintptr_t)host;
    return cudaSuccess;
}

/* A driver's function passes, too: what a node is read as, which has no stub. */
cudaError_t rt_function(const rt_driver *cu, const void *host, CUfunction *out)
{
    CUkernel kernel;
    int threads;
    const CUfunction function = (CUfunction)(uintptr_t)host;
    const cudaError_t result = rt_kernel(cu, host, &kernel);
    if (result == cudaSuccess)
        return (cudaError_t)cu->cuKernelGetFunction(out, kernel);
    if (result != NOT_REGISTERED ||
        cu->cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                               function) != CUDA_SUCCESS)
        return result;
    *out = function;
    return cudaSuccess;
}

const void *rt_stub(const rt_driver *cu, CUfunction function)
{
    const void *host = NULL;
    gphi_mutex_lock(&mutex);
    for (binary *of = binaries; of && !host; of = of->next)
        for (symbol *each = of->symbols; each && !host; each = each->next) {
            CUfunction own;
            if (each->kernel &&
                cu->cuKernelGetFunction(&own, each->kernel) == CUDA_SUCCESS &&
                own == function)
                host = each->host;
        }
    gphi_mutex_unlock(&mutex);
    return host;
}

/* A program names a managed variable by its address: nvcc puts the pointer in its place. */
static const symbol *find_managed(const void *address)
{
    for (const binary *of = binaries; of && address; of = of->next)
        for (const symbol *each = of->symbols; each; each = each->next)
            if (each->managed && *each->managed == address)
                return each;
    return NULL;
}

cudaError_t rt_symbol(const rt_driver *cu, const void *host, CUdeviceptr *address,
                      size_t *bytes)
{
    gphi_mutex_lock(&mutex);
    const symbol *shadow = find(host);
    if (!shadow)
        shadow = find_managed(host);
    cudaError_t result = shadow ? load(cu, shadow->of) : cudaErrorInvalidSymbol;
    if (result == cudaSuccess) {
        const CUlibrary library = shadow->of->library;
        const CUresult got =
            shadow->managed
                ? cu->cuLibraryGetManaged(address, bytes, library, shadow->name)
                : cu->cuLibraryGetGlobal(address, bytes, library, shadow->name);
        result = named(got, cudaErrorInvalidSymbol);
    }
    gphi_mutex_unlock(&mutex);
    return result;
}

/* Called before a program touches its managed variables: their pointers are filled in. */
GPH_API char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle)
{
    const rt_driver *cu;
    binary *of = (binary *)handle;
    if (!of || rt_leave(rt_enter(&cu, RT_LEGACY)) != cudaSuccess)
        return 0;
    gphi_mutex_lock(&mutex);
    cudaError_t result = load(cu, of);
    for (symbol *each = of->symbols; each && result == cudaSuccess; each = each->next) {
        CUdeviceptr address = 0;
        if (!each->managed)
            continue;
        result =
            (cudaError_t)cu->cuLibraryGetManaged(&address, NULL, of->library, each->name);
        if (result == cudaSuccess)
            *each->managed = (void *)(uintptr_t)address;
    }
    gphi_mutex_unlock(&mutex);
    return rt_leave(result) == cudaSuccess;
}

void rt_program_forget(const rt_driver *cu)
{
    gphi_mutex_lock(&mutex);
    for (binary *of = binaries; of; of = of->next) {
        if (of->library)
            cu->cuLibraryUnload(of->library);
        of->library = NULL;
        of->failed = cudaSuccess;
        for (symbol *each = of->symbols; each; each = each->next)
            each->kernel = NULL;
    }
    gphi_mutex_unlock(&mutex);
}
