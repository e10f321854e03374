// SPDX-License-Identifier: Apache-2.0
/* Call: what a Python function is recorded with. Keeper: what lives as long as a recording. */
#include "gphpy.h"

#include <stdatomic.h>

typedef struct call {
    PyObject_HEAD gph_call *gph; /* NULL: it is over */
    gphpy_runtime *runtime;
    PyObject *stream, *pool, *capture;
    gphpy_scope *scope;
} call;

/* ---- Keeper ---- */

static int keeper_visit(gphpy_keeper *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->function);
    Py_VISIT(self->results);
    for (int i = 0; i < GPHPY_KEPT; i++)
        Py_VISIT(self->kept[i]);
    return 0;
}

/* What the object borrows stays until the object is gone: of a circle only the function and
 * what it gave are let go. */
static int keeper_clear(gphpy_keeper *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->results);
    return 0;
}

static void keeper_destroy(gphpy_keeper *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    if (self->destroy) {
        PyThreadState *state = PyEval_SaveThread();
        self->destroy(self->object);
        PyEval_RestoreThread(state);
    }
    keeper_clear(self);
    for (int i = 0; i < GPHPY_KEPT; i++)
        Py_CLEAR(self->kept[i]);
    Py_XDECREF((PyObject *)self->runtime);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

gphpy_keeper *gphpy_keeper_new(gphpy_runtime *runtime, PyObject *function)
{
    gphpy_keeper *self = PyObject_GC_New(gphpy_keeper, gphpy_types.keeper);
    if (!self)
        return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof(*self) - sizeof(PyObject));
    self->function = Py_XNewRef(function);
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    PyObject_GC_Track(self);
    return self;
}

void gphpy_keep(gphpy_keeper *keeper, PyObject *object)
{
    for (int i = 0; i < GPHPY_KEPT; i++)
        if (!keeper->kept[i]) {
            keeper->kept[i] = Py_XNewRef(object);
            return;
        }
}

/* ---- calling the function ---- */

static call *make(gphpy_runtime *runtime, gph_call *gph)
{
    call *self = gphpy_new(gphpy_types.call, sizeof(*self));
    if (!self)
        return NULL;
    self->gph = gph;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->scope = gphpy_scope_create();
    self->stream = gphpy_stream_lent(runtime, gph->stream);
    self->pool = self->scope ? gphpy_pool_lent(runtime, gph->pool, self->scope) : NULL;
    if (gph->capture)
        self->capture = gphpy_capture_lent(runtime, gph->capture, gph->stream);
    if (self->stream && self->pool && (self->capture || !gph->capture)) {
        gphpy_pool_scope_all(self->pool);
        return self;
    }
    Py_DECREF((PyObject *)self);
    return NULL;
}

/* What tensors of the call still hold is the recording's from now on. */
static void end(call *self)
{
    self->gph = NULL;
    atomic_store(&self->scope->is_over, 1);
    if (self->capture)
        gphpy_capture_close(self->capture);
}

static void destroy(call *self)
{
    Py_XDECREF(self->stream);
    Py_XDECREF(self->pool);
    Py_XDECREF(self->capture);
    gphpy_scope_release(self->scope);
    Py_XDECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *arguments_of(call *self)
{
    const gph_call *gph = self->gph;
    PyObject *args = PyTuple_New(1 + (Py_ssize_t)gph->input_count);
    if (!args)
        return NULL;
    TUPLE_SET(args, 0, Py_NewRef((PyObject *)self));
    for (uint32_t i = 0; args && i < gph->input_count; i++) {
        PyObject *input = gphpy_tensor_new(self->runtime, &gph->inputs[i], NULL);
        if (!input)
            Py_CLEAR(args);
        else
            TUPLE_SET(args, 1 + (Py_ssize_t)i, input);
    }
    return args;
}

/* Puts what the function gave where libgph wants it. */
static int read_outputs(call *self, PyObject *result)
{
    gph_call *gph = self->gph;
    const bool is_one =
        gph->output_count == 1 && !PyTuple_Check(result) && !PyList_Check(result);
    PyObject *all = is_one              ? PyTuple_Pack(1, result)
                    : result == Py_None ? PyTuple_New(0)
                                        : PySequence_Tuple(result);
    int status = all ? 0 : -1;
    if (all && TUPLE_SIZE(all) != (Py_ssize_t)gph->output_count) {
        gphpy_invalid("the function gave %zd outputs, %u were said", TUPLE_SIZE(all),
                      gph->output_count);
        status = -1;
    }
    for (uint32_t i = 0; status == 0 && i < gph->output_count; i++) {
        PyObject *output = TUPLE_ITEM(all, i);
        if (output == Py_None && gph->outputs[i].data) /* it wrote into the buffer */
            continue;
        status = gphpy_tensor_read(self->runtime, output, "output", (Py_ssize_t)i,
                                   &gph->outputs[i]);
        if (status == 0 && Py_TYPE(output) == gphpy_types.tensor)
            gphpy_tensor_disown(output);
    }
    Py_XDECREF(all);
    return status;
}

static int keep_result(gphpy_keeper *keeper, const gph_call *gph, PyObject *result)
{
    if (gph->phase != GPH_PHASE_CAPTURE || result == Py_None)
        return 0;
    if (!keeper->results && !(keeper->results = PyList_New(0)))
        return -1;
    return PyList_Append(keeper->results, result);
}

static gph_status call_function(gphpy_keeper *keeper, gph_call *gph, gph_error *error)
{
    call *self = make(keeper->runtime, gph);
    PyObject *args = self ? arguments_of(self) : NULL;
    PyObject *function = Py_XNewRef(keeper->function), *result = NULL;
    gph_status status = GPH_OK;
    if (args && function)
        result = PyObject_Call(function, args, NULL);
    else if (args)
        gphpy_invalid("the function is gone");
    if (!result || read_outputs(self, result) < 0 || keep_result(keeper, gph, result) < 0)
        status = gphpy_failed(error);
    if (self)
        end(self);
    Py_XDECREF(result);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF((PyObject *)self);
    return status;
}

gph_status gphpy_function_call(void *user, gph_call *gph, gph_error *error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    gphpy_pending before;
    const bool is_free = gphpy_pending_take(&before);
    const gph_status status =
        is_free ? call_function(user, gph, error) : gphpy_failed(error);
    gphpy_pending_give(&before);
    PyGILState_Release(state);
    return status;
}

/* ---- what a function asks ---- */

static gph_call *open_call(call *self)
{
    if (self->gph)
        return self->gph;
    gph_error error = {.message = "the call is over: a Call is used inside its function"};
    gphpy_raise(GPH_E_STATE, &error, NULL);
    return NULL;
}

static PyObject *get_phase(call *self, void *unused)
{
    (void)unused;
    static const char *const phases[] = {"?", "eager", "warmup", "capture"};
    const gph_call *gph = open_call(self);
    return gph ? PyUnicode_FromString(phases[gph->phase < 4 ? gph->phase : 0]) : NULL;
}

static PyObject *get_key(call *self, void *unused)
{
    (void)unused;
    const gph_call *gph = open_call(self);
    return gph ? gphpy_int64s(gph->key, gph->key_count) : NULL;
}

static PyObject *get_stream(call *self, void *unused)
{
    (void)unused;
    return open_call(self) ? Py_NewRef(self->stream) : NULL;
}

static PyObject *get_pool(call *self, void *unused)
{
    (void)unused;
    return open_call(self) ? Py_NewRef(self->pool) : NULL;
}

static PyObject *get_capture(call *self, void *unused)
{
    (void)unused;
    return open_call(self) ? Py_NewRef(self->capture ? self->capture : Py_None) : NULL;
}

static PyObject *get_rng(call *self, void *unused)
{
    (void)unused;
    const gph_call *gph = open_call(self);
    return gph ? PyLong_FromUnsignedLongLong(gph->rng) : NULL;
}

static PyObject *get_outputs(call *self, void *unused)
{
    (void)unused;
    const gph_call *gph = open_call(self);
    PyObject *all = gph ? PyTuple_New(gph->output_count) : NULL;
    for (uint32_t i = 0; all && i < gph->output_count; i++) {
        PyObject *one = gph->outputs[i].data
                            ? gphpy_tensor_new(self->runtime, &gph->outputs[i], NULL)
                            : Py_NewRef(Py_None);
        if (!one)
            Py_CLEAR(all);
        else
            TUPLE_SET(all, i, one);
    }
    return all;
}

static PyObject *draw(call *self, PyObject *count)
{
    gph_call *gph = open_call(self);
    const unsigned long long more = gph ? PyLong_AsUnsignedLongLong(count) : 0;
    if (!gph || PyErr_Occurred())
        return NULL;
    gph->rng_count += more;
    return Py_NewRef(Py_None);
}

static PyObject *empty(call *self, PyObject *args, PyObject *kwargs)
{
    if (!open_call(self))
        return NULL;
    PyObject *names = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    PyObject *make_tensor = PyObject_GetAttrString(self->pool, "tensor"), *tensor = NULL;
    if (names && make_tensor && PyDict_SetItemString(names, "stream", self->stream) == 0)
        tensor = PyObject_Call(make_tensor, args, names);
    Py_XDECREF(make_tensor);
    Py_XDECREF(names);
    return tensor;
}

static PyMethodDef methods[] = {
    METHOD("empty", empty,
           "empty($self, shape, dtype='f32')\n--\n\n"
           "Allocates an output or a temporary from the pool of the call. A temporary is "
           "freed with\n"
           "its last reference, and used again by later work of the recording."),
    METHOD1("draw", draw,
            "draw($self, count, /)\n--\n\nSays that the function takes so many numbers "
            "of the\n"
            "generator more, a thread of a kernel, in each call."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("phase", get_phase,
           "'eager' (its work runs now), 'warmup' (runs now, outputs are dropped) or "
           "'capture'."),
    GETTER("stream", get_stream,
           "All work goes here, or forks from here and joins: a Stream."),
    GETTER("pool", get_pool, "Where outputs and temporaries are allocated: a Pool."),
    GETTER("capture", get_capture,
           "For regions and breaks: a Capture; None unless it captures."),
    GETTER("key", get_key, "The caller's key, ints: a mode, a bucket."),
    GETTER("outputs", get_outputs,
           "For each output the tensor it is recorded into, which the function writes "
           "and gives\n"
           "None for; None where it allocates one."),
    GETTER("rng", get_rng,
           "Address of two 64-bit words in device memory, Philox seed and offset; 0 "
           "without a\n"
           "generator."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_call_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"What a function is recorded with: its first argument.\n\n"
                 "    def step(call, x, weight):\n"
                 "        y = call.empty(x.shape)\n"
                 "        kernel(call.stream, ..., y, x, weight)\n"
                 "        return y\n\n"
                 "The function puts work into call.stream and returns its outputs: None, "
                 "a\n"
                 "tensor, or a sequence of them, allocated by call.empty() or views of\n"
                 "inputs. It may be called many times, and does the same work each\n"
                 "time. An exception ends the recording and is passed on."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Call", sizeof(call), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.call);
}

int gphpy_keeper_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"What lives as long as a recording, and its outputs."},
        {Py_tp_dealloc, (void *)keeper_destroy},
        {Py_tp_traverse, (void *)keeper_visit},
        {Py_tp_clear, (void *)keeper_clear},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone._Keeper", sizeof(gphpy_keeper), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_GC,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.keeper);
}

/* ---- small things that callables, trees and caches share ---- */

int gphpy_key_read(PyObject *object, int64_t key[GPHPY_KEY_MAX])
{
    if (PyLong_Check(object)) {
        key[0] = PyLong_AsLongLong(object);
        return key[0] == -1 && PyErr_Occurred() ? -1 : 1;
    }
    PyObject *all = PySequence_Tuple(object);
    if (!all)
        return -1;
    Py_ssize_t count = TUPLE_SIZE(all);
    if (count > GPHPY_KEY_MAX) {
        gphpy_invalid("there are %zd words, %d are the most", count, GPHPY_KEY_MAX);
        count = -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        key[i] = PyLong_AsLongLong(TUPLE_ITEM(all, i));
        if (key[i] == -1 && PyErr_Occurred())
            count = -1;
    }
    Py_DECREF(all);
    return (int)count;
}

PyObject *gphpy_unpack(PyObject *tuple, uint32_t count)
{
    PyObject *result = !tuple || count > 1 ? tuple
                       : count == 1        ? Py_NewRef(TUPLE_ITEM(tuple, 0))
                                           : Py_NewRef(Py_None);
    if (result != tuple)
        Py_DECREF(tuple);
    return result;
}
