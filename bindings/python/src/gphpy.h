// SPDX-License-Identifier: Apache-2.0
/* What the files of the extension graphophone._gph share: one object of libgph a file, each a
 * Python type whose instances hold it, and references to all that it borrows.
 *
 *   - calls of libgph that launch, wait or take long release the GIL (WITHOUT_GIL);
 *   - objects that serve one thread at a time have a gphpy_lock, which waits without the GIL;
 *   - Python functions are called with the GIL by gphpy_enter()/gphpy_leave(), on the thread
 *     that called libgph;
 *   - everything here also compiles for the limited API of 3.12, see docs/design/python.md. */
#ifndef GPHPY_H
#define GPHPY_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <gph/gph.h>
#include <gph/gph_doctor.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(Py_LIMITED_API)
#define TUPLE_ITEM(tuple, i) PyTuple_GetItem(tuple, i)
#define TUPLE_SIZE(tuple) PyTuple_Size(tuple)
#define TUPLE_SET(tuple, i, item) ((void)PyTuple_SetItem(tuple, i, item))
#define LIST_ITEM(list, i) PyList_GetItem(list, i)
#define PyObject_CallMethodNoArgs(object, name)                                          \
    PyObject_CallMethodObjArgs(object, name, NULL)
#define PyObject_CallMethodOneArg(object, name, argument)                                \
    PyObject_CallMethodObjArgs(object, name, argument, NULL)
#else
#define TUPLE_ITEM(tuple, i) PyTuple_GET_ITEM(tuple, i)
#define TUPLE_SIZE(tuple) PyTuple_GET_SIZE(tuple)
#define TUPLE_SET(tuple, i, item) PyTuple_SET_ITEM(tuple, i, item)
#define LIST_ITEM(list, i) PyList_GET_ITEM(list, i)
#endif

/* An object that takes the place of another one, which is let go of. */
#undef Py_SETREF
#undef Py_XSETREF
#define Py_SETREF(place, object)                                                         \
    do {                                                                                 \
        PyObject *before_ = (PyObject *)(place);                                         \
        (place) = (object);                                                              \
        Py_XDECREF(before_);                                                             \
    } while (0)
#define Py_XSETREF Py_SETREF

/* One line a member of a type: methods with keywords are of this form. */
#define METHOD(name, function, text)                                                     \
    {                                                                                    \
        name, (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS,     \
            text                                                                         \
    }
#define METHOD0(name, function, text)                                                    \
    {                                                                                    \
        name, (PyCFunction)(function), METH_NOARGS, text                                 \
    }
#define METHOD1(name, function, text)                                                    \
    {                                                                                    \
        name, (PyCFunction)(function), METH_O, text                                      \
    }
#define GETTER(name, function, text)                                                     \
    {                                                                                    \
        name, (getter)(function), NULL, text, NULL                                       \
    }
#define PARSE(args, kwargs, format, names, ...)                                          \
    PyArg_ParseTupleAndKeywords(args, kwargs, format, (char **)(void *)names, __VA_ARGS__)

/* A call of libgph while other threads of Python run. */
#define WITHOUT_GIL(status, call)                                                        \
    do {                                                                                 \
        PyThreadState *without_ = PyEval_SaveThread();                                   \
        status = (call);                                                                 \
        PyEval_RestoreThread(without_);                                                  \
        if (status == GPH_OK && PyErr_Occurred())                                        \
            status = gphpy_settle();                                                     \
    } while (0)

/* A method that changes its object, for objects whose threads libgph does not keep apart. Where
 * there is a GIL, that is enough; where there is none, the object's own lock is its stand-in: it
 * is let go of where the GIL would be, so that nothing can wait for it forever. */
#ifdef Py_GIL_DISABLED
#define ONE_AT_A_TIME(result, object, call)                                              \
    do {                                                                                 \
        Py_BEGIN_CRITICAL_SECTION(object);                                               \
        result = (call);                                                                 \
        Py_END_CRITICAL_SECTION();                                                       \
    } while (0)
#else
#define ONE_AT_A_TIME(result, object, call) ((void)(object), (result) = (call))
#endif

/* Puts an object, or none for None and NULL, where another one is; gives that one. */
static inline PyObject *gphpy_exchange(PyObject **place, PyObject *value)
{
    PyObject *before = *place;
    *place = value && value != Py_None ? Py_NewRef(value) : NULL;
    return before;
}

/* Without letting go of it: see keep_gil of gphpy_exec_new(). */
#define LAUNCH(status, keeps_gil, call)                                                  \
    do {                                                                                 \
        if (keeps_gil)                                                                   \
            status = (call);                                                             \
        else                                                                             \
            WITHOUT_GIL(status, call);                                                   \
    } while (0)

/* ---- types ---- */

/* Every type: name in gphpy.types, function that makes it. */
#define GPHPY_TYPES(X)                                                                   \
    X(runtime)                                                                           \
    X(stream)                                                                            \
    X(module)                                                                            \
    X(kernel)                                                                            \
    X(tensor)                                                                            \
    X(capture)                                                                           \
    X(region)                                                                            \
    X(recording)                                                                         \
    X(exec)                                                                              \
    X(replay)                                                                            \
    X(launcher)                                                                          \
    X(path_hit)                                                                          \
    X(graphed)                                                                           \
    X(graph)                                                                             \
    X(diff)                                                                              \
    X(block)                                                                             \
    X(arena)                                                                             \
    X(pool)                                                                              \
    X(checkpoint)                                                                        \
    X(keeper)                                                                            \
    X(call)                                                                              \
    X(rng)                                                                               \
    X(callable)                                                                          \
    X(tree)                                                                              \
    X(tree_function)                                                                     \
    X(tree_output)                                                                       \
    X(cache)                                                                             \
    X(slots)                                                                             \
    X(slot_buffer)                                                                       \
    X(recipe)                                                                            \
    X(loaded)                                                                            \
    X(flow)                                                                              \
    X(loop)                                                                              \
    X(dispatch)                                                                          \
    X(ranks)                                                                             \
    X(comm)

struct gphpy_types {
#define X(name) PyTypeObject *name;
    GPHPY_TYPES(X)
#undef X
};
extern struct gphpy_types gphpy_types;
#define X(name) int gphpy_##name##_ready(PyObject *module);
GPHPY_TYPES(X)
#undef X

/* Makes a type that cannot be made by Python, and puts it into the module. */
int gphpy_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out);
/* Memory of an instance, zeroed past its head; freed by gphpy_free(). Types without the
 * garbage collector. */
void *gphpy_new(PyTypeObject *type, size_t bytes);
void gphpy_free(void *object);

/* ---- errors and warnings ---- */

/* What an error is known to be about, beyond gph_error. All borrowed, all may be NULL. */
typedef struct gphpy_blame {
    const char *region;     /* the innermost region */
    PyObject *place;        /* "file:line" */
    const gph_cause *cause; /* of a capture that failed */
} gphpy_blame;

int gphpy_errors_ready(PyObject *module);
/* Raises what a status means, unless Python has an exception already (of a function that was
 * called back). Always returns NULL. */
PyObject *gphpy_raise(gph_status status, const gph_error *error,
                      const gphpy_blame *blame);
/* Raises InvalidError. */
PyObject *gphpy_invalid(const char *format, ...) GPH_PRINTF(1, 2);
/* For a function of libgph's that ends with a Python exception: fills `error` in from it and
 * leaves it set, for gphpy_raise(). */
gph_status gphpy_failed(gph_error *error);
/* What an exception (borrowed) says, as an error: its status, if it is a graphophone.Error,
 * else GPH_E_STATE; class, text and place in the message. False with an exception: it is
 * none. */
bool gphpy_error_of(PyObject *exception, gph_error *out);
/* libgph has succeeded although a function of Python failed: it went another way. The
 * exception is gone, and the status GPH_OK; but one that ends the program stays. */
gph_status gphpy_settle(void);

/* An exception that is set while libgph calls Python again: of an earlier call, that libgph
 * has not come back from. No Python may run with it. */
typedef struct gphpy_pending {
    PyObject *type, *value, *trace;
} gphpy_pending;
/* Takes it, none included. False: it ends the program, as Ctrl-C does; it stays set, and no
 * Python is to run. */
bool gphpy_pending_take(gphpy_pending *out);
/* Puts it back. The first exception is the one that counts, a later one is dropped, unless
 * that one ends the program. */
void gphpy_pending_give(gphpy_pending *pending);
/* Where a later exception is the one that counts. */
void gphpy_pending_drop(gphpy_pending *pending);

/* Adds what is known to the exception that is set, where it has none. */
void gphpy_blame_current(const gphpy_blame *blame);
/* "file:line" of the innermost frame of a traceback, where the exception was raised; NULL
 * without exception. */
PyObject *gphpy_trace_place(PyObject *trace);
/* The place of the Python code that runs: a str "file:line", or NULL without exception. */
PyObject *gphpy_place(void);

int gphpy_warnings_ready(PyObject *module);
/* Hands what libgph has warned of to Python's warnings. -1: a warning is an error. */
int gphpy_warn(void);

/* ---- threads ---- */

/* Of an object that serves one thread at a time. Waiting releases the GIL. */
typedef struct gphpy_lock {
    pthread_mutex_t mutex;
    _Atomic(unsigned long) owner; /* thread, to refuse a call from inside a call */
} gphpy_lock;
void gphpy_lock_init(gphpy_lock *lock);
void gphpy_lock_fini(gphpy_lock *lock);
/* False, with an exception: the thread has it already. `what` is the object's noun. */
bool gphpy_lock_take(gphpy_lock *lock, const char *what);
void gphpy_lock_give(gphpy_lock *lock);

/* ---- runtime, streams, kernels ---- */

/* A module one of whose kernels was captured. */
typedef struct gphpy_held {
    gph_module *gph;
    struct gphpy_held *next;
} gphpy_held;

typedef struct gphpy_runtime {
    PyObject_HEAD gph_runtime *gph;
    const gph_cuda_calls *cu;
    _Atomic(gphpy_held *) held; /* without a Module; unloaded with the runtime */
    _Atomic(gph_arena *)
        home;   /* of pools and trees without one of their own; made when asked */
    int device; /* whose primary context is retained; -1: none */
    bool is_soft;
} gphpy_runtime;

typedef struct gphpy_stream {
    PyObject_HEAD CUstream handle;
    gphpy_runtime *runtime;
    bool is_own;
} gphpy_stream;

/* A pair (address of a gph_realloc_fn, its user); None leaves `out` alone. -1 with an
 * exception. */
int gphpy_allocator_read(PyObject *object, gph_allocator *heap,
                         const gph_allocator **out);
/* Unloads what `runtime` holds. */
void gphpy_modules_unload(gphpy_runtime *runtime);
PyObject *gphpy_module_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_stream_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_tensor_view(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_open(PyObject *module, PyObject *args, PyObject *kwargs);
/* Makes the runtime's device the thread's where it has none; then the runtime, else NULL. */
gphpy_runtime *gphpy_runtime_use_slowly(gphpy_runtime *runtime);
/* Whether this thread has been seen to have a context. */
extern _Thread_local bool gphpy_thread_has_context
    __attribute__((tls_model("initial-exec"))); /* read at each hit */
static inline gphpy_runtime *gphpy_runtime_use(gphpy_runtime *runtime)
{
    return gphpy_thread_has_context ? runtime : gphpy_runtime_use_slowly(runtime);
}
/* As O& of PyArg_Parse: a Stream, an int, anything with __cuda_stream__; None is the
 * per-thread default stream. */
int gphpy_stream_read(PyObject *object, void *out);
bool gphpy_stream_is_capturing(gphpy_runtime *runtime, CUstream stream);
/* A Stream that is lent: destroyed by nobody. */
PyObject *gphpy_stream_lent(gphpy_runtime *runtime, CUstream handle);

/* Polls for up to 20 ms, without the GIL: what the driver says, or GPHPY_NOT_READY. The longer
 * the wait has been, the longer it sleeps; `waited_ns` begins with 0. */
enum { GPHPY_NOT_READY = 600 };
gph_status gphpy_stream_poll(const gph_cuda_calls *cu, CUstream stream, long *waited_ns);

/* ---- tensors ---- */

/* Who owns the memory of tensors that were allocated while something was recorded. Counted;
 * once it is over, nobody frees what was allocated in it. */
typedef struct gphpy_scope {
    _Atomic(int) references;
    _Atomic(int) is_over;
} gphpy_scope;
gphpy_scope *gphpy_scope_create(void);
void gphpy_scope_release(gphpy_scope *scope);

typedef struct gphpy_tensor {
    PyObject_HEAD gph_tensor view;
    PyObject *owner; /* keeps the memory; or NULL */
    gphpy_runtime *runtime;
} gphpy_tensor;

/* A view of memory that `owner` (borrowed, may be NULL) keeps. */
PyObject *gphpy_tensor_new(gphpy_runtime *runtime, const gph_tensor *view,
                           PyObject *owner);
/* Reads anything that is a tensor; `what` and `index` name it in the error. Data is as it
 * lies: nothing is copied. */
int gphpy_tensor_read(gphpy_runtime *runtime, PyObject *object, const char *what,
                      Py_ssize_t index, gph_tensor *out);
/* Its slow part: types other than Tensor. */
int gphpy_dlpack_read(gphpy_runtime *runtime, PyObject *object, const char *what,
                      Py_ssize_t index, gph_tensor *out);
/* Whether the type is NumPy's ndarray, of an ABI that gphpy_ndarray_read() knows. */
bool gphpy_is_ndarray(PyTypeObject *type);
/* False: not plain enough (the buffer protocol says why); `out` may have been written. */
bool gphpy_ndarray_read(PyObject *object, gph_tensor *out);
int gphpy_dlpack_ready(void);
PyObject *gphpy_dlpack_export(gphpy_tensor *tensor, bool is_versioned);
/* Of a Tensor: the buffer protocol's two slots, on softcuda alone, and the attribute
 * __cuda_array_interface__. */
int gphpy_tensor_buffer(gphpy_tensor *self, Py_buffer *out, int flags);
void gphpy_tensor_buffer_end(gphpy_tensor *self, Py_buffer *view);
PyObject *gphpy_tensor_interface(gphpy_tensor *self, void *unused);
bool gphpy_dtype_read(PyObject *object, gph_dtype *out);
const char *gphpy_dtype_name(uint32_t dtype);
uint32_t gphpy_dtype_bytes(uint32_t dtype);
/* A shape: an int, or a sequence of them. -1 with an exception, else the rank. */
int gphpy_shape_read(PyObject *object, int64_t shape[GPH_TENSOR_RANK_MAX]);
PyObject *gphpy_int64s(const int64_t *values, uint32_t count);

/* ---- memory ---- */

PyObject *gphpy_arena_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_pool_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
/* A Pool of somebody else's gph_pool, retained; `scope` (may be NULL) as gphpy_pool_scope(). */
PyObject *gphpy_pool_lent(gphpy_runtime *runtime, gph_pool *pool, gphpy_scope *scope);
/* The gph_pool of an object that must be a Pool; -1 with an exception. Borrowed. */
int gphpy_pool_bind(PyObject *object, gph_pool **out);
/* What is allocated in captured streams belongs to `scope` from now on; NULL: to nobody's. */
void gphpy_pool_scope(PyObject *pool, gphpy_scope *scope);
/* A tensor's memory now belongs to whoever it is handed to: it is not freed with the tensor. */
void gphpy_tensor_disown(PyObject *tensor);

/* ---- capture and replay ---- */

typedef struct gphpy_recording {
    PyObject_HEAD gph_recording *gph;
    gphpy_runtime *runtime;
    PyObject *pool;  /* keeps it; or NULL */
    PyObject *place; /* of the capture; or NULL */
} gphpy_recording;

PyObject *gphpy_recording_new(gphpy_runtime *runtime, gph_recording *taken,
                              PyObject *pool, PyObject *place);
PyObject *gphpy_recording_instantiate(gphpy_recording *recording, PyObject *args,
                                      PyObject *kwargs);
PyObject *gphpy_capture_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
/* A capture that somebody else ends; gphpy_capture_close() before that. */
PyObject *gphpy_capture_lent(gphpy_runtime *runtime, gph_capture *capture,
                             CUstream stream);
void gphpy_capture_close(PyObject *capture);
PyObject *gphpy_last_cause(PyObject *module, PyObject *unused);

/* A Launcher's replay(). */
PyObject *gphpy_launcher_replay(PyObject *launcher);
/* How many inputs its graph copies itself; and a replay with those that lie at `from`. */
uint32_t gphpy_launcher_pulls(PyObject *launcher);
bool gphpy_launcher_is_lost(PyObject *launcher); /* replay() would refuse */
PyObject *gphpy_launcher_pull(PyObject *launcher, const CUdeviceptr *from);

/* The gph_capture of an open Capture; NULL with an exception. And what a call of it failed
 * with, raised with the place and region that are known. */
gph_capture *gphpy_capture_open(PyObject *capture);
PyObject *gphpy_capture_raise(PyObject *capture, gph_status status,
                              const gph_error *error);

/* What a condition says, whose tensors and function the caller keeps; -1 with an exception. */
int gphpy_condition_read(gphpy_runtime *runtime, PyObject *object, gph_condition *out);
PyObject *gphpy_flow_new(PyObject *capture, gphpy_runtime *runtime, gph_flow_kind kind,
                         PyObject *args, PyObject *kwargs);
/* What became of the control flow of a recording: a list of dicts. */
PyObject *gphpy_flows(const gph_recording *recording);
PyObject *gphpy_loop_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_dispatch_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
/* An int, or a Recording of one segment, as a CUgraph: O& of PyArg_Parse. */
int gphpy_graph_read(PyObject *object, void *out);

/* The gph_exec of an object that must be an Exec; -1 with an exception. Borrowed. */
int gphpy_exec_bind(PyObject *object, gph_exec **out);
/* An executable that `owner` lends. */
PyObject *gphpy_exec_lent(gphpy_runtime *runtime, gph_exec *exec, PyObject *owner,
                          int keeps_gil);
/* keep_gil: launches do not let go of the GIL. They wait where the stream's queue is full, and
 * if a host function of Python is to empty it, that one waits for the GIL: so it is the
 * caller's to say that there is none. */
PyObject *gphpy_exec_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);

typedef struct gphpy_graph {
    PyObject_HEAD gph_graph *gph;
} gphpy_graph;
PyObject *gphpy_graph_new(gph_graph *taken);

/* ---- functions that are recorded ---- */

/* Keeps an object of libgph's with all that it borrows: what tensors that it lends refer to,
 * and what the garbage collector looks into. */
enum { GPHPY_KEPT = 8 };
typedef struct gphpy_keeper {
    PyObject_HEAD void *object;
    void (*destroy)(void *object); /* NULL: there is nothing yet */
    PyObject *function;            /* that libgph calls, by gphpy_function_call() */
    gphpy_runtime *runtime;
    PyObject *kept[GPHPY_KEPT]; /* in the order of gphpy_keep() */
    PyObject *results;          /* a list: what the function gave while it was recorded */
} gphpy_keeper;
gphpy_keeper *gphpy_keeper_new(gphpy_runtime *runtime, PyObject *function);
/* Keeps one object more, as long as the keeper. */
void gphpy_keep(gphpy_keeper *keeper, PyObject *object);
/* The gph_function_fn of all: `user` is a gphpy_keeper. */
gph_status gphpy_function_call(void *user, gph_call *call, gph_error *error);

PyObject *gphpy_rng_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
/* The gph_rng of an object that must be an Rng or None; -1 with an exception. Borrowed. */
int gphpy_rng_bind(PyObject *object, gph_rng **out);
PyObject *gphpy_callable_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_tree_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_cache_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
/* Words of a key: an int or a sequence of them. -1 with an exception, else how many. */
enum { GPHPY_KEY_MAX = 16 };
int gphpy_key_read(PyObject *object, int64_t key[GPHPY_KEY_MAX]);
/* What a function of `count` outputs gives: None, the one, or the tuple. Takes it. */
PyObject *gphpy_unpack(PyObject *tuple, uint32_t count);
/* Of a pool that is lent for a call: all that is allocated in it is the scope's. */
void gphpy_pool_scope_all(PyObject *pool);

PyObject *gphpy_slots_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs);
PyObject *gphpy_slot_buffer_new(gphpy_runtime *runtime, PyObject *bytes);

/* ---- progress ---- */

/* Who hears how far a thing is: a function of Python's (borrowed), or a bar on standard
 * error. */
typedef struct gphpy_progress {
    PyObject *function; /* or NULL */
    bool is_shown;
} gphpy_progress;
/* True: a bar; None: a bar, if standard error is a terminal; or a function. */
gphpy_progress gphpy_progress_read(PyObject *object);
/* Also looks for signals, Ctrl-C. -1: with an exception, it is to end. */
int gphpy_progress_tell(const gphpy_progress *progress, const char *what, uint64_t done,
                        uint64_t total, uint64_t ns, uint64_t left_ns);

/* ---- communicators ---- */

/* Lets go of those whose Comm has gone, where no graph keeps them any more: called where a
 * graph may have gone. */
extern _Atomic(unsigned) gphpy_comms_left;
void gphpy_comms_settle_slowly(void);
/* The same, and gives graphs that have just gone a moment: before a group of that name can be
 * opened again. */
void gphpy_comms_wait(void);
static inline void gphpy_comms_settle(void)
{
    if (atomic_load_explicit(&gphpy_comms_left, memory_order_relaxed) > 0)
        gphpy_comms_settle_slowly();
}

/* ---- functions of the module ---- */

PyObject *gphpy_examine(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *gphpy_explain(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *gphpy_near(PyObject *module, PyObject *object);
PyObject *gphpy_fill_stack(PyObject *module, PyObject *object);

/* ---- text ---- */

/* A gph_write_fn that gathers text; `user` is a gphpy_text. */
typedef struct gphpy_text {
    char *bytes;
    size_t length, room;
} gphpy_text;
gph_status gphpy_text_write(void *user, const void *data, size_t bytes);
/* A str of it; frees it in any case. With a status other than GPH_OK raises. */
PyObject *gphpy_text_end(gphpy_text *text, gph_status status, const gph_error *error);
/* A path of any sort, as fsencoded bytes: O& of PyArg_Parse (PyUnicode_FSConverter). */

/* The number of a word in a list that ends with NULL, counting from `first`; -1 with an
 * exception that names `what` and all words. */
int gphpy_word(PyObject *object, const char *const *words, int first, const char *what);
#endif
