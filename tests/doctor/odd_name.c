// SPDX-License-Identifier: Apache-2.0
/* Breaks a rule in a source file whose name, as its debug information has it, is not
 * UTF-8 and holds escapes: odd_name.py reads what the doctor writes of it. */
#include "tests/doctor/rules/broken.h"

#line 1 "\033[2J\033]0;x\007\302\233b\377.c"
static void first(void)
{
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUdeviceptr none = 0;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAlloc(&none, 64));
    CU(cuStreamEndCapture(stream, &graph));
}

BROKEN(first, first, first)
