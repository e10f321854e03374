// SPDX-License-Identifier: Apache-2.0
/* What a process, and each of its threads, has of the driver. The lowest file of this
 * folder: the log asks it for the call that a thread is in. */
#include "softcuda/device/process.h"

#include <stdlib.h>

struct soft_process soft_process;
/* Small: programs may load the driver late, when there is little static TLS left. */
_Thread_local soft_thread soft_self;
static pthread_key_t self_key;
static pthread_once_t self_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *record)
{
    soft_thread *thread = record;
    if (thread->drop_stack)
        thread->drop_stack(thread);
    free(thread->error);
    thread->error = NULL;
}

static void make_key(void)
{
    pthread_key_create(&self_key, thread_ends);
}

void soft_thread_keep(void)
{
    pthread_once(&self_once, make_key);
    pthread_setspecific(self_key, &soft_self);
}

enum soft_phase soft_driver_phase(void)
{
    return atomic_load_explicit(&soft_process.phase, memory_order_acquire);
}

void soft_driver_set_phase(enum soft_phase phase)
{
    atomic_store_explicit(&soft_process.phase, phase, memory_order_release);
}

soft_device *soft_device_at(int ordinal)
{
    return ordinal >= 0 && ordinal < soft_process.device_count
               ? &soft_process.devices[ordinal]
               : NULL;
}

int soft_device_count(void)
{
    return soft_process.device_count;
}

int soft_compute_capability(void)
{
    return soft_process.settings.compute_capability;
}

uint32_t soft_multiprocessors(void)
{
    return soft_process.settings.multiprocessors;
}

bool soft_check_memory_wanted(void)
{
    return soft_process.settings.check.memory;
}

soft_check_mode soft_check_wanted(void)
{
    return soft_process.settings.check;
}

bool soft_launch_blocking(void)
{
    return soft_process.settings.launch_blocking;
}
