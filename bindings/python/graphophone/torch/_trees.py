# SPDX-License-Identifier: Apache-2.0
"""torch.compile's graph trees over libgph.

PyTorch's tree (torch._inductor.cudagraph_trees) warms up, records and decides; its graphs are ours, by patch(). What it
decided once and would decide again is done in C: a graphophone.PathHit is in front of each compiled function. Inputs that
PyTorch copies ahead of a replay are copied by the graph itself, from where a PathHit says (Launcher.arm(pulls=)). After a
call that the tree answered by a replay, it is given what that replay rested on; as long as this holds, it replays itself.
All of them forget what they know whenever the tree records, warms up, restores its allocator or ends."""
import functools
import sys
import weakref

import torch

import graphophone as gph

from . import _driver, _graphs, _overwritten, _reasons

_hits = weakref.WeakSet()
_FORGET_AT = ("record_function", "run_eager", "shutdown", "apply_checkpoint_execution_state_in_allocator",
              "dealloc_current_path_weakrefs")
_NOTED_AT = {"record_function": _reasons.before_record, "run_eager": _reasons.before_eager}
_before = {}
# Bytes of the largest input that a graph copies itself: above, the driver's copies are ahead. On softcuda a kernel is the host's work.
PULL_MAX, SOFT_PULL_MAX = 4 << 20, 1 << 10
_COUNTS = getattr(sys, "_is_gil_enabled", lambda: True)()  # a reference's count is the object's alone
PULLS_MAX = 32  # inputs: a PathHit looks for no more (bindings/python/src/reader.h)


def _trees():
    from torch._inductor import cudagraph_trees
    return cudagraph_trees


def forget():
    """All hits ask the tree again."""
    for hit in list(_hits):
        hit.disarm()


def _forgetting(method, note=None):
    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        forget()
        if note:
            note(*args)
        return method(*args, **kwargs)
    return wrapper


def _asking(node, indices):
    """PyTorch's own function."""
    return functools.partial(node._check_liveness, indices, node.path_weakrefs)


def _dead(node, indices):
    """What a PathHit looks at to see whether outputs of the path are dead; None if there are none to ask about. Where threads count
    references apart, or an output is of another sort: a function, PyTorch's own."""
    if not indices:
        return None
    path = list(node._path_from_root)
    nodes = [path[depth] if depth < len(path) else None for depth, _ in indices]
    if not _COUNTS or any(one is None or one.outputs_weakrefs is not node.path_weakrefs[depth] for one, (depth, _) in zip(nodes, indices)):
        return _asking(node, indices)
    return (torch._C._storage_Use_Count, *((one.outputs_weakrefs, one.cached_tensor_outputs, index) for one, (_, index) in zip(nodes, indices)))


def _as_function(node, indices, dead):
    return _asking(node, indices) if isinstance(dead, tuple) else dead


def _copied(node):
    """Indices of the inputs that are copied ahead of a replay."""
    return [index for index in node.non_static_input_idx if isinstance(node.reconstructed_inputs[index], torch.Tensor)]


def pulls_of(targets):
    """(address, bytes) of tensors, if a graph can copy to them all: dense, not too large, not too many. Else None."""
    most = SOFT_PULL_MAX if _driver.runtime().driver == "soft" else PULL_MAX
    if len(targets) > PULLS_MAX or not all(target.is_cuda and target.is_contiguous() and 0 < target.nbytes <= most for target in targets):
        return None
    return [(target.data_ptr(), target.nbytes) for target in targets]


def _pulls(node):
    """Of the inputs that are copied."""
    copied = _copied(node)
    return None if any(node.expanded_dims[index] for index in copied) else pulls_of([node.reconstructed_inputs[index] for index in copied])


def _recording(method):
    """CUDAGraphNode._record, whose graph is made executable in it."""
    @functools.wraps(method)
    def wrapper(node, *args, **kwargs):
        if isinstance(node.graph, _graphs.CUDAGraph):
            node.graph._pulls = _pulls(node)
        return method(node, *args, **kwargs)
    return wrapper


def _own(graph):
    """The graph, if its replay() is ours as it is: a PathHit then calls it without Python."""
    plain = isinstance(graph, gph.Launcher) and type(graph).replay is gph.Launcher.replay and "replay" not in vars(graph)
    return graph if plain else None


def _others(node):
    """What outputs are beside tensors of the node's own: numbers, None, static tensors, by index; [] if there are none such.
    None: some are views, or die with another path, which PyTorch makes at each call."""
    if len(node.cached_tensor_outputs) != len(node.outputs_metadata):
        return None
    others = []
    for cached, static, metadata in zip(node.cached_tensor_outputs, node.static_output_tensors, node.outputs_metadata):
        if cached is None and static is None and isinstance(metadata, dict):
            return None
        others.append(None if cached is not None else metadata if static is None else static)
    return others if any(cached is None for cached in node.cached_tensor_outputs) else []


def _parts(trees, manager, previous, state, node, sizes, is_new_round):
    """What the replay of a node rests on: the parts of a step. None: it is not of the sort that C does."""
    config = torch._inductor.config.triton
    settings = (config.fast_path_cudagraph_asserts, config.force_cudagraph_sync, config.force_cudagraphs_warmup,
                config.cudagraph_capture_sizes)
    copied = _copied(node)
    if any(settings) or not node.rerecord_if_static_inputs_change or any(node.expanded_dims[index] for index in copied):
        return None
    others = _others(node)
    number = node.wrapped_function.id
    dead_before = _dead(node, node.expected_dead_indices_before_graph)
    if is_new_round and _overwritten.is_on:
        dead_before = _overwritten.before_round(manager, _as_function(node, node.expected_dead_indices_before_graph, dead_before))
    pending = {trees.CompilationMode.FORWARD: True, trees.CompilationMode.BACKWARD: False}
    managed = list(node.cudagraph_managed_idxs)
    return {
        "manager": manager, "previous": previous, "state": state, "running": trees.ExecutionState.EXECUTION, "node": node,
        "mode": manager.id_to_mode[number], "compile_id": manager.id_to_compile_id[number],
        "pending": pending.get(manager.id_to_mode[number]), "marks": trees.MarkStepBox, "generations": trees.GenerationTracker,
        "pointers_same": torch._C._tensors_data_ptrs_at_indices_equal, "pointers": node.static_input_data_ptrs,
        "managed": managed, "fixed": list(node.static_input_idxs),
        "dropped": [index for index in managed if not node.preserved_aliased_inputs[index]],
        "dead_before": dead_before,
        "dead_after": _dead(node, node.expected_dead_indices_after_graph),
        "sizes": sizes, "copied": copied, "targets": [node.reconstructed_inputs[index] for index in copied],
        "copy": torch._foreach_copy_,
        "replay": node.graph.replay, "graph": _own(node.graph), "cached": [] if others is None else node.cached_tensor_outputs,
        "others": others or None, "rebuild": node.reconstruct_outputs if others is None else None,
        "reads": (torch.Tensor, _driver.data_ptr_function(), _driver.runtime(), manager.device_index, _driver.layout()),
    }


def _learn(trees, hit, model, manager, previous, state, had_children, input_count, sizes):
    """After a call that the tree answered: whether the next one like it needs to be asked."""
    node = manager.current_node
    if manager.path_state is not trees.ExecutionState.EXECUTION or not isinstance(node, trees.CUDAGraphNode):
        return
    number = node.wrapped_function.id
    hints = [manager.non_cudagraph_managed_mutation_hint[known].get(number) for known in {None, getattr(previous, "id", None)}]
    if node.wrapped_function.model is not model or any(hints):
        return
    if previous is node.parent:
        is_new_round = False
    elif node.parent is None and not had_children(number):
        is_new_round = True
    else:
        return
    parts = _parts(trees, manager, previous, state, node, sizes, is_new_round)
    if parts:
        hit.arm(input_count, is_new_round, **parts)


def cudagraphify_impl(model, inputs, static_input_idxs, *args, **kwargs):
    """torch._inductor.cudagraph_trees.cudagraphify_impl, with a PathHit in front."""
    trees = _trees()
    theirs = _before["cudagraphify_impl"](model, inputs, static_input_idxs, *args, **kwargs)
    device = kwargs["device_index"]
    numbers = [index for index, value in enumerate(inputs) if isinstance(value, int)]
    states = trees.ExecutionState.EXECUTION, trees.ExecutionState.NONE

    def miss(given):
        manager = trees.get_manager(device, create_if_none_exists=False)
        previous, state = (manager.current_node, manager.path_state) if manager else (None, None)
        children = {key for key, nodes in getattr(previous, "children", {}).items() if nodes}
        count, sizes = len(given), [(index, given[index]) for index in numbers]
        outputs = theirs(given)
        # without _before nothing makes hits forget any more, so they learn nothing either
        if _before and manager is not None and manager.graph is not None and state in states:
            hit = itself()
            if hit is not None:
                _learn(trees, hit, model, manager, previous, state, children.__contains__, count, sizes)
        return outputs

    hit = gph.PathHit(miss)
    itself = weakref.ref(hit)
    _hits.add(hit)
    return _overwritten.checked(trees, hit, model, device) if _overwritten.is_on else hit


def check_outputs():
    """What is compiled from now on says which call wrote over an output that is read too late."""
    if not _overwritten.is_on:
        _overwritten.is_on = True
        forget()
        if _before:
            _overwritten.install(_trees())


def install():
    """Puts PathHits in front of what is compiled from now on. PyTorch's tree has to be imported."""
    trees = _trees()
    _before["cudagraphify_impl"] = trees.cudagraphify_impl
    trees.cudagraphify_impl = cudagraphify_impl
    for name in _FORGET_AT:
        _before[name] = getattr(trees.CUDAGraphTreeManager, name)
        setattr(trees.CUDAGraphTreeManager, name, _forgetting(_before[name], _NOTED_AT.get(name)))
    _before["_record"] = trees.CUDAGraphNode._record
    trees.CUDAGraphNode._record = _recording(_before["_record"])
    _reasons.install()
    if _overwritten.is_on:
        _overwritten.install(trees)


def remove():
    """What was compiled meanwhile keeps its PathHit, which asks the tree each time."""
    forget()
    _overwritten.remove()
    if not _before:
        return
    _reasons.remove()
    trees = _trees()
    trees.cudagraphify_impl = _before.pop("cudagraphify_impl")
    trees.CUDAGraphNode._record = _before.pop("_record")
    for name in _FORGET_AT:
        setattr(trees.CUDAGraphTreeManager, name, _before.pop(name))
