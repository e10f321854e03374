# SPDX-License-Identifier: Apache-2.0
"""Why PyTorch's graph trees recorded, recorded again or ran eagerly: events for explain(). Asked for when it happens, so that
a replay costs nothing."""
import gc
import logging

import torch

from . import _ledger


def who(manager, function_id):
    name = manager.get_func_name(function_id)
    return "%s (function %d of the tree)" % (name, function_id.id)


def _names_of(tensors):
    """What modules call the tensors: "weight of Linear", by id. PyTorch knows its inputs by the names of the graph alone
    ("arg0_1"). Looks for who has them, which takes milliseconds; recording, which follows, takes more."""
    found, wanted = {}, {id(tensor) for tensor in tensors}
    for module in (one for one in gc.get_objects() if issubclass(type(one), torch.nn.Module)):
        for name, tensor in (*module.__dict__.get("_parameters", {}).items(), *module.__dict__.get("_buffers", {}).items()):
            if id(tensor) in wanted:
                found.setdefault(id(tensor), "%s of %s" % (name, type(module).__name__))
    return found


def _moved(node, inputs, indices):
    """The inputs whose addresses are not those of the recording, in words."""
    names = [placeholder.name for placeholder in node.wrapped_function.placeholders]
    pointers = node.static_input_data_ptrs
    moved = [index for index in indices if isinstance(inputs[index], torch.Tensor) and pointers[index] != inputs[index].data_ptr()]
    known = _names_of([inputs[index] for index in moved[:4]])
    words = []
    for index in moved[:4]:
        name = ", ".join(filter(None, (known.get(id(inputs[index])), *names[index:index + 1])))
        words.append("input %d%s lay at 0x%x and lies at 0x%x" %
                     (index, " (%s)" % name if name else "", pointers[index], inputs[index].data_ptr()))
    return ", ".join(words) + (", and %d more" % (len(moved) - 4) if moved[4:] else "")


def _reason(node, inputs):
    """What of a recording does not hold. The tree's own checks, in its order."""
    try:
        status = node.check_invariants(list(inputs))[0].name
    except RuntimeError as error:  # what died while it was recorded lives now
        return str(error)
    if status == "StaticInputIdxMismatch":
        return _moved(node, inputs, node.static_input_idxs)
    if status == "CudagraphManagedIdxMismatch":
        return _moved(node, inputs, node.cudagraph_managed_idxs)
    return "an output of the path lives that had died" if status.startswith("ExpectedDead") else status


def before_record(manager, inputs, function_id):
    """The recordings of the function that the tree has here already, and what of each does not hold."""
    here = manager.roots if manager.current_node is None else manager.current_node.children
    known = list(here.get(function_id, ()))
    if not known:
        where = "as the first of a path" if manager.current_node is None else "after another graph of its path"
        _ledger.note("recorded", who(manager, function_id), "it had not been recorded " + where)
        return
    reasons = [_reason(node, inputs) for node in known]
    _ledger.note("recorded again", who(manager, function_id), "of %d recordings none holds: %s" % (len(known), "; ".join(reasons)))


def before_eager(manager, inputs, function_id):
    is_warm = function_id in manager.warmed_up_functions
    _ledger.note("ran eagerly", who(manager, function_id),
                 "another function of the path was warmed up" if is_warm else "it is warmed up before it is recorded")


class _Skips(logging.Handler):
    """What PyTorch says where it makes no graph."""

    def emit(self, record):
        text = record.getMessage()
        if "skipping cudagraph" in text.lower():
            _ledger.note("ran eagerly", "torch.compile", text)


_skips = _Skips(logging.WARNING)


def _loggers():
    from torch._inductor import cudagraph_utils
    return cudagraph_utils.cudagraphs_log


def install():
    _loggers().addHandler(_skips)


def remove():
    _loggers().removeHandler(_skips)
