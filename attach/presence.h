// SPDX-License-Identifier: Apache-2.0
/* Word to the doctor that the library is in a process, whether that calls the driver or
 * not, so that silence is never taken for health. */
#ifndef ATTACH_PRESENCE_H
#define ATTACH_PRESENCE_H
#include <stddef.h>

/* The folder of the doctor, as it was when the program began: programs change their
 * environment. NULL: there is no doctor. */
const char *attach_presence_folder(void);

/* In a new program; before fork(), and in its child; at the end of either. */
void attach_presence_begin(void);
void attach_presence_forks(void);
void attach_presence_forked(void);
void attach_presence_end(void);

/* The ring of this process has so many bytes, of those wanted; or there is none, and `code` is why. */
void attach_presence_ring(size_t bytes, size_t wanted);
void attach_presence_refused(int code);

/* The driver loaded the library, which the program's own calls do not reach. */
void attach_presence_deaf(void);
#endif
