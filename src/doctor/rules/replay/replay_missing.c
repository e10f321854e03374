// SPDX-License-Identifier: Apache-2.0
/* Words of arguments; and rule replay.missing-work: what each step did besides the graph's
 * kernels, to memory that these use. */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { SUSPECTS_MAX = 256, OF_KIND_MAX = 8, STATE_BYTES = 64, NUMBER_BYTES = 16 };

void gphi_each_word(const gph_kernel_params *params, gphi_each_word_fn *call, void *user)
{
    const bool has_args = params->arg_count != 0 && params->args;
    const uint32_t count = has_args ? params->arg_count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t start = has_args ? params->args[i].offset : 0;
        const uint32_t bytes =
            has_args ? params->args[i].bytes : (uint32_t)params->buffer_bytes;
        for (uint32_t at = 0; at < bytes; at += 8) {
            const gphi_word one = {i, start + at, bytes - at < 8 ? bytes - at : 8,
                                   has_args && bytes == 4};
            if ((size_t)one.offset + one.bytes <= params->buffer_bytes)
                call(user, &one);
        }
    }
}

const char *gphi_say_number(uint64_t value, uint32_t bytes)
{
    float number;
    memcpy(&number, &value, sizeof(number)); /* little endian, as CUDA's hosts are */
    const float size = number < 0 ? -number : number;
    /* Whole numbers below 898,000,000 are floats of less than a millionth. */
    if (bytes == 4 && size >= 1e-6F && size < 1e9F)
        return gphi_say("%g", (double)number);
    return gphi_say("%" PRIu64, value);
}

uint64_t gphi_word_in(const unsigned char *args, const gphi_word *at)
{
    uint64_t value = 0;
    memcpy(&value, args + at->offset, at->bytes);
    return value;
}

bool gphi_is_changing(const uint64_t *values, uint32_t count)
{
    const bool goes_on = values[count - 1] != values[count - 2];
    for (uint32_t i = 1; i + 1 < count; i++)
        if (values[i] == values[i - 1])
            return false;
    return count - 1 + goes_on >= 3;
}

/* Lives or lived: of eager steps the memory may be gone by now. */
bool gphi_is_address(const gphi_model *model, uint64_t value)
{
    return value != 0 && (gphi_model_memory(model, value, false) ||
                          gphi_model_memory(model, value, true));
}

gphi_stray *gphi_stray_add(const gphi_look *at, gphi_stray_kind kind)
{
    gphi_vec *to = &at->state->suspects;
    uint32_t same = 0;
    GPHI_EACH (const gphi_stray, one, to)
        same += one->exec == at->exec && one->kind == kind;
    gphi_stray *new =
        to->count < SUSPECTS_MAX &&same < OF_KIND_MAX ? gphi_vec_add(to, 1) : NULL;
    if (!new)
        return NULL;
    const gphi_vec *kernels = &at->rounds->kernels; /* a graph of copies has none */
    const gphi_step_kernel *kernel =
        at->kernel < kernels->count ? gphi_vec_at(kernels, at->kernel) : NULL;
    *new = (gphi_stray){.kind = kind,
                        .exec = at->exec,
                        .updated = at->exec->updated,
                        .node = kernel ? kernel->node : 0,
                        .kernel = (uint32_t)at->kernel};
    return new;
}

/* The kernel of the graph that is given what lies there, one that draws random numbers
 * first; NULL: none, or the graph writes there by a copy or a fill of its own. */
static const gphi_touch *touch_in(const gphi_history *history,
                                  const gphi_exec_history *exec, uint64_t address,
                                  uint64_t bytes)
{
    const gphi_touch *found = NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (!gphi_touch_meets(history, touch, address, bytes))
            continue;
        if (touch->bytes != 0)
            return NULL; /* the graph fills or copies there itself */
        if (!found || (touch->is_random && !found->is_random))
            found = touch;
    }
    return found;
}

/* Whether the graph has that kernel, with that address. */
static bool has_kernel(const gphi_exec_history *exec, uint64_t kernel, uint64_t address)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->function == kernel && (address == 0 || touch->address == address))
            return true;
    return false;
}

/* The one address that a kernel was given and may write: so it does, since else it would be for
 * nothing. 0: it was given none, or several. */
static uint64_t only_pointer(const gphi_look *at, const gphi_eager *item)
{
    const unsigned char *args = gphi_eager_args(&at->state->log, item);
    uint64_t found = 0;
    for (uint32_t i = 0; args && i + 8 <= item->arg_bytes; i += 8) {
        const gphi_word one = {.offset = i, .bytes = 8};
        const uint64_t address = gphi_word_in(args, &one);
        const gphi_word_use use = gphi_model_word_use(at->run->model, item->kernel, i);
        if (!gphi_is_address(at->run->model, address) || address == found ||
            (use.is_known && !use.writes))
            continue;
        if (found != 0)
            return 0;
        found = address;
    }
    return found;
}

static bool is_same_work(const gphi_look *at, const gphi_eager *a, const gphi_eager *b)
{
    return a->kernel == b->kernel && a->address == b->address && a->bytes == b->bytes &&
           a->is_fill == b->is_fill && a->arg_bytes == b->arg_bytes &&
           (!a->kernel || only_pointer(at, a) == only_pointer(at, b));
}

static uint64_t last_of(const gphi_look *at, uint32_t round)
{
    const gphi_vec *places = &at->rounds->places[round];
    return *(uint64_t *)gphi_vec_at(places, places->count - 1);
}

static const gphi_eager *find_work(const gphi_look *at, const gphi_eager *as,
                                   uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++) {
        const gphi_eager *item = gphi_eager_at(&at->state->log, i);
        if (item && is_same_work(at, item, as))
            return item;
    }
    return NULL;
}

/* After the last round, before the capture. */
static const gphi_eager *work_behind(const gphi_look *at, const gphi_eager *as)
{
    enum { BEHIND_MAX = 64 };
    const gphi_capture *capture = at->exec->source ? at->exec->source->capture : NULL;
    const uint64_t begun = capture ? capture->begin.number : at->exec->created;
    const uint64_t begin = last_of(at, 0) + 1;
    const gphi_eager *found = find_work(at, as, begin, begin + BEHIND_MAX);
    return found && found->call.number < begun ? found : NULL;
}

/* The same work between a round's last kernel and that of the round before: the number
 * of items looked at is that of a step. */
static const gphi_eager *same_work(const gphi_look *at, const gphi_eager *as,
                                   uint32_t round)
{
    const uint64_t end = last_of(at, round);
    const uint64_t begin = round + 1 < at->rounds->count ? last_of(at, round + 1) + 1
                           : end > 64                    ? end - 64
                                                         : 0;
    return find_work(at, as, begin, end);
}

/* The pointer that a missing kernel shares with a kernel of the graph that draws random
 * numbers: what it advances is their state. */
static uint64_t state_of(const gphi_look *at, const gphi_eager *item)
{
    const unsigned char *args = gphi_eager_args(&at->state->log, item);
    for (uint32_t i = 0; args && i + 8 <= item->arg_bytes; i += 8) {
        const gphi_word one = {.offset = i, .bytes = 8};
        const uint64_t address = gphi_word_in(args, &one);
        if (!gphi_is_address(at->run->model, address))
            continue;
        const gphi_touch *touch = touch_in(at->run->history, at->exec, address, 1);
        if (touch && touch->is_random && touch->address == address)
            return address;
    }
    return 0;
}

/* Only one node of the graph is given it: none of them hands it on to another. */
static bool is_of_one_node(const gphi_look *at, const gphi_touch *of)
{
    GPHI_EACH (const gphi_touch, touch, &at->exec->touches)
        if (touch->node != of->node &&
            gphi_touch_meets(at->run->history, touch, of->address, 1))
            return false;
    return true;
}

/* The host has waited, read or uploaded since the step before. */
static bool begins_step(const gphi_look *at, const gphi_eager *item)
{
    const gphi_eager *before = gphi_eager_at(&at->state->log, last_of(at, 1));
    return before && item->steps > before->steps;
}

static bool is_reset_name(const gphi_model *model, uint64_t kernel)
{
    static const char *const words[] = {"fill",  "zero",    "clear",   "memset",
                                        "reset", "advance", "restore", NULL};
    return gphi_name_has(gphi_function_name(model, kernel), words);
}

/* A kernel that works on one buffer of the graph: it resets it, at the start of a step or
 * by its name, or it advances a state of a few bytes. What is worked on after a step may
 * be its result. */
static const char *kernel_work(const gphi_look *at, const gphi_eager *item,
                               const gphi_touch *touch)
{
    const bool is_state = touch->memory && touch->memory->bytes <= STATE_BYTES;
    if (touch->is_random)
        return "worked on by another kernel";
    if (touch->address != only_pointer(at, item) ||
        has_kernel(at->exec, item->kernel, touch->address) ||
        (is_state
             ? !is_of_one_node(at, touch)
             : !begins_step(at, item) && !is_reset_name(at->run->model, item->kernel)))
        return NULL;
    return "worked on by another kernel";
}

/* Whether it was the same from the host in each round; or (`same` false) another one. */
static bool are_contents(const gphi_look *at, const gphi_eager *item, bool same)
{
    const gphi_eager *newer = NULL;
    for (uint32_t i = 0; i < at->rounds->count; i++) {
        const gphi_eager *other = same_work(at, item, i);
        if (!other || other->contents == 0 ||
            (newer && (other->contents == newer->contents) != same))
            return false;
        newer = other;
    }
    return true;
}

/* Resets: a fill, a copy on the device, the same bytes from the host again; and whatever
 * is done to a state of random numbers, or to a number of the step that nothing in the
 * graph can advance. Other copies bring new inputs. */
static const char *work_of(const gphi_look *at, const gphi_eager *item,
                           const gphi_touch *touch, bool *needs_reads)
{
    enum { ROUNDS_MIN = 3 };
    *needs_reads = item->kernel && !touch->is_random;
    if (item->kernel)
        return kernel_work(at, item, touch);
    if (item->is_fill)
        return "filled";
    if (touch->is_random && item->bytes <= STATE_BYTES)
        return "written";
    if (!item->is_from_host)
        return "copied into";
    if (are_contents(at, item, true))
        return "set to the same bytes";
    *needs_reads = true;
    return at->rounds->count >= ROUNDS_MIN && item->bytes <= NUMBER_BYTES &&
                   touch->address == item->address && is_of_one_node(at, touch) &&
                   are_contents(at, item, false)
               ? "given another number by the host"
               : NULL;
}

/* What a kernel works on: a state of random numbers, or its only buffer. */
static uint64_t worked_on(const gphi_look *at, const gphi_eager *item)
{
    const uint64_t state = has_kernel(at->exec, item->kernel, 0) ? 0 : state_of(at, item);
    return state ? state : only_pointer(at, item);
}

/* The last time but one that a step did it, NULL unless each step did; *last becomes the
 * last time. What is done after a step is not there before the oldest. */
static const gphi_eager *other_time(const gphi_look *at, const gphi_eager **last)
{
    const gphi_eager *item = *last, *before = NULL;
    const uint32_t count = at->rounds->count;
    for (uint32_t i = 1; i < count; i++) {
        const gphi_eager *other = same_work(at, item, i);
        if (!other && i + 1 < count)
            return NULL;
        before = i == 1 ? other : before;
        if (other)
            continue;
        other = work_behind(at, item);
        before = other ? item : NULL;
        *last = other;
    }
    return before;
}

static void look_at_item(gphi_look *at, const gphi_eager *item)
{
    const gphi_history *history = at->run->history;
    const uint64_t address = item->kernel ? worked_on(at, item) : item->address;
    const uint64_t bytes = item->kernel ? 1 : item->bytes;
    bool needs_reads = false;
    const gphi_touch *touch =
        address && bytes ? touch_in(history, at->exec, address, bytes) : NULL;
    const char *how =
        touch && !item->is_to_host ? work_of(at, item, touch, &needs_reads) : NULL;
    const gphi_eager *last = item, *before = how ? other_time(at, &last) : NULL;
    gphi_stray *new = before ? gphi_stray_add(at, GPHI_MISSING_WORK) : NULL;
    if (!new)
        return;
    new->node = touch->node;
    new->arg = touch->arg;
    new->address = address;
    new->length = bytes;
    new->how = how;
    new->needs_reads = needs_reads;
    new->eager = last->call;
    new->before = before->call;
}

/* ---- optimizers ---- */

/* In place: the first of its lists is what it writes. */
static bool is_update_name(const char *name)
{
    static const char *const words[] = {"adam",    "adagrad",   "sgd",
                                        "lamb",    "optimizer", "momentum",
                                        "rmsprop", "lion",      NULL};
    return gphi_name_has(name, words) ||
           (strstr(name, "TensorListMetadata") && strstr(name, "ELi0E"));
}

/* What an update of the steps works on and the graph reads. */
static const gphi_touch *updated_by(const gphi_look *at, const gphi_eager *item,
                                    uint64_t *out)
{
    const unsigned char *args = gphi_eager_args(&at->state->log, item);
    for (uint32_t i = 0; args && i + 8 <= item->arg_bytes; i += 8) {
        const gphi_word one = {.offset = i, .bytes = 8};
        const uint64_t address = gphi_word_in(args, &one);
        if (!gphi_is_address(at->run->model, address))
            continue;
        GPHI_EACH (const gphi_touch, touch, &at->exec->touches)
            if (touch->address == address && touch->bytes == 0) {
                *out = address;
                return touch;
            }
    }
    return NULL;
}

/* Whether the graph is nearly all of the step but its update: one that is only forward is not
 * meant to update anything. */
static bool is_whole_step(const gphi_look *at)
{
    const gphi_vec *places = &at->rounds->places[0];
    uint64_t next = 0, others = 0;
    for (uint64_t i = last_of(at, 1) + 1; i < last_of(at, 0); i++) {
        const gphi_eager *item = gphi_eager_at(&at->state->log, i);
        while (next < places->count && *(uint64_t *)gphi_vec_at(places, next) < i)
            next++;
        if (next < places->count && *(uint64_t *)gphi_vec_at(places, next) == i)
            continue;
        const char *name = item && item->kernel
                               ? gphi_function_name(at->run->model, item->kernel)
                               : NULL;
        others +=
            name && !is_update_name(name) && !is_reset_name(at->run->model, item->kernel);
    }
    return others * 4 <= places->count;
}

/* Gradients that the graph computes, and an optimizer that the steps ran after it: once the
 * graph is launched nobody touches the weights any more. */
static void look_at_update(gphi_look *at, const gphi_eager *item)
{
    uint64_t address = 0;
    if (!item || !item->kernel ||
        !is_update_name(gphi_function_name(at->run->model, item->kernel)) ||
        has_kernel(at->exec, item->kernel, 0))
        return;
    const gphi_touch *touch = updated_by(at, item, &address);
    const gphi_eager *last = item, *before = touch ? other_time(at, &last) : NULL;
    gphi_stray *new =
        before &&is_whole_step(at) ? gphi_stray_add(at, GPHI_MISSING_WORK) : NULL;
    if (!new)
        return;
    new->node = touch->node;
    new->arg = touch->arg;
    new->address = address;
    new->length = 1;
    new->how = "updated";
    new->is_update = new->needs_reads = true;
    new->eager = last->call;
    new->before = before->call;
}

void gphi_missing_look(gphi_look *at)
{
    const uint64_t end = last_of(at, 0);
    for (uint64_t i = last_of(at, 1) + 1; i < end; i++) {
        look_at_item(at, gphi_eager_at(&at->state->log, i));
        look_at_update(at, gphi_eager_at(&at->state->log, i));
    }
}
