// SPDX-License-Identifier: Apache-2.0
/* Recipe: recorded graphs in a file. Loaded: these in a process that did not capture them. */
#include "recipe.h"
#include "cache.h"
#include "tree.h"

#include <stdlib.h>

typedef gphpy_recipe recipe;
typedef gphpy_loaded loaded;

/* ---- Recipe ---- */

static recipe *make(void)
{
    recipe *self = gphpy_new(gphpy_types.recipe, sizeof(*self));
    if (self)
        gphpy_lock_init(&self->lock);
    return self;
}

static PyObject *recipe_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    gph_error error = {0};
    if (TUPLE_SIZE(args) > 0 || kwargs) {
        PyErr_SetString(PyExc_TypeError, "Recipe() takes no arguments");
        return NULL;
    }
    recipe *self = make();
    if (!self)
        return NULL;
    const gph_status status = gph_recipe_create(NULL, &self->gph, &error);
    if (status == GPH_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return gphpy_raise(status, &error, NULL);
}

static void destroy(recipe *self)
{
    gph_recipe_destroy(self->gph);
    gphpy_lock_fini(&self->lock);
    gphpy_free(self);
}

static PyObject *load(PyObject *type, PyObject *args)
{
    (void)type;
    PyObject *path = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "O&:load", PyUnicode_FSConverter, &path))
        return NULL;
    recipe *self = make();
    const char *name = PyBytes_AsString(path);
    gph_status status = GPH_OK;
    if (self)
        WITHOUT_GIL(status, gph_recipe_load(name, NULL, &self->gph, &error));
    Py_DECREF(path);
    if (status != GPH_OK) {
        Py_CLEAR(self);
        gphpy_raise(status, &error, NULL);
    }
    return (PyObject *)self;
}

/* Of what was done under the lock. */
static PyObject *done(recipe *self, gph_status status, const gph_error *error)
{
    gphpy_lock_give(&self->lock);
    if (status != GPH_OK)
        return gphpy_raise(status, error, NULL);
    return gphpy_warn() < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *save(recipe *self, PyObject *args)
{
    PyObject *path = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "O&:save", PyUnicode_FSConverter, &path))
        return NULL;
    PyObject *result = NULL;
    const char *name = PyBytes_AsString(path);
    if (gphpy_lock_take(&self->lock, "recipe")) {
        gph_status status;
        WITHOUT_GIL(status, gph_recipe_save(self->gph, name, &error));
        result = done(self, status, &error);
    }
    Py_DECREF(path);
    return result;
}

static PyObject *range(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"name", "address", "bytes", "shifted", NULL};
    gph_recipe_range r = GPH_SIZED(gph_recipe_range);
    unsigned long long address = 0, bytes = 0, shifted = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "sKK|K:range", names, &r.name, &address, &bytes, &shifted) ||
        !gphpy_lock_take(&self->lock, "recipe"))
        return NULL;
    r.address = address;
    r.bytes = bytes;
    r.shifted = shifted ? shifted : address;
    return done(self, gph_recipe_range_add(self->gph, &r, NULL, &error), &error);
}

static PyObject *arena(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"name", "arena", "shifted", NULL};
    const char *name = NULL;
    PyObject *first = NULL, *second = Py_None;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "sO|O:arena", names, &name, &first, &second))
        return NULL;
    if (Py_TYPE(first) != gphpy_types.arena ||
        (second != Py_None && Py_TYPE(second) != gphpy_types.arena)) {
        PyErr_SetString(PyExc_TypeError, "arena is not an Arena");
        return NULL;
    }
    if (!gphpy_lock_take(&self->lock, "recipe"))
        return NULL;
    const gph_arena *shifted = second == Py_None ? NULL : ((gphpy_arena *)second)->gph;
    return done(self,
                gph_recipe_arena_add(self->gph, name, ((gphpy_arena *)first)->gph,
                                     shifted, NULL, &error),
                &error);
}

static gph_tensor *read_tensors(gphpy_runtime *runtime, PyObject *object,
                                const char *what, uint32_t *count)
{
    PyObject *all = object ? PySequence_Tuple(object) : PyTuple_New(0);
    if (!all)
        return NULL;
    *count = (uint32_t)TUPLE_SIZE(all);
    gph_tensor *list = calloc(*count + 1, sizeof(*list));
    if (!list)
        PyErr_NoMemory();
    for (uint32_t i = 0; list && i < *count; i++)
        if (gphpy_tensor_read(runtime, TUPLE_ITEM(all, i), what, i, &list[i]) < 0) {
            free(list);
            list = NULL;
        }
    Py_DECREF(all);
    return list;
}

gphpy_runtime *gphpy_runtime_of(PyObject *object)
{
    if (Py_TYPE(object) == gphpy_types.runtime)
        return gphpy_runtime_use((gphpy_runtime *)object);
    PyErr_SetString(PyExc_TypeError, "the first argument is not a Runtime");
    return NULL;
}

static PyObject *add(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "runtime", "name",   "graph", "shifted",   "inputs",   "outputs", "key",
        "check",   "stream", "pool",  "recording", "identify", "unset",   NULL};
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    gphpy_identify names_kernels = {0};
    PyObject *object = NULL, *inputs = NULL, *outputs = NULL, *key = NULL,
             *pool = Py_None, *identify = NULL;
    unsigned long long graph = 0, shifted = 0;
    int64_t words[GPHPY_KEY_MAX];
    int check = 0, unset = 0, word_count = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "OsK|$KOOOpO&OIOp:add", names, &object, &entry.name, &graph,
               &shifted, &inputs, &outputs, &key, &check, gphpy_stream_read,
               &entry.stream, &pool, &entry.recording, &identify, &unset))
        return NULL;
    gphpy_runtime *runtime = gphpy_runtime_of(object);
    if (!runtime || (key && (word_count = gphpy_key_read(key, words)) < 0) ||
        (pool != Py_None && gphpy_pool_bind(pool, &entry.pool) < 0) ||
        gphpy_identify_begin(&names_kernels, identify, &entry.resolver) < 0)
        return NULL;
    gph_tensor *in = read_tensors(runtime, inputs, "input", &entry.input_count);
    gph_tensor *out =
        in ? read_tensors(runtime, outputs, "output", &entry.output_count) : NULL;
    entry.graph = (CUgraph)(uintptr_t)graph;
    entry.shifted = (CUgraph)(uintptr_t)shifted;
    entry.check = (uint32_t)check;
    entry.unset = (uint32_t)unset;
    entry.inputs = in;
    entry.outputs = out;
    entry.key = words;
    entry.key_count = (uint32_t)word_count;
    PyObject *result = NULL;
    if (out && gphpy_lock_take(&self->lock, "recipe")) {
        gph_status status;
        WITHOUT_GIL(status,
                    gph_recipe_add(self->gph, runtime->gph, &entry, NULL, &error));
        result = done(self, status, &error);
    }
    free(in);
    free(out);
    return gphpy_identify_end(&names_kernels, result);
}

static gphpy_tree *tree_of(PyObject *object)
{
    if (Py_TYPE(object) == gphpy_types.tree)
        return (gphpy_tree *)object;
    PyErr_SetString(PyExc_TypeError, "tree is not a Tree");
    return NULL;
}

static PyObject *add_tree(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"tree", "check", NULL};
    PyObject *object = NULL;
    int check = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|p:add_tree", names, &object, &check))
        return NULL;
    gphpy_tree *tree = tree_of(object);
    if (!tree || !gphpy_tree_take(tree))
        return NULL;
    PyObject *result = NULL;
    if (gphpy_lock_take(&self->lock, "recipe")) {
        gph_status status;
        WITHOUT_GIL(status, gph_recipe_add_tree(self->gph, tree->gph, (uint32_t)check,
                                                NULL, &error));
        result = done(self, status, &error);
    }
    gphpy_tree_give(tree);
    return result;
}

/* ---- what it holds ---- */

static PyObject *refusals_of(recipe *self, uint32_t index)
{
    PyObject *list = PyList_New(0);
    gph_recipe_refusal r = GPH_SIZED(gph_recipe_refusal);
    for (uint32_t i = 0; list && gph_recipe_refusal_get(self->gph, index, i, &r); i++) {
        PyObject *one = Py_BuildValue("{sL sL ss}", "node", (long long)r.node, "offset",
                                      (long long)r.offset, "why", r.why);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *graph_of(recipe *self, uint32_t index, const gph_recipe_graph *g)
{
    PyObject *key = gphpy_int64s(g->key, g->key_count),
             *refusals = refusals_of(self, index);
    if (key && refusals)
        return Py_BuildValue(
            "{ss sI sI sI sO sO sI sI sN sN}", "name", g->name, "node_count",
            g->node_count, "edge_count", g->edge_count, "pointer_count", g->pointer_count,
            "is_movable", g->is_movable ? Py_True : Py_False, "has_check",
            g->has_check ? Py_True : Py_False, "input_count", g->input_count,
            "output_count", g->output_count, "key", key, "refusals", refusals);
    Py_XDECREF(key);
    Py_XDECREF(refusals);
    return NULL;
}

static PyObject *get_graphs(recipe *self, void *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    gph_recipe_graph g = GPH_SIZED(gph_recipe_graph);
    for (uint32_t i = 0; list && gph_recipe_graph_get(self->gph, i, &g); i++) {
        PyObject *one = graph_of(self, i, &g);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *get_summary(recipe *self, void *unused)
{
    (void)unused;
    gph_recipe_summary s = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(self->gph, &s);
    return Py_BuildValue(
        "{sI sI sI sI sI si sI sz sK}", "graph_count", s.graph_count, "refused_count",
        s.refused_count, "range_count", s.range_count, "kernel_count", s.kernel_count,
        "image_count", s.image_count, "driver_version", s.driver_version, "capability",
        s.capability, "device", s.device, "node_count", (unsigned long long)s.node_count);
}

static int read_name(recipe *self, PyObject *object, uint32_t *out)
{
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        *out = name ? gph_recipe_find(self->gph, name) : UINT32_MAX;
        if (name && *out == UINT32_MAX)
            gphpy_invalid("the recipe has not a graph of the name %s", name);
        return *out == UINT32_MAX ? -1 : 0;
    }
    *out = (uint32_t)PyLong_AsUnsignedLong(object);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *describe(recipe *self, PyObject *object)
{
    uint32_t index = 0;
    gph_graph *graph = NULL;
    gph_error error = {0};
    if (read_name(self, object, &index) < 0)
        return NULL;
    const gph_status status = gph_recipe_describe(self->gph, index, &graph, &error);
    return status == GPH_OK ? gphpy_graph_new(graph) : gphpy_raise(status, &error, NULL);
}

/* ---- Loaded ---- */

int gphpy_places_read(PyObject *dict, gph_loaded_options *options, gph_recipe_place **out)
{
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t at = 0;
    const Py_ssize_t count = dict ? PyDict_Size(dict) : -1;
    *out = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(**out));
    if (!*out)
        return -1;
    while (PyDict_Next(dict, &at, &key, &value)) {
        gph_recipe_place *place = &(*out)[options->place_count++];
        unsigned long long address = 0, bytes = 0;
        place->range = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!place->range ||
            !PyArg_Parse(value, "(KK);a place is (address, bytes)", &address, &bytes))
            return -1;
        place->address = address;
        place->bytes = bytes;
    }
    options->places = *out;
    return 0;
}

loaded *gphpy_loaded_make(gphpy_runtime *runtime, PyObject *owner)
{
    loaded *self = gphpy_new(gphpy_types.loaded, sizeof(*self));
    if (self) {
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
        self->owner = Py_XNewRef(owner);
    }
    return self;
}

uint32_t gphpy_load_flags(int check, int share, int lazy)
{
    return (check ? GPH_RECIPE_CHECK : 0u) | (share ? GPH_RECIPE_SHARE : 0u) |
           (lazy ? GPH_RECIPE_LAZY : 0u);
}

static PyObject *instantiate(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"runtime", "places", "check", "share", "lazy",
                                        "stream",  "pool",   "keep",  NULL};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    PyObject *object = NULL, *places = NULL, *pool = Py_None, *own = NULL;
    gph_recipe_place *list = NULL;
    int check = 0, share = 0, lazy = 0, keep = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|$O!pppO&Op:instantiate", names, &object, &PyDict_Type,
               &places, &check, &share, &lazy, gphpy_stream_read, &options.stream, &pool,
               &keep))
        return NULL;
    gphpy_runtime *runtime = gphpy_runtime_of(object);
    if (!runtime || (pool != Py_None && gphpy_pool_bind(pool, &options.pool) < 0))
        return NULL;
    options.flags = gphpy_load_flags(check, share, lazy) | (keep ? GPH_RECIPE_KEEP : 0u);
    loaded *l = gphpy_loaded_make(runtime, pool == Py_None ? NULL : pool);
    if (l && places)
        own = PyDict_Copy(places); /* whose names stay while other threads run */
    bool is_made = l && (!places || gphpy_places_read(own, &options, &list) == 0) &&
                   gphpy_lock_take(&self->lock, "recipe");
    if (is_made) {
        gph_status status;
        WITHOUT_GIL(status, gph_loaded_create(runtime->gph, self->gph, &options, &l->gph,
                                              &error));
        PyObject *result = done(self, status, &error);
        is_made = result;
        Py_XDECREF(result);
    }
    free(list);
    Py_XDECREF(own);
    if (!is_made)
        Py_CLEAR(l);
    return (PyObject *)l;
}

static PyObject *instantiate_tree(recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"tree", "check", "share", "lazy", NULL};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    PyObject *object = NULL;
    int check = 0, share = 0, lazy = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|$ppp:instantiate_tree", names, &object, &check, &share,
               &lazy))
        return NULL;
    gphpy_tree *tree = tree_of(object);
    if (!tree || !gphpy_tree_take(tree))
        return NULL;
    options.flags = gphpy_load_flags(check, share, lazy);
    loaded *l = gphpy_loaded_make(tree->runtime, object);
    bool is_made = l && gphpy_lock_take(&self->lock, "recipe");
    if (is_made) {
        gph_status status;
        WITHOUT_GIL(status, gph_loaded_create_tree(self->gph, tree->gph, &options,
                                                   &l->gph, &error));
        PyObject *result = done(self, status, &error);
        is_made = result;
        Py_XDECREF(result);
    }
    gphpy_tree_give(tree);
    if (!is_made)
        Py_CLEAR(l);
    return (PyObject *)l;
}

static void loaded_destroy(loaded *self)
{
    PyThreadState *state = PyEval_SaveThread();
    gph_loaded_destroy(self->gph);
    PyEval_RestoreThread(state);
    Py_XDECREF(self->owner);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *tensors_of(loaded *self, const gph_tensor *list, uint32_t count)
{
    PyObject *all = PyTuple_New(count);
    for (uint32_t i = 0; all && i < count; i++) {
        PyObject *one = gphpy_tensor_new(self->runtime, &list[i], (PyObject *)self);
        if (!one)
            Py_CLEAR(all);
        else
            TUPLE_SET(all, i, one);
    }
    return all;
}

static PyObject *loaded_item(loaded *self, Py_ssize_t index)
{
    gph_loaded_graph g = GPH_SIZED(gph_loaded_graph);
    if (index < 0 || !gph_loaded_get(self->gph, (uint32_t)index, &g)) {
        PyErr_SetString(PyExc_IndexError, "the index is beyond the last graph");
        return NULL;
    }
    PyObject *inputs = tensors_of(self, g.inputs, g.input_count);
    PyObject *outputs = tensors_of(self, g.outputs, g.output_count);
    if (inputs && outputs)
        return Py_BuildValue("{ss sO si sz sO sI sN sN}", "name", g.name, "is_loaded",
                             g.is_loaded ? Py_True : Py_False, "status", g.status, "why",
                             g.why, "is_checked", g.is_checked ? Py_True : Py_False,
                             "recording", g.recording, "inputs", inputs, "outputs",
                             outputs);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return NULL;
}

static Py_ssize_t loaded_length(loaded *self)
{
    uint32_t graphs = 0;
    gph_loaded_count(self->gph, &graphs, NULL);
    return (Py_ssize_t)graphs;
}

static PyObject *launch(loaded *self, PyObject *args, PyObject *kwargs)
{
    unsigned index = 0;
    CUstream stream = NULL;
    gph_error error = {0};
    static const char *const names[] = {"", "stream", NULL};
    if (!PARSE(args, kwargs, "IO&:Loaded", names, &index, gphpy_stream_read, &stream) ||
        !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_loaded_launch(self->gph, index, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *take(loaded *self, PyObject *object)
{
    CUgraph graph = NULL;
    gph_error error = {0};
    const unsigned long index = PyLong_AsUnsignedLong(object);
    if (PyErr_Occurred())
        return NULL;
    const gph_status status = gph_loaded_take(
        self->gph, index > UINT32_MAX ? UINT32_MAX : (uint32_t)index, &graph, &error);
    return status == GPH_OK ? PyLong_FromVoidPtr(graph)
                            : gphpy_raise(status, &error, NULL);
}

/* ---- the types ---- */

static PyMethodDef methods[] = {
    {"load", (PyCFunction)load, METH_VARARGS | METH_STATIC,
     "load(path, /)\n--\n\nReads a recipe that save() wrote; needs no driver. Raises "
     "FormatError."},
    {"save", (PyCFunction)save, METH_VARARGS,
     "save($self, path, /)\n--\n\nWrites it as gph-recipe(5), whole or not at all."},
    METHOD(
        "range", range,
        "range($self, name, address, bytes, shifted=0)\n--\n\nDevice memory that graphs "
        "work on;\n"
        "shifted: where it lies in the second captures, 0: it stays. Before the graphs."),
    METHOD("arena", arena,
           "arena($self, name, arena, shifted=None)\n--\n\nA range that is an arena's "
           "addresses."),
    METHOD(
        "add", add,
        "add($self, runtime, name, graph, *, shifted=0, inputs=(), outputs=(), key=(), "
        "check=False, "
        "stream=None, pool=None, recording=0, identify=None, unset=False)\n--\n\n"
        "Adds a CUgraph (Recording.graphs). shifted: the same work captured with its "
        "ranges at\n"
        "their shifted addresses, so that it loads anywhere. check: it is replayed now, "
        "so that\n"
        "loading can compare. identify(function): says of a CUfunction, an int, whose "
        "module\n"
        "others loaded, what it is: (SHA-256 of the image, name), or None. What cannot "
        "be "
        "kept\n"
        "is added as refused: graphs says why. unset: words of arguments that differ "
        "between the\n"
        "captures, and can be no address, are bytes that nobody sets, and kept; else "
        "refused."),
    METHOD("add_tree", add_tree,
           "add_tree($self, tree, check=False)\n--\n\nAdds each recording of a Tree made "
           "with\n"
           "keep_graphs; its path ends."),
    METHOD("add_cache", gphpy_recipe_add_cache,
           "add_cache($self, cache, *, shifted=None, check=False, stream=None)\n--\n\n"
           "Adds each captured key of a Cache whose pool is of an arena that is a range. "
           "shifted:\n"
           "the same cache in a pool of the shifted arena."),
    METHOD("instantiate_cache", gphpy_recipe_instantiate_cache,
           "instantiate_cache($self, runtime, function, axes, *, places={}, check=False, "
           "share=False, **options)\n--\n\n"
           "A Cache, made as by Runtime.cache() in a fresh pool, whose keys are those of "
           "the\n"
           "recipe; Cache.loaded says which. start() captures the rest."),
    METHOD1("describe", describe,
            "describe($self, graph, /)\n--\n\nA graph (its number or name) as data: a "
            "Graph."),
    METHOD(
        "instantiate", instantiate,
        "instantiate($self, runtime, *, places={}, check=False, share=False, lazy=False, "
        "stream=None, pool=None, keep=False)\n--\n\n"
        "Builds the graphs without capturing: a Loaded. The modules must be loaded "
        "(Runtime.\n"
        "module) and the ranges be there; places: {range: (address, bytes)} of those "
        "that lie\n"
        "elsewhere now. check: each is replayed and compared; share: graphs of one "
        "topology\n"
        "share an executable; lazy: made at the first launch; pool: what the recordings "
        "used is\n"
        "laid out in it; keep: graphs stay, for Loaded.take()."),
    METHOD(
        "instantiate_tree", instantiate_tree,
        "instantiate_tree($self, tree, *, check=False, share=False, lazy=False)\n--\n\n"
        "Gives a Tree that was never called the recordings of the recipe: a Loaded, "
        "which says\n"
        "what was not loaded. It has the same functions, in the same order."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("summary", get_summary,
           "What it holds, counted, and where it was recorded, a dict."),
    GETTER("graphs", get_graphs,
           "Its graphs, a dict each; `refusals` says why one cannot be loaded."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_recipe_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"Recipe()\n--\n\nRecorded graphs as data, for a file. One "
                            "thread at a time:\n"
                            "others wait."},
        {Py_tp_new, (void *)recipe_new},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Recipe", sizeof(recipe), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return gphpy_type_add(module, &spec, &gphpy_types.recipe);
}

int gphpy_loaded_ready(PyObject *module)
{
    static PyMethodDef own[] = {
        METHOD1(
            "take", take,
            "take($self, index, /)\n--\n\nA CUgraph, an int, that keep=True kept: the "
            "caller's, to\n"
            "make another executable of it. Once each."),
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"Graphs of a recipe, ready to launch: loaded(number, stream). A "
                 "sequence of\n"
                 "dicts: name, is_loaded, why, is_checked, inputs and outputs (Tensors "
                 "at\n"
                 "their addresses now). What is not loaded has to be captured."},
        {Py_tp_dealloc, (void *)loaded_destroy},
        {Py_tp_methods, own},
        {Py_tp_call, (void *)launch},
        {Py_sq_length, (void *)loaded_length},
        {Py_sq_item, (void *)loaded_item},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Loaded", sizeof(loaded), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.loaded);
}
