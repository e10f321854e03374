# SPDX-License-Identifier: Apache-2.0
"""What a graph reads and does not own: it reads the addresses of its capture forever, so that a tensor which dies, or gets
other memory (`.data =`, `set_()`), leaves it with what the allocator puts there next. A weak reference to the storage says
when that happens, and replay() refuses from then on; until then this costs it one comparison."""
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Reads(TorchDispatchMode):
    """Finds the storages that what is called reads or writes, and has not made itself."""

    def __init__(self, device):
        super().__init__()
        self.device, self.made, self.found = torch.device("cuda", device), set(), {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        for tensor in tree_leaves((args, kwargs)):
            if isinstance(tensor, torch.Tensor) and tensor.device == self.device:
                storage = tensor.untyped_storage()
                if storage._cdata not in self.made:
                    self.found.setdefault(storage._cdata, storage)
        result = function(*args, **kwargs)
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.device == self.device:
                key = tensor.untyped_storage()._cdata
                if key not in self.found:
                    self.made.add(key)
        return result


def watch(graph, storages, place):
    """Weak references that end the graph's replays once one of the storages is gone. They are to be kept with it."""
    itself = weakref.ref(graph)

    def one(index, storage):
        text = ("the graph that was captured at %s reads its input %d, %d bytes at 0x%x, and that memory was let go of: the "
                "tensor died, or got other memory. Keep it, copy new values into it, or capture again." %
                (place, index, storage.nbytes(), storage.data_ptr()))

        def gone(_):
            alive = itself()
            if alive is not None and alive.lost is None:
                alive.lost = text
        return weakref.ref(storage, gone)
    return [one(index, storage) for index, storage in enumerate(storages)]
