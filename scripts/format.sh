#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out every C source with clang-format 14; --check only says which would change.
set -u
cd "$(dirname "$0")/.." || exit 1
tool=$(command -v clang-format-14 || command -v clang-format)
files=$(git ls-files '*.c' '*.h')
if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2086
    $tool --dry-run --Werror $files 2>&1 | grep 'warning\|error:' | head -20
    exit "${PIPESTATUS[0]}"
fi
# shellcheck disable=SC2086
exec $tool -i $files
