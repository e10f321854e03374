# SPDX-License-Identifier: Apache-2.0
"""patch(check_outputs=True): outputs of the tree that a later call overwrote. Run by test_torch.py."""
import re
import sys
import unittest.mock

import torch
from torch_common import Case, copied, tensor

import graphophone.torch as gt


def here():
    return sys._getframe(1).f_lineno


class Overwritten(Case):
    """PyTorch's tree by its own entry; each call begins a round, as a call of a compiled function does."""

    def setUp(self):
        super().setUp()
        self.patch = gt.patch(check_outputs=True)
        self.enterContext(unittest.mock.patch.object(  # a kernel does it: tests/gpu
            torch, "_foreach_copy_", lambda targets, sources: [a.copy_(b) for a, b in zip(targets, sources)]))
        from torch._dynamo.mutation_guard import GenerationTracker
        from torch._inductor import cudagraph_trees
        self.trees, self.generations = cudagraph_trees, GenerationTracker

    def tearDown(self):
        self.trees.reset_cudagraph_trees()
        self.patch.__exit__()
        self.assertEqual(self.trees.CUDAGraphTreeManager.dealloc_current_path_weakrefs.__module__, self.trees.__name__)

    def compiled(self, outputs=1, traces=None):
        def model(inputs):
            [x] = inputs
            inputs.clear()
            return [copied(x) for _ in range(outputs)]
        return self.trees.cudagraphify_impl(model, [self.x], (0,), device_index=0, stack_traces=traces or [None] * outputs,
                                            is_backward=False, is_inference=True)

    def call(self, function):
        self.generations.generation += 1
        return function([self.x])

    def test_the_error_is_the_same_at_call_1_and_1000(self):
        function, old, texts = self.compiled(traces=['  File "model.py", line 7, in forward\n    return x + 1\n']), (), {}
        for call in range(1, 1002):
            self.generations.generation += 1
            new, line = function([self.x])[0], here()
            for read in old if call < 12 or call > 998 else ():
                with self.assertRaises(RuntimeError) as caught:
                    read.cpu()
                self.assertEqual(texts.setdefault(call, str(caught.exception)), str(caught.exception))
            old = new, new.view(-1), new[1:]
        self.same(new)
        self.assertIn("output 0 of call 1000 of compiled function", texts[1001])
        self.assertIn("was overwritten by call 1001, made at %s:" % __file__, texts[1001])
        self.assertIn('computed at File "model.py", line 7', texts[1001])
        self.assertEqual(len(texts), 10 + 3)
        for call, text in texts.items():
            self.assertEqual(text.count("%s:%d" % (__file__, line)), 2, text)
            self.assertEqual(re.sub(r"call %d\b" % call, "call N", re.sub(r"call %d\b" % (call - 1), "call M", text)),
                             texts[1001].replace("call 1000", "call M").replace("call 1001", "call N"))

    def test_what_is_let_go_of_costs_no_recording(self):
        function = self.compiled(3)
        for _ in range(8):
            kept = self.call(function)
        for one in kept:
            self.same(one)
        manager = self.trees.get_manager(0)
        self.assertEqual(manager.new_graph_id().id, 1)  # after 0, the only recording

    def test_another_function_overwrites_it(self):
        first, second = self.compiled(), self.compiled()
        for _ in range(4):
            for function in (first, second):
                self.call(function)
        kept = self.call(first)[0]
        self.call(second)
        self.assertRaisesRegex(RuntimeError, "output 0 of call 5 of compiled function .* by call 5 of compiled function", kept.cpu)

    def test_without_it_the_old_output_is_the_new_one(self):
        self.patch.__exit__()
        self.patch = gt.patch()
        function = self.compiled()
        for _ in range(5):
            kept = self.call(function)[0]
        self.call(function)
        self.same(kept)

    def test_what_was_compiled_before_it_was_asked_for(self):
        self.patch.__exit__()
        self.patch = gt.patch()
        function = self.compiled()
        for _ in range(5):
            kept = self.call(function)[0]
        with gt.patch(check_outputs=True):
            for _ in range(3):
                kept = self.call(function)[0]
                self.same(kept)
            self.call(function)
            self.assertRaisesRegex(RuntimeError, "an earlier call of a compiled function was overwritten by a later call", kept.cpu)
