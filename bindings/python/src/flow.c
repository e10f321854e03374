// SPDX-License-Identifier: Apache-2.0
/* Flow: a branch, a loop or a choice of a capture, as a `with` block around what is captured. */
#include "gphpy.h"

typedef struct flow {
    PyObject_HEAD PyObject *capture;
    PyObject *condition_object; /* what `condition` points to */
    gph_condition condition;
    uint32_t kind, count; /* a gph_flow_kind; branches or cases */
} flow;

static flow *make(PyObject *capture, gphpy_runtime *runtime, PyObject *condition,
                  gph_flow_kind kind, uint32_t count)
{
    flow *self = gphpy_new(gphpy_types.flow, sizeof(*self));
    if (!self)
        return NULL;
    self->capture = Py_NewRef(capture);
    self->condition_object = Py_NewRef(condition);
    self->kind = (uint32_t)kind;
    self->count = count;
    if (gphpy_condition_read(runtime, condition, &self->condition) < 0)
        Py_CLEAR(self);
    return self;
}

PyObject *gphpy_flow_new(PyObject *capture, gphpy_runtime *runtime, gph_flow_kind kind,
                         PyObject *args, PyObject *kwargs)
{
    static const char *const if_names[] = {"condition", "branches", NULL};
    static const char *const switch_names[] = {"condition", "count", NULL};
    static const char *const while_names[] = {"condition", NULL};
    PyObject *condition = NULL;
    unsigned count = 1;
    const bool is_read =
        kind == GPH_FLOW_IF
            ? PARSE(args, kwargs, "O|$I:if_", if_names, &condition, &count)
        : kind == GPH_FLOW_WHILE
            ? PARSE(args, kwargs, "O:while_", while_names, &condition)
            : PARSE(args, kwargs, "OI:switch", switch_names, &condition, &count);
    return is_read ? (PyObject *)make(capture, runtime, condition, kind, count) : NULL;
}

static gph_status begin(const flow *self, gph_capture *capture, gph_error *error)
{
    switch ((gph_flow_kind)self->kind) {
    case GPH_FLOW_WHILE: return gph_capture_while(capture, &self->condition, error);
    case GPH_FLOW_SWITCH:
        return gph_capture_switch(capture, &self->condition, self->count, error);
    case GPH_FLOW_IF: break;
    }
    return gph_capture_if(capture, &self->condition, self->count, error);
}

static PyObject *enter(flow *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    gph_capture *capture = gphpy_capture_open(self->capture);
    if (!capture)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, begin(self, capture, &error));
    if (status == GPH_OK)
        return Py_NewRef((PyObject *)self);
    return gphpy_capture_raise(self->capture, status, &error);
}

/* A body that an exception has left half done is not closed: the capture is thrown away, or
 * says at its end that it is open. */
static PyObject *leave(flow *self, PyObject *args)
{
    PyObject *type = NULL, *exception = NULL, *trace = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &exception, &trace))
        return NULL;
    if (exception != Py_None)
        return Py_NewRef(Py_False);
    gph_capture *capture = gphpy_capture_open(self->capture);
    if (!capture)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_capture_flow_end(capture, &error));
    return status == GPH_OK ? Py_NewRef(Py_False)
                            : gphpy_capture_raise(self->capture, status, &error);
}

static PyObject *otherwise(flow *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    gph_capture *capture = gphpy_capture_open(self->capture);
    if (!capture)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_capture_else(capture, &error));
    return status == GPH_OK ? Py_NewRef(Py_None)
                            : gphpy_capture_raise(self->capture, status, &error);
}

static PyObject *next_case(flow *self, PyObject *number)
{
    gph_error error = {0};
    const unsigned long index = PyLong_AsUnsignedLong(number);
    gph_capture *capture = PyErr_Occurred() ? NULL : gphpy_capture_open(self->capture);
    if (!capture)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_capture_case(capture, (uint32_t)index, &error));
    return status == GPH_OK ? Py_NewRef(Py_None)
                            : gphpy_capture_raise(self->capture, status, &error);
}

static void destroy(flow *self)
{
    Py_XDECREF(self->capture);
    Py_XDECREF(self->condition_object);
    gphpy_free(self);
}

/* ---- what became of it ---- */

static PyObject *bodies_of(const gph_flow *f)
{
    PyObject *bodies = PyTuple_New(f->body_count);
    for (uint32_t i = 0; bodies && i < f->body_count; i++) {
        PyObject *body = PyLong_FromVoidPtr(f->bodies[i]);
        if (!body)
            Py_CLEAR(bodies);
        else
            TUPLE_SET(bodies, i, body);
    }
    return bodies;
}

static const char *way_name(uint32_t way)
{
    static const char *const names[] = {"", "node", "nodes", "flags", "host"};
    return way < sizeof(names) / sizeof(*names) ? names[way] : "";
}

PyObject *gphpy_flows(const gph_recording *recording)
{
    static const char *const kinds[] = {"if", "while", "switch"};
    const uint32_t count = gph_recording_flow_count(recording);
    PyObject *all = PyList_New(0);
    for (uint32_t i = 0; all && i < count; i++) {
        gph_flow f = GPH_SIZED(gph_flow);
        gph_error error = {0};
        const gph_status status = gph_recording_flow(recording, i, &f, &error);
        PyObject *bodies =
            status == GPH_OK ? bodies_of(&f) : gphpy_raise(status, &error, NULL);
        PyObject *one =
            bodies ? Py_BuildValue("{ss ss sI sI sz sz sN}", "kind",
                                   kinds[f.kind < 3 ? f.kind : 0], "way", way_name(f.way),
                                   "largest", f.largest, "depth", f.depth, "region",
                                   f.region, "reason", f.reason, "bodies", bodies)
                   : NULL;
        if (!one || PyList_Append(all, one) < 0)
            Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyMethodDef methods[] = {
    METHOD0("__enter__", enter, "__enter__($self)\n--\n\nBegins its first body."),
    {"__exit__", (PyCFunction)leave, METH_VARARGS,
     "__exit__($self, type, value, traceback, /)\n--\n\nEnds it; the capture goes on "
     "after it."},
    METHOD0("else_", otherwise,
            "else_($self)\n--\n\nEnds the first branch of if_(condition, branches=2) and "
            "begins the\n"
            "one that runs where the condition is 0."),
    METHOD1("case", next_case,
            "case($self, index, /)\n--\n\nEnds the open case of a switch and begins "
            "another, with a\n"
            "higher number; those that are left out are empty."),
    {NULL, NULL, 0, NULL},
};

int gphpy_flow_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A branch, a loop or a choice of a capture: Capture.if_(), while_(),\n"
                 "switch(). A context manager: of what is captured in it the device\n"
                 "decides at each replay."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Flow", sizeof(flow), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.flow);
}
