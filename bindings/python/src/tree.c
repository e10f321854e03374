// SPDX-License-Identifier: Apache-2.0
/* Tree: functions that are called in an order the program decides, each call recorded for the
 * path that led to it. Its functions and outputs are in tree_function.c. */
#include "tree.h"

#include <stdlib.h>

PyObject *gphpy_tree_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "stream",         "arena",       "rng",       "warmups", "depth_max",
        "rerecords_max",  "backoff",     "moves_max", "settle",  "strict",
        "explicit_steps", "keep_graphs", NULL};
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    PyObject *stream = Py_None, *arena = Py_None, *rng = Py_None;
    int strict = 0, steps = 0, keep = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$OOOIIIIIIppp:tree", names, &stream, &arena, &rng,
               &options.warmups, &options.depth_max, &options.rerecords_max,
               &options.backoff, &options.moves_max, &options.settle, &strict, &steps,
               &keep) ||
        gphpy_rng_bind(rng, &options.rng) < 0 ||
        (stream != Py_None && !gphpy_stream_read(stream, &options.stream)))
        return NULL;
    if (arena != Py_None && Py_TYPE(arena) != gphpy_types.arena) {
        PyErr_SetString(PyExc_TypeError, "arena is not an Arena");
        return NULL;
    }
    options.flags = (strict ? GPH_TREE_STRICT : 0u) |
                    (steps ? GPH_TREE_EXPLICIT_STEPS : 0u) |
                    (keep ? GPH_TREE_KEEP_GRAPHS : 0u);
    gphpy_arena *home =
        arena != Py_None ? (gphpy_arena *)Py_NewRef(arena) : gphpy_arena_home(runtime);
    gphpy_tree *self = home ? PyObject_GC_New(gphpy_tree, gphpy_types.tree) : NULL;
    if (!self) {
        Py_XDECREF((PyObject *)home);
        return NULL;
    }
    memset((char *)self + sizeof(PyObject), 0, sizeof(*self) - sizeof(PyObject));
    gphpy_lock_init(&self->lock);
    pthread_mutex_init(&self->late_mutex, NULL);
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->arena = (PyObject *)home;
    self->stream = Py_NewRef(stream);
    self->rng = Py_NewRef(rng);
    self->functions = PyList_New(0);
    PyObject_GC_Track(self);
    gph_status status = GPH_OK;
    if (self->functions)
        WITHOUT_GIL(status, gph_tree_create(runtime->gph, home->gph, &options, &self->gph,
                                            &error));
    if (self->functions && status == GPH_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return status == GPH_OK ? NULL : gphpy_raise(status, &error, NULL);
}

/* ---- one thread at a time ---- */

bool gphpy_tree_take(gphpy_tree *self)
{
    if (!gphpy_runtime_use(self->runtime) || !gphpy_lock_take(&self->lock, "tree"))
        return false;
    if (self->gph)
        return true;
    gphpy_lock_give(&self->lock);
    gph_error error = {.message = "the tree is closed"};
    gphpy_raise(GPH_E_STATE, &error, NULL);
    return false;
}

/* Outputs whose last reference went while the tree was in use. */
static void release_late(gphpy_tree *self)
{
    pthread_mutex_lock(&self->late_mutex);
    for (uint32_t i = 0; i < self->late_count; i++)
        gph_tree_output_release(self->gph, self->late[i]);
    atomic_store(&self->late_count, 0);
    pthread_mutex_unlock(&self->late_mutex);
}

void gphpy_tree_give(gphpy_tree *self)
{
    while (atomic_load_explicit(&self->late_count, memory_order_relaxed) > 0)
        release_late(self);
    gphpy_lock_give(&self->lock);
}

int gphpy_tree_reserve(gphpy_tree *self, uint32_t more)
{
    pthread_mutex_lock(&self->late_mutex);
    int status = 0;
    if (self->held_count + more > self->late_room) {
        const uint32_t room = 2 * (self->held_count + more) + 16;
        gph_tree_output *moved = realloc(self->late, room * sizeof(*moved));
        if (moved) {
            self->late = moved;
            self->late_room = room;
        }
        status = moved ? 0 : -1;
    }
    if (status == 0)
        self->held_count += more;
    pthread_mutex_unlock(&self->late_mutex);
    return status;
}

void gphpy_tree_unreserve(gphpy_tree *self, uint32_t fewer)
{
    pthread_mutex_lock(&self->late_mutex);
    self->held_count -= fewer;
    pthread_mutex_unlock(&self->late_mutex);
}

void gphpy_tree_release(gphpy_tree *self, gph_tree_output output)
{
    gphpy_tree_unreserve(self, 1);
    if (pthread_mutex_trylock(&self->lock.mutex) == 0) {
        if (self->gph)
            gph_tree_output_release(self->gph, output);
        gphpy_tree_give(self);
        return;
    }
    pthread_mutex_lock(
        &self->late_mutex); /* there is room: each that is held has reserved it */
    self->late[self->late_count] = output;
    atomic_fetch_add(&self->late_count, 1);
    pthread_mutex_unlock(&self->late_mutex);
}

/* ---- what it says ---- */

static PyObject *step(gphpy_tree *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    if (!gphpy_tree_take(self))
        return NULL;
    const gph_status status = gph_tree_step_begin(self->gph, &error);
    gphpy_tree_give(self);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *text(gphpy_tree *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"form", NULL};
    static const char *const forms[] = {"short", "long", "dot", NULL};
    PyObject *word = NULL;
    gphpy_text out = {0};
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|O:text", names, &word))
        return NULL;
    const int form =
        word ? gphpy_word(word, forms, GPH_TREE_SHORT, "form") : GPH_TREE_LONG;
    if (form < 0 || !gphpy_tree_take(self))
        return NULL;
    const gph_status status =
        gph_tree_write(self->gph, (gph_tree_form)form, gphpy_text_write, &out, &error);
    gphpy_tree_give(self);
    return gphpy_text_end(&out, status, &error);
}

static const char *reason_name(uint32_t reason)
{
    switch (reason) {
#define X(name, value, word, text)                                                       \
    case value: return word;
        GPH_TREE_REASON_MAP(X)
#undef X
    }
    return NULL;
}

static PyObject *get_event(gphpy_tree *self, void *unused)
{
    (void)unused;
    static const char *const actions[] = {NULL, "replayed", "recorded", "warmed",
                                          "eager"};
    gph_tree_event e = GPH_SIZED(gph_tree_event);
    if (!gphpy_tree_take(self))
        return NULL;
    gph_tree_event_get(self->gph, &e);
    PyObject *input = e.input < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(e.input);
    PyObject *event =
        Py_BuildValue("{sK sz sz sz sN sI sK sK sz}", "call", (unsigned long long)e.call,
                      "action", actions[e.action < 5 ? e.action : 0], "reason",
                      reason_name(e.reason), "function", e.function, "input", input,
                      "node", e.node, "was", e.was, "is", e.is, "text", e.text);
    gphpy_tree_give(self);
    return event;
}

/* {word: count} of what is not 0. */
static PyObject *reasons_of(const uint64_t *counts)
{
    PyObject *dict = PyDict_New();
    for (uint32_t i = 0; dict && i < GPH_TREE_REASONS_MAX; i++) {
        const char *name = reason_name(i);
        PyObject *count =
            counts[i] && name ? PyLong_FromUnsignedLongLong(counts[i]) : NULL;
        if (count && PyDict_SetItemString(dict, name, count) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(count);
    }
    return dict;
}

static PyObject *stats(gphpy_tree *self, PyObject *unused)
{
    (void)unused;
    gph_tree_stats s = GPH_SIZED(gph_tree_stats);
    if (!gphpy_tree_take(self))
        return NULL;
    gph_tree_stats_get(self->gph, &s);
    gphpy_tree_give(self);
    PyObject *recorded = reasons_of(s.recorded_for), *eager = reasons_of(s.eager_for);
    if (!recorded || !eager) {
        Py_XDECREF(recorded);
        Py_XDECREF(eager);
        return NULL;
    }
    return Py_BuildValue(
        "{sK sK sK sK sK sK sK sK sK sK sN sN sI sI sI sI sI sI sK sK}", "calls",
        (unsigned long long)s.calls, "steps", (unsigned long long)s.steps, "paths",
        (unsigned long long)s.paths, "replays", (unsigned long long)s.replays,
        "recordings", (unsigned long long)s.recordings, "warmups",
        (unsigned long long)s.warmups, "eager", (unsigned long long)s.eager, "restores",
        (unsigned long long)s.restores, "demotions", (unsigned long long)s.demotions,
        "promotions", (unsigned long long)s.promotions, "recorded_for", recorded,
        "eager_for", eager, "roots", s.roots, "nodes", s.nodes, "depth", s.depth,
        "live_outputs", s.live_outputs, "live_blocks", s.live_blocks, "due", s.due,
        "inputs_pulled", (unsigned long long)s.inputs_pulled, "inputs_copied",
        (unsigned long long)s.inputs_copied);
}

static PyObject *represent(gphpy_tree *self)
{
    gphpy_text out = {0};
    gph_error error = {0};
    if (!gphpy_tree_take(self))
        return NULL;
    const gph_status status =
        gph_tree_write(self->gph, GPH_TREE_SHORT, gphpy_text_write, &out, &error);
    gphpy_tree_give(self);
    return gphpy_text_end(&out, status, &error);
}

static PyObject *get_stream(gphpy_tree *self, void *unused)
{
    (void)unused;
    CUstream stream = NULL;
    if (self->stream != Py_None)
        return Py_NewRef(self->stream);
    if (self->gph)
        gph_tree_objects(self->gph, &stream, NULL);
    return gphpy_stream_lent(self->runtime, stream);
}

static PyObject *get_address(gphpy_tree *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- its end ---- */

static void end(gphpy_tree *self)
{
    gph_tree *gph = self->gph;
    self->gph = NULL;
    atomic_store(&self->late_count, 0);
    if (gph) {
        PyThreadState *state = PyEval_SaveThread();
        gph_tree_destroy(gph);
        PyEval_RestoreThread(state);
    }
}

static PyObject *close_tree(gphpy_tree *self, PyObject *unused)
{
    (void)unused;
    if (!gphpy_lock_take(&self->lock, "tree"))
        return NULL;
    end(self);
    gphpy_lock_give(&self->lock);
    PyObject *functions = self->functions;
    self->functions = NULL;
    Py_XDECREF(functions);
    return Py_NewRef(Py_None);
}

static int visit_all(gphpy_tree *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->functions);
    return 0;
}

/* Of a circle: functions refer to their keepers, and so to what they are made of. The tree
 * goes before its functions do. */
static int clear(gphpy_tree *self)
{
    end(self);
    Py_CLEAR(self->functions);
    return 0;
}

static void destroy(gphpy_tree *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_XDECREF(self->stream);
    Py_XDECREF(self->rng);
    Py_XDECREF(self->arena);
    Py_XDECREF((PyObject *)self->runtime);
    gphpy_lock_fini(&self->lock);
    pthread_mutex_destroy(&self->late_mutex);
    free(self->late);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    METHOD("function", gphpy_tree_function_new,
           "function($self, function, *, inputs=0, outputs=0, static=(), mutated=(), "
           "kind='plain', "
           "name=None, key_count=0, root=False, eager=False)\n--\n\n"
           "Registers function(call, *inputs): a TreeFunction, which is called instead "
           "of it.\n\n"
           "inputs, outputs: how many there are in each call. static: indices of inputs "
           "that keep\n"
           "their address; mutated: of those that the function writes. kind: 'plain', "
           "'forward'\n"
           "(a backward follows) or 'backward'. key_count: words of the key of each "
           "call. root: a\n"
           "call begins a step. eager: never recorded."),
    METHOD0("step", step,
            "step($self)\n--\n\nBegins a step: the path ends, its outputs are lost. From "
            "then on only\n"
            "this begins one."),
    METHOD("text", text,
           "text($self, form='long')\n--\n\n'short': names of functions, as str() has "
           "it; 'long': what\n"
           "each recording is and did, and why; 'dot': for Graphviz."),
    METHOD0(
        "stats", stats,
        "stats($self)\n--\n\nCounters, a dict; recorded_for and eager_for by reason."),
    METHOD0("close", close_tree,
            "close($self)\n--\n\nEnds it with its outputs and recordings, after the work "
            "in its stream."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("event", get_event,
           "How the last call was carried out, a dict: action ('replayed', 'recorded', "
           "'warmed',\n"
           "'eager'), reason, function, input, node, was, is, text (a sentence)."),
    GETTER("stream", get_stream, "Where all its work goes."),
    GETTER("address", get_address, "The address of the gph_tree, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_tree_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"Functions called in an order that the program decides as it goes, each\n"
                "call recorded once for the path that led to it: Runtime.tree(). The\n"
                "first call in a place runs, the second is recorded, later ones replay.\n"
                "Calls one at a time: other threads wait."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_traverse, (void *)visit_all},
        {Py_tp_clear, (void *)clear},
        {Py_tp_str, (void *)represent},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Tree", sizeof(gphpy_tree), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_GC,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.tree);
}
