#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The source archive is the commit, its checksum holds, a second one has the same bytes, and CMake
# takes what is in it. usage: archive.sh REPOSITORY CMAKE
set -eu
cd "$1"
git rev-parse HEAD >/dev/null 2>&1 || { echo "SKIPPED: not a git checkout"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone -q --shared . "$folder/clone" # the script of this tree, in a folder of its own
cp scripts/release.sh "$folder/clone/scripts/"
cd "$folder/clone"
first=$(bash scripts/release.sh)
[ "$first" = "$(bash scripts/release.sh)" ] || { echo "two archives of one commit differ"; exit 1; }
(cd build/dist && sha256sum -c --quiet SHA256SUMS)
tar -xzf build/dist/*.tar.gz -C "$folder"
for file in README.md LICENSE SECURITY.md CHANGELOG.md CMakeLists.txt include/gph/gph.h; do
    [ -s "$folder"/graphophone-*/$file ] || { echo "the archive has no $file"; exit 1; }
done
[ "$(tar -tzf build/dist/*.tar.gz | grep -vc '/$')" = "$(git ls-files | wc -l)" ] ||
    { echo "the archive does not have the commit's files"; exit 1; }
sed -i 's/^## Unreleased (\(.*\))/## \1/' CHANGELOG.md
if bash scripts/release.sh --check 2>"$folder/said"; then
    echo "an undated CHANGELOG passes"; exit 1
fi
grep -q "not dated" "$folder/said"
if bash scripts/release.sh everything 2>"$folder/said"; then
    echo "a word that is not one of the script's passes"; exit 1
fi
grep -q "usage: scripts/release.sh" "$folder/said"
"$2" -S "$folder"/graphophone-* -B "$folder/build" -G Ninja -DBUILD_TESTING=OFF >"$folder/log" 2>&1 ||
    { tail -5 "$folder/log"; exit 1; }
echo "the archive is the commit"
