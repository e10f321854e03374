#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares what the built libgph.so and libgph-doctor.so export, with all types that the public
# headers show, with tests/abi. usage: scripts/abi.sh [--update] [PRESET], a built one; debug
# unless said. --update rewrites tests/abi: in the commit that makes the change, which says why.
set -u
cd "$(dirname "$0")/.." || exit 1
update=
[ "${1:-}" = --update ] && { update=1; shift; }
preset=${1:-debug}
command -v abidw >/dev/null || { echo "abidw is missing: apt-get install abigail-tools" >&2; exit 3; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# What the headers do not define is opaque: by this label abidw keeps the name of a type and
# drops what is in it. Its own --headers-dir selects by the names of files, which src/ has, too.
cat >"$folder/private" <<'END'
[suppress_type]
  label = Artificial private types suppression specification
  source_location_not_regexp = ^(.*/)?include/gph/[a-z_]*\.h$
  drop = yes
END

# No paths, lines, compilers or other libraries: the same on any machine of 64 bits.
dump() { # library
    abidw --exported-interfaces-only --suppressions "$folder/private" --no-show-locs \
        --no-comp-dir-path --no-corpus-path --no-architecture --no-elf-needed \
        --no-parameter-names --no-write-default-sizes --type-id-style hash \
        --out-file "$folder/$1.abi" "build/$preset/lib/$1.so"
}

status=0
for library in libgph libgph-doctor; do
    dump $library || exit 1
    kept=tests/abi/$library.abi.gz
    if [ -n "$update" ]; then
        gzip -9n <"$folder/$library.abi" >"$kept"
        continue
    fi
    gzip -dc "$kept" >"$folder/kept.abi" || exit 1
    if ! abidiff "$folder/kept.abi" "$folder/$library.abi"; then
        echo "$library.so exports something else than $kept says: if that is meant," >&2
        echo "scripts/abi.sh --update, and say why in the commit" >&2
        status=1
    fi
done
exit $status
