// SPDX-License-Identifier: Apache-2.0
/* PathHit: the hit of one compiled function in PyTorch's graph trees (torch._inductor.cudagraph_trees,
 * of 2.11), without its Python. The tree stays PyTorch's: it warms up, records, and is asked
 * whenever something is not as it was. A step is one edge of it that was taken before:
 *
 *   manager at `previous`  --- all checks of the node hold --->  copies, replay, outputs of `node`
 *
 * The checks are those of CUDAGraphNode.check_invariants, in their order, and of the manager's
 * _run before them. What a step holds are the node's own lists: outputs count references,
 * so that nothing here may keep one. */
#include "liveness.h"
#include "reader.h"

#include <stddef.h>

/* What arm() takes by name, and a step keeps. */
#define PARTS(X)                                                                         \
    X(manager)       /* CUDAGraphTreeManager */                                          \
    X(previous)      /* its current node before the call, or None */                     \
    X(state)         /* its path_state then */                                           \
    X(running)       /* ExecutionState.EXECUTION */                                      \
    X(node)          /* CUDAGraphNode */                                                 \
    X(mode)          /* CompilationMode of the function */                               \
    X(compile_id)    /* of the function */                                               \
    X(pending)       /* what the call leaves in running_forwards_...; None: as it is */  \
    X(marks)         /* MarkStepBox */                                                   \
    X(generations)   /* GenerationTracker */                                             \
    X(pointers_same) /* torch._C._tensors_data_ptrs_at_indices_equal */                  \
    X(pointers)      /* of static inputs, by index */                                    \
    X(managed)       /* indices of inputs that are outputs of the path */                \
    X(fixed)         /* indices of static inputs */                                      \
    X(dropped)       /* of the managed ones those that are let go of */                  \
    X(dead_before)   /* what has to be dead, as liveness.h has it */                     \
    X(dead_after)    /* the same, after `dropped` */                                     \
    X(sizes)         /* inputs that are ints: a list of (index, value) */                \
    X(copied)        /* indices of inputs that are copied */                             \
    X(targets)       /* where to, tensors */                                             \
    X(copy)          /* torch._foreach_copy_ */                                          \
    X(replay)        /* CUDAGraph.replay, bound */                                       \
    X(graph)         /* the CUDAGraph, where replay is a Launcher's own; or None */      \
    X(cached)        /* the node's list of output tensors, None where there is none */   \
    X(others)  /* what is given where `cached` has None, a list as long; or None */      \
    X(rebuild) /* the node's reconstruct_outputs, or None: it is not needed */           \
    X(reads)   /* of gphpy_reader_read(): None, or how tensors are read in C */

typedef struct step {
#define X(name) PyObject *name;
    PARTS(X)
#undef X
    PyObject *attributes; /* the manager's __dict__; or NULL: it is asked by name */
    Py_ssize_t input_count;
    bool is_new_round; /* a root, called while another path is current */
    gphpy_reader reader;
    struct place *places; /* with a reader: of managed and fixed inputs */
    Py_ssize_t place_count;
} step;

/* An input that has to lie where it lay. Whether its address may be peeked at is found out at the
 * first hit, by asking as well. */
struct place {
    Py_ssize_t index;
    void *address;
    PyTypeObject *type; /* of what lay there at that hit, when it may be peeked at */
    enum { UNTRIED, PEEKED, ASKED } way;
};

enum { STEPS = 8 };

typedef struct hit {
    PyObject_HEAD vectorcallfunc call;
    PyObject *weak_references;
    PyObject *notes; /* its __dict__: PyTorch notes things on what it compiled; or NULL */
    PyObject *miss;
    int count; /* of steps that may be taken */
    int kept; /* of steps that hold something: more than `count` while one of them, disarmed, runs */
    int depth; /* of calls that look at steps: what they look at stays */
    step steps[STEPS];
} hit;

typedef enum verdict { MISS, HIT, FAILED } verdict;

/* Names of attributes, made once. */
static struct names {
    PyObject *current_node, *path_state, *current_gen, *pending, *mark_step_counter,
        *generation, *mode, *compile_id, *hooks, *data_ptr;
} names;

/* An attribute of the manager's, by its dictionary: half of what the general way costs. New
 * reference. */
static PyObject *attribute(const step *s, PyObject *name)
{
    PyObject *value = s->attributes ? PyDict_GetItemWithError(s->attributes, name) : NULL;
    if (value)
        return Py_NewRef(value);
    return PyErr_Occurred() ? NULL : PyObject_GetAttr(s->manager, name);
}

static int set_attribute(const step *s, PyObject *name, PyObject *value)
{
    return s->attributes ? PyDict_SetItem(s->attributes, name, value)
                         : PyObject_SetAttr(s->manager, name, value);
}

static bool is_attribute(const step *s, PyObject *name, PyObject *expected)
{
    PyObject *value = attribute(s, name);
    const bool is_same = value == expected;
    Py_XDECREF(value);
    return is_same;
}

/* The generation now: that of the marks where the program makes any. New reference. */
static PyObject *generation_now(const step *s, bool *is_marked)
{
    PyObject *marks = PyObject_GetAttr(s->marks, names.mark_step_counter);
    if (!marks)
        return NULL;
    *is_marked = PyObject_IsTrue(marks) == 1;
    if (*is_marked)
        return marks;
    Py_DECREF(marks);
    return PyObject_GetAttr(s->generations, names.generation);
}

/* CUDAGraphTreeManager.can_start_new_generation. */
static bool may_begin(const step *s, PyObject *generation, bool is_marked)
{
    PyObject *last = attribute(s, names.current_gen);
    const bool is_new = last && PyObject_RichCompareBool(last, generation, Py_NE) == 1;
    Py_XDECREF(last);
    return is_new && (is_marked || is_attribute(s, names.pending, Py_False));
}

/* 1, 0, or -1 with an exception. NULL or None: nothing to ask. */
static int ask(PyObject *function, PyObject *const *args, size_t count)
{
    PyObject *result = PyObject_Vectorcall(function, args, count, NULL);
    const int truth = result ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    return truth;
}

/* The first time: by PyTorch, which the peek has to agree with from then on. */
static bool is_in_place_slowly(const step *s, struct place *place, PyObject *tensor)
{
    void *asked = NULL, *peeked = NULL;
    if (!gphpy_reader_address(&s->reader, tensor, &asked) || asked != place->address)
        return false;
    if (place->way == UNTRIED) {
        const bool agrees =
            gphpy_reader_peek(&s->reader, tensor, &peeked) && peeked == asked;
        place->way = agrees ? PEEKED : ASKED;
        place->type =
            agrees ? (PyTypeObject *)Py_NewRef((PyObject *)Py_TYPE(tensor)) : NULL;
    }
    return true;
}

static bool is_in_place(const step *s, struct place *place, PyObject *tensor)
{
    void *peeked = NULL;
    if (place->way != PEEKED || Py_TYPE(tensor) != place->type)
        return is_in_place_slowly(s, place, tensor);
    return gphpy_layout_peek(&s->reader.layout, tensor, &peeked) &&
           peeked == place->address;
}

/* Whether each lies where it lay, without PyTorch's Python. */
static int are_in_place(const step *s, PyObject *inputs)
{
    for (Py_ssize_t i = 0; i < s->place_count; i++)
        if (!is_in_place(s, &s->places[i], LIST_ITEM(inputs, s->places[i].index)))
            return 0;
    return 1;
}

static int is_same(const step *s, PyObject *inputs, PyObject *indices)
{
    if (s->places) /* all are compared at once: are_in_place() */
        return 1;
    if (PyList_Size(indices) == 0)
        return 1;
    PyObject *args[] = {inputs, s->pointers, indices};
    return ask(s->pointers_same, args, 3);
}

static Py_ssize_t index_at(PyObject *indices, Py_ssize_t i)
{
    return PyLong_AsSsize_t(PyList_GetItem(indices, i));
}

/* Each number of sizes has recordings of its own. */
static int are_sizes(const step *s, PyObject *inputs)
{
    const Py_ssize_t count = PyList_Size(s->sizes);
    int truth = 1;
    for (Py_ssize_t i = 0; i < count && truth == 1; i++) {
        PyObject *pair = PyList_GetItem(s->sizes, i);
        const Py_ssize_t index = PyLong_AsSsize_t(TUPLE_ITEM(pair, 0));
        truth = PyObject_RichCompareBool(PyList_GetItem(inputs, index),
                                         TUPLE_ITEM(pair, 1), Py_EQ);
    }
    return truth;
}

/* Inputs that are copied were compiled for addresses that 16 divides; others are PyTorch's
 * to clone. */
static int are_aligned(const step *s, PyObject *inputs)
{
    enum { ALIGNMENT = 16 };
    const Py_ssize_t count = PyList_Size(s->copied);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *tensor = PyList_GetItem(inputs, index_at(s->copied, i));
        void *place = NULL;
        if (tensor && (gphpy_reader_peek(&s->reader, tensor, &place) ||
                       gphpy_reader_address(&s->reader, tensor, &place))) {
            if ((uintptr_t)place % ALIGNMENT != 0)
                return 0;
            continue;
        }
        PyObject *address =
            tensor ? PyObject_CallMethodNoArgs(tensor, names.data_ptr) : NULL;
        const unsigned long long value = address ? PyLong_AsUnsignedLongLong(address) : 1;
        Py_XDECREF(address);
        if (PyErr_Occurred())
            return -1;
        if (value % ALIGNMENT != 0)
            return 0;
    }
    return 1;
}

/* Nothing is changed before all that may be asked is. */
static verdict check(const step *s, PyObject *inputs, PyObject **generation)
{
    bool is_marked = false;
    if (PyList_Size(inputs) != s->input_count)
        return MISS;
    int truth = are_sizes(s, inputs);
    if (truth != 1)
        return truth < 0 ? FAILED : MISS;
    if (!is_attribute(s, names.current_node, s->previous) ||
        !is_attribute(s, names.path_state, s->state))
        return PyErr_Occurred() ? FAILED : MISS;
    *generation = generation_now(s, &is_marked);
    if (!*generation)
        return FAILED;
    if (s->is_new_round && !may_begin(s, *generation, is_marked))
        return PyErr_Occurred() ? FAILED : MISS;
    truth = are_aligned(s, inputs);
    if (truth == 1 && s->places)
        truth = are_in_place(s, inputs);
    if (truth == 1)
        truth = is_same(s, inputs, s->managed);
    if (truth == 1)
        truth = gphpy_all_dead(s->dead_before);
    if (truth == 1)
        truth = is_same(s, inputs, s->fixed);
    return truth < 0 ? FAILED : truth ? HIT : MISS;
}

static int drop_managed(const step *s, PyObject *inputs)
{
    const Py_ssize_t count = PyList_Size(s->dropped);
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyList_SetItem(inputs, index_at(s->dropped, i), Py_NewRef(Py_None)) < 0)
            return -1;
    const int truth = gphpy_all_dead(s->dead_after);
    if (truth == 0)
        PyErr_SetString(PyExc_RuntimeError,
                        "an input tensor that died while the graph was recorded lives "
                        "now, and the replay would write over its memory");
    return truth == 1 ? 0 : -1;
}

static int advance(const step *s, PyObject *generation)
{
    if (set_attribute(s, names.mode, s->mode) < 0 ||
        set_attribute(s, names.compile_id, s->compile_id) < 0 ||
        set_attribute(s, names.current_node, s->node) < 0 ||
        set_attribute(s, names.current_gen, generation) < 0)
        return -1;
    return s->state == s->running ? 0 : set_attribute(s, names.path_state, s->running);
}

/* By PyTorch. */
static int copy_generally(const step *s, PyObject *inputs)
{
    const Py_ssize_t count = PyList_Size(s->copied);
    PyObject *sources = PyList_New(count);
    for (Py_ssize_t i = 0; sources && i < count; i++) {
        const Py_ssize_t index = index_at(s->copied, i);
        if (PyList_SetItem(sources, i, Py_NewRef(PyList_GetItem(inputs, index))) < 0 ||
            PyList_SetItem(inputs, index, Py_NewRef(Py_None)) < 0)
            Py_CLEAR(sources);
    }
    if (!sources)
        return -1;
    PyObject *result = PyObject_CallFunctionObjArgs(s->copy, s->targets, sources, NULL);
    Py_DECREF(sources);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* Where all that is copied lies, if it is as it was when the step was taken first. */
static bool find_sources(const step *s, PyObject *inputs, Py_ssize_t count,
                         CUdeviceptr *from)
{
    PyObject *sources[GPHPY_READER_TARGETS];
    if (count != (Py_ssize_t)s->reader.target_count)
        return false;
    for (Py_ssize_t i = 0; i < count; i++)
        sources[i] = PyList_GetItem(inputs, index_at(s->copied, i));
    return gphpy_reader_sources(&s->reader, sources, count, from);
}

/* Copies and launches: in one call of the driver where the graph copies. */
static PyObject *copy_and_replay(const step *s, PyObject *inputs)
{
    CUdeviceptr from[GPHPY_READER_TARGETS];
    const Py_ssize_t count = PyList_Size(s->copied);
    const bool is_ours = s->graph != Py_None;
    if (count > 0) {
        const bool is_found = find_sources(s, inputs, count, from);
        if (is_found && is_ours && gphpy_launcher_pulls(s->graph) == (uint32_t)count)
            return gphpy_launcher_pull(s->graph, from);
        if ((!is_found || !gphpy_reader_copy(&s->reader, from)) &&
            copy_generally(s, inputs) < 0)
            return NULL;
    }
    return is_ours ? gphpy_launcher_replay(s->graph) : PyObject_CallNoArgs(s->replay);
}

static int take_hooks_off(PyObject *tensor)
{
    PyObject *hooks = PyObject_GetAttr(tensor, names.hooks);
    const bool is_set = hooks && hooks != Py_None;
    Py_XDECREF(hooks);
    if (!hooks)
        return -1;
    return is_set ? PyObject_SetAttr(tensor, names.hooks, Py_None) : 0;
}

/* The tensors of the last call, as PyTorch gives them: hooks of the last user are gone. */
static PyObject *outputs_of(const step *s)
{
    if (s->rebuild != Py_None)
        return PyObject_CallNoArgs(s->rebuild);
    const Py_ssize_t count = PyList_Size(s->cached);
    PyObject *outputs = PyList_New(count);
    for (Py_ssize_t i = 0; outputs && i < count; i++) {
        PyObject *tensor = PyList_GetItem(s->cached, i); /* borrowed: PyTorch counts */
        if (tensor == Py_None && s->others != Py_None) {
            PyList_SetItem(outputs, i, Py_NewRef(PyList_GetItem(s->others, i)));
            continue;
        }
        if (!gphpy_reader_is_bare(&s->reader, tensor) && take_hooks_off(tensor) < 0) {
            Py_CLEAR(outputs);
            break;
        }
        PyList_SetItem(outputs, i, Py_NewRef(tensor));
    }
    return outputs;
}

static PyObject *take(const step *s, PyObject *inputs, PyObject *generation)
{
    if (drop_managed(s, inputs) < 0 || advance(s, generation) < 0)
        return NULL;
    PyObject *result = copy_and_replay(s, inputs); /* `inputs` is emptied at the end */
    if (!result)
        return NULL;
    Py_DECREF(result);
    PyObject *outputs = outputs_of(s);
    if (outputs &&
        (PyList_SetSlice(inputs, 0, PyList_Size(inputs), NULL) < 0 ||
         (s->pending != Py_None && set_attribute(s, names.pending, s->pending) < 0)))
        Py_CLEAR(outputs);
    return outputs;
}

static void forget(step *s)
{
    for (Py_ssize_t i = 0; s->places && i < s->place_count; i++)
        Py_XDECREF((PyObject *)s->places[i].type);
    PyMem_Free(s->places);
    s->places = NULL;
    gphpy_reader_free(&s->reader);
    Py_CLEAR(s->attributes);
#define X(name) Py_CLEAR(s->name);
    PARTS(X)
#undef X
}

/* Lets go of what disarmed steps hold, unless a call still looks at them. */
static void sweep(hit *self)
{
    while (self->depth == 0 && self->kept > self->count) {
        step gone = self->steps[--self->kept]; /* finalizers may come back here */
        forget(&gone);
    }
}

static PyObject *call_locked(hit *self, PyObject *const *args, size_t count,
                             PyObject *keywords)
{
    if (PyVectorcall_NARGS(count) != 1 || keywords || !PyList_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "a PathHit is called with the list of inputs");
        return NULL;
    }
    PyObject *outputs = NULL;
    verdict v = MISS;
    self->depth++;
    for (int i = 0; i < self->count && v == MISS; i++) {
        PyObject *generation = NULL;
        v = check(&self->steps[i], args[0], &generation);
        if (v == HIT)
            outputs = take(&self->steps[i], args[0], generation);
        Py_XDECREF(generation);
    }
    self->depth--;
    if (self->kept > self->count)
        sweep(self);
    if (v != MISS)
        return outputs;
    return PyObject_CallFunctionObjArgs(self->miss, args[0], NULL);
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t count,
                      PyObject *keywords)
{
    PyObject *result;
    ONE_AT_A_TIME(result, object, call_locked((hit *)object, args, count, keywords));
    return result;
}

static PyObject *disarm_locked(hit *self)
{
    self->count = 0;
    sweep(self);
    Py_RETURN_NONE;
}

static PyObject *disarm(hit *self, PyObject *unused)
{
    (void)unused;
    PyObject *result;
    ONE_AT_A_TIME(result, self, disarm_locked(self));
    return result;
}

static int read_part(PyObject *parts, const char *name, PyObject **out)
{
    PyObject *value = PyDict_GetItemString(parts, name);
    if (!value) {
        PyErr_Format(PyExc_TypeError, "arm() needs %s", name);
        return -1;
    }
    *out = Py_NewRef(value);
    return 0;
}

/* The addresses that managed and fixed inputs have to have. -1 with an exception. */
static int read_places(step *s)
{
    PyObject *const lists[] = {s->managed, s->fixed};
    const Py_ssize_t count = PyList_Size(s->managed) + PyList_Size(s->fixed);
    s->places = PyMem_Calloc((size_t)count + 1, sizeof(*s->places));
    if (!s->places) {
        PyErr_NoMemory();
        return -1;
    }
    for (int k = 0; k < 2; k++)
        for (Py_ssize_t i = 0; i < PyList_Size(lists[k]); i++) {
            struct place *place = &s->places[s->place_count];
            place->index = index_at(lists[k], i);
            PyObject *pointer = PyList_GetItem(s->pointers, place->index);
            if (!pointer || !PyLong_Check(pointer)) { /* not a tensor: the slow way */
                PyErr_Clear();
                PyMem_Free(s->places);
                s->places = NULL;
                return 0;
            }
            place->address = PyLong_AsVoidPtr(pointer);
            if (PyErr_Occurred())
                return -1;
            if (place->index < 0 || place->index >= s->input_count) {
                gphpy_invalid("input %zd is not one of the %zd", place->index,
                              s->input_count);
                return -1;
            }
            s->place_count++;
        }
    return 0;
}

/* Where there is a reader: what it needs. */
static int read_reader(step *s)
{
    if (gphpy_reader_read(&s->reader, s->reads) < 0)
        return -1;
    if (!s->reader.type)
        return 0;
    if (gphpy_reader_targets(&s->reader, s->targets) < 0)
        return -1;
    return s->reader.data_ptr ? read_places(s) : 0;
}

/* Where threads share it without a lock, nothing of a dictionary can be borrowed. */
static int read_attributes(step *s)
{
#ifndef Py_GIL_DISABLED
    s->attributes = PyObject_GenericGetDict(s->manager, NULL);
    if (s->attributes && PyDict_CheckExact(s->attributes))
        return 0;
    Py_CLEAR(s->attributes);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return PyErr_Occurred() ? -1 : 0;
    PyErr_Clear(); /* it has none, as an object of slots */
#endif
    (void)s;
    return 0;
}

static PyObject *arm_locked(hit *self, PyObject *args, PyObject *parts)
{
    Py_ssize_t inputs = 0;
    int is_new_round = 0;
    if (!PyArg_ParseTuple(args, "np:arm", &inputs, &is_new_round))
        return NULL;
    step s = {.input_count = inputs, .is_new_round = is_new_round};
    if (!parts)
        return PyErr_Format(PyExc_TypeError, "arm() needs the parts of a step by name");
#define X(name)                                                                          \
    if (read_part(parts, #name, &s.name) < 0) {                                          \
        forget(&s);                                                                      \
        return NULL;                                                                     \
    }
    PARTS(X)
#undef X
    bool has_pairs = PyList_Check(s.sizes);
    for (Py_ssize_t i = 0; has_pairs && i < PyList_Size(s.sizes); i++) {
        PyObject *pair = PyList_GetItem(s.sizes, i);
        has_pairs = PyTuple_Check(pair) && TUPLE_SIZE(pair) == 2 &&
                    PyLong_Check(TUPLE_ITEM(pair, 0)) &&
                    PyLong_AsSsize_t(TUPLE_ITEM(pair, 0)) < inputs;
    }
    if (!has_pairs || !PyList_Check(s.managed) || !PyList_Check(s.fixed) ||
        !PyList_Check(s.dropped) || !PyList_Check(s.copied) || !PyList_Check(s.cached) ||
        (s.others != Py_None &&
         (!PyList_Check(s.others) || PyList_Size(s.others) != PyList_Size(s.cached)))) {
        forget(&s);
        return PyErr_Format(PyExc_TypeError, "indices and outputs are lists");
    }
    if (s.graph != Py_None && !PyObject_TypeCheck(s.graph, gphpy_types.launcher)) {
        forget(&s);
        return PyErr_Format(PyExc_TypeError, "graph is a Launcher or None");
    }
    if (gphpy_liveness_check(s.dead_before) < 0 ||
        gphpy_liveness_check(s.dead_after) < 0 || read_reader(&s) < 0 ||
        read_attributes(&s) < 0) {
        forget(&s);
        return NULL;
    }
    if (self->depth > 0 ||
        self->kept > self->count) { /* from inside a hit, whose steps stay as they are */
        forget(&s);
        Py_RETURN_NONE;
    }
    if (self->count == STEPS) { /* the oldest goes */
        step oldest = self->steps[0];
        memmove(&self->steps[0], &self->steps[1], (STEPS - 1) * sizeof(step));
        self->steps[STEPS - 1] = s;
        forget(&oldest);
        Py_RETURN_NONE;
    }
    self->steps[self->count++] = s;
    self->kept = self->count;
    Py_RETURN_NONE;
}

static PyObject *arm(hit *self, PyObject *args, PyObject *parts)
{
    PyObject *result;
    ONE_AT_A_TIME(result, self, arm_locked(self, args, parts));
    return result;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const char *const keys[] = {"miss", NULL};
    PyObject *miss = NULL;
    if (!PARSE(args, kwargs, "O:PathHit", keys, &miss))
        return NULL;
    hit *self = gphpy_new(type, sizeof(*self));
    if (!self)
        return NULL;
    self->call = call;
    self->miss = Py_NewRef(miss);
    return (PyObject *)self;
}

static void destroy(hit *self)
{
    PyObject_ClearWeakRefs((PyObject *)self);
    Py_DECREF(disarm_locked(self));
    Py_XDECREF(self->miss);
    Py_XDECREF(self->notes);
    gphpy_free(self);
}

static PyObject *get_count(hit *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(self->count);
}

static PyMethodDef methods[] = {
    METHOD(
        "arm", arm,
        "arm($self, input_count, is_new_round, /, **parts)\n--\n\n"
        "Adds a step: a call with so many inputs that the tree answered with a replay. "
        "The\n"
        "latest eight are kept. For graphophone.torch, whose _trees.py gives the parts."),
    METHOD0("disarm", disarm,
            "disarm($self)\n--\n\nForgets all steps: the tree is asked again."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("count", get_count, "How many steps it has."),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict,
     "What PyTorch noted on it, and copies to what wraps it.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef offsets[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(hit, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(hit, weak_references), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(hit, notes), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static int make_names(void)
{
    const struct {
        PyObject **place;
        const char *text;
    } all[] = {
        {&names.current_node, "_current_node"},
        {&names.path_state, "path_state"},
        {&names.current_gen, "current_gen"},
        {&names.pending, "running_forwards_with_pending_backwards"},
        {&names.mark_step_counter, "mark_step_counter"},
        {&names.generation, "generation"},
        {&names.mode, "mode"},
        {&names.compile_id, "compile_id"},
        {&names.hooks, "_backward_hooks"},
        {&names.data_ptr, "data_ptr"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        *all[i].place = PyUnicode_InternFromString(all[i].text);
        if (!*all[i].place)
            return -1;
    }
    return 0;
}

int gphpy_path_hit_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"A compiled function in PyTorch's graph trees: a hit is answered in C, "
                 "all\n"
                 "else by miss(inputs). For graphophone.torch. One thread at a time."},
        {Py_tp_new, (void *)make},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_call, (void *)PyVectorcall_Call},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {Py_tp_members, offsets},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.PathHit", sizeof(hit), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    return make_names() < 0 || gphpy_liveness_ready() < 0
               ? -1
               : gphpy_type_add(module, &spec, &gphpy_types.path_hit);
}
