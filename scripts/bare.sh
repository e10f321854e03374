#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs ./run and ./test as on a machine that has nothing: a fresh system made by debootstrap,
# no compiler, no CUDA toolkit, no GPU, a clone of HEAD.
#
# usage: scripts/bare.sh SUITE [FOLDER]      SUITE: bookworm, trixie, ... or an Ubuntu one
#
# Needs root and debootstrap. BARE_MIRROR is where packages come from (the default of
# debootstrap), BARE_TEST the arguments of ./test. FOLDER is kept where it was given.
set -u
suite=${1:-}
if [ -z "$suite" ] || [ "$suite" = --help ]; then
    sed -n '3,9s/^# \{0,1\}//p' "$0"
    exit 2
fi
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "bare.sh: needs root and debootstrap" >&2
    exit 3
fi
source=$(cd "$(dirname "$0")/.." && pwd)
root=${2:-$(mktemp -d "${TMPDIR:-/tmp}/gph-bare-$suite.XXXXXX")}

leave() {
    for mount in dev/shm dev/pts dev proc sys; do
        mountpoint -q "$root/$mount" && umount -l "$root/$mount"
    done
    [ -n "${2:-}" ] || rm -rf --one-file-system "$root"
}
trap 'leave "$@"' EXIT
trap 'exit 130' INT TERM

echo "making a bare $suite in $root"
if [ ! -e "$root/etc/debian_version" ]; then
    # shellcheck disable=SC2086
    made=$(debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" ${BARE_MIRROR:-} 2>&1) ||
        { echo "$made" | tail -5 >&2; exit 1; }
fi
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sys "$root/sys"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null

rm -rf "$root/gph"
git clone -q "$source" "$root/gph" || exit 1
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive sh -c "cd /gph && $1"
}
status=0
for step in ./run "./test ${BARE_TEST:-}"; do
    begun=$SECONDS
    if inside "$step"; then
        echo "bare $suite: $step ok, $((SECONDS - begun)) s"
    else
        echo "bare $suite: $step FAILED, $((SECONDS - begun)) s"
        status=1
    fi
done
exit $status
