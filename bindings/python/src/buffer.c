// SPDX-License-Identifier: Apache-2.0
/* A Tensor as others take it beside DLPack: a buffer of the host, __cuda_array_interface__. */
#include "gphpy.h"

#include <stdlib.h>

/* What element types are called by the struct module and by NumPy. bf16 and the types of 8
 * bits with a point have no name there. */
static const struct name {
    uint32_t dtype;
    const char *format, *typestr;
} names[] = {
    {GPH_DTYPE_U8, "B", "|u1"},   {GPH_DTYPE_I8, "b", "|i1"},
    {GPH_DTYPE_BOOL, "?", "|b1"}, {GPH_DTYPE_I16, "h", "<i2"},
    {GPH_DTYPE_U16, "H", "<u2"},  {GPH_DTYPE_F16, "e", "<f2"},
    {GPH_DTYPE_I32, "i", "<i4"},  {GPH_DTYPE_U32, "I", "<u4"},
    {GPH_DTYPE_F32, "f", "<f4"},  {GPH_DTYPE_I64, "q", "<i8"},
    {GPH_DTYPE_U64, "Q", "<u8"},  {GPH_DTYPE_F64, "d", "<f8"},
    {GPH_DTYPE_C64, "Zf", "<c8"}, {GPH_DTYPE_C128, "Zd", "<c16"},
};

static const struct name *name_of(uint32_t dtype)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (names[i].dtype == dtype)
            return &names[i];
    return NULL;
}

static bool is_dense(const gph_tensor *view)
{
    const gph_tensor dense =
        gph_tensor_dense(view->data, view->dtype, view->rank, view->shape);
    return memcmp(dense.stride, view->stride, view->rank * sizeof(*view->stride)) == 0;
}

static bool asks(int flags, int what)
{
    return (flags & what) == what;
}

/* NULL, or why the memory cannot be given so. */
static const char *refusal(const gphpy_tensor *tensor, int flags)
{
    const gph_tensor *view = &tensor->view;
    if (!tensor->runtime->is_soft)
        return "a Tensor lies on the device, where the host cannot read: copy_to() does";
    if (!name_of(view->dtype))
        return "the struct module has no letter for the elements";
    const bool must_be_dense = !asks(flags, PyBUF_STRIDES) ||
                               asks(flags, PyBUF_C_CONTIGUOUS) ||
                               asks(flags, PyBUF_ANY_CONTIGUOUS);
    if (must_be_dense && !is_dense(view))
        return "the Tensor is not dense";
    if (asks(flags, PyBUF_F_CONTIGUOUS) && (view->rank > 1 || !is_dense(view)))
        return "the Tensor is not in Fortran's order";
    return NULL;
}

/* NumPy's from_dlpack() is read-only up to 2.2.4, whatever a capsule says; asarray() of this is
 * not. */
int gphpy_tensor_buffer(gphpy_tensor *self, Py_buffer *out, int flags)
{
    /* Shape and strides as Python counts them, as long as the buffer is in use. */
    struct layout {
        Py_ssize_t sizes[GPH_TENSOR_RANK_MAX], strides[GPH_TENSOR_RANK_MAX];
    };
    const gph_tensor *view = &self->view;
    const Py_ssize_t item = (Py_ssize_t)gphpy_dtype_bytes(view->dtype);
    const char *why = refusal(self, flags);
    out->obj = NULL;
    if (why) {
        PyErr_SetString(PyExc_BufferError, why);
        return -1;
    }
    struct layout *layout = malloc(sizeof(*layout));
    if (!layout) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t count = 1;
    for (uint32_t i = 0; i < view->rank; i++) {
        layout->sizes[i] = (Py_ssize_t)view->shape[i];
        layout->strides[i] = (Py_ssize_t)view->stride[i] * item;
        count *= layout->sizes[i];
    }
    const bool has_shape = asks(flags, PyBUF_ND);
    const char *format = name_of(view->dtype)->format;
    *out = (Py_buffer){.buf = (void *)(uintptr_t)view->data,
                       .obj = Py_NewRef((PyObject *)self),
                       .len = count * item,
                       .itemsize = item,
                       .ndim = has_shape ? (int)view->rank : 1,
                       .format =
                           asks(flags, PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL,
                       .shape = has_shape ? layout->sizes : NULL,
                       .strides = asks(flags, PyBUF_STRIDES) ? layout->strides : NULL,
                       .internal = layout};
    return 0;
}

void gphpy_tensor_buffer_end(gphpy_tensor *self, Py_buffer *view)
{
    (void)self;
    free(view->internal);
}

static PyObject *byte_strides(const gph_tensor *view)
{
    int64_t strides[GPH_TENSOR_RANK_MAX];
    if (is_dense(view))
        return Py_NewRef(Py_None);
    for (uint32_t i = 0; i < view->rank; i++)
        strides[i] = view->stride[i] * gphpy_dtype_bytes(view->dtype);
    return gphpy_int64s(strides, view->rank);
}

PyObject *gphpy_tensor_interface(gphpy_tensor *self, void *unused)
{
    (void)unused;
    const gph_tensor *view = &self->view;
    const struct name *name = name_of(view->dtype);
    if (!name) { /* as an object without the protocol, so that others look for DLPack */
        PyErr_Format(PyExc_AttributeError,
                     "__cuda_array_interface__ has no name for elements of %s",
                     gphpy_dtype_name(view->dtype));
        return NULL;
    }
    PyObject *shape = gphpy_int64s(view->shape, view->rank);
    PyObject *strides = byte_strides(view);
    if (shape && strides)
        return Py_BuildValue("{sN sN ss s(KO) si sO}", "shape", shape, "strides", strides,
                             "typestr", name->typestr, "data", view->data, Py_False,
                             "version", 3, "stream", Py_None);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return NULL;
}
