// SPDX-License-Identifier: Apache-2.0
/* A framework's tensors without its Python: addresses, and copies by the driver. For PathHit. */
#ifndef GPHPY_READER_H
#define GPHPY_READER_H
#include "dlpack.h"

enum {
    GPHPY_READER_TARGETS = 32,
    GPHPY_READER_COPIES =
        3 /* by calls: more are one kernel's, as each costs the host a microsecond */
};

/* Where PyTorch has what a call of its own would look up, in bytes: found out by looking at tensors
 * (_driver.layout()), so that none of it is known ahead. `storage` 0: it is not known. */
typedef struct gphpy_layout {
    int storage; /* of an at::TensorImpl: its c10::StorageImpl */
    int offset;  /* of an at::TensorImpl: where it begins in that, in elements */
    int data;    /* of a c10::StorageImpl: the address */
    int poisoned; /* of a c10::StorageImpl: a byte, not 0: whoever asks for the address is refused */
    int hooks; /* of an object: its _backward_hooks, NULL or None without any */
} gphpy_layout;

/* The word that lies so many bytes after an address. */
static inline void *gphpy_word_at(const void *place, int bytes)
{
    void *word = NULL;
    memcpy(&word, (const char *)place + bytes, sizeof(word));
    return word;
}

/* Where the data of an object of PyTorch lies; false: PyTorch has to be asked. */
static inline bool gphpy_layout_peek(const gphpy_layout *at, PyObject *tensor, void **out)
{
    const char *impl = gphpy_word_at(gphpy_handle_of(tensor), 0);
    const char *storage = impl ? gphpy_word_at(impl, at->storage) : NULL;
    if (!storage || storage[at->poisoned] != 0 || gphpy_word_at(impl, at->offset))
        return false;
    *out = gphpy_word_at(storage, at->data);
    return true;
}

typedef struct gphpy_reader {
    PyTypeObject *type; /* NULL: there is none, and all is asked for by methods */
    const dl_exchange *api;
    /* PyTorch's C interface (aoti_torch_get_data_ptr): a handle is where the object has its
     * at::Tensor, which is its first member. */
    int (*data_ptr)(void *handle, void **out);
    gphpy_question *is_neg; /* NULL: by the method */
    gphpy_layout layout;
    gphpy_runtime *runtime;
    int device;
    uint32_t target_count; /* 0: PyTorch copies */
    dl_tensor *targets;    /* lent by the tensors, which a step keeps */
    size_t *bytes;
} gphpy_reader;

/* From a tuple (type, address of the function, Runtime, device, layout: five ints or None), or None.
 * -1 with an exception. */
int gphpy_reader_read(gphpy_reader *out, PyObject *parts);
void gphpy_reader_free(gphpy_reader *reader);
/* Where a tensor's data lies. False, without exception: it is to be asked for otherwise. */
bool gphpy_reader_address(const gphpy_reader *reader, PyObject *tensor, void **out);
/* The same by the layout, without a call: for tensors that begin where their storage does. */
bool gphpy_reader_peek(const gphpy_reader *reader, PyObject *tensor, void **out);
/* Whether a tensor is known to have no hooks; false: it may have some. */
bool gphpy_reader_is_bare(const gphpy_reader *reader, PyObject *tensor);
/* Remembers the targets (a list) of copies, if all of them are dense: only then is there anything
 * that it copies, or says the sources of. -1 with an exception. */
int gphpy_reader_targets(gphpy_reader *reader, PyObject *targets);
/* Where as many sources lie. False, without exception: something is not as it was (layout, type,
 * device). */
bool gphpy_reader_sources(const gphpy_reader *reader, PyObject *const *sources,
                          Py_ssize_t count, CUdeviceptr *from);
/* Copies them, up to GPHPY_READER_COPIES, in the current stream. False, without exception: there are
 * too many, or the driver refused; nothing is lost by copying again. */
bool gphpy_reader_copy(const gphpy_reader *reader, const CUdeviceptr *from);
#endif
