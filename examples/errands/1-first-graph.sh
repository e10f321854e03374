#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 1: install, and replay a first graph. Nothing is read but the README.
. "$(dirname "$0")/common.sh"

step "The program of the README, as printed"
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' >first.c
show "wc -l first.c"

step "Built against what is installed, and run on the software driver"
show '${CC:-cc} -o first first.c $(pkg-config --cflags --libs gph)'
show './first && echo replayed 1000 times'

step "What it did, without a change to it; and that a graph of one node is a small one"
show 'gph doctor --summary -- ./first 2>said; cat said'
want "perf.tiny-graphs" said
want "graph launches                       1000" said
