#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks on a machine with two GPUs or more: builds libgph without softcuda, runs the tests of
# ranks, measures and runs the example. Under six minutes. NCCL is taken from GPH_NCCL_PATH,
# the linker's path or a wheel of Python (nvidia-nccl-cu12 or -cu13).
# usage: scripts/gpu_ranks.sh [OUTPUT_FOLDER]; the log goes there (default build-gpu/).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build-gpu}
mkdir -p "$out"
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
cmake -S . -B build-gpu -G "$generator" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DGPH_SOFTCUDA=OFF >"$out/configure.log"
targets=$(cmake --build build-gpu --target help |
    sed -nE 's/^(\.\.\. )?(ranks|ranks_[a-z_]*test|bench_ranks|devices_test)(:.*)?$/\2/p' | sort -u)
# shellcheck disable=SC2086
cmake --build build-gpu -j "$(nproc)" --target $targets \
    >"$out/build.log" 2>&1 || {
    tail -30 "$out/build.log"
    exit 1
}
if [ -z "${GPH_NCCL_PATH:-}" ] && ! ldconfig -p 2>/dev/null | grep -q libnccl.so.2; then
    found=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0] + "/lib/libnccl.so.2")' \
        2>/dev/null || true)
    [ -r "$found" ] && export GPH_NCCL_PATH=$found
fi
# run SECONDS COMMAND...
run() {
    local limit=$1
    shift
    echo "== $*"
    timeout -k 5 "$limit" "$@" || echo "   exit $?"
}
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    nvidia-smi topo -m 2>/dev/null | head -4 || true
    echo "NCCL: ${GPH_NCCL_PATH:-by the linker}"
    export GPH_DRIVER=cuda
    for test in build-gpu/tests/unit/ranks_*test; do
        all=
        [ "${test##*/}" = ranks_comm_test ] && all=--all
        [ "${test##*/}" = ranks_mpi_test ] && continue # below
        [ -x "$test" ] && run 60 "$test" $all
    done
    if [ -x build-gpu/tests/unit/ranks_mpi_test ] && command -v mpirun >/dev/null; then
        run 60 mpirun --allow-run-as-root -n 2 build-gpu/tests/unit/ranks_mpi_test
    fi
    run 90 build-gpu/bench/bench_ranks 2
    count=$(nvidia-smi -L 2>/dev/null | wc -l || true)
    [ "$count" -ge 4 ] && run 60 build-gpu/bench/bench_ranks 4 --rounds 9 --replays 2000
    for width in 512 2048; do
        RANKS_PROGRAM=build-gpu/examples/ranks run 60 examples/ranks/run.sh 2 --check --repeat 9 \
            --tokens 65 --ahead 16 --layers 8 --width $width
    done
    run 60 build-gpu/tests/unit/devices_test
    echo "== end"
} 2>&1 | tee "$out/ranks_gpu.log"
