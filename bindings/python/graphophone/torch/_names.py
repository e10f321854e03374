# SPDX-License-Identifier: Apache-2.0
"""Names that people write and that do not exist: the exception says the right one. Only attributes that a module lacks come
here, and they still are AttributeErrors, so that hasattr() is as it was."""
import difflib
import sys

RIGHT = {  # as written, without case and underlines: where it is
    "graph": "torch.cuda.CUDAGraph, or torch.cuda.graph for the block that captures",
    "cudagraph": "torch.cuda.CUDAGraph",
    "cudagraphs": "torch.cuda.CUDAGraph",
    "graphs": "torch.cuda.CUDAGraph",
    "capture": "torch.cuda.graph",
    "graphcapture": "torch.cuda.graph",
    "streamcapture": "torch.cuda.graph",
    "capturegraph": "torch.cuda.graph",
    "graphpool": "torch.cuda.graph_pool_handle",
    "graphpoolhandle": "torch.cuda.graph_pool_handle",
    "makegraphedcallable": "torch.cuda.make_graphed_callables",
    "makegraphedcallables": "torch.cuda.make_graphed_callables",
    "graphedcallables": "torch.cuda.make_graphed_callables",
    "iscapturing": "torch.cuda.is_current_stream_capturing",
    "isstreamcapturing": "torch.cuda.is_current_stream_capturing",
    "iscurrentstreamcapturing": "torch.cuda.is_current_stream_capturing",
    "markstepbegin": "torch.compiler.cudagraph_mark_step_begin",
    "cudagraphmarkstepbegin": "torch.compiler.cudagraph_mark_step_begin",
    "markstep": "torch.compiler.cudagraph_mark_step_begin",
}
MODULES = "torch", "torch.cuda", "torch.cuda.graphs", "torch.compiler", "graphophone.torch"
_before = {}  # module: its own __getattr__, or None


def right_name(name):
    """Where the thing is that a name means; None if it is not known."""
    key = name.replace("_", "").lower()
    near = [key] if key in RIGHT else difflib.get_close_matches(key, RIGHT, 1, 0.85)
    return RIGHT[near[0]] if near else None


def missing(module, name):
    """The AttributeError of a module that lacks a name."""
    text = "module %r has no attribute %r" % (module, name)
    right = None if name.startswith("__") else right_name(name)
    if right:
        text += "; it is " + (right.replace("torch.cuda.", "graphophone.torch.") if module == "graphophone.torch" else right)
    return AttributeError(text, name=name, obj=sys.modules.get(module))


def install():
    """Lets PyTorch's modules say it, too."""
    for module in MODULES[:4]:
        found = sys.modules.get(module)
        if found is None or module in _before:
            continue
        theirs = _before[module] = found.__dict__.get("__getattr__")

        def getattr_(name, module=module, theirs=theirs):
            if theirs is not None:
                try:
                    return theirs(name)
                except AttributeError:
                    if not right_name(name):
                        raise
            raise missing(module, name)
        found.__getattr__ = getattr_


def remove():
    for module, theirs in _before.items():
        found = sys.modules[module]
        if theirs is None:
            del found.__getattr__
        else:
            found.__getattr__ = theirs
    _before.clear()
