#!/bin/sh
# usage: blocks.sh INCLUDE CC FILE.md...: every ```c block of the documents compiles.
set -u
include=$1 cc=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for document; do
    awk -v folder="$folder" -v name="$(basename "$document" .md)" '
        /^```c$/ { n++; file = folder "/" name n ".c"; next }
        /^```$/ { file = ""; next }
        file { print > file }' "$document"
done
count=0
for file in "$folder"/*.c; do
    $cc -std=c11 -Wall -Wextra -Wno-unused-function -Werror -I"$include" -fsyntax-only "$file" ||
        exit 1
    count=$((count + 1))
done
echo "$count blocks compile"
