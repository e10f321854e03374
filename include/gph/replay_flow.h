/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Control flow in a capture: branches and loops whose bodies are recorded like all other
 *  work; at each replay the device decides which of them run. Tier: experimental.
 *
 *      gph_capture_if(capture, &is_large, 2, &error);
 *      launch_large(stream);
 *      gph_capture_else(capture, &error);
 *      launch_small(stream);
 *      gph_capture_flow_end(capture, &error);
 *
 *  They become conditional nodes. Where the driver lacks them (before CUDA 12.3), each body
 *  becomes a graph, and gph_replay_launch() waits for each value and chooses between them;
 *  a replay can then not be captured. gph_recording_flow() reports which. A body is a graph of its own: where a body
 *  begins and where it ends, forked streams are joined or refused, as at the end of a
 *  capture, and an event recorded in one graph cannot be waited for in another. */
#ifndef GPH_REPLAY_FLOW_H
#define GPH_REPLAY_FLOW_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a condition's value comes from. */
typedef enum gph_condition_kind {
    GPH_CONDITION_WORD = 0,    /**< a word of 32 bits in device memory, as it is */
    GPH_CONDITION_COMPARE = 1, /**< whether `relation` holds: 1 or 0 */
    GPH_CONDITION_KERNEL = 2   /**< a kernel of the caller's, which sets the conditional
                                    handle */
} gph_condition_kind;

/** The type of both sides of a comparison. */
typedef enum gph_value_type {
    GPH_VALUE_U32 = 0, /**< unsigned, 32 bits */
    GPH_VALUE_I32 = 1, /**< signed, 32 bits */
    GPH_VALUE_U64 = 2, /**< unsigned, 64 bits */
    GPH_VALUE_I64 = 3, /**< signed, 64 bits */
    GPH_VALUE_F32 = 4, /**< float */
    GPH_VALUE_F64 = 5  /**< double */
} gph_value_type;

/** The relation that a comparison tests. With NaN all but GPH_NOT_EQUAL are false, as in
 *  C. */
typedef enum gph_relation {
    GPH_LESS = 1,          /**< left < right */
    GPH_EQUAL = 2,         /**< left == right */
    GPH_LESS_EQUAL = 3,    /**< left <= right */
    GPH_GREATER = 4,       /**< left > right */
    GPH_GREATER_EQUAL = 6, /**< left >= right */
    GPH_NOT_EQUAL = 13     /**< left != right */
} gph_relation;

/** Launches a kernel that calls `cudaGraphSetConditional(handle, value)` in a captured
 *  stream. Called once before the branch, and for a loop once more at the end of its
 *  body. A status other than GPH_OK ends the capture and is passed on; the function then
 *  fills in `error`. */
typedef gph_status gph_condition_fn(void *user, CUstream stream, uint64_t handle,
                                    gph_error *error);

/** What decides. Addresses are aligned to the size of their values, which are read after
 *  the work captured before them has run. Start from GPH_CONDITION_INIT. */
typedef struct gph_condition {
    uint32_t size;     /**< sizeof(gph_condition) */
    uint32_t kind;     /**< a gph_condition_kind */
    CUdeviceptr left;  /**< address of the word, or of the left side */
    CUdeviceptr right; /**< address of the right side; 0: `constant` is used */
    union {
        uint64_t u;        /**< for GPH_VALUE_U32 and GPH_VALUE_U64 */
        int64_t i;         /**< for GPH_VALUE_I32 and GPH_VALUE_I64 */
        double f;          /**< for GPH_VALUE_F32 and GPH_VALUE_F64 */
    } constant;            /**< the right side if `right` is 0 */
    uint32_t type;         /**< a gph_value_type */
    uint32_t relation;     /**< a gph_relation */
    gph_condition_fn *set; /**< of GPH_CONDITION_KERNEL */
    void *user;            /**< its first argument; borrowed until the body is closed */
    /** For an IF: two words of device memory, aligned to 8; 0: none. The first word
     *  becomes 1 if the first branch is to run, else 0; the second word becomes the
     *  opposite. The branches are then captured in line, one after the other, without a
     *  conditional node: both are launched, and their kernels must read the word of their
     *  branch and do nothing if it is 0. They may have only kernels. Cheaper for up to
     *  ten small kernels. */
    CUdeviceptr flags;
} gph_condition;
/** A word at `left`. */
#define GPH_CONDITION_INIT GPH_SIZED(gph_condition)

/** Begins a branch: what is captured from now on runs if the value is not 0, until
 *  gph_capture_else() or gph_capture_flow_end().
 *
 *  condition  copied.
 *  branches   1; 2 if gph_capture_else() is to follow. On a GPU, an IF whose body does
 *             not run takes 3 µs, one with two branches 7 µs.
 *
 *  Fails with GPH_E_INVALID (the condition), GPH_E_STATE (wrong thread),
 *  GPH_E_UNSUPPORTED (the driver lacks it), GPH_E_NO_MEMORY, what the condition's
 *  function returns, and what the driver returns. After a failure other than
 *  GPH_E_INVALID and GPH_E_STATE, the stream is no longer captured, and only
 *  gph_capture_abort() is allowed. The same applies to all calls below. */
GPH_API GPH_CHECKED gph_status gph_capture_if(gph_capture *capture,
                                              const gph_condition *condition,
                                              uint32_t branches, gph_error *error);

/** Ends the first branch of gph_capture_if() and begins the one that runs if the value is
 *  0. Fails like gph_capture_if(); GPH_E_STATE: no IF of two branches is open. */
GPH_API GPH_CHECKED gph_status gph_capture_else(gph_capture *capture, gph_error *error);

/** Begins a loop: what is captured until gph_capture_flow_end() runs as long as the value
 *  is not 0, which is checked before each round. Nothing limits the number of rounds: see
 *  gph_loop for loops with a limit. Memory of the capture's pool that was allocated
 *  before the loop and is freed in the body is not used again before the end of the loop.
 *  Fails like gph_capture_if(). */
GPH_API GPH_CHECKED gph_status gph_capture_while(gph_capture *capture,
                                                 const gph_condition *condition,
                                                 gph_error *error);

/** Begins a choice among `count` cases by the value, and its case 0; if the value is
 *  `count` or more, nothing runs. A comparison is not allowed as the condition. Fails
 *  like gph_capture_if(). */
GPH_API GPH_CHECKED gph_status gph_capture_switch(gph_capture *capture,
                                                  const gph_condition *condition,
                                                  uint32_t count, gph_error *error);

/** Ends the open case of gph_capture_switch() and begins another, with a higher number;
 *  those that are left out are empty. Fails like gph_capture_if(); GPH_E_STATE: no choice
 *  is open, or the case was captured already. */
GPH_API GPH_CHECKED gph_status gph_capture_case(gph_capture *capture, uint32_t index,
                                                gph_error *error);

/** Ends the innermost branch, loop or choice; the capture continues after it. What bodies
 *  cannot hold (host functions, events, semaphores, allocations of the driver, batches of
 *  memory operations, copies of pageable memory or arrays: rule R83 in docs/conformance.md) is refused here, with the
 *  node and its region. Fails like gph_capture_if(); GPH_E_STATE: nothing is open. */
GPH_API GPH_CHECKED gph_status gph_capture_flow_end(gph_capture *capture,
                                                    gph_error *error);

/** Kinds of control flow. CUDA's numbers. */
typedef enum gph_flow_kind {
    GPH_FLOW_IF = 0,    /**< one branch or two */
    GPH_FLOW_WHILE = 1, /**< a loop */
    GPH_FLOW_SWITCH = 2 /**< a choice of cases */
} gph_flow_kind;

/** How control flow was implemented. */
typedef enum gph_flow_way {
    GPH_FLOW_NODE = 1,  /**< a conditional node */
    GPH_FLOW_NODES = 2, /**< several IF nodes, where the driver lacks the form */
    GPH_FLOW_FLAGS = 3, /**< kernels in line that take a flag: condition.flags */
    GPH_FLOW_HOST = 4   /**< graphs that the host chooses from, where the driver has no
                             conditional nodes: gph_replay_launch() waits for each value */
} gph_flow_way;

/** How captured control flow was implemented. Set `size` first. */
typedef struct gph_flow {
    uint32_t size;         /**< sizeof(gph_flow) */
    uint32_t kind;         /**< a gph_flow_kind */
    uint32_t way;          /**< a gph_flow_way */
    uint32_t body_count;   /**< number of branches or cases; 1 for a loop */
    uint32_t largest;      /**< nodes of its largest body, nested bodies not counted */
    uint32_t depth;        /**< how many others it is nested in */
    const char *region;    /**< the region that was open when it began, or NULL */
    const char *reason;    /**< why it is not a node, or what would be faster; or NULL */
    const CUgraph *bodies; /**< the driver's graphs of the bodies, `body_count` of them,
                                lent as long as the recording's graph; NULL where they are
                                in line */
} gph_flow;

/** How many IFs, loops and choices the recording has; 0 for NULL. Thread: any. */
GPH_API uint32_t gph_recording_flow_count(const gph_recording *recording);

/** One of them, in the order in which they began.
 *
 *  out  the caller's; its texts and graphs are lent until gph_recording_destroy().
 *
 *  Fails with GPH_E_INVALID (NULL, no such index). Thread: any. */
GPH_API GPH_CHECKED gph_status gph_recording_flow(const gph_recording *recording,
                                                  uint32_t index, gph_flow *out,
                                                  gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
