// SPDX-License-Identifier: Apache-2.0
/* What numbers.py sees in the interpreter, as records.
 *
 *   a call of the driver ─> Py_AddPendingCall() ─> the main thread, between two of its
 *                                                  instructions ─> numbers.py ─> report() ─> NUMBER
 *
 * Nothing of Python is called inside a call of the driver, where the thread may not have the
 * interpreter's lock. A pending call runs as soon as the thread is back in Python code: right
 * after the call that began the capture, or launched the graph. Only the main thread has them, so
 * only its captures and launches are looked at.
 *
 * While a capture is open the interpreter's profile function is ours, if it has none: it reports
 * numbers.py each function that returns. Python's garbage collector is kept off meanwhile: it
 * may destroy what must not be destroyed in a capture. */
#include "attach/interpreter/numbers.h"
#include "attach/interpreter/numbers_py.h"
#include "attach/peek/python.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/clock.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct object object; /* PyObject */
typedef object *call_function(object *, object *);
typedef int trace_function(object *, object *, int, object *);

enum { FILE_INPUT = 257, VARARGS = 1, PROFILE_RETURN = 3 };

typedef struct method {
    const char *name;
    call_function *function;
    int flags;
    const char *text;
} method;

#define PYTHON(X)                                                                        \
    X(int, Py_AddPendingCall, (int (*)(void *), void *))                                 \
    X(object *, PyRun_StringFlags, (const char *, int, object *, object *, void *))      \
    X(object *, PyDict_New, (void))                                                      \
    X(int, PyDict_SetItemString, (object *, const char *, object *))                     \
    X(object *, PyDict_GetItemString, (object *, const char *))                          \
    X(object *, PyObject_CallFunction, (object *, const char *, ...))                    \
    X(int, PyObject_IsTrue, (object *))                                                  \
    X(object *, PyCFunction_NewEx, (method *, object *, object *))                       \
    X(int, PyArg_ParseTuple, (object *, const char *, ...))                              \
    X(object *, PyErr_Occurred, (void))                                                  \
    X(void, PyErr_Clear, (void))                                                         \
    X(void, PyEval_SetProfile, (trace_function *, object *))                             \
    X(int, PyGC_Enable, (void))                                                          \
    X(int, PyGC_Disable, (void))                                                         \
    X(void, Py_IncRef, (object *))                                                       \
    X(void, Py_DecRef, (object *))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    PYTHON(X)
#undef X
    object *(*PyFrame_GetVarString)(object *, const char *); /* 3.12 */
    object *None;
} py;

enum { UNKNOWN, READY, NOT_THERE };
static _Atomic int state;
static object *begin, *end, *launched, *returned; /* of numbers.py; NULL: not run yet */
static uint64_t launched_exec;                    /* that is looked at */
static bool is_profiling;
static uint64_t spent_ns, first_ns;
static atomic_bool is_pending; /* a launch is to be looked at */

/* Of the graphs and executables of late: from which capture. The main thread's alone. */
enum { PAIRS = 512 };
typedef struct pair {
    uint64_t handle, capture;
} pair;
static pair graphs[PAIRS], execs[PAIRS];
static uint64_t last_capture;

static pair *place_of(pair *pairs, uint64_t handle)
{
    return &pairs[gphi_hash_mix(handle) % PAIRS];
}

static uint64_t capture_of(pair *pairs, uint64_t handle)
{
    const pair *at = place_of(pairs, handle);
    return at->handle == handle ? at->capture : 0;
}

static bool is_main(void)
{
    return attach_thread() == (uint32_t)attach_process();
}

static bool find_python(void)
{
    bool all = true;
#define X(type, name, arguments)                                                         \
    *(void **)&py.name = all ? dlsym(RTLD_DEFAULT, #name) : NULL;                        \
    all = all && py.name;
    PYTHON(X)
#undef X
    py.None = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
    *(void **)&py.PyFrame_GetVarString = dlsym(RTLD_DEFAULT, "PyFrame_GetVarString");
    return all && py.None;
}

static bool is_ready(void)
{
    if (!attach_python_is_known() || !is_main())
        return false;
    if (atomic_load(&state) == UNKNOWN) {
        const char *off = getenv("GPH_DOCTOR_NUMBERS"); /* 0: none are looked at */
        const bool is_off = off && off[0] == '0';
        atomic_store(&state, !is_off && find_python() ? READY : NOT_THERE);
    }
    return atomic_load(&state) == READY;
}

/* ---- what numbers.py calls ---- */

static object *none(void)
{
    py.Py_IncRef(py.None);
    return py.None;
}

static object *report(object *self, object *arguments)
{
    unsigned long long capture, key, since;
    int is_mode;
    double before, now;
    const char *name, *place;
    (void)self;
    if (!py.PyArg_ParseTuple(arguments, "KKpddKss", &capture, &key, &is_mode, &before,
                             &now, &since, &name, &place))
        return NULL;
    uint64_t words[] = {key, (uint64_t)is_mode, 0, 0, since, launched_exec};
    memcpy(&words[2], &before, sizeof(before));
    memcpy(&words[3], &now, sizeof(now));
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_NUMBER, capture);
    attach_draft_words(&draft, words, sizeof(words) / sizeof(*words));
    attach_add_text(&draft, name);
    attach_add_text(&draft, place);
    attach_write(&draft);
    return none();
}

static object *local(object *self, object *arguments)
{
    object *frame;
    const char *name;
    (void)self;
    if (!py.PyArg_ParseTuple(arguments, "Os", &frame, &name))
        return NULL;
    object *found = py.PyFrame_GetVarString(frame, name);
    if (found)
        return found;
    py.PyErr_Clear(); /* it has no value now */
    return none();
}

static void set(object *names, const char *name, object *value)
{
    if (value && py.PyDict_SetItemString(names, name, value) == 0 && value != py.None)
        py.Py_DecRef(value);
}

/* Runs numbers.py. False: this interpreter lacks what it needs; nothing is looked at. */
static bool prepare(void)
{
    static method methods[] = {{"report", report, VARARGS, NULL},
                               {"local", local, VARARGS, NULL}};
    object *names = py.PyDict_New();
    if (!names)
        return false;
    set(names, "report", py.PyCFunction_NewEx(&methods[0], NULL, NULL));
    set(names, "local",
        py.PyFrame_GetVarString ? py.PyCFunction_NewEx(&methods[1], NULL, NULL)
                                : py.None);
    object *done =
        py.PyRun_StringFlags(attach_numbers_py, FILE_INPUT, names, names, NULL);
    if (!done)
        return false;
    py.Py_DecRef(done);
    begin = py.PyDict_GetItemString(names, "begin");
    end = py.PyDict_GetItemString(names, "end");
    launched = py.PyDict_GetItemString(names, "launched");
    returned = py.PyDict_GetItemString(names, "returned");
    return begin && end && launched && returned;
}

/* ---- in Python's main thread, between two instructions ---- */

static int profile(object *self, object *frame, int what, object *value)
{
    (void)self;
    (void)value;
    if (what != PROFILE_RETURN || !is_profiling)
        return 0;
    attach_me.busy++;
    object *done = py.PyObject_CallFunction(returned, "O", frame);
    if (done)
        py.Py_DecRef(done);
    else
        py.PyErr_Clear();
    attach_me.busy--;
    return 0;
}

/* Calls `function`; whether it gave something true. An error ends all looking. */
static bool ask(object *function, uint64_t number, uint64_t time)
{
    object *done =
        function == begin ? py.PyObject_CallFunction(function, NULL)
        : function == end
            ? py.PyObject_CallFunction(function, "K", (unsigned long long)number)
            : py.PyObject_CallFunction(function, "KK", (unsigned long long)number,
                                       (unsigned long long)time);
    if (!done) {
        py.PyErr_Clear();
        atomic_store(&state, NOT_THERE);
        return false;
    }
    const bool is_true = py.PyObject_IsTrue(done) > 0;
    py.Py_DecRef(done);
    return is_true;
}

typedef enum what { BEGUN, ENDED, LAUNCHED } what;

static void look(what is, uint64_t number)
{
    if (atomic_load(&state) != READY || py.PyErr_Occurred())
        return;
    if (!begin && !prepare()) {
        py.PyErr_Clear();
        atomic_store(&state, NOT_THERE);
        return;
    }
    const uint64_t from = gphi_clock_ns();
    if (is == BEGUN && ask(begin, 0, 0)) {
        is_profiling = true;
        py.PyEval_SetProfile(profile, returned);
    } else if (is == ENDED) {
        if (is_profiling)
            py.PyEval_SetProfile(NULL, NULL);
        is_profiling = false;
        ask(end, number, 0);
    } else if (is == LAUNCHED)
        ask(launched, number, from);
    if (is == LAUNCHED)
        spent_ns += gphi_span_ns(from, gphi_clock_ns());
}

static void run(what is, uint64_t number)
{
    const int saved = errno;
    attach_me.busy++;
    const bool was_on = py.PyGC_Disable() > 0;
    look(is, number);
    if (was_on)
        py.PyGC_Enable();
    attach_me.busy--;
    errno = saved;
}

static int run_begun(void *unused)
{
    (void)unused;
    run(BEGUN, 0);
    return 0;
}

static int run_ended(void *capture)
{
    run(ENDED, (uint64_t)(uintptr_t)capture);
    return 0;
}

static int run_launched(void *capture)
{
    run(LAUNCHED, (uint64_t)(uintptr_t)capture);
    atomic_store(&is_pending, false);
    return 0;
}

/* ---- in calls of the driver ---- */

void attach_numbers_begun(void)
{
    if (is_ready())
        py.Py_AddPendingCall(run_begun, NULL);
}

void attach_numbers_ended(const attach_call *call, CUresult result)
{
    if (!is_ready())
        return;
    const uint64_t capture = result == CUDA_SUCCESS ? call->capture : 0;
    if (capture != 0) {
        const uint64_t graph = attach_filled(call, 1);
        *place_of(graphs, graph) = (pair){graph, capture};
        last_capture = capture;
    }
    py.Py_AddPendingCall(run_ended, (void *)(uintptr_t)capture);
}

void attach_numbers_made(const attach_call *call)
{
    if (last_capture == 0 || !is_ready())
        return;
    const uint64_t exec = attach_filled(call, 0), graph = call->words[1];
    const uint64_t capture = capture_of(graphs, graph);
    *place_of(execs, exec) = (pair){exec, capture};
}

void attach_numbers_gone(uint64_t exec)
{
    pair *at = place_of(execs, exec);
    if (is_main() && at->handle == exec)
        *at = (pair){0};
}

/* At most a hundredth of the time, after a start of some milliseconds. */
static bool is_cheap(void)
{
    enum { START_NS = 20 * 1000 * 1000, PART = 100 };
    const uint64_t now = gphi_clock_ns();
    if (first_ns == 0)
        first_ns = now;
    return spent_ns < START_NS + gphi_span_ns(first_ns, now) / PART;
}

void attach_numbers_launched(uint64_t exec)
{
    if (last_capture == 0 || !is_ready() || atomic_load(&is_pending))
        return;
    const uint64_t capture = capture_of(execs, exec);
    if (capture == 0 || !is_cheap())
        return;
    atomic_store(&is_pending, true);
    launched_exec = exec;
    if (py.Py_AddPendingCall(run_launched, (void *)(uintptr_t)capture) != 0)
        atomic_store(&is_pending, false);
}

void attach_numbers_forked(void)
{
    atomic_store(&is_pending, false);
    last_capture = 0; /* nothing of the parent's is launched there */
}
