#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs for gph doctor, a mode each: healthy ones, which must be silent, and what
users of PyTorch's graphs complain of.

usage: torch_doctor.py MODE | --list
       torch_doctor.py --all GPH FOLDER [JOBS [MODE...]]

--all runs each mode under `gph doctor --save-events --json` and compares what is reported (errors
and warnings) with what MODES says; the last line counts. Exit status 1: something differs.
"""
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# Mode -> rules that must be reported: "a|b": one of them; "silent": no error and no warning ("silent info a": but that
# info). After
# "+": what may be reported as well. Modes whose comment says "unseen" are wrong programs whose mistake no
# call to the driver shows (PyTorch itself raises before any, or its allocator hands memory on).
MODES = {
    # healthy
    "train": "silent",
    "static": "silent",
    "callables": "silent",
    "compile": "silent",
    "compile_train": "silent",
    "shared_pool": "silent",
    "amp": "silent",
    "beside_loader": "silent",
    "capturable": "silent",
    "side_streams": "silent",
    "generator": "silent",
    "dropout": "silent",
    "nccl_one": "silent",
    "pinned": "silent",
    "buckets": "silent",
    "keep_graph": "silent",
    "timed": "silent",
    "async_backend": "silent",
    "expandable": "silent",
    "watchdog_local": "silent",
    "tuned_before": "silent",
    # broken
    "collected": "capture.destructor",
    "item": "capture.synchronize",
    "print": "capture.synchronize",
    "nonzero": "capture.synchronize",
    "no_warm_up": "capture.missing-warm-up",
    "malloc": "capture.unsafe-call",
    "pageable": "silent",  # unseen
    "freed_input": "memory.freed-input|memory.stale-address + launch.fault",
    "moved_weight": "memory.freed-input|memory.stale-address + launch.fault",
    "reused_input": "silent + memory.stale-address memory.freed-input",
    "input_new": "memory.input-not-refreshed + memory.stale-address memory.freed-input",
    "read_early": "memory.read-before-done",
    "frozen_seed": "rng.frozen",
    "adam": "silent",  # unseen
    "frozen_lr": "replay.frozen-value",
    "shape_changed": "silent",  # unseen
    "benchmark": "capture.missing-warm-up|capture.synchronize",
    "legacy": "capture.legacy-stream",
    "escape": "capture.escape",
    "empty": "capture.empty-graph|capture.escape",
    "thread_sync": "capture.unsafe-call-other-thread|capture.synchronize",
    "pin_thread": "capture.unsafe-call-other-thread",
    "unjoined": "capture.unjoined-fork",
    "isolation": "capture.isolation",
    "captured_event": "capture.captured-event-query|capture.event-after-capture",
    "autograd_stream": "capture.isolation|capture.legacy-stream|capture.unjoined-fork|capture.escape",
    "pool_per_graph": "memory.pool-per-graph",
    "graph_per_step": "perf.instantiate-per-launch + memory.growth",
    "aliased": "launch.aliased-overlap|memory.workspace-in-capture",
    "watchdog": "nccl.watchdog-query",
    "watchdog_work": "nccl.watchdog-query",
    "frozen_choice": "cache.frozen-choice",
}
# torch_scripts.py: mistakes that nothing catches, each beside its twin that is right.
TWINS = {
    "scalar": "silent",  # unseen
    "new_input": "memory.input-not-refreshed + memory.stale-address memory.freed-input",
    "rate": "replay.frozen-value",
    "set_to_none": "replay.missing-work",
    "per_step": "perf.instantiate-per-launch",
    "item": "capture.synchronize",
    "cpu_copy": "framework.exception",
    "side_alloc": "capture.unsafe-call|capture.isolation",
    "weights": "silent + memory.stale-address memory.freed-input",
    "kept_outputs": "memory.output-overwritten",
    "early": "silent",  # unseen
    "rows": "silent",  # unseen
    # The cast weights end with the block of autocast(): the graph has their addresses.
    "autocast": "memory.freed-input + memory.stale-address",
    "hook": "silent",  # unseen
    "callables": "framework.exception",
    "compiled": "framework.exception",
}
SINGLE = {
    "lazy": "capture.missing-warm-up",
    "measured": "capture.missing-warm-up|capture.synchronize",
    "default_stream": "framework.exception",
    "replay_first": "framework.exception",
    "adam": "framework.exception",
    "mutated": "silent info framework.message",
    "generator": "framework.exception",
}
SCRIPTS = {"script_" + name: rules for name, rules in {**TWINS, **SINGLE}.items()}
MODES.update(SCRIPTS)
MODES.update({"script_%s_ok" % name: "silent" for name in TWINS})
# Right in what its twin gets wrong, the cast weights, and wrong beside: three backward passes without zero_grad(), and
# .grad is the memory that each replay writes, so their sum is twice the last one.
MODES["script_callables_ok"] = "memory.output-overwritten"
SECONDS = 150
ALONE = ("frozen_choice", "tuned_before")  # what is measured depends on who else is at work

SETTINGS = {"async_backend": "backend:cudaMallocAsync", "expandable": "expandable_segments:True"}


# ---- all of them ----

def judge(expected, reported):
    """The word for what was reported, errors and warnings."""
    must, _, may = expected.partition("+")
    must = set(must.strip().split("|"))
    may = set(may.replace("|", " ").split())
    if must == {"silent"}:
        return "ok" if not reported - may else "FALSE"
    if not reported & must:
        return "MISS"
    return "ok" if not reported - must - may else "EXTRA"


def run_mode(gph, folder, mode, environment):
    base = os.path.join(folder, mode)
    command = [gph, "doctor", "--driver", "cuda", "--save-events", base + ".log", "--json",
               base + ".json", "--", "timeout", "-s", "KILL", str(SECONDS - 20), sys.executable,
               os.path.abspath(__file__), mode]
    began = time.monotonic()
    with open(base + ".txt", "wb") as text:
        try:
            status = subprocess.run(command, stdout=text, stderr=subprocess.STDOUT, timeout=SECONDS,
                                    env=environment, check=False).returncode
        except subprocess.TimeoutExpired:
            status = "timeout"
    try:
        with open(base + ".json", encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        return "NONE %-16s exit %s: %s" % (mode, status, error)
    reported = {f["id"] for f in report["findings"] if f["severity"] != "info"}
    infos = {f["id"] for f in report["findings"] if f["severity"] == "info"}
    expected, _, info = MODES[mode].partition("info ")
    word = judge(expected or "silent", reported) if not info or info in infos else "MISS"
    left = report.get("exit")
    if word == "ok" and left not in (0, "0") and mode not in SCRIPTS:
        word = "EXIT"
    return "%-5s %-16s reported [%s] expected [%s] info [%s] program's exit %s, %d events, %.0f s" % (
        word, mode, " ".join(sorted(reported)), MODES[mode], " ".join(sorted(infos)), left,
        report["events"], time.monotonic() - began)


def run_all(gph, folder, jobs=4, *modes):
    os.makedirs(folder, exist_ok=True)
    environment = dict(os.environ)
    modes = modes or tuple(MODES)
    if {"frozen_choice", "tuned_before"} & set(modes):
        found = subprocess.run([sys.executable, os.path.abspath(__file__), "find_choice"],
                               capture_output=True, text=True, timeout=SECONDS, check=False)
        print("frozen_choice: %s\n%s" % (found.stdout.strip(), found.stderr[-3000:]))
        environment["GPH_CHOICE"] = (found.stdout.split() or ["0"])[0]
        if found.returncode != 0:
            print("skip  frozen_choice, tuned_before")
            modes = [mode for mode in modes if mode not in ALONE]
    lines = []
    for mode in [m for m in modes if m in ALONE]:
        lines.append(run_mode(gph, folder, mode, environment))
        print(lines[-1], flush=True)
    with ThreadPoolExecutor(int(jobs)) as pool:
        others = [m for m in modes if m not in ALONE]
        for line in pool.map(lambda m: run_mode(gph, folder, m, environment), others):
            print(line, flush=True)
            lines.append(line)
    good = sum(line.startswith("ok") for line in lines)
    print("%d of %d as expected" % (good, len(lines)))
    return 0 if good == len(lines) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        for name, rules in MODES.items():
            print(name, rules)
    elif sys.argv[1:2] == ["--all"]:
        sys.exit(run_all(*sys.argv[2:]))
    else:
        what = sys.argv[1] if len(sys.argv) > 1 else ""
        if what not in MODES and what != "find_choice":
            sys.exit("torch_doctor.py: there is not a mode " + what)
        if what in SETTINGS:
            os.environ["PYTORCH_CUDA_ALLOC_CONF"] = SETTINGS[what]
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import torch_broken
        import torch_healthy
        import torch_scripts
        {**torch_healthy.PROGRAMS, **torch_broken.PROGRAMS, **torch_scripts.PROGRAMS}[what]()
