// SPDX-License-Identifier: Apache-2.0
/* Devices, contexts, and what each thread of the program has current. Every entry point
 * begins with soft_enter() or soft_enter_context(). */
#ifndef SOFT_DEVICE_CONTEXT_H
#define SOFT_DEVICE_CONTEXT_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda/abi.h"
#include "softcuda/device/coredump.h"
#include "softcuda/device/handle.h"
#include "softcuda/device/log.h"

#define SOFT_DRIVER_VERSION 13000
#define SOFT_DEVICE_MAX 16

struct soft_memory; /* softcuda/memory */
struct soft_engine; /* softcuda/engine */
/* Managed memory has a default pool for each place that it may prefer: the device, and on
 * device 0 none, the host and its NUMA nodes. */
#define SOFT_POOL_PLACES (CU_MEM_LOCATION_TYPE_HOST_NUMA + 1)

struct soft_streams; /* device/stream.c: the streams of a context */

typedef struct soft_context soft_context;
typedef struct soft_green soft_green; /* device/green.h */

/* One per CUDA device, made by cuInit(), never destroyed. */
typedef struct soft_device {
    int ordinal;
    int physical; /* its ordinal without CUDA_VISIBLE_DEVICES */
    size_t total_bytes;
    struct soft_memory *memory;
    struct soft_engine *engine;
    struct soft_pool_object *default_pool;
    struct soft_pool_object *_Atomic current_pool;
    struct soft_pool_object *managed_default[SOFT_POOL_PLACES];
    struct soft_pool_object *_Atomic managed_current[SOFT_POOL_PLACES];
    struct soft_pool_object *host_default[SOFT_POOL_PLACES];
    struct soft_pool_object *_Atomic host_current[SOFT_POOL_PLACES];
    soft_context *primary; /* the same handle for the life of the process */
} soft_device;

/* A CUcontext points to one. A destroyed context stays allocated while a thread has it
 * on its stack, so that its calls can say so; the primary one is used again. */
struct soft_context {
    soft_device *device;
    uint64_t id;
    uint32_t flags;
    bool is_primary;
    atomic_bool alive;
    atomic_int error;       /* sticky CUresult; 0 while none: soft_context_fail() */
    char cause[200];        /* of it; written before `error` is, once */
    atomic_uint references; /* its creator's, one for each place on a thread's stack */
    atomic_uint attached;   /* cuCtxAttach() without its cuCtxDetach() yet */
    uint32_t retain_count;  /* of a primary one; under the mutex of device/context.c */
    struct soft_streams *streams;    /* NULL while not alive */
    struct soft_kernel_env *kernels; /* likewise: what softcuda/kernel runs launches in */
    struct soft_module *modules;     /* all loaded; under the mutex of device/module.c */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    atomic_uint peers;      /* bit of each device whose memory it may use */
    uint64_t loop_limit_ns; /* of a WHILE node, 0: none */
    soft_coredump coredump;
};

/* What a CUcontext names: a context, and the green context by which it is seen, if any. */
typedef struct soft_current {
    soft_context *context;
    soft_green *green;
} soft_current;

/* What a thread of the program has in hand. */
typedef struct soft_thread {
    const char *call; /* the entry point it is in, for the log */
    CUstreamCaptureMode capture_mode;
    const CUlaunchConfig *launch; /* that it is submitting, or NULL */
    bool only_warns;  /* what soft_refuse() says is a warning: the call goes on */
    bool in_callback; /* runs a host function of a stream: no CUDA call is permitted */
    uint32_t depth, capacity;
    soft_current *stack;                      /* `depth` contexts, the current one last */
    void (*drop_stack)(struct soft_thread *); /* when the thread ends, if it has one */
    gph_error *error;                         /* soft_error(); NULL before the first */
} soft_thread;

/* This thread's record; never NULL. Its stack is released when the thread ends. */
/* Initial-exec: half of the entry points do little more than to read it. */
extern _Thread_local soft_thread soft_self
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
static inline soft_thread *soft_thread_self(void)
{
    return &soft_self;
}
/* Something is allocated for this thread: it goes when the thread ends. */
void soft_thread_keep(void);

/* The first line of every entry point but cuInit() and those that work without it: names
 * the call for the log and fails with NOT_INITIALIZED (before cuInit, and in a forked
 * child), DEINITIALIZED (while the process ends) or NOT_PERMITTED (in a host function).
 */
CUresult soft_enter(const char *call);

/* soft_enter(), and soft_need() of an argument. */
CUresult soft_enter_with(const char *call, const void *pointer, const char *name);

/* soft_enter(), and the current context, alive and without a sticky error; `out` may be
 * NULL. Fails with INVALID_CONTEXT, CONTEXT_IS_DESTROYED or the sticky error. */
CUresult soft_enter_context(const char *call, soft_context **out);

/* The same with the context of a handle that the call is given, current or not. */
CUresult soft_enter_into(const char *call, soft_context *context);

/* The same for a call whose handle says enough: a current context is checked, none is
 * needed. */
CUresult soft_enter_any(const char *call);

/* nestedhooks.c: what kernels that launch kernels ask of a context. */
extern const struct soft_nested_hooks soft_context_nested;

/* Lets a reference go. */
void soft_context_release(soft_context *context);

/* The context that is current, or NULL; it may be destroyed. */
soft_context *soft_context_current(void);

/* The green context by which the current one is seen, or NULL; it may be destroyed. */
static inline soft_green *soft_green_current(void)
{
    return soft_self.depth ? soft_self.stack[soft_self.depth - 1].green : NULL;
}

/* The context of a handle: INVALID_CONTEXT for what is none,
 * CONTEXT_IS_DESTROYED for one that was. The primary one for a green context's. */
CUresult soft_context_find(CUcontext handle, soft_context **out);
CUresult soft_context_find_seen(CUcontext handle, soft_current *out);

/* Fails with the sticky error of `context`, or with CONTEXT_IS_DESTROYED. */
CUresult soft_context_check(soft_context *context);
/* Whether it would not. */
static inline bool soft_context_lives(const soft_context *context)
{
    return atomic_load_explicit(&context->alive, memory_order_acquire) &&
           atomic_load_explicit(&context->error, memory_order_acquire) == 0;
}

/* Makes an error sticky: every later call in the context gives it, and says the cause.
 * The first one stays. Called by whoever runs work, on any thread. */
void soft_context_fail(soft_context *context, CUresult error, const char *cause);
/* The same, and logs the cause with what is at `address` of the program, 0: nothing is
 * said of it. */
void soft_context_fail_at(soft_context *context, CUresult error, const char *cause,
                          uint64_t address);

/* The device of an ordinal, or NULL. */
soft_device *soft_device_at(int ordinal);
/* The same as an entry point wants it: INVALID_DEVICE for what is none. */
CUresult soft_device_find(int ordinal, soft_device **out);
int soft_device_count(void);

/* Multiprocessors of a device: SOFTCUDA_MULTIPROCESSORS. */
uint32_t soft_multiprocessors(void);

/* Whether SOFTCUDA_CHECK=memory asks for each access of a kernel to be checked. */
bool soft_check_memory_wanted(void);

/* Whether CUDA_LAUNCH_BLOCKING asks each launch to be waited for. */
bool soft_launch_blocking(void);

/* For a context or a green one: never used again. */
uint64_t soft_context_next_id(void);

/* What the entry points call of softcuda/api/cu_context.c. */
CUresult soft_context_create(soft_device *device, uint32_t flags, soft_context **out);
CUresult soft_context_destroy(soft_context *context);
CUresult soft_context_push(soft_current current);
CUresult soft_context_pop(soft_current *out);
CUresult soft_context_set(soft_current current); /* of NULL: none is current */
CUresult soft_primary_retain(soft_device *device, soft_context **out);
CUresult soft_primary_release(soft_device *device);
CUresult soft_primary_reset(soft_device *device);
#endif
