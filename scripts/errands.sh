#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the errands of examples/errands as a new user does, and says how long each takes: ten minutes at most.
#
# usage: scripts/errands.sh [clone] [deb [SUITE]] [wheel [SUITE]]      without words: clone
#   clone   a fresh clone of HEAD: ./run, then all five
#   deb     the packages of scripts/deb.sh in a fresh system made by debootstrap (root): installing them,
#           then the first four. SUITE is the Debian they were built on
#   wheel   the wheels of scripts/wheel.sh likewise: installing them, then those that need no compiler (2 and 4)
#
# ERRANDS_ROOT is a folder with the fresh system, if there is one already; BARE_MIRROR is where debootstrap's packages
# come from, ERRANDS_LOG a folder that keeps what was printed.
set -u
cd "$(dirname "$0")/.." || exit 1
repo=$PWD
logs=${ERRANDS_LOG:-$(mktemp -d)}
most=600
failed=0

fail() {
    echo "errands.sh: $*" >&2
    exit 1
}

timed() { # name, command ...
    local name=$1 log begun=$SECONDS took
    log=$logs/${1//[ \/]/-}.log
    shift
    if "$@" >"$log" 2>&1; then
        took=$((SECONDS - begun))
        printf '%-46s %4d s\n' "$name" $took
        [ $took -le $most ] || { echo "that is more than $most s" >&2; failed=1; }
    else
        printf '%-46s FAILED after %d s\n' "$name" $((SECONDS - begun))
        tail -15 "$log" >&2
        failed=1
    fi
}

clone() {
    local folder
    folder=$(mktemp -d)
    git clone -q "$repo" "$folder/graphophone" || fail "cannot clone $repo"
    cd "$folder/graphophone" || exit 1
    timed "clone: ./run" ./run
    for script in examples/errands/[1-5]-*.sh; do
        timed "clone: $(basename "$script" .sh)" sh "$script"
    done
    cd "$repo" || exit 1
    rm -rf "$folder"
}

inside() { # command
    chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive sh -c "$1"
}

leave() {
    for mount in dev/shm dev/pts dev proc; do
        mountpoint -q "$root/$mount" && umount -l "$root/$mount"
    done
    [ -n "${ERRANDS_ROOT:-}" ] || rm -rf --one-file-system "$root"
}

# A system without compiler, Python or what we need; and the errands, as a user downloads them.
fresh() { # suite
    [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || fail "$kind needs root and debootstrap"
    root=${ERRANDS_ROOT:-$(mktemp -d)}
    trap leave EXIT
    trap 'exit 130' INT TERM
    # shellcheck disable=SC2086
    [ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase --include=ca-certificates "$1" "$root" ${BARE_MIRROR:-} \
        >"$logs/debootstrap.log" 2>&1 || fail "debootstrap failed: $logs/debootstrap.log"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null
    rm -rf "$root/errands"
    mkdir -p "$root/errands/dist" "$root/errands/examples"
    cp -r examples/errands "$root/errands/examples/"
    cp README.md "$root/errands/"
}

deb() { # suite
    kind=deb
    ls build/deb/dist/*.deb >/dev/null 2>&1 || fail "no packages: scripts/deb.sh build"
    fresh "$1"
    cp build/deb/dist/*.deb "$root/errands/dist/"
    timed "deb: install" inside "apt-get update -q && apt-get install -y -q --no-install-recommends gcc libc6-dev pkg-config python3 /errands/dist/*.deb"
    for script in examples/errands/[1-4]-*.sh; do
        timed "deb: $(basename "$script" .sh)" inside "GPH_PREFIX=/usr sh /errands/$script"
    done
}

wheel() { # suite
    kind=wheel
    ls build/wheel/dist/*.whl >/dev/null 2>&1 || fail "no wheels: scripts/wheel.sh build"
    fresh "$1"
    inside "apt-get update -q && apt-get install -y -q --no-install-recommends python3 python3-venv" >"$logs/python.log" 2>&1 || fail "no python3: $logs/python.log"
    cp build/wheel/dist/*.whl "$root/errands/dist/"
    timed "wheel: install" inside "python3 -m venv /errands/own && /errands/own/bin/pip install -q --no-index -f /errands/dist graphophone graphophone-softcuda"
    for script in examples/errands/[24]-*.sh; do
        timed "wheel: $(basename "$script" .sh)" inside "GPH_PREFIX=/errands/own PATH=/errands/own/bin:\$PATH sh /errands/$script"
    done
}

here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ $# -gt 0 ] || set -- clone
while [ $# -gt 0 ]; do
    case $1 in
    clone) clone ;;
    deb | wheel)
        suite=$here
        kind=$1
        case ${2:-} in "" | clone | deb | wheel) ;; *) suite=$2 && shift ;; esac
        "$kind" "$suite"
        ;;
    *)
        sed -n '3,13s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
    esac
    shift
done
exit $failed
