// SPDX-License-Identifier: Apache-2.0
/* Matrix operations of a warp: which lane's registers hold which elements.
 *
 * PTX's fragments of mma, lane = 4 * g + t, a register holds e elements side by side:
 *
 *   a   register r: row g + 8 * (r % 2), columns e * (t + 4 * (r / 2)) on; m8: row g
 *   b   register r: column g, rows e * (t + 4 * r) on
 *   c   register r: row g + 8 * (r / 2), column 2 * t + r % 2 (f16: both in one)
 *
 * Those of wmma are tiles of these: see wmma_place(). Memory is read and
 * written by functions whose faults are the kernel's. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/kernel/run/lanes.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"
#include "softcuda/kernel/run/tensor.h"

#define LANES PTX_WARP_SIZE
#define SLOT_BYTES 256u

/* What a warp brings, and where results go: see ptx_rt_matrix(). */
struct work {
    ptx_matrix form;
    uint64_t word; /* the same, packed */
    ptx_block *block;
    unsigned char *slots;
    uint32_t active, first, line;
    bool has_stride;
};

static uint32_t *lanes32(const struct work *w, uint32_t slot)
{
    return (uint32_t *)(void *)(w->slots + slot * SLOT_BYTES);
}

static uint64_t *lanes64(const struct work *w, uint32_t slot)
{
    return (uint64_t *)(void *)(w->slots + slot * SLOT_BYTES);
}

/* ---- fragments --------------------------------------------------------------------- */

/* A matrix as fragments see it. */
struct view {
    char which; /* 'a' ... 'd' */
    ptx_element type;
    uint32_t rows, columns, registers;
    uint32_t per_register; /* elements */
};

static struct view view_of(const ptx_matrix *x, char which)
{
    struct view v = {.which = which,
                     .type = (ptx_element)(which == 'a'   ? x->a
                                           : which == 'b' ? x->b
                                           : which == 'c' ? x->c
                                                          : x->d),
                     .rows = which == 'b' ? x->k : x->m,
                     .columns = which != 'a'   ? x->n
                                : x->is_sparse ? x->k / 2u
                                               : x->k,
                     .registers = ptx_matrix_registers(x, which)};
    const uint32_t bits = ptx_element_bits(v.type);
    v.per_register = bits == 64 ? 1 : 32 / bits;
    return v;
}

struct place {
    uint32_t row, column;
};

static struct place mma_place(const struct view *v, uint32_t lane, uint32_t r, uint32_t e)
{
    const uint32_t g = lane / 4, t = lane % 4, n = v->per_register;
    if (v->which == 'a' && v->rows == 8)
        return (struct place){g, n * (t + 4 * r) + e};
    if (v->which == 'a')
        return (struct place){g + 8 * (r % 2), n * (t + 4 * (r / 2)) + e};
    if (v->which == 'b')
        return (struct place){n * (t + 4 * r) + e, g};
    const uint32_t i = r * n + e;
    return (struct place){g + 8 * (i / 2), 2 * t + i % 2};
}

/* Row and block of k of a register of the side of 16 rows or more: eight rows on, then
 * the next block, then sixteen rows on. */
static struct place long_side(uint32_t lane, uint32_t r, uint32_t blocks)
{
    return (struct place){lane / 4 + 8 * (r % 2) + 16 * (r / (2 * blocks)),
                          r / 2 % blocks};
}

/* wmma's fragments are tiles of mma's, as an H100 has them. m8n32 is the transpose of
 * m32n8: b is its long side then. Registers that are more than elements hold them again. */
static struct place wmma_place(const struct view *v, uint32_t lane, uint32_t r,
                               uint32_t e)
{
    const uint32_t n = v->per_register, t = lane % 4, g = lane / 4;
    if (v->which == 'c' || v->which == 'd') {
        const uint32_t i = r * n + e, inner = 2 * t + i % 2;
        const uint32_t outer = g + 8 * (i / 2 % 2), far = i / 4;
        if (v->columns == 32)
            return (struct place){inner, outer + 16 * far};
        if (v->rows == 8)
            return (struct place){g, inner};
        return v->rows == 32 ? (struct place){outer + 16 * far, inner}
                             : (struct place){outer, inner + 8 * far};
    }
    const uint32_t k = v->which == 'a' ? v->columns : v->rows;
    const uint32_t side = v->which == 'a' ? v->rows : v->columns;
    const uint32_t blocks = k / (4 * n); /* registers along k */
    r %= blocks * side / 8;
    const bool is_long = v->which == 'a' ? side > 8 : side == 32;
    struct place p = is_long ? long_side(lane, r, blocks)
                             : (struct place){g + 8 * (r / blocks), r % blocks};
    p.column = n * (t + 4 * p.column) + e;
    return v->which == 'a' ? p : (struct place){p.column, p.row};
}

static struct place place_of(const ptx_matrix *x, const struct view *v, uint32_t lane,
                             uint32_t r, uint32_t e)
{
    return x->is_wmma ? wmma_place(v, lane, r, e) : mma_place(v, lane, r, e);
}

static uint32_t field_of(uint32_t word, uint32_t e, uint32_t bits)
{
    return bits == 32 ? word : word >> (e * bits) & ((1u << bits) - 1);
}

static int16_t int_of(uint32_t bits, ptx_element type)
{
    switch (type) {
    case PTX_ELEMENT_S8: return (int8_t)bits;
    case PTX_ELEMENT_S4: return (int16_t)((int16_t)(bits ^ 8) - 8);
    default: return (int16_t)bits;
    }
}

static bool is_int(ptx_element type)
{
    return type >= PTX_ELEMENT_S8 && type <= PTX_ELEMENT_U4;
}

/* Floats of 8 bits become f16, of which a GPU multiplies the lower pairs of all registers
 * first, then the upper ones. */
static uint32_t order_of(const struct view *v, uint32_t all, uint32_t k)
{
    if (v->type != PTX_ELEMENT_E4M3 && v->type != PTX_ELEMENT_E5M2)
        return k;
    return k % 4 / 2 * (all / 2) + k / 4 * 2 + k % 2;
}

/* Where a matrix operation finds an element: of a product, its place in soft_tensor's
 * array; of a fragment in memory, its row and column. b1: a word's stay together. */
static uint32_t target_of(const ptx_matrix *x, const struct view *v, uint32_t lane,
                          uint32_t r, uint32_t e)
{
    const struct place p = place_of(x, v, lane, r, e);
    const uint32_t step = v->type == PTX_ELEMENT_B1 ? 32 : 1;
    if (x->op != PTX_MATRIX_MMA)
        return p.row << 8 | p.column;
    if (v->which == 'a')
        return p.row * (v->columns / step) +
               order_of(v, v->columns / step, p.column / step);
    if (v->which == 'b')
        return p.column * (v->rows / step) + order_of(v, v->rows / step, p.row / step);
    return p.row * v->columns + p.column;
}

/* The registers before it are copies of those after it. */
static uint32_t first_register(const struct view *v)
{
    const uint32_t distinct = v->rows * v->columns / (LANES * v->per_register);
    return distinct == 0 || distinct > v->registers ? 0 : v->registers - distinct;
}

/* Working a target out takes longer than what is done there. So each fragment of a form
 * has a table, made once and kept: targets by register, lane and element. */
struct map {
    uint64_t key;
    uint16_t target[];
};

#define MAPS 256u
static struct map *_Atomic maps[MAPS];

static struct map *make_map(const ptx_matrix *x, const struct view *v, uint64_t key)
{
    const uint32_t count = v->registers * LANES * v->per_register;
    struct map *m = malloc(sizeof(*m) + count * sizeof(m->target[0]));
    if (!m)
        return NULL;
    m->key = key;
    uint16_t *to = m->target;
    for (uint32_t r = 0; r < v->registers; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t e = 0; e < v->per_register; e++)
                *to++ = (uint16_t)target_of(x, v, lane, r, e);
    return m;
}

/* NULL: there is no room or memory for it. */
static const uint16_t *map_of(const struct work *w, const struct view *v)
{
    const uint64_t key = w->word << 2 | (uint64_t)(v->which - 'a');
    const uint32_t start = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 56) % MAPS;
    for (uint32_t i = 0; i < MAPS; i++) {
        struct map *_Atomic *at = &maps[(start + i) % MAPS];
        struct map *m = atomic_load_explicit(at, memory_order_acquire);
        if (!m) {
            struct map *made = make_map(&w->form, v, key);
            if (!made)
                return NULL;
            if (atomic_compare_exchange_strong(at, &m, made))
                return made->target;
            free(made);
        }
        if (m->key == key)
            return m->target;
    }
    return NULL;
}

/* Targets of a register's elements from the first lane on; `room` is for those that have
 * no table. */
static const uint16_t *targets_of(const struct work *w, const struct view *v,
                                  const uint16_t *map, uint32_t r, uint16_t *room)
{
    const uint32_t n = v->per_register;
    if (map)
        return &map[r * LANES * n];
    for (uint32_t i = 0; i < LANES * n; i++)
        room[i] = (uint16_t)target_of(&w->form, v, i / n, r, i % n);
    return room;
}

#define TARGETS_MAX (LANES * 32u) /* of a register: b1 */

/* a or b out of registers. b1: elements of a word stay together. */
static void gather(const struct work *w, const struct view *v, uint32_t slot,
                   soft_tensor *t)
{
    const uint32_t bits = ptx_element_bits(v->type), n = v->per_register;
    const uint32_t step = v->type == PTX_ELEMENT_B1 ? 32 : 1;
    const uint16_t *map = map_of(w, v);
    const bool is_a = v->which == 'a', ints = is_int(v->type);
    for (uint32_t r = first_register(v); r < v->registers; r++) {
        uint16_t room[TARGETS_MAX];
        const uint16_t *at = targets_of(w, v, map, r, room);
        const uint32_t *words = lanes32(w, slot + r);
        for (uint32_t i = 0; i < LANES * n; i += step) {
            const uint32_t value = bits >= 32 || step == 32
                                       ? words[i / n]
                                       : field_of(words[i / n], i % n, bits);
            if (bits == 64)
                memcpy(is_a ? &t->a.doubles[at[i]] : &t->b.doubles[at[i]],
                       &lanes64(w, slot + r)[i], 8);
            else if (ints)
                (is_a ? t->a.ints : t->b.ints)[at[i]] = int_of(value, v->type);
            else
                (is_a ? t->a.bits : t->b.bits)[at[i]] = value;
        }
    }
}

static void gather_addend(const struct work *w, uint32_t slot, soft_tensor *t)
{
    const struct view v = view_of(&w->form, 'c');
    const uint32_t bits = ptx_element_bits(v.type), n = v.per_register;
    const uint16_t *map = map_of(w, &v);
    for (uint32_t r = 0; r < v.registers; r++) {
        uint16_t room[TARGETS_MAX];
        const uint16_t *at = targets_of(w, &v, map, r, room);
        for (uint32_t i = 0; i < LANES * n; i++) {
            if (bits == 64)
                memcpy(&t->c.doubles[at[i]], &lanes64(w, slot + r)[i], 8);
            else
                t->c.bits[at[i]] = field_of(lanes32(w, slot + r)[i / n], i % n, bits);
        }
    }
}

static void scatter_result(const struct work *w, const soft_tensor *t)
{
    const struct view v = view_of(&w->form, 'd');
    const uint32_t bits = ptx_element_bits(v.type), n = v.per_register;
    const uint16_t *map = map_of(w, &v);
    for (uint32_t r = 0; r < v.registers; r++) {
        uint16_t room[TARGETS_MAX];
        const uint16_t *at = targets_of(w, &v, map, r, room);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t word = 0;
            for (uint32_t e = 0; e < n && bits != 64; e++)
                word |= t->d.bits[at[lane * n + e]] << (e * (bits & 31));
            if (bits != 64)
                lanes32(w, r)[lane] = word;
            else
                memcpy(&lanes64(w, r)[lane], &t->d.doubles[at[lane]], 8);
        }
    }
}

/* Four bits of metadata for each four numbers of A (two of tf32): two indices. Of 16 bits
 * and wider a lane has those of 16 columns (8 of tf32) of rows g and g + 8; of 8 bits, of
 * 32 columns of one of the two rows. */
static uint32_t metadata_of(const struct work *w, const uint32_t *lanes, uint32_t row,
                            uint32_t group)
{
    const uint32_t g = row % 8, upper = row / 8;
    const uint32_t many = ptx_matrix_metadata_lanes(&w->form);
    const uint32_t first = 4 * g + w->form.selector * many;
    if (w->form.a == PTX_ELEMENT_S8 || w->form.a == PTX_ELEMENT_U8)
        return lanes[first + 2 * (group / 8) + upper] >> (group % 8 * 4) & 15;
    return lanes[first + group / 4] >> (16 * upper + group % 4 * 4) & 15;
}

/* Which column of the whole A the nth number of a row is. */
static uint32_t column_of(const struct work *w, const uint32_t *lanes, uint32_t row,
                          uint32_t nth)
{
    if (w->form.a == PTX_ELEMENT_TF32) /* one of two, whose halves 16 bits would be */
        return 2 * nth + (metadata_of(w, lanes, row, nth) >> 1 & 1);
    return nth / 2 * 4 + (metadata_of(w, lanes, row, nth / 2) >> nth % 2 * 2 & 3);
}

/* Row by row: each has rows of B of its own, and adds up half as many products as a whole
 * A, as a GPU does, which never sees the numbers of B that it leaves out. */
static void multiply_sparse(const struct work *w, soft_tensor *t, uint32_t metadata)
{
    const uint32_t *lanes = lanes32(w, metadata);
    const uint32_t half = t->k / 2;
    const bool ints = is_int((ptx_element)t->a_type);
    soft_tensor one = *t;
    one.m = 1;
    one.k = half;
    for (uint32_t row = 0; row < t->m; row++) {
        for (uint32_t k = 0; k < half; k++) {
            const uint32_t column = column_of(w, lanes, row, k);
            if (ints)
                one.a.ints[k] = t->a.ints[row * half + k];
            else
                one.a.bits[k] = t->a.bits[row * half + k];
            for (uint32_t j = 0; j < t->n && ints; j++)
                one.b.ints[j * half + k] = t->b.ints[j * t->k + column];
            for (uint32_t j = 0; j < t->n && !ints; j++)
                one.b.bits[j * half + k] = t->b.bits[j * t->k + column];
        }
        memcpy(one.c.bits, &t->c.bits[row * t->n], t->n * sizeof(one.c.bits[0]));
        soft_tensor_multiply(&one);
        memcpy(&t->d.bits[row * t->n], one.d.bits, t->n * sizeof(one.d.bits[0]));
    }
}

static void multiply(const struct work *w)
{
    const ptx_matrix *x = &w->form;
    soft_tensor t;
    t.m = x->m;
    t.n = x->n;
    t.k = x->a == PTX_ELEMENT_B1 ? x->k / 32u : x->k;
    t.a_type = x->a;
    t.b_type = x->b;
    t.c_type = x->c;
    t.d_type = x->d;
    t.short_blocks = x->is_wmma;
    t.saturates = x->saturates;
    t.takes_and = x->takes_and;
    const struct view a = view_of(x, 'a'), b = view_of(x, 'b');
    uint32_t slot = ptx_matrix_registers(x, 'd');
    gather(w, &a, slot, &t);
    gather(w, &b, slot += a.registers, &t);
    gather_addend(w, slot += b.registers, &t);
    if (x->is_sparse)
        multiply_sparse(w, &t, slot + ptx_matrix_registers(x, 'c'));
    else
        soft_tensor_multiply(&t);
    scatter_result(w, &t);
}

/* ---- memory ------------------------------------------------------------------------ */

/* Where `bytes` at a lane's address are. */
static unsigned char *reach(const struct work *w, uint32_t lane, uint64_t address,
                            uint32_t bytes, bool write)
{
    if (w->form.is_shared)
        return w->block->shared + address;
    if (w->line == 0)
        return (unsigned char *)(uintptr_t)address;
    return ptx_rt_check(w->block, w->first + lane, address,
                        bytes | (write ? PTX_CHECK_WRITE : 0), w->line);
}

/* Rows of eight 16-bit elements, of each matrix from eight lanes' addresses. */
static void move_rows(const struct work *w, uint32_t registers, uint32_t addresses,
                      bool write)
{
    for (uint32_t matrix = 0; matrix < w->form.count; matrix++) {
        uint16_t rows[8][8] = {{0}};
        uint32_t *lanes = lanes32(w, registers + matrix);
        for (uint32_t i = 0; i < 64 && write; i++) {
            const uint32_t row = w->form.transposed ? i % 8 : i / 8;
            const uint32_t column = w->form.transposed ? i / 8 : i % 8;
            rows[row][column] = (uint16_t)(lanes[i / 2] >> (i % 2 * 16));
        }
        for (uint32_t row = 0; row < 8; row++) {
            const uint32_t lane = matrix * 8 + row;
            if (!(w->active >> lane & 1))
                continue;
            unsigned char *at =
                reach(w, lane, lanes64(w, addresses)[lane], sizeof(rows[0]), write);
            if (write)
                soft_text_copy(at, rows[row], sizeof(rows[0]));
            else
                soft_text_copy(rows[row], at, sizeof(rows[0]));
        }
        for (uint32_t i = 0; i < LANES && !write; i++) {
            const uint32_t row = i / 4, column = i % 4 * 2;
            lanes[i] = w->form.transposed
                           ? rows[column][row] | (uint32_t)rows[column + 1][row] << 16
                           : rows[row][column] | (uint32_t)rows[row][column + 1] << 16;
        }
    }
}

static void transpose(const struct work *w)
{
    uint16_t from[64];
    memcpy(from, lanes32(w, 1), sizeof(from)); /* element i of the matrix by rows */
    uint32_t *to = lanes32(w, 0);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t row = i / 4, column = i % 4 * 2;
        to[i] = from[column * 8 + row] | (uint32_t)from[(column + 1) * 8 + row] << 16;
    }
}

/* One word of a wmma fragment, element by element: its elements need not lie side by
 * side. Strides are in elements; those of less than a byte come in whole words. */
static void move_word(const struct work *w, const struct view *v, uint32_t lane,
                      uint32_t r, const uint16_t *targets, bool write)
{
    const uint32_t addresses = v->registers;
    const uint32_t bits = ptx_element_bits(v->type), bytes = bits < 8 ? 4 : bits / 8;
    const uint32_t step = bits < 8 ? 32 / bits : 1;
    const bool by_column = w->form.a_by_column;
    const uint32_t line = by_column ? v->rows : v->columns;
    const uint64_t base = lanes64(w, addresses)[lane];
    const uint64_t stride = w->has_stride ? lanes32(w, addresses + 1)[lane] : line;
    uint64_t word = bits == 64 ? lanes64(w, r)[lane] : lanes32(w, r)[lane];
    if (!write)
        word = 0;
    for (uint32_t e = 0; e < v->per_register; e += step) {
        const uint32_t row = targets[e] >> 8, column = targets[e] & 255u;
        const uint64_t at = by_column ? column * stride + row : row * stride + column;
        unsigned char *there = reach(w, lane, base + at * bits / 8, bytes, write);
        const uint64_t value = word >> (bits == 64 ? 0 : e * bits);
        if (write)
            soft_text_store(there, value, bytes);
        else
            word |= soft_text_load(there, bytes) << (bits == 64 ? 0 : e * bits);
    }
    if (write)
        return;
    if (bits == 64)
        lanes64(w, r)[lane] = word;
    else
        lanes32(w, r)[lane] = (uint32_t)word;
}

static void move_fragment(const struct work *w, bool write)
{
    const struct view v = view_of(&w->form, (char)('a' + w->form.which));
    const uint16_t *map = map_of(w, &v);
    const uint32_t from = write ? 0 : first_register(&v), distinct = v.registers - from;
    for (uint32_t r = from; r < v.registers; r++) {
        uint16_t room[TARGETS_MAX];
        const uint16_t *targets = targets_of(w, &v, map, r, room);
        for (uint32_t lane = 0; lane < LANES; lane++)
            if (w->active >> lane & 1)
                move_word(w, &v, lane, r, &targets[lane * v.per_register], write);
    }
    for (uint32_t r = from; r-- > 0;) /* copies: `distinct` registers on */
        memcpy(w->slots + r * SLOT_BYTES, w->slots + (r + distinct) * SLOT_BYTES,
               SLOT_BYTES);
}

/* ---- entries ----------------------------------------------------------------------- */

static void run(const struct work *w)
{
    switch ((ptx_matrix_op)w->form.op) {
    case PTX_MATRIX_MMA: multiply(w); break;
    case PTX_MATRIX_LOAD: move_rows(w, 0, w->form.count, false); break;
    case PTX_MATRIX_STORE: move_rows(w, 0, w->form.count, true); break;
    case PTX_MATRIX_MOVE: transpose(w); break;
    case PTX_MATRIX_FRAGMENT: move_fragment(w, false); break;
    case PTX_MATRIX_RESULT: move_fragment(w, true); break;
    }
}

void ptx_rt_matrix(ptx_block *block, uint64_t word, uint32_t active, uint32_t first,
                   uint32_t line, uint32_t has_stride, void *slots)
{
    const struct work w = {.form = ptx_matrix_unpack(word),
                           .word = word,
                           .block = block,
                           .slots = slots,
                           .active = active,
                           .first = first,
                           .line = line,
                           .has_stride = has_stride != 0};
    run(&w);
}

/* Slots in use, which a thread's values go to and come from. */
static uint32_t slot_count(const ptx_matrix *x)
{
    switch ((ptx_matrix_op)x->op) {
    case PTX_MATRIX_MMA:
        return ptx_matrix_registers(x, 'a') + ptx_matrix_registers(x, 'b') +
               ptx_matrix_registers(x, 'c') + ptx_matrix_registers(x, 'd') + x->is_sparse;
    case PTX_MATRIX_MOVE: return 2;
    case PTX_MATRIX_LOAD:
    case PTX_MATRIX_STORE: return x->count + 1u;
    default: return ptx_matrix_registers(x, (char)('a' + x->which)) + 2;
    }
}

/* Whether a slot holds 64 bits a lane: f64, and addresses. */
static bool is_wide(const ptx_matrix *x, uint32_t slot)
{
    switch ((ptx_matrix_op)x->op) {
    case PTX_MATRIX_MMA: return x->a == PTX_ELEMENT_F64;
    case PTX_MATRIX_MOVE: return false;
    case PTX_MATRIX_LOAD:
    case PTX_MATRIX_STORE: return slot == x->count;
    default:
        return slot == ptx_matrix_registers(x, (char)('a' + x->which)) ||
               (x->a == PTX_ELEMENT_F64 && slot < slot_count(x) - 2);
    }
}

void soft_warp_matrix(soft_lane *warp, uint32_t there, ptx_block *block)
{
    _Alignas(64) unsigned char slots[(PTX_MATRIX_REGISTERS_MAX + 2) * SLOT_BYTES];
    uint32_t one = 0;
    while (!(there >> one & 1))
        one++;
    struct work w = {.form = ptx_matrix_unpack(warp[one].matrix),
                     .word = warp[one].matrix,
                     .block = block,
                     .slots = slots,
                     .active = there,
                     .first = warp[0].view.index,
                     .line = warp[one].b,
                     .has_stride = warp[one].c != 0};
    const uint32_t count = slot_count(&w.form);
    memset(slots, 0, (size_t)count * SLOT_BYTES);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < LANES; i++) {
            if (!(there >> i & 1))
                continue;
            uint64_t *values = (uint64_t *)(uintptr_t)warp[i].value;
            for (uint32_t s = 0; s < count; s++) {
                const bool wide = is_wide(&w.form, s);
                if (pass == 0 && wide)
                    lanes64(&w, s)[i] = values[s];
                else if (pass == 0)
                    lanes32(&w, s)[i] = (uint32_t)values[s];
                else
                    values[s] = wide ? lanes64(&w, s)[i] : lanes32(&w, s)[i];
            }
        }
        if (pass == 0)
            run(&w);
    }
}
