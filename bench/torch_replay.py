#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host time of a replay in PyTorch: the driver's cuGraphLaunch, libgph's replay(), PyTorch's, in one run.
usage: PYTHONPATH=the package's folder torch_replay.py [kernels ...]

cuGraphLaunch is called from C, in a loop that is compiled here; replay() from a loop of Python, whose own cost (a call of
an empty built-in method) is measured and given beside it. Two more ways say what is left for us to save: a built-in method
that does nothing but cuGraphLaunch, from the same loop of Python, and the C loop with memory touched between two launches,
which are timed alone. Medians over rounds, all ways in turns; the GPU is idle at the start of a round, and a round is
shorter than the queue."""
import ctypes
import functools
import gc
import importlib.util
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

import graphophone.torch as gt
import torch

SOURCE = r"""
#include <Python.h>
#include <time.h>
typedef int launch_fn(void *exec, void *stream);
static launch_fn *launch;
static void *exec, *stream;
static char *touched;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
void use(launch_fn *with, void *graph, void *queue) { launch = with, exec = graph, stream = queue; }
double per_call(int count)
{
    double begin = now();
    for (int i = 0; i < count; i++)
        if (launch(exec, stream))
            return -1;
    return (now() - begin) / count;
}
/* Of the launches alone, and less what the clock itself takes. */
double per_call_touching(int count, int bytes)
{
    double sum = 0, clock = 0;
    if (!touched)
        touched = calloc(1, 1 << 24);
    for (int i = 0; i < count; i++) {
        for (int at = 0; at < bytes; at += 64)
            touched[at]++;
        double begin = now(), middle = now();
        if (launch(exec, stream))
            return -1;
        sum += now() - middle, clock += middle - begin;
    }
    return (sum - clock) / count;
}
static PyObject *bare(PyObject *self, PyObject *unused)
{
    launch(exec, stream);
    Py_RETURN_NONE;
}
static PyObject *released(PyObject *self, PyObject *unused)
{
    Py_BEGIN_ALLOW_THREADS
    launch(exec, stream);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"bare", bare, METH_NOARGS, 0}, {"released", released, METH_NOARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "floor", 0, -1, methods, 0, 0, 0, 0};
PyObject *PyInit_floor(void) { return PyModule_Create(&module); }
"""
ROUNDS, CALLS, TOUCHED = 41, 200, (0, 32, 128, 512)


class Driver:
    """cuGraphLaunch alone, from C and from Python."""

    def __init__(self):
        folder = tempfile.mkdtemp()
        source, library = os.path.join(folder, "floor.c"), os.path.join(folder, "floor.so")
        with open(source, "w") as file:
            file.write(SOURCE)
        subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-I" + sysconfig.get_path("include"), "-o", library, source])
        self.c = ctypes.PyDLL(library)
        self.c.per_call.restype = self.c.per_call_touching.restype = ctypes.c_double
        spec = importlib.util.spec_from_file_location("floor", library)
        self.module = importlib.util.module_from_spec(spec)
        self.launch = gt._driver.runtime().find("cuGraphLaunch")

    def ways(self, graph):
        """Of taking its time, for rounds."""
        def using(run, *args):
            self.c.use(*map(ctypes.c_void_p, (self.launch, graph.raw_cuda_graph_exec(), torch.cuda.current_stream().cuda_stream)))
            return run(*args)
        ways = {"cuGraphLaunch in C": functools.partial(using, self.c.per_call, CALLS),
                "  by a method": functools.partial(using, python_loop, self.module.bare),
                "  that lets go of the GIL": functools.partial(using, python_loop, self.module.released)}
        for kib in TOUCHED:
            ways["  in C, %d KiB touched" % kib] = functools.partial(using, self.c.per_call_touching, CALLS, kib << 10)
        return ways


def rounds(ways):
    """Times of each way, sorted; they take turns."""
    times = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            torch.cuda.synchronize()
            times[way].append(run())
    torch.cuda.synchronize()
    return {way: sorted(taken) for way, taken in times.items()}


def adds(taken, what, c, loop, bar):
    """A line: what a way takes more than another one and the loop around it."""
    print("  %-26s %8.0f ns   (tenth %.0f)   bar %d" % (what + " adds", *(
        at(taken[what]) - at(taken[c]) - at(taken[loop]) for at in (statistics.median, tenth)), bar), flush=True)


def tenth(taken):
    """The fastest tenth ends here, which other work on the machine moves less than the median."""
    return taken[len(taken) // 10]


def show(taken):
    for way, times in taken.items():
        print("  %-26s %8.0f ns   (tenth %.0f)" % (way, statistics.median(times), tenth(times)), flush=True)


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


def measure(kernels, random, driver):
    ours, keeping, theirs = graphs(kernels, random)
    ways = dict(driver.ways(ours))
    ways.update({"replay()": lambda: python_loop(ours.replay),
                 "  with keep_gil": lambda: python_loop(keeping.replay),
                 "torch replay()": lambda: python_loop(theirs.replay),
                 "loop of Python": lambda: python_loop([].clear)})
    taken = rounds(ways)
    print("%d kernels%s" % (kernels, ", random" if random else ""))
    show(taken)
    adds(taken, "replay()", "cuGraphLaunch in C", "loop of Python", 150)
    adds(taken, "  that lets go of the GIL", "cuGraphLaunch in C", "loop of Python", 150)


def callables(driver):
    """A graphed callable of 40 kernels with 8 tensors, which are in place, or are copied."""
    def function(*tensors):
        total = tensors[0] + 1
        for index in range(39):
            total = total + tensors[index % 8]
        return total

    def sample():
        return tuple(torch.zeros(64, device="cuda") for _ in range(8))
    print("a callable, 40 kernels, 8 tensors")
    with torch.no_grad():
        inputs, others, theirs = sample(), sample(), sample()
        graphed = gt.make_graphed_callables(function, inputs)
        graph = max((one for one in gt._ledger.graphs if one.handle), key=lambda one: one.nodes)
        pytorchs = torch.cuda.make_graphed_callables(function, theirs)
        calls = {"in place": functools.partial(graphed, *inputs), "copied": functools.partial(graphed, *others),
                 "torch in place": functools.partial(pytorchs, *theirs), "torch copied": functools.partial(pytorchs, *others),
                 "loop of Python": [].clear}
        ways = dict(driver.ways(graph))
        ways.update({name: functools.partial(python_loop, call) for name, call in calls.items()})
        taken = rounds(ways)
        show(taken)
        adds(taken, "in place", "cuGraphLaunch in C", "loop of Python", 1500)


def tree_hits(driver):
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
            ways = {name: way for name, way in driver.ways(graph).items() if not name.endswith("touched")}
            ways["a tree's hit"] = functools.partial(python_loop, lambda: (mark(), hit(list(inputs))))
            ways["loop of Python"] = functools.partial(python_loop, lambda: (mark(), list(inputs)))
            taken = rounds(ways)
            print("a hit of a tree without Dynamo, 8 tensors", what)
            show(taken)
            adds(taken, "a tree's hit", "cuGraphLaunch in C", "loop of Python", 2000)
            del hit, graph, compiled


def main():
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "Python", sys.version.split()[0])
    driver = Driver()
    for kernels in [int(word) for word in sys.argv[1:]] or [1, 40, 400]:
        measure(kernels, False, driver)
    measure(40, True, driver)
    callables(driver)
    tree_hits(driver)


if __name__ == "__main__":
    main()
