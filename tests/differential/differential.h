// SPDX-License-Identifier: Apache-2.0
/* Random graph programs: what the generator, the reference model, the runner and the
 * transcripts share.
 *
 *   generator ──step──> model   (what the rules say: code, answers, memory)
 *                  └──> runner  (what a driver says)      └─ both give an `answer`
 *
 * A program is a list of steps. A step names objects by index (slot), never by handle,
 * and addresses as (buffer, offset), so a transcript means the same on every machine. A
 * step whose object is missing is skipped by everybody; that is what lets a program be
 * shortened by leaving steps out. */
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- random numbers: the same on every machine ---- */
struct rng {
    uint64_t state;
};
static inline uint32_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 32);
}
static inline int rng_below(struct rng *rng, int n)
{
    return n <= 1 ? 0 : (int)(rng_next(rng) % (uint32_t)n);
}
static inline bool rng_chance(struct rng *rng, int percent)
{
    return rng_below(rng, 100) < percent;
}

/* ---- memory: buffers of cells; an address is buffer << 16 | offset ---- */
enum {
    CELL_BYTES = 64,
    BUFFER_CELLS = 16,
    BUFFER_BYTES = CELL_BYTES * BUFFER_CELLS,
    BUFFER_DEVICE = 0, /* 0..2 cuMemAlloc */
    BUFFER_POOL = 3,   /* 3..4 from a stream-ordered pool */
    BUFFER_PINNED = 5, /* 5..6 */
    BUFFER_PAGEABLE = 7,
    BUFFER_FIXED = 8,
    BUFFER_ALLOC = 8, /* 8.. graph allocations, by allocation slot */
    ALLOCS = 24,
    BUFFERS = BUFFER_ALLOC + ALLOCS,
    BUFFER_BAD = 255 /* an address that belongs to nobody */
};
/* What memory holds when a program begins. */
static inline uint32_t initial_word(int buffer, int i)
{
    return ((uint32_t)(buffer * 256 + i) * 2654435761u) >> 20;
}
#define ADDRESS(buffer, offset) ((int32_t)((buffer) << 16 | (offset)))
#define BUFFER_OF(address) ((int)((uint32_t)(address) >> 16))
#define OFFSET_OF(address) ((int)((address)&0xffff))

/* ---- slots ---- */
enum {
    GRAPHS = 24,
    NODES = 320,
    EXECS = 12,
    EVENTS = 8,
    OBJECTS = 6,
    STREAMS = 5, /* 0 legacy, 1 and 2 blocking, 3 and 4 not */
    DEPS_MAX = 4,
    GRAPH_NODES = 64 /* of one graph that the generator still adds to */
};
#define NONE (-1)    /* a NULL handle, sent as such */
#define MISSING (-2) /* in answers: a handle that has no slot */

/* ---- work: what a node or a stream call does ---- */
enum work_kind { /* as CUgraphNodeType */
                 WORK_KERNEL = 0,
                 WORK_MEMCPY = 1,
                 WORK_MEMSET = 2,
                 WORK_HOST = 3,
                 WORK_CHILD = 4,
                 WORK_EMPTY = 5,
                 WORK_WAIT = 6,
                 WORK_RECORD = 7,
                 WORK_ALLOC = 10,
                 WORK_FREE = 11,
                 WORK_BATCH = 12,
                 WORK_KINDS = 13
};
enum { WORK_PARAMS = 6 };
/* ADD_NODE: api 1 cuGraphAddNode, 2 the array of dependencies is NULL, 4 edges are
 * programmatic, 8 they are from the port of launch order */
/* kernel: function, dst, a, b, value, flags      memcpy: dst, src, bytes, rows, 0, flags
 * memset: dst, value, element, width, rows, -     host: function, dst, value
 * child: graph, ownership     wait, record: event      alloc: slot, KiB     free: address
 * batch: dst, value, operations (see batch_of) */
struct work {
    int32_t kind, bad;
    int32_t p[WORK_PARAMS];
};
/* work.bad: what is wrong with it on purpose */
enum {
    BAD_NOTHING,
    BAD_NULL,   /* NULL params */
    BAD_SHAPE,  /* block of 2000, element size 3, NULL host function, zero bytes... */
    BAD_NOBODY, /* operand that belongs to nobody */
    BAD_KINDS
};
enum { KERNELS = 5 };
enum kernel { KERNEL_STORE, KERNEL_MIX, KERNEL_ADD, KERNEL_FLOAT, KERNEL_ATOMIC };
enum { ROW_PITCH = 128 };

/* ---- steps ---- */
/* OP(name, words): words = argument names, in order; w = the eight of a work */
#define OPS(OP)                                                                          \
    OP(GRAPH_CREATE, "out flags")                                                        \
    OP(GRAPH_DESTROY, "graph")                                                           \
    OP(GRAPH_CLONE, "out graph")                                                         \
    OP(FIND_IN_CLONE, "out node graph")                                                  \
    OP(ADD_NODE, "out graph api count d0 d1 d2 d3 w")                                    \
    OP(DESTROY_NODE, "node")                                                             \
    OP(ADD_EDGES, "graph count f0 t0 f1 t1 data")                                        \
    OP(REMOVE_EDGES, "graph count f0 t0 f1 t1 data")                                     \
    OP(GET_NODES, "graph first")                                                         \
    OP(GET_ROOTS, "graph room")                                                          \
    OP(GET_EDGES, "graph room")                                                          \
    OP(NODE_TYPE, "node")                                                                \
    OP(NODE_DEPS, "node room")                                                           \
    OP(NODE_DEPENDENTS, "node room")                                                     \
    OP(GET_PARAMS, "node kind")                                                          \
    OP(SET_PARAMS, "node api w")                                                         \
    OP(CHILD_GRAPH, "out node")                                                          \
    OP(SET_PRIORITY, "node value")                                                       \
    OP(INSTANTIATE, "out graph flags api stream")                                        \
    OP(EXEC_DESTROY, "exec")                                                             \
    OP(EXEC_FLAGS, "exec")                                                               \
    OP(LAUNCH, "exec stream")                                                            \
    OP(UPLOAD, "exec stream")                                                            \
    OP(EXEC_UPDATE, "exec graph")                                                        \
    OP(EXEC_SET, "exec node api w")                                                      \
    OP(SET_ENABLED, "exec node value")                                                   \
    OP(GET_ENABLED, "exec node")                                                         \
    OP(CAPTURE_BEGIN, "stream mode")                                                     \
    OP(CAPTURE_TO_GRAPH, "stream graph mode count d0 d1 d2 d3")                          \
    OP(CAPTURE_END, "stream out")                                                        \
    OP(CAPTURE_INFO, "stream")                                                           \
    OP(IS_CAPTURING, "stream")                                                           \
    OP(CAPTURE_DEPS, "stream flags count d0 d1 d2 d3")                                   \
    OP(EXCHANGE_MODE, "mode")                                                            \
    OP(WORK, "stream out w")                                                             \
    OP(EVENT_RECORD, "event stream flags")                                               \
    OP(STREAM_WAIT, "stream event flags")                                                \
    OP(STREAM_SYNC, "stream")                                                            \
    OP(STREAM_QUERY, "stream")                                                           \
    OP(CTX_SYNC, "")                                                                     \
    OP(EVENT_SYNC, "event")                                                              \
    OP(EVENT_QUERY, "event")                                                             \
    OP(UNSAFE, "which")                                                                  \
    OP(MEM_FREE, "slot")                                                                 \
    OP(MEM_ATTRIBUTE, "which")                                                           \
    OP(MEM_SET_ATTRIBUTE, "which value")                                                 \
    OP(MEM_TRIM, "device")                                                               \
    OP(OBJECT_CREATE, "out count flags")                                                 \
    OP(OBJECT_RETAIN, "object count")                                                    \
    OP(OBJECT_RELEASE, "object count")                                                   \
    OP(GRAPH_RETAIN, "graph object count flags")                                         \
    OP(GRAPH_RELEASE, "graph object count")                                              \
    OP(DOT, "graph flags")                                                               \
    OP(COPY_ATTRIBUTES, "dst src")                                                       \
    OP(GET_PRIORITY, "node")

enum op {
#define OP(name, words) OP_##name,
    OPS(OP)
#undef OP
        OP_COUNT
};
enum { STEP_ARGS = 16, STEPS_MAX = 160, ANSWER_VALUES = 40 };

struct step {
    int32_t op;
    int32_t a[STEP_ARGS];
};

#define SKIPPED (-1) /* an object of the step is missing */
#define UNKNOWN (-1) /* as count: the model predicts the code alone */
struct answer {
    int32_t code;
    int32_t count; /* of values */
    int32_t v[ANSWER_VALUES];
};

struct finish {
    int32_t code; /* of the last synchronize */
    uint32_t hash[BUFFER_FIXED];
    int32_t destroyed[OBJECTS]; /* destructor calls of user objects */
};

struct program {
    uint32_t seed;
    int32_t count;
    struct step steps[STEPS_MAX];
};

struct transcript {
    struct program program;
    struct answer answers[STEPS_MAX];
    struct finish finish;
    int32_t crashed; /* the step in which the driver died, or -1 */
};

/* step.c */
extern const char *const op_names[OP_COUNT];
int op_arguments(int op); /* how many */
/* The work of a step of those that have one; first of its eight arguments. */
int op_work_at(int op);
struct work step_work(const struct step *step);
void step_set_work(struct step *step, const struct work *work);
void step_print(const struct step *step);
void answer_print(const struct answer *answer);
bool answers_equal(const struct answer *a, const struct answer *b);
void answer_push(struct answer *answer, int32_t value);

/* Bytes that a work touches in a buffer: calls back with each run of bytes. */
typedef void span_visit(void *user, int32_t address, int bytes, bool writes);
void work_spans(const struct work *work, span_visit *visit, void *user);
uint32_t memory_hash(const void *bytes, size_t count);

/* run_*.c: a driver */
bool run_open(const char **why); /* GPH_DRIVER says which */
bool run_begin(void);            /* a fresh program: buffers, streams, events */
void run_step(const struct step *step, struct answer *out);
void run_finish(const int32_t expected_destroyed[OBJECTS], struct finish *out);
const unsigned char *run_memory(int buffer); /* after run_finish */

/* Whether the device can go on (false after a fault). */
bool run_is_alive(void);

/* never.c */
void never_print(void);

/* coverage.c */
void coverage_count(const struct step *step, const struct answer *answer);
void coverage_print(void);

/* record.c: files of transcripts */
int record_seeds(const char *path, uint32_t first, uint32_t last, double seconds);
struct choice {
    uint32_t first, last; /* seeds */
    uint32_t part, parts; /* of them, those that leave this rest */
};
int compare_file(const char *path, const struct choice *choice, bool verbose);
int pack_file(const char *from, const char *to);

#endif
