#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/record_corpus.sh [FOLDER]
# On a machine with an NVIDIA GPU and a C compiler: runs every kernel of kernels/corpus and
# 64 random kernels, and writes the bytes that tests/conformance expects of softcuda:
# corpus.expected and random.expected. FOLDER defaults to $OUT, else tests/conformance.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-${OUT:-tests/conformance}}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
for name in corpus random; do
    ${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -I. -Isrc -Iinclude -Itests -DSOFTCUDA_PATH='""' \
        "tests/conformance/${name}_test.c" -ldl -lm -o "$program"
    GPH_DRIVER=cuda "$program" --record "$folder/$name.expected"
done
ls -l "$folder/corpus.expected" "$folder/random.expected"
