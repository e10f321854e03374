// SPDX-License-Identifier: Apache-2.0
/* Rng: the state of a Philox generator, for functions that are recorded. */
#include "gphpy.h"

typedef struct rng {
    PyObject_HEAD gph_rng *gph;
    gphpy_runtime *runtime;
} rng;

PyObject *gphpy_rng_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"seed", NULL};
    unsigned long long seed = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|K:rng", names, &seed) || !gphpy_runtime_use(runtime))
        return NULL;
    rng *self = gphpy_new(gphpy_types.rng, sizeof(*self));
    if (!self)
        return NULL;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    gph_status status;
    WITHOUT_GIL(status, gph_rng_create(runtime->gph, seed, &self->gph, &error));
    if (status == GPH_OK)
        return (PyObject *)self;
    Py_DECREF((PyObject *)self);
    return gphpy_raise(status, &error, NULL);
}

int gphpy_rng_bind(PyObject *object, gph_rng **out)
{
    if (object && object != Py_None && Py_TYPE(object) != gphpy_types.rng) {
        PyErr_Format(PyExc_TypeError, "rng is %R, not an Rng",
                     (PyObject *)Py_TYPE(object));
        return -1;
    }
    *out = object && object != Py_None ? ((rng *)object)->gph : NULL;
    return 0;
}

static void destroy(rng *self)
{
    gph_rng_destroy(self->gph);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

static PyObject *get_state(rng *self, void *unused)
{
    (void)unused;
    const gph_rng_state state = gph_rng_state_get(self->gph);
    return Py_BuildValue("(KK)", (unsigned long long)state.seed,
                         (unsigned long long)state.offset);
}

static int set_state(rng *self, PyObject *value, void *unused)
{
    (void)unused;
    unsigned long long seed = 0, offset = 0;
    if (!value || !PyTuple_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "a state is (seed, offset)");
        return -1;
    }
    if (!PyArg_ParseTuple(value, "KK;a state is (seed, offset)", &seed, &offset))
        return -1;
    gph_rng_state_set(self->gph, (gph_rng_state){seed, offset});
    return 0;
}

static PyObject *take(rng *self, PyObject *count)
{
    const unsigned long long more = PyLong_AsUnsignedLongLong(count);
    if (PyErr_Occurred())
        return NULL;
    const gph_rng_state state = gph_rng_take(self->gph, more);
    return Py_BuildValue("(KK)", (unsigned long long)state.seed,
                         (unsigned long long)state.offset);
}

static PyMethodDef methods[] = {
    METHOD1("take", take,
            "take($self, count, /)\n--\n\nReserves so many offsets for eager work and "
            "returns the\n"
            "state it begins with, (seed, offset)."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    {"state", (getter)get_state, (setter)set_state,
     "(seed, offset): where the next replay or eager call begins. It may be set; what is "
     "queued\n"
     "keeps its own.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_rng_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A generator, Runtime.rng(): a replay finds in device memory what an\n"
                 "eager call would have found."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Rng", sizeof(rng), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.rng);
}
