#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch_pypi.sh FOLDER PYTHON GPH KERNELS IMAGES: what needs PyTorch 2.11, NumPy and others that launch kernels, with those of
# PyPI, pinned, in a virtual environment in FOLDER: graphophone.torch on softcuda, graphs in files, DLPack, the tutorial, the
# examples of cuda.core, NVRTC and numba-cuda. Without a network it skips.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 python=$1/venv/bin/python gph=$3
mkdir -p "$folder" || exit 1
if ! "$2" -m venv --without-pip "$folder/venv" >"$folder/venv.log" 2>&1; then
    echo "$2 has no venv: $(tail -1 "$folder/venv.log")"
    exit 77
fi
if [ ! -f "$folder/done" ] &&
    ! timeout 420 python3 -m pip --python "$python" install -q --no-cache-dir --only-binary :all: \
        torch==2.11.0 numpy==2.4.6 cuda-bindings==13.0.3 cuda-core==1.2.2 numba==0.68.1 numba-cuda==0.30.4 >"$folder/pip.log" 2>&1; then
    echo "PyTorch could not be had from PyPI: $(grep -v '^WARNING' "$folder/pip.log" | tail -1)"
    exit 77
fi
touch "$folder/done"
status=0
run() { # test, arguments ...
    local name=$1
    shift
    if timeout 240 "$python" -B "$here/$name.py" "$@" >"$folder/$name.log" 2>&1; then
        echo "$name: $(tail -3 "$folder/$name.log" | tr -s "\n" " ")"
    else
        echo "FAILED $name: status $?"
        tail -30 "$folder/$name.log"
        status=1
    fi
}
run test_torch "$gph" "$4"
run test_torch_saved "$gph" "$4" "$5"
run test_exchange
run test_tutorial "$gph"
run test_examples "$gph"
exit $status
