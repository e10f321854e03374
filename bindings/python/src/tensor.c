// SPDX-License-Identifier: Apache-2.0
/* Tensor: a view of device memory that speaks DLPack, and what keeps that memory. */
#include "gphpy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    uint32_t dtype, bytes;
} dtypes[] = {
#define X(name, value, bytes, text) {text, name, bytes},
    GPH_DTYPE_MAP(X)
#undef X
};
enum { DTYPES = sizeof(dtypes) / sizeof(*dtypes) };

bool gphpy_dtype_read(PyObject *object, gph_dtype *out)
{
    for (int i = 0; i < DTYPES && PyUnicode_Check(object); i++)
        if (PyUnicode_CompareWithASCIIString(object, dtypes[i].name) == 0) {
            *out = (gph_dtype)dtypes[i].dtype;
            return true;
        }
    const char *words[DTYPES + 1] = {NULL};
    for (int i = 0; i < DTYPES; i++)
        words[i] = dtypes[i].name;
    gphpy_word(object, words, 0, "dtype");
    return false;
}

const char *gphpy_dtype_name(uint32_t dtype)
{
    return dtype >= 1 && dtype <= DTYPES ? dtypes[dtype - 1].name : "?";
}

uint32_t gphpy_dtype_bytes(uint32_t dtype)
{
    return dtype >= 1 && dtype <= DTYPES ? dtypes[dtype - 1].bytes : 0;
}

int gphpy_shape_read(PyObject *object, int64_t shape[GPH_TENSOR_RANK_MAX])
{
    PyObject *all =
        PyLong_Check(object) ? PyTuple_Pack(1, object) : PySequence_Tuple(object);
    if (!all)
        return -1;
    int rank = (int)TUPLE_SIZE(all);
    if (rank > GPH_TENSOR_RANK_MAX) {
        gphpy_invalid("a shape has %d dimensions, %d are the most", rank,
                      GPH_TENSOR_RANK_MAX);
        rank = -1;
    }
    for (int i = 0; i < rank; i++) {
        shape[i] = PyLong_AsLongLong(TUPLE_ITEM(all, i));
        if (shape[i] < 0 && !PyErr_Occurred())
            gphpy_invalid("shape[%d] is %lld", i, (long long)shape[i]);
        if (shape[i] < 0)
            rank = -1;
    }
    Py_DECREF(all);
    return rank;
}

/* ---- scopes ---- */

gphpy_scope *gphpy_scope_create(void)
{
    gphpy_scope *scope = malloc(sizeof(*scope));
    if (!scope)
        return (gphpy_scope *)PyErr_NoMemory();
    atomic_init(&scope->references, 1);
    atomic_init(&scope->is_over, 0);
    return scope;
}

void gphpy_scope_release(gphpy_scope *scope)
{
    if (scope && atomic_fetch_sub(&scope->references, 1) == 1)
        free(scope);
}

/* ---- Tensor ---- */

PyObject *gphpy_tensor_new(gphpy_runtime *runtime, const gph_tensor *view,
                           PyObject *owner)
{
    gphpy_tensor *self = PyObject_New(gphpy_tensor, gphpy_types.tensor);
    if (!self)
        return NULL;
    self->view = *view;
    self->owner = Py_XNewRef(owner);
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    return (PyObject *)self;
}

static void destroy(gphpy_tensor *self)
{
    Py_XDECREF(self->owner);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

int gphpy_tensor_read(gphpy_runtime *runtime, PyObject *object, const char *what,
                      Py_ssize_t index, gph_tensor *out)
{
    if (Py_TYPE(object) != gphpy_types.tensor)
        return gphpy_dlpack_read(runtime, object, what, index, out);
    const gph_tensor *view = &((gphpy_tensor *)object)->view;
    out->data = view->data;
    out->dtype = view->dtype;
    out->rank = view->rank;
    for (uint32_t i = 0; i < view->rank; i++) {
        out->shape[i] = view->shape[i];
        out->stride[i] = view->stride[i];
    }
    return 0;
}

static int read_strides(PyObject *strides, gph_tensor *view)
{
    PyObject *all = PySequence_Tuple(strides);
    int status = all ? 0 : -1;
    if (all && TUPLE_SIZE(all) != (Py_ssize_t)view->rank) {
        gphpy_invalid("there are %zd strides and %u dimensions", TUPLE_SIZE(all),
                      view->rank);
        status = -1;
    }
    for (uint32_t i = 0; status == 0 && i < view->rank; i++) {
        view->stride[i] = PyLong_AsLongLong(TUPLE_ITEM(all, i));
        status = view->stride[i] == -1 && PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(all);
    return status;
}

PyObject *gphpy_tensor_view(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"data",    "shape", "dtype",
                                        "strides", "owner", NULL};
    unsigned long long data = 0;
    PyObject *shape = NULL, *word = NULL, *strides = Py_None, *owner = Py_None;
    gph_dtype dtype = GPH_DTYPE_F32;
    int64_t sizes[GPH_TENSOR_RANK_MAX];
    if (!PARSE(args, kwargs, "KO|O$OO:tensor", names, &data, &shape, &word, &strides,
               &owner) ||
        (word && !gphpy_dtype_read(word, &dtype)))
        return NULL;
    const int rank = gphpy_shape_read(shape, sizes);
    if (rank < 0)
        return NULL;
    gph_tensor view = gph_tensor_dense(data, dtype, (uint32_t)rank, sizes);
    if (strides != Py_None && read_strides(strides, &view) < 0)
        return NULL;
    return gphpy_tensor_new(runtime, &view, owner == Py_None ? NULL : owner);
}

static PyObject *get_data(gphpy_tensor *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(self->view.data);
}

static PyObject *get_shape(gphpy_tensor *self, void *unused)
{
    (void)unused;
    return gphpy_int64s(self->view.shape, self->view.rank);
}

static PyObject *get_strides(gphpy_tensor *self, void *unused)
{
    (void)unused;
    return gphpy_int64s(self->view.stride, self->view.rank);
}

static PyObject *get_dtype(gphpy_tensor *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(gphpy_dtype_name(self->view.dtype));
}

static PyObject *get_bytes(gphpy_tensor *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(gph_tensor_bytes(&self->view));
}

static PyObject *represent(gphpy_tensor *self)
{
    PyObject *shape = gphpy_int64s(self->view.shape, self->view.rank);
    char where[24]; /* %llx is not known to Python before 3.12 */
    snprintf(where, sizeof(where), "0x%llx", self->view.data);
    PyObject *text =
        shape ? PyUnicode_FromFormat("<graphophone.Tensor %s%R at %s>",
                                     gphpy_dtype_name(self->view.dtype), shape, where)
              : NULL;
    Py_XDECREF(shape);
    return text;
}

static PyObject *dlpack(gphpy_tensor *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"stream", "max_version", "dl_device", "copy",
                                        NULL};
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor = 0;
    if (!PARSE(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device,
               &copy))
        return NULL;
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "a Tensor is a view; copy it yourself");
        return NULL;
    }
    if (version != Py_None &&
        !PyArg_ParseTuple(version, "ii;max_version", &major, &minor))
        return NULL;
    return gphpy_dlpack_export(self, major >= 1);
}

static PyObject *dlpack_device(gphpy_tensor *self, PyObject *unused)
{
    (void)unused;
    const bool is_soft = self->runtime->is_soft;
    const int device = self->runtime->device;
    return Py_BuildValue("(ii)", is_soft ? 1 : 2, is_soft || device < 0 ? 0 : device);
}

/* ---- copies of host memory ---- */

static PyObject *copy_host(gphpy_tensor *self, PyObject *object, bool is_from_host)
{
    Py_buffer host;
    gph_error error = {0};
    const uint64_t bytes = gph_tensor_bytes(&self->view);
    const gph_cuda_calls *cu = self->runtime->cu;
    if (!gphpy_runtime_use(self->runtime) ||
        PyObject_GetBuffer(object, &host,
                           PyBUF_C_CONTIGUOUS | (is_from_host ? 0 : PyBUF_WRITABLE)) < 0)
        return NULL;
    gph_status status = GPH_OK;
    if ((uint64_t)host.len != bytes)
        gphpy_invalid("the buffer has %zd bytes, the tensor %llu", host.len,
                      (unsigned long long)bytes);
    else if (is_from_host)
        WITHOUT_GIL(status,
                    gph_cuda_check(cu->MemcpyHtoD(self->view.data, host.buf, bytes),
                                   "cuMemcpyHtoD", &error));
    else
        WITHOUT_GIL(status,
                    gph_cuda_check(cu->MemcpyDtoH(host.buf, self->view.data, bytes),
                                   "cuMemcpyDtoH", &error));
    PyBuffer_Release(&host);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *copy_from(gphpy_tensor *self, PyObject *object)
{
    return copy_host(self, object, true);
}

static PyObject *copy_to(gphpy_tensor *self, PyObject *object)
{
    return copy_host(self, object, false);
}

static PyMethodDef methods[] = {
    METHOD("__dlpack__", dlpack,
           "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, "
           "copy=None)\n--\n\n"
           "DLPack's capsule. Nothing is waited for: the caller orders its work after "
           "that which\n"
           "fills the tensor."),
    METHOD0("__dlpack_device__", dlpack_device,
            "__dlpack_device__($self)\n--\n\n(2, ordinal): CUDA; on softcuda, whose "
            "memory the host\n"
            "reads, (1, 0): CPU, so that numpy.from_dlpack() views it."),
    METHOD1("copy_from", copy_from,
            "copy_from($self, buffer, /)\n--\n\nCopies bytes of the host here, from "
            "anything with the\n"
            "buffer protocol, of the tensor's size; waits for it."),
    METHOD1("copy_to", copy_to,
            "copy_to($self, buffer, /)\n--\n\nCopies its bytes into a writable buffer of "
            "the host;\n"
            "waits for it."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("data", get_data, "The device address of element 0, an int."),
    GETTER("shape", get_shape, "Elements, a tuple."),
    GETTER("strides", get_strides, "From element to element, in elements."),
    GETTER("dtype", get_dtype, "Such as 'f32', 'bf16', 'i64', 'bool'."),
    GETTER("nbytes", get_bytes, "From its first to past its last element."),
    GETTER("__cuda_array_interface__", gphpy_tensor_interface,
           "For CuPy, Numba and others: a dict of version 3, without a stream to wait "
           "for."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_tensor_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A view of device memory: of a pool, an output, or an address. It "
                 "speaks\n"
                 "DLPack. Wherever a tensor is asked for, anything that does will do."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_repr, (void *)represent},
        {Py_bf_getbuffer, (void *)gphpy_tensor_buffer},
        {Py_bf_releasebuffer, (void *)gphpy_tensor_buffer_end},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Tensor", sizeof(gphpy_tensor), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.tensor);
}
