# SPDX-License-Identifier: Apache-2.0
"""Outputs that a graph writes again at each call, wrapped so that whoever reads one too late gets an exception: at the
first call as at the thousandth, by the tensor itself as by views of it.

A call returns tensors of their own over the graph's memory. The next call marks what is still there of them: PyTorch then
refuses their data, with a text that names both calls. Memory is not copied."""
import torch
from torch._C import (_construct_CUDA_Tensor_From_Storage_And_Metadata, _construct_storage_from_data_pointer,
                      _set_storage_access_error_msg, _set_storage_data_ptr_access_error_msg)
from torch.multiprocessing.reductions import StorageWeakRef
import weakref


def _metadata(tensor):
    storage = tensor.untyped_storage()
    return {"nbytes": storage.nbytes(), "data_ptr": storage.data_ptr(), "size": tensor.shape, "stride": tensor.stride(),
            "dtype": tensor.dtype, "device": tensor.device, "storage_offset": tensor.storage_offset()}


class Lender:
    """What one function has lent: one call at a time. `name` is the function's, for the text."""

    def __init__(self, name):
        self.name = name
        self.calls = 0
        self._lent = []  # (weak tensor, weak storage, index)
        self._place = None

    def overwrite(self, place):
        """A new call, from `place`: what the last one lent is marked."""
        self.calls += 1
        for tensor, storage, index in self._lent:
            if storage.expired():
                continue
            text = ("output %d of call %d of %s, made at %s, was overwritten by call %d, made at %s: its graph writes the same "
                    "memory at each call. clone() what is to be kept." %
                    (index, self.calls - 1, self.name, self._place, self.calls, place))
            alive = tensor()
            if alive is not None:
                _set_storage_access_error_msg(alive, text)
            _set_storage_data_ptr_access_error_msg(storage.cdata, text)
        self._lent = []
        self._place = place

    def lend(self, metadata):
        """Tensors over the graph's memory, one for each of outputs_of()."""
        storages, result = {}, []
        for index, known in enumerate(metadata):
            storage = storages.get(known["data_ptr"])
            if storage is None:
                storage = storages[known["data_ptr"]] = _construct_storage_from_data_pointer(
                    known["data_ptr"], known["device"], known["nbytes"])
            tensor = _construct_CUDA_Tensor_From_Storage_And_Metadata(known, storage)
            self._lent.append((weakref.ref(tensor), StorageWeakRef(storage), index))
            result.append(tensor)
        return result


def outputs_of(tensors):
    """What lend() needs of a graph's own outputs. Those of one memory share it in what is lent, too."""
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor) or not tensor.is_cuda:
            raise TypeError("output %d of a function that is recorded is %s, not a CUDA tensor" %
                            (index, "on the CPU" if isinstance(tensor, torch.Tensor) else "a " + type(tensor).__name__))
    return [_metadata(tensor) for tensor in tensors]
