#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what this machine's NVIDIA driver answers to random graph programs
# (tests/differential); a C compiler is all that it needs.
# usage: scripts/gpu_differential.sh OUTPUT_FOLDER [FIRST LAST [SECONDS [JOBS]]]
# Writes OUTPUT_FOLDER/recorded.transcripts.gz (to be packed by `differential --pack`) and
# OUTPUT_FOLDER/differential.log: where the driver's answers are not the model's.
# With GPH_DRIVER=soft SOFTCUDA=/path/of/libcuda.so.1 it records softcuda instead.
# JOBS processes (4) record a part each; a program that crashes costs itself alone.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${1:?an output folder}
first=${2:-1} last=${3:-500} seconds=${4:-450} jobs=${5:-4}
mkdir -p "$out"
"${CC:-cc}" -std=c11 -O1 -g -ffp-contract=off -D_GNU_SOURCE -DSOFTCUDA_PATH="\"${SOFTCUDA:-none}\"" \
    -Iinclude -Isrc -I. tests/differential/*.c tests/driver.c -o "$out/differential" -ldl -lpthread -lm ||
    exit 1
each=$(((last - first + jobs) / jobs)) children=() status=0
for ((job = 0; job < jobs; job++)); do
    from=$((first + job * each)) to=$((first + (job + 1) * each - 1))
    [ "$to" -gt "$last" ] && to=$last
    [ "$from" -gt "$to" ] && break
    GPH_DRIVER=${GPH_DRIVER:-cuda} "$out/differential" --record "$out/part$job" \
        --seeds "$from..$to" --seconds "$seconds" >"$out/log$job" 2>&1 &
    children+=($!)
done
for child in "${children[@]}"; do wait "$child" || status=1; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null >"$out/differential.log" ||
    echo "no nvidia-smi" >"$out/differential.log"
for ((job = 0; job < ${#children[@]}; job++)); do # transcripts follow each other
    cat "$out/part$job"
    cat "$out/log$job" >>"$out/differential.log"
    rm -f "$out/part$job" "$out/log$job"
done | gzip -9 >"$out/recorded.transcripts.gz"
rm -f "$out/differential"
grep ' programs in ' "$out/differential.log"
exit $status
