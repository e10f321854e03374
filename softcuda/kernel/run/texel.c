// SPDX-License-Identifier: Apache-2.0
/* Formats of texels, as an H100 reads them:
 *
 *   not filtered   integers divided by their largest, rounded once
 *   filtered       integers of 8 bits become 16 by repeating themselves, sums are rounded
 *                  to 16 bits, halves away from zero, then divided; f16 is rounded to f16
 *
 * sRGB is made linear before it is filtered. */
#include "softcuda/kernel/run/texel.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

float soft_float_from_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u)
        return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return float_of(sign | ((rest << 13) + (112u << 23)));
    const float small = (float)rest * 0x1p-24f;
    return sign ? -small : small;
}

uint16_t soft_half_from_float(float value)
{
    const uint32_t bits = bits_of(value), rest = bits & 0x7fffffffu;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (rest > 0x7f800000u)
        return 0x7fffu;
    if (rest >= 0x47800000u)
        return sign | 0x7c00u;
    if (rest < 0x38800000u) {
        const float half = float_of(rest) + 0.5f; /* its last place is f16's smallest */
        return (uint16_t)(sign | (bits_of(half) - bits_of(0.5f)));
    }
    const uint32_t even = rest >> 13 & 1;
    return (uint16_t)(sign | (((rest + 0xfffu + even) >> 13) - (112u << 10)));
}

soft_texel_words soft_texel_unpack(const soft_texture *t, const unsigned char *bytes)
{
    soft_texel_words out = {{0}};
    const bool is_signed = t->texel == SOFT_TEXEL_SIGNED;
    for (uint32_t i = 0; i < t->channels; i++) {
        const unsigned char *at = bytes + (size_t)i * t->channel_bytes;
        uint16_t half;
        switch (t->channel_bytes) {
        case 1: out.word[i] = is_signed ? (uint32_t)(int8_t)*at : *at; break;
        case 2:
            memcpy(&half, at, sizeof(half));
            out.word[i] = is_signed ? (uint32_t)(int16_t)half : half;
            break;
        default: memcpy(&out.word[i], at, sizeof(out.word[i]));
        }
    }
    return out;
}

uint32_t soft_texel_pack(const soft_texture *t, const soft_texel_words *words,
                         unsigned char *bytes)
{
    for (uint32_t i = 0; i < t->channels; i++)
        memcpy(bytes + (size_t)i * t->channel_bytes, &words->word[i], t->channel_bytes);
    return (uint32_t)t->channels * t->channel_bytes;
}

/* By whether numbers have a sign, and bytes. */
static const double largest[2][3] = {{0, 255, 65535}, {0, 127, 32767}};

static bool is_fixed(const soft_texture *t)
{
    return t->texel != SOFT_TEXEL_FLOAT && t->channel_bytes < 4 && !t->integers;
}

/* Linear light of sRGB's 8 bits; alpha is linear as it is. */
static double light_of(uint32_t word)
{
    const double value = word / 255.0;
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static bool is_light(const soft_texture *t, uint32_t channel)
{
    return t->srgb && channel < 3 && t->channel_bytes == 1 &&
           t->texel == SOFT_TEXEL_UNSIGNED;
}

double soft_texel_filtered(const soft_texture *t, uint32_t word, uint32_t channel)
{
    if (is_light(t, channel))
        return floor(light_of(word) * 65535.0 + 0.5);
    if (t->texel == SOFT_TEXEL_FLOAT)
        return t->channel_bytes == 2 ? soft_float_from_half((uint16_t)word)
                                     : float_of(word);
    if (t->texel == SOFT_TEXEL_UNSIGNED)
        return t->channel_bytes == 1 ? word * 257.0 : word;
    const int value = (int)word;
    if (t->channel_bytes == 2)
        return value < -32767 ? -32767 : value;
    return (value < -127 ? -127 : value) * (32767.0 / 127.0);
}

/* To f32, halves away from zero: the sum's last bits are few enough for a double. */
static float round_away(double value)
{
    const float nearest = (float)value;
    if ((double)nearest == value || isnan(value) || isinf(nearest))
        return nearest;
    const float other =
        nextafterf(nearest, (double)nearest < value ? INFINITY : -INFINITY);
    if (fabs((double)other - value) != fabs((double)nearest - value))
        return nearest;
    return fabsf(other) > fabsf(nearest) ? other : nearest;
}

/* To f16 likewise. */
static uint16_t half_away(double value)
{
    const uint16_t half = soft_half_from_float((float)value);
    const double is = soft_float_from_half(half);
    if ((half & 0x7c00u) == 0x7c00u || fabs(is) >= fabs(value))
        return half;
    const double next = soft_float_from_half((uint16_t)(half + 1));
    return fabs(next) - fabs(value) <= fabs(value) - fabs(is) ? half + 1 : half;
}

float soft_texel_result(const soft_texture *t, double value, uint32_t channel)
{
    (void)channel;
    if (t->texel == SOFT_TEXEL_FLOAT)
        return t->channel_bytes == 2 ? soft_float_from_half(half_away(value))
                                     : round_away(value);
    return (float)(floor(value + 0.5) /
                   (t->texel == SOFT_TEXEL_SIGNED ? 32767.0 : 65535.0));
}

float soft_texel_float(const soft_texture *t, uint32_t word, uint32_t channel)
{
    if (is_light(t, channel))
        return (float)light_of(word);
    if (!is_fixed(t))
        return t->texel == SOFT_TEXEL_FLOAT && t->channel_bytes == 2
                   ? soft_float_from_half((uint16_t)word)
                   : float_of(word);
    const bool is_signed = t->texel == SOFT_TEXEL_SIGNED;
    const double top = largest[is_signed][t->channel_bytes];
    const double value = (is_signed ? (double)(int)word : (double)word) / top;
    return (float)(value < -1 ? -1 : value);
}

uint32_t soft_texel_from_float(const soft_texture *t, uint32_t bits)
{
    if (t->texel == SOFT_TEXEL_FLOAT)
        return t->channel_bytes == 2 ? soft_half_from_float(float_of(bits)) : bits;
    if (t->channel_bytes == 4)
        return bits;
    const bool is_signed = t->texel == SOFT_TEXEL_SIGNED;
    const float value = float_of(bits), least = is_signed ? -1.f : 0.f;
    const float in = value > 1 ? 1 : value >= least ? value : value < least ? least : 0;
    return (uint32_t)(int32_t)floor(in * largest[is_signed][t->channel_bytes] + 0.5);
}

/* To f16, cut off. */
static uint16_t half_cut(float value)
{
    const uint16_t half = soft_half_from_float(value);
    const bool over = fabsf(soft_float_from_half(half)) > fabsf(value);
    return over ? half - 1 : half;
}

uint32_t soft_texel_from_word(const soft_texture *t, uint32_t word)
{
    if (t->texel == SOFT_TEXEL_FLOAT && t->channel_bytes == 2)
        return half_cut(float_of(word));
    if (t->channel_bytes == 4)
        return word;
    const uint32_t bits = 8u * t->channel_bytes;
    if (t->texel == SOFT_TEXEL_UNSIGNED)
        return word > (1u << bits) - 1 ? (1u << bits) - 1 : word;
    const int32_t most = (int32_t)(1u << (bits - 1)) - 1, value = (int32_t)word;
    return (uint32_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}
