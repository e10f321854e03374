#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds release and runs every benchmark of softcuda, one after another, for a machine with
# no other load: scripts/bench.sh [OUTPUT]. About five minutes on 4 CPUs. OUTPUT (default
# build/bench.txt) gets what is printed, with machine and date.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-build/bench.txt}
scripts/build.sh release || exit 1
export GPH_DRIVER=soft
failed=0

# A heading with the command as it can be typed, then what it prints.
bench() {
    local from=$SECONDS
    printf '\n## %s\n' "$*"
    "$@" 2>&1 || { echo "FAILED with status $?"; failed=1; }
    printf '(%s s)\n' $((SECONDS - from))
}

# A benchmark that this machine's build has left out is named, not passed over.
program() {
    if [ -x "$1" ]; then
        bench "$@"
    else
        printf '\n## %s\nleft out: it was not built (build/release.log says why)\n' "$*"
        failed=1
    fi
}

run_all() {
    local bin=build/release/bench
    date -u '+%Y-%m-%d %H:%M UTC'
    git log -1 --format='commit %h' 2>/dev/null
    sed -n 's/^model name[^:]*: /CPU: /p' /proc/cpuinfo | head -1
    echo "CPUs: $(nproc); load before: $(cut -d' ' -f1-3 /proc/loadavg)"
    program $bin/bench_step
    program $bin/bench_compile
    program $bin/bench_kernels
    program $bin/bench_patterns
    program $bin/bench_kernels_more
    program $bin/bench_replay
    program $bin/bench_replay --driver
    program $bin/bench_replay --team
    program $bin/bench_shapes
    program $bin/bench_device
    program $bin/bench_graph
    program $bin/bench_memory --limit 1.1 bench/traces/resnet50/resnet50.csv
    program $bin/bench_memory
    program $bin/bench_cache
    program $bin/bench_memory --unit 1024 bench/traces/minimalloc/*.csv
    for nodes in 1 20 100 1000; do
        program build/release/bin/gph bench launch --nodes $nodes --launches 1000
    done
    return $failed
}

run_all | tee "$out"
exit "${PIPESTATUS[0]}"
