#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: fault.sh GPH FAULT DRIVER STANDING PROGRAM...
# Saves what the first way of each program does, and examines that while allocations fail; and what STANDING
# leaves, a hang and a fault: rings, and boards that say how far its replays were. A program runs with the
# variables and the watch that its source asks for, as in run.py: without them it may do something else, or not end.
set -u
rules=$(cd "$(dirname "$0")" && pwd)/rules
gph=$1 fault=$2 driver=$3 standing=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in "$@"; do
    source=$rules/${program##*/}.c
    mapfile -t variables < <(sed -n 's|^// env: ||p' "$source")
    mapfile -t watch < <(sed -n 's|^// watch: *|--watch\n|p' "$source")
    timeout 60 env "${variables[@]}" "$gph" doctor "${watch[@]}" --driver "$driver" --quiet \
        --save-events "$work/${program##*/}.log" -- "$program" first >/dev/null 2>"$work/err"
    [ -s "$work/${program##*/}.log" ] || { cat "$work/err"; exit 1; }
done
"$gph" doctor --driver "$driver" --quiet --watch 1 --sentinels --save-events "$work/hang.log" -- "$standing" hang >/dev/null 2>&1
folders=()
if [ "$driver" = soft ]; then
    lib=$(cd "$(dirname "$gph")/../lib/gph" && pwd)
    for how in driver nodes; do
        mkdir -p "$work/$how/seen"
        LD_LIBRARY_PATH=$lib/soft LD_PRELOAD=$lib/libgph-attach.so GPH_DOCTOR_DIR=$work/$how GPH_DOCTOR_RING=16384 \
            GPH_DOCTOR_SENTINELS=$how "$standing" fault >/dev/null 2>&1
        ls "$work/$how"/*.board >/dev/null || exit 1
        rm -r "$work/$how/seen"
        folders+=("$work/$how")
    done
fi
"$fault" "$work"/*.log "${folders[@]}"
