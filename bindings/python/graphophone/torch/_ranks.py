# SPDX-License-Identifier: Apache-2.0
"""Ranks and communicators of a program under torchrun. A collective is an operator of PyTorch's dispatcher, so that captures,
graphed callables and torch.compile(fullgraph=True) take it. Operators take numbers, not objects: each Comm has one.

    all_reduce(tensor, comm)  ->  torch.ops.graphophone.all_reduce_(tensor, number, op)  ->  _known[number], current stream"""
import itertools
import sys
import uuid
import weakref

import torch
import torch.distributed as dist

import graphophone as gph

from . import _causes, _driver
from ._graphs import CUDAGraph

_numbers = itertools.count(1)
_known = weakref.WeakValueDictionary()  # number: Comm


def ranks(group=None, **options):
    """The graphophone.Ranks of this program: those of torch.distributed's `group` where that is initialized (None: all), else
    of the variables that torchrun sets. All ranks call it. options: patience_s, notice_s and name of graphophone.Ranks."""
    if not (dist.is_available() and dist.is_initialized()):
        if group is not None:
            raise ValueError("a group was given, and torch.distributed is not initialized")
        return gph.Ranks(**options)
    if "name" not in options:  # one that no other group has, of the first rank's making
        names = [uuid.uuid4().hex]
        dist.broadcast_object_list(names, src=dist.get_process_group_ranks(group or dist.group.WORLD)[0], group=group)
        options["name"] = names[0]
    return gph.Ranks(count=dist.get_world_size(group), rank=dist.get_rank(group), **options)


class Comm:
    """The current GPUs of all ranks, one each, for all_reduce(): a graphophone.Comm, `gph`, with its options. All ranks make
    it. Without nccl_path it takes the NCCL that PyTorch has loaded.

    The graphs that recorded it keep what it needs; it is destroyed with its last reference."""

    def __init__(self, ranks, **options):
        torch.cuda.init()
        self.device = torch.cuda.current_device()
        torch.cuda.synchronize()  # makes the device's context the thread's
        self.gph = gph.Comm(ranks, _driver.runtime(), **options)
        self._number = next(_numbers)
        _known[self._number] = self

    @property
    def ranks(self):
        """Its graphophone.Ranks."""
        return self.gph.ranks

    @property
    def info(self):
        """What it is, as graphophone.Comm.info."""
        return self.gph.info

    def graph_agree(self, graph):
        """Did every rank record the same collectives? Asked by all of them between a capture and the first replay. graph: a
        CUDAGraph of ours, one of PyTorch's made with keep_graph=True, or a CUgraph."""
        if isinstance(graph, CUDAGraph):
            graph = graph._native  # what was captured; raw_cuda_graph() of ours is a copy
        self.gph.graph_agree(graph if isinstance(graph, int) else graph.raw_cuda_graph())

    def wait(self, stream=None):
        """Waits for a stream, or the current one, while the ranks are watched; see graphophone.Ranks.wait()."""
        stream = torch.cuda.current_stream(self.device) if stream is None else stream
        self.ranks.wait(stream.cuda_stream, _driver.runtime())


def all_reduce(tensor, comm, op="sum"):
    """Puts the "sum", "max" or "min" of every rank's tensor into every rank's, in the current stream, and returns it. Contiguous
    tensors of the Comm's GPU, without gradients. Eager, in captures, and in what torch.compile compiles."""
    torch.ops.graphophone.all_reduce_(tensor, comm._number, op)
    return tensor


def _all_reduce(tensor, number, op):
    comm = _known.get(number)
    if comm is None:
        raise gph.StateError("the Comm of this all_reduce, number %d, has gone" % number)
    if tensor.get_device() != comm.device:
        raise gph.InvalidError("the tensor is of GPU %d, the Comm of GPU %d" % (tensor.get_device(), comm.device))
    stream = torch.cuda.current_stream(comm.device).cuda_stream
    comm.gph.all_reduce(tensor.detach(), op=op, stream=stream, place=_causes.place_outside(sys._getframe(1)))


# By hand, as torch.library.custom_op() costs each eager call more than the collective takes.
_library = torch.library.Library("graphophone", "FRAGMENT")
_library.define("all_reduce_(Tensor(a!) tensor, int comm, str op) -> ()", tags=(torch.Tag.pt2_compliant_tag,))
_library.impl("all_reduce_", _all_reduce, "CUDA")
torch.library.register_fake("graphophone::all_reduce_", lambda tensor, comm, op: None, lib=_library)
