# SPDX-License-Identifier: Apache-2.0
"""Any graph in a file: what one function does to tensors that are known by name, as a whole step of training. Captured as
callables are (_saved.py), the second time while the named tensors have other memory."""
import os

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten, treespec_dumps, treespec_loads

import graphophone as gph

from . import _images, _inputs, _saved
from ._graphs import CUDAGraph


def _state_of(optimizer):
    """Its tensors by the number of the parameter and what they are."""
    parameters = [one for group in optimizer.param_groups for one in group["params"]]
    found = {"%d.%s" % (index, key): value for index, one in enumerate(parameters) for key, value in sorted(optimizer.state[one].items())}
    found.update({"%d.%s" % (index, key): value for index, group in enumerate(optimizer.param_groups) for key, value in group.items()
                  if key != "params"})
    return found


def _named(tensors):
    """Name: tensor on a GPU, of a dict of tensors, modules and optimizers."""
    named = {}
    for name, one in tensors.items():
        if isinstance(one, torch.nn.Module):
            inner = dict(one.named_parameters(remove_duplicate=False), **dict(one.named_buffers(remove_duplicate=False)))
        elif isinstance(one, torch.optim.Optimizer):
            inner = _state_of(one)
        elif isinstance(one, torch.Tensor) and one.is_cuda:
            inner = {"": one}
        else:
            raise TypeError("%s is neither a CUDA tensor, nor a module or an optimizer: %s" % (name, type(one).__name__))
        named.update({name + "." * bool(key) + key: tensor for key, tensor in inner.items()
                      if isinstance(tensor, torch.Tensor) and tensor.is_cuda})
    return named


def save_graph(path, function, tensors, *, images=()):
    """Captures function() and writes the graph into a file, for load_graph() in other processes. Nothing is left of it here.

    tensors: all that it reads or writes and does not make, by name: tensors, modules and optimizers (whose state is there
    already: call function() a few times before). Gradients that are there and not named are let go of.
    images: as save_graphed_callables() has it.

    function() runs twice before it is captured twice; the named tensors have the values of before again at the end. Python
    objects that it changes stay changed.

    Raises graphophone.UnsupportedError with a sentence that names the node, and writes nothing, as save_graphed_callables()
    does; TypeError for what is not named by a tensor. Thread: the one that may capture."""
    recipe, finder, named, twins = gph.Recipe(), _images.Finder(images), _named(tensors), _saved._Twins()
    ranges, stream, name = _saved._Ranges(recipe), torch.cuda.Stream(), getattr(function, "__name__", type(function).__name__)
    pairs, about = [(tensor, twins.of(tensor)) for tensor in named.values()], {"name": name, "tensors": {}}
    own = {id(tensor) for tensor in named.values()}

    def let_go():
        for tensor in named.values():
            if tensor.is_leaf and tensor.grad is not None and id(tensor.grad) not in own:
                tensor.grad = None

    def add_ranges():
        for (key, tensor), (_, twin) in zip(named.items(), pairs):
            used = ranges.add_storage("tensor." + key, tensor, twin)
            about["tensors"][key] = {"range": used, **_saved._shape_of(tensor, tensor.untyped_storage().data_ptr())}
        return ranges.add
    _saved._warm_up(function, stream)
    try:
        one, other, [result], again, about["segments"] = _saved._twice(name, [function], pairs, stream, add_ranges, let_go)
        outputs, spec = tree_flatten(result)
        about["outputs"], about["out_spec"] = _saved._places(name, "output", ranges, outputs), treespec_dumps(spec)
        recipe.add(_saved._driver.runtime(), name, one[0].raw_cuda_graph(), shifted=other[0].raw_cuda_graph(), identify=finder, unset=True)
        _saved._refuse(name, recipe.graphs[-1], finder)
        _saved._write(path, recipe, {"format": _saved._FORMAT, "torch": torch.__version__, "graph": about,
                                     "ranges": {key: size for key, _, size in ranges.all}}, finder)
    finally:
        let_go()  # they lie in the pool of a graph that goes now
        torch.cuda.synchronize()
        twins.restore()
    del again


def load_graph(path, tensors):
    """What save_graph() wrote, without capturing: a CUDAGraph, to be replayed, and what function() gave, whose tensors it
    writes. tensors: by the names of then, wherever they lie now; the graph reads and writes them there, and replay() refuses
    once one of them has died or got other memory.

    Raises ValueError (a tensor of another shape, or none of the name), graphophone.UnsupportedError (a library that the
    kernels are in is missing, or is another version); nothing is changed then."""
    about = _saved._read(path, "graph")
    graph, wholes, named = about["graph"], {}, _named(tensors)
    _saved._put_tensors(graph["name"], graph["tensors"], named, wholes)
    recipe = gph.Recipe.load(path)
    loaded, kept = _saved._instantiate(path, about, recipe, wholes, False)
    one = CUDAGraph()
    _saved._arm(one, loaded, 0, graph["name"], False)
    one.nodes = recipe.graphs[0]["node_count"]
    one.kept = (kept, _inputs.watch(one, [named[key].untyped_storage() for key in graph["tensors"]], os.fspath(path)))
    outputs = _saved._tensors_in(wholes, graph["outputs"])
    return one, tree_unflatten(list(outputs), treespec_loads(graph["out_spec"]))
