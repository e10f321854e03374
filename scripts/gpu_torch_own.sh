#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_torch_own.sh FOLDER [PYTHON [OUTPUT_FOLDER [SECONDS]]]: runs PyTorch's own graph tests with and without
# graphophone.torch.patch(), and prints what differs. FOLDER has test files of the version that PYTHON's PyTorch is of
# (those with "graph" in their names whole; of test_cuda.py and others the tests whose names have "graph"); they are
# PyTorch's and are not kept here. SECONDS: of all runs (default 600); what has no result by then is not run.
# PYTHONPATH has graphophone, as scripts/gpu_torch.sh builds it. A test that ends its process does not end the others.
#   ONLY=WORD   in the tests' names of files that are not run whole (default: graph)
#   PARTS=N     processes for each file and way, side by side (default 1)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    sed -n '3,10s/^# //p' "$0" >&2
    exit 2
fi
folder=$(cd "$1" && pwd)
python=${2:-python3} out=${3:-$root/build-torch/own} limit=${4:-600} only=${ONLY:-graph} parts=${PARTS:-1}
mkdir -p "$out"
out=$(cd "$out" && pwd)
python=$(command -v "$python") || exit 2
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") # its links stay: a virtual environment is one
: "${PYTHONPATH:=$root/build-torch/python}"
export PYTHONPATH GPH_DRIVER=${GPH_DRIVER:-cuda} PYTHONDONTWRITEBYTECODE=1
# kernels are compiled once for all tests; graphs are compiled by each test, which may count that
export INDUCTOR_TEST_DISABLE_FRESH_CACHE=1 TORCHINDUCTOR_FX_GRAPH_CACHE_DEFAULT=0 TORCHINDUCTOR_CACHE_DIR=${TORCHINDUCTOR_CACHE_DIR:-$out/inductor}

run_part() { # FILE WAY PART: as often as a test ends the process
    local name way=$2 part=$3 word=$only status=1 tries=0
    name=$(basename "$1" .py)
    case $name in *graph*) word= ;; esac
    local log=$out/$name.$part.$way.log
    : >"$log"
    rm -f "$out/$name.$part.$way.json"
    while [ $status != 0 ] && [ $tries -lt 12 ] && [ $SECONDS -lt "$limit" ]; do
        (cd "$folder" && timeout -k 5 $((limit - SECONDS)) "$python" -X faulthandler "$root/scripts/torch_own.py" run "$way" "$1" \
            "$out/$name.$part.$way.json" "$word" "$part/$parts") >>"$log" 2>&1
        status=$?
        tries=$((tries + 1))
    done
    [ $status = 0 ] || echo "$name $part $way: exit $status; the end of $log says more" >&2
}

files=("$folder"/test_*.py)
if [ ! -f "${files[0]}" ]; then
    echo "gpu_torch_own.sh: $folder has no test_*.py" >&2
    exit 2
fi
SECONDS=0
for file in "${files[@]}"; do
    for ((part = 0; part < parts; part++)); do
        if [ "$parts" -gt 1 ]; then
            run_part "$file" plain $part &
            run_part "$file" patched $part &
        else
            run_part "$file" plain 0
            run_part "$file" patched 0
        fi
    done
done
wait
"$python" "$root/scripts/torch_own.py" table "$out" "${files[@]}"
