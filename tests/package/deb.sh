#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: deb.sh ROOT      Tries what the Debian packages put below ROOT: / where they are installed.
set -eu
root=${1%/}
lib=$(dirname "$(find "$root/usr/lib" -name libgph.so)")
soft=$lib/gph/soft
gph=$root/usr/bin/gph
[ -z "$root" ] || export LD_LIBRARY_PATH=$lib
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
    echo "deb.sh: $*" >&2
    exit 1
}

"$gph" version | grep -q "^gph .*libgph" || fail "gph version"
"$gph" explain 901 >said || fail "gph explain"
grep -q stream-capture-invalidated said || fail "gph explain 901 does not know its error"
[ "$("$gph" env --driver soft | sed -n 's/^path *//p')" = "$soft/libcuda.so.1" ] || fail "softcuda is not found"

# A program of the driver API: built against the headers and the stub, run and examined.
cat >first.c <<'END'
#include <gph/gph.h>
#include <stdio.h>
int main(void)
{
    gph_error error = {0};
    gph_runtime *runtime = NULL;
    if (gph_open(NULL, &runtime, &error) != GPH_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    puts("opened");
    gph_close(runtime);
    return 0;
}
END
gcc first.c -I"$root/usr/include" -L"$lib" -lgph -o first || fail "a program cannot be built"
[ "$("$gph" run --driver soft ./first)" = opened ] || fail "a program does not run on softcuda"
"$gph" doctor --driver soft ./first >out 2>&1 || { cat out; fail "gph doctor"; }

# Of every package something that only it has.
for file in share/man/man3/gph_capture_begin.3 share/man/man1/gph.1 share/man/man1/gph-doctor.1 share/doc/gph/docs/libgph.md \
    share/bash-completion/completions/gph; do
    [ -e "$root/usr/$file" ] || [ -e "$root/usr/$file.gz" ] || fail "not there: /usr/$file"
done
echo "the packages work: $("$gph" version)"
