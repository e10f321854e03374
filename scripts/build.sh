#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset: scripts/build.sh PRESET [cmake options]; GPH_BUILD_TARGET names
# a part of it. On a terminal it shows progress; elsewhere it is silent unless something fails.
set -u
preset=$1
shift
log=build/$preset.log
mkdir -p build
jobs=$(nproc)
target=${GPH_BUILD_TARGET:-all}

fail() {
    grep -E 'error|Error|FAILED' "$log" | head -20 >&2
    echo "the $preset build failed: $log" >&2
    exit 1
}

generator=
command -v ninja >/dev/null || generator='-G Unix Makefiles'
# shellcheck disable=SC2086
cmake --preset "$preset" $generator "$@" >"$log" 2>&1 || fail
grep -hE '^-- .*(left out|not linked|is missing)' "$log" | sed 's/^-- //' || true
if [ -t 1 ]; then
    cmake --build "build/$preset" --target "$target" -j "$jobs" 2>&1 | tee -a "$log" |
        awk '{ match($0, /\[[0-9]+\/[0-9]+\]|\[ *[0-9]+%\]/)
               if (RSTART) printf "\rbuilding %s   ", substr($0, RSTART, RLENGTH) }
             END { printf "\r\033[K" }'
    status=${PIPESTATUS[0]}
else
    cmake --build "build/$preset" --target "$target" -j "$jobs" >>"$log" 2>&1
    status=$?
fi
[ "$status" = 0 ] || fail
