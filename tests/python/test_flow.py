# SPDX-License-Identifier: Apache-2.0
"""Branches, loops and choices of captures; loops and requests that the device serves."""
import array
import signal
import struct
import threading
import time

from common import COUNT, Case, gph, main, values_of

# step: x[0] = x[0] + 1; word = x[0] < limit. count_of: word += 1. add_block: y[0] += value of the request
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry step(.param .u64 px, .param .u64 pw, .param .u32 plimit)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<4>;
    ld.param.u64 %d1, [px]; ld.param.u64 %d2, [pw]; ld.param.u32 %r1, [plimit];
    ld.global.u32 %r2, [%d2]; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra DONE;
    ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.global.u32 [%d1], %r3;
    setp.lt.u32 %p1, %r3, %r1; selp.u32 %r4, 1, 0, %p1; st.global.u32 [%d2], %r4;
DONE:
    ret;
}
.visible .entry raise(.param .u64 px)
{
    .reg .b32 %r<3>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [px]; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry take(.param .u64 py, .param .u64 pblock)
{
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [py]; ld.param.u64 %d2, [pblock];
    ld.global.u64 %d3, [%d2]; atom.global.add.u64 %d4, [%d1], %d3;
    ret;
}
"""


class Flows(Case):
    def setUp(self):
        super().setUp()
        self.words = self.pool.tensor(4, "u32", stream=self.stream)
        self.word = self.runtime.tensor(self.words.data, 1, "u32", owner=self.words)

    def set_words(self, *values):
        self.words.copy_from(array.array("I", (list(values) + [0] * 4)[:4]))

    def get_words(self):
        out = array.array("I", [0] * 4)
        self.words.copy_to(out)
        return list(out)

    def kernel(self, name):
        return self.runtime.module(PTX).function(name)

    def run_with(self, replay, *values):
        self.set_words(*values)
        self.put(self.y, self.x, 0.0)
        replay(self.stream)
        self.stream.synchronize()
        return values_of(self.y)[0]


class Captures(Flows):
    def test_a_branch_runs_as_the_word_says(self):
        with self.runtime.capture(self.stream) as capture:
            with capture.region("gate"), capture.if_(self.word, branches=2) as branch:
                self.put(self.y, self.x, 1.0)
                branch.else_()
                self.put(self.y, self.x, 2.0)
            self.put(self.y, self.y, 10.0)
        replay = capture.recording.instantiate()
        self.assertEqual([self.run_with(replay, word) for word in (0, 1, 7)], [12.0, 11.0, 11.0])
        flow, = capture.recording.flows
        self.assertEqual((flow["kind"], flow["region"], flow["depth"], len(flow["bodies"])), ("if", "gate", 0, 2))

    def test_a_comparison_decides(self):
        other = self.runtime.tensor(self.words.data + 4, 1, "u32", owner=self.words)
        with self.runtime.capture(self.stream) as capture:
            with capture.if_((self.word, "<", 5)):
                self.put(self.y, self.y, 1.0)
            with capture.if_((self.word, ">=", other)):
                self.put(self.y, self.y, 2.0)
            with capture.if_((self.x, "==", 0.0)):
                self.put(self.y, self.y, 4.0)
        replay = capture.recording.instantiate()
        self.assertEqual([self.run_with(replay, *w) for w in ((4, 4), (5, 6), (9, 8))], [7.0, 4.0, 6.0])

    def test_a_loop_in_a_choice(self):
        """switch: case 0 nothing, case 1 skipped, case 2 a loop of rounds until the word is 0."""
        step = self.kernel("step")
        with self.runtime.capture(self.stream) as capture:
            with capture.switch(self.word, 3) as choice:
                choice.case(2)
                counter, going = self.words.data + 4, self.words.data + 8
                word = self.runtime.tensor(going, 1, "u32", owner=self.words)
                with capture.while_(word):
                    step(self.stream, 1, 1, counter, going, 6)
        replay = capture.recording.instantiate()
        for first, after in ((0, 0), (1, 0), (2, 6), (3, 0)):
            self.set_words(first, 0, 1)
            replay(self.stream)
            self.stream.synchronize()
            self.assertEqual(self.get_words()[1], after)
        self.assertEqual([(f["kind"], f["depth"]) for f in capture.recording.flows], [("switch", 0), ("while", 1)])

    def test_memory_of_a_body_is_the_pools(self):
        pool = self.runtime.pool()
        with self.runtime.capture(self.stream, pool=pool) as capture:
            with capture.if_(self.word):
                middle = pool.tensor(COUNT, stream=self.stream)
                self.put(middle, self.x, 3.0)
                self.put(self.y, middle, 0.0)
                del middle
        replay = capture.recording.instantiate()
        self.assertEqual([self.run_with(replay, word) for word in (0, 1)], [0.0, 3.0])

    def test_wrong_conditions_are_named(self):
        wide = self.pool.tensor(1, "f64", stream=self.stream)
        for condition, text in ((wide, "word of 4 bytes"), ((self.word, "~", 1), "one of <"),
                                ((self.word, "<", self.x), "u32 is compared with f32"),
                                ((self.pool.tensor(1, "f16", stream=self.stream), "<", 1), "f16 are not compared")):
            with self.assertRaisesRegex(gph.InvalidError, text), self.runtime.capture(self.stream) as capture:
                capture.if_(condition)
        with self.assertRaises(TypeError), self.runtime.capture(self.stream) as capture:
            capture.if_((self.word, "<", "x"))
        with self.assertRaises(gph.StateError), self.runtime.capture(self.stream) as capture:
            capture.if_(self.word).else_()
        with self.assertRaises(gph.StateError):
            capture.if_(self.word).__enter__()

    def test_an_exception_in_a_body_goes_on(self):
        with self.assertRaises(ZeroDivisionError), self.runtime.capture(self.stream) as capture:
            with capture.while_(self.word):
                self.put(self.y, self.x)
                raise ZeroDivisionError
        self.assertFalse(self.stream.is_capturing)

    def test_a_function_that_sets_the_handle_is_called(self):
        """One that fails ends the capture with its exception."""
        def wrong(stream, handle):
            self.assertGreater(handle, 0)
            raise KeyError("no kernel")

        with self.assertRaisesRegex(KeyError, "no kernel"), self.runtime.capture(self.stream) as capture:
            with capture.if_(wrong):
                pass


class Loops(Flows):
    def make(self, limit=10, ceiling=100, **options):
        step = self.kernel("step")
        with self.runtime.capture(self.stream) as capture:
            step(self.stream, 1, 1, self.words.data + 4, self.word, limit)
        return self.runtime.loop(capture.recording, self.word, ceiling, **options)

    def test_rounds_run_until_the_word_is_0(self):
        for way in ("fastest", "while", "tail", "host"):
            with self.subTest(way):
                loop = self.make(way=way, name="count")
                self.set_words(1, 0)
                loop(self.stream)
                result = loop.wait(self.stream)
                self.assertEqual((result["end"], result["steps"], result["condition"]), ("done", 10, 0))
                self.assertEqual(self.get_words()[1], 10)
                self.assertEqual((loop.progress["launched"], loop.progress["ended"]), (1, 1))
                self.assertIn(loop.ways["way"], ("while", "tail", "host"))
                self.assertEqual(loop.exec is None, loop.ways["way"] == "host")

    def test_a_comparison_is_a_condition(self):
        count = self.runtime.tensor(self.words.data, 1, "u32", owner=self.words)
        with self.runtime.capture(self.stream) as capture:
            self.kernel("raise")(self.stream, 1, 1, count)
        loop = self.runtime.loop(capture.recording.graphs[0], (count, "<", 7), 100, way="while")
        self.set_words(3)
        loop(self.stream)
        self.assertEqual(loop.wait(self.stream)["steps"], 4)

    def test_a_ceiling_is_an_error_that_names_the_loop(self):
        loop = self.make(limit=1000, ceiling=20, name="greedy", way="while")
        self.set_words(1, 0)
        loop(self.stream)
        with self.assertRaisesRegex(gph.StateError, "greedy"):
            loop.wait(self.stream)
        loop.limits(2000)
        loop(self.stream)
        self.assertEqual(loop.wait(self.stream)["end"], "done")

    def test_another_thread_aborts_it(self):
        loop = self.make(limit=2**32 - 1, ceiling=2**40, way="while", poll_ns=1)
        self.set_words(1, 0)
        loop(self.stream)
        seen = []
        threading.Timer(0.2, loop.abort).start()
        with self.assertRaisesRegex(gph.StateError, "abort"):
            loop.wait(self.stream, lambda steps, ceiling, what: seen.append((steps, ceiling, what)))
        self.assertEqual(seen[-1][1:], (2**40, "loop"))
        self.assertGreater(seen[-1][0], 0)

    def test_ctrl_c_ends_the_wait_and_abort_the_loop(self):
        loop = self.make(limit=2**32 - 1, ceiling=2**40, way="while", poll_ns=1)
        self.set_words(1, 0)
        loop(self.stream)
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            # In the block: on a busy machine the signal may come before start() has returned.
            threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
            loop.wait(self.stream)
        self.assertLess(time.monotonic() - begun, 5)
        loop.abort()
        with self.assertRaises(gph.StateError):
            loop.wait(self.stream)

    def test_wrong_arguments_are_named(self):
        for options, text in (({"way": "sideways"}, "not one of fastest"), ({"ceiling": 0}, "ceiling")):
            with self.assertRaisesRegex(gph.InvalidError, text):
                self.make(**options)
        with self.assertRaisesRegex(TypeError, "word or a comparison"):
            self.runtime.loop(1, lambda stream, handle: None, 10)
        with self.assertRaisesRegex(TypeError, "CUgraph"):
            self.runtime.loop("graph", self.word, 10)


class Dispatches(Flows):
    def make(self, **options):
        self.sum = self.pool.tensor(2, "u64", stream=self.stream)
        self.sum.copy_from(struct.pack("QQ", 0, 0))
        dispatch = self.runtime.dispatch(**options)
        for kind in (3, 5):
            with self.runtime.capture(self.stream) as capture:
                self.kernel("take")(self.stream, 1, 1, self.sum.data + 8 * (kind == 5), dispatch.block)
            dispatch.add(kind, capture.recording)
        return dispatch

    def sums(self):
        out = bytearray(16)
        self.sum.copy_to(out)
        return struct.unpack("QQ", out)

    def test_requests_are_served(self):
        for order in ("side by side", "in order"):
            with self.subTest(order), self.make(order=order, wait_ns=10**9) as dispatch:
                numbers = [dispatch.send(3 if i % 2 else 5, struct.pack("Q", i)) for i in range(40)]
                self.assertEqual(numbers, list(range(1, 41)))
                dispatch.wait(numbers[-1])
                dispatch.wait()
                self.assertEqual(self.sums(), (sum(range(1, 40, 2)), sum(range(0, 40, 2))))
                self.assertEqual((dispatch.done, dispatch.stats()["sent"], dispatch.stats()["graphs"]), (40, 40, 2))

    def test_wrong_requests_are_named(self):
        dispatch = self.make()
        with self.assertRaises(gph.StateError):
            dispatch.send(3)
        with dispatch:
            with self.assertRaises(gph.InvalidError):
                dispatch.send(4)
            with self.assertRaisesRegex(gph.InvalidError, "56 bytes"):
                dispatch.send(3, bytes(56))
            with self.assertRaises(gph.InvalidError):
                dispatch.wait(99)
            with self.assertRaises(gph.StateError):
                dispatch.add(6, 1)
        with self.assertRaisesRegex(gph.InvalidError, "order"):
            self.runtime.dispatch(order="random")


if __name__ == "__main__":
    main()
