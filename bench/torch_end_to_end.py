#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole programs eagerly, by PyTorch's graphs, by reduce-overhead and by graphophone, in one run: time, peak of the
allocator, whether the results are equal, and the gain that `gph doctor --advise` predicted for the eager program.

    PYTHONPATH=the package's folder torch_end_to_end.py [--only NAME,...] [--ways NAME,...] [--calls N]
                                                        [--advice FOLDER [--advise GPH]] [--rows FILE] [--seconds N]

--advise GPH runs each program eagerly below that command first, and keeps what it says in FOLDER, where it is read.
A decoder reads each token before it asks for the next, as a server does that looks for the end of an answer; "queued"
does not. Requests wait for their answer, too. Training steps are waited for at the end of a round. Medians of rounds.
--rows FILE keeps what was measured, and adds to what it has; at the end two tables of all of it are printed."""
import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time

import graphophone.torch as gt
import torch
import torch_models as models

ROUNDS = 5


# ---- programs: start() gives a function of tensors, its arguments, and the loop that is timed ----

class Decode:
    """A loop of ten lines over the model: tokens one by one."""
    unit = "token"

    def __init__(self, size, batch, is_read=True, make=None):
        self.size, self.batch, self.is_read, self.make = size, batch, is_read, make

    def start(self):
        self.model = models.llama(self.size, self.batch, self.make)
        self.first = torch.ones(self.batch, 1, dtype=torch.long, device="cuda")
        self.position = torch.zeros(1, dtype=torch.long, device="cuda")
        return self.model.forward, (self.first.clone(), self.position)

    def loop(self, call, count):
        token, tokens = self.first, []
        self.position.zero_()
        for _ in range(count):
            token = call(token, self.position)
            if self.is_read:
                tokens.append(token.flatten().tolist())
            self.position.add_(1)
        torch.cuda.synchronize()
        return tokens or token.flatten().tolist()


class Generate(Decode):
    """transformers' own loop, generate(), which compiles by itself where a way compiles."""

    def __init__(self, size, batch):
        super().__init__(size, batch, make=models.TransformersLlama)

    def start(self):
        super().start()
        self.is_compiled = False
        return self.model.generate, ()

    def loop(self, call, count):
        return call(self.first, count, self.is_compiled).flatten().tolist()


class Requests:
    """Inference, a request at a time."""
    unit = "request"

    def __init__(self, make):
        self.make = make

    def start(self):
        torch.manual_seed(0)
        function, args = self.make()
        return function, args

    def loop(self, call, count):
        for _ in range(count):
            result = call(*self.args)
            torch.cuda.synchronize()
        return result.double().sum().item()


def resnet50(batch):
    def make():
        from torchvision.models import resnet50
        model = resnet50(weights=None).cuda().eval().half().requires_grad_(False)
        return model.forward, (torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half),)
    return make


def product():
    a, b = (torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return torch.matmul, (a, b)


class Training:
    """Steps of training on one batch; forward(x) is what callables and torch.compile are given."""
    unit = "step"

    def __init__(self, make):
        self.make = make

    def start(self):
        torch.manual_seed(0)
        self.model, self.x, self.target = self.make()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4, capturable=True)
        self.forward = self.model
        self.saved = [tensor.clone() for tensor in self.model.state_dict().values()]
        return self.step, ()

    def restart(self):
        """The same weights and an empty optimizer, in place."""
        with torch.no_grad():
            for tensor, saved in zip(self.model.state_dict().values(), self.saved):
                tensor.copy_(saved)
            for state in self.optimizer.state.values():
                for tensor in state.values():
                    tensor.zero_()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.forward(self.x), self.target)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def loop(self, call, count):
        for _ in range(count):
            loss = call()
        torch.cuda.synchronize()
        return loss.item()


def many_small():
    return models.ManySmall().cuda(), torch.randn(32, 64, device="cuda"), torch.randint(0, 64, (32,), device="cuda")


def resnet18():
    from torchvision.models import resnet18 as make
    return (make(weights=None, num_classes=10).cuda(), torch.randn(32, 3, 64, 64, device="cuda"),
            torch.randint(0, 10, (32,), device="cuda"))


def encoder():
    return (models.Encoder().cuda(), torch.randint(0, 1000, (16, 64), device="cuda"), torch.randint(0, 10, (16,), device="cuda"))


PROGRAMS = {
    "decode-tiny-1": Decode("tiny", 1), "decode-tiny-8": Decode("tiny", 8),
    "transformers-tiny-1": Decode("tiny", 1, make=models.TransformersLlama),
    "transformers-1b-1": Decode("1b", 1, make=models.TransformersLlama), "transformers-1b-8": Decode("1b", 8, make=models.TransformersLlama),
    "generate-tiny-1": Generate("tiny", 1), "generate-1b-1": Generate("1b", 1),
    "decode-1b-1": Decode("1b", 1), "decode-1b-8": Decode("1b", 8), "queued-1b-1": Decode("1b", 1, False),
    "resnet50-1": Requests(resnet50(1)), "resnet50-32": Requests(resnet50(32)), "product-4096": Requests(product),
    "train-many-small": Training(many_small), "train-resnet18": Training(resnet18), "train-encoder": Training(encoder),
}


# ---- ways: from a program that was started to what its loop calls ----

def eager(program, function, args):
    return function


def graph_by(graph_type, block):
    def way(program, function, args):
        if isinstance(program, Generate):
            raise NotImplementedError("generate() is a loop, and cannot be captured")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                function(*args)
        torch.cuda.current_stream().wait_stream(side)
        graph = graph_type()
        with block(graph):
            output = function(*args)
        replay = graph.replay

        def call(*given):
            for own, new in zip(args, given):
                if own is not new:
                    own.copy_(new)
            replay()
            return output
        return call
    return way


def callable_by(make, compiled=False):
    def way(program, function, args):
        if isinstance(program, Training):
            model = torch.compile(program.model) if compiled else program.model
            program.forward = make(model, (program.x,))
            return function
        if isinstance(program, Generate):
            raise NotImplementedError("generate() is a loop, and no callable of tensors")
        return make(torch.compile(function) if compiled else function, args)
    return way


def compile_by(**options):
    def way(program, function, args):
        if isinstance(program, Training):
            program.forward = torch.compile(program.model, **options)
            return function
        if isinstance(program, Generate):
            if not options:
                raise NotImplementedError("generate() compiles with reduce-overhead only")
            program.is_compiled = True
            return function
        compiled = torch.compile(function, **options)
        if isinstance(program, Decode) and options:  # a token is the tree's memory, and the next call takes it back
            return lambda token, position: compiled(token.clone(), position)
        return compiled
    return way


TREES = {"mode": "reduce-overhead"}
WAYS = {  # name: way, whether patched, group of those whose results are equal to the bit
    "eager": (eager, False, "kernels"),
    "torch.cuda.graph": (graph_by(torch.cuda.CUDAGraph, torch.cuda.graph), False, "kernels"),
    "our graph": (graph_by(gt.CUDAGraph, gt.graph), False, "kernels"),
    "torch callable": (callable_by(torch.cuda.make_graphed_callables), False, "kernels"),
    "our callable": (callable_by(gt.make_graphed_callables), False, "kernels"),
    "compile": (compile_by(), False, "compiled"),
    "reduce-overhead": (compile_by(**TREES), False, "compiled"),
    "our trees": (compile_by(**TREES), True, "compiled"),
    "compile+torch callable": (callable_by(torch.cuda.make_graphed_callables, True), False, "compiled"),
    "compile+our callable": (callable_by(gt.make_graphed_callables, True), False, "compiled"),
}


def clean():
    torch._dynamo.reset()
    gc.collect()
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()  # one for each stream that captured, of which each way has others
    torch.cuda.empty_cache()


def prepared(program, name):
    """What the way's loop calls, and the function as it is. In a frame of its own, which keeps nothing."""
    way, patched, _ = WAYS[name]
    function, args = program.start()
    program.args = args
    if patched:
        with gt.patch():
            call = way(program, function, args)
            program.loop(call, 6)  # compiled, warmed up and recorded while it is patched
        return call
    call = way(program, function, args)
    program.loop(call, 6)
    return call


def measure(program, name, count):
    """Microseconds a unit, peak of the allocator in MiB, the result."""
    clean()
    torch.cuda.reset_peak_memory_stats()
    no_gradients = torch.enable_grad() if isinstance(program, Training) else torch.no_grad()
    with no_gradients:
        call = prepared(program, name)
        if isinstance(program, Training):
            program.restart()
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter_ns()
            result = program.loop(call, count)
            times.append((time.perf_counter_ns() - begin) / 1000 / count)
    peak = torch.cuda.max_memory_reserved() / 2**20
    program.__dict__ = {key: program.__dict__[key] for key in ("size", "batch", "is_read", "make") if key in program.__dict__}
    return statistics.median(times), peak, result


def advice_of(folder, name):
    """What --advise said of the sequence that takes most of the time: "pays, 3.62 x (71 to 74 %)"; None: it was not asked."""
    path = os.path.join(folder or "", name + ".json")
    if not folder or not os.path.exists(path):
        return None
    with open(path) as file:
        sequences = (json.load(file).get("advice") or {}).get("sequences") or []
    if not sequences:
        return "nothing that repeats was seen"
    one = sequences[0]
    if one.get("graph_us") is None:
        return "%s: %s" % (one["verdict"], one["why"])
    return "%s: %.2f x (%.1f of %.1f us, %.0f to %.0f %%); %s" % (
        one["verdict"], one["eager_us"] / one["graph_us"], one["graph_us"], one["eager_us"], 100 * one["saves_low"],
        100 * one["saves_high"], one["why"])


def run(name, ways, count, row):
    program = PROGRAMS[name]
    print("%s, us a %s%28s%12s%10s%9s" % (name, program.unit, "time", "x eager", "MiB", "equal"), flush=True)
    found = {}
    for way in ways:
        try:
            taken, peak, result = measure(program, way, count)
        except Exception as error:  # a way that cannot do it is said so, and the others go on
            print("  %-24s %s: %s" % (way, type(error).__name__, str(error).splitlines()[0][:120]), flush=True)
            continue
        group = WAYS[way][2]
        first = next((other[2] for known, other in found.items() if WAYS[known][2] == group), result)
        found[way] = taken, peak, result
        row["ways"][way] = {"us": taken, "mib": peak, "equal": result == first}
        base = found.get("eager", found[way])[0]
        print("  %-24s %18.1f %11.2f %9.0f %8s" % (way, taken, base / taken, peak, "yes" if result == first else "NO"), flush=True)
    for ours, theirs in (("our graph", "torch.cuda.graph"), ("our callable", "torch callable"), ("our trees", "reduce-overhead"),
                         ("compile+our callable", "reduce-overhead"), ("compile+our callable", "compile+torch callable")):
        if ours in found and theirs in found:
            print("  %-24s %6.3f x %s, peak %.3f x" % (ours, found[theirs][0] / found[ours][0], theirs,
                                                       found[ours][1] / found[theirs][1]))


def cells_of(row, ways, what, form):
    return [form % row["ways"][way][what] if way in row["ways"] else "" for way in ways]


def tables(rows):
    """Times with the gain over reduce-overhead and over eager code, and peaks of memory, as Markdown."""
    ways = [way for way in WAYS if any(way in row["ways"] for row in rows.values())]
    for what, form, more in (("us", "%.1f", ["a graph's gain", "--advise", "best of ours against reduce-overhead"]), ("mib", "%.0f", [])):
        print("\n| %s | %s |\n|%s" % ({"us": "us", "mib": "peak, MiB"}[what], " | ".join(ways + more), "---|" * (len(ways + more) + 1)))
        for name, row in rows.items():
            cells, taken = cells_of(row, ways, what, form), {way: one["us"] for way, one in row["ways"].items()}
            if more:
                graph, ours = taken.get("our graph"), [taken[way] for way in ("our trees", "compile+our callable") if way in taken]
                cells.append("%.2f x" % (taken["eager"] / graph) if graph and "eager" in taken else "")
                cells.append((row.get("advice") or "").partition(" (")[0])
                cells.append("%.2f x" % (taken["reduce-overhead"] / min(ours)) if ours and "reduce-overhead" in taken else "")
            unequal = [way for way, one in row["ways"].items() if not one["equal"]]
            print("| %s | %s |%s" % (name, " | ".join(cells), "  not equal: %s" % ", ".join(unequal) if unequal else ""))


def ask_the_doctor(gph, name, folder):
    os.makedirs(folder, exist_ok=True)
    command = [gph, "doctor", "--advise", "--quiet", "--json", os.path.join(folder, name + ".json"), "--", sys.executable, "-B",
               __file__, "--only", name, "--ways", "eager", "--calls", "30"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        print("--advise of %s: not done after 60 s" % name)
        return
    if done.returncode not in (0, 1):
        print("--advise of %s: exit %d: %s" % (name, done.returncode, done.stdout.strip()[-300:]))


def main():
    parser = argparse.ArgumentParser(description="whole programs by PyTorch and by graphophone")
    parser.add_argument("--only", help="programs, with commas: " + ", ".join(PROGRAMS))
    parser.add_argument("--ways", help="ways, with commas: " + ", ".join(WAYS))
    parser.add_argument("--calls", type=int, default=40, help="units a round")
    parser.add_argument("--advice", help="folder of what --advise said")
    parser.add_argument("--advise", metavar="GPH", help="the command that is asked first")
    parser.add_argument("--deterministic", action="store_true", help="deterministic algorithms: equal to the bit, and slower")
    parser.add_argument("--rows", metavar="FILE", help="what was measured, by earlier runs, too")
    parser.add_argument("--seconds", type=float, default=1e9, help="no program begins after so many")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(PROGRAMS)
    ways = options.ways.split(",") if options.ways else list(WAYS)
    for word in names + ways:
        if word not in PROGRAMS and word not in WAYS:
            parser.error("%r is not a program or a way" % word)
    torch.backends.cudnn.deterministic = True
    if options.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "Python", sys.version.split()[0], flush=True)
    begin, rows = time.monotonic(), {}
    if options.rows and os.path.exists(options.rows):
        with open(options.rows) as file:
            rows = json.load(file)
    for name in names:
        if time.monotonic() - begin > options.seconds:
            print("%s: no time" % name, flush=True)
            continue
        row = rows.setdefault(name, {"ways": {}})
        if options.advise:
            ask_the_doctor(options.advise, name, options.advice or "advice")
        row["advice"] = advice_of(options.advice or (options.advise and "advice"), name) or row.get("advice")
        run(name, ways, options.calls, row)
        if row["advice"]:
            print("  --advise: " + row["advice"], flush=True)
        if options.rows:
            with open(options.rows, "w") as file:
                json.dump(rows, file, indent=1)
    tables(rows)


if __name__ == "__main__":
    main()
