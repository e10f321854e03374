// SPDX-License-Identifier: Apache-2.0
/* Fetches of textures, bit by bit as an H100 does them:
 *
 *   coordinates   normalized ones are cut off to 21 bits after the point, then multiplied
 *                 by the size; texels are numbered by their floor. A filter takes half a
 *                 texel off and rounds to 8 bits, the weights
 *   weights       of 8 bits: those of both planes are split by x, halves up, then by y,
 *                 halves toward the first row where x is the first column
 *   a row         is a plane of one row, read at y = 0: with a border half of it counts
 *
 * Formats are texel.c's. */
#include "softcuda/kernel/run/texture.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "softcuda/kernel/run/texel.h"

#define UNIT 256 /* of a weight */
#define FLOAT_BITS 28
#define HALF_BITS 15

/* A coordinate along one axis: two texels (the same without a filter), -1 for the
 * border, and the weight of the second. */
struct axis {
    int32_t at[2];
    int32_t weight;
};

struct fetch {
    const soft_texture *t;
    const ptx_texture *form;
    const soft_texels *texels;
    bool linear;
};

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* ---- coordinates ------------------------------------------------------------------- */

#define FAR 0x1p40 /* texels: beyond all sizes, and exact in a double */

/* floor() of what is below 2^62: most processors that this is built for have no instruction
 * for it. */
static double floor_of(double value)
{
    const int64_t whole = (int64_t)value;
    return (double)(whole - (value < (double)whole));
}

/* Where a coordinate points, in texels. Without normalization only clamp and border
 * exist. */
static double place_of(const soft_texture *t, float x, uint32_t size, uint32_t mode)
{
    if (isnan(x))
        return 0;
    const bool repeats = t->normalized && (mode == SOFT_WRAP || mode == SOFT_MIRROR);
    if (repeats && fabsf(x) >= 0x1p23f)
        return 0; /* no fraction, and even */
    if (isinf(x) || fabsf(x) > FAR)
        return x < 0 ? -FAR : FAR;
    return t->normalized ? floor_of((double)x * 0x1p21) * 0x1p-21 * size : (double)x;
}

static int32_t texel_at(double at, uint32_t size, uint32_t mode, bool repeats)
{
    const double n = size;
    if (mode == SOFT_BORDER)
        return at < 0 || at >= n ? -1 : (int32_t)at;
    if (!repeats)
        return at < 0 ? 0 : at >= n ? (int32_t)size - 1 : (int32_t)at;
    if (mode == SOFT_WRAP)
        return (int32_t)(at - floor_of(at / n) * n);
    const double in = at - floor_of(at / (2 * n)) * 2 * n;
    return (int32_t)(in >= n ? 2 * n - 1 - in : in);
}

/* Integers have no address mode: nothing is outside; with a level the nearest is. */
static struct axis integer_axis(const struct fetch *f, uint32_t word, uint32_t size)
{
    const int32_t at = word < size                        ? (int32_t)word
                       : f->form->op != PTX_TEXTURE_LEVEL ? -1
                       : (int32_t)word < 0                ? 0
                                                          : (int32_t)size - 1;
    return (struct axis){{at, at}, 0};
}

static struct axis axis_of(const struct fetch *f, uint32_t word, uint32_t size,
                           uint32_t nth)
{
    const soft_texture *t = f->t;
    const uint32_t mode = t->modes[nth];
    const bool repeats = t->normalized && (mode == SOFT_WRAP || mode == SOFT_MIRROR);
    if (f->form->is_integer)
        return integer_axis(f, word, size);
    const double u = place_of(t, float_of(word), size, mode);
    if (!f->linear) {
        const bool is_inside = u >= 0 && u < size; /* whatever the mode is */
        const int32_t at =
            is_inside ? (int32_t)u : texel_at(floor_of(u), size, mode, repeats);
        return (struct axis){{at, at}, 0};
    }
    const double fixed = floor_of((u - 0.5) * UNIT + 0.5), first = floor_of(fixed / UNIT);
    struct axis a = {
        {texel_at(first, size, mode, repeats), texel_at(first + 1, size, mode, repeats)},
        (int32_t)(fixed - first * UNIT)};
    if (a.at[0] == a.at[1] && (!repeats && mode != SOFT_BORDER))
        a.weight = 0; /* clamped */
    return a;
}

/* ---- weights ------------------------------------------------------------------------ */

/* Splits `whole`: what the second of two gets of it, halves up. */
static int32_t part_of(int32_t whole, int32_t weight)
{
    return (whole * weight + UNIT / 2) / UNIT;
}

/* Of the eight texels of a level, x fastest, then y, then z; `whole` altogether. */
static void weigh(const struct axis a[3], int32_t whole, int32_t weights[8])
{
    const int32_t far = part_of(whole, a[2].weight);
    const int32_t planes[2] = {whole - far, far};
    for (int k = 0; k < 2; k++) {
        const int32_t right = part_of(planes[k], a[0].weight);
        const int32_t columns[2] = {planes[k] - right, right};
        for (int i = 0; i < 2; i++) {
            const int32_t high = (columns[i] * a[1].weight + UNIT / 2 - !i) / UNIT;
            weights[4 * k + i] = columns[i] - high;
            weights[4 * k + 2 + i] = high;
        }
    }
}

/* ---- texels -------------------------------------------------------------------------- */

/* Whether results are numbers between -1 and 1, or floats; else the words as they are. */
static bool gives_floats(const soft_texture *t)
{
    return t->texel == SOFT_TEXEL_FLOAT || (!t->integers && t->channel_bytes < 4);
}

/* The border's color as a texel of the format. */
static soft_texel_words border_of(const struct fetch *f)
{
    const soft_texture *t = f->t;
    soft_texel_words words = {{0}};
    unsigned char bytes[16];
    if (f->form->is_integer)
        return words; /* no address mode: zeros */
    for (uint32_t i = 0; i < t->channels; i++)
        words.word[i] =
            gives_floats(t) ? soft_texel_from_float(t, t->border[i]) : t->border[i];
    (void)soft_texel_pack(t, &words, bytes); /* what the format holds of it */
    return soft_texel_unpack(t, bytes);
}

static soft_texel_words texel_of(const struct fetch *f, const soft_texture_level *level,
                                 int32_t x, int32_t y, uint32_t plane)
{
    const soft_texture *t = f->t;
    unsigned char bytes[16] = {0};
    const uint32_t size = (uint32_t)t->channels * t->channel_bytes;
    f->texels->read(f->texels->user,
                    level->base + plane * level->slice + (uint64_t)y * level->pitch +
                        (uint64_t)x * size,
                    bytes, size);
    return soft_texel_unpack(t, bytes);
}

struct spot {
    struct axis a[3];
    uint32_t plane[2]; /* of z */
};

static soft_texel_words texel_at_spot(const struct fetch *f,
                                      const soft_texture_level *level,
                                      const struct spot *s)
{
    if (s->a[0].at[0] < 0 || s->a[1].at[0] < 0 || s->a[2].at[0] < 0)
        return border_of(f);
    return texel_of(f, level, s->a[0].at[0], s->a[1].at[0], s->plane[0]);
}

static void fetch_point(const struct fetch *f, const soft_texture_level *level,
                        const struct spot *s, uint32_t out[4])
{
    const soft_texture *t = f->t;
    const soft_texel_words w = texel_at_spot(f, level, s);
    for (uint32_t i = 0; i < 4; i++)
        out[i] = i >= t->channels   ? 0
                 : !gives_floats(t) ? w.word[i]
                                    : bits_of(soft_texel_float(t, w.word[i], i));
}

/* What a filter adds up: up to eight texels of each of two levels. */
struct terms {
    uint32_t count;
    int32_t weight[16];
    double value[4][16]; /* by channel */
};

/* Floats are cut off to four bits below the last place of the largest that counts, as an
 * H100's adder sees them. */
static void align(const soft_texture *t, struct terms *terms, uint32_t channel)
{
    double *values = terms->value[channel];
    int most = INT_MIN;
    for (uint32_t k = 0; k < terms->count; k++) {
        int exponent;
        (void)frexp(values[k], &exponent);
        if (values[k] != 0 && isfinite(values[k]) && exponent > most)
            most = exponent;
    }
    if (most == INT_MIN)
        return;
    const int last = most - (t->channel_bytes == 2 ? HALF_BITS : FLOAT_BITS);
    for (uint32_t k = 0; k < terms->count; k++)
        if (isfinite(values[k]))
            values[k] = ldexp(trunc(ldexp(values[k], -last)), last);
}

static double sum_of(const soft_texture *t, struct terms *terms, uint32_t channel)
{
    double sum = 0;
    if (t->texel == SOFT_TEXEL_FLOAT)
        align(t, terms, channel);
    for (uint32_t k = 0; k < terms->count; k++)
        sum += terms->weight[k] / (double)UNIT * terms->value[channel][k];
    return sum;
}

/* The texels of one level that count. */
static void add_terms(const struct fetch *f, const soft_texture_level *level,
                      const struct spot *s, int32_t whole, struct terms *terms)
{
    const soft_texture *t = f->t;
    int32_t weights[8];
    weigh(s->a, whole, weights);
    for (uint32_t k = 0; k < 8; k++) {
        if (weights[k] == 0)
            continue;
        const int32_t x = s->a[0].at[k & 1], y = s->a[1].at[k >> 1 & 1],
                      z = s->a[2].at[k >> 2];
        const bool outside = x < 0 || y < 0 || z < 0;
        const soft_texel_words w =
            outside ? border_of(f) : texel_of(f, level, x, y, s->plane[k >> 2]);
        terms->weight[terms->count] = weights[k];
        for (uint32_t i = 0; i < t->channels; i++)
            terms->value[i][terms->count] = soft_texel_filtered(t, w.word[i], i);
        terms->count++;
    }
}

static void finish(const struct fetch *f, struct terms *terms, uint32_t out[4])
{
    for (uint32_t i = 0; i < f->t->channels; i++)
        out[i] = bits_of(soft_texel_result(f->t, sum_of(f->t, terms, i), i));
}

/* ---- where in the resource ------------------------------------------------------------ */

/* The face of a direction, and where on it: 0 ... 1 in both. */
static uint32_t face_of(float x, float y, float z, float *u, float *v)
{
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float across, down, major;
    uint32_t face;
    if (az >= ax && az >= ay) {
        face = z < 0 ? 5 : 4;
        major = az, across = z < 0 ? -x : x, down = -y;
    } else if (ay >= ax) {
        face = y < 0 ? 3 : 2;
        major = ay, across = x, down = y < 0 ? -z : z;
    } else {
        face = x < 0 ? 1 : 0;
        major = ax, across = x < 0 ? z : -z, down = -y;
    }
    *u = (across / major + 1.f) * 0.5f;
    *v = (down / major + 1.f) * 0.5f;
    return face;
}

static uint32_t layer_of(uint32_t word, uint32_t layers)
{
    return word >= layers ? layers - 1 : word; /* negative ones are large */
}

static struct spot spot_of(const struct fetch *f, const soft_texture_level *level,
                           const uint32_t words[4])
{
    const ptx_geometry g = (ptx_geometry)f->form->geometry;
    const struct axis none = {{0, 0}, 0};
    struct spot s = {{none, none, none}, {0, 0}};
    const bool layered =
        g == PTX_GEOMETRY_A1D || g == PTX_GEOMETRY_A2D || g == PTX_GEOMETRY_ACUBE;
    const uint32_t *at = words + layered;
    uint32_t plane = 0;
    if (g == PTX_GEOMETRY_CUBE || g == PTX_GEOMETRY_ACUBE) {
        float u, v;
        plane = face_of(float_of(at[0]), float_of(at[1]), float_of(at[2]), &u, &v);
        if (layered)
            plane += 6 * layer_of(words[0], f->t->layers / 6 ? f->t->layers / 6 : 1);
        s.a[0] = axis_of(f, bits_of(u), level->width, 0);
        s.a[1] = axis_of(f, bits_of(v), level->height, 1);
    } else {
        if (layered)
            plane = layer_of(words[0], f->t->layers ? f->t->layers : 1);
        s.a[0] = axis_of(f, at[0], level->width, 0);
        if (g != PTX_GEOMETRY_A1D)
            s.a[1] = axis_of(f, g == PTX_GEOMETRY_1D ? 0 : at[1], level->height, 1);
    }
    s.plane[0] = s.plane[1] = plane;
    if (g == PTX_GEOMETRY_3D) {
        s.a[2] = axis_of(f, at[2], level->depth, 2);
        s.plane[0] = (uint32_t)s.a[2].at[0];
        s.plane[1] = (uint32_t)s.a[2].at[1];
    }
    return s;
}

/* ---- levels ---------------------------------------------------------------------------- */

static float clamp(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

/* The length of a step in texels, as an H100 takes it: no root of squares. */
static double length_of(const double step[3])
{
    double part[3];
    for (unsigned i = 0; i < 3; i++) {
        const double size = fabs(step[i]);
        unsigned at = i;
        for (; at > 0 && part[at - 1] < size; at--)
            part[at] = part[at - 1];
        part[at] = size;
    }
    return part[0] + part[1] * (11. / 32) + part[2] * .25;
}

/* The longer axis of the ellipse that two steps span, in texels, as a level: an H100 looks
 * at both steps, and at their sum and their difference where they are in one plane. Of the
 * logarithm's mantissa ten bits count. */
static float level_of_axes(const double x[3], const double y[3], bool in_one_plane)
{
    double sum[3], difference[3], longer = fmax(length_of(x), length_of(y));
    int exponent;
    for (unsigned i = 0; i < 3; i++) {
        sum[i] = x[i] + y[i];
        difference[i] = x[i] - y[i];
    }
    if (in_one_plane)
        longer = fmax(longer, fmax(length_of(sum), length_of(difference)) * (11. / 16));
    const double mantissa = frexp(longer, &exponent);
    return (float)(log2(floor(mantissa * 1024) / 1024) + exponent);
}

/* 0 ... 2: the axis of the face that a direction meets. */
static unsigned axis_of_face(const float p[3])
{
    const float x = fabsf(p[0]), y = fabsf(p[1]), z = fabsf(p[2]);
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

/* Where a direction meets the plane of a face, -1 ... 1 on the face itself, or one of the
 * four around it, folded out into that plane:
 *
 *            |   |            false: the face on the other side, which is
 *        ----+---+----        infinitely far away
 *         -2 |   | 2
 *        ----+---+----
 *            |   |                                                              */
static bool place_in_plane(const float p[3], unsigned axis, bool is_negative,
                           double place[3])
{
    const double a = (double)p[axis == 0], b = (double)p[axis == 2 ? 1 : 2];
    const double m = (double)(is_negative ? -p[axis] : p[axis]);
    const double across = fabs(a), down = fabs(b);
    const bool faces = fabs(m) >= across && fabs(m) >= down;
    if (faces && m <= 0)
        return false;
    const double most = faces ? m : across >= down ? across : down, past = 2 - m / most;
    place[0] = !faces && across >= down ? copysign(past, a) : a / most;
    place[1] = !faces && across < down ? copysign(past, b) : b / most;
    place[2] = 0;
    return true;
}

/* Steps of a direction: where it then meets the cube, all of it in the plane of the face
 * where it was. Their sum and difference count where both stay on that face. */
static float level_of_directions(const struct fetch *f,
                                 const uint32_t words[PTX_TEXTURE_WORDS])
{
    const uint32_t *from = words + (f->form->geometry == PTX_GEOMETRY_ACUBE);
    const double half = f->t->level[0].width / 2.;
    float p[3];
    double was[3], steps[2][3];
    bool stay = true;
    for (unsigned i = 0; i < 3; i++)
        p[i] = float_of(from[i]);
    const unsigned axis = axis_of_face(p);
    const bool is_negative = p[axis] < 0;
    if (!place_in_plane(p, axis, is_negative, was))
        return INFINITY;
    for (unsigned n = 0; n < 2; n++) {
        float to[3];
        for (unsigned i = 0; i < 3; i++)
            to[i] = p[i] + float_of(words[4 + 4 * n + i]);
        if (!place_in_plane(to, axis, is_negative, steps[n]))
            return INFINITY;
        stay = stay && axis_of_face(to) == axis;
        for (unsigned i = 0; i < 3; i++)
            steps[n][i] = (steps[n][i] - was[i]) * half;
    }
    return level_of_axes(steps[0], steps[1], stay);
}

static float level_of_steps(const struct fetch *f,
                            const uint32_t words[PTX_TEXTURE_WORDS])
{
    const soft_texture_level *top = &f->t->level[0];
    const uint32_t sizes[3] = {top->width, top->height, top->depth};
    const ptx_geometry g = (ptx_geometry)f->form->geometry;
    const unsigned axes = g == PTX_GEOMETRY_1D || g == PTX_GEOMETRY_A1D   ? 1
                          : g == PTX_GEOMETRY_2D || g == PTX_GEOMETRY_A2D ? 2
                                                                          : 3;
    double x[3] = {0}, y[3] = {0};
    if (g == PTX_GEOMETRY_CUBE || g == PTX_GEOMETRY_ACUBE)
        return level_of_directions(f, words);
    for (unsigned i = 0; i < axes; i++) {
        const double size = f->t->normalized ? sizes[i] : 1;
        x[i] = size * (double)float_of(words[4 + i]);
        y[i] = size * (double)float_of(words[8 + i]);
    }
    return level_of_axes(x, y, true);
}

static float wanted_level(const struct fetch *f, const uint32_t words[PTX_TEXTURE_WORDS])
{
    const soft_texture *t = f->t;
    float level = 0;
    if (f->form->op == PTX_TEXTURE_LEVEL)
        level = f->form->is_integer ? (float)(int32_t)words[4] : float_of(words[4]);
    else if (f->form->op == PTX_TEXTURE_GRAD)
        level = level_of_steps(f, words);
    /* Without a level or steps there is no bias either. */
    const float bias = f->form->op == PTX_TEXTURE_FETCH ? 0 : t->bias;
    level = clamp(level + bias, t->least, t->most);
    return isnan(level) ? 0 : clamp(level, 0, (float)(t->levels - 1));
}

static void fetch_level(const struct fetch *f, uint32_t number, const uint32_t words[4],
                        uint32_t out[4])
{
    const soft_texture_level *level = &f->t->level[number];
    const struct spot s = spot_of(f, level, words);
    struct terms terms = {.count = 0};
    if (!f->linear) {
        fetch_point(f, level, &s, out);
        return;
    }
    add_terms(f, level, &s, UNIT, &terms);
    finish(f, &terms, out);
}

static void fetch(const struct fetch *f, const uint32_t words[PTX_TEXTURE_WORDS],
                  uint32_t out[4])
{
    const soft_texture *t = f->t;
    if (t->levels < 2) {
        fetch_level(f, 0, words, out);
        return;
    }
    const uint32_t fixed = (uint32_t)floor((double)wanted_level(f, words) * UNIT + 0.5);
    const uint32_t first = fixed / UNIT, nearest = (fixed + UNIT / 2) / UNIT;
    const int32_t weight = (int32_t)(fixed % UNIT);
    if (!t->linear_levels || !gives_floats(t)) {
        fetch_level(f, nearest < t->levels ? nearest : t->levels - 1, words, out);
        return;
    }
    struct terms terms = {.count = 0};
    for (uint32_t i = 0; i < 1u + (weight != 0); i++) {
        const soft_texture_level *level = &t->level[first + i];
        const struct spot s = spot_of(f, level, words);
        add_terms(f, level, &s, i ? weight : UNIT - weight, &terms);
    }
    finish(f, &terms, out);
}

/* ---- gathers, queries --------------------------------------------------------------------- */

/* One channel of the four texels that a filter would take: lower left, lower right, upper
 * right, upper left. */
static void gather(struct fetch *f, const uint32_t words[4], uint32_t out[4])
{
    static const uint8_t x[4] = {0, 1, 1, 0}, y[4] = {1, 1, 0, 0};
    f->linear = true;
    const struct spot s = spot_of(f, &f->t->level[0], words);
    for (uint32_t i = 0; i < 4; i++) {
        struct spot one = s;
        one.a[0].at[0] = s.a[0].at[x[i]];
        one.a[1].at[0] = s.a[1].at[y[i]];
        const uint32_t channel = f->form->component;
        const uint32_t word = texel_at_spot(f, &f->t->level[0], &one).word[channel];
        out[i] = channel >= f->t->channels ? 0
                 : !gives_floats(f->t)
                     ? word
                     : bits_of(soft_texel_result(
                           f->t, soft_texel_filtered(f->t, word, channel), channel));
    }
}

static uint32_t query(const soft_texture *t, const ptx_texture *form,
                      const uint32_t words[PTX_TEXTURE_WORDS])
{
    const uint32_t number = form->by_level ? words[4] : 0;
    const soft_texture_level *level = &t->level[number];
    if (number >= t->levels)
        return 0;
    switch ((ptx_texture_query)form->query) {
    case PTX_QUERY_WIDTH: return level->width;
    case PTX_QUERY_HEIGHT:
        return t->is_memory || (t->is_row && t->is_surface) ? 0 : level->height;
    default:
        if (t->layers > 0)
            return t->is_cube && !t->is_surface ? 0 : t->layers;
        return t->is_flat ? 0 : level->depth;
    }
}

static void to_halves(uint32_t out[4])
{
    const uint32_t low = soft_half_from_float(float_of(out[0])) |
                         (uint32_t)soft_half_from_float(float_of(out[1])) << 16;
    out[1] = soft_half_from_float(float_of(out[2])) |
             (uint32_t)soft_half_from_float(float_of(out[3])) << 16;
    out[0] = low;
    out[2] = out[3] = 0;
}

/* A row without an array is read by integers alone, one with an array never is; and
 * integers do not bring a layer back that is outside. */
static bool is_nothing(const soft_texture *t, const ptx_texture *form,
                       const uint32_t words[PTX_TEXTURE_WORDS])
{
    const ptx_geometry g = (ptx_geometry)form->geometry;
    if (t->is_memory || (g == PTX_GEOMETRY_1D && form->is_integer))
        return t->is_memory != form->is_integer;
    const bool layered = g == PTX_GEOMETRY_A1D || g == PTX_GEOMETRY_A2D;
    return form->is_integer && layered && words[0] >= t->layers;
}

bool soft_texture_run(const soft_texture *texture, const ptx_texture *form,
                      const soft_texels *texels, const uint32_t words[PTX_TEXTURE_WORDS],
                      uint32_t out[4])
{
    struct fetch f = {texture, form, texels, texture->linear && gives_floats(texture)};
    memset(out, 0, 4 * sizeof(*out));
    switch ((ptx_texture_op)form->op) {
    case PTX_TEXTURE_QUERY:
    case PTX_SURFACE_QUERY: out[0] = query(texture, form, words); return true;
    case PTX_TEXTURE_GATHER: gather(&f, words, out); break;
    case PTX_TEXTURE_FETCH:
    case PTX_TEXTURE_LEVEL:
    case PTX_TEXTURE_GRAD:
        if (is_nothing(texture, form, words))
            return true; /* zeros */
        f.linear = f.linear && !form->is_integer;
        fetch(&f, words, out);
        break;
    default: return soft_surface_run(texture, form, texels, words, out);
    }
    if (form->is_half)
        to_halves(out);
    return true;
}
