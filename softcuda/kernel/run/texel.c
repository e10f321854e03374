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

/* Linear light of sRGB's 8 bits in 2^-15, as an H200 reads it: its table is coarser than f16
 * and not sRGB's curve rounded. Alpha is linear as it is. */
static const uint16_t lights[256] = {
    0,     10,    20,    30,    40,    50,    60,    70,    80,    90,    100,   110,
    120,   132,   144,   156,   170,   184,   198,   214,   230,   246,   262,   280,
    300,   318,   338,   360,   380,   402,   426,   448,   472,   500,   524,   552,
    580,   608,   636,   664,   696,   728,   760,   792,   824,   860,   896,   932,
    968,   1008,  1048,  1088,  1128,  1168,  1208,  1248,  1296,  1344,  1384,  1432,
    1480,  1528,  1576,  1632,  1680,  1728,  1792,  1840,  1888,  1952,  2000,  2064,
    2128,  2176,  2240,  2304,  2368,  2432,  2496,  2560,  2624,  2704,  2768,  2832,
    2912,  2976,  3056,  3120,  3200,  3280,  3344,  3424,  3504,  3584,  3664,  3744,
    3840,  3904,  4000,  4096,  4160,  4256,  4352,  4448,  4544,  4640,  4736,  4832,
    4928,  5024,  5120,  5216,  5312,  5408,  5504,  5632,  5728,  5824,  5952,  6048,
    6144,  6272,  6368,  6496,  6592,  6720,  6848,  6944,  7072,  7200,  7328,  7424,
    7552,  7680,  7808,  7936,  8064,  8192,  8320,  8448,  8576,  8704,  8832,  9024,
    9152,  9280,  9408,  9536,  9728,  9856,  9984,  10112, 10304, 10432, 10560, 10752,
    10880, 11072, 11200, 11392, 11520, 11648, 11840, 12032, 12160, 12352, 12480, 12672,
    12800, 12992, 13184, 13376, 13504, 13696, 13888, 14016, 14208, 14400, 14592, 14784,
    14976, 15168, 15360, 15488, 15744, 15872, 16128, 16256, 16512, 16640, 16896, 17024,
    17280, 17536, 17664, 17920, 18048, 18304, 18560, 18688, 18944, 19200, 19328, 19584,
    19840, 19968, 20224, 20480, 20608, 20864, 21120, 21376, 21632, 21760, 22016, 22272,
    22528, 22784, 22912, 23168, 23424, 23680, 23936, 24192, 24448, 24704, 24960, 25216,
    25472, 25728, 25984, 26240, 26496, 26752, 27008, 27264, 27520, 27776, 28032, 28288,
    28544, 28800, 29056, 29312, 29696, 29952, 30208, 30464, 30720, 30976, 31232, 31488,
    32000, 32256, 32512, 32768,
};

static double light_of(uint32_t word)
{
    return lights[word & 255] * 0x1p-15;
}

/* Of two channels the second is not a color. */
static bool is_light(const soft_texture *t, uint32_t channel)
{
    return t->srgb && channel < (t->channels == 2 ? 1u : 3u) && t->channel_bytes == 1 &&
           t->texel == SOFT_TEXEL_UNSIGNED;
}

double soft_texel_filtered(const soft_texture *t, uint32_t word, uint32_t channel)
{
    if (is_light(t, channel))
        return light_of(word);
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
    if (is_light(t, channel))
        return soft_float_from_half(half_away(value));
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
