#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/python_calls: what a call from Python costs beside the same call from C, in one run.

    PYTHONPATH=build/release/python python3 bench/python_calls.py build/release/lib/libbench_python.so [ROUNDS]

Each round takes every way 20 times, C and Python one after the other, with the stream idle at the start;
medians of rounds, and the median of the differences. GPH_DRIVER chooses the driver, softcuda unless it
is set. Ends with 1 where a bar is missed."""
import ctypes
import itertools
import os
import statistics
import sys
import time

os.environ.setdefault("GPH_DRIVER", "soft")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "python"))
import common  # noqa: E402
import graphophone as gph  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

CALLS, TENSORS, COUNT = 20, 8, 64


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


def c_tensors(tensors):
    array = (Tensor * len(tensors))()
    for into, tensor in zip(array, tensors):
        into.data, into.dtype, into.rank = tensor.data, 12, len(tensor.shape)
        into.shape[:len(tensor.shape)] = tensor.shape
        into.stride[:len(tensor.shape)] = tensor.strides
    return array


class Bench:
    def __init__(self, library):
        self.c = ctypes.CDLL(library)
        for name in ("replay", "exec", "callable", "tree", "cache"):
            getattr(self.c, "time_" + name).restype = ctypes.c_double
        self.runtime, self.add = common.runtime(), common.add()
        self.stream, self.pool = self.runtime.stream(), self.runtime.pool(name="bench")
        self.inputs = [self.pool.tensor(COUNT, stream=self.stream) for _ in range(TENSORS)]
        self.array = c_tensors(self.inputs)
        self.handle = ctypes.c_void_p(self.stream.handle)

    def work(self, call, *inputs):
        """One kernel, so that the launch is a small part, and one output."""
        out = call.empty(inputs[0].shape)
        self.add(call.stream, 1, COUNT, out, inputs[0], inputs[0].shape[0], 1.0)
        return out

    def replays(self):
        with self.runtime.capture(self.stream) as capture:
            self.add(self.stream, 1, COUNT, self.inputs[0], self.inputs[1], COUNT, 1.0)
        yield from self.replay("a replay", capture.recording.instantiate())
        yield from self.replay("a replay, keep_gil", capture.recording.instantiate(keep_gil=True))

    def replay(self, what, replay):
        stream = self.stream
        address = ctypes.c_void_p(replay.address)

        def python(count):
            begun = time.perf_counter_ns()
            for _ in itertools.repeat(None, count):
                replay(stream)
            return time.perf_counter_ns() - begun

        yield what, 100, lambda count: self.c.time_replay(address, self.handle, count), python
        if what != "a replay":
            return
        executable = replay.exec()
        exec_address = ctypes.c_void_p(executable.address)

        def python_exec(count):
            begun = time.perf_counter_ns()
            for _ in itertools.repeat(None, count):
                executable(stream)
            return time.perf_counter_ns() - begun

        yield "an executable", 100, lambda count: self.c.time_exec(exec_address, self.handle, count), python_exec

    def callables(self, kind, views):
        step = self.runtime.callable(self.work, self.inputs, outputs=1, pool=self.runtime.pool(), stream=self.stream,
                                     modes="static")
        a, b, c, d, e, f, g, h = views

        def python(count):
            begun = time.perf_counter_ns()
            for _ in itertools.repeat(None, count):
                step(a, b, c, d, e, f, g, h)
            return time.perf_counter_ns() - begun

        address = ctypes.c_void_p(step.address)
        yield "a callable, 8 %s" % kind, 800, lambda count: self.c.time_callable(
            address, self.array, TENSORS, self.handle, count), python

    def trees(self, kind, views):
        tree = self.runtime.tree(stream=self.stream)
        step = tree.function(self.work, inputs=TENSORS, outputs=1, static=range(TENSORS), root=True)
        a, b, c, d, e, f, g, h = views
        for _ in range(4):
            step(*views)
        assert tree.event["action"] == "replayed", tree.event

        def python(count):
            begun = time.perf_counter_ns()
            for _ in itertools.repeat(None, count):
                step(a, b, c, d, e, f, g, h)
            return time.perf_counter_ns() - begun

        addresses = ctypes.c_void_p(tree.address), ctypes.c_void_p(step.address)
        yield "a tree's function, 8 %s" % kind, 800, lambda count: self.c.time_tree(
            *addresses, self.array, TENSORS, count), python

    def caches(self):
        def work(call, x, sizes):
            return self.work(call, x)

        cache = self.runtime.cache(work, [{"name": "n", "values": [16, 64]}], inputs=[("f32", ("n",))],
                                   outputs=[("f32", ("n",))], hot_share=-1.0)
        cache.start(self.stream, False)
        x, stream = self.inputs[0], self.stream
        cache(COUNT, x, stream=stream)
        address, size = ctypes.c_void_p(cache.address), ctypes.c_int64(COUNT)

        def python(count):
            begun = time.perf_counter_ns()
            for _ in itertools.repeat(None, count):
                cache(COUNT, x, stream=stream)
            return time.perf_counter_ns() - begun

        yield "a cache", 1000, lambda count: self.c.time_cache(address, size, self.array, self.handle, count), python

    def measure(self, c, python, rounds):
        samples = []
        for number in range(rounds):
            pair = {}
            for way in ((c, python) if number % 2 else (python, c)):
                self.stream.synchronize()
                pair[way] = way(CALLS) / CALLS
            assert pair[c] > 0, "the call of C failed"
            samples.append((pair[c], pair[python]))
        return (statistics.median(s[0] for s in samples), statistics.median(s[1] for s in samples),
                statistics.median(s[1] - s[0] for s in samples))

    def ways(self):
        yield from self.replays()
        yield from self.callables("Tensors", self.inputs)
        yield from self.trees("Tensors", self.inputs)
        is_soft = self.runtime.driver == "soft"
        if common.numpy and is_soft:
            views = [common.numpy.from_dlpack(x) for x in self.inputs]
            yield from self.callables("NumPy arrays", views)
            yield from self.trees("NumPy arrays", views)
        if torch:
            views = [torch.from_dlpack(x) for x in self.inputs]
            yield from self.callables("PyTorch tensors", views)
            yield from self.trees("PyTorch tensors", views)
        yield from self.caches()


def main():
    library, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1001
    print("Python %s, libgph %s, %s" % (sys.version.split()[0], gph.version(), common.runtime().driver))
    bench, missed = Bench(library), False
    for what, bar, c, python in bench.ways():
        by_c, by_python, above = bench.measure(c, python, rounds)
        missed = missed or above > bar
        print("  %-38s C %7.0f ns   Python %7.0f ns   %+6.0f ns, bar %d%s"
              % (what, by_c, by_python, above, bar, "  MISSED" if above > bar else ""))
    return 1 if missed else 0


sys.exit(main())
