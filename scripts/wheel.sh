#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python wheels graphophone and graphophone-softcuda in build/wheel/dist, for every
# Linux with glibc 2.28, and tests them. graphophone is made twice: for every Python, with the
# command alone, and for the Python at hand, with libgph's objects (CPython 3.10 or later).
#
# usage: scripts/wheel.sh [build] [for PYTHON] [abi3 PYTHON] [test [PYTHON]] [bare [SUITE]]
# without words: build test bare bullseye
#   build   makes both, and holds their symbols against glibc 2.28
#   for     adds the one with libgph's objects for another CPython, such as python3.14t, to what build made
#   abi3    adds one for all CPython from 3.12 on that have a GIL; PYTHON is one of these
#   test    installs them in an environment of this Python and runs tests/wheel/installed.sh
#   bare    the same in a fresh system made by debootstrap (root): no compiler, elfutils or LLVM
#
# Needs scripts/setup.sh wheel and what pip brings, and ends with 77 where pip brings nothing. BARE_MIRROR is where debootstrap's packages
# come from. The wheels are for the machine's own architecture.
set -u
cd "$(dirname "$0")/.." || exit 1
repo=$PWD
export WHEEL_FOLDER=$repo/build/wheel
arch=$(uname -m) glibc=2.28
export WHEEL_TARGET=$arch-linux-gnu.$glibc
platform=manylinux_${glibc/./_}_$arch
tools=$WHEEL_FOLDER/tools/bin

fail() {
    echo "wheel.sh: $*" >&2
    exit 1
}

# Its output is shown where it fails.
quietly() { # name, command ...
    local log=$WHEEL_FOLDER/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -40 "$log" >&2; fail "$* failed: $log"; }
}

make_tools() {
    python3 -m venv "$WHEEL_FOLDER/tools" || fail "python3 has no venv (Debian: python3-venv)"
    "$tools/pip" install --disable-pip-version-check \
        -r "$repo/bindings/python/build-requirements.txt" >"$WHEEL_FOLDER/pip.log" 2>&1 || {
        tail -20 "$WHEEL_FOLDER/pip.log" >&2
        echo "wheel.sh: pip did not get what wheels are built with" >&2
        exit 77
    }
    mkdir -p "$WHEEL_FOLDER/bin"
    for tool in cc ar ranlib; do
        target=
        [ $tool = cc ] && target="-target $WHEEL_TARGET"
        printf '#!/bin/sh\nexec "%s/python" -m ziglang %s %s "$@"\n' "$tools" $tool "$target" \
            >"$WHEEL_FOLDER/bin/zig-$tool"
        chmod +x "$WHEEL_FOLDER/bin/zig-$tool"
    done
}

# Headers and archives of Debian that are linked in, away from its headers of glibc. jansson's
# archive is not for shared libraries: auditwheel puts its shared one beside ours.
gather() {
    local deps=$WHEEL_FOLDER/deps licenses=$WHEEL_FOLDER/licenses
    rm -rf "$deps" "$licenses"
    mkdir -p "$deps/include" "$deps/lib" "$licenses"
    quietly libgcc_s "$WHEEL_FOLDER/bin/zig-cc" -shared -fPIC bindings/python/src/libgcc_s.c \
        -Wl,--version-script=bindings/python/src/libgcc_s.map -Wl,-soname,libgcc_s.so.1 \
        -o "$deps/lib/libgcc_s.so"
    # Debian's Python.h finds the rest of itself from here.
    mkdir "$deps/include/$arch-linux-gnu"
    ln -s /usr/include/"$arch"-linux-gnu/python3* "$deps/include/$arch-linux-gnu/"
    ln -s /usr/include/{zstd.h,zstd_errors.h,zdict.h,lz4*.h,xxhash.h,xxh3.h,jansson*.h} "$deps/include/"
    for archive in libzstd.a libz.a liblz4.a libstdc++.a libjansson.so; do
        ln -s "$(readlink -f "$(gcc -print-file-name=$archive)")" "$deps/lib/$archive"
        [ -e "$deps/lib/$archive" ] || fail "$archive is missing: scripts/setup.sh wheel"
    done
    for package in libllvm19 libstdc++-12-dev libzstd1 zlib1g-dev liblz4-dev libxxhash-dev \
        libjansson4 node-d3; do
        [ ! -e /usr/share/doc/$package/copyright ] ||
            cp -L /usr/share/doc/$package/copyright "$licenses/$package.txt"
    done
}

# Only what one Linux after the other has had since 2018 may be asked of the system.
check() { # wheel
    "$tools/auditwheel" show "$1" | tr '\n' ' ' | grep -q "following platform tag: \"manylinux_" ||
        { "$tools/auditwheel" show "$1" >&2; fail "$1 is for no manylinux"; }
    "$tools/python" "$repo/scripts/wheel.py" "$1" $glibc || exit 1
}

build_one() { # folder of pyproject.toml, name, settings of scikit-build-core ...
    local folder=$1 name=$2
    shift 2
    rm -rf "$WHEEL_FOLDER/raw"
    CMAKE_TOOLCHAIN_FILE=$repo/cmake/manylinux.cmake quietly "build-$name" \
        "${pip:-$tools/pip}" wheel --disable-pip-version-check --no-build-isolation --no-deps \
        -w "$WHEEL_FOLDER/raw" -Cbuild-dir="$WHEEL_FOLDER/build-$name" "$@" "$repo/$folder"
    PATH=$tools:$PATH quietly "repair-$name" "$tools/auditwheel" repair --plat "$platform" --only-plat \
        -w "$WHEEL_FOLDER/dist" "$WHEEL_FOLDER"/raw/*.whl
}

# The same objects of C, linked into a wheel of one version of Python: that of an environment.
build_extension() { # folder of the environment, name of the build, tag of the ABI or nothing, its limited API
    local what environment=$1
    what=$("$environment/bin/python" -c 'import os, platform, sys, sysconfig
has = os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
name = "%s %d.%d%s" % (platform.python_implementation(), *sys.version_info[:2], sys.abiflags)
print(name if has else name + ", which has no headers (Debian: python3-dev)")
sys.exit(not (has and sys.version_info >= (3, 10) and name.startswith("CPython")))') || {
        echo "wheel.sh: no wheel with libgph's objects for $what"
        return 1
    }
    echo "wheel.sh: libgph's objects for $what"
    pip=$environment/bin/pip build_one bindings/python "$2" -Cwheel.py-api="${3:-}" -Ccmake.define.GPH_PYTHON=ON \
        -Ccmake.define.GPH_PYTHON_LIMITED="${4:-}" \
        "-Cbuild.targets=gph;gph-doctor;gph_command;gph_attach;gph_start;man;completion;gph_python"
}

# For another Python than the one that the tools are of, which needs no more than the back end.
build_for() { # PYTHON, and what build_extension takes
    local python=$1 environment
    [ -x "$tools/python" ] || fail "build comes first"
    environment=$WHEEL_FOLDER/for-$("$python" -c 'import sys; print("%d.%d%s" % (*sys.version_info[:2], sys.abiflags))') ||
        fail "$python cannot be run"
    "$python" -m venv "$environment" || fail "$python has no venv"
    quietly pip-for "$environment/bin/pip" install --disable-pip-version-check 'pip>=23.1' 'scikit-build-core>=0.10'
    build_extension "$environment" "graphophone-${2:-${environment##*/}}" "${@:2}" || exit 1
    check "$(ls -t "$WHEEL_FOLDER"/dist/*.whl | head -1)"
}

build() {
    scripts/setup.sh wheel || exit $?
    mkdir -p "$WHEEL_FOLDER/dist"
    rm -f "$WHEEL_FOLDER"/dist/*.whl
    make_tools
    gather
    build_one bindings/python graphophone -Ccmake.define.GPH_PYTHON=OFF
    build_extension "$WHEEL_FOLDER/tools" graphophone || true
    build_one bindings/python/softcuda graphophone-softcuda
    for wheel in "$WHEEL_FOLDER"/dist/*.whl; do
        check "$wheel"
    done
}

leave() {
    for mount in dev/shm dev/pts dev proc sys; do
        mountpoint -q "$root/$mount" && umount -l "$root/$mount"
    done
    rm -rf --one-file-system "$root"
}

bare() { # suite
    local suite=$1
    [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null ||
        fail "bare needs root and debootstrap"
    root=$(mktemp -d "${TMPDIR:-/tmp}/gph-wheel-$suite.XXXXXX")
    trap leave EXIT
    trap 'exit 130' INT TERM
    # shellcheck disable=SC2086
    quietly debootstrap debootstrap --variant=minbase --include=python3,python3-venv \
        "$suite" "$root" ${BARE_MIRROR:-}
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
    mkdir "$root/wheel"
    cp -r "$WHEEL_FOLDER/dist" tests/wheel/* "$root/wheel/"
    for there in usr/bin/cc usr/bin/gcc 'usr/lib/*/libdw.so*' 'usr/lib/*/libelf.so*' 'usr/lib/*/libLLVM*'; do
        ! compgen -G "$root/$there" >/dev/null || fail "$suite is not bare: it has $there"
    done
    echo "bare $suite: $(chroot "$root" ldd --version | sed -n '1s/.* //p') is its glibc"
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        sh /wheel/installed.sh python3 /wheel/dist || fail "the wheels do not work in $suite"
}

[ $# -gt 0 ] || set -- build test bare bullseye
while [ $# -gt 0 ]; do
    case $1 in
    build) build ;;
    for) build_for "${2:?for which Python?}" && shift ;;
    abi3)
        build_for "${2:?by which Python?}" cp312 0x030C0000
        shift
        ;;
    test)
        case ${2:-for} in build | for | abi3 | test | bare) python=python3 ;; *) python=$2 && shift ;; esac
        sh tests/wheel/installed.sh "$python" "$WHEEL_FOLDER/dist" || exit 1
        ;;
    bare)
        case ${2:-build} in build | for | abi3 | test) suite=bullseye ;; *) suite=$2 && shift ;; esac
        bare "$suite"
        ;;
    *)
        sed -n '3,17s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
    esac
    shift
done
