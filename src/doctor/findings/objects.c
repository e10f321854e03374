// SPDX-License-Identifier: Apache-2.0
/* Names of objects: a pointer says nothing to a person, the line that made it does.
 *
 *   stack of A   make_stream (util.c:7) < step (train.c:41) < main (train.c:90)
 *   stack of B   make_stream (util.c:7) < step (train.c:42) < main (train.c:90)
 *                the same              < A is "the stream made in step (train.c:41)"
 *
 * Objects of one stack, as a loop makes them, are counted: "the 2nd stream made in". */
#include "base/heap.h"
#include "doctor/findings/finding.h"
#include "doctor/language/language.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum {
    STACKS_MAX = 64,  /* of others that are compared: each costs a look at its lines */
    OTHERS_MAX = 4096 /* of the newest objects */
};

/* Where an object was made, among all of its sort. */
typedef struct origin {
    const char *place; /* "": not known */
    unsigned ordinal;  /* among those of the same stack, from 1; 0: it is the only one */
    uint32_t stack, depth; /* the place is that frame of it */
} origin;

/* ---- what has been named ---- */

enum { LATELY = 32, NAMED_MAX = 32 };

/* Names are made before the sentence that they stand in, and the finding does not see
 * them: it looks for those of late in its texts. */
typedef struct lately {
    char name[512];
    const char *kind;
    uint64_t handle;
    uint32_t stack, depth;
} lately;

static _Thread_local lately names[LATELY];
static _Thread_local unsigned name_count;

static const char *note_name(const char *name, const char *kind, uint64_t handle,
                             const origin *from)
{
    lately *to = &names[name_count++ % LATELY];
    gphi_say_into(to->name, sizeof(to->name), "%.511s", name);
    to->kind = kind;
    to->handle = handle;
    to->stack = from ? from->stack : 0;
    to->depth = from ? from->depth : 0;
    return name;
}

/* Not as the beginning of a longer number. */
static bool is_in(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (!isxdigit((unsigned char)at[length]))
            return true;
    return false;
}

static bool is_kept(const gphi_vec *named, const lately *one)
{
    GPHI_EACH (const gphi_named, known, named)
        if (known->handle == one->handle && strcmp(known->kind, one->kind) == 0 &&
            strcmp(known->name, one->name) == 0)
            return true;
    return false;
}

bool gphi_named_keep(gphi_vec *named, const char *text)
{
    for (unsigned i = 0; text && i < LATELY && i < name_count; i++) {
        const lately *one = &names[(name_count - 1 - i) % LATELY];
        if (!is_in(text, one->name) || is_kept(named, one) || named->count >= NAMED_MAX)
            continue;
        const gphi_named new = {.name = gphi_heap_text(named->heap, one->name),
                                .kind = one->kind,
                                .handle = one->handle,
                                .stack = one->stack,
                                .depth = one->depth};
        if (!new.name)
            return false;
        if (gphi_vec_push(named, &new) != GPH_OK) {
            gphi_heap_text_free(named->heap, new.name);
            return false;
        }
    }
    return true;
}

void gphi_named_drop(gphi_vec *named)
{
    GPHI_EACH (gphi_named, one, named)
        gphi_heap_text_free(named->heap, one->name);
    named->count = 0;
}

bool gphi_named_tell(const gphi_vec *named, gphi_stacks *stacks, gphi_vec *objects)
{
    GPHI_EACH (const gphi_named, one, named) {
        uint32_t count = 0;
        const gph_place *frames = gphi_stacks_frames(stacks, one->stack, &count);
        const gph_object object = {
            .name = one->name,
            .kind = one->kind,
            .handle = one->handle,
            .place = one->stack != 0 && one->depth < count ? &frames[one->depth] : NULL};
        if (gphi_vec_push(objects, &object) != GPH_OK)
            return false;
    }
    return true;
}

/* ---- where an object was made ---- */

static const gphi_call *made_of(const gphi_vec *all, size_t index, size_t offset)
{
    return (const gphi_call *)((const char *)gphi_vec_pointer(all, index) + offset);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_place(const gph_place *a, const gph_place *b)
{
    return a->line == b->line && is_same_text(a->function, b->function) &&
           is_same_text(a->file, b->file) && (a->function || a->address == b->address);
}

/* How many of the innermost frames two stacks have in common; UINT32_MAX: all of them, as
 * of two calls in one line. */
static uint32_t common_frames(const gphi_model *model, uint32_t stack, uint32_t other)
{
    uint32_t count, other_count, same = 0;
    const gph_place *frames = gphi_stacks_frames(model->stacks, stack, &count);
    const gph_place *others = gphi_stacks_frames(model->stacks, other, &other_count);
    while (same < count && same < other_count &&
           is_same_place(&frames[same], &others[same]))
        same++;
    return same < count ? same : UINT32_MAX;
}

/* `offset`: of the call that made an object, within it. */
static origin origin_of(const gphi_model *model, const gphi_vec *all, size_t offset,
                        const gphi_call *made)
{
    struct other {
        uint32_t stack, common;
    } seen[STACKS_MAX];
    uint32_t seen_count = 0, depth = 0, count = 0;
    unsigned before = 0, same = 0;
    const gph_place *frames = gphi_stacks_frames(model->stacks, made->stack, &count);
    if (made->number == 0 || count == 0)
        return (origin){.place = ""};
    depth = gphi_stacks_own(model->stacks, frames, count);
    for (size_t i = all->count, left = OTHERS_MAX; i-- > 0 && left > 0; left--) {
        const gphi_call *other = made_of(all, i, offset);
        if (other->number == 0 || other->stack == 0)
            continue;
        uint32_t s = 0;
        while (s < seen_count && seen[s].stack != other->stack)
            s++;
        if (s == STACKS_MAX)
            continue;
        if (s == seen_count)
            seen[seen_count++] = (struct other){
                other->stack, common_frames(model, made->stack, other->stack)};
        const uint32_t common = seen[s].common;
        same += common == UINT32_MAX;
        before += common == UINT32_MAX && other->number <= made->number;
        if (common != UINT32_MAX && common > depth)
            depth = common;
    }
    if (!frames[depth].function && !frames[depth].file)
        return (origin){.place = ""}; /* a module alone names nothing */
    char place[400];
    gphi_place_text(&frames[depth], place, sizeof(place));
    return (origin){gphi_say("%.399s", place), same > 1 ? before : 0, made->stack, depth};
}

/* As English counts: 1st, 2nd, 3rd, 4th, 11th, 21st. */
static const char *ordinal_end(unsigned ordinal)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    const unsigned last = ordinal % 10;
    return ends[last <= 3 && ordinal / 10 % 10 != 1 ? last : 0];
}

static const char *say_made(const gphi_model *model, const gphi_vec *all, size_t offset,
                            const gphi_call *made, const char *sort, uint64_t handle)
{
    const origin from = origin_of(model, all, offset, made);
    const char *name;
    if (from.place[0] == '\0')
        name = gphi_say("%s 0x%llx", sort, (unsigned long long)handle);
    else if (from.ordinal == 0)
        name = gphi_say("the %s made in %.400s", sort, from.place);
    else
        name = gphi_say("the %u%s %s made in %.400s", from.ordinal,
                        ordinal_end(from.ordinal), sort, from.place);
    return note_name(name, sort, handle, &from);
}

static const gphi_call unseen = {.number = 0};

const char *gphi_say_stream(const gphi_model *model, const gphi_stream *stream)
{
    if (!stream)
        return gphi_language_of("no stream");
    if (stream->is_legacy)
        return note_name(gphi_language_of("the legacy stream (0)"), "stream",
                         stream->handle, NULL);
    if (stream->is_per_thread)
        return note_name(
            gphi_say("the per-thread stream of thread %u", (unsigned)stream->thread),
            "stream", stream->handle, NULL);
    return say_made(model, &model->streams, offsetof(gphi_stream, created),
                    &stream->created, "stream", stream->handle);
}

const char *gphi_say_exec(const gphi_model *model, const gphi_exec_state *exec)
{
    return say_made(model, &model->execs, offsetof(gphi_exec_state, created),
                    &exec->created, "executable", exec->handle);
}

const char *gphi_say_graph(const gphi_model *model, uint64_t handle)
{
    const gphi_graph_state *graph = gphi_model_graph(model, handle);
    return say_made(model, &model->graphs, offsetof(gphi_graph_state, created),
                    graph ? &graph->created : &unseen, "graph", handle);
}

const char *gphi_say_event(const gphi_model *model, uint64_t handle)
{
    const gphi_cuda_event *event = gphi_model_event(model, handle);
    return say_made(model, &model->events, offsetof(gphi_cuda_event, created),
                    event ? &event->created : &unseen, "event", handle);
}

const char *gphi_say_context(const gphi_model *model, uint64_t handle)
{
    const gphi_domain *domain = gphi_model_domain(model, handle);
    if (domain && domain->device >= 0)
        return note_name(
            gphi_say("the primary context of device %d", (int)domain->device), "context",
            handle, NULL);
    return say_made(model, &model->domains, offsetof(gphi_domain, made),
                    domain ? &domain->made : &unseen, "context", handle);
}

const char *gphi_say_pool(const gphi_model *model, uint64_t handle)
{
    const gphi_domain *domain = gphi_model_domain(model, handle);
    if (!domain)
        return note_name(gphi_language_of("a pool that the program did not make"), "pool",
                         handle, NULL);
    if (domain->device >= 0)
        return note_name(gphi_say("the default pool of device %d", (int)domain->device),
                         "pool", handle, NULL);
    return say_made(model, &model->domains, offsetof(gphi_domain, made), &domain->made,
                    "pool", handle);
}

const char *gphi_say_allocation(const gphi_model *model, const gphi_allocation *memory)
{
    const origin from =
        origin_of(model, &model->allocations, offsetof(gphi_allocation, allocated),
                  &memory->allocated);
    const char *bytes = gphi_say_bytes(memory->bytes), *name;
    if (from.place[0] == '\0')
        name = gphi_say("the buffer of %s at 0x%llx", bytes,
                        (unsigned long long)memory->address);
    else if (from.ordinal == 0)
        name = gphi_say("the buffer of %s from %.400s", bytes, from.place);
    else
        name = gphi_say("the %u%s buffer of %s from %.400s", from.ordinal,
                        ordinal_end(from.ordinal), bytes, from.place);
    return note_name(name, "memory", memory->address, &from);
}

const char *gphi_say_memory(const gphi_model *model, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(model, address, false);
    if (!memory)
        memory = gphi_model_memory(model, address, true);
    if (!memory)
        return note_name(gphi_say("memory at 0x%llx", (unsigned long long)address),
                         "memory", address, NULL);
    const uint64_t offset = address - memory->address;
    const char *name = gphi_say_allocation(model, memory);
    return offset == 0 ? name : gphi_say("%s + %llu", name, (unsigned long long)offset);
}
