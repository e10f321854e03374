// SPDX-License-Identifier: Apache-2.0
/* Slots: buffers of a graph that may be others at each replay. SlotBuffer: memory that can be
 * mapped in several places. */
#include "gphpy.h"

#include <stdlib.h>

typedef struct slots {
    PyObject_HEAD gph_slots *gph;
    gphpy_runtime *runtime;
    PyObject *bound; /* a list: what is bound to each slot now */
    gphpy_lock lock;
    uint32_t count;
} slots;

typedef struct slot_buffer {
    PyObject_HEAD gph_slot_buffer *gph;
    gphpy_runtime *runtime;
} slot_buffer;

static const char *const kinds[] = {"copy", "indirect", "remap", NULL};

/* ---- making ---- */

static int read_slot(PyObject *object, gph_slot *out)
{
    PyObject *kind = NULL;
    unsigned long long bytes = 0;
    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "a slot is (name, kind, bytes)");
        return -1;
    }
    if (!PyArg_ParseTuple(object, "zO|K;a slot is (name, kind, bytes)", &out->name, &kind,
                          &bytes))
        return -1;
    const int word = gphpy_word(kind, kinds, GPH_SLOT_COPY, "kind");
    out->kind = (uint32_t)word;
    out->bytes = bytes;
    return word < 0 ? -1 : 0;
}

static gph_slot *read_slots(PyObject *all, uint32_t *count)
{
    *count = (uint32_t)TUPLE_SIZE(all);
    gph_slot *list = calloc(*count + 1, sizeof(*list));
    if (!list)
        PyErr_NoMemory();
    for (uint32_t i = 0; list && i < *count; i++)
        if (read_slot(TUPLE_ITEM(all, i), &list[i]) < 0) {
            free(list);
            list = NULL;
        }
    return list;
}

PyObject *gphpy_slots_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"slots", "depth", "windows", "wait_s", NULL};
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    PyObject *object = NULL;
    double wait_s = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|$IId:slots", names, &object, &options.depth,
               &options.windows, &wait_s) ||
        !gphpy_runtime_use(runtime))
        return NULL;
    options.wait_ns = (uint64_t)(1e9 * (wait_s > 0 ? wait_s : 0));
    options.slot_bytes = sizeof(gph_slot);
    PyObject *all = PySequence_Tuple(object); /* keeps the names, too */
    slots *self = all ? gphpy_new(gphpy_types.slots, sizeof(*self)) : NULL;
    gph_slot *list = NULL;
    if (self) {
        gphpy_lock_init(&self->lock);
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
        list = read_slots(all, &self->count);
        self->bound = list ? PyList_New(self->count) : NULL;
        for (uint32_t i = 0; self->bound && i < self->count; i++)
            PyList_SetItem(self->bound, i, Py_NewRef(Py_None));
    }
    gph_status status = GPH_E_NO_MEMORY;
    if (self && self->bound)
        WITHOUT_GIL(status, gph_slots_create(runtime->gph, list, self->count, &options,
                                             &self->gph, &error));
    if (status != GPH_OK) {
        gphpy_raise(status, &error, NULL);
        Py_CLEAR(self);
    }
    free(list);
    Py_XDECREF(all);
    return (PyObject *)self;
}

static void destroy(slots *self)
{
    gph_slots_destroy(self->gph);
    gphpy_lock_fini(&self->lock);
    Py_XDECREF(self->bound);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

/* ---- by number or by name ---- */

static int read_index(slots *self, PyObject *object, uint32_t *out)
{
    int64_t index = -1;
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        index = name ? gph_slots_find(self->gph, name) : -1;
        if (name && index < 0)
            gphpy_invalid("there is not a slot of the name %s", name);
    } else {
        index = PyLong_AsLongLong(object);
        if (!PyErr_Occurred() && (index < 0 || index >= (int64_t)self->count))
            gphpy_invalid("slot %lld is not one of the %u", (long long)index,
                          self->count);
    }
    *out = (uint32_t)index;
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *address(slots *self, PyObject *object)
{
    uint32_t index = 0;
    return read_index(self, object, &index) < 0
               ? NULL
               : PyLong_FromUnsignedLongLong(gph_slots_address(self->gph, index));
}

static PyObject *bind(slots *self, PyObject *args)
{
    PyObject *slot = NULL, *object = NULL;
    uint32_t index = 0;
    gph_tensor view;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "OO:bind", &slot, &object) ||
        read_index(self, slot, &index) < 0)
        return NULL;
    const bool is_buffer = Py_TYPE(object) == gphpy_types.slot_buffer;
    if (!is_buffer &&
        gphpy_tensor_read(self->runtime, object, "buffer", index, &view) < 0)
        return NULL;
    if (!gphpy_lock_take(&self->lock, "table of slots"))
        return NULL;
    const gph_status status =
        is_buffer ? gph_slots_bind_buffer(self->gph, index, ((slot_buffer *)object)->gph,
                                          &error)
                  : gph_slots_bind(self->gph, index, view.data, &error);
    if (status == GPH_OK)
        PyList_SetItem(self->bound, index, Py_NewRef(object));
    gphpy_lock_give(&self->lock);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *feed(slots *self, PyObject *object)
{
    CUstream stream = NULL;
    gph_error error = {0};
    if (!gphpy_stream_read(object, &stream) || !gphpy_runtime_use(self->runtime) ||
        !gphpy_lock_take(&self->lock, "table of slots"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_slots_feed(self->gph, stream, &error));
    gphpy_lock_give(&self->lock);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* An Exec, or one for each window. */
static PyObject *launch(slots *self, PyObject *args)
{
    enum { WINDOWS_MAX = 8 };
    gph_exec *execs[WINDOWS_MAX];
    PyObject *object = NULL, *all = NULL;
    CUstream stream = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "OO&:launch", &object, gphpy_stream_read, &stream) ||
        !gphpy_runtime_use(self->runtime))
        return NULL;
    all = Py_TYPE(object) == gphpy_types.exec ? PyTuple_Pack(1, object)
                                              : PySequence_Tuple(object);
    if (!all)
        return NULL;
    const Py_ssize_t count = TUPLE_SIZE(all);
    bool is_fine = count <= WINDOWS_MAX;
    if (!is_fine)
        gphpy_invalid("there are %zd executables, %d windows are the most", count,
                      WINDOWS_MAX);
    for (Py_ssize_t i = 0; is_fine && i < count; i++)
        is_fine = gphpy_exec_bind(TUPLE_ITEM(all, i), &execs[i]) == 0;
    gph_status status = GPH_OK;
    is_fine = is_fine && gphpy_lock_take(&self->lock, "table of slots");
    if (is_fine) {
        WITHOUT_GIL(status,
                    gph_slots_launch(self->gph, execs, (uint32_t)count, stream, &error));
        gphpy_lock_give(&self->lock);
    }
    Py_DECREF(all);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    return is_fine && status == GPH_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *choose(slots *self, PyObject *number)
{
    gph_error error = {0};
    const unsigned long window = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred() || !gphpy_lock_take(&self->lock, "table of slots"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_slots_window_set(self->gph, (uint32_t)window, &error));
    gphpy_lock_give(&self->lock);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *stats(slots *self, PyObject *unused)
{
    (void)unused;
    gph_slots_stats s = GPH_SIZED(gph_slots_stats);
    gph_slots_stats_get(self->gph, &s);
    return Py_BuildValue(
        "{sK sK sK sK sK sK}", "launch_count", (unsigned long long)s.launch_count,
        "copy_count", (unsigned long long)s.copy_count, "copy_bytes",
        (unsigned long long)s.copy_bytes, "map_count", (unsigned long long)s.map_count,
        "revive_count", (unsigned long long)s.revive_count, "wait_count",
        (unsigned long long)s.wait_count);
}

static PyObject *get_windows(slots *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(gph_slots_window_count(self->gph));
}

static Py_ssize_t length(slots *self)
{
    return (Py_ssize_t)self->count;
}

/* ---- SlotBuffer ---- */

PyObject *gphpy_slot_buffer_new(gphpy_runtime *runtime, PyObject *bytes)
{
    gph_error error = {0};
    const unsigned long long size = PyLong_AsUnsignedLongLong(bytes);
    if (PyErr_Occurred() || !gphpy_runtime_use(runtime))
        return NULL;
    slot_buffer *self = gphpy_new(gphpy_types.slot_buffer, sizeof(*self));
    if (!self)
        return NULL;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    const gph_status status =
        gph_slot_buffer_create(runtime->gph, size, &self->gph, &error);
    if (status == GPH_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return gphpy_raise(status, &error, NULL);
}

static void buffer_destroy(slot_buffer *self)
{
    gph_slot_buffer_destroy(self->gph);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *get_data(slot_buffer *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(gph_slot_buffer_address(self->gph));
}

/* ---- the types ---- */

static PyMethodDef methods[] = {
    METHOD1("address", address,
            "address($self, slot, /)\n--\n\nWhat kernels are given for a slot (its "
            "number or name):\n"
            "the buffer's address; of an indirect one that of the word which holds it."),
    {"bind", (PyCFunction)bind, METH_VARARGS,
     "bind($self, slot, buffer, /)\n--\n\nBinds a tensor or a SlotBuffer for the "
     "launches from now on.\n"
     "Keep it until the replays that use it are done."},
    METHOD1("feed", feed,
            "feed($self, stream, /)\n--\n\nBefore the work that uses the slots: in a "
            "captured stream it\n"
            "becomes part of the graph."),
    {"launch", (PyCFunction)launch, METH_VARARGS,
     "launch($self, execs, stream, /)\n--\n\nLaunches an Exec (a sequence of them: one "
     "for each window)\n"
     "with what is bound now."},
    METHOD1("choose_window", choose,
            "choose_window($self, window, /)\n--\n\nThe window that address() names, "
            "before a capture\n"
            "begins."),
    METHOD0("stats", stats,
            "stats($self)\n--\n\nLaunches, copies, mappings and waits, a dict."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("windows", get_windows,
           "How many windows it has: a graph is captured for each of them."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_slots_ready(PyObject *module)
{
    static PyType_Slot type_slots[] = {
        {Py_tp_doc, (void *)"A table of slots of one graph: Runtime.slots(). One thread "
                            "at a time: others\n"
                            "wait."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_sq_length, (void *)length},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Slots", sizeof(slots), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               type_slots};
    return gphpy_type_add(module, &spec, &gphpy_types.slots);
}

static PyGetSetDef buffer_members[] = {
    GETTER("data", get_data, "Where the program reads and writes it, an address."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_slot_buffer_ready(PyObject *module)
{
    static PyType_Slot type_slots[] = {
        {Py_tp_doc,
         (void *)"Device memory that remap slots take: Runtime.slot_buffer()."},
        {Py_tp_dealloc, (void *)buffer_destroy},
        {Py_tp_getset, buffer_members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.SlotBuffer", sizeof(slot_buffer), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               type_slots};
    return gphpy_type_add(module, &spec, &gphpy_types.slot_buffer);
}
