// SPDX-License-Identifier: Apache-2.0
/* Launches by kernels. */
#include "softcuda/graph/deviceside.h"

#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/noted.h"
#include "softcuda/engine/wordlock.h"
#include "softcuda/graph/watch.h"
#include "softcuda/rules/rules.h"

enum { INVALID = 1 };
/* Launches from one look at the clock to the next, unless they are slow: these. */
enum { LIMIT_ROUNDS = 64, SLOW_ROUNDS_NS = 1000000 };

/* What cudaStreamGraphTailLaunch and the others are. */
#define STREAM_TAIL UINT64_C(0x0100000000000000)
#define STREAM_FORGET UINT64_C(0x0200000000000000)
#define STREAM_SIBLING UINT64_C(0x0300000000000000)

#define ONE UINT64_C(1)
#define CAME_ONE (UINT64_C(1) << 32)

typedef struct scope {
    /* How many run in it: 1 while nothing does, the next run's own; and above it how many
     * launches to forget and of siblings came into it. */
    _Atomic uint64_t open;
    soft_side *of;
    bool is_launch; /* of the host, with all that comes of it */
} scope;

typedef struct tails {
    soft_side *first, *last;
} tails;

/* What a launch by a kernel holds until it is done. */
typedef struct run {
    soft_version *version;
    soft_object_set *objects;
} run;

struct soft_side {
    soft_kernel_graph face; /* first */
    soft_exec *exec;
    bool is_device; /* kernels may launch it */
    _Atomic uint32_t lock;
    /* Under the lock. */
    run uploaded;    /* what kernels launch; version NULL: nothing yet */
    run before;      /* the one before it, until soft_side_settle() */
    uint32_t hosts;  /* launches of the host whose nodes, and what they forgot, may run */
    bool is_pending; /* a launch by a kernel is */
    bool is_awaited; /* a launch by the host waits for it: for `runs` */
    bool is_over;    /* of the host's launch that is under way these nodes are over */
    bool again;      /* it has launched itself into its tail */
    bool keeps;      /* that holds what the run under way does */
    run next;        /* what the run that is pending will take */
    tails mine;      /* of the graph that runs */
    uint32_t tail_count; /* launches by the run so far */
    /* Of the run, from its start to its end. */
    run now;
    bool by_kernel;
    scope *around; /* NULL: the launch's scope */
    soft_side *root;
    tails rest;               /* older tails: they come after its own */
    soft_side *link;          /* the next in a list of tails */
    scope own, whole;         /* of the graph; of a launch of the host */
    soft_queue *queue, *runs; /* is_device: for runs; a fence that those reach
                               * that somebody waits for */
    soft_queue *fence;        /* the end of `whole` */
    atomic_ullong launched;   /* of the launch of the host: by kernels so far, */
    atomic_ullong started_ns; /* and when the first of them was, */
    atomic_ullong looked_ns;  /* when the clock was looked at last, */
    atomic_ullong look_at;    /* and at which it is next */
    atomic_uint
        said; /* check mode: why launches by its kernels were refused, a bit each */
    soft_unit *unit, *next_unit; /* check mode: the run, and the one to come; or NULL */
    bool notes;                  /* a doctor is attached */
    atomic_uint refused;
    soft_noted_run noted;
};

/* ---- life -------------------------------------------------------------------------- */

static bool launches(const soft_node *node)
{
    return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL &&
           node->task.u.launch.function->code->kernel->launches_graphs;
}

/* Whether a kernel of it launches graphs; all that do are of one context (R71). */
static CUresult find_launches(const soft_flat *flat,
                              CUDA_GRAPH_INSTANTIATE_PARAMS *result, bool *out)
{
    const soft_node *first = NULL;
    for (uint32_t i = 0; i < flat->shape.node_count; i++) {
        soft_node *node = flat->nodes[i];
        if (!launches(node))
            continue;
        if (!first)
            first = node;
        if (node->context == first->context || !soft_rule(R71))
            continue;
        result->hErrNode_out = (CUgraphNode)node;
        result->result_out = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "kernels of several contexts launch graphs: node %llu and node "
                         "%llu",
                         (unsigned long long)first->id, (unsigned long long)node->id);
    }
    *out = first;
    return CUDA_SUCCESS;
}

static gph_status launch(soft_kernel_graph *face, uint64_t handle, uint64_t stream,
                         const struct soft_kernel_caller *by, uint32_t *error,
                         const char **why);

static CUresult make_queues(soft_side *side)
{
    soft_engine *engine = side->exec->device->engine;
    SOFT_TRY(soft_pass(soft_fence_create(engine, &side->fence, soft_error())));
    if (!side->is_device)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_pass(soft_fence_create(engine, &side->runs, soft_error())));
    SOFT_TRY(soft_pass(soft_queue_create(engine, 0, &side->queue, soft_error())));
    soft_queue_shorten(side->queue);
    return CUDA_SUCCESS;
}

CUresult soft_side_create(soft_exec *exec, const soft_flat *flat,
                          CUDA_GRAPH_INSTANTIATE_PARAMS *result, soft_side **out)
{
    const bool is_device = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    bool any;
    *out = NULL;
    any = flat->has & SOFT_HAS_LAUNCHES;
    if (any)
        SOFT_TRY(find_launches(flat, result, &any));
    if (!any && !is_device)
        return CUDA_SUCCESS;
    soft_side *side = soft_new(sizeof(*side));
    SOFT_TRY(soft_made(side, "no memory for a graph that kernels launch"));
    side->face.handle = is_device && soft_rule(R77) ? (uint64_t)(uintptr_t)exec : 0;
    side->face.launch = launch;
    side->exec = exec;
    side->is_device = is_device;
    side->notes = soft_noted_wanted();
    side->noted.exec = (uint64_t)(uintptr_t)exec;
    side->own.of = side->whole.of = side;
    side->whole.is_launch = true;
    atomic_init(&side->own.open, ONE);
    atomic_init(&side->whole.open, ONE);
    const CUresult made = make_queues(side);
    if (made != CUDA_SUCCESS) {
        soft_side_destroy(side);
        return made;
    }
    *out = side;
    return CUDA_SUCCESS;
}

void soft_side_destroy(soft_side *side)
{
    if (!side)
        return;
    if (side->notes)
        soft_noted_rest_of_runs(&side->noted, gphi_clock_ns());
    soft_object_set_release(side->uploaded.objects);
    soft_fence_release(side->fence);
    soft_fence_release(side->runs);
    if (side->queue)
        soft_queue_release(side->queue);
    soft_delete(side);
}

soft_kernel_graph *soft_side_face(soft_side *side)
{
    return side ? &side->face : NULL;
}

soft_queue *soft_side_fence(const soft_side *side)
{
    return side ? side->fence : NULL;
}

/* ---- what a launch holds ----------------------------------------------------------- */

static run hold(soft_version *version, soft_object_set *objects)
{
    if (objects)
        atomic_fetch_add_explicit(&objects->references, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&version->launches, 1, memory_order_relaxed);
    return (run){version, objects};
}

static void let_go(run held)
{
    if (!held.version)
        return;
    /* Release: pairs with the acquire of an edit that finds the version idle. */
    atomic_fetch_sub_explicit(&held.version->launches, 1, memory_order_release);
    soft_object_set_release(held.objects);
}

void soft_side_begin_upload(soft_side *side, soft_version *version)
{
    if (!side || !side->is_device)
        return;
    const run held = hold(version, version->objects);
    soft_word_lock(&side->lock);
    side->before = side->uploaded;
    side->uploaded = held;
    soft_word_unlock(&side->lock);
}

void soft_side_settle(soft_side *side, bool keeps)
{
    if (!side || !side->is_device)
        return;
    soft_word_lock(&side->lock);
    const run gone = keeps ? side->before : side->uploaded;
    if (!keeps)
        side->uploaded = side->before;
    side->before = (run){0};
    soft_word_unlock(&side->lock);
    let_go(gone);
}

void soft_side_upload(soft_side *side, soft_version *version)
{
    soft_side_begin_upload(side, version);
    soft_side_settle(side, true);
}

/* Where a graph is started from. */
struct here {
    const soft_side
        *side;           /* whose run ends just now, in its own queue; NULL: none does */
    soft_worker *worker; /* that this runs on; NULL: none */
};

/* ---- the end of runs --------------------------------------------------------------- */

static scope *around(soft_side *side)
{
    return side->around ? side->around : &side->whole;
}

static void leave(scope *place, struct here here);

/* Of a run that a kernel ordered. */
static void run_done(void *argument, soft_worker *worker)
{
    soft_side *side = argument;
    if (worker) /* it ran */
        soft_watch_finish(side->exec->watch);
    else
        soft_watch_cancel(side->exec->watch);
    /* Its kernels are over: nobody else writes it. */
    if (!side->keeps)
        let_go(side->now);
    side->keeps = false;
    leave(&side->own, (struct here){worker ? side : NULL, worker});
}

static soft_context *context_of(const soft_side *side)
{
    const soft_exec *exec = side->exec;
    soft_exec_record *const *records = side->next.version->records;
    for (uint32_t i = 0; i < exec->shape.node_count; i++)
        if (records[i])
            return records[i]->context;
    return NULL; /* order alone */
}

/* A chain of launches that never ends keeps its stream from everything else. False: the
 * context is in error, and runs nothing more. */
static bool may_start(soft_side *root, soft_context *context)
{
    const uint64_t count = atomic_fetch_add(&root->launched, 1) + 1;
    if (!context)
        return true;
    if (context->loop_limit_ns != 0 &&
        (count == 1 || count >= atomic_load(&root->look_at))) {
        const uint64_t now = gphi_clock_ns();
        if (count == 1)
            atomic_store(&root->started_ns, now);
        const bool is_slow =
            count <= 2 || now - atomic_load(&root->looked_ns) > SLOW_ROUNDS_NS;
        atomic_store(&root->looked_ns, now);
        atomic_store(&root->look_at, count + (is_slow ? 1 : LIMIT_ROUNDS));
        const uint64_t from = atomic_load(&root->started_ns);
        if (from != 0 && now - from >= context->loop_limit_ns) {
            char text[160];
            snprintf(text, sizeof(text),
                     "kernels of one launch have launched %llu graphs in %llu ms, and it "
                     "goes on",
                     (unsigned long long)count,
                     (unsigned long long)((now - from) / 1000000));
            soft_context_fail_at(context, CUDA_ERROR_LAUNCH_TIMEOUT, text, 0);
        }
    }
    return atomic_load_explicit(&context->error, memory_order_relaxed) == CUDA_SUCCESS;
}

/* The place in `around` is taken already. */
static void start(soft_side *side, scope *place, soft_side *root, tails rest,
                  struct here here)
{
    const bool may = may_start(root, context_of(side));
    side->by_kernel = true;
    side->around = place;
    side->root = root;
    side->rest = rest;
    side->now = side->next;
    side->unit = side->next_unit;
    side->next_unit = NULL;
    soft_watch_run(side->exec->watch, side->unit);
    if (side->notes)
        soft_noted_begin_run(&side->noted, gphi_clock_ns());
    const soft_work *works = side->now.version->works;
    if (!may ||
        (side == here.side ? soft_queue_repeat(side->queue, works)
                           : soft_queue_relaunch(side->queue, side->exec->program, works,
                                                 run_done, side, here.worker)) != GPH_OK)
        run_done(side, NULL); /* or the engine stops */
}

static tails joined(tails first, tails second)
{
    if (!first.first)
        return second;
    first.last->link = second.first;
    return (tails){first.first, second.first ? second.last : first.last};
}

/* Nothing of the graph runs any more: its first tail takes its place. The scope around it,
 * if there is none. */
static scope *end_run(soft_side *side, struct here here)
{
    scope *const place = around(side);
    soft_side *const root = side->root ? side->root : side;
    const bool by_kernel = side->by_kernel;
    if (side->notes && by_kernel)
        soft_noted_end_run(&side->noted, gphi_clock_ns());
    soft_word_lock(&side->lock);
    /* The run to come has what this one holds of the executable, and its point. */
    soft_exec *const held = by_kernel && !side->again ? side->exec : NULL;
    soft_unit *const unit = side->unit;
    side->unit = NULL;
    tails rest =
        soft_rule(R76) ? joined(side->mine, side->rest) : joined(side->rest, side->mine);
    side->mine = side->rest = (tails){0};
    side->tail_count = 0;
    side->around = NULL;
    side->root = NULL;
    side->by_kernel = false;
    /* Relaxed: who enters it next was ordered after this, by the lock or a queue. */
    atomic_store_explicit(&side->own.open, ONE, memory_order_relaxed);
    if (held && side->is_awaited) {
        side->is_awaited = false;
        soft_fence_reach(side->runs);
    }
    assert((by_kernel || side->hosts > 0) && "a launch by the host ended twice");
    side->hosts -= !by_kernel;
    side->is_over |= !by_kernel;
    side->is_pending = side->again; /* from here on others may launch it */
    side->again = false;
    soft_word_unlock(&side->lock);
    soft_side *const next = rest.first;
    if (next) {
        rest.first = next->link;
        next->link = NULL;
        next->next_unit = soft_unit_follow(unit);
        start(next, place, root, rest, here);
    }
    soft_unit_release(unit);
    if (held)
        soft_exec_release(held);
    return next ? NULL : place;
}

static void end_launch(soft_side *side)
{
    atomic_store(&side->whole.open, ONE);
    atomic_store(&side->launched, 0);
    atomic_store(&side->started_ns, 0);
    soft_word_lock(&side->lock);
    side->is_over = false;
    soft_word_unlock(&side->lock);
    soft_exec *const held = side->exec;
    if (side->notes)
        soft_noted_rest_of_runs(&side->noted, gphi_clock_ns());
    soft_fence_reach(side->fence);
    soft_exec_release(held);
}

/* Something in a scope is over; the last one closes it. */
static void leave(scope *place, struct here here)
{
    while (place) {
        /* Acquire, and release: who comes after the scope sees all that was done in it. Who is
         * alone in it stays so: others come in by who runs there. */
        uint64_t open = atomic_load_explicit(&place->open, memory_order_acquire);
        if (open % CAME_ONE != ONE)
            open = atomic_fetch_sub_explicit(&place->open, ONE, memory_order_acq_rel);
        assert(open % CAME_ONE > 0 && "more ended in a scope than began");
        if (open % CAME_ONE != ONE)
            return;
        if (place->is_launch) {
            end_launch(place->of);
            return;
        }
        place = end_run(place->of, here);
    }
}

/* ---- launches by the host ---------------------------------------------------------- */

soft_point soft_side_begin(soft_side *side)
{
    soft_point before = {0};
    atomic_fetch_add_explicit(&side->exec->references, 1, memory_order_relaxed);
    soft_word_lock(&side->lock);
    side->hosts++;
    if (side->is_pending || side->again) {
        if (!side->is_awaited)
            (void)soft_fence_arm(side->runs);
        side->is_awaited = true;
        before = soft_queue_tail(side->runs);
    }
    soft_word_unlock(&side->lock);
    return before;
}

void soft_side_cancel(soft_side *side)
{
    soft_word_lock(&side->lock);
    assert(side->hosts > 0 && "a launch by the host ended twice");
    side->hosts--;
    soft_word_unlock(&side->lock);
    soft_exec_release(side->exec);
}

void soft_side_keep(soft_side *side, soft_unit *unit)
{
    if (side)
        side->unit = unit;
    else
        soft_unit_release(unit);
}

void soft_side_leave(soft_side *side, soft_worker *worker)
{
    leave(&side->own, (struct here){NULL, worker});
}

/* ---- launches by kernels ----------------------------------------------------------- */

/* Why a kernel gets 1: all of it can be. */
typedef enum refusal {
    TAKEN,
    NOT_UPLOADED,
    RUNNING,
    TOO_MANY,
    TOO_MANY_TAILS,
    TOO_MANY_SIBLINGS,
    NOT_ITSELF,
    NO_STREAM,
    OTHER_DEVICE
} refusal;

/* One more runs in an environment, if it may have it. */
static bool enter(scope *place)
{
    uint64_t open = atomic_load_explicit(&place->open, memory_order_relaxed);
    do
        if (open / CAME_ONE >= SOFT_CAME_MAX && soft_rule(R75))
            return false;
    while (!atomic_compare_exchange_weak_explicit(
        &place->open, &open, open + CAME_ONE + ONE, memory_order_relaxed,
        memory_order_relaxed));
    return true;
}

/* Whether a launch of it may be ordered now by a kernel of what came of a launch of `root`;
 * it is pending from now on (R73). Further launches of the root by the host wait until all is
 * over that came of this one, so they are in nobody's way; other launches by the host are. */
static refusal take(soft_side *side, const soft_side *root, const soft_side *by,
                    uint32_t stream)
{
    soft_word_lock(&side->lock);
    const bool is_free =
        !side->is_pending && (side->hosts == 0 || (side == root && side->is_over));
    const refusal why = !is_free                 ? RUNNING
                        : side->uploaded.version ? TAKEN
                                                 : NOT_UPLOADED;
    if (why == TAKEN) {
        side->next = hold(side->uploaded.version, side->uploaded.objects);
        side->is_pending = true;
        side->noted.next_parent = by->noted.exec;
        side->noted.next_stream = stream;
    }
    soft_word_unlock(&side->lock);
    return why;
}

/* Check mode: a kernel may not look at what it gets. Once for each executable and reason. */
static void say_refusal(soft_side *self, const soft_side *target, refusal why)
{
    static const char *const reasons[] = {
        [NOT_UPLOADED] = "it was not uploaded",
        [RUNNING] = "a launch of it has not ended",
        [TOO_MANY] = "a run of a graph fires and forgets 120 graphs at most, with "
                     "the siblings that these launch",
        [TOO_MANY_TAILS] = "a run of a graph launches 255 graphs into its tail at most",
        [TOO_MANY_SIBLINGS] = "beside it are 120 graphs that were launched so",
        [NOT_ITSELF] = "there is none: outside a graph that was instantiated for the "
                       "device cudaGetCurrentGraphExec() is 0",
        [NO_STREAM] = "that stream is none of the three",
        [OTHER_DEVICE] = "it is of another device"};
    if (why != TAKEN && self->notes &&
        atomic_fetch_add(&self->refused, 1) < SOFT_NOTED_ONE_BY_ONE)
        soft_noted_refused((uint64_t)(uintptr_t)(target ? target->exec : NULL),
                           self->noted.exec, reasons[why]);
    if (why == TAKEN || !soft_check_wanted().race ||
        (atomic_fetch_or(&self->said, 1u << why) & 1u << why))
        return;
    soft_say(CU_LOG_LEVEL_ERROR,
             "device launch refused: a kernel of executable 0x%llx launches executable "
             "0x%llx and gets 1: %s",
             (unsigned long long)(uintptr_t)self->exec,
             (unsigned long long)(uintptr_t)(target ? target->exec : NULL), reasons[why]);
}

/* Under the lock of `self`. */
static void push_tail(soft_side *self, soft_side *side)
{
    if (self->mine.last)
        self->mine.last->link = side;
    else
        self->mine.first = side;
    self->mine.last = side;
}

/* A graph launches itself into its tail: once a run (R75). What a run by a kernel holds goes
 * on to the next one. */
static refusal order_again(soft_side *self)
{
    const bool is_root = !self->root || self->root == self;
    soft_word_lock(&self->lock);
    const bool is_free = !self->again && (is_root || self->hosts == 0);
    const bool fits = self->tail_count < SOFT_TAILS_MAX || !soft_rule(R75);
    const refusal why = !fits                     ? TOO_MANY_TAILS
                        : !is_free                ? RUNNING
                        : !self->uploaded.version ? NOT_UPLOADED
                                                  : TAKEN;
    if (why == TAKEN) {
        const run fresh = self->uploaded;
        self->tail_count++;
        self->again = true;
        self->keeps = self->by_kernel && fresh.version == self->now.version &&
                      fresh.objects == self->now.objects;
        self->next = self->keeps ? fresh : hold(fresh.version, fresh.objects);
        if (!self->by_kernel)
            atomic_fetch_add_explicit(&self->exec->references, 1, memory_order_relaxed);
        self->noted.next_parent = self->noted.exec;
        self->noted.next_stream = 1;
        push_tail(self, self);
    }
    soft_word_unlock(&self->lock);
    return why;
}

static refusal order_tail(soft_side *self, soft_side *side, const soft_side *root)
{
    soft_word_lock(&self->lock);
    const bool fits = self->tail_count < SOFT_TAILS_MAX || !soft_rule(R75);
    self->tail_count += fits;
    soft_word_unlock(&self->lock);
    const refusal why = fits ? take(side, root, self, 1) : TOO_MANY_TAILS;
    soft_word_lock(&self->lock);
    if (why == TAKEN)
        push_tail(self, side);
    else
        self->tail_count -= fits;
    soft_word_unlock(&self->lock);
    return why;
}

static refusal order(soft_side *self, soft_side *side, uint64_t stream,
                     const struct soft_kernel_caller *by)
{
    soft_side *const root = self->root ? self->root : self;
    if (side->exec->device != self->exec->device)
        return OTHER_DEVICE;
    if (stream == STREAM_TAIL)
        return order_tail(self, side, root);
    scope *const place = stream == STREAM_FORGET ? &self->own : around(self);
    if (!enter(place))
        return stream == STREAM_FORGET ? TOO_MANY : TOO_MANY_SIBLINGS;
    const refusal why = take(side, root, self, stream == STREAM_FORGET ? 2 : 3);
    if (why != TAKEN) {
        atomic_fetch_sub_explicit(&place->open, CAME_ONE + ONE, memory_order_relaxed);
        return why;
    }
    side->next_unit =
        soft_watch_launch(self->exec->watch, by->trace, stream == STREAM_SIBLING);
    start(side, place, root, (tails){0}, (struct here){NULL, by->worker});
    return TAKEN;
}

static gph_status launch(soft_kernel_graph *face, uint64_t handle, uint64_t stream,
                         const struct soft_kernel_caller *by, uint32_t *error,
                         const char **why)
{
    soft_side *self = (soft_side *)face;
    *error = INVALID;
    const bool is_named =
        stream == STREAM_TAIL || stream == STREAM_FORGET || stream == STREAM_SIBLING;
    if (handle == 0 || !is_named) {
        say_refusal(self, NULL, handle == 0 ? NOT_ITSELF : NO_STREAM);
        return GPH_OK;
    }
    if (self->is_device && stream == STREAM_TAIL &&
        handle == (uint64_t)(uintptr_t)self->exec) {
        const refusal why_not = order_again(self);
        say_refusal(self, self, why_not);
        *error = why_not == TAKEN || !soft_rule(R73) ? 0 : INVALID;
        return GPH_OK;
    }
    soft_exec *exec = soft_exec_hold((CUgraphExec)(uintptr_t)handle);
    if (!exec || !exec->side || !exec->side->is_device) {
        *why = exec ? "cudaGraphLaunch() of a graph that was not instantiated for it"
                    : "cudaGraphLaunch() of what is not an executable graph any more";
        if (exec)
            soft_exec_release(exec);
        return (gph_status)CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    const refusal why_not = order(self, exec->side, stream, by);
    say_refusal(self, exec->side, why_not);
    if (why_not != TAKEN)
        soft_exec_release(exec);
    *error = why_not == TAKEN || !soft_rule(R73) ? 0 : INVALID;
    return GPH_OK;
}
