// SPDX-License-Identifier: Apache-2.0
/* Libraries that compile to machine code give PTX instead: NVRTC where a program asks for a
 * cubin, nvJitLink where it links one. */
#ifndef SOFT_RUNTIME_COMPILERS_H
#define SOFT_RUNTIME_COMPILERS_H
#include "softcuda/runtime/inside.h"

/* Which functions of an object are to be replaced; none, as of most objects: `count` is 0.
 * Called under the dynamic linker's lock. */
void rt_compilers_find(rt_inside *out);
#endif
