/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  A graph as data: nodes, edges, names, parameters. It knows no driver, so it can be
 *  read from a file, compared and drawn anywhere. gph_graph_describe() in <gph/replay.h>
 *  makes one from a CUgraph. Tier: stable. */
#ifndef GPH_GRAPH_H
#define GPH_GRAPH_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph as data. One thread at a time while it is changed, any thread otherwise.
 */
typedef struct gph_graph gph_graph;

/** What a node does. Numbers as CUgraphNodeType. */
#define GPH_NODE_KINDS(X)                                                                \
    X(GPH_NODE_KERNEL, 0, "kernel")                                                      \
    X(GPH_NODE_MEMCPY, 1, "memcpy")                                                      \
    X(GPH_NODE_MEMSET, 2, "memset")                                                      \
    X(GPH_NODE_HOST, 3, "host")                                                          \
    X(GPH_NODE_CHILD, 4, "child")                                                        \
    X(GPH_NODE_EMPTY, 5, "empty")                                                        \
    X(GPH_NODE_EVENT_WAIT, 6, "event_wait")                                              \
    X(GPH_NODE_EVENT_RECORD, 7, "event_record")                                          \
    X(GPH_NODE_SEMAPHORE_SIGNAL, 8, "semaphore_signal")                                  \
    X(GPH_NODE_SEMAPHORE_WAIT, 9, "semaphore_wait")                                      \
    X(GPH_NODE_MEM_ALLOC, 10, "mem_alloc")                                               \
    X(GPH_NODE_MEM_FREE, 11, "mem_free")                                                 \
    X(GPH_NODE_BATCH_MEM_OP, 12, "batch_mem_op")                                         \
    X(GPH_NODE_CONDITIONAL, 13, "conditional")

/** The kinds of node. */
typedef enum gph_node_kind {
#define X(name, value, text) name = value, /**< see GPH_NODE_KINDS */
    GPH_NODE_KINDS(X)
#undef X
} gph_node_kind;

/** Graphs nest at most this deep, so that no code recurses without a limit. */
#define GPH_GRAPH_DEPTH_MAX 16

/** One argument of a kernel: where it lies in the argument buffer. Layout frozen:
 *  kernels have arrays of it. */
typedef struct gph_kernel_arg {
    uint32_t offset; /**< bytes from the start of the buffer */
    uint32_t bytes;  /**< its size */
} gph_kernel_arg;

/** A kernel launch. Sized by gph_node. */
typedef struct gph_kernel_params {
    const char *function;        /**< the kernel's name; NULL if unknown */
    uint64_t handle;             /**< CUfunction or CUkernel, 0 if from a file */
    uint32_t grid[3];            /**< blocks, x y z */
    uint32_t block[3];           /**< threads per block, x y z */
    uint32_t shared_bytes;       /**< dynamic shared memory per block */
    uint32_t arg_count;          /**< of `args`; 0 also if unknown */
    const gph_kernel_arg *args;  /**< in order of declaration */
    const unsigned char *buffer; /**< the arguments' bytes */
    size_t buffer_bytes;         /**< of `buffer` */
    uint64_t context;            /**< CUcontext of the function, 0 if from a file */
    uint32_t cooperative;        /**< 1: all its blocks run at the same time */
    int32_t priority;            /**< as a stream's: lower runs first */
    uint32_t cluster[3];         /**< blocks per cluster, x y z; 0: no clusters */
} gph_kernel_params;

/** What kind of memory one side of a copy is. Numbers as CUmemorytype. */
typedef enum gph_memory_kind {
    GPH_MEMORY_HOST = 1,   /**< host memory */
    GPH_MEMORY_DEVICE = 2, /**< device memory */
    GPH_MEMORY_ARRAY = 3,  /**< a CUDA array */
    GPH_MEMORY_UNIFIED = 4 /**< the address says which */
} gph_memory_kind;

/** One side of a copy. Layout frozen: the members of CUDA_MEMCPY3D, twice in a copy. */
typedef struct gph_memcpy_side {
    uint32_t memory;      /**< a gph_memory_kind */
    uint32_t lod;         /**< mip level of an array */
    uint64_t address;     /**< of byte 0, or the array's handle */
    uint64_t x_bytes;     /**< offset in a row */
    uint64_t y;           /**< rows to skip */
    uint64_t z;           /**< slices to skip */
    uint64_t pitch_bytes; /**< from row to row */
    uint64_t height;      /**< rows from slice to slice */
} gph_memcpy_side;

/** A copy, as CUDA_MEMCPY3D. A linear one has height and depth 1. Sized by gph_node. */
typedef struct gph_memcpy_params {
    gph_memcpy_side dst;  /**< written */
    gph_memcpy_side src;  /**< read */
    uint64_t width_bytes; /**< of a row */
    uint64_t height;      /**< rows */
    uint64_t depth;       /**< slices */
} gph_memcpy_params;

/** A fill. Sized by gph_node. */
typedef struct gph_memset_params {
    uint64_t address;       /**< first byte written */
    uint64_t pitch_bytes;   /**< from row to row, if height > 1 */
    uint64_t width;         /**< elements per row */
    uint64_t height;        /**< rows */
    uint32_t value;         /**< of an element */
    uint32_t element_bytes; /**< 1, 2 or 4 */
} gph_memset_params;

/** A call of a host function. Sized by gph_node. */
typedef struct gph_host_params {
    uint64_t function; /**< its address */
    uint64_t user;     /**< its argument */
} gph_host_params;

/** A record of, or a wait for, an event. Sized by gph_node. */
typedef struct gph_event_params {
    uint64_t event; /**< CUevent */
} gph_event_params;

/** An allocation (address and bytes) or a free (address). Sized by gph_node. */
typedef struct gph_memory_params {
    uint64_t address; /**< device address */
    uint64_t bytes;   /**< 0 for a free */
} gph_memory_params;

/** One operation of a batch. Layout frozen: the members of CUstreamBatchMemOpParams, in
 *  arrays. */
typedef struct gph_mem_op {
    uint32_t operation; /**< CUstreamBatchMemOpType */
    uint32_t flags;     /**< as CUDA's, of its operation */
    uint64_t address;   /**< of the word, 0 if it has none */
    uint64_t value;     /**< written, or waited for */
} gph_mem_op;

/** A batch of memory operations. Sized by gph_node. */
typedef struct gph_batch_params {
    uint64_t context;      /**< CUcontext, 0 if from a file */
    uint32_t count;        /**< of `ops` */
    const gph_mem_op *ops; /**< in their order */
} gph_batch_params;

/** Signals of, or waits for, external semaphores. Sized by gph_node. */
typedef struct gph_semaphore_params {
    uint32_t count; /**< of semaphores */
} gph_semaphore_params;

/** What a conditional node chooses. */
typedef enum gph_conditional_form {
    GPH_FORM_UNKNOWN = 0, /**< the driver does not say, and libgph did not make it */
    GPH_FORM_IF = 1,      /**< body 0 for any value but 0, else body 1 if there is one */
    GPH_FORM_WHILE = 2,   /**< body 0 as long as the value is not 0 */
    GPH_FORM_SWITCH = 3   /**< the body of that number, or none */
} gph_conditional_form;

/** A conditional node. Sized by gph_node. */
typedef struct gph_conditional_params {
    gph_graph *bodies; /**< a graph of child nodes, a body each, without edges; or NULL:
                            unknown. Taken as a child graph is */
    uint32_t form;     /**< a gph_conditional_form */
    uint32_t reserved; /**< zero */
} gph_conditional_params;

/** One node. What `kind` does not name is zero. */
typedef struct gph_node {
    uint32_t size;      /**< sizeof(gph_node); 0: the size that version 0.1 has */
    gph_node_kind kind; /**< says which of the parameters below is set */
    const char *name;   /**< what to call it; NULL: kind and index */
    union {
        gph_kernel_params kernel;       /**< GPH_NODE_KERNEL */
        gph_memcpy_params memcpy;       /**< GPH_NODE_MEMCPY */
        gph_memset_params memset;       /**< GPH_NODE_MEMSET */
        gph_host_params host;           /**< GPH_NODE_HOST */
        gph_event_params event;         /**< GPH_NODE_EVENT_WAIT, GPH_NODE_EVENT_RECORD */
        gph_memory_params memory;       /**< GPH_NODE_MEM_ALLOC, GPH_NODE_MEM_FREE */
        gph_batch_params batch;         /**< GPH_NODE_BATCH_MEM_OP */
        gph_semaphore_params semaphore; /**< GPH_NODE_SEMAPHORE_ SIGNAL and WAIT */
        gph_graph *child;               /**< GPH_NODE_CHILD; may be NULL in a node that is
                                             not part of a graph */
        gph_conditional_params conditional; /**< GPH_NODE_CONDITIONAL */
    } u;                                    /**< the parameters */
} gph_node;

/** One edge: `to` starts after `from`. The rest is CUgraphEdgeData; zero is an ordinary
 *  dependency. Layout frozen: two indices and CUgraphEdgeData. */
typedef struct gph_edge {
    uint32_t from;     /**< index of a node */
    uint32_t to;       /**< index of a node */
    uint8_t from_port; /**< 0 default, 1 programmatic, 2 at launch; 1 and 2 of
                            kernels only */
    uint8_t to_port;   /**< 0 */
    uint8_t type;      /**< 0 default, 1 programmatic */
    uint8_t reserved;  /**< 0 */
} gph_edge;

/** Makes an empty graph.
 *
 *  allocator  copied; NULL means the C library's heap.
 *  out        owned by the caller on success: gph_graph_destroy(). Untouched on failure.
 *  error      may be NULL.
 *
 *  Fails with GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_graph_create(const gph_allocator *allocator,
                                                gph_graph **out, gph_error *error);

/** Destroys a graph, its nodes and its child graphs. NULL is allowed. */
GPH_API void gph_graph_destroy(gph_graph *graph);

/** Names the graph.
 *
 *  name   copied; NULL removes the name.
 *
 *  Fails with GPH_E_NO_MEMORY. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_graph_name_set(gph_graph *graph, const char *name,
                                                  gph_error *error);

/** The graph's name, or NULL (all queries treat a NULL graph as an empty one). Lent until
 *  gph_graph_name_set() or gph_graph_destroy(). */
GPH_API const char *gph_graph_name(const gph_graph *graph);

/** Adds a node.
 *
 *  node   copied, with its name, function name and arguments; a child graph is taken on
 *         success and stays the caller's on failure.
 *  index  the caller's, may be NULL: the node's index, counting from 0.
 *  error  may be NULL.
 *
 *  Fails with GPH_E_INVALID (unknown kind, arguments outside their buffer, elements of
 *  another size than 1, 2 or 4 bytes, a child that has a parent already or nests too deep, a
 *  graph that is itself a child, which may not be changed) and GPH_E_NO_MEMORY. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_graph_node_add(gph_graph *graph, const gph_node *node,
                                                  uint32_t *index, gph_error *error);

/** Adds an edge.
 *
 *  edge  copied.
 *
 *  Fails with GPH_E_INVALID (no such node, an edge from a node to itself, edge data that
 *  CUDA does not define) and GPH_E_NO_MEMORY. Duplicates and cycles are found by
 *  gph_graph_check(). Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_graph_edge_add(gph_graph *graph, const gph_edge *edge,
                                                  gph_error *error);

/** How many nodes it has, child graphs not entered. */
GPH_API uint32_t gph_graph_node_count(const gph_graph *graph);

/** How many nodes it has, with those of child graphs and of bodies; a child node itself
 *  is not counted, a conditional node is. */
GPH_API uint64_t gph_graph_node_count_deep(const gph_graph *graph);

/** How many edges it has. */
GPH_API size_t gph_graph_edge_count(const gph_graph *graph);

/** A node. Lent until the graph is changed; NULL if the index is too large. */
GPH_API const gph_node *gph_graph_node(const gph_graph *graph, uint32_t index);

/** An edge. Lent until the graph is changed; NULL if the index is too large. */
GPH_API const gph_edge *gph_graph_edge(const gph_graph *graph, size_t index);

/** Puts the nodes into an order in which every edge points forward, the roots first, by
 *  index; equal graphs give the same order.
 *
 *  order  the caller's, one entry per node. Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (a cycle; the error names a node of it) and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_graph_order(const gph_graph *graph, uint32_t *order,
                                               gph_error *error);

/** Checks the whole graph, and its child graphs: no cycle, no edge twice. The error names
 *  the node. Fails with GPH_E_INVALID and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_graph_check(const gph_graph *graph, gph_error *error);

/** The word for a kind, such as "kernel"; "unknown" if there is no such kind. */
GPH_API const char *gph_node_kind_name(gph_node_kind kind);

/** 128 bits that identify a class of graphs. Layout frozen: 128 bits. */
typedef struct gph_signature {
    uint64_t bits[2]; /**< compare both */
} gph_signature;

/** What two graphs of one class have in common, besides kinds, edges and what no update
 *  can change. */
enum {
    /** Kernels are distinguished by handle (by name where there is none), block and shared
     *  memory, so that graphs of one class cost about the same. */
    GPH_SIGNATURE_KERNELS = 1
};

/** Hashes what graphs must have in common to use one executable in turn: kinds of nodes,
 *  edges in the order in which an update pairs them, and what no update can change.
 *  Grids, arguments, addresses and sizes are left out.
 *
 *  flags  GPH_SIGNATURE_KERNELS, or 0: all that the driver could update.
 *  out    the caller's. Untouched on failure.
 *
 *  The driver has further rules (contexts, the memory that an address is in): see
 *  gph_exec_compatible(). Two graphs with equal signatures are of one class, except with
 *  a probability of 2^-128; gph_graph_matches() compares them exactly. Handles that are
 *  not 0 make a signature valid only within the process. Fails with GPH_E_INVALID (NULL,
 *  unknown flags, a cycle) and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_graph_signature(const gph_graph *graph, uint32_t flags,
                                                   gph_signature *out, gph_error *error);

/** Whether two graphs are of one class, compared without hashing. Arguments and failures
 *  as gph_graph_signature(); *out is 1 or 0. */
GPH_API GPH_CHECKED gph_status gph_graph_matches(const gph_graph *a, const gph_graph *b,
                                                 uint32_t flags, int *out,
                                                 gph_error *error);

/** What differs between two graphs. Any thread. */
typedef struct gph_diff gph_diff;

/** Kinds of difference. */
typedef enum gph_change_kind {
    GPH_CHANGE_FIELD = 1,        /**< a field of two paired nodes */
    GPH_CHANGE_NODE_REMOVED = 2, /**< a node of the first graph has no partner */
    GPH_CHANGE_NODE_ADDED = 3,   /**< a node of the second graph has no partner */
    GPH_CHANGE_EDGE_REMOVED = 4, /**< an edge of the first graph */
    GPH_CHANGE_EDGE_ADDED = 5,   /**< an edge of the second graph */
    GPH_CHANGE_EDGE = 6          /**< the data of an edge of both */
} gph_change_kind;

/** No node of that graph. */
#define GPH_NODE_NONE UINT32_MAX

/** One difference. Text is lent until gph_diff_destroy(). Lent: grows at the end. */
typedef struct gph_change {
    uint32_t kind; /**< a gph_change_kind */
    uint32_t a;    /**< the node in the first graph; for an edge, its start */
    uint32_t b;    /**< its partner in the second graph; either may be GPH_NODE_NONE */
    uint32_t a_to; /**< for an edge: its end in the first graph */
    uint32_t b_to; /**< for an edge: its end in the second graph */
    /** The child nodes that lead to the graphs of these indices, such as "4/0"; "" for
     *  the graphs themselves. A conditional node's bodies are "7/0", "7/1". */
    const char *path;
    const char *node;   /**< what to call it, such as "kernel axpy" */
    const char *field;  /**< such as "grid", "args[2]" or "src.address"; else NULL */
    const char *before; /**< the first graph's value as text, or NULL */
    const char *after;  /**< the second graph's, or NULL */
} gph_change;

/** Compares two graphs. Nodes are paired as an update pairs them if both have the same
 *  topology, else by a longest common subsequence of kinds and functions; then fields and
 *  edges are compared.
 *
 *  a, b  borrowed for the call.
 *  out   owned by the caller on success: gph_diff_destroy(). Untouched on failure.
 *
 *  Handles of 0 (unknown) and names that only one of the two has are not a difference.
 *  Fails with GPH_E_INVALID (NULL) and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_graph_diff(const gph_graph *a, const gph_graph *b,
                                              gph_diff **out, gph_error *error);

/** Destroys it. NULL is allowed. */
GPH_API void gph_diff_destroy(gph_diff *diff);

/** How many differences; 0 for NULL. */
GPH_API size_t gph_diff_count(const gph_diff *diff);

/** One difference: nodes by their order in the first graph, then edges. Lent until
 *  gph_diff_destroy(); NULL if the index is too large. */
GPH_API const gph_change *gph_diff_at(const gph_diff *diff, size_t index);

/** Whether nodes or edges differ, not only fields; 0 for NULL. */
GPH_API int gph_diff_is_topology(const gph_diff *diff);

/** Writes one difference as a line without its line break. Fails with GPH_E_INVALID and
 *  what `write` returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_change_write(const gph_change *change,
                                                gph_write_fn *write, void *user,
                                                gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
