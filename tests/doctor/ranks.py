#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gph doctor over programs of several ranks, started as launchers start them.

usage: ranks.py GPH PROGRAM NCCL PROGRAM_OF_LIBGPH SCHEMA DRIVER

A healthy job is silent under each launcher's variables and says how many collectives each rank
called; a rank that never joins, one with another type, and a job that is stopped from outside.
libgph's communicators are seen alike.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import chinese  # noqa: E402
from schema import complaints  # noqa: E402

gph, own_program, nccl, gph_program, schema, driver = sys.argv[1:7]
LAUNCHERS = {
    "gph": "GPH_RANK={rank} GPH_RANKS={ranks}",
    "torchrun": "RANK={rank} WORLD_SIZE={ranks} LOCAL_RANK={rank}",
    "mpirun": "OMPI_COMM_WORLD_RANK={rank} OMPI_COMM_WORLD_SIZE={ranks}",
    "pmi": "PMI_RANK={rank} PMI_SIZE={ranks}",
    "srun": "SLURM_PROCID={rank} SLURM_NTASKS={ranks}",
    # torchrun in a job's step: its own variables count
    "nested": "SLURM_PROCID=0 SLURM_NTASKS=1 RANK={rank} WORLD_SIZE={ranks}",
}
failures = []


def check(holds, what, shown=""):
    if not holds:
        failures.append(f"{what}: {shown}"[:3000])


def script(launcher, way, ranks, stop, program):
    """A launcher as a shell script; `stop`: ends all ranks after so many seconds, by SIGTERM."""
    lines = [f"{LAUNCHERS[launcher].format(rank=rank, ranks=ranks)} '{program}' {way} & p{rank}=$!" for rank in range(ranks)]
    pids = " ".join(f"$p{rank}" for rank in range(ranks))
    if stop:
        lines.append(f"sleep {stop}; kill -TERM {pids}; wait; exit 0")
    else:
        lines += ["code=0", *(f"wait $p{rank} || code=$?" for rank in range(ranks)), "exit $code"]
    return "\n".join(lines)


def examine(launcher, way, ranks=2, stop=None, options=(), program=own_program):
    with tempfile.TemporaryDirectory() as folder:
        out, log, page = (os.path.join(folder, name) for name in ("f.json", "events.log", "page.html"))
        env = dict(os.environ, TEST_NCCL=nccl, TEST_JOB=f"gph-nccl-test-{os.getpid()}-{launcher}-{way}")
        done = subprocess.run([gph, "doctor", *options, "--driver", driver, "--json", out, "--save-events", log, "--report", page,
                               "--", "sh", "-c", script(launcher, way, ranks, stop, program)],
                              capture_output=True, text=True, timeout=100, errors="replace", env=env)
        if not os.path.exists(out):
            sys.exit(f"{launcher} {way}: no findings were written: {done.stderr}")
        found = json.loads(pathlib.Path(out).read_text())
        if found["exit"] == 77:
            sys.exit(77)
        for complaint in complaints(found, json.loads(pathlib.Path(schema).read_text())):
            failures.append(f"{launcher} {way}: JSON: {complaint}")
        failures.extend(f"{launcher} {way}: {complaint}" for complaint in chinese.complaints(gph, log, found["findings"]))
        again = subprocess.run([gph, "doctor", "--events", log, "--quiet", "--json", "-"], capture_output=True, text=True,
                               timeout=100, errors="replace")
        saved = json.loads(again.stdout)
        check(saved["ranks"] == found["ranks"], f"{launcher} {way}: the saved log says other ranks", saved["ranks"])
        return done, found, pathlib.Path(page).read_text(errors="replace")


def loud(found):
    return [f for f in found["findings"] if f["severity"] != "info"]


def members(found, collectives):
    """The members of the communicator whose ranks called so many."""
    return [c["members"] for c in found["ranks"]["communicators"]
            if [m["collectives"] for m in c["members"]] == collectives]


for name in LAUNCHERS:
    done, found, page = examine(name, "healthy")
    check(not loud(found) and done.returncode == 0, f"{name}: a healthy job is not silent", done.stderr)
    check("ranks of the job" not in done.stderr, f"{name}: the ranks are listed where nothing is wrong", done.stderr)
    check(found["ranks"]["count"] == 2, f"{name}: ranks", found["ranks"])
    check(sorted(p["rank"] for p in found["ranks"]["processes"]) == [0, 1], f"{name}: processes", found["ranks"])
    check(len(members(found, [4, 4])) == 1 and len(members(found, [2, 2])) == 1, f"{name}: communicators", found["ranks"])

done, found, page = examine("gph", "other_type", ranks=3)
reported = loud(found)
check([f["id"] for f in reported] == ["nccl.rank-divergence"], "another type", done.stderr)
for f in reported:
    check(f["at"].get("rank") == 2 and f["at"]["function"] == "other_type", "another type: place", f["at"])
    check("ncclAllReduce of 64 f16" in f["cause"] and "ncclAllReduce of 64 f32" in f["cause"] and "another type" in f["cause"],
          "another type: cause", f["cause"])
check("  rank 2 (process " in done.stderr and "ranks of the job: 3" in done.stderr, "another type: text", done.stderr)
check('"rank":2' in page, "another type: the page does not say which rank")

done, found, page = examine("torchrun", "absent", options=("--watch", "1"))
reported = loud(found)
check([f["id"] for f in reported] == ["nccl.rank-missing"], "a rank that does not join", done.stderr)
for f in reported:
    check("ncclCommInitRank of 2 ranks did not return" in f["cause"] and "rank 1 (process " in f["cause"]
          and "cuStreamSynchronize" in f["cause"], "a rank that does not join: cause", f["cause"])
    check(f["at"]["function"] == "join", "a rank that does not join: place", f["at"])

done, found, page = examine("gph", "stopped", stop=1.5)
check(not loud(found), "a job that was stopped is not silent", done.stderr)

done, found, page = examine("torchrun", "healthy", program=gph_program)
check(not loud(found) and done.returncode == 0, "libgph: a healthy job is not silent", done.stderr)
check(len(members(found, [3, 3])) == 1 and found["ranks"]["communicators"][0]["name"] == "sums", "libgph: communicators", found["ranks"])
done, found, page = examine("torchrun", "differs", program=gph_program)
reported = loud(found)
check([f["id"] for f in reported] == ["nccl.rank-divergence"] and done.returncode == 1, "libgph: another count", done.stderr)
for f in reported:
    check(f["at"].get("rank") == 1 and "gph_comm_all_reduce_at of 32 f32" in f["cause"] and f["at"]["function"] == "sum",
          "libgph: another count: cause", f["cause"])

for failure in failures:
    print("FAILED", failure)
sys.exit(1 if failures else 0)
