#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libgph and the examples (no LLVM needed) and runs them on this machine's GPU.
# usage: scripts/gpu_decode.sh [OUTPUT_FOLDER]; logs go there (default build-gpu/).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${1:-build-gpu}
mkdir -p "$out"
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
cmake -S . -B build-gpu -G "$generator" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPH_SOFTCUDA=OFF >"$out/configure.log" 2>&1 &&
    cmake --build build-gpu -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -30 "$out"/*.log; exit 1; }
examples=build-gpu/examples
decode=$examples/decode/decode
export GPH_DRIVER=cuda
bad=0
try() {
    echo "== $*"
    "$@" || { echo "FAILED: $*"; bad=1; }
}
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    for name in hello fork embed update; do
        echo "== $name"
        $examples/$name | diff - examples/$name/expected.txt || { echo "FAILED: $name"; bad=1; }
    done
    try build-gpu/kernels/kernels_test
    try $examples/decode/decode_device_test
    try $examples/decode/decode_shapes_test
    try $decode --repeat 9 --expect 990
    try $decode --repeat 9 --expect 990 --batch 8
    try $decode --repeat 9 --expect 990 --mode all
    for way in while tail host; do try $decode --repeat 5 --expect 990 --mode loop --way $way; done
    for queue in 1 4; do try $decode --repeat 9 --expect 990 --batch 1 --queue $queue; done
    try $decode --tokens 9,9,9,9,10,1,11 --top-p 0.95 --seed 7
    echo "bad: $bad"
} 2>&1 | tee "$out/decode_gpu.log"
grep -q '^bad: 0' "$out/decode_gpu.log"
