// SPDX-License-Identifier: Apache-2.0
/* Launcher: an executable graph whose replay() takes no stream. It asks a function which stream
 * is current, as frameworks have one, and calls another one before the launch, where there is
 * something to be done first (the state of random generators). A class of Python that derives
 * from it has replay() as it is here: a hit runs C alone.
 *
 *   replay()  ->  before()  ->  stream_of(argument)  ->  context  ->  gph_exec_launch() */
#include "gphpy.h"

#include "dlpack.h"
#include "pulls.h"
#include "recipe.h"

#include <stdio.h>

typedef struct launcher {
    PyObject_HEAD gph_exec *gph; /* NULL: it is not armed */
    gphpy_pulls *pulls;          /* inputs that `gph` copies; NULL: none */
    gphpy_runtime *runtime;
    CUcontext context; /* of the graph */
    int keeps_gil;     /* as gphpy_exec_new() has it */
    bool is_only;      /* device: a thread's context is the graph's, once it has one */
    PyObject *stream_of, *argument;
    PyObject *before; /* or NULL */
    PyObject *lost;   /* why it must not be launched any more, a str; or NULL */
    PyCFunction
        direct; /* of stream_of, where it is C's own with one argument; else NULL */
    const dl_exchange
        *api;             /* of stream_of, where that is a type with a C table; or NULL */
    int device;           /* with `api` */
    gphpy_loaded *loaded; /* instead of `gph`: whose graph number `number` it launches */
    uint32_t number;
} launcher;

/* A call of a built-in function costs a third of what the general way costs. */
static PyCFunction direct_call(PyObject *function)
{
    if (!PyCFunction_Check(function) || PyCFunction_GetFlags(function) != METH_O)
        return NULL;
    return PyCFunction_GetFunction(function);
}

static bool find_stream(launcher *self, CUstream *out)
{
    void *current = NULL;
    if (self->api && self->api->current_stream(DL_CUDA, self->device, &current) == 0) {
        *out = current;
        return true;
    }
    if (self->api) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "the framework has no current stream");
        return false;
    }
    PyObject *number =
        self->direct
            ? self->direct(PyCFunction_GetSelf(self->stream_of), self->argument)
            : PyObject_CallFunctionObjArgs(self->stream_of, self->argument, NULL);
    if (!number)
        return false;
    void *handle = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    *out = handle;
    return handle || !PyErr_Occurred();
}

/* The table of a type whose argument is the device; NULL: it is a function. */
static bool read_stream_of(PyObject *stream_of, PyObject *argument,
                           const dl_exchange **api, int *device)
{
    *api = PyType_Check(stream_of) ? gphpy_exchange_of((PyTypeObject *)stream_of) : NULL;
    if (*api && !(*api)->current_stream)
        *api = NULL;
    if (*api)
        *device = (int)PyLong_AsLong(argument);
    return !PyErr_Occurred();
}

static bool is_armed(const launcher *self)
{
    return self->gph || self->loaded;
}

/* What a class that derives from it may do, or raise, when there is nothing to launch. */
static bool make_ready(launcher *self)
{
    PyObject *result = PyObject_CallMethod((PyObject *)self, "_unarmed", NULL);
    Py_XDECREF(result);
    if (result && !is_armed(self)) {
        gph_error error = {0};
        strcpy(error.message, "the Launcher has no graph");
        gphpy_raise(GPH_E_STATE, &error, NULL);
    }
    return result && is_armed(self);
}

/* What it reads is gone. */
static PyObject *refuse(const launcher *self)
{
    gph_error error = {0};
    const char *text = PyUnicode_AsUTF8AndSize(self->lost, NULL);
    if (!text)
        return NULL;
    snprintf(error.message, sizeof(error.message), "%s", text);
    return gphpy_raise(GPH_E_STATE, &error, NULL);
}

static bool prepare(launcher *self)
{
    if (!self->before)
        return true;
    PyObject *before = Py_NewRef(self->before); /* which may put another one there */
    PyObject *result = PyObject_CallNoArgs(before);
    Py_DECREF(before);
    Py_XDECREF(result);
    return result != NULL;
}

/* from: as gphpy_pulls_launch() has it. */
static gph_status launch_here(const launcher *self, const CUdeviceptr *from,
                              CUstream stream, gph_error *error)
{
    if (self->pulls)
        return gphpy_pulls_launch(self->pulls, self->gph, from, stream, error);
    return self->loaded
               ? gph_loaded_launch(self->loaded->gph, self->number, stream, error)
               : gph_exec_launch(self->gph, stream, error);
}

/* In the graph's context, which the thread's own seldom is not. */
static gph_status launch(const launcher *self, const CUdeviceptr *from, CUstream stream,
                         gph_error *error)
{
    CUcontext current = NULL;
    const gph_cuda_calls *cu = self->runtime->cu;
    if (self->is_only && gphpy_thread_has_context)
        return launch_here(self, from, stream, error);
    (void)cu->CtxGetCurrent(&current);
    if (current == self->context) {
        gphpy_thread_has_context = gphpy_thread_has_context || self->is_only;
        return launch_here(self, from, stream, error);
    }
    gph_status status =
        gph_cuda_check(cu->CtxSetCurrent(self->context), "cuCtxSetCurrent", error);
    if (status != GPH_OK)
        return status;
    status = launch_here(self, from, stream, error);
    (void)cu->CtxSetCurrent(current);
    return status;
}

static PyObject *replay_locked(launcher *self, const CUdeviceptr *from)
{
    CUstream stream = NULL;
    gph_error error;
    if (self->lost)
        return refuse(self);
    if ((!is_armed(self) && !make_ready(self)) || !prepare(self) ||
        !find_stream(self, &stream))
        return NULL;
    gph_status status;
    error.message[0] = '\0';
    LAUNCH(status, self->keeps_gil, launch(self, from, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *replay_from(launcher *self, const CUdeviceptr *from)
{
    PyObject *result;
    ONE_AT_A_TIME(result, self, replay_locked(self, from));
    return result;
}

static PyObject *replay(launcher *self, PyObject *unused)
{
    (void)unused;
    return replay_from(self, NULL);
}

PyObject *gphpy_launcher_replay(PyObject *object)
{
    return replay_from((launcher *)object, NULL);
}

uint32_t gphpy_launcher_pulls(PyObject *object)
{
    uint32_t count;
    ONE_AT_A_TIME(count, object, gphpy_pulls_count(((launcher *)object)->pulls));
    return count;
}

bool gphpy_launcher_is_lost(PyObject *object)
{
    bool is_lost;
    ONE_AT_A_TIME(is_lost, object, ((launcher *)object)->lost != NULL);
    return is_lost;
}

PyObject *gphpy_launcher_pull(PyObject *object, const CUdeviceptr *from)
{
    return replay_from((launcher *)object, from);
}

static PyObject *disarm_locked(launcher *self)
{
    gph_exec *gph = self->gph;
    gphpy_pulls *pulls = self->pulls;
    self->gph = NULL;
    self->pulls = NULL;
    if (gph) {
        PyThreadState *state = PyEval_SaveThread();
        gph_exec_destroy(gph);
        gphpy_pulls_free(pulls);
        PyEval_RestoreThread(state);
        gphpy_comms_settle();
    }
    Py_CLEAR(self->stream_of);
    Py_CLEAR(self->argument);
    Py_CLEAR(self->before);
    Py_XSETREF(self->loaded, NULL);
    Py_XSETREF(self->runtime, NULL);
    Py_RETURN_NONE;
}

static PyObject *disarm(launcher *self, PyObject *unused)
{
    (void)unused;
    PyObject *result;
    ONE_AT_A_TIME(result, self, disarm_locked(self));
    return result;
}

/* Where a graph is launched: all that may fail before the launcher changes. */
struct surroundings {
    gphpy_runtime *runtime;
    CUcontext context;
    int devices, device;
    const dl_exchange *api;
};

static bool look_around(struct surroundings *out, PyObject *stream_of, PyObject *argument)
{
    gph_error error = {0};
    if (!read_stream_of(stream_of, argument, &out->api, &out->device) ||
        !gphpy_runtime_use(out->runtime))
        return false;
    const gph_cuda_calls *cu = out->runtime->cu;
    gph_status status =
        gph_cuda_check(cu->CtxGetCurrent(&out->context), "cuCtxGetCurrent", &error);
    if (status == GPH_OK)
        status =
            gph_cuda_check(cu->DeviceGetCount(&out->devices), "cuDeviceGetCount", &error);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    return status == GPH_OK;
}

/* In place of the graph that it had, if any. */
static void take_on(launcher *self, const struct surroundings *found, PyObject *stream_of,
                    PyObject *argument)
{
    Py_DECREF(disarm_locked(self)); /* None */
    self->context = found->context;
    self->is_only = found->devices == 1;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)found->runtime);
    self->stream_of = Py_NewRef(stream_of);
    self->argument = Py_NewRef(argument);
    self->direct = direct_call(stream_of);
    self->api = found->api;
    self->device = found->device;
}

static PyObject *arm_locked(launcher *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"runtime", "graph", "stream_of", "argument",
                                        "before",  "flags", "stream",    "keep_gil",
                                        "pulls",   NULL};
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    PyObject *runtime = NULL, *stream_of = NULL, *argument = NULL, *before = Py_None;
    PyObject *list = Py_None;
    gphpy_pulls *pulls = NULL;
    unsigned long long graph = 0;
    int keep_gil = 0;
    gph_exec *gph = NULL;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O!KOO|$OIO&pO:arm", names, gphpy_types.runtime, &runtime,
               &graph, &stream_of, &argument, &before, &options.flags, gphpy_stream_read,
               &options.upload_stream, &keep_gil, &list))
        return NULL;
    gphpy_runtime *const opened = (gphpy_runtime *)runtime;
    struct surroundings found = {.runtime = opened};
    if (!look_around(&found, stream_of, argument))
        return NULL;
    if (gphpy_pulls_read(list, &pulls) < 0)
        return NULL;
    gph_status status;
    WITHOUT_GIL(status,
                gphpy_pulls_instantiate(&pulls, opened->gph, (CUgraph)(uintptr_t)graph,
                                        &options, &gph, &error));
    if (status != GPH_OK) {
        gphpy_pulls_free(pulls);
        return gphpy_raise(status, &error, NULL);
    }
    take_on(self, &found, stream_of, argument);
    self->gph = gph;
    self->pulls = pulls;
    self->keeps_gil = keep_gil;
    self->before = before == Py_None ? NULL : Py_NewRef(before);
    Py_RETURN_NONE;
}

static PyObject *arm(launcher *self, PyObject *args, PyObject *kwargs)
{
    PyObject *result;
    ONE_AT_A_TIME(result, self, arm_locked(self, args, kwargs));
    return result;
}

static PyObject *arm_loaded_locked(launcher *self, PyObject *args)
{
    PyObject *object = NULL, *stream_of = NULL, *argument = NULL;
    unsigned number = 0;
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    if (!PyArg_ParseTuple(args, "O!IOO:arm_loaded", gphpy_types.loaded, &object, &number,
                          &stream_of, &argument))
        return NULL;
    gphpy_loaded *const loaded = (gphpy_loaded *)object;
    struct surroundings found = {.runtime = loaded->runtime};
    if (!gph_loaded_get(loaded->gph, number, &graph))
        return gphpy_invalid("graph %u is beyond the last one", number);
    if (!graph.is_loaded) {
        gph_error error = {0};
        snprintf(error.message, sizeof(error.message),
                 "graph %.100s was not loaded: %.300s", graph.name, graph.why);
        return gphpy_raise(graph.status, &error, NULL);
    }
    if (!look_around(&found, stream_of, argument))
        return NULL;
    take_on(self, &found, stream_of, argument);
    self->loaded = (gphpy_loaded *)Py_NewRef(object);
    self->number = number;
    self->keeps_gil = false;
    Py_RETURN_NONE;
}

static PyObject *arm_loaded(launcher *self, PyObject *args)
{
    PyObject *result;
    ONE_AT_A_TIME(result, self, arm_loaded_locked(self, args));
    return result;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args; /* of a class that derives from it */
    (void)kwargs;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return alloc(type, 0); /* zeroed */
}

static void destroy(launcher *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    Py_XDECREF(disarm_locked(self));
    Py_XDECREF(self->lost);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* What it has, or None. */
static PyObject *handle_of(const launcher *self)
{
    return self->gph ? PyLong_FromVoidPtr(gph_exec_handle(self->gph))
                     : Py_NewRef(Py_None);
}

static PyObject *get_handle(launcher *self, void *unused)
{
    (void)unused;
    PyObject *result;
    ONE_AT_A_TIME(result, self, handle_of(self));
    return result;
}

static PyObject *get_address(launcher *self, void *unused)
{
    (void)unused;
    const gph_exec *gph;
    ONE_AT_A_TIME(gph, self, self->gph);
    return gph ? PyLong_FromVoidPtr((void *)gph) : Py_NewRef(Py_None);
}

static PyObject *get_before(launcher *self, void *unused)
{
    (void)unused;
    PyObject *result;
    ONE_AT_A_TIME(result, self, Py_XNewRef(self->before));
    return result ? result : Py_NewRef(Py_None);
}

static int set_before(launcher *self, PyObject *value, void *unused)
{
    (void)unused;
    PyObject *former;
    ONE_AT_A_TIME(former, self, gphpy_exchange(&self->before, value));
    Py_XDECREF(former);
    return 0;
}

static PyObject *get_lost(launcher *self, void *unused)
{
    (void)unused;
    PyObject *result;
    ONE_AT_A_TIME(result, self, Py_XNewRef(self->lost));
    return result ? result : Py_NewRef(Py_None);
}

static int set_lost(launcher *self, PyObject *value, void *unused)
{
    (void)unused;
    if (value && value != Py_None && !PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "lost is a str or None, not %R", Py_TYPE(value));
        return -1;
    }
    PyObject *former;
    ONE_AT_A_TIME(former, self, gphpy_exchange(&self->lost, value));
    Py_XDECREF(former);
    return 0;
}

static PyObject *get_pulls(launcher *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(gphpy_launcher_pulls((PyObject *)self));
}

static PyMethodDef methods[] = {
    METHOD0("replay", replay,
            "replay($self)\n--\n\nLaunches the graph in the stream that is current, "
            "after before()."),
    METHOD(
        "arm", arm,
        "arm($self, runtime, graph, stream_of, argument, *, before=None, flags=0, "
        "stream=None, keep_gil=False, pulls=None)\n--\n\n"
        "Makes a CUgraph, an int, executable, in place of what it had; the graph stays "
        "the\n"
        "caller's. stream_of(argument) gives the current stream, an int; or stream_of is "
        "a type\n"
        "whose DLPack C table says it, and argument the device's number. before() is "
        "called\n"
        "ahead of each launch. flags are CUDA's: 1 auto free on launch, 4 device "
        "launch, 8 node\n"
        "priorities. stream: of the upload. keep_gil: as in Runtime.instantiate(). "
        "pulls:\n"
        "pairs of address and bytes, inputs that the graph copies itself when it is "
        "launched by a\n"
        "PathHit, from where they lie then; replay() finds them in place. After a "
        "failure it is as\n"
        "it was. Thread: one at a time."),
    {"arm_loaded", (PyCFunction)arm_loaded, METH_VARARGS,
     "arm_loaded($self, loaded, number, stream_of, argument, /)\n--\n\n"
     "The same with a graph of a Loaded, which stays as long as it is launched; handle "
     "and\n"
     "address are None. Raises why that one was not loaded. Thread: one at a time."},
    METHOD0(
        "disarm", disarm,
        "disarm($self)\n--\n\nLets go of the graph; launches in flight finish. replay() "
        "then\n"
        "calls the method _unarmed() of a class that derives from it."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"before", (getter)get_before, (setter)set_before,
     "Called without arguments ahead of each launch, or None.", NULL},
    {"lost", (getter)get_lost, (setter)set_lost,
     "Why replay() refuses, a str: what the graph reads is gone. None: it does not.",
     NULL},
    GETTER("handle", get_handle, "The CUgraphExec, an int; None if it is not armed."),
    GETTER("address", get_address,
           "The address of the gph_exec, for C; None if it is not armed."),
    GETTER("pulls", get_pulls,
           "How many inputs the graph copies itself; 0: PathHits copy them by calls."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_launcher_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"An executable graph for frameworks that have a current stream: "
                "replay()\n"
                "launches it there. Made without arguments, then arm(); to derive from.\n"
                "Any thread may replay it; the rest one at a time."},
        {Py_tp_new, (void *)make},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Launcher", sizeof(launcher), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    return gphpy_type_add(module, &spec, &gphpy_types.launcher);
}
