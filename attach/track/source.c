// SPDX-License-Identifier: Apache-2.0
/* Variables that kernelParams named, by node, then by executable.
 *
 *   capture      node -> addresses             the newest nodes, in a table
 *   instantiate  executable -> addresses       of its nodes that are in it
 *   launch       what is there now          is written, the first times
 *
 * A variable on a stack is the thread's own, and gone for good once the thread is seen
 * above it, or launches while another function has its place: the runtime's launch stubs and
 * frameworks copy arguments into frames that are left at once. Python's bindings make objects for a call and drop them: a process with an
 * interpreter has none. An address that two nodes of a graph have is scratch, and no variable. */
#define _GNU_SOURCE
#include "attach/track/source.h"
#include "attach/peek/frame.h"
#include "attach/peek/memory.h"
#include "attach/peek/python.h"
#include "attach/ring/draft.h"
#include "attach/ring/thread.h"
#include "base/hash.h"

#include <stdatomic.h>

enum {
    NODES = 1 << 11,
    NODE_ARGUMENTS = ATTACH_FRAME_VARIABLES,
    EXECS = 1 << 9,
    EXEC_SOURCES = ATTACH_FRAME_VARIABLES, /* parts of one record */
    PROBES = 8,
    FIRST_LAUNCHES = 8,
    WORD = 8,
    ARGUMENT_MAX = 256
};

typedef struct source {
    _Atomic uint64_t address; /* 0: none, or gone */
    _Atomic uint64_t node;
    _Atomic uint32_t arg, bytes;
    _Atomic uint32_t thread; /* on whose stack; 0: on none */
    _Atomic uint64_t frame;  /* on a stack: attach_frames_of() */
} source;

typedef struct node_sources {
    _Atomic uint64_t node;     /* 0 while it is filled */
    _Atomic uint64_t snapshot; /* the last that had it */
    source items[NODE_ARGUMENTS];
} node_sources;

typedef struct exec_sources {
    _Atomic uint64_t exec;
    _Atomic uint32_t count, launches;
    source items[EXEC_SOURCES];
} exec_sources;

static node_sources nodes[NODES];
static exec_sources execs[EXECS];
static atomic_bool has_nodes;

static void copy_source(source *to, const source *from)
{
    atomic_store(&to->node, atomic_load(&from->node));
    atomic_store(&to->arg, atomic_load(&from->arg));
    atomic_store(&to->bytes, atomic_load(&from->bytes));
    atomic_store(&to->thread, atomic_load(&from->thread));
    atomic_store(&to->frame, atomic_load(&from->frame));
    atomic_store(&to->address, atomic_load(&from->address));
}

/* Whether the variable can still be there: frames below `here` have been left. */
static bool is_there(const source *of, uint64_t here)
{
    const uint64_t address = atomic_load(&of->address);
    const uint32_t thread = atomic_load(&of->thread);
    return address != 0 &&
           (thread == 0 || (thread == attach_thread() && address >= here));
}

/* Asks for the frames of those that are on a stack. */
static void find_frames(const source *of, uint32_t count, uint64_t *frames)
{
    uint64_t addresses[ATTACH_FRAME_VARIABLES] = {0};
    for (uint32_t i = 0; i < count; i++)
        if (atomic_load(&of[i].thread) == attach_thread())
            addresses[i] = atomic_load(&of[i].address);
    attach_frames_of(addresses, frames, count);
}

/* Whose frame it is; what is of none was never a variable. */
static void note_frames(source *of, uint32_t count)
{
    uint64_t frames[ATTACH_FRAME_VARIABLES];
    find_frames(of, count, frames);
    for (uint32_t i = 0; i < count; i++) {
        atomic_store(&of[i].frame, frames[i]);
        if (atomic_load(&of[i].thread) != 0 && frames[i] == 0)
            atomic_store(&of[i].address, 0);
    }
}

void attach_source_note(uint64_t node, const attach_layout *layout, void **params)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    const uint64_t top = attach_stack_end(here);
    if (node == 0 || !layout || !params || attach_python_is_known())
        return;
    node_sources *at = &nodes[gphi_hash_mix(node) % NODES];
    atomic_store(&at->node, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->count && count < NODE_ARGUMENTS; i++) {
        const uint64_t address = (uint64_t)(uintptr_t)params[i];
        const uint32_t bytes = layout->places[2 * i + 1];
        if (bytes < 4 || bytes > ARGUMENT_MAX ||
            (top == 0 && address - here < ATTACH_STACK_MAX)) /* a stack of its own */
            continue;
        source *to = &at->items[count++];
        atomic_store(&to->node, node);
        atomic_store(&to->arg, i);
        atomic_store(&to->bytes, bytes);
        atomic_store(&to->thread, address >= here && address < top ? attach_thread() : 0);
        atomic_store(&to->address, address);
    }
    note_frames(at->items, count);
    for (; count < NODE_ARGUMENTS; count++)
        atomic_store(&at->items[count].address, 0);
    atomic_store(&at->snapshot, 0);
    atomic_store(&at->node, node);
    atomic_store(&has_nodes, true);
}

static exec_sources *exec_at(uint64_t exec, bool add)
{
    const uint32_t first = (uint32_t)gphi_hash_mix(exec);
    for (uint32_t i = 0; exec != 0 && i < PROBES; i++) {
        exec_sources *at = &execs[(first + i) % EXECS];
        uint64_t there = atomic_load_explicit(&at->exec, memory_order_acquire);
        if (there == exec)
            return at;
        if (there != 0)
            continue;
        if (!add)
            return NULL;
        if (atomic_compare_exchange_strong(&at->exec, &there, exec) || there == exec)
            return at;
    }
    return NULL;
}

void attach_source_forget(uint64_t exec)
{
    exec_sources *at = exec_at(exec, false);
    if (!at)
        return;
    atomic_store(&at->count, 0);
    atomic_store(&at->launches, 0);
}

static void add_source(exec_sources *to, const source *from)
{
    const uint32_t count = atomic_load(&to->count);
    const uint64_t address = atomic_load(&from->address);
    for (uint32_t i = 0; i < count; i++) {
        if (atomic_load(&to->items[i].address) != address)
            continue;
        atomic_store(&to->items[i].thread, UINT32_MAX); /* scratch: nobody's */
        return;
    }
    if (count >= EXEC_SOURCES)
        return;
    copy_source(&to->items[count], from);
    atomic_store(&to->count, count + 1);
}

static void add_sources(uint64_t exec, node_sources *from)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    exec_sources *to = NULL;
    for (uint32_t i = 0; i < NODE_ARGUMENTS; i++) {
        if (!is_there(&from->items[i], here)) {
            atomic_store(&from->items[i].address, 0);
            continue;
        }
        if (exec != 0 && !to)
            to = exec_at(exec, true);
        if (to)
            add_source(to, &from->items[i]);
    }
}

void attach_source_node(uint64_t exec, uint64_t node, uint64_t snapshot)
{
    node_sources *at = &nodes[gphi_hash_mix(node) % NODES];
    if (atomic_load(&at->node) != node)
        return;
    atomic_store(&at->snapshot, snapshot);
    add_sources(exec, at);
}

void attach_source_same(uint64_t exec, uint64_t snapshot)
{
    for (uint32_t i = 0; atomic_load(&has_nodes) && i < NODES; i++)
        if (atomic_load(&nodes[i].node) != 0 &&
            atomic_load(&nodes[i].snapshot) == snapshot)
            add_sources(exec, &nodes[i]);
}

static bool read_value(gphi_source_value *of)
{
    return of->bytes > WORD
               ? attach_hash(of->address, of->bytes, &of->value)
               : attach_read(&of->value, (const void *)(uintptr_t)of->address, of->bytes);
}

void attach_source_launch(const attach_call *call)
{
    exec_sources *at = exec_at(call->words[0], false);
    const uint32_t count =
        at ? atomic_load_explicit(&at->count, memory_order_acquire) : 0;
    if (count == 0 || attach_python_is_known())
        return;
    const uint32_t nth = atomic_fetch_add(&at->launches, 1) + 1;
    if (nth > FIRST_LAUNCHES && (nth & (nth - 1)) != 0)
        return;
    gphi_source_value now[EXEC_SOURCES];
    uint64_t frames[ATTACH_FRAME_VARIABLES];
    find_frames(at->items, count, frames);
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_HOST, call->words[0]);
    for (uint32_t i = 0; i < count; i++) {
        source *from = &at->items[i];
        now[i] = (gphi_source_value){.node = atomic_load(&from->node),
                                     .address = atomic_load(&from->address),
                                     .arg = atomic_load(&from->arg),
                                     .bytes = atomic_load(&from->bytes)};
        if (!is_there(from, (uint64_t)(uintptr_t)call->above) ||
            atomic_load(&from->frame) != frames[i] || !read_value(&now[i])) {
            atomic_store(&from->address, 0);
            continue;
        }
        attach_add(&draft, GPHI_PART_SOURCE, 0, &now[i], sizeof(now[i]));
    }
    if (draft.piece_count > 0)
        attach_write(&draft);
}
