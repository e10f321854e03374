// SPDX-License-Identifier: Apache-2.0
/* DLPack 1.3's layouts, as its specification has them; names are ours, values are its own.
 * https://dmlc.github.io/dlpack/latest/c_api.html */
#ifndef GPHPY_DLPACK_H
#define GPHPY_DLPACK_H
#include "gphpy.h"

#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 3 };
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_COMPLEX, DL_BOOL };
enum { DL_F8E4M3 = 8, DL_F8E4M3FN = 10, DL_F8E5M2 = 12 };

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

typedef struct dl_device {
    int32_t type, id;
} dl_device;

typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t rank;
    dl_type type;
    int64_t *shape, *strides; /* in elements; no strides: dense, before version 1.2 */
    uint64_t byte_offset;
} dl_tensor;

/* What a capsule "dltensor" holds. */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

/* What a capsule "dltensor_versioned" holds. */
typedef struct dl_versioned {
    dl_version version;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* What a type's capsule __dlpack_c_exchange_api__, "dlpack_exchange_api", holds. */
typedef struct dl_exchange {
    dl_version version;
    struct dl_exchange *previous;
    int (*allocate)(dl_tensor *prototype, dl_versioned **out, void *context,
                    void (*set_error)(void *context, const char *kind,
                                      const char *message));
    int (*managed_from_object)(void *object, dl_versioned **out);
    int (*managed_to_object)(dl_versioned *taken, void **object);
    int (*tensor_from_object)(void *object, dl_tensor *out); /* may be NULL */
    int (*current_stream)(int32_t device_type, int32_t device, void **stream);
} dl_exchange;

/* The table of a type, of a version that is known here; NULL without exception. It lives as long
 * as the type. */
const dl_exchange *gphpy_exchange_of(PyTypeObject *type);

/* A question to a tensor of PyTorch, by its handle. */
typedef bool gphpy_question(const void *handle);

/* Where an object of PyTorch has its at::Tensor: right after its head. */
static inline const void *gphpy_handle_of(PyObject *tensor)
{
    return (const char *)tensor + sizeof(PyObject);
}

/* Whether a tensor like this one is a view that stands for the negative of what lies there; NULL,
 * without exception, where C cannot say it. */
gphpy_question *gphpy_is_neg_of(PyObject *object);
#endif
