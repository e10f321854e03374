#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes attach/wrappers.c and attach/driver/symbols.h: a wrapper for each symbol of the driver.

From src/cuda/calls.h (symbols and arguments) and the table of policies below. `--check` fails if
the files in the tree are not what this writes.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent

# ---- what is recorded: the first line that matches a call's name decides ----
POLICY = [
    # never, whatever it returns
    ("NEVER", r"cuGetError(String|Name)|cuGetProcAddress|cuGetExportTable|cuLogs.*|cuCheckpoint.*"),
    # "not ready" (600) only while a capture is open
    ("POLL", r"cuStreamQuery|cuEventQuery"),
    # getters that give what later records are understood by
    ("ALWAYS", r"cuModuleGetFunction|cuModuleGetGlobal|cuLibraryGet(Kernel|Module|Global|Managed)"
               r"|cuKernelGetFunction|cuModuleEnumerateFunctions|cuLibraryEnumerateKernels"
               r"|cuDeviceGet(Default)?MemPool|cuMemGet(Default)?MemPool|cuMemHostGetDevicePointer"
               r"|cuGraphChildGraphNodeGetGraph|cuMemPool[GS]etAttribute"
               r"|cuDevice[GS]etGraphMemAttribute|cuGraphNodeFindInClone|cuMemRetainAllocationHandle"
               r"|cuCtxGetDevice|cuMemExport.*|cuMemImport.*|cuArrayGetPlane"),
    # all other getters: when they fail
    ("FAIL", r"cu\w*Get(?!her)\w*|cuOccupancy.*|cuDeviceCanAccessPeer|cuStreamIsCapturing|cuFuncIsLoaded"
             r"|cuTensorMap.*|cuIpcGet.*|cuCoredump.*|cuDeviceComputeCapability|cuDevResource.*"
             r"|cuDevSmResource.*|cuDriverGetVersion|cuProfilerInitialize|cuLink.*"),
    ("ALWAYS", r".*"),
]

# ---- what an argument points at, where its type does not say ----
# (call, argument): "A<n>" array with argument n's count; "S" struct; "T" text; "O" filled; "V" the word alone;
# "M" a memory attribute, 4 or 8 bytes by argument 1
ARGUMENTS = {
    "cuMemcpyBatchAsync": {0: "A3", 1: "A3", 2: "A3", 4: "A6", 5: "A6"},
    "cuMemcpy3DBatchAsync": {1: "A0"},
    "cuMemPrefetchBatchAsync": {0: "A2", 1: "A2", 3: "A5", 4: "A5"},
    "cuMemDiscardBatchAsync": {0: "A2", 1: "A2"},
    "cuMemDiscardAndPrefetchBatchAsync": {0: "A2", 1: "A2", 3: "A5", 4: "A5"},
    "cuMemBatchDecompressAsync": {0: "A1", 3: "V"},
    "cuStreamBatchMemOp": {2: "A1"},
    "cuStreamUpdateCaptureDependencies": {1: "A3", 2: "A3"},
    "cuSignalExternalSemaphoresAsync": {0: "A2", 1: "A2"},
    "cuWaitExternalSemaphoresAsync": {0: "A2", 1: "A2"},
    "cuMemSetAccess": {2: "A3"},
    "cuMemPoolSetAccess": {1: "A2"},
    "cuMemPoolSetAttribute": {2: "M"},
    "cuMemPoolGetAttribute": {2: "M"},
    "cuDeviceSetGraphMemAttribute": {2: "M"},
    "cuDeviceGetGraphMemAttribute": {2: "M"},
    "cuModuleLoad": {1: "T"},
    "cuModuleGetFunction": {2: "T"},
    "cuModuleGetGlobal": {3: "T"},
    "cuLibraryGetKernel": {2: "T"},
    "cuLibraryGetGlobal": {3: "T"},
    "cuLibraryGetManaged": {3: "T"},
    "cuLibraryLoadFromFile": {1: "T", 2: "V", 3: "V", 5: "V", 6: "V"},
    "cuLibraryLoadData": {2: "V", 3: "V", 5: "V", 6: "V"},
    "cuGraphDebugDotPrint": {1: "T"},
    "cuModuleEnumerateFunctions": {0: "A1"},
    "cuLibraryEnumerateKernels": {0: "A1"},
    "cuMemAllocHost": {0: "O"},
    "cuMemHostAlloc": {0: "O"},
    "cuModuleLoadDataEx": {3: "V", 4: "V"},
    "cuGraphicsMapResources": {1: "A0"},
    "cuGraphicsUnmapResources": {1: "A0"},
    "cuMemMapArrayAsync": {0: "A1"},
    "cuGraphInstantiate": {2: "V", 3: "V"},
}

# Work that a capturing stream makes a node of.
WORK = re.compile(
    r"cuLaunch\w+|cuMemcpy\w*Async|cuMemset\w*Async|cuMem(Alloc|Free)Async|cuMemAllocFromPoolAsync"
    r"|cuStream(WaitValue|WriteValue)\d+|cuStreamBatchMemOp|cuGraphLaunch|cuStreamAddCallback"
    r"|cu(Signal|Wait)ExternalSemaphoresAsync|cuMemMapArrayAsync|cuMemPrefetch\w*|cuStreamAttachMemAsync")

# What changes a graph, or may: a snapshot that was taken before says no more how it is.
EDITS = re.compile(
    r"cuGraphAdd\w+|cuGraphRemoveDependencies|cuGraphDestroyNode|cuGraph\w+NodeSet\w+|cuGraphNodeSet\w+"
    r"|cuGraph\w*CopyAttributes|cuStreamBeginCaptureToGraph|cuStreamUpdateCaptureDependencies|cuGraphCreate|cuGraphDestroy"
    r"|cuGraphClone|cuGraphConditionalHandleCreate")

# Where Python frames are worth their microseconds.
PYTHON = re.compile(
    r"cuStream(BeginCapture\w*|EndCapture|Create\w*|Destroy)|cuGraphInstantiate\w*|cuGraphExecUpdate"
    r"|cuGraphExecDestroy|cuGraphDestroy|cuMemPoolCreate|cuGraphUpload")

# What attach/ does besides recording: (call, hook).
HOOKS = [
    (r"cuInit", "INIT"),
    (r"cuGetProcAddress", "GET_PROC"),
    (r"cuDevicePrimaryCtxRetain|cuCtxCreate", "CONTEXT"),
    (r"cuDevicePrimaryCtxReset|cuCtxDestroy", "CONTEXT_GONE"),
    (r"cuStreamCreate(WithPriority)?|cuGreenCtxStreamCreate", "STREAM"),
    (r"cuStreamDestroy", "STREAM_GONE"),
    (r"cuStreamBeginCapture(ToGraph)?", "BEGIN"),
    (r"cuStreamEndCapture", "END"),
    (r"cuThreadExchangeStreamCaptureMode", "MODE"),
    (r"cuGraphCreate|cuGraphClone", "GRAPH"),
    (r"cuGraphChildGraphNodeGetGraph", "CHILD"),
    (r"cuGraphAddNode", "ADD_NODE"),
    (r"cuGraphDestroy", "GRAPH_GONE"),
    (r"cuGraphInstantiate\w*", "INSTANTIATE"),
    (r"cuGraphExecUpdate", "UPDATE"),
    (r"cuLibraryGetKernel", "KERNEL"),
    (r"cuLibraryEnumerateKernels", "KERNELS"),
    (r"cuModuleUnload|cuLibraryUnload", "CODE_GONE"),
]

# Older signatures by name: which argument stands for each of the present ones; -1 is 0. What is not here has the same arguments.
OLDER = {
    "cuCtxCreate": [0, -1, 1, 2],
    "cuCtxCreate_v2": [0, -1, 1, 2],
    "cuCtxCreate_v3": [0, -1, 3, 4],
    "cuGraphAddDependencies": [0, 1, 2, -1, 3],
    "cuGraphRemoveDependencies": [0, 1, 2, -1, 3],
    "cuGraphAddNode": [0, 1, 2, -1, 3, 4],
    "cuGraphExecUpdate": [0, 1, -1],
    "cuGraphInstantiate": [0, 1, -1],
    "cuGraphInstantiate_v2": [0, 1, -1],
    "cuMemPrefetchAsync": [0, 1, 2, -1, 3],
    "cuMemcpy3DBatchAsync": [0, 1, 3, 4],
    "cuMemcpyBatchAsync": [0, 1, 2, 3, 4, 5, 6, 8],
    "cuStreamBeginCapture": [0, -1],
    "cuStreamUpdateCaptureDependencies": [0, 1, -1, 2, 3],
    "cuGraphGetEdges": [0, 1, 2, -1, 3],
    "cuGraphNodeGetDependencies": [0, 1, -1, 2],
    "cuGraphNodeGetDependentNodes": [0, 1, -1, 2],
    "cuStreamGetCaptureInfo": [0, 1, 2],
    "cuStreamGetCaptureInfo_v2": [0, 1, 2, 3, 4, -1, 5],
}
# Calls that stand under another name in the list of calls.
RENAMED = {"cuGraphInstantiate": "cuGraphInstantiateWithFlags"}

INTEGERS = {"int", "unsigned int", "size_t", "unsigned long long", "unsigned short", "unsigned char",
            "cuuint64_t", "cuuint32_t", "CUdeviceptr", "CUdeviceptr_v1", "CUdeviceptr_v2", "CUdevice", "CUtexObject",
            "CUsurfObject", "CUmemGenericAllocationHandle", "CUgraphConditionalHandle", "float"}


def read_lists():
    text = (root / "src/cuda/calls.h").read_text()
    split = text.index("#define GPHI_CUDA_SYMBOLS")
    calls = {m[1]: m[3] for m in re.finditer(r"X\((\w+), (\d+), \((.*)\)\) *\\?\n", text[:split])}
    symbols = [m.groups() for m in re.finditer(r"X\((\w+), (\w+), (\d+), (\d), \((.*)\)\) *\\?\n", text[split:])]
    return calls, symbols


def read_types():
    text = (root / "src/cuda/abi.h").read_text()
    handles = set(re.findall(r"typedef struct \w+ \*(\w+);", text))
    functions = set(re.findall(r"typedef \w+ \(\*(\w+)\)", text))
    enums = set(re.findall(r"typedef enum \w+ \{[^}]*\} (\w+);", text))
    structs = set(re.findall(r"^\} (\w+);", text, re.M)) - enums
    for new, old in [(m[2], m[1]) for m in re.finditer(r"typedef (\w+) (\w+);", text)] * 3:
        for group in (handles, functions, enums, structs):
            if old in group:
                group.add(new)
    return handles, functions, enums, structs


calls, symbols = read_lists()
handles, functions, enums, structs = read_types()
scalars = INTEGERS | enums


def split_arguments(arguments):
    return [] if arguments == "void" else [a.strip() for a in arguments.split(",")]


def declare(kind, name):
    return kind + name if kind.endswith("*") else f"{kind} {name}"


def word(kind, name):
    if kind.endswith("*") or kind in handles | functions:
        return f"(uint64_t)(uintptr_t){name}"
    if kind == "CUmemLocation":
        return f"attach_location({name})"
    if kind == "float":
        return f"attach_float({name})"
    if kind in scalars:
        return f"(uint64_t){name}"
    assert kind in structs, kind
    return f"((void){name}, UINT64_C(0))"


def describe(call, index, kinds, position):
    """The descriptor of present argument `index`, which is argument `position` here."""
    if position < 0:
        return "{ATTACH_WORD, 0, 0}"
    kind = kinds[position]
    told = ARGUMENTS.get(call, {}).get(index)
    base = re.sub(r"^const ", "", kind).rstrip("*").strip()
    size = f"sizeof({base})" if base != "void" else "sizeof(void *)"
    if kind.count("*") == 2:
        size = "sizeof(void *)"
    if told and told[0] == "A":
        return f"{{ATTACH_ARRAY, {told[1:]}, {size}}}"
    if told:
        return {"S": f"{{ATTACH_STRUCT, 0, {size}}}", "T": "{ATTACH_TEXT, 0, 0}", "O": f"{{ATTACH_OUT, 0, {size}}}",
                "V": "{ATTACH_WORD, 0, 0}", "M": "{ATTACH_ATTRIBUTE, 1, 0}"}[told]
    if kind in ("const CUgraphNode *", "const CUgraphEdgeData *"):
        counts = [i for i, k in enumerate(split_arguments(calls[call])) if k == "size_t"]
        return f"{{ATTACH_ARRAY, {counts[0]}, {size}}}"
    if kind.count("*") == 1 and base in structs and base not in scalars:
        if base == "CUDA_KERNEL_NODE_PARAMS_v1":  # the present one begins with it
            return f"{{ATTACH_STRUCT_V1, 0, sizeof({base})}}"
        same = split_arguments(calls[call])[index] == kind
        return f"{{ATTACH_STRUCT, 0, sizeof({base})}}" if same else "{ATTACH_WORD, 0, 0}"
    if kind.count("*") == 1 and not kind.startswith("const") and (base in handles or base in scalars):
        return f"{{ATTACH_OUT, 0, {size}}}"
    return "{ATTACH_WORD, 0, 0}"


def policy_of(call):
    return next(policy for policy, pattern in POLICY if re.fullmatch(pattern, call))


def hook_of(call):
    return next((hook for pattern, hook in HOOKS if re.fullmatch(pattern, call)), "NONE")


def stream_of(kinds):
    streams = [i for i, kind in enumerate(kinds) if kind == "CUstream"]
    return streams[-1] if streams else -1


def generate():
    head = """// SPDX-License-Identifier: Apache-2.0
/* Written by scripts/attach_wrappers.py from src/cuda/calls.h:
 * %s sizes: table */
"""
    names = sorted(symbols, key=lambda s: s[0])
    header = [head % "the number of each symbol." + "#ifndef ATTACH_SYMBOLS_H\n#define ATTACH_SYMBOLS_H\n\ntypedef enum attach_symbol_id {"]
    header += [f"    ATTACH_{symbol}," for symbol, *_ in names]
    header += ["    ATTACH_SYMBOL_COUNT", "} attach_symbol_id;", "#endif", ""]
    body = [head % "a wrapper for each symbol, and a table of them."
            + '#include "attach/enter.h"\n\n/* clang-format off */\n#define X(symbol, name, version, per_thread, arguments) ATTACH_API CUresult symbol arguments;\n'
            + "GPHI_CUDA_SYMBOLS(X)\n#undef X\n"]
    table = []
    for symbol, name, version, per_thread, arguments in names:
        kinds = split_arguments(arguments)
        call = RENAMED.get(name, name)
        present = split_arguments(calls[call]) if call in calls else []
        order = OLDER.get(symbol.removesuffix("_ptsz").removesuffix("_ptds")) if call in calls else None
        is_old = call in calls and calls[call] != arguments
        if not is_old:
            order = None
        if call in calls:
            places = order if order else list(range(min(len(present), len(kinds))))
            entries = ", ".join(describe(call, i, kinds, p) for i, p in enumerate(places))
            body.append(f"static const attach_argument arguments_{symbol}[] = {{{entries or '{ATTACH_WORD, 0, 0}'}}};")
            if order:
                body.append(f"static const int8_t order_{symbol}[] = {{{', '.join(map(str, order))}}};")
        declared = ", ".join(declare(k, f"a{i}") for i, k in enumerate(kinds)) or "void"
        words = ", ".join(word(k, f"a{i}") for i, k in enumerate(kinds)) or "0"
        passed = ", ".join(f"a{i}" for i in range(len(kinds)))
        body.append(f"""CUresult {symbol}({declared})
{{
    const uint64_t words[] = {{{words}}};
    attach_call call;
    CUresult (*const real)({arguments}) = (CUresult (*)({arguments}))attach_enter(&call, ATTACH_{symbol}, words);
    return attach_leave(&call, real({passed}));
}}""")
        if call in calls:
            flags = [f for f, on in (("ATTACH_WORK", WORK.fullmatch(name)), ("ATTACH_PYTHON", PYTHON.fullmatch(name)),
                                     ("ATTACH_EDITS", EDITS.fullmatch(name))) if on]
            own = f"GPHI_CALL_{call}, ATTACH_{policy_of(name)}, ATTACH_HOOK_{hook_of(name)}, {'|'.join(flags) or '0'}, " \
                  f"{len(places)}, {stream_of(present)}, {1 if is_old else 0}, arguments_{symbol}, " \
                  f"{'order_' + symbol if order else 'NULL'}"
        else:
            own = "GPHI_CALL_COUNT, ATTACH_NEVER, ATTACH_HOOK_NONE, 0, 0, -1, 1, NULL, NULL"
        table.append(f'    {{"{symbol}", "{name}", (attach_function *){symbol}, {version}, {per_thread}, {own}}},')
    body.append("const attach_symbol attach_symbols[ATTACH_SYMBOL_COUNT] = {\n" + "\n".join(table) + "\n};\n")
    return {"attach/driver/symbols.h": "\n".join(header), "attach/wrappers.c": "\n".join(body)}


bad = 0
for path, text in generate().items():
    target = root / path
    if "--check" in sys.argv[1:]:
        if not target.exists() or target.read_text() != text:
            print(f"{path} is not what scripts/attach_wrappers.py writes")
            bad = 1
    else:
        target.write_text(text)
sys.exit(bad)
