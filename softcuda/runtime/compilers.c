// SPDX-License-Identifier: Apache-2.0
/* NVRTC and nvJitLink, asked for machine code.
 *
 *   nvrtcGetCUBIN             what nvrtcGetPTX gives: it is there for real architectures,
 *                             too (-arch=sm_90)
 *   nvJitLink without -lto    its inputs, linked by the driver if there are several; the
 *                             library judges the options
 *   nvJitLink with -lto       the library's own work with -ptx, and its PTX; inputs that are
 *                             PTX already, which it refuses then, are linked with that
 *
 * All their functions are replaced in memory as the static runtime's are, so that it makes no
 * difference how a program found them. Handles of nvJitLink are objects of this file; NVRTC's
 * stay its own. Two versions of each may be loaded beside each other: `slots`. */
#include "softcuda/runtime/compilers.h"
#include "softcuda/runtime/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 };

/* ---- NVRTC ---------------------------------------------------------------------------------- */

typedef struct nvrtc {
    int (*ptx_size)(void *program, size_t *bytes);
    int (*ptx)(void *program, char *out);
} nvrtc;

static nvrtc rtc[SLOTS];
static size_t rtc_count;

#define NVRTC(slot)                                                                      \
    static int rtc_size_##slot(void *program, size_t *bytes)                             \
    {                                                                                    \
        return rtc[slot].ptx_size(program, bytes);                                       \
    }                                                                                    \
    static int rtc_get_##slot(void *program, char *out)                                  \
    {                                                                                    \
        return rtc[slot].ptx(program, out);                                              \
    }
NVRTC(0)
NVRTC(1)

/* ---- nvJitLink ------------------------------------------------------------------------------ */

/* Its results and kinds of input, as its header numbers them. */
enum {
    LINK_SUCCESS = 0,
    LINK_INVALID_INPUT = 3,
    LINK_PTX_COMPILE = 4,
    LINK_INTERNAL = 6,
    LINK_UNRECOGNIZED_INPUT = 8,
    INPUT_PTX = 2,
    INPUT_LIBRARY = 6,
    OPTIONS_MAX = 64,
    LOG_BYTES = 1024
};

/* What the library itself does: options, and all for -lto. */
typedef struct jit_link {
    int (*create)(void **out, uint32_t count, const char **options);
    int (*destroy)(void **handle);
    int (*add_data)(void *handle, int type, const void *data, size_t bytes,
                    const char *name);
    int (*add_file)(void *handle, int type, const char *path);
    int (*complete)(void *handle);
    int (*ptx_size)(void *handle, size_t *bytes);
    int (*ptx)(void *handle, char *out);
    int (*error_size)(void *handle, size_t *bytes);
    int (*error)(void *handle, char *out);
    int (*info_size)(void *handle, size_t *bytes);
    int (*info)(void *handle, char *out);
} jit_link;

static jit_link links[SLOTS];
static size_t link_count;

typedef struct input {
    struct input *next;
    size_t bytes;
    char data[]; /* a NUL after `bytes` */
} input;

typedef struct state {
    const jit_link *of;
    void *real;        /* with -lto; NULL: linked here */
    size_t real_count; /* its inputs */
    input *first, **last;
    char *linked; /* with its NUL */
    size_t bytes;
    char log[LOG_BYTES];
} state;

static int create(const jit_link *of, void **out, uint32_t count, const char **options)
{
    const char *with[OPTIONS_MAX];
    bool is_lto = false;
    if (!out || (count > 0 && !options) || count >= OPTIONS_MAX)
        return LINK_INVALID_INPUT;
    for (uint32_t i = 0; i < count; i++) {
        with[i] = options[i];
        is_lto = is_lto || strcmp(options[i], "-lto") == 0;
    }
    with[count] = "-ptx";
    state *made = calloc(1, sizeof(*made));
    if (!made)
        return LINK_INTERNAL;
    made->of = of;
    made->last = &made->first;
    /* Options are the library's to judge (-arch=sm_99), also where it does nothing else. */
    int result = of->create(&made->real, is_lto ? count + 1 : count, with);
    if (result == LINK_SUCCESS && !is_lto) {
        result = of->destroy(&made->real);
        made->real = NULL;
    }
    if (result == LINK_SUCCESS)
        *out = made;
    else
        free(made);
    return result;
}

static int destroy(void **handle)
{
    state *gone = handle ? *handle : NULL;
    if (!gone)
        return LINK_INVALID_INPUT;
    int result = LINK_SUCCESS;
    if (gone->real)
        result = gone->of->destroy(&gone->real);
    for (input *each = gone->first; each;) {
        input *next = each->next;
        free(each);
        each = next;
    }
    free(gone->linked);
    free(gone);
    *handle = NULL;
    return result;
}

static int refuse(state *to, int result, const char *name, const char *why)
{
    const size_t used = strlen(to->log);
    snprintf(to->log + used, sizeof(to->log) - used, "%s: %s\n", name ? name : "an input",
             why);
    return result;
}

/* What the device's own library has (libcudadevrt.a), softcuda has itself. */
static bool is_device_runtime(int type, const char *name)
{
    return type == INPUT_LIBRARY && name && strstr(name, "cudadevrt");
}

static int keep(state *to, const void *data, size_t bytes)
{
    input *made = malloc(sizeof(*made) + bytes + 1);
    if (!made)
        return LINK_INTERNAL;
    made->next = NULL;
    made->bytes = bytes;
    memcpy(made->data, data, bytes);
    made->data[bytes] = '\0';
    *to->last = made;
    to->last = &made->next;
    return LINK_SUCCESS;
}

static int add_data(void *handle, int type, const void *data, size_t bytes,
                    const char *name)
{
    static const char elf[4] = "\177ELF", ltoir[4] = "\355CN\177";
    state *to = handle;
    if (!to || !data || bytes == 0)
        return LINK_INVALID_INPUT;
    if (is_device_runtime(type, name))
        return LINK_SUCCESS;
    if (to->real && type != INPUT_PTX) {
        to->real_count++;
        return to->of->add_data(to->real, type, data, bytes, name);
    }
    if (bytes >= sizeof(elf) && memcmp(data, elf, sizeof(elf)) == 0)
        return refuse(to, LINK_UNRECOGNIZED_INPUT, name,
                      "machine code for a GPU; softcuda links PTX");
    if (bytes >= sizeof(ltoir) && memcmp(data, ltoir, sizeof(ltoir)) == 0)
        return refuse(to, LINK_UNRECOGNIZED_INPUT, name,
                      "LTOIR, which nvJitLink reads with its option -lto alone");
    return keep(to, data, bytes);
}

static int add_file(void *handle, int type, const char *path)
{
    state *to = handle;
    if (!to || !path)
        return LINK_INVALID_INPUT;
    if (is_device_runtime(type, path))
        return LINK_SUCCESS;
    if (to->real && type != INPUT_PTX) {
        to->real_count++;
        return to->of->add_file(to->real, type, path);
    }
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long bytes = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (bytes = ftell(file)) > 0 &&
        fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)bytes);
    const bool is_read = data && fread(data, 1, (size_t)bytes, file) == (size_t)bytes;
    if (file)
        fclose(file);
    const int result = is_read ? add_data(handle, type, data, (size_t)bytes, path)
                               : refuse(to, LINK_INVALID_INPUT, path, "cannot be read");
    free(data);
    return result;
}

/* A fatbin begins so; PTX is text. */
static CUjitInputType type_of(const input *of)
{
    static const unsigned char fatbin[4] = {0x50, 0xed, 0x55, 0xba};
    return of->bytes > sizeof(fatbin) && memcmp(of->data, fatbin, sizeof(fatbin)) == 0
               ? CU_JIT_INPUT_FATBINARY
               : CU_JIT_INPUT_PTX;
}

static CUresult link_all(const rt_driver *cu, state *of)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {of->log, (void *)(uintptr_t)sizeof(of->log)};
    CUlinkState link;
    void *linked;
    size_t bytes;
    CUresult result = cu->cuLinkCreate(2, options, values, &link);
    if (result != CUDA_SUCCESS)
        return result;
    for (input *each = of->first; each && result == CUDA_SUCCESS; each = each->next)
        result = cu->cuLinkAddData(link, type_of(each), each->data, each->bytes, NULL, 0,
                                   NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = cu->cuLinkComplete(link, &linked, &bytes);
    if (result == CUDA_SUCCESS)
        of->linked = malloc(bytes);
    if (of->linked) {
        memcpy(of->linked, linked, bytes);
        of->bytes = bytes;
    }
    cu->cuLinkDestroy(link);
    return result;
}

/* The driver links in a context, which is not to be the thread's afterwards. */
static int link_several(state *of)
{
    const rt_driver *cu;
    CUcontext context, top;
    if (rt_load(&cu, RT_LEGACY) != cudaSuccess ||
        cu->cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS)
        return refuse(of, LINK_INTERNAL, NULL, "there is nothing to link it for");
    CUresult result = cu->cuCtxPushCurrent(context);
    if (result == CUDA_SUCCESS) {
        result = link_all(cu, of);
        cu->cuCtxPopCurrent(&top);
    }
    cu->cuDevicePrimaryCtxRelease(0);
    return result == CUDA_SUCCESS && of->linked ? LINK_SUCCESS : LINK_PTX_COMPILE;
}

/* What the library made of its inputs is one more. */
static int complete_real(state *of)
{
    size_t bytes = 0;
    int result = of->of->complete(of->real);
    if (result != LINK_SUCCESS || !of->first)
        return result;
    result = of->of->ptx_size(of->real, &bytes);
    char *ptx = result == LINK_SUCCESS && bytes > 0 ? malloc(bytes) : NULL;
    if (result == LINK_SUCCESS)
        result = ptx ? of->of->ptx(of->real, ptx) : LINK_INTERNAL;
    if (result == LINK_SUCCESS)
        result = keep(of, ptx, strnlen(ptx, bytes));
    free(ptx);
    return result;
}

static int complete(void *handle)
{
    state *of = handle;
    if (!of)
        return LINK_INVALID_INPUT;
    if (of->real && (of->real_count > 0 || !of->first)) {
        const int result = complete_real(of);
        if (result != LINK_SUCCESS || !of->first)
            return result;
    }
    /* Without inputs, too: a module without functions. */
    static const char none[] = ".version 8.0\n.target sm_75\n.address_size 64\n";
    if (of->linked)
        return LINK_INVALID_INPUT;
    if (!of->first && keep(of, none, sizeof(none) - 1) != LINK_SUCCESS)
        return LINK_INTERNAL;
    if (of->first->next)
        return link_several(of);
    of->bytes = of->first->bytes + 1;
    of->linked = malloc(of->bytes);
    if (of->linked)
        memcpy(of->linked, of->first->data, of->bytes);
    return of->linked ? LINK_SUCCESS : LINK_INTERNAL;
}

static int image_size(void *handle, size_t *bytes)
{
    const state *of = handle;
    if (!of || !bytes)
        return LINK_INVALID_INPUT;
    if (of->real && !of->first)
        return of->of->ptx_size(of->real, bytes);
    *bytes = of->bytes;
    return of->linked ? LINK_SUCCESS : LINK_INVALID_INPUT;
}

static int image(void *handle, void *out)
{
    const state *of = handle;
    if (!of || !out)
        return LINK_INVALID_INPUT;
    if (of->real && !of->first)
        return of->of->ptx(of->real, out);
    if (of->linked)
        memcpy(out, of->linked, of->bytes);
    return of->linked ? LINK_SUCCESS : LINK_INVALID_INPUT;
}

static int error_size(void *handle, size_t *bytes)
{
    const state *of = handle;
    if (!of || !bytes)
        return LINK_INVALID_INPUT;
    *bytes = strlen(of->log) + 1;
    return of->real && *bytes == 1 ? of->of->error_size(of->real, bytes) : LINK_SUCCESS;
}

static int error(void *handle, char *out)
{
    const state *of = handle;
    if (!of || !out)
        return LINK_INVALID_INPUT;
    if (of->real && of->log[0] == '\0')
        return of->of->error(of->real, out);
    memcpy(out, of->log, strlen(of->log) + 1);
    return LINK_SUCCESS;
}

static int info_size(void *handle, size_t *bytes)
{
    const state *of = handle;
    if (!of || !bytes)
        return LINK_INVALID_INPUT;
    *bytes = 1;
    return of->real ? of->of->info_size(of->real, bytes) : LINK_SUCCESS;
}

static int info(void *handle, char *out)
{
    const state *of = handle;
    if (!of || !out)
        return LINK_INVALID_INPUT;
    *out = '\0';
    return of->real ? of->of->info(of->real, out) : LINK_SUCCESS;
}

#define CREATE(slot)                                                                     \
    static int create_##slot(void **out, uint32_t count, const char **options)           \
    {                                                                                    \
        return create(&links[slot], out, count, options);                                \
    }
CREATE(0)
CREATE(1)

/* ---- where they are ------------------------------------------------------------------------- */

#define ADDRESS(function) ((uint64_t)(uintptr_t)(function))

/* A name, ours for each slot, and where the library's own is kept. */
typedef struct row {
    const char *name;
    uint64_t ours[SLOTS];
    void *keep[SLOTS];
} row;

/* nvJitLinkAddData, also as __nvJitLinkAddData_13_0. */
static bool is_named(const char *symbol, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(symbol, "__", 2) == 0 && strncmp(symbol + 2, name, length) == 0)
        return symbol[2 + length] == '_';
    return strcmp(symbol, name) == 0;
}

/* Each of nvJitLink's functions is a jump to what does the work; 0: it is not. */
static uint64_t target_of(uint64_t at)
{
    const unsigned char *code = (const unsigned char *)(uintptr_t)at;
    int32_t distance;
    if (code[0] != 0xe9)
        return 0;
    memcpy(&distance, code + 1, sizeof(distance));
    return at + RT_NEAR_BYTES + (uint64_t)(int64_t)distance;
}

static void place(rt_inside *out, const row *rows, size_t count, size_t slot)
{
    const rt_elf *elf = out->elf;
    for (size_t i = 0; i < elf->symbol_count; i++) {
        const Elf64_Sym *symbol = &elf->symbols[i];
        const uint64_t at = out->base + symbol->st_value;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF)
            continue;
        for (size_t of = 0; of < count; of++) {
            if (!is_named(rt_elf_name(elf, symbol), rows[of].name))
                continue;
            const uint64_t kept = rows[of].ours[slot] ? target_of(at) : at;
            if (rows[of].keep[slot] && kept != 0)
                memcpy(rows[of].keep[slot], &kept, sizeof(kept));
            if (rows[of].ours[slot] && out->count < out->room)
                out->places[out->count++] = (rt_place){at, rows[of].ours[slot]};
        }
    }
}

static bool has(const rt_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->symbol_count; i++)
        if (elf->symbols[i].st_shndx != SHN_UNDEF &&
            strcmp(rt_elf_name(elf, &elf->symbols[i]), name) == 0)
            return true;
    return false;
}

#define BOTH(ours, kept)                                                                 \
    {ADDRESS(ours), ADDRESS(ours)},                                                      \
    {                                                                                    \
        &links[0].kept, &links[1].kept                                                   \
    }

void rt_compilers_find(rt_inside *out)
{
    const row of_nvrtc[] = {
        {"nvrtcGetCUBINSize", {ADDRESS(rtc_size_0), ADDRESS(rtc_size_1)}, {NULL, NULL}},
        {"nvrtcGetCUBIN", {ADDRESS(rtc_get_0), ADDRESS(rtc_get_1)}, {NULL, NULL}},
        {"nvrtcGetPTXSize", {0, 0}, {&rtc[0].ptx_size, &rtc[1].ptx_size}},
        {"nvrtcGetPTX", {0, 0}, {&rtc[0].ptx, &rtc[1].ptx}}};
    const row of_link[] = {
        {"nvJitLinkCreate",
         {ADDRESS(create_0), ADDRESS(create_1)},
         {&links[0].create, &links[1].create}},
        {"nvJitLinkDestroy", BOTH(destroy, destroy)},
        {"nvJitLinkAddData", BOTH(add_data, add_data)},
        {"nvJitLinkAddFile", BOTH(add_file, add_file)},
        {"nvJitLinkComplete", BOTH(complete, complete)},
        {"nvJitLinkGetLinkedCubinSize",
         {ADDRESS(image_size), ADDRESS(image_size)},
         {NULL, NULL}},
        {"nvJitLinkGetLinkedCubin", {ADDRESS(image), ADDRESS(image)}, {NULL, NULL}},
        {"nvJitLinkGetLinkedPtxSize", BOTH(image_size, ptx_size)},
        {"nvJitLinkGetLinkedPtx", BOTH(image, ptx)},
        {"nvJitLinkGetErrorLogSize", BOTH(error_size, error_size)},
        {"nvJitLinkGetErrorLog", BOTH(error, error)},
        {"nvJitLinkGetInfoLogSize", BOTH(info_size, info_size)},
        {"nvJitLinkGetInfoLog", BOTH(info, info)}};
    rt_elf elf = *out->elf;
    rt_inside in = *out;
    in.elf = &elf;
    in.count = 0;
    rt_elf_read(&elf, SHT_DYNSYM);
    if (rtc_count < SLOTS && has(&elf, "nvrtcGetCUBIN") && has(&elf, "nvrtcGetPTX"))
        place(&in, of_nvrtc, sizeof(of_nvrtc) / sizeof(*of_nvrtc), rtc_count++);
    else if (link_count < SLOTS && has(&elf, "nvJitLinkGetLinkedCubin"))
        place(&in, of_link, sizeof(of_link) / sizeof(*of_link), link_count++);
    out->count = in.count;
}
