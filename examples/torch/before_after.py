#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three functions that do not fit into a graph, and how each of them is rewritten.
usage: before_after.py [plain]      plain: PyTorch alone; the numbers are the same"""
import sys

import torch

if "plain" not in sys.argv[1:]:
    import graphophone.torch
    graphophone.torch.patch()  # the only line that differs

x = torch.linspace(-1, 2, 8, device="cuda")
limit = torch.tensor(0.5, device="cuda")


# 1. A branch of the host on a value of the device: the copy has to wait for what was only recorded.
def clip_before(x):
    return x / x.norm() if x.norm().item() > 1 else x


def clip_after(x):
    norm = x.norm()
    return torch.where(norm > 1, x / norm, x)


# 2. A result whose size depends on values: the host has to know it to allocate.
def positives_before(x):
    return x[x > limit].sum()


def positives_after(x):
    return torch.where(x > limit, x, 0).sum()


# 3. Data of the host made in each call: a copy from pageable memory, which would be frozen as well.
def scale_before(x):
    return x * torch.tensor([1.0, 2.0] * 4).cuda()


SCALE = torch.tensor([1.0, 2.0] * 4).cuda()


def scale_after(x):
    return x * SCALE


def captured(function):
    """What the function's graph gives; None where it cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            y = function(x)
    except RuntimeError:
        return None
    graph.replay()
    return y


for before, after in ((clip_before, clip_after), (positives_before, positives_after), (scale_before, scale_after)):
    expected = before(x)
    assert torch.allclose(after(x), expected)
    if "plain" not in sys.argv[1:]:  # PyTorch 2.11 does not come back from some of these: see docs/torch.md
        assert captured(before) is None
    print(after.__name__, torch.allclose(captured(after), expected), "%.6f" % captured(after).sum().item())
