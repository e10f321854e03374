#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graphophone.torch's CUDAGraph, graph, make_graphed_callables and patch() on a GPU, beside PyTorch's own and eager.
usage: PYTHONPATH=the package's folder torch_graphs.py [names of tests]"""
import gc
import threading
import unittest

import graphophone.torch as gt
import torch

torch.use_deterministic_algorithms(False)
BOTH = (torch.cuda.CUDAGraph, torch.cuda.graph), (gt.CUDAGraph, gt.graph)


def network(dropout=0.0):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Dropout(dropout),
                               torch.nn.Linear(128, 16)).cuda()


def captured(make, **options):
    """A graph of ours, and what its body gave."""
    graph = gt.CUDAGraph()
    with gt.graph(graph, **options):
        result = make()
    return graph, result


class Graphs(unittest.TestCase):
    def setUp(self):
        torch.cuda.synchronize()
        self.x = torch.arange(256, device="cuda", dtype=torch.float32)

    def test_replays_what_was_captured(self):
        graph, y = captured(lambda: (self.x * 2 + 1).relu())
        for value in (1.0, -3.0, 7.5):
            self.x.fill_(value)
            graph.replay()
            self.assertTrue(torch.equal(y, (self.x * 2 + 1).relu()))

    def test_capture_does_not_run_and_other_streams_replay(self):
        total = torch.zeros(1, device="cuda")
        graph, _ = captured(lambda: total.add_(1))
        self.assertEqual(total.item(), 0)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(10):
                graph.replay()
        torch.cuda.current_stream().wait_stream(side)
        graph.replay()
        self.assertEqual(total.item(), 11)

    def test_pools_are_shared_with_pytorchs_graphs(self):
        theirs = torch.cuda.CUDAGraph()
        with torch.cuda.graph(theirs):
            a = self.x + 1
        graph, b = captured(lambda: self.x + 2, pool=theirs.pool())
        again = torch.cuda.CUDAGraph()
        with torch.cuda.graph(again, pool=graph.pool()):
            c = self.x + 3
        self.assertEqual(graph.pool(), theirs.pool())
        for one in (theirs, graph, again):
            one.replay()
        self.assertTrue(torch.equal(a + 1, b) and torch.equal(b + 1, c))
        handle = gt.graph_pool_handle()
        for _ in range(2):
            captured(lambda: self.x + 4, pool=handle)

    def test_memory_is_pytorchs_to_the_byte(self):
        def footprint(graph_type, block):
            gc.collect()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_reserved(), torch.cuda.memory_allocated()
            graph = graph_type()
            with block(graph):
                y = torch.zeros(3 << 20, device="cuda") + 1
                del y
                z = torch.zeros(100, device="cuda")
            graph.replay()
            torch.cuda.synchronize()
            held = torch.cuda.memory_reserved() - before[0], torch.cuda.memory_allocated() - before[1]
            del graph, z
            gc.collect()
            torch.cuda.empty_cache()
            return held, (torch.cuda.memory_reserved() - before[0], torch.cuda.memory_allocated() - before[1])
        for types in BOTH:
            footprint(*types)
        theirs, ours = (footprint(*types) for types in BOTH)
        self.assertEqual(ours, theirs)
        self.assertEqual(ours[1], (0, 0))

    def test_keep_graph_and_raw_handles(self):
        graph = gt.CUDAGraph(keep_graph=True)
        self.assertRaisesRegex(RuntimeError, "capture_end", graph.raw_cuda_graph)
        self.assertRaisesRegex(RuntimeError, "capture_end", graph.instantiate)
        with gt.graph(graph):
            y = self.x + 1
        self.assertTrue(graph.raw_cuda_graph())
        self.assertRaisesRegex(RuntimeError, "instantiate", graph.raw_cuda_graph_exec)
        graph.replay()
        first = graph.raw_cuda_graph_exec()
        graph.instantiate()
        self.assertTrue(first and graph.raw_cuda_graph_exec())
        graph.replay()
        self.assertTrue(torch.equal(y, self.x + 1))
        other, _ = captured(lambda: self.x + 1)
        self.assertRaisesRegex(RuntimeError, "keep_graph=true", other.raw_cuda_graph)
        self.assertRaisesRegex(RuntimeError, "keep_graph=true", other.instantiate)
        self.assertTrue(other.raw_cuda_graph_exec())

    def test_reset_and_capture_again(self):
        graph, y = captured(lambda: self.x + 1)
        with self.assertRaisesRegex(RuntimeError, "already owns a captured graph"), gt.graph(graph):
            pass
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        graph.reset()
        self.assertRaisesRegex(RuntimeError, "preceding successful capture", graph.replay)
        with gt.graph(graph):
            y = self.x + 2
        graph.replay()
        self.assertTrue(torch.equal(y, self.x + 2))

    def test_default_stream_is_refused(self):
        graph = gt.CUDAGraph()
        self.assertRaisesRegex(RuntimeError, "non-default stream", graph.capture_begin)
        captured(lambda: self.x + 1)

    def test_forks_join(self):
        side = torch.cuda.Stream()

        def body():
            a = self.x + 1
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                b = a * 2
            c = a * 3
            torch.cuda.current_stream().wait_stream(side)
            return b + c
        graph, y = captured(body)
        graph.replay()
        self.assertTrue(torch.equal(y, (self.x + 1) * 5))

    def test_capturing_is_said(self):
        self.assertFalse(gt.is_current_stream_capturing())
        _, inside = captured(gt.is_current_stream_capturing)
        self.assertTrue(inside)

    def test_debug_dump(self):
        import os
        import tempfile
        graph = gt.CUDAGraph(keep_graph=True)
        with gt.graph(graph):
            self.x + 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.dot")
            graph.debug_dump(path)
            with open(path) as file:
                self.assertIn("digraph", file.read())

    def test_a_graph_dies_while_another_is_captured(self):
        doomed = [captured(lambda: self.x + 1)[0] for _ in range(3)]
        for one in doomed:
            one.replay()

        def body():
            doomed.clear()
            return self.x + 2
        graph, y = captured(body)
        graph.replay()
        self.assertTrue(torch.equal(y, self.x + 2))

    def test_threads_replay(self):
        graphs = [captured(lambda value=value: self.x + value) for value in range(4)]

        def work(graph):
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(200):
                    graph.replay()
                torch.cuda.current_stream().synchronize()
        threads = [threading.Thread(target=work, args=(graph,)) for graph, _ in graphs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for value, (_, y) in enumerate(graphs):
            self.assertTrue(torch.equal(y, self.x + value))


class Failures(unittest.TestCase):
    def setUp(self):
        torch.cuda.synchronize()
        self.x = torch.ones(256, device="cuda")

    def fail_once(self, body):
        with self.assertRaises(RuntimeError) as caught:
            captured(body)
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        return caught.exception

    def test_everything_works_after_a_failed_capture(self):
        for body in (lambda: (self.x + 1).sum().item(), torch.cuda.synchronize, lambda: torch.zeros(2 ** 44, device="cuda")):
            error = self.fail_once(body)
            self.assertNotIn("previous error during capture", str(error))
            torch.rand(4, device="cuda")
            graph, y = captured(lambda: torch.rand(4, device="cuda") + self.x[:4])
            graph.replay()
            self.assertTrue(bool((y >= 1).all()))
            torch.cuda.empty_cache()

    def test_an_exception_of_the_body_comes_out(self):
        with self.assertRaisesRegex(ValueError, "mine"), gt.graph(gt.CUDAGraph()):
            self.x + 1
            raise ValueError("mine")
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())

    def test_memory_of_failed_captures_is_given_back(self):
        def synchronizes():
            y = torch.zeros(8 << 20, device="cuda")
            y.sum().item()
        self.fail_once(synchronizes)
        gc.collect()
        torch.cuda.empty_cache()
        before = torch.cuda.memory_reserved()
        for _ in range(5):
            self.fail_once(synchronizes)
            gc.collect()
            torch.cuda.empty_cache()
        self.assertLessEqual(torch.cuda.memory_reserved(), before)


class Random(unittest.TestCase):
    def test_replays_draw_what_eager_draws(self):
        for graph_type, block in BOTH:
            torch.manual_seed(5)
            eager = [torch.rand(100, device="cuda") for _ in range(4)]
            torch.manual_seed(5)
            graph = graph_type()
            with block(graph):
                y = torch.rand(100, device="cuda")
            drawn = []
            for _ in range(4):
                graph.replay()
                drawn.append(y.clone())
            for one, other in zip(eager, drawn):
                self.assertTrue(torch.equal(one, other))
            torch.manual_seed(5)
            graph.replay()
            self.assertTrue(torch.equal(y, eager[0]))
            self.assertTrue(torch.equal(torch.rand(100, device="cuda"), eager[1]))

    def test_a_graph_that_draws_nothing_leaves_the_generator(self):
        x = torch.ones(10, device="cuda")
        torch.manual_seed(5)
        torch.rand(10, device="cuda")
        offset = torch.cuda.default_generators[0].get_offset()
        graph, _ = captured(lambda: x + 1)
        self.assertEqual(torch.cuda.default_generators[0].get_offset(), offset)
        self.assertIsNone(graph.before)
        graph.replay()
        self.assertEqual(torch.cuda.default_generators[0].get_offset(), offset)

    def test_a_registered_generator(self):
        generator = torch.Generator(device="cuda")
        results = []
        for graph_type, block in BOTH:
            generator.manual_seed(9)
            graph = graph_type()
            graph.register_generator_state(generator)
            with block(graph):
                y = torch.rand(50, device="cuda", generator=generator)
            for _ in range(3):
                graph.replay()
                results.append(y.clone())
        for one, other in zip(results[:3], results[3:]):
            self.assertTrue(torch.equal(one, other))

    def test_dropout_keeps_its_stream(self):
        results = []
        for graph_type, block in BOTH:
            model, x = network(dropout=0.5), torch.ones(8, 64, device="cuda")
            model(x)
            torch.manual_seed(3)
            graph = graph_type()
            with block(graph):
                y = model(x)
            for _ in range(3):
                graph.replay()
                results.append(y.clone())
            results.append(torch.rand(10, device="cuda"))
        for one, other in zip(results[:4], results[4:]):
            self.assertTrue(torch.equal(one, other))


class Callables(unittest.TestCase):
    def train(self, make, steps=5, accumulate=1):
        torch.manual_seed(2)
        model = network()
        x = torch.randn(32, 64, device="cuda")
        graphed = make(model, (torch.randn(32, 64, device="cuda"),)) if make else model
        optimizer = torch.optim.SGD(graphed.parameters(), lr=0.1)
        losses = []
        for step in range(steps):
            optimizer.zero_grad(set_to_none=True)
            for part in range(accumulate):
                loss = (graphed(x + step + part) ** 2).mean()
                loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, [parameter.detach().clone() for parameter in model.parameters()]

    def same(self, one, other):
        self.assertEqual(one[0], other[0])
        for a, b in zip(one[1], other[1]):
            self.assertTrue(torch.equal(a, b))

    def test_training_equals_eager_and_pytorchs(self):
        def theirs(model, args):
            torch.manual_seed(2)
            return torch.cuda.make_graphed_callables(model, args)

        def ours(model, args):
            torch.manual_seed(2)
            return gt.make_graphed_callables(model, args)
        self.same(self.train(ours), self.train(theirs))
        self.same(self.train(ours), self.train(lambda model, args: model))

    def test_accumulated_gradients_equal_eager(self):
        self.same(self.train(gt.make_graphed_callables, accumulate=3), self.train(lambda model, args: model, accumulate=3))

    def test_eval_runs_the_module_and_no_grad_the_graph(self):
        model, x = network(), torch.randn(32, 64, device="cuda")
        expected = model(x).detach()
        graphed = gt.make_graphed_callables(model, (torch.randn(32, 64, device="cuda"),))
        with torch.no_grad():
            y = graphed(x)
            self.assertFalse(y.requires_grad)
            self.assertTrue(torch.equal(y, expected))
        self.assertTrue(graphed(x).requires_grad)
        graphed.eval()
        self.assertTrue(torch.equal(graphed(x).detach(), expected))

    def test_inference_calls_equal_eager(self):
        a, b = torch.randn(64, device="cuda"), torch.randn(64, device="cuda")

        def function(a, b):
            return a * b, [a - b, (a + b).sum()]
        graphed = gt.make_graphed_callables(function, (a, b))
        for _ in range(5):
            x, y = torch.randn(64, device="cuda"), torch.randn(64, device="cuda")
            for one, other in ((x, y), (a, b), (a, y), (x[:64], y.view(64))):
                expected = function(one.clone(), other.clone())
                given = graphed(one, other)
                self.assertTrue(torch.equal(given[0], expected[0]) and torch.equal(given[1][0], expected[1][0]))
                self.assertTrue(torch.equal(given[1][1], expected[1][1]))

    def test_a_tuple_of_functions(self):
        a, b = torch.randn(16, device="cuda", requires_grad=True), torch.randn(16, device="cuda", requires_grad=True)

        def double(t):
            return t * 2

        def both(t, u):
            return t * u, t + u
        one, two = gt.make_graphed_callables((double, both), ((a,), (a, b)))
        x, y = torch.randn(16, device="cuda", requires_grad=True), torch.randn(16, device="cuda", requires_grad=True)
        product, total = two(one(x), y)
        (product.sum() + total.sum()).backward()
        self.assertTrue(torch.equal(product, x * 2 * y) and torch.equal(x.grad, 2 * y + 2))
        self.assertTrue(torch.equal(y.grad, 2 * x + 1))

    def test_refusals(self):
        x = torch.ones(4, 64, device="cuda")
        hooked = network()
        hooked.register_forward_hook(lambda *unused: None)
        self.assertRaisesRegex(AssertionError, "hooks", gt.make_graphed_callables, hooked, (x,))
        self.assertRaisesRegex(AssertionError, "only Tensors", gt.make_graphed_callables, lambda a: a, (3,))
        with torch.autocast("cuda"):
            self.assertRaisesRegex(RuntimeError, "autocast caching", gt.make_graphed_callables, network(), (x,))


class Patch(unittest.TestCase):
    def test_patch_and_back(self):
        theirs = torch.cuda.CUDAGraph, torch.cuda.graph, torch.cuda.make_graphed_callables
        with gt.patch():
            self.assertIs(torch.cuda.CUDAGraph, gt.CUDAGraph)
            with gt.patch():
                self.assertTrue(gt.is_patched())
            self.assertTrue(gt.is_patched())
            x = torch.ones(8, device="cuda")
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = x + 1
            graph.replay()
            self.assertEqual(y.sum().item(), 16)
        self.assertEqual((torch.cuda.CUDAGraph, torch.cuda.graph, torch.cuda.make_graphed_callables), theirs)
        self.assertRaisesRegex(RuntimeError, "without a patch", gt.unpatch)

    def test_reduce_overhead_runs_on_our_graphs(self):
        @torch.compile(mode="reduce-overhead")
        def function(a):
            return (a @ a).relu() + 1
        a = torch.randn(64, 64, device="cuda")
        with gt.patch():
            for _ in range(4):
                y = function(a).clone()
        self.assertTrue(torch.allclose(y, (a @ a).relu() + 1, atol=1e-3))


if __name__ == "__main__":
    unittest.main(verbosity=2)
