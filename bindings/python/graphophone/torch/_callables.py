# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.make_graphed_callables over libgph: functions and modules whose forward and backward passes are graphs.

                 captured in this order, in one pool:   forward 1 ... forward N, backward N ... backward 1
    a call       copies what is not in place yet, replays forward, returns the graph's own outputs
    backward     copies gradients that are not in place yet, replays backward, returns the graph's own gradients"""
import functools

import torch
from torch.utils._pytree import arg_tree_leaves, tree_flatten, tree_leaves, tree_unflatten

import graphophone as gph

from . import _driver, _trees
from ._graphs import AUTO_FREE, NODE_PRIORITY, CUDAGraph, graph, graph_pool_handle


def _check(function, args):
    if isinstance(function, torch.nn.Module):
        if function._backward_hooks or function._forward_hooks or function._forward_pre_hooks:
            raise AssertionError("Modules must not have hooks registered at the time they are passed. However, registering "
                                 "hooks on modules after passing them through make_graphed_callables is allowed.")
        if any(buffer.requires_grad for buffer in function.buffers()):
            raise AssertionError("In any torch.nn.Module passed to make_graphed_callables, only parameters may be trainable. "
                                 "All buffers must have ``requires_grad=False``.")
    if not all(isinstance(leaf, torch.Tensor) for leaf in args):
        raise AssertionError("In the beta API, sample_args for each callable must contain only Tensors. Other types are not "
                             "allowed.")


def _is_in_place(own, given):
    """Whether what the graph reads is what is given: not another view of the same memory, as a transposed or conjugate one."""
    return own is given or (own.data_ptr() == given.data_ptr() and own.shape == given.shape and own.stride() == given.stride() and
                            own.dtype == given.dtype and own.is_conj() == given.is_conj() and own.is_neg() == given.is_neg())


class Copying(gph.Launcher):
    """The graph of a callable with a kernel that copies its inputs from where they lie. It is made executable when inputs are
    copied for the first time: one whose inputs are always in place needs neither the kernel nor the memory."""

    def __new__(cls, targets, template, **options):
        """template(): gives what has the graph, once. options: of arm()."""
        self = super().__new__(cls)
        self.targets, self.template, self.options = targets, template, options
        return self

    def prepare(self, graph_of):
        """Called once, by GraphedCall. Without: inputs are copied by a call."""
        pulls, template, self.template = _trees.pulls_of(self.targets), self.template, None
        if not pulls:
            return
        try:
            owned = template()
            self.arm(_driver.runtime(), owned.graph, torch.Tensor, torch.cuda.current_device(), before=graph_of.before, pulls=pulls,
                     stream=torch.cuda.current_stream().cuda_stream, **self.options)
        except gph.Error:  # as without memory: the plain one is there
            pass


class _Group:
    """The callables of one pool. Autograd takes the memory of a gradient over as the parameter's .grad; here that is a
    graph's, which any later replay of the group may write, so it is moved out before one does: gradients that are accumulated
    over several calls would be wrong otherwise."""

    def __init__(self):
        self.parts = []
        self.pending = []  # not empty: a .grad may be a graph's memory

    def move_out(self):
        if not self.pending:
            return
        for part in self.parts:
            for parameter, gradient in zip(part.surface, part.gradients):
                kept = parameter.grad if gradient is not None and parameter.is_leaf else None
                if kept is not None and kept.data_ptr() == gradient.data_ptr():
                    parameter.grad = kept.clone()
        self.pending.clear()


class _Part:
    """One callable: its static inputs, its two graphs and what they write."""

    def __init__(self, group, function, sample_args, allow_unused):
        self.group = group
        group.parts.append(self)
        self.function, self.sample_args, self.allow_unused = function, sample_args, allow_unused
        self.args = tuple(arg_tree_leaves(*sample_args))
        _check(function, self.args)
        self.parameters = tuple(function.parameters()) if isinstance(function, torch.nn.Module) else ()
        self.surface = self.args + self.parameters
        self.wanted = tuple(tensor for tensor in self.surface if tensor.requires_grad)
        self.forward_graph, self.backward_graph = CUDAGraph(keep_graph=True), CUDAGraph()
        self.gradients = (None,) * len(self.surface)

    def _gradients_of(self, outputs, given):
        return torch.autograd.grad(outputs=tuple(out for out in outputs if out.requires_grad), inputs=self.wanted,
                                   grad_outputs=given, only_inputs=True, allow_unused=self.allow_unused)

    def warm_up(self, count):
        for _ in range(count):
            outputs = tree_leaves(self.function(*self.sample_args))
            given = tuple(torch.empty_like(out) for out in outputs if out.requires_grad)
            if given:
                self._gradients_of(outputs, given)

    def capture_forward(self, pool):
        with graph(self.forward_graph, pool=pool):
            result = self.function(*self.sample_args)
        self.forward_graph.instantiate()
        kept = [self.forward_graph._template]
        self.copying = Copying(self.args, kept.pop, flags=AUTO_FREE | NODE_PRIORITY, keep_gil=self.forward_graph.keep_gil)
        self.forward_graph._template, self.forward_graph._keep_graph = None, False
        outputs, self.structure = tree_flatten(result)
        self.outputs = tuple(outputs)
        buffers = tuple(self.function.buffers()) if isinstance(self.function, torch.nn.Module) else ()
        self.forward_graph.watch(*(one for one in self.parameters + buffers if one.is_cuda))  # `.data =`, load with assign

    def capture_backward(self, pool):
        self.given = tuple(torch.empty_like(out) if out.requires_grad else None for out in self.outputs)
        given = tuple(tensor for tensor in self.given if tensor is not None)
        if not given:
            return
        with graph(self.backward_graph, pool=pool):
            found = iter(self._gradients_of(self.outputs, given))
        self.gradients = tuple(next(found) if tensor.requires_grad else None for tensor in self.surface)

    # ---- calls ----

    def forward(self, inputs):
        self.group.move_out()
        moved = [(static, given) for static, given in zip(self.args, inputs) if not _is_in_place(static, given)]
        if moved:
            with torch.no_grad():  # what is given may require a gradient
                torch._foreach_copy_(*map(list, zip(*moved)))
        self.forward_graph.replay()
        return tuple(out.detach() for out in self.outputs)

    def backward(self, given):
        self.group.move_out()
        for static, new in zip(self.given, given):
            if static is not None and not _is_in_place(static, new):
                static.copy_(new)
        self.backward_graph.replay()
        self.group.pending.append(True)
        return tuple(gradient if gradient is None else gradient.detach() for gradient in self.gradients)

    def make(self):
        """The function to call instead."""
        part = self

        class Graphed(torch.autograd.Function):
            @staticmethod
            def forward(context, *inputs):
                return part.forward(inputs)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(context, *gradients):
                return part.backward(gradients)

        apply, parameters, structure, needs_gradients = Graphed.apply, self.parameters, self.structure, bool(self.wanted)

        def graphed(*args):
            leaves = tuple(arg_tree_leaves(*args))
            if len(leaves) != len(part.args):
                raise TypeError("%d tensors are given, and it was recorded with %d" % (len(leaves), len(part.args)))
            if needs_gradients and torch.is_grad_enabled():
                outputs = apply(*leaves, *parameters)
            else:
                outputs = part.forward(leaves)
            return tree_unflatten(outputs, structure)

        is_one = structure.is_leaf()
        is_tuple = structure.type is tuple and all(child.is_leaf() for child in structure.children())
        finish = None if is_one or is_tuple else functools.partial(tree_unflatten, treespec=structure)
        return gph.GraphedCall(is_one, miss=graphed, graph=self.forward_graph, copying=self.copying, tensor=torch.Tensor, inputs=self.args,
                               copy=torch._foreach_copy_, outputs=self.outputs, finish=finish, pending=self.group.pending,
                               is_blocked=torch.is_grad_enabled if needs_gradients else None)


def _put_into(module, graphed):
    """The module itself, whose forward() is the graph as long as it trains or not, as it did when it was recorded."""
    original, was_training = module.forward, module.training

    def forward(*args, **kwargs):
        return (graphed if module.training == was_training else original)(*args, **kwargs)
    module.forward = forward
    return module


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    """Functions or modules as graphs, as torch.cuda.make_graphed_callables: one, or a tuple of them that are called in that
    order, with sample arguments for each. See there for what they may be. Beyond it:

    - where no gradient is needed (torch.no_grad(), or nothing that requires one), a call does not go through autograd;
    - gradients that are accumulated over several calls are right: PyTorch's alias the graph's memory."""
    if torch.is_autocast_enabled() and torch.is_autocast_cache_enabled():
        raise RuntimeError("make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`.")
    is_one = not isinstance(callables, tuple)
    if is_one:
        callables, sample_args = (callables,), (sample_args,)
    group = _Group()
    parts = [_Part(group, function, args, allow_unused_input) for function, args in zip(callables, sample_args)]
    pool = graph_pool_handle() if pool is None else pool

    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for part in parts:  # libraries choose and allocate in the first calls, which no capture allows
            part.warm_up(num_warmup_iters)
    torch.cuda.synchronize()
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool)

    made = tuple(_put_into(part.function, part.make()) if isinstance(part.function, torch.nn.Module) else part.make()
                 for part in parts)
    return made[0] if is_one else made
