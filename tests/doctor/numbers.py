#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python code reads while work is captured, and that change before the graph is launched: gph doctor
names the number and the line that has read it, and keeps silent where the graph does not have it.

usage: numbers.py GPH     (numbers.py MODE is one of the programs)
"""
import json
import os
import subprocess
import sys
import tempfile

from captures import Cuda

# mode -> function whose line, marked with the mode, is named; None: silent. Of each, the words that the cause has.
MODES = {
    "rate": ("step", 'group["lr"]'),
    "rate_on_device": None,
    "rate_once": None,
    "argument": ("sample", "sigma"),
    "argument_on_device": None,
    "a_graph_for_each": None,
    "attribute": ("forward", "Net.scale"),
    "attribute_set_in_graph": None,
    "attribute_of_eager": None,
    "global": ("scaled", "SCALE"),
    "mode": ("forward", "Dropout.training"),
    "mode_rate_0": None,
    "mode_of_eager": None,
    "mode_back": None,
    "mode_of_two": None,
}
SCALE = 1.7


class Optimizer:
    def __init__(self, cuda, rate):
        self.cuda, self.param_groups = cuda, [{"lr": rate, "momentum": 0.9}]

    def step(self):
        for group in self.param_groups:
            update(self.cuda, group["lr"])  # rate


def update(cuda, rate):
    if isinstance(rate, float):
        cuda.multiply(-rate)
    else:
        cuda.multiply_by(rate)


def training(cuda, rate, changes):
    optimizer = Optimizer(cuda, rate)
    cuda.begin()
    optimizer.step()
    run = cuda.end()
    for step in range(8):
        cuda.replay(run)
        if changes:
            changes(optimizer.param_groups[0], step)


def rate(cuda):
    training(cuda, 0.02, lambda group, step: group.update(lr=group["lr"] * 0.8))


def rate_on_device(cuda):
    cuda.put(cuda.number, 0.02)
    training(cuda, cuda.number, lambda group, step: cuda.put(cuda.number, 0.02 * 0.8 ** step))


def rate_once(cuda):
    """It is set back: one launch is not enough."""
    training(cuda, 0.02, lambda group, step: group.update(lr=0.03 if step == 3 else 0.02))


class Sampler:
    def __init__(self, cuda, each=False, on_device=False):
        self.cuda, self.runs, self.each, self.on_device = cuda, {}, each, on_device

    def sample(self, sigma):
        key = sigma if self.each else 0
        if key not in self.runs:
            self.cuda.begin()
            if self.on_device:
                self.cuda.multiply_by(self.cuda.number)
            else:
                self.cuda.multiply(sigma)  # argument
            self.runs[key] = self.cuda.end()
        if self.on_device:
            self.cuda.put(self.cuda.number, sigma)
        return self.cuda.replay(self.runs[key])


def argument(cuda, **how):
    sampler = Sampler(cuda, **how)
    for sigma in (14.6, 9.0, 5.2, 2.9, 1.5, 0.7):
        sampler.sample(sigma)


def argument_on_device(cuda):
    argument(cuda, on_device=True)


def a_graph_for_each(cuda):
    argument(cuda, each=True)
    argument(cuda, each=True)


class Net:
    def __init__(self, cuda):
        self.cuda, self.scale, self.calls = cuda, 0.37, 0.0

    def forward(self):
        self.calls += 1.0
        self.cuda.multiply(self.scale)  # attribute


def attribute(cuda, sets=False, eager=False):
    net = Net(cuda)
    cuda.begin()
    net.forward()
    if sets:
        cuda.multiply_by(cuda.number)
    run = cuda.end()
    for step in range(6):
        net.scale = 0.37 if sets or eager else net.scale + 0.11
        cuda.put(cuda.number, 0.1 * step)
        cuda.replay(run)
        net.calls += 1.0
        if eager:
            net.scale = 0.9
            net.forward()


def attribute_set_in_graph(cuda):
    attribute(cuda, sets=True)


def attribute_of_eager(cuda):
    attribute(cuda, eager=True)


def scaled(cuda):
    cuda.multiply(SCALE)  # global


def global_(cuda):
    global SCALE
    cuda.begin()
    scaled(cuda)
    run = cuda.end()
    for _ in range(6):
        SCALE *= 1.5
        cuda.replay(run)


class Dropout:
    def __init__(self, cuda, p):
        self.cuda, self.p, self.training = cuda, p, True

    def forward(self):
        if self.training and self.p:  # mode
            self.cuda.multiply(1 / (1 - self.p))
        self.cuda.multiply(1.0)


def mode(cuda, p=0.3, eager=False, back=False, two=False):
    net = Dropout(cuda, p)
    net.training = False
    net.forward()
    cuda.begin()
    net.forward()
    run = cuda.end()
    net.training = True
    if two:
        cuda.begin()
        net.forward()
        other = cuda.end()
    for _ in range(8):
        if eager:
            net.forward()
        net.training = not back
        cuda.replay(run)
        if two:
            cuda.replay(other)


def mode_rate_0(cuda):
    mode(cuda, p=0.0)


def mode_of_eager(cuda):
    mode(cuda, eager=True)


def mode_back(cuda):
    mode(cuda, back=True)


def mode_of_two(cuda):
    mode(cuda, two=True)


def line_of(mark):
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, text in enumerate(file, 1) if text.rstrip().endswith("  # " + mark))


def check(gph, name, folder):
    out = os.path.join(folder, "found.json")
    done = subprocess.run([gph, "doctor", "--driver", "soft", "--json", out, "--", sys.executable, os.path.abspath(__file__),
                           name], capture_output=True, timeout=100, check=False)
    with open(out, encoding="utf-8") as file:
        found = [f for f in json.load(file)["findings"] if f["id"] == "replay.frozen-value"]
    wanted = MODES[name]
    if not wanted:
        assert not found, (name, found, done.stderr)
        return
    assert len(found) == 1, (name, found, done.stderr)
    words = json.dumps(found[0]["python"] + [found[0]["at"]]) + found[0]["cause"]
    where = "numbers.py:%d" % line_of(name)
    assert where in found[0]["cause"] and wanted[1] in found[0]["cause"], (name, words)


def main(what):
    if what in MODES:
        return globals()["global_" if what == "global" else what](Cuda())
    with tempfile.TemporaryDirectory() as folder:
        for name in MODES:
            check(what, name, folder)
    print("%d programs as expected" % len(MODES))


if __name__ == "__main__":
    main(sys.argv[1])
