# SPDX-License-Identifier: Apache-2.0
"""Graphed callables in a file, for processes that have their weights elsewhere.

    save   captures each callable twice, the second time with copies of weights, inputs and pool at other addresses: what
           moved with a range is a pointer. Kernels are kept by the image of the library that has them (_images.py)
    load   puts the ranges where they are now, loads the images, and makes the graphs without capturing anything

Two files: PATH, a recipe, and PATH.json, which says what the ranges are and where the images lie."""
import json
import os

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten, treespec_dumps, treespec_loads

import graphophone as gph

from . import _callables, _driver, _images, _inputs
from ._graphs import CUDAGraph, graph, graph_pool_handle

_FORMAT = 1


def _bytes_of(tensor):
    """All bytes of a tensor's storage, as a tensor."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _shape_of(tensor, first):
    """What a tensor is in the range that begins at an address."""
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "stride": list(tensor.stride()),
            "offset": tensor.data_ptr() - first}


def _tensor_in(whole, about):
    """The tensor that _shape_of() described, in the bytes of its range."""
    dtype = getattr(torch, about["dtype"])
    return torch.empty(0, dtype=dtype, device=whole.device).set_(
        whole.untyped_storage(), about["offset"] // dtype.itemsize, about["shape"], about["stride"])


def _weights(function):
    """Parameters and buffers on a GPU, by name."""
    if not isinstance(function, torch.nn.Module):
        return {}
    named = dict(function.named_parameters(remove_duplicate=False))
    named.update(function.named_buffers(remove_duplicate=False))
    return {name: tensor.detach() for name, tensor in named.items() if tensor.is_cuda}


class _Twins:
    """Tensors of the same layout and contents in other memory; those that share a storage share its twin."""

    def __init__(self):
        self._wholes = {}

    def of(self, tensor):
        key = tensor.untyped_storage()._cdata
        if key not in self._wholes:
            whole = _bytes_of(tensor)
            self._wholes[key] = torch.empty_like(whole).copy_(whole)
        twin = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return twin.set_(self._wholes[key].untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())


def _capture(call, stream):
    """A graph of call() in a pool of its own, and what it gave. Captured twice: the second time finds all segments of the pool
    free, and takes them in the order of their addresses, so that a capture elsewhere lays out its memory alike."""
    pool, kept = graph_pool_handle(), None
    for _ in range(2):
        torch._C._cuda_clearCublasWorkspaces()  # which are then the pool's, and not an earlier graph's
        one = CUDAGraph(keep_graph=True)
        with graph(one, pool=pool, stream=stream):
            result = call()
        if kept is None:
            kept, result = one, None
    torch._C._cuda_clearCublasWorkspaces()
    if one.before is not None:
        raise gph.UnsupportedError("a graph that draws random numbers cannot be saved: PyTorch keeps seed and offset for it")
    return one, result


def _segments(one):
    """(address, bytes) of the pool's segments, the way they correspond to another pool's."""
    found = [part for part in torch.cuda.memory_snapshot() if tuple(part["segment_pool_id"]) == tuple(one.pool())]
    return sorted(((part["address"], part["total_size"]) for part in found), key=lambda part: (part[1], part[0]))


class _Ranges:
    """The ranges of one recipe: where memory was in the first captures, and in the second."""

    def __init__(self, recipe):
        self.recipe, self.all = recipe, []  # name, first, bytes

    def add(self, name, first, second, bytes_):
        for known, at, size in self.all:
            if at == first and size == bytes_:
                return known
        self.recipe.range(name, first, bytes_, second)
        self.all.append((name, first, bytes_))
        return name

    def add_storage(self, name, tensor, twin):
        storage, other = tensor.untyped_storage(), twin.untyped_storage()
        return self.add(name, storage.data_ptr(), other.data_ptr(), storage.nbytes())

    def place(self, tensor):
        """The range of a tensor, and what it is in it; None where it is in none."""
        for name, first, size in self.all:
            if first <= tensor.data_ptr() < first + size:
                return {"range": name, **_shape_of(tensor, first)}
        return None


def _refuse(name, graph_of_recipe, finder):
    refusals = [one["why"] for one in graph_of_recipe["refusals"]]
    if not refusals and graph_of_recipe["is_movable"]:
        return
    for kernel, why in finder.unknown.items():
        if any(kernel in text for text in refusals):
            refusals.insert(0, "kernel %s: %s" % (kernel, why))
            break
    raise gph.UnsupportedError("%s cannot be saved: %s" % (name, refusals[0] if refusals else "it was recorded once"))


def _add(recipe, ranges, finder, name, function, args, check):
    """Adds one callable; what load() needs to know of it."""
    leaves, spec = tree_flatten(args)
    if not all(isinstance(leaf, torch.Tensor) and leaf.is_cuda for leaf in leaves):
        raise TypeError("%s: sample_args has more than CUDA tensors" % name)
    leaves = [leaf.detach() for leaf in leaves]
    weights, twins = _weights(function), _Twins()
    others, moved = [twins.of(leaf) for leaf in leaves], {key: twins.of(tensor) for key, tensor in weights.items()}
    stream = torch.cuda.Stream()

    def first():
        return function(*tree_unflatten(leaves, spec))

    def second():
        given = tree_unflatten(others, spec)
        return torch.func.functional_call(function, moved, tuple(given), tie_weights=False) if weights else function(*given)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):  # libraries choose and allocate in the first calls, which no capture allows
            first()
    torch.cuda.synchronize()
    (one, result), (other, again) = _capture(first, stream), _capture(second, stream)
    here, there = _segments(one), _segments(other)
    if [size for _, size in here] != [size for _, size in there]:
        raise gph.UnsupportedError("%s cannot be saved: its two captures took different memory" % name)
    about = {"name": name, "weights": {}, "segments": [], "inputs": [], "in_spec": treespec_dumps(spec),
             "training": bool(getattr(function, "training", False))}
    for key, tensor in weights.items():
        used = ranges.add_storage("%s.weight.%s" % (name, key), tensor, moved[key])
        about["weights"][key] = {"range": used, **_shape_of(tensor, tensor.untyped_storage().data_ptr())}
    for index, (leaf, twin) in enumerate(zip(leaves, others)):
        used = ranges.add_storage("%s.input.%d" % (name, index), leaf, twin)
        about["inputs"].append({"range": used, **_shape_of(leaf, leaf.untyped_storage().data_ptr())})
    for index, ((address, size), (elsewhere, _)) in enumerate(zip(here, there)):
        about["segments"].append(ranges.add("%s.pool.%d" % (name, index), address, elsewhere, size))
    outputs, out_spec = tree_flatten(result)
    about["outputs"] = [ranges.place(out) if isinstance(out, torch.Tensor) else None for out in outputs]
    if None in about["outputs"]:
        raise gph.UnsupportedError("%s cannot be saved: output %d is not a tensor that the graph writes" %
                                   (name, about["outputs"].index(None)))
    about["out_spec"] = treespec_dumps(out_spec)
    recipe.add(_driver.runtime(), name, one.raw_cuda_graph(), shifted=other.raw_cuda_graph(), inputs=leaves,
               outputs=[out.detach() for out in outputs], check=check, stream=stream.cuda_stream, identify=finder)
    _refuse(name, recipe.graphs[-1], finder)
    return about, (one, other, result, again, twins)


def save_graphed_callables(path, callables, sample_args, *, check=True):
    """Captures functions or modules as make_graphed_callables() does, forward passes alone, and writes them into a file, for
    load_graphed_callables() in other processes. Nothing is left of the graphs here.

    check: each is replayed, so that load can compare its outputs with those of here, given the same weights.

    Raises graphophone.UnsupportedError with a sentence, and writes nothing, where one cannot be saved: it draws random numbers,
    launches kernels that no library has (Triton's, NVRTC's), reads memory that is neither its input nor its module's, copies
    from the host, calls functions of the host. Thread: the one that may capture."""
    is_one = not isinstance(callables, tuple)
    if is_one:
        callables, sample_args = (callables,), (sample_args,)
    recipe, finder = gph.Recipe(), _images.Finder()
    ranges, parts, kept = _Ranges(recipe), [], []
    with torch.no_grad():
        for index, (function, args) in enumerate(zip(callables, sample_args)):
            name = "%d.%s" % (index, getattr(function, "__name__", type(function).__name__))
            about, memory = _add(recipe, ranges, finder, name, function, args, check)
            parts.append(about)
            kept.append(memory)  # whose addresses are ranges until the recipe is whole
    images = [{"library": os.path.basename(image.path), "offset": image.offset, "bytes": image.bytes, "plain": image.plain,
               "sha256": digest.hex()}
              for digest, image in finder.used.items()]
    about = {"format": _FORMAT, "torch": torch.__version__, "is_one": is_one, "callables": parts, "images": images,
             "ranges": {name: size for name, _, size in ranges.all}}
    recipe.save(path)
    fresh = "%s.json.%d" % (os.fspath(path), os.getpid())
    with open(fresh, "w") as file:
        json.dump(about, file, indent=1)
    os.replace(fresh, os.fspath(path) + ".json")


class _Replay(gph.Launcher):
    """A graph of a recipe; what it reads is watched."""


class _Loaded:
    """One callable of a file in this process."""

    def __init__(self, about, function, wholes):
        self.about, self.function = about, function
        self.inputs = tuple(_tensor_in(wholes[one["range"]], one) for one in about["inputs"])
        self.outputs = tuple(_tensor_in(wholes[one["range"]], one) for one in about["outputs"])
        self.structure = treespec_loads(about["out_spec"])
        self.graph = _Replay()

    def _slowly(self, *args):
        leaves = tree_flatten(args)[0]
        if len(leaves) != len(self.inputs):
            raise TypeError("%d tensors are given, and it was saved with %d" % (len(leaves), len(self.inputs)))
        if torch.is_grad_enabled() and any(leaf.requires_grad for leaf in (*leaves, *self._parameters())):
            raise RuntimeError("%s was saved without a backward pass: call it under torch.no_grad()" % self.about["name"])
        for own, given in zip(self.inputs, leaves):
            if not _callables._is_in_place(own, given):
                own.copy_(given)
        self.graph.replay()
        return tree_unflatten([out.detach() for out in self.outputs], self.structure)

    def _parameters(self):
        return self.function.parameters() if isinstance(self.function, torch.nn.Module) else ()

    def make(self):
        is_one = self.structure.is_leaf()
        blocks = any(one.requires_grad for one in self._parameters())
        return gph.GraphedCall(is_one, miss=self._slowly, graph=self.graph, tensor=torch.Tensor, inputs=self.inputs,
                               copy=torch._foreach_copy_, outputs=self.outputs,
                               finish=None if is_one else lambda outputs: tree_unflatten(list(outputs), self.structure),
                               pending=[], is_blocked=torch.is_grad_enabled if blocks else None)


def _read(path):
    with open(os.fspath(path) + ".json") as file:
        about = json.load(file)
    if about.get("format") != _FORMAT:
        raise gph.FormatError("%s.json has format %r, and this version reads %d" % (os.fspath(path), about.get("format"), _FORMAT))
    return about


def _put_weights(about, function, wholes):
    """The storages of a module's weights, as the ranges that they are."""
    if isinstance(function, torch.nn.Module) and function.training != about["training"]:
        raise ValueError("%s was saved in %s mode, and is in the other" % (about["name"], "training" if about["training"] else "eval"))
    there = _weights(function)
    for key, saved in about["weights"].items():
        tensor = there.get(key)
        if tensor is None:
            raise ValueError("%s was saved with a weight %s, which %s has not got" % (about["name"], key, type(function).__name__))
        now = _shape_of(tensor, tensor.untyped_storage().data_ptr())
        wrong = [field for field in now if now[field] != saved[field]]
        if wrong:
            raise ValueError("weight %s of %s has %s %s, and was saved with %s" %
                             (key, about["name"], wrong[0], now[wrong[0]], saved[wrong[0]]))
        whole = _bytes_of(tensor)
        if wholes.setdefault(saved["range"], whole).data_ptr() != whole.data_ptr():
            raise ValueError("weight %s of %s was saved as another one's memory, and has its own" % (key, about["name"]))


def load_graphed_callables(path, callables=None, *, check=None):
    """What save_graphed_callables() wrote, without capturing. callables: the modules, with their weights wherever they lie,
    in the order of the file; None in place of a plain function. Gives what make_graphed_callables() gives: modules whose
    forward() is the graph, or functions. Calls with gradients are refused.

    check: replays each and compares its outputs with the saved ones, which needs the same weights; None: where the file has
    a check, and True insists on it.

    Raises ValueError (weights of another shape), graphophone.UnsupportedError (a library that the kernels are in is missing,
    or is another version) and graphophone.StateError (the outputs differ); nothing is changed then."""
    about = _read(path)
    parts = about["callables"]
    callables = (callables,) * len(parts) if callables is None else callables if isinstance(callables, tuple) else (callables,)
    if len(callables) != len(parts):
        raise ValueError("%d callables are given, and %s has %d" % (len(callables), os.fspath(path), len(parts)))
    recipe, runtime, wholes, modules = gph.Recipe.load(path), _driver.runtime(), {}, []
    for part, function in zip(parts, callables):
        _put_weights(part, function, wholes)
    try:
        modules = [runtime.module(_images.image_in(image)) for image in about["images"]]
    except LookupError as error:
        raise gph.UnsupportedError("%s: %s" % (os.fspath(path), error)) from None
    own = {name: torch.zeros(size, dtype=torch.uint8, device="cuda") for name, size in about["ranges"].items() if name not in wholes}
    wholes.update(own)
    torch.cuda.synchronize()
    wanted = check if check is not None else any(one["has_check"] for one in recipe.graphs)
    loaded = recipe.instantiate(runtime, places={name: (whole.data_ptr(), whole.numel()) for name, whole in wholes.items()},
                                check=wanted, stream=torch.cuda.current_stream().cuda_stream)
    made = []
    for number, (part, function) in enumerate(zip(parts, callables)):
        one = _Loaded(part, function, wholes)
        one.graph.arm_loaded(loaded, number, torch.Tensor, torch.cuda.current_device())
        if check and not loaded[number]["is_checked"]:
            raise gph.StateError("%s has no check: its two replays differed when it was saved" % part["name"])
        one.graph.kept = (own, modules, _inputs.watch(one.graph, [_weights(function)[key].untyped_storage()
                                                                    for key in part["weights"]], os.fspath(path)))
        made.append((function, part, one.make()))
    result = []
    for function, part, graphed in made:
        result.append(_callables._put_into(function, graphed) if isinstance(function, torch.nn.Module) else graphed)
    return result[0] if about["is_one"] else tuple(result)
