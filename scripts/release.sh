#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the source archive of a release, with checksums, in build/source: the commit at hand and
# nothing else, the same bytes each time. Packages are made by scripts/deb.sh and scripts/wheel.sh.
#
# usage: scripts/release.sh [--check]
#   --check  afterwards: refuses a version that CHANGELOG.md does not have as "## VERSION (DATE)",
#            and a working tree that differs from the commit: what a tag needs
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(gph VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=graphophone-$version
out=build/source

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

[ -n "$version" ] || fail "CMakeLists.txt does not say a version"
rm -rf "$out"
mkdir -p "$out"
# gzip -n: without the time, or two archives of one commit would differ
git archive --format=tar --prefix="$name/" HEAD | gzip -6n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
cat "$out/SHA256SUMS"
[ "${1:-}" = --check ] || exit 0
grep -q "^## $version ([0-9]\{4\}-[0-9][0-9]-[0-9][0-9])" CHANGELOG.md ||
    fail "CHANGELOG.md has no \"## $version (DATE)\": it is not dated yet"
[ -z "$(git status --porcelain)" ] || fail "the working tree differs from the commit"
