#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each test of a program of tests/conformance/rules in a process of its own, so that a
# crash, or a launch that never ends, costs that test alone. usage: scripts/one_by_one.sh
# PROGRAM [SECONDS] (of each test; 60). Ends with 1 if a test failed, or did not end by itself.
set -uo pipefail
program=${1:?a program} seconds=${2:-60}
bad=0 head=
tests=$("$program" --tests) || exit 1
while read -r rule name; do
    said=$(ONE=$name timeout -k 5 "$seconds" "$program" </dev/null)
    code=$?
    # What is said of the driver once is enough; of the count, nothing.
    this=$(grep '^# ' <<<"$said")
    [ -n "$this" ] && [ "$this" != "$head" ] && echo "$this" && head=$this
    grep -v -e '^# ' -e '^[0-9]* passed, ' -e "^\$" <<<"$said"
    case $code in
        0 | 77)
            grep -qE "^(not )?ok .*\b$name\b" <<<"$said" && continue
            echo "not ok $rule $name"; echo "it did not run"; bad=1
            ;;
        1) bad=1 ;;
        124 | 137) echo "not ok $rule $name"; echo "stopped after $seconds s"; bad=1 ;;
        *) echo "not ok $rule $name"; echo "ended with status $code"; bad=1 ;;
    esac
done <<<"$tests"
exit $bad
