# SPDX-License-Identifier: Apache-2.0
"""Programs for torch_doctor.py that users of PyTorch's graphs complain of."""
import ctypes
import gc
import os
import sys
import threading

import torch
import torch.utils.data

from torch_parts import Rows, broken, capture, choice, choice_index, find_choice, make_net, make_step
from torch_parts import quietly, runtime, warm, watchdog_run


def in_capture(run, make=lambda: torch.randn(64, 64, device="cuda")):
    x = make()
    run(x)
    torch.cuda.synchronize()
    broken(lambda: run(x * 2))


def collected():
    """Graphs go while another one is captured: 2.11 destroys them without exchanging its mode."""
    net = make_net()
    x = torch.randn(32, 256, device="cuda")
    with torch.no_grad():
        warm(lambda: net(x))
        old = [capture(lambda: net(x)) for _ in range(3)]

        def run():
            old.clear()
            gc.collect()
            return net(x)

        broken(run)


def item():
    in_capture(lambda y: y * 2 if y.sum().item() > 0 else y)


def print_tensor():
    in_capture(print)


def nonzero():
    in_capture(lambda y: y.nonzero())


def no_warm_up():
    layer = torch.nn.Conv2d(8, 16, 3).cuda()
    x = torch.randn(4, 8, 64, 64, device="cuda")
    broken(lambda: layer(x))


def malloc():
    cuda = runtime()

    def run(y):
        more = ctypes.c_void_p()
        print("cudaMalloc:", cuda.cudaMalloc(ctypes.byref(more), ctypes.c_size_t(1 << 20)))
        return y + 1

    in_capture(run)


def pageable():
    host = torch.ones(64, 64)
    in_capture(lambda y: y + host.cuda())


def replay_to_the_end(graph, times=3):
    try:
        for _ in range(times):
            graph.replay()
            torch.cuda.synchronize()
    except Exception as error:  # pylint: disable=broad-except
        print("failed:", str(error).splitlines()[0])
        sys.stdout.flush()
        os._exit(0)  # the context is lost


def freed_input():
    x = torch.randn(1 << 24, device="cuda")
    warm(lambda: x * 2)
    graph, out = capture(lambda: x * 2)
    graph.replay()
    torch.cuda.synchronize()
    del x
    torch.cuda.empty_cache()
    replay_to_the_end(graph)
    del out


def moved_weight():
    layer = torch.nn.Linear(4096, 4096, device="cuda")
    x = torch.randn(8, 4096, device="cuda")
    with torch.no_grad():
        warm(lambda: layer(x))
        graph, _ = capture(lambda: layer(x))
        graph.replay()
        torch.cuda.synchronize()
        layer.cpu()
        torch.cuda.empty_cache()
        keep = torch.randn(8192, 8192, device="cuda")
        layer.cuda()
        replay_to_the_end(graph)
        print(float(keep[0, 0]) < 100)


def reused_input():
    x = torch.randn(4096, device="cuda")
    warm(lambda: x * 2)
    graph, out = capture(lambda: x * 2)
    del x
    other = torch.zeros(4096, device="cuda")
    for _ in range(4):
        graph.replay()
        print(float(out.sum()), float(other.sum()))


def input_new():
    """The first batch is what the graph has; the later ones go elsewhere."""
    net = make_net()
    x = torch.full((32, 256), -1.0).cuda()
    with torch.no_grad():
        warm(lambda: net(x))
        graph, out = capture(lambda: net(x))
        for i in range(12):
            fresh = torch.full((32, 256), float(i)).cuda()
            graph.replay()
            print(float(out.cpu().sum()), fresh.shape)


def read_early():
    net = make_net(2048, 12)
    x = torch.randn(512, 2048, device="cuda")
    side = torch.cuda.Stream()
    host = torch.empty(512, 2048).pin_memory()
    with torch.no_grad():
        warm(lambda: net(x))
        graph, out = capture(lambda: net(x))
        for _ in range(10):
            x.copy_(torch.randn_like(x))
            graph.replay()
            with torch.cuda.stream(side):
                host.copy_(out, non_blocking=True)
            side.synchronize()
            print(float(host.sum()) < 1e12)
        torch.cuda.synchronize()


def frozen_seed():
    """The seed is a number of the host; what it works on is made by another kernel of the graph."""
    from seeded_dropout import seeded_dropout
    x = torch.ones(64, 256, device="cuda")
    weights = torch.randn(256, 256, device="cuda")
    seed = [1]

    def run():
        return seeded_dropout(x @ weights, 0.5, seed[0]) @ weights

    warm(run)
    graph, out = capture(run)
    for i in range(10):
        seed[0] = i + 2
        x.copy_(torch.full((64, 256), float(i)))
        graph.replay()
        print(float(out.cpu().sum()))


def adam():
    step, _, best = make_step({"lr": 1e-3}, torch.optim.Adam)
    warm(step)
    best.zero_grad(set_to_none=True)
    broken(step)


def frozen_lr():
    step, x, best = make_step()
    warm(step)
    best.zero_grad(set_to_none=True)
    graph, _ = capture(step)
    for i in range(10):
        best.param_groups[0]["lr"] = 1e-3 / (1 + i)
        x.copy_(torch.randn_like(x))
        graph.replay()
    torch.cuda.synchronize()


def shape_changed():
    net = make_net()
    x = torch.zeros(32, 256, device="cuda")
    with torch.no_grad():
        warm(lambda: net(x))
        graph, out = capture(lambda: net(x))
        for rows in (32, 20, 7, 31):
            x[:rows].copy_(torch.randn(rows, 256, device="cuda"))
            graph.replay()
            print(float(out.sum()))


def benchmark():
    layer = torch.nn.Conv2d(8, 16, 3).cuda()
    with torch.no_grad():
        layer(torch.randn(4, 8, 32, 32, device="cuda"))
        torch.cuda.synchronize()
        torch.backends.cudnn.benchmark = True
        x = torch.randn(4, 8, 64, 64, device="cuda")
        broken(lambda: layer(x))


def legacy():
    """A stream of another library, ordered with stream 0."""
    handle = ctypes.c_void_p()
    runtime().cudaStreamCreate(ctypes.byref(handle))
    stream = torch.cuda.ExternalStream(handle.value)
    x = torch.randn(4096, device="cuda")
    torch.cuda.synchronize()

    def run():
        y = x * 2
        with torch.cuda.stream(torch.cuda.default_stream()):
            x.add_(1)
        return y

    broken(run, stream=stream)


def escape():
    x = torch.randn(4096, device="cuda")
    flag = torch.zeros(4096, device="cuda")
    torch.cuda.synchronize()

    def run():
        with torch.cuda.stream(torch.cuda.default_stream()):
            flag.add_(x)
        return flag * 2

    graph, out = capture(run)
    for _ in range(5):
        x.copy_(torch.randn_like(x))
        graph.replay()
        print(float(out.sum()) < 1e9)


def empty():
    x = torch.randn(4096, device="cuda")
    other = torch.cuda.Stream()
    torch.cuda.synchronize()

    def run():
        with torch.cuda.stream(other):
            x.mul_(2)
        return x

    graph, _ = capture(run)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()


def thread_sync():
    def run(y):
        thread = threading.Thread(target=lambda: quietly(torch.cuda.synchronize))
        thread.start()
        thread.join()
        return y + 1

    x = torch.randn(64, 64, device="cuda")
    torch.cuda.synchronize()
    broken(lambda: run(x * 2))


def pin_thread():
    x = torch.randn(64, 64, device="cuda")
    loader = torch.utils.data.DataLoader(Rows(grows=True), batch_size=None, num_workers=1,
                                         pin_memory=True, prefetch_factor=2)
    batches = iter(loader)
    next(batches)
    torch.cuda.synchronize()

    def run():
        y = x * 2
        for _ in range(30):
            next(batches)
        return y + 1

    broken(run)


def unjoined():
    side = torch.cuda.Stream()

    def run(y):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = y * 3
        return y + 1, z

    in_capture(run)


def isolation():
    side = torch.cuda.Stream()

    def run(y):
        torch.cuda.current_stream().wait_stream(side)
        return y + 1

    in_capture(run)


def captured_event():
    event = torch.cuda.Event()
    x = torch.randn(64, 64, device="cuda")
    torch.cuda.synchronize()

    def run():
        y = x * 2
        event.record()
        return y + 1

    graph, _ = capture(run)
    graph.replay()
    quietly(event.synchronize)
    torch.cuda.synchronize()


def autograd_stream():
    """The graph of autograd was made on the default stream, and is run in the capture."""
    net = make_net()
    x = torch.randn(64, 256, device="cuda")
    loss = net(x).square().mean()
    torch.cuda.synchronize()
    broken(lambda: loss.backward())


def pool_per_graph():
    net = make_net(1024, 6)
    keep = []
    with torch.no_grad():
        for _ in range(6):
            x = torch.randn(2048, 1024, device="cuda")
            warm(lambda: net(x), 1)
            keep.append((x, *capture(lambda: net(x))))
        for _ in range(3):
            for x, graph, out in keep:
                x.copy_(torch.randn_like(x))
                graph.replay()
                assert float(out.sum()) < 1e12


def graph_per_step():
    net = make_net()
    with torch.no_grad():
        for _ in range(24):
            x = torch.randn(32, 256, device="cuda")
            warm(lambda: net(x), 1)
            graph, out = capture(lambda: net(x))
            graph.replay()
            print(float(out.sum()) < 1e9)
            del graph


def aliased():
    """Two graphs of one pool, replayed at once on two streams."""
    net = make_net(2048, 8)
    pool = torch.cuda.graph_pool_handle()
    with torch.no_grad():
        graphs = []
        for _ in range(2):
            x = torch.randn(512, 2048, device="cuda")
            warm(lambda: net(x))
            graph, out = capture(lambda: net(x).sum(), pool=pool)
            graphs.append((x, graph, out, torch.cuda.Stream()))
        torch.cuda.synchronize()
        for _ in range(8):
            for _, graph, _, stream in graphs:
                with torch.cuda.stream(stream):
                    graph.replay()
        torch.cuda.synchronize()
        print([float(g[2]) < 1e12 for g in graphs])


PROGRAMS = {
    "collected": collected,
    "item": item,
    "print": print_tensor,
    "nonzero": nonzero,
    "no_warm_up": no_warm_up,
    "malloc": malloc,
    "pageable": pageable,
    "freed_input": freed_input,
    "moved_weight": moved_weight,
    "reused_input": reused_input,
    "input_new": input_new,
    "read_early": read_early,
    "frozen_seed": frozen_seed,
    "adam": adam,
    "frozen_lr": frozen_lr,
    "shape_changed": shape_changed,
    "benchmark": benchmark,
    "legacy": legacy,
    "escape": escape,
    "empty": empty,
    "thread_sync": thread_sync,
    "pin_thread": pin_thread,
    "unjoined": unjoined,
    "isolation": isolation,
    "captured_event": captured_event,
    "autograd_stream": autograd_stream,
    "pool_per_graph": pool_per_graph,
    "graph_per_step": graph_per_step,
    "aliased": aliased,
    "watchdog": lambda: watchdog_run("global", "event"),
    "watchdog_work": lambda: watchdog_run("global", "work"),
    "frozen_choice": lambda: choice("late", choice_index()),
    "find_choice": find_choice,
}
