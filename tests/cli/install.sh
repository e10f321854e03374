#!/bin/sh
# usage: install.sh BUILD CMAKE CC
# Installs under DESTDIR, then builds and runs a program for each of the two libraries against
# what lies there, by pkg-config and by find_package, and the installed command.
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
cat >examiner.c <<'END'
#include <gph/gph_doctor.h>
#include <stdio.h>
int main(void)
{
    gph_doctor *doctor;
    if (gph_doctor_create(NULL, &doctor, NULL) != GPH_OK)
        return 1;
    gph_doctor_destroy(doctor);
    return printf("%s %d\n", gph_version_text(), gph_explain_get("update.edges") != NULL) < 0;
}
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
    flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs gph-doctor)
    # shellcheck disable=SC2086
    $cc examiner.c $flags -o examiner_by_pkg_config
    expect ./examiner_by_pkg_config "" "$version 1"
fi
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(gph 0.1 REQUIRED)
add_executable(by_cmake program.c)
target_link_libraries(by_cmake gph::gph)
add_executable(examiner_by_cmake examiner.c)
target_link_libraries(examiner_by_cmake gph::doctor)
if(NOT EXISTS ${GPH_STUB_DIR}/libcuda.so)
  message(FATAL_ERROR "no stub in ${GPH_STUB_DIR}")
endif()
END
"$cmake" -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >log 2>&1 &&
    "$cmake" --build b >>log 2>&1 || { cat log; exit 1; }
expect b/by_cmake "" "$version"
expect b/examiner_by_cmake "" "$version 1"
expect "$prefix/bin/gph" version "gph $version, libgph $version"

# What is read and what shells complete by comes along.
share=$prefix/share
for file in doc/gph/docs/libgph.md doc/gph/docs/doctor-rules.md doc/gph/README.md \
    bash-completion/completions/gph zsh/site-functions/_gph; do
    [ -s "$share/$file" ] || { echo "not installed: $file"; exit 1; }
done
if command -v scdoc >/dev/null; then
    for page in man1/gph.1 man5/gph-graph.5 man5/gph-recipe.5 man3/gph-replay.3 \
        man3/gph_capture_begin.3; do
        [ -s "$share/man/$page" ] || { echo "not installed: $page"; exit 1; }
    done
    # every command has a page, and every function that the libraries have
    "$prefix/bin/gph" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | while read -r name; do
        [ -s "$share/man/man1/gph-$name.1" ] || echo "no page: gph-$name"
    done >pages
    for library in libgph.so libgph-doctor.so; do
        nm -D --defined-only "$lib/$library" | sed -n 's/.* T \(gph_[a-z0-9_]*\)@.*/\1/p'
    done | sort -u | while read -r name; do
        [ -e "$share/man/man3/$name.3" ] || echo "no page: $name"
    done >>pages
    [ ! -s pages ] || { cat pages; exit 1; }
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W error "$share"/man/man[15]/* "$share"/man/man3/gph-*.3 >lint || { head lint; exit 1; }
    fi
fi

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

# Nothing but gph_ leaves the libraries, each symbol in a node and one of them; and no public
# function of libgph has a copy inside libgph-doctor, where it would have state of its own.
symbols() { nm -D --defined-only "$lib/$1" | awk '$2 != "A" { print $3 }' | sort; }
for library in libgph.so libgph-doctor.so; do
    symbols $library | grep -vE '^gph_[a-z0-9_]+@@GPH_(DOCTOR_)?[0-9.]+$' &&
        { echo "foreign symbols, or of no node, in $library"; exit 1; }
done
symbols libgph.so | sed 's/@.*//' >of_gph
{ nm "$lib/libgph-doctor.so" 2>/dev/null; nm -D --defined-only "$lib/libgph-doctor.so"; } |
    awk '$2 ~ /[TtDdBb]/ { sub(/@.*/, "", $3); print $3 }' | sort -u >in_doctor
[ -z "$(comm -12 of_gph in_doctor)" ] ||
    { comm -12 of_gph in_doctor; echo "is in both libraries"; exit 1; }
