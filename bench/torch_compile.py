#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host time of a call of a compiled function that is replayed: compiled without graphs, PyTorch's reduce-overhead, ours, guards
and wrapper alone (the same compiled function, whose pieces give what they gave the first time and launch nothing), in one run.
"adds" is ours less guards less a replay(), of calls that take turns; its bar is 3 us a graph. "least" is that of the fastest tenths,
which other work on the machine moves less. usage: PYTHONPATH=the package's folder torch_compile.py [calls]

The GPU is idle when a call begins, so that the call is the host's time alone. Medians."""
import functools
import gc
import statistics
import sys
import time
import unittest.mock

import graphophone.torch as gt
import torch

CALLS, WARM = int(sys.argv[1]) if sys.argv[1:] else 300, 20


def one_op():
    return (lambda a: a + 1), (torch.zeros(64, device="cuda"),)


def forty_kernels():
    def function(a):
        for index in range(20):
            a = (a @ a).clamp(-1, 1)
        return a
    return function, (torch.zeros(32, 32, device="cuda"),)


def layers():
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.ReLU(),
                                                      torch.nn.Linear(64, 64), torch.nn.LayerNorm(64)) for _ in range(24)]).cuda()
    return model, (torch.zeros(4, 64, device="cuda"),)


def path_of_three():
    """Three graphs, one after the other: the bar is three times that of one."""
    def function(a):
        for part in range(3):
            if part:
                torch._dynamo.graph_break()
            for index in range(7):
                a = (a @ a).clamp(-1, 1)
        return a
    return function, (torch.zeros(32, 32, device="cuda"),)


def measure(*calls):
    """Times of each, in us, sorted; they take turns."""
    times = [[] for _ in calls]
    with torch.no_grad():
        for call in calls:
            for _ in range(WARM):
                call()
        for _ in range(CALLS):
            for call, taken in zip(calls, times):
                torch.cuda.synchronize()
                begin = time.perf_counter_ns()
                call()
                taken.append((time.perf_counter_ns() - begin) / 1000)
    return [sorted(taken) for taken in times]


def that_gives_the_same(model, inputs, static_input_idxs, *args, **kwargs):
    """In place of cudagraphify_impl: the compiled piece runs once."""
    given = []

    def run(inputs):
        if not given:
            given.extend(model(list(inputs)))
        inputs.clear()
        return list(given)
    return run


def compiled(make, mode="reduce-overhead"):
    """One more instance of the program, which has been compiled. Its code is its own, as Dynamo has what it compiled by that."""
    torch.manual_seed(0)
    program, args = make()

    def function(*args):
        return program(*args)
    function.__code__ = function.__code__.replace()
    function = torch.compile(function, **({"mode": mode} if mode else {}))
    with torch.no_grad():
        for _ in range(WARM):
            function(*args)
    return functools.partial(function, *args)


def guards(make):
    from torch._inductor import cudagraph_trees
    with unittest.mock.patch.object(cudagraph_trees, "cudagraphify_impl", that_gives_the_same):
        return compiled(make)


def main():
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "Python", sys.version.split()[0])
    print("%-18s %10s %16s %8s %8s %10s %7s %7s" % ("us a call", "no graphs", "reduce-overhead", "ours", "guards", "a replay()", "adds",
                                                 "least"))
    for make, pieces in ((one_op, 1), (forty_kernels, 1), (layers, 1), (path_of_three, 3)):
        alone = []
        for mode in (None, "reduce-overhead"):
            torch._dynamo.reset()
            gc.collect()
            alone.append(statistics.median(measure(compiled(make, mode))[0]))
        torch._dynamo.reset()
        gc.collect()
        bare = guards(make)
        with gt.patch():
            ours = compiled(make)
            replays = [one.replay for one in sorted((one for one in gt._ledger.graphs if one.handle), key=lambda one: one.nodes)[-pieces:]]
            times = measure(ours, bare, replays[0] if pieces == 1 else lambda: [replay() for replay in replays])
            del replays, ours
        one, two, three = (statistics.median(taken) for taken in times)
        least = [taken[len(taken) // 10] for taken in times]
        print("%-18s %10.1f %16.1f %8.1f %8.1f %10.1f %7.1f %7.1f" % (make.__name__, *alone, one, two, three, one - two - three,
                                                                   least[0] - least[1] - least[2]), flush=True)


if __name__ == "__main__":
    main()
