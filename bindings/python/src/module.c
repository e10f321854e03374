// SPDX-License-Identifier: Apache-2.0
/* The module graphophone._gph: its types, exceptions and functions. */
#include "gphpy.h"

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    return PyUnicode_FromString(gph_version_text());
}

static PyMethodDef functions[] = {
    METHOD(
        "open", gphpy_open,
        "open(driver=None, device=0, *, softcuda_path=None, allocator=None)\n--\n\n"
        "Opens the CUDA driver and makes a device's primary context the thread's own, "
        "unless the\n"
        "thread has a context.\n\n"
        "driver is 'cuda', 'soft' (softcuda), 'auto' (NVIDIA's where it has a GPU, else\n"
        "softcuda) or None: as the variable GPH_DRIVER says, else 'cuda'. device is an\n"
        "ordinal, or None: contexts are the caller's. softcuda_path is where softcuda's\n"
        "libcuda.so.1 lies. allocator is a pair of ints, the address of a gph_realloc_fn "
        "and\n"
        "its user pointer; both outlive the process: where libgph takes its "
        "host\n"
        "memory from.\n\n"
        "A process has one driver. Raises UnsupportedError where the driver is missing."),
    METHOD("examine", gphpy_examine,
           "examine(*paths, language='en')\n--\n\n"
           "What the doctor finds in logs that `gph doctor --save-events` wrote: a list "
           "of findings,\n"
           "dicts of id, severity ('error', 'warning', 'info'), title, cause, fix, "
           "in_vain, docs,\n"
           "frames (innermost first; Python's own first), evidence, consequences, count, "
           "and text,\n"
           "all of it. Errors first. language: 'en' or 'zh'."),
    METHOD("explain", gphpy_explain,
           "explain(text, *, language='en')\n--\n\n"
           "Looks an error code, a name, a message, an exception or a whole log up: a "
           "list of\n"
           "entries, the best first, dicts of slug, title, cause, fix, in_vain, codes, "
           "see and\n"
           "key, what of the text led there. Needs no driver."),
    METHOD1("near", gphpy_near,
            "near(text, /)\n--\n\nNames that look like one in the text: for \"did you "
            "mean\"."),
    METHOD0(
        "last_cause", gphpy_last_cause,
        "last_cause()\n--\n\n"
        "What invalidated the last capture that failed, or was aborted, on this thread: "
        "the "
        "first call\n"
        "that the driver refused, a dict of call, sentence, status, thread (the kernel's "
        "number),\n"
        "is_own (the capture's own thread), time_ns, caller and stack (in C). None where "
        "nothing is\n"
        "known."),
    METHOD1("_fill_stack", gphpy_fill_stack,
            "_fill_stack(byte, /)\n--\n\nFills the thread's stack below the caller, 128 "
            "KiB, with a byte.\nFalse: not so much is left."),
    METHOD0(
        "version", version,
        "version()\n--\n\nThe version of the libgph that is loaded, such as '0.1.0'."),
    {NULL, NULL, 0, NULL},
};

static int list_names(PyObject *module);

static int fill(PyObject *module)
{
    if (gphpy_types.runtime) {
        PyErr_SetString(PyExc_ImportError,
                        "graphophone works in one interpreter of a process");
        return -1;
    }
    if (gphpy_errors_ready(module) < 0 || gphpy_warnings_ready(module) < 0 ||
        gphpy_dlpack_ready() < 0)
        return -1;
#define X(name)                                                                          \
    if (gphpy_##name##_ready(module) < 0)                                                \
        return -1;
    GPHPY_TYPES(X)
#undef X
    return list_names(module);
}

/* All that has a name without an underscore, for `from _gph import *`. */
static int list_names(PyObject *module)
{
    PyObject *names = PyList_New(0), *all = names ? PyObject_Dir(module) : NULL;
    int status = all ? 0 : -1;
    for (Py_ssize_t i = 0; status == 0 && i < PyList_Size(all); i++) {
        PyObject *name = PyList_GetItem(all, i);
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        status = !text ? -1 : *text == '_' ? 0 : PyList_Append(names, name);
    }
    Py_XDECREF(all);
    if (status == 0)
        status = PyModule_AddObjectRef(module, "__all__", names);
    Py_XDECREF(names);
    return status;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if defined(Py_mod_gil)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "graphophone._gph",
    .m_doc =
        "CUDA graphs in C: record work once, play it again for the price of one launch.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__gph(void);
PyMODINIT_FUNC PyInit__gph(void)
{
    return PyModuleDef_Init(&definition);
}
