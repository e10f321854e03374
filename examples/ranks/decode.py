#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A decoder over several GPUs: each has a part of every weight (tensor parallel), and two sums a layer put the parts together.
Three ways: eager with NCCL, torch.cuda.graph with NCCL, and graphophone's graph and sums. All have to give the tokens that one
rank gives which has all the weights; of more than two ranks NCCL may round otherwise, and may give others.

usage: torchrun --nproc-per-node 2 decode.py [--bench]      --bench: 32 layers with a sum of 4 KiB each, instead
Needs PyTorch 2.11 and a GPU for each rank; exit status 77 without, 1 where tokens differ."""
import argparse
import gc
import os
import statistics
import sys
import time


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


try:
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
except ImportError:
    skip("PyTorch is not installed")
LOCAL, RANK, RANKS = (int(os.environ.get(name, value)) for name, value in (("LOCAL_RANK", 0), ("RANK", 0), ("WORLD_SIZE", 1)))
if torch.cuda.device_count() <= LOCAL:
    skip("rank %d has no GPU: there are %d" % (RANK, torch.cuda.device_count()))
torch.cuda.set_device(LOCAL)

import graphophone.torch as gt  # noqa: E402: after the device is chosen

HEAD = 128  # elements of an attention head


def random(shape, *names):
    """A weight of its own, the same wherever it is made: its seed is of its names."""
    seed = 0
    for name in names:
        seed = (seed * 1000003 + name + 1) % (1 << 31)
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16, generator=generator) * shape[-1] ** -0.5


class Shard:
    """What one rank has of each layer: some heads, and some rows of the feed-forward layer."""

    def __init__(self, options, rank, ranks):
        width, inner = options.hidden // ranks, options.inner // ranks
        self.heads = width // HEAD
        self.layers = []
        for i in range(options.layers):
            weights = {name: random(shape, i, number, rank) for number, (name, shape) in enumerate((
                ("qkv", (3 * width, options.hidden)), ("out", (options.hidden, width)),
                ("up", (2 * inner, options.hidden)), ("down", (options.hidden, inner))))}
            for name in ("keys", "values"):
                weights[name] = torch.zeros(self.heads, options.context, HEAD, device="cuda", dtype=torch.bfloat16)
            self.layers.append(weights)

    def attention(self, i, x, place, seen):
        w = self.layers[i]
        q, k, v = F.linear(x, w["qkv"]).view(3, self.heads, 1, HEAD)
        w["keys"].index_copy_(1, place, k)
        w["values"].index_copy_(1, place, v)
        scores = (q @ w["keys"].transpose(1, 2)).float() * HEAD ** -0.5
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1).to(torch.bfloat16)
        return F.linear((weights @ w["values"]).view(1, -1), w["out"])

    def feed_forward(self, i, x):
        up, gate = F.linear(x, self.layers[i]["up"]).chunk(2, -1)
        return F.linear(up * F.silu(gate), self.layers[i]["down"])


class Decoder:
    """One step: a token in, the next one out, both on the GPU. `add` makes the sum of the shards' parts."""

    def __init__(self, options, shards, add, shared):
        self.options, self.shards, self.add = options, shards, add
        self.embedding, self.norm, self.head = shared
        self.token = torch.zeros(1, device="cuda", dtype=torch.int64)
        self.place = torch.zeros(1, device="cuda", dtype=torch.int64)
        self.places = torch.arange(options.context, device="cuda")

    def reset(self):
        self.token.fill_(7)
        self.place.zero_()
        for shard in self.shards:
            for weights in shard.layers:
                weights["keys"].zero_()
                weights["values"].zero_()

    def normed(self, x):
        return F.rms_norm(x, (self.options.hidden,), self.norm)

    def step(self):
        x = self.embedding[self.token]
        seen = self.places <= self.place
        for i in range(self.options.layers):
            y = self.normed(x)
            x = x + self.add([shard.attention(i, y, self.place, seen) for shard in self.shards])
            y = self.normed(x)
            x = x + self.add([shard.feed_forward(i, y) for shard in self.shards])
        self.token.copy_(F.linear(self.normed(x), self.head).argmax(-1))
        self.place.add_(1)


def sum_of(parts):
    """What the ranks' sum is, by one: in f32, in the order of ranks."""
    total = parts[0].float()
    for part in parts[1:]:
        total = total + part.float()
    return total.to(parts[0].dtype)


def by_nccl(parts):
    if RANKS > 1:
        dist.all_reduce(parts[0])
    return parts[0]


def captured(graph, context, step):
    """A replay of what step does. Warm-ups ahead, in another stream, as PyTorch asks for."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    with context(graph, capture_error_mode="thread_local"):
        step()
    return graph


def timed(step, read, rounds):
    """What it read after each step, and the median of microseconds."""
    results, times = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        step()
        results.append(read())
        times.append(1e6 * (time.perf_counter() - begin))
    return results, statistics.median(times[rounds // 8:])


def say(*words):
    if RANK == 0:
        print(*words, flush=True)


def decode(options, ranks, comm):
    shared = (random((options.vocabulary, options.hidden), 901) * options.hidden ** 0.5,
              torch.ones(options.hidden, device="cuda", dtype=torch.bfloat16), random((options.vocabulary, options.hidden), 902))
    shards = [Shard(options, rank, RANKS) for rank in range(RANKS)]

    def tokens_of(decoder, step):
        decoder.reset()
        torch.cuda.synchronize()
        ranks.most("begin", 0)  # all at once
        return timed(step, decoder.token.item, options.tokens)

    alone = Decoder(options, shards, sum_of, shared)
    expected, us = tokens_of(alone, alone.step)
    ranks.agree("tokens of one rank", "%x" % hash(tuple(expected)))
    own = shards[RANK]
    del alone, shards
    torch.cuda.empty_cache()
    say("%d layers, hidden %d, bf16, %d rank(s), %d tokens, %d different ones; %s" % (
        options.layers, options.hidden, RANKS, len(expected), len(set(expected)), torch.cuda.get_device_name()))
    say("\n| way | us a token | against eager | tokens |\n|---|---|---|---|")
    say("| one rank that has all, eager | %.0f | | |" % us)

    ways, base, wrong = {}, None, 0
    nccl, ours = (Decoder(options, [own], add, shared) for add in (by_nccl, lambda parts: gt.all_reduce(parts[0], comm)))
    ways["eager, NCCL"] = nccl, lambda: nccl.step
    ways["torch.cuda.graph, NCCL"] = nccl, lambda: captured(torch.cuda.CUDAGraph(), torch.cuda.graph, nccl.step).replay
    ways["graphophone, its sums"] = ours, lambda: agreed(comm, captured(gt.CUDAGraph(), gt.graph, ours.step)).replay
    for name, (decoder, make) in ways.items():
        decoder.reset()
        step = make()
        tokens, us = tokens_of(decoder, step)
        ranks.check()
        base = base or us
        differ = next((i for i, (a, b) in enumerate(zip(tokens, expected)) if a != b), None)
        wrong += differ is not None and (decoder is ours or RANKS <= 2)
        say("| %s | %.0f | %.2f x | %s |" % (name, us, base / us, "equal" if differ is None else "differ from number %d" % differ))
    return 1 if ranks.most("wrong", wrong) else 0


def agreed(comm, graph):
    comm.graph_agree(graph)
    return graph


def bench(options, ranks, comm):
    size = options.bytes // 2
    weights = [random((size, size), i, 900 + RANK) for i in range(options.layers)]
    start = random((1, size), 903) * size ** 0.5
    x = torch.empty_like(start)

    def step(add):
        y = x
        for weight in weights:
            y = F.linear(y, weight) * RANKS ** -0.5  # so that sums stay as large as what they are of
            add([y])
        x.copy_(y)

    ways = {
        "layers alone, a graph": lambda: captured(torch.cuda.CUDAGraph(), torch.cuda.graph, lambda: step(lambda parts: None)).replay,
        "eager, NCCL": lambda: lambda: step(by_nccl),
        "torch.cuda.graph, NCCL": lambda: captured(torch.cuda.CUDAGraph(), torch.cuda.graph, lambda: step(by_nccl)).replay,
        "graphophone, its sums": lambda: agreed(comm, captured(
            gt.CUDAGraph(), gt.graph, lambda: step(lambda parts: gt.all_reduce(parts[0], comm)))).replay,
    }
    say("%d layers of %d x %d, bf16, a sum of %d bytes each, %d rank(s); %s\n" % (
        options.layers, size, size, options.bytes, RANKS, torch.cuda.get_device_name()))
    say("| way | us a step | against eager | us a sum | result |\n|---|---|---|---|---|")
    alone = base = expected = None
    wrong = 0
    for name, make in ways.items():
        run = make()
        for _ in range(20):
            run()
        torch.cuda.synchronize()
        ranks.most("begin", 0)
        _, us = timed(run, torch.cuda.synchronize, options.rounds)
        x.copy_(start)
        run()
        torch.cuda.synchronize()
        ranks.check()
        result = x.clone()
        if alone is None:
            alone = us
            say("| %s | %.0f | | | |" % (name, us))
            continue
        base, expected = base or us, result if expected is None else expected
        same = torch.equal(result, expected)
        wrong += not same and RANKS <= 2
        say("| %s | %.0f | %.2f x | %.1f | %s |" % (name, us, base / us, (us - alone) / options.layers,
                                                 "equal" if same else "differs"))
    return 1 if ranks.most("wrong", wrong) else 0


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("layers", 32), ("hidden", 4096), ("inner", 11008), ("vocabulary", 32000), ("tokens", 64),
                        ("context", 256), ("bytes", 4096), ("rounds", 300)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--way", default="best", choices=("best", "own", "nccl"), help="of graphophone's communicator")
    parser.add_argument("--bench", action="store_true")
    options = parser.parse_args()
    if options.hidden % (HEAD * RANKS) or options.inner % RANKS:
        parser.error("hidden is to be a multiple of %d, inner of %d" % (HEAD * RANKS, RANKS))
    if options.tokens > options.context - 8:
        parser.error("%d tokens need a context of %d" % (options.tokens, options.tokens + 8))
    return options


def main():
    options = options_of()
    if RANKS > 1:
        dist.init_process_group("nccl", device_id=torch.device("cuda", LOCAL))
    with torch.no_grad(), gt.ranks() as ranks:
        comm = gt.Comm(ranks, way=options.way)
        say(comm.info["text"])
        status = (bench if options.bench else decode)(options, ranks, comm)
        torch.cuda.synchronize()
    gc.collect()  # NCCL's communicator goes after the graphs that recorded it
    if RANKS > 1:
        dist.destroy_process_group()
    return status


if __name__ == "__main__":
    sys.exit(main())
