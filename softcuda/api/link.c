// SPDX-License-Identifier: Apache-2.0
/* The linker of the JIT: what comes out is PTX, that of the one input as it is, or the
 * text of several made one. Inputs are compiled when they are added, and what is linked
 * when it is complete, so that errors show where the real driver shows them. */
#include <stdio.h>
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/api/image.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/heap.h"
#include "softcuda/kernel/fatbin.h"
#include "softcuda/ptx/link.h"

#define INPUTS_MAX 4096u

struct input {
    char *image; /* with a terminating zero that `bytes` does not count */
    size_t bytes;
    char *name;
};

struct link {
    soft_jit jit; /* the program's arrays, which live until cuLinkDestroy() */
    struct input *inputs;
    uint32_t count;
    char *linked; /* of several inputs */
    size_t bytes;
    bool is_complete;
};

static CUresult is_null(const char *name)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", name);
}

static CUresult find(CUlinkState handle, struct link **out)
{
    if (!soft_handle_is(handle, SOFT_KIND_LINK))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is no link", (void *)handle);
    *out = (struct link *)handle;
    return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values,
                         CUlinkState *out)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    if (out == NULL)
        return is_null("stateOut");
    soft_jit jit;
    SOFT_TRY(soft_jit_read(&jit, count, options, values));
    struct link *link = soft_new(sizeof(*link));
    if (link == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a link");
    link->jit = jit;
    const CUresult added = soft_handle_add(link, SOFT_KIND_LINK);
    if (added != CUDA_SUCCESS) {
        soft_delete(link);
        return added;
    }
    *out = (CUlinkState)link;
    return CUDA_SUCCESS;
}

static CUresult check_type(CUjitInputType type)
{
    if (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY)
        return CUDA_SUCCESS;
    if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is no type of input", (int)type);
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                     "input type %d cannot be linked: only PTX, and fatbins with PTX",
                     (int)type);
}

static void drop_input(struct input *input)
{
    soft_delete(input->image);
    soft_delete(input->name);
}

static CUresult copy_input(struct input *out, const void *image, size_t bytes,
                           const char *name)
{
    const size_t length = strlen(name) + 1;
    *out = (struct input){soft_new(bytes + 1), bytes, soft_new(length)};
    if (out->image == NULL || out->name == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    memcpy(out->image, image, bytes);
    memcpy(out->name, name, length);
    return CUDA_SUCCESS;
}

static CUresult add(struct link *link, const void *image, size_t bytes, const char *name)
{
    char numbered[32];
    snprintf(numbered, sizeof(numbered), "input %u", link->count);
    if (link->is_complete || link->count == INPUTS_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s after %u inputs: the link is %s",
                         name ? name : numbered, link->count,
                         link->is_complete ? "complete" : "full");
    struct input *inputs = soft_renew(link->inputs, (link->count + 1) * sizeof(*inputs));
    if (inputs == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    link->inputs = inputs;
    struct input input;
    CUresult status = copy_input(&input, image, bytes, name ? name : numbered);
    soft_code *code = NULL;
    if (status == CUDA_SUCCESS)
        status = soft_image_compile(input.image, bytes, &link->jit, &code);
    soft_code_release(code);
    if (status != CUDA_SUCCESS) {
        drop_input(&input);
        return status;
    }
    inputs[link->count++] = input;
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data,
                          size_t bytes, const char *name, unsigned int count,
                          CUjit_option *options, void **values)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    struct link *link;
    SOFT_TRY(find(handle, &link));
    SOFT_TRY(check_type(type));
    if (data == NULL || bytes == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %p", bytes, data);
    soft_jit unused;
    SOFT_TRY(soft_jit_read(&unused, count, options, values));
    return add(link, data, bytes, name);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path,
                          unsigned int count, CUjit_option *options, void **values)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    struct link *link;
    SOFT_TRY(find(handle, &link));
    SOFT_TRY(check_type(type));
    if (path == NULL)
        return is_null("path");
    soft_jit unused;
    SOFT_TRY(soft_jit_read(&unused, count, options, values));
    void *image;
    size_t bytes;
    SOFT_TRY(soft_image_read(path, &image, &bytes));
    const CUresult status = add(link, image, bytes, path);
    soft_image_free(image);
    return status;
}

/* `found` and `texts`: one an input. */
static CUresult link_texts(struct link *link, soft_ptx_text *found, ptx_link_input *texts)
{
    gph_error error = {0};
    gph_status status = GPH_OK;
    uint32_t read = 0;
    const gph_allocator *heap = soft_allocator();
    for (; read < link->count && status == GPH_OK; read++) {
        const struct input *input = &link->inputs[read];
        status = soft_ptx_find(input->image, input->bytes, heap, &found[read], &error);
        if (status != GPH_OK)
            break;
        size_t bytes = found[read].bytes;
        while (bytes > 0 && found[read].text[bytes - 1] == '\0')
            bytes--;
        texts[read] = (ptx_link_input){found[read].text, bytes, input->name};
    }
    if (status == GPH_OK)
        status = ptx_link(texts, link->count, heap, &link->linked, &link->bytes, &error);
    while (read-- > 0)
        soft_ptx_text_fini(&found[read]);
    soft_image_log(&link->jit, status == GPH_OK ? "" : error.message);
    return soft_pass(status, &error);
}

static CUresult link_several(struct link *link)
{
    soft_ptx_text *found = soft_new(link->count * sizeof(*found));
    ptx_link_input *texts = soft_new(link->count * sizeof(*texts));
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (found != NULL && texts != NULL)
        status = link_texts(link, found, texts);
    else
        (void)soft_fail(status, "no memory to link %u inputs", link->count);
    soft_delete(found);
    soft_delete(texts);
    soft_code *code = NULL;
    if (status == CUDA_SUCCESS) /* the inputs fit each other, or do not */
        status = soft_image_compile(link->linked, link->bytes, &link->jit, &code);
    soft_code_release(code);
    if (status != CUDA_SUCCESS) {
        soft_delete(link->linked);
        link->linked = NULL;
    }
    return status;
}

CUresult cuLinkComplete(CUlinkState handle, void **out, size_t *bytes)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    struct link *link;
    SOFT_TRY(find(handle, &link));
    if (out == NULL)
        return is_null("cubinOut");
    if (link->count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nothing was added to the link");
    if (link->count > 1 && link->linked == NULL)
        SOFT_TRY(link_several(link));
    link->is_complete = true;
    *out = link->count > 1 ? link->linked : link->inputs[0].image;
    if (bytes != NULL) /* the NUL counts */
        *bytes = (link->count > 1 ? link->bytes : link->inputs[0].bytes) + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState handle)
{
    SOFT_ENTER();
    struct link *link;
    SOFT_TRY(find(handle, &link));
    if (!soft_handle_remove(link, SOFT_KIND_LINK))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is no link", (void *)handle);
    for (uint32_t i = 0; i < link->count; i++)
        drop_input(&link->inputs[i]);
    soft_delete(link->inputs);
    soft_delete(link->linked);
    soft_delete(link);
    return CUDA_SUCCESS;
}
