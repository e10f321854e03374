// SPDX-License-Identifier: Apache-2.0
/* Inside the attached library: what its files share.
 *
 *   program ─> wrapper of a symbol (wrappers.c, written by a script)
 *                 attach_enter()   the driver's own entry (find.c), what must be asked
 *                                  before
 *                 the driver
 *                 attach_leave()   handles, captures (track.c), snapshots (snapshot.c),
 *                                  the record (record.c)
 *
 * Nothing here allocates from the heap, or takes a lock, once the driver is found. Own
 * calls of the driver go to its entries directly, while `attach_me.busy` is set. */
#ifndef ATTACH_CALL_H
#define ATTACH_CALL_H
#include "attach/draft.h"
#include "attach/stack.h"
#include "attach/symbols.h"
#include "event/event.h"
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define ATTACH_API __attribute__((visibility("default")))

typedef void attach_function(void);

/* ---- the table of symbols ---- */

typedef enum attach_policy {
    ATTACH_ALWAYS,
    ATTACH_FAIL, /* when it fails */
    ATTACH_POLL, /* "not ready" only while a capture is open */
    ATTACH_NEVER
} attach_policy;

typedef enum attach_hook {
    ATTACH_HOOK_NONE,
    ATTACH_HOOK_INIT,
    ATTACH_HOOK_GET_PROC,
    ATTACH_HOOK_CONTEXT,
    ATTACH_HOOK_CONTEXT_GONE,
    ATTACH_HOOK_STREAM,
    ATTACH_HOOK_STREAM_GONE,
    ATTACH_HOOK_BEGIN,
    ATTACH_HOOK_END,
    ATTACH_HOOK_MODE,
    ATTACH_HOOK_GRAPH,
    ATTACH_HOOK_CHILD,
    ATTACH_HOOK_ADD_NODE,
    ATTACH_HOOK_GRAPH_GONE,
    ATTACH_HOOK_INSTANTIATE,
    ATTACH_HOOK_UPDATE,
    ATTACH_HOOK_KERNEL,
    ATTACH_HOOK_KERNELS,
    ATTACH_HOOK_CODE_GONE
} attach_hook;

enum { ATTACH_WORK = 1, ATTACH_PYTHON = 2, ATTACH_EDITS = 4 }; /* attach_symbol.flags */

typedef enum attach_argument_kind {
    ATTACH_WORD,
    ATTACH_OUT,       /* the word is what stands there afterwards */
    ATTACH_STRUCT,    /* a part */
    ATTACH_STRUCT_V1, /* a part: CUDA_KERNEL_NODE_PARAMS_v1, made the present one */
    ATTACH_ARRAY,     /* a part; argument `other` counts it */
    ATTACH_TEXT,
    ATTACH_ATTRIBUTE /* a part of 4 or 8 bytes: argument `other` says which attribute */
} attach_argument_kind;

typedef struct attach_argument {
    uint8_t kind;
    uint8_t other;
    uint16_t bytes; /* of what it points at, or of one item */
} attach_argument;

typedef struct attach_symbol {
    const char *symbol; /* "cuMemcpyAsync_ptsz" */
    const char *name;   /* "cuMemcpyAsync" */
    attach_function *wrapper;
    int version;
    uint8_t per_thread;
    uint16_t call; /* gphi_call_id; GPHI_CALL_COUNT: none */
    uint8_t policy, hook, flags;
    uint8_t count; /* of arguments, in the present signature */
    int8_t stream; /* which of them, or -1 */
    uint8_t is_old;
    const attach_argument *arguments;
    const int8_t *order; /* of an older signature: which argument stands for each */
} attach_symbol;

extern const attach_symbol attach_symbols[ATTACH_SYMBOL_COUNT];

/* Of each symbol, as bits: arguments that the driver fills, that are parts. */
typedef struct attach_mask {
    uint16_t filled, parts;
} attach_mask;
extern attach_mask attach_masks[ATTACH_SYMBOL_COUNT];
void attach_masks_prepare(void);

static inline const attach_mask *attach_mask_of(const attach_symbol *symbol)
{
    return &attach_masks[symbol - attach_symbols];
}

/* ---- a call on its way ---- */

enum { ATTACH_WORDS_MAX = 16 };

typedef struct attach_call {
    const attach_symbol *symbol; /* NULL: passed on, and not looked at */
    const uint64_t *words;
    const void *from; /* return address of the wrapper */
    uint64_t enter_ns, begin_ns, end_ns;
    uint64_t kept;    /* of attach_before() */
    uint64_t capture; /* that END is about to end */
    uint32_t open;
    uint32_t flags;  /* gphi_call_flag */
    uint32_t stack;  /* taken before the driver was called, or 0 */
    uint16_t depth;  /* of the thread, before it */
    bool is_python;  /* the stack was taken with Python's frames */
    bool is_counted; /* by cupti.c */
    uint64_t own[ATTACH_WORDS_MAX];
} attach_call;

/* The driver's entry for a symbol; never NULL. */
attach_function *attach_enter(attach_call *call, uint32_t symbol, const uint64_t *words);
CUresult attach_leave(attach_call *call, CUresult result);

/* In a wrapper: where the program called it. */
#define attach_enter(call, symbol, words)                                                \
    ((call)->from = __builtin_return_address(0), (attach_enter)(call, symbol, words))

static inline uint64_t attach_location(CUmemLocation location)
{
    uint64_t word;
    memcpy(&word, &location, sizeof(word));
    return word;
}

static inline uint64_t attach_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* ---- the thread ---- */

typedef struct attach_local {
    uint32_t thread; /* the kernel's number, 0: not asked yet */
    uint16_t busy;   /* own code runs: calls are passed on */
    uint16_t depth;  /* wrapped calls that have not returned */
    bool has_no_slot;
    gphi_event_slot *slot; /* in the ring; NULL: none yet */
    uintptr_t outermost;   /* frame of the call at depth 0 */
    uint8_t mode; /* of captures, as cuThreadExchangeStreamCaptureMode() left it */
    uint8_t kind; /* 0 not asked, 1 the program's, 2 the driver's: host functions */
    uint8_t is_told;
    uint64_t last_node; /* that a call of this thread captured */
} attach_local;

extern __thread attach_local attach_me __attribute__((tls_model("initial-exec")));

/* Fills what is not asked yet, and writes THREAD. */
void attach_tell_thread(void);

static inline void attach_know_thread(void)
{
    if (!attach_me.is_told)
        attach_tell_thread();
}

/* ---- what the thread is in the middle of (inside.c) ---- */

void attach_inside_prepare(void);
/* Before a call at depth 0: its stack, its slot; the second when its time is known. */
void attach_inside_begin(attach_call *call);
void attach_inside_enter(const attach_call *call);
void attach_inside_leave(void);

/* ---- state of the process (process.c) ---- */

typedef enum attach_state {
    ATTACH_NEW,    /* no call yet */
    ATTACH_ON,     /* calls are recorded */
    ATTACH_LOGS,   /* tier 0: the driver's sentences alone */
    ATTACH_FORKED, /* a child of fork() that has not called cuInit() itself */
    ATTACH_OFF
} attach_state;

extern _Atomic uint32_t attach_is;

/* Makes the ring and writes PROCESS. Whether calls are recorded now. */
bool attach_start(void);

/* Where the program's file lies, and the break when we were loaded. */
typedef struct attach_place {
    uintptr_t start, end, heap;
} attach_place;
extern attach_place attach_program;

int attach_process(void); /* getpid(), without asking */
void attach_tell_devices(void);
void attach_listen_to_logs(void);

/* ---- the driver (find.c) ---- */

/* Its entry, or NULL if it has none (or there is no driver). */
attach_function *attach_real(uint32_t symbol);
#define ATTACH_REAL(symbol, ...) ((CUresult(*)(__VA_ARGS__))attach_real(ATTACH_##symbol))

/* The same by name. */
void *attach_entry(const char *symbol);

/* What cuGetProcAddress() is to give instead of `entry`. */
void *attach_wrap(void *entry, const char *name, int version, uint64_t flags);

/* The driver's file and code; "" and 0 if there is none yet. */
typedef struct attach_library {
    char path[1024];
    uintptr_t start, end;
} attach_library;
const attach_library *attach_driver(void);

/* ---- handles that were seen made, and captures (track.c) ---- */

void attach_before(attach_call *call);
void attach_after(attach_call *call, CUresult result);
uint32_t attach_open_captures(void);
void attach_track_forked(void);

typedef struct attach_status {
    uint8_t status; /* CUstreamCaptureStatus; 0xFF: not asked */
    uint64_t capture, node;
} attach_status;

/* Of the stream that a call works on. */
attach_status attach_ask(const attach_call *call, CUresult result);
bool attach_is_kernel(uint64_t handle); /* a CUkernel, seen made */

/* ---- functions (function.c) ---- */

/* Of a function that the driver has taken; NULL: it does not tell. Writes FUNCTION the
 * first time. */
const attach_layout *attach_layout_of(uint64_t function);
void attach_forget_functions(void); /* code was unloaded: handles may mean others */

/* ---- snapshots (snapshot.c) ---- */

typedef struct attach_picture {
    uint64_t graph, exec, capture;
    uint64_t same_as; /* a snapshot after which nothing was changed, or 0 */
    gphi_snapshot_why why;
} attach_picture;
/* Its number if the same graph would read the same at the next time: all of it was
 * written, it has no children, and no copy whose host memory an executable must know.
 * Else 0. */
uint64_t attach_snapshot(const attach_picture *picture);
/* From now on nodes are asked for their priority and whether they are cooperative: a
 * stream, a launch or a node was given one. */
void attach_note_attributes(void);

/* ---- records (record.c) ---- */

void attach_add_params(attach_draft *draft, uint16_t arg, const attach_layout *layout,
                       void **params, void **extra);

/* The call's stack, which its record then has; taken before the driver is called. */
void attach_take_stack(attach_call *call);

/* The record of a call. */
void attach_record(attach_call *call, CUresult result);

/* Of at most 64 KiB; false: it cannot be read. */
bool attach_hash(uint64_t address, uint64_t bytes, uint64_t *out);
/* Whether an address is the host's: with unified addresses a copy does not say. */
bool attach_is_host(uint64_t address);

/* ---- host memory of copy nodes (host.c) ---- */

enum { ATTACH_HOSTS_MAX = 8 };

/* An executable has been made; nothing is known of it. */
void attach_host_forget(uint64_t exec);
/* One of its nodes. */
void attach_host_copy(uint64_t exec, const CUDA_MEMCPY3D *copy);
/* It is about to be launched: writes HOST, the first times. */
void attach_host_launch(const attach_call *call);
/* `call`: of the wrapper that the program called. */
gphi_host_bytes attach_host_now(const attach_call *call, uint64_t address, uint64_t bytes,
                                bool is_read);

/* Where the thread's own stack ends, which a frame at `here` lies on; 0: it lies far from
 * it, on a stack that the program has made, whose end nobody tells. */
enum { ATTACH_STACK_MAX = 8 << 20 };
uintptr_t attach_stack_end(uintptr_t here);

/* Memory of the program that may not be there. */
bool attach_read(void *to, const void *from, size_t bytes);

/* What kernelParams point at, into a zeroed buffer of layout->bytes. */
bool attach_read_params(char *to, const attach_layout *layout, void *const *params);
#endif
