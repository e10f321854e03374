# SPDX-License-Identifier: Apache-2.0
"""Objects that several threads share, and objects of a thread's own, all in use together. Where Python is free-threaded it has
to stay so: PYTHON_GIL=0. A thread sanitizer sees the rest, where Python was built with it."""
import array
import sys
import sysconfig
import threading
import unittest

import common
from common import COUNT, Case, gph, main, values_of

THREADS, ROUNDS = 4, 30
is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


class Threads(Case):
    def together(self, *bodies):
        """Runs each body(number) in a thread of its own, all from one moment on; raises what one of them raised first."""
        barrier, errors = threading.Barrier(len(bodies)), []

        def run(number, body):
            try:
                barrier.wait(30)
                body(number)
            except BaseException as error:
                errors.append(error)
        threads = [threading.Thread(target=run, args=(number, body)) for number, body in enumerate(bodies)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        if errors:
            raise errors[0]

    def plus(self, call, x, *rest):
        out = call.empty(x.shape)
        self.add(call.stream, 1, COUNT, out, x, x.shape[0], 1.0)
        return out

    def fresh(self, first=0.0):
        one = self.pool.tensor(COUNT, stream=self.stream)
        one.copy_from(array.array("f", [first] * COUNT))
        return one

    @unittest.skipUnless(is_free, "this Python has a GIL")
    def test_the_import_leaves_the_gil_off(self):
        self.assertFalse(sys._is_gil_enabled())

    def test_captures_of_their_own(self):
        def body(number):
            stream, pool, x = self.runtime.stream(), self.runtime.pool(), self.fresh(number)
            y = self.fresh()
            for turn in range(ROUNDS // 3):
                with self.runtime.capture(stream, pool=pool, mode="thread") as capture:
                    with capture.region("one"):
                        middle = pool.tensor(COUNT, stream=stream)
                        self.add(stream, 1, COUNT, middle, x, COUNT, float(turn))
                        self.add(stream, 1, COUNT, y, middle, COUNT, 1.0)
                        del middle
                replay = capture.recording.instantiate()
                replay(stream)
                stream.synchronize()
                self.assertEqual(values_of(y)[0], number + turn + 1.0)
        self.together(*[body] * THREADS)

    def test_a_callable_of_all(self):
        step = self.runtime.callable(self.plus, (self.x,), outputs=1, pool=self.pool, stream=self.stream)

        def body(number):
            given = self.fresh(number)
            for _ in range(ROUNDS):
                out = step(given)
                out.shape, out.data, out.__dlpack_device__()
                del out
        self.together(*[body] * THREADS)
        given = self.fresh(7.0)
        out = step(given)
        self.stream.synchronize()
        self.assertEqual(values_of(out)[0], 8.0)

    def test_a_tree_of_all(self):
        tree = self.runtime.tree(stream=self.stream)
        step = tree.function(self.plus, inputs=1, outputs=1)

        def body(number):
            for _ in range(ROUNDS):
                out = step(self.x)
                try:
                    out.tensor()
                except gph.StateError:  # another thread has begun another path
                    pass
                tree.text(), tree.stats()
        self.together(*[body] * THREADS)

    def test_a_cache_of_all(self):
        axes = [{"name": "n", "values": [32, 64]}]
        cache = self.runtime.cache(self.plus, axes, inputs=[("f32", ("n",))], outputs=[("f32", ("n",))])
        cache.start(self.stream, False)
        sizes = {32: self.pool.tensor(32, stream=self.stream), 64: self.x}

        def body(number):
            stream, size = self.runtime.stream(), 32 if number % 2 else 64
            for _ in range(ROUNDS):
                cache(size, sizes[size], stream=stream)
                cache.last, cache.stats()
            stream.synchronize()
        self.together(*[body] * THREADS)

    def test_a_launcher_that_is_armed_and_asked(self):
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x, 1.0)
        graph, streams = capture.recording.graphs[0], self.runtime.stream()
        launcher = gph.Launcher()

        def of(argument):
            return streams.handle

        def arm():
            launcher.arm(self.runtime, graph, of, 0, before=lambda: None)
        arm()

        def replays(number):
            for _ in range(ROUNDS):
                try:
                    launcher.replay()
                except (gph.StateError, AttributeError):  # it is not armed now, or lost
                    pass

        def changes(number):
            for turn in range(50 * ROUNDS):
                launcher.lost = "gone, %d" % turn
                launcher.lost, launcher.before, launcher.handle, launcher.pulls
                launcher.before = lambda: None
                launcher.lost = None
        self.together(replays, replays, changes, changes)
        launcher.lost = None
        launcher.replay()
        streams.synchronize()

    def test_places_that_another_thread_changes(self):
        axes, stop = [{"name": "n", "values": [32, 64]}], threading.Event()

        def changes(number):
            turn = 0
            while not stop.is_set():
                axes[0]["name"] = "n%d" % (turn % 7)
                turn += 1

        def makes(number):
            try:
                for _ in range(ROUNDS // 3):
                    try:
                        self.runtime.cache(self.plus, axes, inputs=[("f32", ("n",))], outputs=[("f32", ("n",))])
                    except gph.InvalidError:  # the axis has another name now
                        pass
            finally:
                stop.set()
        self.together(changes, makes)

    def test_errors_and_questions(self):
        def body(number):
            for _ in range(ROUNDS // 3):
                gph.explain(904), gph.near("cuGraphLaunc"), gph.last_cause()
                with self.assertRaises(TypeError):
                    self.put("x", self.x)
                with self.assertRaises(gph.Error):
                    gph.Graph.load("/nowhere")
        self.together(*[body] * THREADS)

    def test_types_that_are_seen_for_the_first_time(self):
        """The cache of types is written by whoever comes first."""
        kinds = [type("Speaks%d" % index, (), {"__dlpack__": lambda self, **more: self.of.__dlpack__(**more),
                                              "__dlpack_device__": lambda self: self.of.__dlpack_device__()}) for index in range(20)]

        def body(number):
            stream = self.runtime.stream()
            for kind in kinds:
                one = kind()
                one.of = self.x
                self.put(self.y, one, 1.0, stream)
            stream.synchronize()
        self.together(*[body] * THREADS)


if __name__ == "__main__":
    common.runtime()
    main()
