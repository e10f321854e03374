#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's users complain of, on a GPU: each test shows what PyTorch 2.11 does, then what graphophone.torch does.
Overwritten outputs, accumulated gradients and the stream after a failed capture: torch_beyond.py.
usage: PYTHONPATH=the package's folder torch_complaints.py [names of tests]"""
import gc
import os
import subprocess
import sys
import threading
import unittest

import graphophone.torch as gt
import torch

BOTH = (torch.cuda.CUDAGraph, torch.cuda.graph), (gt.CUDAGraph, gt.graph)


def run_alone(program, **environment):
    """A program of its own, whose PyTorch may not end well: what it printed and said, its exit status (None: it hung)."""
    try:
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", "import torch, graphophone.torch as gt\n" + program],
                              capture_output=True, text=True, timeout=40, env={**os.environ, **environment})
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), (late.stderr or b"").decode(), None
    return done.stdout, done.stderr, done.returncode


class Captures(unittest.TestCase):
    def test_a_static_input_that_died(self):
        """PyTorch replays what the allocator has put there since; so do we unless we are asked to look."""
        for graph_type, block, options in (*((*pair, {}) for pair in BOTH[:1]), (gt.CUDAGraph, gt.graph, {"check_inputs": True})):
            gc.collect()  # a graph of PyTorch's that goes during a capture invalidates it
            x = torch.ones(1 << 20, device="cuda")
            torch.cuda.synchronize()
            graph = graph_type()
            with block(graph, **options):
                y = x * 2
            graph.replay()
            self.assertEqual(y[0].item(), 2)
            del x
            z = torch.full((1 << 20,), 7.0, device="cuda")  # gets the memory
            if options:
                self.assertRaisesRegex(gt._graphs.gph.StateError, "reads its input 0, 4194304 bytes", graph.replay)
            else:
                graph.replay()
                self.assertEqual(y[0].item(), 14)
            del z, y, graph

    def test_the_pool_after_a_failed_capture(self):
        """#190348: PyTorch keeps what a capture took that failed."""
        program = ("try:\n  with %s.graph(%s.CUDAGraph()):\n    x = torch.empty(1 << 28, device='cuda'); x.sum().item()\n"
                   "except RuntimeError: pass\nimport gc, os\nx = None; gc.collect(); torch.cuda.empty_cache()\n"
                   "print(torch.cuda.memory_reserved() >> 20, flush=True); os._exit(0)")
        out, err, status = run_alone(program % ("gt", "gt"))
        print("\n  ours keeps %r MiB, exit status %s" % (out.strip(), status))
        self.assertEqual((out.split(), status), (["0"], 0), err)
        out, err, status = run_alone(program % ("torch.cuda", "torch.cuda"))
        print("\n  PyTorch keeps %r MiB, exit status %s" % (out.strip(), status))
        self.assertNotEqual((out.split(), status), (["0"], 0), err)

    def test_another_thread_is_named(self):
        """#87794: what another thread did is not said."""
        said = []
        for one in BOTH[::-1]:
            program = ("import threading, os\nx = torch.ones(8, device='cuda')\ndef pin():\n  try: torch.empty(12345677).pin_memory()\n"
                       "  except RuntimeError: pass\ntry:\n  with %s.graph(%s.CUDAGraph()):\n    y = x + 1\n"
                       "    thread = threading.Thread(target=pin); thread.start(); thread.join()\n"
                       "except RuntimeError as error: print(error, flush=True)\nos._exit(0)" %
                       (("gt", "gt") if one[0] is gt.CUDAGraph else ("torch.cuda", "torch.cuda")))
            said.append(run_alone(program)[0])
        self.assertIn("HostAlloc", said[0])
        self.assertNotIn("HostAlloc", said[1])

    def test_cudaMallocAsync_is_refused_with_a_sentence(self):
        program = ("g = gt.CUDAGraph()\nx = torch.ones(8, device='cuda')\ntry:\n  with gt.graph(g):\n    y = x + 1\n"
                   "except RuntimeError as error: print(error)\nprint(torch.equal(x + 1, x * 2))")
        out, err, status = run_alone(program, PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync")
        self.assertEqual(status, 0, err)
        self.assertIn("the allocator cudaMallocAsync puts its allocations into the graph", out)
        self.assertTrue(out.endswith("True\n"), out)

    def test_threads_replay_at_once(self):
        """A graph a thread, each with a pool and a stream of its own."""
        wrong = []

        def work(number):
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(200):
                    graphs[number].replay()
                stream.synchronize()
            if totals[number].item() != 200:
                wrong.append(totals[number].item())
        totals = [torch.zeros(1, device="cuda") for _ in range(8)]
        graphs = [gt.CUDAGraph() for _ in totals]
        for graph, total in zip(graphs, totals):
            with gt.graph(graph):
                total.add_(1)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(len(totals))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_workers_of_a_data_loader(self):
        """They are forked after graphs were made, and pin_memory has a thread that calls CUDA meanwhile."""
        x = torch.zeros(4, device="cuda")
        graph = gt.CUDAGraph()
        with gt.graph(graph):
            y = x * 2
        data = torch.utils.data.TensorDataset(torch.arange(32.0).view(8, 4))
        loader = torch.utils.data.DataLoader(data, batch_size=1, num_workers=2, pin_memory=True)
        got = []
        for batch, in loader:
            x.copy_(batch[0], non_blocking=True)
            graph.replay()
            got += y.tolist()
        self.assertEqual(got, [2.0 * value for value in range(32)])

    def test_out_of_memory_in_a_capture(self):
        graph, free = gt.CUDAGraph(), torch.cuda.mem_get_info()[0]
        with self.assertRaises(torch.OutOfMemoryError):
            with gt.graph(graph):
                torch.ones(1 << 26, device="cuda")
                torch.empty(1 << 44, device="cuda")
        gc.collect()
        torch.cuda.empty_cache()
        self.assertLess(free - torch.cuda.mem_get_info()[0], 64 << 20)
        x = torch.ones(4, device="cuda")
        with gt.graph(graph):
            y = x + 1
        graph.replay()
        self.assertEqual(y.tolist(), [2.0] * 4)


class Callables(unittest.TestCase):
    def test_several_inputs_are_copied_at_once(self):
        sample = tuple(torch.zeros(5, device="cuda") for _ in range(3))
        graphed = gt.make_graphed_callables(lambda a, b, c: a * 100 + b * 10 + c, sample)
        for start in range(3):
            given = [torch.full((5,), float(start + i), device="cuda") for i in range(3)]
            self.assertEqual(graphed(*given)[0].item(), (start * 100 + (start + 1) * 10 + start + 2))
        with self.assertRaises(RuntimeError):
            graphed(given[0], given[1][:3], given[2])

    def test_another_view_of_an_inputs_memory(self):
        """PyTorch looks at addresses alone, and takes a conjugate of its own input for that input."""
        for make, is_right in ((torch.cuda.make_graphed_callables, False), (gt.make_graphed_callables, True)):
            z = torch.complex(torch.arange(4.0), torch.ones(4)).cuda()
            expected = z.conj().clone() * 2
            self.assertEqual(torch.equal(make(lambda a: a * 2, (z,))(z.conj()), expected), is_right)
        square = torch.arange(16.0, device="cuda").view(4, 4)
        graphed = gt.make_graphed_callables(lambda a: a * 2, (square,))
        self.assertRaisesRegex(RuntimeError, "single memory location", graphed, square.t())

    def test_a_module_without_parameters(self):
        """#124582"""
        module = gt.make_graphed_callables(torch.nn.GELU(), (torch.ones(4, device="cuda", requires_grad=True),))
        x = torch.linspace(-1, 1, 4, device="cuda", requires_grad=True)
        module(x).sum().backward()
        y = x.detach().clone().requires_grad_()
        torch.nn.functional.gelu(y).sum().backward()
        self.assertTrue(torch.equal(x.grad, y.grad))

    def test_weights_that_got_other_memory(self):
        linear = torch.nn.Linear(4, 4, bias=False).cuda().requires_grad_(False)
        x = torch.ones(2, 4, device="cuda")
        theirs = torch.cuda.make_graphed_callables(lambda x: torch.nn.functional.linear(x, linear.weight), (x,))
        ours = gt.make_graphed_callables(torch.nn.Linear(4, 4, bias=False).cuda().requires_grad_(False), (x,))
        before = theirs(x).clone()
        linear.weight.data = linear.weight.data * 2
        keep = torch.full((4, 4), float("nan"), device="cuda")
        self.assertFalse(torch.equal(theirs(x), before * 2))  # the old weights, or what came there since
        ours.weight.data = ours.weight.data * 2
        self.assertRaisesRegex(gt._graphs.gph.StateError, "got other memory", ours, x)
        del keep


class Compiled(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.addCleanup(torch._dynamo.reset)

    def test_one_graph_for_each_size(self):
        """#119640, #128424: reduce-overhead records each size; bucketed() records the ladder."""
        sizes = list(range(1, 21))
        with gt.patch(), torch.no_grad():
            before = len(gt.explain())
            compiled = torch.compile(lambda x: (x * 2).relu(), mode="reduce-overhead", dynamic=True)
            for _ in range(3):
                for size in sizes:
                    compiled(torch.ones(size, 8, device="cuda"))
            recorded = [event for event in gt.explain()[before:] if event["what"].startswith("recorded")]
        self.assertGreaterEqual(len(recorded), len(sizes) - 2)

        @gt.bucketed(inputs={"x": ("n", 8)}, ladder={"n": (4, 8, 16, 32)}, outputs=[("n", None)])
        def step(x):
            return (x * 2).relu()
        for size in sizes * 3:
            self.assertEqual(step(torch.ones(size, 8, device="cuda")).sum().item(), 16 * size)
        self.assertEqual(step.stats()["recorded"], 4)

    def test_why_it_ran_eagerly_or_was_recorded_again(self):
        """#117281, #183451: PyTorch says it in logs, once, if at all."""
        with gt.patch(), torch.no_grad():
            function = torch.compile(lambda x, y: x.add_(y), mode="reduce-overhead")
            x, y = torch.ones(8, device="cuda"), torch.ones(8, device="cuda")
            before = len(gt.explain())
            for _ in range(3):
                function(x, y)
            whys = [event["why"] for event in gt.explain()[before:] if event["what"] == "ran eagerly"]
            self.assertTrue(any("mutated" in why for why in whys), gt.explain()[before:])
            torch._dynamo.reset()
            linear = torch.nn.Linear(8, 8).cuda().requires_grad_(False)
            compiled = torch.compile(linear, mode="reduce-overhead")
            before = len(gt.explain())
            for _ in range(2):
                for _ in range(3):
                    compiled(torch.ones(2, 8, device="cuda"))
                linear.weight.data = linear.weight.data.clone()
            again = [event for event in gt.explain()[before:] if event["what"] == "recorded again"]
        self.assertEqual(len(again), 1, gt.explain()[before:])
        self.assertRegex(again[0]["why"], r"input \d \(weight of Linear, .*\) lay at 0x")

    def test_a_thread_of_its_own(self):
        """#123177: PyTorch's tree belongs to a thread; by 2.11 another one gets a tree of its own, or an error."""
        program = ("%s\nimport threading\nf = torch.compile(lambda a: a * 2 + 1, mode='reduce-overhead')\n"
                   "x = torch.ones(8, device='cuda')\nfound = []\ndef work():\n  try:\n    with torch.no_grad():\n"
                   "      for _ in range(5): found.append(f(x).tolist() == [3.0] * 8)\n  except BaseException as e: found.append(type(e).__name__)\n"
                   "work()\nt = threading.Thread(target=work); t.start(); t.join(); print(found)")
        theirs, ours = (run_alone(program % first) for first in ("", "gt.patch()"))
        print("\n  PyTorch:", theirs[0].strip(), "ours:", ours[0].strip())
        self.assertEqual((ours[0], ours[2]), (theirs[0], theirs[2]), ours[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
