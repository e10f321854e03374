# SPDX-License-Identifier: Apache-2.0
"""Puts what is ours in PyTorch's place, and takes it out again."""
import threading

import torch
import torch.cuda.graphs

from . import _callables, _graphs, _imports, _names, _trees

_TREES = "torch._inductor.cudagraph_trees"
_lock = threading.Lock()
_count = 0
_before = {}  # (module, name): what was there
_OURS = {name: getattr(_graphs, name) for name in
         ("CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing")}
_OURS["make_graphed_callables"] = _callables.make_graphed_callables


class _Patch:
    """What patch() gives: as a context manager it unpatches at the end of the block."""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        unpatch()


def patch(check_outputs=False):
    """Puts CUDAGraph, graph and their like of graphophone.torch into torch.cuda, for all of the process.

    torch.compile(mode="reduce-overhead") then records with them, and what was compiled since replays in C.

    check_outputs=True: of what torch.compile makes from here on, an output that a later call has overwritten is an exception when
    it is read, at any call, with both calls and their lines. A hit then makes new outputs, by PyTorch's Python. It stays on
    until the last unpatch().

    Counted: as many unpatch() take them out again, or the end of a `with` block. Graphs that exist stay what they are.
    What a module has imported by name before (`from torch.cuda import CUDAGraph`) stays PyTorch's."""
    global _count
    with _lock:
        if _count == 0:
            for module in (torch.cuda, torch.cuda.graphs):
                for name, ours in _OURS.items():
                    _before[module, name] = getattr(module, name)
                    setattr(module, name, ours)
            _imports.when_imported(_TREES, _trees.install)
            _names.install()
        if check_outputs:
            _trees.check_outputs()
        _count += 1
    return _Patch()


def unpatch():
    """Undoes one patch(). Without one it raises."""
    global _count
    with _lock:
        if _count == 0:
            raise RuntimeError("unpatch() without a patch(): torch.cuda has PyTorch's own graphs already")
        _count -= 1
        if _count == 0:
            for (module, name), theirs in _before.items():
                setattr(module, name, theirs)
            _before.clear()
            _imports.not_any_more(_TREES)
            _trees.remove()
            _names.remove()


def _compile(module, inputs, **options):
    """The back end "graphophone" of torch.compile: Inductor with graphs, which are ours from here on."""
    from torch._inductor.compile_fx import compile_fx
    if not is_patched():
        patch()
    given = options.pop("options", None) or {}
    return compile_fx(module, inputs, config_patches={**given, "triton.cudagraphs": True})


def _register():
    from torch._dynamo.backends.registry import register_backend
    register_backend(_compile, name="graphophone")


_imports.when_imported("torch._dynamo.backends.registry", _register)


def is_patched():
    """Whether torch.cuda's graphs are ours now."""
    return _count > 0
