# SPDX-License-Identifier: Apache-2.0
"""graphophone.torch with PyTorch's own streams, allocators and captures on softcuda. PyTorch has no PTX, so what is
recorded is copies; torch_kernels.c lets kernels do nothing. usage: test_torch.py GPH LIBRARY, the command and torch_kernels.
Tests on a GPU: tests/gpu/torch_graphs.py."""
import functools
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock


if __name__ == "__main__":
    import torch_start
    torch_start.start()
import torch  # noqa: E402
from torch_common import COUNT, Case, captured, copied, tensor  # noqa: E402: ends without PyTorch 2.11

import graphophone.torch as gt  # noqa: E402
from test_torch_hits import Collector, Liveness, Looks, Outputs, Pulls  # noqa: E402,F401: run here
from test_torch_inputs import Allocators, Copies, Inputs, Names  # noqa: E402,F401: run here
from test_torch_loops import Loops  # noqa: E402,F401: run here
from test_torch_overwritten import Overwritten  # noqa: E402,F401: run here


class Graphs(Case):
    def test_replays(self):
        graph, z = captured(lambda: torch.empty(COUNT, device="cuda").copy_(self.copy()))
        self.assertEqual(self.y.cpu().tolist(), [0.0] * COUNT)
        graph.replay()
        self.same(z)
        self.x.copy_(torch.arange(COUNT, dtype=torch.float32) + 5)
        graph.replay()
        self.same(z, 5.0)

    def test_replay_is_a_method_of_c(self):
        self.assertEqual(type(gt.CUDAGraph.replay).__name__, "method_descriptor")
        self.assertIsNone(captured(self.copy)[0].before)

    def test_the_current_stream_is_used(self):
        graph, _ = captured(self.copy)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            graph.replay()
        stream.synchronize()
        self.same(self.y)

    def test_pools_are_shared(self):
        theirs = torch.cuda.CUDAGraph()
        with torch.cuda.graph(theirs):
            a = torch.empty(COUNT, device="cuda").copy_(self.x)
        graph, b = captured(lambda: torch.empty(COUNT, device="cuda").copy_(a), pool=theirs.pool())
        self.assertEqual(graph.pool(), theirs.pool())
        theirs.replay()
        graph.replay()
        self.same(b)
        for pool in (gt.graph_pool_handle(), torch.cuda.graph_pool_handle(), torch.cuda.MemPool().id):
            captured(self.copy, pool=pool)[0].replay()

    def test_keep_graph(self):
        graph = gt.CUDAGraph(keep_graph=True)
        self.assertRaisesRegex(RuntimeError, "capture_end", graph.raw_cuda_graph)
        self.assertRaisesRegex(RuntimeError, "capture_end", graph.instantiate)
        self.assertRaisesRegex(RuntimeError, "capture", graph.pool)
        captured(self.copy, graph)
        self.assertRaisesRegex(RuntimeError, "instantiate", graph.raw_cuda_graph_exec)
        graph.replay()
        self.same(self.y)
        self.assertTrue(graph.raw_cuda_graph() and graph.raw_cuda_graph_exec())
        graph.instantiate()
        graph.replay()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.dot")
            graph.debug_dump(path)
            with open(path) as file:
                self.assertIn("digraph", file.read())

    def test_what_was_not_kept_is_not_lent(self):
        graph, _ = captured(self.copy)
        self.assertRaisesRegex(RuntimeError, "keep_graph=true", graph.raw_cuda_graph)
        self.assertRaisesRegex(RuntimeError, "keep_graph=true", graph.instantiate)
        with self.assertWarnsRegex(UserWarning, "debug not enabled"):
            graph.debug_dump("/nowhere")

    def test_reset(self):
        graph, _ = captured(self.copy)
        with self.assertRaisesRegex(RuntimeError, "already owns a captured graph"):
            captured(self.copy, graph)
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        graph.reset()
        self.assertRaisesRegex(RuntimeError, "preceding successful capture", graph.replay)
        captured(self.copy, graph)[0].replay()
        self.same(self.y)

    def test_memory_goes_with_the_graph(self):
        def held():
            gc.collect()
            torch.cuda.empty_cache()
            return torch.cuda.memory_reserved()
        captured(self.copy)
        before = held()
        graph, big = captured(lambda: torch.empty(8 << 20, device="cuda"))
        self.assertGreaterEqual(held(), before + (32 << 20))
        del graph, big
        self.assertEqual(held(), before)

    def test_a_class_that_derives(self):
        """With constructors of its own, as PyTorch's allows it."""
        class Kept(gt.CUDAGraph):
            def __new__(cls, name):
                return super().__new__(cls, keep_graph=True)

            def __init__(self, name):
                self.name = name
        graph, _ = captured(self.copy, Kept("one"))
        self.assertEqual(graph.name, "one")
        self.assertTrue(graph.raw_cuda_graph())
        graph.replay()
        self.same(self.y)

    def test_an_empty_graph_is_warned_of(self):
        with self.assertWarnsRegex(UserWarning, "empty"):
            graph, _ = captured(lambda: None)
        graph.replay()

    def test_capturing_is_said(self):
        self.assertFalse(gt.is_current_stream_capturing())
        self.assertTrue(captured(lambda: (self.copy(), gt.is_current_stream_capturing())[1])[1])


class Failures(Case):
    def test_all_is_as_before(self):
        for breaks in (torch.cuda.synchronize, lambda: self.x.cpu(), lambda: self.x.cpu()):
            with self.assertRaisesRegex(RuntimeError, "not permitted when stream is capturing|pinned"):
                captured(lambda: (self.copy(), breaks()))
            self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
            graph, _ = captured(self.copy)
            graph.replay()
            self.same(self.y)

    def test_the_line_and_the_first_refusal_are_said(self):
        import inspect
        with self.assertRaises(RuntimeError) as caught:
            captured(lambda: torch.cuda.synchronize())
        line = inspect.currentframe().f_lineno - 1
        error = caught.exception
        self.assertEqual(error.place, "%s:%d" % (__file__, line))
        self.assertIn("failed at %s" % error.place, str(error))
        self.assertEqual((error.cause["call"], error.cause["is_own"]), ("cuCtxSynchronize", True))
        self.assertTrue(error.cause["sentence"] in str(error) and error.cause["sentence"])

    def test_a_swallowed_failure_and_another_threads_are_said(self):
        def swallow():
            try:
                torch.cuda.synchronize()
            except RuntimeError:
                pass

        def elsewhere():
            thread = threading.Thread(target=swallow)
            thread.start()
            thread.join()
        for body, is_own in ((swallow, True), (elsewhere, False)):
            with self.assertRaises(RuntimeError) as caught:
                captured(body)
            self.assertEqual(caught.exception.cause["is_own"], is_own)
            self.assertIn("cuCtxSynchronize", str(caught.exception))
            self.assertIn("torch_common.py", caught.exception.place)

    def test_the_bodys_exception_comes_out(self):
        graph = gt.CUDAGraph()
        with self.assertRaisesRegex(KeyError, "mine"), gt.graph(graph):
            self.copy()
            raise KeyError("mine")
        captured(self.copy, graph)[0].replay()
        self.same(self.y)

    def test_the_default_stream_is_refused(self):
        self.assertRaisesRegex(RuntimeError, "non-default stream", gt.CUDAGraph().capture_begin)

    def test_all_memory_of_failed_captures_is_given_back(self):
        """The pool, and what generators have for graphs that live: of such there is none."""
        def breaks(graph):
            with gt.graph(graph):
                torch.empty(8 << 20, device="cuda"), torch.empty(4, device="cuda")
                torch.cuda.synchronize()

        def draws(graph):
            graph.register_generator_state(torch.Generator("cuda"))
            breaks(graph)

        def ends_elsewhere(graph):
            with torch.cuda.stream(torch.cuda.Stream()):
                graph.capture_begin()
                torch.empty(8 << 20, device="cuda")
            graph.capture_end()

        def held():
            gc.collect()
            torch.cuda.empty_cache()
            return torch.cuda.memory_reserved(), sum(one["active_size"] for one in torch.cuda.memory_snapshot())
        before = held()
        for body in (breaks, draws, ends_elsewhere, breaks):
            graph = gt.CUDAGraph()
            self.assertRaisesRegex(RuntimeError, "not permitted|same stream", body, graph)
            self.assertEqual(held(), before, body.__name__)
            captured(self.copy, graph)[0].replay()  # it goes on, and so do generators
            self.same(self.y)
            del graph

class Callables(Case):
    def test_a_function(self):
        def function(a, b):
            return [torch.empty_like(a).copy_(a)], torch.empty_like(b).copy_(b)
        own = tensor(4.0)
        graphed = gt.make_graphed_callables(function, (tensor(), own))
        (first,), second = graphed(tensor(3.0), own)
        self.same(first, 3.0)
        self.same(second, 4.0)

    def test_calls_of_tensors_are_answered_in_c(self):
        a, b = tensor(), tensor()
        graphed = gt.make_graphed_callables(lambda a, b: (copied(a), copied(b)), (a, b))
        self.assertIs(type(graphed), gt._callables.gph.GraphedCall)
        for first, second in ((a, b), (tensor(1.0), b), (a, tensor(3.0))):  # several are copied by a kernel: tests/gpu
            expected = first.cpu(), second.cpu()
            for _ in range(2):
                one, two = graphed(first, second)
                torch.cuda.synchronize()
            self.assertEqual((one.cpu().tolist(), two.cpu().tolist()), (expected[0].tolist(), expected[1].tolist()))
        self.assertRaisesRegex(TypeError, "1 tensors are given, and it was recorded with 2", graphed, a)
        self.assertRaises(RuntimeError, graphed, tensor()[:5], b)
        self.assertIsNot(graphed(a, b)[0], graphed(a, b)[0])

    def test_an_output_that_nobody_has_is_given_again(self):
        graphed = gt.make_graphed_callables(copied, (self.x,))
        first = graphed(self.x)
        address = id(first)
        self.assertIsNot(graphed(self.x), first)
        del first
        last = graphed(self.x)
        for change in (lambda one: one.requires_grad_(), lambda one: one.resize_(3), lambda one: setattr(one, "mark", 1),
                       lambda one: one.t_() if one.dim() > 1 else one.unsqueeze_(0)):
            address = id(last)
            del last
            last = graphed(self.x)
            self.assertEqual(id(last), address)
            change(last)
            del last
            last = graphed(self.x)
            self.assertEqual((last.requires_grad, last.shape, hasattr(last, "mark")), (False, self.x.shape, False))

    def test_an_input_that_was_moved_is_an_error(self):
        x = tensor()
        graphed = gt.make_graphed_callables(copied, (x,))
        x.set_(tensor(5.0))
        self.assertRaisesRegex(RuntimeError, "reads its input 0 at 0x.* has been moved", graphed, self.x)

    def test_another_view_of_an_inputs_memory_is_not_in_place(self):
        """PyTorch looks at addresses alone, and its callables take these for the input as it lies."""
        square = tensor().view(8, 8)
        z = torch.empty(8, dtype=torch.complex64, device="cuda")
        z.copy_(torch.complex(torch.arange(8.0), torch.ones(8)))
        graphed = gt.make_graphed_callables(lambda a, b: (copied(a), copied(b)), (square, z))
        with unittest.mock.patch.object(torch.Tensor, "copy_", side_effect=InterruptedError):  # kernels do it: tests/gpu
            graphed(square, z)
            graphed(square.view(8, 8), z[:])
            for view in ((square.t(), z), (square, z.conj()), (torch._neg_view(square), z), (square, torch._neg_view(z))):
                self.assertRaises(InterruptedError, graphed, *view)

    def test_structures_of_outputs(self):
        for make in (lambda a: copied(a), lambda a: (copied(a),), lambda a: [copied(a)], lambda a: {"k": (copied(a), copied(a))},
                     lambda a: (copied(a), [copied(a)])):
            expected = torch.utils._pytree.tree_structure(make(self.x))
            graphed = gt.make_graphed_callables(make, (tensor(),))
            given = graphed(self.x)
            self.assertEqual(torch.utils._pytree.tree_structure(given), expected)
            for leaf in torch.utils._pytree.tree_leaves(given):
                self.same(leaf)

    def test_gradients_are_autograds(self):
        a = tensor().requires_grad_()

        class Same(torch.autograd.Function):
            @staticmethod
            def forward(context, a):
                return copied(a)

            @staticmethod
            def backward(context, gradient):
                return copied(gradient)
        graphed = gt.make_graphed_callables(Same.apply, (a,))
        x = tensor(2.0).requires_grad_()
        y = graphed(x)
        self.assertTrue(y.requires_grad)
        y.backward(tensor(9.0))
        self.same(x.grad, 9.0)
        with torch.no_grad():
            self.assertFalse(graphed(x).requires_grad)

    def test_a_gradient_is_moved_out_before_a_graph_writes_over_it(self):
        """The memory of .grad is the graph's after a backward pass, and a forward pass may use it, too."""
        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(tensor())

            def forward(self, a):
                return Product.apply(a, self.weight)

        class Product(torch.autograd.Function):
            @staticmethod
            def forward(context, a, weight):
                return copied(weight)

            @staticmethod
            def backward(context, gradient):
                return None, copied(gradient)
        module = gt.make_graphed_callables(Module(), (tensor(),))
        module(self.x).backward(tensor(3.0))
        first = module.weight.grad
        self.same(first, 3.0)
        with torch.no_grad():
            module(self.x)
        self.assertNotEqual(module.weight.grad.data_ptr(), first.data_ptr())
        self.same(module.weight.grad, 3.0)

    def test_wrong_parts(self):
        call = gt._callables.gph.GraphedCall
        parts = {"miss": print, "graph": gt.CUDAGraph(), "tensor": torch.Tensor, "inputs": (), "outputs": (), "copy": print,
                 "finish": None, "pending": [], "is_blocked": None, "copying": None}
        call(False, **parts)
        self.assertRaises(ValueError, call, True, **parts)
        for wrong in ({"inputs": []}, {"pending": ()}, {"graph": 3}, {"tensor": 3}, {"copying": 3}):
            self.assertRaises(TypeError, call, False, **{**parts, **wrong})
        self.assertRaises(TypeError, call, False)

    def test_a_module_trains_and_does_not(self):
        class Module(torch.nn.Module):
            def forward(self, a):
                return torch.empty_like(a).copy_(a)
        module = Module().eval()
        self.assertIs(gt.make_graphed_callables(module, (self.x,)), module)
        first = module(tensor(1.0)).data_ptr()
        self.assertEqual(module(tensor(2.0)).data_ptr(), first)
        module.train()
        kept = module(tensor(2.0)), module(tensor(2.0))
        self.assertEqual(len({first, *(one.data_ptr() for one in kept)}), 3)

    def test_a_modules_memory_goes_with_it(self):
        """The module's forward() is the graphed call, which has the module: the collector has to see through it."""
        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(tensor())

            def forward(self, a):
                return {"big": torch.empty(8 << 20, device="cuda"), "small": copied(a)}

        def held():
            gc.collect()
            torch.cuda.empty_cache()
            return torch.cuda.memory_reserved(), gt.memory()["graphs"]
        before = held()
        module = gt.make_graphed_callables(Module(), (self.x,))
        with torch.no_grad():
            self.same(module(tensor(1.0))["small"], 1.0)
        self.assertGreaterEqual(held()[0], before[0] + (32 << 20))
        del module
        self.assertEqual(held(), before)

    def test_refusals(self):
        self.assertRaisesRegex(AssertionError, "only Tensors", gt.make_graphed_callables, lambda a: a, (3,))
        hooked = torch.nn.Identity()
        hooked.register_forward_hook(lambda *unused: None)
        self.assertRaisesRegex(AssertionError, "hooks", gt.make_graphed_callables, hooked, (self.x,))


class Bucketed(Case):
    def make(self, **options):
        options = {"inputs": {"x": ("n", 4)}, "ladder": {"n": (4, 8, 2)}, "outputs": [("n", None)], **options}
        return gt.bucketed(**options)(lambda x: copied(x))

    def rows(self, count, first=0.0):
        result = torch.empty(count, 4, device="cuda")
        result.copy_(torch.arange(count * 4, dtype=torch.float32).view(count, 4) + first)
        return result

    def test_sizes_are_rounded_up_and_outputs_cut(self):
        function = self.make()
        for count, bucket, what in ((3, 4, "recorded"), (4, 4, "hit"), (1, 2, "recorded"), (3, 4, "hit"), (7, 8, "recorded")):
            x = self.rows(count, count)
            y = function(x)
            torch.cuda.synchronize()
            self.assertEqual(y.cpu().tolist(), x.cpu().tolist())
            self.assertEqual((function.last["bucket"], function.last["what"]), ({"n": bucket}, what))
        stats = function.stats()
        self.assertEqual((stats["buckets"], stats["hits"], stats["recorded"], stats["eager"]), (3, 2, 3, 0))
        self.assertAlmostEqual(stats["padding"], 1 - 18 / 22)

    def test_what_is_too_large_runs_eagerly_or_is_refused(self):
        function = self.make()
        self.assertEqual(function(self.rows(9)).shape, (9, 4))
        self.assertEqual(function.last["why"], "n is 9, and 8 is the largest bucket")
        self.assertIn(function.last["why"], [event["why"] for event in gt.explain(function.name)])
        self.assertRaisesRegex(ValueError, "8 is the largest", self.make(largest_eager=False), self.rows(9))

    def test_an_overwritten_output_is_the_same_error_at_each_call(self):
        function = self.make()
        for call in range(1, 7):
            old = function(self.rows(3))
            view = old[1:]
            function(self.rows(2 + call % 2))
            for read in (old.cpu, view.cpu, old.data_ptr):
                with self.assertRaisesRegex(RuntimeError, "output 0 of call %d of .*test_torch.py:.* overwritten by call %d, "
                                            "made at .*test_torch.py:" % (2 * call - 1, 2 * call)):
                    read()

    def test_outputs_that_are_dropped_cost_nothing_and_share_memory(self):
        function = gt.bucketed(inputs={"x": ("n",)}, ladder={"n": (8,)})(lambda x: (lambda y: (y, y[2:]))(copied(x)))
        y, tail = function(self.rows(2).view(8))
        self.assertEqual(y.untyped_storage().data_ptr(), tail.untyped_storage().data_ptr())
        self.assertEqual(tail.storage_offset(), 2)
        del y, tail
        function(self.rows(2).view(8))

    def test_arguments_are_checked(self):
        function = self.make()
        self.assertRaisesRegex(ValueError, "has 1 dimensions", function, self.x)
        self.assertRaisesRegex(ValueError, "dimension 1 of argument x is 5, and 4 is 4", function, torch.empty(2, 5, device="cuda"))
        self.assertRaisesRegex(TypeError, "not a CUDA tensor", function, torch.empty(2, 4))
        self.assertRaisesRegex(RuntimeError, "requires a gradient", function, self.rows(2).requires_grad_())
        self.assertRaisesRegex(ValueError, "has no argument q", gt.bucketed(inputs={"q": ("n",)}, ladder={"n": (1,)}), copied)
        self.assertRaisesRegex(ValueError, "no ladder", gt.bucketed(inputs={"a": ("n",)}, ladder={}), copied)
        self.assertRaisesRegex(ValueError, "axis m is in no input", gt.bucketed(inputs={"a": ("n",)},
                                                                               ladder={"n": (1,), "m": (1,)}), copied)
        self.assertRaisesRegex(TypeError, "output 0 .* a int", gt.bucketed(inputs={"a": ("n", 4)}, ladder={"n": (4,)})(
            lambda a: len(a)), self.rows(2))

    def test_reset_gives_memory_back(self):
        function = self.make()
        function(self.rows(2))
        graphs = gt.memory()["graphs"]
        function.reset()
        gc.collect()
        self.assertEqual(gt.memory()["graphs"], graphs - 1)
        self.assertEqual(function(self.rows(2)).cpu().tolist(), self.rows(2).cpu().tolist())


class Trees(Case):
    """PyTorch's tree by its own entry, with functions that copy: one call of a compiled function is one generation."""

    def setUp(self):
        super().setUp()
        self.patch = gt.patch()
        # a kernel does it, which softcuda does not have: here by copies
        self.enterContext(unittest.mock.patch.object(
            torch, "_foreach_copy_", lambda targets, sources: [a.copy_(b) for a, b in zip(targets, sources)]))
        from torch._dynamo.mutation_guard import GenerationTracker
        from torch._inductor import cudagraph_trees
        self.trees, self.generations = cudagraph_trees, GenerationTracker
        self.calls = []

    def tearDown(self):
        self.trees.reset_cudagraph_trees()
        self.patch.__exit__()

    def compiled(self, function, example, static=(), outputs=1, **kind):
        def model(inputs):
            self.calls.append(function)
            taken = list(inputs)
            inputs.clear()
            return function(*taken)
        kind = {"is_backward": False, "is_inference": True, **kind}
        return self.trees.cudagraphify_impl(model, example, static, device_index=0, stack_traces=[None] * outputs, **kind)

    def round(self, *steps):
        """One call of a compiled program of several functions."""
        self.generations.generation += 1
        return [function(list(inputs)) for function, inputs in steps]

    def test_hits_are_answered_in_c(self):
        function = self.compiled(lambda a: [copied(a)], [self.x])
        for call in range(8):
            (out,), = self.round((function, [tensor(call)]))
            self.same(out, call)
            del out
        self.assertEqual((len(self.calls), function.count), (2, 1))  # warm-up and recording

    def test_the_back_end_cudagraphs(self):
        """PyTorch's own without Inductor, which writes an attribute on what it compiled."""
        function = torch.compile(copied, backend="cudagraphs")
        for call in range(5):
            self.same(function(tensor(call)), call)
        self.assertEqual([hit.count for hit in gt._trees._hits], [1])
        hit = next(iter(gt._trees._hits))
        self.assertTrue(functools.wraps(hit)(lambda inputs: None)._boxed_call)  # as a backward pass is wrapped

    def test_tensors_are_read_in_c(self):
        self.assertTrue(gt._driver.data_ptr_function())
        function = self.compiled(lambda a, w: [copied(w), copied(a)], [self.x, self.y], static=(1,), outputs=2)
        weight = tensor(5.0)
        before, slow = torch._foreach_copy_, []
        with unittest.mock.patch.object(torch, "_foreach_copy_", lambda *lists: slow.append(before(*lists) and None)):
            for call in range(4):
                self.round((function, [tensor(call), weight]))
        slow.clear()
        for call in range(3):
            (two, one), = self.round((function, [tensor(call), torch.nn.Parameter(weight)]))  # one address
            self.same(one, call)
            self.same(two, 5.0)
            del one, two
        self.assertEqual((len(self.calls), function.count, len(slow)), (2, 1, 0))
        strided = torch.empty(2 * self.x.numel(), device="cuda")[::2]
        self.round((function, [strided, weight]))
        self.assertEqual(len(slow), 1)
        weight.data = tensor(6.0)
        (two, _), = self.round((function, [self.x, weight]))
        self.same(two, 6.0)
        self.assertEqual(len(self.calls), 3)

    def test_a_result_that_lives_is_the_next_one(self):
        function = self.compiled(lambda a: [copied(a)], [self.x])
        kept = [self.round((function, [tensor(call)]))[0][0] for call in range(6)]
        self.same(kept[-1], 5.0)
        self.assertEqual(kept[-1].data_ptr(), kept[-2].data_ptr())
        self.assertEqual(len(self.calls), 2)

    def test_static_inputs_are_where_they_were(self):
        function = self.compiled(lambda a, w: [copied(w)], [self.x, self.y], static=(1,))
        weights = [tensor(10.0), tensor(20.0)]
        module = torch.nn.Module()
        module.register_buffer("scale", weights[1])  # PyTorch says "arg0_1" of it
        for call in range(12):
            (out,), = self.round((function, [self.x, weights[call // 3 % 2]]))
            self.same(out, 10.0 * (1 + call // 3 % 2))
            del out
        self.assertEqual(len(self.calls), 3)  # recorded once for each
        events = gt.explain()[-3:]
        self.assertEqual([event["what"] for event in events], ["ran eagerly", "recorded", "recorded again"])
        self.assertRegex(events[-1]["why"], "^of 1 recordings none holds: input 1 \\(scale of Module\\) lay at 0x[0-9a-f]+ and lies at 0x")

    def test_a_path_of_three(self):
        first = self.compiled(lambda a: [copied(a), copied(a)], [self.x], outputs=2)
        second = self.compiled(lambda a, b: [copied(b)], [self.x, self.x])
        third = self.compiled(lambda a: [copied(a)], [self.x])
        for call in range(8):
            self.generations.generation += 1
            a, b = first([tensor(call)])
            c, = second([a, b])
            del a, b
            d, = third([c])
            del c
            self.same(d, call)
            del d
        self.assertEqual(len(self.calls), 6)
        self.assertEqual([one.count for one in (first, second, third)], [1, 1, 1])

    def test_forward_and_backward(self):
        forward = self.compiled(lambda a: [copied(a), copied(a)], [self.x], outputs=2, is_inference=False)
        backward = self.compiled(lambda a, g: [copied(a)], [self.x, self.x], is_backward=True, is_inference=False)
        manager = None
        for call in range(8):
            (out, saved), = self.round((forward, [tensor(call)]))
            manager = self.trees.get_manager(0)
            self.assertTrue(manager.running_forwards_with_pending_backwards)
            del out
            gradient, = backward([saved, self.x])
            self.assertFalse(manager.running_forwards_with_pending_backwards)
            del saved
            self.same(gradient, call)
            del gradient
        self.assertEqual(len(self.calls), 4)
        self.assertTrue(forward.count and backward.count)

    def test_a_forward_that_waits_for_its_backward_is_not_written_over(self):
        forward = self.compiled(lambda a: [copied(a)], [self.x], is_inference=False)
        backward = self.compiled(lambda a: [copied(a)], [self.x], is_backward=True, is_inference=False)
        for call in range(6):
            (saved,), = self.round((forward, [tensor(call)]))
            gradient, = backward([saved])
            del saved, gradient
        (one,), = self.round((forward, [tensor(1.0)]))
        (two,), = self.round((forward, [tensor(2.0)]))
        self.same(one, 1.0)
        self.same(two, 2.0)

    def test_marks_of_the_program(self):
        forward = self.compiled(lambda a: [copied(a)], [self.x], is_inference=False)
        try:
            for call in range(6):
                torch.compiler.cudagraph_mark_step_begin()
                out, = forward([tensor(call)])
                self.same(out, call)
        finally:
            self.trees.MarkStepBox.mark_step_counter = 0
        self.assertEqual((len(self.calls), forward.count), (2, 1))

    def test_sizes_among_the_inputs(self):
        function = self.compiled(lambda size, a: [copied(a[:size])], [4, self.x])
        for call in range(16):
            size = (4, 9, 20)[call % 3]
            (out,), = self.round((function, [size, tensor(call)]))
            torch.cuda.synchronize()
            self.assertEqual(out.cpu().tolist(), [call + i for i in range(size)])
            del out
        self.assertEqual((len(self.calls), function.count), (6, 3))

    def test_another_number_of_inputs_is_pytorchs(self):
        function = self.compiled(lambda a, *more: [copied(a)], [self.x])
        for _ in range(4):
            self.round((function, [self.x]))
        self.assertRaises(TypeError, function)
        self.assertRaises(TypeError, function, (self.x,))
        self.assertRaises(TypeError, gt._trees.gph.PathHit(print).arm, 1, False)

    def test_hits_die_with_their_function(self):
        import weakref
        function = self.compiled(lambda a: [copied(a)], [self.x])
        for _ in range(4):
            self.round((function, [self.x]))
        gone = weakref.ref(function)
        self.assertEqual(function.count, 1)
        self.trees.reset_cudagraph_trees()
        self.assertEqual(function.count, 0)
        del function
        gc.collect()
        self.assertIsNone(gone())


class Ledger(Case):
    def test_every_pool_is_there(self):
        gc.collect()
        before = gt.memory()
        graph, big = captured(lambda: torch.empty(8 << 20, device="cuda"))
        after = gt.memory()
        pool = after["pools"][graph.pool()]
        self.assertEqual((pool["graphs"], pool["allocated_bytes"]), (1, 32 << 20))
        self.assertEqual(after["reserved_bytes"] - before["reserved_bytes"], pool["reserved_bytes"])
        self.assertEqual(after["graphs"], before["graphs"] + 1)
        del big

    def test_failures_are_explained(self):
        with self.assertRaises(RuntimeError):
            captured(torch.cuda.synchronize)
        last = gt.explain()[-1]
        self.assertEqual(last["what"], "failed")
        self.assertIn("torch_common.py", last["who"])


class Patch(Case):
    def test_and_back(self):
        names = "CUDAGraph", "graph", "graph_pool_handle", "make_graphed_callables", "is_current_stream_capturing"
        theirs = [getattr(torch.cuda, name) for name in names]
        with gt.patch(), gt.patch():
            self.assertTrue(gt.is_patched())
            for name in names:
                self.assertIs(getattr(torch.cuda, name), getattr(gt, name))
                self.assertIs(getattr(torch.cuda.graphs, name), getattr(gt, name))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.copy()
            graph.replay()
            self.same(self.y)
        self.assertEqual([getattr(torch.cuda, name) for name in names], theirs)
        self.assertRaisesRegex(RuntimeError, "without a patch", gt.unpatch)

    def test_their_graphs_go_with_our_block(self):
        graph = torch.cuda.CUDAGraph()
        captured(self.copy, graph)
        graph.replay()
        self.same(self.y)


class Versions(unittest.TestCase):
    def test_another_version_is_refused(self):
        program = ("import sys, types\ntorch = types.ModuleType('torch')\ntorch.__version__ = '2.12.0'\n"
                   "sys.modules['torch'] = torch\nimport graphophone.torch")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertIn("is for PyTorch 2.11, and this is PyTorch 2.12.0", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
