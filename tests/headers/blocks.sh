#!/bin/sh
# usage: blocks.sh INCLUDE LIBRARY|- CC FILE.md...: every ```c block of the documents compiles, and one that has
# a main runs on softcuda (GPH_SOFTCUDA_PATH) and prints what the ```output block after it says.
# LIBRARY is libgph; `-` without a softcuda to run on.
set -u
include=$1 library=$2 cc=$3
shift 3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for document; do
    awk -v folder="$folder" -v name="$(basename "$document" .md)" '
        /^```c$/ { n++; out = folder "/" name n ".out"; file = folder "/" name n ".c"; next }
        /^```output$/ { file = out; next }
        /^```./ { out = "" } # what follows is what this one prints
        /^```$/ { file = ""; next }
        file { print > file }' "$document"
done
count=0 ran=0
for file in "$folder"/*.c; do
    $cc -std=c11 -Wall -Wextra -Wno-unused-function -Werror -I"$include" -fsyntax-only "$file" || exit 1
    count=$((count + 1))
    program=${file%.c}
    if [ "$library" = - ] || ! grep -q '^int main(' "$file"; then
        continue
    fi
    $cc -std=c11 -I"$include" "$file" -o "$program" "$library" -Wl,-rpath,"$(dirname "$library")" &&
        GPH_DRIVER=soft "$program" >"$program.got" || exit 1
    touch "$program.out"
    diff "$program.out" "$program.got" || { echo "$(basename "$program"): prints something else"; exit 1; }
    ran=$((ran + 1))
done
echo "$count blocks compile, $ran programs run"
