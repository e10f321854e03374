// SPDX-License-Identifier: Apache-2.0
/* Dispatch: graphs that the device launches for requests which the host writes. */
#include "gphpy.h"

typedef struct dispatch {
    PyObject_HEAD gph_dispatch *gph;
    gphpy_runtime *runtime;
    PyObject *graphs; /* a list: what was added, kept with its memory */
} dispatch;

PyObject *gphpy_dispatch_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"order",   "capacity", "idle_us",
                                        "wait_ns", "name",     NULL};
    static const char *const orders[] = {"side by side", "in order", NULL};
    gph_dispatch_options options = GPH_DISPATCH_OPTIONS_INIT;
    PyObject *word = NULL;
    unsigned long long wait = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$OIIKz:dispatch", names, &word, &options.capacity,
               &options.idle_us, &wait, &options.name))
        return NULL;
    const int order =
        word ? gphpy_word(word, orders, GPH_DISPATCH_SIDE_BY_SIDE, "order") : 0;
    if (order < 0 || !gphpy_runtime_use(runtime))
        return NULL;
    options.order = (uint32_t)order;
    options.wait_ns = wait;
    dispatch *self = gphpy_new(gphpy_types.dispatch, sizeof(*self));
    if (!self)
        return NULL;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->graphs = PyList_New(0);
    gph_status status = GPH_OK;
    if (self->graphs)
        WITHOUT_GIL(status,
                    gph_dispatch_create(runtime->gph, &options, &self->gph, &error));
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    if (PyErr_Occurred())
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void destroy(dispatch *self)
{
    PyThreadState *state = PyEval_SaveThread();
    gph_dispatch_destroy(self->gph);
    PyEval_RestoreThread(state);
    Py_XDECREF(self->graphs);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *get_block(dispatch *self, void *unused)
{
    (void)unused;
    const int64_t words = GPH_DISPATCH_BYTES / 8;
    const CUdeviceptr address = gph_dispatch_block(self->gph);
    const gph_tensor view = gph_tensor_dense(address, GPH_DTYPE_U64, 1, &words);
    return address ? gphpy_tensor_new(self->runtime, &view, (PyObject *)self)
                   : Py_NewRef(Py_None);
}

static PyObject *add(dispatch *self, PyObject *args)
{
    unsigned kind = 0;
    PyObject *object = NULL;
    CUgraph graph = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "IO:add", &kind, &object) ||
        !gphpy_graph_read(object, &graph) || !gphpy_runtime_use(self->runtime) ||
        PyList_Append(self->graphs, object) < 0)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_dispatch_add(self->gph, kind, graph, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *send(dispatch *self, PyObject *args)
{
    unsigned kind = 0;
    Py_buffer given = {.len = 0};
    uint64_t words[GPH_DISPATCH_BYTES / 8] = {0}, number = 0;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "I|y*:send", &kind, &given))
        return NULL;
    const Py_ssize_t bytes = given.len;
    if (given.obj) {
        memcpy(words, given.buf,
               (size_t)(bytes < GPH_DISPATCH_BYTES ? bytes : GPH_DISPATCH_BYTES));
        PyBuffer_Release(&given);
    }
    if (bytes > GPH_DISPATCH_BYTES)
        return gphpy_invalid("a request has %zd bytes of arguments, %d are the most",
                             bytes, GPH_DISPATCH_BYTES);
    if (!gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_dispatch_send(self->gph, kind, bytes > 0 ? words : NULL,
                                          ((size_t)bytes + 7) / 8 * 8, &number, &error));
    return status == GPH_OK ? PyLong_FromUnsignedLongLong(number)
                            : gphpy_raise(status, &error, NULL);
}

static PyObject *wait_for(dispatch *self, PyObject *args)
{
    unsigned long long number = 0;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "|K:wait", &number) || !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_dispatch_wait(self->gph, number, &error));
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    return gphpy_warn() < 0 || PyErr_CheckSignals() < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *step(dispatch *self,
                      gph_status (*what)(gph_dispatch *dispatch, gph_error *error))
{
    gph_error error = {0};
    if (!gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, what(self->gph, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *start(dispatch *self, PyObject *unused)
{
    (void)unused;
    return step(self, gph_dispatch_start);
}

static PyObject *stop(dispatch *self, PyObject *unused)
{
    (void)unused;
    return step(self, gph_dispatch_stop);
}

static PyObject *enter(dispatch *self, PyObject *unused)
{
    PyObject *result = start(self, unused);
    Py_XDECREF(result);
    return result ? Py_NewRef((PyObject *)self) : NULL;
}

static PyObject *leave(dispatch *self, PyObject *args)
{
    PyObject *result = stop(self, args);
    Py_XDECREF(result);
    return result ? Py_NewRef(Py_False) : NULL;
}

static PyObject *get_done(dispatch *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(gph_dispatch_done(self->gph));
}

static PyObject *stats(dispatch *self, PyObject *unused)
{
    (void)unused;
    gph_dispatch_stats s = GPH_SIZED(gph_dispatch_stats);
    gph_dispatch_stats_get(self->gph, &s);
    return Py_BuildValue(
        "{sI sK sK sK sK sK}", "graphs", s.graphs, "sent", (unsigned long long)s.sent,
        "done", (unsigned long long)s.done, "starts", (unsigned long long)s.starts,
        "rounds", (unsigned long long)s.rounds, "full", (unsigned long long)s.full);
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)add, METH_VARARGS,
     "add($self, kind, graph, /)\n--\n\nAdds a graph for requests of a kind: a CUgraph, "
     "an int, or a\n"
     "Recording. It reads its arguments in `block` as that was before. Several of one "
     "kind\n"
     "serve as many of its requests at once."},
    METHOD0("start", start,
            "start($self)\n--\n\nTakes requests from now on; so does a `with` block."),
    {"send", (PyCFunction)send, METH_VARARGS,
     "send($self, kind, arguments=b'', /)\n--\n\nPuts a request into the queue, with "
     "arguments of up to\n"
     "48 bytes, anything with a buffer: its number, from 1. Any thread."},
    {"wait", (PyCFunction)wait_for, METH_VARARGS,
     "wait($self, number=0, /)\n--\n\nWaits until a request has ended; 0: all that were "
     "sent by now.\n"
     "Other threads run meanwhile. Any thread."},
    METHOD0(
        "stop", stop,
        "stop($self)\n--\n\nWaits for all that was sent, and ends the resident graph. "
        "The next\n"
        "request starts it again."),
    METHOD0("__enter__", enter, "__enter__($self)\n--\n\nStarts it."),
    {"__exit__", (PyCFunction)leave, METH_VARARGS,
     "__exit__($self, type, value, traceback, /)\n--\n\nStops it."},
    METHOD0("stats", stats,
            "stats($self)\n--\n\nWhat it did so far, a dict: graphs, sent, done, starts, "
            "rounds,\n"
            "full."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("block", get_block,
           "Where the graph that is added next finds its arguments: a Tensor of 6 words "
           "(u64);\n"
           "None if there are as many graphs as may be."),
    GETTER("done", get_done, "How many requests have ended: all of the first so many."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_dispatch_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A resident graph that takes requests from a queue and "
                            "launches one of several\n"
                            "graphs for each: Runtime.dispatch()."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Dispatch", sizeof(dispatch), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.dispatch);
}
