// SPDX-License-Identifier: Apache-2.0
/* What happened in a process that uses CUDA, as records: written by the attached library
 * (attach/) and by libgph, read by the doctor and by the report.
 *
 *   record = header | arguments (64-bit words) | parts      a whole number of 64-byte
 * units
 *
 * A record is plain memory without pointers: the same in the ring, in a saved log and in
 * the reader's hands. Times are CLOCK_MONOTONIC.
 *
 * What explains a record comes before it: STACK, PYTHON, THREAD, FUNCTION; and before the
 * CALL that gave or took a graph, by the same thread, its snapshots: GRAPH, then its
 * NODEs in order, then EDGES, a parent before its children. */
#ifndef GPHI_EVENT_EVENT_H
#define GPHI_EVENT_EVENT_H
#include "cuda/calls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls by number: GPHI_CALL_cuLaunchKernel and so on, in the order of GPHI_CUDA_CALLS.
 */
typedef enum gphi_call_id {
#define X(name, version, arguments) GPHI_CALL_##name,
    GPHI_CUDA_CALLS(X)
#undef X
        GPHI_CALL_COUNT
} gphi_call_id;

/* "cuLaunchKernel"; "?" if there is no such call. */
const char *gphi_call_name(uint32_t call);

/* "(CUevent hEvent, CUstream hStream)", "(void)"; "()" if there is no such call. */
const char *gphi_call_arguments(uint32_t call);

/* The name of one of them, which ends where *length says: an argument's of a record's
 * words, or of its parts. "?" if there is none. */
const char *gphi_call_argument(uint32_t call, uint32_t index, int *length);

/* The number of a name, or GPHI_CALL_COUNT. */
uint32_t gphi_call_find(const char *name);

/* Changes whenever the meaning of a record does: a hash of the names and of the record's
 * version. A ring of another number is not read; a saved log has the names with it. */
uint64_t gphi_event_version(void);

typedef enum gphi_event_kind {
    GPHI_EVENT_CALL = 1, /* a driver call that has returned: gphi_call_record */
    GPHI_EVENT_STACK,    /* id: stack number. words: return addresses, innermost first */
    GPHI_EVENT_PYTHON, /* id: stack number. text: "file:line function\n", innermost first
                        */
    GPHI_EVENT_MODULE, /* a loaded file: id: 0. words: start, end, load bias. text:
                          path; second text: build id in hex, or empty */
    GPHI_EVENT_THREAD, /* thread: whose. text: its name */
    GPHI_EVENT_FUNCTION, /* id: CUfunction or CUkernel. words: argument offsets and sizes,
                            in turn. text: name */
    GPHI_EVENT_GRAPH,   /* id: CUgraph as it is now. words: snapshot number, nodes, edges,
                           why (gphi_snapshot_why), CUgraphExec or 0, parent snapshot or
                           0, the parent's node or 0, capture id or 0, and, where nothing
                           has changed since snapshot n, n: it has n's nodes and edges,
                           which are not written again. Its NODE and EDGES
                           records follow it (children's between them are distinguished by
                           their snapshot), all before the CALL that they belong to */
    GPHI_EVENT_NODE,    /* id: CUgraphNode. words: snapshot, index, CUgraphNodeType, then
                           what is at gphi_node_words. parts: parameters */
    GPHI_EVENT_EDGES,   /* id: snapshot. words: from << 32 | to, by index, and edge data
                           (CUgraphEdgeData, as a word), in turn. A snapshot with more
                           than GPHI_EDGES_MAX edges has several of them */
    GPHI_EVENT_LOG,     /* id: CUlogLevel. text: the driver's sentence. stack */
    GPHI_EVENT_PROCESS, /* the first record. id: pid. words: driver version, clock at
                           start (CLOCK_REALTIME ns), tier, ranks of the job, or 0, and
                           which of them this is. text: command line, arguments
                           split by \n; second text: driver's path */
    GPHI_EVENT_DEVICE,  /* id: ordinal. words: CC major, minor, multiprocessors, bytes.
                           text: name */
    GPHI_EVENT_EXIT,    /* id: 0 returned or exit(), 1 _exit(): words: code. 2: by a
                           signal, its number; 3: it hung, and was ended: words: thread,
                           when its call began, a gphi_hang_how; 4: it ended unseen, and ran until then; these
                           of gph doctor, which knows. thread */
    GPHI_EVENT_GPU,     /* GPU time. id: correlation. words: gphi_gpu_what, start ns, end
                           ns (of the GPU's clock moved to the host's), stream, exec,
                           node, function. text: name. From CUPTI, stream, exec and node
                           are its numbers (cuStreamGetId's; see ORIGIN) */
    GPHI_EVENT_NOTE, /* of libgph: words and text as gphi_note_kind says. id: the kind */
    GPHI_EVENT_POINTER, /* id: address. words: base, bytes, CUmemorytype, context, pool,
                           buffer id, is managed */
    GPHI_EVENT_LOST,    /* id: how many records did not fit before this one */
    GPHI_EVENT_HOST,    /* id: CUgraphExec that is about to be launched. parts: HOST, one
                           for each host operand of its copies, and stack; or SOURCE, one for
                           each variable that was an argument. Of the first launches,
                           then of each second as often */
    GPHI_EVENT_ORIGIN,  /* of CUPTI. id: CUgraphNode as it is made, and its stack; or a
                           clone of it in an executable graph; or 0: an executable. words:
                           graph, the node it is a clone of or 0, CUgraphNodeType (0 where
                           not recorded), CUgraphExec or 0, CUPTI's number of node or
                           executable, which GPU records have */
    GPHI_EVENT_STDERR, /* text: what a thread has written to standard error, a piece of it
                           as it came. stack */
    GPHI_EVENT_STANDING, /* of gph doctor, which has read a board. id: CUgraphExec. words:
                           gph_launch_state, its nodes, then how far each is, a
                           gph_node_state of 2 bits, 32 a word, from the lowest bits on */
    GPHI_EVENT_KEPT, /* an error that somebody has kept is asked for. id: the code. words:
                       gphi_kept_how. stack */
    GPHI_EVENT_COLLECTIVE, /* a call of NCCL's or of libgph's communicators. id: communicator,
                       0 where it is not made yet. words: gphi_collective_word says. text:
                       the communicator's name, or empty. stack: of GPHI_COLLECTIVE_CALLED */
    GPHI_EVENT_FORKED, /* the process was made by fork(), of one that had used the driver. id:
                       that one's pid. stack: of the fork() */
    GPHI_EVENT_CRASHED, /* a signal that ends the process. id: its number. words: address that
                       it is about, or 0, and of the instruction. stack: without the C
                       library's frames on top; a second record has it, as the first has none
                       and is there even if the stack cannot be read */
    GPHI_EVENT_BLOCK, /* PyTorch's allocator gives memory to a tensor. id: its address.
                        words: bytes, 0 where it takes it back: then, if anything was
                        captured before, stack */
    GPHI_EVENT_ACCESS, /* what a kernel that was loaded as PTX does with what it is given. words:
                         bytes of its arguments, whether it may write elsewhere, then
                         for each word that it uses as an address: offset | gphi_access_flag
                         << 32 | bytes of its largest store << 40. text: name */
    GPHI_EVENT_NUMBER /* a number of Python's that was read in a capture is another one after
                         a launch of its graph. id: the capture. words: which one, whether it
                         is a module's mode, as it was, as it is (doubles), when it
                         was last seen as it was, or 0, CUgraphExec. text: its name; second text:
                         "file:line function" of who read it */
} gphi_event_kind;

typedef enum gphi_hang_how {
    GPHI_HANG_INSIDE = 0, /* of one call, which did not return */
    GPHI_HANG_ASKS,       /* it asked again and again, since the time that is given */
    GPHI_HANG_RANKS       /* it waits for another rank, or in NCCL */
} gphi_hang_how;

typedef enum gphi_kept_how {
    GPHI_KEPT_WORDS = 1, /* cuGetErrorName, cuGetErrorString: a code of the program's */
    GPHI_KEPT_TAKEN,     /* cudaGetLastError: the runtime's, cleared by it */
    GPHI_KEPT_SEEN /* cudaPeekAtLastError: the runtime's, which goes on to keep it */
} gphi_kept_how;

typedef enum gphi_snapshot_why {
    GPHI_SNAPSHOT_CAPTURED = 1, /* cuStreamEndCapture gave it */
    GPHI_SNAPSHOT_INSTANTIATED, /* exec made from it */
    GPHI_SNAPSHOT_UPDATE,       /* given to cuGraphExecUpdate, whatever the outcome */
    GPHI_SNAPSHOT_CHILD         /* of a node of the parent snapshot */
} gphi_snapshot_why;

enum { GPHI_EDGES_MAX = 16384 }; /* in one EDGES record */

/* Heads every record. */
typedef struct gphi_event {
    uint64_t mark;   /* in a ring: set last. In a log: 0 */
    uint16_t kind;   /* gphi_event_kind */
    uint16_t units;  /* of 64 bytes, this header included */
    uint32_t thread; /* kernel's number */
    uint64_t time_ns;
    uint64_t id;
    uint16_t word_count; /* after the record's head */
    uint16_t part_count; /* after the words */
    uint32_t stack; /* 0: none taken. A STACK or PYTHON record of that id came before */
    union {
        struct {
            uint16_t call;        /* gphi_call_id */
            uint8_t flags;        /* gphi_call_flag */
            uint8_t status;       /* CUstreamCaptureStatus after the call of the stream it
                                     works on; 0xFF: not asked (no capture was open) */
            int32_t result;       /* CUresult */
            uint32_t duration_ns; /* saturates */
            uint32_t open;        /* captures open in the process when it began */
            uint64_t capture;     /* id of the stream's capture after the call, or 0 */
        } call; /* GPHI_EVENT_CALL; `id` is the node the call captured, or 0 */
        uint64_t reserved[3];
    } u;
} gphi_event;
_Static_assert(sizeof(gphi_event) == 64, "one unit");

/* Of a CALL. `time_ns` is when it began; records are in the order in which calls
 * returned. Words are the arguments by the current signature (GPHI_CUDA_CALLS) in its
 * order, older signatures converted: integers widened (signed ones by their sign), floats
 * as bits, pointers as addresses, a CUmemLocation as its 8 bytes; but where an argument
 * is the address of a handle or number to be filled (CUgraph *, CUdeviceptr *, size_t
 * *...), its word is what is there afterwards, 0 if the call failed or the address
 * was NULL. Then, as words more: of cuStreamBeginCapture and its kin the thread's capture
 * mode, of cuThreadExchangeStreamCaptureMode the mode that was set (its first word is the
 * old one). The capture of cuStreamEndCapture is that which it ended, or was to end. The
 * old cuGraphInstantiate is cuGraphInstantiateWithFlags. Getters are recorded when they
 * fail, but for those that give handles; cuStreamQuery and cuEventQuery with "not ready"
 * only while a capture is open. A failed call has no PARAMS and no HASH. The attributes
 * of cuLaunchKernelEx are an ARRAY of argument 0, as its config is a STRUCT; so are the
 * operations that a setter of an executable's batch is given, of argument 2, and the bodies
 * of a conditional node that cuGraphAddNode has added, of argument 5.
 *
 * Calls in which the process ended come last, with the flag UNRETURNED: no parts, words
 * that would have been filled 0, result CUDA_ERROR_UNKNOWN, and a duration up to the last
 * record. A thread that was waiting when another ended the process has one as well. */
typedef enum gphi_call_flag {
    GPHI_CALL_PER_THREAD = 1,  /* _ptsz, _ptds: stream 0 is the thread's own */
    GPHI_CALL_HOST_NODE = 2,   /* made inside a host function of a stream or graph */
    GPHI_CALL_NESTED = 4,      /* made by the driver or by another wrapped call */
    GPHI_CALL_OLD = 8,         /* an older signature */
    GPHI_CALL_UNRETURNED = 64, /* the process ended inside it */
    GPHI_CALL_MODE_SHIFT = 4 /* bits 4, 5: the thread's cuThreadExchangeStreamCaptureMode:
                                0 global, 1 thread-local, 2 relaxed */
} gphi_call_flag;

/* A part: 8 bytes of head, then the bytes, padded to 8. */
typedef enum gphi_part_kind {
    GPHI_PART_TEXT = 1, /* with its final 0 */
    GPHI_PART_PARAMS,   /* a kernel's argument buffer */
    GPHI_PART_STRUCT,   /* the struct that argument `arg` points at, as the current header
                           has it, after the call */
    GPHI_PART_ARRAY,    /* what argument `arg` points at, an array (dependencies, ...) */
    GPHI_PART_HASH, /* 8 bytes: hash of the host bytes that a copy reads (up to 64 KiB) */
    GPHI_PART_HOST, /* gphi_host_bytes: of a captured copy's host side, or of a host
                       function's data; of HOST records */
    GPHI_PART_SOURCE, /* gphi_source_value: of HOST records */
    GPHI_PART_SAMPLE /* 8 bytes: hash of some of the host bytes that a large copy reads */
} gphi_part_kind;

/* Host memory that a graph reads or writes, as it was at the call. */
typedef struct gphi_host_bytes {
    uint64_t address, bytes, hash; /* of the first 64 KiB */
    uint64_t flags;                /* gphi_host_flag */
} gphi_host_bytes;

/* The variable that gave a kernel of the graph an argument, as it is now. */
typedef struct gphi_source_value {
    uint64_t node, address, value; /* of more than 8 bytes their hash */
    uint32_t arg, bytes;
} gphi_source_value;

typedef enum gphi_host_flag {
    GPHI_HOST_READABLE = 1,
    GPHI_HOST_HASHED = 2,   /* it is read by the copy, and `hash` is of its bytes */
    GPHI_HOST_ON_STACK = 4, /* of the calling thread, in use */
    GPHI_HOST_LEFT = 8,     /* of the calling thread's stack, by a function that has
                               returned */
    GPHI_HOST_FREED = 16    /* given back to the C library since it was captured */
} gphi_host_flag;

typedef struct gphi_part {
    uint16_t kind; /* gphi_part_kind */
    uint16_t arg;  /* of a CALL: which argument. Else 0 */
    uint32_t bytes;
} gphi_part;

/* Words of a NODE after its type. Kernel: function, grid x y z, block x y z, shared
 * bytes, context, cooperative, priority; part PARAMS. Others: part STRUCT, the driver's
 * own parameter struct (CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUDA_HOST_NODE_PARAMS,
 * CUDA_MEM_ALLOC_NODE_PARAMS, CUdeviceptr of a free, CUevent, CUgraph of a child), and of
 * a batch of memory operations these as well, part ARRAY. */
enum { GPHI_NODE_SNAPSHOT, GPHI_NODE_INDEX, GPHI_NODE_TYPE, GPHI_NODE_FUNCTION };

typedef enum gphi_gpu_what {
    GPHI_GPU_KERNEL = 1,
    GPHI_GPU_MEMCPY,
    GPHI_GPU_MEMSET,
    GPHI_GPU_GRAPH,  /* a whole launch */
    GPHI_GPU_WINDOW, /* launches delayed and released together: start, end (their
                        difference is of the GPU's clock), then words: stream, times of
                        the first and of the last CALL in it, how many work calls they
                        are, ns that a wrapper adds to a call, whether they were launched
                        as one graph, ns that instantiating it took (0: it was updated),
                        how often threads of the process lost their processor, then
                        the quartiles of what a wrapper adds, besides the median above */
    GPHI_GPU_ANCHORS /* what this machine takes, measured once: 0, 0, then words as
                        gphi_anchor says, in picoseconds. Or why that failed: a CUresult,
                        0, then the driver's call, 4 words of text */
} gphi_gpu_what;

typedef enum gphi_anchor {
    GPHI_ANCHOR_LAUNCH,       /* host: launching a kernel into a stream */
    GPHI_ANCHOR_STREAM_NODE,  /* GPU: a tiny kernel after another, in a stream */
    GPHI_ANCHOR_GRAPH_NODE,   /* GPU: the same in a graph */
    GPHI_ANCHOR_GRAPH_LAUNCH, /* host: launching a graph, and for each of its nodes */
    GPHI_ANCHOR_GRAPH_LAUNCH_NODE,
    GPHI_ANCHOR_GRAPH_START, /* GPU: a launch of a graph, beside its nodes */
    GPHI_ANCHOR_WAIT,        /* host: a tiny kernel launched and waited for */
    GPHI_ANCHOR_GRAPH_WAIT,  /* host: a graph of one launched and waited for */
    GPHI_ANCHOR_CAPTURE,     /* host: capture, and for each node */
    GPHI_ANCHOR_CAPTURE_NODE,
    GPHI_ANCHOR_INSTANTIATE, /* host: instantiation, and for each node */
    GPHI_ANCHOR_INSTANTIATE_NODE,
    GPHI_ANCHOR_UPLOAD, /* host: upload and its end, and for each node */
    GPHI_ANCHOR_UPLOAD_NODE,
    GPHI_ANCHOR_STREAM_COPY, /* GPU: a small fill after another, in a stream */
    GPHI_ANCHOR_GRAPH_COPY,  /* GPU: the same in a graph */
    GPHI_ANCHOR_STREAM_FORK, /* GPU: a fork into two streams and its join, in streams */
    GPHI_ANCHOR_GRAPH_FORK,  /* GPU: the same in a graph */
    GPHI_ANCHOR_EVENTS,      /* GPU: what two events show with nothing between them */
    GPHI_ANCHOR_FRESH_START, /* GPU: as GRAPH_START and GRAPH_NODE, of a graph that has */
    GPHI_ANCHOR_FRESH_NODE,  /* just been updated and uploaded */
    GPHI_ANCHOR_SET,         /* host: setting a kernel node's arguments */
    GPHI_ANCHOR_COUNT
} gphi_anchor;

/* What libgph says of itself, and softcuda of the device side. Text: the object's name. Words:
 */
typedef enum gphi_note_kind {
    GPHI_NOTE_CACHE_HIT =
        1, /* cache, units asked (values of the padded axes, multiplied), bucket,
              0 exact 1 padded 2 eager 3 miss, units of the bucket it was replayed in */
    GPHI_NOTE_CACHE_RECORD, /* cache, bucket, ns, bytes */
    GPHI_NOTE_CACHE_EVICT,  /* cache, bucket, bytes */
    GPHI_NOTE_TREE_RECORD,  /* tree, function, node, why (gph_tree's reason), 1 + the
                               node above it or 0, and of a static input that has moved where
                               it is. Text: the function's name */
    GPHI_NOTE_TREE_REPLAY,  /* as TREE_RECORD */
    GPHI_NOTE_POOL,         /* pool, reserved bytes, used bytes: when it takes pages */
    GPHI_NOTE_DECISION,     /* of softcuda, a conditional node is done: CUgraphExec, the
                               CUgraphNode that it was made of, type
                               (CUgraphConditionalNodeType), body (~0: none), rounds, from
                               and to (ns), then when the first rounds began; of a SWITCH
                               node without a body, the value. No text */
    GPHI_NOTE_DECISIONS, /* the same many times more: executable, node, type, times, rounds,
                            then times for each of the first bodies, and last for others and
                            none */
    GPHI_NOTE_DEVICE_RUN, /* a launch by a kernel is over: CUgraphExec, CUgraphExec of the
                             kernel, stream (1 tail, 2 to forget, 3 sibling), runs (more than
                             one: in a row), from and to (ns) */
    GPHI_NOTE_DEVICE_REFUSED, /* a kernel got 1: CUgraphExec or 0, CUgraphExec of the kernel,
                                 when (ns). Text: the reason */
    GPHI_NOTE_FAILED, /* a call of libgph is refused: gph_status, no CUresult. Text: its message.
                         GPH_OK: the thread's last one was dropped in libgph, and why */
    GPHI_NOTE_SLOT, /* a slot is bound: table, slot, gph_slot_kind, the buffer (0 of REMAP),
                         its bytes, and where kernels read: COPY the fixed buffer, INDIRECT the
                         word. Text: its name */
    GPHI_NOTE_TRACKED, /* gph_exec_track: CUgraphExec */
    GPHI_NOTE_UPDATED, /* gph_exec_update: CUgraphExec as it is now, gph_update_way */
    GPHI_NOTE_REGION,  /* of a capture: its stream, 1 begins 0 ends. Text: the name */
    GPHI_NOTE_HOST,    /* of softcuda, a host function that took long has returned: its
                          address, its argument, from and to (ns), processor time (ns) */
    GPHI_NOTE_BLOCK, /* a pool gives memory out: its address, bytes; takes it back: address,
                          0; of a capture: 1 */
    GPHI_NOTE_LEFT, /* memory of a recording goes back to its pool: CUgraph that had it */
    GPHI_NOTE_RNG,  /* a generator is set: itself, seed, offset */
    GPHI_NOTE_EDITED, /* gph_exec_edit sets one argument of a node more than once: CUgraphExec,
                         CUgraphNode, times */
    GPHI_NOTE_CACHE_MADE, /* or its buffers have moved: cache, gph_cache_lazy, where kernels
                             find the real sizes, 1 + an input whose rest is kept and would be
                             in each output, or 0. Text: its name */
    GPHI_NOTE_TREE_FUNCTION, /* a function is added: tree, function. Text: its name */
    GPHI_NOTE_NODE_FOUND,    /* gph_exec_node_find: CUgraphExec, CUgraphNode */
    GPHI_NOTE_UNPLACED /* a recipe is loaded: a range that the caller did not place, though it
                          placed others: gph_loaded, address, bytes. Text: its name */
} gphi_note_kind;

static inline const uint64_t *gphi_event_words(const gphi_event *event)
{
    return (const uint64_t *)(event + 1);
}

/* Word `index`, or 0 where the record has fewer. */
static inline uint64_t gphi_event_word(const gphi_event *event, uint32_t index)
{
    return index < event->word_count ? gphi_event_words(event)[index] : 0;
}

static inline const gphi_part *gphi_event_parts(const gphi_event *event)
{
    return (const gphi_part *)(gphi_event_words(event) + event->word_count);
}

static inline const gphi_part *gphi_part_next(const gphi_part *part)
{
    const size_t bytes = sizeof(*part) + ((part->bytes + 7U) & ~(size_t)7);
    return (const gphi_part *)((const char *)part + bytes);
}

/* The `nth` part of a kind (from 0), or NULL; its bytes are after it. Records of
 * gphi_event_reader are checked: all parts lie within them, texts end. */
const gphi_part *gphi_event_part(const gphi_event *event, gphi_part_kind kind,
                                 uint32_t nth);

/* The `nth` GPHI_PART_HOST (from 0), of this version or a later one; false: there is none. */
bool gphi_event_host(const gphi_event *event, uint32_t nth, gphi_host_bytes *out);

/* The part of a CALL that belongs to one argument, or NULL. */
const gphi_part *gphi_event_arg(const gphi_event *event, gphi_part_kind kind,
                                uint32_t arg);

static inline const void *gphi_part_bytes(const gphi_part *part)
{
    return part + 1;
}

/* The nth text, or "". */
const char *gphi_event_text(const gphi_event *event, uint32_t nth);

/* The hash of host bytes that HASH and HOST have: begins with how many bytes they are, and
 * goes on piece by piece; pieces but the last of a multiple of 8 bytes. */
uint64_t gphi_host_hash(uint64_t hash, const void *bytes, size_t count);

/* Whether the record's head, words and parts agree with its units, and texts end. */
int gphi_event_is_whole(const gphi_event *event, size_t bytes_there);
#endif
