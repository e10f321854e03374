#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What graphophone.torch has and PyTorch has not, on a GPU: first causes, overwritten outputs, bucketed(), memory(), explain().
usage: PYTHONPATH=the package's folder torch_beyond.py [names of tests]"""
import inspect
import os
import subprocess
import sys
import threading
import unittest

import graphophone.torch as gt
import torch


def broken_by(body):
    """The exception of a capture that the body invalidates."""
    try:
        with gt.graph(gt.CUDAGraph()):
            body()
    except RuntimeError as error:
        return error
    raise AssertionError("the capture did not fail")


class Causes(unittest.TestCase):
    def setUp(self):
        self.x = torch.ones(64, device="cuda")
        torch.cuda.synchronize()

    def test_the_line_of_item(self):
        error = broken_by(lambda: self.x.sum().item())
        self.assertEqual(error.place, "%s:%d" % (__file__, inspect.currentframe().f_lineno - 1))
        print("\n", error)

    def test_swallowed(self):
        def swallow():
            try:
                self.x.sum().item()
            except RuntimeError:
                pass
        error = broken_by(swallow)
        print("\n", error)
        self.assertTrue(error.cause and error.cause["is_own"] and error.cause["call"])

    def test_another_thread(self):
        def pin():
            try:
                torch.empty(12345677).pin_memory()
            except RuntimeError:
                pass

        def body():
            y = self.x + 1
            thread = threading.Thread(target=pin)
            thread.start()
            thread.join()
            return y
        error = broken_by(body)
        print("\n", error)
        self.assertTrue(error.cause and not error.cause["is_own"])
        self.assertIn("HostAlloc", error.cause["call"])


class Buckets(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32)).cuda()

    def make(self, **options):
        @gt.bucketed(inputs={"x": ("tokens", 32)}, ladder={"tokens": (8, 16, 32, 64, 128)}, outputs=[("tokens", None), ()],
                     fill={"x": 0}, masks={"valid": "tokens"}, **options)
        def step(x, valid):
            y = self.model(x) * valid[:, None]
            return y, y.sum()
        return step

    def test_all_sizes_equal_eager(self):
        step = self.make()
        with torch.no_grad():
            for count in list(range(1, 129)) + [5, 77, 128, 1]:
                x = torch.randn(count, 32, device="cuda")
                y, total = step(x)
                expected = self.model(x)
                self.assertEqual(y.shape, expected.shape)
                self.assertTrue(torch.allclose(y, expected, atol=1e-5, rtol=1e-5))
                self.assertTrue(torch.allclose(total, expected.sum(), atol=1e-2, rtol=1e-4))
        stats = step.stats()
        self.assertEqual((stats["buckets"], stats["recorded"], stats["eager"]), (5, 5, 0))
        print("\n ", stats)

    def test_the_error_is_the_same_at_call_1_and_1000(self):
        step = self.make()
        texts = set()
        for call in range(1000):
            y, _ = step(torch.ones(3 + call % 5, 32, device="cuda"))
            if call in (0, 1, 2, 998):
                old = y, call + 1
            elif call in (3, 999):
                with self.assertRaisesRegex(RuntimeError, "output 0 of call %d " % old[1]) as caught:
                    old[0] + 1
                texts.add(str(caught.exception).split(" was ")[0].replace(str(old[1]), "N").split(",")[0])
        self.assertEqual(len(texts), 1)

    def test_the_sixty_seven_shapes_share_one_pool(self):
        sizes = tuple(range(8, 8 + 67 * 8, 8))
        model = self.model

        @gt.bucketed(inputs={"x": ("n", 32)}, ladder={"n": sizes}, outputs=[("n", None)])
        def step(x):
            return model(x)
        with torch.no_grad():
            for size in reversed(sizes):
                step(torch.zeros(size, 32, device="cuda"))
        ledger = gt.memory()
        print("\n  67 buckets:", {key: ledger[key] for key in ("graphs", "driver_bytes", "reserved_bytes", "allocated_bytes")})
        self.assertGreaterEqual(ledger["graphs"], 67)


class PyTorchs(unittest.TestCase):
    """What PyTorch does where ours differs: the complaint first, then the answer."""

    def run_alone(self, program):
        """PyTorch does not come back from the end of a process whose capture has failed, so no program waits for it."""
        program = "import os, sys, torch, graphophone.torch as gt\n" + program + "\nsys.stdout.flush()\nos._exit(0)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_the_stream_after_a_failed_capture(self):
        program = ("x = torch.ones(4, device='cuda')\ntry:\n  with %s.graph(%s.CUDAGraph()):\n    x.sum().item()\n"
                   "except RuntimeError: pass\nprint(torch.cuda.current_stream() == torch.cuda.default_stream())")
        self.assertEqual(self.run_alone(program % ("torch.cuda", "torch.cuda")), ["False"])
        self.assertEqual(self.run_alone(program % ("gt", "gt")), ["True"])

    def test_gradients_that_are_accumulated(self):
        """#181723: the second backward pass writes over what .grad has of the first."""
        program = ("torch.manual_seed(0)\nlinear = torch.nn.Linear(8, 8).cuda()\nx = torch.ones(2, 8, device='cuda')\n"
                   "for part in (1, 2): (linear(x * part)).sum().backward()\nexpected = linear.weight.grad.clone()\n"
                   "linear.zero_grad()\nlinear = %s.make_graphed_callables(linear, (x.clone(),))\n"
                   "for part in (1, 2): (linear(x * part)).sum().backward()\nprint(torch.equal(linear.weight.grad, expected))")
        self.assertEqual(self.run_alone(program % "torch.cuda"), ["False"])
        self.assertEqual(self.run_alone(program % "gt"), ["True"])

    def test_an_old_output_of_reduce_overhead(self):
        """#122192: it is an exception in the first calls alone; later the old tensor is the new one."""
        program = ("f = torch.compile(lambda a: a + 1, mode='reduce-overhead')\nlast = None\nfor call in range(6):\n"
                   "  old, last = last, f(torch.full((4,), float(call), device='cuda'))\n  try:\n"
                   "    print('none' if old is None else 'old' if old[0].item() == call else 'new')\n"
                   "  except RuntimeError: print('raised')")
        self.assertIn("new", self.run_alone(program))
        self.assertEqual(self.run_alone("gt.patch(check_outputs=True)\n" + program), ["none"] + ["raised"] * 5)
        step = gt.bucketed(inputs={"x": ("n",)}, ladder={"n": (4,)}, outputs=[("n",)])(lambda x: x + 1)
        last = None
        for call in range(6):
            old, last = last, step(torch.full((4,), float(call), device="cuda"))
            if old is not None:
                self.assertRaisesRegex(RuntimeError, "overwritten by call %d" % (call + 1), old.tolist)


class Surroundings(unittest.TestCase):
    """What else goes on in a process."""

    def setUp(self):
        self.x = torch.ones(64, device="cuda")
        self.graph = gt.CUDAGraph()
        with gt.graph(self.graph):
            self.y = self.x + 1

    def test_under_the_profiler(self):
        with torch.profiler.profile() as profile:
            for _ in range(3):
                self.graph.replay()
            graph = gt.CUDAGraph()
            with gt.graph(graph):
                z = self.x * 3
            graph.replay()
            torch.cuda.synchronize()
        self.assertTrue(len(profile.events()))
        self.assertTrue(torch.equal(z, self.x * 3))

    def test_expandable_segments(self):
        program = ("import torch, graphophone.torch as gt\nx = torch.ones(1 << 22, device='cuda')\n"
                   "@gt.bucketed(inputs={'x': ('n',)}, ladder={'n': (1 << 20, 1 << 22)}, outputs=[('n',)])\n"
                   "def f(x): return x * 2 + 1\nfor n in (5, 1 << 22, 77, 1 << 20): assert bool((f(x[:n]) == 3).all())\n"
                   "print(gt.memory()['reserved_bytes'] > 0, 'fine')")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
        self.assertIn("True fine", done.stdout, done.stderr)

    def test_out_of_memory_while_a_bucket_is_recorded(self):
        @gt.bucketed(inputs={"x": ("n",)}, ladder={"n": (8, 16)}, outputs=[("n",)], warmups=0)
        def step(x):
            if len(x) == 16:
                torch.empty(1 << 44, device="cuda")
            return x + 1
        self.assertEqual(step(self.x[:5]).tolist(), [2.0] * 5)
        for _ in range(2):
            self.assertRaises(torch.OutOfMemoryError, step, self.x[:12])
            self.assertEqual(step(self.x[:7]).tolist(), [2.0] * 7)
        self.assertEqual(step.stats()["buckets"], 1)

    def test_a_forked_child_that_does_not_touch_the_gpu(self):
        child = os.fork()
        if child == 0:
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.graph.replay()
        self.assertTrue(torch.equal(self.y, self.x + 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
