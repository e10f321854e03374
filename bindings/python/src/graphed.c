// SPDX-License-Identifier: Apache-2.0
/* GraphedCall: a call of a function of PyTorch that is a graph, where no gradient is wanted.
 *
 *   arguments that are not in place  ->  one copy of all  ->  replay  ->  detach() of each output
 *                                    `->  a launch of the graph that copies them  -'
 *
 * What is not as plain as that (keywords, nested arguments, gradients) is miss()'s, which is the
 * same in Python. Addresses are read through DLPack's C table where the type has it. An output
 * of the last call that nobody holds any more, and that is as it was given, is given again: that
 * takes a tenth of a detach(). */
#include "gphpy.h"

#include "reader.h"

#include <stddef.h>

/* What the type is made with, by name. */
#define PARTS(X)                                                                         \
    X(miss)       /* function(*args) */                                                  \
    X(graph)      /* a Launcher */                                                       \
    X(tensor)     /* the type that arguments have to be of */                            \
    X(copying)    /* a Launcher of the same graph that copies inputs itself, or None */  \
    X(inputs)     /* a tuple: the graph's own */                                         \
    X(copy)       /* function(list of own, list of given), where several are copied */   \
    X(outputs)    /* a tuple: the graph's own */                                         \
    X(finish)     /* function(list of outputs), None: the tuple, or the one output */    \
    X(pending)    /* a list: as long as it is not empty, all is miss()'s */              \
    X(is_blocked) /* function without arguments: whether it is miss()'s; or None */

typedef struct graphed {
    PyObject_HEAD vectorcallfunc call;
#define X(name) PyObject *name;
    PARTS(X)
#undef X
    const dl_exchange *api; /* of `tensor`, or NULL */
    void **places;          /* of inputs, as the graph knows them; by the table alone */
    dl_tensor *views;       /* of outputs; likewise */
    PyObject **last;        /* of outputs: what the last call gave */
    gphpy_question *is_neg; /* of `tensor`, or NULL: by its method */
    gphpy_reader reader;    /* of inputs, for `copying` */
    bool is_one;            /* output, with `finish` None */
    bool has_asked;         /* whether `copying` can be had */
} graphed;

static PyObject *name_copy, *name_detach, *name_is_conj, *name_is_neg, *name_prepare,
    *name_requires_grad;
enum { PULL = 2 };

static bool view_of(const graphed *self, PyObject *tensor, dl_tensor *out)
{
    if (!self->api)
        return false;
    if (self->api->tensor_from_object(tensor, out) == 0)
        return true;
    PyErr_Clear(); /* of an element type that DLPack lacks: it is asked by its methods */
    return false;
}

static bool is_same_view(const dl_tensor *a, const dl_tensor *b)
{
    const size_t bytes = a->rank > 0 ? (size_t)a->rank * sizeof(*a->shape) : 0;
    return a->data == b->data && a->byte_offset == b->byte_offset && a->rank == b->rank &&
           memcmp(&a->type, &b->type, sizeof(a->type)) == 0 && a->strides && b->strides &&
           memcmp(a->shape, b->shape, bytes) == 0 &&
           memcmp(a->strides, b->strides, bytes) == 0;
}

/* Whether a view at the graph's own address is what the graph reads there: not transposed, and
 * neither the conjugate nor the negative of it, which DLPack does not say. */
static int is_as_it_lies(const graphed *self, Py_ssize_t i, PyObject *given,
                         const dl_tensor *view)
{
    dl_tensor own;
    if (!view_of(self, TUPLE_ITEM(self->inputs, i), &own) || !is_same_view(view, &own))
        return 0;
    if (self->is_neg && view->type.code != DL_COMPLEX)
        return !self->is_neg(gphpy_handle_of(given));
    PyObject *const names[] = {name_is_conj, name_is_neg};
    for (int k = 0; k < 2; k++) {
        PyObject *answer = PyObject_CallMethodNoArgs(given, names[k]);
        Py_XDECREF(answer); /* True and False are never freed */
        if (answer != Py_False)
            return answer ? 0 : -1;
    }
    return 1;
}

static int is_in_place(const graphed *self, Py_ssize_t i, PyObject *given)
{
    dl_tensor view;
    PyObject *own = TUPLE_ITEM(self->inputs, i);
    if (own == given)
        return 1;
    if (!self->places[i] || !view_of(self, given, &view))
        return 0; /* copied, though it may lie there already */
    if ((char *)view.data + view.byte_offset != self->places[i])
        return 0;
    return is_as_it_lies(self, i, given, &view);
}

/* Notes that input i is to be copied. 0: no, the call is miss()'s, since autograd would write
 * down a copy of what requires a gradient. */
static int note(const graphed *self, Py_ssize_t i, PyObject *given, PyObject *lists[2])
{
    dl_tensor view;
    PyObject *own = TUPLE_ITEM(self->inputs, i);
    PyObject *is_wanted = PyObject_GetAttr(given, name_requires_grad);
    Py_XDECREF(is_wanted); /* True and False are never freed */
    if (is_wanted != Py_False)
        return is_wanted ? 0 : -1;
    if (self->places[i] && view_of(self, own, &view) &&
        (char *)view.data + view.byte_offset != self->places[i]) {
        PyErr_Format(
            PyExc_RuntimeError,
            "the graph reads its input %zd at %p, and that tensor has been moved "
            "since it was recorded, by set_() or resize_()",
            i, self->places[i]);
        return -1;
    }
    for (int k = 0; k < 2; k++)
        if (!lists[k] && !(lists[k] = PyList_New(0)))
            return -1;
    return PyList_Append(lists[0], own) < 0 || PyList_Append(lists[1], given) < 0 ? -1
                                                                                  : 1;
}

static PyObject *copy(const graphed *self, PyObject *own, PyObject *given)
{
    if (PyList_Size(own) > 1)
        return PyObject_CallFunctionObjArgs(self->copy, own, given, NULL);
    return PyObject_CallMethodOneArg(PyList_GetItem(own, 0), name_copy,
                                     PyList_GetItem(given, 0));
}

/* Whether the graph can copy, which it is made for when it first has to. -1 with an exception. */
static int can_pull(graphed *self, Py_ssize_t count)
{
    if (self->copying == Py_None || self->reader.target_count != (uint32_t)count)
        return 0;
    if (!self->has_asked) {
        self->has_asked = true;
        PyObject *result =
            PyObject_CallMethodOneArg(self->copying, name_prepare, self->graph);
        if (!result)
            return -1;
        Py_DECREF(result);
    }
    return gphpy_launcher_pulls(self->copying) == (uint32_t)count &&
           !gphpy_launcher_is_lost(self->graph);
}

/* 1: all is in place; PULL: the graph is to copy from `from`; 0: the call is miss()'s; -1: an
 * exception. */
static int put(graphed *self, PyObject *const *args, Py_ssize_t count, CUdeviceptr *from)
{
    PyObject *lists[2] = {NULL, NULL};
    int truth = 1;
    for (Py_ssize_t i = 0; i < count && truth == 1; i++) {
        truth = is_in_place(self, i, args[i]);
        if (truth == 0)
            truth = note(self, i, args[i], lists);
    }
    const int may = truth == 1 && lists[0] ? can_pull(self, count) : 0;
    if (may < 0)
        truth = -1;
    if (may > 0 && gphpy_reader_sources(&self->reader, args, count, from)) {
        truth = PULL;
    } else if (truth == 1 && lists[0]) {
        PyObject *result = copy(self, lists[0], lists[1]);
        truth = result ? 1 : -1;
        Py_XDECREF(result);
    }
    Py_XDECREF(lists[0]);
    Py_XDECREF(lists[1]);
    return truth;
}

#ifdef Py_GIL_DISABLED
/* References are counted by thread there. */
static bool is_unused(const graphed *self, PyObject *last, const dl_tensor *as)
{
    (void)self, (void)last, (void)as;
    return false;
}
#else
/* Whether it is ours alone and is still what detach() would give: not resized, no part of a
 * differentiation, without attributes of the program's. */
static bool is_unused(const graphed *self, PyObject *last, const dl_tensor *as)
{
    dl_tensor view;
    if (Py_REFCNT(last) != 1 || !as->data || !view_of(self, last, &view) ||
        !is_same_view(&view, as))
        return false;
    PyObject *is_wanted = PyObject_GetAttr(last, name_requires_grad);
    Py_XDECREF(is_wanted);
    PyObject *own = is_wanted == Py_False ? PyObject_GenericGetDict(last, NULL) : NULL;
    const bool is_bare = own && PyDict_Size(own) == 0;
    Py_XDECREF(own);
    if (PyErr_Occurred())
        PyErr_Clear();
    return is_bare;
}
#endif

static PyObject *output(const graphed *self, Py_ssize_t i)
{
    if (self->last[i] && is_unused(self, self->last[i], &self->views[i]))
        return Py_NewRef(self->last[i]);
    PyObject *one = PyObject_CallMethodNoArgs(TUPLE_ITEM(self->outputs, i), name_detach);
    Py_XSETREF(self->last[i], Py_XNewRef(one));
    return one;
}

static PyObject *give(const graphed *self)
{
    const Py_ssize_t count = TUPLE_SIZE(self->outputs);
    if (self->is_one)
        return output(self, 0);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *one = output(self, i);
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

static PyObject *miss(const graphed *self, PyObject *const *args, size_t flags,
                      PyObject *keywords)
{
    if (self->miss)
        return PyObject_Vectorcall(self->miss, args, flags, keywords);
    PyErr_SetString(PyExc_RuntimeError, "the graphed callable is being let go of");
    return NULL;
}

static PyObject *call_locked(graphed *self, PyObject *const *args, size_t flags,
                             PyObject *keywords)
{
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    CUdeviceptr from[GPHPY_READER_TARGETS];
    int plain = keywords ? 0 : is_plain(self, args, count);
    if (plain == 1)
        plain = put(self, args, count, from);
    if (plain < 0)
        return NULL;
    if (plain == 0)
        return miss(self, args, flags, keywords);
    PyObject *result = plain == PULL ? gphpy_launcher_pull(self->copying, from)
                                     : gphpy_launcher_replay(self->graph);
    if (!result)
        return NULL;
    Py_DECREF(result);
    return give(self);
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags,
                      PyObject *keywords)
{
    PyObject *result;
    ONE_AT_A_TIME(result, object, call_locked((graphed *)object, args, flags, keywords));
    return result;
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
    if (self->copying != Py_None &&
        !PyObject_TypeCheck(self->copying, gphpy_types.launcher)) {
        PyErr_Format(PyExc_TypeError, "copying is a %S, not a Launcher or None",
                     (PyObject *)Py_TYPE(self->copying));
        return -1;
    }
    return 0;
}

static int look_at_targets(graphed *self)
{
    self->reader.type = (PyTypeObject *)Py_NewRef(self->tensor);
    self->reader.api = self->api;
    PyObject *targets = PySequence_List(self->inputs);
    const int result = targets ? gphpy_reader_targets(&self->reader, targets) : -1;
    Py_XDECREF(targets); /* the tuple keeps them */
    return result;
}

/* What the table says of inputs and outputs; of what it does not, nothing is remembered. */
static int look(graphed *self)
{
    const Py_ssize_t inputs = TUPLE_SIZE(self->inputs),
                     outputs = TUPLE_SIZE(self->outputs);
    const dl_exchange *api = gphpy_exchange_of((PyTypeObject *)self->tensor);
    self->api = api && api->tensor_from_object ? api : NULL;
    self->places = PyMem_Calloc((size_t)inputs + 1, sizeof(*self->places));
    self->views = PyMem_Calloc((size_t)outputs + 1, sizeof(*self->views));
    self->last = PyMem_Calloc((size_t)outputs + 1, sizeof(*self->last));
    if (!self->places || !self->views || !self->last) {
        PyErr_NoMemory();
        return -1;
    }
    if (inputs > 0 && self->api)
        self->is_neg = gphpy_is_neg_of(TUPLE_ITEM(self->inputs, 0));
    if (self->copying != Py_None && look_at_targets(self) < 0)
        return -1;
    dl_tensor view;
    for (Py_ssize_t i = 0; i < inputs; i++)
        if (view_of(self, TUPLE_ITEM(self->inputs, i), &view) && view.data)
            self->places[i] = (char *)view.data + view.byte_offset;
    for (Py_ssize_t i = 0; i < outputs; i++)
        if (!view_of(self, TUPLE_ITEM(self->outputs, i), &self->views[i]))
            self->views[i].data = NULL;
    return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *parts)
{
    int is_one = 0;
    if (!PyArg_ParseTuple(args, "p:GraphedCall", &is_one))
        return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    graphed *self = (graphed *)alloc(type, 0); /* zeroed */
    if (!self)
        return NULL;
    self->call = call;
    if (read_parts(self, parts) < 0 || look(self) < 0)
        Py_CLEAR(self);
    else if (is_one && TUPLE_SIZE(self->outputs) != 1) {
        gphpy_invalid("one output is said, and there are %zd", TUPLE_SIZE(self->outputs));
        Py_CLEAR(self);
    } else
        self->is_one = is_one;
    return (PyObject *)self;
}

/* A module's forward() is a GraphedCall, and miss() has the module. */
static int visit_all(graphed *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
#define X(name) Py_VISIT(self->name);
    PARTS(X)
#undef X
    for (Py_ssize_t i = 0; self->last && i < TUPLE_SIZE(self->outputs); i++)
        Py_VISIT(self->last[i]);
    return 0;
}

static int clear(graphed *self)
{
    Py_CLEAR(self->miss); /* which every circle goes through */
    return 0;
}

static void destroy(graphed *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; self->last && i < TUPLE_SIZE(self->outputs); i++)
        Py_XDECREF(self->last[i]);
    gphpy_reader_free(&self->reader);
    PyMem_Free(self->last);
    PyMem_Free(self->views);
    PyMem_Free(self->places);
#define X(name) Py_XDECREF(self->name);
    PARTS(X)
#undef X
    PyObject_GC_Del(self);
    Py_DECREF(type);
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
        {Py_tp_traverse, (void *)visit_all},
        {Py_tp_clear, (void *)clear},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {
        "graphophone.GraphedCall", sizeof(graphed), 0,
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC, slots};
    name_is_conj = PyUnicode_InternFromString("is_conj");
    name_is_neg = PyUnicode_InternFromString("is_neg");
    name_prepare = PyUnicode_InternFromString("prepare");
    name_detach = PyUnicode_InternFromString("detach");
    name_requires_grad = PyUnicode_InternFromString("requires_grad");
    name_copy = PyUnicode_InternFromString("copy_");
    if (!name_requires_grad || !name_copy || !name_prepare || !name_detach ||
        !name_is_conj || !name_is_neg)
        return -1;
    return gphpy_type_add(module, &spec, &gphpy_types.graphed);
}
