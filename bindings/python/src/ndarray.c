// SPDX-License-Identifier: Apache-2.0
/* NumPy's arrays, read where they lie: their buffers allocate and describe their format again each
 * time, which costs more than the call that they are for. The layout is part of NumPy's ABI of
 * versions 1 and 2 (numpy/ndarraytypes.h), which the module says before it is relied on. */
#include "gphpy.h"

enum { CODES = 24, ABI_SLOT = 0, TYPE_SLOT = 2 };

typedef struct description {
    PyObject_HEAD PyTypeObject *type;
    char kind, letter, order, flags;
    int code; /* what follows is not the same in both */
} description;

typedef struct ndarray {
    PyObject_HEAD char *data;
    int rank;
    Py_ssize_t *shape, *strides; /* strides in bytes */
    PyObject *base;
    description *type;
} ndarray;

/* By NumPy's number of a type: ours, and the power of two of its bytes. 0: not known here. */
static const struct code {
    uint8_t dtype, shift;
} codes[CODES] = {
    {GPH_DTYPE_BOOL, 0},
    {GPH_DTYPE_I8, 0},
    {GPH_DTYPE_U8, 0},
    {GPH_DTYPE_I16, 1},
    {GPH_DTYPE_U16, 1},
    {GPH_DTYPE_I32, 2},
    {GPH_DTYPE_U32, 2},
    {GPH_DTYPE_I64, 3},
    {GPH_DTYPE_U64, 3},
    {GPH_DTYPE_I64, 3},
    {GPH_DTYPE_U64, 3},
    {GPH_DTYPE_F32, 2},
    {GPH_DTYPE_F64, 3},
    {0, 0},
    {GPH_DTYPE_C64, 3},
    {GPH_DTYPE_C128, 4},
    {0, 0},
    {0, 0},
    {0, 0},
    {0, 0},
    {0, 0},
    {0, 0},
    {0, 0},
    {GPH_DTYPE_F16, 1},
};

bool gphpy_is_ndarray(PyTypeObject *type)
{
    PyObject *modules = PySys_GetObject("modules"); /* borrowed */
    PyObject *numpy = NULL;
    static const char *const names[] = {"numpy._core._multiarray_umath",
                                        "numpy.core._multiarray_umath"};
    for (int i = 0; i < 2 && modules && !numpy; i++)
        numpy = PyMapping_GetItemString(modules, names[i]); /* it has been imported */
    PyErr_Clear();
    PyObject *capsule = numpy ? PyObject_GetAttrString(numpy, "_ARRAY_API") : NULL;
    void *const *const table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    bool is_one = false;
    if (table && table[TYPE_SLOT] == type) {
        unsigned (*const abi)(void) = (unsigned (*)(void))(uintptr_t)table[ABI_SLOT];
        const unsigned major = abi() >> 24;
        is_one = major == 1 || major == 2;
    }
    Py_XDECREF(capsule);
    Py_XDECREF(numpy);
    PyErr_Clear();
    return is_one;
}

bool gphpy_ndarray_read(PyObject *object, gph_tensor *out)
{
    const ndarray *array = (const ndarray *)(const void *)object;
    const description *type = array->type;
    if (type->code < 0 || type->code >= CODES || array->rank > GPH_TENSOR_RANK_MAX ||
        type->order == '>')
        return false;
    const struct code code = codes[type->code];
    Py_ssize_t remainders = 0;
    for (int i = 0; i < array->rank; i++) {
        out->shape[i] = array->shape[i];
        out->stride[i] = array->strides[i] >> code.shift;
        remainders |= array->strides[i];
    }
    out->data = (CUdeviceptr)(uintptr_t)array->data;
    out->dtype = code.dtype;
    out->rank = (uint32_t)array->rank;
    return code.dtype != 0 && (remainders & ((1 << code.shift) - 1)) == 0;
}
