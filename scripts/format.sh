#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out C sources with clang-format 14; --check only says which would change. Where the branch
# follows another one, the files that differ from it; else, and with --all, every one (a minute).
set -u
cd "$(dirname "$0")/.." || exit 1
tool=$(command -v clang-format-14 || command -v clang-format)
check='' since=''
for argument; do
    case $argument in
        --check) check=1 ;;
        --all) since=none ;;
        *) echo "format.sh: unknown argument \"$argument\"; it takes --check and --all" >&2; exit 2 ;;
    esac
done
[ "$since" ] || since=$(git merge-base HEAD '@{upstream}' 2>/dev/null) || since=none
if [ "$since" = none ]; then
    mapfile -t files < <(git ls-files '*.c' '*.h')
else
    mapfile -t files < <(git diff --name-only --diff-filter=d "$since" -- '*.c' '*.h'; git ls-files -o --exclude-standard -- '*.c' '*.h')
fi
[ ${#files[@]} -gt 0 ] || exit 0
if [ "$check" ]; then
    printf '%s\0' "${files[@]}" | xargs -0 -n 100 "$tool" --dry-run --Werror 2>&1 | grep 'warning\|error:' | head -20
    exit "${PIPESTATUS[1]}"
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 100 "$tool" -i
