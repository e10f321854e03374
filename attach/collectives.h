/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks call together. */
#ifndef ATTACH_COLLECTIVES_H
#define ATTACH_COLLECTIVES_H

/* From now on dlsym() gives ours for NCCL's functions. */
void attach_collectives_prepare(void);
#endif
