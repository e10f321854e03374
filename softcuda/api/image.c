// SPDX-License-Identifier: Apache-2.0
/* From a module image to code, with the options and log buffers of the JIT.
 *
 * What comes is looked at, not trusted: PTX as text, or a fatbin that holds some.
 * Options that only tune a GPU's compiler are taken and dropped; those that name buffers
 * are filled, on failure as well. */
#include "softcuda/api/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "softcuda/device/alloc.h"

#define IMAGE_LIMIT ((off_t)1 << 30)

CUresult soft_jit_read(soft_jit *out, unsigned count, CUjit_option *options,
                       void **values)
{
    if (count != 0 && (!options || !values))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u JIT options at %p, values at %p",
                         count, (void *)options, (void *)values);
    for (unsigned i = 0; i < count; i++)
        if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a JIT option",
                             (int)options[i]);
    *out = (soft_jit){.count = count, .options = options, .values = values};
    return CUDA_SUCCESS;
}

void **soft_jit_value(const soft_jit *jit, CUjit_option option)
{
    for (unsigned i = 0; jit && i < jit->count; i++)
        if (jit->options[i] == option)
            return &jit->values[i];
    return NULL;
}

/* The size goes in as the room of the buffer and comes back as what was written. */
static void write_log(const soft_jit *jit, CUjit_option buffer_option,
                      CUjit_option size_option, const char *text)
{
    void **buffer = soft_jit_value(jit, buffer_option);
    void **size = soft_jit_value(jit, size_option);
    if (!size)
        return;
    const size_t room = (size_t)(uintptr_t)*size & 0xffffffffu;
    size_t written = 0;
    if (buffer && *buffer && room != 0) {
        written = strlen(text) < room - 1 ? strlen(text) : room - 1;
        memcpy(*buffer, text, written);
        ((char *)*buffer)[written] = '\0';
        if (written != 0)
            written++; /* the NUL counts, as it does there */
    }
    *size = (void *)(uintptr_t)written;
}

static void write_wall_time(const soft_jit *jit, uint64_t ns)
{
    void **value = soft_jit_value(jit, CU_JIT_WALL_TIME);
    const float ms = (float)((double)ns / 1e6);
    if (value)
        memcpy(value, &ms, sizeof(ms));
}

void soft_image_log(const soft_jit *jit, const char *error)
{
    write_log(jit, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    write_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
}

bool soft_loads_eagerly(void)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");
    return mode && strcmp(mode, "EAGER") == 0;
}

CUresult soft_image_compile(const void *image, size_t bytes, const soft_jit *jit,
                            soft_code **out)
{
    soft_code_options options;
    soft_code_options_init(&options);
    options.allocator = soft_allocator();
    options.eager = soft_loads_eagerly();
    if (soft_device_count() > 1) /* device/peer.h asks before each access */
        options.check_memory = 1;
    soft_code *code = NULL;
    const uint64_t begin = gphi_clock_ns();
    const gph_status status =
        soft_code_create(image, bytes, &options, &code, soft_error());
    write_wall_time(jit, gphi_clock_ns() - begin);
    write_log(jit, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
              status == GPH_OK ? soft_code_info(code) : "");
    write_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
              status == GPH_OK ? "" : soft_error_text());
    if (status != GPH_OK)
        return soft_pass(status);
    *out = code;
    return CUDA_SUCCESS;
}

static CUresult read_all(int file, const char *path, void **out, size_t *bytes)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return soft_fail(CUDA_ERROR_FILE_NOT_FOUND, "%s is not a file", path);
    if (info.st_size > IMAGE_LIMIT)
        return soft_fail(CUDA_ERROR_INVALID_IMAGE, "%s has %lld bytes, more than %lld",
                         path, (long long)info.st_size, (long long)IMAGE_LIMIT);
    const size_t size = (size_t)info.st_size;
    char *image = soft_new(size + 1);
    SOFT_TRY(soft_made(image, "no memory for the %zu bytes of %s", size, path));
    size_t got = 0;
    while (got < size) {
        const ssize_t more = read(file, image + got, size - got);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    if (got < size) {
        soft_delete(image);
        return soft_fail(CUDA_ERROR_OPERATING_SYSTEM, "%s: %zu of %zu bytes were read",
                         path, got, size);
    }
    *out = image;
    *bytes = size;
    return CUDA_SUCCESS;
}

CUresult soft_image_read(const char *path, void **out, size_t *bytes)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return soft_fail(CUDA_ERROR_FILE_NOT_FOUND, "%s: %s", path, strerror(errno));
    const CUresult status = read_all(file, path, out, bytes);
    close(file);
    return status;
}

void soft_image_free(void *image)
{
    soft_delete(image);
}
