# SPDX-License-Identifier: Apache-2.0
"""bucketed(): one function for changing sizes. Sizes are rounded up to a ladder of buckets, each of which is recorded once;
a call copies its inputs into the bucket's, pads them, replays, and gives the real part of the outputs.

    flat memory of an input:  |<-- bucket 8 -->|<------ bucket 16 ------>|      one buffer; the buckets are views of its head
    all graphs: one pool, as one of them runs at a time; an input that fills its bucket is copied by the graph"""
import bisect
import functools
import inspect
import math
import sys

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

import graphophone as gph

from . import _ledger
from ._causes import place_outside
from ._graphs import CUDAGraph, graph, graph_pool_handle
from ._outputs import Lender, outputs_of
from ._trees import pulls_of


class _Input:
    """One tensor argument: its dimensions, ints or names of axes, and the memory of all its buckets."""

    def __init__(self, name, dimensions, fill):
        self.name, self.dimensions, self.fill = name, tuple(dimensions), fill
        self.flat = None

    def read(self, tensor, sizes):
        """Takes the sizes of the axes from a tensor; they have to agree with what is known."""
        if not isinstance(tensor, torch.Tensor) or not tensor.is_cuda:
            raise TypeError("argument %s is not a CUDA tensor" % self.name)
        if tensor.dim() != len(self.dimensions):
            raise ValueError("argument %s has %d dimensions, and %r names %d" %
                             (self.name, tensor.dim(), self.dimensions, len(self.dimensions)))
        for index, (size, expected) in enumerate(zip(tensor.shape, self.dimensions)):
            if expected is None:
                continue
            known = sizes.setdefault(expected, size) if isinstance(expected, str) else expected
            if known != size:
                raise ValueError("dimension %d of argument %s is %d, and %s is %d" % (index, self.name, size, expected, known))

    def buffer(self, tensor, bucket, largest):
        """The bucket's view, contiguous, at the head of the memory."""
        shape = [bucket.get(name, size) if isinstance(name, str) else size
                 for name, size in zip(self.dimensions, tensor.shape)]
        most = math.prod(largest.get(name, size) if isinstance(name, str) else size
                         for name, size in zip(self.dimensions, tensor.shape))
        if self.flat is None:
            self.flat = torch.empty(most, dtype=tensor.dtype, device=tensor.device)
        return self.flat[:math.prod(shape)].view(shape)

    def put(self, buffer, tensor, is_new):
        """What the graph is given: the tensor, which it copies, or the buffer, where this had to be padded, or there is no graph yet."""
        if buffer.shape == tensor.shape and not is_new:
            return tensor
        own = buffer
        for index, size in enumerate(tensor.shape):
            if buffer.shape[index] != size:
                if self.fill is not None:
                    buffer.narrow(index, size, buffer.shape[index] - size).fill_(self.fill)
                buffer = buffer.narrow(index, 0, size)
        buffer.copy_(tensor)
        return own


class _Graph(CUDAGraph):
    """A graph that copies its inputs itself, where they are not too large: GraphedCall."""

    def prepare(self, graph_of):
        """It is ready."""


def _slowly(graph_of, buffers, *given):
    """Of what is not a plain tensor, or would require a gradient."""
    with torch.no_grad():
        for own, one in zip(buffers, given):
            if own is not one:
                own.copy_(one)
    graph_of.replay()


class _Bucket:
    """A recorded size: its graph, the views of its inputs, and what it gives."""

    def __init__(self, inputs, masks):
        self.inputs, self.masks = inputs, masks
        self.graph, self.replays = _Graph(), 0

    def record(self, call, pool, warmups):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(warmups):
                call(self.inputs, self.masks)
        torch.cuda.current_stream().wait_stream(stream)
        own = tuple(self.inputs.values())
        self.graph._pulls = pulls_of(own)
        with graph(self.graph, pool=pool):
            result = call(self.inputs, self.masks)
        self.run = gph.GraphedCall(False, miss=functools.partial(_slowly, self.graph, own), graph=self.graph, copying=self.graph,
                                   tensor=torch.Tensor, inputs=own, copy=torch._foreach_copy_, outputs=(), finish=None, pending=[],
                                   is_blocked=None)
        outputs, self.structure = tree_flatten(result)
        self.outputs = outputs_of(outputs)
        self.kept = outputs  # their memory, in the pool


class Bucketed:
    """A function of bucketed(). Called as the function; one thread at a time. `last` is what the last call did, stats() what
    all of them did, prepare() records all buckets ahead."""

    def __init__(self, function, inputs, ladder, outputs, fill, masks, warmups, largest_eager):
        functools.update_wrapper(self, function)
        self.name = getattr(function, "__qualname__", repr(function))
        self._function, self._warmups, self._largest_eager = function, warmups, largest_eager
        self._signature = inspect.signature(function)
        self._inputs = {name: _Input(name, dimensions, fill.get(name)) for name, dimensions in inputs.items()}
        self._ladder = {axis: sorted(set(values)) for axis, values in ladder.items()}
        self._masks = dict(masks)  # argument: axis
        self._outputs = None if outputs is None else [tuple(one) for one in outputs]
        self._check()
        self._buckets, self._lender, self._pool = {}, Lender(self.name), None
        self._mask_memory, self._masked = {}, {}  # of each axis one, and what it is for now
        self._counts = {"hits": 0, "recorded": 0, "eager": 0, "elements": 0, "padded": 0}
        self.last = None

    def _check(self):
        axes = {name for one in self._inputs.values() for name in one.dimensions if isinstance(name, str)}
        for axis in axes | set(self._masks.values()):
            if not self._ladder.get(axis):
                raise ValueError("axis %s has no ladder of sizes" % axis)
            if self._ladder[axis][0] < 1:
                raise ValueError("size %r in the ladder of axis %s is not a positive number" % (self._ladder[axis][0], axis))
        known = set(self._signature.parameters)
        for name in list(self._inputs) + list(self._masks):
            if name not in known:
                raise ValueError("%s has no argument %s: it has %s" % (self.name, name, ", ".join(sorted(known)) or "none"))
        unused = set(self._ladder) - axes
        if unused:
            raise ValueError("axis %s is in no input" % ", ".join(sorted(unused)))

    def _run(self, inputs, masks):
        with torch.no_grad():
            return self._function(**inputs, **masks)

    def _round(self, sizes):
        """The bucket of sizes, or None and the axis that is too large."""
        bucket = {}
        for axis, size in sizes.items():
            ladder = self._ladder[axis]
            index = bisect.bisect_left(ladder, size)
            if index == len(ladder):
                return None, axis
            bucket[axis] = ladder[index]
        return bucket, None

    def _mask(self, axis, bucket):
        memory = self._mask_memory.get(axis)
        if memory is None:
            memory = self._mask_memory[axis] = torch.empty(self._ladder[axis][-1], dtype=torch.bool, device="cuda")
        return memory[:bucket[axis]]

    def _eagerly(self, tensors, sizes, axis):
        why = "%s is %d, and %d is the largest bucket" % (axis, sizes[axis], self._ladder[axis][-1])
        if not self._largest_eager:
            raise ValueError("%s: %s" % (self.name, why))
        self._counts["eager"] += 1
        self.last = {"what": "eager", "sizes": sizes, "bucket": None, "why": why}
        _ledger.note("eager", self.name, why)
        masks = {name: torch.ones(sizes[one], dtype=torch.bool, device="cuda") for name, one in self._masks.items()}
        return self._run(tensors, masks)

    def _find(self, tensors, bucket):
        key = tuple(bucket.values()) + tuple((tensor.dtype, tensor.shape) if None in self._inputs[name].dimensions
                                             else tensor.dtype for name, tensor in tensors.items())
        found = self._buckets.get(key)
        if found is not None:
            return found, "hit"
        largest = {axis: values[-1] for axis, values in self._ladder.items()}
        views = {name: self._inputs[name].buffer(tensor, bucket, largest) for name, tensor in tensors.items()}
        found = _Bucket(views, {name: self._mask(axis, bucket) for name, axis in self._masks.items()})
        return found, key

    def __call__(self, *args, **kwargs):
        bound = self._signature.bind(*args, **kwargs, **dict.fromkeys(self._masks))
        tensors = {name: bound.arguments[name] for name in self._inputs}
        sizes = {}
        for name, tensor in tensors.items():
            self._inputs[name].read(tensor, sizes)
            if tensor.requires_grad and torch.is_grad_enabled():
                raise RuntimeError("argument %s of %s requires a gradient, and a bucketed function has no backward pass: "
                                   "detach() it, or call under torch.no_grad()" % (name, self.name))
        bucket, axis = self._round(sizes)
        if bucket is None:
            return self._eagerly(tensors, sizes, axis)
        found, key = self._find(tensors, bucket)
        place = place_outside(sys._getframe(1))
        given = [self._inputs[name].put(found.inputs[name], tensor, key != "hit") for name, tensor in tensors.items()]
        for name, axis in self._masks.items():
            if self._masked.get(axis) != sizes[axis]:
                self._mask_memory[axis].fill_(False)[:sizes[axis]].fill_(True)
                self._masked[axis] = sizes[axis]
        if key != "hit":
            self._record(found, key, bucket)
        found.run(*given)  # which may read outputs of the last call
        self._lender.overwrite(place)
        found.replays += 1
        self._count("recorded" if key != "hit" else "hits", sizes, bucket)
        return self._give(found, sizes, bucket)

    def _record(self, found, key, bucket):
        if self._pool is None:
            self._pool = graph_pool_handle()
        found.record(self._run, self._pool, self._warmups)
        self._buckets[key] = found
        _ledger.note("recorded", self.name, "first call of bucket " + ", ".join("%s %d" % one for one in bucket.items()))

    def _count(self, what, sizes, bucket):
        self._counts[what] += 1
        real, all_of = math.prod(sizes.values()), math.prod(bucket.values())
        self._counts["elements"] += all_of
        self._counts["padded"] += all_of - real
        self.last = {"what": "hit" if what == "hits" else what, "sizes": sizes, "bucket": bucket,
                     "why": "padded by %.0f %%" % (100 * (all_of - real) / all_of)}

    def _give(self, found, sizes, bucket):
        lent = self._lender.lend(found.outputs)
        for index, tensor in enumerate(lent):
            for axis, name in enumerate(self._outputs[index] if self._outputs else ()):
                if isinstance(name, str) and sizes[name] != bucket[name]:
                    lent[index] = lent[index].narrow(axis, 0, sizes[name])
        return tree_unflatten(lent, found.structure)

    def stats(self):
        """Counts of calls by what they did, buckets that are recorded, and the share of elements that was padding."""
        counts = dict(self._counts, buckets=len(self._buckets))
        counts["padding"] = counts["padded"] / counts["elements"] if counts["elements"] else 0.0
        return counts

    def reset(self):
        """Lets go of all graphs and their memory. The next call records again."""
        self._lender.overwrite(place_outside(sys._getframe(1)))
        self._buckets, self._pool = {}, None


def bucketed(*, inputs, ladder, outputs=None, fill=None, masks=None, warmups=2, largest_eager=True):
    """A decorator: the function is recorded once for each bucket of sizes and replayed for the calls that fit into it.

        @bucketed(inputs={"x": ("tokens", 512)}, ladder={"tokens": (16, 64, 256)}, outputs=[("tokens",)], fill={"x": 0},
                  masks={"valid": "tokens"})
        def step(x, valid):                        # valid: a bool tensor, False where x is padding
            return model(x) * valid[:, None]

    inputs   the tensor arguments; of each the dimensions: the name of an axis, a number, or None for any size, which is
             recorded once each
    ladder   the sizes of each axis, the last being the largest
    outputs  dimensions of each output, of which axes are cut to the real size; None: outputs are the bucket's
    fill     what an input is padded with, a number; without one the padding is what was there before
    masks    arguments that the caller does not give: bool tensors of an axis, True for what is real
    warmups  calls ahead of each recording
    largest_eager  a size above the largest bucket runs eagerly; otherwise it is refused

    Outputs are lent until the next call, after which reading them is an exception that names both calls. No gradients flow
    back. `last`, stats() and graphophone.torch.explain() say what was done and why."""
    def decorate(function):
        return Bucketed(function, inputs, ladder, outputs, fill or {}, masks or {}, warmups, largest_eager)
    return decorate
