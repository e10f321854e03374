// SPDX-License-Identifier: Apache-2.0
/* For which arguments something was recorded, and how others differ. */
#ifndef GPHI_CALLABLE_SIGNATURE_H
#define GPHI_CALLABLE_SIGNATURE_H
#include <gph/callable.h>
#include <stdbool.h>

typedef struct gphi_signature {
    gph_allocator heap;
    gph_tensor *inputs; /* `data`: where it lies; fields beyond the rank are zero */
    uint8_t *modes;     /* gph_input_mode */
    int64_t *key;
    uint32_t input_count, key_count;
    CUdevice device;
} gphi_signature;

/* Copies it all. `modes` NULL: all are copied. Fails with GPH_E_INVALID (the message
 * names input and field) and GPH_E_NO_MEMORY; nothing is to be undone then. */
gph_status gphi_signature_init(gphi_signature *signature, gph_allocator heap,
                               const gph_arguments *arguments, const uint8_t *modes,
                               gph_error *error);
void gphi_signature_fini(gphi_signature *signature);

/* Whether arguments fit: comparisons only. NULL fits. Addresses of static and managed
 * inputs count; the device is not looked at. */
bool gphi_signature_fits(const gphi_signature *signature, const gph_arguments *arguments);

/* All that differs: returns how many, writes the first `capacity` of them. */
uint32_t gphi_signature_list(const gphi_signature *signature,
                             const gph_arguments *arguments, gph_mismatch *all,
                             uint32_t capacity);

/* Bytes of an element; 0: no such type. */
uint32_t gphi_dtype_bytes(uint32_t dtype);
/* "f32"; "no type" */
const char *gphi_dtype_name(uint32_t dtype);

/* A tensor that is well formed, or GPH_E_INVALID, "WHAT INDEX: ...". */
gph_status gphi_tensor_check(const gph_tensor *tensor, const char *what, uint32_t index,
                             gph_error *error);
/* Type, shape and the strides that matter. */
bool gphi_tensor_same_layout(const gph_tensor *got, const gph_tensor *recorded);
/* Row-major without gaps. */
bool gphi_tensor_is_dense(const gph_tensor *tensor);

/* Refuses counts without their arrays; `function` is the public one that was called. */
gph_status gphi_arguments_given(const gph_arguments *arguments, const char *function,
                                gph_error *error);
#endif
