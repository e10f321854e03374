#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host time of a replay in PyTorch: the driver's cuGraphLaunch, libgph's replay(), PyTorch's, in one run.
usage: PYTHONPATH=the package's folder torch_replay.py [kernels ...]

cuGraphLaunch is called from C, in a loop that is compiled here; replay() from a loop of Python, whose own cost (a call of
an empty built-in method) is measured and given beside it. Medians over rounds, the three in turns; the GPU is idle at the
start of a round, and a round is shorter than the queue."""
import ctypes
import functools
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time

import graphophone.torch as gt
import torch

SOURCE = r"""
#include <time.h>
typedef int launch_fn(void *exec, void *stream);
double per_call(launch_fn *launch, void *exec, void *stream, int count)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < count; i++)
        if (launch(exec, stream))
            return -1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / count;
}
"""
ROUNDS, CALLS = 31, 200


def c_loop():
    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "loop.c"), os.path.join(folder, "loop.so")
    with open(source, "w") as file:
        file.write(SOURCE)
    subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", library, source])
    function = ctypes.CDLL(library).per_call
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
    return function


def python_loop(function):
    calls = range(CALLS)
    begin = time.perf_counter_ns()
    for _ in calls:
        function()
    return (time.perf_counter_ns() - begin) / CALLS


class Keeping(gt.CUDAGraph):
    keep_gil = True


def graphs(kernels, random):
    x = torch.zeros(64, device="cuda")
    result = []
    for graph_type, block in ((gt.CUDAGraph, gt.graph), (Keeping, gt.graph), (torch.cuda.CUDAGraph, torch.cuda.graph)):
        graph = graph_type()
        with block(graph):
            if random:
                torch.rand(4, device="cuda")
            for _ in range(kernels):
                x.add_(1)
        graph.replay()
        result.append(graph)
    return result


def measure(kernels, random, per_call):
    ours, keeping, theirs = graphs(kernels, random)
    launch = gt._driver.runtime().find("cuGraphLaunch")
    stream = torch.cuda.current_stream().cuda_stream
    empty = [].clear
    ways = {"cuGraphLaunch in C": lambda: per_call(launch, ours.raw_cuda_graph_exec(), stream, CALLS),
            "graphophone replay()": lambda: python_loop(ours.replay),
            "  with keep_gil": lambda: python_loop(keeping.replay),
            "torch replay()": lambda: python_loop(theirs.replay),
            "loop of Python": lambda: python_loop(empty)}
    times = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            torch.cuda.synchronize()
            times[way].append(run())
    torch.cuda.synchronize()
    print("%d kernels%s" % (kernels, ", random" if random else ""))
    for way, taken in times.items():
        print("  %-22s %8.0f ns   (least %.0f)" % (way, statistics.median(taken), min(taken)))
    medians = {way: statistics.median(taken) for way, taken in times.items()}
    print("  %-22s %8.0f ns   bar 150" % ("replay() adds", medians["graphophone replay()"] - medians["cuGraphLaunch in C"]
                                       - medians["loop of Python"]))


def callables(per_call):
    """A graphed callable of 40 kernels with 8 tensors, which are in place, or are copied."""
    def function(*tensors):
        total = tensors[0] + 1
        for index in range(39):
            total = total + tensors[index % 8]
        return total

    def sample():
        return tuple(torch.zeros(64, device="cuda") for _ in range(8))
    with torch.no_grad():
        for name, make in (("graphophone", gt.make_graphed_callables), ("torch", torch.cuda.make_graphed_callables)):
            inputs, others = sample(), sample()
            graphed = make(function, inputs)
            for what, given in (("in place", inputs), ("copied", others)):
                taken = []
                for _ in range(ROUNDS):
                    torch.cuda.synchronize()
                    taken.append(python_loop(functools.partial(graphed, *given)))
                print("  callable, 40 kernels, 8 tensors %-9s %-12s %8.0f ns" % (what, name, statistics.median(taken)), flush=True)
            if name == "graphophone":
                graph = max((one for one in gt._ledger.graphs if one.handle), key=lambda one: one.nodes)
                taken = []
                for _ in range(ROUNDS):
                    torch.cuda.synchronize()
                    taken.append(per_call(gt._driver.runtime().find("cuGraphLaunch"), graph.raw_cuda_graph_exec(),
                                          torch.cuda.current_stream().cuda_stream, CALLS))
                c = statistics.median(taken)
                print("  cuGraphLaunch of that in C %34.0f ns   (bar of the callable in place: + 1500)" % c)


def tree_hits(per_call):
    """A hit of torch.compile's tree without Dynamo: what runs before a compiled function of 8 tensors, called with them.
    The two are different functions: Inductor's cache gives one that was compiled before its static inputs, too."""
    def function_of(factor):
        def function(*tensors):
            total = tensors[0] + 1
            for tensor in tensors[1:]:
                total = total * factor + tensor
            return total
        return function
    from torch._inductor import cudagraph_trees
    mark = torch.compiler.cudagraph_mark_step_begin
    launch = gt._driver.runtime().find("cuGraphLaunch")
    stream = torch.cuda.current_stream().cuda_stream
    for factor, what, copies in ((2, "in place", 0), (3, "copied", 8)):
        torch._dynamo.reset()
        gc.collect()
        inputs = [torch.zeros(64, device="cuda") for _ in range(8)]
        for tensor in inputs if what == "in place" else ():
            torch._dynamo.mark_static_address(tensor)
        with gt.patch(), torch.no_grad():
            compiled = torch.compile(function_of(factor), mode="reduce-overhead")
            for _ in range(6):
                compiled(*inputs)
            node = cudagraph_trees.get_manager(torch.cuda.current_device()).current_node
            if len(node.non_static_input_idx) != copies:
                raise RuntimeError("%d inputs are copied, not %d" % (len(node.non_static_input_idx), copies))
            del node
            [hit] = [one for one in gt._trees._hits if one.count]
            graph = max((one for one in gt._ledger.graphs if one.handle), key=lambda one: one.nodes)
            taken = {"C": [], "hit": [], "loop": []}
            for _ in range(ROUNDS):
                torch.cuda.synchronize()
                taken["hit"].append(python_loop(lambda: (mark(), hit(list(inputs)))))
                torch.cuda.synchronize()
                taken["loop"].append(python_loop(lambda: (mark(), list(inputs))))
                taken["C"].append(per_call(launch, graph.raw_cuda_graph_exec(), stream, CALLS))
            c, whole, loop = (statistics.median(taken[key]) for key in ("C", "hit", "loop"))
            print("  tree hit, 8 tensors %-10s %8.0f ns, cuGraphLaunch %.0f: adds %.0f (bar 2000 in place); the loop takes %.0f" %
                  (what, whole - loop, c, whole - loop - c, loop), flush=True)
            del hit, graph, compiled


def main():
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "Python", sys.version.split()[0])
    loop = c_loop()
    for kernels in [int(word) for word in sys.argv[1:]] or [1, 40, 400]:
        measure(kernels, False, loop)
    measure(40, True, loop)
    callables(loop)
    tree_hits(loop)


if __name__ == "__main__":
    main()
