#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libgph and the command (no LLVM needed), tests them on this machine's GPU, runs
# the examples and measures. usage: scripts/gpu_libgph.sh [OUTPUT_FOLDER]; the log goes there
# (default build-gpu/).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build-gpu}
mkdir -p "$out"
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
cmake -S . -B build-gpu -G "$generator" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DGPH_SOFTCUDA=OFF >"$out/configure.log"
cmake --build build-gpu -j "$(nproc)" >"$out/build.log" 2>&1 || {
    tail -30 "$out/build.log"
    exit 1
}
run() {
    echo "== $*"
    "$@" || echo "   exit $?"
}
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    export GPH_DRIVER=cuda
    run build-gpu/bin/gph env
    for folder in memory device replay flow update slot loop dispatch callable cache tree recipe; do
        for test in build-gpu/tests/unit/${folder}_test build-gpu/tests/unit/${folder}_*_test; do
            [ -x "$test" ] && run timeout 120 "$test"
        done
    done
    for example in engine loop dispatch patterns train tree; do
        [ -x build-gpu/examples/$example ] || continue
        echo "== examples/$example"
        build-gpu/examples/$example | diff - examples/$example/expected.txt ||
            echo "   differs from softcuda's"
    done
    run ctest --test-dir build-gpu -R '^(base|cuda|graph|file|replay|abi|cli)_' -j 1
    for nodes in 1 20 100 1000; do
        run build-gpu/bin/gph bench launch --nodes $nodes --launches 10000
    done
    for bench in pool callable cache tree update slot loop dispatch load memory; do
        [ -x build-gpu/bench/bench_$bench ] && run timeout 120 build-gpu/bench/bench_$bench
    done
    run build-gpu/bin/gph run --summary -- build-gpu/tests/cli/cli_program 1
} 2>&1 | tee "$out/libgph_gpu.log"
