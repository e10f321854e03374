// SPDX-License-Identifier: Apache-2.0
/* Texels as numbers and back. */
#ifndef SOFT_KERNEL_RUN_TEXEL_H
#define SOFT_KERNEL_RUN_TEXEL_H

#include "softcuda/kernel/run/texture.h"

/* The channels of a texel as its resource stores them. */
typedef struct soft_texel_words {
    uint32_t word[4]; /* sign-extended; floats by their bits, f16 in the low half */
} soft_texel_words;

/* Takes them out of the texel's bytes; channels that it lacks are 0. */
soft_texel_words soft_texel_unpack(const soft_texture *t, const unsigned char *bytes);
/* Back, and the bytes of a texel. */
uint32_t soft_texel_pack(const soft_texture *t, const soft_texel_words *words,
                         unsigned char *bytes);

/* A channel as the filter sees it: 16 bits of a fixed point for 8 and 16 bit integers,
 * else the float. */
double soft_texel_filtered(const soft_texture *t, uint32_t word, uint32_t channel);
/* What the filter made of it, in 1/256 or not, as the f32 that a fetch gives. */
float soft_texel_result(const soft_texture *t, double value, uint32_t channel);
/* One channel without a filter, as f32. */
float soft_texel_float(const soft_texture *t, uint32_t word, uint32_t channel);
/* A channel from f32 to what the resource stores: of a border. */
uint32_t soft_texel_from_float(const soft_texture *t, uint32_t bits);
/* A channel of sust.p: integers are cut to what fits, floats converted. */
uint32_t soft_texel_from_word(const soft_texture *t, uint32_t word);

#endif
