// SPDX-License-Identifier: Apache-2.0
/* Arena: addresses and pages of a device, and the ledger of who holds which bytes. */
#include "arena.h"

#include <stdlib.h>

gphpy_arena *gphpy_arena_make(gphpy_runtime *runtime, const gph_arena_options *options)
{
    gph_error error = {0};
    gphpy_arena *self =
        gphpy_runtime_use(runtime) ? gphpy_new(gphpy_types.arena, sizeof(*self)) : NULL;
    if (!self)
        return NULL;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    gph_status status;
    WITHOUT_GIL(status, gph_arena_create(runtime->gph, options, &self->gph, &error));
    if (status != GPH_OK) {
        gphpy_raise(status, &error, NULL);
        Py_CLEAR(self);
    }
    return self;
}

PyObject *gphpy_arena_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"device", "reserve_bytes", "budget_bytes", "base",
                                        NULL};
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    unsigned long long reserve = 0, budget = 0, start = 0;
    if (!PARSE(args, kwargs, "|$iKKK:arena", names, &options.device, &reserve, &budget,
               &start))
        return NULL;
    options.reserve_bytes = reserve;
    options.budget_bytes = budget;
    options.base = start;
    return (PyObject *)gphpy_arena_make(runtime, &options);
}

gphpy_arena *gphpy_arena_home(gphpy_runtime *runtime)
{
    gph_arena *known = atomic_load(&runtime->home);
    if (!known) {
        gphpy_arena *made = gphpy_arena_make(runtime, NULL);
        if (!made)
            return NULL;
        if (atomic_compare_exchange_strong(&runtime->home, &known, made->gph)) {
            made->is_home = true;
            return made;
        }
        Py_DECREF((PyObject *)made); /* another thread was first */
    }
    gphpy_arena *self = gphpy_new(gphpy_types.arena, sizeof(*self));
    if (self) {
        self->gph = known;
        self->is_home = true;
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    }
    return self;
}

static void destroy(gphpy_arena *self)
{
    if (!self->is_home)
        gph_arena_destroy(self->gph);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

/* ---- the ledger ---- */

static PyObject *entry_of(const gph_ledger_entry *entry)
{
    static const char *const kinds[] = {"?", "pool", "recording", "exec"};
    return Py_BuildValue(
        "{ss sI ss sK sK sK}", "kind", kinds[entry->kind < 4 ? entry->kind : 0], "id",
        entry->id, "name", entry->name, "own_bytes", (unsigned long long)entry->own_bytes,
        "shared_bytes", (unsigned long long)entry->shared_bytes, "pool_bytes",
        (unsigned long long)entry->pool_bytes);
}

static PyObject *result_of(const gph_ledger_total *total, const gph_ledger_entry *entries,
                           uint32_t count)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *entry = entry_of(&entries[i]);
        if (!entry)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, entry);
    }
    return list ? Py_BuildValue("{sK sK sK sK sK sK sN}", "mapped_bytes",
                                (unsigned long long)total->mapped_bytes, "cached_bytes",
                                (unsigned long long)total->cached_bytes, "exec_bytes",
                                (unsigned long long)total->exec_bytes, "budget_bytes",
                                (unsigned long long)total->budget_bytes, "driver_bytes",
                                (unsigned long long)total->driver_bytes, "foreign_bytes",
                                (unsigned long long)total->foreign_bytes, "entries", list)
                : NULL;
}

static PyObject *ledger(gphpy_arena *self, PyObject *unused)
{
    (void)unused;
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    gph_ledger_entry *entries = NULL;
    gph_error error = {0};
    uint32_t capacity = 0, count = 0;
    gph_status status;
    do { /* others may make something meanwhile */
        capacity = count;
        gph_ledger_entry *moved = realloc(entries, (capacity + 1) * sizeof(*entries));
        if (!moved) {
            free(entries);
            return PyErr_NoMemory();
        }
        entries = moved;
        WITHOUT_GIL(status,
                    gph_ledger_get(self->gph, entries, capacity, &count, &total, &error));
    } while (status == GPH_OK && count > capacity);
    PyObject *result = status == GPH_OK ? result_of(&total, entries, count)
                                        : gphpy_raise(status, &error, NULL);
    free(entries);
    return result;
}

static PyObject *trim(gphpy_arena *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"keep_bytes", NULL};
    unsigned long long keep = 0;
    uint64_t freed = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|K:trim", names, &keep))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_arena_trim(self->gph, keep, &freed, &error));
    return status == GPH_OK ? PyLong_FromUnsignedLongLong(freed)
                            : gphpy_raise(status, &error, NULL);
}

static PyObject *get_range(gphpy_arena *self, void *unused)
{
    (void)unused;
    CUdeviceptr start = 0;
    uint64_t bytes = 0;
    gph_arena_range(self->gph, &start, &bytes);
    return Py_BuildValue("(KK)", start, (unsigned long long)bytes);
}

static PyMethodDef methods[] = {
    METHOD0(
        "ledger", ledger,
        "ledger($self)\n--\n\n"
        "Who holds which bytes: a dict of totals (mapped, cached, exec, budget, driver,\n"
        "foreign) and `entries`: pools, each followed by its recordings, then "
        "executables;\n"
        "own_bytes are used by nobody else, shared_bytes lie under others, too."),
    METHOD("trim", trim,
           "trim($self, keep_bytes=0)\n--\n\nGives pages that nothing uses back to the "
           "device, until\n"
           "at most keep_bytes remain; returns how many bytes went."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("range", get_range, "First address and bytes of the reserved range."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_arena_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"Addresses and pages of one device, that pools share: Runtime.arena().\n"
                 "Any thread."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Arena", sizeof(gphpy_arena), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.arena);
}
