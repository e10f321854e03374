// SPDX-License-Identifier: Apache-2.0
/* attach/peek/stack.c and python.c in a library of their own, as the attached one has
 * them: for a test in C and for one in Python. */
#include "attach/peek/memory.h"
#include "attach/peek/stack.h"
#include "attach/ring/state.h"

#define PROBE __attribute__((visibility("default")))

PROBE int probe_open(const char *path);
PROBE uint32_t probe_stack(void);
PROBE uint32_t probe_below(size_t bytes);
PROBE uint32_t probe_python(void);
PROBE void probe_forked(void);

int probe_open(const char *path)
{
    gphi_event_ring *ring = NULL;
    const gph_status status = gphi_event_ring_create(path, 1 << 16, &ring, NULL);
    attach_process_note();
    attach_memory_prepare();
    attach_stack_prepare();
    attach_ring_set(ring);
    return status;
}

/* Not the last thing that a function does, so that the caller's frame is there. */
uint32_t probe_stack(void)
{
    const uint32_t number = attach_stack(__builtin_dwarf_cfa());
    __asm__ volatile("" ::: "memory");
    return number;
}

/* The same from further below: entries of the driver have frames of all sizes. */
uint32_t probe_below(size_t bytes)
{
    char *const room = __builtin_alloca(bytes + 1);
    __asm__ volatile("" ::"r"(room) : "memory");
    const uint32_t number = attach_stack(__builtin_dwarf_cfa());
    __asm__ volatile("" ::"r"(room) : "memory");
    return number;
}

uint32_t probe_python(void)
{
    const uint32_t number = attach_stack_python(__builtin_dwarf_cfa());
    __asm__ volatile("" ::: "memory");
    return number;
}

void probe_forked(void)
{
    attach_stack_forked();
}
