# SPDX-License-Identifier: Apache-2.0
"""Nothing is leaked: what objects do many times, and what they do while each allocation of libgph's fails in turn."""
import ctypes
import gc
import os
import resource
import sys
import unittest

import common
from common import COUNT, PTX, gph, main

heap = ctypes.CDLL(os.environ["GPH_PYTHON_HEAP"])
heap.python_heap_live.restype = heap.python_heap_count.restype = ctypes.c_long
heap.python_heap_fail_at.argtypes = [ctypes.c_long]
ALLOCATOR = ctypes.cast(heap.python_heap, ctypes.c_void_p).value, 0
common._shared["runtime"] = gph.open("soft", allocator=ALLOCATOR)
common._shared["module"] = common._shared["runtime"].module(PTX)


class Leaks(common.Case):
    def setUp(self):
        super().setUp()
        self.failed = None

    def plus(self, call, x, *rest):
        out = call.empty(x.shape)
        self.add(call.stream, 1, COUNT, out, x, x.shape[0], 1.0)
        return out

    # What each does, from nothing to nothing.

    def replays(self):
        pool = self.runtime.pool()
        with self.runtime.capture(self.stream, pool=pool) as capture:
            with capture.region("layer"):
                t = pool.tensor(COUNT, stream=self.stream)
                self.put(t, self.x)
                self.put(self.y, t)
                del t
            capture.break_(lambda stream, index, is_replay: None)
            capture.hold(object())
        replay = capture.recording.instantiate()
        replay(self.stream)
        graph = capture.recording.describe()
        graph.nodes, graph.edges, graph.dot(), graph.json(), str(graph.diff(graph))
        self.stream.synchronize()

    def callables(self):
        step = self.runtime.callable(self.plus, (self.x,), outputs=1, pool=self.pool, stream=self.stream)
        out = step(self.x)
        capsule = out.__dlpack__(), out.__dlpack__(max_version=(1, 3))
        step.check(self.x)
        self.stream.synchronize()
        del capsule

    def trees(self):
        tree = self.runtime.tree(stream=self.stream)
        step = tree.function(self.plus, inputs=1, outputs=1)
        for _ in range(4):
            out = step(self.x)
            out.tensor()
        tree.text(), tree.stats(), tree.event
        self.stream.synchronize()

    def caches(self):
        cache = self.runtime.cache(self.plus, [{"name": "n", "values": [32, 64]}], inputs=[("f32", ("n",))],
                                   outputs=[("f32", ("n",))])
        cache.start(self.stream, False)
        cache(64, self.x, stream=self.stream)
        cache.last, cache.stats(), str(cache), cache.key_info(0)
        self.stream.synchronize()

    def files(self):
        slots = self.runtime.slots([("in", "copy", 4 * COUNT)])
        slots.bind("in", self.x)
        with self.runtime.capture(self.stream) as capture:
            slots.feed(self.stream)
            self.put(self.y, self.x)
        replay = capture.recording.instantiate()
        slots.launch(replay.exec(), self.stream)
        recipe = gph.Recipe()
        recipe.range("x", self.x.data, 512)
        recipe.range("y", self.y.data, 512)
        recipe.add(self.runtime, "step", capture.recording.graphs[0], inputs=[self.x], outputs=[self.y])
        recipe.graphs, recipe.summary, recipe.describe(0)
        self.stream.synchronize()

    def groups(self):
        with gph.Ranks(count=1, allocator=ALLOCATOR) as ranks:
            ranks.gather("a", 1), ranks.gather("b", b"x"), ranks.agree("c", "x"), ranks.most("d", 1), ranks.peers
            try:
                ranks.all("e", KeyError("key"))
            except gph.StateError as error:
                self.assertIsInstance(error.__cause__, KeyError)

    def communicators(self):
        with gph.Ranks(count=1, allocator=ALLOCATOR) as ranks:
            comm = gph.Comm(ranks, self.runtime, way="own", own_bytes=4096)
            comm.all_reduce(self.x, self.y, stream=self.stream)
            with self.runtime.capture(self.stream) as capture:
                comm.all_reduce(self.x, stream=self.stream)
            comm.graph_agree(capture.recording), comm.info
            replay = capture.recording.instantiate()
            del comm, capture
            replay(self.stream)
            ranks.wait(self.stream)

    def failures(self):
        for wrong in (lambda: self.runtime.capture(self.stream, mode="x").__enter__(), lambda: self.put("x", self.x),
                      lambda: self.pool.tensor(-1), lambda: gph.Graph.load("/nowhere"),
                      lambda: self.runtime.callable(lambda call, x: 1 / 0, (self.x,), pool=self.pool,
                                                    stream=self.stream)):
            try:
                wrong()
            except (gph.Error, TypeError, ZeroDivisionError):
                pass
        gph.explain(904), gph.near("cuGraphLaunc")

    def many(self, work, times):
        """Objects, bytes of libgph's and pages of the process that `times` more of it leave."""
        for _ in range(10):
            work()
        gc.collect()
        before = len(gc.get_objects()), heap.python_heap_live(), self.pool.stats()["allocation_count"]
        references = sys.getrefcount(self.stream), sys.getrefcount(self.x), sys.getrefcount(self.runtime)
        pages = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(times):
            work()
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before[0], 20)
        self.assertLess(heap.python_heap_live() - before[1], 4096, "bytes of libgph's")
        self.assertEqual(self.pool.stats()["allocation_count"], before[2])
        self.assertEqual(references, (sys.getrefcount(self.stream), sys.getrefcount(self.x),
                                      sys.getrefcount(self.runtime)))
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - pages, 16 << 10, "KiB of the process")

    def test_nothing_is_left(self):
        for work in (self.replays, self.callables, self.trees, self.caches, self.files, self.groups, self.communicators,
                     self.failures):
            with self.subTest(work.__name__):
                self.many(work, 50)

    def sweep(self, work):
        """Each allocation of it fails once: it raises an error, leaves nothing, and works the next time."""
        work()
        gc.collect()
        live, failed = heap.python_heap_live(), 0
        for nth in range(10000):
            heap.python_heap_fail_at(nth)
            try:
                work()
            except gph.Error:
                failed += 1
            finally:
                over = heap.python_heap_count() <= nth
                heap.python_heap_fail_at(-1)
            if over:
                break
        self.assertTrue(over)
        self.assertGreater(failed, 3)
        self.stream.synchronize()
        work()
        gc.collect()
        self.assertLess(heap.python_heap_live() - live, 4096, "%d allocations failed" % failed)

    def test_no_failed_allocation_is_survived_badly(self):
        for work in (self.replays, self.callables, self.trees, self.caches, self.files, self.communicators):
            with self.subTest(work.__name__):
                self.sweep(work)


if __name__ == "__main__":
    main()
