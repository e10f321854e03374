// SPDX-License-Identifier: Apache-2.0
/* Exceptions. Each status has a class of its own below graphophone.Error; all have the same
 * attributes, None where a thing is not known. */
#include "gphpy.h"

#include <stdarg.h>
#include <stdio.h>

static PyObject *base; /* graphophone.Error */

/* Classes by status: name, the built-in class that it is, too, and what it says. A CUresult
 * that is not here is a CudaError. */
static struct exception {
    gph_status status;
    const char *name;
    PyObject **builtin;
    const char *text;
    PyObject *type;
} exceptions[] = {
    {GPH_E_INVALID, "graphophone.InvalidError", &PyExc_ValueError,
     "An argument is out of its documented range.", NULL},
    {GPH_E_NO_MEMORY, "graphophone.OutOfMemoryError", &PyExc_MemoryError,
     "Memory of the host or of the device is exhausted.", NULL},
    {GPH_E_UNSUPPORTED, "graphophone.UnsupportedError", &PyExc_NotImplementedError,
     "This driver or build cannot do it.", NULL},
    {GPH_E_FORMAT, "graphophone.FormatError", &PyExc_ValueError,
     "A file is not what it should be.", NULL},
    {GPH_E_STATE, "graphophone.StateError", NULL,
     "The object is not in the state this call needs.", NULL},
    {GPH_E_IO, "graphophone.FileError", &PyExc_OSError,
     "The operating system refused to read, write or open.", NULL},
    {1, "graphophone.CudaError", NULL, "The driver refused a call.", NULL},
};
enum { EXCEPTIONS = sizeof(exceptions) / sizeof(*exceptions), OUT_OF_MEMORY = 2 };

static const char *const attributes[] = {"status", "status_name", "node", "region",
                                         "place",  "call",        "hint", "sentence",
                                         "cause",  "rank",        NULL};

static const char base_text[] =
    "What a call of libgph failed with.\n\n"
    "Attributes, None where a thing is not known:\n"
    "  status       the gph_status: below 0 one of libgph's, above 0 a CUresult\n"
    "  status_name  its name, such as 'GPH_E_STATE' or 'CUDA_ERROR_INVALID_VALUE'\n"
    "  node         index of the graph's node at fault\n"
    "  region       the region of the capture at fault, such as 'layer.17/attn'\n"
    "  place        'file:line' of the Python code: of the refused call where an "
    "exception\n"
    "               has it, else of the region or the capture\n"
    "  call         the driver's call at fault, such as 'cuMemAlloc'\n"
    "  hint         what to try\n"
    "  sentence     what the driver said, in its own words\n"
    "  cause        of a failed capture, where in the program the first refused call "
    "was\n"
    "               made: callers in C, a line each\n"
    "  rank         the rank that an error of Ranks and Comm is about";

static int add_exception(PyObject *module, struct exception *one)
{
    PyObject *bases =
        one->builtin ? PyTuple_Pack(2, base, *one->builtin) : Py_NewRef(base);
    if (!bases)
        return -1;
    one->type = PyErr_NewExceptionWithDoc(one->name, one->text, bases, NULL);
    Py_DECREF(bases);
    const char *short_name = strchr(one->name, '.') + 1;
    return one->type ? PyModule_AddObjectRef(module, short_name, one->type) : -1;
}

int gphpy_errors_ready(PyObject *module)
{
    PyObject *defaults = PyDict_New();
    if (!defaults)
        return -1;
    for (int i = 0; attributes[i]; i++)
        if (PyDict_SetItemString(defaults, attributes[i], Py_None) < 0)
            goto drop_defaults;
    base = PyErr_NewExceptionWithDoc("graphophone.Error", base_text, PyExc_RuntimeError,
                                     defaults);
    if (!base || PyModule_AddObjectRef(module, "Error", base) < 0)
        goto drop_defaults;
    Py_DECREF(defaults);
    for (int i = 0; i < EXCEPTIONS; i++)
        if (add_exception(module, &exceptions[i]) < 0)
            return -1;
    return 0;

drop_defaults:
    Py_DECREF(defaults);
    return -1;
}

static PyObject *type_of(gph_status status)
{
    if (status == OUT_OF_MEMORY)
        status = GPH_E_NO_MEMORY;
    for (int i = 0; i < EXCEPTIONS - 1; i++)
        if (exceptions[i].status == status)
            return exceptions[i].type;
    return exceptions[EXCEPTIONS - 1].type;
}

/* Takes `value`; one that could not be made or set is dropped with its exception: the error
 * itself is what the caller is to see. */
static void set(PyObject *exception, const char *name, PyObject *value)
{
    if (!value || PyObject_SetAttrString(exception, name, value) < 0)
        PyErr_Clear();
    Py_XDECREF(value);
}

static void set_text(PyObject *exception, const char *name, const char *text)
{
    if (text && *text)
        set(exception, name,
            PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
}

/* Not over what is known already: the first cause is nearest to it. */
static void set_blame(PyObject *exception, const gphpy_blame *blame)
{
    PyObject *known = PyObject_GetAttrString(exception, "place");
    const bool has_place = known && known != Py_None;
    Py_XDECREF(known);
    PyErr_Clear();
    if (!has_place && blame->place)
        set(exception, "place", Py_NewRef(blame->place));
    set_text(exception, "region", blame->region);
    if (blame->cause) {
        set_text(exception, "sentence", blame->cause->text);
        set_text(exception, "call", blame->cause->call);
        set_text(exception, "cause",
                 *blame->cause->stack ? blame->cause->stack : blame->cause->caller);
    }
}

/* The rank that a message of gph_ranks is about, or -1: it begins with it, unless it says who
 * waited ("rank 0 is at 'ladder' (serve.py:61), and rank 1 ... did not come within 30 s"). */
static long rank_of(const char *message)
{
    unsigned rank;
    int length = 0;
    if (sscanf(message, "rank %u%n", &rank, &length) != 1)
        return -1;
    if (strncmp(message + length, " is at ", 7) != 0)
        return (long)rank;
    const char *other = strstr(message, "), and rank ");
    if (!other)
        other = strstr(message, "), but rank ");
    return other && sscanf(other + 12, "%u", &rank) == 1 ? (long)rank : -1;
}

PyObject *gphpy_raise(gph_status status, const gph_error *error, const gphpy_blame *blame)
{
    static const gph_error nothing;
    if (!error)
        error = &nothing;
    if (PyErr_Occurred()) { /* of a Python function that libgph called */
        if (blame)
            gphpy_blame_current(blame);
        return NULL;
    }
    const char *text = *error->message ? error->message : gph_status_text(status);
    PyObject *message =
        PyUnicode_FromFormat("%s%s%s", text, *error->hint ? "\n" : "", error->hint);
    PyObject *exception =
        message ? PyObject_CallFunctionObjArgs(type_of(status), message, NULL) : NULL;
    Py_XDECREF(message);
    if (!exception)
        return NULL;
    set(exception, "status", PyLong_FromLong(status));
    set_text(exception, "status_name", gph_status_name(status));
    set_text(exception, "hint", error->hint);
    set_text(exception, "call", error->call);
    if (error->call && status > 0)
        set_text(exception, "sentence", error->message);
    if (error->has_node)
        set(exception, "node", PyLong_FromLongLong(error->node));
    const long rank = rank_of(error->message);
    if (rank >= 0)
        set(exception, "rank", PyLong_FromLong(rank));
    if (blame)
        set_blame(exception, blame);
    PyErr_SetObject(type_of(status), exception);
    Py_DECREF(exception);
    return NULL;
}

void gphpy_blame_current(const gphpy_blame *blame)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && PyObject_IsInstance(value, base) == 1)
        set_blame(value, blame);
    PyErr_Restore(type, value, trace);
}

PyObject *gphpy_invalid(const char *format, ...)
{
    gph_error error = {.code = GPH_E_INVALID};
    va_list args;
    va_start(args, format);
    vsnprintf(error.message, sizeof(error.message), format, args);
    va_end(args);
    return gphpy_raise(GPH_E_INVALID, &error, NULL);
}

/* Of a graphophone.Error the one that it has. No exception is left. */
static gph_status status_of(PyObject *exception)
{
    gph_status status = GPH_E_STATE;
    for (int i = 0; i < EXCEPTIONS - 1; i++) /* one that the program made has its class */
        if (PyObject_IsInstance(exception, exceptions[i].type) == 1)
            status = exceptions[i].status;
    if (PyObject_IsInstance(exception, base) == 1) {
        PyObject *number = PyObject_GetAttrString(exception, "status");
        if (number && PyLong_Check(number) && PyLong_AsLong(number) != 0)
            status = (gph_status)PyLong_AsLong(number);
        Py_XDECREF(number);
    }
    PyErr_Clear();
    return status;
}

gph_status gphpy_failed(gph_error *error)
{
    gph_status status = GPH_E_STATE;
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (error)
        snprintf(error->message, sizeof(error->message), "the Python function failed: %s",
                 utf8 ? utf8 : "its exception has no text");
    Py_XDECREF(text);
    PyErr_Clear();
    if (value)
        status = status_of(value);
    if (error)
        error->code = status;
    PyErr_Restore(type, value, trace);
    return status;
}

bool gphpy_error_of(PyObject *exception, gph_error *out)
{
    if (!PyExceptionInstance_Check(exception)) {
        PyErr_Format(PyExc_TypeError, "an error is an exception, not %R",
                     (PyObject *)Py_TYPE(exception));
        return false;
    }
    PyObject *trace = PyException_GetTraceback(exception);
    PyObject *place = gphpy_trace_place(trace);
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(exception), "__name__");
    PyObject *text = PyUnicode_FromFormat(place ? "%V: %S (%U)" : "%V: %S", name, "?",
                                          exception, place);
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    out->code = status_of(exception);
    snprintf(out->message, sizeof(out->message), "%s",
             utf8 ? utf8 : "an exception without text");
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(place);
    Py_XDECREF(trace);
    PyErr_Clear();
    return true;
}

/* KeyboardInterrupt, SystemExit: those that `except Exception` lets through. */
static bool ends_program(PyObject *type)
{
    return type && PyErr_GivenExceptionMatches(type, PyExc_Exception) == 0;
}

gph_status gphpy_settle(void)
{
    if (ends_program(PyErr_Occurred()))
        return GPH_E_STATE;
    PyErr_Clear();
    return GPH_OK;
}

bool gphpy_pending_take(gphpy_pending *out)
{
    *out = (gphpy_pending){NULL, NULL, NULL};
    if (ends_program(PyErr_Occurred()))
        return false;
    PyErr_Fetch(&out->type, &out->value, &out->trace);
    return true;
}

void gphpy_pending_give(gphpy_pending *pending)
{
    if (pending->type && !ends_program(PyErr_Occurred())) {
        PyErr_Restore(pending->type, pending->value, pending->trace);
        return;
    }
    gphpy_pending_drop(pending);
}

void gphpy_pending_drop(gphpy_pending *pending)
{
    Py_XDECREF(pending->type);
    Py_XDECREF(pending->value);
    Py_XDECREF(pending->trace);
}

PyObject *gphpy_place(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    if (!frame)
        return NULL;
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    PyObject *file = PyObject_GetAttrString(code, "co_filename");
    PyObject *place =
        file ? PyUnicode_FromFormat("%U:%d", file, PyFrame_GetLineNumber(frame)) : NULL;
    Py_XDECREF(file);
    Py_DECREF(code);
    if (!place)
        PyErr_Clear();
    return place;
}

PyObject *gphpy_trace_place(PyObject *trace)
{
    PyObject *last = Py_XNewRef(trace), *place = NULL;
    while (last && last != Py_None) {
        PyObject *next = PyObject_GetAttrString(last, "tb_next");
        if (!next || next == Py_None) {
            Py_XDECREF(next);
            break;
        }
        Py_SETREF(last, next);
    }
    PyObject *line = last ? PyObject_GetAttrString(last, "tb_lineno") : NULL;
    PyObject *frame = last ? PyObject_GetAttrString(last, "tb_frame") : NULL;
    PyObject *code = frame ? PyObject_GetAttrString(frame, "f_code") : NULL;
    PyObject *file = code ? PyObject_GetAttrString(code, "co_filename") : NULL;
    if (line && file)
        place = PyUnicode_FromFormat("%U:%S", file, line);
    Py_XDECREF(file);
    Py_XDECREF(code);
    Py_XDECREF(frame);
    Py_XDECREF(line);
    Py_XDECREF(last);
    if (PyErr_Occurred())
        PyErr_Clear();
    return place;
}
