# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.CUDAGraph and torch.cuda.graph over libgph.

PyTorch's allocators, its autograd threads and its random generators take part in a capture, and know one sort of object
for it: torch._C._CUDAGraph. So one of those, kept here as `_native`, begins and ends the capture. What was recorded is
made executable and launched by libgph. Where a graph draws random numbers, the native object is emptied and replayed
first: what is left of its replay is the advance of the generators.

    capture_begin    native: pool, generators, cuStreamBeginCapture
    capture_end      native: cuStreamEndCapture   ours: gph_exec of its template, which is then emptied or kept
    replay           [native: generators]         ours: gph_exec_launch in the current stream, in C"""
import gc
import sys
import threading
import warnings

import torch
import torch.cuda  # noqa: F401
from torch._C import _cuda_isCurrentStreamCapturing, _CUDAGraph, _graph_pool_handle

import graphophone as gph

from . import _causes, _driver, _inputs, _ledger

AUTO_FREE, NODE_PRIORITY = 1, 8  # the flags with which PyTorch makes graphs executable


def is_current_stream_capturing():
    """Whether the current stream of the current device is captured. As torch.cuda's."""
    return _cuda_isCurrentStreamCapturing()


def graph_pool_handle():
    """A pool that captures share, as torch.cuda.graph_pool_handle(): either goes with either."""
    return torch.cuda._POOL_HANDLE(_graph_pool_handle())


def _pool_of(pool):
    """The id in what may be given as a pool: an id, or a torch.cuda.MemPool."""
    return pool.id if isinstance(pool, torch.cuda.MemPool) else pool


class Owned:
    """A CUgraph that is ours."""

    def __init__(self, graph):
        self.graph = graph

    def __del__(self):
        graph, self.graph = getattr(self, "graph", None), None
        if graph:
            with _driver.relaxed():
                _driver.destroy(graph)


class _Template(Owned):
    """A copy of a CUgraph."""

    def __init__(self, graph):
        super().__init__(_driver.clone(graph))


class _Native:
    """PyTorch's own object. Its executable graph may go while another graph is captured; in 2.11 that invalidates the capture."""

    def __init__(self):
        self.graph = _CUDAGraph(True)

    def reset(self):
        with _driver.relaxed():
            self.graph.reset()

    def __del__(self):
        try:
            self.reset()
        except Exception:  # at the end of the process, of which parts are gone already
            pass


class CUDAGraph(gph.Launcher):
    """torch.cuda.CUDAGraph, made executable and launched by libgph. replay() runs no Python code.

    keep_graph: the graph that was captured stays, for raw_cuda_graph(); it is made executable by instantiate() or at the
    first replay. Otherwise that is done at once, and the graph is let go of."""

    keep_gil = False  # launches keep Python's lock, for graphs that are captured from then on; see docs/torch.md
    _debug = False  # enable_debug_mode() is for all of the process, as PyTorch's is

    def __new__(cls, keep_graph=False):  # all of it here, as PyTorch's: a class that derives may have an __init__ of its own
        self = super().__new__(cls)
        self._keep_graph = bool(keep_graph)
        self._own = _Native()
        self._generators = []  # those that were registered by name
        self._pool = self._stream = self._device = self._watch = None
        self._place = None  # "file:line" where the capture began
        self.part_of = None  # the name of the loop that has it and replays it
        self._template = None  # a _Template, where there is one
        self._before = None  # what replay() calls first
        self._pulls = None  # (address, bytes) of inputs that the graph is to copy itself: _trees.py
        self._watched = []  # weak references to storages
        self._has_ended = False
        self.nodes = 0  # of the graph that was captured
        self.driver_bytes = 0  # what the driver took for it, as far as that shows
        _ledger.graphs.add(self)
        return self

    @property
    def _native(self):
        return self._own.graph

    # ---- capture ----

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """Begins to capture the current stream. As PyTorch's; `graph` is the usual way."""
        if self._has_ended:
            raise RuntimeError("This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new "
                               "instance, or reset() this one first.")
        if torch.cuda.get_allocator_backend() == "cudaMallocAsync":  # before anything is captured that could be let go of
            raise RuntimeError("the allocator cudaMallocAsync puts its allocations into the graph, which is PyTorch's own to replay: "
                               "use torch.cuda.CUDAGraph with it, or the allocator native")
        self._pool = graph_pool_handle() if pool is None else _pool_of(pool)
        self._stream = torch.cuda.current_stream()
        self._device = self._stream.device_index
        self._place = _causes.place_outside(sys._getframe(1))
        self._watch = _driver.Watch()
        try:
            self._native.capture_begin(pool=self._pool, capture_error_mode=capture_error_mode)
        except RuntimeError:
            self._watch.end()
            raise

    def capture_end(self):
        """Ends the capture. After a failure the pool and the generators are as before, and the exception says which call the
        driver refused first."""
        try:
            self._native.capture_end()
        except RuntimeError as error:
            cause = self._watch.cause()
            self._recover()
            _causes.add_to(error, cause, self._place, self._place)
            _ledger.note("failed", self._place, str(error))
            raise
        self._watch.end()
        self._has_ended = True
        captured = self._native.raw_cuda_graph()
        self.nodes = len(_driver.nodes(captured))
        if self._keep_graph or CUDAGraph._debug:
            self._template = _Template(captured)
        if not self._keep_graph:
            self._arm(captured)
        self._before = self._advance(captured)
        self.before = self._before

    def _advance(self, captured):
        """What has to be done before a launch: nothing, or the native replay of what is left of its graph. It is asked for
        by one replay, whose advance of the default generator is taken back."""
        if not _driver.strip(captured):
            raise RuntimeError("a graph whose nodes allocate memory is PyTorch's own to replay: use torch.cuda.CUDAGraph with "
                               "the allocator cudaMallocAsync")
        if self._generators:
            return self._native.replay
        generator = torch.cuda.default_generators[self._device]
        offset = generator.get_offset()
        self._native.replay()
        if generator.get_offset() == offset:
            return None
        generator.set_offset(offset)
        return self._native.replay

    def _recover(self):
        """A capture that failed leaves generators inside a capture, and the allocators of the GPU's and of pinned memory
        routed to its pool: capture_end() stops before it comes to them. It is let end another one, which is empty."""
        self._generators = []
        with torch.cuda.stream(self._stream), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is empty
            for _ in range(2):  # where it was not even ended, as in another stream, the first time does that
                try:
                    if not _driver.is_captured(self._stream.cuda_stream):
                        _driver.begin_capture(self._stream.cuda_stream)
                    self._native.capture_end()
                    self._own.reset()
                    break
                except RuntimeError:
                    continue  # the context is lost: there is nothing to go on with
        self._own = _Native()

    def _arm(self, graph):
        free = torch.cuda.mem_get_info(self._device)[0]
        self.arm(_driver.runtime(), graph, torch.Tensor, self._device, before=self._before,
                 flags=AUTO_FREE | NODE_PRIORITY, stream=self._stream.cuda_stream, keep_gil=self.keep_gil,
                 pulls=self._pulls)
        self.driver_bytes = max(0, free - torch.cuda.mem_get_info(self._device)[0])

    def _unarmed(self):
        """Called by replay() where there is nothing to launch."""
        if not self._has_ended:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self.instantiate()

    def instantiate(self):
        """Makes the graph executable, as it is by now. For keep_graph=True; replay() does it otherwise."""
        if not self._has_ended:
            raise RuntimeError("capture_end() must have been called before calling instantiate")
        if not self._keep_graph:
            raise RuntimeError("instantiate() is intended to be called by the user only when keep_graph=true")
        self._arm(self._template.graph)

    def reset(self):
        """Lets go of the graph and of its hold on the pool. It can capture again."""
        self.disarm()
        self._own.reset()
        self._template = self._before = None
        self._generators = []
        self._has_ended = False
        self._watched.clear()
        self.lost = None

    # ---- the rest ----

    def watch(self, *tensors):
        """Tensors that the graph reads and that have to stay: once one of them dies or gets other memory, replay() raises
        graphophone.StateError instead of reading what lies there by then. Until then that costs one comparison a replay.
        graph(..., check_inputs=True) finds them itself."""
        self._watched += _inputs.watch(self, [tensor.untyped_storage() for tensor in tensors], self._place)

    def pool(self):
        """The id of its memory pool, for other captures."""
        return self._native.pool()

    def register_generator_state(self, generator):
        """A generator that the graph will draw from, besides the default one."""
        self._native.register_generator_state(generator)
        self._generators.append(generator)

    def enable_debug_mode(self):
        """Keeps graphs that are captured from now on, for debug_dump()."""
        CUDAGraph._debug = True

    def debug_dump(self, debug_path):
        """Writes the graph as DOT. Needs keep_graph=True, or enable_debug_mode() before the capture."""
        if self._template is None:
            warnings.warn("CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()", stacklevel=2)
            return
        _driver.draw(self._template.graph, debug_path)
        if not self._keep_graph:
            self._template = None

    def raw_cuda_graph(self):
        """The cudaGraph_t, an int, that instantiate() takes; lent until reset()."""
        if not self._keep_graph:
            raise RuntimeError("You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with "
                               "keep_graph=true")
        if not self._has_ended:
            raise RuntimeError("You cannot access the raw cudaGraph_t instance until capture_end() has been called")
        return self._template.graph

    def raw_cuda_graph_exec(self):
        """The cudaGraphExec_t, an int; lent until the next instantiate() or reset()."""
        if self.handle is None:
            raise RuntimeError("You cannot access the raw cudaGraphExec_t instance until instantiate() has been called")
        return self.handle


class _Collector:
    """Python's garbage collector waits while blocks are captured: a graph of PyTorch's that it found would be destroyed by a
    call that no capture of its process allows, which ends there. A program that collects in its block still does."""
    _lock, _blocks, _was_on = threading.RLock(), 0, False

    @classmethod
    def stop(cls):
        with cls._lock:
            if cls._blocks == 0:
                cls._was_on = gc.isenabled()
                gc.disable()
            cls._blocks += 1

    @classmethod
    def go_on(cls):
        with cls._lock:
            cls._blocks -= 1
            if cls._blocks == 0 and cls._was_on:
                gc.enable()


class graph(torch.cuda.graph):
    """torch.cuda.graph: captures the body of a `with` block. It takes a CUDAGraph of ours or of PyTorch's.

    An exception in the body comes out as it was, with what invalidated the capture first; the graph is then as before the
    block, and the stream is current no more.

    check_inputs=True: what the body reads and does not make is watched, as by CUDAGraph.watch(). None: as the attribute of
    the class says, which is for programs that say nothing."""

    check_inputs = False

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global", *, check_inputs=None):
        super().__init__(cuda_graph, pool=pool, stream=stream, capture_error_mode=capture_error_mode)
        wanted = self.check_inputs if check_inputs is None else check_inputs
        self._reads = _inputs.Reads(torch.cuda.current_device()) if wanted and isinstance(cuda_graph, CUDAGraph) else None

    def __enter__(self):
        torch.cuda.synchronize()
        if torch.compiler.config.force_cudagraph_gc:
            gc.collect()
        torch.cuda.empty_cache()  # as much as there is, for the graph
        torch._C._host_emptyCache()
        self.stream_ctx.__enter__()
        _Collector.stop()
        try:
            self.cuda_graph.capture_begin(*self.pool, capture_error_mode=self.capture_error_mode)
        except BaseException:
            _Collector.go_on()
            self.stream_ctx.__exit__(None, None, None)
            raise
        if self._reads:
            self._reads.__enter__()

    def __exit__(self, kind, error, trace):
        if self._reads:
            self._reads.__exit__(kind, error, trace)
        try:
            if error is None:
                self.cuda_graph.capture_end()
                if self._reads:
                    self.cuda_graph._watched += _inputs.watch(self.cuda_graph, self._reads.found.values(), self.cuda_graph._place)
                    self._reads = None  # which would keep them
            else:
                self._throw_away(error, trace)
        finally:
            _Collector.go_on()
            self.stream_ctx.__exit__(kind, error, trace)

    def _throw_away(self, error, trace):
        """The body's own exception came first; what the end of the capture knows of the first cause is added to it."""
        try:
            self.cuda_graph.capture_end()
            self.cuda_graph.reset()
        except RuntimeError as later:
            began = getattr(self.cuda_graph, "_place", None)
            _causes.add_to(error, getattr(later, "cause", None), _causes.place_of(trace), began)
