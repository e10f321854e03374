#!/bin/sh
# usage: softcuda.sh GPH PROGRAMS LIST
# What softcuda logs about a broken program leads gph explain to the rule it breaks. LIST
# has a program of tests/doctor/rules and its way a line: those that a driver refuses
# something.
set -u
gph=$1 programs=$2 list=$3
bad=0 count=0
while read -r rule way; do
    found=$(CUDA_LOG_FILE=stderr "$gph" run --driver soft -- "$programs/$rule" "$way" \
        </dev/null 2>&1 | "$gph" explain --lang en | sed -n '1s/: .*//p')
    count=$((count + 1))
    [ "$found" = "$rule" ] && continue
    echo "$rule $way leads to $found"
    bad=1
done <"$list"
echo "$count logs"
[ $count -ge 60 ] || bad=1
exit $bad
