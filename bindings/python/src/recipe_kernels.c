// SPDX-License-Identifier: Apache-2.0
/* What Python says of kernels whose modules libgph did not load: Recipe.add(identify=...). */
#include "recipe.h"

/* (hash of the image, name) -> out; false with an exception. The name is lent by `answer`. */
static bool read_answer(PyObject *answer, gph_kernel_id *out)
{
    const char *image = NULL;
    Py_ssize_t bytes = 0;
    if (!PyArg_Parse(answer, "(y#s);identify() gives (hash of the image, name) or None",
                     &image, &bytes, &out->name))
        return false;
    if (bytes != GPH_IMAGE_HASH_BYTES) {
        gphpy_invalid("the hash of an image has %d bytes, not %zd", GPH_IMAGE_HASH_BYTES,
                      bytes);
        return false;
    }
    memcpy(out->image, image, GPH_IMAGE_HASH_BYTES);
    return true;
}

/* After an exception, which is raised at the end, no kernel is identified any more. */
static bool ask(gphpy_identify *self, CUfunction function, gph_kernel_id *out)
{
    const unsigned long long handle = (uintptr_t)function;
    PyObject *answer =
        self->type ? NULL : PyObject_CallFunction(self->function, "K", handle);
    const bool is_known = answer && answer != Py_None && read_answer(answer, out) &&
                          PyList_Append(self->answers, answer) == 0;
    Py_XDECREF(answer);
    if (PyErr_Occurred())
        PyErr_Fetch(&self->type, &self->value, &self->trace);
    return is_known;
}

static gph_status identify(void *user, CUfunction function, gph_kernel_id *out,
                           gph_error *error)
{
    (void)error; /* what a kernel is refused with is said by libgph already */
    PyGILState_STATE state = PyGILState_Ensure();
    const bool is_known = ask(user, function, out);
    PyGILState_Release(state);
    return is_known ? GPH_OK : GPH_E_UNSUPPORTED;
}

int gphpy_identify_begin(gphpy_identify *self, PyObject *function,
                         const gph_resolver **out)
{
    *self = (gphpy_identify){.function = function};
    if (!function || function == Py_None)
        return 0;
    if (!PyCallable_Check(function)) {
        PyErr_Format(PyExc_TypeError, "identify is a %S, not a function",
                     (PyObject *)Py_TYPE(function));
        return -1;
    }
    self->answers = PyList_New(0);
    self->resolver = (gph_resolver)GPH_SIZED(gph_resolver);
    self->resolver.identify = identify;
    self->resolver.user = self;
    *out = &self->resolver;
    return self->answers ? 0 : -1;
}

PyObject *gphpy_identify_end(gphpy_identify *self, PyObject *result)
{
    Py_CLEAR(self->answers);
    if (!self->type)
        return result;
    Py_XDECREF(result);
    PyErr_Clear();
    PyErr_Restore(self->type, self->value, self->trace);
    return NULL;
}
