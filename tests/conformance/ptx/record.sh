#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records what the GPU of this machine gives for every form, into FILE; with OLD, an
# earlier recording, only for the forms that OLD lacks: FILE gets what OLD has besides.
# usage: tests/conformance/ptx/record.sh FILE [OLD]  (needs a C compiler and libcuda.so.1)
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=c11 -D_GNU_SOURCE -O1 -o "$work/ptx_forms" "$here"/*.c -ldl -lm
"$work/ptx_forms" --forms "$here/forms.txt" --driver libcuda.so.1 --verbose --record "$1" \
  ${2:+--add "$2"}
