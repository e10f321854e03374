#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.compile's trees over libgph on a GPU: each program runs compiled without graphs, and with ours, and must give the same
bits; hits are answered in C. usage: PYTHONPATH=the package's folder torch_trees.py [names of tests]"""
import contextlib
import gc
import unittest

import graphophone.torch as gt
import torch
from graphophone.torch import _trees

torch.backends.cuda.matmul.allow_tf32 = False


def run(mode, program, steps=8, **options):
    """What a program gives, step by step, and the PathHits that there are at its end."""
    torch._dynamo.reset()
    gc.collect()
    results = []
    with gt.patch(**options):
        for out in program(lambda function: torch.compile(function, **mode), steps):
            results.append([tensor.detach().clone() for tensor in out])
        torch.cuda.synchronize()
        hits = [hit.count for hit in _trees._hits]
    torch._dynamo.reset()
    return results, hits


class Trees(unittest.TestCase):
    options = {}  # of patch()

    def same(self, program, steps=8, hits=True, mode=None):
        expected, _ = run({}, program, steps)
        got, counts = run(mode or {"mode": "reduce-overhead"}, program, steps, **self.options)
        for step, (one, other) in enumerate(zip(expected, got)):
            for a, b in zip(one, other):
                self.assertTrue(torch.equal(a, b), "step %d differs" % step)
        if hits:
            self.assertTrue(counts and any(counts), counts)

    def test_inference(self):
        def program(compile, steps):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
            compiled = compile(model)
            with torch.no_grad():
                for step in range(steps):
                    yield [compiled(torch.full((16, 64), float(step), device="cuda"))]
        self.same(program)

    def test_the_back_end_cudagraphs(self):
        def program(compile, steps):
            compiled = compile(lambda a: (a * a + 1, a.flip(0)))
            for step in range(steps):
                x = torch.full((32, 32), float(step), device="cuda", requires_grad=True)
                y, z = compiled(x)
                (y.sum() + z.sum()).backward()
                yield y, z, x.grad
        self.same(program, mode={"backend": "cudagraphs"})

    def test_a_graph_break_makes_a_path(self):
        def program(compile, steps):
            def function(a):
                b = a * 2 + 1
                torch._dynamo.graph_break()
                c = b.relu() @ b
                torch._dynamo.graph_break()
                return c - b, c.sum()
            compiled = compile(function)
            for step in range(steps):
                yield compiled(torch.full((32, 32), step / 8, device="cuda"))
        self.same(program)

    def test_training(self):
        def program(compile, steps):
            torch.manual_seed(0)
            model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
            compiled = compile(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(steps):
                optimizer.zero_grad()
                loss = (compiled(torch.full((16, 64), 0.1 * step, device="cuda")) ** 2).mean()
                loss.backward()
                optimizer.step()
                yield [loss] + [parameter.grad for parameter in model.parameters()]
        self.same(program, 12)

    def test_gradients_that_are_kept_are_refused_as_in_pytorch(self):
        """#169545: .grad is the tree's memory, and a new round takes it back, in the first calls. Ours is PyTorch's tree."""
        texts = []
        for patched in (False, True):
            torch._dynamo.reset()
            torch.manual_seed(0)
            model = torch.nn.Linear(64, 8).cuda()
            compiled = torch.compile(model, mode="reduce-overhead")
            with gt.patch() if patched else contextlib.nullcontext(), self.assertRaisesRegex(RuntimeError, "overwritten") as caught:
                for step in range(4):
                    (compiled(torch.full((16, 64), 0.1 * step, device="cuda")) ** 2).mean().backward()
            texts.append(str(caught.exception))
            model.zero_grad()
        self.assertEqual(texts[0], texts[1])

    def test_buffers_are_changed(self):
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("total", torch.zeros(16, device="cuda"))

            def forward(self, x):
                self.total.add_(x)
                return self.total * 2

        def program(compile, steps):
            module = Counter()
            compiled = compile(module)
            with torch.no_grad():
                for step in range(steps):
                    yield [compiled(torch.full((16,), float(step), device="cuda")), module.total]
        self.same(program)

    def test_weights_that_move(self):
        def program(compile, steps):
            torch.manual_seed(0)
            model = torch.nn.Linear(32, 32).cuda()
            compiled = compile(model)
            with torch.no_grad():
                for step in range(steps):
                    if step == steps // 2:
                        model.weight.data = model.weight.data * 3
                    yield [compiled(torch.full((4, 32), float(step), device="cuda"))]
        self.same(program, 12)

    def test_dropout_draws_what_it_draws_without_graphs(self):
        def program(compile, steps):
            model = torch.nn.Dropout(0.5).cuda()
            compiled = compile(model)
            torch.manual_seed(7)
            for step in range(steps):
                yield [compiled(torch.ones(256, device="cuda"))]
        self.same(program)

    def test_kept_results_and_marks(self):
        def program(compile, steps):
            compiled = compile(lambda a: a * 2 + 1)
            for step in range(steps):
                torch.compiler.cudagraph_mark_step_begin()
                yield [compiled(torch.full((64,), float(step), device="cuda"))]
        try:
            self.same(program)
        finally:
            from torch._inductor.cudagraph_trees import MarkStepBox
            MarkStepBox.mark_step_counter = 0

    def test_misaligned_inputs(self):
        def program(compile, steps):
            compiled = compile(lambda a: a.sin() + 1)
            for step in range(steps):
                base = torch.full((130,), float(step), device="cuda")
                yield [compiled(base[:128] if step % 2 else base[1:129])]
        self.same(program, 10)

    def test_sizes_that_change(self):
        def program(compile, steps):
            compiled = compile(lambda a: (a * 2).sum(0))
            for step in range(steps):
                yield [compiled(torch.full((4 + step % 3, 8), float(step), device="cuda"))]
        self.same(program, 12, hits=False)

    def test_the_back_end_by_name(self):
        torch._dynamo.reset()
        compiled = torch.compile(lambda a: (a @ a).relu(), backend="graphophone")
        a = torch.randn(32, 32, device="cuda")
        for _ in range(5):
            out = compiled(a)
        self.assertTrue(torch.allclose(out, (a @ a).relu(), atol=1e-4))
        self.assertTrue(gt.is_patched())
        self.assertGreater(gt.memory()["graphs"], 0)
        gt.unpatch()


class Checked(unittest.TestCase):
    """The same where outputs are checked: each replay makes its own."""
    options = {"check_outputs": True}
    same = Trees.same
    test_inference, test_training, test_a_graph_break_makes_a_path = (
        Trees.test_inference, Trees.test_training, Trees.test_a_graph_break_makes_a_path)
    test_buffers_are_changed, test_kept_results_and_marks = Trees.test_buffers_are_changed, Trees.test_kept_results_and_marks


if __name__ == "__main__":
    unittest.main(verbosity=2)
