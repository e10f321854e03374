// SPDX-License-Identifier: Apache-2.0
/* Progress of what takes long: a function of Python's, or a line of tqdm's form. */
#include "gphpy.h"

static bool is_terminal(void)
{
    PyObject *err = PySys_GetObject("stderr");
    PyObject *answer = err ? PyObject_CallMethod(err, "isatty", NULL) : NULL;
    const bool is_one = answer && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    PyErr_Clear();
    return is_one;
}

gphpy_progress gphpy_progress_read(PyObject *object)
{
    gphpy_progress p = {NULL, false};
    if (PyCallable_Check(object))
        p.function = object;
    else
        p.is_shown = object == Py_None ? is_terminal() : PyObject_IsTrue(object) == 1;
    return p;
}

/* "capture:  45%|####      | 9/20 [00:01<00:02]", written over itself. */
static void show(const char *what, uint64_t done, uint64_t total, uint64_t ns,
                 uint64_t left_ns)
{
    char bar[11] = "          ";
    const unsigned tenths = total ? (unsigned)(10 * done / total) : 10;
    memset(bar, '#', tenths < 10 ? tenths : 10);
    const unsigned spent = (unsigned)(ns / 1000000000),
                   left = (unsigned)(left_ns / 1000000000);
    PySys_WriteStderr("\r%s: %3u%%|%s| %llu/%llu [%02u:%02u<%02u:%02u]%s", what,
                      total ? (unsigned)(100 * done / total) : 100, bar,
                      (unsigned long long)done, (unsigned long long)total, spent / 60,
                      spent % 60, left / 60, left % 60, done == total ? "\n" : "");
}

int gphpy_progress_tell(const gphpy_progress *p, const char *what, uint64_t done,
                        uint64_t total, uint64_t ns, uint64_t left_ns)
{
    if (PyErr_CheckSignals() < 0)
        return -1;
    if (p->function) {
        PyObject *answer =
            PyObject_CallFunction(p->function, "KKs", (unsigned long long)done,
                                  (unsigned long long)total, what);
        Py_XDECREF(answer);
        return answer ? 0 : -1;
    }
    if (p->is_shown)
        show(what, done, total, ns, left_ns);
    return 0;
}
