// SPDX-License-Identifier: Apache-2.0
/* Graph: a graph as data, to look at, to keep in a file, to draw and to compare. Diff: what
 * differs between two. Neither needs a driver. */
#include "gphpy.h"

#include <stdio.h>

typedef struct diff {
    PyObject_HEAD gph_diff *gph;
} diff;

PyObject *gphpy_graph_new(gph_graph *taken)
{
    gphpy_graph *self = gphpy_new(gphpy_types.graph, sizeof(*self));
    if (self)
        self->gph = taken;
    else
        gph_graph_destroy(taken);
    return (PyObject *)self;
}

static void destroy(gphpy_graph *self)
{
    gph_graph_destroy(self->gph);
    gphpy_free(self);
}

/* ---- nodes and edges ---- */

/* Takes `value`. */
static int put(PyObject *dict, const char *key, PyObject *value)
{
    const int result = value ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return result;
}

static PyObject *three(const uint32_t size[3])
{
    return Py_BuildValue("(III)", size[0], size[1], size[2]);
}

static int put_kernel(PyObject *node, const gph_kernel_params *kernel)
{
    if (kernel->function &&
        put(node, "function", PyUnicode_FromString(kernel->function)) < 0)
        return -1;
    PyObject *args = PyList_New(0);
    for (uint32_t i = 0; args && i < kernel->arg_count; i++) {
        const gph_kernel_arg *arg = &kernel->args[i];
        PyObject *bytes = PyBytes_FromStringAndSize(
            (const char *)kernel->buffer + arg->offset, (Py_ssize_t)arg->bytes);
        if (!bytes || PyList_Append(args, bytes) < 0)
            Py_CLEAR(args);
        Py_XDECREF(bytes);
    }
    return put(node, "grid", three(kernel->grid)) < 0 ||
                   put(node, "block", three(kernel->block)) < 0 ||
                   put(node, "shared_bytes",
                       PyLong_FromUnsignedLong(kernel->shared_bytes)) < 0 ||
                   put(node, "args", args) < 0
               ? -1
               : 0;
}

static int put_memcpy(PyObject *node, const gph_memcpy_params *copy)
{
    return put(node, "dst", PyLong_FromUnsignedLongLong(copy->dst.address)) < 0 ||
                   put(node, "src", PyLong_FromUnsignedLongLong(copy->src.address)) < 0 ||
                   put(node, "width_bytes",
                       PyLong_FromUnsignedLongLong(copy->width_bytes)) < 0 ||
                   put(node, "height", PyLong_FromUnsignedLongLong(copy->height)) < 0 ||
                   put(node, "depth", PyLong_FromUnsignedLongLong(copy->depth)) < 0
               ? -1
               : 0;
}

static int put_memset(PyObject *node, const gph_memset_params *fill)
{
    return put(node, "address", PyLong_FromUnsignedLongLong(fill->address)) < 0 ||
                   put(node, "value", PyLong_FromUnsignedLong(fill->value)) < 0 ||
                   put(node, "element_bytes",
                       PyLong_FromUnsignedLong(fill->element_bytes)) < 0 ||
                   put(node, "width", PyLong_FromUnsignedLongLong(fill->width)) < 0 ||
                   put(node, "height", PyLong_FromUnsignedLongLong(fill->height)) < 0
               ? -1
               : 0;
}

static PyObject *node_of(const gph_node *node)
{
    PyObject *dict = PyDict_New();
    int status =
        dict ? put(dict, "kind", PyUnicode_FromString(gph_node_kind_name(node->kind)))
             : -1;
    if (status == 0)
        status = put(dict, "name",
                     node->name ? PyUnicode_FromString(node->name) : Py_NewRef(Py_None));
    if (status == 0 && node->kind == GPH_NODE_KERNEL)
        status = put_kernel(dict, &node->u.kernel);
    if (status == 0 && node->kind == GPH_NODE_MEMCPY)
        status = put_memcpy(dict, &node->u.memcpy);
    if (status == 0 && node->kind == GPH_NODE_MEMSET)
        status = put_memset(dict, &node->u.memset);
    if (status == 0 &&
        (node->kind == GPH_NODE_MEM_ALLOC || node->kind == GPH_NODE_MEM_FREE))
        status =
            put(dict, "address", PyLong_FromUnsignedLongLong(node->u.memory.address));
    if (status < 0)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *get_nodes(gphpy_graph *self, void *unused)
{
    (void)unused;
    const uint32_t count = gph_graph_node_count(self->gph);
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *node = node_of(gph_graph_node(self->gph, i));
        if (!node)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, i, node);
    }
    return list;
}

static PyObject *get_edges(gphpy_graph *self, void *unused)
{
    (void)unused;
    const size_t count = gph_graph_edge_count(self->gph);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const gph_edge *edge = gph_graph_edge(self->gph, i);
        PyObject *pair = Py_BuildValue("(II)", edge->from, edge->to);
        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, pair);
    }
    return list;
}

static Py_ssize_t length(gphpy_graph *self)
{
    return (Py_ssize_t)gph_graph_node_count(self->gph);
}

/* ---- text and files ---- */

static PyObject *json(gphpy_graph *self, PyObject *unused)
{
    (void)unused;
    gphpy_text text = {0};
    gph_error error = {0};
    const gph_status status =
        gph_json_write(self->gph, NULL, gphpy_text_write, &text, &error);
    return gphpy_text_end(&text, status, &error);
}

static PyObject *dot(gphpy_graph *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"verbose", NULL};
    gph_file_options options = GPH_FILE_OPTIONS_INIT;
    int verbose = 0;
    gphpy_text text = {0};
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|p:dot", names, &verbose))
        return NULL;
    options.verbose = (uint32_t)verbose;
    const gph_status status =
        gph_dot_write(self->gph, &options, gphpy_text_write, &text, &error);
    return gphpy_text_end(&text, status, &error);
}

static PyObject *save(gphpy_graph *self, PyObject *args)
{
    PyObject *path = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "O&:save", PyUnicode_FSConverter, &path))
        return NULL;
    gph_status status;
    const char *name = PyBytes_AsString(path);
    WITHOUT_GIL(status, gph_json_save(self->gph, NULL, name, &error));
    Py_DECREF(path);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *load(PyObject *type, PyObject *args)
{
    (void)type;
    PyObject *path = NULL;
    gph_graph *graph = NULL;
    gph_error error = {0};
    if (!PyArg_ParseTuple(args, "O&:load", PyUnicode_FSConverter, &path))
        return NULL;
    gph_status status;
    const char *name = PyBytes_AsString(path);
    WITHOUT_GIL(status, gph_json_load(name, NULL, &graph, &error));
    Py_DECREF(path);
    return status == GPH_OK ? gphpy_graph_new(graph) : gphpy_raise(status, &error, NULL);
}

/* ---- two graphs ---- */

static PyObject *check(gphpy_graph *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    const gph_status status = gph_graph_check(self->gph, &error);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *signature(gphpy_graph *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"kernels", NULL};
    int kernels = 0;
    gph_signature bits = {{0}};
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|p:signature", names, &kernels))
        return NULL;
    const gph_status status = gph_graph_signature(
        self->gph, kernels ? GPH_SIGNATURE_KERNELS : 0, &bits, &error);
    char text[33];
    snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)bits.bits[1],
             (unsigned long long)bits.bits[0]);
    return status == GPH_OK ? PyUnicode_FromString(text)
                            : gphpy_raise(status, &error, NULL);
}

static PyObject *compare(gphpy_graph *self, PyObject *object)
{
    gph_error error = {0};
    if (Py_TYPE(object) != gphpy_types.graph) {
        PyErr_SetString(PyExc_TypeError, "a Graph is compared with a Graph");
        return NULL;
    }
    diff *result = gphpy_new(gphpy_types.diff, sizeof(*result));
    if (!result)
        return NULL;
    const gph_status status =
        gph_graph_diff(self->gph, ((gphpy_graph *)object)->gph, &result->gph, &error);
    if (status == GPH_OK)
        return (PyObject *)result;
    Py_DECREF((PyObject *)result);
    return gphpy_raise(status, &error, NULL);
}

/* ---- Diff ---- */

static void diff_destroy(diff *self)
{
    gph_diff_destroy(self->gph);
    gphpy_free(self);
}

static Py_ssize_t diff_length(diff *self)
{
    return (Py_ssize_t)gph_diff_count(self->gph);
}

static PyObject *diff_item(diff *self, Py_ssize_t index)
{
    static const char *const kinds[] = {
        "?", "field", "node removed", "node added", "edge removed", "edge added", "edge"};
    const gph_change *change = index < 0 ? NULL : gph_diff_at(self->gph, (size_t)index);
    if (!change) {
        PyErr_SetString(PyExc_IndexError, "the index is beyond the last difference");
        return NULL;
    }
    gphpy_text text = {0};
    const gph_status status = gph_change_write(change, gphpy_text_write, &text, NULL);
    PyObject *line = gphpy_text_end(&text, status, NULL);
    return line ? Py_BuildValue("{ss sz sz sz sz ss sN}", "kind", kinds[change->kind % 7],
                                "node", change->node, "field", change->field, "before",
                                change->before, "after", change->after, "path",
                                change->path, "text", line)
                : NULL;
}

static PyObject *diff_text(diff *self)
{
    gphpy_text text = {0};
    gph_error error = {0};
    gph_status status = GPH_OK;
    for (size_t i = 0; i < gph_diff_count(self->gph) && status == GPH_OK; i++) {
        if (i > 0)
            status = gphpy_text_write(&text, "\n", 1);
        if (status == GPH_OK)
            status = gph_change_write(gph_diff_at(self->gph, i), gphpy_text_write, &text,
                                      &error);
    }
    return gphpy_text_end(&text, status, &error);
}

static PyObject *diff_topology(diff *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(gph_diff_is_topology(self->gph));
}

/* ---- the types ---- */

static PyMethodDef methods[] = {
    METHOD0("json", json,
            "json($self)\n--\n\nThe graph as gph-graph(5), JSON: the same graph gives "
            "the same text."),
    METHOD("dot", dot,
           "dot($self, verbose=False)\n--\n\nThe graph in Graphviz's language; verbose: "
           "with all\n"
           "parameters."),
    {"save", (PyCFunction)save, METH_VARARGS,
     "save($self, path, /)\n--\n\nWrites json() into a file, whole or not at all."},
    {"load", (PyCFunction)load, METH_VARARGS | METH_STATIC,
     "load(path, /)\n--\n\nReads a graph that save() wrote. Raises FormatError."},
    METHOD0(
        "check", check,
        "check($self)\n--\n\nRaises InvalidError if it has a cycle, or an edge twice."),
    METHOD("signature", signature,
           "signature($self, kernels=False)\n--\n\n"
           "128 bits, as text, that graphs have in common which can take turns in one "
           "executable;\n"
           "kernels: also the same kernels, blocks and shared memory."),
    METHOD1("diff", compare,
            "diff($self, other, /)\n--\n\nWhat differs from another Graph: a Diff."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("nodes", get_nodes,
           "The nodes in the driver's order, a dict each: kind, name, and the parameters "
           "of\n"
           "kernels (function, grid, block, shared_bytes, args as bytes), copies and "
           "fills."),
    GETTER("edges", get_edges, "Pairs of indices: the second starts after the first."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_graph_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A graph as data: Recording.describe() or Graph.load(). Any thread."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_sq_length, (void *)length},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Graph", sizeof(gphpy_graph), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.graph);
}

static PyGetSetDef diff_members[] = {
    GETTER("is_topology", diff_topology,
           "Whether nodes or edges differ, not only fields."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_diff_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"What differs between two graphs: a sequence of dicts (kind, node,\n"
                 "field, before, after, path, text). str() has a line for each."},
        {Py_tp_dealloc, (void *)diff_destroy},
        {Py_sq_length, (void *)diff_length},
        {Py_sq_item, (void *)diff_item},
        {Py_tp_str, (void *)diff_text},
        {Py_tp_getset, diff_members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Diff", sizeof(diff), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.diff);
}
