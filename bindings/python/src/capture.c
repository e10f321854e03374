// SPDX-License-Identifier: Apache-2.0
/* Capture and Region: what is put into a stream is recorded, in `with` blocks. */
#include "gphpy.h"

typedef struct capture {
    PyObject_HEAD gph_capture *gph; /* NULL: it has not begun, or has ended */
    gphpy_runtime *runtime;
    CUstream stream;
    PyObject *stream_object, *pool, *place, *recording;
    PyObject *options; /* what begin takes: arguments by name */
    gphpy_scope *scope;
    /* The first place where it was seen to be invalidated: a region that ended so. */
    PyObject *spoilt_region, *spoilt_place;
    bool is_lent, has_begun;
} capture;

typedef struct region {
    PyObject_HEAD capture *owner;
    PyObject *name, *place;
} region;

static const char *const modes[] = {"global", "thread", "relaxed", NULL};
static const char *const joins[] = {"error", "auto", "name", NULL};

static gph_status raise_of(capture *self, gph_status status, const gph_error *error,
                           const gph_cause *cause)
{
    gphpy_blame blame = {.place = self->spoilt_place ? self->spoilt_place : self->place,
                         .cause = cause};
    if (self->spoilt_region)
        blame.region = PyUnicode_AsUTF8AndSize(self->spoilt_region, NULL);
    gphpy_raise(status, error, &blame);
    return status;
}

static bool is_open(capture *self)
{
    if (self->gph)
        return true;
    gph_error error = {0};
    strcpy(error.message,
           self->has_begun ? "the capture has ended" : "the capture has not begun");
    gphpy_raise(GPH_E_STATE, &error, NULL);
    return false;
}

static PyObject *done(capture *self, gph_status status, const gph_error *error)
{
    if (status == GPH_OK)
        return Py_NewRef(Py_None);
    raise_of(self, status, error, NULL);
    return NULL;
}

gph_capture *gphpy_capture_open(PyObject *object)
{
    capture *const self = (capture *)object;
    return is_open(self) ? self->gph : NULL;
}

PyObject *gphpy_capture_raise(PyObject *object, gph_status status, const gph_error *error)
{
    return done((capture *)object, status, error);
}

/* ---- begin and end ---- */

static int read_streams(PyObject *sequence, CUstream *out, uint32_t room, uint32_t *count)
{
    PyObject *all = PySequence_Tuple(sequence);
    if (!all)
        return -1;
    const Py_ssize_t size = TUPLE_SIZE(all);
    bool is_read = size <= (Py_ssize_t)room;
    if (!is_read)
        gphpy_invalid("%zd streams are named, %u are the most", size, room);
    for (Py_ssize_t i = 0; is_read && i < size; i++)
        is_read = gphpy_stream_read(TUPLE_ITEM(all, i), &out[i]);
    *count = (uint32_t)size;
    Py_DECREF(all);
    return is_read ? 0 : -1;
}

enum { STREAMS_MAX = 64 };

static int read_options(capture *self, gph_capture_options *options, CUstream *streams)
{
    static const char *const names[] = {"stream", "pool", "mode",    "join",
                                        "run",    "name", "streams", NULL};
    PyObject *mode = NULL, *join = NULL, *empty = PyTuple_New(0), *pool = Py_None,
             *stream = NULL;
    PyObject *others = NULL;
    int run = 0;
    const bool is_read =
        empty && PARSE(empty, self->options, "|$OOOOpzO:capture", names, &stream, &pool,
                       &mode, &join, &run, &options->name, &others);
    Py_XDECREF(empty);
    if (!is_read)
        return -1;
    if (!stream || !gphpy_stream_read(stream, &self->stream)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "capture() needs a stream");
        return -1;
    }
    const int mode_word = mode ? gphpy_word(mode, modes, GPH_CAPTURE_GLOBAL, "mode") : 0;
    const int join_word = join ? gphpy_word(join, joins, 0, "join") : GPH_JOIN_AUTO;
    if (mode_word < 0 || join_word < 0)
        return -1;
    options->mode = (uint32_t)mode_word;
    options->join = (uint32_t)join_word;
    options->flags = run ? GPH_CAPTURE_RUN : 0;
    options->streams = streams;
    if (others && read_streams(others, streams, STREAMS_MAX, &options->stream_count) < 0)
        return -1;
    if (!self->pool && pool != Py_None)
        self->pool = Py_NewRef(pool);
    return self->pool ? gphpy_pool_bind(self->pool, &options->pool) : 0;
}

static PyObject *enter(capture *self, PyObject *unused)
{
    (void)unused;
    CUstream streams[STREAMS_MAX];
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_error error = {0};
    if (self->has_begun) {
        strcpy(error.message, "a capture is begun once; make another one");
        return gphpy_raise(GPH_E_STATE, &error, NULL);
    }
    if (read_options(self, &options, streams) < 0 || !gphpy_runtime_use(self->runtime))
        return NULL;
    self->scope = gphpy_scope_create();
    if (!self->scope)
        return NULL;
    Py_XSETREF(self->place, gphpy_place());
    gph_status status;
    WITHOUT_GIL(status, gph_capture_begin(self->runtime->gph, self->stream, &options,
                                          &self->gph, &error));
    if (status != GPH_OK)
        return done(self, status, &error);
    self->has_begun = true;
    if (self->pool)
        gphpy_pool_scope(self->pool, self->scope);
    return Py_NewRef((PyObject *)self);
}

static void close_scope(capture *self)
{
    if (self->pool && self->scope)
        gphpy_pool_scope(self->pool, NULL);
    gphpy_scope_release(self->scope);
    self->scope = NULL;
}

/* After an exception in the body: it goes on, and says what is known of the first cause. */
static PyObject *thrown_away(capture *self, PyObject *exception, PyObject *trace)
{
    gph_capture *taken = self->gph;
    self->gph = NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_capture_abort(taken, NULL));
    close_scope(self);
    const gph_cause *cause = gph_cause_last();
    PyObject *place = gphpy_trace_place(trace);
    gphpy_blame blame = {.place = place ? place : self->place};
    if (status == GPH_OK && cause && cause->code != GPH_OK)
        blame.cause = cause;
    if (self->spoilt_region)
        blame.region = PyUnicode_AsUTF8AndSize(self->spoilt_region, NULL);
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    gphpy_blame_current(&blame);
    Py_XDECREF(place);
    PyErr_Clear();
    return Py_NewRef(Py_False);
}

static PyObject *leave(capture *self, PyObject *args)
{
    PyObject *type = NULL, *exception = NULL, *trace = NULL;
    if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &exception, &trace))
        return NULL;
    if (!self->gph && exception != Py_None)
        return Py_NewRef(Py_False);
    if (!is_open(self))
        return NULL;
    if (exception != Py_None)
        return thrown_away(self, exception, trace);
    gph_recording *recording = NULL;
    gph_error error = {0};
    gph_status status;
    WITHOUT_GIL(status, gph_capture_finish(self->gph, &recording, &error));
    if (status == GPH_E_STATE || status == GPH_E_INVALID) { /* it was not taken */
        gph_status aborted;
        WITHOUT_GIL(aborted, gph_capture_abort(self->gph, NULL));
        (void)aborted;
    }
    self->gph = NULL;
    close_scope(self);
    if (status != GPH_OK) {
        raise_of(self, status, &error, gph_cause_last());
        return NULL;
    }
    self->recording =
        gphpy_recording_new(self->runtime, recording, self->pool, self->place);
    if (!self->recording) {
        gph_recording_destroy(recording);
        return NULL;
    }
    return gphpy_warn() < 0 ? NULL : Py_NewRef(Py_False);
}

PyObject *gphpy_last_cause(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const gph_cause *cause = gph_cause_last();
    if (cause->code == GPH_OK && !*cause->call && !*cause->text)
        return Py_NewRef(Py_None);
    return Py_BuildValue(
        "{sK sK si sO ss ss ss ss}", "thread", (unsigned long long)cause->thread,
        "time_ns", (unsigned long long)cause->time_ns, "status", (int)cause->code,
        "is_own", cause->is_own ? Py_True : Py_False, "call", cause->call, "sentence",
        cause->text, "caller", cause->caller, "stack", cause->stack);
}

static capture *make(gphpy_runtime *runtime)
{
    capture *self = gphpy_new(gphpy_types.capture, sizeof(*self));
    if (self)
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    return self;
}

PyObject *gphpy_capture_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    if (TUPLE_SIZE(args) != 1) {
        PyErr_SetString(PyExc_TypeError,
                        "capture() takes a stream, and the rest by name");
        return NULL;
    }
    capture *self = make(runtime);
    if (!self)
        return NULL;
    self->stream_object = Py_NewRef(TUPLE_ITEM(args, 0));
    self->options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    if (!self->options ||
        PyDict_SetItemString(self->options, "stream", self->stream_object) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

PyObject *gphpy_capture_lent(gphpy_runtime *runtime, gph_capture *lent, CUstream stream)
{
    capture *self = make(runtime);
    if (self) {
        self->gph = lent;
        self->stream = stream;
        self->is_lent = self->has_begun = true;
    }
    return (PyObject *)self;
}

void gphpy_capture_close(PyObject *object)
{
    ((capture *)object)->gph = NULL;
}

static void destroy(capture *self)
{
    if (self->gph && !self->is_lent) { /* an exception may be on its way, and stays */
        PyThreadState *state = PyEval_SaveThread();
        const gph_status status = gph_capture_abort(self->gph, NULL);
        (void)status;
        PyEval_RestoreThread(state);
    }
    close_scope(self);
    Py_XDECREF(self->stream_object);
    Py_XDECREF(self->pool);
    Py_XDECREF(self->place);
    Py_XDECREF(self->recording);
    Py_XDECREF(self->options);
    Py_XDECREF(self->spoilt_region);
    Py_XDECREF(self->spoilt_place);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

/* ---- forks, breaks, outputs ---- */

static PyObject *fork_or_join(capture *self, PyObject *object,
                              gph_status (*step)(gph_capture *, CUstream, gph_error *))
{
    CUstream stream = NULL;
    gph_error error = {0};
    if (!is_open(self) || !gphpy_stream_read(object, &stream))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, step(self->gph, stream, &error));
    return done(self, status, &error);
}

static PyObject *fork_stream(capture *self, PyObject *object)
{
    return fork_or_join(self, object, gph_capture_fork);
}

static PyObject *join_stream(capture *self, PyObject *object)
{
    return fork_or_join(self, object, gph_capture_join);
}

static void drop_reference(void *object)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(state);
}

/* On the thread that captures or replays, which has released the GIL. */
static gph_status call_break(void *user, const gph_break *call, gph_error *error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    gphpy_pending before;
    gph_status status = GPH_OK;
    PyObject *result =
        gphpy_pending_take(&before)
            ? PyObject_CallFunction(
                  (PyObject *)user, "KIO", (unsigned long long)(uintptr_t)call->stream,
                  (unsigned)call->index, call->is_replay ? Py_True : Py_False)
            : NULL;
    if (!result)
        status = gphpy_failed(error);
    Py_XDECREF(result);
    gphpy_pending_give(&before);
    PyGILState_Release(state);
    return status;
}

static PyObject *break_here(capture *self, PyObject *function)
{
    gph_error error = {0};
    if (!is_open(self))
        return NULL;
    if (!PyCallable_Check(function)) {
        PyErr_SetString(PyExc_TypeError,
                        "a break is a function of (stream, index, is_replay)");
        return NULL;
    }
    gph_status status =
        gph_capture_hold(self->gph, drop_reference, Py_NewRef(function), &error);
    if (status != GPH_OK)
        Py_DECREF(function);
    else
        WITHOUT_GIL(status, gph_capture_break(self->gph, call_break, function, &error));
    return done(self, status, &error);
}

static PyObject *hold(capture *self, PyObject *object)
{
    gph_error error = {0};
    if (!is_open(self))
        return NULL;
    const gph_status status =
        gph_capture_hold(self->gph, drop_reference, Py_NewRef(object), &error);
    if (status != GPH_OK)
        Py_DECREF(object);
    return done(self, status, &error);
}

static PyObject *output(capture *self, PyObject *tensor)
{
    gph_tensor view;
    gph_error error = {0};
    if (!is_open(self) ||
        gphpy_tensor_read(self->runtime, tensor, "output", 0, &view) < 0)
        return NULL;
    return done(self, gph_capture_output(self->gph, view.data, &error), &error);
}

/* ---- control flow ---- */

static PyObject *branch(capture *self, PyObject *args, PyObject *kwargs)
{
    return gphpy_flow_new((PyObject *)self, self->runtime, GPH_FLOW_IF, args, kwargs);
}

static PyObject *repeat(capture *self, PyObject *args, PyObject *kwargs)
{
    return gphpy_flow_new((PyObject *)self, self->runtime, GPH_FLOW_WHILE, args, kwargs);
}

static PyObject *choose(capture *self, PyObject *args, PyObject *kwargs)
{
    return gphpy_flow_new((PyObject *)self, self->runtime, GPH_FLOW_SWITCH, args, kwargs);
}

/* ---- regions ---- */

static PyObject *region_of(capture *self, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a region's name is a str");
        return NULL;
    }
    region *r = gphpy_new(gphpy_types.region, sizeof(*r));
    if (r) {
        r->owner = (capture *)Py_NewRef((PyObject *)self);
        r->name = Py_NewRef(name);
    }
    return (PyObject *)r;
}

static PyObject *region_enter(region *self, PyObject *unused)
{
    (void)unused;
    const char *name = PyUnicode_AsUTF8AndSize(self->name, NULL);
    gph_error error = {0};
    if (!name || !is_open(self->owner))
        return NULL;
    Py_XSETREF(self->place, gphpy_place());
    return done(self->owner, gph_region_push(self->owner->gph, name, &error), &error);
}

/* Is the capture invalidated now, for the first time? Then the region has the first cause. */
static void look(region *self)
{
    enum { INVALIDATED = 2 };
    capture *c = self->owner;
    int state = 0;
    if (c->spoilt_region ||
        c->runtime->cu->StreamIsCapturing(c->stream, &state) != GPH_OK ||
        state != INVALIDATED)
        return;
    c->spoilt_region = Py_NewRef(self->name);
    c->spoilt_place = Py_XNewRef(self->place);
}

static PyObject *region_leave(region *self, PyObject *args)
{
    (void)args;
    gph_error error = {0};
    if (!self->owner->gph) /* thrown away already */
        return Py_NewRef(Py_False);
    look(self);
    const gph_status status = gph_region_pop(self->owner->gph, &error);
    if (status == GPH_OK ||
        self->owner->spoilt_region) /* the capture's end will say it */
        return Py_NewRef(Py_False);
    return done(self->owner, status, &error);
}

static void region_destroy(region *self)
{
    Py_XDECREF((PyObject *)self->owner);
    Py_XDECREF(self->name);
    Py_XDECREF(self->place);
    gphpy_free(self);
}

/* ---- the types ---- */

static PyObject *get_recording(capture *self, void *unused)
{
    (void)unused;
    if (self->recording)
        return Py_NewRef(self->recording);
    gph_error error = {0};
    strcpy(error.message,
           self->gph ? "the capture has not ended" : "the capture has no recording");
    return gphpy_raise(GPH_E_STATE, &error, NULL);
}

static PyObject *get_stream(capture *self, void *unused)
{
    (void)unused;
    return self->stream_object ? Py_NewRef(self->stream_object)
                               : gphpy_stream_lent(self->runtime, self->stream);
}

static PyMethodDef methods[] = {
    METHOD0("__enter__", enter, "__enter__($self)\n--\n\nBegins the capture."),
    {"__exit__", (PyCFunction)leave, METH_VARARGS,
     "__exit__($self, type, value, traceback, /)\n--\n\nEnds it; after an exception it "
     "is thrown\n"
     "away."},
    METHOD1(
        "region", region_of,
        "region($self, name, /)\n--\n\n"
        "A context manager: nodes that are recorded in it, in any stream of the capture, "
        "have\n"
        "this name in descriptions, drawings and errors. Regions nest: 'layer.17/attn'."),
    METHOD("if_", branch,
           "if_($self, condition, *, branches=1)\n--\n\n"
           "A context manager: what is captured in it runs if the condition is not 0 at "
           "the replay.\n"
           "With branches=2 Flow.else_() begins the other one. condition: a tensor of "
           "one word of 4\n"
           "bytes; a comparison (left, '<', right) of tensors, right also a number; or a "
           "function of\n"
           "(stream, handle) that launches a kernel which sets the handle."),
    METHOD("while_", repeat,
           "while_($self, condition)\n--\n\n"
           "A context manager: what is captured in it runs as long as the condition is "
           "not 0, which\n"
           "is asked for before each round. Nothing limits the rounds: Runtime.loop() "
           "does."),
    METHOD("switch", choose,
           "switch($self, condition, count)\n--\n\n"
           "A context manager: a choice of `count` cases by the value of a word; what is "
           "captured\n"
           "first is case 0, Flow.case() begins others."),
    METHOD1("fork", fork_stream,
            "fork($self, stream, /)\n--\n\nLets a stream go on, captured, from what the "
            "captured\n"
            "stream has so far."),
    METHOD1("join", join_stream,
            "join($self, stream, /)\n--\n\nLets the captured stream wait for what a "
            "forked one has\n"
            "so far."),
    METHOD1("break_", break_here,
            "break_($self, function, /)\n--\n\n"
            "Ends the segment, calls function(stream, index, is_replay) with the stream "
            "(an int) out\n"
            "of capture, and begins the next segment: for what cannot be captured. The "
            "function\n"
            "is called again at each replay, on the thread that replays; an exception of "
            "it ends\n"
            "the capture or the replay."),
    METHOD1("hold", hold,
            "hold($self, object, /)\n--\n\nKeeps an object alive as long as the "
            "recording and its\n"
            "replays."),
    METHOD1("output", output,
            "output($self, tensor, /)\n--\n\nSays that memory of the capture's pool is "
            "an output:\n"
            "allocated at the end on purpose."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("recording", get_recording,
           "What was recorded: a Recording, after the `with` block."),
    GETTER("stream", get_stream, "The stream that is captured."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef region_methods[] = {
    METHOD0("__enter__", region_enter, "__enter__($self)\n--\n\nBegins the region."),
    {"__exit__", (PyCFunction)region_leave, METH_VARARGS,
     "__exit__($self, type, value, traceback, /)\n--\n\nEnds it."},
    {NULL, NULL, 0, NULL},
};

int gphpy_capture_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A capture that is going on, made by Runtime.capture(): a context\n"
                 "manager. Its own thread, unless relaxed."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Capture", sizeof(capture), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.capture);
}

int gphpy_region_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A name for what is recorded in its `with` block: Capture.region()."},
        {Py_tp_dealloc, (void *)region_destroy},
        {Py_tp_methods, region_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Region", sizeof(region), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.region);
}
