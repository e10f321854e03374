#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clients.sh FOLDER GPH SOFTCUDA: a graph of each Python client whose wheel PyPI has, captured and replayed under `gph run`.
# The doctor has nothing to say of them, and of one in which a wait was put into the capture, that.
# The packages are pinned and stay in a virtual environment in FOLDER. Without a network it skips. PyCUDA has no wheel, and
# its compilation takes minutes: docs/programs.md says what it was run with.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 gph=$2 soft=$3
packages="cuda-core==1.2.2 cuda-bindings==13.0.3 nvidia-cuda-nvrtc==13.0.88 nvidia-nvjitlink==13.0.88
    nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96
    numba==0.68.1 numba-cuda==0.30.4 tinygrad==0.14.0"
python=$folder/venv/bin/python
mkdir -p "$folder/cache" || exit 1
if ! python3 -m venv --without-pip "$folder/venv" >"$folder/venv.log" 2>&1; then
    echo "python3 has no venv: $(tail -1 "$folder/venv.log")"
    exit 77
fi
# shellcheck disable=SC2086
if [ ! -f "$folder/done" ] &&
    ! timeout 240 python3 -m pip --python "$python" install -q --only-binary :all: $packages >"$folder/pip.log" 2>&1; then
    echo "the clients could not be had from PyPI: $(grep -v '^WARNING' "$folder/pip.log" | tail -1)"
    exit 77
fi
touch "$folder/done"
export XDG_CACHE_HOME="$folder/cache" SOFTCUDA_CACHE="$folder/kernels" SOFTCUDA_MEMORY=512M GPH_SOFTCUDA_PATH=$soft
status=0
# examine NAME PROGRAM EXPECTED: the errors and warnings of `gph doctor`, by their names
examine() {
    timeout 90 "$gph" doctor --driver soft -- "$python" -B "$2" >"$folder/$1.doctor" 2>&1
    found=$(grep -E '^(error|warning) |could not be observed' "$folder/$1.doctor" | sed 's/:.*//')
    if [ "$found" != "$3" ] || ! grep -q ' events$' "$folder/$1.doctor"; then
        echo "FAILED $1: the doctor says '$found', expected '$3'"
        tail -15 "$folder/$1.doctor"
        status=1
    fi
}
for name in core numba tinygrad; do
    export DEV=
    [ $name = tinygrad ] && DEV=CUDA
    if timeout 90 "$gph" run --driver soft -- "$python" -B "$here/clients/${name}_graph.py" \
        >"$folder/$name.out" 2>"$folder/$name.err"; then
        cat "$folder/$name.out"
    else
        echo "FAILED $name: status $?"
        tail -15 "$folder/$name.out" "$folder/$name.err"
        status=1
    fi
    examine $name "$here/clients/${name}_graph.py" ""
done
DEV=
sed 's/^graph = done/stream.synchronize()\n&/' "$here/clients/numba_graph.py" >"$folder/mutated.py"
examine mutated "$folder/mutated.py" "error capture.synchronize"
exit $status
