// SPDX-License-Identifier: Apache-2.0
/* Boxes of tensors, row by row as they lie in shared memory:
 *
 *   tensor   . . . . . . .        box   0 0 a b     a row is as long as the box's first
 *            .[a b c]. . .              0 0 e f     dimension; what is outside the
 *            .[e f g]. . .                          tensor is filled, and never stored
 *
 * With interleaving a row is one slice of 16 or 32 bytes, whatever the type is: the channels
 * of a pixel that lie side by side. Dimensions are W, (H, D,) slices of channels, images; a
 * step along W is a slice, and a box has one slice of the channels, however many it names.
 *
 * A swizzle moves the 16-byte chunks of what lies in shared memory: of the offset from the
 * block's memory, bits 7 ... 9 are added without carry to bits 4 ... 6 (128 bytes), two of
 * them for 64 bytes, one for 32. Each row without interleaving then takes the whole span, and
 * what is past the box in it stays as it is. All as an H200 does it
 * (tests/conformance/tensormap_test.c, slices_test.c). */
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
    uint32_t element; /* bytes */
    uint32_t columns; /* elements of a row */
    uint32_t pitch;   /* bytes from row to row in shared memory */
    uint32_t rows;
} move;

uint32_t soft_tensor_element(uint32_t type)
{
    static const uint8_t bytes[SOFT_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2,
                                                     4, 8, 2, 4, 4, 4};
    return type < SOFT_TENSOR_TYPES ? bytes[type] : 0;
}

/* Which reductions of a type there are, as an H200 has them. */
static bool can_reduce(uint32_t type, ptx_tensor_op op)
{
    const bool is_add = op == PTX_TENSOR_ADD;
    const bool is_order = op == PTX_TENSOR_MIN || op == PTX_TENSOR_MAX;
    switch (type) {
    case SOFT_TENSOR_U8:
    case SOFT_TENSOR_U16: return false;
    case SOFT_TENSOR_U64: return op != PTX_TENSOR_INC && op != PTX_TENSOR_DEC;
    case SOFT_TENSOR_S64:
    case SOFT_TENSOR_F16:
    case SOFT_TENSOR_BF16: return is_add || is_order;
    case SOFT_TENSOR_F32:
    case SOFT_TENSOR_F64: return is_add;
    default: return true;
    }
}

const char *soft_tensor_refuses(const soft_tensor_map *map, const ptx_tensor *form,
                                const int32_t at[PTX_TENSOR_RANK_MAX])
{
    if (map->mark != SOFT_TENSOR_MARK)
        return "what is there was not made by cuTensorMapEncode...()";
    if (map->rank != form->rank)
        return "the tensor has another number of dimensions";
    if ((map->kind != SOFT_TENSOR_TILED) != form->is_im2col)
        return form->is_im2col ? "the map is of tiles, not of im2col"
                               : "the map is of im2col, not of tiles";
    for (uint32_t i = 0; form->op != PTX_TENSOR_LOAD && i < map->rank; i++)
        if (at[i] < 0)
            return "a store or reduction at a negative place";
    if (form->op > PTX_TENSOR_STORE && !can_reduce(map->type, (ptx_tensor_op)form->op))
        return "the map's type does not have that reduction";
    if (map->interleave == 0 &&
        (int64_t)at[0] * soft_tensor_element(map->type) % CHUNK != 0)
        return "the first coordinate is not a multiple of 16 bytes";
    if (map->kind == SOFT_TENSOR_WIDE || soft_tensor_element(map->type) == 0 ||
        map->swizzle >= SWIZZLE_128_ATOM)
        return "softcuda moves tiles and im2col, of types that are not packed, with "
               "swizzles of 32, 64 and 128 bytes";
    return NULL;
}

/* ---- elements ------------------------------------------------------------------------ */

/* What an element outside the tensor is: zeros, or one NaN. */
static void fill_row(const move *m, unsigned char *row)
{
    memset(row, 0, (size_t)m->columns * m->element);
    if (m->map->fill == 0)
        return;
    const uint64_t nan = 0x7ff77ff77ff77ff7; /* an H200's, whatever the type is */
    for (uint32_t i = 0; i < m->columns; i++)
        memcpy(row + (size_t)i * m->element, &nan, m->element);
}

/* Rounded to 10 bits of mantissa, to even; no NaN keeps its bits, and nothing is flushed. */
static void round_row(const move *m, unsigned char *row)
{
    const uint8_t type = m->map->type;
    if (type != SOFT_TENSOR_TF32 && type != SOFT_TENSOR_TF32_FTZ)
        return;
    for (uint32_t i = 0; i < m->columns; i++) {
        uint32_t word;
        memcpy(&word, row + 4u * i, 4);
        word = (word & 0x7fffffff) > 0x7f800000
                   ? 0x7fffe000
                   : (word + 0xfff + (word >> 13 & 1)) & 0xffffe000;
        memcpy(row + 4u * i, &word, 4);
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

static uint64_t added_double(uint64_t old, uint64_t by)
{
    double a, b;
    memcpy(&a, &old, sizeof(a));
    memcpy(&b, &by, sizeof(b));
    a += b;
    memcpy(&old, &a, sizeof(old));
    return old;
}

static uint64_t reduced_float(const move *m, uint64_t old, uint64_t by)
{
    const uint32_t type = m->map->type;
    if (type == SOFT_TENSOR_F64)
        return added_double(old, by);
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

/* The row between shared memory and `row`. */
static void move_shared(const move *m, unsigned char *row, bool loads)
{
    const soft_tensor_memory *memory = m->memory;
    const uint32_t bytes = m->columns * m->element;
    const uint32_t step = m->map->swizzle == SWIZZLE_NONE ? bytes : CHUNK;
    for (uint32_t at = 0; at < bytes; at += step) {
        const uint64_t address = swizzled(m, m->box + at);
        if (loads)
            memory->write(memory->user, address, row + at, step);
        else
            memory->read(memory->user, address, row + at, step);
    }
}

/* Whether a place lies in the tensor, by its dimensions from `first` on. */
static bool is_inside(const move *m, const int64_t place[PTX_TENSOR_RANK_MAX],
                      uint32_t first)
{
    for (uint32_t i = first; i < m->map->rank; i++)
        if (place[i] < 0 || place[i] > (int64_t)m->map->last[i])
            return false;
    return true;
}

/* What of a row lies in the tensor: `bytes` of it from `skip` on, at `address`. */
struct inside {
    uint64_t address;
    uint32_t skip, bytes;
};

static struct inside slice_inside(const move *m, const int64_t place[PTX_TENSOR_RANK_MAX])
{
    const uint32_t bytes = m->columns * m->element;
    return (struct inside){.address = m->map->address + (uint64_t)place[0] * bytes,
                           .bytes = is_inside(m, place, 0) ? bytes : 0};
}

static struct inside row_inside(const move *m, const int64_t place[PTX_TENSOR_RANK_MAX])
{
    const int64_t end = place[0] + m->columns;
    int64_t size = (int64_t)m->map->last[0] + 1;
    if (m->form->op == PTX_TENSOR_STORE) /* whole chunks, as an H200 */
        size = (size * m->element + CHUNK - 1) / CHUNK * CHUNK / m->element;
    const int64_t from = place[0] < 0 ? 0 : place[0], to = end < size ? end : size;
    if (from >= to || !is_inside(m, place, 1))
        return (struct inside){0};
    return (struct inside){.address = m->map->address + (uint64_t)from * m->element,
                           .skip = (uint32_t)(from - place[0]) * m->element,
                           .bytes = (uint32_t)(to - from) * m->element};
}

/* Between the tensor and a row of the block. */
static void move_inside(const move *m, const struct inside *in,
                        const int64_t place[PTX_TENSOR_RANK_MAX], unsigned char *row)
{
    const soft_tensor_memory *memory = m->memory;
    unsigned char *first = row + in->skip;
    uint64_t address = in->address;
    for (uint32_t i = 1; i < m->map->rank; i++)
        address += (uint64_t)place[i] * m->map->stride[i - 1];
    if (m->form->op == PTX_TENSOR_LOAD)
        memory->read(memory->user, address, first, in->bytes);
    else if (m->form->op == PTX_TENSOR_STORE)
        memory->write(memory->user, address, first, in->bytes);
    else
        for (uint32_t i = 0; i < in->bytes; i += m->element)
            reduce_element(m, address + i, first + i);
}

static void move_row(move *m, const int64_t place[PTX_TENSOR_RANK_MAX])
{
    const struct inside in =
        m->map->interleave ? slice_inside(m, place) : row_inside(m, place);
    unsigned char row[ROW_BYTES_MAX];
    const bool loads = m->form->op == PTX_TENSOR_LOAD;
    if (loads)
        fill_row(m, row);
    else if (in.bytes > 0) /* a row outside the tensor is not read */
        move_shared(m, row, false);
    if (in.bytes > 0)
        move_inside(m, &in, place, row);
    if (loads) {
        round_row(m, row);
        move_shared(m, row, true);
    }
    m->box += m->pitch;
    m->rows++;
}

/* ---- boxes ---------------------------------------------------------------------------- */

static void move_tile(move *m, const int32_t at[PTX_TENSOR_RANK_MAX])
{
    const soft_tensor_map *map = m->map;
    const uint32_t rank = map->rank, first = map->interleave ? 0 : 1;
    const uint32_t channels = map->interleave ? rank - 2 : rank; /* one slice of them */
    uint32_t step[PTX_TENSOR_RANK_MAX] = {0}, i;
    do {
        int64_t place[PTX_TENSOR_RANK_MAX];
        for (i = 0; i < rank; i++)
            place[i] = (int64_t)at[i] + step[i];
        move_row(m, place);
        for (i = first; i < rank; i++) {
            step[i] += map->step[i];
            if (i != channels && step[i] < map->box[i])
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
    const uint32_t dims = map->rank - 2u, first = map->interleave ? 0 : 1;
    int64_t base[PTX_TENSOR_RANK_MAX];
    for (uint32_t i = 0; i < map->rank; i++)
        base[i] = at[i];
    for (uint32_t n = 0; n < map->pixels; n++) {
        int64_t place[PTX_TENSOR_RANK_MAX];
        memcpy(place, base, sizeof(place));
        for (uint32_t i = 0; i < dims; i++)
            place[first + i] += offsets[i];
        move_row(m, place);
        uint32_t i = 0;
        for (; i < dims; i++) {
            const uint32_t d = first + i;
            base[d] += map->step[d];
            if (base[d] <= (int64_t)map->last[d] + map->upper[i])
                break;
            base[d] = map->lower[i];
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
              .columns = is_tile ? map->box[0] : map->channels};
    if (map->interleave)
        m.columns = (8u << map->interleave) / m.element;
    m.pitch = map->swizzle == SWIZZLE_NONE || map->interleave ? m.columns * m.element
                                                              : 16u << map->swizzle;
    if (is_tile)
        move_tile(&m, at);
    else
        move_columns(&m, at, offsets);
    return m.rows * m.columns * m.element;
}
