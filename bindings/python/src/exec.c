// SPDX-License-Identifier: Apache-2.0
/* Exec: one executable graph; a call of it is a launch. */
#include "gphpy.h"

#include <stddef.h>

typedef struct exec {
    PyObject_HEAD vectorcallfunc call;
    gph_exec *gph;
    gphpy_runtime *runtime;
    PyObject *owner; /* lends it; NULL: it is our own */
    int keeps_gil;
} exec;

static PyObject *launch(PyObject *self, PyObject *const *args, size_t count,
                        PyObject *names)
{
    exec *const e = (exec *)self;
    CUstream stream = NULL;
    gph_error error;
    if (PyVectorcall_NARGS(count) != 1 || names) {
        PyErr_SetString(PyExc_TypeError, "an Exec is called with a stream");
        return NULL;
    }
    if (!gphpy_stream_read(args[0], &stream) || !gphpy_runtime_use(e->runtime))
        return NULL;
    gph_status status;
    error.message[0] = '\0';
    LAUNCH(status, e->keeps_gil, gph_exec_launch(e->gph, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static exec *make(gphpy_runtime *runtime, gph_exec *gph, PyObject *owner)
{
    exec *self = gphpy_new(gphpy_types.exec, sizeof(*self));
    if (!self)
        return NULL;
    self->call = launch;
    self->gph = gph;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->owner = Py_XNewRef(owner);
    return self;
}

int gphpy_exec_bind(PyObject *object, gph_exec **out)
{
    if (Py_TYPE(object) != gphpy_types.exec) {
        PyErr_Format(PyExc_TypeError, "%R is not an Exec", (PyObject *)Py_TYPE(object));
        return -1;
    }
    *out = ((exec *)object)->gph;
    return 0;
}

PyObject *gphpy_exec_lent(gphpy_runtime *runtime, gph_exec *lent, PyObject *owner,
                          int keeps_gil)
{
    exec *self = make(runtime, lent, owner);
    if (self)
        self->keeps_gil = keeps_gil;
    return (PyObject *)self;
}

PyObject *gphpy_exec_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"graph", "flags", "stream", "keep_gil", NULL};
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    unsigned long long graph = 0;
    int keep_gil = 0;
    gph_exec *gph = NULL;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "K|$IO&p:instantiate", names, &graph, &options.flags,
               gphpy_stream_read, &options.upload_stream, &keep_gil) ||
        !gphpy_runtime_use(runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_exec_create(runtime->gph, (CUgraph)(uintptr_t)graph, &options,
                                        &gph, &error));
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    exec *self = make(runtime, gph, NULL);
    if (self)
        self->keeps_gil = keep_gil;
    else
        gph_exec_destroy(gph);
    return (PyObject *)self;
}

static void destroy(exec *self)
{
    if (self->owner)
        Py_DECREF(self->owner);
    else
        gph_exec_destroy(self->gph);
    gphpy_comms_settle();
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *upload(exec *self, PyObject *object)
{
    CUstream stream = NULL;
    gph_error error = {0};
    if (!gphpy_stream_read(object, &stream))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_exec_upload(self->gph, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *update(exec *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"graph", "may_reinstantiate", NULL};
    static const char *const ways[] = {"", "nothing", "nodes", "whole", "reinstantiate"};
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    unsigned long long graph = 0;
    int may_reinstantiate = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "K|$p:update", names, &graph, &may_reinstantiate))
        return NULL;
    options.may_reinstantiate = (uint32_t)may_reinstantiate;
    gph_status status;
    WITHOUT_GIL(status, gph_exec_update(self->gph, (CUgraph)(uintptr_t)graph, &options,
                                        &report, &error));
    PyObject *result = NULL;
    if (status == GPH_OK)
        result = Py_BuildValue("(ss)", ways[report.way % 5], report.text);
    else
        gphpy_raise(status, &error, NULL);
    gph_update_report_fini(&report);
    return result;
}

static PyObject *get_handle(exec *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(gph_exec_handle(self->gph));
}

static PyObject *get_address(exec *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

static PyMethodDef methods[] = {
    METHOD1("upload", upload,
            "upload($self, stream, /)\n--\n\nUploads it once more, as is due after an "
            "edit through\n"
            "the driver."),
    METHOD("update", update,
           "update($self, graph, *, may_reinstantiate=False)\n--\n\n"
           "Gives it the contents of a CUgraph, an int, the cheapest way that is right. "
           "Returns\n"
           "(way, why): 'nothing', 'nodes', 'whole' or 'reinstantiate', and a sentence. "
           "With\n"
           "may_reinstantiate it is made again where the driver would refuse, which "
           "launches of\n"
           "other threads must not meet. Thread: one at a time."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("handle", get_handle, "The CUgraphExec, an int."),
    GETTER("address", get_address, "The address of the gph_exec, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(exec, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_exec_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"An executable graph: exec(stream) launches it. Any thread."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Exec", sizeof(exec), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.exec);
}
