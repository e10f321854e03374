# SPDX-License-Identifier: Apache-2.0
"""What a hit of a tree looks at in memory, without asking PyTorch, and when Python collects: run by test_torch.py."""
import ctypes
import gc
import sys
import threading
import unittest.mock
import weakref

import torch
from torch_common import Case, captured, copied, tensor

import graphophone.torch as gt


def word(address):
    return ctypes.c_uint64.from_address(address).value


class Collector(Case):
    def test_pythons_collector_waits(self):
        """It may find a graph of PyTorch's, which is destroyed by a call that no capture of the process allows."""
        class Ring:
            pass

        def body():
            kept = [[] for _ in range(20000)]
            found.append(gone() is not None and not gc.isenabled())
            return self.copy(), kept
        theirs, found, ring = torch.cuda.CUDAGraph(), [], Ring()
        with torch.cuda.graph(theirs):
            self.copy()
        gc.collect()
        ring.itself, ring.graph, gone = ring, theirs, weakref.ref(ring)
        del ring, theirs
        graph, _ = captured(body)
        self.assertEqual(found, [True])
        self.assertTrue(gc.isenabled())
        gc.collect()
        self.assertIsNone(gone())
        graph.replay()
        self.same(self.y)
        self.assertRaises(ZeroDivisionError, captured, lambda: 1 // 0)
        self.assertTrue(gc.isenabled())
        gc.disable()
        self.addCleanup(gc.enable)
        captured(self.copy)
        self.assertFalse(gc.isenabled())


class Tree(Case):
    """PyTorch's tree by its own entry."""

    def setUp(self):
        super().setUp()
        self.patch = gt.patch()
        self.enterContext(unittest.mock.patch.object(  # a kernel does it: tests/gpu
            torch, "_foreach_copy_", lambda targets, sources: [a.copy_(b) for a, b in zip(targets, sources)]))
        from torch._dynamo.mutation_guard import GenerationTracker
        from torch._inductor import cudagraph_trees
        self.trees, self.generations, self.calls = cudagraph_trees, GenerationTracker, 0

    def tearDown(self):
        self.trees.reset_cudagraph_trees()
        self.patch.__exit__()


class Looks(Tree):
    """With a function that copies its static input."""

    def weighted(self, example):
        """A compiled function of a weight, which it gives a copy of."""
        def model(inputs):
            self.calls += 1
            [weight] = inputs
            inputs.clear()
            return [copied(weight)]
        return self.trees.cudagraphify_impl(model, [example], (0,), device_index=0, stack_traces=[None], is_backward=False,
                                            is_inference=True)

    def call(self, function, *inputs):
        self.generations.generation += 1
        return function(list(inputs))[0]

    def hits(self, function, weight, first):
        """Six calls: warm-up, recording, a replay by the tree, a hit that asks as well, and two that only look."""
        for _ in range(6):
            self.same(self.call(function, weight), first)

    def test_after_unpatch_nothing_is_remembered(self):
        weight = tensor(3.0)
        function = self.weighted(weight)
        self.hits(function, weight, 3.0)
        self.assertEqual(function.count, 1)
        gt.unpatch()
        try:
            self.assertEqual(function.count, 0)
            self.hits(function, weight, 3.0)
            self.assertEqual(function.count, 0)  # the tree may record again, and nobody would say so
        finally:
            gt.patch()

    def test_the_places_are_those_that_pytorch_reads(self):
        storage, offset, data, poisoned, hooks = gt._driver.layout()
        for one in (tensor(3.0), tensor()[5:], torch.nn.Parameter(tensor()), torch.zeros(7)[2:], torch.zeros(3, 5).t()):
            inner = word(one._cdata + storage)
            self.assertEqual((inner, word(one._cdata + offset)), (one.untyped_storage()._cdata, one.storage_offset()))
            self.assertEqual(word(inner + data), one.untyped_storage().data_ptr())
            self.assertEqual(ctypes.c_ubyte.from_address(inner + poisoned).value, 0)
            self.assertIn(word(id(one) + hooks), (0, id(None)))

    def test_a_weight_that_got_other_memory_is_recorded_again(self):
        weight = torch.nn.Parameter(tensor(1.0))
        function = self.weighted(weight)
        self.hits(function, weight, 1.0)
        self.assertEqual((self.calls, function.count), (2, 1))
        kept = []
        for index, change in enumerate((lambda: setattr(weight, "data", tensor(10.0)), lambda: weight.set_(tensor(20.0)))):
            kept.append(weight.data)  # so that its memory is not given out again
            with torch.no_grad():
                change()
            self.hits(function, weight, 10.0 * (index + 1))
            self.assertEqual(self.calls, 3 + index)

    def test_weights_of_other_types_at_one_address(self):
        class Other(torch.Tensor):
            pass
        weight = tensor(4.0)
        function = self.weighted(weight)
        self.hits(function, weight, 4.0)
        for other in (torch.nn.Parameter(weight), weight.view(-1), weight.as_subclass(Other), weight):
            self.hits(function, other, 4.0)
        self.assertEqual((self.calls, function.count), (2, 1))
        self.assertRaises((AttributeError, TypeError, RuntimeError), self.call, function, "not a tensor")

    def test_a_weight_that_does_not_begin_its_storage(self):
        whole = torch.empty(128, device="cuda")
        weight = whole[64:]
        weight.copy_(tensor(6.0))
        function = self.weighted(weight)
        self.hits(function, weight, 6.0)
        self.assertEqual((self.calls, function.count), (2, 1))

    def test_a_weight_that_must_not_be_read_is_an_error(self):
        weight = tensor(2.0)
        function = self.weighted(weight)
        self.hits(function, weight, 2.0)
        torch._C._set_storage_data_ptr_access_error_msg(weight.untyped_storage()._cdata, "it was overwritten by a test")
        self.assertRaisesRegex(RuntimeError, "overwritten by a test", self.call, function, weight)

    def test_hooks_of_the_last_user_are_gone(self):
        function, seen = self.weighted(self.x), []
        self.hits(function, self.x, 0.0)
        for _ in range(2):
            out = self.call(function, self.x).requires_grad_()
            out.register_hook(seen.append)
            self.assertTrue(out._backward_hooks)
            out.requires_grad_(False)
            del out
            self.assertFalse(self.call(function, self.x)._backward_hooks)
        self.assertEqual((self.calls, function.count), (2, 1))

    def test_without_the_places_it_is_as_before(self):
        weight = tensor(7.0)
        with unittest.mock.patch.object(gt._driver, "layout", lambda: None):
            function = self.weighted(weight)
            self.hits(function, weight, 7.0)
            weight.data = tensor(8.0)
            self.hits(function, weight, 8.0)
        self.assertEqual((self.calls, function.count), (3, 1))


class Outputs(Tree):
    """Of a function that gives more than tensors of its own."""

    def called(self, outputs):
        """What it gives, and the names of functions of Python that hits call."""
        def model(inputs):
            [weight] = inputs
            inputs.clear()
            return outputs(weight)
        function = self.trees.cudagraphify_impl(model, [self.x], (0,), device_index=0, stack_traces=[None] * len(outputs(self.x)),
                                                is_backward=False, is_inference=True)
        seen = []
        for call in range(12):
            self.generations.generation += 1
            if call > 6:
                sys.setprofile(lambda frame, event, _: event == "call" and seen.append(frame.f_code.co_name))
            try:
                given = function([self.x])
            finally:
                sys.setprofile(None)
        return given, seen

    def test_nothing_and_static_tensors_are_given_in_c(self):
        (one, nothing, static), seen = self.called(lambda weight: [copied(weight), None, weight])
        self.assertEqual((nothing, static.data_ptr(), seen), (None, self.x.data_ptr(), []))
        self.same(one, 0.0)

    def test_views_are_made_by_pytorch(self):
        (one, view), seen = self.called(lambda weight: (lambda y: [y, y[2:]])(copied(weight)))
        self.assertIn("reconstruct_outputs", seen)
        self.assertEqual(view.data_ptr(), one.data_ptr() + 8)


class Pulls(Tree):
    """Inputs that the graph copies itself, from where a hit says."""

    def copying(self, count):
        """A compiled function that gives copies of its inputs, none of which is static."""
        def model(inputs):
            self.calls += 1
            taken = list(inputs)
            inputs.clear()
            return [copied(one) for one in taken]
        example = [tensor() for _ in range(count)]
        return self.trees.cudagraphify_impl(model, example, (), device_index=0, stack_traces=[None] * count, is_backward=False,
                                            is_inference=True)

    def all(self, function, *inputs):
        self.generations.generation += 1
        return function(list(inputs))

    def node(self):
        return self.trees.get_manager(0).current_node

    def test_one_launch_and_no_copy(self):
        for count in (1, 2, 9):
            function = self.copying(count)
            for call in range(5):
                self.all(function, *(tensor(call + index) for index in range(count)))
            with unittest.mock.patch.object(torch, "_foreach_copy_", None):  # nobody asks for it
                for call in range(20):
                    for index, out in enumerate(self.all(function, *(tensor(100 * call + index) for index in range(count)))):
                        self.same(out, 100 * call + index)
                        del out
            self.assertEqual((self.node().graph.pulls, function.count), (count, 1))

    def test_pytorch_replays_what_it_copied(self):
        function = self.copying(1)
        for call in range(12):
            if call % 3 == 2:
                function.disarm()  # the tree itself copies, and replays
            self.same(self.all(function, tensor(call))[0], call)
        self.assertEqual(self.calls, 2)
        self.assertEqual(self.node().graph.pulls, 1)

    def test_what_is_not_as_it_was_is_copied_by_pytorch(self):
        function = self.copying(1)
        for call in range(5):
            self.same(self.all(function, tensor(call))[0], call)
        asked, strided = [], torch.empty(2 * self.x.numel(), device="cuda")[::2]  # which a kernel would copy
        with unittest.mock.patch.object(torch, "_foreach_copy_", lambda targets, sources: asked.append(sources)):
            function.disarm()
            for _ in range(2):  # the tree, then a hit
                self.all(function, strided)
            self.assertEqual([function.count, len(asked)], [1, 2])
            asked.clear()
            self.same(self.all(function, tensor(9.0))[0], 9.0)
            self.assertEqual(asked, [])
        self.same(self.all(function, tensor(3.0))[0], 3.0)
        self.assertEqual(self.calls, 2)

    def test_large_inputs_are_copied_by_calls(self):
        with unittest.mock.patch.object(gt._trees, "SOFT_PULL_MAX", 16):
            function = self.copying(1)
            for call in range(6):
                self.same(self.all(function, tensor(call))[0], call)
        self.assertEqual((self.node().graph.pulls, function.count), (0, 1))

    def test_threads_replay_one_graph(self):
        graph, target, result = gt.CUDAGraph(), tensor(), tensor()
        graph._pulls = [(target.data_ptr(), target.nbytes)]
        captured(lambda: result.copy_(target), graph)
        threads = [threading.Thread(target=lambda: [graph.replay() for _ in range(200)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.same(result)
        self.assertEqual(graph.pulls, 1)
        for wrong in ([1], [(1, 2, 3)], [("a", 1)], 5):
            graph = gt.CUDAGraph()
            graph._pulls = wrong
            with self.assertRaises(TypeError):
                captured(lambda: result.copy_(target), graph)


class Liveness(Tree):
    """Outputs of earlier functions of a path that have to be dead, which a hit looks at in C."""

    def two(self, count):
        def model(inputs):
            self.calls += 1
            taken = list(inputs)
            inputs.clear()
            return [copied(one) for one in taken for _ in range(count)]
        return [self.trees.cudagraphify_impl(model, [self.x], (), device_index=0, stack_traces=[None] * count, is_backward=False,
                                             is_inference=True) for _ in range(2)]

    def round(self, functions, first, kept):
        """Two calls; what the first gives is let go of in between, but for those of the indices."""
        self.generations.generation += 1
        outs = functions[0]([tensor(first)])
        held = [outs[index] for index in kept]
        del outs
        [last, *_] = functions[1]([tensor(first + 5.0)])
        self.same(last, first + 5.0)
        for one in held:
            self.same(one, first)

    def test_a_path_of_two_is_answered_without_the_nodes_python(self):
        functions = self.two(3)
        for call in range(6):
            self.round(functions, float(call), (0,))  # without any that lives the second one would begin a path of its own
        recorded = self.calls
        self.assertTrue(all(one.count for one in functions))
        with unittest.mock.patch.object(self.trees.StorageWeakRefWrapper, "expired", side_effect=InterruptedError):
            for call in range(1000):
                self.generations.generation += 1
                outs = functions[0]([tensor(float(call))])
                del outs[1:]
                [last, *_] = functions[1]([self.x])
                self.same(outs[0], float(call))
                self.same(last)
                del outs, last, _
        self.assertEqual(self.calls, recorded)

    def test_an_output_that_lives_is_seen_at_every_call(self):
        functions = self.two(3)
        for call in range(1000):
            self.round(functions, float(call % 7), (0,))
        recorded = self.calls
        for kept in ((1,), (0, 2), (), (0,), (0, 1, 2)):  # each the first time is another path: recorded, or warmed up
            for call in range(5):
                self.round(functions, float(call), kept)
        self.assertGreater(self.calls, recorded)
        recorded = self.calls
        for call in range(20):
            self.round(functions, float(call), (1,) if call % 2 else ())
        self.assertEqual(self.calls, recorded)

    def test_wrong_parts_are_refused(self):
        arm, hit = gt._trees._parts, gt._trees.gph.PathHit(print)
        self.assertTrue(callable(arm))
        functions = self.two(2)
        for call in range(4):
            self.round(functions, 1.0, (0,))
        node, manager = self.trees.get_manager(0).current_node, self.trees.get_manager(0)
        parts = arm(self.trees, manager, None, manager.path_state, node, [], False)
        self.assertIsInstance(parts["dead_before"], tuple)
        hit.arm(1, False, **parts)
        for wrong in (3, (), (len, 3), (len, ([], [])), (len, ([], (), 0)), (len, ([], [], "0"))):
            self.assertRaises(TypeError, hit.arm, 1, False, **{**parts, "dead_before": wrong})
        self.assertEqual(hit.count, 1)
