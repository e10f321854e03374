#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Asks this machine's NVIDIA driver what the conformance tests assert; a C compiler is all
# that it needs. usage: scripts/gpu_conformance.sh [OUTPUT_FOLDER]; the log goes there
# (default build-gpu/). Ends with 1 if an answer differs from what a test asserts.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${1:-build-gpu}
mkdir -p "$out/conformance"
cc=${CC:-cc}
bad=0
{
    echo "# $(date +%F), commit ${GPH_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sed 's/^/# /' || true
    for source in tests/conformance/*_test.c tests/conformance/rules/rules_*.c; do
        name=$(basename "$source" .c)
        [ "$name" = corpus_test ] && continue # reads a build folder
        echo "== $name"
        "$cc" -std=c11 -O1 -D_GNU_SOURCE -DSOFTCUDA_PATH='"none"' \
            -DRANDOM_EXPECTED='"tests/conformance/random.expected"' -Iinclude -Isrc -Itests \
            -I. "$source" tests/driver.c -o "$out/conformance/$name" -ldl -lpthread -lm || { bad=1; continue; }
        case $name in
            # A driver that is asked for what kernels launch and change may crash, or never end.
            rules_device_*) GPH_DRIVER=cuda scripts/one_by_one.sh "$out/conformance/$name" 60 ;;
            *) GPH_DRIVER=cuda timeout 300 "$out/conformance/$name" ;;
        esac
        case $? in 0 | 77) ;; *) bad=1 ;; esac
    done
    echo "differences: $bad"
} > >(tee "$out/conformance.log") 2>&1
wait
exit $bad
