// SPDX-License-Identifier: Apache-2.0
/* Cache: one function, recorded for many shapes. */
#include "cache.h"

#include <stddef.h>

static PyObject *stream_word, *out_word;

/* ---- a call ---- */

static PyObject *results_of(gphpy_cache *self, const gph_tensor *outputs, PyObject *given)
{
    PyObject *all = PyTuple_New(self->output_count);
    for (uint32_t i = 0; all && i < self->output_count; i++) {
        PyObject *one = given ? TUPLE_ITEM(given, i) : Py_None;
        one = one != Py_None ? Py_NewRef(one)
                             : gphpy_tensor_new(self->keeper->runtime, &outputs[i],
                                                (PyObject *)self->keeper);
        if (!one)
            Py_CLEAR(all);
        else
            TUPLE_SET(all, i, one);
    }
    return gphpy_unpack(all, self->output_count);
}

static int read_words(PyObject *names, PyObject *const *values, CUstream *stream,
                      PyObject **out)
{
    for (Py_ssize_t i = 0; i < TUPLE_SIZE(names); i++) {
        PyObject *name = TUPLE_ITEM(names, i);
        if (name == stream_word || PyUnicode_Compare(name, stream_word) == 0) {
            if (!gphpy_stream_read(values[i], stream))
                return -1;
        } else if (name == out_word || PyUnicode_Compare(name, out_word) == 0) {
            *out = PyTuple_Check(values[i]) || PyList_Check(values[i])
                       ? PySequence_Tuple(values[i])
                       : PyTuple_Pack(1, values[i]);
            if (!*out)
                return -1;
        } else {
            PyErr_Format(PyExc_TypeError, "a Cache knows stream and out, not %U", name);
            return -1;
        }
    }
    return 0;
}

/* None: it lies in the cache's own buffer, or goes to none of the caller's. */
static int read_tensors(gphpy_cache *self, PyObject *const *objects, uint32_t count,
                        const char *what, gph_tensor *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (objects[i] == Py_None)
            out[i] = (gph_tensor){0};
        else if (gphpy_tensor_read(self->keeper->runtime, objects[i], what, (Py_ssize_t)i,
                                   &out[i]) < 0)
            return -1;
    return 0;
}

static int read_given(gphpy_cache *self, PyObject *given, gph_tensor *outputs)
{
    PyObject *objects[GPHPY_CACHE_TENSORS];
    if (TUPLE_SIZE(given) != (Py_ssize_t)self->output_count) {
        gphpy_invalid("out has %zd tensors, there are %u outputs", TUPLE_SIZE(given),
                      self->output_count);
        return -1;
    }
    for (uint32_t i = 0; i < self->output_count; i++)
        objects[i] = TUPLE_ITEM(given, i);
    return read_tensors(self, objects, self->output_count, "out", outputs);
}

static void remember(gphpy_cache *self, const gph_cache_call_args *call)
{
    pthread_mutex_lock(&self->last_mutex);
    self->last = call->match;
    memcpy(self->last_sizes, call->sizes, self->axis_count * sizeof(int64_t));
    pthread_mutex_unlock(&self->last_mutex);
}

static int read_sizes(gphpy_cache *self, PyObject *object, int64_t sizes[GPHPY_KEY_MAX])
{
    const int count = gphpy_key_read(object, sizes);
    if (count >= 0 && count != (int)self->axis_count)
        gphpy_invalid("there are %d sizes and %u axes", count, self->axis_count);
    return count == (int)self->axis_count ? 0 : -1;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags,
                      PyObject *names)
{
    gphpy_cache *const self = (gphpy_cache *)object;
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    gph_tensor inputs[GPHPY_CACHE_TENSORS], outputs[GPHPY_CACHE_TENSORS];
    int64_t sizes[GPHPY_KEY_MAX];
    gph_cache_call_args c = GPH_CACHE_CALL_INIT;
    PyObject *given = NULL, *result = NULL;
    gph_error error;
    if (count != 1 + (Py_ssize_t)self->input_count) {
        PyErr_Format(PyExc_TypeError, "the cache is called with the sizes and %u inputs",
                     (unsigned)self->input_count);
        return NULL;
    }
    c.stream = (CUstream)0x2;
    if (!gphpy_runtime_use(self->keeper->runtime) ||
        read_sizes(self, args[0], sizes) < 0 ||
        read_tensors(self, args + 1, self->input_count, "input", inputs) < 0 ||
        (names && read_words(names, args + count, &c.stream, &given) < 0))
        goto out;
    for (uint32_t i = 0; i < self->output_count; i++)
        outputs[i].data = 0;
    if (given && read_given(self, given, outputs) < 0)
        goto out;
    c.sizes = sizes;
    c.inputs = inputs;
    c.outputs = outputs;
    error.message[0] = '\0';
    gph_status status;
    WITHOUT_GIL(status, gph_cache_call(self->gph, &c, &error));
    remember(self, &c);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    else if (gphpy_warn() == 0)
        result = results_of(self, outputs, given);
out:
    Py_XDECREF(given);
    return result;
}

static PyObject *match_dict(gphpy_cache *self, const gph_cache_match *match,
                            const int64_t *sizes)
{
    static const char *const verdicts[] = {NULL, "exact", "padded", "eager", "miss"};
    gphpy_text text = {0};
    const gph_status status =
        gph_cache_match_write(self->gph, match, sizes, gphpy_text_write, &text, NULL);
    PyObject *sentence = gphpy_text_end(&text, status, NULL);
    return sentence
               ? Py_BuildValue("{sz ss si si sN}", "verdict",
                               verdicts[match->verdict < 5 ? match->verdict : 0],
                               "reason", gph_cache_reason_text(match->reason), "key",
                               match->key == GPH_CACHE_NONE ? -1 : (int)match->key,
                               "wanted",
                               match->wanted == GPH_CACHE_NONE ? -1 : (int)match->wanted,
                               "text", sentence)
               : NULL;
}

static PyObject *find(gphpy_cache *self, PyObject *object)
{
    int64_t sizes[GPHPY_KEY_MAX];
    gph_cache_match match;
    gph_error error = {0};
    if (read_sizes(self, object, sizes) < 0)
        return NULL;
    const gph_status status = gph_cache_find(self->gph, sizes, &match, &error);
    return status == GPH_OK ? match_dict(self, &match, sizes)
                            : gphpy_raise(status, &error, NULL);
}

static PyObject *get_last(gphpy_cache *self, void *unused)
{
    (void)unused;
    int64_t sizes[GPH_CACHE_AXES_MAX];
    pthread_mutex_lock(&self->last_mutex);
    const gph_cache_match match = self->last;
    memcpy(sizes, self->last_sizes, sizeof(sizes));
    pthread_mutex_unlock(&self->last_mutex);
    return match.verdict ? match_dict(self, &match, sizes) : Py_NewRef(Py_None);
}

/* ---- starts and works ---- */

/* Also where Ctrl-C is seen. */
static int step(void *user, const gph_cache_progress *now)
{
    PyGILState_STATE state = PyGILState_Ensure();
    const char *what = now->phase == GPH_PHASE_WARMUP ? "warm up" : "capture";
    gphpy_pending before;
    const int stop =
        !gphpy_pending_take(&before) ||
        gphpy_progress_tell(user, what, now->done, now->total, now->ns, now->left_ns) < 0;
    if (stop) /* what ends the start is what it is to say */
        gphpy_pending_drop(&before);
    else
        gphpy_pending_give(&before);
    PyGILState_Release(state);
    return stop;
}

static PyObject *start(gphpy_cache *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"stream", "progress", NULL};
    CUstream stream = NULL;
    PyObject *progress = Py_None;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O&|O:start", names, gphpy_stream_read, &stream, &progress))
        return NULL;
    gphpy_progress p = gphpy_progress_read(progress);
    if (!gphpy_runtime_use(self->keeper->runtime) ||
        !gphpy_lock_take(&self->lock, "cache"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_cache_start(self->gph, stream, NULL, 0, step, &p, &error));
    gphpy_lock_give(&self->lock);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    return gphpy_warn() < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *work(gphpy_cache *self, PyObject *object)
{
    static const char *const kinds[] = {NULL, "capture", "own", "share", "evict"};
    CUstream stream = NULL;
    gph_cache_work_kind done = GPH_CACHE_WORK_NONE;
    uint32_t key = 0;
    gph_error error = {0};
    if (!gphpy_stream_read(object, &stream) ||
        !gphpy_runtime_use(self->keeper->runtime) ||
        !gphpy_lock_take(&self->lock, "cache"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_cache_work(self->gph, stream, &done, &key, &error));
    gphpy_lock_give(&self->lock);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    if (gphpy_warn() < 0)
        return NULL;
    return done == GPH_CACHE_WORK_NONE
               ? Py_NewRef(Py_None)
               : Py_BuildValue("(sI)", kinds[done < 5 ? done : 0], key);
}

static PyObject *evict(gphpy_cache *self, PyObject *number)
{
    gph_error error = {0};
    const unsigned long key = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred() || !gphpy_lock_take(&self->lock, "cache"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_cache_evict(self->gph, (uint32_t)key, &error));
    gphpy_lock_give(&self->lock);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* ---- keys ---- */

static PyObject *key_of(gphpy_cache *self, PyObject *object)
{
    int64_t values[GPHPY_KEY_MAX];
    if (read_sizes(self, object, values) < 0)
        return NULL;
    const uint32_t key = gph_cache_key(self->gph, values);
    return key == GPH_CACHE_NONE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(key);
}

static PyObject *tensor_of(gphpy_cache *self, PyObject *args,
                           gph_status (*get)(const gph_cache *, uint32_t, uint32_t,
                                             gph_tensor *, gph_error *))
{
    unsigned key = 0, index = 0;
    gph_tensor view;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "II", &key, &index))
        return NULL;
    const gph_status status = get(self->gph, key, index, &view, &error);
    return status == GPH_OK
               ? gphpy_tensor_new(self->keeper->runtime, &view, (PyObject *)self->keeper)
               : gphpy_raise(status, &error, NULL);
}

static PyObject *input(gphpy_cache *self, PyObject *args)
{
    return tensor_of(self, args, gph_cache_input);
}

static PyObject *output(gphpy_cache *self, PyObject *args)
{
    return tensor_of(self, args, gph_cache_output);
}

static PyObject *replay(gphpy_cache *self, PyObject *args)
{
    unsigned key = 0;
    CUstream stream = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "IO&:replay", &key, gphpy_stream_read, &stream) ||
        !gphpy_runtime_use(self->keeper->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_cache_replay(self->gph, key, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *key_info(gphpy_cache *self, PyObject *number)
{
    static const char *const execs[] = {NULL, "own", "shared"};
    gph_cache_key_info k = GPH_SIZED(gph_cache_key_info);
    gph_error error = {0};
    const unsigned long key = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred())
        return NULL;
    const gph_status status = gph_cache_key_get(self->gph, (uint32_t)key, &k, &error);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    PyObject *values = gphpy_int64s(k.values, self->axis_count);
    return values
               ? Py_BuildValue("{sN sz ss sI sd sd sK sK sK sK sK sK sI sI ss}", "values",
                               values, "exec", execs[k.exec < 3 ? k.exec : 0], "reason",
                               gph_cache_reason_text(k.reason), "node_count",
                               k.node_count, "warmup_ms", k.warmup_ms, "capture_ms",
                               k.capture_ms, "own_bytes", (unsigned long long)k.own_bytes,
                               "shared_bytes", (unsigned long long)k.shared_bytes,
                               "exec_bytes", (unsigned long long)k.exec_bytes, "exact",
                               (unsigned long long)k.exact, "padded",
                               (unsigned long long)k.padded, "misses",
                               (unsigned long long)k.misses, "captures", k.captures,
                               "evictions", k.evictions, "message", k.message)
               : NULL;
}

static PyObject *stats(gphpy_cache *self, PyObject *unused)
{
    (void)unused;
    gph_cache_stats s = GPH_SIZED(gph_cache_stats);
    gph_cache_stats_get(self->gph, &s);
    return Py_BuildValue(
        "{sI sK sK sK sK sK sK sK sK sK sI sI sI sK sK sK}", "captured_count",
        s.captured_count, "exact", (unsigned long long)s.verdicts[GPH_CACHE_EXACT],
        "padded", (unsigned long long)s.verdicts[GPH_CACHE_PADDED], "eager",
        (unsigned long long)s.verdicts[GPH_CACHE_EAGER], "misses",
        (unsigned long long)s.verdicts[GPH_CACHE_MISS], "updates",
        (unsigned long long)s.updates, "captures", (unsigned long long)s.captures,
        "evictions", (unsigned long long)s.evictions, "real_units",
        (unsigned long long)s.real_units, "padded_units",
        (unsigned long long)s.padded_units, "own_count", s.own_count, "shared_count",
        s.shared_count, "patched_count", s.patched_count, "exec_bytes",
        (unsigned long long)s.exec_bytes, "input_bytes",
        (unsigned long long)s.input_bytes, "tensor_bytes",
        (unsigned long long)s.tensor_bytes);
}

static PyObject *text(gphpy_cache *self)
{
    gphpy_text out = {0};
    gph_error error = {0};
    const gph_status status = gph_cache_write(self->gph, gphpy_text_write, &out, &error);
    return gphpy_text_end(&out, status, &error);
}

static Py_ssize_t length(gphpy_cache *self)
{
    return (Py_ssize_t)gph_cache_key_count(self->gph);
}

static PyObject *get_ladders(gphpy_cache *self, void *unused)
{
    (void)unused;
    PyObject *all = PyTuple_New(self->axis_count);
    for (uint32_t i = 0; all && i < self->axis_count; i++) {
        uint32_t count = 0;
        const int64_t *values = gph_cache_ladder(self->gph, i, &count);
        PyObject *one = gphpy_int64s(values, count);
        if (!one)
            Py_CLEAR(all);
        else
            TUPLE_SET(all, i, one);
    }
    return all;
}

static PyObject *get_address(gphpy_cache *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- its making and its end ---- */

static void drop(void *object)
{
    gph_cache_destroy(object);
}

/* With the GIL: a cache is made by calls of its options' `wanted`. */
static int is_wanted(void *user, const int64_t *values)
{
    const gphpy_keeper *keeper = user;
    PyObject *wanted = keeper->kept[0];
    if (!wanted || wanted == Py_None || PyErr_Occurred())
        return 1;
    Py_ssize_t count = PyObject_Size(keeper->kept[1]);
    PyObject *key = count < 0 ? NULL : gphpy_int64s(values, (uint32_t)count);
    PyObject *answer = key ? PyObject_CallFunctionObjArgs(wanted, key, NULL) : NULL;
    const int is_one = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(key);
    return is_one != 0;
}

static gphpy_cache *make(gphpy_runtime *runtime, const gphpy_cache_given *g,
                         PyObject *pool)
{
    gphpy_cache *self = PyObject_GC_New(gphpy_cache, gphpy_types.cache);
    if (!self)
        return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof(*self) - sizeof(PyObject));
    self->call = call;
    gphpy_lock_init(&self->lock);
    pthread_mutex_init(&self->last_mutex, NULL);
    self->axis_count = g->options.axis_count;
    self->input_count = g->options.input_count;
    self->output_count = g->options.output_count;
    PyObject_GC_Track(self);
    self->keeper = gphpy_keeper_new(runtime, g->function);
    if (!self->keeper) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    gphpy_keep(self->keeper, g->wanted ? g->wanted : Py_None);
    gphpy_keep(self->keeper, g->axes);
    gphpy_keep(self->keeper, pool);
    gphpy_keep(self->keeper, g->rng);
    return self;
}

static gph_status create(void *user, gphpy_runtime *runtime,
                         const gph_cache_options *options, gph_cache **out,
                         gph_error *error)
{
    (void)user;
    return gph_cache_create(runtime->gph, options, out, error);
}

PyObject *gphpy_cache_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    return gphpy_cache_made(runtime, args, kwargs, create, NULL);
}

PyObject *gphpy_cache_made(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs,
                           gphpy_cache_create_fn *create_it, void *user)
{
    gphpy_cache_given g;
    gph_error error = {0};
    gphpy_cache *self = NULL;
    memset(&g, 0, sizeof(g));
    if (gphpy_cache_read(&g, args, kwargs) < 0 || !gphpy_runtime_use(runtime)) {
        gphpy_cache_free(&g);
        return NULL;
    }
    PyObject *empty = PyTuple_New(0);
    PyObject *pool = g.pool && g.pool != Py_None ? Py_NewRef(g.pool)
                     : empty                     ? gphpy_pool_new(runtime, empty, NULL)
                                                 : NULL;
    Py_XDECREF(empty);
    if (pool && gphpy_pool_bind(pool, &g.options.pool) == 0)
        self = make(runtime, &g, pool);
    if (self) {
        g.options.function = gphpy_function_call;
        g.options.user = self->keeper;
        g.options.wanted = g.wanted && g.wanted != Py_None ? is_wanted : NULL;
        gph_status status = create_it(user, runtime, &g.options, &self->gph, &error);
        self->keeper->object = self->gph;
        self->keeper->destroy = status == GPH_OK ? drop : NULL;
        if (status != GPH_OK)
            gphpy_raise(status, &error, NULL);
        if (PyErr_Occurred())
            Py_CLEAR(self);
    }
    Py_XDECREF(pool);
    gphpy_cache_free(&g);
    return (PyObject *)self;
}

static PyObject *get_loaded(gphpy_cache *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->loaded ? self->loaded : Py_None);
}

static int visit_all(gphpy_cache *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT((PyObject *)self->keeper);
    return 0;
}

static void destroy(gphpy_cache *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)self->keeper);
    Py_XDECREF(self->loaded);
    gphpy_lock_fini(&self->lock);
    pthread_mutex_destroy(&self->last_mutex);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    METHOD("start", start,
           "start($self, stream, progress=None)\n--\n\n"
           "Captures all keys: runs them eagerly first, then captures the largest first. "
           "progress:\n"
           "True: a bar on standard error (None: if that is a terminal), or a function "
           "of (done,\n"
           "total, phase). Ctrl-C ends it; what is captured stays."),
    METHOD1("work", work,
            "work($self, stream, /)\n--\n\nDoes at most one thing that is due, for the "
            "moments between\n"
            "two steps: (what, key), 'capture', 'own', 'share' or 'evict'; None: nothing "
            "was due."),
    METHOD1("find", find,
            "find($self, sizes, /)\n--\n\nWhat a call with these sizes would do, and "
            "why: a dict of\n"
            "verdict ('exact', 'padded', 'eager', 'miss'), reason, key, wanted and text, "
            "a sentence."),
    METHOD1(
        "key", key_of,
        "key($self, values, /)\n--\n\nThe number of the key with these values, or None."),
    METHOD1("key_info", key_info,
            "key_info($self, key, /)\n--\n\nA key and what became of it, a dict."),
    METHOD1(
        "evict", evict,
        "evict($self, key, /)\n--\n\nThrows a key's graph away, whose work has ended."),
    {"input", (PyCFunction)input, METH_VARARGS,
     "input($self, key, index, /)\n--\n\nAn input of a key in the cache's own buffer, to "
     "be written\n"
     "before replay()."},
    {"output", (PyCFunction)output, METH_VARARGS,
     "output($self, key, index, /)\n--\n\nAn output of a captured key, lent until the "
     "next replay, call\n"
     "or capture."},
    {"replay", (PyCFunction)replay, METH_VARARGS,
     "replay($self, key, stream, /)\n--\n\nReplays a key on what lies in its inputs: no "
     "copy, no padding."},
    METHOD0("stats", stats, "stats($self)\n--\n\nFigures of all keys, a dict."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("last", get_last,
           "What the last call did, and why, as find() says it; None before."),
    GETTER("ladders", get_ladders, "The values of each axis, rising."),
    GETTER("loaded", get_loaded,
           "The Loaded of a recipe that it was made from: what was loaded, and why the "
           "rest was\n"
           "not; else None."),
    GETTER("address", get_address, "The address of the gph_cache, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(gphpy_cache, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_cache_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"One function, recorded for many shapes: Runtime.cache().\n\n"
                 "    y = cache(tokens, x, stream=stream)\n\n"
                 "rounds the sizes (an int, or one an axis) up to a bucket, copies and "
                 "pads\n"
                 "the inputs, replays, and returns the outputs of the real sizes, lent\n"
                 "until the next call; `out` has tensors to copy them to instead. len() "
                 "is\n"
                 "the number of keys, str() a table of them."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_traverse, (void *)visit_all},
        {Py_tp_str, (void *)text},
        {Py_sq_length, (void *)length},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Cache", sizeof(gphpy_cache), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    stream_word = PyUnicode_InternFromString("stream");
    out_word = PyUnicode_InternFromString("out");
    return stream_word && out_word ? gphpy_type_add(module, &spec, &gphpy_types.cache)
                                   : -1;
}
