// SPDX-License-Identifier: Apache-2.0
/* Loop: recorded work that runs round after round on the device. */
#include "gphpy.h"

#include <stddef.h>

typedef struct loop {
    PyObject_HEAD vectorcallfunc call;
    gph_loop *gph;
    gphpy_runtime *runtime;
    PyObject *condition, *counter, *body; /* kept: the device reads them */
    uint64_t ceiling;
} loop;

static const char *const ways[] = {"fastest", "device", "while", "tail", "host", NULL};
static const char *const ends[] = {"running", "done",    "ceiling",
                                   "budget",  "aborted", "refused"};

static PyObject *launch(PyObject *object, PyObject *const *args, size_t count,
                        PyObject *names)
{
    loop *const self = (loop *)object;
    CUstream stream = NULL;
    gph_error error;
    if (PyVectorcall_NARGS(count) != 1 || names) {
        PyErr_SetString(PyExc_TypeError, "a Loop is called with a stream");
        return NULL;
    }
    if (!gphpy_stream_read(args[0], &stream) || !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    error.message[0] = '\0';
    WITHOUT_GIL(status, gph_loop_launch(self->gph, stream, &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *abort_it(loop *self, PyObject *unused)
{
    (void)unused;
    gph_loop_abort(self->gph);
    return Py_NewRef(Py_None);
}

static PyObject *result_of(const gph_loop_result *r)
{
    return Py_BuildValue(
        "{ss sK sK sK sK sI sO}", "end", ends[r->end < 6 ? r->end : 0], "launch",
        (unsigned long long)r->launch, "steps", (unsigned long long)r->steps, "rounds",
        (unsigned long long)r->rounds, "ns", (unsigned long long)r->ns, "condition",
        r->condition, "changed", r->changed ? Py_True : Py_False);
}

/* Waits a turn of 20 ms after the other, and looks for signals in between. */
static gph_status wait_in_turns(loop *self, CUstream stream, const gphpy_progress *p)
{
    long waited_ns = 0;
    for (;;) {
        gph_status status;
        WITHOUT_GIL(status, gphpy_stream_poll(self->runtime->cu, stream, &waited_ns));
        if (status != GPHPY_NOT_READY)
            return GPH_OK; /* gph_loop_wait() says what it was */
        gph_loop_progress now = GPH_SIZED(gph_loop_progress);
        gph_loop_progress_get(self->gph, &now);
        const uint64_t rest = self->ceiling > now.steps ? self->ceiling - now.steps : 0;
        const uint64_t left = now.steps ? now.ns / now.steps * rest : 0;
        if (gphpy_progress_tell(p, "loop", now.steps, self->ceiling, now.ns, left) < 0)
            return GPH_E_STATE;
    }
}

static PyObject *wait_for(loop *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"stream", "progress", NULL};
    CUstream stream = NULL;
    PyObject *progress = Py_False;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "O&|O:wait", names, gphpy_stream_read, &stream, &progress) ||
        !gphpy_runtime_use(self->runtime))
        return NULL;
    const gphpy_progress p = gphpy_progress_read(progress);
    if (wait_in_turns(self, stream, &p) != GPH_OK)
        return NULL;
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    gph_status status;
    WITHOUT_GIL(status, gph_loop_wait(self->gph, stream, &result, &error));
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    return gphpy_warn() < 0 ? NULL : result_of(&result);
}

static PyObject *limits(loop *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"ceiling", "budget_ns", NULL};
    unsigned long long ceiling = 0, budget = 0;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "K|K:limits", names, &ceiling, &budget))
        return NULL;
    const gph_status status = gph_loop_limits_set(self->gph, ceiling, budget, &error);
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    self->ceiling = ceiling;
    return Py_NewRef(Py_None);
}

static PyObject *update(loop *self, PyObject *object)
{
    CUgraph body = NULL;
    gph_error error = {0};
    if (!gphpy_graph_read(object, &body) || !gphpy_runtime_use(self->runtime))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_loop_update(self->gph, body, &error));
    if (status != GPH_OK)
        return gphpy_raise(status, &error, NULL);
    PyObject *former;
    ONE_AT_A_TIME(former, self, gphpy_exchange(&self->body, object));
    Py_XDECREF(former);
    return Py_NewRef(Py_None);
}

static PyObject *get_progress(loop *self, void *unused)
{
    (void)unused;
    gph_loop_progress p = GPH_SIZED(gph_loop_progress);
    gph_loop_progress_get(self->gph, &p);
    return Py_BuildValue(
        "{sO sK sK sK sK sK sK}", "running", p.running ? Py_True : Py_False, "launched",
        (unsigned long long)p.launched, "begun", (unsigned long long)p.begun, "ended",
        (unsigned long long)p.ended, "steps", (unsigned long long)p.steps, "rounds",
        (unsigned long long)p.rounds, "ns", (unsigned long long)p.ns);
}

static PyObject *get_ways(loop *self, void *unused)
{
    (void)unused;
    gph_loop_ways w = GPH_SIZED(gph_loop_ways);
    gph_loop_ways_get(self->gph, &w);
    return Py_BuildValue("{ss ss sd sd sd}", "way", ways[w.way < 5 ? w.way : 0], "text",
                         w.text, "while_ns", w.round_ns[GPH_LOOP_WHILE], "tail_ns",
                         w.round_ns[GPH_LOOP_TAIL], "host_ns", w.round_ns[GPH_LOOP_HOST]);
}

static PyObject *get_exec(loop *self, void *unused)
{
    (void)unused;
    gph_exec *lent = gph_loop_exec(self->gph);
    return lent ? gphpy_exec_lent(self->runtime, lent, (PyObject *)self, 0)
                : Py_NewRef(Py_None);
}

static PyObject *get_address(loop *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- its making and its end ---- */

/* What Python gave, by name. */
struct given {
    PyObject *body, *condition, *way, *counter, *before, *stream;
};

static int read_options(gphpy_runtime *runtime, const struct given *g,
                        gph_loop_options *o, gph_condition *test)
{
    const int way = g->way ? gphpy_word(g->way, ways, GPH_LOOP_FASTEST, "way") : 0;
    gph_tensor counter;
    if (way < 0 || gphpy_condition_read(runtime, g->condition, test) < 0)
        return -1;
    if (test->kind == GPH_CONDITION_KERNEL) {
        PyErr_SetString(PyExc_TypeError,
                        "the condition of a Loop is a word or a comparison");
        return -1;
    }
    o->way = (uint32_t)way;
    if (test->kind == GPH_CONDITION_WORD)
        o->condition = test->left;
    else
        o->test = test;
    if (g->counter && g->counter != Py_None) {
        if (gphpy_tensor_read(runtime, g->counter, "counter", 0, &counter) < 0)
            return -1;
        o->counter = counter.data;
    }
    if (g->before && g->before != Py_None && !gphpy_graph_read(g->before, &o->before))
        return -1;
    return !g->stream || gphpy_stream_read(g->stream, &o->stream) ? 0 : -1;
}

static void destroy(loop *self)
{
    if (self->gph) {
        PyThreadState *state = PyEval_SaveThread();
        gph_loop_destroy(self->gph);
        PyEval_RestoreThread(state);
    }
    Py_XDECREF(self->condition);
    Py_XDECREF(self->counter);
    Py_XDECREF(self->body);
    Py_DECREF((PyObject *)self->runtime);
    gphpy_free(self);
}

PyObject *gphpy_loop_new(gphpy_runtime *runtime, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"body",   "condition", "ceiling", "way",
                                        "unroll", "budget_ns", "counter", "poll_ns",
                                        "name",   "before",    "stream",  NULL};
    gph_loop_options options = GPH_LOOP_OPTIONS_INIT;
    gph_condition test;
    struct given g = {0};
    unsigned long long ceiling = 0, budget = 0, poll = 0;
    CUgraph body = NULL;
    gph_error error = {0};
    if (!PARSE(args, kwargs, "OOK|$OIKOKzOO:loop", names, &g.body, &g.condition, &ceiling,
               &g.way, &options.unroll, &budget, &g.counter, &poll, &options.name,
               &g.before, &g.stream) ||
        !gphpy_graph_read(g.body, &body) ||
        read_options(runtime, &g, &options, &test) < 0 || !gphpy_runtime_use(runtime))
        return NULL;
    options.ceiling = ceiling;
    options.budget_ns = budget;
    options.poll_ns = poll;
    loop *self = gphpy_new(gphpy_types.loop, sizeof(*self));
    if (!self)
        return NULL;
    self->call = launch;
    self->ceiling = ceiling;
    self->runtime = (gphpy_runtime *)Py_NewRef((PyObject *)runtime);
    self->condition = Py_NewRef(g.condition);
    self->counter = Py_XNewRef(g.counter);
    self->body = Py_NewRef(g.body);
    gph_status status;
    WITHOUT_GIL(status,
                gph_loop_create(runtime->gph, body, &options, &self->gph, &error));
    if (status == GPH_OK && gphpy_warn() == 0)
        return (PyObject *)self;
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    Py_DECREF((PyObject *)self);
    return NULL;
}

static PyMethodDef methods[] = {
    METHOD("wait", wait_for,
           "wait($self, stream, progress=False)\n--\n\n"
           "Waits for the stream and says what the launch that ended last did, a dict: "
           "end, launch,\n"
           "steps, rounds, ns, condition, changed. StateError unless it ended because "
           "its condition\n"
           "was 0. progress: True: a bar on standard error (None: if that is a "
           "terminal), or a\n"
           "function of (steps, ceiling, 'loop'). Ctrl-C ends the wait, abort() the "
           "loop."),
    METHOD0(
        "abort", abort_it,
        "abort($self)\n--\n\nEnds the launch that runs, and those that wait for their "
        "turn,\n"
        "after the round at the time they see it."),
    METHOD("limits", limits,
           "limits($self, ceiling, budget_ns=0)\n--\n\nOf launches that begin from now "
           "on."),
    METHOD1("update", update,
            "update($self, graph, /)\n--\n\nGives it another body; no launch may run."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("progress", get_progress,
           "How far it came, a dict: running, launched, begun, ended, steps, rounds, "
           "ns.\n"
           "Reads memory alone."),
    GETTER("ways", get_ways,
           "Which way was taken, and why, a dict: way, text, while_ns, tail_ns, host_ns "
           "(a round\n"
           "of short kernels; 0.0: not measured)."),
    GETTER("exec", get_exec, "What a launch launches: an Exec; None of way 'host'."),
    GETTER("address", get_address, "The address of the gph_loop, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(loop, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int gphpy_loop_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"Recorded work that runs round after round on the device:\n"
                 "Runtime.loop(). loop(stream) launches it, once for all rounds. Any\n"
                 "thread launches; the rest one at a time."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Loop", sizeof(loop), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                                   Py_TPFLAGS_HAVE_VECTORCALL,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.loop);
}
