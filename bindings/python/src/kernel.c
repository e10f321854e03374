// SPDX-License-Identifier: Apache-2.0
/* Module and Kernel: work of the program's own, for programs that have no other client of CUDA. */
#include "gphpy.h"

#include <stdlib.h>

typedef struct module {
    PyObject_HEAD gph_module *gph;
    gphpy_runtime *runtime;
    _Atomic(gphpy_held *) held; /* NULL until a kernel is captured */
} module;

enum { PARAMS_MAX = 64, PARAM_BYTES_MAX = 4096 };

typedef struct kernel {
    PyObject_HEAD CUfunction function;
    module *owner;
    PyObject *name;
    uint32_t param_count;
    uint32_t param_offset[PARAMS_MAX], param_bytes[PARAMS_MAX];
} kernel;

PyObject *gphpy_module_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"", NULL};
    Py_buffer image;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "s*:module", names, &image))
        return NULL;
    module *self =
        gphpy_runtime_use(runtime) ? gphpy_new(gphpy_types.module, sizeof(*self)) : NULL;
    gph_status status = GPH_OK;
    if (self) {
        self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
        WITHOUT_GIL(status, gph_module_load(runtime->gph, image.buf, (size_t)image.len,
                                            &self->gph, &error));
    }
    PyBuffer_Release(&image);
    if (status != GPH_OK) {
        gphpy_raise(status, &error, NULL);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* ---- modules that graphs need ---- */

/* A graph has its kernels by handles, which are nothing when it is made executable after its
 * modules are gone. Whoever has the graph last is not known here, it may be any library: so a module
 * stays as long as the runtime, once for all its Modules. */
static bool hold_where_captured(module *self, CUstream stream)
{
    if (atomic_load(&self->held) || !gphpy_stream_is_capturing(self->runtime, stream))
        return true;
    gphpy_held *held = malloc(sizeof(*held)), *none = NULL;
    if (!held) {
        PyErr_NoMemory();
        return false;
    }
    *held = (gphpy_held){.gph = self->gph};
    if (!atomic_compare_exchange_strong(&self->held, &none, held))
        free(held); /* another thread was first */
    return true;
}

static bool is_held(gphpy_runtime *runtime, const gph_module *gph)
{
    const gphpy_held *at = atomic_load(&runtime->held);
    while (at && at->gph != gph)
        at = at->next;
    return at != NULL;
}

/* What a Module had, at its end. */
static void give_to_runtime(gphpy_runtime *runtime, gphpy_held *held)
{
    held->next = atomic_load(&runtime->held);
    while (!atomic_compare_exchange_weak(&runtime->held, &held->next, held))
        ;
}

void gphpy_modules_unload(gphpy_runtime *runtime)
{
    gphpy_held *at = atomic_load(&runtime->held);
    while (at) {
        gphpy_held *next = at->next;
        gph_module_unload(at->gph);
        free(at);
        at = next;
    }
}

static void module_destroy(module *self)
{
    gphpy_held *held = atomic_load(&self->held);
    if (held && !is_held(self->runtime, self->gph))
        give_to_runtime(self->runtime, held);
    else {
        gph_module_unload(self->gph);
        free(held);
    }
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

/* cuFuncGetParamInfo, which gph_cuda_calls lacks: where each argument lies, and its bytes. */
typedef gph_status param_info_fn(CUfunction, size_t index, size_t *offset, size_t *bytes);

static gph_status read_params(kernel *self, gph_error *error)
{
    gph_cuda_fn found = NULL;
    gph_status status =
        gph_cuda_find(self->owner->runtime->gph, "cuFuncGetParamInfo", &found, error);
    if (status != GPH_OK)
        return status;
    param_info_fn *const info = (param_info_fn *)found;
    size_t offset = 0, bytes = 0;
    while (self->param_count < PARAMS_MAX &&
           info(self->function, self->param_count, &offset, &bytes) == GPH_OK) {
        self->param_offset[self->param_count] = (uint32_t)offset;
        self->param_bytes[self->param_count++] = (uint32_t)bytes;
    }
    return GPH_OK;
}

static PyObject *function(module *self, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    gph_error error = {0};
    kernel *k = text ? gphpy_new(gphpy_types.kernel, sizeof(*k)) : NULL;
    if (!k)
        return NULL;
    k->owner = (module *)Py_NewRef((PyObject *)self);
    k->name = Py_NewRef(name);
    gph_status status = gph_module_function(self->gph, text, &k->function, &error);
    if (status == GPH_OK)
        status = read_params(k, &error);
    if (status != GPH_OK) {
        gphpy_raise(status, &error, NULL);
        Py_CLEAR(k);
    }
    return (PyObject *)k;
}

/* ---- launches ---- */

static int read_size(PyObject *object, uint32_t size[3], const char *what)
{
    size[0] = size[1] = size[2] = 1;
    if (PyLong_Check(object)) {
        size[0] = (uint32_t)PyLong_AsUnsignedLong(object);
        return PyErr_Occurred() ? -1 : 0;
    }
    PyObject *all = PySequence_Tuple(object);
    if (!all)
        return -1;
    const Py_ssize_t count = TUPLE_SIZE(all);
    if (count < 1 || count > 3)
        gphpy_invalid("%s has %zd dimensions, not 1 to 3", what, count);
    for (Py_ssize_t i = 0; i < count && i < 3 && !PyErr_Occurred(); i++)
        size[i] = (uint32_t)PyLong_AsUnsignedLong(TUPLE_ITEM(all, i));
    Py_DECREF(all);
    return PyErr_Occurred() ? -1 : 0;
}

static int put_int(PyObject *object, uint32_t bytes, unsigned char *out, Py_ssize_t index)
{
    long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) { /* beyond 2^63, an address say */
        PyErr_Clear();
        value = (long long)PyLong_AsUnsignedLongLong(object);
        if (PyErr_Occurred())
            return -1;
    }
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
        gphpy_invalid("argument %zd has %u bytes, which no int has", index, bytes);
        return -1;
    }
    memcpy(out, &value, bytes); /* little endian, as every host that CUDA has */
    return 0;
}

static int put_float(double value, uint32_t bytes, unsigned char *out, Py_ssize_t index)
{
    const float single = (float)value;
    if (bytes == 4)
        memcpy(out, &single, 4);
    else if (bytes == 8)
        memcpy(out, &value, 8);
    else
        gphpy_invalid("argument %zd has %u bytes, which no float has", index, bytes);
    return bytes == 4 || bytes == 8 ? 0 : -1;
}

/* An int or a float by the argument's size; a tensor's address; else a buffer's bytes. */
static int put_argument(kernel *self, PyObject *object, Py_ssize_t index,
                        unsigned char *out)
{
    const uint32_t bytes = self->param_bytes[index];
    gph_tensor view;
    if (PyLong_Check(object))
        return put_int(object, bytes, out, index);
    if (PyFloat_Check(object))
        return put_float(PyFloat_AsDouble(object), bytes, out, index);
    if (PyBytes_Check(object)) {
        if ((uint32_t)PyBytes_Size(object) != bytes) {
            gphpy_invalid("argument %zd has %zd bytes, the kernel's %u", index,
                          PyBytes_Size(object), bytes);
            return -1;
        }
        memcpy(out, PyBytes_AsString(object), bytes);
        return 0;
    }
    if (gphpy_tensor_read(self->owner->runtime, object, "argument", index, &view) < 0)
        return -1;
    if (bytes != sizeof(view.data)) {
        gphpy_invalid("argument %zd is a tensor, the kernel's has %u bytes", index,
                      bytes);
        return -1;
    }
    memcpy(out, &view.data, sizeof(view.data));
    return 0;
}

static PyObject *launch(kernel *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"shared_bytes", NULL};
    unsigned shared = 0;
    uint32_t grid[3], block[3];
    CUstream stream = NULL;
    _Alignas(16) unsigned char buffer[PARAM_BYTES_MAX];
    void *params[PARAMS_MAX];
    gph_error error = {0};
    PyObject *empty = PyTuple_New(0);
    const bool is_parsed =
        empty && (!kwargs || PARSE(empty, kwargs, "|$I:Kernel", names, &shared));
    Py_XDECREF(empty);
    if (!is_parsed)
        return NULL;
    const Py_ssize_t given = TUPLE_SIZE(args) - 3;
    if (given != (Py_ssize_t)self->param_count) {
        PyErr_Format(PyExc_TypeError,
                     "%U is called with stream, grid, block and %u arguments", self->name,
                     (unsigned)self->param_count);
        return NULL;
    }
    if (!gphpy_runtime_use(self->owner->runtime) ||
        !gphpy_stream_read(TUPLE_ITEM(args, 0), &stream) ||
        read_size(TUPLE_ITEM(args, 1), grid, "grid") < 0 ||
        read_size(TUPLE_ITEM(args, 2), block, "block") < 0)
        return NULL;
    for (Py_ssize_t i = 0; i < given; i++) {
        if (self->param_offset[i] + self->param_bytes[i] > PARAM_BYTES_MAX)
            return gphpy_invalid("the arguments are more than %d bytes", PARAM_BYTES_MAX);
        params[i] = buffer + self->param_offset[i];
        if (put_argument(self, TUPLE_ITEM(args, i + 3), i, params[i]) < 0)
            return NULL;
    }
    if (!hold_where_captured(self->owner, stream))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status,
                gph_cuda_check(self->owner->runtime->cu->LaunchKernel(
                                   self->function, grid[0], grid[1], grid[2], block[0],
                                   block[1], block[2], shared, stream, params, NULL),
                               "cuLaunchKernel", &error));
    if (status == GPH_OK)
        return Py_NewRef(Py_None);
    PyObject *place = gphpy_place();
    gphpy_raise(status, &error, &(gphpy_blame){.place = place});
    Py_XDECREF(place);
    return NULL;
}

static void kernel_destroy(kernel *self)
{
    Py_XDECREF((PyObject *)self->owner);
    Py_XDECREF(self->name);
    gphpy_free(self);
}

static PyObject *get_handle(kernel *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->function);
}

static PyObject *get_module_handle(module *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(gph_module_handle(self->gph));
}

static PyMethodDef module_methods[] = {
    METHOD1("function", function, "function($self, name, /)\n--\n\nA Kernel of it."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef module_members[] = {
    GETTER("handle", get_module_handle, "The CUmodule, an int."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef kernel_members[] = {
    GETTER("handle", get_handle, "The CUfunction, an int."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_module_ready(PyObject *python)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"Kernels that Runtime.module() loaded. It is unloaded with "
                            "its last Kernel, or with\n"
                            "the runtime, once a Kernel of it was launched into a "
                            "capture: graphs need it. Any\nthread."},
        {Py_tp_dealloc, (void *)module_destroy},
        {Py_tp_methods, module_methods},
        {Py_tp_getset, module_members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Module", sizeof(module), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(python, &spec, &gphpy_types.module);
}

int gphpy_kernel_ready(PyObject *python)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A kernel: kernel(stream, grid, block, *args, "
                            "shared_bytes=0) launches it.\n\n"
                            "grid and block are ints or tuples of up to three. An "
                            "argument is a tensor\n"
                            "(its address), an int or a float (of the size that the "
                            "kernel declares),\n"
                            "or bytes of exactly that size."},
        {Py_tp_dealloc, (void *)kernel_destroy},
        {Py_tp_call, (void *)launch},
        {Py_tp_getset, kernel_members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Kernel", sizeof(kernel), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(python, &spec, &gphpy_types.kernel);
}
