// SPDX-License-Identifier: Apache-2.0
/* GraphedCall: a call of a function of PyTorch that is a graph, where no gradient is wanted.
 *
 *   arguments that are not in place  ->  copy_()  ->  replay  ->  detach() of each output
 *
 * What is not as plain as that (keywords, nested arguments, gradients) is miss()'s, which is the
 * same in Python. */
#include "gphpy.h"

#include <stddef.h>

/* What the type is made with, by name. */
#define PARTS(X)                                                                         \
    X(miss)       /* function(*args) */                                                  \
    X(graph)      /* a Launcher */                                                       \
    X(tensor)     /* the type that arguments have to be of */                            \
    X(inputs)     /* a tuple: the graph's own */                                         \
    X(outputs)    /* a tuple: the graph's own */                                         \
    X(finish)     /* function(list of outputs), None: the tuple, or the one output */    \
    X(pending)    /* a list: as long as it is not empty, all is miss()'s */              \
    X(is_blocked) /* function without arguments: whether it is miss()'s; or None */

typedef struct graphed {
    PyObject_HEAD vectorcallfunc call;
#define X(name) PyObject *name;
    PARTS(X)
#undef X
    bool is_one; /* output, with `finish` None */
} graphed;

static PyObject *name_copy, *name_data_ptr, *name_detach;

/* Whether the two are one memory; -1 with an exception. */
static int in_place(PyObject *own, PyObject *given)
{
    PyObject *a = PyObject_CallMethodNoArgs(own, name_data_ptr);
    PyObject *b = a ? PyObject_CallMethodNoArgs(given, name_data_ptr) : NULL;
    const int same = b ? PyObject_RichCompareBool(a, b, Py_EQ) : -1;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return same;
}

static int put(PyObject *own, PyObject *given)
{
    if (own == given)
        return 0;
    const int same = in_place(own, given);
    if (same != 0)
        return same < 0 ? -1 : 0;
    PyObject *result = PyObject_CallMethodOneArg(own, name_copy, given);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static PyObject *give(const graphed *self)
{
    const Py_ssize_t count = TUPLE_SIZE(self->outputs);
    if (self->is_one)
        return PyObject_CallMethodNoArgs(TUPLE_ITEM(self->outputs, 0), name_detach);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *one =
            PyObject_CallMethodNoArgs(TUPLE_ITEM(self->outputs, i), name_detach);
        if (!one)
            Py_CLEAR(tuple);
        else
            TUPLE_SET(tuple, i, one);
    }
    if (!tuple || self->finish == Py_None)
        return tuple;
    PyObject *result = PyObject_CallFunctionObjArgs(self->finish, tuple, NULL);
    Py_DECREF(tuple);
    return result;
}

/* 1: the call is ours; 0: it is miss()'s; -1: an exception. */
static int is_plain(const graphed *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != TUPLE_SIZE(self->inputs) || PyList_Size(self->pending) > 0)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (Py_TYPE(args[i]) != (PyTypeObject *)self->tensor)
            return 0;
    if (self->is_blocked == Py_None)
        return 1;
    PyObject *answer = PyObject_CallNoArgs(self->is_blocked);
    const int is_blocked = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return is_blocked < 0 ? -1 : !is_blocked;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags,
                      PyObject *keywords)
{
    graphed *const self = (graphed *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    const int plain = keywords ? 0 : is_plain(self, args, count);
    if (plain < 0)
        return NULL;
    if (plain == 0)
        return PyObject_Vectorcall(self->miss, args, flags, keywords);
    for (Py_ssize_t i = 0; i < count; i++)
        if (put(TUPLE_ITEM(self->inputs, i), args[i]) < 0)
            return NULL;
    PyObject *result = gphpy_launcher_replay(self->graph);
    if (!result)
        return NULL;
    Py_DECREF(result);
    return give(self);
}

static int read_parts(graphed *self, PyObject *parts)
{
    PyObject *value;
#define X(name)                                                                          \
    value = parts ? PyDict_GetItemString(parts, #name) : NULL;                           \
    if (!value) {                                                                        \
        PyErr_SetString(PyExc_TypeError, "GraphedCall() needs " #name);                  \
        return -1;                                                                       \
    }                                                                                    \
    self->name = Py_NewRef(value);
    PARTS(X)
#undef X
    if (!PyTuple_Check(self->inputs) || !PyTuple_Check(self->outputs) ||
        !PyList_Check(self->pending) || !PyType_Check(self->tensor)) {
        PyErr_SetString(
            PyExc_TypeError,
            "inputs and outputs are tuples, pending is a list, and tensor is a type");
        return -1;
    }
    if (!PyObject_TypeCheck(self->graph, gphpy_types.launcher)) {
        PyErr_Format(PyExc_TypeError, "graph is a %S, not a Launcher",
                     (PyObject *)Py_TYPE(self->graph));
        return -1;
    }
    return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *parts)
{
    int is_one = 0;
    if (!PyArg_ParseTuple(args, "p:GraphedCall", &is_one))
        return NULL;
    graphed *self = gphpy_new(type, sizeof(*self));
    if (!self)
        return NULL;
    self->call = call;
    if (read_parts(self, parts) < 0)
        Py_CLEAR(self);
    else if (is_one && TUPLE_SIZE(self->outputs) != 1) {
        gphpy_invalid("one output is said, and there are %zd", TUPLE_SIZE(self->outputs));
        Py_CLEAR(self);
    } else
        self->is_one = is_one;
    return (PyObject *)self;
}

static void destroy(graphed *self)
{
#define X(name) Py_XDECREF(self->name);
    PARTS(X)
#undef X
    gphpy_free(self);
}

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(graphed, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_graphed_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A function of PyTorch that is a graph: called with tensors "
                            "where no gradient\n"
                            "is wanted, it is C alone. For graphophone.torch."},
        {Py_tp_new, (void *)make},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.GraphedCall", sizeof(graphed), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    name_copy = PyUnicode_InternFromString("copy_");
    name_data_ptr = PyUnicode_InternFromString("data_ptr");
    name_detach = PyUnicode_InternFromString("detach");
    if (!name_copy || !name_data_ptr || !name_detach)
        return -1;
    return gphpy_type_add(module, &spec, &gphpy_types.graphed);
}
