#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer as it is compiled without graphs, by reduce-overhead and by our trees, each twice, and compares
losses and weights to the bit. With deterministic algorithms all six have to be equal; without them (`free`) the two runs of
one way say what the kernels themselves leave open: sums by atomics, and configurations that are chosen by time.
usage: PYTHONPATH=the package's folder torch_bits.py [free]"""
import contextlib
import gc
import hashlib
import os
import sys

IS_FREE = "free" in sys.argv[1:]
if not IS_FREE:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import torch  # noqa: E402
import torch._inductor.config  # noqa: E402

import graphophone.torch as gt  # noqa: E402
import torch_models as models  # noqa: E402

STEPS = 10
WAYS = (("compile", {}, False), ("reduce-overhead", {"mode": "reduce-overhead"}, False),
        ("our trees", {"mode": "reduce-overhead"}, True))


def train(options):
    """The bits of the loss of each step, and a digest of the weights at the end."""
    torch.manual_seed(0)
    model = models.Encoder().cuda()
    words, target = torch.randint(0, 1000, (16, 64), device="cuda"), torch.randint(0, 10, (16,), device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, capturable=True)
    compiled = torch.compile(model, **options)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(compiled(words), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().view(torch.int32).item() & 0xffffffff)
    digest = hashlib.sha256()
    for tensor in model.state_dict().values():
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return losses, digest.hexdigest()[:12]


def main():
    if not IS_FREE:
        torch.use_deterministic_algorithms(True)
        torch._inductor.config.deterministic = True  # or configurations of kernels would be chosen by time
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, "free" if IS_FREE else "deterministic", flush=True)
    first = None
    differ = 0
    for turn in range(2):
        for name, options, patched in WAYS:
            torch._dynamo.reset()
            gc.collect()
            with gt.patch() if patched else contextlib.nullcontext():
                result = train(options)
                hits = sum(hit.count for hit in gt._trees._hits)
            first = first or result
            differ += result != first
            print("%-16s %d  %s  weights %s  %s%s" % (
                name, turn + 1, " ".join("%08x" % loss for loss in result[0]), result[1],
                "the same" if result == first else "DIFFERS from step %s" % next(
                    (step for step, pair in enumerate(zip(result[0], first[0])) if pair[0] != pair[1]), "none; the weights do"),
                ", %d paths in C" % hits if patched else ""), flush=True)
    return 1 if differ and not IS_FREE else 0


if __name__ == "__main__":
    sys.exit(main())
