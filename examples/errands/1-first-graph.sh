#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 1: install, and replay a first graph. It uses nothing but the README.
. "$(dirname "$0")/common.sh"

step "The program of the README, as printed"
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' >first.c
show "wc -l first.c"

step "Compile it against the installed library, and run it on the software driver"
show '${CC:-cc} -o first first.c $(pkg-config --cflags --libs gph)'
show './first && echo replayed 1000 times'

step "What the unchanged program did; and a hint that a graph of one node is too small to pay"
show 'gph doctor --summary -- ./first 2>said; cat said'
want "perf.tiny-graphs" said
want "graph launches                       1000" said
