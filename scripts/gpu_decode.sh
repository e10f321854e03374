#!/usr/bin/env bash
# Builds libgph and the examples (no LLVM needed) and runs them on this machine's GPU.
# usage: scripts/gpu_decode.sh [OUTPUT_FOLDER]; logs go there (default build-gpu/).
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build-gpu}
mkdir -p "$out"
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
cmake -S . -B build-gpu -G "$generator" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPH_SOFTCUDA=OFF >"$out/configure.log"
cmake --build build-gpu -j "$(nproc)" >"$out/build.log" 2>&1 || { tail -30 "$out/build.log"; exit 1; }
run() { echo "== $*"; "$@"; }
{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
  export GPH_DRIVER=cuda
  for example in hello fork embed; do
    run build-gpu/examples/$example | diff - examples/$example/expected.txt && echo "$example: as expected"
  done
  run build-gpu/examples/decode/decode_device_test || true
  decode=build-gpu/examples/decode/decode
  for batch in 1 8 32; do
    for i in 1 2 3; do run $decode --batch $batch --expect 990; done
  done
  run $decode --batch 1 --queue 4 --expect 990
  run $decode --tokens 9,9,9,9,10,1,11 --top-p 0.95 --seed 7
} 2>&1 | tee "$out/decode_gpu.log"
