// SPDX-License-Identifier: Apache-2.0
/* Who the thread is, as gdb and top number it. */
#define _GNU_SOURCE
#include "base/thread.h"

#include <sys/syscall.h>
#include <unistd.h>

uint64_t gphi_thread_id(void)
{
    return (uint64_t)syscall(SYS_gettid);
}
