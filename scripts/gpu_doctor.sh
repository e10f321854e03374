#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gph doctor on this machine's GPU: runtime programs (static, shared, per-thread streams),
# PyTorch where it is, what the tiers cost, the broken examples, the advice.
# usage: scripts/gpu_doctor.sh [OUTPUT_FOLDER [PART...]]; parts: runtime torch torchset everyday frameworks explain
# cost broken advice cupti unit (default all). The log goes to OUTPUT_FOLDER (default build-gpu/).
set -uo pipefail
cd "$(dirname "$0")/.."
out=${1:-build-gpu}
shift || true
parts=${*:-runtime torch torchset everyday frameworks explain cost broken advice cupti unit}
mkdir -p "$out"
cmake -S . -B build-gpu -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPH_SOFTCUDA=OFF \
    >"$out/configure.log" 2>&1
cmake --build build-gpu -j "$(nproc)" >"$out/build.log" 2>&1 || {
    tail -30 "$out/build.log"
    exit 1
}
gph=$PWD/build-gpu/bin/gph
export GPH_DRIVER=cuda
probes=build-gpu/probes
mkdir -p $probes
python=python3
[ -x /opt/torch/bin/python3 ] && python=/opt/torch/bin/python3

doctor() {
    echo "== gph doctor $*"
    timeout 100 "$gph" doctor "$@" 2>&1 | cut -c1-400 | head -70
    echo "   exit ${PIPESTATUS[0]}"
}
plain() {
    echo "== $*"
    timeout 100 "$@" 2>&1 | tail -25
}

part_runtime() {
    nvcc -O2 -lineinfo -g -arch=sm_90 -o $probes/static tests/gpu/runtime.cu
    nvcc -O2 -lineinfo -g -arch=sm_90 -cudart shared -o $probes/shared tests/gpu/runtime.cu
    nvcc -O2 -lineinfo -g -arch=sm_90 --default-stream per-thread -o $probes/per_thread \
        tests/gpu/runtime.cu
    for mode in healthy alloc thread fork legacy update stale killed; do
        doctor -- $probes/static $mode
    done
    for mode in healthy alloc thread fork; do
        doctor -- $probes/shared $mode
    done
    for mode in healthy alloc fork; do
        doctor -- $probes/per_thread $mode
    done
    doctor --tier 0 -- $probes/static alloc
}

part_torch() {
    "$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch"; return; }
    for mode in healthy item thread stale frozen nccl compile; do
        doctor --save-events "$out/torch_$mode.gphe" -- "$python" tests/gpu/torch_capture.py $mode
    done
}

# What users of PyTorch do and complain of, each as it is expected (tests/gpu/torch_doctor.py);
# TORCHSET and EXPLAIN name a few of them.
part_torchset() {
    "$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch"; return; }
    "$python" tests/gpu/torch_doctor.py --all "$gph" "$out/torchset" 6 ${TORCHSET:-}
}

# PyTorch scripts as users write them, and their twins; EVERYDAY names a few of them.
part_everyday() {
    "$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch"; return; }
    "$python" tests/gpu/torch_everyday.py --all "$gph" "$out/everyday" 6 ${EVERYDAY:-}
}

# Healthy programs of JAX, CuPy, PyTorch and cuda.core.
part_frameworks() {
    "$python" tests/gpu/frameworks.py --all "$gph" "$out/frameworks" ${FRAMEWORKS:-}
}

# What gph explain knows, provoked; the lines are tests/explain/h100.log.
part_explain() {
    "$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch"; return; }
    "$python" tests/gpu/explain_torch.py --all "$gph" "$out/explain.log" 6 ${EXPLAIN:-}
}

part_cost() {
    for round in 1 2 3; do
        plain $probes/static replay
        doctor -- $probes/static replay
        doctor --tier 0 -- $probes/static replay
    done
    plain "$python" tests/gpu/torch_capture.py replay
    doctor -- "$python" tests/gpu/torch_capture.py replay
    [ -x build-gpu/bench/bench_attach ] && plain build-gpu/bench/bench_attach
}

part_broken() {
    ctest --test-dir build-gpu -R '^(broken|doctor)_' -j 1 --timeout 60 >"$out/broken.log" 2>&1
    grep -E 'Failed|tests passed|Timeout' "$out/broken.log"
}

part_advice() {
    [ -x build-gpu/bench/bench_advice ] && plain build-gpu/bench/bench_advice
    doctor --advise -- $probes/static launches
}

part_cupti() {
    doctor --nodes -- $probes/static fork
    doctor --kernels -- $probes/static healthy
    doctor --kernels --report "$out/report.html" -- $probes/static healthy
}

part_unit() {
    ctest --test-dir build-gpu -R '^(event|attach|symbol|explain|doctor)' -j 4 --timeout 60 2>&1 |
        tail -25
}

{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for part in $parts; do
        echo "#### $part ($(date +%T))"
        "part_$part"
    done
} 2>&1 | tee "$out/doctor_gpu.log"
