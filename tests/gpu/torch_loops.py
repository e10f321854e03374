#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops whose rounds the device starts, with PyTorch's own kernels on a GPU: equal to the same loop of Python, and the time of
both. usage: PYTHONPATH=the package's folder torch_loops.py [names of tests]"""
import ctypes
import statistics
import time
import unittest

import graphophone.torch as gt
import torch

VOCABULARY, WIDTH, HEADS, LAYERS, ROOM = 1024, 256, 4, 4, 256


class Decoder(torch.nn.Module):
    """A transformer of random weights with a static cache; a step takes one token and says the next one."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.token, self.place = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.Embedding(ROOM + 1, WIDTH)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)
        self.inputs = torch.nn.ModuleList(torch.nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.inner = torch.nn.ModuleList(torch.nn.Sequential(torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                                             torch.nn.Linear(4 * WIDTH, WIDTH)) for _ in range(LAYERS))
        self.register_buffer("cache", torch.zeros(LAYERS, 2, HEADS, ROOM, WIDTH // HEADS))
        self.register_buffer("places", torch.arange(ROOM))

    def forward(self, token, at):
        x, seen = self.token(token) + self.place(at), self.places <= at
        for layer in range(LAYERS):
            query, *new = self.inputs[layer](x).view(3, HEADS, 1, WIDTH // HEADS)
            keys, values = self.cache[layer]
            for cache, one in zip((keys, values), new):
                cache.index_copy_(1, at, one)
            scores = (query @ keys.transpose(1, 2) / 8.0).masked_fill(~seen, float("-inf"))
            x = x + (scores.softmax(-1) @ values).reshape(1, WIDTH)
            x = x + self.inner[layer](x)
        return self.head(x).argmax(-1)


class Decode:
    """token, at, out: what a loop carries. out[at] = token; the loop ends on `end`, or where out is full."""

    def __init__(self):
        self.model = Decoder().cuda().eval()
        with torch.no_grad():
            free = self.eager(*self.state(3), -1)[2].tolist()
        self.end = next(token for index, token in enumerate(free) if index >= 100 and token not in free[:index])

    def state(self, first):
        return torch.tensor([first], device="cuda"), torch.zeros(1, dtype=torch.int64, device="cuda"), torch.full((ROOM,), -1, device="cuda")

    def step(self, token, at, out):
        out.index_copy_(0, at, token)
        return self.model(token, at), at + 1, out

    def goes_on(self, token, at, out, end=None):
        return (token != (self.end if end is None else end)) & (at < ROOM)

    def eager(self, token, at, out, end=None):
        while self.goes_on(token, at, out, end).item():
            token, at, out = self.step(token, at, out)
        return token, at, out

    def replayed(self):
        """A round as a graph; the host asks after each one."""
        own, graph = self.state(3), gt.CUDAGraph()
        self.step(*own)
        with gt.graph(graph):
            new = self.step(*own)
            for to, by in zip(own, new):
                if to is not by:
                    to.copy_(by)
            flag = self.goes_on(*own)

        def run(*given):
            for to, by in zip(own, given):
                to.copy_(by)
            if self.goes_on(*own).item():
                graph.replay()
                while flag.item():
                    graph.replay()
            return own
        return run

    def loop(self, **options):
        return gt.make_while_loop(self.goes_on, self.step, self.state(3), ceiling=10 * ROOM, name="decode", **options)


def values(tensors):
    return [one.tolist() for one in tensors]


class Loops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(torch.no_grad())
        cls.decode = Decode()

    def test_decoding_that_ends_on_a_token(self):
        for options in ({}, {"way": "while"}, {"way": "tail"}, {"way": "host"}):
            loop = self.decode.loop(**options)
            for first in (3, 5, 8, self.decode.end):
                expected = values(self.decode.eager(*self.decode.state(first)))
                found = values(loop(*self.decode.state(first)))
                did = loop.wait()
                self.assertEqual((found, did["end"], did["steps"]), (expected, "done", expected[1][0]), options)
            self.assertTrue(expected[1] == [0])
            print("\n %s: %s" % (options, loop.ways["text"]))

    def test_the_end_is_in_the_middle(self):
        steps = self.decode.eager(*self.decode.state(3))[1].item()
        self.assertTrue(100 <= steps < ROOM, steps)

    def test_an_iteration_to_a_bound_has_the_bits_of_eager(self):
        torch.manual_seed(3)
        matrix = torch.rand(300, 300, device="cuda")
        matrix = matrix @ matrix.t()

        def body(x, change):
            y = matrix @ x
            y = y / y.norm()
            return y, (y - x).abs().max()
        for condition in (lambda x, change: change > 1e-6, lambda x, change: (change > 1e-6).long() * 3,
                          lambda x, change: (change > 1e-6).float(), lambda x, change: (change > 1e-6).int()):
            first = torch.ones(300, device="cuda"), torch.ones((), device="cuda")
            x, rounds = first, 0
            while condition(*x).item():
                x, rounds = body(*x), rounds + 1
            loop = gt.make_while_loop(condition, body, first, ceiling=1000)
            y = loop(*first)
            self.assertEqual(loop.wait()["steps"], rounds)
            self.assertGreater(rounds, 2)
            self.assertTrue(all(torch.equal(one, other) for one, other in zip(x, y)))

    def test_tensors_that_change_places(self):
        def body(at, one, other):
            return at + 1, other + 1, one
        state = [torch.full((5,), float(value), device="cuda") for value in (0, 10, 20)]
        x = tuple(state)
        for _ in range(7):
            x = body(*x)
        loop = gt.make_while_loop(lambda at, one, other: at[0] < 7, body, state, ceiling=9)
        self.assertEqual(values(loop(*state)), values(x))
        at, one, other = loop(*state)
        at.zero_()
        self.assertEqual(values(loop(at, other, one))[0], [7.0] * 5)

    def test_what_cannot_be_a_loop_is_refused(self):
        x = torch.ones(8, device="cuda")
        for error, text, body in (
                (ValueError, "sizes stay", lambda x: (torch.cat([x, x]),)),
                (gt._driver.gph.UnsupportedError, "draws random numbers", lambda x: (x + torch.rand_like(x),)),
                (RuntimeError, "first call that the driver refused", lambda x: (x + x.sum().item(),)),
                (gt._driver.gph.UnsupportedError, "host", lambda x: (self.with_host_node(x),))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                gt.make_while_loop(lambda x: x[0] < 5, body, (x,), ceiling=3)
        self.assertEqual(gt.make_while_loop(lambda x: x[0] < 5, lambda x: (x + 1,), (x,), ceiling=9)(x)[0].tolist(), [5.0] * 8)

    def with_host_node(self, x):
        keep = self.__dict__.setdefault("kept", ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda user: None))
        if torch.cuda.is_current_stream_capturing():
            gt._driver.call("cuLaunchHostFunc", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
                torch.cuda.current_stream().cuda_stream, ctypes.cast(keep, ctypes.c_void_p), None)
        return x + 1

    def test_time(self):
        """The same tokens by each way, in turns; medians of 7."""
        ways = {"eager": self.decode.eager, "a graph a round and item()": self.decode.replayed()}
        loops = {way: self.decode.loop(way=way) for way in ("while", "tail", "host")}
        for way, loop in loops.items():
            def run(*state, loop=loop):
                out = loop(*state)
                loop.wait()
                return out
            ways["loop, " + way] = run
        times, states = {name: [] for name in ways}, self.decode.state(3)
        steps = self.decode.eager(*self.decode.state(3))[1].item()
        for _ in range(8):
            for name, run in ways.items():
                state = [one.clone() for one in states]
                torch.cuda.synchronize()
                begun = time.perf_counter()
                run(*state)
                torch.cuda.synchronize()
                times[name].append(1e6 * (time.perf_counter() - begun) / steps)
        print("\n %d tokens, us a token:" % steps, ", ".join("%s %.1f" % (name, statistics.median(taken[1:])) for name, taken in times.items()))


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__)
    unittest.main(verbosity=2)
