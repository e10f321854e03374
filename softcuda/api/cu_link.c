// SPDX-License-Identifier: Apache-2.0
/* The linker of the JIT: what comes out is PTX, that of the one input as it is, or the
 * text of several made one. Inputs are compiled when they are added, and what is linked
 * when it is complete, so that errors show where the real driver shows them.
 *
 * Log buffers are written by each call that compiles, one after the other, as NVIDIA's
 * linker fills them. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "softcuda/api/exports.h"
#include "softcuda/api/image.h"
#include "softcuda/device/alloc.h"
#include "softcuda/kernel/load/fatbin.h"
#include "softcuda/ptx/link.h"

#define INPUTS_MAX 4096u

struct input {
    char *image; /* with a terminating zero that `bytes` does not count */
    size_t bytes;
    char *name;
    soft_ptx_text ptx; /* in the image, or unpacked */
};

/* One of the program's two log buffers: what calls write comes after each other. */
struct log {
    CUjit_option buffer, size;
    char *text;
    size_t room, used;
};

struct link {
    soft_jit jit; /* the program's arrays, which live until cuLinkDestroy() */
    struct log logs[2];
    struct input *inputs;
    uint32_t count, capacity;
    char *linked; /* of several inputs */
    size_t bytes;
    bool is_complete;
    bool is_broken; /* two inputs define the same */
};

static SOFT_FINDER(find, CUlinkState, struct link, SOFT_KIND_LINK,
                   CUDA_ERROR_INVALID_HANDLE, "link")

    static size_t size_in(void *const *value)
{
    return (size_t)(uintptr_t)*value & 0xffffffffu;
}

static void find_log(struct link *link, struct log *log, CUjit_option buffer,
                     CUjit_option size)
{
    void **text = soft_jit_value(&link->jit, buffer);
    void **room = soft_jit_value(&link->jit, size);
    *log = (struct log){.buffer = buffer, .size = size};
    if (!text || !*text || !room)
        return;
    log->text = *text;
    log->room = size_in(room);
}

/* Around what writes logs: it finds the rest of the room. */
static void open_logs(struct link *link)
{
    for (struct log *log = link->logs; log < link->logs + 2; log++)
        if (log->text) {
            *soft_jit_value(&link->jit, log->buffer) = log->text + log->used;
            *soft_jit_value(&link->jit, log->size) =
                (void *)(uintptr_t)(log->room - log->used);
        }
}

static void close_logs(struct link *link)
{
    for (struct log *log = link->logs; log < link->logs + 2; log++)
        if (log->text) {
            void **size = soft_jit_value(&link->jit, log->size);
            const size_t written = size_in(size);
            log->used += written ? written - 1 : 0; /* the NUL counts */
            if (written > 0 && log->used + 1 < log->room) {
                log->text[log->used++] = '\n';
                log->text[log->used] = '\0';
            }
            *soft_jit_value(&link->jit, log->buffer) = log->text;
            *size = (void *)(uintptr_t)(log->used ? log->used + 1 : 0);
        }
}

/* Whether the image compiles; nothing is kept but what the logs say, and the cache. */
static CUresult compile(struct link *link, const void *image, size_t bytes)
{
    soft_code *code = NULL;
    open_logs(link);
    const CUresult status = soft_image_compile(image, bytes, &link->jit, &code);
    close_logs(link);
    soft_code_release(code);
    return status;
}

/* The option arrays stay the program's and are written to until the link is destroyed. */
CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values,
                         CUlinkState *out)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "stateOut"));
    soft_jit jit;
    SOFT_TRY(soft_jit_read(&jit, count, options, values));
    struct link *link = soft_new(sizeof(*link));
    SOFT_TRY(soft_made(link, "no memory for a link"));
    link->jit = jit;
    find_log(link, &link->logs[0], CU_JIT_ERROR_LOG_BUFFER,
             CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    find_log(link, &link->logs[1], CU_JIT_INFO_LOG_BUFFER,
             CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    SOFT_TRY(soft_handle_own(link, SOFT_KIND_LINK));
    *out = (CUlinkState)link;
    return CUDA_SUCCESS;
}

/* Objects for a GPU cannot be linked here, which is said by another code than what is no
 * type. */
static CUresult check_type(CUjitInputType type)
{
    if (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY ||
        type == CU_JIT_INPUT_LIBRARY)
        return CUDA_SUCCESS;
    if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a type of input",
                         (int)type);
    if (type == CU_JIT_INPUT_NVVM)
        return soft_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "LTOIR cannot be linked here: nvJitLink with -lto makes PTX of it");
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                     "input type %d cannot be linked: only PTX, fatbins with PTX, and "
                     "libraries without anything that is needed",
                     (int)type);
}

static void drop_input(struct input *input)
{
    soft_ptx_text_fini(&input->ptx);
    soft_delete(input->image);
    soft_delete(input->name);
}

/* Alone it must compile, so that its errors name its lines. */
static CUresult read_input(struct link *link, struct input *input)
{
    SOFT_TRY(compile(link, input->image, input->bytes));
    return soft_pass(soft_ptx_find(input->image, input->bytes, soft_allocator(),
                                   &input->ptx, soft_error()));
}

static bool is_device_runtime(const void *image, size_t bytes)
{
    soft_ptx_text text = {.text = NULL};
    gph_error unused;
    if (soft_ptx_find(image, bytes, soft_allocator(), &text, &unused) != GPH_OK)
        return false;
    const bool found = ptx_holds_device_runtime(text.text, text.bytes);
    soft_ptx_text_fini(&text);
    return found;
}

static CUresult make_input(struct link *link, struct input *out, const void *image,
                           const char *name)
{
    const size_t length = strlen(name) + 1;
    out->image = soft_new(out->bytes + 1);
    out->name = soft_new(length);
    SOFT_TRY(soft_made(out->image && out->name, "no memory for %zu bytes", out->bytes));
    memcpy(out->image, image, out->bytes);
    memcpy(out->name, name, length);
    return read_input(link, out);
}

/* One an input; NULL without memory. */
static ptx_link_input *texts_of(const struct link *link)
{
    ptx_link_input *texts = soft_new((link->count + 1) * sizeof(*texts));
    for (uint32_t i = 0; texts && i < link->count; i++) {
        const struct input *input = &link->inputs[i];
        size_t bytes = input->ptx.bytes;
        while (bytes > 0 && input->ptx.text[bytes - 1] == '\0')
            bytes--;
        texts[i] = (ptx_link_input){input->ptx.text, bytes, input->name};
    }
    return texts;
}

/* Writes the text of all, or only looks whether the inputs fit each other. */
static CUresult link_texts(struct link *link, bool check)
{
    const gph_allocator *heap = soft_allocator();
    ptx_link_input *texts = texts_of(link);
    SOFT_TRY(soft_made(texts, "no memory to link %u inputs", link->count));
    const gph_status status = check
                                  ? ptx_link_check(texts, link->count, heap, soft_error())
                                  : ptx_link(texts, link->count, heap, &link->linked,
                                             &link->bytes, soft_error());
    soft_delete(texts);
    open_logs(link);
    soft_image_log(&link->jit, status == GPH_OK ? "" : soft_error_text());
    close_logs(link);
    return soft_pass(status);
}

static CUresult add(struct link *link, const void *image, size_t bytes, const char *name)
{
    char numbered[32];
    snprintf(numbered, sizeof(numbered), "input %u", link->count);
    if (link->is_complete || link->count == INPUTS_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s after %u inputs: the link is %s",
                         name ? name : numbered, link->count,
                         link->is_complete ? "complete" : "full");
    struct input *inputs =
        gphi_array_room(*soft_allocator(), link->inputs, &link->capacity,
                        link->count + 1ull, sizeof(*inputs));
    SOFT_TRY(soft_made(inputs, "no memory for %zu bytes", bytes));
    link->inputs = inputs;
    struct input input = {.bytes = bytes};
    CUresult status = make_input(link, &input, image, name ? name : numbered);
    if (status != CUDA_SUCCESS) {
        drop_input(&input);
        return status;
    }
    inputs[link->count++] = input;
    status = link_texts(link, true);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        drop_input(&link->inputs[--link->count]);
    else if (status != CUDA_SUCCESS)
        link->is_broken = true; /* as on an H100: what is complete is refused, too */
    return status;
}

/* A library (ar) is looked at and left out: what is in it is machine code, and the device
 * run time's functions (libcudadevrt.a) are here without it. A function that only the
 * library has is missing when the link is completed. */
static CUresult add_library(const struct link *link, const char *data, size_t bytes)
{
    static const char magic[] = "!<arch>\n", end[] = "`\n";
    const size_t begin = sizeof(magic) - 1, header = 60;
    if (link->is_complete)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a library after the link is complete");
    if (bytes < begin + header || memcmp(data, magic, begin) != 0 ||
        memcmp(data + begin + header - 2, end, 2) != 0)
        return soft_fail(CUDA_ERROR_INVALID_IMAGE,
                         "%zu bytes that are not a library of objects (ar)", bytes);
    return CUDA_SUCCESS;
}

static CUresult add_input(struct link *link, CUjitInputType type, const void *data,
                          size_t bytes, const char *name)
{
    if (type == CU_JIT_INPUT_LIBRARY)
        return add_library(link, data, bytes);
    if (type == CU_JIT_INPUT_FATBINARY && !link->is_complete &&
        is_device_runtime(data, bytes))
        return CUDA_SUCCESS;
    return add(link, data, bytes, name);
}

/* Copied: the caller may free its bytes as soon as the call returns. */
CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data,
                          size_t bytes, const char *name, unsigned int count,
                          CUjit_option *options, void **values)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    struct link *link;
    SOFT_TRY(find(handle, &link));
    SOFT_TRY(check_type(type));
    if (!data || bytes == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %p", bytes, data);
    soft_jit unused;
    SOFT_TRY(soft_jit_read(&unused, count, options, values));
    return add_input(link, type, data, bytes, name);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path,
                          unsigned int count, CUjit_option *options, void **values)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    struct link *link;
    SOFT_TRY(find(handle, &link));
    SOFT_TRY(check_type(type));
    SOFT_TRY(soft_need(path, "path"));
    soft_jit unused;
    SOFT_TRY(soft_jit_read(&unused, count, options, values));
    void *image;
    size_t bytes;
    SOFT_TRY(soft_image_read(path, &image, &bytes));
    const CUresult status = add_input(link, type, image, bytes, path);
    soft_image_free(image);
    return status;
}

/* The text of several inputs; one stays as it is, if nothing in it is missing. */
static CUresult link_all(struct link *link)
{
    CUresult status = link_texts(link, false);
    if (status == CUDA_SUCCESS && link->count > 1)
        status = compile(link, link->linked, link->bytes);
    if (status != CUDA_SUCCESS || link->count == 1) {
        soft_delete(link->linked);
        link->linked = NULL;
    }
    return status;
}

/* The image lives until cuLinkDestroy(); without inputs it is an empty module, as a
 * GPU's linker makes one. */
CUresult cuLinkComplete(CUlinkState handle, void **out, size_t *bytes)
{
    static char nothing[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
    SOFT_TRY(soft_enter_context(__func__, NULL));
    struct link *link;
    SOFT_TRY(find(handle, &link));
    SOFT_TRY(soft_need(out, "cubinOut"));
    if (link->is_complete)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "the link is complete already");
    if (link->is_broken)
        return soft_fail(CUDA_ERROR_INVALID_SOURCE, "an input could not be added");
    if (link->count > 0)
        SOFT_TRY(link_all(link));
    link->is_complete = true;
    *out = link->count > 1    ? link->linked
           : link->count == 1 ? link->inputs[0].image
                              : nothing;
    if (bytes) /* the NUL counts */
        *bytes = link->count > 1    ? link->bytes + 1
                 : link->count == 1 ? link->inputs[0].bytes + 1
                                    : sizeof(nothing);
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState handle)
{
    SOFT_TRY(soft_enter(__func__));
    struct link *link;
    SOFT_TRY(find(handle, &link));
    if (!soft_handle_remove(link, SOFT_KIND_LINK))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a link", (void *)handle);
    for (uint32_t i = 0; i < link->count; i++)
        drop_input(&link->inputs[i]);
    soft_delete(link->inputs);
    soft_delete(link->linked);
    soft_delete(link);
    return CUDA_SUCCESS;
}
