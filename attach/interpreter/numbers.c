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
 * numbers.py each function that returns. Our code itself is neither traced nor profiled (from
 * 3.11 on), and the garbage collector is off while it runs: it may destroy what must not be
 * destroyed in a capture. `busy` is not set: numbers.py calls no driver, so whatever does is the
 * program's, a signal's handler or the end of an object. What a handler raises is the program's,
 * too. */
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
    X(void, PyErr_Fetch, (object **, object **, object **))                              \
    X(void, PyErr_NormalizeException, (object **, object **, object **))                 \
    X(void, PyErr_Restore, (object *, object *, object *))                               \
    X(int, Py_IsInitialized, (void))                                                     \
    X(int, Py_AtExit, (void (*)(void)))                                                  \
    X(void *, PyInterpreterState_Get, (void))                                            \
    X(void *, PyInterpreterState_Main, (void))                                           \
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
    void *(*PyThreadState_Get)(void);
    void (*PyThreadState_EnterTracing)(void *), (*PyThreadState_LeaveTracing)(void *);
    object *None;
} py;

enum { UNKNOWN, READY, NOT_THERE };
static _Atomic int state;
static object *begin, *end, *launched, *returned,
    *not_ours;                 /* of numbers.py; NULL: not yet */
static uint64_t launched_exec; /* that is looked at */
static bool is_profiling;
static uint64_t spent_ns, first_ns;
static atomic_bool is_pending; /* a launch is to be looked at */
static int asked_by;           /* process that has asked for the pending calls */

/* Of the graphs and executables of late: from which capture. The main thread sets them; whoever
 * ends or changes one elsewhere makes it be forgotten. */
enum { PAIRS = 512 };
typedef struct pair {
    _Atomic uint64_t handle;
    uint64_t capture;
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
    return atomic_load(&at->handle) == handle ? at->capture : 0;
}

static void forget(pair *pairs, uint64_t handle)
{
    atomic_compare_exchange_strong(&place_of(pairs, handle)->handle, &handle, 0);
}

static void keep(pair *pairs, uint64_t handle, uint64_t capture)
{
    pair *at = place_of(pairs, handle);
    atomic_store(&at->handle, 0);
    at->capture = capture;
    atomic_store(&at->handle, handle);
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
    *(void **)&py.PyThreadState_Get = dlsym(RTLD_DEFAULT, "PyThreadState_Get");
    *(void **)&py.PyThreadState_EnterTracing =
        dlsym(RTLD_DEFAULT, "PyThreadState_EnterTracing");
    *(void **)&py.PyThreadState_LeaveTracing =
        dlsym(RTLD_DEFAULT, "PyThreadState_LeaveTracing");
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
    /* A library of Python may be there, and nobody has begun an interpreter. */
    return atomic_load(&state) == READY && py.Py_IsInitialized();
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

/* The interpreter ends: its objects are not the next one's. */
static void over(void)
{
    atomic_store(&state, NOT_THERE);
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
    if (!done || py.Py_AtExit(over) != 0)
        return false;
    py.Py_DecRef(done);
    begin = py.PyDict_GetItemString(names, "begin");
    end = py.PyDict_GetItemString(names, "end");
    launched = py.PyDict_GetItemString(names, "launched");
    returned = py.PyDict_GetItemString(names, "returned");
    not_ours = py.PyDict_GetItemString(names, "not_ours");
    return begin && end && launched && returned && not_ours;
}

/* ---- in Python's main thread, between two instructions ---- */

/* Something was raised. By a handler of the program's, of a signal that came while our code ran:
 * -1, and it stays raised, without our frames. By our own code: 0, and that ends all looking. */
static int raised(void)
{
    object *type = NULL, *value = NULL, *trace = NULL;
    py.PyErr_Fetch(&type, &value, &trace);
    py.PyErr_NormalizeException(&type, &value, &trace);
    object *theirs = py.PyObject_CallFunction(not_ours, "OO", value ? value : py.None,
                                              trace ? trace : py.None);
    if (!theirs) { /* a second signal: it has what the first has raised */
        py.PyErr_Clear();
        py.PyErr_Restore(type, value, trace);
        return -1;
    }
    if (trace)
        py.Py_DecRef(trace);
    if (theirs != py.None) {
        const bool has_trace = py.PyObject_IsTrue(theirs) > 0;
        if (!has_trace)
            py.Py_DecRef(theirs);
        py.PyErr_Restore(type, value, has_trace ? theirs : NULL);
        return -1;
    }
    py.Py_DecRef(theirs);
    py.Py_DecRef(type);
    if (value)
        py.Py_DecRef(value);
    atomic_store(&state, NOT_THERE);
    return 0;
}

static int profile(object *self, object *frame, int what, object *value)
{
    (void)self;
    (void)value;
    if (!is_profiling) { /* in a child that was made in the capture, for example */
        py.PyEval_SetProfile(NULL, NULL);
        return 0;
    }
    if (what != PROFILE_RETURN)
        return 0;
    const bool was_on = py.PyGC_Disable() > 0;
    object *done = py.PyObject_CallFunction(returned, "O", frame);
    const int result = done ? 0 : raised();
    if (done)
        py.Py_DecRef(done);
    if (was_on)
        py.PyGC_Enable();
    return result;
}

/* Calls `function`, 0; *is_true: it gave something true. */
static int ask(object *function, uint64_t number, uint64_t time, bool *is_true)
{
    object *done =
        function == begin ? py.PyObject_CallFunction(function, NULL)
        : function == end
            ? py.PyObject_CallFunction(function, "K", (unsigned long long)number)
            : py.PyObject_CallFunction(function, "KK", (unsigned long long)number,
                                       (unsigned long long)time);
    *is_true = done && py.PyObject_IsTrue(done) > 0;
    if (!done)
        return raised();
    py.Py_DecRef(done);
    return 0;
}

typedef enum what { BEGUN, ENDED, LAUNCHED } what;

/* What prepare() raised: numbers.py cannot run here, or a handler's. */
static int not_prepared(void)
{
    atomic_store(&state, NOT_THERE);
    if (py.PyErr_Occurred() && not_ours)
        return raised();
    py.PyErr_Clear();
    return 0;
}

static int look(what is, uint64_t number, bool *is_true)
{
    void *thread = py.PyThreadState_EnterTracing && py.PyThreadState_LeaveTracing &&
                           py.PyThreadState_Get
                       ? py.PyThreadState_Get()
                       : NULL;
    if (thread)
        py.PyThreadState_EnterTracing(thread);
    const uint64_t from = gphi_clock_ns();
    const int result = !begin && !prepare() ? not_prepared()
                       : is == BEGUN        ? ask(begin, 0, 0, is_true)
                       : is == ENDED        ? ask(end, number, 0, is_true)
                                            : ask(launched, number, from, is_true);
    if (is == LAUNCHED)
        spent_ns += gphi_span_ns(from, gphi_clock_ns());
    if (thread)
        py.PyThreadState_LeaveTracing(thread);
    return result;
}

/* The caller has the lock. Not in a child of whoever has asked for it, nor in another thread
 * that the interpreter takes for its main one. */
static int run(what is, uint64_t number)
{
    bool is_true = false;
    if (is == ENDED)
        is_profiling = false;
    if (atomic_load(&state) != READY || asked_by != attach_process() || !is_main() ||
        py.PyInterpreterState_Get() != py.PyInterpreterState_Main() ||
        py.PyErr_Occurred())
        return 0;
    const int saved = errno;
    const bool was_on = py.PyGC_Disable() > 0;
    const int result = look(is, number, &is_true);
    if (was_on)
        py.PyGC_Enable();
    if (is == BEGUN && result == 0 && is_true) {
        is_profiling = true;
        py.PyEval_SetProfile(profile, returned);
    } else if (is == ENDED && result == 0 && is_true) /* ours is there still */
        py.PyEval_SetProfile(NULL, NULL);
    errno = saved;
    return result;
}

static int run_begun(void *unused)
{
    (void)unused;
    return run(BEGUN, 0);
}

static int run_ended(void *capture)
{
    return run(ENDED, (uint64_t)(uintptr_t)capture);
}

static int run_launched(void *capture)
{
    const int result = run(LAUNCHED, (uint64_t)(uintptr_t)capture);
    atomic_store(&is_pending, false);
    return result;
}

/* ---- in calls of the driver ---- */

static bool ask_for(int (*call)(void *), uint64_t capture)
{
    asked_by = attach_process();
    return py.Py_AddPendingCall(call, (void *)(uintptr_t)capture) == 0;
}

void attach_numbers_begun(void)
{
    if (is_ready())
        ask_for(run_begun, 0);
}

void attach_numbers_ended(const attach_call *call, CUresult result)
{
    const uint64_t capture = result == CUDA_SUCCESS ? call->capture : 0;
    const uint64_t graph = capture != 0 ? attach_filled(call, 1) : 0;
    if (!is_ready()) {
        forget(graphs, graph);
        return;
    }
    if (capture != 0) {
        keep(graphs, graph, capture);
        last_capture = capture;
    }
    ask_for(run_ended, capture);
}

void attach_numbers_made(uint64_t exec, uint64_t graph)
{
    if (last_capture == 0 || !is_ready())
        forget(execs, exec);
    else
        keep(execs, exec, capture_of(graphs, graph));
}

void attach_numbers_gone(uint64_t exec)
{
    forget(execs, exec);
}

void attach_numbers_graph_gone(uint64_t graph)
{
    forget(graphs, graph);
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
    if (!ask_for(run_launched, capture))
        atomic_store(&is_pending, false);
}

void attach_numbers_forked(void)
{
    atomic_store(&is_pending, false);
    is_profiling = false;
    last_capture = 0; /* nothing of the parent's is launched there */
}
