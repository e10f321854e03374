// SPDX-License-Identifier: Apache-2.0
/* The thread's own block, and its number. */
#define _GNU_SOURCE
#include "attach/ring/thread.h"

#include <sys/syscall.h>
#include <unistd.h>

__thread attach_local attach_me __attribute__((tls_model("initial-exec")));

uint32_t attach_thread(void)
{
    if (attach_me.thread == 0)
        attach_me.thread = (uint32_t)syscall(SYS_gettid);
    return attach_me.thread;
}
