#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh [FOLDER]: the programs on this machine's GPU, without softcuda: what they say there is right.
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d)}
status=0
for name in memory launch graphs streams parts pools children errors; do
    bash "$here/run.sh" "$name" "$folder" || status=1
done
exit $status
