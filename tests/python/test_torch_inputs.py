# SPDX-License-Identifier: Apache-2.0
"""Tensors that a graph reads and that die, and names that do not exist: run by test_torch.py."""
import os
import subprocess
import sys
import unittest
import unittest.mock

import torch
from torch_common import Case, captured, copied, tensor

import graphophone.torch as gt


class Copies(Case):
    """Inputs of a graphed callable that are not in place."""

    def test_the_graph_copies_what_is_not_in_place(self):
        for count in (1, 3, 8):
            own = [tensor() for _ in range(count)]
            graphed = gt.make_graphed_callables(lambda *all: tuple(copied(one) for one in all), tuple(own))
            given = [tensor(10.0 * index) for index in range(count)]
            with unittest.mock.patch.object(torch.Tensor, "copy_", side_effect=InterruptedError), \
                    unittest.mock.patch.object(torch, "_foreach_copy_", None):
                all_of = graphed(*own), graphed(*given), graphed(own[0], *given[1:])
            for index, out in enumerate(all_of[2]):
                self.same(out, 10.0 * index if index else 0.0)
            for call in range(30):
                for index, out in enumerate(graphed(*(tensor(call + index) for index in range(count)))):
                    self.same(out, float(call + index))
            self.assertRaises(RuntimeError, graphed, tensor()[:5], *own[1:])

    def test_the_graph_copies_only_while_what_it_reads_is_alive(self):
        module = torch.nn.Module()
        module.weight = torch.nn.Parameter(tensor(4.0), requires_grad=False)
        module.forward = lambda a: (copied(a), copied(module.weight))
        graphed = gt.make_graphed_callables(module, (self.x,))
        for _ in range(2):
            self.same(graphed(tensor(3.0))[0], 3.0)
        module.weight.data = tensor(5.0)
        self.assertRaisesRegex(gt._callables.gph.StateError, "memory was let go of", graphed, tensor(3.0))

    def test_without_room_for_the_graph_that_copies_a_call_does(self):
        graphed = gt.make_graphed_callables(copied, (self.x,))
        with unittest.mock.patch.object(gt._callables.Copying, "arm", side_effect=gt._callables.gph.Error("full"), create=True):
            for first in (1.0, 2.0):
                self.same(graphed(tensor(first)), first)
        self.same(graphed(tensor(3.0)), 3.0)


    def test_buckets_copy_what_fills_them(self):
        function = gt.bucketed(inputs={"x": ("n",), "y": ("n",)}, ladder={"n": (8, 64)}, fill={"x": 7.0, "y": 8.0})(
            lambda x, y: (copied(x), copied(y)))
        function(tensor(), tensor()), function(tensor()[:8], tensor()[:8])
        [large, small] = sorted(function._buckets.values(), key=lambda one: -one.outputs[0]["size"][0])
        self.assertEqual((large.graph.pulls, small.graph.pulls), (2, 2))
        for call in range(30):
            given = tensor(call), tensor(call + 5)
            with unittest.mock.patch.object(torch.Tensor, "copy_", side_effect=InterruptedError), \
                    unittest.mock.patch.object(torch, "_foreach_copy_", None):
                x, y = function(*given)
            self.same(x, call)
            self.same(y, call + 5)
        x, y = function(x, y)  # the last outputs, which the graph writes after it has read them
        self.same(x, 29.0)
        self.same(y, 34.0)
        with unittest.mock.patch.object(torch.Tensor, "fill_", lambda one, value: one):  # a kernel of PyTorch's
            self.assertEqual(function(tensor(3.0)[:5], tensor(4.0)[:5])[1].cpu().tolist()[:5], [4.0, 5.0, 6.0, 7.0, 8.0])
        with torch.no_grad():
            x, y = function(torch.nn.Parameter(tensor(9.0)), tensor(6.0).requires_grad_())
            self.same(x, 9.0)
            self.same(y, 6.0)

    def test_an_input_that_is_too_large_is_copied_by_a_call(self):
        function = gt.bucketed(inputs={"a": ("n",)}, ladder={"n": (1024,)})(copied)
        for first in (1.0, 2.0):
            out = function(torch.empty(1024, device="cuda").copy_(torch.arange(1024.0) + first))
            self.assertEqual(out.cpu().tolist()[:3], [first, first + 1, first + 2])
        self.assertEqual([one.graph.pulls for one in function._buckets.values()], [0])


class Inputs(Case):
    """A static input that died: PyTorch replays what the allocator has put there since."""

    def test_one_that_is_watched(self):
        for end in (lambda: None, lambda: self.x.set_(tensor(3.0)), lambda: setattr(self.x, "data", tensor(3.0))):
            self.x = tensor()
            graph, y = captured(lambda: copied(self.x))
            graph.watch(self.x)
            view = self.x[3:]
            graph.replay()
            end()
            del self.x
            graph.replay()  # a view keeps it
            del view
            self.assertRaisesRegex(gt._graphs.gph.StateError, "reads its input 0, 256 bytes at 0x[0-9a-f]+, and that memory was let "
                                   "go of", graph.replay)
            graph.reset()
            self.x = tensor(7.0)
            captured(lambda: self.y.copy_(self.x), graph)
            graph.replay()
            self.same(self.y, 7.0)

    def test_all_that_is_read(self):
        x, y = tensor(1.0), tensor()
        graph = gt.CUDAGraph()
        with gt.graph(graph, check_inputs=True):
            z = torch.empty_like(x).copy_(x)
            z.copy_(y)
            w = torch.empty_like(z).copy_(z)
            del z  # made in the block
        self.assertEqual(len(graph._watched), 2)
        graph.replay()
        self.same(w)
        del x
        self.assertIsNotNone(graph.lost)
        self.assertRaisesRegex(gt._graphs.gph.StateError, "reads its input 0", graph.replay)

    def test_by_default_nothing_is_watched(self):
        x = tensor(1.0)
        graph, _ = captured(lambda: copied(x))
        del x
        graph.replay()
        self.assertRaises(TypeError, setattr, graph, "lost", 3)

    def test_weights_of_a_callable_that_move(self):
        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(tensor(), requires_grad=False)

            def forward(self, a):
                return copied(self.weight)
        module = gt.make_graphed_callables(Module(), (self.x,))
        module(self.x)
        module.weight.data = tensor(3.0)
        self.assertRaisesRegex(gt._graphs.gph.StateError, "got other memory", module, self.x)


class Allocators(Case):
    def test_cudaMallocAsync_is_refused(self):
        """In a process of its own: the allocator is chosen before the first tensor."""
        program = ("import torch, graphophone.torch as gt\nx = torch.empty(8, device='cuda')\ng = gt.CUDAGraph()\ntry:\n"
                   "  with gt.graph(g):\n    y = torch.empty(8, device='cuda').copy_(x)\nexcept RuntimeError as error: print(error)\n"
                   "print(torch.cuda.current_stream() == torch.cuda.default_stream())")
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=100,
                              env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1:]), (0, ["True"]), done.stderr)
        self.assertIn("the allocator cudaMallocAsync puts its allocations into the graph", done.stdout)


class Names(unittest.TestCase):
    def test_the_right_one_is_said(self):
        self.assertRaisesRegex(AttributeError, "it is graphophone.torch.CUDAGraph, or graphophone.torch.graph", getattr, gt, "Graph")
        self.assertFalse(hasattr(torch.cuda, "Graph"))
        with gt.patch():
            for module, name, right in ((torch.cuda, "Graph", "torch.cuda.CUDAGraph"), (torch.cuda, "CudaGraph", "CUDAGraph"),
                                        (torch.compiler, "mark_step_begin", "torch.compiler.cudagraph_mark_step_begin"),
                                        (torch.cuda, "mark_step_begin", "torch.compiler.cudagraph_mark_step_begin"),
                                        (torch, "mark_step_begin", "torch.compiler.cudagraph_mark_step_begin"),
                                        (torch.cuda, "make_graphed_calable", "torch.cuda.make_graphed_callables")):
                with self.assertRaises(AttributeError) as caught:
                    getattr(module, name)
                self.assertIn("has no attribute %r; it is " % name, str(caught.exception))
                self.assertIn(right, str(caught.exception))
            self.assertFalse(hasattr(torch.cuda, "Graph"))
            self.assertRaisesRegex(AttributeError, "has no attribute 'unrelated'$", getattr, torch.cuda, "unrelated")
        with self.assertRaises(AttributeError) as caught:
            torch.cuda.Graph
        self.assertNotIn("it is", str(caught.exception))
