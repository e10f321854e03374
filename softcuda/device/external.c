// SPDX-License-Identifier: Apache-2.0
/* External memory: a file that was given to the driver. */
#include "softcuda/device/external.h"

#include <fcntl.h>
#include <unistd.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/array.h"
#include "softcuda/memory/filemem.h"

struct external {
    soft_external memory;
    unsigned flags;
};

/* As an H200 judges on Linux: objects of Windows and NvSciBuf are refused as values, dma-bufs are for
 * other devices. */
static CUresult check_desc(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    if (desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD && desc->handle.fd >= 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "a dma-buf as such; import it with "
                         "CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD");
    if (desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "external memory of type %d, not "
                         "CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD",
                         (int)desc->type);
    if ((desc->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x, not 0 or CUDA_EXTERNAL_MEMORY_DEDICATED",
                         desc->flags);
    if (desc->size == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "external memory of 0 bytes");
    return CUDA_SUCCESS;
}

int soft_external_keep(int file)
{
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

CUresult soft_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                              CUexternalMemory *out)
{
    soft_external opened;
    SOFT_TRY(check_desc(desc));
    SOFT_TRY(soft_pass(
        soft_external_open(desc->handle.fd, desc->size, &opened, soft_error())));
    struct external *external = soft_new(sizeof(*external));
    SOFT_TRY(soft_made(external, "no memory for external memory"));
    external->memory = opened;
    external->flags = desc->flags;
    external->memory.file = soft_external_keep(desc->handle.fd);
    CUresult status = CUDA_SUCCESS;
    if (external->memory.file < 0)
        status = soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                           "the system refuses one more file descriptor");
    else
        status = soft_handle_add(external, SOFT_KIND_EXTERNAL_MEMORY);
    if (status != CUDA_SUCCESS) {
        if (external->memory.file >= 0)
            close(external->memory.file);
        soft_delete(external);
        return status;
    }
    close(desc->handle.fd);
    *out = (CUexternalMemory)external;
    return CUDA_SUCCESS;
}

static SOFT_FINDER(find, CUexternalMemory, struct external, SOFT_KIND_EXTERNAL_MEMORY,
                   CUDA_ERROR_INVALID_VALUE, "external memory")

    CUresult soft_external_destroy(CUexternalMemory handle)
{
    struct external *external;
    SOFT_TRY(find(handle, &external));
    if (!soft_handle_remove(external, SOFT_KIND_EXTERNAL_MEMORY))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is not external memory",
                         (void *)handle);
    close(external->memory.file);
    soft_delete(external);
    return CUDA_SUCCESS;
}

CUresult soft_external_buffer(soft_context *context, CUexternalMemory handle,
                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc,
                              CUdeviceptr *out)
{
    struct external *external;
    uint64_t address;
    SOFT_TRY(find(handle, &external));
    if (desc->flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", desc->flags);
    if (desc->offset != 0 && (external->flags & CUDA_EXTERNAL_MEMORY_DEDICATED) != 0)
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            "a buffer from byte %llu on: dedicated memory is mapped from its "
            "begin",
            desc->offset);
    SOFT_TRY(soft_pass(soft_external_map(context->device->memory, &external->memory,
                                         desc->offset, desc->size, context, &address,
                                         soft_error())));
    *out = address;
    return CUDA_SUCCESS;
}

CUresult soft_external_levels(soft_context *context, CUexternalMemory handle,
                              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                              CUmipmappedArray *out)
{
    struct external *external;
    uint64_t address, bytes;
    SOFT_TRY(find(handle, &external));
    if (desc->numLevels == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a mipmapped array of 0 levels");
    SOFT_TRY(soft_levels_bytes(&desc->arrayDesc, desc->numLevels, &bytes));
    soft_memory *memory = context->device->memory;
    SOFT_TRY(soft_pass(soft_external_map(memory, &external->memory, desc->offset, bytes,
                                         context, &address, soft_error())));
    const CUresult status =
        soft_levels_view(context, &desc->arrayDesc, desc->numLevels, address, out);
    if (status != CUDA_SUCCESS && soft_memory_free(memory, address, NULL) != GPH_OK)
        soft_log(CU_LOG_LEVEL_WARNING, "external memory at 0x%llx stays mapped",
                 (unsigned long long)address);
    return status;
}
