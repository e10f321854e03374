// SPDX-License-Identifier: Apache-2.0
/* Whose thread this is: the program's, or one that the driver has made. */
#ifndef ATTACH_KIND_H
#define ATTACH_KIND_H
#include "attach/ring/thread.h"

/* Fills what is not asked yet, and writes THREAD. */
void attach_tell_thread(void);

static inline void attach_know_thread(void)
{
    if (!attach_me.is_told)
        attach_tell_thread();
}
#endif
