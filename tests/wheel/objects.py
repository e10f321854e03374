# SPDX-License-Identifier: Apache-2.0
"""libgph's objects out of the wheels alone: a capture on softcuda, replayed; NumPy views its memory where it is there."""
import array
import os

import graphophone as gph

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 data)
{
    .reg .u32 %r<2>; .reg .u64 %d<4>; .reg .f32 %f<2>;
    ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;
    ld.global.f32 %f1, [%d3]; add.f32 %f1, %f1, %f1; st.global.f32 [%d3], %f1;
    ret;
}
"""
runtime = gph.open("soft")
assert "graphophone_softcuda" in runtime.path, runtime.path
assert os.path.exists(gph.command), gph.command
stream, pool, twice = runtime.stream(), runtime.pool(), runtime.module(PTX).function("twice")
x = pool.tensor(64, stream=stream)
x.copy_from(array.array("f", range(64)))
with runtime.capture(stream) as capture:
    twice(stream, 1, 64, x)
    twice(stream, 1, 64, x)
replay = capture.recording.instantiate()
replay(stream)
stream.synchronize()
out = array.array("f", [0] * 64)
x.copy_to(out)
assert list(out) == [4.0 * i for i in range(64)], out
assert gph.explain(904)[0]["slug"] == "cuda/904-stream-capture-unjoined"
assert os.path.exists(os.path.join(os.path.dirname(gph.__file__), "py.typed"))
try:
    import numpy
except ImportError:
    print("objects: ok, without NumPy")
else:
    assert list(numpy.from_dlpack(x)) == list(out)
    twice(stream, 1, 64, numpy.from_dlpack(x))
    stream.synchronize()
    assert numpy.from_dlpack(x)[3] == 24.0
    print("objects: ok, NumPy %s" % numpy.__version__)
