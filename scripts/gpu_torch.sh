#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python extension for a Python that has PyTorch 2.11, and tests graphophone.torch on this machine's
# GPU. usage: scripts/gpu_torch.sh [PYTHON [OUTPUT_FOLDER [tests|bench|ranks]]]; the logs go there (default build-torch/):
# torch_gpu.log has all output, tests.txt a line for each test, which is the form that docs/gpu keeps.
# ranks: what runs on two GPUs, and is not in the default.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
out=${2:-build-torch}
what=${3:-tests bench}
mkdir -p "$out"
tests=(graphs "beyond Causes Buckets Surroundings" "beyond PyTorchs" trees complaints loops
    "saved Forward" "saved Backward" "saved Training" "saved Residual" "saved Others")
generator=$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")
include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
{
    cmake -S . -B build-torch -G "$generator" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGPH_SOFTCUDA=OFF -DBUILD_TESTING=OFF \
        -DGPH_PYTHON=ON -DPython3_EXECUTABLE="$(command -v "$python")" -DPython3_INCLUDE_DIR="$include" &&
        cmake --build build-torch -j "$(nproc)" --target gph_python
} >"$out/build.log" 2>&1 || {
    tail -30 "$out/build.log"
    exit 1
}
export PYTHONPATH=$PWD/build-torch/python GPH_DRIVER=cuda TORCHINDUCTOR_CACHE_DIR=$PWD/build-torch/inductor
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    case $what in *tests*)
        lines=$out/tests.txt
        "$python" scripts/gpu_torch_log.py head "$lines"
        # side by side: most of it is the import and the compiler
        for test in "${tests[@]}"; do
            # shellcheck disable=SC2086
            set -- $test
            name=torch_$1 log=$out/${test// /_}.txt
            shift
            timeout -k 2 120 "$python" -B scripts/gpu_torch_log.py run "$lines" "tests/gpu/$name.py" "$@" >"$log" 2>&1 ||
                echo "exit $?" >>"$log" &
        done
        # fills Inductor's cache, so that the measurement does not compile
        timeout -k 2 66 "$python" -B bench/torch_compile.py 3 >"$out/fill.txt" 2>&1 &
        mkdir -p "$out/examples"
        for example in examples/torch/*.py; do
            for way in plain ours; do
                name=$out/examples/$(basename "$example" .py).$way
                timeout -k 2 66 "$python" -B "$example" $way >"$name" 2>"$name.err" &
            done
        done
        wait
        for example in examples/torch/*.py; do
            name=$out/examples/$(basename "$example" .py)
            if [ -s "$name.ours" ] && diff "$name.plain" "$name.ours"; then
                said="the same $(wc -l <"$name.ours") lines by PyTorch and by graphophone"
            else
                said="FAILED: differs"
                tail -n 5 "$name".*.err || true
            fi
            echo "== $example: $said"
            echo "$example: $said" >>"$lines"
        done
        for test in "${tests[@]}"; do
            echo "== tests/gpu/torch_$test"
            cat "$out/${test// /_}.txt"
            exit=$(grep -E '^exit [0-9]+$' "$out/${test// /_}.txt" || true)
            [ -z "$exit" ] || echo "torch_$test: FAILED: $exit" >>"$lines"
        done
        { head -1 "$lines" && tail -n +2 "$lines" | sort; } >"$lines.sorted" && mv "$lines.sorted" "$lines"
        echo "== $lines: $(grep -c ' ok, ' "$lines" || true) ok, $(grep -c ' skipped: ' "$lines" || true) skipped, $(grep -c FAILED "$lines" || true) failed"
        ;;
    esac
    case $what in *bench*)
        timeout -k 2 90 "$python" -B bench/torch_replay.py || echo "   exit $?"
        timeout -k 2 36 "$python" -B bench/torch_compile.py || echo "   exit $?"
        ;;
    esac
    case $what in *ranks*)
        for line in "tests/gpu/torch_ranks.py" "examples/ranks/decode.py" "examples/ranks/decode.py --bench"; do
            echo "== $line"
            # shellcheck disable=SC2086
            timeout -k 2 120 "$python" -m torch.distributed.run --nproc-per-node 2 $line || echo "   exit $?"
        done
        ;;
    esac
} 2>&1 | tee "$out/torch_gpu.log"
