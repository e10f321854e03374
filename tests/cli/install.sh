#!/bin/sh
# usage: install.sh BUILD CMAKE CC
# Installs under DESTDIR, then builds and runs a program against what lies there, by
# pkg-config and by find_package, and the installed command.
set -eu
build=$1 cmake=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
DESTDIR="$folder" "$cmake" --install "$build" --prefix /opt/gph >"$folder/log" ||
    { cat "$folder/log"; exit 1; }
prefix=$folder/opt/gph
lib=$(dirname "$(find "$prefix" -name 'libgph.so')")

cd "$folder"
cat >program.c <<'END'
#include <gph/gph.h>
#include <stdio.h>
int main(void) { return puts(gph_version_text()) < 0; }
END
expect() {
    got=$(LD_LIBRARY_PATH=$lib "$1" ${2:-} | head -1)
    [ "$got" = "$3" ] || { echo "$1 says \"$got\", not \"$3\""; exit 1; }
}
version=$(sed -n 's/^Version: //p' "$lib/pkgconfig/gph.pc")

if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs gph)
    # shellcheck disable=SC2086
    $cc program.c $flags -o by_pkg_config
    expect ./by_pkg_config "" "$version"
fi
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(gph 0.1 REQUIRED)
add_executable(by_cmake program.c)
target_link_libraries(by_cmake gph::gph)
if(NOT EXISTS ${GPH_STUB_DIR}/libcuda.so)
  message(FATAL_ERROR "no stub in ${GPH_STUB_DIR}")
endif()
END
"$cmake" -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >log 2>&1 &&
    "$cmake" --build b >>log 2>&1 || { cat log; exit 1; }
expect b/by_cmake "" "$version"
expect "$prefix/bin/gph" version "gph $version, libgph $version"

# The installed library finds the installed softcuda, and nobody else does.
if [ -e "$lib/gph/soft/libcuda.so.1" ]; then
    found=$(env -u GPH_SOFTCUDA_PATH "$prefix/bin/gph" env --driver soft | sed -n 's/^path *//p')
    [ "$found" = "$lib/gph/soft/libcuda.so.1" ] || { echo "softcuda is $found"; exit 1; }
fi
[ ! -e "$lib/libcuda.so" ] && [ ! -e "$lib/libcuda.so.1" ] ||
    { echo "a driver lies where linkers look"; exit 1; }

# A driver-API program links with the stub, and then asks for the driver's soname.
cat >driver.c <<'END'
int cuInit(unsigned int flags);
int main(void) { return cuInit(0); }
END
$cc driver.c -L"$lib/gph/stub" -lcuda -o driver
readelf -d driver | grep -q 'libcuda\.so\.1' || { echo "the stub has the wrong soname"; exit 1; }

# Nothing but gph_ leaves the library.
nm -D --defined-only "$lib/libgph.so" | awk '$2 != "A" && $3 !~ /^gph_/ { print; bad = 1 }
    END { exit bad }' || { echo "foreign symbols in libgph.so"; exit 1; }
