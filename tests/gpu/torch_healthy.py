# SPDX-License-Identifier: Apache-2.0
"""Healthy programs for torch_doctor.py: gph doctor is silent."""
import torch
import torch.utils.data

from torch_parts import Rows, capture, choice, choice_index, make_net, make_step, start_group, warm
from torch_parts import watchdog_run


def train(optimizer=None, options=None):
    step, x, best = make_step(options, optimizer)
    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = capture(step)
    for i in range(40):
        x.copy_(torch.randn(64, 256, device="cuda"))
        graph.replay()
        if i % 10 == 9:
            print(float(loss))


def capturable():
    train(torch.optim.Adam, {"lr": torch.tensor(1e-3, device="cuda"), "capturable": True})


def static():
    net = make_net()
    x = torch.zeros(32, 256, device="cuda")
    with torch.no_grad():
        warm(lambda: net(x))
        graph, out = capture(lambda: net(x))
        for i in range(30):
            x.copy_(torch.full((32, 256), float(i)), non_blocking=True)
            graph.replay()
            print(float(out.cpu().sum()) == 0.5)


def callables():
    first, second = make_net(), make_net()
    sample = torch.randn(32, 256, device="cuda", requires_grad=True)
    first, second = torch.cuda.make_graphed_callables((first, second), ((sample,), (sample,)))
    best = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=1e-3)
    for _ in range(20):
        best.zero_grad(set_to_none=True)
        out = second(first(torch.randn(32, 256, device="cuda")))
        out.square().mean().backward()
        best.step()
    torch.cuda.synchronize()


def compiled():
    net = make_net()
    fast = torch.compile(net, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(12):
            torch.compiler.cudagraph_mark_step_begin()
            out = fast(torch.randn(32, 256, device="cuda"))
        print(float(out.sum()) < 1e9)


def compile_train():
    net = make_net()
    fast = torch.compile(net, mode="reduce-overhead")
    best = torch.optim.SGD(net.parameters(), lr=1e-3)
    for _ in range(12):
        best.zero_grad(set_to_none=True)
        fast(torch.randn(32, 256, device="cuda")).square().mean().backward()
        best.step()
    torch.cuda.synchronize()


def shared_pool():
    net = make_net()
    pool = torch.cuda.graph_pool_handle()
    with torch.no_grad():
        graphs = []
        for batch in (64, 32, 16, 8):
            x = torch.randn(batch, 256, device="cuda")
            warm(lambda: net(x))
            graphs.append((x, *capture(lambda: net(x), pool=pool)))
        for _ in range(10):
            for x, graph, out in graphs:
                x.copy_(torch.randn_like(x))
                graph.replay()
                assert float(out.sum()) < 1e9


def amp():
    net = make_net()
    best = torch.optim.SGD(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    x = torch.randn(64, 256, device="cuda")

    def step():
        best.zero_grad(set_to_none=True)
        with torch.autocast("cuda", cache_enabled=False):
            loss = net(x).square().mean()
        scaler.scale(loss).backward()
        return loss

    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = capture(step)
    for _ in range(20):
        x.copy_(torch.randn(64, 256, device="cuda"))
        graph.replay()
        scaler.step(best)
        scaler.update()
    print(float(loss))


def beside_loader():
    step, x, best = make_step()
    loader = torch.utils.data.DataLoader(Rows(), batch_size=64, num_workers=2, pin_memory=True)
    batches = iter(loader)
    next(batches)
    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = capture(step, capture_error_mode="thread_local")
    for batch in batches:
        if len(batch) == 64:
            x.copy_(batch, non_blocking=True)
            graph.replay()
    print(float(loss) > 0)


def side_streams():
    x = torch.randn(512, 512, device="cuda")
    side = torch.cuda.Stream()

    def run():
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        a = x @ x
        with torch.cuda.stream(side):
            b = torch.relu(x)
        main.wait_stream(side)
        return a + b

    warm(run)
    graph, out = capture(run)
    for _ in range(20):
        x.copy_(torch.randn_like(x))
        graph.replay()
        assert float(out.sum()) < 1e12


def generator():
    mine = torch.Generator(device="cuda")
    mine.manual_seed(7)
    x = torch.empty(4096, device="cuda")
    warm(lambda: x.uniform_(generator=mine))
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(mine)
    with torch.cuda.graph(graph):
        x.uniform_(generator=mine)
    seen = set()
    for _ in range(8):
        graph.replay()
        seen.add(float(x.sum()))
    assert len(seen) > 1


def dropout():
    x = torch.ones(1 << 16, device="cuda")
    warm(lambda: torch.nn.functional.dropout(x))
    graph, out = capture(lambda: torch.nn.functional.dropout(x))
    seen = set()
    for _ in range(8):
        graph.replay()
        seen.add(float(out.sum()))
    assert len(seen) > 1


def nccl_one():
    dist = start_group()
    x = torch.ones(1 << 16, device="cuda")
    out = torch.empty(1, 1 << 16, device="cuda")

    def run():
        y = x * 2
        dist.all_reduce(y)
        dist.all_gather_into_tensor(out, y)
        return y + 1

    warm(run)
    torch.cuda.synchronize()
    graph, result = capture(run)
    for _ in range(10):
        graph.replay()
    print(float(result.sum()))
    del graph
    dist.destroy_process_group()


def pinned():
    host = torch.zeros(4096).pin_memory()
    back = torch.zeros(4096).pin_memory()
    x = torch.zeros(4096, device="cuda")

    def run():
        x.copy_(host, non_blocking=True)
        y = x * 2
        back.copy_(y, non_blocking=True)
        return y

    warm(run)
    torch.cuda.synchronize()
    graph, _ = capture(run)
    for i in range(20):
        host.fill_(float(i))
        graph.replay()
        torch.cuda.synchronize()
        assert float(back[0]) == 2.0 * i


def buckets():
    net = make_net()
    graphs = {}
    sizes = (8, 16, 32, 64)
    with torch.no_grad():
        for size in reversed(sizes):
            x = torch.zeros(size, 256, device="cuda")
            warm(lambda: net(x))
            pool = next(iter(graphs.values()))[1].pool() if graphs else None
            graphs[size] = (x, *capture(lambda: net(x), pool=pool))
        for i in range(40):
            rows = 1 + (i * 13) % 64
            x, graph, out = graphs[next(s for s in sizes if s >= rows)]
            x[:rows].copy_(torch.randn(rows, 256, device="cuda"))
            graph.replay()
            assert out[:rows].cpu().shape[0] == rows


def keep_graph():
    net = make_net()
    x = torch.randn(32, 256, device="cuda")
    with torch.no_grad():
        warm(lambda: net(x))
        graph = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(graph):
            out = net(x)
        graph.instantiate()
        for _ in range(10):
            x.copy_(torch.randn_like(x))
            graph.replay()
            assert float(out.sum()) < 1e9
        graph.reset()
        with torch.cuda.graph(graph):
            out = net(x)
        graph.replay()
        print(float(out.sum()))


def timed():
    x = torch.randn(512, 512, device="cuda")
    begin = torch.cuda.Event(enable_timing=True, external=True)
    end = torch.cuda.Event(enable_timing=True, external=True)

    def run():
        begin.record()
        y = x @ x
        end.record()
        return y

    warm(run)
    graph, _ = capture(run)
    for _ in range(5):
        graph.replay()
        torch.cuda.synchronize()
        print(begin.elapsed_time(end) > 0)


PROGRAMS = {
    "train": train,
    "capturable": capturable,
    "static": static,
    "callables": callables,
    "compile": compiled,
    "compile_train": compile_train,
    "shared_pool": shared_pool,
    "amp": amp,
    "beside_loader": beside_loader,
    "side_streams": side_streams,
    "generator": generator,
    "dropout": dropout,
    "nccl_one": nccl_one,
    "pinned": pinned,
    "buckets": buckets,
    "keep_graph": keep_graph,
    "timed": timed,
    "async_backend": train,
    "expandable": train,
    "watchdog_local": lambda: watchdog_run("thread_local", "event"),
    "tuned_before": lambda: choice("before", choice_index()),
}
