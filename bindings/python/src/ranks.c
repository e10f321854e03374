// SPDX-License-Identifier: Apache-2.0
/* Ranks: the processes of a job. Calls, communicators and the object itself each have a hold
 * on the group; it is left when the last of them is gone, so that close() may come while
 * another thread waits in a call. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- holds ---- */

gph_ranks *gphpy_ranks_take(gphpy_ranks *self)
{
    int holds = atomic_load(&self->holds);
    while (!atomic_load(&self->is_closed) && holds > 0)
        if (atomic_compare_exchange_weak(&self->holds, &holds, holds + 1))
            return self->gph;
    gphpy_raise(GPH_E_STATE,
                &(gph_error){.code = GPH_E_STATE, .message = "the Ranks are closed"},
                NULL);
    return NULL;
}

void gphpy_ranks_give(gphpy_ranks *self)
{
    if (atomic_fetch_sub(&self->holds, 1) != 1)
        return;
    PyThreadState *state = PyEval_SaveThread();
    gph_ranks_close(self->gph);
    PyEval_RestoreThread(state);
}

static void leave(gphpy_ranks *self)
{
    if (!atomic_exchange(&self->is_closed, 1))
        gphpy_ranks_give(self);
}

const char *gphpy_ranks_place(PyObject *place)
{
    const char *text = place ? PyUnicode_AsUTF8AndSize(place, NULL) : NULL;
    if (!text)
        PyErr_Clear();
    return text;
}

/* ---- agreement ---- */

/* A step that all ranks do: its name and place, with the object locked and taken. */
struct step {
    gphpy_ranks *self;
    gph_ranks *gph;
    PyObject *place;
    const char *at;
};

static bool step_begin(struct step *s, gphpy_ranks *self)
{
    *s = (struct step){.self = self};
    if (!gphpy_lock_take(&self->lock, "Ranks"))
        return false;
    s->gph = gphpy_ranks_take(self);
    if (!s->gph) {
        gphpy_lock_give(&self->lock);
        return false;
    }
    s->place = gphpy_place();
    s->at = gphpy_ranks_place(s->place);
    return true;
}

/* False: with the exception of what failed. */
static bool step_end(struct step *s, gph_status status, const gph_error *error)
{
    if (status != GPH_OK)
        gphpy_raise(status, error, &(gphpy_blame){.place = s->place});
    Py_XDECREF(s->place);
    gphpy_ranks_give(s->self);
    gphpy_lock_give(&s->self->lock);
    return status == GPH_OK && gphpy_warn() == 0;
}

static PyObject *list_of(const char *all, size_t bytes, uint32_t count, bool is_int)
{
    PyObject *list = PyList_New(count);
    for (uint32_t i = 0; list && i < count; i++) {
        int64_t number = 0;
        if (is_int)
            memcpy(&number, all + bytes * i, sizeof(number));
        PyObject *one =
            is_int ? PyLong_FromLongLong(number)
                   : PyBytes_FromStringAndSize(all + bytes * i, (Py_ssize_t)bytes);
        if (!one || PyList_SetItem(list, i, one) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *gather_bytes(gphpy_ranks *self, const char *what, const void *mine,
                              size_t bytes, bool is_int)
{
    struct step s;
    gph_error error = {0};
    if (!step_begin(&s, self))
        return NULL;
    const uint32_t count = self->count;
    gph_status status = GPH_E_NO_MEMORY;
    char *all = bytes <= GPH_RANKS_GATHER_MAX ? malloc(bytes * count + 1) : NULL;
    if (bytes > GPH_RANKS_GATHER_MAX) { /* libgph says so */
        WITHOUT_GIL(status,
                    gph_ranks_gather_at(s.at, s.gph, what, mine, bytes, NULL, &error));
    } else if (all) {
        WITHOUT_GIL(status,
                    gph_ranks_gather_at(s.at, s.gph, what, mine, bytes, all, &error));
    }
    PyObject *list =
        step_end(&s, status, &error) && all ? list_of(all, bytes, count, is_int) : NULL;
    free(all);
    return list;
}

static PyObject *gather(gphpy_ranks *self, PyObject *args)
{
    const char *what = NULL;
    PyObject *value = NULL;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "sO:gather", &what, &value))
        return NULL;
    if (PyLong_Check(value)) {
        const int64_t number = PyLong_AsLongLong(value);
        if (number == -1 && PyErr_Occurred())
            return NULL;
        return gather_bytes(self, what, &number, sizeof(number), true);
    }
    if (PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *list = gather_bytes(self, what, view.buf, (size_t)view.len, false);
    PyBuffer_Release(&view);
    return list;
}

static PyObject *agree(gphpy_ranks *self, PyObject *args)
{
    const char *what = NULL, *text = NULL;
    gph_error error = {0};
    struct step s;
    if (!PyArg_ParseTuple(args, "ss:agree", &what, &text) || !step_begin(&s, self))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_ranks_agree_at(s.at, s.gph, what, text, &error));
    return step_end(&s, status, &error) ? Py_NewRef(Py_None) : NULL;
}

typedef gph_status number_fn(const char *place, gph_ranks *ranks, const char *what,
                             int64_t mine, int64_t *out, gph_error *error);

static PyObject *number(gphpy_ranks *self, PyObject *args, const char *format,
                        number_fn *function)
{
    const char *what = NULL;
    long long mine = 0;
    int64_t out = 0;
    gph_error error = {0};
    struct step s;
    if (!PyArg_ParseTuple(args, format, &what, &mine) || !step_begin(&s, self))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, function(s.at, s.gph, what, mine, &out, &error));
    return step_end(&s, status, &error) ? PyLong_FromLongLong(out) : NULL;
}

static PyObject *most(gphpy_ranks *self, PyObject *args)
{
    return number(self, args, "sL:most", gph_ranks_most_at);
}

static PyObject *least(gphpy_ranks *self, PyObject *args)
{
    return number(self, args, "sL:least", gph_ranks_least_at);
}

/* The exception that is set was raised because of this one. */
static void set_cause(PyObject *cause)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && value != cause)
        PyException_SetCause(value, Py_NewRef(cause));
    PyErr_Restore(type, value, trace);
}

static PyObject *all_of(gphpy_ranks *self, PyObject *args)
{
    const char *what = NULL;
    PyObject *exception = Py_None;
    gph_error mine = {0}, error = {0};
    struct step s;
    if (!PyArg_ParseTuple(args, "s|O:all", &what, &exception) ||
        (exception != Py_None && !gphpy_error_of(exception, &mine)) ||
        !step_begin(&s, self))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_ranks_all_at(s.at, s.gph, what, mine.code, &mine, &error));
    if (step_end(&s, status, &error))
        return Py_NewRef(Py_None);
    if (exception != Py_None)
        set_cause(exception);
    return NULL;
}

/* ---- whether all is well ---- */

static PyObject *fail(gphpy_ranks *self, PyObject *exception)
{
    gph_error cause = {.code = GPH_E_STATE};
    if (PyUnicode_Check(exception)) {
        const char *text = PyUnicode_AsUTF8AndSize(exception, NULL);
        if (!text)
            return NULL;
        snprintf(cause.message, sizeof(cause.message), "%s", text);
    } else if (!gphpy_error_of(exception, &cause)) {
        return NULL;
    }
    gph_ranks *gph = gphpy_ranks_take(self);
    if (!gph)
        return NULL;
    gph_ranks_fail(gph, &cause);
    gphpy_ranks_give(self);
    return Py_NewRef(Py_None);
}

static PyObject *check(gphpy_ranks *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    gph_ranks *gph = gphpy_ranks_take(self);
    if (!gph)
        return NULL;
    const gph_status status = gph_ranks_check(gph, &error);
    gphpy_ranks_give(self);
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

/* Turns of 20 ms, for Ctrl-C; gph_ranks_wait() then has the last word, and ends the
 * communicators' work where the group has failed. */
static gph_status wait_in_turns(gph_ranks *gph, gphpy_runtime *runtime, CUstream stream,
                                gph_error *error)
{
    long waited_ns = 0;
    gph_status status;
    do {
        if (PyErr_CheckSignals() < 0)
            return GPH_E_STATE;
        WITHOUT_GIL(status, gphpy_stream_poll(runtime->cu, stream, &waited_ns));
    } while (status == GPHPY_NOT_READY && gph_ranks_check(gph, NULL) == GPH_OK);
    WITHOUT_GIL(status, gph_ranks_wait(gph, runtime->gph, stream, error));
    return status;
}

static PyObject *wait_for(gphpy_ranks *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"stream", "runtime", NULL};
    PyObject *object = NULL, *given = Py_None;
    CUstream stream = NULL;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O|O:wait", names, &object, &given) ||
        !gphpy_stream_read(object, &stream))
        return NULL;
    gphpy_runtime *runtime = Py_TYPE(given) == gphpy_types.runtime ? (void *)given
                             : Py_TYPE(object) == gphpy_types.stream
                                 ? ((gphpy_stream *)object)->runtime
                                 : atomic_load(&self->runtime);
    if (given != Py_None && Py_TYPE(given) != gphpy_types.runtime) {
        PyErr_SetString(PyExc_TypeError, "runtime is not a Runtime");
        return NULL;
    }
    if (!runtime)
        return gphpy_invalid("the stream is not a Stream and the Ranks have no Comm yet, "
                             "so wait() needs a runtime");
    if (!gphpy_runtime_use(runtime))
        return NULL;
    gph_ranks *gph = gphpy_ranks_take(self);
    if (!gph)
        return NULL;
    PyObject *place = gphpy_place();
    const gph_status status = wait_in_turns(gph, runtime, stream, &error);
    gphpy_ranks_give(self);
    if (status != GPH_OK)
        gphpy_raise(status, &error, &(gphpy_blame){.place = place});
    Py_XDECREF(place);
    return status == GPH_OK && gphpy_warn() == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *get_peers(gphpy_ranks *self, void *unused)
{
    (void)unused;
    gph_ranks *gph = gphpy_ranks_take(self);
    PyObject *list = gph ? PyList_New(0) : NULL;
    for (uint32_t i = 0; list && i < self->count; i++) {
        gph_ranks_peer peer = GPH_SIZED(gph_ranks_peer);
        gph_error error = {0};
        const gph_status status = gph_ranks_peer_get(gph, i, &peer, &error);
        PyObject *one = status == GPH_OK
                            ? Py_BuildValue("{sI sO sL sK ss ss ss}", "rank", i, "alive",
                                            peer.alive ? Py_True : Py_False, "process",
                                            (long long)peer.process, "steps",
                                            (unsigned long long)peer.steps, "at", peer.at,
                                            "place", peer.place, "host", peer.host)
                            : gphpy_raise(status, &error, NULL);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    if (gph)
        gphpy_ranks_give(self);
    return list;
}

/* ---- its making and its end ---- */

static int read_seconds(double seconds, const char *what, uint64_t *out)
{
    if (!(seconds >= 0 && seconds < 1e9)) {
        char text[32];
        snprintf(text, sizeof(text), "%g", seconds);
        gphpy_invalid("%s is %s, not seconds", what, text);
        return -1;
    }
    *out = (uint64_t)(seconds * 1e9);
    return 0;
}

/* Asked by what waits in libgph without the GIL. The handler's exception stays set, and is
 * what the call raises. Off the main thread signals are not handled, nor is a wait ended. */
static uint32_t is_interrupted(void *unused)
{
    (void)unused;
    PyGILState_STATE state = PyGILState_Ensure();
    const uint32_t answer = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return answer;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    static const char *const names[] = {"count",    "rank",      "name", "patience_s",
                                        "notice_s", "allocator", NULL};
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_allocator heap;
    PyObject *allocator = Py_None;
    double patience = 0, notice = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "|$IIzddO:Ranks", names, &options.count, &options.rank,
               &options.name, &patience, &notice, &allocator) ||
        read_seconds(patience, "patience_s", &options.patience_ns) < 0 ||
        read_seconds(notice, "notice_s", &options.notice_ns) < 0 ||
        gphpy_allocator_read(allocator, &heap, &options.allocator) < 0)
        return NULL;
    gphpy_ranks *self = gphpy_new(gphpy_types.ranks, sizeof(*self));
    if (!self)
        return NULL;
    gphpy_lock_init(&self->lock);
    atomic_init(&self->holds, 1);
    atomic_init(&self->is_closed, 0);
    options.stop = is_interrupted;
    gphpy_comms_wait();
    PyObject *place = gphpy_place();
    gph_status status;
    WITHOUT_GIL(status, gph_ranks_open(&options, &self->gph, &error));
    if (status != GPH_OK) {
        gphpy_raise(status, &error, &(gphpy_blame){.place = place});
        Py_CLEAR(self);
    } else {
        self->rank = gph_ranks_rank(self->gph);
        self->count = gph_ranks_count(self->gph);
        self->local = gph_ranks_local(self->gph);
    }
    Py_XDECREF(place);
    return (PyObject *)self;
}

static void destroy(gphpy_ranks *self)
{
    leave(self); /* closing NULL is allowed */
    Py_XDECREF((PyObject *)atomic_load(&self->runtime));
    gphpy_lock_fini(&self->lock);
    gphpy_free(self);
}

static PyObject *enter(gphpy_ranks *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)self);
}

static PyObject *close_it(gphpy_ranks *self, PyObject *unused)
{
    (void)unused;
    gphpy_comms_settle();
    leave(self);
    return Py_NewRef(Py_None);
}

/* sys.exit() and sys.exit(0): a rank that leaves, not one that cannot go on. */
static bool is_plain_exit(PyObject *exception)
{
    if (PyObject_IsInstance(exception, PyExc_SystemExit) != 1)
        return false;
    PyObject *code = PyObject_GetAttrString(exception, "code");
    const bool is_plain =
        code && (code == Py_None || (PyLong_Check(code) && PyLong_AsLong(code) == 0));
    Py_XDECREF(code);
    PyErr_Clear();
    return is_plain;
}

static PyObject *exit_it(gphpy_ranks *self, PyObject *args)
{
    PyObject *type = NULL, *exception = NULL, *trace = NULL;
    gph_error cause = {0};
    if (!PyArg_ParseTuple(args, "OOO:__exit__", &type, &exception, &trace))
        return NULL;
    if (exception != Py_None && !is_plain_exit(exception) &&
        gphpy_error_of(exception, &cause) && gphpy_ranks_take(self)) {
        gph_ranks_fail(self->gph, &cause);
        gphpy_ranks_give(self);
    }
    PyErr_Clear(); /* closed already: the body's own exception goes on */
    gphpy_comms_settle();
    leave(self);
    return Py_NewRef(Py_False);
}

static PyObject *get_rank(gphpy_ranks *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(self->rank);
}

static PyObject *get_count(gphpy_ranks *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(self->count);
}

static PyObject *get_local(gphpy_ranks *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(self->local);
}

static PyObject *get_address(gphpy_ranks *self, void *unused)
{
    (void)unused;
    gph_ranks *gph = gphpy_ranks_take(self);
    if (gph)
        gphpy_ranks_give(self);
    return gph ? PyLong_FromVoidPtr(gph) : NULL;
}

static PyObject *represent(gphpy_ranks *self)
{
    return PyUnicode_FromFormat("<graphophone.Ranks: rank %u of %u%s>",
                                (unsigned)self->rank, (unsigned)self->count,
                                atomic_load(&self->is_closed) ? ", closed" : "");
}

static PyMethodDef methods[] = {
    {"gather", (PyCFunction)gather, METH_VARARGS,
     "gather($self, what, value, /)\n--\n\n"
     "Every rank gives an int (of 64 bits) or bytes (as many on each), and gets a list "
     "of those of\n"
     "all, in the order of ranks."},
    {"agree", (PyCFunction)agree, METH_VARARGS,
     "agree($self, what, text, /)\n--\n\n"
     "Raises InvalidError, which names two that differ, unless all ranks have the same "
     "text, of up\n"
     "to 511 bytes. Of long data agree on a hash."},
    {"most", (PyCFunction)most, METH_VARARGS,
     "most($self, what, number, /)\n--\n\nThe largest of the ranks' numbers."},
    {"least", (PyCFunction)least, METH_VARARGS,
     "least($self, what, number, /)\n--\n\nThe smallest of the ranks' numbers."},
    {"all", (PyCFunction)all_of, METH_VARARGS,
     "all($self, what, error=None, /)\n--\n\n"
     "Did it succeed on all? Each rank gives the exception that its step raised, or "
     "None. Where one\n"
     "is not None every rank raises it, with the rank before its text, and the group "
     "goes on:\n\n"
     "    failure = None\n"
     "    try:\n"
     "        record()\n"
     "    except Exception as error:\n"
     "        failure = error\n"
     "    ranks.all(\"record\", failure)"},
    METHOD1("fail", fail,
            "fail($self, error, /)\n--\n\n"
            "Makes it known to every rank that this one cannot go on: an exception, or a "
            "str. "
            "What waits on\n"
            "the others ends, with this cause. Any thread."),
    METHOD0("check", check,
            "check($self)\n--\n\nRaises why the group has failed, if it has. A load of "
            "memory; any\n"
            "thread."),
    METHOD(
        "wait", wait_for,
        "wait($self, stream, runtime=None)\n--\n\n"
        "Waits for a stream while the ranks are watched: after a failure of the group it "
        "ends the\n"
        "communicators' work and raises the cause. Ctrl-C ends the wait, not the work. "
        "runtime is for\n"
        "streams of others before there is a Comm. Any thread."),
    METHOD0("close", close_it,
            "close($self)\n--\n\nLeaves the group, once calls on other threads and "
            "Comms of it\n"
            "are over. It does not wait for other ranks."),
    METHOD0("__enter__", enter, "__enter__($self)\n--\n\nThe Ranks themselves."),
    {"__exit__", (PyCFunction)exit_it, METH_VARARGS,
     "__exit__($self, type, value, traceback, /)\n--\n\n"
     "close(); after an exception fail() with it, so that no other rank waits for this "
     "one."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("rank", get_rank, "Which rank this process is."),
    GETTER("count", get_count, "How many ranks there are."),
    GETTER("local", get_local,
           "Which of the ranks of this host: the number of its GPU, in most jobs."),
    GETTER("peers", get_peers,
           "What is known of each rank, a list of dicts: rank, alive, process, steps\n"
           "(agreements that it came to), at (the last one), place, host."),
    GETTER("address", get_address, "The address of the gph_ranks, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_ranks_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"Ranks(*, count=0, rank=0, name=None, patience_s=0.0, "
                 "notice_s=0.0)\n--\n\n"
                 "Programs of several processes, one a GPU: meets the other ranks, and\n"
                 "returns when all are there.\n\n"
                 "    with graphophone.Ranks() as ranks:      # under torchrun, mpirun, "
                 "srun\n"
                 "        bucket = ranks.most(\"bucket\", mine)\n"
                 "        ranks.wait(stream)\n\n"
                 "When a rank ends, is late or out of step, or reports an error, each "
                 "other\n"
                 "one raises that, with the rank and its place, instead of hanging. An\n"
                 "exception that leaves the block, Ctrl-C too, is such an error.\n\n"
                 "count and rank: 0: of GPH_RANKS and GPH_RANK, torchrun, Open MPI, PMI "
                 "or\n"
                 "Slurm. name: of the job; another one for a second group. patience_s: "
                 "how\n"
                 "long a rank that lives may be late (0: 30). notice_s: a rank that "
                 "ended is\n"
                 "noticed within this time (0: 0.25). Needs no GPU. Agreements (gather,\n"
                 "agree, most, least, all) are called by all ranks in one order, with "
                 "the\n"
                 "same `what`, a name of up to 63 bytes; one thread at a time, others "
                 "wait."},
        {Py_tp_new, (void *)make},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_repr, (void *)represent},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Ranks", sizeof(gphpy_ranks), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return gphpy_type_add(module, &spec, &gphpy_types.ranks);
}
