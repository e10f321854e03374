#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# programs.sh FOLDER [SECONDS]: runs every program in FOLDER under `gph run` on softcuda and prints a row of docs/programs.md
# for each: whether it ended well, in what time, and the first call that softcuda refused. Programs are built by whoever has
# them; nothing is installed, changed or kept.
#   GPH=path of gph (default: build/debug/bin/gph)
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
gph=${GPH:-$root/build/debug/bin/gph}
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    sed -n '3,6s/^# //p' "$0" >&2
    exit 2
fi
folder=$(cd "$1" && pwd) limit=${2:-60}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
right=0 all=0
echo "| program | ends with | seconds | first refused call |"
echo "|---|---|---|---|"
for program in "$folder"/*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then
        continue
    fi
    : >"$work/log"
    begin=$(date +%s.%N)
    (cd "$folder" && CUDA_LOG_FILE="$work/log" timeout "$limit" "$gph" run --driver soft -- "$program" \
        >"$work/out" 2>&1 </dev/null)
    status=$?
    seconds=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
    case $status in
    0) ends="0" right=$((right + 1)) ;;
    124) ends="the limit of $limit s" ;;
    *) ends=$status ;;
    esac
    # The line before a code is the driver's sentence; gph itself asks for newer calls than it needs.
    refused=$(grep -a '\[E\]' "$work/log" | sed 's/.*\[E\] //' | grep -v '13010\|from cuGetProcAddress' | head -1)
    echo "| $(basename "$program") | $ends | $seconds | ${refused:--} |"
    all=$((all + 1))
done
echo
echo "$right of $all ended with 0"
