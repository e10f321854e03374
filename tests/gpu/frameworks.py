#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Healthy programs of four frameworks for gph doctor, which has to be silent about them.

usage: frameworks.py NAME | --list
       frameworks.py --all GPH FOLDER [NAME...]

--all runs each under `gph doctor --json` and counts; a program whose framework is not there is
skipped by name. Exit status 1: an error or a warning was reported, or a program failed.
"""
import importlib.util
import json
import os
import subprocess
import sys

STEPS = 12


# JAX: XLA's command buffers are CUDA graphs of its own.
def jax_train():
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        for w, b in weights:
            x = jnp.tanh(x @ w + b)
        return jnp.mean((x - y) ** 2)

    @jax.jit
    def step(weights, x, y):
        value, slopes = jax.value_and_grad(loss)(weights, x, y)
        return value, [(w - 1e-2 * dw, b - 1e-2 * db) for (w, b), (dw, db) in zip(weights, slopes)]

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    weights = [(jax.random.normal(k, (256, 256)) * 0.05, jnp.zeros(256)) for k in keys]
    x, y = jnp.ones((64, 256)), jnp.zeros((64, 256))
    values = []
    for _ in range(STEPS):
        value, weights = step(weights, x, y)
        values.append(float(value))
    assert values[-1] < values[0]


def jax_scan():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def decode(state, tokens):
        def one(state, token):
            state = jnp.tanh(state * 0.9 + token)
            return state, state.sum()
        return jax.lax.scan(one, state, tokens)

    for i in range(STEPS):
        state, sums = decode(jnp.zeros((8, 512)), jnp.full((20, 8, 512), 0.01 * i))
        assert sums.shape == (20,)
        state.block_until_ready()


def cupy_graph():
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        x = cupy.arange(4096, dtype=cupy.float32)
        out = cupy.empty_like(x)
        cupy.multiply(x, 2, out=out)  # compiled before the capture
        cupy.add(out, 1, out=out)
        stream.synchronize()
        stream.begin_capture()
        cupy.multiply(x, 2, out=out)
        cupy.add(out, 1, out=out)
        graph = stream.end_capture()
        for i in range(STEPS):
            x.fill(i)
            graph.launch(stream)
            stream.synchronize()
            assert float(out[7]) == 2 * i + 1


def cupy_eager():
    import cupy

    for i in range(STEPS):
        a = cupy.random.rand(256, 256, dtype=cupy.float32)
        b = cupy.linalg.norm(a @ a.T + i, axis=1)
        assert cupy.asnumpy(b).shape == (256,)


def model(width=256):
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(width),
                         nn.Linear(width, width)).cuda()


def train(step, x, y):
    import torch

    values = []
    for _ in range(STEPS):
        x.copy_(torch.randn(64, 256))
        y.copy_(x * 0.5)
        values.append(step().item())
    assert all(v == v for v in values)


def torch_eager_train():
    import torch

    net = model()
    best = torch.optim.AdamW(net.parameters(), 1e-3)
    x, y = torch.zeros(64, 256, device="cuda"), torch.zeros(64, 256, device="cuda")

    def step():
        best.zero_grad(set_to_none=True)
        loss = (net(x) - y).square().mean()
        loss.backward()
        best.step()
        return loss

    train(step, x, y)


def torch_compiled_train():
    import torch

    net = torch.compile(model(), mode="reduce-overhead")
    best = torch.optim.SGD(net.parameters(), 1e-2)
    for _ in range(STEPS):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randn(64, 256, device="cuda")
        best.zero_grad(set_to_none=True)
        loss = (net(x) - x).square().mean()
        loss.backward()
        best.step()
        assert loss.item() == loss.item()


def torch_graphed_train():
    import torch

    net = model()
    best = torch.optim.Adam(net.parameters(), 1e-3, capturable=True)
    x, y = torch.zeros(64, 256, device="cuda"), torch.zeros(64, 256, device="cuda")

    def step():
        best.zero_grad(set_to_none=True)
        loss = (net(x) - y).square().mean()
        loss.backward()
        best.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    best.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replayed():
        graph.replay()
        return loss

    train(replayed, x, y)


def llama():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=256)).cuda().eval()


def torch_eager_generate():
    import torch

    net = llama()
    ids = torch.randint(0, 512, (2, 8), device="cuda")
    out = net.generate(ids, max_new_tokens=24, do_sample=False, pad_token_id=0)
    assert out.shape == (2, 32)


def torch_compiled_generate():
    import torch

    net = llama()
    compiled = torch.compile(net.forward, mode="reduce-overhead")

    def forward(*args, **kwargs):
        torch.compiler.cudagraph_mark_step_begin()
        out = compiled(*args, **kwargs)
        out.logits = out.logits.clone()
        return out

    net.forward = forward
    ids = torch.randint(0, 512, (2, 8), device="cuda")
    for _ in range(2):
        out = net.generate(ids, max_new_tokens=24, do_sample=False, pad_token_id=0,
                           cache_implementation="static")
    assert out.shape[0] == 2


def torch_graphed_generate():
    import torch
    from transformers import StaticCache

    net = llama()
    with torch.no_grad():
        cache = StaticCache(config=net.config, max_cache_len=64)
        token = torch.randint(0, 512, (2, 1), device="cuda")
        place = torch.zeros(1, dtype=torch.long, device="cuda")

        def step():
            out = net(token, past_key_values=cache, cache_position=place,
                      position_ids=place[None], use_cache=True)
            token.copy_(out.logits[:, -1:].argmax(-1))
            place.add_(1)

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        seen = []
        for _ in range(STEPS * 2):
            graph.replay()
            seen.append(token.clone())
        assert torch.cat(seen, 1).shape == (2, STEPS * 2)


def cuda_core_graph():
    import numpy
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = 'extern "C" __global__ void add(int *p) { atomicAdd(p, 1); }'
    arch = "".join(str(n) for n in device.compute_capability)
    program = Program(code, code_type="c++", options=ProgramOptions(arch=f"sm_{arch}"))
    kernel = program.compile("cubin", name_expressions=("add",)).get_kernel("add")
    memory = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, memory)
    stream.sync()
    builder = device.create_graph_builder()
    builder.begin_building()
    for _ in range(5):
        launch(builder, LaunchConfig(grid=1, block=1), kernel, memory)
    graph = builder.end_building().complete()
    graph.upload(stream)
    for _ in range(STEPS):
        graph.launch(stream)
    stream.sync()
    assert numpy is not None
    memory.close(stream)


NEEDS = {"jax": "jax", "cupy": "cupy", "torch": "torch", "cuda": "cuda.core"}
PROGRAMS = {name: code for name, code in list(globals().items())
            if callable(code) and name.split("_")[0] in NEEDS and "_" in name}


def there(name):
    module = "transformers" if "generate" in name else NEEDS[name.split("_")[0]]
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def judge(gph, folder, name):
    base = os.path.join(folder, name)
    run = subprocess.run([gph, "doctor", "--driver", "cuda", "--save-events", base + ".gphe",
                          "--json", base + ".json", "--", sys.executable, __file__, name],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
                         env={**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    left = f"exit {run.returncode}: {run.stdout.decode(errors='replace')[-600:]}"
    try:
        with open(base + ".json", encoding="utf-8") as file:
            said = json.load(file)
    except (OSError, ValueError) as error:
        return f"{error}; {left}"
    loud = [f"{f['id']}: {f.get('title', '')}" for f in said["findings"] if f["severity"] in ("error", "warning")]
    if said["exit"] or (run.returncode and not loud):
        loud.append(left)
    return "; ".join(loud)


def main(arguments):
    if arguments[0] == "--list":
        print("\n".join(PROGRAMS))
    elif arguments[0] != "--all":
        PROGRAMS[arguments[0]]()
    else:
        gph, folder, *names = arguments[1:]
        os.makedirs(folder, exist_ok=True)
        silent, ran = 0, 0
        for name in names or PROGRAMS:
            if not there(name):
                print(f"{name}: skipped, {NEEDS[name.split('_')[0]]} is not there")
                continue
            said = judge(gph, folder, name)
            ran += 1
            silent += not said
            print(f"{name}: {said or 'silent'}", flush=True)
        print(f"{silent} of {ran} healthy programs of frameworks are silent")
        return silent != ran
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
