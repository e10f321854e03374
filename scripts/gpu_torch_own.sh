#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu_torch_own.sh FOLDER [PYTHON [OUTPUT_FOLDER [SECONDS]]]: runs PyTorch's own graph tests with and without
# graphophone.torch.patch(), and prints what differs. FOLDER has test files of the version that PYTHON's PyTorch is of
# (test_cudagraph_trees.py whole; of test_cuda.py and others the tests whose names have "graph"); they are PyTorch's and are
# not kept here. SECONDS: of each run of a file (default 600). PYTHONPATH has graphophone, as scripts/gpu_torch.sh builds it.
#   ONLY=WORD  in the tests' names of files that are not run whole (default: graph)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    sed -n '3,7s/^# //p' "$0" >&2
    exit 2
fi
folder=$(cd "$1" && pwd)
python=${2:-python3} out=${3:-$root/build-torch/own} limit=${4:-600} only=${ONLY:-graph}
mkdir -p "$out"
out=$(cd "$out" && pwd)
python=$(command -v "$python") || exit 2
python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") # its links stay: a virtual environment is one
: "${PYTHONPATH:=$root/build-torch/python}"
export PYTHONPATH GPH_DRIVER=${GPH_DRIVER:-cuda} PYTHONDONTWRITEBYTECODE=1
found=0
for file in "$folder"/test_*.py; do
    [ -f "$file" ] || continue
    found=1
    name=$(basename "$file" .py)
    case $name in *graph*) word= ;; *) word=$only ;; esac
    for way in plain patched; do
        (cd "$folder" && timeout -k 5 "$limit" "$python" -X faulthandler "$root/scripts/torch_own.py" run "$way" "$file" "$out/$name.$way.json" \
            "$word" >"$out/$name.$way.log" 2>&1) || echo "$name $way: exit $?; the end of $out/$name.$way.log says more" >&2
    done
done
if [ $found = 0 ]; then
    echo "gpu_torch_own.sh: $folder has no test_*.py" >&2
    exit 2
fi
"$python" "$root/scripts/torch_own.py" table "$out"
