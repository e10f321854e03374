// SPDX-License-Identifier: Apache-2.0
/* What the program writes to standard error. */
#ifndef ATTACH_OUTPUT_H
#define ATTACH_OUTPUT_H

/* Once, before the program runs. */
void attach_output_prepare(void);
#endif
