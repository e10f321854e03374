// SPDX-License-Identifier: Apache-2.0
/* The arrays and the memory that texture_test asks about, with their content. */
#ifndef TEXTURE_RESOURCE_H
#define TEXTURE_RESOURCE_H
#include "texture_kernel.h"

#include "driver.h"

#define HOST_BYTES_MAX 8192u

struct question {
    const struct form *form;
    enum resource resource;
    enum format format;
    CUDA_TEXTURE_DESC texture;
    bool is_surface, stores; /* what the resource then holds is the answer */
    unsigned points;
};

static uint32_t in[POINTS][COORDINATES];
static unsigned char out[HOST_BYTES_MAX], expected[HOST_BYTES_MAX];
static unsigned char content[5 * HOST_BYTES_MAX];

/* ---- resources with a content ---- */

/* Ordinary numbers: floats around zero, halfs of seven exponents, all integers. */
static void fill_channel(unsigned char *to, const struct format_facts *format,
                         uint64_t *state)
{
    uint32_t word = draw(state);
    if (format->format == CU_AD_FORMAT_FLOAT) {
        const float value = (float)((int)(word % 20001) - 10000) / 997.f;
        memcpy(&word, &value, sizeof(word));
    } else if (format->format == CU_AD_FORMAT_HALF) {
        word = (word & 0x83ffu) | ((12 + word % 7) << 10);
    }
    memcpy(to, &word, format->bytes);
}

struct box {
    size_t width, height, depth, row; /* of `row` bytes */
};

static struct box box_of(const struct question *q, unsigned level)
{
    const struct resource_facts *r = &resources[q->resource];
    const struct format_facts *f = &formats[q->format];
    const bool layered = (r->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    const unsigned w = r->width >> level, h = r->height >> level;
    const unsigned d = layered ? r->depth : r->depth >> level;
    struct box box = {w ? w : 1, h ? h : 1, d ? d : 1, 0};
    box.row = box.width * f->channels * f->bytes;
    return box;
}

static void fill_content(const struct question *q, size_t bytes, unsigned level)
{
    const struct format_facts *f = &formats[q->format];
    uint64_t state = 88172645463325252ull + 1000u * q->resource + 10u * level + q->format;
    for (unsigned i = 0; i < 8; i++)
        (void)draw(&state);
    for (size_t i = 0; i < bytes; i += f->bytes)
        fill_channel(content + i, f, &state);
}

static CUresult fill_array(const struct question *q, CUarray array, unsigned level)
{
    const struct box box = box_of(q, level);
    fill_content(q, box.row * box.height * box.depth, level);
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = content,
                                .srcPitch = box.row,
                                .srcHeight = box.height,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = box.row,
                                .Height = box.height,
                                .Depth = box.depth};
    return cu.cuMemcpy3D(&copy);
}

static CUresult read_array(const struct question *q, CUarray array, size_t *bytes)
{
    const struct box box = box_of(q, 0);
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = array,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = out,
                                .dstPitch = box.row,
                                .dstHeight = box.height,
                                .WidthInBytes = box.row,
                                .Height = box.height,
                                .Depth = box.depth};
    *bytes = box.row * box.height * box.depth;
    return cu.cuMemcpy3D(&copy);
}

struct made {
    CUarray array;
    CUmipmappedArray levels;
    CUdeviceptr memory;
    CUDA_RESOURCE_DESC desc;
};

static CUresult make_memory(const struct question *q, struct made *m)
{
    const struct format_facts *f = &formats[q->format];
    const struct box box = box_of(q, 0);
    const bool flat = q->resource == R_LINEAR;
    const size_t pitch = flat ? box.row : 512;
    CUresult status = cu.cuMemAlloc(&m->memory, pitch * box.height);
    if (status != CUDA_SUCCESS)
        return status;
    fill_content(q, box.row * box.height, 0);
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = content,
                                .srcPitch = box.row,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = m->memory,
                                .dstPitch = pitch,
                                .WidthInBytes = box.row,
                                .Height = box.height};
    if (flat) {
        m->desc.resType = CU_RESOURCE_TYPE_LINEAR;
        m->desc.res.linear.devPtr = m->memory;
        m->desc.res.linear.format = f->format;
        m->desc.res.linear.numChannels = f->channels;
        m->desc.res.linear.sizeInBytes = box.row;
    } else {
        m->desc.resType = CU_RESOURCE_TYPE_PITCH2D;
        m->desc.res.pitch2D.devPtr = m->memory;
        m->desc.res.pitch2D.format = f->format;
        m->desc.res.pitch2D.numChannels = f->channels;
        m->desc.res.pitch2D.width = box.width;
        m->desc.res.pitch2D.height = box.height;
        m->desc.res.pitch2D.pitchInBytes = pitch;
    }
    return cu.cuMemcpy2D(&copy);
}

static CUresult make_levels(const struct question *q, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            struct made *m)
{
    const unsigned levels = resources[q->resource].levels;
    CUresult status = cu.cuMipmappedArrayCreate(&m->levels, desc, levels);
    for (unsigned i = 0; i < levels && status == CUDA_SUCCESS; i++) {
        CUarray level;
        status = cu.cuMipmappedArrayGetLevel(&level, m->levels, i);
        if (status == CUDA_SUCCESS)
            status = fill_array(q, level, i);
    }
    m->desc.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    m->desc.res.mipmap.hMipmappedArray = m->levels;
    return status;
}

static bool gathers(const struct question *q)
{
    return strncmp(q->form->name, "tld4", 4) == 0;
}

static CUresult make(const struct question *q, struct made *m)
{
    const struct resource_facts *r = &resources[q->resource];
    const struct format_facts *f = &formats[q->format];
    if (q->resource == R_LINEAR || q->resource == R_PITCH)
        return make_memory(q, m);
    const CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = r->width,
        .Height = r->height,
        .Depth = r->depth,
        .Format = f->format,
        .NumChannels = f->channels,
        .Flags = r->flags | (q->is_surface ? CUDA_ARRAY3D_SURFACE_LDST : 0u) |
                 (gathers(q) && q->resource == R_2D ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u)};
    if (r->levels > 0)
        return make_levels(q, &desc, m);
    const CUresult status = cu.cuArray3DCreate(&m->array, &desc);
    m->desc.resType = CU_RESOURCE_TYPE_ARRAY;
    m->desc.res.array.hArray = m->array;
    return status == CUDA_SUCCESS ? fill_array(q, m->array, 0) : status;
}

static void destroy(const struct made *m)
{
    if (m->array)
        (void)cu.cuArrayDestroy(m->array);
    if (m->levels)
        (void)cu.cuMipmappedArrayDestroy(m->levels);
    if (m->memory)
        (void)cu.cuMemFree(m->memory);
}

#endif
