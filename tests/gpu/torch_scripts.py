# SPDX-License-Identifier: Apache-2.0
"""Programs for torch_doctor.py as users of PyTorch write them: nothing is caught, and each
mistake (NAME) has its twin that is right (NAME_ok)."""
import torch
from torch import nn


def net(width=256):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()


def warm(run):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()


def graphed(run, warmed=True, **options):
    if warmed:
        warm(run)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, **options):
        out = run()
    return graph, out


def rand(*size):
    return torch.randn(*(size or (64, 256)), device="cuda")


@torch.no_grad()
def scalar(ok=False):
    """The scale of a schedule is a Python number."""
    x, scale = rand(), torch.ones((), device="cuda") if ok else [1.0]
    graph, out = graphed(lambda: x * (scale if ok else scale[0]) + 1)
    for i in range(8):
        scale.fill_(1.0 / (i + 1)) if ok else scale.__setitem__(0, 1.0 / (i + 1))
        x.copy_(rand())
        graph.replay()
        print(out.sum().item())


@torch.no_grad()
def new_input(ok=False):
    model, x = net(), rand()
    graph, out = graphed(lambda: model(x))
    for _ in range(8):
        batch = torch.randn(64, 256).cuda()
        if ok:
            x.copy_(batch)
        else:
            x = batch
        graph.replay()
        print(out.sum().item())


def trained(run, options=None, ok=False):
    model, x = net(), rand()
    best = torch.optim.SGD(model.parameters(), **(options or {"lr": 1e-2}))

    def step():
        best.zero_grad(set_to_none=True)
        loss = model(x).square().mean()
        loss.backward()
        best.step()
        return loss

    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = graphed(step, False)
    for i in range(8):
        x.copy_(rand())
        run(best, i)
        graph.replay()
        print(loss.item())


def rate(ok=False):
    value = torch.tensor(1e-2, device="cuda")

    def change(best, i):
        if ok:
            value.copy_(torch.tensor(1e-2 / (i + 1), device="cuda"))
        else:
            best.param_groups[0]["lr"] = 1e-2 / (i + 1)

    trained(change, {"lr": value, "fused": True} if ok else None)


def set_to_none(ok=False):
    """Gradients are the graph's; the optimizer outside finds none."""
    model, x = net(), rand()
    best = torch.optim.SGD(model.parameters(), lr=1e-2)

    def step():
        loss = model(x).square().mean()
        loss.backward()
        return loss

    warm(step)
    best.zero_grad(set_to_none=True)
    graph, loss = graphed(step, False)
    for _ in range(8):
        x.copy_(rand())
        best.zero_grad(set_to_none=not ok)
        graph.replay()
        best.step()
        print(loss.item())


@torch.no_grad()
def per_step(ok=False):
    model, x = net(), rand()
    warm(lambda: model(x))
    for i in range(24):
        if i == 0 or not ok:
            graph, out = graphed(lambda: model(x), False)
        x.copy_(rand())
        graph.replay()
        print(out.sum().item())


@torch.no_grad()
def item(ok=False):
    x = rand()
    graph, out = graphed(lambda: torch.where(x.sum() > 0, x, -x) if ok else x if x.sum().item() > 0 else -x)
    graph.replay()
    print(out.sum().item())


@torch.no_grad()
def cpu_copy(ok=False):
    x, host = rand(), torch.ones(64, 256)
    host = host.pin_memory() if ok else host
    graph, out = graphed(lambda: x + host.to("cuda", non_blocking=True))
    graph.replay()
    print(out.sum().item())


@torch.no_grad()
def side_alloc(ok=False):
    x, side = rand(), torch.cuda.Stream()

    def run():
        y = x * 2
        if ok:
            side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = torch.ones(64, 256, device="cuda") + x
        torch.cuda.current_stream().wait_stream(side)
        return y + z

    graph, out = graphed(run)
    graph.replay()
    print(out.sum().item())


@torch.no_grad()
def weights(ok=False):
    """New weights are put in place of the old ones, which the graph has."""
    model, x = net(), rand()
    graph, out = graphed(lambda: model(x))
    for _ in range(4):
        for p in model.parameters():
            if ok:
                p.copy_(torch.randn_like(p))
            else:
                p.data = torch.randn_like(p)
        x.copy_(rand())
        graph.replay()
        print(out.sum().item())


@torch.no_grad()
def kept_outputs(ok=False):
    model, x, outs = net(), rand(), []
    graph, out = graphed(lambda: model(x))
    for _ in range(8):
        x.copy_(rand())
        graph.replay()
        outs.append(out.clone() if ok else out)
    print([o.sum().item() for o in outs])


@torch.no_grad()
def early(ok=False):
    model, x, host = net(2048), rand(512, 2048), torch.empty(512, 2048).pin_memory()
    graph, out = graphed(lambda: model(x))
    for _ in range(8):
        x.copy_(rand(512, 2048))
        graph.replay()
        host.copy_(out, non_blocking=True)
        if ok:
            torch.cuda.synchronize()
        print(host.sum().item())


@torch.no_grad()
def rows(ok=False):
    """A smaller batch leaves the last one's rows."""
    model, x = net(), torch.zeros(64, 256, device="cuda")
    graph, out = graphed(lambda: model(x).mean())
    for n in (64, 20, 7, 33):
        if ok:
            x.zero_()
        x[:n].copy_(rand(n, 256))
        graph.replay()
        print(out.item())


@torch.no_grad()
def autocast(ok=False):
    """The cast weights are kept from outside the capture."""
    model, x = net(), rand()
    model.requires_grad_(True)
    with torch.autocast("cuda", cache_enabled=not ok), torch.enable_grad():
        model(x)
        graph, out = graphed(lambda: model(x))
    for _ in range(4):
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(0.9)
            x.copy_(rand())
        graph.replay()
        print(out.sum().item())


@torch.no_grad()
def hook(ok=False):
    """A hook runs in the capture and never again."""
    model, x, seen = net(), rand(), torch.zeros((), device="cuda")
    count = [0]

    def after(*_):
        seen.add_(1)
        count[0] += 1

    model.register_forward_hook(after)
    graph, _ = graphed(lambda: model(x))
    for _ in range(4):
        x.copy_(rand())
        graph.replay()
    print(seen.item() if ok else count[0])


@torch.no_grad()
def lazy():
    layer, x = nn.Conv2d(8, 16, 3).cuda(), rand(4, 8, 64, 64)
    graph, out = graphed(lambda: layer(x), False)
    graph.replay()
    print(out.sum().item())


@torch.no_grad()
def measured():
    layer = nn.Conv2d(8, 16, 3).cuda()
    layer(rand(4, 8, 32, 32))
    torch.backends.cudnn.benchmark = True
    x = rand(4, 8, 64, 64)
    graphed(lambda: layer(x), False)


def default_stream():
    graph, x = torch.cuda.CUDAGraph(), rand()
    graph.capture_begin()
    y = x * 2
    graph.capture_end()
    graph.replay()
    print(y.sum().item())


def replay_first():
    rand()
    torch.cuda.CUDAGraph().replay()


def adam():
    model, x = net(), rand()
    best = torch.optim.Adam(model.parameters())

    def step():
        model(x).square().mean().backward()
        best.step()

    graphed(step)


def callables(ok=False):
    model, x = net(), rand()
    with torch.autocast("cuda", cache_enabled=not ok):
        model = torch.cuda.make_graphed_callables(model, (x,))
        for _ in range(3):
            model(rand()).sum().backward()
    torch.cuda.synchronize()


def compiled(ok=False):
    """An output of a step is read after the next one."""
    model = torch.compile(net(), mode="reduce-overhead")
    with torch.no_grad():
        last = None
        for _ in range(6):
            torch.compiler.cudagraph_mark_step_begin()
            out = model(rand())
            if last is not None:
                print((out - last).sum().item())
            last = out.clone() if ok else out


def mutated():
    run = torch.compile(lambda x: x.add_(1) * 2, mode="reduce-overhead")
    x = rand()
    for _ in range(4):
        run(x)
    torch.cuda.synchronize()


def generator():
    """A generator of the program's own is not the graph's."""
    own = torch.Generator("cuda").manual_seed(1)
    graph, out = graphed(lambda: torch.randn(64, device="cuda", generator=own))
    for _ in range(3):
        graph.replay()
        print(out.sum().item())


BOTH = (scalar, new_input, rate, set_to_none, per_step, item, cpu_copy, side_alloc, weights, kept_outputs,
        early, rows, autocast, hook, callables, compiled)
ONE = (lazy, measured, default_stream, replay_first, adam, mutated, generator)
PROGRAMS = {"script_" + run.__name__: run for run in BOTH + ONE}
PROGRAMS.update({"script_%s_ok" % run.__name__: lambda run=run: run(ok=True) for run in BOTH})
