#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pypi.sh FOLDER GPH SOFTCUDA: two of the programs in all their forms, with nvcc 13.0 from PyPI, where no toolkit is
# installed (CI). The packages are pinned, stay in FOLDER, and nothing of them is kept elsewhere. Without a network it skips.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 gph=$2 soft=$3
packages="nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85 nvidia-cuda-runtime==13.0.96"
tools=$folder/pypi/nvidia/cu13
mkdir -p "$folder" || exit 1
if [ ! -x "$tools/bin/nvcc" ]; then
    # shellcheck disable=SC2086
    if ! timeout 120 python3 -m pip install -q --no-deps --only-binary :all: --target "$folder/pypi" $packages >"$folder/pip.log" 2>&1; then
        echo "nvcc 13.0 could not be had from PyPI: $(grep -v '^WARNING' "$folder/pip.log" | tail -1)"
        exit 77
    fi
fi
# run.sh looks for the static runtime where a toolkit has it.
ln -sfn lib "$tools/lib64"
export PATH=$tools/bin:$PATH
status=0
for name in streams parts children; do
    bash "$here/run.sh" "$name" "$folder" "$gph" "$soft" || status=1
done
exit $status
