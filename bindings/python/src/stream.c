// SPDX-License-Identifier: Apache-2.0
/* Stream: one of the program's own, and the reading of everybody else's. */
#include "gphpy.h"

#include <sched.h>
#include <time.h>

enum { NON_BLOCKING = 1 };
#define PER_THREAD_STREAM ((CUstream)0x2)

static PyObject *protocol; /* "__cuda_stream__" */

/* What __cuda_stream__() gives: (0, handle); a method, and in early days an attribute. */
static int read_protocol(PyObject *object, CUstream *out)
{
    PyObject *found = PyObject_GetAttr(object, protocol);
    if (!found) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
            PyErr_Format(PyExc_TypeError,
                         "a stream is a Stream, an int or something with "
                         "__cuda_stream__, not %R",
                         (PyObject *)Py_TYPE(object));
        }
        return 0;
    }
    if (PyCallable_Check(found)) {
        PyObject *result = PyObject_CallNoArgs(found);
        Py_SETREF(found, result);
    }
    unsigned long long handle = 0;
    int layout = 0;
    const int is_read =
        found && PyTuple_Check(found) &&
        PyArg_ParseTuple(found, "iK;__cuda_stream__ is a version and a handle", &layout,
                         &handle);
    if (found && !PyTuple_Check(found))
        PyErr_SetString(PyExc_TypeError, "__cuda_stream__ did not give a tuple");
    Py_XDECREF(found);
    if (!is_read)
        return 0;
    if (layout != 0) {
        PyErr_Format(PyExc_TypeError, "__cuda_stream__ is of version %d, 0 is known",
                     layout);
        return 0;
    }
    *out = (CUstream)(uintptr_t)handle;
    return 1;
}

int gphpy_stream_read(PyObject *object, void *out)
{
    CUstream *stream = out;
    if (Py_TYPE(object) == gphpy_types.stream) {
        *stream = ((gphpy_stream *)object)->handle;
        return 1;
    }
    if (object == Py_None) {
        *stream = PER_THREAD_STREAM;
        return 1;
    }
    if (PyLong_Check(object)) {
        *stream = PyLong_AsVoidPtr(object);
        return *stream || !PyErr_Occurred();
    }
    return read_protocol(object, stream);
}

bool gphpy_stream_is_capturing(gphpy_runtime *runtime, CUstream stream)
{
    int state = 0;
    return runtime->cu->StreamIsCapturing(stream, &state) == GPH_OK && state != 0;
}

PyObject *gphpy_stream_lent(gphpy_runtime *runtime, CUstream handle)
{
    gphpy_stream *self = gphpy_new(gphpy_types.stream, sizeof(*self));
    if (self) {
        self->handle = handle;
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    }
    return (PyObject *)self;
}

PyObject *gphpy_stream_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"priority", NULL};
    int priority = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$i:stream", names, &priority) ||
        !gphpy_runtime_use(runtime))
        return NULL;
    CUstream handle = NULL;
    const gph_status status = gph_cuda_check(
        runtime->cu->StreamCreateWithPriority(&handle, NON_BLOCKING, priority),
        "cuStreamCreateWithPriority", &error);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    gphpy_stream *self = (gphpy_stream *)gphpy_stream_lent(runtime, handle);
    if (self)
        self->is_own = true;
    else
        (void)runtime->cu->StreamDestroy(handle);
    return (PyObject *)self;
}

/* ---- waiting ---- */

static long clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Yields at first, then sleeps. By the clock: on a loaded machine both take longer. */
gph_status gphpy_stream_poll(const gph_cuda_calls *cu, CUstream stream, long *waited_ns)
{
    enum {
        YIELD_NS = 100000,
        SLEEP_MIN_NS = 20000,
        SLEEP_MAX_NS = 1000000,
        TURN_NS = 20000000
    };
    const long begun = clock_ns() - *waited_ns, end = *waited_ns + TURN_NS;
    gph_status status = cu->StreamQuery(stream);
    while (status == GPHPY_NOT_READY && *waited_ns < end) {
        long sleep_ns = *waited_ns / 64;
        sleep_ns = sleep_ns < SLEEP_MIN_NS ? SLEEP_MIN_NS : sleep_ns;
        sleep_ns = sleep_ns > SLEEP_MAX_NS ? SLEEP_MAX_NS : sleep_ns;
        if (*waited_ns < YIELD_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
        *waited_ns = clock_ns() - begun;
        status = cu->StreamQuery(stream);
    }
    return status;
}

/* Signals are handled on the main thread; on others the look for them is nothing. */
static PyObject *synchronize(gphpy_stream *self, PyObject *unused)
{
    (void)unused;
    const gph_cuda_calls *cu = self->runtime->cu;
    gph_error error = {0};
    gph_status status;
    long waited_ns = 0;
    if (!gphpy_runtime_use(self->runtime))
        return NULL;
    WITHOUT_GIL(status, gphpy_stream_poll(cu, self->handle, &waited_ns));
    while (status == GPHPY_NOT_READY) {
        if (PyErr_CheckSignals() < 0)
            return NULL;
        WITHOUT_GIL(status, gphpy_stream_poll(cu, self->handle, &waited_ns));
    }
    if (status == GPH_OK) /* what waits for a synchronization, as pools do, sees one */
        WITHOUT_GIL(status, cu->StreamSynchronize(self->handle));
    status = gph_cuda_check(status, "cuStreamSynchronize", &error);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    return gphpy_warn() < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *wait_for(gphpy_stream *self, PyObject *other)
{
    const gph_cuda_calls *cu = self->runtime->cu;
    enum { NO_TIMING = 2 };
    CUstream before = NULL;
    CUevent event = NULL;
    gph_error error = {0};
    if (!gphpy_stream_read(other, &before) || !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status =
        gph_cuda_check(cu->EventCreate(&event, NO_TIMING), "cuEventCreate", &error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->EventRecord(event, before), "cuEventRecord", &error);
    if (status == GPH_OK)
        status = gph_cuda_check(cu->StreamWaitEvent(self->handle, event, 0),
                                "cuStreamWaitEvent", &error);
    if (event)
        (void)cu->EventDestroy(event);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *get_is_capturing(gphpy_stream *self, void *unused)
{
    (void)unused;
    int capture = 0;
    gph_error error = {0};
    const gph_status status =
        gph_cuda_check(self->runtime->cu->StreamIsCapturing(self->handle, &capture),
                       "cuStreamIsCapturing", &error);
    return status == GPH_OK ? PyBool_FromLong(capture != 0)
                            : gphpy_raise(status, &error, NULL);
}

static PyObject *get_handle(gphpy_stream *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->handle);
}

static PyObject *cuda_stream(gphpy_stream *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("(iK)", 0, (unsigned long long)(uintptr_t)self->handle);
}

static PyObject *represent(gphpy_stream *self)
{
    return PyUnicode_FromFormat("<graphophone.Stream %p>", self->handle);
}

static void destroy(gphpy_stream *self)
{
    if (self->is_own)
        (void)self->runtime->cu->StreamDestroy(self->handle);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyMethodDef methods[] = {
    METHOD0("synchronize", synchronize,
            "synchronize($self)\n--\n\n"
            "Waits for all work in it. Other threads run meanwhile, and Ctrl-C ends the "
            "wait\n"
            "(not the work)."),
    METHOD1("wait", wait_for,
            "wait($self, stream, /)\n--\n\nWork put into it from now on begins after "
            "what is in\n"
            "the other stream by now."),
    METHOD0("__cuda_stream__", cuda_stream,
            "__cuda_stream__($self)\n--\n\nThe protocol of CUDA's streams: (0, handle)."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("handle", get_handle, "The CUstream, an int."),
    GETTER("is_capturing", get_is_capturing, "Whether it is being captured."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_stream_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A stream of CUDA, made by Runtime.stream(). Any thread.\n\n"
                 "Wherever a stream is asked for, an int or anything with\n"
                 "__cuda_stream__ will do; None is the per-thread default stream."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_repr, (void *)represent},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Stream", sizeof(gphpy_stream), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    protocol = PyUnicode_InternFromString("__cuda_stream__");
    return protocol ? gphpy_type_add(module, &spec, &gphpy_types.stream) : -1;
}
