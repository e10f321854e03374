#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/torch_graphs: what PyTorch takes to replay rows of small kernels, for bench_tree.

    torch_graphs.py [--rounds N] [--compile]

  replay     torch.cuda.CUDAGraph.replay() of graphs that were captured by hand
  callables  torch.cuda.make_graphed_callables()
  compile    torch.compile(mode="reduce-overhead"), that is CUDAGraph Trees; with --compile

Host time a step, as bench_tree takes it: BATCH steps are timed as one, then the device is
waited for; what is compared takes turns; each figure is the median of all rounds. A kernel
is a product of two 64 x 64 matrices, which no compiler fuses with the next one.
"""
import argparse
import statistics
import sys
import time

BATCH = 32
PROGRAMS = (  # name, graphs a step, kernels a graph: as in bench/tree.c
    ("1 graph of 1 kernel", 1, 1),
    ("1 graph of 40 kernels", 1, 40),
    ("3 graphs of 1 kernel", 3, 1),
    ("24 graphs of 10 kernels", 24, 10),
)


def chain(torch, weight, kernels):
    def run(x):
        for _ in range(kernels):
            x = torch.mm(x, weight)
        return x

    return run


def by_replay(torch, weight, graphs, kernels):
    """Captured by hand, in one pool."""
    x = torch.ones(64, 64, device="cuda")
    run = chain(torch, weight, kernels)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run(x)
    torch.cuda.synchronize()
    recorded, pool = [], None
    for _ in range(graphs):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            x = run(x)
        pool = graph.pool()
        recorded.append((graph, x))

    def step():
        for graph, _ in recorded:
            graph.replay()

    return step


def by_callables(torch, weight, graphs, kernels):
    """A callable a graph; each is given what the one before returned."""

    class Chain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.clone(), requires_grad=False)

        def forward(self, x):
            for _ in range(kernels):
                x = torch.mm(x, self.weight)
            return x

    x = torch.ones(64, 64, device="cuda")
    with torch.no_grad():
        modules = tuple(Chain().cuda().eval() for _ in range(graphs))
        made = torch.cuda.make_graphed_callables(modules, tuple((x,) for _ in modules))

    def step():
        with torch.no_grad():
            y = x
            for module in made:
                y = module(y)

    return step


def by_compile(torch, weight, graphs, kernels):
    """One function with breaks between its graphs."""
    import torch._dynamo

    run = chain(torch, weight, kernels)

    def whole(x):
        for i in range(graphs):
            if i != 0:
                torch._dynamo.graph_break()
            x = run(x)
        return x

    torch._dynamo.reset()
    compiled = torch.compile(whole, mode="reduce-overhead")
    x = torch.ones(64, 64, device="cuda")

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        with torch.no_grad():
            compiled(x)

    return step


def time_batch(torch, step, graphs):
    batch = BATCH if graphs == 1 else BATCH // 4
    start = time.perf_counter_ns()
    for _ in range(batch):
        step()
    spent = time.perf_counter_ns() - start
    torch.cuda.synchronize()
    return spent / batch / 1000


def measure(torch, program, with_compile, rounds):
    name, graphs, kernels = program
    weight = torch.eye(64, device="cuda")
    ways = {"replay": by_replay, "callables": by_callables}
    if with_compile:
        ways["compile"] = by_compile
    steps = {}
    for way, make in ways.items():
        try:
            steps[way] = make(torch, weight, graphs, kernels)
            for _ in range(8):
                steps[way]()
            torch.cuda.synchronize()
        except Exception as problem:  # a peer that cannot do it is left out, and said so
            print(f"# {name}: {way} is left out: {problem}", file=sys.stderr)
            steps.pop(way, None)
    times = {way: [] for way in steps}
    for i in range(-(rounds // 10), rounds):  # the first ones are not counted
        for way, step in steps.items():
            spent = time_batch(torch, step, graphs)
            if i >= 0:
                times[way].append(spent)
    figures = "  ".join(f"{way} {statistics.median(t):7.2f}" for way, t in times.items())
    print(f"{name:<40} {figures} us a step")


def main():
    parser = argparse.ArgumentParser(description="PyTorch's graphs, for bench_tree")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--compile", action="store_true", help="reduce-overhead, too")
    options = parser.parse_args()
    if options.rounds < 10:
        parser.error("--rounds: at least 10")
    try:
        import torch
    except ImportError as missing:
        print(f"torch_graphs: {missing}", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("torch_graphs: PyTorch finds no GPU", file=sys.stderr)
        return 77
    print(f"torch_graphs: PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, "
          f"{options.rounds} rounds")
    for program in PROGRAMS:
        measure(torch, program, options.compile, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
