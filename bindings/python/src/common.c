// SPDX-License-Identifier: Apache-2.0
/* Types, locks, text and words: what every object of the extension uses. */
#include "gphpy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct gphpy_types gphpy_types;

int gphpy_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (!type)
        return -1;
    *out = (PyTypeObject *)type; /* kept as long as the process */
    return PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, type);
}

void *gphpy_new(PyTypeObject *type, size_t bytes)
{
    PyObject *object = PyObject_New(PyObject, type);
    if (object)
        memset((char *)object + sizeof(PyObject), 0, bytes - sizeof(PyObject));
    return object;
}

void gphpy_free(void *object)
{
    PyTypeObject *type = Py_TYPE((PyObject *)object);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* ---- locks ---- */

void gphpy_lock_init(gphpy_lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
    atomic_init(&lock->owner, 0);
}

void gphpy_lock_fini(gphpy_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

bool gphpy_lock_take(gphpy_lock *lock, const char *what)
{
    const unsigned long self = (unsigned long)pthread_self();
    if (pthread_mutex_trylock(&lock->mutex) != 0) {
        if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == self) {
            gph_error error = {.code = GPH_E_STATE};
            snprintf(error.message, sizeof(error.message),
                     "the %s is called from inside a call of it", what);
            gphpy_raise(GPH_E_STATE, &error, NULL);
            return false;
        }
        PyThreadState *state = PyEval_SaveThread(); /* its owner may need the GIL */
        pthread_mutex_lock(&lock->mutex);
        PyEval_RestoreThread(state);
    }
    atomic_store_explicit(&lock->owner, self, memory_order_relaxed);
    return true;
}

void gphpy_lock_give(gphpy_lock *lock)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    pthread_mutex_unlock(&lock->mutex);
}

/* ---- text ---- */

gph_status gphpy_text_write(void *user, const void *data, size_t bytes)
{
    gphpy_text *text = user;
    if (text->length + bytes > text->room) {
        const size_t room = 2 * (text->length + bytes) + 256;
        char *moved = realloc(text->bytes, room);
        if (!moved)
            return GPH_E_NO_MEMORY;
        text->bytes = moved;
        text->room = room;
    }
    if (bytes > 0)
        memcpy(text->bytes + text->length, data, bytes);
    text->length += bytes;
    return GPH_OK;
}

PyObject *gphpy_text_end(gphpy_text *text, gph_status status, const gph_error *error)
{
    PyObject *result = NULL;
    if (status != GPH_OK)
        gphpy_raise(status, error, NULL);
    else
        result = PyUnicode_DecodeUTF8(text->bytes ? text->bytes : "",
                                      (Py_ssize_t)text->length, "replace");
    free(text->bytes);
    *text = (gphpy_text){0};
    return result;
}

static PyObject *unknown_word(PyObject *object, const char *const *words,
                              const char *what)
{
    char known[256] = "";
    for (int i = 0; words[i]; i++) {
        const size_t length = strlen(known);
        snprintf(known + length, sizeof(known) - length, "%s%s", i ? ", " : "", words[i]);
    }
    PyObject *repr = PyObject_Repr(object);
    const char *text = repr ? PyUnicode_AsUTF8AndSize(repr, NULL) : NULL;
    if (text)
        gphpy_invalid("%s is %.100s, not one of %s", what, text, known);
    Py_XDECREF(repr);
    return NULL;
}

int gphpy_word(PyObject *object, const char *const *words, int first, const char *what)
{
    for (int i = 0; words[i] && PyUnicode_Check(object); i++)
        if (PyUnicode_CompareWithASCIIString(object, words[i]) == 0)
            return first + i;
    unknown_word(object, words, what);
    return -1;
}

PyObject *gphpy_int64s(const int64_t *values, uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (uint32_t i = 0; tuple && i < count; i++) {
        PyObject *item = PyLong_FromLongLong(values[i]);
        if (!item)
            Py_CLEAR(tuple);
        else
            TUPLE_SET(tuple, i, item);
    }
    return tuple;
}
