#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Provokes what entries of gph explain are about, with PyTorch and the driver.

usage: explain_torch.py SLUG | --list
       explain_torch.py --all GPH LOG [JOBS [SLUG...]]

SLUG prints what was said after a line "SAID". --all runs each in a process of its own and
writes `SLUG: ok|differs: TEXT` to LOG: ok if `gph explain` finds SLUG by the text. The lines of
the text are parted by " | "; of paths the last name is left.
"""
import ctypes
import os
import re
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

from explain_driver import PROVOKED, provokes, said, say, warned

SECONDS = 200


# ---- torch.cuda ----

def capture(run, **options):
    import torch
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        out = run()
    return graph, out


def some():
    import torch
    x = torch.randn(64, 64, device="cuda")
    (x * 2).relu()
    torch.cuda.synchronize()
    return x


@provokes("torch/already-owns-graph")
def already_owns():
    import torch
    x = some()
    graph, _ = capture(lambda: x * 2)

    def again():
        with torch.cuda.stream(torch.cuda.Stream()):
            graph.capture_begin()

    said(again)


@provokes("torch/replay-without-capture")
def replay_without():
    import torch
    some()
    said(lambda: torch.cuda.CUDAGraph().replay())


@provokes("torch/generator-not-registered")
def not_registered():
    import torch
    x = some()
    mine = torch.Generator(device="cuda")
    said(lambda: capture(lambda: x.uniform_(generator=mine)))


@provokes("torch/generator-state-in-capture")
def generator_state():
    """Each call in a capture of its own; what was refused first is said."""
    import torch
    x = some()
    default = torch.cuda.default_generators[0]
    calls = {"initial_seed": default.initial_seed, "get_offset": default.get_offset,
             "seed": default.seed, "manual_seed": lambda: default.manual_seed(99),
             "get_state": default.get_state, "set_offset": lambda: default.set_offset(8),
             "get_rng_state": torch.cuda.get_rng_state}
    lines = []
    for name, call in calls.items():
        def run():
            y = torch.nn.functional.dropout(x)
            try:
                call()
            except Exception as error:  # pylint: disable=broad-except
                lines.append("%s: %s" % (name, str(error).splitlines()[0]))
            return y

        try:
            capture(run)
        except Exception as error:  # pylint: disable=broad-except
            print("the end after", name, str(error).splitlines()[0])
    say(*lines or ["no exception"])


@provokes("torch/capture-on-default-stream")
def default_stream():
    import torch
    some()
    said(lambda: torch.cuda.CUDAGraph().capture_begin())


@provokes("torch/empty-graph")
def empty_graph():
    import torch
    x = some()
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        y = x * 2
    torch.cuda.synchronize()

    def run():
        with torch.cuda.stream(other):
            y.add_(1)

    warned(lambda: capture(run))


@provokes("torch/unpinned-copy")
def unpinned():
    import torch
    x = some()
    said(lambda: capture(lambda: x.copy_(torch.ones(64, 64))))


@provokes("torch/capture-end-order")
def end_order():
    import torch
    x = some()
    side = torch.cuda.Stream()

    def run():
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(side):
            graph.capture_begin()
            x.mul(2)
        graph.capture_end()

    said(run)


@provokes("torch/make-graphed-callables")
def graphed_autocast():
    import torch
    layer = torch.nn.Linear(64, 64).cuda()
    sample = torch.randn(8, 64, device="cuda")

    def run():
        with torch.autocast("cuda"):
            torch.cuda.make_graphed_callables(layer, (sample,))

    said(run)


@provokes("torch/private-pools-oom")
def private_pools():
    """Memory runs out while graphs hold pools of their own, with temporaries that are free there."""
    import torch
    x = torch.randn(1 << 24, device="cuda")
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(2e9 / total)
    kept = []

    def run():
        for _ in range(40):
            kept.append(capture(lambda: ((x * 2) * 3) * 4))

    said(run)


@provokes("torch/async-hint")
def async_hint():
    x = some()
    try:
        capture(lambda: x.nonzero())
    except Exception as error:  # pylint: disable=broad-except
        say(*str(error).splitlines()[2:6])


@provokes("cuda/900-stream-capture-unsupported")
def unsupported():
    import torch
    x = some()

    def run():
        y = x * 2
        try:
            torch.cuda.synchronize()
        except Exception as error:  # pylint: disable=broad-except
            say(*str(error).splitlines()[:2])
        return y

    try:
        capture(run)
    except Exception as error:  # pylint: disable=broad-except
        print("the end:", error)


@provokes("cuda/901-stream-capture-invalidated")
def invalidated():
    import torch
    x = some()

    def run():
        y = x * 2
        try:
            torch.cuda.synchronize()
        except Exception as error:  # pylint: disable=broad-except
            print(error)
        return y

    said(lambda: capture(run), lines=2, last=True)


def side_error(use):
    import torch
    x = some()
    side, other = torch.cuda.Stream(), torch.cuda.Stream()
    said(lambda: capture(lambda: use(torch, x, side, other)), lines=2)


@provokes("cuda/904-stream-capture-unjoined")
def unjoined():
    def use(torch, x, side, _):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.mul(3)
        return x * 2

    side_error(use)


@provokes("cuda/905-stream-capture-isolation")
def isolation():
    def use(torch, x, side, _):
        torch.cuda.current_stream().wait_stream(side)
        return x * 2

    side_error(use)


@provokes("cuda/907-captured-event")
def captured_event():
    import torch
    x = some()
    event = torch.cuda.Event()

    def run():
        y = x * 2
        event.record()
        event.query()
        return y

    said(lambda: capture(run), lines=2)


@provokes("cublas/status-in-capture")
def cublas_in_capture():
    import torch
    x = torch.randn(64, 64, device="cuda")
    said(lambda: capture(lambda: x @ x))


@provokes("torch/function-reset-warning")
def function_reset():
    """Graphs that the collector destroys inside a capture."""
    import gc
    x = some()
    old = [capture(lambda: x * 2) for _ in range(3)]

    def run():
        old.clear()
        gc.collect()
        return x * 2

    print("SAID", file=sys.stderr, flush=True)
    try:
        capture(run)
    except Exception as error:  # pylint: disable=broad-except
        print(str(error).splitlines()[0])


@provokes("torch/python-values-frozen")
def python_values():
    import torch
    x = some()
    scale = [2.0]
    graph, out = capture(lambda: x * scale[0])
    graph.replay()
    first = out.clone()
    scale[0] = 3.0
    graph.replay()
    say("the graph ignores the changed Python variable: %s" % torch.equal(first, out))


@provokes("none/torch.cuda.Graph")
def no_graph():
    import torch
    said(lambda: torch.cuda.Graph(), trace=True, lines=4)


@provokes("none/TORCH_CUDAGRAPH_DEBUG")
def no_variable():
    """Names that occur nowhere in PyTorch's files; and what torch.cuda has of graphs."""
    import torch
    words = ["TORCH_CUDAGRAPH_DEBUG", "TORCH_CUDAGRAPHS_DEBUG", "TORCH_CUDA_GRAPH_DEBUG",
             "PYTORCH_NO_CUDA_GRAPHS", "PYTORCH_DISABLE_CUDA_GRAPHS", "TORCH_DISABLE_CUDA_GRAPHS",
             "TORCH_CUDA_GRAPHS_DISABLE", "TORCHINDUCTOR_CUDAGRAPHS"]
    file_of = {word: "" for word in words}
    for folder, _, files in os.walk(os.path.dirname(torch.__file__)):
        for name in files:
            if not name.endswith((".py", ".so")):
                continue
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            for word in words:
                if word.encode() in data:
                    file_of[word] = name
    say(*["%s: %s" % (word, "in " + where if where else "in no file of PyTorch")
          for word, where in file_of.items()])
    print("torch.cuda has:", [name for name in dir(torch.cuda) if "raph" in name.lower()])


@provokes("none/cudaMemPoolSetAttribute-in-torch")
def no_attribute():
    import torch
    said(lambda: torch.cuda.cudart().cudaMemPoolSetAttribute(0, 0, 0))


def names_in(words, paths):
    """Which of the words are in which of the files."""
    lines = []
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        for word in words:
            lines.append("%s: %s in %s" % (word, "is" if word.encode() in data else "is not",
                                           os.path.basename(path)))
    return lines


def loaded(part):
    with open("/proc/self/maps", encoding="utf-8") as file:
        return sorted({line.split()[-1] for line in file if part in line.rsplit("/", 1)[-1]})


@provokes("none/CUDA_GRAPH_DEBUG")
def graph_debug():
    some()
    files = loaded("libcuda.so") + loaded("libcudart")
    say(*names_in(["CUDA_GRAPH_DEBUG", "CUDA_GRAPHS_DEBUG"], files))


# ---- NCCL ----

@provokes("nccl/graph-mixing", NCCL_GRAPH_MIXING_SUPPORT="0", NCCL_DEBUG="INFO",
          NCCL_DEBUG_SUBSYS="INIT,ENV")
def graph_mixing():
    import torch
    import torch.distributed as dist
    print("SAID", flush=True)
    dist.init_process_group("nccl", init_method="file:///tmp/gph_mixing_%d" % os.getpid(), rank=0,
                            world_size=1, device_id=torch.device("cuda", 0))
    x = torch.ones(1024, device="cuda")
    out = torch.empty(1, 1024, device="cuda")
    dist.all_gather_into_tensor(out, x)
    torch.cuda.synchronize()
    capture(lambda: dist.all_gather_into_tensor(out, x))
    print(*names_in(["NCCL_GRAPH_MIXING_SUPPORT", "GRAPH_MIXING_SUPPORT"], loaded("libnccl")),
          sep="\n", flush=True)
    dist.destroy_process_group()


@provokes("nccl/ipc-expandable", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
def ipc_expandable():
    import torch
    x = torch.randn(1 << 20, device="cuda")
    lib, handle, at = ctypes.CDLL("libcudart.so.13"), (ctypes.c_char * 64)(), ctypes.c_void_p()
    lib.cudaMallocAsync(ctypes.byref(at), ctypes.c_size_t(1 << 20), None)
    plain = ctypes.c_void_p()
    lib.cudaMalloc(ctypes.byref(plain), ctypes.c_size_t(1 << 20))
    lines = []
    for name, pointer in (("an expandable segment", ctypes.c_void_p(x.data_ptr())),
                          ("cudaMallocAsync", at), ("cudaMalloc", plain)):
        code = lib.cudaIpcGetMemHandle(handle, pointer)
        lines.append("cudaIpcGetMemHandle for memory of %s: %d" % (name, code))
    say(*lines)


# ---- torch.compile ----

LOGS = {"TORCH_LOGS": "+cudagraphs,perf_hints,recompiles"}


def compiled(function, **options):
    import torch
    return torch.compile(function, mode="reduce-overhead", **options)


def start_logs():
    """What follows on stderr is what was said."""
    sys.stdout.flush()
    print("SAID", file=sys.stderr, flush=True)


def mark():
    import torch
    torch.compiler.cudagraph_mark_step_begin()


@provokes("torch/output-overwritten")
def overwritten():
    import torch
    x = some()
    fast = compiled(lambda t: t * 2 + 1)
    outs = [fast(x)]
    outs.append(fast(x))
    said(lambda: torch.stack(outs + [fast(x)]).sum().item(), lines=3)


@provokes("torch/dynamic-shapes", **LOGS)
def dynamic_shapes():
    import torch
    fast = compiled(lambda t: (t * 2).relu(), dynamic=True)
    start_logs()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for size in range(3, 16):
            mark()
            fast(torch.randn(size, 64, device="cuda"))
            fast(torch.randn(size, 64, device="cuda"))


@provokes("torch/pending-backward", **LOGS)
def pending_backward():
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).cuda()
    fast = compiled(net)
    start_logs()
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for _ in range(8):
            kept.append(fast(torch.randn(8, 64, device="cuda")))


@provokes("torch/skipping-mutated-inputs", **LOGS)
def mutated_inputs():
    x = some()

    def function(t):
        t.add_(1)
        return t * 2

    fast = compiled(function)
    start_logs()
    for _ in range(4):
        fast(x)


def without_partition():
    import torch._inductor.config as config
    if hasattr(config, "graph_partition"):
        config.graph_partition = False


@provokes("torch/skipping-cpu-device", **LOGS)
def cpu_device():
    import torch
    without_partition()
    x = some()
    y = torch.ones(64, 64)
    fast = compiled(lambda t, u: (t * 2, u + 1))
    start_logs()
    for _ in range(4):
        fast(x, y)


@provokes("torch/skipping-multiple-devices")
def multiple_devices():
    """The check itself, for a machine with one GPU."""
    import torch
    from torch._inductor.cudagraph_utils import check_multiple_devices_or_any_cpu_nodes
    graph = torch.fx.Graph()
    node = graph.placeholder("x")
    say(check_multiple_devices_or_any_cpu_nodes({torch.device("cuda", 0): node,
                                                 torch.device("cuda", 1): node}))


@provokes("torch/skipping-cudagraphs", **LOGS)
def incompatible():
    import torch
    import torch._dynamo.config as config
    config.capture_dynamic_output_shape_ops = True
    without_partition()
    fast = compiled(lambda t: t.relu().nonzero())
    start_logs()
    for _ in range(4):
        fast(torch.randn(64, 64, device="cuda"))


@provokes("torch/tree-liveness", **LOGS)
def liveness():
    """One of two outputs was dead at the recording and is alive later."""
    import torch
    x = some()
    first, second = compiled(lambda t: (t * 2 + 1, t * 5)), compiled(lambda t: t * 3 - 1)

    def step(keep):
        mark()
        one, two = first(x)
        if not keep:
            del two
        return second(one)

    start_logs()
    with torch.no_grad():
        for _ in range(4):
            step(False)
        for _ in range(3):
            step(True)


@provokes("torch/static-input-changed", **LOGS)
def static_changed():
    import torch
    net = torch.nn.Linear(64, 64).cuda()
    fast = compiled(net)
    x = some()
    start_logs()
    with torch.no_grad():
        for i in range(9):
            mark()
            if i > 3:
                net.weight.data = torch.randn(64, 64, device="cuda")
            fast(x)


@provokes("torch/rerecord-limit", **LOGS)
def rerecord_limit():
    import torch
    import torch._inductor.config as config
    config.triton.cudagraph_unexpected_rerecord_limit = 2
    net = torch.nn.Linear(64, 64).cuda()
    fast = compiled(net)
    x = some()
    keep = []
    start_logs()
    with torch.no_grad():
        for i in range(14):
            mark()
            if i > 3:
                keep.append(net.weight.data)
                net.weight.data = torch.randn(64, 64, device="cuda")
            fast(x)


@provokes("torch/pool-not-tracked", **LOGS)
def pool_not_tracked():
    import torch
    kept = []

    @torch.library.custom_op("gph::keep", mutates_args=())
    def keep(t: torch.Tensor) -> torch.Tensor:
        kept.append(torch.ones_like(t))
        return t * 2

    @keep.register_fake
    def _(t):
        return torch.empty_like(t)

    x = some()
    fast = compiled(lambda t: torch.ops.gph.keep(t + 1) * 3)

    def run():
        for _ in range(4):
            mark()
            fast(x)

    said(run, lines=4)


# ---- Triton ----

@provokes("triton/autotune-in-capture")
def autotune():
    x = some()
    from tuned_kernel import add_one
    said(lambda: capture(lambda: add_one(x)), trace=True, lines=60)


# ---- copies ----

@provokes("perf/memcpy-node-slow")
def memcpy_node():
    """512 MiB: a memcpy node of a graph and a copy kernel, eager."""
    import torch
    x = torch.zeros(1 << 27, device="cuda")
    y = torch.zeros(1 << 27, device="cuda")

    def took(run):
        run()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(20):
            run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 20

    graph, _ = capture(lambda: y.copy_(x))
    node, copy = took(graph.replay), took(lambda: y.copy_(x))
    kernel = took(lambda: torch.add(x, 0.0, out=y))
    say("a large copy inside a graph is slower than a copy kernel")
    print("512 MiB: node %.3f ms, eager cudaMemcpyAsync %.3f ms, a kernel %.3f ms" % (node, copy, kernel))


# ---- all of them ----

def cleaned(text):
    """One line, of paths the last name."""
    text = re.sub(r"(?<![\w.:/])/[\w.+/-]+", lambda m: "/".join(m.group().split("/")[-3:]), text)
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    return " | ".join(line for line in lines if line)[:6000]


def relevant(gph, slug, text):
    """Of a long text the line that leads to the entry, with the one in front of it."""
    if len(text) < 1500:
        return text
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if found(gph, line) == slug:
            return "\n".join(lines[max(0, i - 1):i + 1])
    return "\n".join(lines[-12:])


def found(gph, text):
    result = subprocess.run([gph, "explain", "--lang", "en"], input=text.encode(), timeout=30,
                            capture_output=True, check=False)
    first = result.stdout.decode("utf-8", "replace").splitlines()[:1]
    return first[0].split(": ")[0] if first else ""


def run_one(gph, slug):
    environment = {**os.environ, **PROVOKED[slug][1]}
    began = time.monotonic()
    try:
        result = subprocess.run([sys.executable, os.path.abspath(__file__), slug], timeout=SECONDS,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                check=False)
        output, status = result.stdout.decode("utf-8", "replace"), result.returncode
    except subprocess.TimeoutExpired as error:
        output, status = (error.stdout or b"").decode("utf-8", "replace"), "timeout"
    text = output.split("SAID\n", 1)[-1]
    text = relevant(gph, slug, text)
    line = cleaned(text)
    where = found(gph, line.replace(" | ", "\n"))
    word = "ok" if where == slug else "differs"
    note = "" if word == "ok" else " [leads to %s; exit %s]" % (where or "nothing", status)
    if word != "ok" or "perf/" in slug or "none/" in slug:
        print("    " + cleaned(output)[-1500:])
    print("%s: %s (%.0f s)%s" % (slug, word, time.monotonic() - began, note), flush=True)
    return "%s: %s: %s" % (slug, word, line)


def versions():
    import torch
    name = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          stdout=subprocess.PIPE, check=False).stdout.decode().strip()
    return "# %s; %s; PyTorch %s, CUDA %s, NCCL %s, cuDNN %s" % (
        time.strftime("%Y-%m-%d"), name.splitlines()[0] if name else "?", torch.__version__,
        torch.version.cuda, ".".join(map(str, torch.cuda.nccl.version())),
        torch.backends.cudnn.version())


def run_all(gph, log, jobs=4, *slugs):
    gph = os.path.abspath(gph)
    with ThreadPoolExecutor(int(jobs)) as pool:
        lines = list(pool.map(lambda slug: run_one(gph, slug), slugs or tuple(PROVOKED)))
    with open(log, "w", encoding="utf-8") as file:
        file.write("# What tests/gpu/explain_torch.py saw; the text by which gph explain finds "
                   "each entry.\n" + versions() + "\n" + "\n".join(lines) + "\n")
    print("%d of %d found by what was said" % (sum(": ok: " in line for line in lines), len(lines)))
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(PROVOKED))
    elif sys.argv[1:2] == ["--all"]:
        sys.exit(run_all(*sys.argv[2:]))
    elif sys.argv[1:2] and sys.argv[1] in PROVOKED:
        PROVOKED[sys.argv[1]][0]()
    else:
        sys.exit("explain_torch.py: name an entry of --list")
