# SPDX-License-Identifier: Apache-2.0
"""Outputs of torch.compile's trees that a later call overwrote: reading one is an exception, at the first call as at the
thousandth, that names both calls and their lines. For patch(check_outputs=True).

    round n    y = f(x)      the tree returns a tensor of its own for each round, and not the same one again
    round n+1  f(x)          begins: what is still there of round n is marked, then the graph writes over its memory

PyTorch does the second while it warms up and records. When it replays, it gives the tensors of the last round again, so that
whoever has kept one reads the new values."""
import functools
import itertools
import sys

import torch
from torch._C import _set_storage_access_error_msg, _set_storage_data_ptr_access_error_msg

from ._causes import place_outside

is_on = False
_before = {}
_numbers = itertools.count(1)  # of compiled functions
_CALL, _NOW = "graphophone_call", "graphophone_now"  # notes: on a node, the call that it ran for; on a manager, the one that runs


def _text(index, made, now, trace):
    said = "output %d of an earlier call of a compiled function" % index
    if made:
        said = "output %d of call %d of compiled function %d, made at %s," % (index, made[1], made[0], made[2])
    by = "a later call"
    if now:
        other = " of compiled function %d" % now[0] if not made or made[0] != now[0] else ""
        by = "call %d%s, made at %s" % (now[1], other, now[2])
    lines = (trace or "").strip().splitlines()
    computed = [line.strip() for line in lines if line.strip().startswith("File ")][-1:]
    return "%s was overwritten by %s: its graph writes the same memory at each call. clone() what is to be kept.%s" % (
        said, by, " It is computed at " + computed[0] if computed else "")


def _mark(manager, nodes):
    """What is still there of the outputs of a path."""
    now = getattr(manager, _NOW, None)
    for node in nodes:
        made = getattr(node, _CALL, None)
        for index, (reference, trace) in enumerate(zip(node.outputs_weakrefs, node.stack_traces)):
            storage = reference() if reference else None
            if storage is not None:
                _set_storage_data_ptr_access_error_msg(storage, _text(index, made, now, trace))


def _mark_recorded(manager, nodes):
    """The same after PyTorch has marked them, which takes the memory from the tensors themselves."""
    _mark(manager, nodes)
    now = getattr(manager, _NOW, None)
    for node in nodes:
        for index, (reference, trace) in enumerate(zip(node.tensor_weakrefs, node.stack_traces)):
            tensor = reference() if reference else None
            if tensor is not None:
                _set_storage_access_error_msg(tensor, _text(index, getattr(node, _CALL, None), now, trace))


def _path_of(manager):
    return list(manager.current_node._path_from_root) if manager.current_node is not None else []


def before_round(manager, ask):
    """For a hit that begins a round: marks what the last one left, then asks what is asked anyway."""
    def mark_and_ask():
        if not manager.disable_invalidate_aliases:
            _mark(manager, _path_of(manager))
        return ask is None or ask()
    return mark_and_ask


def _ending(method):
    @functools.wraps(method)
    def try_end_curr_execution(manager):
        if manager.current_node is not None and manager.can_start_new_generation() and not manager.disable_invalidate_aliases:
            _mark(manager, _path_of(manager))
        return method(manager)
    return try_end_curr_execution


def _freeing(method):
    @functools.wraps(method)
    def dealloc_current_path_weakrefs(manager):
        nodes = _path_of(manager)
        result = method(manager)
        if not manager.disable_invalidate_aliases:
            _mark_recorded(manager, nodes)
        return result
    return dealloc_current_path_weakrefs


def _no_cached_tensors(node):
    """In place of CUDAGraphNode._initialize_cached_tensors: each replay makes new outputs."""
    node.cached_tensor_outputs.extend([None] * len(node.outputs_metadata))


@functools.cache
def _generated():
    """Where the code lies that Inductor makes."""
    from torch._inductor.runtime.cache_dir_utils import cache_dir
    return (cache_dir(),)


def checked(trees, hit, model, device):
    """A compiled function that notes the number and the line of its calls."""
    number, calls, manager = next(_numbers), itertools.count(1), None

    def run(inputs):
        nonlocal manager
        now = number, next(calls), place_outside(sys._getframe(1), _generated()) or "a backward pass"
        if manager is None or manager.graph is None:  # none yet, or it was shut down
            manager = trees.get_manager(device, create_if_none_exists=False)
        if manager is not None:
            setattr(manager, _NOW, now)
        outputs = hit(inputs)
        if manager is None:
            manager = trees.get_manager(device, create_if_none_exists=False)
        node = manager.current_node if manager else None
        if node is not None and node.wrapped_function.model is model:
            setattr(node, _CALL, now)
        return outputs
    return run


def install(trees):
    manager, node = trees.CUDAGraphTreeManager, trees.CUDAGraphNode
    for owner, name, ours in ((manager, "try_end_curr_execution", _ending), (manager, "dealloc_current_path_weakrefs", _freeing),
                              (node, "_initialize_cached_tensors", lambda method: _no_cached_tensors)):
        _before[owner, name] = getattr(owner, name)
        setattr(owner, name, ours(_before[owner, name]))
    for container in getattr(trees.local, "tree_manager_containers", {}).values():  # what was recorded before
        for known in container.tree_manager.get_roots() if container.tree_manager else ():
            _forget_cached(known)


def _forget_cached(node):
    node.remove_node_cached_tensors()
    for children in node.children.values():
        for child in children:
            _forget_cached(child)


def remove():
    """What was patched last comes off first."""
    global is_on
    is_on = False
    for (owner, name), theirs in _before.items():
        setattr(owner, name, theirs)
    _before.clear()
