// SPDX-License-Identifier: Apache-2.0
/* What decides a branch or a loop, as Python says it: a tensor of one word, a comparison
 * (left, "<", right), or a function that launches a kernel which sets the handle. */
#include "gphpy.h"

static const struct relation {
    const char *text;
    uint32_t relation;
} relations[] = {
    {"<", GPH_LESS},           {"==", GPH_EQUAL},     {"<=", GPH_LESS_EQUAL},
    {">=", GPH_GREATER_EQUAL}, {"!=", GPH_NOT_EQUAL}, {">", GPH_GREATER},
};

static bool read_relation(PyObject *word, uint32_t *out)
{
    for (size_t i = 0;
         PyUnicode_Check(word) && i < sizeof(relations) / sizeof(*relations); i++)
        if (PyUnicode_CompareWithASCIIString(word, relations[i].text) == 0) {
            *out = relations[i].relation;
            return true;
        }
    gphpy_invalid("a relation is one of <, <=, ==, !=, >=, >");
    return false;
}

static bool read_type(uint32_t dtype, uint32_t *out)
{
    static const struct {
        uint32_t dtype, type;
    } types[] = {{GPH_DTYPE_U32, GPH_VALUE_U32}, {GPH_DTYPE_I32, GPH_VALUE_I32},
                 {GPH_DTYPE_U64, GPH_VALUE_U64}, {GPH_DTYPE_I64, GPH_VALUE_I64},
                 {GPH_DTYPE_F32, GPH_VALUE_F32}, {GPH_DTYPE_F64, GPH_VALUE_F64}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (types[i].dtype == dtype) {
            *out = types[i].type;
            return true;
        }
    gphpy_invalid("elements of %s are not compared: u32, i32, u64, i64, f32, f64 are",
                  gphpy_dtype_name(dtype));
    return false;
}

static int read_constant(PyObject *number, gph_condition *out)
{
    if (out->type == GPH_VALUE_F32 || out->type == GPH_VALUE_F64)
        out->constant.f = PyFloat_AsDouble(number);
    else if (out->type == GPH_VALUE_I32 || out->type == GPH_VALUE_I64)
        out->constant.i = PyLong_AsLongLong(number);
    else
        out->constant.u = PyLong_AsUnsignedLongLong(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_comparison(gphpy_runtime *runtime, PyObject *three, gph_condition *out)
{
    gph_tensor left, right;
    PyObject *other = TUPLE_ITEM(three, 2);
    out->kind = GPH_CONDITION_COMPARE;
    if (gphpy_tensor_read(runtime, TUPLE_ITEM(three, 0), "side", 0, &left) < 0 ||
        !read_type(left.dtype, &out->type) ||
        !read_relation(TUPLE_ITEM(three, 1), &out->relation))
        return -1;
    out->left = left.data;
    if (PyLong_Check(other) || PyFloat_Check(other))
        return read_constant(other, out);
    if (gphpy_tensor_read(runtime, other, "side", 2, &right) < 0)
        return -1;
    if (right.dtype != left.dtype) {
        gphpy_invalid("%s is compared with %s", gphpy_dtype_name(left.dtype),
                      gphpy_dtype_name(right.dtype));
        return -1;
    }
    out->right = right.data;
    return 0;
}

/* On the thread that captures, which has released the GIL. */
static gph_status set_handle(void *user, CUstream stream, uint64_t handle,
                             gph_error *error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    gphpy_pending before;
    PyObject *result = gphpy_pending_take(&before)
                           ? PyObject_CallFunction((PyObject *)user, "KK",
                                                   (unsigned long long)(uintptr_t)stream,
                                                   (unsigned long long)handle)
                           : NULL;
    const gph_status status = result ? GPH_OK : gphpy_failed(error);
    Py_XDECREF(result);
    gphpy_pending_give(&before);
    PyGILState_Release(state);
    return status;
}

int gphpy_condition_read(gphpy_runtime *runtime, PyObject *object, gph_condition *out)
{
    *out = (gph_condition)GPH_CONDITION_INIT;
    if (PyTuple_Check(object) && TUPLE_SIZE(object) == 3)
        return read_comparison(runtime, object, out);
    if (PyCallable_Check(object)) {
        out->kind = GPH_CONDITION_KERNEL;
        out->set = set_handle;
        out->user = object;
        return 0;
    }
    gph_tensor word;
    if (gphpy_tensor_read(runtime, object, "condition", 0, &word) < 0)
        return -1;
    if (gphpy_dtype_bytes(word.dtype) != 4) {
        gphpy_invalid("a condition is a word of 4 bytes, not of %s",
                      gphpy_dtype_name(word.dtype));
        return -1;
    }
    out->left = word.data;
    return 0;
}
