// SPDX-License-Identifier: Apache-2.0
/* StorageWeakRefWrapper.expired() of torch._inductor.cudagraph_trees (2.11), in C:
 *
 *   wrapper.ref.cdata  ->  how many own the storage       wrapper.extra_ref_check is None: 0 is dead
 *                                                         else the node's own tensor owns it twice, and
 *                                                         nobody but the node may have that tensor */
#include "liveness.h"

static PyObject *name_ref, *name_cdata, *name_extra, *name_use_count;

int gphpy_liveness_ready(void)
{
    name_ref = PyUnicode_InternFromString("ref");
    name_cdata = PyUnicode_InternFromString("cdata");
    name_extra = PyUnicode_InternFromString("extra_ref_check");
    name_use_count = PyUnicode_InternFromString("_use_count");
    return name_ref && name_cdata && name_extra && name_use_count ? 0 : -1;
}

int gphpy_liveness_check(PyObject *what)
{
    bool is_fine = what == Py_None || PyCallable_Check(what) ||
                   (PyTuple_Check(what) && TUPLE_SIZE(what) > 0 &&
                    PyCallable_Check(TUPLE_ITEM(what, 0)));
    for (Py_ssize_t i = 1; is_fine && PyTuple_Check(what) && i < TUPLE_SIZE(what); i++) {
        PyObject *one = TUPLE_ITEM(what, i);
        is_fine = PyTuple_Check(one) && TUPLE_SIZE(one) == 3 &&
                  PyList_Check(TUPLE_ITEM(one, 0)) && PyList_Check(TUPLE_ITEM(one, 1)) &&
                  PyLong_Check(TUPLE_ITEM(one, 2));
    }
    if (is_fine)
        return 0;
    PyErr_SetString(PyExc_TypeError,
                    "what has to be dead is a function, None, or a tuple "
                    "of a function and (list, list, index)");
    return -1;
}

/* A number that a call gave, which is let go of; -1 with an exception. */
static Py_ssize_t number(PyObject *result)
{
    const Py_ssize_t value = result ? PyLong_AsSsize_t(result) : -1;
    Py_XDECREF(result);
    return value;
}

/* check_refcount(): whether the node alone has the tensor that it gives again and again. */
static int is_only_the_nodes(PyObject *cached, Py_ssize_t index)
{
    PyObject *tensor = PyList_GetItem(cached, index); /* borrowed: it is counted */
    const Py_ssize_t uses =
        tensor ? number(PyObject_CallMethodNoArgs(tensor, name_use_count)) : -1;
    if (uses < 0)
        return -1;
    return Py_REFCNT(tensor) == (uses > 1 ? 2 : 1); /* PyTorch's C++ may have one, too */
}

static int is_dead(PyObject *count_of, PyObject *one)
{
    const Py_ssize_t index = PyLong_AsSsize_t(TUPLE_ITEM(one, 2));
    PyObject *wrapper = PyList_GetItem(TUPLE_ITEM(one, 0), index);
    PyObject *extra = wrapper ? PyObject_GetAttr(wrapper, name_extra) : NULL;
    if (!extra)
        return -1;
    const bool is_cached = extra != Py_None;
    Py_DECREF(extra);
    const int is_only = is_cached ? is_only_the_nodes(TUPLE_ITEM(one, 1), index) : 1;
    if (is_only != 1)
        return is_only;
    PyObject *ref = PyObject_GetAttr(wrapper, name_ref);
    PyObject *cdata = ref ? PyObject_GetAttr(ref, name_cdata) : NULL;
    const Py_ssize_t owners =
        cdata ? number(PyObject_CallFunctionObjArgs(count_of, cdata, NULL)) : -1;
    Py_XDECREF(cdata);
    Py_XDECREF(ref);
    return owners < 0 ? -1 : owners == (is_cached ? 2 : 0);
}

int gphpy_all_dead(PyObject *what)
{
    if (what == Py_None)
        return 1;
    if (!PyTuple_Check(what)) {
        PyObject *result = PyObject_CallNoArgs(what);
        const int truth = result ? PyObject_IsTrue(result) : -1;
        Py_XDECREF(result);
        return truth;
    }
    int truth = 1;
    for (Py_ssize_t i = 1; i < TUPLE_SIZE(what) && truth == 1; i++)
        truth = is_dead(TUPLE_ITEM(what, 0), TUPLE_ITEM(what, i));
    return truth;
}
