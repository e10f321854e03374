// SPDX-License-Identifier: Apache-2.0
/* A growing array of items of one size. Addresses of items change when it grows. */
#ifndef GPHI_BASE_VEC_H
#define GPHI_BASE_VEC_H
#include <gph/base.h>

typedef struct gphi_vec {
    gph_allocator heap;
    size_t item_bytes;
    size_t count;
    size_t capacity;
    void *items;
} gphi_vec;

/* An empty one; allocates nothing. */
void gphi_vec_init(gphi_vec *vec, gph_allocator heap, size_t item_bytes);
void gphi_vec_fini(gphi_vec *vec);

/* Room for `more` items beyond the count, so that adding them cannot fail. */
gph_status gphi_vec_reserve(gphi_vec *vec, size_t more);

/* `count` zeroed items at the end: the first of them, or NULL, with nothing changed. */
void *gphi_vec_add(gphi_vec *vec, size_t count);

/* A copy of one item at the end. GPH_E_NO_MEMORY leaves the array as it was. */
gph_status gphi_vec_push(gphi_vec *vec, const void *item);

/* The item that begins with these bytes; made, zeroed after them, where there is none and
 * fewer than `most` are there. NULL: too many, or no memory. */
void *gphi_vec_keyed(gphi_vec *vec, const void *key, size_t key_bytes, size_t most);

/* Takes an item out; those after it move up. */
void gphi_vec_remove(gphi_vec *vec, size_t index);

/* For qsort() and bsearch(): items that begin with a uint64_t, by it, rising. */
int gphi_by_first(const void *a, const void *b);

/* By halves: sets `low`, a size_t, to the first of `count` places `at` where `is_before`,
 * an expression, is false; in all places before it is true. */
#define GPHI_HALVE(low, count, at, is_before)                                            \
    do {                                                                                 \
        low = 0;                                                                         \
        for (size_t gphi_high = (count); low < gphi_high;) {                             \
            const size_t at = low + (gphi_high - low) / 2;                               \
            if (is_before)                                                               \
                low = at + 1;                                                            \
            else                                                                         \
                gphi_high = at;                                                          \
        }                                                                                \
    } while (0)

/* How many items that are sorted so begin with a word up to `key`. */
size_t gphi_vec_upto(const gphi_vec *vec, uint64_t key);

/* The item of that index; the end of the items for `index` == count, which may be NULL.
 */
static inline void *gphi_vec_at(const gphi_vec *vec, size_t index)
{
    return vec->items ? (char *)vec->items + index * vec->item_bytes : NULL;
}

/* Goes through the items of a vec; none may be added or taken out meanwhile. */
#define GPHI_EACH(type, item, vec)                                                       \
    for (type *item = (vec)->items; item < (type *)gphi_vec_at(vec, (vec)->count); item++)

/* The pointer of that index, of an array of pointers. */
static inline void *gphi_vec_pointer(const gphi_vec *vec, size_t index)
{
    return *(void **)gphi_vec_at(vec, index);
}

/* Room for `count` items in an array that somebody keeps by hand, where a gphi_vec for
 * each of many would be too large: doubles `capacity` as often as need be. The array,
 * moved or not, or NULL, with nothing changed. */
void *gphi_array_room(gph_allocator heap, void *items, uint32_t *capacity, size_t count,
                      size_t item_bytes) GPH_CHECKED;
#endif
