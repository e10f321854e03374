// SPDX-License-Identifier: Apache-2.0
/* The linker of the JIT, as far as one input goes: what comes out is the PTX that went
 * in, compiled once so that its errors show where the real driver shows them. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/api/image.h"
#include "softcuda/device/heap.h"

struct link {
    soft_jit jit; /* the program's arrays, which live until cuLinkDestroy() */
    char *image;
    size_t bytes; /* with a terminating zero */
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

static CUresult add(struct link *link, const void *image, size_t bytes, const char *name)
{
    if (link->image != NULL)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%s is a second input: linking of several is not built",
                         name ? name : "this");
    char *copy = soft_new(bytes + 1);
    if (copy == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    memcpy(copy, image, bytes);
    soft_code *code;
    const CUresult status = soft_image_compile(copy, bytes, &link->jit, &code);
    if (status != CUDA_SUCCESS) {
        soft_delete(copy);
        return status;
    }
    soft_code_release(code);
    link->image = copy;
    link->bytes = bytes + 1;
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

CUresult cuLinkComplete(CUlinkState handle, void **out, size_t *bytes)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    struct link *link;
    SOFT_TRY(find(handle, &link));
    if (out == NULL)
        return is_null("cubinOut");
    if (link->image == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nothing was added to the link");
    *out = link->image;
    if (bytes != NULL)
        *bytes = link->bytes;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState handle)
{
    SOFT_ENTER();
    struct link *link;
    SOFT_TRY(find(handle, &link));
    if (!soft_handle_remove(link, SOFT_KIND_LINK))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is no link", (void *)handle);
    soft_delete(link->image);
    soft_delete(link);
    return CUDA_SUCCESS;
}
