// SPDX-License-Identifier: Apache-2.0
/* Recording: what a capture recorded. Replay: that made executable; a call of it is a launch. */
#include "gphpy.h"

#include <stddef.h>

typedef struct replay {
    PyObject_HEAD vectorcallfunc call;
    gph_replay *gph;
    gphpy_recording *recording; /* what it holds, and its place */
    int keeps_gil;
} replay;

/* ---- Recording ---- */

PyObject *gphpy_recording_new(gphpy_runtime *runtime, gph_recording *taken,
                              PyObject *pool, PyObject *place)
{
    gphpy_recording *self = gphpy_new(gphpy_types.recording, sizeof(*self));
    if (!self)
        return NULL;
    self->gph = taken;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->pool = Py_XNewRef(pool);
    self->place = Py_XNewRef(place);
    return (PyObject *)self;
}

static void recording_destroy(gphpy_recording *self)
{
    PyThreadState *state = PyEval_SaveThread(); /* what is held may want the GIL */
    gph_recording_destroy(self->gph);
    PyEval_RestoreThread(state);
    Py_XDECREF(self->pool);
    Py_XDECREF(self->place);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *describe(gphpy_recording *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"segment", NULL};
    unsigned segment = 0;
    gph_graph *graph = NULL;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|I:describe", names, &segment))
        return NULL;
    const gph_status status = gph_recording_describe(self->gph, segment, &graph, &error);
    return status == GPH_OK ? gphpy_graph_new(graph) : gphpy_raise(status, &error, NULL);
}

static PyObject *region(gphpy_recording *self, PyObject *args)
{
    unsigned segment = 0, node = 0;
    if (!PyArg_ParseTuple(args, "II:region", &segment, &node))
        return NULL;
    const char *name = gph_recording_region(self->gph, segment, node);
    return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *get_graphs(gphpy_recording *self, void *unused)
{
    (void)unused;
    const uint32_t count = gph_recording_segment_count(self->gph);
    PyObject *graphs = PyTuple_New(count);
    for (uint32_t i = 0; graphs && i < count; i++) {
        PyObject *graph = PyLong_FromVoidPtr(gph_recording_graph(self->gph, i));
        if (!graph)
            Py_CLEAR(graphs);
        else
            TUPLE_SET(graphs, i, graph);
    }
    return graphs;
}

int gphpy_graph_read(PyObject *object, void *out)
{
    CUgraph *graph = out;
    if (Py_TYPE(object) != gphpy_types.recording) {
        *graph = PyLong_Check(object) ? PyLong_AsVoidPtr(object) : NULL;
        if (!*graph && !PyErr_Occurred())
            PyErr_Format(PyExc_TypeError,
                         "a graph is a CUgraph, an int, or a Recording, "
                         "not %R",
                         (PyObject *)Py_TYPE(object));
        return *graph != NULL;
    }
    const gph_recording *recording = ((gphpy_recording *)object)->gph;
    const uint32_t count = gph_recording_segment_count(recording);
    if (count != 1)
        gphpy_invalid("the Recording has %u segments, one is wanted", count);
    *graph = count == 1 ? gph_recording_graph(recording, 0) : NULL;
    return *graph != NULL;
}

static PyObject *get_flows(gphpy_recording *self, void *unused)
{
    (void)unused;
    return gphpy_flows(self->gph);
}

static PyObject *get_pool_id(gphpy_recording *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(gph_recording_pool_id(self->gph));
}

static PyObject *get_place(gphpy_recording *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->place ? self->place : Py_None);
}

/* ---- Replay ---- */

static PyObject *launch(PyObject *object, PyObject *const *args, size_t count,
                        PyObject *names)
{
    replay *const self = (replay *)object;
    CUstream stream = NULL;
    gph_error error;
    if (PyVectorcall_NARGS(count) != 1 || names) {
        PyErr_SetString(PyExc_TypeError, "a Replay is called with a stream");
        return NULL;
    }
    if (!gphpy_stream_read(args[0], &stream) ||
        !gphpy_runtime_use(self->recording->runtime))
        return NULL;
    gph_status status;
    error.message[0] = '\0';
    LAUNCH(status, self->keeps_gil, gph_replay_launch(self->gph, stream, &error));
    if (status == GPH_OK)
        return Py_NewRef(Py_None);
    return gphpy_raise(status, &error, &(gphpy_blame){.place = self->recording->place});
}

/* The region of the node that the driver refused, which the error's text has in words. */
static PyObject *refused(gphpy_recording *recording, gph_status status,
                         const gph_error *error)
{
    gphpy_blame blame = {.place = recording->place};
    if (error->has_node && gph_recording_segment_count(recording->gph) == 1)
        blame.region = gph_recording_region(recording->gph, 0, (uint32_t)error->node);
    return gphpy_raise(status, error, &blame);
}

PyObject *gphpy_recording_instantiate(gphpy_recording *recording, PyObject *args,
                                      PyObject *kwargs)
{
    static const char *const names[] = {"flags", "stream", "keep_gil", NULL};
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    int keep_gil = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$IO&p:instantiate", names, &options.flags,
               gphpy_stream_read, &options.upload_stream, &keep_gil) ||
        !gphpy_runtime_use(recording->runtime))
        return NULL;
    replay *self = gphpy_new(gphpy_types.replay, sizeof(*self));
    if (!self)
        return NULL;
    self->call = launch;
    self->keeps_gil = keep_gil;
    self->recording = (gphpy_recording *)Py_NewRef((PyObject *)recording);
    gph_status status;
    WITHOUT_GIL(status, gph_replay_create(recording->gph, &options, &self->gph, &error));
    if (status != GPH_OK) {
        Py_DECREF((PyObject *)self);
        return refused(recording, status, &error);
    }
    return (PyObject *)self;
}

static void replay_destroy(replay *self)
{
    PyThreadState *state = PyEval_SaveThread();
    gph_replay_destroy(self->gph);
    PyEval_RestoreThread(state);
    gphpy_comms_settle();
    Py_DECREF((PyObject *)self->recording);
    gphpy_free(self);
}

static PyObject *segment(replay *self, PyObject *args)
{
    unsigned index = 0;
    if (!PyArg_ParseTuple(args, "|I:exec", &index))
        return NULL;
    gph_exec *lent = gph_replay_exec(self->gph, index);
    if (lent)
        return gphpy_exec_lent(self->recording->runtime, lent, (PyObject *)self,
                               self->keeps_gil);
    return gphpy_invalid("segment %u is not one of the %u", index,
                         gph_recording_segment_count(self->recording->gph));
}

static PyObject *get_recording(replay *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)self->recording);
}

static PyObject *get_address(replay *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- the types ---- */

static PyMethodDef recording_methods[] = {
    METHOD("instantiate", gphpy_recording_instantiate,
           "instantiate($self, *, flags=0, stream=None, keep_gil=False)\n--\n\n"
           "Makes a Replay of it. flags are CUDA's: 1 auto free on launch, 4 device "
           "launch,\n"
           "8 node priorities. stream: of the upload. keep_gil: launches do not let "
           "other threads\n"
           "of Python run, which is half of what they add to C's; not where host "
           "functions are\n"
           "Python's, since a launch waits for those once the stream's queue is full."),
    METHOD("describe", describe,
           "describe($self, segment=0)\n--\n\nThe graph of a segment as data: a Graph, "
           "whose nodes\n"
           "have the names of their regions."),
    {"region", (PyCFunction)region, METH_VARARGS,
     "region($self, segment, node, /)\n--\n\nThe region of a node, by its index in the "
     "segment;\n"
     "None if it is in none."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recording_members[] = {
    GETTER("graphs", get_graphs,
           "The CUgraph of each segment, ints; lent, as long as it lives."),
    GETTER(
        "flows", get_flows,
        "Its branches, loops and choices in the order in which they began, a dict each: "
        "kind\n"
        "('if', 'while', 'switch'), way ('node', or 'nodes' where the driver lacks the "
        "form),\n"
        "largest (nodes of its largest body), depth, region, reason, bodies (CUgraphs, "
        "ints)."),
    GETTER("pool_id", get_pool_id,
           "Its number in the pool of the capture; 0 if there was none."),
    GETTER("place", get_place, "'file:line' where the capture began."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef replay_methods[] = {
    {"exec", (PyCFunction)segment, METH_VARARGS,
     "exec($self, segment=0, /)\n--\n\nThe Exec of a segment."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef replay_members[] = {
    GETTER("recording", get_recording, "What it replays."),
    GETTER("address", get_address, "The address of the gph_replay, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(replay, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_recording_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"What a capture recorded: one graph, or several with host calls between\n"
                "them (segments). Constant; any thread."},
        {Py_tp_dealloc, (void *)recording_destroy},
        {Py_tp_methods, recording_methods},
        {Py_tp_getset, recording_members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Recording", sizeof(gphpy_recording), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.recording);
}

int gphpy_replay_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"A recording made executable: replay(stream) launches it. Any thread.\n\n"
                "The functions of breaks are called on the thread that launches."},
        {Py_tp_dealloc, (void *)replay_destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_methods, replay_methods},
        {Py_tp_getset, replay_members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Replay", sizeof(replay), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.replay);
}
