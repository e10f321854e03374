#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 2: find why a capture fails. The program gets 901 at its end, which does not name the cause.
. "$(dirname "$0")/common.sh"

step "A step that allocates where it needs memory"
cat >step.py <<'END'
"""Any CUDA program will do. This one calls the driver by ctypes, so that nothing has to be installed."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
scratch = ctypes.c_uint64()


def normalize(stream, x):
    if not scratch:
        cuda.cuMemAlloc_v2(ctypes.byref(scratch), ctypes.c_size_t(4096))  # on the first call
    cuda.cuMemcpyDtoDAsync_v2(scratch, x, ctypes.c_size_t(4096), stream)
    cuda.cuMemcpyDtoDAsync_v2(x, scratch, ctypes.c_size_t(4096), stream)


context, stream, graph, x = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(4096))
if sys.argv[1:] == ["--warm-up"]:
    normalize(stream, x)
cuda.cuStreamBeginCapture_v2(stream, 0)
normalize(stream, x)
result = cuda.cuStreamEndCapture(stream, ctypes.byref(graph))
print("end of the capture:", result)
sys.exit(result != 0)
END
show 'gph run -- python3 step.py || true' >said
cat said
want "end of the capture: 901" said

step "First the number, then the cause with its line"
show 'gph explain 901 | head -12' >said
cat said
want "a consequence, not the cause" said
show 'gph doctor -- python3 step.py 2>&1 || true' >said
cat said
want "error capture.unsafe-call" said
want "normalize (step.py:$(grep -n 'cuMemAlloc_v2(ctypes.byref(scratch' step.py | cut -d: -f1))" said
want "fix:" said

step "The fix that it names: a warm-up allocates before the capture"
show 'gph doctor -- python3 step.py --warm-up 2>&1' >said
cat said
want "end of the capture: 0" said
! grep -qE '^(error|warning) ' said
