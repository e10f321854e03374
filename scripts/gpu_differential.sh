#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what this machine's NVIDIA driver answers to random graph programs
# (tests/differential); a C compiler is all that it needs.
# usage: scripts/gpu_differential.sh OUTPUT_FOLDER [FIRST LAST [SECONDS]]
# Writes OUTPUT_FOLDER/recorded.transcripts (to be packed by `differential --pack`) and
# OUTPUT_FOLDER/differential.log: where the driver's answers are not the model's.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${1:?an output folder}
first=${2:-1} last=${3:-500} seconds=${4:-450}
mkdir -p "$out"
"${CC:-cc}" -std=c11 -O1 -g -ffp-contract=off -D_GNU_SOURCE -DSOFTCUDA_PATH='"none"' \
    -Iinclude -Isrc -I. tests/differential/*.c -o "$out/differential" -ldl -lpthread -lm ||
    exit 1
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    GPH_DRIVER=cuda "$out/differential" --record "$out/recorded.transcripts" \
        --seeds "$first..$last" --seconds "$seconds"
} >"$out/differential.log" 2>&1
status=$?
rm -f "$out/differential"
tail -2 "$out/differential.log"
exit $status
