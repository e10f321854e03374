// SPDX-License-Identifier: Apache-2.0
/* Reads model.safetensors: 8 bytes of header length, a JSON header, then the tensors'
 * bytes without gap or overlap. Nothing in the file is believed before it is checked:
 * lengths, offsets, products of shapes, names that occur twice. */
#ifndef DECODE_SAFETENSORS_H
#define DECODE_SAFETENSORS_H

#include "json.h"

enum { TENSOR_DIMS_MAX = 8 };

#define TENSOR_TYPES(X)                                                                  \
    X(BOOL, 1)                                                                           \
    X(U8, 1)                                                                             \
    X(I8, 1)                                                                             \
    X(F8_E5M2, 1)                                                                        \
    X(F8_E4M3, 1)                                                                        \
    X(I16, 2)                                                                            \
    X(U16, 2)                                                                            \
    X(F16, 2)                                                                            \
    X(BF16, 2)                                                                           \
    X(I32, 4)                                                                            \
    X(U32, 4)                                                                            \
    X(F32, 4)                                                                            \
    X(I64, 8)                                                                            \
    X(U64, 8)                                                                            \
    X(F64, 8)

typedef enum tensor_type {
#define X(name, bytes) TENSOR_##name,
    TENSOR_TYPES(X)
#undef X
} tensor_type;

typedef struct tensor {
    const char *name;
    tensor_type type;
    uint32_t dims;
    uint64_t shape[TENSOR_DIMS_MAX];
    uint64_t count;      /* elements: the product of the shape */
    uint64_t begin, end; /* bytes from the start of the data */
} tensor;

typedef struct tensors {
    gph_allocator heap;
    json header;
    tensor *list; /* by name */
    uint32_t count, capacity;
    uint64_t data_at; /* where the data starts in the file */
    int file;         /* -1: none */
} tensors;

/* Checks a header of `bytes` bytes against `data_bytes` of data after it.
 *
 *  heap   copied.
 *  out    the caller's; tensors_close(). Untouched on failure.
 *
 *  Fails with GPH_E_FORMAT and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status tensors_parse(const gph_allocator *heap, const char *header,
                                     size_t bytes, uint64_t data_bytes, tensors *out,
                                     gph_error *error);

/* Opens a file and checks its header. Fails with GPH_E_INVALID (it cannot be opened),
 * GPH_E_FORMAT and GPH_E_NO_MEMORY. */
GPH_CHECKED gph_status tensors_open(const gph_allocator *heap, const char *path,
                                    tensors *out, gph_error *error);
void tensors_close(tensors *file);

/* NULL if there is none of that name. Lent until tensors_close(). */
const tensor *tensors_find(const tensors *file, const char *name);

/* The type's name, such as "F16". */
const char *tensor_type_name(tensor_type type);

/* Reads a tensor of F32, F16 or BF16 as floats; `out` has room for its `count`. Fails
 * with GPH_E_FORMAT (the file has shrunk) and GPH_E_UNSUPPORTED (another type); `out` is
 * then undefined. */
GPH_CHECKED gph_status tensors_read(const tensors *file, const tensor *which, float *out,
                                    gph_error *error);

/* Reads a tensor's bytes as they are. */
GPH_CHECKED gph_status tensors_read_bytes(const tensors *file, const tensor *which,
                                          void *out, gph_error *error);

#endif
