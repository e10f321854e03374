#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: installed.sh PYTHON DIST
# Installs the wheels of DIST in a new environment and uses them as their users do. sh and Python
# alone: it runs in systems that have nothing else.
set -eu
python=$1 dist=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset GPH_DRIVER GPH_SOFTCUDA_PATH GPH_LOG PYTHONPATH
export SOFTCUDA_CACHE=off PIP_DISABLE_PIP_VERSION_CHECK=1

fail() {
    echo "installed.sh: $*" >&2
    [ ! -e out ] || cat out >&2
    exit 1
}
says() { # text, command ...: its output, of both streams, holds the text
    text=$1
    shift
    "$@" >out 2>&1 || true
    grep -qF -- "$text" out || fail "\"$*\" does not say \"$text\":"
}

# A path with what is split or expanded elsewhere; venv itself refuses a colon.
mkdir "$folder/a b;c"
cd "$folder/a b;c"
"$python" -m venv env
env/bin/python -m pip install -q --no-index --find-links "$dist" graphophone
version=$(env/bin/python -m pip show graphophone | sed -n 's/^Version: //p')
says "gph $version, libgph $version" env/bin/gph version
says "gph $version, libgph $version" env/bin/python -m graphophone version
says "904-stream-capture-unjoined" env/bin/gph explain 904
says "pip has it as graphophone-softcuda" env/bin/gph run --driver soft -- true
env/bin/python -m pip install -q --no-index --find-links "$dist" 'graphophone[softcuda]'

# The manual is beside the folder of programs, where man looks for it.
for page in man1/gph.1 man1/gph-doctor.1 man1/gph-run.1 man5/gph-graph.5; do
    [ -s "env/share/man/$page" ] || fail "the wheel has no $page"
done
if command -v man >/dev/null; then
    says "env/share/man/man1/gph-doctor.1" env -u MANPATH PATH="$PWD/env/bin:$PATH" man -w gph-doctor
fi

# libgph's objects, where the wheel is for this Python; NumPy where pip gets it.
env/bin/python -m pip install -q numpy >/dev/null 2>&1 || echo "installed.sh: without NumPy, which pip did not get"
tag=$("$python" -c 'import sys
version = sys.version_info[:2]
abi = "%d%d%s" % (*version, getattr(sys, "abiflags", "").replace("m", ""))
print("cp%d%d-cp%s%s" % (*version, abi, "|cp312-abi3" if version > (3, 11) and not abi.endswith("t") else ""))')
if ls "$dist" | grep -qE -- "^graphophone-.*-($tag)-"; then
    env/bin/python "$here/objects.py" || fail "the objects do not work"
else
    says "has only the command gph" env/bin/python -c 'import graphophone; graphophone.open'
fi

use() { # the environment
    says "trained" "$1/bin/gph" run --driver soft -- "$1/bin/python" "$here/train.py"
    says "no findings" "$1/bin/gph" doctor --driver soft -- "$1/bin/python" "$here/train.py"
    line=$(grep -n 'the mistake' "$here/train.py" | cut -d: -f1)
    says "at allocate (train.py:$line) in thread" \
        "$1/bin/gph" doctor --driver soft --report report.html -- "$1/bin/python" "$here/train.py" broken
    grep -q "^error capture.unsafe-call" out || fail "another cause:"
    "$1/bin/python" - <<'END' || fail "the report is not there"
import os
assert os.path.getsize("report.html") > 100000
END
}
use env
ln -s "$PWD/env/bin/gph" linked
says "gph $version" ./linked version

# Environments are moved by whoever builds an image.
mkdir elsewhere
mv env elsewhere/moved
sed -i "1s|.*|#!$PWD/elsewhere/moved/bin/python|" elsewhere/moved/bin/pip
use elsewhere/moved
env=elsewhere/moved

"$env/bin/python" - "$env/bin/gph" <<'END'
import subprocess, sys, time
times = []
for _ in range(21):
    begun = time.perf_counter()
    subprocess.run([sys.argv[1], "version"], stdout=subprocess.DEVNULL, check=True)
    times.append(time.perf_counter() - begun)
print("gph version: %.1f ms, the median of 21" % (1e3 * sorted(times)[10]))
END

# The start of another version does not run this one's command.
site=$("$env/bin/python" -c 'import graphophone, os; print(os.path.dirname(os.path.dirname(graphophone.__file__)))')
mv "$site/graphophone-$version.dist-info" "$site/graphophone-9.8.7.dist-info"
says "the package graphophone $version is not in a site-packages that belongs to" "$env/bin/gph" version
mv "$site/graphophone-9.8.7.dist-info" "$site/graphophone-$version.dist-info"

# Other places that pip knows.
"$env/bin/python" -m pip install -q --no-index --find-links "$dist" --target "$PWD/target" graphophone
says "gph $version" target/bin/gph version

"$env/bin/python" -m pip uninstall -q -y graphophone graphophone-softcuda
left=$(find "$env" -name '*graphophone*' -o -name 'gph*' -o -name 'libgph*')
[ -z "$left" ] || fail "pip uninstall left $left"
echo "the wheels work: $("$python" --version 2>&1), graphophone $version"
