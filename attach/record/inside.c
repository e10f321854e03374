// SPDX-License-Identifier: Apache-2.0
/* What a thread is in the middle of: noted in its slot of the ring before the driver is
 * called, cleared when it has returned. Of a process that ends inside a call the slot
 * is all that is left of it. A few stores a call; no lock, no system call but for the first
 * call of a thread. */
#define _GNU_SOURCE
#include "attach/record/inside.h"
#include "attach/peek/kind.h"
#include "attach/peek/stack.h"
#include "attach/record/record.h"
#include "attach/ring/state.h"

#include <pthread.h>

static pthread_key_t key;
static bool has_key;

/* Of the thread that ends; calls of destructors after this one take another. */
static void release(void *unused)
{
    (void)unused;
    gphi_event_slot_release(attach_me.slot);
    attach_me.slot = NULL;
}

void attach_inside_prepare(void)
{
    has_key = has_key || pthread_key_create(&key, release) == 0;
}

static gphi_event_slot *take_slot(void)
{
    gphi_event_ring *ring = attach_ring();
    attach_me.slot = ring ? gphi_event_ring_slot(ring, attach_thread()) : NULL;
    attach_me.has_no_slot = !attach_me.slot;
    if (attach_me.slot && has_key)
        pthread_setspecific(key, attach_me.slot);
    return attach_me.slot;
}

void attach_inside_begin(attach_call *call)
{
    gphi_event_slot *slot = attach_me.slot;
    attach_know_thread();
    if (!slot && !attach_me.has_no_slot)
        slot = take_slot();
    if (call->symbol->policy == ATTACH_ALWAYS)
        attach_take_stack(call);
    if (!slot)
        return;
    /* The record keeps the stack without Python: one place has one stack. */
    const uint32_t python = call->is_python ? 0 : attach_stack_python_seldom(call->above);
    const uint32_t count = call->symbol->count;
    gphi_event_slot_begin(slot);
    slot->time_ns = 0;
    slot->from = (uint64_t)(uintptr_t)call->from;
    slot->stack = python != 0 ? python : call->stack;
    slot->open = call->open;
    slot->capture = call->capture;
    slot->flags =
        (uint8_t)(call->flags | (attach_me.kind == 2 ? GPHI_CALL_HOST_NODE : 0U));
    slot->word_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++)
        slot->words[i] = call->words[i];
    for (uint32_t bits = attach_mask_of(call->symbol)->filled; bits != 0;
         bits &= bits - 1)
        slot->words[__builtin_ctz(bits)] = 0;
}

void attach_inside_enter(const attach_call *call)
{
    gphi_event_slot *slot = attach_me.slot;
    if (!slot)
        return;
    slot->time_ns = call->begin_ns;
    gphi_event_slot_enter(slot, call->symbol->call);
}

void attach_inside_leave(void)
{
    if (attach_me.slot)
        gphi_event_slot_leave(attach_me.slot);
}
