#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor on the PyTorch scripts of everyday/, as users write them: NAME.py has one mistake, whose
lines are marked `# <here>`, and NAME_ok.py is the same without it.

usage: torch_everyday.py --all GPH FOLDER [JOBS [NAME...]]    runs them on a GPU; their event logs stay in FOLDER
       torch_everyday.py --logs GPH TAR [NAME...]             event logs of such a run, NAME.log

A script is right if the first error or warning is of the rule that FOUND names and one of its frames is at a
marked line; one of a twin, or of what FOUND says is silent, must not be there. Exit status 1: some are not.
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

SCRIPTS = pathlib.Path(__file__).resolve().parent / "everyday"
# None: not found today.
FOUND = {
    "adam_lr_step": "replay.frozen-value",
    "adam_steps": "replay.frozen-value",
    "autocast_cache": "memory.freed-input",
    "backward_outside": "framework.exception",
    "batch_mean_all": "replay.frozen-size",
    "boolean_mask": "capture.synchronize",
    "captured_each_step": "perf.instantiate-per-launch",
    "compile_shapes": "perf.hardly-replayed",
    "diffusion_sampler_run": "replay.frozen-value",
    "ema_decay": "replay.frozen-value",
    "eval_mode": "replay.frozen-value",
    "grads_add_up": "replay.missing-work",
    "grads_to_none": "replay.missing-work",
    "graph_per_length": "cache.shape-explosion",
    "graphed_accumulated_sums": "memory.output-overwritten",
    "graphed_callable_shape": "framework.exception",
    "input_freed": "memory.stale-address",
    "input_rebound": "memory.stale-address",
    "item_in_capture": "capture.synchronize",
    "key_error": "framework.exception",
    "kv_position": "replay.frozen-value",
    "last_batch": None,  # all rows are read, as where the host leaves the others out
    "layer_drop": "replay.frozen-value",
    "loss_scale": "replay.frozen-value",
    "lr_schedule": "replay.frozen-value",
    "mask_on_host": "replay.frozen-value",
    "mc_dropout_net": "replay.frozen-value",
    "outputs_kept": "memory.output-overwritten",
    "own_generator": "framework.exception",
    "page_table": "memory.stale-address",
    "pageable_input": "framework.exception",
    "ping_pong": "replay.turning-pointer",
    "pinned_loader": "memory.staging-overwritten",
    "prefetch_races": "memory.input-race",
    "read_before_sync": None,  # the host's own reads are not seen
    "shared_pool": "memory.output-overwritten",
    "side_reader": "memory.read-before-done",
    "slice_length": "replay.frozen-value",
    "stale_result": "replay.unread-result",
    "thread_allocates": "capture.unsafe-call-other-thread",
    "token_read_early": None,  # but with --check
    "unjoined_stream": "capture.unjoined-fork",
    "weights_assigned": "memory.stale-address",
    "zero_grad_outside": "replay.missing-work",
}
# A log NAME.check.log was written with --check.
CHECKED = {"read_before_sync": "memory.host-read-before-done", "token_read_early": "memory.host-read-before-done"}
SECONDS = 130


def judge(name, findings):
    """What is wrong with them, or None."""
    name, _, option = name.partition(".")
    wanted = CHECKED if option == "check" else FOUND
    grave = [f for f in findings if f["severity"] != "info"]
    first = grave[0] if grave else None
    rule = None if name.endswith("_ok") else wanted.get(name)
    if rule is None or first is None:
        return None if (first["id"] if first else None) == rule else f"{first['id'] if first else 'silent'}, not {rule or 'silent'}"
    script = SCRIPTS / (name + ".py")
    marked = [number for number, line in enumerate(script.read_text().splitlines(), 1) if "# <here>" in line]
    frames = [first["at"], *first["python"], *first["stack"]]
    lines = [f["line"] for f in frames if f and os.path.basename(f["file"] or "") == script.name]
    if first["id"] != rule:
        return f"{first['id']}, not {rule}"
    return None if set(lines) & set(marked) else f"{rule} at lines {lines}, not at one of {marked}"


def findings_of(command, out):
    done = subprocess.run([*command, "--json", out], capture_output=True, timeout=SECONDS, check=False)
    try:
        return json.loads(pathlib.Path(out).read_text())["findings"], done
    except (OSError, ValueError):
        return None, done


def examine(gph, log, name):
    with tempfile.TemporaryDirectory() as folder:
        found, done = findings_of([gph, "doctor", "--events", log], os.path.join(folder, "found.json"))
    return done.stderr.decode(errors="replace") if found is None else judge(name, found)


def run(gph, folder, name):
    base, began = os.path.join(folder, name), time.monotonic()
    command = [gph, "doctor", "--driver", "cuda", "--save-events", base + ".log", "--json", base + ".json", "--",
               "timeout", "-s", "KILL", str(SECONDS - 20), sys.executable, "-B", str(SCRIPTS / (name + ".py"))]
    with open(base + ".txt", "wb") as text:
        subprocess.run(command, stdout=text, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    try:
        found = json.loads(pathlib.Path(base + ".json").read_text())["findings"]
    except (OSError, ValueError) as error:
        return f"no findings: {error}"
    words = " ".join(f["id"] for f in found if f["severity"] != "info") or "silent"
    print(f"{name:24} {words} ({time.monotonic() - began:.0f} s)", flush=True)
    return judge(name, found)


def main(what, gph, place, *rest):
    known = sorted(path.stem for path in SCRIPTS.glob("*.py"))
    jobs, names = (int(rest[0]) if rest else 4, rest[1:]) if what == "--all" else (2, rest)
    with tempfile.TemporaryDirectory() as folder:
        if what == "--logs":
            with tarfile.open(place) as tar:
                tar.extractall(folder)
            names = names or sorted(path.stem for path in pathlib.Path(folder).glob("*.log"))
        else:
            os.makedirs(place, exist_ok=True)
        names = names or known
        with ThreadPoolExecutor(jobs) as pool:
            faults = list(pool.map(lambda name: run(gph, place, name) if what == "--all" else
                                   examine(gph, os.path.join(folder, name + ".log"), name), names))
    for name, fault in zip(names, faults):
        if fault:
            print("FAILED", name, fault)
    print(f"{faults.count(None)} of {len(names)} as expected")
    return 1 if any(faults) or not names else 0


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("--all", "--logs"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
