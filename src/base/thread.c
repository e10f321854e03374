// SPDX-License-Identifier: Apache-2.0
/* Who the thread is, as gdb and top number it, its sleep, and how many may run at once. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t gphi_thread_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

uint32_t gphi_processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void gphi_futex_wait(atomic_uint *word, unsigned value, uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / UINT64_C(1000000000)),
                                  .tv_nsec = (long)(ns % UINT64_C(1000000000))};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
}

void gphi_futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
