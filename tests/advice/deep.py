#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that launches from deep stacks, as PyTorch's modules do: 60 steps of 144 small launches from 48 functions,
each below some fifty frames of Python and of C. Prints how many us a step took, the lower quartile.
"""
import ctypes
import functools
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import loop  # noqa: E402: opens the context, and leaves a kernel, a stream and arguments

STEPS, LEAVES, LAUNCHES, DEPTH = 60, 48, 3, 16
launch = functools.partial(loop.cu.cuLaunchKernel, loop.kernel, *[1] * 6, 0, loop.stream, loop.arguments, None)
code = {"launch": launch}
exec("".join(f"def leaf_{i}():\n" + "    launch()\n" * LAUNCHES for i in range(LEAVES)), code)


class Module:
    """Calls the module below it, through C, by one way or another."""

    def __init__(self, number, depth):
        self.below = Module(number >> 1, depth - 1) if depth > 0 else None
        self.leaf, self.is_mapped = None, number & 1

    def __call__(self, leaf):
        if not self.below:
            leaf()
        elif self.is_mapped:
            list(map(self.below, [leaf]))
        else:
            self.forward(leaf)

    def forward(self, leaf):
        self.below(leaf)


modules = [(Module(i * 2654435761 >> 7, DEPTH), code[f"leaf_{i}"]) for i in range(LEAVES)]
taken = []
for _ in range(STEPS):
    begin = time.perf_counter_ns()
    for module, leaf in modules:
        module(leaf)
    loop.ok(loop.cu.cuStreamSynchronize(loop.stream))
    taken.append(time.perf_counter_ns() - begin)
loop.ok(loop.cu.cuMemcpyDtoH_v2(ctypes.byref(loop.out), loop.memory, ctypes.c_size_t(4)))
assert loop.out.value == 400 + STEPS * LEAVES * LAUNCHES, loop.out.value
print(sorted(taken)[STEPS // 4] / 1e3)
