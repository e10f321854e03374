#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libgph, gph and softcuda for aarch64 on another machine, by Debian's cross compiler, and runs them under qemu's user
# mode: tests of libgph, a capture with its replay on softcuda, gph doctor with a broken program, and the Python extension by
# Debian's Python for arm64, which is 3.11 as the one at hand has to be.
#
# usage: scripts/aarch64.sh [packages] [build] [run]     without words: all three, in this order
#   packages  qemu, the cross compiler (root); arm64 libraries into build/aarch64/root, which no dpkg knows
#   build     into build/aarch64
#   run       what it made; prints "N passed, N failed"
set -u
cd "$(dirname "$0")/.." || exit 1
build=$PWD/build/aarch64 root=$PWD/build/aarch64/root
libraries="libc6-dev libgcc-12-dev libllvm19 libzstd-dev zlib1g-dev liblz4-dev libxxhash-dev libjansson-dev python3.11 libpython3.11-dev python3-numpy"
tests="base_map_test base_text_test event_ring_test graph_diff_test kernel_run_test replay_test replay_capture_test update_exec_test memory_pool_test"
python_tests="test_replay test_callable test_frameworks"
broken=capture.unsafe-call

fail() {
    echo "aarch64.sh: $*" >&2
    exit 1
}

# apt's own lists and status, so that this system learns of no other architecture.
private_apt() {
    local apt=$build/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
END
    APT_CONFIG=$apt/apt.conf apt-get "$@"
}

packages() {
    apt-get install -y --no-install-recommends qemu-user-static gcc-aarch64-linux-gnu >"$build.log" 2>&1 ||
        fail "the cross compiler and qemu are not to be had: $build.log"
    mkdir -p "$root"
    # shellcheck disable=SC2086
    private_apt update >>"$build.log" 2>&1 && private_apt install -d -y $libraries >>"$build.log" 2>&1 ||
        fail "the libraries for arm64 are not to be had: $build.log"
    for package in "$build"/apt/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root" || exit 1
    done
    # Its headers say which machine is LLVM's own; the package itself would bring all that it depends on.
    (cd "$build" && private_apt download llvm-19-dev >>"$build.log" 2>&1 && dpkg-deb -x llvm-19-dev_*.deb "$root") ||
        fail "llvm-19-dev for arm64 is not to be had: $build.log"
    [ -L "$root/lib" ] || { cp -a "$root/lib/." "$root/usr/lib/" && rm -rf "${root:?}/lib" && ln -s usr/lib "$root/lib"; }
}

build() {
    cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT $root)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
END
    printf '#!/bin/sh\ncase $1 in\n--version) echo 19.1.7 ;;\n--includedir) echo %s/include ;;\n--libdir) echo %s/lib ;;\nesac\n' \
        "$root/usr/lib/llvm-19" "$root/usr/lib/llvm-19" >"$build/llvm-config" && chmod +x "$build/llvm-config"
    cmake -S . -B "$build/tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_TOOLCHAIN_FILE="$build/toolchain.cmake" \
        -DGPH_PYTHON=ON -DPython3_EXECUTABLE="$(command -v python3)" -DPython3_INCLUDE_DIR="$root/usr/include/python3.11" \
        -DGPH_LLVM_CONFIG="$build/llvm-config" \
        -DGPH_LLVM_LIBRARY="$root/usr/lib/aarch64-linux-gnu/libLLVM.so.19.1" >"$build/cmake.log" 2>&1 ||
        fail "cmake failed: $build/cmake.log"
    # shellcheck disable=SC2086
    cmake --build "$build/tree" -j "$(nproc)" --target gph gph-doctor gph_command gph_attach softcuda softcuda_jit hello gph_python "broken_$broken" $tests \
        >"$build/build.log" 2>&1 || { tail -20 "$build/build.log" >&2; fail "the build failed: $build/build.log"; }
}

run() {
    local passed=0 failed=0 tree=$build/tree lib=$root/usr/lib/aarch64-linux-gnu said
    export QEMU_LD_PREFIX=$root GPH_SOFTCUDA_PATH=$tree/lib/gph/soft/libcuda.so.1 GPH_DRIVER=soft SOFTCUDA_CACHE=off
    one() { # name, exit code, text that it prints, command ...
        local name=$1 wanted=$2 text=$3 code=0
        shift 3
        said=$(timeout 600 qemu-aarch64-static "$@" 2>&1) || code=$?
        case $said in *"$text"*) ;; *) code="$code, without \"$text\"" ;; esac
        if [ "$code" = "$wanted" ]; then
            passed=$((passed + 1))
            echo "ok $name"
        else
            failed=$((failed + 1))
            echo "FAILED $name: exit $code"
            echo "$said" | tail -5
        fi
    }
    one version 0 "libgph" "$tree/bin/gph" version
    for test in $tests; do
        one "$test" 0 "" "$tree/tests/unit/$test"
    done
    one hello 0 "the sum of 1000 elements is 31000" "$tree/examples/hello"
    # The program goes through qemu by name: the kernel need not know aarch64. A second doctor leaves
    # the folder of the first alone.
    one doctor 1 "error $broken" "$tree/bin/gph" doctor -- sh -c \
        "env -u LD_PRELOAD -u GPH_DOCTOR_DIR qemu-aarch64-static $tree/bin/gph doctor -- true
        qemu-aarch64-static $tree/tests/doctor/rules/$broken first"
    # As above: Python runs programs of its own architecture through qemu by name only.
    for test in $python_tests; do
        one "python $test" 0 "OK" -E LD_LIBRARY_PATH="$lib/blas:$lib/lapack" -E PYTHONHOME="$root/usr" -E PYTHONPATH="$tree/python:$root/usr/lib/python3/dist-packages" \
            "$root/usr/bin/python3.11" -B "tests/python/$test.py"
    done
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}

mkdir -p "$build"
[ $# -gt 0 ] || set -- packages build run
for step; do
    case $step in
    packages | build | run) "$step" || exit 1 ;;
    *)
        sed -n '3,10s/^# \{0,1\}//p' "$0"
        exit 2
        ;;
    esac
done
