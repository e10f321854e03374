#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs behave the same with the attached library: exit status and standard output of each program are
those that it has without, in tier 0, in tier 1, and under gph doctor.

usage: same.py BUILD LIBRARY GPH|- SOFTCUDA_FOLDER FOLDER...

All programs that are found in the folders of the build are run without arguments. A program whose output
differs between two plain runs is compared by its exit status alone; one that takes longer than a few
seconds is left out, as is what begins when the time is over (SAME_SECONDS, 240). `-`: no gph doctor, as in
sanitized builds, where the library cannot come before the sanitizer's.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

build, library, gph, softcuda = sys.argv[1:5]
folders = sys.argv[5:]
LONGEST = 8.0
JOBS = 2
end = time.monotonic() + float(os.environ.get("SAME_SECONDS", "240"))
# Numbers that differ from run to run: addresses, times, process numbers.
VARIES = re.compile(rb"0x[0-9a-f]+|\d+(\.\d+)?(e[-+]?\d+)?")
# They run other programs attached, read what those leave, count allocations of the driver, which also
# allocates to answer us, or fail unless gph puts softcuda's runtime into them, as all do that nvcc built.
LEFT_OUT = re.compile(r"attach_test|attach_edges_test|attach_stack_test|events|fault_driver_\w+|runtime_replaced_\w+")


def programs():
    for folder in folders:
        for path in sorted(pathlib.Path(build, folder).rglob("*")):
            if (path.is_file() and "programs/built" not in str(path) and os.access(path, os.X_OK) and not path.suffix and not LEFT_OUT.fullmatch(path.name)
                    and path.read_bytes()[:4] == b"\x7fELF"):
                yield path


def run(words, variables, folder):
    """(exit status, standard output), or None: it takes too long."""
    environment = {**os.environ, "LD_LIBRARY_PATH": softcuda, "GPH_DRIVER": "soft",
                   "GPH_SOFTCUDA_PATH": softcuda + "/libcuda.so.1", "TMPDIR": folder, **variables}
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        environment[name] = environment.get(name, "") + ":symbolize=0"
    try:
        done = subprocess.run(words, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LONGEST * 4, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, VARIES.sub(b"#", done.stdout), done.stderr


def attached(path, tier):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as rings:
        return run([path], {"GPH_DOCTOR_DIR": rings, "GPH_DOCTOR_TIER": tier, "GPH_DOCTOR_RING": "65536",
                            "LD_PRELOAD": library, "CUDA_INJECTION64_PATH": library}, folder)


def examined(path):
    with tempfile.TemporaryDirectory() as folder:
        found = os.path.join(folder, "found.json")
        done = run([gph, "doctor", "--quiet", "--json", found, "--driver", "soft", "--", path], {}, folder)
        if done is None or not os.path.exists(found):
            return done
        code = re.search(r'"exit":\s*(-?\d+)', pathlib.Path(found).read_text(errors="replace"))
        return int(code[1]) if code else None, done[1], done[2]


def plain(path):
    with tempfile.TemporaryDirectory() as folder:
        return run([path], {}, folder)


def status_of(code):
    return 128 - code if code is not None and code < 0 else code


def compare(path):
    """None: as it should be; "": left out; else what is wrong."""
    if time.monotonic() > end:
        return ""
    begun = time.monotonic()
    first = plain(path)
    if first is None or time.monotonic() - begun > LONGEST:
        return ""
    second = plain(path)
    if second is None or first[0] != second[0]:
        return ""  # does not end in the same way by itself
    is_steady = first[1] == second[1]
    ways = {"tier 1": attached(path, "1"), "tier 0": attached(path, "0")}
    if gph != "-":
        ways["gph doctor"] = examined(path)
    wrong = []
    for way, done in ways.items():
        if done is not None and gph == "-" and b"symbol lookup error" in done[2]:
            return ""  # starts a shell, which is not sanitized and cannot load a library that is
        if done is None:
            wrong.append(f"{way}: does not end")
        elif status_of(done[0]) != status_of(first[0]):
            wrong.append(f"{way}: exit status {done[0]}, not {first[0]}: {done[2][-600:].decode(errors='replace')}")
        elif is_steady and done[1] != first[1]:
            wrong.append(f"{way}: other output:\n--- {first[1][-400:]!r}\n+++ {done[1][-400:]!r}")
    return "; ".join(wrong) or None


def main():
    paths = list(programs())
    same = left = 0
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for path, outcome in zip(paths, pool.map(compare, paths)):
            if outcome is None:
                same += 1
            elif outcome == "":
                left += 1
            else:
                again = compare(path)  # a loaded machine may have been at fault
                if again:
                    wrong.append(f"{path.relative_to(build)}: {again}")
                else:
                    same += 1
    print(f"{same} programs behave the same, {left} were left out, {len(wrong)} do not")
    print("\n".join(wrong))
    if same < min(20, len(paths)):
        sys.exit("too few programs were run")
    sys.exit(1 if wrong else 0)


main()
