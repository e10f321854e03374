# SPDX-License-Identifier: Apache-2.0
"""What the tests of graphophone.torch on softcuda share: tensors, captures."""
import sys
import unittest

import torch

if not torch.__version__.startswith("2.11.") or not torch.cuda.is_available():
    print("PyTorch %s with CUDA %s: the tests are for 2.11 with a driver" % (torch.__version__, torch.version.cuda))
    sys.exit(77)
import graphophone.torch as gt

COUNT = 64


def tensor(first=0.0):
    result = torch.empty(COUNT, device="cuda")
    result.copy_(torch.arange(COUNT, dtype=torch.float32) + first)
    return result


def captured(body, graph=None, **options):
    graph = graph or gt.CUDAGraph()
    with gt.graph(graph, **options):
        result = body()
    return graph, result


class Case(unittest.TestCase):
    def setUp(self):
        self.x, self.y = tensor(), torch.empty(COUNT, device="cuda")
        self.y.copy_(torch.zeros(COUNT))

    def copy(self):
        return self.y.copy_(self.x)

    def same(self, one, first=0.0):
        torch.cuda.synchronize()
        expected = (torch.arange(COUNT, dtype=torch.float32) + first).tolist()
        self.assertTrue(one.cpu().tolist() == expected, "begins with %r, not %r" % (one.cpu().tolist()[:2], expected[:2]))


def copied(a):
    return torch.empty_like(a).copy_(a)
