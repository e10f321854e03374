// SPDX-License-Identifier: Apache-2.0
/* Loads, stores and reductions of surfaces. The first coordinate counts bytes, of the forms
 * that know the format (.p) elements. Outside, .trap is a fault of the kernel, .clamp takes
 * the nearest inside, .zero reads nothing but zeros and drops what is stored. */
#include <string.h>

#include "softcuda/kernel/run/texel.h"

/* Where an access goes. */
struct spot {
    uint64_t address;
    bool outside;
};

/* One coordinate, of `size` places: what .clamp makes of it. */
static uint64_t bounded(uint32_t word, uint64_t size, struct spot *s)
{
    const int32_t at = (int32_t)word;
    if (at >= 0 && (uint64_t)at < size)
        return (uint64_t)at;
    s->outside = true;
    return at < 0 ? 0 : size - 1;
}

/* Negative layers are large. */
static uint64_t layer_of(uint32_t word, uint32_t layers, struct spot *s)
{
    s->outside = s->outside || word >= layers;
    return word >= layers ? layers - 1 : word;
}

static struct spot spot_of(const soft_texture *t, const ptx_texture *form, uint32_t bytes,
                           const uint32_t words[PTX_TEXTURE_WORDS])
{
    const ptx_geometry g = (ptx_geometry)form->geometry;
    const soft_texture_level *level = &t->level[0];
    const bool layered = g == PTX_GEOMETRY_A1D || g == PTX_GEOMETRY_A2D;
    const bool is_row = g == PTX_GEOMETRY_1D || g == PTX_GEOMETRY_A1D;
    const uint32_t texel = (uint32_t)t->channels * t->channel_bytes;
    const uint32_t *at = words + layered;
    struct spot s = {0, false};
    uint64_t x;
    if (form->by_element) {
        x = bounded(at[0], level->width, &s) * texel;
    } else {
        const uint64_t row = (uint64_t)level->width * texel;
        x = bounded(at[0], row < bytes ? 0 : row - bytes + 1, &s);
    }
    const uint64_t y = is_row ? 0 : bounded(at[1], level->height, &s);
    uint64_t plane = 0;
    if (layered)
        plane = layer_of(words[0], t->layers ? t->layers : 1, &s);
    else if (g == PTX_GEOMETRY_3D)
        plane = bounded(at[2], level->depth, &s);
    s.address = level->base + plane * level->slice + y * level->pitch + x;
    return s;
}

/* ---- reductions ---- */

static uint32_t reduced(ptx_texture_reduce how, uint32_t old, uint32_t by)
{
    switch (how) {
    case PTX_REDUCE_ADD: return old + by;
    case PTX_REDUCE_MIN_S32: return (int32_t)by < (int32_t)old ? by : old;
    case PTX_REDUCE_MAX_S32: return (int32_t)by > (int32_t)old ? by : old;
    case PTX_REDUCE_MIN_U32: return by < old ? by : old;
    case PTX_REDUCE_MAX_U32: return by > old ? by : old;
    case PTX_REDUCE_AND: return old & by;
    default: return old | by;
    }
}

/* Other threads may reduce the same word. */
static void reduce(const soft_texels *texels, ptx_texture_reduce how, uint64_t address,
                   const uint32_t data[4])
{
    if (how == PTX_REDUCE_ADD_64) {
        uint64_t *word = texels->word(texels->user, address, 8);
        __atomic_fetch_add(word, data[0] | (uint64_t)data[1] << 32, __ATOMIC_RELAXED);
        return;
    }
    uint32_t *word = texels->word(texels->user, address, 4);
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, reduced(how, old, data[0]), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* ---- stores that convert ---- */

static void put(const soft_texture *t, const soft_texels *texels, uint64_t address,
                const uint32_t data[4])
{
    soft_texel_words words;
    unsigned char bytes[16];
    for (uint32_t i = 0; i < 4; i++)
        words.word[i] = soft_texel_from_word(t, data[i]);
    texels->write(texels->user, address, bytes, soft_texel_pack(t, &words, bytes));
}

bool soft_surface_run(const soft_texture *texture, const ptx_texture *form,
                      const soft_texels *texels, const uint32_t words[PTX_TEXTURE_WORDS],
                      uint32_t out[4])
{
    const uint32_t *data = words + 4;
    memset(out, 0, 4 * sizeof(*out));
    const struct spot s = spot_of(texture, form, form->bytes ? form->bytes : 1, words);
    if (s.outside && form->mode != PTX_SURFACE_CLAMP)
        return form->mode == PTX_SURFACE_ZERO;
    switch ((ptx_texture_op)form->op) {
    case PTX_SURFACE_LOAD: texels->read(texels->user, s.address, out, form->bytes); break;
    case PTX_SURFACE_STORE:
        texels->write(texels->user, s.address, data, form->bytes);
        break;
    case PTX_SURFACE_PUT: put(texture, texels, s.address, data); break;
    default: reduce(texels, (ptx_texture_reduce)form->reduce, s.address, data);
    }
    return true;
}
