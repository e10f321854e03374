#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/python-api.md and bindings/python/graphophone/_gph.pyi from the docstrings of the extension.

usage: PYTHONPATH=build/debug/python scripts/python_docs.py [--check]     --check: fails where they are not so

A docstring has the names of parameters and their defaults; types are here, by the name of the parameter,
of `Class.member` for what it returns, or of `Class.member.parameter` where one differs."""
import inspect
import pathlib
import sys

import graphophone as gph

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, STUBS = ROOT / "docs/python-api.md", ROOT / "bindings/python/graphophone/_gph.pyi"

PARAMETERS = {
    "streams": "Iterable[StreamLike]", "pulls": "Iterable[tuple[int, int]] | None", "tensor": "TensorLike",
    **dict.fromkeys(("device", "priority", "flags", "segment", "node", "growth_bytes", "max_bytes", "reserve_bytes",
                     "budget_bytes", "base", "keep_bytes", "count", "epoch", "index", "seed", "data", "key", "warmups",
                     "depth_max", "rerecords_max", "backoff", "moves_max", "settle", "warmup", "lazy_misses", "own_max",
                     "inputs", "key_count", "depth", "windows", "window", "bytes", "address", "shifted", "graph",
                     "recording", "first", "second", "branches", "ceiling", "unroll", "budget_ns", "poll_ns", "capacity", "idle_us",
                     "wait_ns", "number"), "int"),
    **dict.fromkeys(("run", "kernels", "verbose", "at_once", "may_reinstantiate", "keep_graph", "any_order",
                     "share_inputs", "strict", "keep_gil", "explicit_steps", "keep_graphs", "root", "eager", "check", "unset", "keep", "share",
                     "lazy"), "bool"),
    **dict.fromkeys(("mode", "join", "dtype", "kind", "form", "language"), "str"),
    **dict.fromkeys(("hot_share", "overshoot_max", "wait_s"), "float"),
    "stream": "StreamLike", "name": "str | None", "path": "Path", "paths": "Path", "softcuda_path": "Path | None",
    "driver": "str | None", "allocator": "tuple[int, int] | None", "pool": "Pool | None", "arena": "Arena | None",
    "rng": "Rng | None", "shape": "int | Iterable[int]", "strides": "Iterable[int] | None", "owner": "object",
    "image": "str | bytes", "buffer": "object", "object": "object", "function": "Callable_[..., Any]",
    "outputs": "int | Sequence[str | TensorLike]", "modes": "str | Sequence[str]", "clear": "Iterable[TensorLike]",
    "axes": "Sequence[dict[str, Any]]", "wanted": "Callable_[[tuple[int, ...]], object] | None",
    "static": "Iterable[int]", "mutated": "Iterable[int]", "progress": "bool | Callable_[[int, int, str], object] | None",
    "sizes": "int | Sequence[int]", "values": "int | Sequence[int]", "slots": "Iterable[tuple[str | None, str, int]]",
    "slot": "int | str", "cache": "Cache", "options": "Any", "Recipe.add_cache.shifted": "Cache | None", "execs": "Exec | Sequence[Exec]", "runtime": "Runtime", "tree": "Tree",
    "places": "dict[str, tuple[int, int]]", "text": "object", "other": "Graph", "max_version": "tuple[int, int] | None",
    "dl_device": "tuple[int, int] | None", "copy": "bool | None", "kwargs": "Any", "type": "object", "value": "object",
    "traceback": "object", "advise.__exit__.kind": "object", "error": "object", "trace": "object",
    "Runtime.open.device": "int | None", "open.device": "int | None", "Runtime.callable.inputs": "Sequence[TensorLike]",
    "Runtime.callable.key": "int | Sequence[int]", "Runtime.callable.pool": "Pool", "Runtime.cache.inputs": "Sequence[tuple[Any, ...]]",
    "Runtime.cache.outputs": "Sequence[tuple[Any, ...]]", "Runtime.cache.lazy": "str", "Tree.function.outputs": "int",
    "Callable.check.inputs": "TensorLike | None", "Callable.check.key": "int | Sequence[int] | None",
    "Recipe.add.inputs": "Sequence[TensorLike]", "Recipe.add.outputs": "Sequence[TensorLike]",
    "Recipe.add.key": "int | Sequence[int]", "Recipe.arena.arena": "Arena", "Recipe.arena.shifted": "Arena | None",
    "Recipe.describe.graph": "int | str", "Slots.bind.buffer": "TensorLike | SlotBuffer", "near.text": "str",
    "Tensor.__dlpack__.stream": "object", "Runtime.find.name": "str", "Module.function.name": "str",
    "input_count": "int", "is_new_round": "bool", "parts": "Any",
    "stream_of": "Callable_[[Any], int] | type", "argument": "Any", "before": "Callable_[[], Any] | None",
    "condition": "Condition", "body": "int | Recording", "way": "str", "counter": "TensorLike | None", "order": "str",
    "arguments": "object", "Runtime.loop.before": "int | Recording | None", "Loop.update.graph": "int | Recording",
    "Dispatch.add.graph": "int | Recording", "Dispatch.add.kind": "int", "Dispatch.send.kind": "int",
    "what": "str", "Ranks.gather.value": "int | bytes | bytearray | memoryview", "Ranks.agree.text": "str",
    "Ranks.all.error": "BaseException | None", "Ranks.fail.error": "BaseException | str", "Ranks.wait.runtime": "Runtime | None",
    "out": "TensorLike | None", "op": "str", "place": "str | None", "Comm.all_gather.out": "TensorLike", "Comm.broadcast.root": "int",
    "Comm.graph_agree.graph": "int | Recording | Callable",
    "loaded": "Loaded", "identify": "Callable_[[int], tuple[bytes, str] | None] | None",
    "Capture.region.name": "str", "Recipe.range.name": "str", "Recipe.arena.name": "str", "Recipe.add.name": "str",
}
RETURNS = {
    "last_cause": "dict[str, Any] | None", "open": "Runtime", "version": "str", "examine": "list[dict[str, Any]]", "explain": "list[dict[str, Any]]",
    "near": "list[str]", "Runtime.arena": "Arena", "Runtime.pool": "Pool", "Runtime.stream": "Stream",
    "Runtime.module": "Module", "Runtime.tensor": "Tensor", "Runtime.rng": "Rng", "Runtime.callable": "Callable",
    "Runtime.tree": "Tree", "Runtime.cache": "Cache", "Runtime.slots": "Slots", "Runtime.slot_buffer": "SlotBuffer",
    "Runtime.capture": "Capture", "Runtime.instantiate": "Exec", "Runtime.find": "int", "Module.function": "Kernel",
    "Pool.tensor": "Tensor", "Pool.stats": "dict[str, int]", "Pool.ranges": "list[dict[str, Any]]",
    "Pool.may_replay": "str | None", "Pool.checkpoint": "Checkpoint", "Arena.ledger": "dict[str, Any]", "Arena.trim": "int",
    "Call.empty": "Tensor", "Callable.check": "list[str]", "Callable.input": "Tensor", "Rng.take": "tuple[int, int]",
    "Tree.function": "TreeFunction", "Tree.text": "str", "Tree.stats": "dict[str, Any]", "TreeOutput.tensor": "Tensor",
    "Cache.work": "tuple[str, int] | None", "Cache.find": "dict[str, Any]", "Cache.key": "int | None",
    "Cache.key_info": "dict[str, Any]", "Cache.input": "Tensor", "Cache.output": "Tensor", "Cache.stats": "dict[str, int]",
    "Capture.__enter__": "Capture", "Capture.__exit__": "bool", "Region.__exit__": "bool", "Capture.region": "Region",
    "Capture.if_": "Flow", "Capture.while_": "Flow", "Capture.switch": "Flow", "Flow.__enter__": "Flow", "Flow.__exit__": "bool",
    "Runtime.loop": "Loop", "Runtime.dispatch": "Dispatch", "Loop.wait": "dict[str, Any]", "Dispatch.send": "int",
    "Dispatch.stats": "dict[str, int]", "Dispatch.__enter__": "Dispatch", "Dispatch.__exit__": "bool",
    "Ranks.gather": "list[Any]", "Ranks.most": "int", "Ranks.least": "int", "Ranks.__enter__": "Ranks", "Ranks.__exit__": "bool",
    "Comm.all_reduce": "Any", "Comm.all_gather": "Any", "Comm.broadcast": "Any",
    "Recording.instantiate": "Replay", "Recording.describe": "Graph", "Recording.region": "str | None",
    "Replay.exec": "Exec", "Exec.update": "tuple[str, str]", "Graph.json": "str", "Graph.dot": "str", "Graph.load": "Graph",
    "Graph.signature": "str", "Graph.diff": "Diff", "Slots.address": "int", "Slots.stats": "dict[str, int]",
    "Recipe.load": "Recipe", "Loaded.take": "int", "Recipe.describe": "Graph", "Recipe.instantiate": "Loaded", "Recipe.instantiate_tree": "Loaded",
    "Recipe.instantiate_cache": "Cache",
    "advise.__enter__": "Advice", "advise.__exit__": "bool",
    "Stream.__cuda_stream__": "tuple[int, int]", "__dlpack__": "object", "__dlpack_device__": "tuple[int, int]",
}
MEMBERS = {
    **dict.fromkeys(("handle", "address", "data", "nbytes", "epoch", "recording_id", "pool_id", "windows"), "int"),
    **dict.fromkeys(("driver", "path", "why", "dtype", "name", "phase"), "str"), "place": "str | None",
    **dict.fromkeys(("shape", "strides", "key", "graphs"), "tuple[int, ...]"), "__cuda_array_interface__": "dict[str, Any]", "is_capturing": "bool", "is_topology": "bool",
    "version": "tuple[int, int]", "device": "int | None", "exec": "Exec", "graph": "int | None", "recording": "Recording",
    "stream": "StreamLike", "pool": "Pool", "capture": "Capture | None", "outputs": "tuple[Tensor | None, ...]", "rng": "int",
    "state": "tuple[int, int]", "event": "dict[str, Any]", "last": "dict[str, Any] | None", "arena": "Arena | None",
    "ladders": "tuple[tuple[int, ...], ...]", "nodes": "list[dict[str, Any]]", "edges": "list[tuple[int, int]]",
    "range": "tuple[int, int]", "summary": "dict[str, Any]", "Recipe.graphs": "list[dict[str, Any]]",
    "Call.stream": "Stream", "Tree.stream": "StreamLike", "Launcher.handle": "int | None", "Launcher.address": "int | None",
    "Launcher.lost": "str | None", "Launcher.pulls": "int", "Cache.loaded": "Loaded | None",
    "before": "Callable_[[], Any] | None", "count": "int",
    "flows": "list[dict[str, Any]]", "progress": "dict[str, Any]", "ways": "dict[str, Any]",
    **dict.fromkeys(("rank", "local"), "int"), "peers": "list[dict[str, Any]]", "info": "dict[str, Any]", "nccl": "int | None",
    "ranks": "Ranks", "Loop.exec": "Exec | None", "block": "Tensor | None", "done": "int",
}
SPECIAL = {  # slots, whose signatures Python does not have
    "Exec": ["def __call__(self, stream: StreamLike, /) -> None: ..."],
    "Loop": ["def __call__(self, stream: StreamLike, /) -> None: ..."],
    "Replay": ["def __call__(self, stream: StreamLike, /) -> None: ..."],
    "Kernel": ["def __call__(self, stream: StreamLike, grid: int | tuple[int, ...], block: int | tuple[int, ...],\n"
               "                 *args: TensorLike | int | float | bytes, shared_bytes: int = 0) -> None: ..."],
    "Callable": ["def __call__(self, *inputs: TensorLike | None, stream: StreamLike = ..., out: Any = ...,\n"
                 "                 key: int | Sequence[int] = ...) -> Any: ..."],
    "TreeFunction": ["def __call__(self, *inputs: TensorLike | TreeOutput, key: int | Sequence[int] = ...) -> Any: ..."],
    "Cache": ["def __call__(self, sizes: int | Sequence[int], /, *inputs: TensorLike | None,\n"
              "                 stream: StreamLike = ..., out: Any = ...) -> Any: ...", "def __len__(self) -> int: ..."],
    "Loaded": ["def __call__(self, graph: int, /, stream: StreamLike) -> None: ...", "def __len__(self) -> int: ...",
               "def __getitem__(self, index: int, /) -> dict[str, Any]: ..."],
    "Diff": ["def __len__(self) -> int: ...", "def __getitem__(self, index: int, /) -> dict[str, Any]: ..."],
    "Graph": ["def __len__(self) -> int: ..."], "Slots": ["def __len__(self) -> int: ..."],
    "Recipe": ["def __init__(self) -> None: ..."], "Launcher": ["def __init__(self) -> None: ..."],
    "Advice": ["sequences: list[dict[str, Any]]", "text: str", "is_outside: bool"],
    "advise": ["def __init__(self, command: Path | None = ..., timeout: float | None = ...) -> None: ..."],
    "GraphedCall": ["def __init__(self, is_one: bool, /, **parts: Any) -> None: ...",
                    "def __call__(self, *args: Any, **kwargs: Any) -> Any: ..."],
    "Ranks": ["def __init__(self, *, count: int = ..., rank: int = ..., name: str | None = ..., patience_s: float = ...,\n"
              "                 notice_s: float = ..., allocator: tuple[int, int] | None = ...) -> None: ..."],
    "Comm": ["def __init__(self, ranks: Ranks, runtime: Runtime, *, way: str = ..., own_bytes: int = ...,\n"
             "                 nccl_path: Path | None = ..., name: str | None = ...) -> None: ..."],
    "PathHit": ["def __init__(self, miss: Callable_[[list[Any]], Any]) -> None: ...",
                "def __call__(self, inputs: list[Any], /) -> Any: ..."],
}
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by scripts/python_docs.py. sizes: table
from collections.abc import Callable as Callable_, Iterable, Sequence
from os import PathLike
from typing import Any, Protocol

class _Stream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

StreamLike = _Stream | int | None
# Anything with __dlpack__; on softcuda also anything with a buffer.
TensorLike = Any
# A word of 4 bytes, (left, relation, right), or a function of (stream, handle).
Condition = TensorLike | tuple[TensorLike, str, TensorLike | int | float] | Callable_[[int, int], object]
Path = str | bytes | PathLike[str] | PathLike[bytes]
'''


def own(cls):
    """Members that the extension gave a class, in the order of their names."""
    for name, value in sorted(vars(cls).items()):
        if not name.startswith("_") or name in ("__enter__", "__exit__", "__dlpack__", "__dlpack_device__", "__cuda_stream__",
                                                "__cuda_array_interface__"):
            yield name, value


def typed(where, signature):
    texts, last = [], None
    for p in signature.parameters.values():
        if last == p.POSITIONAL_ONLY and p.kind != last:
            texts.append("/")
        if p.kind == p.KEYWORD_ONLY and last not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            texts.append("*")
        text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
        if p.name != "self":
            text += ": " + (PARAMETERS.get("%s.%s" % (where, p.name)) or PARAMETERS[p.name])
        texts.append(text + (" = ..." if p.default is not p.empty else ""))
        last = p.kind
    if last == inspect.Parameter.POSITIONAL_ONLY:
        texts.append("/")
    return "(%s)" % ", ".join(texts)


def stub_of(where, function, indent=""):
    returns = RETURNS.get(where) or RETURNS.get(where.split(".")[-1], "None")
    return "%sdef %s%s -> %s: ..." % (indent, where.split(".")[-1], typed(where, inspect.signature(function)), returns)


def stub_of_class(name, cls):
    if issubclass(cls, BaseException):
        yield "class %s(%s): ..." % (name, ", ".join(base.__name__ for base in cls.__bases__))
        return
    yield "class %s:" % name
    lines = ["    " + line for line in SPECIAL.get(name, [])]
    for member, value in own(cls):
        where = "%s.%s" % (name, member)
        if inspect.isgetsetdescriptor(value):
            kind = MEMBERS.get(where) or MEMBERS[member]
            lines += ["    @property", "    def %s(self) -> %s: ..." % (member, kind)]
            if where in ("Rng.state", "Launcher.before", "Launcher.lost"):
                lines += ["    @%s.setter" % member, "    def %s(self, value: %s) -> None: ..." % (member, kind)]
        else:
            if isinstance(value, staticmethod):
                lines.append("    @staticmethod")
            lines.append(stub_of(where, getattr(cls, member), "    "))
    yield from lines or ["    ..."]


def stubs():
    yield HEAD
    names = [name for name in gph.__all__ if name != "command"]
    errors = [n for n in names if isinstance(getattr(gph, n), type) and issubclass(getattr(gph, n), BaseException)]
    for name in sorted(errors, key=lambda n: (n not in ("Error", "Warning"), n)):
        if name == "Error":
            yield "class Error(RuntimeError):"
            for attribute, kind in (("status", "int"), ("status_name", "str"), ("node", "int | None"), ("rank", "int | None")):
                yield "    %s: %s" % (attribute, kind)
            for attribute in ("region", "place", "call", "hint", "sentence", "cause"):
                yield "    %s: str | None" % attribute
        else:
            yield from stub_of_class(name, getattr(gph, name))
    yield ""
    for name in sorted(set(names) - set(errors)):
        value = getattr(gph, name)
        if isinstance(value, type):
            yield from stub_of_class(name, value)
            yield ""
        else:
            yield stub_of(name, value)


def paragraph(text, indent=""):
    return "\n".join((indent + line).rstrip() for line in inspect.cleandoc(text).split("\n"))


def page():
    yield ("# graphophone in Python\n\nWritten by scripts/python_docs.py from the docstrings: `help(graphophone)` says the same. "
           "What it is for is in [python.md](python.md).\n\n## Functions\n")
    names = [name for name in gph.__all__ if name != "command"]
    classes = [n for n in names if isinstance(getattr(gph, n), type)]
    for name in sorted(set(names) - set(classes)):
        yield entry(name, getattr(gph, name))
    for name in sorted(classes):
        cls = getattr(gph, name)
        made = name + cls.__text_signature__ + "\n\n" if name in ("Comm", "Ranks") else ""  # others are made by a function
        yield "## %s\n\n```\n%s%s\n```\n" % (name, made, paragraph(cls.__doc__))
        if not issubclass(cls, BaseException):
            for member, value in own(cls):
                if not member.startswith("__"):
                    yield entry(member, value if inspect.isgetsetdescriptor(value) else getattr(cls, member))


def entry(name, value):
    head = name if inspect.isgetsetdescriptor(value) else name + str(inspect.signature(value)).replace("(self, /", "(").replace("(self", "(").replace("(, ", "(")
    return "**`%s`**\n\n```\n%s\n```\n" % (head, paragraph(value.__doc__))


def main():
    wrong = 0
    for path, text in ((PAGE, "\n".join(page())), (STUBS, "\n".join(stubs()) + "\n")):
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            print("%s is not what the docstrings say: scripts/python_docs.py" % path.relative_to(ROOT))
            wrong = 1
    return wrong


sys.exit(main())
