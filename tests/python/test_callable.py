# SPDX-License-Identifier: Apache-2.0
"""Functions that are recorded: callables, trees, caches, generators."""
import gc
import threading
import warnings
import weakref

from common import COUNT, Case, fill, gph, main, needs_numpy, needs_soft, numpy, values_of


class Callables(Case):
    def step(self, call, x):
        """x + 2 by a temporary."""
        middle = call.empty(x.shape)
        self.put(middle, x, stream=call.stream)
        out = call.empty(x.shape)
        self.put(out, middle, stream=call.stream)
        return out

    def record(self, function=None, inputs=None, **options):
        options = {"outputs": 1, "pool": self.pool, "stream": self.stream, **options}
        return self.runtime.callable(function or self.step, inputs or (self.x,), **options)

    def test_a_call_replays_on_new_data(self):
        other = self.pool.tensor(COUNT, stream=self.stream)
        fill(other, [10.0] * COUNT)
        step = self.record()
        out = step(self.x)
        self.stream.synchronize()
        self.assertEqual(values_of(out), [i + 2.0 for i in range(COUNT)])
        self.assertIs(step(other, stream=self.stream), out)
        self.stream.synchronize()
        self.assertEqual(values_of(out), [12.0] * COUNT)
        self.assertEqual(step.epoch, 2)
        step.check_epoch(2)
        with self.assertRaises(gph.StateError):
            step.check_epoch(1)

    def test_none_is_what_lies_there(self):
        step = self.record()
        fill(step.input(0), [5.0] * COUNT)
        out = step(None)
        self.stream.synchronize()
        self.assertEqual(values_of(out)[0], 7.0)
        with self.assertRaisesRegex(gph.InvalidError, "input 1 is not one of the 1"):
            step.input(1)

    def test_differences_are_named(self):
        step = self.record(key=(1, 2))
        small = self.pool.tensor(COUNT - 1, stream=self.stream)
        with self.assertRaisesRegex(gph.InvalidError, r"input 0: shape\[0\] is 63, recorded 64"):
            step(small)
        self.assertEqual(step.check(self.x), [])
        self.assertEqual(len(step.check(small, key=(1, 3))), 2)
        with self.assertRaisesRegex(gph.InvalidError, "key"):
            step(self.x, key=(1, 3))
        with self.assertRaisesRegex(TypeError, "not stram"):
            step(self.x, stram=self.stream)
        with self.assertRaises(gph.InvalidError):
            step(self.x, self.x)
        static = self.record(modes="static")
        with self.assertRaises(gph.InvalidError):
            static(self.y)
        static(self.x)

    def test_outputs_are_copied_where_a_call_says(self):
        step = self.record(outputs=["copied"])
        self.assertIs(step(self.x, out=self.y), self.y)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[3], 5.0)
        with self.assertRaisesRegex(gph.InvalidError, "out has 0 tensors, 1 outputs are copied"):
            step(self.x)

    def test_outputs_are_recorded_into_a_tensor(self):
        def into(call, x):
            self.put(call.outputs[0], x, stream=call.stream)

        step = self.record(lambda call, x: into(call, x) or (None,), outputs=[self.y])
        self.assertEqual(step(self.x).data, self.y.data)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[3], 4.0)

    def test_what_a_function_is_called_with(self):
        seen = []

        def look(call, x, y):
            seen.append((call.phase, call.key, call.rng, call.capture is not None, x.shape, y.dtype))
            with self.subTest("regions"):
                if call.capture:
                    with call.capture.region("inside"):
                        self.put(y, x, stream=call.stream)
            seen.append(call)

        step = self.record(look, (self.x, self.y), outputs=0, warmups=1, key=7, modes=["copy", "static"],
                           keep_graph=True)
        self.assertEqual([seen[0][:4], seen[2][:4]], [("warmup", (7,), 0, False), ("capture", (7,), 0, True)])
        self.assertIsNone(step(self.x, self.y))
        with self.assertRaisesRegex(gph.StateError, "the call is over"):
            seen[1].empty(4)
        self.assertIsInstance(step.graph, int)
        self.assertTrue(step.exec.handle)
        self.assertTrue(self.pool.ranges(step.recording_id))

    def test_an_exception_of_the_function_goes_on(self):
        def fail(call, x):
            raise LookupError("no weights")

        before = self.pool.stats()["allocation_count"]
        with self.assertRaisesRegex(LookupError, "no weights"):
            self.record(fail)
        self.assertFalse(self.stream.is_capturing)

        kept = []

        def fail_late(call, x):
            kept.append(call.empty(x.shape))
            raise LookupError("late")

        with self.assertRaises(LookupError):
            self.record(fail_late)
        self.assertEqual(self.pool.stats()["allocation_count"], before)
        kept.clear()
        self.assertEqual(self.pool.stats()["allocation_count"], before, "it was given back once")
        with self.assertRaisesRegex(gph.InvalidError, "gave 2 outputs, 1 were said"):
            self.record(lambda call, x: (x, x))
        with self.assertRaisesRegex(TypeError, "neither __dlpack__"):
            self.record(lambda call, x: "tensor")
        self.record()

    def test_outputs_outlive_the_callable(self):
        step = self.record()
        out = step(self.x)
        del step
        self.stream.synchronize()
        self.assertEqual(values_of(out)[0], 2.0)

    def test_a_function_that_holds_its_callable_is_collected(self):
        class Model:
            def __init__(model, case):
                model.case = case
                model.step = case.record(model.forward)

            def forward(model, call, x):
                return model.case.step(call, x)

        model = Model(self)
        model.step(self.x)
        gone = weakref.ref(model)
        del model
        gc.collect()
        self.assertIsNone(gone())

    def test_threads_take_turns(self):
        step = self.record()
        failures = []

        def run():
            try:
                for _ in range(200):
                    step(self.x)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual((failures, step.epoch), ([], 800))

    def test_a_generator_goes_on(self):
        rng = self.runtime.rng(42)

        def draw(call, x):
            self.assertNotEqual(call.rng, 0)
            call.draw(4)
            return x

        step = self.record(draw, rng=rng)
        self.assertEqual(rng.state, (42, 0))
        step(self.x)
        step(self.x)
        self.stream.synchronize()
        self.assertEqual(rng.state, (42, 8))
        self.assertEqual(rng.take(4), (42, 8))
        rng.state = (1, 100)
        self.assertEqual(rng.state, (1, 100))
        with self.assertRaises(TypeError):
            rng.state = 3

    @needs_numpy
    @needs_soft
    def test_numpy_arrays_of_softcudas_memory_are_inputs(self):
        step = self.record(inputs=(numpy.from_dlpack(self.x),))
        out = numpy.from_dlpack(step(numpy.from_dlpack(self.x)))
        self.stream.synchronize()
        self.assertEqual(list(out), [i + 2.0 for i in range(COUNT)])


@needs_numpy
@needs_soft
class Arrays(Case):
    """What is read of NumPy's arrays; a callable refuses a difference from what it was recorded with, by name."""

    def record(self, sample):
        return self.runtime.callable(lambda call, x: self.put(self.y, self.x, stream=call.stream), (sample,),
                                     pool=self.pool, stream=self.stream, modes="static")

    def test_every_element_type_is_known(self):
        for name, ours in (("?", "bool"), ("b", "i8"), ("B", "u8"), ("h", "i16"), ("H", "u16"), ("i", "i32"),
                           ("I", "u32"), ("l", "i64"), ("L", "u64"), ("q", "i64"), ("Q", "u64"), ("e", "f16"),
                           ("f", "f32"), ("d", "f64"), ("F", "c64"), ("D", "c128")):
            array = numpy.zeros((2, 3), name)
            step = self.record(self.runtime.tensor(array.ctypes.data, (2, 3), ours, owner=array))
            self.assertEqual(step.check(array), [])
            self.assertIn("input 0", step.check(numpy.zeros((2, 3), "f" if ours != "f32" else "d"))[0])

    def test_every_layout_is_known(self):
        base = numpy.arange(60, dtype="f4").reshape(3, 4, 5)
        for view, shape, strides in ((base[:, 1:, ::2], (3, 3, 3), (20, 5, 2)), (base.T, (5, 4, 3), (1, 5, 20)),
                                     (base[1, 2, 3:4].reshape(()), (), ()),
                                     (numpy.broadcast_to(base[0], (2, 4, 5)), (2, 4, 5), (0, 5, 1))):
            address = view.__array_interface__["data"][0]
            step = self.record(self.runtime.tensor(address, shape, "f32", strides=strides, owner=base))
            self.assertEqual(step.check(view), [])

    def test_what_is_not_plain_is_refused(self):
        odd = numpy.zeros(3, [("a", "u1"), ("b", "<f4")])["b"]
        for array in (numpy.zeros(4, ">f4"), numpy.zeros(4, "g"), numpy.zeros(4, "S3"), numpy.zeros(4, object), odd,
                      numpy.zeros((1,) * 9, "f4")):
            with self.assertRaises((gph.InvalidError, TypeError)):
                self.put(self.y, array)

    def test_a_class_of_its_own_is_read_by_its_buffer(self):
        class Mine(numpy.ndarray):
            pass

        array = numpy.zeros(COUNT, "f4").view(Mine)
        step = self.record(self.runtime.tensor(array.ctypes.data, COUNT, "f32", owner=array))
        self.assertEqual(step.check(array), [])


class Trees(Case):
    def setUp(self):
        super().setUp()
        self.tree = self.runtime.tree(stream=self.stream)

    def double(self, call, x):
        out = call.empty(x.shape)
        self.put(out, x, stream=call.stream)
        return out

    def test_the_third_call_is_replayed(self):
        first = self.tree.function(self.double, inputs=1, outputs=1, name="first", root=True)
        second = self.tree.function(self.double, inputs=1, outputs=1, name="second")
        actions = []
        for _ in range(4):
            middle = first(self.x)
            actions.append(self.tree.event["action"])
            out = second(middle)
            actions.append(self.tree.event["action"])
            self.stream.synchronize()
            self.assertEqual(values_of(out.tensor())[1], 3.0)
            del middle, out
        self.assertEqual(actions[:2], ["warmed"] * 2)
        self.assertEqual(actions[-2:], ["replayed"] * 2)
        stats = self.tree.stats()
        self.assertEqual((stats["calls"], stats["recordings"]), (8, 2))
        self.assertIn("first", self.tree.text())
        self.assertTrue(self.tree.text("dot").startswith("digraph"))
        self.assertTrue(str(self.tree))

    def test_an_overwritten_output_says_so(self):
        first = self.tree.function(self.double, inputs=1, outputs=1, name="first", root=True)
        kept = None
        for _ in range(4):
            last, kept = kept, first(self.x)
        with self.assertRaisesRegex(gph.StateError, "first"):
            last.tensor()
        self.stream.synchronize()
        kept.copy_to(self.y)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[1], 2.0)
        kept.release()
        with self.assertRaises(gph.StateError):
            kept.tensor()

    def test_memory_goes_with_the_last_reference(self):
        first = self.tree.function(self.double, inputs=1, outputs=1)
        out = first(self.x)
        self.assertEqual(self.tree.stats()["live_outputs"], 1)
        del out
        self.assertEqual(self.tree.stats()["live_outputs"], 0)

    def test_an_output_that_goes_inside_a_call_is_released_after_it(self):
        first = self.tree.function(self.double, inputs=1, outputs=1)
        held = [first(self.x)]

        def dropping(call, x):
            held.clear()
            return self.double(call, x)

        second = self.tree.function(dropping, inputs=1, outputs=1)
        out = second(self.x)
        self.assertEqual(self.tree.stats()["live_outputs"], 1)
        del out

    def test_a_call_from_inside_is_refused(self):
        inner = self.tree.function(self.double, inputs=1, outputs=1)
        outer = self.tree.function(lambda call, x: inner(x), inputs=1, outputs=1)
        with self.assertRaisesRegex(gph.StateError, "from inside a call"):
            outer(self.x)
        inner(self.x)

    def test_arguments_are_checked(self):
        keyed = self.tree.function(self.double, inputs=1, outputs=1, key_count=1, name="keyed")
        keyed(self.x, key=(1,))
        with self.assertRaisesRegex(TypeError, "keyed has 1 inputs, 2 were given"):
            keyed(self.x, self.x, key=(1,))
        with self.assertRaisesRegex(gph.InvalidError, "key has 0 words, 1 were said"):
            keyed(self.x)
        with self.assertRaisesRegex(gph.InvalidError, "static names input 3"):
            self.tree.function(self.double, inputs=1, outputs=1, static=(3,))
        self.tree.close()
        with self.assertRaisesRegex(gph.StateError, "closed"):
            keyed(self.x, key=(1,))
        self.tree.close()

    def test_a_model_that_holds_its_tree_is_collected(self):
        class Model:
            def __init__(model, case):
                model.case, model.tree = case, case.runtime.tree()
                model.forward = model.tree.function(model.run, inputs=1, outputs=1)

            def run(model, call, x):
                return model.case.double(call, x)

        model = Model(self)
        for _ in range(3):
            model.forward(self.x)
        gone = weakref.ref(model)
        del model
        gc.collect()
        self.assertIsNone(gone())


class Caches(Case):
    def setUp(self):
        super().setUp()
        self.calls = []

    def plus(self, call, x, sizes):
        self.calls.append((call.phase, call.key))
        out = call.empty(x.shape)
        self.add(call.stream, 1, 64, out, x, x.shape[0], 1.0)
        return out

    def make(self, **options):
        options = {"inputs": [("f32", ("tokens",), "zero")], "outputs": [("f32", ("tokens",))], **options}
        return self.runtime.cache(self.plus, [{"name": "tokens", "values": [4, 16, 64]}], **options)

    def test_sizes_are_rounded_up(self):
        cache = self.make()
        seen = []
        cache.start(self.stream, lambda done, total, phase: seen.append((done, total, phase)))
        self.assertEqual(seen[-1], (3, 3, "capture"))
        self.assertEqual((len(cache), cache.ladders), (3, ((4, 16, 64),)))
        self.calls.clear()
        x = self.runtime.tensor(self.x.data, 10)
        out = cache(10, x, stream=self.stream)
        self.stream.synchronize()
        self.assertEqual((out.shape, values_of(out, 10)), ((10,), [i + 1.0 for i in range(10)]))
        self.assertEqual(cache.last["verdict"], "padded")
        self.assertEqual(cache.find(16)["verdict"], "exact")
        self.assertEqual(cache.find((100,))["verdict"], "eager")
        self.assertIn("beyond", cache.find(100)["text"])
        self.assertEqual(self.calls, [], "a hit runs no Python")
        target = self.runtime.tensor(self.y.data, 10)
        self.assertIs(cache(10, x, stream=self.stream, out=target), target)
        self.stream.synchronize()
        self.assertEqual(values_of(target, 10)[9], 10.0)
        self.assertEqual(cache.stats()["padded"], 2)
        self.assertIn("tokens", str(cache))

    def test_keys_are_replayed_by_number(self):
        cache = self.make()
        cache.start(self.stream, False)
        key = cache.key(64)
        fill(cache.input(key, 0), range(64))
        cache.replay(key, self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(cache.output(key, 0))[63], 64.0)
        self.assertEqual(cache.key_info(key)["values"], (64,))
        cache.evict(key)
        with self.assertRaises(gph.StateError):
            cache.output(key, 0)
        self.assertIsNone(cache.key(5))

    def test_misses_are_captured_by_and_by(self):
        cache = self.make(lazy="work")
        x = self.runtime.tensor(self.x.data, 3)
        cache(3, x, stream=self.stream)
        self.assertEqual(cache.last["verdict"], "miss")
        self.assertEqual(cache.work(self.stream), ("capture", 0))
        cache(3, x, stream=self.stream)
        self.assertEqual(cache.last["verdict"], "padded")
        self.stream.synchronize()

    def test_a_start_can_be_ended(self):
        cache = self.make()

        def end(done, total, phase):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            cache.start(self.stream, end)
        cache.start(self.stream, False)

    def test_a_start_goes_on_after_a_key_that_fails(self):
        """Its first exception is the start's; the function is called for other keys without it."""
        for wrong in (gph.OutOfMemoryError, ZeroDivisionError, KeyboardInterrupt):
            captured = []

            def work(call, x, sizes):
                if call.phase == "capture":
                    captured.append(x.shape[0])
                    if x.shape[0] > 16:
                        raise wrong("of %d" % x.shape[0])
                out = call.empty(x.shape)
                self.add(call.stream, 1, COUNT, out, x, x.shape[0], 1.0)
                return out

            cache = self.runtime.cache(work, [{"name": "n", "values": [16, 32, 64]}], inputs=[("f32", ("n",))],
                                       outputs=[("f32", ("n",))])
            with self.subTest(wrong.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.assertRaisesRegex(wrong, "of 64"):
                    cache.start(self.stream, False)
                if wrong is KeyboardInterrupt:
                    self.assertEqual(captured, [64])
                else:
                    self.assertEqual(captured, [64, 32, 16])
                    cache(16, self.runtime.tensor(self.x.data, 16), stream=self.stream)
                    self.assertEqual(cache.last["verdict"], "exact")

    def test_a_key_that_fails_in_a_call_runs_eagerly(self):
        def work(call, x, sizes):
            if call.phase == "capture":
                raise ValueError("cannot be captured")
            out = call.empty(x.shape)
            self.add(call.stream, 1, COUNT, out, x, x.shape[0], 1.0)
            return out

        cache = self.runtime.cache(work, [{"name": "n", "values": [16, 64]}], inputs=[("f32", ("n",))],
                                   outputs=[("f32", ("n",))], lazy="call")
        with self.assertWarnsRegex(gph.Warning, "cannot be captured"):
            for _ in range(4):
                out = cache(16, self.runtime.tensor(self.x.data, 16), stream=self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(out, 16)[3], 4.0)

    def test_wrong_axes_are_named(self):
        for axis, words in (({"name": "n"}, "not just one of"), ({"name": "n", "values": [2, 2]}, "2")):
            with self.assertRaisesRegex(gph.InvalidError, words):
                self.runtime.cache(self.plus, [axis])
        with self.assertRaisesRegex(gph.InvalidError, "axis rows"):
            self.make(inputs=[("f32", ("rows",))])
        with self.assertRaisesRegex(TypeError, "an axis is a dict"):
            self.runtime.cache(self.plus, ["n"])
        self.assertEqual(len(self.make(wanted=lambda values: values[0] > 4)), 3)
        with self.assertRaises(ZeroDivisionError):
            self.make(wanted=lambda values: 1 / 0)


if __name__ == "__main__":
    main()
