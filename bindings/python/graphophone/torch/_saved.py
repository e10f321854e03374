# SPDX-License-Identifier: Apache-2.0
"""Graphed callables in a file, for processes that have their weights elsewhere.

    save   captures each callable twice, the second time with copies of weights, inputs and pool at other addresses: what
           moved with a range is a pointer. Kernels are kept by the image of the library that has them (_images.py)
    load   puts the ranges where they are now, loads the images, and makes the graphs without capturing anything

With a backward pass a callable has two graphs of one pool: what the first leaves there the second reads. A graph of anything
else than callables: _saved_graph.py.

Two files: PATH, a recipe, and PATH.json, which says what the ranges are and where the images lie."""
import contextlib
import gc
import json
import os

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten, treespec_dumps, treespec_loads

import graphophone as gph
from graphophone import _gph

from . import _callables, _driver, _images, _inputs
from ._graphs import CUDAGraph, Owned, graph, graph_pool_handle

_FORMAT = 2
_LEFT = 0xa5, 0x5a  # upper bytes that addresses never have; ranges do not move so far


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
    return {name: tensor for name, tensor in named.items() if tensor.is_cuda}


class _Twins:
    """Tensors of the same layout and contents in other memory; those that share a storage share its twin."""

    def __init__(self):
        self._wholes = {}

    def of(self, tensor):
        key = tensor.untyped_storage()._cdata
        if key not in self._wholes:
            whole = _bytes_of(tensor)
            self._wholes[key] = whole, torch.empty_like(whole).copy_(whole)
        twin = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return twin.set_(self._wholes[key][1].untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())

    def restore(self):
        """The contents that the tensors had when they got their twins, which no capture has run on."""
        for whole, twin in self._wholes.values():
            whole.copy_(twin)


@contextlib.contextmanager
def _moved(pairs):
    """Tensors that have their twins' memory in the block."""
    before = [(tensor, tensor.data) for tensor, _ in pairs]
    try:
        for tensor, twin in pairs:
            tensor.data = twin
        yield
    finally:
        for tensor, own in before:
            tensor.data = own


class _Filled(TorchDispatchMode):
    """Fills the stack with a byte before each operator, on autograd's threads, too: bytes of kernels' arguments that nobody
    sets then have it, and not an address that earlier calls left, which is the same in both captures."""
    supports_higher_order_operators = True

    def __init__(self, byte):
        super().__init__()
        self.byte = byte

    @classmethod
    def ignore_compile_internals(cls):
        return True

    def __enter__(self):
        _gph._fill_stack(self.byte)
        return super().__enter__()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        _gph._fill_stack(self.byte)
        return function(*args, **(kwargs or {}))


def _capture(stages, stream, before, byte):
    """Graphs of functions in a pool of their own, and what they gave; each is called with what those before it gave. `byte`: of
    arguments that nobody sets. Captured twice, each time after before(): the second time finds all segments of the pool free, and takes them in the order of their
    addresses, so that a capture elsewhere lays out its memory alike."""
    pool, kept = graph_pool_handle(), None
    for _ in range(2):
        before()
        torch._C._cuda_clearCublasWorkspaces()  # which are then the pool's, and not an earlier graph's
        graphs, results = [], []
        for stage in stages:
            graphs.append(CUDAGraph(keep_graph=True))
            with graph(graphs[-1], pool=pool, stream=stream), _Filled(byte):
                results.append(stage(*results))
        if kept is None:
            kept, results = graphs, None
    torch._C._cuda_clearCublasWorkspaces()
    if any(one.before is not None for one in graphs):
        raise gph.UnsupportedError("a graph that draws random numbers cannot be saved: PyTorch keeps seed and offset for it")
    return graphs, results


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
    refusals = ["node %d: %s" % (one["node"], one["why"]) for one in graph_of_recipe["refusals"]]
    if not refusals and graph_of_recipe["is_movable"]:
        return
    for kernel, why in finder.unknown.items():
        if any(kernel in text for text in refusals):
            node = next(text for text in refusals if kernel in text).partition(":")[0]
            refusals.insert(0, "%s: kernel %s: %s" % (node, kernel, why))
            break
    why = refusals[0] if refusals else "it was recorded once"
    if "cudnn" in why and "outside every range" in why:
        why += ("; cuDNN keeps memory of its own: torch.backends.cudnn.flags(enabled=False) around it, such as around batch norms, "
                "does without")
    raise gph.UnsupportedError("%s cannot be saved: %s" % (name, why))


def _warm_up(call, stream, count=2):
    """Libraries choose and allocate in the first calls, which no capture allows."""
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(count):
            call()
    torch.cuda.synchronize()


def _twice(name, stages, pairs, stream, add_ranges, before=lambda: None):
    """Captures stages with the tensors where they are and where their twins are. add_ranges() adds what is not the pool's;
    then segments of the pool are added. Gives the first captures and the second ones, what each gave, and the segments."""
    for _ in range(2):  # in its first captures a library may allocate what stays
        gc.collect()
        graphs, results = _capture(stages, stream, before, _LEFT[0])
        with _moved(pairs):
            others, again = _capture(stages, stream, before, _LEFT[1])
        here, there = _segments(graphs[0]), _segments(others[0])
        if [size for _, size in here] == [size for _, size in there]:
            break
    else:
        raise gph.UnsupportedError("%s cannot be saved: its two captures took different memory, segments of %s and of %s MiB" % (
            name, *(", ".join("%d" % (size >> 20) for _, size in part) for part in (here, there))))
    add = add_ranges()
    segments = [add("%s.pool.%d" % (name, index), address, elsewhere, size)
                for index, ((address, size), (elsewhere, _)) in enumerate(zip(here, there))]
    return graphs, others, results, again, segments


def _places(name, what, ranges, tensors):
    """Where each lies; None where there is none."""
    found = [ranges.place(one) if isinstance(one, torch.Tensor) else None for one in tensors]
    for index, (place, one) in enumerate(zip(found, tensors)):
        if place is None and one is not None:
            raise gph.UnsupportedError("%s cannot be saved: %s %d is not a tensor that the graph writes" % (name, what, index))
    return found


class _Saving:
    """One callable while it is added to a recipe."""

    def __init__(self, recipe, ranges, finder, name, function, args, backward, allow_unused):
        self.recipe, self.ranges, self.finder, self.name, self.function = recipe, ranges, finder, name, function
        self.backward, self.allow_unused, self.twins, self.stream = backward, allow_unused, _Twins(), torch.cuda.Stream()
        leaves, self.spec = tree_flatten(args)
        if not all(isinstance(leaf, torch.Tensor) and leaf.is_cuda for leaf in leaves):
            raise TypeError("%s: sample_args has more than CUDA tensors" % name)
        self.leaves = [leaf.detach().requires_grad_(backward and leaf.requires_grad) for leaf in leaves]
        self.weights = _weights(function)
        self.parameters = list(function.parameters()) if isinstance(function, torch.nn.Module) else []
        self.wanted = [one for one in self.leaves + self.parameters if one.requires_grad] if backward else []
        self.given = []  # the gradients of outputs, a tensor or None each
        self.pairs = [(tensor, self.twins.of(tensor)) for tensor in (*self.weights.values(), *self.leaves)]

    def forward(self):
        return self.function(*tree_unflatten(self.leaves, self.spec))

    def gradients(self, result):
        outputs = [one for one in tree_leaves(result) if isinstance(one, torch.Tensor) and one.requires_grad]
        return torch.autograd.grad(outputs, self.wanted, [one for one in self.given if one is not None],
                                   allow_unused=self.allow_unused)

    def _once(self):
        result = self.forward()
        self.given = [torch.ones_like(one) if isinstance(one, torch.Tensor) and one.requires_grad else None
                      for one in tree_leaves(result)] if self.wanted else []
        if any(one is not None for one in self.given):
            self.gradients(result)

    def _add_ranges(self):
        for (key, tensor), (_, twin) in zip(self.weights.items(), self.pairs):
            used = self.ranges.add_storage("%s.weight.%s" % (self.name, key), tensor, twin)
            self.about["weights"][key] = {"range": used, **_shape_of(tensor, tensor.untyped_storage().data_ptr())}
        for index, (leaf, twin) in enumerate(self.pairs[len(self.weights):len(self.weights) + len(self.leaves)]):
            used = self.ranges.add_storage("%s.input.%d" % (self.name, index), leaf, twin)
            self.about["inputs"].append({"range": used, **_shape_of(leaf, leaf.untyped_storage().data_ptr())})
        for index, (given, twin) in enumerate(self.pairs[len(self.weights) + len(self.leaves):]):
            self.ranges.add_storage("%s.gradient.%d" % (self.name, index), given, twin)
        return self.ranges.add

    def _add_graph(self, name, one, other, inputs, outputs, check):
        self.recipe.add(_driver.runtime(), name, one.raw_cuda_graph(), shifted=other.raw_cuda_graph(), inputs=inputs,
                        outputs=[out.detach() for out in outputs], check=check, stream=self.stream.cuda_stream, identify=self.finder,
                        unset=True)
        _refuse(name, self.recipe.graphs[-1], self.finder)

    def add(self, check):
        """What load() needs to know of it, and what has to stay until the recipe is whole."""
        _warm_up(self._once, self.stream)
        self.pairs += [(one, self.twins.of(one)) for one in self.given if one is not None]
        stages = [self.forward] + [self.gradients] * any(one is not None for one in self.given)
        self.about = about = {"name": self.name, "weights": {}, "segments": [], "inputs": [], "in_spec": treespec_dumps(self.spec),
                              "training": bool(getattr(self.function, "training", False))}
        graphs, others, results, again, about["segments"] = _twice(self.name, stages, self.pairs, self.stream, self._add_ranges)
        outputs, out_spec = tree_flatten(results[0])
        about["outputs"] = _places(self.name, "output", self.ranges, outputs)
        if None in about["outputs"]:
            raise gph.UnsupportedError("%s cannot be saved: output %d is not a tensor that the graph writes" %
                                       (self.name, about["outputs"].index(None)))
        about["out_spec"] = treespec_dumps(out_spec)
        self._add_graph(self.name, graphs[0], others[0], self.leaves, outputs, check)
        if len(stages) > 1:
            about["backward"] = {"given": _places(self.name, "gradient", self.ranges, self.given),
                                 "requires": [one.requires_grad for one in self.leaves + self.parameters],
                                 "gradients": _places(self.name, "gradient", self.ranges, results[1])}
            self._add_graph(self.name + ".backward", graphs[1], others[1], [one for one in self.given if one is not None],
                            [one for one in results[1] if one is not None], check)
        return about, (self, graphs, others, results, again)


def _write(path, recipe, about, finder):
    about["images"] = [image.about(digest.hex()) for digest, image in finder.used.items()]
    recipe.save(path)
    fresh = "%s.json.%d" % (os.fspath(path), os.getpid())
    with open(fresh, "w") as file:
        json.dump(about, file, indent=1)
    os.replace(fresh, os.fspath(path) + ".json")


def save_graphed_callables(path, callables, sample_args, *, backward=False, allow_unused_input=False, images=(), check=True):
    """Captures functions or modules as make_graphed_callables() does, and writes them into a file, for load_graphed_callables()
    in other processes. Nothing is left of the graphs here.

    backward: backward passes, too, for the arguments and parameters that require a gradient; else forward passes alone.
    allow_unused_input: as make_graphed_callables() has it.
    images: what kernels that the program compiled itself are in, bytes of cubins or PTX (as of NVRTC, or a Triton kernel's
    asm["cubin"]); they are kept in the file.
    check: each is replayed, so that load can compare its outputs with those of here, given the same weights.

    Raises graphophone.UnsupportedError with a sentence that names the node, and writes nothing, where one cannot be saved: it
    draws random numbers, launches kernels that neither a library nor `images` has, reads memory that is neither its input nor
    its module's, copies from the host, calls functions of the host. Thread: the one that may capture."""
    is_one = not isinstance(callables, tuple)
    if is_one:
        callables, sample_args = (callables,), (sample_args,)
    recipe, finder = gph.Recipe(), _images.Finder(images)
    ranges, parts, kept = _Ranges(recipe), [], []
    with torch.set_grad_enabled(backward):
        for index, (function, args) in enumerate(zip(callables, sample_args)):
            name = "%d.%s" % (index, getattr(function, "__name__", type(function).__name__))
            about, memory = _Saving(recipe, ranges, finder, name, function, args, backward, allow_unused_input).add(check)
            parts.append(about)
            kept.append(memory)  # whose addresses are ranges until the recipe is whole
    _write(path, recipe, {"format": _FORMAT, "torch": torch.__version__, "is_one": is_one, "callables": parts,
                          "ranges": {name: size for name, _, size in ranges.all}}, finder)


class _Replay(gph.Launcher):
    """A graph of a recipe; what it reads is watched."""


def _tensors_in(wholes, places):
    return tuple(place and _tensor_in(wholes[place["range"]], place) for place in places)


class _Loaded:
    """One callable of a file in this process, without a backward pass."""

    def __init__(self, about, function, wholes):
        self.about, self.function = about, function
        self.inputs, self.outputs = _tensors_in(wholes, about["inputs"]), _tensors_in(wholes, about["outputs"])
        self.structure, self.args = treespec_loads(about["out_spec"]), self.inputs
        self.forward_graph = _Replay()
        self.graphs = [self.forward_graph]

    def _slowly(self, *args):
        leaves = tree_flatten(args)[0]
        if len(leaves) != len(self.inputs):
            raise TypeError("%d tensors are given, and it was saved with %d" % (len(leaves), len(self.inputs)))
        if torch.is_grad_enabled() and any(leaf.requires_grad for leaf in (*leaves, *self._parameters())):
            raise RuntimeError("%s was saved without a backward pass: call it under torch.no_grad()" % self.about["name"])
        for own, given in zip(self.inputs, leaves):
            if not _callables._is_in_place(own, given):
                own.copy_(given)
        self.forward_graph.replay()
        return tree_unflatten([out.detach() for out in self.outputs], self.structure)

    def _parameters(self):
        return self.function.parameters() if isinstance(self.function, torch.nn.Module) else ()

    def make(self):
        is_one = self.structure.is_leaf()
        blocks = any(one.requires_grad for one in self._parameters())
        return gph.GraphedCall(is_one, miss=self._slowly, graph=self.forward_graph, copying=self.copying, tensor=torch.Tensor,
                               inputs=self.inputs, copy=torch._foreach_copy_, outputs=self.outputs,
                               finish=None if is_one else lambda outputs: tree_unflatten(list(outputs), self.structure),
                               pending=[], is_blocked=torch.is_grad_enabled if blocks else None)


class _LoadedPair(_callables._Part):
    """One callable of a file with its backward pass: called as one that was captured here."""

    def __init__(self, group, about, function, wholes):
        self.group, self.function, backward = group, function, about["backward"]
        group.parts.append(self)
        self.args = _tensors_in(wholes, about["inputs"])
        self.parameters = tuple(function.parameters()) if isinstance(function, torch.nn.Module) else ()
        self.surface = self.args + self.parameters
        requires = backward["requires"]
        for index, parameter in enumerate(self.parameters):
            if parameter.requires_grad != requires[len(self.args) + index]:
                raise ValueError("parameter %d of %s %s a gradient, and was saved otherwise" %
                                 (index, about["name"], "requires" if parameter.requires_grad else "does not require"))
        self.wanted = tuple(one for one, is_wanted in zip(self.surface, requires) if is_wanted)
        self.outputs, self.given = _tensors_in(wholes, about["outputs"]), _tensors_in(wholes, backward["given"])
        found = iter(_tensors_in(wholes, backward["gradients"]))
        self.gradients = tuple(next(found) if is_wanted else None for is_wanted in requires)
        self.structure = treespec_loads(about["out_spec"])
        self.forward_graph, self.backward_graph = _Replay(), _Replay()
        self.graphs = [self.forward_graph, self.backward_graph]


def _read(path, what):
    with open(os.fspath(path) + ".json") as file:
        about = json.load(file)
    if about.get("format") != _FORMAT:
        raise gph.FormatError("%s.json has format %r, and this version reads %d" % (os.fspath(path), about.get("format"), _FORMAT))
    if what not in about:
        raise gph.FormatError("%s.json has no %s: it was saved by the other function" % (os.fspath(path), what))
    return about


def _put_tensors(name, saved, there, wholes):
    """The storages of tensors that were saved by name, as the ranges that they are."""
    for key, shape in saved.items():
        tensor = there.get(key)
        if tensor is None:
            raise ValueError("%s was saved with a tensor %s, which is not there" % (name, key))
        now = _shape_of(tensor, tensor.untyped_storage().data_ptr())
        wrong = [field for field in now if now[field] != shape[field]]
        if wrong:
            raise ValueError("tensor %s of %s has %s %s, and was saved with %s" % (key, name, wrong[0], now[wrong[0]], shape[wrong[0]]))
        whole = _bytes_of(tensor)
        if wholes.setdefault(shape["range"], whole).data_ptr() != whole.data_ptr():
            raise ValueError("tensor %s of %s was saved as another one's memory, and has its own" % (key, name))


def _put_weights(about, function, wholes):
    if isinstance(function, torch.nn.Module) and function.training != about["training"]:
        raise ValueError("%s was saved in %s mode, and is in the other" % (about["name"], "training" if about["training"] else "eval"))
    _put_tensors(about["name"], about["weights"], _weights(function), wholes)


def _instantiate(path, about, recipe, wholes, check, keep=False):
    """The graphs of a file, with its ranges beside `wholes` zeroed; and what has to stay while they are launched."""
    runtime = _driver.runtime()
    try:
        modules = [runtime.module(_images.image_in(image)) for image in about["images"]]
    except LookupError as error:
        raise gph.UnsupportedError("%s: %s" % (os.fspath(path), error)) from None
    own = {name: torch.zeros(size, dtype=torch.uint8, device="cuda") for name, size in about["ranges"].items() if name not in wholes}
    wholes.update(own)
    torch.cuda.synchronize()
    wanted = check if check is not None else any(one["has_check"] for one in recipe.graphs)
    loaded = recipe.instantiate(runtime, places={name: (whole.data_ptr(), whole.numel()) for name, whole in wholes.items()},
                                check=wanted, stream=torch.cuda.current_stream().cuda_stream, keep=keep)
    return loaded, (own, modules)


def _copying(one, loaded, number, kept):
    """The graph of a callable again, with a kernel that copies its inputs."""
    made = _callables.Copying(one.args, lambda: Owned(loaded.take(number)))
    made.kept = kept  # the images of its kernels
    return made


def _arm(one, loaded, number, name, check):
    one.arm_loaded(loaded, number, torch.Tensor, torch.cuda.current_device())
    if check and not loaded[number]["is_checked"]:
        raise gph.StateError("%s has no check: its two replays differed when it was saved" % name)


def load_graphed_callables(path, callables=None, *, check=None):
    """What save_graphed_callables() wrote, without capturing. callables: the modules, with their weights wherever they lie,
    in the order of the file; None in place of a plain function. Gives what make_graphed_callables() gives: modules whose
    forward() is the graph, or functions. Where no backward pass was saved, calls with gradients are refused.

    check: replays each and compares its outputs with the saved ones, which needs the same weights; None: where the file has
    a check, and True insists on that of a forward pass. A backward pass has none where it writes over what it has read of the
    forward pass, as most do.

    Raises ValueError (weights of another shape), graphophone.UnsupportedError (a library that the kernels are in is missing,
    or is another version) and graphophone.StateError (the outputs differ); nothing is changed then."""
    about = _read(path, "callables")
    parts = about["callables"]
    callables = (callables,) * len(parts) if callables is None else callables if isinstance(callables, tuple) else (callables,)
    if len(callables) != len(parts):
        raise ValueError("%d callables are given, and %s has %d" % (len(callables), os.fspath(path), len(parts)))
    recipe, wholes, group, made, number = gph.Recipe.load(path), {}, _callables._Group(), [], 0
    for part, function in zip(parts, callables):
        _put_weights(part, function, wholes)
    loaded, kept = _instantiate(path, about, recipe, wholes, check, keep=True)
    for part, function in zip(parts, callables):
        one = _LoadedPair(group, part, function, wholes) if "backward" in part else _Loaded(part, function, wholes)
        weights, one.copying = _weights(function), _copying(one, loaded, number, kept)
        for graph_of in one.graphs:
            _arm(graph_of, loaded, number, part["name"], check and graph_of is one.forward_graph)
            graph_of.kept = (kept, _inputs.watch(graph_of, [weights[key].untyped_storage() for key in part["weights"]], os.fspath(path)))
            number += 1
        made.append((function, one.make()))
    result = [_callables._put_into(function, graphed) if isinstance(function, torch.nn.Module) else graphed for function, graphed in made]
    return result[0] if about["is_one"] else tuple(result)
