// SPDX-License-Identifier: Apache-2.0
/* Loads and stores of four words a thread, in the way of the processor. */
#ifndef SOFT_JIT_INTERLEAVE_H
#define SOFT_JIT_INTERLEAVE_H

#include <llvm-c/Types.h>

/* Of x86's optimized IR: writes eight threads' float4 loads and stores as transpositions
 * of squares of four by four. */
void soft_jit_interleave(LLVMModuleRef module);

#endif
