#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a step needs: scripts/setup.sh run|test|all|wheel. Debian packages only.
# Exit 0: all is there. Exit 3: packages are missing and cannot be installed; the one line
# that installs them has been printed.
set -u

run="gcc g++ libc6-dev cmake ninja-build llvm-19-dev clang-19 libzstd-dev liblz4-dev libxxhash-dev libjansson-dev node-d3 python3-minimal scdoc"
test="$run python3 python3-dev python3-numpy libclang-rt-19-dev"
wheel="gcc g++ cmake ninja-build llvm-19-dev libzstd-dev liblz4-dev zlib1g-dev libxxhash-dev libjansson-dev node-d3 python3-venv python3-dev scdoc debootstrap"
all="$test abigail-tools clang-format-14 libtbb-dev libomp-19-dev mandoc doxygen chromium chromium-driver zsh"

case "${1:-}" in
run) wanted=$run ;;
test) wanted=$test ;;
all) wanted=$all ;;
wheel) wanted=$wheel ;;
*)
    echo "usage: scripts/setup.sh run|test|all|wheel" >&2
    exit 2
    ;;
esac

command -v dpkg-query >/dev/null || exit 0 # no Debian: what cmake finds is what there is

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=sudo
else
    echo "Packages are missing, and this user may not install them. As root:" >&2
    echo "    $line" >&2
    exit 3
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q >"$log" 2>&1 || true
# shellcheck disable=SC2086
if ! $as_root apt-get install -y -q --no-install-recommends $missing >>"$log" 2>&1; then
    tail -5 "$log" >&2
    echo "Installing failed. By hand:" >&2
    echo "    $line" >&2
    exit 3
fi
