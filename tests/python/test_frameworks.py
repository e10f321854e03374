# SPDX-License-Identifier: Apache-2.0
"""What the extension has for frameworks (Launcher, GraphedCall, PathHit), with stand-ins of Python for PyTorch's objects."""
import gc
import sys
import unittest
import weakref

from common import COUNT, Case, gph, main, values_of


class Launchers(Case):
    """What a framework with a current stream derives from."""

    def record(self, by=1.0):
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x, by)
        return capture.recording

    def arm(self, launcher, recording, **options):
        launcher.arm(self.runtime, recording.graphs[0], lambda which: self.streams.append(which) or self.stream.handle,
                     "mine", **options)

    def setUp(self):
        super().setUp()
        self.streams = []

    def test_it_asks_for_the_stream_and_calls_before(self):
        launcher, calls, recording = gph.Launcher(), [], self.record()
        self.assertIsNone(launcher.handle)
        self.arm(launcher, recording, before=lambda: calls.append(1))
        self.assertTrue(launcher.handle and launcher.address)
        launcher.replay()
        launcher.before = None
        launcher.replay()
        self.stream.synchronize()
        self.assertEqual((calls, self.streams), ([1], ["mine", "mine"]))
        self.assertEqual(values_of(self.y), [i + 1.0 for i in range(COUNT)])

    def test_a_built_in_function_gives_the_stream(self):
        launcher, recording = gph.Launcher(), self.record()
        launcher.arm(self.runtime, recording.graphs[0], {"a": self.stream.handle}.__getitem__, "a")
        launcher.replay()
        launcher.arm(self.runtime, recording.graphs[0], {}.__getitem__, "a")
        self.assertRaises(KeyError, launcher.replay)
        launcher.arm(self.runtime, recording.graphs[0], str, "a")
        self.assertRaises(TypeError, launcher.replay)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 1.0)

    def test_it_may_keep_the_lock(self):
        launcher, recording = gph.Launcher(), self.record()
        self.arm(launcher, recording, keep_gil=True)
        launcher.replay()
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 1.0)

    def test_before_that_fails_launches_nothing(self):
        launcher, recording = gph.Launcher(), self.record()
        self.arm(launcher, recording, before=lambda: 1 // 0)
        self.assertRaises(ZeroDivisionError, launcher.replay)
        self.stream.synchronize()
        self.assertEqual((values_of(self.y)[0], self.streams), (0.0, []))

    def test_before_may_take_itself_away(self):
        launcher, recording = gph.Launcher(), self.record()

        def once():
            launcher.before = None
        self.arm(launcher, recording, before=once)
        del once
        launcher.replay()
        self.assertIsNone(launcher.before)

    def test_unarmed(self):
        launcher, recording = gph.Launcher(), self.record()
        self.assertRaises(AttributeError, launcher.replay)

        class Own(gph.Launcher):
            def _unarmed(self):
                if own.may:
                    test.arm(self, recording)
        test, own = self, Own()
        own.may = False
        self.assertRaisesRegex(gph.StateError, "no graph", own.replay)
        own.may = True
        own.replay()
        own.disarm()
        self.assertIsNone(own.handle)
        self.assertRaises(gph.Error, launcher.arm, self.runtime, 0, str, "a")
        self.assertIsNone(launcher.handle)


class Tensor:
    """As much of a tensor as GraphedCall asks for."""

    def __init__(self, address, requires_grad=False):
        self.address, self.copies, self.requires_grad = address, [], requires_grad

    def copy_(self, other):
        self.copies.append(other)

    def data_ptr(self):
        return self.address

    def detach(self):
        return ("detached", self.address)


def copy(own, given):
    for one, other in zip(own, given, strict=True):
        one.copies.append(other)


class GraphedCalls(Case):
    def setUp(self):
        super().setUp()
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x)
        self.recording, self.launcher = capture.recording, gph.Launcher()
        self.launcher.arm(self.runtime, self.recording.graphs[0], {1: self.stream.handle}.__getitem__, 1)
        self.inputs, self.blocked, self.pending = (Tensor(16), Tensor(32)), False, []

    def make(self, outputs=(Tensor(48), Tensor(64)), is_one=False, **options):
        parts = {"miss": lambda *args, **kwargs: ("miss", args, kwargs), "graph": self.launcher, "copying": None, "tensor": Tensor,
                 "inputs": self.inputs, "copy": copy, "outputs": outputs, "finish": None, "pending": self.pending,
                 "is_blocked": lambda: self.blocked, **options}
        return gph.GraphedCall(is_one, **parts)

    def test_all_copies_are_one_call(self):
        calls, others = [], (Tensor(98), Tensor(99))
        self.make(copy=lambda *lists: calls.append(lists))(*others)
        self.assertEqual(calls, [(list(self.inputs), list(others))])

    def test_what_is_in_place_is_not_copied(self):
        call, other, alike = self.make(), Tensor(99), Tensor(16)  # alike: at its address, but perhaps another view of what is there
        for given, copies in ((self.inputs, ([], [])), ((alike, other), ([alike], [other])), ((other, self.inputs[1]), ([other], []))):
            self.assertEqual(call(*given), (("detached", 48), ("detached", 64)))
            self.assertEqual(tuple(one.copies for one in self.inputs), copies)
            for one in self.inputs:
                one.copies.clear()
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 1.0)

    def test_outputs(self):
        self.assertEqual(self.make((Tensor(8),), True)(*self.inputs), ("detached", 8))
        self.assertEqual(self.make((Tensor(8),))(*self.inputs), (("detached", 8),))
        self.assertEqual(self.make((), finish=lambda outputs: [outputs])(*self.inputs), [()])

    def test_the_rest_is_asked_for(self):
        call = self.make()
        for args, kwargs in (((1, 2), {}), ((self.inputs[0],), {}), (self.inputs, {"a": 1})):
            self.assertEqual(call(*args, **kwargs), ("miss", args, kwargs))
        self.blocked = True
        self.assertEqual(call(*self.inputs), ("miss", self.inputs, {}))
        self.blocked = False
        wants = Tensor(99, requires_grad=True), Tensor(98)
        self.assertEqual(call(*wants), ("miss", wants, {}))
        self.assertEqual([one.copies for one in self.inputs], [[], []])
        self.pending.append(1)
        self.assertEqual(call(*self.inputs), ("miss", self.inputs, {}))

    def test_exceptions_come_out(self):
        self.assertRaises(ZeroDivisionError, self.make(copy=lambda own, given: 1 // 0), Tensor(0), Tensor(0))
        self.assertRaises(ZeroDivisionError, self.make(is_blocked=lambda: 1 // 0), *self.inputs)
        self.assertRaises(ZeroDivisionError, self.make(finish=lambda outputs: 1 // 0), *self.inputs)
        self.assertRaises(AttributeError, self.make((3,)), *self.inputs)
        self.launcher.before = lambda: 1 // 0
        self.assertRaises(ZeroDivisionError, self.make(), *self.inputs)


class Marks:
    mark_step_counter = 0


class Generations:
    generation = 7


class Manager:
    def __init__(self):
        self._current_node = None
        self.path_state, self.current_gen, self.running_forwards_with_pending_backwards = "none", 7, False
        self.mode = self.compile_id = None


class Output:
    _backward_hooks = None


class PathHits(unittest.TestCase):
    """The conditions of a step, one after the other: where one does not hold, the tree is asked."""

    def setUp(self):
        self.manager, self.node, self.missed, self.replays, self.copied = Manager(), object(), [], [], []
        self.cached, self.dead = [Output(), Output()], True
        Generations.generation = 7
        Marks.mark_step_counter = 0
        self.hit = gph.PathHit(lambda inputs: self.missed.append(list(inputs)))

    def same_pointers(self, inputs, pointers, indices):
        return all(inputs[index].data_ptr() == pointers[index] for index in indices)

    def arm(self, count=3, is_new_round=False, **options):
        parts = {"manager": self.manager, "previous": None, "state": "none", "running": "execution", "node": self.node,
                 "mode": "mode", "compile_id": "id", "pending": None, "marks": Marks, "generations": Generations,
                 "pointers_same": self.same_pointers, "pointers": [16, None, 32], "managed": [0], "fixed": [2], "dropped": [0],
                 "dead_before": None, "dead_after": None, "sizes": [], "copied": [1], "targets": ["target"],
                 "copy": lambda targets, sources: self.copied.append((targets, [one.address for one in sources])),
                 "replay": lambda: self.replays.append(1), "cached": self.cached, "others": None, "rebuild": None,
                 "reads": None, "graph": None, **options}
        self.hit.arm(count, is_new_round, **parts)

    def inputs(self, *addresses):
        return [Tensor(address) for address in addresses or (16, 48, 32)]

    def takes(self, inputs=None):
        """Whether a call is a hit."""
        before = len(self.replays), len(self.missed)
        self.hit(self.inputs() if inputs is None else inputs)
        after = len(self.replays), len(self.missed)
        self.assertEqual(sum(after), sum(before) + 1)
        return after[0] > before[0]

    def test_a_hit_leaves_what_the_tree_would_leave(self):
        self.arm(pending=True)
        self.cached[1]._backward_hooks = {1: 2}
        inputs = self.inputs()
        outputs = self.hit(inputs)
        self.assertEqual((outputs, inputs, self.copied), (self.cached, [], [(["target"], [48])]))
        self.assertIsNone(self.cached[1]._backward_hooks)
        manager = self.manager
        self.assertEqual((manager._current_node, manager.path_state, manager.current_gen, manager.mode, manager.compile_id,
                          manager.running_forwards_with_pending_backwards), (self.node, "execution", 7, "mode", "id", True))
        self.assertIsNot(self.hit(self.inputs()), outputs)

    def test_wrong_readers(self):
        for reads in (3, (1, 2), (Tensor, 0, 5, 0), ("Tensor", 0, self.missed, 0)):
            self.assertRaises(TypeError, self.arm, reads=reads)

    def test_outputs_are_not_counted(self):
        self.arm()
        self.hit(self.inputs())
        counts = [sys.getrefcount(one) for one in self.cached]
        self.hit.disarm()
        self.assertEqual(counts, [sys.getrefcount(one) for one in self.cached])

    def test_conditions(self):
        self.assertFalse(self.takes())
        self.arm()
        for wrong in (self.inputs(16, 48), self.inputs(17, 48, 32), self.inputs(16, 48, 33), self.inputs(16, 49, 32)):
            before = list(wrong)
            self.assertFalse(self.takes(wrong))
            self.assertEqual(self.missed[-1], before)
        self.manager._current_node = object()
        self.assertFalse(self.takes())
        self.manager._current_node, self.manager.path_state = None, "recording"
        self.assertFalse(self.takes())
        self.manager.path_state = "none"
        self.assertTrue(self.takes())

    def test_liveness(self):
        self.arm(dead_before=lambda: self.dead)
        self.dead = False
        self.assertFalse(self.takes())
        self.dead = True
        self.assertTrue(self.takes())
        self.hit.disarm()
        self.manager._current_node, self.manager.path_state = None, "none"
        self.arm(dead_after=lambda: False)
        self.assertRaisesRegex(RuntimeError, "lives now", self.hit, self.inputs())

    def test_a_new_round(self):
        last = self.manager._current_node = object()
        self.manager.path_state = "execution"
        self.arm(is_new_round=True, previous=last, state="execution")

        def again():
            self.manager._current_node = last
            return self.takes()
        self.assertFalse(again())  # the same generation
        Generations.generation = 8
        self.assertTrue(again())
        self.assertEqual(self.manager.current_gen, 8)
        Generations.generation = 9
        self.manager.running_forwards_with_pending_backwards = True
        self.assertFalse(again())
        Marks.mark_step_counter = -1
        self.assertTrue(again())
        self.assertEqual(self.manager.current_gen, -1)

    def test_a_graph_is_a_launcher(self):
        self.assertRaisesRegex(TypeError, "graph is a Launcher or None", self.arm, graph=self)
        self.assertEqual(self.hit.count, 0)

    def test_steps(self):
        for node in range(10):
            self.arm(previous=node)
        self.assertEqual(self.hit.count, 8)
        taken = []
        for node in range(10):
            self.manager._current_node, self.manager.path_state = node, "none"
            taken.append(self.takes())
        self.assertEqual(taken, [False] * 2 + [True] * 8)
        self.hit.disarm()
        self.assertEqual(self.hit.count, 0)

    def test_sizes_choose_the_step(self):
        for size in (5, 6):
            self.arm(4, sizes=[(3, size)], previous=size)
        for size, current, taken in ((5, 5, True), (6, 6, True), (6, 5, False), (7, 5, False), (5, 5, True)):
            self.manager._current_node, self.manager.path_state = current, "none"
            self.assertEqual(self.takes(self.inputs() + [size]), taken)
        for wrong in ([3], [(1,)], [("a", 1)], [(4, 1)], ()):
            self.assertRaises(TypeError, self.arm, 4, sizes=wrong)

    def test_outputs_are_made_anew_where_they_are_not_cached(self):
        self.arm(cached=[], rebuild=lambda: ["new"])
        self.assertEqual(self.hit(self.inputs()), ["new"])

    def test_exceptions_come_out(self):
        def fail(*unused):
            raise OSError("this one")
        for part in ("pointers_same", "dead_before", "dead_after", "copy", "replay"):
            self.manager._current_node, self.manager.path_state = None, "none"
            self.arm(**{part: fail})
            self.assertRaisesRegex(OSError, "this one", self.hit, self.inputs())
            self.hit.disarm()
        self.manager._current_node, self.manager.path_state = None, "none"
        self.arm()
        self.assertRaises(AttributeError, self.hit, [1, 2, 3])
        self.hit.disarm()
        self.arm(manager=object())
        self.assertRaises(AttributeError, self.hit, self.inputs())

    def test_a_step_may_disarm_and_arm_meanwhile(self):
        def replay():
            self.hit.disarm()
            self.arm()
            self.replays.append(1)
        self.arm(replay=replay)
        self.assertEqual(self.hit(self.inputs()), self.cached)
        self.assertEqual((self.hit.count, len(self.replays)), (0, 1))
        self.manager._current_node, self.manager.path_state = None, "none"
        self.arm()
        self.assertTrue(self.takes())

    def test_wrong_arguments(self):
        self.assertRaises(TypeError, self.hit)
        self.assertRaises(TypeError, self.hit, ())
        self.assertRaises(TypeError, self.hit, [], a=1)
        self.assertRaises(TypeError, self.hit.arm, 1, False)
        self.assertRaises(TypeError, self.arm, cached=())
        self.assertRaises(TypeError, self.arm, managed=3)
        self.assertEqual(self.hit.count, 0)

    def test_it_can_be_referred_to_weakly(self):
        reference = weakref.ref(self.hit)
        self.arm()
        self.hit = None
        gc.collect()
        self.assertIsNone(reference())


if __name__ == "__main__":
    main()
