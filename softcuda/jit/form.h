// SPDX-License-Identifier: Apache-2.0
/* The form of softcuda/ptx's text, as far as it is read again here. */
#ifndef SOFT_JIT_FORM_H
#define SOFT_JIT_FORM_H

/* How the line of a region's function begins, and where its name does. */
#define SOFT_REGION_START "define internal i1 @\"b."
#define SOFT_REGION_NAME (sizeof(SOFT_REGION_START) - 3)

#endif
