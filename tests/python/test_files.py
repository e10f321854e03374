# SPDX-License-Identifier: Apache-2.0
"""Slots, recipes, the doctor's findings, the knowledge base."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from common import COUNT, PTX, Case, fill, gph, main, values_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Slots(Case):
    def record(self, slots):
        with self.runtime.capture(self.stream) as capture:
            slots.feed(self.stream)
            self.add(self.stream, 1, COUNT, self.y, slots.address("in"), COUNT, 1.0)
        return capture.recording.instantiate()

    def test_what_is_bound_is_copied(self):
        slots = self.runtime.slots([("in", "copy", 4 * COUNT)])
        replay = self.record(slots)
        other = self.pool.tensor(COUNT, stream=self.stream)
        fill(other, [10.0] * COUNT)
        for buffer, value in ((self.x, 1.0), (other, 11.0)):
            slots.bind("in", buffer)
            slots.launch(replay.exec(), self.stream)
            self.stream.synchronize()
            self.assertEqual(values_of(self.y)[0], value)
        self.assertEqual((slots.stats()["launch_count"], slots.windows, len(slots)), (2, 1, 1))

    def test_wrong_slots_are_named(self):
        slots = self.runtime.slots([("in", "copy", 4 * COUNT), (None, "copy", 64)])
        with self.assertRaisesRegex(gph.InvalidError, "name out"):
            slots.bind("out", self.x)
        with self.assertRaisesRegex(gph.InvalidError, "slot 2 is not one of the 2"):
            slots.address(2)
        with self.assertRaisesRegex(gph.InvalidError, "'move', not one of copy, indirect, remap"):
            self.runtime.slots([("in", "move", 4)])
        with self.assertRaises(gph.InvalidError):
            slots.launch(self.record(slots).exec(), self.stream)
        with self.assertRaises(TypeError):
            slots.launch(3, self.stream)

    def test_buffers_are_mapped(self):
        buffer = self.runtime.slot_buffer(1 << 21)
        slots = self.runtime.slots([("in", "remap", 4 * COUNT)], windows=1)
        view = self.runtime.tensor(buffer.data, COUNT)
        fill(view, [3.0] * COUNT)
        slots.bind(0, buffer)
        slots.choose_window(0)
        slots.launch(self.record(slots).exec(), self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 4.0)


LOADER = """
import array, sys
import graphophone as gph
runtime = gph.open()
module = runtime.module(sys.stdin.read())
stream, recipe = runtime.stream(), gph.Recipe.load(sys.argv[1])
pool = runtime.pool()
x, y = pool.tensor(64, stream=stream), pool.tensor(64, stream=stream)
x.copy_from(array.array("f", range(64)))
loaded = recipe.instantiate(runtime, places={"x": (x.data, 256), "y": (y.data, 256)})
assert loaded[0]["is_loaded"], loaded[0]
loaded(0, stream)
stream.synchronize()
out = array.array("f", [0] * 64)
y.copy_to(out)
assert list(out) == [i + 1.0 for i in range(64)], out
print("loaded")
"""


class Recipes(Case):
    def graph(self, y, x):
        with self.runtime.capture(self.stream) as capture:
            self.put(y, x)
        return capture.recording

    def test_a_recipe_is_loaded_by_another_process(self):
        others = [self.pool.tensor(COUNT, stream=self.stream) for _ in range(2)]
        recipe = gph.Recipe()
        recipe.range("x", self.x.data, 256, others[0].data)
        recipe.range("y", self.y.data, 256, others[1].data)
        first, second = self.graph(self.y, self.x), self.graph(others[1], others[0])
        recipe.add(self.runtime, "step", first.graphs[0], shifted=second.graphs[0], inputs=[self.x], outputs=[self.y],
                   key=(7,), check=True, stream=self.stream)
        graph = recipe.graphs[0]
        self.assertEqual((graph["name"], graph["key"], graph["is_movable"], graph["refusals"]), ("step", (7,), True, []))
        self.assertEqual(recipe.summary["graph_count"], 1)
        self.assertEqual(len(recipe.describe("step")), 1)
        with self.assertRaisesRegex(gph.InvalidError, "name stop"):
            recipe.describe("stop")
        here = recipe.instantiate(self.runtime, check=True, stream=self.stream)
        self.assertTrue(here[0]["is_checked"])
        self.assertEqual((len(here), here[0]["inputs"][0].data), (1, self.x.data))
        with self.assertRaises(IndexError):
            here[1]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "step.recipe")
            recipe.save(path)
            done = subprocess.run([sys.executable, "-c", LOADER, str(path)], input=PTX, text=True,
                                  capture_output=True, timeout=60)
            self.assertEqual(done.stdout, "loaded\n", done.stderr)
            path.write_bytes(b"nothing")
            with self.assertRaises(gph.FormatError):
                gph.Recipe.load(path)

    def test_what_cannot_be_kept_is_refused_with_a_reason(self):
        recipe = gph.Recipe()
        recording = self.graph(self.y, self.x)
        recipe.add(self.runtime, "lost", recording.graphs[0])
        self.assertTrue(recipe.graphs[0]["refusals"], recipe.graphs)
        with self.assertRaises(gph.InvalidError):
            recipe.add(self.runtime, "lost", recording.graphs[0])

    def test_trees_are_kept_whole(self):
        def double(call, x):
            out = call.empty(x.shape)
            self.put(out, x, stream=call.stream)
            return out

        arena = self.runtime.arena(reserve_bytes=1 << 28)
        tree = self.runtime.tree(arena=arena, stream=self.stream, keep_graphs=True)
        step = tree.function(double, inputs=1, outputs=1, static=(0,), name="step")
        for _ in range(3):
            step(self.x)
        recipe = gph.Recipe()
        recipe.arena("arena", arena)
        recipe.range("x", self.x.data, 256)
        recipe.add_tree(tree)
        self.assertEqual([g["refusals"] for g in recipe.graphs], [[]])
        with self.assertRaises(gph.StateError):
            recipe.instantiate_tree(tree)


class CachesInRecipes(Case):
    AXES = ({"name": "tokens", "values": [4, 16, 64]},)
    OPTIONS = {"inputs": [("f32", ("tokens",), "zero")], "outputs": [("f32", ("tokens",))], "name": "plus"}

    def setUp(self):
        super().setUp()
        self.phases = []

    def plus(self, call, x, sizes):
        self.phases.append(call.phase)
        out = call.empty(x.shape)
        self.add(call.stream, 1, 64, out, x, x.shape[0], 1.0)
        return out

    def started(self):
        arena = self.runtime.arena(reserve_bytes=1 << 28)
        cache = self.runtime.cache(self.plus, self.AXES, pool=self.runtime.pool(arena=arena), **self.OPTIONS)
        cache.start(self.stream, False)
        return arena, cache

    def recipe(self):
        (arena, one), (other, two) = self.started(), self.started()
        recipe = gph.Recipe()
        recipe.arena("arena", arena, other)
        recipe.add_cache(one, shifted=two, check=True, stream=self.stream)
        return recipe

    def test_keys_are_not_captured_again(self):
        recipe = self.recipe()
        self.assertEqual([graph["key"] for graph in recipe.graphs], [(4,), (16,), (64,)])
        self.assertRaises(gph.InvalidError, recipe.add_cache, self.started()[1])  # its arena is not a range
        arena = self.runtime.arena(reserve_bytes=1 << 28)
        self.phases.clear()
        cache = recipe.instantiate_cache(self.runtime, self.plus, self.AXES, pool=self.runtime.pool(arena=arena), check=True,
                                         places={"arena": arena.range}, **self.OPTIONS)
        self.assertEqual([(graph["is_loaded"], graph["is_checked"]) for graph in cache.loaded], [(True, True)] * 3)
        for count in (3, 16, 64, 4):
            x = self.pool.tensor(count, stream=self.stream)
            fill(x, [float(count)] * count)
            out = cache(count, x, stream=self.stream)
            self.stream.synchronize()
            self.assertEqual(values_of(out, count)[0], count + 1.0)
            self.assertIn(cache.last["verdict"], ("exact", "padded"))
        self.assertEqual(self.phases, [])
        self.assertIsNone(self.started()[1].loaded)

    def test_wrong_arguments(self):
        recipe = self.recipe()
        make = recipe.instantiate_cache
        self.assertRaisesRegex(TypeError, "needs a Runtime first", make)
        self.assertRaisesRegex(TypeError, "not a Runtime", make, 3, self.plus, self.AXES)
        self.assertRaises(TypeError, make, self.runtime, self.plus, self.AXES, places=[], **self.OPTIONS)
        self.assertRaises(TypeError, make, self.runtime, self.plus, self.AXES, unknown=1, **self.OPTIONS)
        arena = self.runtime.arena(reserve_bytes=1 << 28)
        self.assertRaisesRegex(gph.InvalidError, "none", make, self.runtime, self.plus, self.AXES, pool=self.runtime.pool(arena=arena),
                               places={"none": (1 << 30, 1 << 20)}, **self.OPTIONS)
        self.assertRaisesRegex(TypeError, "not a Cache", recipe.add_cache, 3)
        other = {**self.OPTIONS, "inputs": [("f64", ("tokens",), "zero")]}
        self.assertRaises(gph.Error, make, self.runtime, self.plus, self.AXES, **other)


class Knowledge(unittest.TestCase):
    def test_the_doctor_reads_logs(self):
        log = ROOT / "tests/doctor/recorded/capture.unjoined-fork.log"
        finding = gph.examine(log)[0]
        self.assertEqual((finding["id"], finding["severity"]), ("capture.unjoined-fork", "error"))
        self.assertTrue(finding["cause"] and finding["fix"] and finding["text"])
        self.assertNotEqual(gph.examine(log, language="zh")[0]["title"], finding["title"])
        with self.assertRaises(gph.FileError):
            gph.examine(log.with_name("none"))
        with self.assertRaises(gph.FormatError):
            gph.examine(__file__)

    def test_errors_are_explained(self):
        self.assertEqual(gph.explain(904)[0]["slug"], "cuda/904-stream-capture-unjoined")
        self.assertEqual(gph.explain("nothing of the sort whatever"), [])
        self.assertIn("CUDA_ERROR_STREAM_CAPTURE_UNJOINED", gph.near("CUDA_ERROR_STREAM_CAPTURE_UNJOINT"))
        self.assertNotEqual(gph.explain(904, language="zh")[0]["title"], gph.explain(904)[0]["title"])
        with self.assertRaises(gph.InvalidError):
            gph.explain(904, language="fr")


if __name__ == "__main__":
    main()
