// SPDX-License-Identifier: Apache-2.0
/* A framework's tensors without its Python. Inputs that a graph reads where they lie are compared
 * by the hundred, and small ones are copied: each by a method of Python would cost more than the
 * launch. */
#include "reader.h"

static int read_layout(PyObject *object, gphpy_layout *out)
{
    if (object == Py_None)
        return 0;
    return PyArg_Parse(object, "(iiiii);layout is five ints or None", &out->storage,
                       &out->offset, &out->data, &out->poisoned, &out->hooks)
               ? 0
               : -1;
}

int gphpy_reader_read(gphpy_reader *out, PyObject *parts)
{
    PyObject *type = NULL, *runtime = NULL;
    PyObject *layout = NULL;
    unsigned long long address = 0;
    *out = (gphpy_reader){.type = NULL};
    if (parts == Py_None)
        return 0;
    if (!PyTuple_Check(parts) ||
        !PyArg_ParseTuple(parts,
                          "O!KO!iO;reader is (type, address, Runtime, device, layout)",
                          &PyType_Type, &type, &address, gphpy_types.runtime, &runtime,
                          &out->device, &layout) ||
        read_layout(layout, &out->layout) < 0) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "reader is a tuple or None");
        return -1;
    }
    out->api = gphpy_exchange_of((PyTypeObject *)type);
    void *const function = (void *)(uintptr_t)address;
    memcpy(&out->data_ptr, &function, sizeof(function));
    out->type = (PyTypeObject *)Py_NewRef(type);
    out->runtime = (gphpy_runtime *)Py_NewRef(runtime);
    return 0;
}

void gphpy_reader_free(gphpy_reader *reader)
{
    Py_CLEAR(reader->type);
    Py_XSETREF(reader->runtime, NULL);
    PyMem_Free(reader->targets);
    PyMem_Free(reader->bytes);
    reader->targets = NULL;
    reader->bytes = NULL;
    reader->target_count = 0;
}

static bool is_tensor(const gphpy_reader *reader, PyObject *object)
{
    return reader->type && (Py_TYPE(object) == reader->type ||
                            PyType_IsSubtype(Py_TYPE(object), reader->type));
}

bool gphpy_reader_address(const gphpy_reader *reader, PyObject *tensor, void **out)
{
    return reader->data_ptr && is_tensor(reader, tensor) &&
           reader->data_ptr((char *)tensor + sizeof(PyObject), out) == 0;
}

bool gphpy_reader_peek(const gphpy_reader *reader, PyObject *tensor, void **out)
{
    return reader->layout.storage != 0 && is_tensor(reader, tensor) &&
           gphpy_layout_peek(&reader->layout, tensor, out);
}

bool gphpy_reader_is_bare(const gphpy_reader *reader, PyObject *tensor)
{
    const void *hooks = NULL;
    if (reader->layout.storage == 0 || !is_tensor(reader, tensor))
        return false;
    hooks = gphpy_word_at(tensor, reader->layout.hooks);
    return !hooks || hooks == Py_None;
}

static bool view_of(const gphpy_reader *reader, PyObject *tensor, dl_tensor *out)
{
    if (!is_tensor(reader, tensor))
        return false;
    if (reader->api->tensor_from_object(tensor, out) == 0)
        return true;
    PyErr_Clear();
    return false;
}

/* The bytes of a tensor whose elements lie one after the other, in the order of its shape; 0: of
 * another one, or complex, which may stand for its conjugate. */
static size_t dense_bytes(const dl_tensor *t)
{
    int64_t dense = 1;
    if (t->type.code == DL_COMPLEX || t->type.lanes != 1 || t->type.bits % 8 != 0 ||
        !t->strides || t->device.type != DL_CUDA)
        return 0;
    for (int32_t i = t->rank; i-- > 0;) {
        if (t->shape[i] != 1 && t->strides[i] != dense)
            return 0;
        dense *= t->shape[i];
    }
    return (size_t)dense * (t->type.bits / 8u);
}

int gphpy_reader_targets(gphpy_reader *reader, PyObject *targets)
{
    const Py_ssize_t count = PyList_Size(targets);
    if (!reader->api || !reader->api->tensor_from_object ||
        !reader->api->current_stream || count <= 0 || count > GPHPY_READER_TARGETS)
        return 0;
    reader->targets = PyMem_Calloc((size_t)count, sizeof(*reader->targets));
    reader->bytes = PyMem_Calloc((size_t)count, sizeof(*reader->bytes));
    if (!reader->targets || !reader->bytes) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        dl_tensor *target = &reader->targets[i];
        reader->bytes[i] =
            view_of(reader, PyList_GetItem(targets, i), target) ? dense_bytes(target) : 0;
        if (reader->bytes[i] == 0)
            return 0;
    }
    reader->is_neg = gphpy_is_neg_of(PyList_GetItem(targets, 0));
    reader->target_count = (uint32_t)count;
    return 0;
}

static CUdeviceptr begin_of(const dl_tensor *tensor)
{
    return (CUdeviceptr)(uintptr_t)tensor->data + tensor->byte_offset;
}

static bool is_alike(const dl_tensor *a, const dl_tensor *b)
{
    const size_t bytes = a->rank > 0 ? (size_t)a->rank * sizeof(*a->shape) : 0;
    return a->rank == b->rank && a->device.type == b->device.type &&
           a->device.id == b->device.id &&
           memcmp(&a->type, &b->type, sizeof(a->type)) == 0 &&
           memcmp(a->shape, b->shape, bytes) == 0;
}

/* A view that stands for the negative of what lies there, which the table does not say. */
static bool is_negative(const gphpy_reader *reader, PyObject *tensor)
{
    if (reader->is_neg)
        return reader->is_neg(gphpy_handle_of(tensor));
    PyObject *answer = PyObject_CallMethod(tensor, "is_neg", NULL);
    const bool is_plain = answer == Py_False;
    Py_XDECREF(answer);
    PyErr_Clear();
    return !is_plain;
}

bool gphpy_reader_sources(const gphpy_reader *reader, PyObject *const *sources,
                          Py_ssize_t count, CUdeviceptr *from)
{
    if (count == 0 || count != (Py_ssize_t)reader->target_count)
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *source = sources[i];
        dl_tensor view;
        if (!view_of(reader, source, &view) || !is_alike(&view, &reader->targets[i]) ||
            dense_bytes(&view) != reader->bytes[i] || is_negative(reader, source))
            return false;
        from[i] = begin_of(&view);
    }
    return true;
}

bool gphpy_reader_copy(const gphpy_reader *reader, const CUdeviceptr *from)
{
    void *stream = NULL;
    if (reader->target_count > GPHPY_READER_COPIES)
        return false;
    if (reader->api->current_stream(DL_CUDA, reader->device, &stream) != 0) {
        PyErr_Clear();
        return false;
    }
    for (uint32_t i = 0; i < reader->target_count; i++)
        if (reader->runtime->cu->MemcpyDtoDAsync(begin_of(&reader->targets[i]), from[i],
                                                 reader->bytes[i], stream) != 0)
            return false;
    return true;
}
