# SPDX-License-Identifier: Apache-2.0
"""What a hit of a tree looks at in memory, without asking PyTorch: run by test_torch.py."""
import ctypes
import unittest.mock

import torch
from torch_common import Case, copied, tensor

import graphophone.torch as gt


def word(address):
    return ctypes.c_uint64.from_address(address).value


class Looks(Case):
    """PyTorch's tree by its own entry, with a function that copies its static input."""

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
