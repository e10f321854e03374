// SPDX-License-Identifier: Apache-2.0
/* From a module image to code, with the options and log buffers of the JIT. */
#ifndef SOFT_API_IMAGE_H
#define SOFT_API_IMAGE_H
#include "softcuda/device/context.h"
#include "softcuda/kernel/load/code.h"

/* The options that matter here; the program's arrays, borrowed. */
typedef struct soft_jit {
    unsigned count;
    CUjit_option *options;
    void **values;
} soft_jit;

/* Checks the options. */
CUresult soft_jit_read(soft_jit *out, unsigned count, CUjit_option *options,
                       void **values);

/* Where an option's value is; NULL if it was not given. */
void **soft_jit_value(const soft_jit *jit, CUjit_option option);

/* `jit` may be NULL; its log buffers and times are filled, on failure too. */
CUresult soft_image_compile(const void *image, size_t bytes, const soft_jit *jit,
                            soft_code **out);

/* CUDA_MODULE_LOADING is EAGER. */
bool soft_loads_eagerly(void);

/* The error log alone, of what is not compiled. */
void soft_image_log(const soft_jit *jit, const char *error);

/* A file as an image, NUL-terminated; soft_image_free(). FILE_NOT_FOUND. */
CUresult soft_image_read(const char *path, void **out, size_t *bytes);
void soft_image_free(void *image);
#endif
