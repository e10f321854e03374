#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: fault.sh GPH FAULT DRIVER PROGRAM...
# Saves what the first way of each program does, and examines that while allocations fail.
set -u
gph=$1 fault=$2 driver=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in "$@"; do
    "$gph" doctor --driver "$driver" --quiet --save-events "$work/${program##*/}.log" -- \
        "$program" first >/dev/null 2>"$work/err"
    [ -s "$work/${program##*/}.log" ] || { cat "$work/err"; exit 1; }
done
"$fault" "$work"/*.log
