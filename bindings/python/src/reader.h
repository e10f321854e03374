// SPDX-License-Identifier: Apache-2.0
/* A framework's tensors without its Python: addresses, and copies by the driver. For PathHit. */
#ifndef GPHPY_READER_H
#define GPHPY_READER_H
#include "dlpack.h"

enum {
    GPHPY_READER_COPIES = 3
}; /* more are one kernel's: each copy costs the host a microsecond */

typedef struct gphpy_reader {
    PyTypeObject *type; /* NULL: there is none, and all is asked for by methods */
    const dl_exchange *api;
    /* PyTorch's C interface (aoti_torch_get_data_ptr): a handle is where the object has its
     * at::Tensor, which is its first member. */
    int (*data_ptr)(void *handle, void **out);
    gphpy_runtime *runtime;
    int device;
    uint32_t copy_count;
    dl_tensor targets[GPHPY_READER_COPIES]; /* lent by the tensors, which a step keeps */
    size_t bytes[GPHPY_READER_COPIES];
} gphpy_reader;

/* From a tuple (type, address of the function, Runtime, device), or None. -1 with an exception. */
int gphpy_reader_read(gphpy_reader *out, PyObject *parts);
void gphpy_reader_free(gphpy_reader *reader);
/* Where a tensor's data lies. False, without exception: it is to be asked for otherwise. */
bool gphpy_reader_address(const gphpy_reader *reader, PyObject *tensor, void **out);
/* Remembers the targets (a list) of copies that it may do itself; else it does none. */
void gphpy_reader_targets(gphpy_reader *reader, PyObject *targets);
/* Copies a list of sources there, in the current stream. False, without exception: something is
 * not as it was (layout, type, device), or the driver refused; nothing is lost by copying again. */
bool gphpy_reader_copy(const gphpy_reader *reader, PyObject *sources);
#endif
