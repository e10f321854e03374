#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stripped.sh GPH SOFTCUDA PROGRAM LIBRARY: a stripped program with the runtime of LIBRARY inside. Without a
# table one sentence says what to do; done as it says, the program runs. A table that is damaged, or of
# another runtime, is as none.
set -u
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
gph=$1 softcuda=$2 program=$3 library=$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" SOFTCUDA_MEMORY=256M GPH_SOFTCUDA_PATH="$softcuda"
script=$(dirname "$softcuda")/static_runtime.py
table=$folder/graphophone/static-runtimes.txt
run() { "$gph" run --driver soft -- "$program" >"$folder/out" 2>&1; }
fail() { echo "$1:"; cat "$folder/out"; exit 1; }
kept() {
    run
    grep -q "launched" "$folder/out" && fail "$1: it was replaced"
    grep -q "python3 .*static_runtime.py libcudart_static.a" "$folder/out" || fail "$1: nothing says what to do"
}

kept "without a table"
python3 "$script" "$library" >"$folder/out" || fail "no table was made"
run
grep -q "launched 0x1010102" "$folder/out" || fail "with its table"
grep -q "was not replaced" "$folder/out" && fail "with its table"

# A second toolkit's table is beside the first; the same one again does not come twice.
python3 "$script" "$library" >"$folder/out" || fail "again"
[ "$(grep -c '^gph-static-runtime' "$table")" = 1 ] || fail "the table occurs twice"

good=$(cat "$table")
echo "$good" | sed 's/\(.*\) cudaMalloc$/0\1 cudaMalloc/; s/^\([0-9a-f]*\)[0-9a-f] \(.*cudaMemset\)$/\10 \2/' >"$table"
cmp -s "$table" - <<TEXT && fail "the test changed nothing"
$good
TEXT
kept "with another function's hash"
for damaged in "gph-static-runtime 1" "$(echo "$good" | head -c 300)" "$(echo "$good" | sed 's/anchor/anchors/')" \
    "$(echo "$good" | sed '2s/ [0-9a-f]* / ffffffffffffffff /')"; do
    echo "$damaged" >"$table"
    kept "with a damaged table"
done
echo "ok"
