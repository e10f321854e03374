// SPDX-License-Identifier: Apache-2.0
/* What find.c gives to its neighbours alone. */
#ifndef ATTACH_OWN_H
#define ATTACH_OWN_H

/* The driver's cuInit() has held: no other library takes its place any more. */
void attach_keep_driver(void);

/* Runs another injection library's InitializeInjection(); 1 if there is none. */
int attach_chain(const char *path);
#endif
