#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Graphed callables and whole steps of training in files on a GPU, with PyTorch's own kernels, cuBLAS's and Triton's: saved here,
loaded by a new process whose weights lie elsewhere, with the bits of eager calls. usage: PYTHONPATH=the package's folder torch_saved.py [names of tests]"""
import importlib.util
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


def transformer():
    return torch.nn.Sequential(*(torch.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True) for _ in range(2)))


def made(name, dtype):
    torch.manual_seed(1)
    models = {"elementwise": elementwise, "mlp": mlp, "attention": Attention, "transformer": transformer}
    model = models[name]().to("cuda", getattr(torch, dtype))
    return model.train(name == "transformer"), torch.randn(2, 64, 256, device="cuda", dtype=getattr(torch, dtype))


def passes(model, x):
    """Output and gradients of x and of the parameters."""
    x = x.detach().clone().requires_grad_()
    for parameter in model.parameters():
        parameter.grad = None
    out = model(x)
    (out * out).sum().backward()
    return [out.detach().clone(), x.grad.clone(), *(parameter.grad.clone() for parameter in model.parameters())]


def same(ours, theirs):
    return [torch.equal(a, b) for a, b in zip(ours, theirs)]


def train(path, name, dtype, address):
    """In a new process: forward and backward passes."""
    keep = [torch.zeros(3 << 20, device="cuda") for _ in range(5)]
    model, x = made(name, dtype)
    weight = next(model.parameters())
    expected = [passes(model, x * factor) for factor in (1.0, 0.5)]
    begin = time.perf_counter()
    loaded = gt.load_graphed_callables(path, model, check=True)
    took = time.perf_counter() - begin
    found = [same(passes(loaded, x * factor), one) for factor, one in zip((1.0, 0.5), expected)]
    del keep
    print("%s, weights %s, loaded in %.2f s" % ([all(one) for one in found], "elsewhere" if weight.data_ptr() != int(address) else
                                                "at the same address", took))


def without_cudnn(function):
    def run(x):
        with torch.backends.cudnn.flags(enabled=False):
            return function(x)
    return run


class Steps:
    """A model, its optimizer and one step of training."""

    def __init__(self, name):
        if name.startswith("resnet18"):
            import torchvision
            torch.manual_seed(1)
            torch.backends.cudnn.deterministic = True
            torch.backends.cudnn.enabled = not name.endswith("without_cudnn")
            self.model, self.x = torchvision.models.resnet18(weights=None, num_classes=10).cuda(), torch.randn(8, 3, 64, 64, device="cuda")
            if name.endswith("norms_without"):
                for norm in (one for one in self.model.modules() if isinstance(one, torch.nn.BatchNorm2d)):
                    norm.forward = without_cudnn(norm.forward)
            self.target, self.loss = torch.arange(8, device="cuda"), torch.nn.functional.cross_entropy
        else:
            self.model, self.x = made(name, "float32")
            self.target, self.loss = torch.ones_like(self.x), torch.nn.functional.mse_loss
        self.model.train(not name.endswith("evaluated"))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3, capturable=True)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(self.x), self.target)
        loss.backward()
        self.optimizer.step()
        return loss

    def named(self):
        return {"model": self.model, "optimizer": self.optimizer, "x": self.x, "target": self.target}

    def state(self):
        return [*self.model.state_dict().values(), *(one for state in self.optimizer.state.values() for one in state.values())]


def steps(path, name, address):
    """In a new process: steps of training by the graph, by one that was captured here, and eagerly, from the same state."""
    keep = [torch.zeros(3 << 20, device="cuda") for _ in range(5)]
    loaded, captured, eager = (Steps(name) for _ in range(3))
    for one in (loaded, captured, eager):
        one.step()  # makes the optimizers' state
    weight = next(loaded.model.parameters())
    begin = time.perf_counter()
    graph, loss = gt.load_graph(path, loaded.named())
    took = time.perf_counter() - begin
    other = torch.cuda.CUDAGraph()
    with torch.cuda.graph(other):
        other_loss = captured.step()
    with_captured, with_eager = [], []
    for _ in range(5):
        graph.replay(), other.replay()
        with_captured.append(torch.equal(loss, other_loss))
        with_eager.append(torch.equal(loss, eager.step().detach()))
    with_captured += same(loaded.state(), captured.state())
    with_eager += same(loaded.state(), eager.state())
    del keep
    print("equal to a captured graph %s, to eager steps %s; weights %s, loaded in %.2f s, %d nodes, loss %.6f" % (
        all(with_captured), all(with_eager), "elsewhere" if weight.data_ptr() != int(address) else "at the same address", took,
        graph.nodes, loss.item()))


def by_triton():
    """A function of (y, x) that launches a kernel of Triton's, and gives the cubin."""
    import triton
    import triton.language as tl

    @triton.jit
    def times(y, x, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < count) * 3.0, mask=at < count)
    return lambda y, x: times[(triton.cdiv(x.numel(), 256),)](y, x, x.numel(), BLOCK=256).asm["cubin"]


def replay(path):
    """In a new process, which compiles nothing."""
    keep = [torch.zeros(3 << 20, device="cuda") for _ in range(5)]
    x, y = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda")
    graph, _ = gt.load_graph(path, {"x": x, "y": y})
    graph.replay()
    print(torch.equal(y, x * 3.0))
    del keep


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
    def elsewhere(self, *args):
        """What a new process prints."""
        done = subprocess.run([sys.executable, "-B", __file__, *args], capture_output=True, text=True, timeout=100)
        print("\n%s: %s" % (args[0], done.stdout.strip() or done.stderr[-600:]), flush=True)
        return done.stdout

    def path(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return os.path.join(folder.name, "recipe")


class Forward(Saved):
    def saved(self, name, dtype):
        model, x = made(name, dtype)
        path, begin = self.path(), time.perf_counter()
        gt.save_graphed_callables(path, model, (x,))
        print("\n%s %s: saved in %.2f s" % (name, dtype, time.perf_counter() - begin))
        self.assertIn("[True, True], weights elsewhere", self.elsewhere("load", path, name, dtype, str(next(model.parameters()).data_ptr())))

    def test_kernels_of_pytorch(self):
        self.saved("elementwise", "float32")

    def test_kernels_of_cublas(self):
        self.saved("mlp", "float32")

    def test_bfloat16(self):
        self.saved("elementwise", "bfloat16")

    def test_attention(self):
        self.saved("attention", "float32")


class Backward(Saved):
    def trained(self, name, dtype):
        model, x = made(name, dtype)
        path = self.path()
        gt.save_graphed_callables(path, model, (x.requires_grad_(),), backward=True)
        said = self.elsewhere("train", path, name, dtype, str(next(model.parameters()).data_ptr()))
        self.assertIn("[True, True], weights elsewhere", said)

    def test_of_kernels_of_pytorch(self):
        self.trained("elementwise", "float32")

    def test_with_products(self):
        self.trained("mlp", "float32")

    def test_of_a_transformer(self):
        self.trained("transformer", "float32")


class Training(Saved):
    def trained(self, name):
        one, path = Steps(name), self.path()
        one.step()
        before = [state.detach().clone() for state in one.state()]
        gt.save_graph(path, one.step, one.named())
        self.assertTrue(all(same(one.state(), before)))  # though it ran
        said = self.elsewhere("steps", path, name, str(next(one.model.parameters()).data_ptr()))
        self.assertIn("equal to a captured graph True, to eager steps True; weights elsewhere", said)

    def test_steps_of_a_perceptron(self):
        self.trained("mlp")

    def test_steps_of_a_transformer(self):
        self.trained("transformer")


@unittest.skipUnless(importlib.util.find_spec("torchvision"), "torchvision is not installed")
class Residual(Training):
    test_steps_of_a_perceptron = test_steps_of_a_transformer = None

    def refused(self, name, text):
        one, path = Steps(name), self.path()
        one.step()
        with self.assertRaisesRegex(gph.UnsupportedError, text):
            gt.save_graph(path, one.step, one.named())
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_memory_of_cudnns_batch_norm_is_refused(self):
        self.refused("resnet18", "is device memory outside every range .*cudnn.*bn_fw_tr.*: torch.backends.cudnn.flags")

    def test_steps_without_cudnn(self):
        self.trained("resnet18_without_cudnn")  # its im2col is in two images of PyTorch, whose code is the same

    def test_steps_with_norms_without_cudnn(self):
        self.trained("resnet18_norms_without")

    def test_steps_in_evaluation_mode(self):
        self.trained("resnet18_evaluated")


class Others(Saved):
    def test_a_kernel_of_tritons(self):
        x, y, times = torch.randn(1000, device="cuda"), torch.zeros(1000, device="cuda"), by_triton()
        cubin, path = times(y, x), self.path()
        with self.assertRaisesRegex(gph.UnsupportedError, "node 0: kernel times: no library"):
            gt.save_graph(path, lambda: times(y, x) and None, {"x": x, "y": y})
        gt.save_graph(path, lambda: times(y, x) and None, {"x": x, "y": y}, images=[cubin])
        self.assertIn("True", self.elsewhere("replay", path))

    def test_kernels_that_cublas_generates_are_refused(self):
        if torch.cuda.get_device_capability()[0] != 9:
            self.skipTest("where cuBLASLt takes them for this is known of sm_90")
        model, x = made("mlp", "bfloat16")
        path = self.path()
        with self.assertRaisesRegex(gph.UnsupportedError, "kernel nvjet_.*: cuBLASLt generates it at run time"):
            gt.save_graphed_callables(path, model, (x,))
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_refusals(self):
        x, hidden = torch.ones(64, device="cuda"), torch.ones(64, device="cuda")
        dropout = torch.nn.Dropout(0.5).cuda().train()
        compiled = torch.compile(lambda a: torch.sin(a) * 2 + 1)
        compiled(x)
        for function, text in ((dropout, "random numbers"), (lambda a: a + hidden, ""), (compiled, "kernel triton.*compiled by the program")):
            path = self.path()
            with self.assertRaisesRegex(gph.UnsupportedError, text) as caught:
                gt.save_graphed_callables(path, function, (x,))
            self.assertEqual(os.listdir(os.path.dirname(path)), [])
            print("\n" + str(caught.exception), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ("load", "train", "steps", "replay"):
        globals()[sys.argv[1]](*sys.argv[2:])
    else:
        unittest.main(verbosity=2)
