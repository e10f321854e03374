// SPDX-License-Identifier: Apache-2.0
/* What the rules of memory, caches, random numbers and speed remember together: which
 * addresses each executable touches and how, who else has written and read them, and what
 * happened in between. Each process has one, which takes in every call before the rules
 * do.
 *
 * What is known of an access:
 *   copy, fill of a graph or outside   range and direction, exactly
 *   kernel                             a pointer among its arguments; how much it
 * touches, and whether it writes, is not known */
#ifndef GPHI_DOCTOR_HISTORY_H
#define GPHI_DOCTOR_HISTORY_H
#include "base/hash.h"
#include "doctor/findings/rule.h"
#include "doctor/model/call_kinds.h"

/* A node of a graph and an address in it. */
typedef struct gphi_touch {
    uint64_t address;
    uint64_t bytes;          /* 0: a kernel's pointer */
    gphi_allocation *memory; /* that it lay in when it was put there; NULL: unknown */
    uint64_t memory_number;  /* memory->allocated.number then */
    uint64_t since;          /* number of the call that put it there */
    uint64_t
        earlier; /* of what kernels outside graphs were given: the call before, or 0 */
    uint64_t function;  /* of a kernel, else 0 */
    const char *name;   /* of a kernel of a graph, as its source has it; or NULL */
    uint32_t node;      /* of the snapshot; what is in a child counts as the child */
    uint32_t arg;       /* of a kernel */
    bool reads, writes; /* for certain */
    bool is_random;     /* of a kernel that draws random numbers, by its name */
    bool is_only;       /* all that its kernel is given: what comes of it is there */
    bool
        is_written; /* the kernel's code stores there, and it has threads for all of it */
    bool is_atomic; /* and does so by atomic operations alone */
    bool is_kept;   /* the kernel's code does not store there */
    bool is_loaded; /* the kernel's code loads from there, or is not known */
} gphi_touch;

/* How often which of the last launches came, and what happened when. */
typedef struct gphi_moment {
    uint64_t number;    /* of the call */
    uint64_t launches;  /* of graphs, of the whole process */
    uint64_t reads;     /* copies from the device to the host */
    uint64_t moves;     /* copies to what one of the last graphs uses, or from there */
    uint64_t waits;     /* synchronizing calls */
    uint64_t wait_ns;   /* in them */
    uint64_t kernels;   /* launched eagerly */
    uint64_t kernel_ns; /* in those calls */
    uint64_t time_ns;
} gphi_moment;

typedef struct gphi_exec_history {
    gphi_exec_state *exec;
    uint64_t created; /* exec->created.number: objects of long dead ones are used again */
    const gphi_snapshot *source;
    uint64_t source_number, updated;
    gphi_vec touches;     /* of gphi_touch, by node */
    gphi_vec allocations; /* of gphi_touch: memory nodes; `reads`: freed inside as well;
                             `writes`: no more than a free, of another's memory */
    uint64_t memories[4]; /* a bit for each allocation touched, by gphi_memory_bit() */
    uint64_t class_hash;  /* kinds and kernels, in order */
    uint64_t shape_hash;  /* and grids, blocks, sizes of copies and fills */
    uint64_t values_hash; /* and arguments, addresses, values */
    uint64_t old_shape, old_values; /* before the last update */
    uint32_t nodes, kernels, random_kernels, nccl_kernels;
    gphi_moment made; /* when it was instantiated */
    gphi_moment last; /* when it was launched last */
    gphi_call first_launch, last_launch, destroyed;
    uint64_t frees_checked; /* history->frees when its addresses were last looked at */
    bool has_dead;          /* and one of them was dead */
    bool has_bodies;        /* of conditional nodes: `touches` lacks what these do */
    uint64_t last_work, launches; /* work number of the last launch */
    uint64_t fed;                 /* launches before which a copy brought contents */
    bool is_fed;                  /* one has, since the last */
    /* since its output was last copied to the host: */
    uint64_t last_read;     /* number of that copy */
    uint64_t launches_read; /* launches before it */
    uint64_t fresh;         /* launches with new contents in what it uses */
    uint64_t capture_ns, instantiate_ns, launch_ns; /* host time; of all launches */
} gphi_exec_history;

/* A range that copies or fills outside graphs wrote or read. */
typedef struct gphi_range_history {
    uint64_t start, end;
    gphi_call last;
    uint64_t count;
    uint64_t anew; /* of reads: those after a launch that came after the read before */
    bool is_fill;  /* only fills */
    bool is_from_host; /* the last one */
} gphi_range_history;

/* An allocation, as the program uses it outside graphs. */
typedef struct gphi_memory_history {
    gphi_allocation *memory;
    uint64_t number;        /* memory->allocated.number */
    gphi_vec written, read; /* of gphi_range_history, at most GPHI_RANGES_MAX */
    gphi_vec pointers;      /* of gphi_touch: what eager kernels were given */
    bool is_cut;            /* a kernel got an address inside, not its base */
    bool overflows;         /* more than is kept */
} gphi_memory_history;

enum { GPHI_RANGES_MAX = 64, GPHI_RECENT = 16 };

/* Memory that a node of a graph allocates. */
typedef struct gphi_graph_memory {
    uint64_t address, bytes;
    gphi_call made;          /* the captured or added allocation, or the instantiation */
    gphi_exec_history *exec; /* that has the node; NULL: not instantiated yet */
    bool is_freed_inside;    /* by the same graph */
    bool is_live, is_orphan; /* allocated now; by nodes that an update took away */
    gphi_call launched, freed; /* last launch that allocated it; last free outside */
    gphi_call used;            /* first copy, fill or kernel outside graphs */
} gphi_graph_memory;

/* A kernel outside graphs, one of the last: what it was given. */
enum { GPHI_KERNEL_POINTERS = 8, GPHI_KERNELS_MAX = 256 };
typedef struct gphi_kernel_work {
    uint64_t work; /* its number */
    uint32_t count;
    gphi_touch pointers[GPHI_KERNEL_POINTERS];
} gphi_kernel_work;

typedef struct gphi_history {
    gphi_model *model;
    gphi_vec execs;    /* of gphi_exec_history *, in order of creation */
    gphi_map by_exec;  /* exec -> gphi_exec_history */
    gphi_vec memories; /* of gphi_memory_history * */
    gphi_map by_memory;
    gphi_map edits; /* gphi_edit_key() -> number of the call that set its parameters */
    gphi_map off;   /* gphi_edit_key() -> 1 if the node is switched off */
    gphi_vec graph_memories; /* of gphi_graph_memory */
    gphi_vec kernels; /* of gphi_kernel_work: kernel n is at n % GPHI_KERNELS_MAX */
    uint64_t kernel_count;
    gphi_exec_history *recent[GPHI_RECENT]; /* launched last, newest first */
    uint64_t frees;                         /* calls that freed or unmapped something */
    uint64_t last_work;                     /* of the last graph launch */
    bool launches_overlap;                  /* a launch did not wait for the one before */
    gphi_moment now;
    gphi_exec_history *launched; /* by the call seen last, or NULL */
    gphi_moment before;          /* that launch: when the same was launched before */
    uint64_t before_work;
    bool is_dead;  /* an error of the device has ended the context */
    bool is_short; /* of memory: some of it is missing */
} gphi_history;

gph_status gphi_history_create(gphi_model *model, gphi_history **out);
void gphi_history_destroy(gphi_history *history); /* NULL is allowed */
/* Takes in a call, after the model did and before the rules look at it. */
void gphi_history_note(gphi_history *history, const gphi_seen *seen);

static inline gphi_exec_history *gphi_history_exec_at(const gphi_history *history,
                                                      size_t index)
{
    return gphi_vec_pointer(&history->execs, index);
}

gphi_exec_history *gphi_history_exec(const gphi_history *history,
                                     const gphi_exec_state *exec);
gphi_memory_history *gphi_history_memory(const gphi_history *history,
                                         const gphi_allocation *memory);
/* Whether it still stands for what it was made for, and that was not destroyed. */
bool gphi_exec_is_alive(const gphi_exec_history *exec);
/* Memory of graphs that holds an address; NULL: none does. */
gphi_graph_memory *gphi_history_graph_memory(const gphi_history *history,
                                             uint64_t address);
/* Of graph_memory.c: what a call means for memory of graphs. `is_new`: the graph
 * that `exec` holds was read again. */
void gphi_graph_memory_call(gphi_history *history, const gphi_seen *seen,
                            gphi_exec_history *exec, bool is_new);

/* Whether what lies at the touch's address is written by it. */
static inline bool gphi_touch_is_writer(const gphi_touch *touch)
{
    return touch->writes || touch->is_only || touch->is_written;
}
/* The first touch by which the executable writes into a range, for certain or, as far as
 * is known, by a kernel: then the pointer is the only one that it has, and lies in the
 * range; or the range begins where the pointer points (or lies in an allocation that is
 * never cut), nobody copied into it, and no kernel outside that the graph has not got was
 * given it. NULL: none. */
const gphi_touch *gphi_history_writes(const gphi_history *history,
                                      const gphi_exec_history *exec, uint64_t address,
                                      uint64_t bytes);
/* Memory that was allocated while a graph was captured: PyTorch gives it to captures alone. */
bool gphi_history_private(const gphi_history *history, const gphi_allocation *memory);
/* Whether the node of a touch is switched off (cuGraphNodeSetEnabled). */
bool gphi_touch_is_off(const gphi_history *history, const gphi_exec_history *exec,
                       const gphi_touch *touch);
/* The first touch that may read or write there. */
const gphi_touch *gphi_history_touches(const gphi_history *history,
                                       const gphi_exec_history *exec, uint64_t address,
                                       uint64_t bytes);
/* What the kernel outside graphs that is work `number` was given; NULL: it is none, or too
 * long ago. */
const gphi_kernel_work *gphi_history_kernel(const gphi_history *history, uint64_t number);
/* Whether a piece of work may read or write in a range. */
bool gphi_history_uses(const gphi_history *history, const gphi_work *work,
                       uint64_t address, uint64_t bytes);
/* An address that one piece of work writes for certain and the other may use; 0: none is
 * known. */
uint64_t gphi_history_meets(const gphi_history *history, const gphi_work *writer,
                            const gphi_work *other);

/* Whether a touch reaches into a range: of a kernel's pointer, if it lies in the range or
 * at the base of the allocation that holds it. */
bool gphi_touch_meets(const gphi_history *history, const gphi_touch *touch,
                      uint64_t address, uint64_t bytes);

/* Whether a path leads from one node to the other; without memory one is taken to, since
 * who asks reports nodes that have none. */
bool gphi_node_leads_to(const gphi_model *model, const gph_graph *graph, uint32_t from,
                        uint32_t to);

/* "node 3 (kernel scale_add), argument 1". */
const char *gphi_say_touch(const gphi_exec_history *exec, const gphi_touch *touch);
/* Which of the 256 bits of gphi_exec_history.memories stands for an allocation: by its
 * number, so that a log is read in the same way each time. */
static inline uint32_t gphi_memory_bit(const gphi_allocation *memory)
{
    return (uint32_t)(gphi_hash_mix(memory->allocated.number) >> 56);
}
/* Of a node in an executable, or (NULL) in a graph. */
uint64_t gphi_edit_key(const gphi_exec_state *exec, uint64_t node);

/* Pointers that an eager kernel launch has been given: words of its arguments that are
 * addresses of allocations. At most `capacity`; of another call none. */
uint32_t gphi_call_pointers(const gphi_model *model, const gphi_seen *seen,
                            gphi_touch *out, uint32_t capacity);

/* Those of them that the kernel writes: by its code, or since it has no other that it may
 * write. */
uint32_t gphi_call_written(const gphi_model *model, const gphi_seen *seen,
                           gphi_touch *out, uint32_t capacity);

/* Ranges of a copy or fill call, also of one that failed. False: it is none. */
typedef struct gphi_call_ranges {
    uint64_t write, write_bytes, read, read_bytes;
    bool from_host, to_host, is_fill;
} gphi_call_ranges;
bool gphi_call_ranges_of(const gphi_seen *seen, gphi_call_ranges *out);
/* Whether the name of a kernel has one of the words, letters of either case. */
bool gphi_name_has(const char *name, const char *const *words);
/* "scale_add" of a function handle; "?" if unknown. */
const char *gphi_function_name(const gphi_model *model, uint64_t kernel);
#endif
