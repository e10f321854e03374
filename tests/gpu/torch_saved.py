#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphed callables in files on a GPU, with PyTorch's own kernels and cuBLAS's: saved here, loaded by a new process whose weights
lie elsewhere, with the bits of eager calls. usage: PYTHONPATH=the package's folder torch_saved.py [names of tests]"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

import graphophone as gph
import graphophone.torch as gt
import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(256, 768), torch.nn.Linear(256, 256)

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 64, 3, 4, 64).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(2, 64, 256))


def elementwise():
    return torch.nn.Sequential(torch.nn.LayerNorm(256), torch.nn.GELU(), torch.nn.Softmax(-1))


def mlp():
    return torch.nn.Sequential(torch.nn.LayerNorm(256), torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256))


def made(name, dtype):
    torch.manual_seed(1)
    model = {"elementwise": elementwise, "mlp": mlp, "attention": Attention}[name]().to("cuda", getattr(torch, dtype)).eval()
    return model, torch.randn(2, 64, 256, device="cuda", dtype=getattr(torch, dtype))


def load(path, name, dtype, address):
    """In a new process."""
    keep = [torch.zeros(3 << 20, device="cuda") for _ in range(5)]
    model, x = made(name, dtype)
    weight = next(model.parameters())
    with torch.no_grad():
        expected = [model(x * factor) for factor in (1.0, 0.5)]  # also loads the libraries that the kernels are in
        begin = time.perf_counter()
        loaded = gt.load_graphed_callables(path, model, check=True)
        took = time.perf_counter() - begin
        same = [torch.equal(loaded(x * factor), one) for factor, one in zip((1.0, 0.5), expected)]
    del keep
    print("%s, weights %s, loaded in %.2f s" % (same, "elsewhere" if weight.data_ptr() != int(address) else "at the same address", took))


class Saved(unittest.TestCase):
    def saved(self, name, dtype):
        model, x = made(name, dtype)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recipe")
            begin = time.perf_counter()
            gt.save_graphed_callables(path, model, (x,))
            took = time.perf_counter() - begin
            done = subprocess.run([sys.executable, "-B", __file__, "load", path, name, dtype, str(next(model.parameters()).data_ptr())],
                                  capture_output=True, text=True, timeout=100)
        print("\n%s %s: saved in %.2f s; %s" % (name, dtype, took, done.stdout.strip() or done.stderr[-600:]), flush=True)
        self.assertIn("[True, True], weights elsewhere", done.stdout)

    def test_kernels_of_pytorch(self):
        self.saved("elementwise", "float32")

    def test_kernels_of_cublas(self):
        self.saved("mlp", "float32")

    def test_bfloat16(self):
        self.saved("elementwise", "bfloat16")

    def test_attention(self):
        self.saved("attention", "float32")

    def test_kernels_that_cublas_generates_are_refused(self):
        if torch.cuda.get_device_capability()[0] != 9:
            self.skipTest("where cuBLASLt takes them for this is known of sm_90")
        model, x = made("mlp", "bfloat16")
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(gph.UnsupportedError, "kernel nvjet_.*: cuBLASLt generates it at run time"):
                gt.save_graphed_callables(os.path.join(folder, "recipe"), model, (x,))
            self.assertEqual(os.listdir(folder), [])

    def test_refusals(self):
        x, hidden = torch.ones(64, device="cuda"), torch.ones(64, device="cuda")
        dropout = torch.nn.Dropout(0.5).cuda().train()
        compiled = torch.compile(lambda a: torch.sin(a) * 2 + 1)
        compiled(x)
        for function, text in ((dropout, "random numbers"), (lambda a: a + hidden, ""), (compiled, "kernel triton.*compiled by the program")):
            with tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(gph.UnsupportedError, text) as caught:
                    gt.save_graphed_callables(os.path.join(folder, "recipe"), function, (x,))
                self.assertEqual(os.listdir(folder), [])
            print("\n" + str(caught.exception), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["load"]:
        load(*sys.argv[2:])
    else:
        unittest.main(verbosity=2)
