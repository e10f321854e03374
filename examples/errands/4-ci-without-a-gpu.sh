#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 4: run a CUDA-graph test in CI, on a machine without a GPU, and see it fail when it should.
. "$(dirname "$0")/common.sh"

step "A test: two streams in one capture write two words; the join of the second stream can be left out"
cat >test.py <<'END'
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
context, graph, replayed, x = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
main, side, forked, joined = (ctypes.c_void_p() for _ in range(4))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
for stream in main, side:
    cuda.cuStreamCreate(ctypes.byref(stream), 1)
for event in forked, joined:
    cuda.cuEventCreate(ctypes.byref(event), 2)
cuda.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(8))
cuda.cuStreamBeginCapture_v2(main, 1)
cuda.cuEventRecord(forked, main)
cuda.cuStreamWaitEvent(side, forked, 0)
cuda.cuMemsetD32Async(x, 7, ctypes.c_size_t(1), main)
cuda.cuMemsetD32Async(ctypes.c_uint64(x.value + 4), 9, ctypes.c_size_t(1), side)
if sys.argv[1:] != ["--no-join"]:
    cuda.cuEventRecord(joined, side)
    cuda.cuStreamWaitEvent(main, joined, 0)
assert cuda.cuStreamEndCapture(main, ctypes.byref(graph)) == 0, "the capture failed"
assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(replayed), graph, ctypes.c_ulonglong(0)) == 0
cuda.cuGraphLaunch(replayed, main)
cuda.cuStreamSynchronize(main)
got = (ctypes.c_uint32 * 2)()
cuda.cuMemcpyDtoH_v2(got, x, ctypes.c_size_t(8))
print(list(got))
assert list(got) == [7, 9]
END

step "In CI: the software driver; the exit status is the test's own"
show 'gph run --driver soft -- python3 test.py'
show 'gph run --driver soft -- python3 test.py --no-join 2>&1 || echo "exit $?: the job is red"' >said
cat said
want "the job is red" said

step "The doctor says why; a finding fails the job, too"
show 'gph doctor --driver soft --json findings.json -- python3 test.py --no-join 2>&1 || true' >said
cat said
want "error capture.unjoined-fork" said
want "test.py:$(grep -n 'x.value + 4' test.py | cut -d: -f1)" said
show 'grep -c capture.unjoined-fork findings.json'

step "Look for races that a GPU may hide: none here"
show 'SOFTCUDA_CHECK=race gph run --driver soft -- python3 test.py'
