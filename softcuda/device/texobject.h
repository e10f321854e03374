// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects: CUDA's descriptors checked and kept, and made what kernels
 * read by (softcuda/kernel/run/texture.h). A handle is of one kind or the other. */
#ifndef SOFT_DEVICE_TEXOBJECT_H
#define SOFT_DEVICE_TEXOBJECT_H
#include "softcuda/device/context.h"

/* What an object was made of. */
typedef struct soft_texture_desc {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool is_surface, has_view;
} soft_texture_desc;

/* `desc->texture` and `view` mean nothing for a surface. Thread: any. */
CUresult soft_texture_create(soft_context *context, const soft_texture_desc *desc,
                             unsigned long long *out);
/* A handle of nothing is none to destroy, as on a GPU: nothing happens. Kernels that still
 * run go on reading it. */
void soft_texture_destroy(unsigned long long handle, bool is_surface);
/* INVALID_VALUE for what is not one of the kind. */
CUresult soft_texture_describe(unsigned long long handle, bool is_surface,
                               soft_texture_desc *out);
#endif
