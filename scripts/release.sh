#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what a release consists of, with checksums, in build/dist: the source archive of the commit
# at hand and nothing else, the same bytes each time; with "all" also the packages, built and tried
# from that archive.
#
# usage: scripts/release.sh [all] [--check]
#   all      then Debian packages (scripts/deb.sh) and wheels (scripts/wheel.sh), built in
#            build/dist-tree, and one SHA256SUMS of all files
#   --check  afterwards: refuses a version that CHANGELOG.md does not have as "## VERSION (DATE)",
#            and a working tree that differs from the commit: what a tag needs
#
# Whoever downloads the files checks them by: sha256sum -c --ignore-missing SHA256SUMS
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(gph VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=graphophone-$version
out=$PWD/build/dist
tree=$PWD/build/dist-tree

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

archive() {
    rm -rf "$out"
    mkdir -p "$out"
    # gzip -n: without the time, or two archives of one commit would differ
    git archive --format=tar --prefix="$name/" HEAD | gzip -6n >"$out/$name.tar.gz"
}

# From the archive, so that nothing of the working tree gets in. What was built there before is
# kept, and with it most of the time.
packages() {
    mkdir -p "$tree"
    find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    tar -xzf "$out/$name.tar.gz" -C "$tree" --strip-components=1
    (cd "$tree" && scripts/deb.sh build test && scripts/wheel.sh build test) >&2 || fail "no packages"
    cp "$tree"/build/deb/dist/*.deb "$tree"/build/wheel/dist/*.whl "$out/"
    for file in "$out"/*.deb "$out"/*.whl; do
        case ${file##*/} in
        *[-_]"$version"[-_]*) ;;
        *) fail "$file is not of version $version" ;;
        esac
    done
}

with_packages=
check=
for word in "$@"; do
    case $word in
    all) with_packages=1 ;;
    --check) check=1 ;;
    *)
        sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done
[ -n "$version" ] || fail "CMakeLists.txt does not say a version"
archive
[ -z "$with_packages" ] || packages
(cd "$out" && sha256sum -- * >"$tree.sums" && mv "$tree.sums" SHA256SUMS)
cat "$out/SHA256SUMS"
[ -n "$check" ] || exit 0
grep -q "^## $version ([0-9]\{4\}-[0-9][0-9]-[0-9][0-9])" CHANGELOG.md ||
    fail "CHANGELOG.md has no \"## $version (DATE)\": it is not dated yet"
[ -z "$(git status --porcelain)" ] || fail "the working tree differs from the commit"
