# SPDX-License-Identifier: Apache-2.0
"""The driver as libgph has it, in the contexts that PyTorch made."""
import contextlib
import ctypes
import functools
import os

import torch

import graphophone as gph


@functools.cache
def runtime():
    """One a process. Contexts are PyTorch's: it has made one before anything can be captured."""
    return gph.open(device=None)


@functools.cache
def call(name, *types):
    """A function of the driver that raises what it returns."""
    function = ctypes.CFUNCTYPE(ctypes.c_int, *types)(runtime().find(name))

    def checked(*args):
        status = function(*args)
        if status:
            raise RuntimeError("%s returned error %d" % (name, status))
    return checked


@functools.cache
def data_ptr_function():
    """The address of aoti_torch_get_data_ptr, of PyTorch's C interface, whose handle is where a Python tensor has its
    at::Tensor, right after the object's head (python_variable.h); 0 where a tensor's address is not what that gives."""
    try:
        function = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")).aoti_torch_get_data_ptr
    except (OSError, AttributeError):
        return 0
    found, tensor = ctypes.c_void_p(), torch.zeros(2)[1:]
    handle = id(tensor) + object.__basicsize__
    if ctypes.c_void_p.from_address(handle).value != tensor._cdata:
        return 0
    status = function(ctypes.c_void_p(handle), ctypes.byref(found))
    return ctypes.cast(function, ctypes.c_void_p).value if status == 0 and found.value == tensor.data_ptr() else 0


def _words(address, count):
    return list((ctypes.c_uint64 * count).from_address(address))


def _where(pairs, words):
    """The one place, in bytes, where each address of the pairs has the value that comes with it; 0: there is none, or several.
    The first two words of an object are its table of methods and its references."""
    found = [index for index in range(2, words) if all(_words(address, words)[index] == value for address, value in pairs)]
    return 8 * found[0] if len(found) == 1 else 0


def _look():
    tensors = [torch.zeros(4000, device="cpu")[first:] for first in (1234, 777, 3333)]
    tensors.append(torch.frombuffer(bytearray(4000), dtype=torch.uint8)[11:])  # whose owner lies elsewhere than its bytes
    storages = [tensor.untyped_storage() for tensor in tensors]
    storage = _where([(one._cdata, of._cdata) for one, of in zip(tensors, storages)], 24)
    offset = _where([(one._cdata, one.storage_offset()) for one in tensors], 24)
    data = _where([(one._cdata, one.data_ptr()) for one in storages], 8)
    victim = torch.zeros(2, device="cpu").untyped_storage()
    before = bytes((ctypes.c_ubyte * 64).from_address(victim._cdata))
    torch._C._set_storage_data_ptr_access_error_msg(victim._cdata, "looked at")
    after = bytes((ctypes.c_ubyte * 64).from_address(victim._cdata))
    changed = [index for index in range(16, 64) if before[index] == 0 and after[index] == 1]
    hooked, hooks = [torch.zeros(2, device="cpu", requires_grad=True) for _ in range(2)], [{1: print}, {2: print}]
    for one, its in zip(hooked, hooks):
        one._backward_hooks = its
    hook = _where([(id(one), id(its)) for one, its in zip(hooked, hooks)], 8)
    for one in hooked:
        one._backward_hooks = None
    found = (storage, offset, data, changed[0] if changed else 0, hook)
    return found if all(found) else None


@functools.cache
def layout():
    """Where tensors have what a hit looks at, in bytes: a tuple (at::TensorImpl's storage, its offset there, c10::StorageImpl's
    address, its mark that it must not be read, a Python object's hooks). Found by looking at tensors that differ in each of
    these; None unless all are found in one place each, and then C asks PyTorch as before."""
    try:
        with torch.inference_mode(False):
            return _look()
    except Exception:  # a mode of the program gives tensors without memory, and says so in its own way
        return None


def is_captured(stream):
    """Whether a stream is captured, also by a capture that cannot succeed any more."""
    status = ctypes.c_int()
    call("cuStreamIsCapturing", ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))(stream, ctypes.byref(status))
    return status.value != 0


def begin_capture(stream):
    """Captures a stream, by the driver alone; relaxed, so that it forbids nobody anything."""
    call("cuStreamBeginCapture", ctypes.c_void_p, ctypes.c_int)(stream, 2)  # CU_STREAM_CAPTURE_MODE_RELAXED


def nodes(graph):
    """The nodes of a CUgraph, a ctypes array."""
    count = ctypes.c_size_t()
    get = call("cuGraphGetNodes", ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t))
    get(graph, None, ctypes.byref(count))
    found = (ctypes.c_void_p * count.value)()
    if count.value:
        get(graph, found, ctypes.byref(count))
    return found


def clone(graph):
    """Another CUgraph of the same contents; destroy() it."""
    copy = ctypes.c_void_p()
    call("cuGraphClone", ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)(ctypes.byref(copy), graph)
    return copy.value


def destroy(graph):
    call("cuGraphDestroy", ctypes.c_void_p)(graph)


def strip(graph):
    """Takes all nodes out of a CUgraph. False: some stay, as of a graph that allocates memory."""
    try:
        destroy_node = call("cuGraphDestroyNode", ctypes.c_void_p)
        for node in nodes(graph):
            destroy_node(node)
    except RuntimeError:
        return False
    return True


def draw(graph, path, flags=1):
    """The driver's own drawing, in DOT; 1: all of it."""
    call("cuGraphDebugDotPrint", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint)(graph, path.encode(), flags)


@contextlib.contextmanager
def relaxed():
    """What this thread does in the block invalidates no capture of its own."""
    mode = ctypes.c_int(2)  # CU_STREAM_CAPTURE_MODE_RELAXED
    exchange = call("cuThreadExchangeStreamCaptureMode", ctypes.POINTER(ctypes.c_int))
    exchange(ctypes.byref(mode))
    try:
        yield
    finally:
        exchange(ctypes.byref(mode))


class Watch:
    """Sees what the driver refuses while PyTorch captures. libgph looks on while a capture of its own is open: an empty one,
    relaxed, in a stream that nobody else has, so that it forbids nothing. It also lets libgph know that something is captured,
    so that graphs which are let go of meanwhile are destroyed afterwards."""

    def __init__(self):
        self._stream = runtime().stream()
        self._capture = runtime().capture(self._stream, mode="relaxed")
        self._capture.__enter__()

    def end(self):
        """All went well."""
        capture, self._capture = self._capture, None
        if capture:
            capture.__exit__(None, None, None)

    def cause(self):
        """The first refusal, as graphophone.last_cause() has it; or None."""
        capture, self._capture = self._capture, None
        if capture is None:
            return None
        aborted = RuntimeError("aborted")
        capture.__exit__(RuntimeError, aborted, None)
        return gph.last_cause()
