// SPDX-License-Identifier: Apache-2.0
/* The ring of this process, from its first driver call to its end. */
#ifndef ATTACH_PROCESS_H
#define ATTACH_PROCESS_H
#include <stdbool.h>

/* Makes the ring and writes PROCESS. Whether calls are recorded now. */
bool attach_start(void);
#endif
