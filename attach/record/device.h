// SPDX-License-Identifier: Apache-2.0
/* The machine, as the program may see it. */
#ifndef ATTACH_DEVICE_H
#define ATTACH_DEVICE_H

/* Writes DEVICE for each, once a process. */
void attach_tell_devices(void);

/* In a child of fork(): not written yet. */
void attach_forget_devices(void);
#endif
