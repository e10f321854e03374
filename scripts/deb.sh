#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes Debian's packages graphophone, graphophone-dev and graphophone-softcuda in build/deb/dist,
# for the Debian at hand, and tests them.
#
# usage: scripts/deb.sh [build] [test] [bare [SUITE]]      without words: build test
#   build   makes them from a clean build of type RelWithDebInfo
#   test    unpacks them into a folder and tries what lies there; a program is built, run on
#           softcuda and examined
#   bare    installs them by apt in a fresh system made by debootstrap (root), and tries them there.
#           SUITE is the Debian they were built on: what they need has its names
#
# Needs scripts/setup.sh test. BARE_MIRROR is where debootstrap's packages come from.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=$PWD/build/deb
dist=$folder/dist

fail() {
    echo "deb.sh: $*" >&2
    exit 1
}

build() {
    mkdir -p build # its log lies there
    cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr \
        -DBUILD_TESTING=OFF >"$folder.log" 2>&1 && cmake --build "$folder" >>"$folder.log" 2>&1 ||
        { tail -20 "$folder.log" >&2; fail "building failed: $folder.log"; }
    rm -rf "$dist"
    mkdir -p "$dist"
    (cd "$folder" && cpack -G DEB -B "$dist") >>"$folder.log" 2>&1 ||
        { tail -20 "$folder.log" >&2; fail "packing failed: $folder.log"; }
    rm -rf "$dist/_CPack_Packages"
    (cd "$dist" && sha256sum ./*.deb >SHA256SUMS)
    for package in "$dist"/*.deb; do
        echo "$(basename "$package"): $(dpkg-deb -f "$package" Depends)"
    done
}

try() {
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    for package in "$dist"/*.deb; do
        dpkg-deb -x "$package" "$root" || fail "$package cannot be unpacked"
    done
    bash tests/package/deb.sh "$root" || fail "the packages do not work"
}

bare() { # suite
    local suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
    [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || fail "bare needs root and debootstrap"
    root=$(mktemp -d)
    trap 'umount -l "$root/proc" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
    # shellcheck disable=SC2086
    debootstrap --variant=minbase "$suite" "$root" ${BARE_MIRROR:-} >"$folder.bare.log" 2>&1 ||
        { tail -5 "$folder.bare.log" >&2; fail "debootstrap failed: $folder.bare.log"; }
    mount -t proc proc "$root/proc"
    cp "$dist"/*.deb tests/package/deb.sh "$root/root/"
    chroot "$root" sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends \
        gcc libc6-dev man-db /root/*.deb && bash /root/deb.sh /' >"$folder.bare.log" 2>&1 ||
        { tail -20 "$folder.bare.log" >&2; fail "the packages do not work on a bare $suite"; }
    tail -1 "$folder.bare.log"
}

[ $# -gt 0 ] || set -- build test
while [ $# -gt 0 ]; do
    case $1 in
    build) build ;;
    test) try ;;
    bare)
        suite=
        case ${2:-} in "" | build | test) ;; *) suite=$2; shift ;; esac
        bare "$suite"
        ;;
    *)
        sed -n '3,14s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
    esac
    shift
done
