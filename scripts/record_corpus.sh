#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: scripts/record_corpus.sh [FILE]
# On a machine with an NVIDIA GPU and a C compiler: runs every kernel of kernels/corpus and
# writes the bytes that tests/conformance/corpus_test.c expects of softcuda. FILE defaults
# to $OUT/corpus.expected, else tests/conformance/corpus.expected.
set -euo pipefail
cd "$(dirname "$0")/.."
file=${1:-${OUT:-tests/conformance}/corpus.expected}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
${CC:-cc} -std=c11 -O1 -D_GNU_SOURCE -I. -Isrc -Iinclude -Itests \
    -DSOFTCUDA_PATH='""' -DCORPUS_PTX='"kernels/corpus/ptx"' -DCORPUS_EXPECTED='"none"' \
    tests/conformance/corpus_test.c -ldl -lm -o "$program"
GPH_DRIVER=cuda "$program" --record "$file"
ls -l "$file"
