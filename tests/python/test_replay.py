# SPDX-License-Identifier: Apache-2.0
"""Runtime, streams, captures, replays, graphs as data, errors and warnings."""
import ctypes
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import warnings

from common import COUNT, PTX, Case, gph, is_soft, main, needs_numpy, needs_soft, numpy, values_of


class Streams(Case):
    def test_a_runtime_says_what_it_is(self):
        self.assertEqual(self.runtime.driver, "soft" if is_soft else "cuda")
        self.assertGreaterEqual(self.runtime.version, (12, 4))
        self.assertIn("libcuda.so.1", self.runtime.path)
        self.assertEqual(gph.version(), "0.1.0")

    def test_a_second_driver_is_refused(self):
        with self.assertRaises((gph.StateError, gph.UnsupportedError)) as caught:
            gph.open("cuda" if is_soft else "soft")
        self.assertTrue(caught.exception.status < 0)
        with self.assertRaises(gph.InvalidError):
            gph.open("hip")

    def test_anything_with_the_protocol_is_a_stream(self):
        class Other:
            def __init__(self, stream, version=0):
                self.stream, self.layout = stream, version

            def __cuda_stream__(self):
                return (self.layout, self.stream.handle)

        with self.runtime.capture(Other(self.stream)) as capture:
            self.put(self.y, self.x, stream=Other(self.stream))
        replay = capture.recording.instantiate()
        for stream in (self.stream, self.stream.handle, Other(self.stream)):
            replay(stream)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y), [i + 1.0 for i in range(COUNT)])
        with self.assertRaisesRegex(TypeError, "version 7"):
            replay(Other(self.stream, 7))
        with self.assertRaisesRegex(TypeError, "a stream is"):
            replay("stream")

    def test_streams_wait_for_each_other(self):
        other = self.runtime.stream(priority=-1)
        self.put(self.y, self.x)
        other.wait(self.stream)
        self.put(self.y, self.y, stream=other)
        other.synchronize()
        self.assertEqual(values_of(self.y)[0], 2.0)

    def test_threads_of_python_run_during_a_wait(self):
        slept = []
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x)
            capture.break_(lambda stream, index, is_replay: slept.append(time.sleep(0.05)))
        replay = capture.recording.instantiate()
        slept.clear()
        counted = []
        thread = threading.Thread(target=lambda: [counted.append(i) or time.sleep(0.001) for i in range(10)])
        thread.start()
        replay(self.stream)
        self.assertEqual(len(slept), 1)
        self.assertTrue(counted)
        thread.join()

    def test_ctrl_c_ends_a_wait(self):
        """A kernel that host memory ends: the wait is interrupted, the work goes on."""
        spin = self.runtime.module(
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry spin(.param .u64 p) { .reg .u64 %d<2>; .reg .u32 %r<2>; .reg .pred %p<2>;\n"
            "ld.param.u64 %d1, [p];\nL: ld.volatile.global.u32 %r1, [%d1];\n"
            "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret; }\n").function("spin")
        word = self.pool.tensor(1, "u32", stream=self.stream)
        word.copy_from(b"\0\0\0\0")
        spin(self.stream, 1, 1, word)
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.perf_counter()
        with self.assertRaises(KeyboardInterrupt):
            self.stream.synchronize()
        self.assertLess(time.perf_counter() - begun, 5)
        word.copy_from(b"\1\0\0\0")
        self.stream.synchronize()


class Captures(Case):
    def record(self, **options):
        with self.runtime.capture(self.stream, **options) as capture:
            with capture.region("layer.1"):
                self.put(self.y, self.x)
                with capture.region("attn"):
                    self.put(self.y, self.y)
        return capture.recording

    def test_a_recording_is_replayed(self):
        recording = self.record()
        self.assertEqual(values_of(self.y)[1], 0.0, "it did not run while it was recorded")
        replay = recording.instantiate()
        for _ in range(3):
            replay(self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y), [i + 2.0 for i in range(COUNT)])
        self.assertEqual(replay.recording.place, recording.place)
        self.assertIn("test_replay.py:", recording.place)
        executable = replay.exec()
        executable(self.stream)
        self.assertNotEqual(executable.handle, 0)
        with self.assertRaises(gph.InvalidError):
            replay.exec(1)
        raw = self.runtime.instantiate(recording.graphs[0])
        raw(self.stream)
        self.assertEqual(raw.update(recording.graphs[0])[0], "whole")
        self.stream.synchronize()

    def test_run_runs_it_once(self):
        self.record(run=True)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 2.0)

    def test_forks_are_joined(self):
        side = self.runtime.stream()
        with self.runtime.capture(self.stream) as capture:
            capture.fork(side)
            self.put(self.y, self.x, stream=side)
            capture.join(side)
            self.put(self.y, self.y)
        graph = capture.recording.describe()
        self.assertEqual(graph.edges, [(0, 1)])
        self.assertFalse(side.is_capturing)

    def test_a_forgotten_fork_is_named(self):
        side = self.runtime.stream()
        with self.assertRaises(gph.CudaError) as caught:
            with self.runtime.capture(self.stream, join="name") as capture:
                capture.fork(side)
                with capture.region("side"):
                    self.put(self.y, self.x, stream=side)
        self.assertEqual(caught.exception.status_name, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED")
        self.assertIn("side", str(caught.exception))

    def test_a_break_calls_python_at_each_replay(self):
        calls = []
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x)
            capture.break_(lambda stream, index, is_replay: calls.append((stream, index, is_replay)))
            self.put(self.y, self.y)
        self.assertEqual(len(capture.recording.graphs), 2)
        replay = capture.recording.instantiate()
        replay(self.stream)
        self.stream.synchronize()
        self.assertEqual(calls, [(self.stream.handle, 0, False), (self.stream.handle, 0, True)])
        self.assertEqual(values_of(self.y)[0], 2.0)

    def test_a_replay_that_keeps_the_gil_calls_breaks_too(self):
        seen = []
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x)
            capture.break_(lambda stream, index, is_replay: seen.append(is_replay))
            self.put(self.x, self.y)
        replay = capture.recording.instantiate(keep_gil=True)
        seen.clear()
        replay(self.stream)
        replay.exec(0)(self.stream)
        self.stream.synchronize()
        self.assertEqual((seen, values_of(self.y)[0]), ([True], 3.0))
        with self.runtime.capture(self.stream) as capture:
            self.put(self.y, self.x)
        self.runtime.instantiate(capture.recording.graphs[0], keep_gil=True)(self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[0], 3.0)

    def test_an_exception_of_a_break_is_the_replays(self):
        answers = [None, KeyError("the second")]

        def answer(*_):
            one = answers.pop(0)
            if one is not None:
                raise one

        with self.runtime.capture(self.stream) as capture:
            capture.break_(answer)
        replay = capture.recording.instantiate()
        with self.assertRaisesRegex(KeyError, "the second"):
            replay(self.stream)

    def test_what_is_held_lives_as_long_as_the_replay(self):
        class Thing:
            alive = 0

            def __init__(self):
                Thing.alive += 1

            def __del__(self):
                Thing.alive -= 1

        with self.runtime.capture(self.stream) as capture:
            capture.hold(Thing())
            self.put(self.y, self.x)
        replay = capture.recording.instantiate()
        del capture
        self.assertEqual(Thing.alive, 1)
        del replay
        self.assertEqual(Thing.alive, 0)

    def test_a_captured_kernel_keeps_its_module(self):
        """A graph has its kernels by handles, which are nothing where their module is gone."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
        get = kind(self.runtime.find("cuModuleGetFunction"))
        found = ctypes.c_void_p()
        for is_captured in (False, True):
            module = self.runtime.module(PTX + "// module of its own: %d\n" % is_captured)
            handle, kernel = module.handle, module.function("add")
            if not is_captured:
                kernel(self.stream, 1, COUNT, self.y, self.x, COUNT, 1.0)
                self.stream.synchronize()
            else:
                with self.runtime.capture(self.stream) as capture:
                    kernel(self.stream, 1, COUNT, self.y, self.x, COUNT, 7.0)
            del kernel, module
            if is_soft or is_captured:  # else nobody says what is asked of a module that is gone
                self.assertEqual(get(ctypes.addressof(found), handle, b"add") == 0, is_captured)
        capture.recording.instantiate()(self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[:2], [7.0, 8.0])

    def test_states_are_told(self):
        capture = self.runtime.capture(self.stream)
        with self.assertRaisesRegex(gph.StateError, "has not begun"):
            capture.region("a").__enter__()
        with capture:
            with self.assertRaisesRegex(gph.StateError, "has not ended"):
                capture.recording
        with self.assertRaisesRegex(gph.StateError, "begun once"):
            capture.__enter__()
        with self.assertRaisesRegex(gph.InvalidError, "mode is 'local', not one of global, thread, relaxed"):
            self.runtime.capture(self.stream, mode="local").__enter__()


class Failures(Case):
    def allocate(self):
        """What no capture bears, and whose error nobody reads."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        address = ctypes.c_uint64()
        return kind(self.runtime.find("cuMemAlloc"))(ctypes.addressof(address), 64)

    def test_an_invalid_capture_names_call_region_and_place(self):
        with self.assertRaises(gph.CudaError) as caught:
            with self.runtime.capture(self.stream, mode="global") as capture:
                with capture.region("good"):
                    self.put(self.y, self.x)
                with capture.region("bad"):
                    self.assertEqual(self.allocate(), 900)
        error = caught.exception
        self.assertEqual((error.status, error.call, error.region), (901, "cuMemAlloc", "bad"))
        line = sys._getframe().f_lineno - 4
        self.assertEqual(error.place, "%s:%d" % (__file__, line))
        if is_soft:  # NVIDIA's has its own words, or none
            self.assertIn("may not be called", error.sentence)
        self.assertIn("cuMemAlloc_v2", error.cause)
        self.assertTrue(error.hint)
        self.assertFalse(self.stream.is_capturing)
        self.put(self.y, self.x)
        self.stream.synchronize()

    def test_an_exception_in_the_body_goes_on(self):
        with self.assertRaises(ZeroDivisionError):
            with self.runtime.capture(self.stream):
                self.put(self.y, self.x)
                1 / 0
        self.assertFalse(self.stream.is_capturing)

    def test_an_error_of_ours_gets_what_is_known(self):
        with self.assertRaises(gph.CudaError) as caught:
            with self.runtime.capture(self.stream) as capture:
                with capture.region("wide"):
                    self.add(self.stream, 1, 4096, self.y, self.x, COUNT, 1.0)
        error = caught.exception
        self.assertEqual(error.status, 1)
        if is_soft:
            self.assertIn("exceeds the maximum", error.sentence)
        self.assertIn("test_replay.py:", error.place)
        self.assertEqual(error.node, None)

    def test_classes_are_pythons_too(self):
        self.assertTrue(issubclass(gph.InvalidError, ValueError))
        self.assertTrue(issubclass(gph.OutOfMemoryError, MemoryError))
        self.assertTrue(issubclass(gph.FileError, OSError))
        self.assertTrue(issubclass(gph.Error, RuntimeError))
        with self.assertRaises(gph.OutOfMemoryError) as caught:
            self.pool.tensor(1 << 50, stream=self.stream)
        self.assertEqual(caught.exception.status, 2)

    def test_wrong_arguments_of_kernels_are_refused(self):
        with self.assertRaisesRegex(TypeError, "4 arguments"):
            self.add(self.stream, 1, 1)
        with self.assertRaisesRegex(gph.InvalidError, "argument 2 is a tensor"):
            self.add(self.stream, 1, 1, self.y, self.x, self.x, 1.0)
        with self.assertRaisesRegex(TypeError, "neither __dlpack__ nor a buffer"):
            self.add(self.stream, 1, 1, self.y, object(), 1, 1.0)

    def test_what_libgph_warns_of_is_a_warning(self):
        pool = self.runtime.pool(name="leaky")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with self.runtime.capture(self.stream, pool=pool, name="keeper"):
                kept = pool.tensor(COUNT, stream=self.stream)
                self.put(kept, self.x)
        self.assertTrue([w for w in caught if issubclass(w.category, gph.Warning) and "keeper" in str(w.message)],
                        [str(w.message) for w in caught])


class Graphs(Case):
    def graph(self, by=1.0, times=2):
        with self.runtime.capture(self.stream) as capture:
            with capture.region("layer"):
                for _ in range(times):
                    self.put(self.y, self.x, by)
        return capture.recording.describe()

    def test_nodes_and_edges(self):
        graph = self.graph()
        graph.check()
        self.assertEqual((len(graph), graph.edges), (2, [(0, 1)]))
        node = graph.nodes[0]
        self.assertEqual((node["kind"], node["function"], node["name"]), ("kernel", "add", "layer"))
        self.assertEqual((node["grid"], node["block"]), ((1, 1, 1), (COUNT, 1, 1)))
        self.assertEqual(int.from_bytes(node["args"][0], "little"), self.y.data)
        self.assertTrue(graph.dot().startswith("digraph"))
        self.assertIn("4 arguments", graph.dot(verbose=True))

    def test_two_graphs_are_compared(self):
        one, two, three = self.graph(), self.graph(by=2.0), self.graph(times=3)
        self.assertEqual(one.signature(), two.signature())
        self.assertNotEqual(one.signature(), three.signature())
        self.assertEqual(len(one.diff(one)), 0)
        differ = one.diff(two)
        self.assertFalse(differ.is_topology)
        self.assertEqual([change["field"] for change in differ], ["args[3]"] * 2)
        self.assertIn("args[3]", str(differ))
        self.assertTrue(one.diff(three).is_topology)

    def test_files(self):
        graph = self.graph()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a graph.json")
            graph.save(path)
            self.assertEqual(path.read_text(), graph.json())
            try:
                again = gph.Graph.load(path)
            except gph.UnsupportedError:
                self.skipTest("this build reads no JSON")
            self.assertEqual(len(graph.diff(again)), 0)
            path.write_text("{")
            with self.assertRaises(gph.FormatError):
                gph.Graph.load(path)
            with self.assertRaises(gph.FileError):
                gph.Graph.load(path.with_name("none"))


class Tensors(Case):
    @needs_numpy
    @needs_soft
    def test_numpy_views_softcudas_memory(self):
        view = numpy.asarray(self.x)
        self.assertEqual((view.dtype, view.shape), (numpy.float32, (COUNT,)))
        view[5] = 7.0
        self.assertEqual(values_of(self.x)[5], 7.0)
        self.assertEqual(numpy.from_dlpack(self.x)[5], 7.0)
        self.put(self.y, view)
        self.stream.synchronize()
        self.assertEqual(values_of(self.y)[5], 8.0)

    @needs_soft
    def test_a_tensor_is_a_buffer_on_softcuda(self):
        view = memoryview(self.x)
        self.assertEqual((view.format, view.shape, view.strides, view.readonly), ("f", (COUNT,), (4,), False))
        view[3] = 9.0
        self.assertEqual(values_of(self.x)[3], 9.0)
        turned = self.runtime.tensor(self.x.data, (4, 16), strides=(1, 4), owner=self.x)
        view = memoryview(turned)
        self.assertEqual((view.shape, view.strides, view.c_contiguous, view[3, 0]), ((4, 16), (4, 16), False, 9.0))
        with self.assertRaisesRegex(BufferError, "not dense"):
            self.x.copy_from(turned)
        with self.assertRaisesRegex(BufferError, "no letter"):
            memoryview(self.pool.tensor(4, "bf16", stream=self.stream))
        self.assertEqual(bytes(self.pool.tensor((3, 0), "i64", stream=self.stream)), b"")

    @needs_soft
    def test_a_view_of_the_host_keeps_the_memory(self):
        before = self.pool.stats()["allocation_count"]
        tensor = self.pool.tensor(4, "u8", stream=self.stream)
        view = memoryview(tensor)
        del tensor
        self.assertEqual(self.pool.stats()["allocation_count"], before + 1)
        view.release()
        self.assertEqual(self.pool.stats()["allocation_count"], before)

    def test_a_tensor_has_cudas_array_interface(self):
        self.assertEqual(self.x.__cuda_array_interface__,
                         {"shape": (COUNT,), "strides": None, "typestr": "<f4", "data": (self.x.data, False),
                          "version": 3, "stream": None})
        turned = self.runtime.tensor(self.x.data, (4, 8), "f64", strides=(1, 4), owner=self.x)
        self.assertEqual(turned.__cuda_array_interface__["strides"], (8, 32))
        self.assertFalse(hasattr(self.pool.tensor(4, "bf16", stream=self.stream), "__cuda_array_interface__"))

    @needs_numpy
    @needs_soft
    def test_a_view_keeps_the_memory(self):
        before = self.pool.stats()["allocation_count"]
        tensor = self.pool.tensor((4, 4), "i64", stream=self.stream)
        view = numpy.from_dlpack(tensor)
        del tensor
        self.assertEqual(self.pool.stats()["allocation_count"], before + 1)
        del view
        self.assertEqual(self.pool.stats()["allocation_count"], before)

    def test_a_tensor_says_what_it_is(self):
        tensor = self.pool.tensor((2, 3), "bf16", stream=self.stream)
        self.assertEqual((tensor.shape, tensor.strides, tensor.dtype, tensor.nbytes), ((2, 3), (3, 1), "bf16", 12))
        self.assertIn("bf16(2, 3)", repr(tensor))
        view = self.runtime.tensor(tensor.data, (3, 2), "bf16", strides=(1, 3), owner=tensor)
        self.assertEqual(view.strides, (1, 3))
        for shape in ((1,) * 9, (-1,)):
            with self.assertRaises(gph.InvalidError):
                self.pool.tensor(shape, stream=self.stream)
        with self.assertRaisesRegex(gph.InvalidError, "'float', not one of u8"):
            self.pool.tensor(1, "float", stream=self.stream)

    def test_memory_of_a_capture_is_the_recordings(self):
        pool = self.runtime.pool()
        with self.runtime.capture(self.stream, pool=pool) as capture:
            temporary = pool.tensor(COUNT, stream=self.stream)
            self.put(temporary, self.x)
            self.put(self.y, temporary)
            del temporary
            kept = pool.tensor(COUNT, stream=self.stream)
            self.put(kept, self.y)
            capture.output(kept)
        recording = capture.recording
        kinds = [range["kind"] for range in pool.ranges(recording.pool_id)]
        self.assertEqual(sorted(kinds), ["output", "temporary"])
        live = pool.stats()["allocation_count"]
        replay = recording.instantiate()
        replay(self.stream)
        self.stream.synchronize()
        self.assertEqual(values_of(kept)[0], 3.0)
        del kept
        self.assertEqual(pool.stats()["allocation_count"], live, "it is the recording's, not the tensor's")
        self.assertIsNone(pool.may_replay(recording.pool_id, recording.pool_id))

    def test_the_ledger_counts(self):
        arena = self.runtime.arena(budget_bytes=64 << 20)
        pool = self.runtime.pool(name="counted", arena=arena)
        tensor = pool.tensor(1 << 18, stream=self.stream)
        ledger = arena.ledger()
        self.assertEqual(ledger["budget_bytes"], 64 << 20)
        entry = [e for e in ledger["entries"] if e["name"] == "counted"][0]
        self.assertEqual((entry["kind"], entry["own_bytes"]), ("pool", 1 << 20))
        checkpoint = pool.checkpoint()
        checkpoint.restore()
        del tensor
        self.stream.synchronize()
        self.assertGreater(arena.trim(), 0)
        self.assertEqual(arena.range[0] % 4096, 0)


if __name__ == "__main__":
    main()
