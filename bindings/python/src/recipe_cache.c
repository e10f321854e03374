// SPDX-License-Identifier: Apache-2.0
/* Caches in recipes: their keys added, and a cache made of them in another process. */
#include "cache.h"
#include "recipe.h"

#include <stdlib.h>

static gphpy_cache *cache_of(PyObject *object)
{
    if (Py_TYPE(object) == gphpy_types.cache)
        return (gphpy_cache *)object;
    PyErr_Format(PyExc_TypeError, "%R is not a Cache", (PyObject *)Py_TYPE(object));
    return NULL;
}

PyObject *gphpy_recipe_add_cache(gphpy_recipe *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"cache", "shifted", "check", "stream", NULL};
    gph_recipe_cache_entry entry = GPH_RECIPE_CACHE_ENTRY_INIT;
    PyObject *object = NULL, *shifted = Py_None;
    int check = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|$OpO&:add_cache", names, &object, &shifted, &check,
               gphpy_stream_read, &entry.stream))
        return NULL;
    gphpy_cache *cache = cache_of(object), *other = NULL;
    if (!cache || (shifted != Py_None && !(other = cache_of(shifted))))
        return NULL;
    entry.cache = cache->gph;
    entry.shifted = other ? other->gph : NULL;
    entry.check = check ? 1 : 0;
    if (!gphpy_runtime_use(cache->keeper->runtime) ||
        !gphpy_lock_take(&self->lock, "recipe"))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_recipe_add_cache(self->gph, &entry, &error));
    gphpy_lock_give(&self->lock);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* What create() is called with. */
struct making {
    gphpy_recipe *recipe;
    gph_loaded_options load;
    gphpy_loaded *loaded;
    PyObject *places; /* a copy, whose names stay while other threads run; or NULL */
};

static gph_status create(void *user, gphpy_runtime *runtime,
                         const gph_cache_options *cache, gph_cache **out,
                         gph_error *error)
{
    struct making *const m = user;
    gph_loaded_cache_options options = GPH_SIZED(gph_loaded_cache_options);
    options.cache = cache;
    options.load = &m->load;
    return gph_loaded_create_cache(runtime->gph, m->recipe->gph, &options, out,
                                   &m->loaded->gph, error);
}

/* Takes what is a recipe's out of the keywords; the rest is the cache's. -1 with an exception. */
static int read_own(PyObject *kwargs, struct making *m, gph_recipe_place **places)
{
    static const char *const words[] = {"check", "share"};
    int truths[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        PyObject *value = PyDict_GetItemString(kwargs, words[i]);
        truths[i] = value ? PyObject_IsTrue(value) : 0;
        if (truths[i] < 0 || (value && PyDict_DelItemString(kwargs, words[i]) < 0))
            return -1;
    }
    m->load.flags = gphpy_load_flags(truths[0], truths[1], 0);
    PyObject *dict = PyDict_GetItemString(kwargs, "places");
    if (!dict)
        return 0;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "places is a dict: {range: (address, bytes)}");
        return -1;
    }
    m->places = PyDict_Copy(dict);
    return gphpy_places_read(m->places, &m->load, places) < 0
               ? -1
               : PyDict_DelItemString(kwargs, "places");
}

static PyObject *made(gphpy_runtime *runtime, struct making *m, PyObject *args,
                      PyObject *kwargs)
{
    m->loaded = gphpy_loaded_make(runtime, NULL);
    if (!m->loaded || !gphpy_lock_take(&m->recipe->lock, "recipe"))
        return NULL;
    PyObject *cache = gphpy_cache_made(runtime, args, kwargs, create, m);
    gphpy_lock_give(&m->recipe->lock);
    if (cache)
        ((gphpy_cache *)cache)->loaded = Py_NewRef((PyObject *)m->loaded);
    return cache;
}

PyObject *gphpy_recipe_instantiate_cache(gphpy_recipe *self, PyObject *args,
                                         PyObject *kwargs)
{
    struct making m = {.recipe = self, .load = GPH_LOADED_OPTIONS_INIT};
    gph_recipe_place *places = NULL;
    if (TUPLE_SIZE(args) < 1) {
        PyErr_SetString(PyExc_TypeError, "instantiate_cache() needs a Runtime first");
        return NULL;
    }
    gphpy_runtime *runtime = gphpy_runtime_of(TUPLE_ITEM(args, 0));
    PyObject *rest = runtime ? PyTuple_GetSlice(args, 1, TUPLE_SIZE(args)) : NULL;
    PyObject *own = !rest ? NULL : kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    PyObject *cache = NULL;
    if (own && read_own(own, &m, &places) == 0)
        cache = made(runtime, &m, rest, own);
    free(places);
    Py_XDECREF(m.places);
    Py_XDECREF((PyObject *)m.loaded);
    Py_XDECREF(own);
    Py_XDECREF(rest);
    return cache;
}
