// SPDX-License-Identifier: Apache-2.0
/* Boxes of tensors, row by row as they lie in shared memory:
 *
 *   tensor   . . . . . . .        box   0 0 a b     a row is as long as the box's first
 *            .[a b c]. . .              0 0 e f     dimension; what is outside the
 *            .[e f g]. . .                          tensor is filled, and never stored
 *
 * With interleaving an element of the first dimension is a slice of 16 or 32 bytes, whatever
 * the type is: channels of a pixel that lie side by side.
 *
 * A swizzle moves the 16-byte chunks of what lies in shared memory: of the offset from the
 * block's memory, bits 7 ... 9 are added without carry to bits 4 ... 6 (128 bytes), two of
 * them for 64 bytes, one for 32. Each row without interleaving then takes the whole span, and
 * what is past the box in it stays as it is. All as an H200 does it (tests/conformance/tensormap_test.c). */
#include "softcuda/kernel/run/tensormap.h"

#include <string.h>

#include "softcuda/kernel/run/texture.h"

#define ROW_BYTES_MAX (256u * 8)
#define CHUNK 16u

enum { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, SWIZZLE_128_ATOM };

typedef struct move {
    const soft_tensor_map *map;
    const ptx_tensor *form;
    const soft_tensor_memory *memory;
    uint64_t box;     /* address of the next row */
    uint32_t element; /* bytes, of its type */
    uint32_t slice;   /* bytes, of one step along the first dimension */
    uint32_t columns; /* steps of a row */
    uint32_t pitch;   /* bytes from row to row in shared memory */
    uint32_t rows;
} move;

uint32_t soft_tensor_element(uint32_t type)
{
    static const uint8_t bytes[SOFT_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2,
                                                     4, 8, 2, 4, 4, 4};
    return type < SOFT_TENSOR_TYPES ? bytes[type] : 0;
}

static uint32_t slice_of(const soft_tensor_map *map)
{
    return map->interleave == 0 ? soft_tensor_element(map->type) : 8u << map->interleave;
}

const char *soft_tensor_refuses(const soft_tensor_map *map, const ptx_tensor *form,
                                int32_t first)
{
    if (map->mark != SOFT_TENSOR_MARK)
        return "what is there was not made by cuTensorMapEncode...()";
    if (map->rank != form->rank)
        return "the tensor has another number of dimensions";
    if ((map->kind != SOFT_TENSOR_TILED) != form->is_im2col)
        return form->is_im2col ? "the map is of tiles, not of im2col"
                               : "the map is of im2col, not of tiles";
    if ((int64_t)first * slice_of(map) % CHUNK != 0)
        return "the first coordinate is not a multiple of 16 bytes";
    if (map->kind == SOFT_TENSOR_WIDE ||
        (map->interleave != 0 && map->kind != SOFT_TENSOR_TILED) ||
        soft_tensor_element(map->type) == 0 || map->swizzle >= SWIZZLE_128_ATOM)
        return "softcuda moves tiles, and im2col without interleaving, of types that are "
               "not packed, with swizzles of 32, 64 and 128 bytes";
    return NULL;
}

/* ---- elements ------------------------------------------------------------------------ */

/* What an element outside the tensor is: zeros, or one NaN. */
static void fill_row(const move *m, unsigned char *row, uint32_t bytes)
{
    memset(row, 0, bytes);
    if (m->map->fill == 0)
        return;
    const uint64_t nan = 0x7ff77ff77ff77ff7; /* an H200's, whatever the type is */
    for (uint32_t i = 0; i < bytes; i += m->element)
        memcpy(row + i, &nan, m->element);
}

/* Rounded to 10 bits of mantissa, to even; no NaN keeps its bits, and nothing is flushed. */
static void round_row(const move *m, unsigned char *row, uint32_t bytes)
{
    const uint8_t type = m->map->type;
    if (type != SOFT_TENSOR_TF32 && type != SOFT_TENSOR_TF32_FTZ)
        return;
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint32_t word;
        memcpy(&word, row + i, 4);
        word = (word & 0x7fffffff) > 0x7f800000
                   ? 0x7fffe000
                   : (word + 0xfff + (word >> 13 & 1)) & 0xffffe000;
        memcpy(row + i, &word, 4);
    }
}

/* ---- reductions ----------------------------------------------------------------------- */

static float float_of(uint32_t type, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    if (type == SOFT_TENSOR_F16)
        return soft_float_from_half((uint16_t)bits);
    if (type == SOFT_TENSOR_BF16)
        word <<= 16;
    memcpy(&value, &word, sizeof(value));
    return value;
}

static uint64_t bits_of(uint32_t type, float value)
{
    uint32_t word;
    if (type == SOFT_TENSOR_F16)
        return soft_half_from_float(value);
    memcpy(&word, &value, sizeof(word));
    if (type != SOFT_TENSOR_BF16)
        return word;
    if ((word & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (word + 0x7fff + (word >> 16 & 1)) >> 16;
}

static uint64_t reduced_float(const move *m, uint64_t old, uint64_t by)
{
    const uint32_t type = m->map->type;
    const float a = float_of(type, old), b = float_of(type, by);
    switch ((ptx_tensor_op)m->form->op) {
    case PTX_TENSOR_MIN: return b < a || a != a ? by : old;
    case PTX_TENSOR_MAX: return b > a || a != a ? by : old;
    default: return bits_of(type, a + b);
    }
}

static bool is_less(const move *m, uint64_t a, uint64_t b)
{
    switch (m->map->type) {
    case SOFT_TENSOR_S32: return (int32_t)a < (int32_t)b;
    case SOFT_TENSOR_S64: return (int64_t)a < (int64_t)b;
    default: return a < b;
    }
}

static uint64_t reduced(const move *m, uint64_t old, uint64_t by)
{
    const bool is_float = m->map->type >= SOFT_TENSOR_F16;
    switch ((ptx_tensor_op)m->form->op) {
    case PTX_TENSOR_AND: return old & by;
    case PTX_TENSOR_OR: return old | by;
    case PTX_TENSOR_XOR: return old ^ by;
    case PTX_TENSOR_INC: return old >= by ? 0 : old + 1;
    case PTX_TENSOR_DEC: return old == 0 || old > by ? by : old - 1;
    case PTX_TENSOR_MIN:
        return is_float ? reduced_float(m, old, by) : is_less(m, by, old) ? by : old;
    case PTX_TENSOR_MAX:
        return is_float ? reduced_float(m, old, by) : is_less(m, old, by) ? by : old;
    default: return is_float ? reduced_float(m, old, by) : old + by;
    }
}

/* Other blocks may reduce the same element. */
#define REDUCE(bits)                                                                     \
    {                                                                                    \
        uint##bits##_t *word = m->memory->word(m->memory->user, address, bits / 8);      \
        uint##bits##_t old = __atomic_load_n(word, __ATOMIC_RELAXED);                    \
        while (!__atomic_compare_exchange_n(word, &old,                                  \
                                            (uint##bits##_t)reduced(m, old, by), true,   \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))         \
            continue;                                                                    \
        break;                                                                           \
    }

static void reduce_element(const move *m, uint64_t address, const unsigned char *from)
{
    uint64_t by = 0;
    memcpy(&by, from, m->element);
    switch (m->element) {
    case 1: REDUCE(8)
    case 2: REDUCE(16)
    case 4: REDUCE(32)
    default: REDUCE(64)
    }
}

/* ---- rows ----------------------------------------------------------------------------- */

static uint64_t swizzled(const move *m, uint64_t address)
{
    const uint64_t offset = address - m->memory->shared;
    const uint32_t swizzle = m->map->swizzle;
    const uint64_t mask = swizzle == SWIZZLE_NONE ? 0 : (1u << swizzle) - 1;
    return m->memory->shared + (offset ^ (offset >> 7 & mask) << 4);
}

/* A piece of a row, `from` bytes after its begin, between shared memory and `row`. */
static void move_shared(const move *m, uint32_t from, uint32_t bytes, unsigned char *row,
                        bool loads)
{
    const soft_tensor_memory *memory = m->memory;
    const uint32_t step = m->map->swizzle == SWIZZLE_NONE ? bytes : CHUNK;
    for (uint32_t at = 0; at < bytes; at += step) {
        const uint64_t address = swizzled(m, m->box + from + at);
        if (loads)
            memory->write(memory->user, address, row + at, step);
        else
            memory->read(memory->user, address, row + at, step);
    }
}

/* Whether a place lies in the tensor, but for the first dimension. */
static bool is_inside(const move *m, const int64_t place[PTX_TENSOR_RANK_MAX])
{
    for (uint32_t i = 1; i < m->map->rank; i++)
        if (place[i] < 0 || place[i] > (int64_t)m->map->last[i])
            return false;
    return true;
}

/* Columns [first, last) of a row. */
static void move_piece(const move *m, const int64_t place[PTX_TENSOR_RANK_MAX],
                       uint32_t first, uint32_t last)
{
    const soft_tensor_memory *memory = m->memory;
    const int64_t begin = place[0] + first, end = place[0] + last;
    const int64_t size = (int64_t)m->map->last[0] + 1;
    const int64_t from = begin < 0 ? 0 : begin, to = end < size ? end : size;
    const uint32_t all = (last - first) * m->slice;
    unsigned char row[ROW_BYTES_MAX];
    const bool loads = m->form->op == PTX_TENSOR_LOAD;
    if (loads)
        fill_row(m, row, all);
    else
        move_shared(m, first * m->slice, all, row, false);
    if (from < to && is_inside(m, place)) {
        uint64_t address = m->map->address + (uint64_t)from * m->slice;
        for (uint32_t i = 1; i < m->map->rank; i++)
            address += (uint64_t)place[i] * m->map->stride[i - 1];
        unsigned char *inside = row + (size_t)(from - begin) * m->slice;
        const uint32_t bytes = (uint32_t)(to - from) * m->slice;
        if (loads)
            memory->read(memory->user, address, inside, bytes);
        else if (m->form->op == PTX_TENSOR_STORE)
            memory->write(memory->user, address, inside, bytes);
        else
            for (uint32_t i = 0; i < bytes; i += m->element)
                reduce_element(m, address + i, inside + i);
    }
    if (loads) {
        round_row(m, row, all);
        move_shared(m, first * m->slice, all, row, true);
    }
}

/* In pieces, as stacks are small. */
static void move_row(move *m, const int64_t place[PTX_TENSOR_RANK_MAX])
{
    const uint32_t most = ROW_BYTES_MAX / m->slice;
    for (uint32_t first = 0; first < m->columns; first += most) {
        const uint32_t last = first + most;
        move_piece(m, place, first, last < m->columns ? last : m->columns);
    }
    m->box += m->pitch;
    m->rows++;
}

/* ---- boxes ---------------------------------------------------------------------------- */

static void move_tile(move *m, const int32_t at[PTX_TENSOR_RANK_MAX])
{
    const soft_tensor_map *map = m->map;
    uint32_t step[PTX_TENSOR_RANK_MAX] = {0}, rank = map->rank, i;
    do {
        int64_t place[PTX_TENSOR_RANK_MAX] = {at[0]};
        for (i = 1; i < rank; i++)
            place[i] = (int64_t)at[i] + step[i];
        move_row(m, place);
        for (i = 1; i < rank; i++) {
            step[i] += map->step[i];
            if (step[i] < map->box[i])
                break;
            step[i] = 0;
        }
    } while (i < rank);
}

/* Pixels in order within the bounding box, from image to image; the offsets say which of a
 * filter's places is meant. */
static void move_columns(move *m, const int32_t at[PTX_TENSOR_RANK_MAX],
                         const uint16_t offsets[PTX_TENSOR_RANK_MAX - 2])
{
    const soft_tensor_map *map = m->map;
    const uint32_t dims = map->rank - 2u;
    int64_t base[PTX_TENSOR_RANK_MAX];
    for (uint32_t i = 0; i < map->rank; i++)
        base[i] = at[i];
    for (uint32_t n = 0; n < map->pixels; n++) {
        int64_t place[PTX_TENSOR_RANK_MAX];
        memcpy(place, base, sizeof(place));
        for (uint32_t i = 0; i < dims; i++)
            place[1 + i] += offsets[i];
        move_row(m, place);
        uint32_t i = 0;
        for (; i < dims; i++) {
            base[1 + i] += map->step[1 + i];
            if (base[1 + i] <= (int64_t)map->last[1 + i] + map->upper[i])
                break;
            base[1 + i] = map->lower[i];
        }
        if (i == dims)
            base[map->rank - 1]++;
    }
}

uint32_t soft_tensor_move(const soft_tensor_map *map, const ptx_tensor *form,
                          const soft_tensor_memory *memory, uint64_t box,
                          const int32_t at[PTX_TENSOR_RANK_MAX],
                          const uint16_t offsets[PTX_TENSOR_RANK_MAX - 2])
{
    const bool is_tile = map->kind == SOFT_TENSOR_TILED;
    move m = {.map = map,
              .form = form,
              .memory = memory,
              .box = box,
              .element = soft_tensor_element(map->type),
              .slice = slice_of(map),
              .columns = is_tile ? map->box[0] : map->channels};
    m.pitch = map->swizzle == SWIZZLE_NONE || map->interleave != 0 ? m.columns * m.slice
                                                                   : 16u << map->swizzle;
    if (is_tile)
        move_tile(&m, at);
    else
        move_columns(&m, at, offsets);
    return m.rows * m.columns * m.slice;
}
