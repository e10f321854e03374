# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CUDA graphs by libgph, for PyTorch 2.11.

    import graphophone.torch
    graphophone.torch.patch()               # torch.cuda.CUDAGraph and what is built on it are ours from here on

or, without a patch, graphophone.torch.CUDAGraph, graph, graph_pool_handle, make_graphed_callables and
is_current_stream_capturing, which have the signatures and the meaning of those of torch.cuda. What differs, and what
PyTorch does not have: docs/torch.md."""
import torch as _torch

if not _torch.__version__.startswith("2.11."):
    raise ImportError("graphophone.torch is for PyTorch 2.11, and this is PyTorch %s: it uses parts that are not the same in "
                      "other versions. The rest of graphophone works with any version." % _torch.__version__)

from .._advise import advise  # noqa: E402
from ._bucketed import Bucketed, bucketed  # noqa: E402
from ._callables import make_graphed_callables  # noqa: E402
from ._graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing  # noqa: E402
from ._ledger import explain, memory  # noqa: E402
from ._loops import WhileLoop, make_while_loop  # noqa: E402
from ._names import missing as _missing  # noqa: E402
from ._patch import is_patched, patch, unpatch  # noqa: E402
from ._ranks import Comm, all_reduce, ranks  # noqa: E402
from ._saved import load_graphed_callables, save_graphed_callables  # noqa: E402
from ._saved_graph import load_graph, save_graph  # noqa: E402

__all__ = ["Bucketed", "CUDAGraph", "Comm", "WhileLoop", "advise", "all_reduce", "bucketed", "explain", "graph", "graph_pool_handle",
           "is_current_stream_capturing", "is_patched", "load_graph", "load_graphed_callables", "make_graphed_callables", "make_while_loop", "memory", "patch", "ranks",
           "save_graph", "save_graphed_callables", "unpatch"]


def __getattr__(name):
    raise _missing(__name__, name)
