# SPDX-License-Identifier: Apache-2.0
"""Loops that the device runs: what torch.while_loop says, as one launch. The condition and the body are captured once each;
after a round a kernel of libgph's reads the condition's word in device memory and starts the next one, or ends.

    before    word = condition(*carried)                                      once a launch
    body      carried = body(*carried); word = condition(*carried)            a round: a WHILE node, or a launch into the tail"""
import sys

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

import graphophone as gph

from . import _causes, _driver, _ledger, _saved
from ._graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing


def _looks(one):
    return "%s of shape %s on %s" % (one.dtype, tuple(one.shape), one.device)


def _is_same_view(one, other):
    return (one.data_ptr() == other.data_ptr() and one.stride() == other.stride() and one.is_conj() == other.is_conj()
            and one.is_neg() == other.is_neg())


class WhileLoop:
    """A loop that make_while_loop() made. loop(*tensors) launches it in the current stream, once for all rounds, and gives the
    tensors that it carries, where they lie: the next call writes them again. One call at a time."""

    def __init__(self, condition, body, carried, name, place):
        self._condition, self._body, self._name, self._place = condition, body, name, place
        leaves, self._structure = tree_flatten(carried)
        for index, one in enumerate(leaves):
            if not isinstance(one, torch.Tensor) or not one.is_cuda:
                raise TypeError("%s carries tensors of a GPU; number %d is %s" %
                                (name, index, _looks(one) if isinstance(one, torch.Tensor) else repr(one)))
            if one.requires_grad:
                raise RuntimeError("%s has no gradient, and number %d of what it carries requires one: detach() it" % (name, index))
        if not leaves:
            raise TypeError("%s carries no tensor: the condition is to be about one" % name)
        self._carried = [one.detach().clone() for one in leaves]
        self._word = torch.zeros(1, dtype=torch.int32).to(leaves[0].device)
        self._graphs, self._loop, self._stream = {}, None, None

    # ---- what is recorded ----

    def _call(self, function, carried):
        return function(*tree_unflatten(carried, self._structure))

    def _ask(self):
        """word = condition(*carried): 4 bytes as they are, else the byte that says whether it is 0."""
        found = self._call(self._condition, self._carried)
        if not isinstance(found, torch.Tensor) or found.numel() != 1 or found.device != self._word.device:
            raise TypeError("the condition of %s is to give a tensor of one element on %s, and gave %s" %
                            (self._name, self._word.device, _looks(found) if isinstance(found, torch.Tensor) else repr(found)))
        found = found.detach().reshape(1)
        if found.dtype == torch.int32:
            self._word.copy_(found)
        else:
            found = found if found.dtype == torch.bool else found != 0
            self._word.view(torch.uint8)[:1].copy_(found.view(torch.uint8))

    def _take(self, result):
        """carried = what a round gave."""
        given = tree_leaves(result)
        if len(given) != len(self._carried):
            raise ValueError("the body of %s gives %d tensors, and is given %d" % (self._name, len(given), len(self._carried)))
        for index, (one, own) in enumerate(zip(given, self._carried)):
            if not isinstance(one, torch.Tensor) or (one.shape, one.dtype, one.device) != (own.shape, own.dtype, own.device):
                raise ValueError("number %d of what %s carries is %s, and its body gives %s: a round is recorded once, so that "
                                 "sizes stay. Write into a tensor that is large enough, at a place that a tensor says." %
                                 (index, self._name, _looks(own), _looks(one) if isinstance(one, torch.Tensor) else repr(one)))
        self._put(given)

    def _put(self, given):
        """Writes what is not in place. What lies in the memory of something that is carried is copied out first."""
        moved = [(own, one.detach()) for own, one in zip(self._carried, given) if not _is_same_view(own, one)]
        places = {own.untyped_storage()._cdata for own in self._carried}
        moved = [(own, one.clone() if one.untyped_storage()._cdata in places else one) for own, one in moved]
        if len(moved) == 1:
            moved[0][0].copy_(moved[0][1])
        elif moved:
            torch._foreach_copy_(*map(list, zip(*moved)))

    def _round(self):
        self._take(self._call(self._body, self._carried))
        self._ask()

    def _capture(self, what, pool):
        one = self._graphs[what] = CUDAGraph(keep_graph=True)
        one.part_of = self._name
        with graph(one, pool=pool, check_inputs=True):
            self._ask() if what == "condition" else self._round()
        if one._before is not None:
            raise gph.UnsupportedError("the %s of %s draws random numbers, and each round would draw the same ones: draw them before "
                                       "the loop" % (what, self._name))
        _ledger.note("recorded", self._name, "the %s of a loop, %d nodes" % (what, one.nodes))

    def _record(self, warmups, pool, options):
        values = [own.clone() for own in self._carried]

        def once():
            self._put(values)
            self._ask()
            self._round()
        _saved._warm_up(once, torch.cuda.Stream(), warmups)
        pool = graph_pool_handle() if pool is None else pool
        self._capture("condition", pool)
        self._capture("body", pool)
        self._put(values)
        stream = torch.cuda.current_stream().cuda_stream
        self._loop = _driver.runtime().loop(self._graphs["body"].raw_cuda_graph(), self._word, name=self._name, stream=stream,
                                            before=self._graphs["condition"].raw_cuda_graph(), **options)
        for one in self._graphs.values():
            one._template = None  # the loop has copies; the memory is the graph's

    # ---- calls ----

    def __call__(self, *carried):
        leaves, structure = tree_flatten(carried)
        if structure != self._structure:
            raise TypeError("%s was made with %s, and is called with %s" % (self._name, self._structure, structure))
        for index, (one, own) in enumerate(zip(leaves, self._carried)):
            if not isinstance(one, torch.Tensor) or (one.shape, one.dtype) != (own.shape, own.dtype):
                raise ValueError("number %d of what %s carries is %s, and it is called with %s" %
                                 (index, self._name, _looks(own), _looks(one) if isinstance(one, torch.Tensor) else repr(one)))
        for one in self._graphs.values():
            if one.lost:
                raise gph.StateError(one.lost)
        if is_current_stream_capturing():
            raise RuntimeError("%s is a launch of its own, and the current stream is captured: call it between two graphs" % self._name)
        with torch.no_grad():
            self._put(leaves)
        self._stream = torch.cuda.current_stream(self._word.device)
        self._loop(self._stream.cuda_stream)
        return tree_unflatten(self._carried, self._structure)

    def wait(self, progress=False):
        """Waits for the last call without using the processor, and says what it did, a dict: end, launch, steps, rounds, ns,
        condition, changed. graphophone.StateError where the ceiling or the budget ended it, or abort(). progress: as
        graphophone.Loop.wait() has it."""
        if self._stream is None:
            raise gph.StateError("%s was not called yet" % self._name)
        return self._loop.wait(self._stream.cuda_stream, progress=progress)

    def abort(self):
        """Ends the call that runs after its round. Any thread."""
        self._loop.abort()

    @property
    def progress(self):
        """How far it came, as graphophone.Loop.progress: reads memory alone."""
        return self._loop.progress

    @property
    def ways(self):
        """What starts the next round, and why, as graphophone.Loop.ways."""
        return self._loop.ways

    def limits(self, ceiling, budget_ns=0):
        """Of calls from now on."""
        self._loop.limits(ceiling, budget_ns)


def make_while_loop(condition, body, sample, *, ceiling, budget_ns=0, way="device", num_warmup_iters=1, pool=None, name=None):
    """A loop whose rounds the device starts: while condition(*carried): carried = body(*carried), as torch.while_loop has it.

        loop = make_while_loop(lambda token, at, out: (token != end) & (at < out.numel()), step, (token, at, out), ceiling=512)
        token, at, out = loop(token, at, out)
        loop.wait()["steps"]

    condition: gives a tensor of one element (bool is the cheapest; int32 is read as it is). body: gives as many tensors as it
    is given, of their shapes and types; what it writes in place and returns as it was costs no copy. sample: a tuple of what is
    carried, tensors or nested lists and dicts of them, for which the condition holds; copied. ceiling: the most rounds of a call, after which it ends, and
    wait() raises. budget_ns: the longest time of a call. way: who starts a round: 'while' (a WHILE node), 'tail', 'device' (the
    faster of these here), 'host', 'fastest'.

    Both run num_warmup_iters times before they are captured, with copies of the sample; other tensors that they write keep
    what that wrote. There is no gradient. Raises TypeError and ValueError for tensors that change their sizes or do not fit,
    graphophone.UnsupportedError for what no loop can have (random numbers; nodes of the host; with the name of the node)."""
    if torch.is_autocast_enabled() and torch.is_autocast_cache_enabled():
        raise RuntimeError("make_while_loop does not support the autocast caching. Please set `cache_enabled=False`.")
    name = name or getattr(body, "__name__", type(body).__name__)
    with torch.no_grad():
        loop = WhileLoop(condition, body, tuple(sample), name, _causes.place_outside(sys._getframe(1)))
        with torch.cuda.device(loop._word.device):
            loop._record(num_warmup_iters, pool, {"ceiling": ceiling, "budget_ns": budget_ns, "way": way})
    return loop
