#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# programs_suites.sh SUITE FOLDER OUT [FILE...]: a client's own tests, a process a file, for scripts/programs_beside.py: OUT has a
# line a test. FILE is below FOLDER (numba-cuda: a module, such as numba.cuda.tests.cudapy.test_array), by default all
# test_*.py there. The same files run on a GPU machine, and here with RUNNER set.
#   RUNNER="build/release/bin/gph run --driver soft --"   PYTHON=python3   EACH=150 (seconds a file)   SECONDS_A_TEST=60
set -u
if [ $# -lt 3 ] || [ ! -d "$2" ]; then
    sed -n '3,6s/^# //p' "$0" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
export SUITE=$1 ROWS SECONDS_A_TEST=${SECONDS_A_TEST:-60} PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
ROWS=$(realpath "$3")
python=${PYTHON:-python3}
cd "$2" || exit 1
shift 3
[ $# -gt 0 ] || set -- $(find . -name 'test_*.py' | sort)
for file in "$@"; do
    case $file in
    *.py) set -- -m pytest -p programs_rows -p no:cacheprovider -q --timeout "$SECONDS_A_TEST" "$file" ;;
    *) set -- "$here/programs_rows.py" "$file" ;;
    esac
    # shellcheck disable=SC2086 # RUNNER is a command with its words
    timeout -k 3 "${EACH:-150}" ${RUNNER:-} "$python" "$@" </dev/null || echo "$file: $?"
done
