// SPDX-License-Identifier: Apache-2.0
/* The inside of a tree.
 *
 *        (root)             a place: the recordings of one function below one node
 *        /    \             a node: one recording, for one key
 *     [f1]    [f5]  places  a path: the calls since the root; its outputs and the blocks
 *      |                            under them are numbered from the root on, so that
 *     node ── node  nodes           a node's outputs have the same numbers each time
 *      |
 *     [f2]
 *
 * The pool's books are `fresh` while they say what the path holds, as after a recording
 * or a warm-up. A replay runs no allocator, so they are stale after it, and then empty:
 * nothing of the path is in them. A checkpoint makes them fresh again. */
#ifndef GPHI_TREE_TREE_H
#define GPHI_TREE_TREE_H
#include "base/map.h"
#include "base/vec.h"
#include <gph/tree.h>
#include <stdatomic.h>
#include <stdbool.h>

/* How a call takes an input. */
enum { GPHI_TREE_COPIED = 0, GPHI_TREE_STATIC = 1, GPHI_TREE_MANAGED = 2 };

/* A call, as the backend sees it. All is borrowed for the call. */
typedef struct gphi_tree_work {
    gph_function_fn *fn;
    void *user;
    const char *name;
    const gph_tensor *inputs;
    const uint8_t *kinds; /* of each input */
    const int64_t *key;
    uint32_t input_count, output_count, key_count;
} gphi_tree_work;

/* What a tree is built on: a stream, a pool for what it records, a pool beside it. */
typedef struct gphi_tree_backend {
    const struct gphi_tree_ops *ops;
} gphi_tree_backend;

enum gphi_tree_pool { GPHI_TREE_POOL, GPHI_TREE_BESIDE };

struct gphi_tree_ops {
    /* Waits for the stream, as before things are torn down. */
    void (*drain)(gphi_tree_backend *backend);
    void (*destroy)(gphi_tree_backend *backend);

    /* Runs the function; fills `outputs`. */
    gph_status (*run)(gphi_tree_backend *backend, enum gphi_tree_pool pool,
                      const gphi_tree_work *work, gph_tensor *outputs, gph_error *error);
    /* Records it, launches nothing. Outputs stay allocated in the pool. */
    gph_status (*record)(gphi_tree_backend *backend, const gphi_tree_work *work,
                         gph_tensor *outputs, void **recording, gph_error *error);
    /* Copies the copied inputs and launches. */
    gph_status (*replay)(gphi_tree_backend *backend, void *recording,
                         const gph_tensor *const *inputs, gph_error *error);
    void (*forget)(gphi_tree_backend *backend, void *recording);

    /* What src/callable knows of it; NULL if there is no such thing. */
    struct gphi_record *(*record_of)(void *recording);
    /* A recording of another process, which is taken on success, becomes one of the
     * tree's; no function is called. */
    gph_status (*adopt)(gphi_tree_backend *backend, const gphi_tree_work *work,
                        const gph_tensor *outputs, CUgraph graph, gph_recording_id id,
                        void **recording, gph_error *error);

    /* First byte, and bytes, of the live allocation that holds an address; 0: none. */
    CUdeviceptr (*block)(gphi_tree_backend *backend, enum gphi_tree_pool pool,
                         CUdeviceptr address, uint64_t *bytes);
    void (*free)(gphi_tree_backend *backend, enum gphi_tree_pool pool, CUdeviceptr block);

    gph_status (*checkpoint)(gphi_tree_backend *backend, void **out, gph_error *error);
    gph_status (*restore)(gphi_tree_backend *backend, void *checkpoint,
                          const CUdeviceptr *live, uint32_t count, gph_error *error);
    void (*drop)(gphi_tree_backend *backend, void *checkpoint);

    gph_status (*copy)(gphi_tree_backend *backend, CUdeviceptr to, CUdeviceptr from,
                       uint64_t bytes, gph_error *error);
};

typedef struct gphi_tree_node gphi_tree_node;
typedef struct gphi_tree_place gphi_tree_place;

/* No block: an output that is nobody's memory, or the caller's. */
#define GPHI_TREE_NO_BLOCK UINT32_MAX
/* In slots and block numbers: of an eager call. */
#define GPHI_TREE_EAGER_BIT UINT32_C(0x80000000)

struct gphi_tree_node {
    uint64_t hash;
    gphi_tree_node *twin; /* with the same key, but other outputs dead */
    gphi_tree_node *hint; /* the child that was taken last */
    const uint64_t *key;
    uint32_t key_words;
    uint32_t dead_words;  /* of `dead` */
    const uint64_t *dead; /* blocks of the path that must be */
    void *recording;
    gph_tree_function *function;
    gph_tensor *outputs;
    uint32_t *blocks;               /* of each output */
    struct gphi_tree_range *ranges; /* of its own blocks */
    uint32_t slot_first;            /* of its outputs */
    uint32_t block_first, block_count;
    uint32_t depth; /* from 1 */
    uint64_t hits;
    /* What a hit does not read. */
    gphi_tree_node *parent;  /* NULL: a root */
    gphi_tree_node *sibling; /* next of the place, in order of recording */
    gphi_tree_place *places; /* of children */
    gphi_tree_place *place;  /* its own */
    void *checkpoint;
    uint32_t id;            /* from 1 */
    gph_tree_reason reason; /* why it was recorded */
    const uint8_t *kinds;   /* of its inputs */
    size_t bytes;           /* of this allocation, all arrays included */
};

struct gphi_tree_place {
    gphi_tree_node *parent; /* NULL: the root */
    gph_tree_function *function;
    gphi_tree_place *next; /* of the same parent, in order */
    gphi_tree_node *nodes, *last;
    uint32_t count[GPH_TREE_REASON_COUNT]; /* recordings */
    uint64_t backoff;    /* calls of this round that are eager; 0: no limit yet */
    uint64_t eager_left; /* of them, those to come */
};

/* An input of a function: does it move? */
struct gphi_tree_port {
    uint64_t moved_at; /* call of the function */
    CUdeviceptr last;  /* while it is copied */
    uint64_t same;     /* calls with `last` */
    uint64_t settle;   /* that make it static again */
    uint32_t moves;
    bool copied;
};

struct gph_tree_function {
    gph_tree *tree;
    gph_function_fn *fn;
    void *user;
    char *name;
    uint8_t *flags; /* of inputs */
    struct gphi_tree_port *ports;
    uint32_t input_count, output_count, key_count;
    uint32_t number; /* from 1 */
    gph_tree_kind kind;
    bool is_root, is_eager, mutates;
    uint32_t copied_count; /* ports that are copied */
    uint64_t calls;
    uint64_t backoff; /* as of a place: when it could not be captured */
    uint64_t eager_left;
    gph_tree_reason refused; /* why */
    char why[512];
};

/* An output that a call of the path made. */
struct gphi_tree_slot {
    uint64_t call;
    const gph_tensor *tensor; /* NULL: the one beside it, `own` */
    uint32_t holders;
    uint32_t block;
};

/* Memory under outputs. */
struct gphi_tree_range {
    CUdeviceptr base;
    uint64_t bytes;
};
struct gphi_tree_block {
    struct gphi_tree_range range;
    uint32_t holders; /* slots that are held */
};

/* Slots, their own tensors, blocks: of the path or of eager calls. */
struct gphi_tree_table {
    gphi_vec slots;  /* gphi_tree_slot */
    gphi_vec own;    /* gph_tensor */
    gphi_vec blocks; /* gphi_tree_block */
};

struct gphi_tree_start {
    uint64_t call; /* the first of the path */
    const gph_tree_function *function;
};

/* Power of two: how many begins of paths are remembered. */
enum { GPHI_TREE_STARTS = 1024 };

struct gph_tree {
    gph_allocator heap;
    gphi_tree_backend *backend;
    const struct gphi_tree_ops *ops;
    gph_tree_options options;
    CUstream stream;
    gph_pool *pool;
    atomic_flag busy;
    uint32_t cookie;

    /* The path. */
    gphi_tree_node *node; /* NULL: at the root, or warm */
    gphi_tree_node *root_hint;
    const gph_tree_function *root;           /* of its first call; NULL: no call yet */
    uint64_t path_call;                      /* number of its first call */
    uint32_t depth, slot_count, block_count; /* of calls that are not eager */
    uint32_t held;                           /* outputs */
    uint32_t alive;                          /* blocks of the path that are held */
    uint32_t due;
    bool is_warm, is_fresh, is_explicit;
    struct gphi_tree_table path, eager;
    gphi_vec live; /* uint64_t: a bit a block of the path */

    /* The tree. */
    gphi_tree_place *places; /* of roots */
    gphi_vec functions;      /* gph_tree_function * */
    gphi_vec nodes;          /* gphi_tree_node *, in order of recording */
    gphi_map by_hash;        /* of key: first node */
    gphi_map by_place;       /* hash of node and function: place */
    gphi_map warmed;         /* hash of function and signature: times */

    /* Room for a call: of the largest function. */
    void *room;
    size_t room_bytes;
    const gph_tensor **inputs; /* where each lies */
    uint8_t *kinds;
    uint64_t *key;
    gph_tensor *tensors; /* inputs in a row */
    gph_tensor *results; /* outputs */
    uint32_t *result_blocks;
    struct gphi_tree_range *result_ranges;
    uint32_t input_room, output_room, key_room;

    struct gphi_tree_start *starts;
    uint64_t start_count;
    gph_tree_stats stats;
    gph_tree_event event;
    char text[512]; /* of the event */
};

/* A call that is being made. */
typedef struct gphi_tree_turn {
    gph_tree *tree;
    gph_tree_function *function;
    const int64_t *key;
    const gph_tree_input *inputs;
    gph_tree_output *outputs;
    uint32_t key_words;
    uint64_t hash;
    bool reads_path;               /* an output of the path is an input */
    bool is_demoted;               /* an input is copied from now on */
    const gphi_tree_node *nearest; /* that does not fit */
    int32_t input;                 /* at fault, or -1 */
    CUdeviceptr was, is;
} gphi_tree_turn;

/* tree.c: on a given backend, which is taken on success. */
gph_status gphi_tree_create(gph_allocator heap, gphi_tree_backend *backend,
                            const gph_tree_options *options, gph_tree **out,
                            gph_error *error);
gph_status gphi_tree_enter(gph_tree *tree, gph_error *error);
void gphi_tree_leave(gph_tree *tree);

/* tree_backend.c */
gph_status gphi_tree_backend_create(gph_runtime *runtime, gph_arena *arena,
                                    const gph_tree_options *options, CUstream *stream,
                                    gph_pool **pool, gphi_tree_backend **out,
                                    gph_error *error);

/* path.c: the position, outputs, the pool's books. */
void gphi_tree_path_end(gph_tree *tree);
gph_status gphi_tree_path_reserve(gph_tree *tree, uint32_t outputs, gph_error *error);
gph_status gphi_tree_freshen(gph_tree *tree, gph_error *error);
void gphi_tree_go_stale(gph_tree *tree);
const struct gphi_tree_slot *gphi_tree_slot_of(const gph_tree *tree,
                                               const gph_tree_output *output);
gph_status gphi_tree_output_check(const gph_tree *tree, const gph_tree_output *output,
                                  gph_error *error);
const gph_tensor *gphi_tree_slot_tensor(const gph_tree *tree, uint32_t slot);
void gphi_tree_retain(gph_tree *tree, const gph_tree_output *output);
void gphi_tree_release(gph_tree *tree, const gph_tree_output *output);
/* The block of each output; new ones of the path are in `ranges`, and counted. Cannot
 * fail after gphi_tree_path_reserve(). */
uint32_t gphi_tree_blocks_number(gph_tree *tree, enum gphi_tree_pool pool,
                                 const gph_tensor *outputs, uint32_t count,
                                 uint32_t *blocks, struct gphi_tree_range *ranges);
/* The next blocks of the path, the outputs of the call that was counted last. `outputs`
 * that do not last are copied. */
void gphi_tree_blocks_add(gph_tree *tree, const struct gphi_tree_range *ranges,
                          uint32_t count);
void gphi_tree_slots_add(gph_tree *tree, const gph_tensor *outputs, bool is_lasting,
                         const uint32_t *blocks, uint32_t count);
uint32_t gphi_tree_slot_add_eager(gph_tree *tree, const gph_tensor *output,
                                  uint32_t block);

/* place.c: keys, nodes by key, places, limits. */
void gphi_tree_key_build(gphi_tree_turn *turn);
gphi_tree_node *gphi_tree_find(gphi_tree_turn *turn); /* sets the hash */
uint64_t gphi_tree_signature(const gphi_tree_turn *turn);
/* Whether words from elsewhere are a key of the function, as long as it says. */
bool gphi_tree_key_is_sound(const gph_tree_function *function, const uint64_t *key,
                            uint32_t words, const uint8_t *kinds);
/* Of a key below a node (NULL: a root). */
uint64_t gphi_tree_key_hash(const uint64_t *key, uint32_t words,
                            const gphi_tree_node *parent);
gphi_tree_place *gphi_tree_place_find(const gph_tree *tree, const gphi_tree_node *parent,
                                      const gph_tree_function *function);
gph_status gphi_tree_place_add(gph_tree *tree, gphi_tree_node *parent,
                               gph_tree_function *function, gphi_tree_place **out,
                               gph_error *error);
/* Why no node of a place fits; counts moves, and may turn inputs into copied ones. */
gph_tree_reason gphi_tree_reason_find(gphi_tree_turn *turn, const gphi_tree_place *place);
/* Whether the limits allow one more recording; counts down where they do not. Then one
 * was made. */
bool gphi_tree_may_record(const gph_tree *tree, gphi_tree_place *place,
                          gph_tree_reason reason);
void gphi_tree_count_recording(const gph_tree *tree, gphi_tree_place *place,
                               gph_tree_reason reason);
/* A node for the call, linked nowhere: the recording and outputs are to come. */
gph_status gphi_tree_node_create(const gphi_tree_turn *turn, gphi_tree_node **out,
                                 gph_error *error);
gph_status gphi_tree_node_reserve(gph_tree *tree, uint64_t hash, gph_error *error);
void gphi_tree_node_link(gph_tree *tree, gphi_tree_place *place, gphi_tree_node *node);

/* ---- graft.c: recordings of another process ---- */

/* A recording without what it points to. Arrays are lent. */
typedef struct gphi_tree_graft {
    const uint64_t *key, *dead;
    const uint32_t *blocks; /* of each output */
    const struct gphi_tree_range *ranges;
    const uint8_t *kinds;
    uint32_t key_words, dead_words, block_count;
    uint32_t parent; /* its number, from 1; 0: a root */
    uint32_t function, reason;
    uint32_t depth, slot_first, block_first;
} gphi_tree_graft;

/* Makes the pool's books what they were when a recording was made below `parent` (NULL: a
 * root) with these blocks of the path dead. `empty` is a checkpoint of no path. */
gph_status gphi_tree_graft_prepare(gph_tree *tree, const gphi_tree_graft *graft,
                                   void *const *checkpoints,
                                   const gphi_tree_graft *const *grafts, void *empty,
                                   gph_error *error);
/* Adds a node. `recording` and `checkpoint` are taken on success. */
gph_status gphi_tree_graft_add(gph_tree *tree, const gphi_tree_graft *graft,
                               const gph_tensor *outputs, void *recording,
                               void *checkpoint, gph_error *error);

/* tree_dump.c: one sentence on the call that was made otherwise than by a replay. */
void gphi_tree_explain(gphi_tree_turn *turn, gph_tree_action action,
                       gph_tree_reason reason);
/* The same of one that a strict tree does not make. */
void gphi_tree_explain_refused(gphi_tree_turn *turn, gph_tree_action action,
                               gph_tree_reason reason);
#endif
