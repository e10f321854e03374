#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of changing sizes, padded to a few buckets, a graph each: with PyTorch by hand, with graphophone a decorator.
usage: bucket_cache.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

LADDER, WIDTH = (8, 16, 32, 64), 16
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).cuda()


def by_hand():
    """A dictionary of graphs, a pool for all, and the padding."""
    graphs, pool = {}, torch.cuda.graph_pool_handle()

    def record(size):
        given = torch.zeros(size, WIDTH, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            model(given)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            result = model(given)
        return graph, given, result

    def serve(x):
        size = min(bucket for bucket in LADDER if bucket >= len(x))
        if size not in graphs:
            graphs[size] = record(size)
        graph, given, result = graphs[size]
        given[len(x):].zero_()
        given[:len(x)].copy_(x)
        graph.replay()
        return result[:len(x)]
    return serve


def by_graphophone():
    import graphophone.torch

    @graphophone.torch.bucketed(inputs={"x": ("rows", WIDTH)}, ladder={"rows": LADDER}, outputs=[("rows", None)], fill={"x": 0})
    def serve(x):
        return model(x)
    return serve


serve = by_hand() if "plain" in sys.argv[1:] else by_graphophone()
with torch.no_grad():
    for rows in (3, 40, 9, 16, 1, 64, 33, 8, 3):
        x = torch.randn(rows, WIDTH, device="cuda")
        y = serve(x)
        assert torch.allclose(y, model(x), atol=1e-5)
        print(rows, tuple(y.shape), "%.4f" % y.sum().item())
