#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graphophone.torch's ranks, Comm and all_reduce, on one GPU a rank. usage: PYTHONPATH=the package's folder
torchrun --nproc-per-node 2 torch_ranks.py [names of tests]       One rank alone runs all but those of several."""
import gc
import os
import sys
import time
import unittest

import torch

if torch.cuda.device_count() <= int(os.environ.get("LOCAL_RANK", 0)):
    print("skipped: there are %d GPUs" % torch.cuda.device_count())
    sys.exit(77)
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))

import torch.distributed as dist  # noqa: E402

import graphophone as gph  # noqa: E402
import graphophone.torch as gt  # noqa: E402

BOTH = (torch.cuda.CUDAGraph, torch.cuda.graph), (gt.CUDAGraph, gt.graph)


class Collectives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if int(os.environ.get("WORLD_SIZE", 1)) > 1 and not dist.is_initialized():
            dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
        cls.ranks = gt.ranks()
        cls.comm = gt.Comm(cls.ranks)

    @classmethod
    def tearDownClass(cls):
        cls.comm = None
        gc.collect()
        cls.ranks.close()

    def setUp(self):
        torch.cuda.synchronize()
        self.ranks.agree("test", self.id())
        self.x = torch.arange(512, device="cuda", dtype=torch.float32) + self.ranks.rank
        self.sum = sum(torch.arange(512, device="cuda", dtype=torch.float32) + rank for rank in range(self.ranks.count))

    def same(self, x, expected):
        torch.cuda.synchronize()
        self.ranks.check()
        self.assertTrue(torch.equal(x, expected), "%r, not %r" % (x[:4], expected[:4]))

    def test_eager_in_place_in_the_current_stream(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            y = gt.all_reduce(self.x, self.comm)
        self.comm.wait(stream)
        self.assertIs(y, self.x)
        self.same(y, self.sum)

    def test_types_and_sizes(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
            for count in (1, 7, 2048, 1 << 20):
                x = torch.full((count,), 1 + self.ranks.rank, device="cuda", dtype=dtype)
                expected = torch.full((count,), sum(range(1, self.ranks.count + 1)), device="cuda", dtype=dtype)
                self.same(gt.all_reduce(x, self.comm), expected)
        self.same(gt.all_reduce(self.x.clone(), self.comm, "max"), torch.arange(512, device="cuda") + self.ranks.count - 1.0)

    def test_in_graphs(self):
        for make, context in BOTH:
            graph, x = make(keep_graph=True), self.x.clone()
            gt.all_reduce(torch.zeros(512, device="cuda"), self.comm)
            with context(graph, capture_error_mode="thread_local"):
                y = gt.all_reduce(x * 1, self.comm) + 1
            self.comm.graph_agree(graph)
            for _ in range(3):
                graph.replay()
                self.same(y, self.sum + 1)

    def test_in_graphed_callables(self):
        with torch.no_grad():
            step = gt.make_graphed_callables(lambda x: gt.all_reduce(x * 2, self.comm), (self.x,))
            for _ in range(3):
                self.same(step(self.x), 2 * self.sum)

    def test_compiled_whole(self):
        comm = self.comm

        def step(x):
            y = gt.all_reduce(x * 2, comm)
            return y.relu() + gt.all_reduce(x + 1, comm, "max")
        expected = step(self.x.clone())
        for backend in ("eager", "aot_eager", "inductor"):
            torch._dynamo.reset()
            compiled = torch.compile(step, backend=backend, fullgraph=True)
            for _ in range(3):
                self.same(compiled(self.x), expected)

    def test_a_registered_operator(self):
        x = self.x.clone()
        result = torch.library.opcheck(torch.ops.graphophone.all_reduce_.default, (x, self.comm._number, "sum"),
                                       test_utils=("test_schema", "test_faketensor"))
        self.assertEqual(set(result.values()), {"SUCCESS"})

    def test_refusals_name_the_line(self):
        for wrong, kind, words in ((lambda: gt.all_reduce(self.x[::2], self.comm), gph.InvalidError, "contiguous"),
                                   (lambda: gt.all_reduce(self.x, self.comm, "mean"), gph.InvalidError, "mean"),
                                   (lambda: torch.ops.graphophone.all_reduce_(self.x, 1 << 30, "sum"), gph.StateError, "gone")):
            self.assertRaisesRegex(kind, words, wrong)
        with self.assertRaises(gph.UnsupportedError) as caught:
            gt.all_reduce(torch.zeros(8, device="cuda", dtype=torch.complex64), self.comm)
        self.assertIn("torch_ranks.py:", caught.exception.place or "")

    def test_graphs_that_differ(self):
        if self.ranks.count == 1:
            self.skipTest("one rank")
        graph = gt.CUDAGraph()
        with gt.graph(graph, capture_error_mode="thread_local"):
            gt.all_reduce(self.x, self.comm, "max" if self.ranks.rank else "sum")
        with self.assertRaisesRegex(gph.InvalidError, "torch_ranks.py:"):
            self.comm.graph_agree(graph)

    def test_a_graph_outlives_its_comm(self):
        comm = gt.Comm(self.ranks, name="short")
        graph, x = gt.CUDAGraph(), self.x.clone()
        with gt.graph(graph, capture_error_mode="thread_local"):
            y = gt.all_reduce(x * 1, comm)
        del comm
        gc.collect()
        graph.replay()
        self.same(y, self.sum)


class Failures(unittest.TestCase):
    """Runs last; the group is of no use afterwards."""

    def test_a_rank_that_gives_up(self):
        ranks = gt.ranks(name="failing-" + os.environ.get("MASTER_PORT", "0"))
        if ranks.count == 1:
            self.skipTest("one rank")
        comm = gt.Comm(ranks)
        graph, x = gt.CUDAGraph(), torch.ones(512, device="cuda")
        with gt.graph(graph, capture_error_mode="thread_local"):
            gt.all_reduce(x, comm)
        comm.graph_agree(graph)
        if ranks.rank == 1:
            ranks.fail("out of patience")
        else:
            begin = time.monotonic()
            graph.replay()  # waits for the others, on the GPU
            with self.assertRaisesRegex(gph.StateError, "rank 1: out of patience"):
                comm.wait()
            self.assertLess(time.monotonic() - begin, 2)
            torch.cuda.synchronize()


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=int(os.environ.get("RANK", 0)) == 0)
    gc.collect()  # graphs, before NCCL's communicator
    if dist.is_initialized():
        dist.destroy_process_group()
    sys.exit(0 if program.result.wasSuccessful() else 1)
