#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records what this machine's NVIDIA driver answers to random programs of the device side
# (tests/differential/device): conditional nodes, launches and updates by kernels. A C compiler is
# all that it needs. usage: scripts/gpu_device_differential.sh OUTPUT_FOLDER [FIRST LAST [SECONDS [JOBS]]]
# Writes OUTPUT_FOLDER/device.txt (to be packed by `device_differential --pack`) and
# OUTPUT_FOLDER/device.log: each word that is not the model's, what crashed or never ended.
# With GPH_DRIVER=soft SOFTCUDA=/path/of/libcuda.so.1 it records softcuda instead.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out=${1:?an output folder}
first=${2:-1} last=${3:-4800} seconds=${4:-220} jobs=${5:-3}
mkdir -p "$out"
"${CC:-cc}" -std=c11 -O1 -g -D_GNU_SOURCE -DSOFTCUDA_PATH="\"${SOFTCUDA:-none}\"" -Iinclude -Isrc -I. \
    tests/differential/device/*.c tests/differential/record.c tests/differential/step.c tests/driver.c \
    -o "$out/device_differential" -ldl -lpthread -lm || exit 1
each=$(((last - first + jobs) / jobs)) children=() status=0
for ((job = 0; job < jobs; job++)); do
    from=$((first + job * each)) to=$((first + (job + 1) * each - 1))
    [ "$to" -gt "$last" ] && to=$last
    [ "$from" -gt "$to" ] && break
    GPH_DRIVER=${GPH_DRIVER:-cuda} "$out/device_differential" --record "$out/part$job" \
        --seeds "$from..$to" --seconds "$seconds" >"$out/log$job" 2>&1 &
    children+=($!)
done
for child in "${children[@]}"; do wait "$child" || status=1; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null >"$out/device.log" ||
    echo "no nvidia-smi" >"$out/device.log"
: >"$out/device.txt"
for ((job = 0; job < ${#children[@]}; job++)); do
    cat "$out/part$job" >>"$out/device.txt"
    cat "$out/log$job" >>"$out/device.log"
    rm -f "$out/part$job" "$out/log$job"
done
rm -f "$out/device_differential"
echo "words that are not the model's, by question:"
sed -n 's/^[0-9]* (\([a-z ]*\)), call.*/\1/p' "$out/device.log" | sort | uniq -c
grep -E ' programs in |crashed|never ended|left out' "$out/device.log"
exit $status
