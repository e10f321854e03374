#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels with nvcc 13 and trims the PTX: no comments, no blank lines, no
# indentation. ptx/ is committed; run this after an edit. `ptxas`, where found, checks it.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p ptx
for source in *.cu; do
    name=${source%.cu}
    nvcc -ptx -O3 -arch=compute_80 "$source" -o "ptx/$name.ptx"
    sed -i -E 's|//.*$||; s|^[ \t]+||; s|[ \t]+| |g; s| +$||; s|, |,|g; /^$/d' "ptx/$name.ptx"
    if command -v ptxas >/dev/null; then
        ptxas -arch=sm_80 "ptx/$name.ptx" -o /dev/null
    fi
done
du -cb ptx/*.ptx | tail -1
