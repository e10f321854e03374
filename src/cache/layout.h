// SPDX-License-Identifier: Apache-2.0
/* What a cache is before any graph: axes, keys, shapes. No driver.
 *
 *   sizes (77, decode)     axis 0: 1 2 4 ... 64 [96] 128      axis 1: prefill [decode]
 *                                            rung 12                       rung 1
 *   key = 12 * stride 0 + 1 * stride 1 = 25
 *   home[25]  = 25: the smallest wanted key that holds it
 *   serve[25] = 27: the smallest captured one, until 25 is captured itself
 *
 * Both tables are made from the top down: what serves a key is itself or the least of
 * what serves its successors on the padded axes, so a look-up walks no key. */
#ifndef GPHI_CACHE_LAYOUT_H
#define GPHI_CACHE_LAYOUT_H
#include "base/text.h"
#include "callable/signature.h"

#include <gph/cache.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One axis, its values rising. */
struct gphi_axis {
    char *name;
    bool is_discrete;
    uint32_t count;
    uint32_t stride; /* of its rung in a key */
    int64_t *values;
    uint16_t *rungs; /* of each size up to the last value; NULL: search */
    uint32_t rung_count;
};

typedef struct gphi_layout {
    gph_allocator heap;
    struct gphi_axis axes[GPH_CACHE_AXES_MAX];
    uint32_t axis_count;
    uint32_t key_count;
    uint32_t input_count;
    uint32_t output_count;
    uint32_t tensor_count; /* inputs, then outputs */
    gph_cache_tensor *tensors;
    double overshoot_max;
    double *volume; /* of each key: values of the padded axes, multiplied */
    uint32_t *home;
    _Atomic uint32_t *serve;
    _Atomic uint8_t
        *state; /* of each key: a gph_cache_reason, GPH_CACHE_FITS: captured */
} gphi_layout;

/* Reads axes, tensors and limits. `out` is zeroed on failure, too, so that fini may
 * follow. */
gph_status gphi_layout_init(gphi_layout *out, const gph_cache_options *options,
                            gph_allocator heap, gph_error *error);
void gphi_layout_fini(gphi_layout *layout);

/* The values of an axis, made as its ladder says. In axes.c. */
gph_status gphi_axis_init(struct gphi_axis *out, const gph_cache_axis *axis,
                          gph_allocator heap, gph_error *error);
void gphi_axis_fini(struct gphi_axis *axis, gph_allocator heap);

/* The rung of the smallest value that is not below `size`; `count` if there is none. */
uint32_t gphi_axis_rung(const struct gphi_axis *axis, int64_t size);

void gphi_layout_values(const gphi_layout *layout, uint32_t key, int64_t *out);
void gphi_layout_find(const gphi_layout *layout, const int64_t *sizes,
                      gph_cache_match *out);

/* gph_cache_match_write(). */
void gphi_layout_explain(const gphi_layout *layout, const gph_cache_match *match,
                         const int64_t *sizes, gphi_text *text);

/* Sizes multiplied over the axes that are padded. */
double gphi_layout_units(const gphi_layout *layout, const int64_t *sizes);

/* Whether every value of the key holds the size, and discrete ones equal it. */
bool gphi_layout_holds(const gphi_layout *layout, uint32_t key, const int64_t *sizes);

/* A key's state; look-ups see it after gphi_layout_serve(), which is for many keys at
 * once. One thread at a time, while others find. */
void gphi_layout_mark(gphi_layout *layout, uint32_t key, gph_cache_reason state);
void gphi_layout_serve(gphi_layout *layout);
gph_cache_reason gphi_layout_state(const gphi_layout *layout, uint32_t key);

/* "tokens 64, mode 1"; into a buffer it is cut. */
void gphi_layout_say(const gphi_layout *layout, const int64_t *values, gphi_text *text);
void gphi_layout_name(const gphi_layout *layout, const int64_t *values, char *name,
                      size_t bytes);

/* The dense tensor that a rule makes of sizes. Too large: GPH_E_INVALID. */
gph_status gphi_layout_tensor(const gph_cache_tensor *rule, const int64_t *sizes,
                              CUdeviceptr data, gph_tensor *out, gph_error *error);
#endif
