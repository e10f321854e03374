# SPDX-License-Identifier: Apache-2.0
# What the errands share: an installed Graphophone, an empty folder, and commands that are shown as they run.
#
#   GPH_PREFIX  where it is installed; not set: build/release (or GPH_BUILD) is installed into a temporary folder
set -eu
cd "$(dirname "$0")/../.."
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${GPH_PREFIX:-}" ]; then
    GPH_PREFIX=$work/prefix
    "${CMAKE:-cmake}" --install "${GPH_BUILD:-$source/build/release}" --prefix "$GPH_PREFIX" >"$work/install.log" ||
        { cat "$work/install.log"; exit 1; }
fi
# The fifth needs none.
[ "$GPH_PREFIX" = none ] || library=$(dirname "$(find "$GPH_PREFIX/" -name 'libgph.so*' | sort | head -1)")
[ "$GPH_PREFIX" = none ] ||
    export PATH="$GPH_PREFIX/bin:$PATH" LD_LIBRARY_PATH="$library" PKG_CONFIG_PATH="$library/pkgconfig"
export GPH_DRIVER=soft
cd "$work"

step() { printf '\n# %s\n' "$*"; }
show() { # COMMAND: prints it, then runs it
    printf '$ %s\n' "$1"
    sh -c "$1"
}
want() { # TEXT FILE: stops the errand where a user would be stuck
    grep -qF -- "$1" "$2" || { echo "stuck: \"$1\" is missing from this output:"; cat "$2"; exit 1; }
}
