// SPDX-License-Identifier: Apache-2.0
/* Comm: collectives of the ranks' GPUs, eager or captured.
 *
 * Graphs that recorded one keep it, and it borrows its group: so a Comm that goes before them
 * leaves its insides on a list, with the group, until they have gone. Whoever makes or drops
 * Comms, Ranks and executables looks at it, and the end of the interpreter. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What a Comm is made of, and borrows. */
typedef struct inside {
    gph_comm *gph;
    gphpy_ranks *ranks; /* a reference and a hold */
    gphpy_runtime *runtime;
    struct inside *next;
} inside;

typedef struct comm {
    PyObject_HEAD gph_comm *gph;
    gphpy_ranks *ranks;
    gphpy_runtime *runtime;
    inside *in;
    gphpy_lock lock;
} comm;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static inside *left; /* of Comms that have gone */
_Atomic(unsigned) gphpy_comms_left;

static const char *const ways[] = {"best", "nccl", "own", NULL};
static const char *const reductions[] = {"sum", "max", "min", NULL};

/* ---- tensors ---- */

static uint64_t elements_of(const gph_tensor *tensor)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        elements *= (uint64_t)tensor->shape[i];
    return elements;
}

/* Row-major and without gaps: collectives know no strides. */
static bool is_dense(const gph_tensor *tensor)
{
    int64_t next = 1;
    for (uint32_t i = tensor->rank; i-- > 0; next *= tensor->shape[i])
        if (tensor->shape[i] > 1 && tensor->stride[i] != next)
            return elements_of(tensor) == 0;
    return true;
}

static int read_dense(comm *self, PyObject *object, const char *what, gph_tensor *out)
{
    if (gphpy_tensor_read(self->runtime, object, what, 0, out) < 0)
        return -1;
    if (is_dense(out))
        return 0;
    gphpy_invalid("%s is not contiguous", what);
    return -1;
}

/* `out` has to have `times` as many elements as `in`, of the same type. */
static int check_pair(const gph_tensor *in, const gph_tensor *out, uint32_t times)
{
    if (out->dtype == in->dtype && elements_of(out) == times * elements_of(in))
        return 0;
    gphpy_invalid("out has %llu elements of %s, %llu of %s are wanted",
                  (unsigned long long)elements_of(out), gphpy_dtype_name(out->dtype),
                  (unsigned long long)(times * elements_of(in)),
                  gphpy_dtype_name(in->dtype));
    return -1;
}

/* ---- calls ---- */

/* A call of libgph: the communicator is locked, and what fails has the caller's place, or
 * the one that a library in between gives for its own caller. */
struct doing {
    comm *self;
    PyObject *place;
    const char *at;
};

static bool do_begin(struct doing *d, comm *self, PyObject *given)
{
    *d = (struct doing){.self = self};
    if (!gphpy_runtime_use(self->runtime) || !gphpy_lock_take(&self->lock, "Comm"))
        return false;
    d->place = given && given != Py_None ? Py_NewRef(given) : gphpy_place();
    d->at = gphpy_ranks_place(d->place);
    return true;
}

/* What the call gives: `result` (borrowed), or NULL with the exception. */
static PyObject *do_end(struct doing *d, gph_status status, const gph_error *error,
                        PyObject *result)
{
    if (status != GPH_OK)
        gphpy_raise(status, error, &(gphpy_blame){.place = d->place});
    Py_XDECREF(d->place);
    gphpy_lock_give(&d->self->lock);
    return status == GPH_OK && gphpy_warn() == 0 ? Py_NewRef(result) : NULL;
}

static PyObject *all_reduce(comm *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"tensor", "out", "op", "stream", "place", NULL};
    PyObject *tensor = NULL, *result = Py_None, *op = NULL, *place = NULL;
    CUstream stream = NULL;
    gph_tensor in, out;
    gph_error error = {0};
    struct doing d;
    if (!gphpy_stream_read(Py_None, &stream) ||
        !PARSE(args, kwargs, "O|OO$O&O:all_reduce", names, &tensor, &result, &op,
               gphpy_stream_read, &stream, &place) ||
        !do_begin(&d, self, place))
        return NULL;
    result = result == Py_None ? tensor : result;
    const int reduction =
        op ? gphpy_word(op, reductions, GPH_COMM_SUM, "op") : GPH_COMM_SUM;
    gph_status status = GPH_E_INVALID; /* unless an exception says something else */
    if (reduction >= 0 && read_dense(self, tensor, "tensor", &in) == 0 &&
        read_dense(self, result, "out", &out) == 0 && check_pair(&in, &out, 1) == 0)
        WITHOUT_GIL(status, gph_comm_all_reduce_at(d.at, self->gph, in.data, out.data,
                                                   elements_of(&in), (gph_dtype)in.dtype,
                                                   (gph_comm_reduction)reduction, stream,
                                                   &error));
    return do_end(&d, status, &error, result);
}

static PyObject *all_gather(comm *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"tensor", "out", "stream", "place", NULL};
    PyObject *tensor = NULL, *result = NULL, *place = NULL;
    CUstream stream = NULL;
    gph_tensor in, out;
    gph_error error = {0};
    struct doing d;
    if (!gphpy_stream_read(Py_None, &stream) ||
        !PARSE(args, kwargs, "OO|$O&O:all_gather", names, &tensor, &result,
               gphpy_stream_read, &stream, &place) ||
        !do_begin(&d, self, place))
        return NULL;
    gph_status status = GPH_E_INVALID;
    if (read_dense(self, tensor, "tensor", &in) == 0 &&
        read_dense(self, result, "out", &out) == 0 &&
        check_pair(&in, &out, self->ranks->count) == 0)
        WITHOUT_GIL(status, gph_comm_all_gather_at(d.at, self->gph, in.data, out.data,
                                                   elements_of(&in), (gph_dtype)in.dtype,
                                                   stream, &error));
    return do_end(&d, status, &error, result);
}

static PyObject *broadcast(comm *self, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"tensor", "root", "stream", "place", NULL};
    PyObject *tensor = NULL, *place = NULL;
    unsigned root = 0;
    CUstream stream = NULL;
    gph_tensor data;
    gph_error error = {0};
    struct doing d;
    if (!gphpy_stream_read(Py_None, &stream) ||
        !PARSE(args, kwargs, "O|I$O&O:broadcast", names, &tensor, &root,
               gphpy_stream_read, &stream, &place) ||
        !do_begin(&d, self, place))
        return NULL;
    gph_status status = GPH_E_INVALID;
    if (read_dense(self, tensor, "tensor", &data) == 0)
        WITHOUT_GIL(status,
                    gph_comm_broadcast_at(d.at, self->gph, data.data, elements_of(&data),
                                          (gph_dtype)data.dtype, root, stream, &error));
    return do_end(&d, status, &error, tensor);
}

/* ---- graphs ---- */

static PyObject *graph_agree(comm *self, PyObject *object)
{
    CUgraph graph = NULL;
    gph_error error = {0};
    struct doing d;
    PyObject *kept = NULL;
    if (Py_TYPE(object) == gphpy_types.callable) {
        kept = PyObject_GetAttrString(object, "graph");
        if (kept == Py_None)
            gphpy_invalid("the Callable was recorded without keep_graph");
        if (!kept || kept == Py_None) {
            Py_XDECREF(kept);
            return NULL;
        }
    }
    const int is_read = gphpy_graph_read(kept ? kept : object, &graph);
    Py_XDECREF(kept);
    if (!is_read || !do_begin(&d, self, NULL))
        return NULL;
    gph_status status;
    WITHOUT_GIL(status, gph_comm_graph_agree(self->gph, graph, &error));
    return do_end(&d, status, &error, Py_None);
}

static PyObject *keep(comm *self, PyObject *object)
{
    CUstream stream = NULL;
    gph_error error = {0};
    struct doing d;
    if (!gphpy_stream_read(object, &stream) || !do_begin(&d, self, NULL))
        return NULL;
    const gph_status status = gph_comm_keep(self->gph, stream, &error);
    return do_end(&d, status, &error, Py_None);
}

/* ---- what it is ---- */

static PyObject *times_of(const double us[8])
{
    static const uint64_t kib[8] = {1, 4, 16, 32, 64, 128, 256, 512};
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && i < 8; i++) {
        PyObject *bytes = PyLong_FromUnsignedLongLong(kib[i] << 10);
        PyObject *time = PyFloat_FromDouble(us[i]);
        if (!bytes || !time || (us[i] > 0 && PyDict_SetItem(dict, bytes, time) < 0))
            Py_CLEAR(dict);
        Py_XDECREF(bytes);
        Py_XDECREF(time);
    }
    return dict;
}

static PyObject *get_info(comm *self, void *unused)
{
    (void)unused;
    gph_comm_info i = GPH_SIZED(gph_comm_info);
    gph_comm_info_get(self->gph, &i);
    return Py_BuildValue(
        "{sO sO sI sK sK sK sK sN sN ss}", "has_nccl", i.has_nccl ? Py_True : Py_False,
        "has_own", i.has_own ? Py_True : Py_False, "nccl_version", i.nccl_version,
        "own_up_to", (unsigned long long)i.own_up_to, "calls",
        (unsigned long long)i.calls, "captured", (unsigned long long)i.captured, "graphs",
        (unsigned long long)i.graphs, "own_us", times_of(i.own_us), "nccl_us",
        times_of(i.nccl_us), "text", i.text);
}

static PyObject *get_nccl(comm *self, void *unused)
{
    (void)unused;
    void *handle = gph_comm_nccl(self->gph);
    return handle ? PyLong_FromVoidPtr(handle) : Py_NewRef(Py_None);
}

static PyObject *get_ranks(comm *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)self->ranks);
}

static PyObject *get_address(comm *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

/* ---- its making and its end ---- */

/* What Python gave, by name. */
struct given {
    PyObject *ranks, *runtime, *way, *path;
    gph_comm_options options;
};

static int read_given(struct given *g, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"ranks",     "runtime", "way", "own_bytes",
                                        "nccl_path", "name",    NULL};
    unsigned long long own_bytes = 0;
    if (!PARSE(args, kwargs, "O!O!|$OKOz:Comm", names, gphpy_types.ranks, &g->ranks,
               gphpy_types.runtime, &g->runtime, &g->way, &own_bytes, &g->path,
               &g->options.name))
        return -1;
    const int way = g->way ? gphpy_word(g->way, ways, GPH_COMM_BEST, "way") : 0;
    if (way < 0)
        return -1;
    g->options.way = (uint32_t)way;
    g->options.own_bytes = own_bytes;
    PyObject *path = NULL; /* as the file system's bytes */
    if (g->path && g->path != Py_None && !PyUnicode_FSConverter(g->path, &path))
        return -1;
    g->path = path;
    g->options.nccl_path = path ? PyBytes_AsString(path) : NULL;
    return gphpy_runtime_use((gphpy_runtime *)g->runtime) ? 0 : -1;
}

static bool is_kept(const inside *in)
{
    gph_comm_info info = GPH_SIZED(gph_comm_info);
    gph_comm_info_get(in->gph, &info);
    return info.graphs > 0;
}

static inside *take_left(bool all)
{
    inside *taken = NULL, *one;
    pthread_mutex_lock(&mutex);
    for (inside **at = &left; (one = *at);) {
        if (!all && is_kept(one)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->next = taken;
        taken = one;
        atomic_fetch_sub(&gphpy_comms_left, 1);
    }
    pthread_mutex_unlock(&mutex);
    return taken;
}

void gphpy_comms_settle_slowly(void)
{
    inside *one = take_left(false), *next;
    for (; one; one = next) {
        next = one->next;
        PyThreadState *state = PyEval_SaveThread();
        gph_comm_destroy(one->gph);
        PyEval_RestoreThread(state);
        gphpy_ranks_give(one->ranks);
        Py_DECREF((PyObject *)one->ranks);
        Py_DECREF((PyObject *)one->runtime);
        free(one);
    }
}

/* That a graph has gone is said by a thread of the driver's, a moment later. */
enum { MOMENTS = 100 };

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void gphpy_comms_wait(void)
{
    gphpy_comms_settle();
    for (int i = 0; i < MOMENTS && atomic_load(&gphpy_comms_left) > 0; i++) {
        PyThreadState *state = PyEval_SaveThread();
        nap();
        PyEval_RestoreThread(state);
        gphpy_comms_settle();
    }
}

/* Python has ended. What is still in a graph then keeps its group, too, whose other ranks see
 * that this one ended. */
static void settle_at_exit(void)
{
    inside *one = take_left(true);
    for (; one; one = one->next) {
        for (int i = 0; i < MOMENTS && is_kept(one); i++)
            nap();
        const bool was_kept = is_kept(one);
        gph_comm_destroy(one->gph);
        if (!was_kept && atomic_fetch_sub(&one->ranks->holds, 1) == 1)
            gph_ranks_close(one->ranks->gph);
    }
}

static void destroy(comm *self)
{
    if (self->in) {
        pthread_mutex_lock(&mutex);
        self->in->next = left;
        left = self->in;
        atomic_fetch_add(&gphpy_comms_left, 1);
        pthread_mutex_unlock(&mutex);
        gphpy_comms_settle();
    }
    gphpy_lock_fini(&self->lock);
    gphpy_free(self);
}

static bool create(comm *self, const struct given *g)
{
    gphpy_ranks *ranks = (gphpy_ranks *)g->ranks;
    gphpy_runtime *runtime = (gphpy_runtime *)g->runtime;
    inside *in = malloc(sizeof(*in));
    gph_comm *made = NULL;
    gph_error error = {0};
    if (!in) {
        PyErr_NoMemory();
        return false;
    }
    PyObject *place = gphpy_place();
    gph_status status;
    WITHOUT_GIL(status,
                gph_comm_create(ranks->gph, runtime->gph, &g->options, &made, &error));
    if (status != GPH_OK) {
        gphpy_raise(status, &error, &(gphpy_blame){.place = place});
        free(in);
    } else {
        *in = (inside){.gph = made,
                       .ranks = (gphpy_ranks *)Py_NewRef(g->ranks),
                       .runtime = (gphpy_runtime *)Py_NewRef(g->runtime)};
        self->in = in;
        self->gph = made;
        self->ranks = ranks;
        self->runtime = runtime;
    }
    Py_XDECREF(place);
    return status == GPH_OK;
}

/* What Ranks.wait() uses where its stream says no runtime. */
static void make_known(gphpy_ranks *ranks, gphpy_runtime *runtime)
{
    gphpy_runtime *none = NULL;
    Py_INCREF((PyObject *)runtime);
    if (!atomic_compare_exchange_strong(&ranks->runtime, &none, runtime))
        Py_DECREF((PyObject *)runtime);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    struct given g = {.options = GPH_COMM_OPTIONS_INIT};
    comm *self = NULL;
    bool is_made = false;
    gphpy_comms_settle();
    if (read_given(&g, args, kwargs) < 0 ||
        !(self = gphpy_new(gphpy_types.comm, sizeof(*self))))
        goto out;
    gphpy_lock_init(&self->lock);
    gphpy_ranks *ranks = (gphpy_ranks *)g.ranks;
    if (gphpy_lock_take(&ranks->lock, "Ranks")) {
        if (gphpy_ranks_take(ranks) && !(is_made = create(self, &g)))
            gphpy_ranks_give(ranks);
        gphpy_lock_give(&ranks->lock);
    }
    if (is_made)
        make_known(ranks, self->runtime);
    if (!is_made || gphpy_warn() < 0)
        Py_CLEAR(self);
out:
    Py_XDECREF(g.path);
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    METHOD(
        "all_reduce", all_reduce,
        "all_reduce($self, tensor, out=None, op='sum', *, stream=None, "
        "place=None)\n--\n\n"
        "Puts the 'sum', 'max' or 'min' of every rank's tensor into every rank's out, "
        "which "
        "is the\n"
        "tensor itself unless given, and returned. Contiguous tensors. f16 and bf16 are "
        "summed as\n"
        "f32 by the own kernel. place: 'file:line' of whose call it is, for libraries in "
        "between."),
    METHOD("all_gather", all_gather,
           "all_gather($self, tensor, out, *, stream=None, place=None)\n--\n\n"
           "Puts every rank's tensor into out, in the order of ranks; returns out."),
    METHOD("broadcast", broadcast,
           "broadcast($self, tensor, root=0, *, stream=None, place=None)\n--\n\n"
           "Puts the tensor of rank root into every rank's; returns it."),
    METHOD1(
        "graph_agree", graph_agree,
        "graph_agree($self, graph, /)\n--\n\n"
        "Did every rank record the same collectives? Asked by all of them between "
        "capture "
        "and first\n"
        "launch; InvalidError names the first that differs, with both places. graph: a "
        "CUgraph (an\n"
        "int), a Recording of one segment, or a Callable made with keep_graph."),
    METHOD1("keep", keep,
            "keep($self, stream, /)\n--\n\n"
            "The communicator stays as long as the graph that the stream is captured "
            "into: for "
            "calls\n"
            "that were made with `nccl`."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER(
        "info", get_info,
        "What it is, a dict: has_nccl, has_own, nccl_version, own_up_to (bytes of a sum\n"
        "that the own kernel takes), calls, captured, graphs, own_us and nccl_us "
        "(dicts:\n"
        "microseconds measured by bytes), text (all of it in a sentence)."),
    GETTER("nccl", get_nccl, "NCCL's own ncclComm_t, an int; None without NCCL."),
    GETTER("ranks", get_ranks, "Its Ranks."),
    GETTER("address", get_address, "The address of the gph_comm, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_comm_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void
              *)"Comm(ranks, runtime, *, way='best', own_bytes=0, nccl_path=None, "
                "name=None)\n--\n\n"
                "The GPUs of all ranks, one each: collectives that may be captured. All\n"
                "ranks make it, with the context of their GPU; it fails on all or on\n"
                "none. way: 'best' (NCCL for large tensors, a kernel of libgph's own "
                "for\n"
                "small sums, by what is measured here), 'nccl' or 'own'. own_bytes: the\n"
                "own kernel's largest tensor (0: 256 KiB). nccl_path: NCCL's library.\n\n"
                "Graphs that recorded it keep it. Collectives run in one order, the "
                "same\n"
                "on every rank; calls one at a time, other threads wait."},
        {Py_tp_new, (void *)make},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Comm", sizeof(comm), 0, Py_TPFLAGS_DEFAULT,
                               slots};
    if (Py_AtExit(settle_at_exit) < 0) {
        PyErr_SetString(PyExc_ImportError,
                        "Python has room for no more functions at exit");
        return -1;
    }
    return gphpy_type_add(module, &spec, &gphpy_types.comm);
}
