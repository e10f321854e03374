#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.py with a libgph without debug information, as it is installed: the public function that
# refuses is found by what is left of its symbols. In the release build it is optimized too.
#
# usage: stripped.sh STRIP LIBGPH PYTHON ARGUMENTS...: those of run.py
set -eu
strip=$1 libgph=$2
shift 2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$strip" -o "$folder/${libgph##*/}" "$libgph"
ln -s "${libgph%/*}/gph" "$folder/gph" # softcuda lies beside libgph
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"
