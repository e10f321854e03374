// SPDX-License-Identifier: Apache-2.0
/* attach/peek/stack.c and python.c in a library of their own, as the attached one has
 * them: for a test in C and for one in Python. */
#include "attach/peek/stack.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "base/thread.h"

#define PROBE __attribute__((visibility("default")))

PROBE int probe_open(const char *path);
PROBE uint32_t probe_stack(void);
PROBE uint32_t probe_python(void);
PROBE void probe_forked(void);

static gphi_event_ring *ring;

gphi_event_ring *attach_ring(void)
{
    return ring;
}

uint32_t attach_thread(void)
{
    return (uint32_t)gphi_thread_id();
}

int probe_open(const char *path)
{
    attach_stack_prepare();
    return gphi_event_ring_create(path, 1 << 16, &ring, NULL);
}

/* Not the last thing that a function does, so that the caller's frame is there. */
uint32_t probe_stack(void)
{
    const uint32_t number = attach_stack();
    __asm__ volatile("" ::: "memory");
    return number;
}

uint32_t probe_python(void)
{
    const uint32_t number = attach_stack_python();
    __asm__ volatile("" ::: "memory");
    return number;
}

void probe_forked(void)
{
    attach_stack_forked();
}
