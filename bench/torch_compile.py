#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host time of a call of a compiled function that is replayed: compiled without graphs, PyTorch's reduce-overhead, ours, guards
and wrapper alone (the same compiled function, whose pieces give what they gave the first time and launch nothing), in one run.
"adds" is ours less guards less a replay(); its bar is 3 us. usage: PYTHONPATH=the package's folder torch_compile.py [calls]

The GPU is idle when a call begins, so that the call is the host's time alone. Medians."""
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


def measure(compiled, args):
    times = []
    with torch.no_grad():
        for _ in range(WARM):
            compiled(*args)
        for _ in range(CALLS):
            torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            compiled(*args)
            times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / 1000


def that_gives_the_same(model, inputs, static_input_idxs, *args, **kwargs):
    """In place of cudagraphify_impl: the compiled piece runs once."""
    given = []

    def run(inputs):
        if not given:
            given.extend(model(list(inputs)))
        inputs.clear()
        return list(given)
    return run


def guards(function, args):
    from torch._inductor import cudagraph_trees
    with unittest.mock.patch.object(cudagraph_trees, "cudagraphify_impl", that_gives_the_same):
        return measure(torch.compile(function, mode="reduce-overhead"), args)


def main():
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "Python", sys.version.split()[0])
    print("%-18s %10s %16s %8s %8s %10s %7s" % ("us a call", "no graphs", "reduce-overhead", "ours", "guards", "a replay()", "adds"))
    for make in (one_op, forty_kernels, layers):
        row = []
        for what in ("no graphs", "theirs", "ours", "guards"):
            torch._dynamo.reset()
            gc.collect()
            torch.manual_seed(0)
            function, args = make()
            if what == "guards":
                row.append(guards(function, args))
            elif what == "ours":
                with gt.patch():
                    row.append(measure(torch.compile(function, mode="reduce-overhead"), args))
                    graph = max((one for one in gt._ledger.graphs if one.handle), key=lambda one: one.nodes)
                    replay = measure(lambda *unused, replay=graph.replay: replay(), args)
                    del graph
            else:
                row.append(measure(torch.compile(function, **({"mode": "reduce-overhead"} if what == "theirs" else {})), args))
        print("%-18s %10.1f %16.1f %8.1f %8.1f %10.1f %7.1f" % (make.__name__, *row, replay, row[2] - row[3] - replay), flush=True)


if __name__ == "__main__":
    main()
