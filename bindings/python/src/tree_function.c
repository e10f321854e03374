// SPDX-License-Identifier: Apache-2.0
/* TreeFunction: a function of a tree; a call of it replays, records or runs. TreeOutput: a name
 * of what such a call made, held once, released with its last reference. */
#include "tree.h"

#include <stddef.h>
#include <stdlib.h>

enum { INPUTS_MAX = 64, OUTPUTS_MAX = 64 };

typedef struct tree_function {
    PyObject_HEAD vectorcallfunc call;
    gph_tree_function *gph; /* lent by the tree */
    gphpy_tree *tree;
    PyObject *name;
    uint32_t input_count, output_count, key_count;
} tree_function;

typedef struct tree_output {
    PyObject_HEAD gphpy_tree *tree;
    gph_tree_output name;
    bool is_released;
} tree_output;

static PyObject *key_word;

/* ---- a call ---- */

static int read_inputs(tree_function *self, PyObject *const *args, gph_tree_input *inputs)
{
    for (uint32_t i = 0; i < self->input_count; i++) {
        inputs[i].take = 0;
        inputs[i].reserved = 0;
        inputs[i].output = (gph_tree_output){0};
        if (Py_TYPE(args[i]) == gphpy_types.tree_output)
            inputs[i].output = ((tree_output *)args[i])->name;
        else if (gphpy_tensor_read(self->tree->runtime, args[i], "input", (Py_ssize_t)i,
                                   &inputs[i].tensor) < 0)
            return -1;
    }
    return 0;
}

static int read_key(tree_function *self, PyObject *names, PyObject *const *values,
                    int64_t *key)
{
    int count = 0;
    if (names && TUPLE_SIZE(names) == 1 &&
        (TUPLE_ITEM(names, 0) == key_word ||
         PyUnicode_Compare(TUPLE_ITEM(names, 0), key_word) == 0))
        count = gphpy_key_read(values[0], key);
    else if (names && TUPLE_SIZE(names) > 0) {
        PyErr_SetString(PyExc_TypeError, "a TreeFunction knows the word key alone");
        count = -1;
    }
    if (count >= 0 && count != (int)self->key_count) {
        gphpy_invalid("the key has %d words, %u were said", count, self->key_count);
        count = -1;
    }
    return count < 0 ? -1 : 0;
}

/* Objects for names that are held already; what has none is released. */
static PyObject *outputs_of(tree_function *self, const gph_tree_output *names)
{
    tree_output *objects[OUTPUTS_MAX];
    uint32_t made = 0;
    for (; made < self->output_count; made++) {
        tree_output *one = PyObject_New(tree_output, gphpy_types.tree_output);
        if (!one)
            break;
        one->tree = (gphpy_tree *)Py_NewRef((PyObject *)self->tree);
        one->name = names[made];
        one->is_released = false;
        objects[made] = one;
    }
    for (uint32_t i = made; i < self->output_count; i++)
        gphpy_tree_release(self->tree, names[i]);
    if (made == 1 && self->output_count == 1)
        return (PyObject *)objects[0];
    PyObject *all = made == self->output_count ? PyTuple_New(made) : NULL;
    for (uint32_t i = 0; i < made; i++)
        if (all)
            TUPLE_SET(all, i, (PyObject *)objects[i]);
        else
            Py_DECREF((PyObject *)objects[i]);
    return all;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags,
                      PyObject *names)
{
    tree_function *const self = (tree_function *)object;
    gph_tree_input inputs[INPUTS_MAX];
    gph_tree_output outputs[OUTPUTS_MAX];
    int64_t key[GPHPY_KEY_MAX];
    gph_error error;
    if (PyVectorcall_NARGS(flags) != (Py_ssize_t)self->input_count) {
        PyErr_Format(PyExc_TypeError, "%U has %u inputs, %zd were given", self->name,
                     (unsigned)self->input_count, PyVectorcall_NARGS(flags));
        return NULL;
    }
    if (((names || self->key_count > 0) &&
         read_key(self, names, args + self->input_count, key) < 0) ||
        read_inputs(self, args, inputs) < 0)
        return NULL;
    if (gphpy_tree_reserve(self->tree, self->output_count) < 0)
        return PyErr_NoMemory();
    gph_status status = GPH_E_STATE;
    const bool is_taken = gphpy_tree_take(self->tree);
    if (is_taken) {
        error.message[0] = '\0';
        WITHOUT_GIL(status, gph_tree_call(self->tree->gph, self->gph, key, inputs,
                                          outputs, &error));
        gphpy_tree_give(self->tree);
    }
    if (status == GPH_OK)
        return gphpy_warn() < 0         ? NULL
               : self->output_count > 0 ? outputs_of(self, outputs)
                                        : Py_NewRef(Py_None);
    gphpy_tree_unreserve(self->tree, self->output_count);
    return gphpy_raise(status, &error, NULL);
}

/* ---- registering ---- */

static int set_bits(PyObject *indices, uint32_t count, uint8_t bit, uint8_t *inputs,
                    const char *what)
{
    PyObject *all = indices ? PySequence_Tuple(indices) : PyTuple_New(0);
    int status = all ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < TUPLE_SIZE(all); i++) {
        const long index = PyLong_AsLong(TUPLE_ITEM(all, i));
        if (index < 0 || index >= (long)count) {
            if (!PyErr_Occurred())
                gphpy_invalid("%s names input %ld, which is not one of the %u", what,
                              index, count);
            status = -1;
        } else {
            inputs[index] |= bit;
        }
    }
    Py_XDECREF(all);
    return status;
}

static int read_options(gph_tree_function_options *options, PyObject **function,
                        PyObject *args, PyObject *kwargs, uint8_t *inputs)
{
    static const char *const names[] = {"function", "inputs", "outputs", "static",
                                        "mutated",  "kind",   "name",    "key_count",
                                        "root",     "eager",  NULL};
    static const char *const kinds[] = {"plain", "forward", "backward", NULL};
    PyObject *fixed = NULL, *mutated = NULL, *kind = NULL;
    int root = 0, eager = 0;
    if (!PARSE(args, kwargs, "O|$IIOOOzIpp:function", names, function,
               &options->input_count, &options->output_count, &fixed, &mutated, &kind,
               &options->name, &options->key_count, &root, &eager))
        return -1;
    if (!PyCallable_Check(*function)) {
        PyErr_SetString(PyExc_TypeError, "a tree's function is a function");
        return -1;
    }
    if (options->input_count > INPUTS_MAX || options->output_count > OUTPUTS_MAX ||
        options->key_count > GPHPY_KEY_MAX) {
        gphpy_invalid(
            "%u inputs, %u outputs and %u words of key: %d, %d and %d are the most",
            options->input_count, options->output_count, options->key_count, INPUTS_MAX,
            OUTPUTS_MAX, GPHPY_KEY_MAX);
        return -1;
    }
    const int word =
        kind ? gphpy_word(kind, kinds, GPH_TREE_PLAIN, "kind") : GPH_TREE_PLAIN;
    options->kind = (uint32_t)word;
    options->flags =
        (root ? GPH_TREE_FUNCTION_ROOT : 0u) | (eager ? GPH_TREE_FUNCTION_EAGER : 0u);
    options->inputs = inputs;
    return word < 0 ||
                   set_bits(fixed, options->input_count, GPH_TREE_INPUT_STATIC, inputs,
                            "static") < 0 ||
                   set_bits(mutated, options->input_count, GPH_TREE_INPUT_MUTATED, inputs,
                            "mutated") < 0
               ? -1
               : 0;
}

static tree_function *make(gphpy_tree *tree, const gph_tree_function_options *options,
                           PyObject *function)
{
    tree_function *self = PyObject_GC_New(tree_function, gphpy_types.tree_function);
    if (!self)
        return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof(*self) - sizeof(PyObject));
    self->call = call;
    self->tree = (gphpy_tree *)Py_NewRef((PyObject *)tree);
    self->input_count = options->input_count;
    self->output_count = options->output_count;
    self->key_count = options->key_count;
    self->name = options->name ? PyUnicode_FromString(options->name)
                               : PyObject_GetAttrString(function, "__name__");
    if (!self->name) {
        PyErr_Clear();
        self->name = PyUnicode_FromString("the function");
    }
    PyObject_GC_Track(self);
    return self;
}

PyObject *gphpy_tree_function_new(gphpy_tree *tree, PyObject *args, PyObject *kwargs)
{
    gph_tree_function_options options = GPH_TREE_FUNCTION_OPTIONS_INIT;
    uint8_t inputs[INPUTS_MAX] = {0};
    PyObject *function = NULL;
    gph_error error = {0};
    if (read_options(&options, &function, args, kwargs, inputs) < 0 ||
        !gphpy_tree_take(tree))
        return NULL;
    gph_status status = GPH_OK;
    gphpy_keeper *keeper = gphpy_keeper_new(tree->runtime, function);
    tree_function *self = keeper ? make(tree, &options, function) : NULL;
    /* Kept before it is registered: the tree never forgets a function. */
    bool is_made =
        self && self->name && PyList_Append(tree->functions, (PyObject *)keeper) == 0;
    if (is_made && !options.name)
        options.name = PyUnicode_AsUTF8AndSize(self->name, NULL);
    if (is_made) {
        status = gph_tree_function_add(tree->gph, gphpy_function_call, keeper, &options,
                                       &self->gph, &error);
        is_made = status == GPH_OK;
    }
    gphpy_tree_give(tree);
    Py_XDECREF((PyObject *)keeper);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    if (!is_made)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* Many are members of what their functions are methods of. */
static int function_visit(tree_function *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT((PyObject *)self->tree);
    return 0;
}

static void function_destroy(tree_function *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->name);
    Py_DECREF((PyObject *)self->tree);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- outputs ---- */

static bool output_get(tree_output *self, gph_tensor *view)
{
    gph_error error = {0};
    if (!gphpy_tree_take(self->tree))
        return false;
    const gph_status status =
        gph_tree_output_tensor(self->tree->gph, self->name, view, &error);
    gphpy_tree_give(self->tree);
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    return status == GPH_OK;
}

static PyObject *tensor(tree_output *self, PyObject *unused)
{
    (void)unused;
    gph_tensor view;
    return output_get(self, &view)
               ? gphpy_tensor_new(self->tree->runtime, &view, (PyObject *)self)
               : NULL;
}

static PyObject *dlpack(tree_output *self, PyObject *args, PyObject *kwargs)
{
    PyObject *view = tensor(self, NULL);
    PyObject *method = view ? PyObject_GetAttrString(view, "__dlpack__") : NULL;
    PyObject *capsule = method ? PyObject_Call(method, args, kwargs) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(view);
    return capsule;
}

static PyObject *dlpack_device(tree_output *self, PyObject *unused)
{
    (void)unused;
    const gphpy_runtime *runtime = self->tree->runtime;
    const bool is_soft = runtime->is_soft;
    return Py_BuildValue("(ii)", is_soft ? 1 : 2,
                         is_soft || runtime->device < 0 ? 0 : runtime->device);
}

static PyObject *copy_to(tree_output *self, PyObject *object)
{
    gph_tensor to;
    gph_error error = {0};
    if (gphpy_tensor_read(self->tree->runtime, object, "tensor", 0, &to) < 0 ||
        !gphpy_tree_take(self->tree))
        return NULL;
    const gph_status status = gph_tree_output_copy(self->tree->gph, self->name, to.data,
                                                   gph_tensor_bytes(&to), &error);
    gphpy_tree_give(self->tree);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *release(tree_output *self, PyObject *unused)
{
    (void)unused;
    if (!self->is_released)
        gphpy_tree_release(self->tree, self->name);
    self->is_released = true;
    return Py_NewRef(Py_None);
}

static void output_destroy(tree_output *self)
{
    if (!self->is_released)
        gphpy_tree_release(self->tree, self->name);
    Py_DECREF((PyObject *)self->tree);
    gphpy_free(self);
}

static PyObject *get_name(tree_function *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->name);
}

static PyObject *get_address(tree_function *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- the types ---- */

static PyGetSetDef function_members[] = {
    GETTER("name", get_name, "As the tree's text has it."),
    GETTER("address", get_address, "The address of the gph_tree_function, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(tree_function, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_tree_function_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A function of a Tree: Tree.function().\n\n"
                            "    y = forward(x, weight, key=(1,))\n\n"
                            "replays, records or runs it; Tree.event says which, and "
                            "why. Inputs are\n"
                            "tensors, or outputs of the tree's calls. It returns None, a "
                            "TreeOutput,\n"
                            "or a tuple of them."},
        {Py_tp_dealloc, (void *)function_destroy},
        {Py_tp_traverse, (void *)function_visit},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_getset, function_members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.TreeFunction", sizeof(tree_function), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    key_word = PyUnicode_InternFromString("key");
    return key_word ? gphpy_type_add(module, &spec, &gphpy_types.tree_function) : -1;
}

static PyMethodDef output_methods[] = {
    METHOD0("tensor", tensor,
            "tensor($self)\n--\n\nWhere it lies. Raises StateError if it was "
            "overwritten, with the call\n"
            "that did and the one that had made it, or released."),
    METHOD0("release", release,
            "release($self)\n--\n\nLets go of it: its memory is for later calls. The "
            "last reference does\n"
            "so, too."),
    METHOD1("copy_to", copy_to,
            "copy_to($self, tensor, /)\n--\n\nCopies it to where it outlives the step, "
            "in the tree's\n"
            "stream."),
    METHOD("__dlpack__", dlpack,
           "__dlpack__($self, **kwargs)\n--\n\nAs tensor().__dlpack__()."),
    METHOD0("__dlpack_device__", dlpack_device,
            "__dlpack_device__($self)\n--\n\nAs Tensor has it."),
    {NULL, NULL, 0, NULL},
};

int gphpy_tree_output_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"An output of a tree's call. It lies in the tree's pool and is lent: "
                 "until\n"
                 "it is released, or the next path begins and writes over it."},
        {Py_tp_dealloc, (void *)output_destroy},
        {Py_tp_methods, output_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.TreeOutput", sizeof(tree_output), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.tree_output);
}
