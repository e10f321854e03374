// SPDX-License-Identifier: Apache-2.0
/* Where the process is when a signal ends it. */
#ifndef ATTACH_CRASH_H
#define ATTACH_CRASH_H
#include <stdbool.h>

/* Once, with the ring: catches those signals that end the process and that nobody has caught
 * so far. A handler that is set later has them; they end the process as they would have. */
void attach_crash_prepare(void);

/* Whether SIGSEGV comes here, now: directly, or by way of the driver (softcuda's), which passes
 * on what is not its own. */
bool attach_crash_is_ours(void);
#endif
