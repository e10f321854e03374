#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh RANKS RUN_SH: one rank of two is killed while both decode, by eager sums and by
# graphs: the other one ends by itself, soon, with the name of the dead. A count of ranks that
# does not divide the heads, and options that differ, end all of them with one sentence.
set -u
ranks=$1
run=$2
work=$(mktemp -d)
other='' dead=''
trap 'kill -9 $other $dead 2>/dev/null; rm -rf "$work"' EXIT
export GPH_DRIVER=soft

fail() {
    echo "killed.sh: $*"
    cat "$work"/*
    exit 1
}

now_ms() { date +%s%3N; }

# Rank 0 says its first line when both have prepared; what comes then takes forever.
kill_one() { # OPTIONS...
    export GPH_RANKS=2 GPH_RANKS_ID="killed-$$-$1"
    shift
    GPH_RANK=0 "$ranks" "$@" --repeat 1000000 >"$work/out" 2>"$work/err" &
    other=$!
    GPH_RANK=1 "$ranks" "$@" --repeat 1000000 >"$work/out1" 2>"$work/err1" &
    dead=$!
    tries=0
    until grep -q "in a bucket" "$work/out"; do
        grep -q "no softcuda" "$work/err" && echo "skipped: this build has no softcuda" && exit 77
        kill -0 $other 2>/dev/null || fail "rank 0 has ended before it began"
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "the ranks have not met"
        sleep 0.1
    done
    sleep 0.3
    kill -9 $dead
    start=$(now_ms)
    wait $other && fail "rank 0 succeeded without rank 1"
    took=$(($(now_ms) - start))
    grep -q "rank 1 (process $dead).*has ended" "$work/err" || fail "the dead is not named"
    [ $took -lt 5000 ] || fail "it took $took ms" # 250 ms and a machine that is busy
    echo "$*: rank 0 ended $took ms after rank 1"
}

kill_one eager --mode eager
kill_one own --mode own

RANKS_PROGRAM=$ranks bash "$run" 3 >"$work/out" 2>"$work/err" && fail "3 ranks for 8 heads"
[ "$(grep -c "8 heads, 4 key heads and 192 inner dimensions for 3 ranks" "$work/err")" -eq 3 ] ||
    fail "not every rank says why"

export GPH_RANKS=2 GPH_RANKS_ID=differ-$$
GPH_RANK=0 "$ranks" --tokens 8 >"$work/out" 2>"$work/err" &
other=$!
GPH_RANK=1 "$ranks" --tokens 9 >"$work/out1" 2>"$work/err1" && fail "8 tokens and 9"
wait $other && fail "9 tokens and 8"
for said in err err1; do
    grep -q "9 tokens.* on rank 1 and .*8 tokens.* on rank 0" "$work/$said" || fail "$said does not name both"
done
