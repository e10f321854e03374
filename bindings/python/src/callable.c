// SPDX-License-Identifier: Apache-2.0
/* Callable: a function recorded for one signature. A call converts its tensors into an array on
 * the stack, and makes no object: what is lent lies in one place, and so does its Tensor. */
#include "gphpy.h"

#include <stddef.h>
#include <stdlib.h>

enum { INPUTS_MAX = 64 }; /* on the stack of a call; more are in memory of the heap */

typedef struct callable {
    PyObject_HEAD vectorcallfunc call;
    gph_callable *gph;
    gphpy_keeper *keeper; /* owns `gph`; the tensors of `lent` refer to it */
    PyObject
        *lent; /* a tuple: the outputs in their places; NULL: of one that is copied */
    PyObject *result; /* what a call without copied outputs returns */
    CUstream stream;  /* of the recording: what calls without `stream` use */
    gphpy_lock lock;
    uint32_t input_count, output_count, copied_count;
    int key_count;
    int64_t key[GPHPY_KEY_MAX];
} callable;

static PyObject *stream_word, *out_word, *key_word;

/* ---- a call ---- */

struct extras {
    CUstream stream;
    PyObject *out;
    const int64_t *key;
    int key_count;
    int64_t words[GPHPY_KEY_MAX];
};

static bool is_word(PyObject *name, PyObject *word)
{
    return name == word || PyUnicode_Compare(name, word) == 0;
}

static int read_extras(struct extras *extras, PyObject *names, PyObject *const *values)
{
    for (Py_ssize_t i = 0; i < TUPLE_SIZE(names); i++) {
        PyObject *name = TUPLE_ITEM(names, i);
        if (is_word(name, stream_word)) {
            if (!gphpy_stream_read(values[i], &extras->stream))
                return -1;
        } else if (is_word(name, out_word)) {
            extras->out = values[i];
        } else if (is_word(name, key_word)) {
            extras->key_count = gphpy_key_read(values[i], extras->words);
            extras->key = extras->words;
            if (extras->key_count < 0)
                return -1;
        } else {
            PyErr_Format(PyExc_TypeError, "a Callable knows stream, out and key, not %U",
                         name);
            return -1;
        }
    }
    return 0;
}

static gph_status call_it(callable *self, const gph_arguments *arguments, CUstream stream,
                          gph_tensor *outputs, gph_error *error)
{
    gph_status status = GPH_E_STATE;
    if (!gphpy_runtime_use(self->keeper->runtime) ||
        !gphpy_lock_take(&self->lock, "callable"))
        return status;
    WITHOUT_GIL(status, gph_callable_call(self->gph, arguments, stream, outputs, error));
    gphpy_lock_give(&self->lock);
    return status;
}

/* With outputs that are copied: `out` has a tensor for each of them, in order. */
static PyObject *call_copying(callable *self, const gph_arguments *arguments,
                              const struct extras *extras)
{
    gph_error error = {0};
    gph_tensor *outputs = calloc(self->output_count, sizeof(*outputs));
    PyObject *given = extras->out && extras->out != Py_None
                          ? (PyTuple_Check(extras->out) || PyList_Check(extras->out)
                                 ? PySequence_Tuple(extras->out)
                                 : PyTuple_Pack(1, extras->out))
                          : PyTuple_New(0);
    PyObject *all = given ? PyTuple_New(self->output_count) : NULL;
    Py_ssize_t next = 0;
    bool is_fine = outputs && all;
    if (is_fine && TUPLE_SIZE(given) != (Py_ssize_t)self->copied_count) {
        gphpy_invalid("out has %zd tensors, %u outputs are copied", TUPLE_SIZE(given),
                      self->copied_count);
        is_fine = false;
    }
    for (uint32_t i = 0; is_fine && i < self->output_count; i++) {
        PyObject *lent = TUPLE_ITEM(self->lent, i);
        PyObject *one = lent != Py_None ? lent : TUPLE_ITEM(given, next++);
        if (lent == Py_None)
            is_fine = gphpy_tensor_read(self->keeper->runtime, one, "out", next - 1,
                                        &outputs[i]) == 0;
        TUPLE_SET(all, i, Py_NewRef(one));
    }
    gph_status status = GPH_OK;
    if (is_fine)
        status = call_it(self, arguments, extras->stream, outputs, &error);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    if (!is_fine || status != GPH_OK)
        Py_CLEAR(all);
    Py_XDECREF(given);
    free(outputs);
    return gphpy_unpack(all, self->output_count);
}

static int read_inputs(callable *self, PyObject *const *args, Py_ssize_t count,
                       gph_tensor *inputs)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (args[i] == Py_None)
            inputs[i] = (gph_tensor){0}; /* what lies in the recorded place is right */
        else if (gphpy_tensor_read(self->keeper->runtime, args[i], "input", i,
                                   &inputs[i]) < 0)
            return -1;
    return 0;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags,
                      PyObject *names)
{
    callable *const self = (callable *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    gph_tensor few[INPUTS_MAX], *inputs = few;
    struct extras extras = {
        .stream = self->stream, .key = self->key, .key_count = self->key_count};
    gph_error error;
    PyObject *result = NULL;
    if (names && read_extras(&extras, names, args + count) < 0)
        return NULL;
    if (count > INPUTS_MAX && !(inputs = malloc((size_t)count * sizeof(*inputs))))
        return PyErr_NoMemory();
    const gph_arguments arguments = {.inputs = inputs,
                                     .input_count = (uint32_t)count,
                                     .key = extras.key,
                                     .key_count = (uint32_t)extras.key_count};
    if (read_inputs(self, args, count, inputs) < 0)
        goto out;
    if (self->copied_count > 0 || extras.out) {
        result = call_copying(self, &arguments, &extras);
        goto out;
    }
    error.message[0] = '\0';
    const gph_status status = call_it(self, &arguments, extras.stream, NULL, &error);
    result =
        status == GPH_OK ? Py_NewRef(self->result) : gphpy_raise(status, &error, NULL);
out:
    if (inputs != few)
        free(inputs);
    return result;
}

/* ---- recording ---- */

/* Arrays that the options point to while it is recorded. */
struct recording {
    gph_tensor *inputs, *clear;
    gph_output *outputs;
    uint8_t *modes;
};

static void free_arrays(struct recording *r)
{
    free(r->inputs);
    free(r->clear);
    free(r->outputs);
    free(r->modes);
}

static gph_tensor *read_tensors(gphpy_runtime *runtime, PyObject *sequence,
                                const char *what, uint32_t *count)
{
    PyObject *all = PySequence_Tuple(sequence);
    if (!all)
        return NULL;
    *count = (uint32_t)TUPLE_SIZE(all);
    gph_tensor *tensors = calloc(*count + 1, sizeof(*tensors));
    if (!tensors)
        PyErr_NoMemory();
    for (uint32_t i = 0; tensors && i < *count; i++)
        if (gphpy_tensor_read(runtime, TUPLE_ITEM(all, i), what, i, &tensors[i]) < 0) {
            free(tensors);
            tensors = NULL;
        }
    Py_DECREF(all);
    return tensors;
}

static int read_modes(PyObject *object, uint32_t count, uint8_t *modes)
{
    static const char *const words[] = {"copy", "static", NULL};
    PyObject *all = PyUnicode_Check(object) ? NULL : PySequence_Tuple(object);
    int status = all || PyUnicode_Check(object) ? 0 : -1;
    if (all && TUPLE_SIZE(all) != (Py_ssize_t)count) {
        gphpy_invalid("there are %zd modes and %u inputs", TUPLE_SIZE(all), count);
        status = -1;
    }
    for (uint32_t i = 0; status == 0 && i < count; i++) {
        const int word =
            gphpy_word(all ? TUPLE_ITEM(all, i) : object, words, GPH_INPUT_COPY, "mode");
        status = word < 0 ? -1 : 0;
        modes[i] = (uint8_t)word;
    }
    Py_XDECREF(all);
    return status;
}

/* An int: so many, all lent. Else a word or a tensor for each. */
static gph_output *read_policies(gphpy_runtime *runtime, PyObject *object,
                                 uint32_t *count)
{
    static const char *const words[] = {"lent", "copied", NULL};
    PyObject *all = PyLong_Check(object) ? NULL : PySequence_Tuple(object);
    const long given = PyLong_Check(object) ? PyLong_AsLong(object)
                       : all                ? (long)TUPLE_SIZE(all)
                                            : -1;
    if (given < 0 || given > 4096) {
        if (!PyErr_Occurred())
            gphpy_invalid("there are %ld outputs, not 0 to 4096", given);
        Py_XDECREF(all);
        return NULL;
    }
    *count = (uint32_t)given;
    gph_output *outputs = calloc(*count + 1, sizeof(*outputs));
    int status = outputs ? 0 : -1;
    if (!outputs)
        PyErr_NoMemory();
    for (uint32_t i = 0; status == 0 && all && i < *count; i++) {
        PyObject *one = TUPLE_ITEM(all, i);
        if (PyUnicode_Check(one)) {
            const int word = gphpy_word(one, words, GPH_OUTPUT_LENT, "an output");
            status = word < 0 ? -1 : 0;
            outputs[i].policy = (uint32_t)word;
        } else {
            outputs[i].policy = GPH_OUTPUT_INTO;
            status = gphpy_tensor_read(runtime, one, "output", i, &outputs[i].into);
        }
    }
    Py_XDECREF(all);
    if (status < 0) {
        free(outputs);
        outputs = NULL;
    }
    return outputs;
}

static int set_results(callable *self, const gph_output *outputs)
{
    self->lent = PyTuple_New(self->output_count);
    for (uint32_t i = 0; self->lent && i < self->output_count; i++) {
        const gph_tensor view = gph_callable_output(self->gph, i);
        const bool is_copied = outputs[i].policy == GPH_OUTPUT_COPIED;
        self->copied_count += is_copied;
        PyObject *one = is_copied ? Py_NewRef(Py_None)
                                  : gphpy_tensor_new(self->keeper->runtime, &view,
                                                     (PyObject *)self->keeper);
        if (!one)
            return -1;
        TUPLE_SET(self->lent, i, one);
    }
    self->result =
        self->lent ? gphpy_unpack(Py_NewRef(self->lent), self->output_count) : NULL;
    return self->result ? 0 : -1;
}

static void drop(void *object)
{
    gph_callable_destroy(object);
}

static callable *make(gphpy_runtime *runtime, PyObject *function)
{
    callable *self = gphpy_new(gphpy_types.callable, sizeof(*self));
    if (!self)
        return NULL;
    self->call = call;
    gphpy_lock_init(&self->lock);
    self->keeper = gphpy_keeper_new(runtime, function);
    if (!self->keeper)
        Py_CLEAR(self);
    return self;
}

/* What Python gave, by name. */
struct given {
    PyObject *function, *inputs, *outputs, *pool, *stream, *modes, *key, *rng, *clear;
    int keep_graph, any_order, share_inputs;
};

static int read_given(struct given *g, gph_callable_options *options, PyObject *args,
                      PyObject *kwargs)
{
    static const char *const names[] = {
        "function", "inputs",     "outputs",   "pool",         "stream",
        "modes",    "key",        "warmups",   "rng",          "name",
        "clear",    "keep_graph", "any_order", "share_inputs", NULL};
    if (!PARSE(args, kwargs, "OO|$OOOOOIOzOppp:callable", names, &g->function, &g->inputs,
               &g->outputs, &g->pool, &g->stream, &g->modes, &g->key,
               &options->warmup_count, &g->rng, &options->name, &g->clear, &g->keep_graph,
               &g->any_order, &g->share_inputs))
        return -1;
    if (!g->pool || !g->stream || !PyCallable_Check(g->function)) {
        PyErr_SetString(PyExc_TypeError,
                        "callable() needs a function, a pool and a stream");
        return -1;
    }
    options->flags = (g->keep_graph ? GPH_CALLABLE_KEEP_GRAPH : 0u) |
                     (g->any_order ? GPH_CALLABLE_ANY_ORDER : 0u) |
                     (g->share_inputs ? GPH_CALLABLE_SHARE_INPUTS : 0u);
    return gphpy_pool_bind(g->pool, &options->pool) < 0 ||
                   gphpy_rng_bind(g->rng, &options->rng) < 0 ||
                   !gphpy_stream_read(g->stream, &options->stream)
               ? -1
               : 0;
}

static int read_arrays(callable *self, const struct given *g, struct recording *r,
                       gph_callable_options *options)
{
    gphpy_runtime *runtime = self->keeper->runtime;
    PyObject *zero = g->outputs ? Py_NewRef(g->outputs) : PyLong_FromLong(0);
    r->inputs = read_tensors(runtime, g->inputs, "input", &self->input_count);
    r->outputs =
        zero && r->inputs ? read_policies(runtime, zero, &self->output_count) : NULL;
    Py_XDECREF(zero);
    if (!r->inputs || !r->outputs)
        return -1;
    r->modes = calloc(self->input_count + 1, 1);
    if (!r->modes) {
        PyErr_NoMemory();
        return -1;
    }
    if (g->clear &&
        !(r->clear = read_tensors(runtime, g->clear, "clear", &options->clear_count)))
        return -1;
    if (g->modes && read_modes(g->modes, self->input_count, r->modes) < 0)
        return -1;
    self->key_count = g->key ? gphpy_key_read(g->key, self->key) : 0;
    options->sample = (gph_arguments){.inputs = r->inputs,
                                      .input_count = self->input_count,
                                      .key = self->key,
                                      .key_count = (uint32_t)self->key_count};
    options->modes = g->modes ? r->modes : NULL;
    options->outputs = r->outputs;
    options->output_count = self->output_count;
    options->clear = r->clear;
    return self->key_count < 0 ? -1 : 0;
}

PyObject *gphpy_callable_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    struct given g = {0};
    struct recording r = {0};
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_error error = {0};
    if (read_given(&g, &options, args, kwargs) < 0 || !gphpy_runtime_use(runtime))
        return NULL;
    callable *self = make(runtime, g.function);
    if (!self)
        return NULL;
    PyObject *const needs[] = {g.pool, g.stream, g.rng, g.inputs, g.outputs, g.clear};
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (needs[i])
            gphpy_keep(self->keeper, needs[i]);
    self->stream = options.stream;
    options.function = gphpy_function_call;
    options.user = self->keeper;
    bool is_made = false;
    if (read_arrays(self, &g, &r, &options) == 0) {
        gph_status status;
        WITHOUT_GIL(status,
                    gph_callable_create(runtime->gph, &options, &self->gph, &error));
        self->keeper->object = self->gph;
        Py_CLEAR(self->keeper->function); /* it is recorded, and may refer to us */
        self->keeper->destroy = status == GPH_OK ? drop : NULL;
        if (status != GPH_OK) {
            PyObject *place = gphpy_place();
            const gph_cause *cause = gph_cause_last();
            gphpy_raise(
                status, &error,
                &(gphpy_blame){.place = place, .cause = status > 0 ? cause : NULL});
            Py_XDECREF(place);
        }
        is_made =
            status == GPH_OK && set_results(self, r.outputs) == 0 && gphpy_warn() == 0;
    }
    free_arrays(&r);
    if (!is_made)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void destroy(callable *self)
{
    Py_XDECREF(self->lent);
    Py_XDECREF(self->result);
    Py_XDECREF((PyObject *)self->keeper);
    gphpy_lock_fini(&self->lock);
    gphpy_free(self);
}

/* ---- what it says of itself ---- */

static PyObject *check(callable *self, PyObject *args, PyObject *kwargs)
{
    enum { MOST = 64 };
    gph_tensor *inputs = NULL;
    gph_mismatch all[MOST];
    uint32_t count = 0, differ = 0;
    struct extras extras = {.key = self->key, .key_count = self->key_count};
    PyObject *key = kwargs ? PyDict_GetItemString(kwargs, "key") : NULL;
    if (key) {
        extras.key_count = gphpy_key_read(key, extras.words);
        extras.key = extras.words;
    }
    if (extras.key_count < 0 ||
        !(inputs = read_tensors(self->keeper->runtime, args, "input", &count)))
        return NULL;
    const gph_arguments arguments = {inputs, count, (uint32_t)extras.key_count,
                                     extras.key};
    (void)gph_callable_check(self->gph, &arguments, all, MOST, &differ, NULL);
    free(inputs);
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < differ && i < MOST; i++) {
        PyObject *text = PyUnicode_FromString(all[i].text);
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *check_epoch(callable *self, PyObject *number)
{
    gph_error error = {0};
    const unsigned long long epoch = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    const gph_status status = gph_callable_epoch_check(self->gph, epoch, &error);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *input(callable *self, PyObject *number)
{
    const unsigned long index = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred())
        return NULL;
    if (index >= self->input_count)
        return gphpy_invalid("input %lu is not one of the %u", index, self->input_count);
    const gph_tensor view = gph_callable_input(self->gph, (uint32_t)index);
    return gphpy_tensor_new(self->keeper->runtime, &view, (PyObject *)self->keeper);
}

static PyObject *get_epoch(callable *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(gph_callable_epoch(self->gph));
}

static PyObject *get_exec(callable *self, void *unused)
{
    (void)unused;
    return gphpy_exec_lent(self->keeper->runtime, gph_callable_exec(self->gph),
                           (PyObject *)self->keeper, 0);
}

static PyObject *get_graph(callable *self, void *unused)
{
    (void)unused;
    CUgraph graph = gph_callable_graph(self->gph);
    return graph ? PyLong_FromVoidPtr(graph) : Py_NewRef(Py_None);
}

static PyObject *get_recording(callable *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(gph_callable_recording(self->gph));
}

static PyObject *get_address(callable *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

static PyMethodDef methods[] = {
    METHOD("check", check,
           "check($self, *inputs, key=None)\n--\n\nAll that differs from what was "
           "recorded, a sentence\n"
           "each; an empty list: they fit."),
    METHOD1("check_epoch", check_epoch,
            "check_epoch($self, epoch, /)\n--\n\nRaises StateError if the lent outputs "
            "of that call\n"
            "were overwritten since; it names the call that did."),
    METHOD1("input", input,
            "input($self, index, /)\n--\n\nThe recorded input in its place: what may be "
            "written before\n"
            "a call that gets None for it."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("epoch", get_epoch, "Number of the last call; 0 before the first."),
    GETTER("exec", get_exec, "The executable; with breaks the first one."),
    GETTER("graph", get_graph, "The CUgraph, an int, with keep_graph; else None."),
    GETTER("recording_id", get_recording, "The number of its recording in the pool."),
    GETTER("address", get_address, "The address of the gph_callable, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(callable, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_callable_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"A function recorded for one signature: Runtime.callable().\n\n"
                "    y = step(x, weight, stream=stream)\n\n"
                "copies what must be copied and launches: comparisons and one launch, "
                "no\n"
                "Python code. stream is the recording's if it is not given; None for an\n"
                "input: it lies in its place; out: the tensors that copied outputs go\n"
                "to; key: if it is another one, a difference. Outputs are whole until\n"
                "the next call. Calls one at a time: other threads wait."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Callable", sizeof(callable), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    stream_word = PyUnicode_InternFromString("stream");
    out_word = PyUnicode_InternFromString("out");
    key_word = PyUnicode_InternFromString("key");
    return stream_word && out_word && key_word
               ? gphpy_type_add(module, &spec, &gphpy_types.callable)
               : -1;
}
