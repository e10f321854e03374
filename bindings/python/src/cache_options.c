// SPDX-License-Identifier: Apache-2.0
/* What a cache is made with: axes and tensors, from dicts and tuples. */
#include "cache.h"

#include <stdlib.h>

/* A member of a dict, borrowed; NULL without exception: it has none. */
static PyObject *member(PyObject *dict, const char *name)
{
    return PyDict_GetItemString(dict, name);
}

static int64_t *read_values(PyObject *object, uint32_t *count)
{
    PyObject *all = PySequence_Tuple(object);
    if (!all)
        return NULL;
    *count = (uint32_t)TUPLE_SIZE(all);
    int64_t *values = calloc(*count + 1, sizeof(*values));
    if (!values)
        PyErr_NoMemory();
    for (uint32_t i = 0; values && i < *count; i++) {
        values[i] = PyLong_AsLongLong(TUPLE_ITEM(all, i));
        if (values[i] == -1 && PyErr_Occurred()) {
            free(values);
            values = NULL;
        }
    }
    Py_DECREF(all);
    return values;
}

static int read_planned(gphpy_cache_given *g, int index, PyObject *histogram)
{
    gph_cache_axis *axis = &g->axis[index];
    axis->ladder = GPH_LADDER_PLANNED;
    if (!PyDict_Check(histogram)) {
        PyErr_SetString(PyExc_TypeError, "planned is a dict: {size: how often}");
        return -1;
    }
    PyObject *counts = PyDict_Values(histogram), *sizes = PyDict_Keys(histogram);
    uint32_t count = 0;
    if (counts && sizes) {
        g->values[index] = read_values(sizes, &axis->value_count);
        g->counts[index] = (uint64_t *)read_values(counts, &count);
    }
    Py_XDECREF(counts);
    Py_XDECREF(sizes);
    axis->values = g->values[index];
    axis->counts = g->counts[index];
    return axis->values && axis->counts ? 0 : -1;
}

static int read_ladder(gphpy_cache_given *g, int index, PyObject *dict)
{
    gph_cache_axis *axis = &g->axis[index];
    PyObject *values = member(dict, "values"), *powers = member(dict, "powers");
    PyObject *linear = member(dict, "linear"), *planned = member(dict, "planned");
    long long first = 0, last = 0, step = 0;
    if (!!values + !!powers + !!linear + !!planned != 1) {
        gphpy_invalid("axis %d has not just one of values, powers, linear, planned",
                      index);
        return -1;
    }
    if (planned)
        return read_planned(g, index, planned);
    if (values) {
        axis->ladder = GPH_LADDER_LIST;
        axis->values = g->values[index] = read_values(values, &axis->value_count);
        return axis->values ? 0 : -1;
    }
    axis->ladder = powers ? GPH_LADDER_POWERS : GPH_LADDER_LINEAR;
    if (powers ? !PyArg_Parse(powers, "(LL);powers is (first, last)", &first, &last)
               : !PyArg_Parse(linear, "(LLL);linear is (first, last, step)", &first,
                              &last, &step))
        return -1;
    axis->first = first;
    axis->last = last;
    axis->step = step;
    return 0;
}

static int read_number(PyObject *dict, const char *name, double *out)
{
    PyObject *value = member(dict, name);
    if (value)
        *out = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_axes(gphpy_cache_given *g)
{
    PyObject *all = PySequence_Tuple(g->axes);
    int status = all ? 0 : -1;
    if (all && (TUPLE_SIZE(all) < 1 || TUPLE_SIZE(all) > GPH_CACHE_AXES_MAX)) {
        gphpy_invalid("there are %zd axes, not 1 to %d", TUPLE_SIZE(all),
                      GPH_CACHE_AXES_MAX);
        status = -1;
    }
    for (int i = 0; status == 0 && i < (int)TUPLE_SIZE(all); i++) {
        PyObject *given = TUPLE_ITEM(all, i);
        PyObject *dict = g->dict[i] = PyDict_Check(given) ? PyDict_Copy(given) : NULL;
        gph_cache_axis *axis = &g->axis[i];
        double rungs = 0;
        if (!dict || !member(dict, "name")) {
            PyErr_SetString(PyExc_TypeError, "an axis is a dict with a name");
            status = -1;
            break;
        }
        axis->name = PyUnicode_AsUTF8AndSize(member(dict, "name"), NULL);
        PyObject *discrete = member(dict, "discrete");
        axis->discrete = discrete && PyObject_IsTrue(discrete) == 1;
        status = !axis->name || read_ladder(g, i, dict) < 0 ||
                         read_number(dict, "rungs_max", &rungs) < 0 ||
                         read_number(dict, "fixed_cost", &axis->fixed_cost) < 0 ||
                         read_number(dict, "unit_cost", &axis->unit_cost) < 0 ||
                         read_number(dict, "bucket_cost", &axis->bucket_cost) < 0
                     ? -1
                     : 0;
        axis->rungs_max = (uint32_t)rungs;
        g->options.axis_count++;
    }
    Py_XDECREF(all);
    return status;
}

/* ---- tensors ---- */

static int axis_of(const gphpy_cache_given *g, PyObject *name)
{
    for (uint32_t i = 0; PyUnicode_Check(name) && i < g->options.axis_count; i++)
        if (PyUnicode_CompareWithASCIIString(name, g->axis[i].name) == 0)
            return (int)i;
    PyObject *text = PyObject_Str(name);
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (utf8)
        gphpy_invalid("a dimension is of axis %.100s, and there is none of that name",
                      utf8);
    Py_XDECREF(text);
    return -1;
}

static int read_dimension(const gphpy_cache_given *g, PyObject *one,
                          gph_cache_tensor *out, uint32_t d)
{
    PyObject *name = one;
    long long units = 1;
    int extra = 0;
    if (PyLong_Check(one)) {
        out->shape[d] = PyLong_AsLongLong(one);
        return out->shape[d] == -1 && PyErr_Occurred() ? -1 : 0;
    }
    if (PyTuple_Check(one) &&
        !PyArg_ParseTuple(one,
                          "OL|i;a dimension is (axis, elements a unit, elements more)",
                          &name, &units, &extra))
        return -1;
    const int axis = axis_of(g, name);
    if (axis < 0)
        return -1;
    out->axis[d] = (uint8_t)(axis + 1);
    out->shape[d] = units;
    out->extra[d] = extra;
    return 0;
}

static int read_fill(PyObject *fill, gph_cache_tensor *out)
{
    static const char *const words[] = {"keep", "zero", "value", "last", NULL};
    if (PyUnicode_Check(fill)) {
        const int word = gphpy_word(fill, words, GPH_FILL_KEEP, "fill");
        out->fill = (uint32_t)word;
        return word < 0 ? -1 : 0;
    }
    out->fill = GPH_FILL_VALUE;
    if (PyFloat_Check(fill)) {
        const double value = PyFloat_AsDouble(fill);
        const float single = (float)value;
        if (out->dtype == GPH_DTYPE_F32)
            memcpy(&out->value, &single, sizeof(single));
        else if (out->dtype == GPH_DTYPE_F64)
            memcpy(&out->value, &value, sizeof(value));
        else {
            gphpy_invalid("a fill by a float is of f32 and f64; give the bits as an int");
            return -1;
        }
        return 0;
    }
    const long long bits = PyLong_AsLongLong(fill);
    if (bits == -1 && PyErr_Occurred())
        return -1;
    const uint32_t bytes = gphpy_dtype_bytes(out->dtype);
    out->value =
        bytes >= 8 ? (uint64_t)bits : (uint64_t)bits & (((uint64_t)1 << 8 * bytes) - 1);
    return 0;
}

static int read_tensor(const gphpy_cache_given *g, PyObject *object,
                       gph_cache_tensor *out)
{
    PyObject *word = NULL, *shape = NULL, *fill = NULL;
    gph_dtype dtype = GPH_DTYPE_F32;
    if (!PyTuple_Check(object) ||
        !PyArg_ParseTuple(object, "OO|O;a tensor is (dtype, shape, fill)", &word, &shape,
                          &fill)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError,
                            "a tensor is (dtype, shape) or (dtype, shape, fill)");
        return -1;
    }
    PyObject *all = gphpy_dtype_read(word, &dtype) ? PySequence_Tuple(shape) : NULL;
    int status = all ? 0 : -1;
    out->dtype = dtype;
    if (all && TUPLE_SIZE(all) > GPH_TENSOR_RANK_MAX) {
        gphpy_invalid("a shape has %zd dimensions, %d are the most", TUPLE_SIZE(all),
                      GPH_TENSOR_RANK_MAX);
        status = -1;
    }
    out->rank = all ? (uint32_t)TUPLE_SIZE(all) : 0;
    for (uint32_t d = 0; status == 0 && d < out->rank; d++)
        status = read_dimension(g, TUPLE_ITEM(all, d), out, d);
    Py_XDECREF(all);
    return status == 0 && fill ? read_fill(fill, out) : status;
}

static int read_tensors(const gphpy_cache_given *g, PyObject *object,
                        gph_cache_tensor *out, uint32_t *count)
{
    PyObject *all = object ? PySequence_Tuple(object) : PyTuple_New(0);
    int status = all ? 0 : -1;
    if (all && TUPLE_SIZE(all) > GPHPY_CACHE_TENSORS) {
        gphpy_invalid("there are %zd tensors, %d are the most", TUPLE_SIZE(all),
                      GPHPY_CACHE_TENSORS);
        status = -1;
    }
    for (Py_ssize_t i = 0; status == 0 && i < TUPLE_SIZE(all); i++)
        status = read_tensor(g, TUPLE_ITEM(all, i), &out[i]);
    *count = all ? (uint32_t)TUPLE_SIZE(all) : 0;
    Py_XDECREF(all);
    return status;
}

/* ---- all of it ---- */

int gphpy_cache_read(gphpy_cache_given *g, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {
        "function",     "axes", "inputs",      "outputs", "pool",      "name",
        "warmup",       "lazy", "lazy_misses", "own_max", "hot_share", "overshoot_max",
        "budget_bytes", "rng",  "wanted",      NULL};
    static const char *const lazies[] = {"work", "call", "off", NULL};
    unsigned long long budget = 0;
    gph_cache_options *o = &g->options;
    *o = (gph_cache_options)GPH_CACHE_OPTIONS_INIT;
    if (!PARSE(args, kwargs, "OO|$OOOzIOIIddKOO:cache", names, &g->function, &g->axes,
               &g->inputs, &g->outputs, &g->pool, &o->name, &o->warmup, &g->lazy,
               &o->lazy_misses, &o->own_max, &o->hot_share, &o->overshoot_max, &budget,
               &g->rng, &g->wanted))
        return -1;
    if (!PyCallable_Check(g->function)) {
        PyErr_SetString(PyExc_TypeError, "a cache's function is a function");
        return -1;
    }
    const int lazy =
        g->lazy ? gphpy_word(g->lazy, lazies, GPH_CACHE_LAZY_WORK, "lazy") : 0;
    o->lazy = (uint32_t)lazy;
    o->budget_bytes = budget;
    o->axes = g->axis;
    o->inputs = g->input;
    o->outputs = g->output;
    o->axis_bytes = sizeof(gph_cache_axis);
    o->tensor_bytes = sizeof(gph_cache_tensor);
    return lazy < 0 || gphpy_rng_bind(g->rng, &o->rng) < 0 || read_axes(g) < 0 ||
                   read_tensors(g, g->inputs, g->input, &o->input_count) < 0 ||
                   read_tensors(g, g->outputs, g->output, &o->output_count) < 0
               ? -1
               : 0;
}

void gphpy_cache_free(gphpy_cache_given *g)
{
    for (int i = 0; i < GPH_CACHE_AXES_MAX; i++) {
        Py_XDECREF(g->dict[i]);
        free(g->values[i]);
        free(g->counts[i]);
    }
}
