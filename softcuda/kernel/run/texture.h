// SPDX-License-Identifier: Apache-2.0
/* What a texture or surface object refers to, and reading it as an H100 does.
 *
 *   device/texobject.c: CUDA's descriptors --> soft_texture --+
 *                                                           +--> a table by handle
 *   ptx_rt_texture(), of a kernel: handle, words -----------+    (any thread, no lock)
 *
 * The arithmetic knows nothing of kernels: texels come through a function. */
#ifndef SOFT_KERNEL_RUN_TEXTURE_H
#define SOFT_KERNEL_RUN_TEXTURE_H

#include <gph/base.h>
#include <stdbool.h>
#include <stdint.h>

#include "softcuda/ptx/textureform.h"

#define SOFT_TEXTURE_LEVELS 18u /* of 131072 */

typedef enum soft_texel {
    SOFT_TEXEL_UNSIGNED,
    SOFT_TEXEL_SIGNED,
    SOFT_TEXEL_FLOAT
} soft_texel;

/* Numbers of CUDA's CUaddress_mode. */
enum { SOFT_WRAP, SOFT_CLAMP, SOFT_MIRROR, SOFT_BORDER };

typedef struct soft_texture_level {
    uint64_t base; /* address of its first texel */
    uint64_t pitch,
        slice; /* bytes from row to row, and from plane (layer, face) to plane */
    uint32_t width, height, depth; /* 1 at least */
} soft_texture_level;

typedef struct soft_texture {
    soft_texture_level level[SOFT_TEXTURE_LEVELS];
    uint32_t levels;
    uint32_t layers; /* planes of a layered or cube resource; 0: neither */
    uint32_t border[4];
    float bias, least, most; /* of levels */
    uint8_t texel;           /* soft_texel */
    uint8_t channels, channel_bytes;
    uint8_t modes[3];
    bool is_surface, is_cube, is_memory; /* memory: one row without an array */
    bool is_row, is_flat;                /* one dimension; no depth */
    bool normalized, linear, linear_levels, integers, srgb;
} soft_texture;

/* Reads or writes `bytes` at an address; does not return where that faults. */
typedef struct soft_texels {
    void (*read)(void *user, uint64_t address, void *to, uint32_t bytes);
    void (*write)(void *user, uint64_t address, const void *from, uint32_t bytes);
    /* Of a word that others change meanwhile: where it is, which can be written. */
    void *(*word)(void *user, uint64_t address, uint32_t bytes);
    void *user;
} soft_texels;

/* One instruction. `words` as texture.h (of softcuda/ptx) says; `out` gets its results.
 * False: a surface was accessed outside with .trap. */
bool soft_texture_run(const soft_texture *texture, const ptx_texture *form,
                      const soft_texels *texels, const uint32_t words[PTX_TEXTURE_WORDS],
                      uint32_t out[4]);

/* Surfaces alone: see soft_texture_run(). */
bool soft_surface_run(const soft_texture *texture, const ptx_texture *form,
                      const soft_texels *texels, const uint32_t words[PTX_TEXTURE_WORDS],
                      uint32_t out[4]);

uint16_t soft_half_from_float(float value);
float soft_float_from_half(uint16_t half);

/* ---- objects by handle ------------------------------------------------------------- */

/* A handle for a copy of `texture`; 0: no memory, or 2^16 are there. Thread: any. */
uint64_t soft_texture_add(const soft_texture *texture);
/* False: there is none. Kernels that still run go on reading it, as on a GPU: its place is
 * given away again only after many others. */
bool soft_texture_remove(uint64_t handle);
/* NULL: there never was one. *alive (may be NULL): it was not removed. No lock. */
const soft_texture *soft_texture_find(uint64_t handle, bool *alive);

#endif
