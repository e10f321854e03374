// SPDX-License-Identifier: Apache-2.0
/* One word, one pointer and one number, which every call reads. */
#include "attach/ring/state.h"

#include <unistd.h>

_Atomic uint32_t attach_is;
static gphi_event_ring *_Atomic the_ring;
static int own_process;

gphi_event_ring *attach_ring(void)
{
    return atomic_load_explicit(&the_ring, memory_order_acquire);
}

gphi_event_ring *attach_ring_set(gphi_event_ring *ring)
{
    return atomic_exchange(&the_ring, ring);
}

int attach_process(void)
{
    return own_process;
}

void attach_process_note(void)
{
    own_process = getpid();
}
