// SPDX-License-Identifier: Apache-2.0
/* Pool: memory that graphs share. Block: one allocation of it, freed with the last tensor that
 * views it. Checkpoint: what a pool looked like.
 *
 * A block that was allocated while something was recorded is the recording's once that is
 * over, whatever became of it: from then on nobody here frees it. */
#include "arena.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct block {
    PyObject_HEAD gphpy_pool *pool;
    CUdeviceptr address;
    CUstream stream;
    PyObject *stream_object; /* what named the stream: it lives until the free */
    gphpy_scope *scope;      /* or NULL */
    bool is_disowned;
} block;

typedef struct checkpoint {
    PyObject_HEAD gph_checkpoint *gph;
    gphpy_pool *pool;
} checkpoint;

/* ---- blocks ---- */

static void block_destroy(block *self)
{
    const bool is_recorded = self->scope && atomic_load(&self->scope->is_over);
    if (self->address && !self->is_disowned && !is_recorded) {
        gph_status status;
        PyObject *type = NULL, *value = NULL, *trace = NULL;
        PyErr_Fetch(&type, &value, &trace);
        WITHOUT_GIL(status,
                    gph_pool_free(self->pool->gph, self->address, self->stream, NULL));
        (void)status; /* a stream that is gone: the pool's log says what stays */
        PyErr_Restore(type, value, trace);
    }
    gphpy_scope_release(self->scope);
    Py_XDECREF(self->stream_object);
    Py_DECREF((PyObject *)self->pool);
    gphpy_free(self);
}

void gphpy_tensor_disown(PyObject *tensor)
{
    PyObject *owner = ((gphpy_tensor *)tensor)->owner;
    if (owner && Py_TYPE(owner) == gphpy_types.block)
        ((block *)owner)->is_disowned = true;
}

static PyObject *tensor(gphpy_pool *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"shape", "dtype", "stream", NULL};
    PyObject *shape = NULL, *word = NULL, *stream_object = Py_None;
    gph_dtype dtype = GPH_DTYPE_F32;
    CUstream stream = NULL;
    int64_t sizes[GPH_TENSOR_RANK_MAX];
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|O$O:tensor", names, &shape, &word, &stream_object) ||
        !gphpy_stream_read(stream_object, &stream) ||
        (word && !gphpy_dtype_read(word, &dtype)))
        return NULL;
    const int rank = gphpy_shape_read(shape, sizes);
    if (rank < 0 || !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_tensor view = gph_tensor_dense(1, dtype, (uint32_t)rank, sizes);
    const uint64_t bytes = gph_tensor_bytes(&view);
    block *b = gphpy_new(gphpy_types.block, sizeof(*b));
    if (!b)
        return NULL;
    b->pool = (gphpy_pool *)Py_NewRef((PyObject *)self);
    b->stream = stream;
    b->stream_object = Py_NewRef(stream_object);
    if (self->scope &&
        (self->is_scope_of_all || gphpy_stream_is_capturing(self->runtime, stream))) {
        b->scope = self->scope;
        atomic_fetch_add(&b->scope->references, 1);
    }
    gph_status status;
    WITHOUT_GIL(status, gph_pool_alloc(self->gph, bytes > 0 ? bytes : 1, stream,
                                       &b->address, &error));
    view.data = b->address;
    PyObject *result = status == GPH_OK
                           ? gphpy_tensor_new(self->runtime, &view, (PyObject *)b)
                           : gphpy_raise(status, &error, NULL);
    Py_DECREF((PyObject *)b);
    return result;
}

static PyObject *use(gphpy_pool *self, PyObject *args)
{
    PyObject *object = NULL;
    CUstream stream = NULL;
    gph_tensor view;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "OO&:use", &object, gphpy_stream_read, &stream) ||
        gphpy_tensor_read(self->runtime, object, "tensor", 0, &view) < 0)
        return NULL;
    const gph_status status = gph_pool_use(self->gph, view.data, stream, &error);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* ---- Pool ---- */

PyObject *gphpy_pool_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"name", "growth_bytes", "max_bytes", "arena",
                                        NULL};
    gph_pool_options options = GPH_POOL_OPTIONS_INIT;
    unsigned long long growth = 0, most = 0;
    PyObject *arena = Py_None;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$zKKO:pool", names, &options.name, &growth, &most, &arena))
        return NULL;
    if (arena != Py_None && Py_TYPE(arena) != gphpy_types.arena) {
        PyErr_SetString(PyExc_TypeError, "arena is not an Arena");
        return NULL;
    }
    options.growth_bytes = growth;
    options.max_bytes = most;
    gphpy_arena *home =
        arena == Py_None ? gphpy_arena_home(runtime) : (gphpy_arena *)Py_NewRef(arena);
    gphpy_pool *self = home ? gphpy_new(gphpy_types.pool, sizeof(*self)) : NULL;
    if (!self) {
        Py_XDECREF((PyObject *)home);
        return NULL;
    }
    self->arena = home;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    const gph_status status = gph_pool_create(home->gph, &options, &self->gph, &error);
    if (status == GPH_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return gphpy_raise(status, &error, NULL);
}

PyObject *gphpy_pool_lent(gphpy_runtime *runtime, gph_pool *pool, gphpy_scope *scope)
{
    gphpy_pool *self = gphpy_new(gphpy_types.pool, sizeof(*self));
    if (self) {
        self->gph = gph_pool_retain(pool);
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
        gphpy_pool_scope((PyObject *)self, scope);
    }
    return (PyObject *)self;
}

int gphpy_pool_bind(PyObject *object, gph_pool **out)
{
    if (Py_TYPE(object) != gphpy_types.pool) {
        PyErr_Format(PyExc_TypeError, "pool is %R, not a Pool",
                     (PyObject *)Py_TYPE(object));
        return -1;
    }
    *out = ((gphpy_pool *)object)->gph;
    return 0;
}

void gphpy_pool_scope(PyObject *object, gphpy_scope *scope)
{
    gphpy_pool *self = (gphpy_pool *)object;
    gphpy_scope *before = self->scope;
    self->scope = scope;
    if (scope)
        atomic_fetch_add(&scope->references, 1);
    if (before)
        atomic_store(&before->is_over, 1);
    gphpy_scope_release(before);
}

void gphpy_pool_scope_all(PyObject *object)
{
    ((gphpy_pool *)object)->is_scope_of_all = true;
}

static void destroy(gphpy_pool *self)
{
    gphpy_pool_scope((PyObject *)self, NULL);
    gph_pool_release(self->gph);
    Py_XDECREF((PyObject *)self->arena);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *stats(gphpy_pool *self, PyObject *unused)
{
    (void)unused;
    gph_pool_stats s = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(self->gph, &s);
    return Py_BuildValue("{sK sK sK sK sI sI sI sI}", "mapped_bytes",
                         (unsigned long long)s.mapped_bytes, "allocated_bytes",
                         (unsigned long long)s.allocated_bytes, "peak_bytes",
                         (unsigned long long)s.peak_bytes, "requested_bytes",
                         (unsigned long long)s.requested_bytes, "allocation_count",
                         s.allocation_count, "segment_count", s.segment_count,
                         "recording_count", s.recording_count, "users", s.users);
}

static PyObject *ranges(gphpy_pool *self, PyObject *args)
{
    static const char *const kinds[] = {"?",    "temporary", "output",
                                        "kept", "input",     "eager"};
    unsigned id = 0;
    uint32_t count = 0, room = 0;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "I:ranges", &id))
        return NULL;
    gph_status status = gph_pool_ranges(self->gph, id, NULL, 0, &room, &error);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    gph_pool_range *all = calloc(room + 1, sizeof(*all));
    if (!all)
        return PyErr_NoMemory();
    status = gph_pool_ranges(self->gph, id, all, room, &count, &error);
    PyObject *list = status == GPH_OK ? PyList_New(0) : gphpy_raise(status, &error, NULL);
    for (uint32_t i = 0; list && i < count && i < room; i++) {
        PyObject *one = Py_BuildValue("{sK sK ss sI sI}", "address", all[i].address,
                                      "bytes", (unsigned long long)all[i].bytes, "kind",
                                      kinds[all[i].kind < 6 ? all[i].kind : 0], "first",
                                      all[i].first, "last", all[i].last);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    free(all);
    return list;
}

static PyObject *may_replay(gphpy_pool *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"first", "second", "at_once", NULL};
    gph_pool_conflict conflict = GPH_SIZED(gph_pool_conflict);
    unsigned first = 0, second = 0;
    int at_once = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "II|p:may_replay", names, &first, &second, &at_once))
        return NULL;
    const gph_status status = gph_pool_may_replay(
        self->gph, first, second, at_once ? GPH_REPLAY_AT_ONCE : GPH_REPLAY_AFTER,
        &conflict, &error);
    if (status == GPH_E_STATE)
        return PyUnicode_FromString(conflict.text);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *get_arena(gphpy_pool *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->arena ? (PyObject *)self->arena : Py_None);
}

/* ---- Checkpoint ---- */

static PyObject *take(gphpy_pool *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    checkpoint *c = gphpy_new(gphpy_types.checkpoint, sizeof(*c));
    if (!c)
        return NULL;
    c->pool = (gphpy_pool *)Py_NewRef((PyObject *)self);
    const gph_status status = gph_checkpoint_take(self->gph, &c->gph, &error);
    if (status == GPH_OK)
        return (PyObject *)c;
    Py_DECREF((PyObject *)c);
    return gphpy_raise(status, &error, NULL);
}

static void checkpoint_destroy(checkpoint *self)
{
    gph_checkpoint_destroy(self->gph);
    Py_DECREF((PyObject *)self->pool);
    gphpy_free(self);
}

static PyObject *restore(checkpoint *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    const gph_status status =
        gph_checkpoint_restore(self->pool->gph, self->gph, NULL, 0, 1, &error);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* ---- the types ---- */

static PyMethodDef methods[] = {
    METHOD("tensor", tensor,
           "tensor($self, shape, dtype='f32', *, stream=None)\n--\n\n"
           "Allocates a dense Tensor for use in a stream. It is freed in that stream "
           "with the last\n"
           "view of it. In a captured stream (of a capture with this pool) the address "
           "belongs to\n"
           "the recording, and what is freed there is used again by later work of it; "
           "what is\n"
           "still held when the capture ends stays the recording's."),
    {"use", (PyCFunction)use, METH_VARARGS,
     "use($self, tensor, stream, /)\n--\n\nSays that another stream uses it, too, so "
     "that its free\n"
     "waits for that one."},
    METHOD0("stats", stats,
            "stats($self)\n--\n\nA dict: mapped, allocated, peak and requested bytes, "
            "and counts of\n"
            "allocations, segments, recordings, users."),
    {"ranges", (PyCFunction)ranges, METH_VARARGS,
     "ranges($self, recording, /)\n--\n\nWhat a recording (Recording.pool_id) used, a "
     "dict each:\n"
     "address, bytes, kind, and its life in events, first to last."},
    METHOD(
        "may_replay", may_replay,
        "may_replay($self, first, second, at_once=False)\n--\n\n"
        "None if the second of two recordings may be replayed after the first, whose "
        "outputs are\n"
        "read afterwards (at_once: both at the same time); else the sentence why not."),
    METHOD0("checkpoint", take,
            "checkpoint($self)\n--\n\nWhat the pool looks like now: a Checkpoint."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("arena", get_arena, "Its Arena; None where the pool is another object's."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_pool_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"Device memory that graphs share: Runtime.pool(). Any "
                            "thread; a capture's\n"
                            "calls come from the thread that captures."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Pool", sizeof(gphpy_pool), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.pool);
}

int gphpy_block_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"An allocation of a Pool: what keeps the memory of its tensors."},
        {Py_tp_dealloc, (void *)block_destroy},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Block", sizeof(block), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.block);
}

static PyMethodDef checkpoint_methods[] = {
    METHOD0("restore", restore,
            "restore($self)\n--\n\nMakes the pool's books what they were: all or "
            "nothing. Tensors\n"
            "that were allocated since must not be used any more."),
    {NULL, NULL, 0, NULL},
};

int gphpy_checkpoint_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"What a pool looked like: Pool.checkpoint(). Constant."},
        {Py_tp_dealloc, (void *)checkpoint_destroy},
        {Py_tp_methods, checkpoint_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Checkpoint", sizeof(checkpoint), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.checkpoint);
}
