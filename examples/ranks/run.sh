#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts a program of N ranks on this host, a process each, and ends all when one fails:
#
#   examples/ranks/run.sh [N [OPTIONS...]]     N: 2
#
#   RANKS_PROGRAM   what is started; unset: build/release/examples/ranks
#   GPH_DRIVER      unset: a GPU for each rank where there are GPUs, else softcuda
# What mpirun and torchrun do, in a few lines: a rank is a process that knows its number.
set -u
count=${1:-2}
[ $# -eq 0 ] || shift
case $count in '' | *[!0-9]* | 0) echo "run.sh: $count is not a count of ranks" >&2 && exit 2 ;; esac
program=${RANKS_PROGRAM:-$(dirname "$0")/../../build/release/examples/ranks}
export GPH_RANKS=$count GPH_RANKS_ID=run-$$

pids=
trap 'kill $pids 2>/dev/null' EXIT
trap 'exit 130' INT TERM
for ((rank = 0; rank < count; rank++)); do
    GPH_RANK=$rank "$program" "$@" &
    pids="$pids $!"
done
status=0
for ((rank = 0; rank < count; rank++)); do
    wait -n || { # the others know by themselves; they get a moment to say so
        status=$?
        sleep 1
        break
    }
done
exit $status
