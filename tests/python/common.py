# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: softcuda, a kernel, arrays of the host."""
import array
import os
import sys
import unittest

os.environ.setdefault("GPH_DRIVER", "soft")
import graphophone as gph  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

# add: y[i] = x[i] + by
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 py, .param .u64 px, .param .u32 pn, .param .f32 pby)
{
    .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [py]; ld.param.u64 %d2, [px]; ld.param.u32 %r1, [pn]; ld.param.f32 %f3, [pby];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
    ld.global.f32 %f1, [%d5]; add.f32 %f1, %f1, %f3; st.global.f32 [%d4], %f1;
DONE:
    ret;
}
"""
COUNT = 64

is_soft = os.environ["GPH_DRIVER"] == "soft"
needs_numpy = unittest.skipIf(numpy is None, "NumPy is not installed")
needs_soft = unittest.skipUnless(is_soft, "only softcuda's device memory is the host's")
_shared = {}


def runtime():
    """One for all tests: a process has one driver."""
    if "runtime" not in _shared:
        _shared["runtime"] = gph.open()
        _shared["module"] = _shared["runtime"].module(PTX)
    return _shared["runtime"]


def add():
    runtime()
    return _shared["module"].function("add")


def fill(tensor, values):
    tensor.copy_from(array.array("f", values))


def values_of(tensor, count=COUNT):
    out = array.array("f", [0.0] * count)
    tensor.copy_to(out)
    return list(out)


class Case(unittest.TestCase):
    def setUp(self):
        self.runtime, self.add = runtime(), add()
        self.stream = self.runtime.stream()
        self.pool = self.runtime.pool()
        self.x = self.pool.tensor(COUNT, stream=self.stream)
        self.y = self.pool.tensor(COUNT, stream=self.stream)
        fill(self.x, range(COUNT))
        fill(self.y, [0.0] * COUNT)

    def put(self, to, source, by=1.0, stream=None):
        """One kernel: to = source + by."""
        self.add(self.stream if stream is None else stream, 1, COUNT, to, source, COUNT, float(by))


def main():
    runtime()
    program = unittest.main(exit=False, verbosity=1, module="__main__")
    sys.exit(0 if program.result.wasSuccessful() else 1)
