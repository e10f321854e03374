#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: attached.sh LIBRARY EVENTS PROGRAM ARGS...
# Runs a program twice, without and with the attached library: standard output and exit status must be the
# same, and the second must leave a ring that can be read. GPH_DOCTOR_ADVISE=1 and WINDOWS=N: with at least N
# windows that ran as a graph. EXITS=N: the program is to end with N, not 0. FIRST=FILE: preloaded before the library.
set -u
library=$1 events=$2
shift 2
work=$(mktemp -d)
# Sanitized: the symbolizer would load the library, too.
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:symbolize=0" ASAN_OPTIONS="${ASAN_OPTIONS:-}:symbolize=0"
trap 'rm -rf "$work"' EXIT
"$@" >"$work/plain" 2>"$work/plain.err"
plain=$?
mkdir "$work/rings"
GPH_DOCTOR_DIR=$work/rings GPH_DOCTOR_RING=65536 LD_PRELOAD=${FIRST:+$FIRST:}$library CUDA_INJECTION64_PATH=$library \
    "$@" >"$work/attached" 2>"$work/attached.err"
attached=$?
if [ $plain -ne $attached ] || ! cmp "$work/plain" "$work/attached"; then
    echo "exit status $plain without, $attached with the library"
    diff "$work/plain" "$work/attached" | head -20
    tail -5 "$work/attached.err"
    exit 1
fi
[ $plain -eq 77 ] && exit 77
if [ $plain -ne "${EXITS:-0}" ]; then # alike, and both of them wrong: nothing was shown
    echo "exit status $plain with and without the library, not ${EXITS:-0}"
    tail -5 "$work/plain.err"
    exit 1
fi
[ -n "$(ls "$work/rings")" ] || { echo "no ring"; exit 1; }
for ring in "$work"/rings/*.ring; do
    "$events" --over "$ring" >>"$work/text" || exit 1
done
grep -q ' CALL cu' "$work/text" || { echo "no call in the rings"; exit 1; }
windows=$(grep -cE ' GPU id [0-9a-f]+ \(5( [0-9a-f]+){7} 1 ' "$work/text")
[ "$windows" -ge "${WINDOWS:-0}" ] || { echo "$windows windows ran as a graph, not ${WINDOWS}"; exit 1; }
