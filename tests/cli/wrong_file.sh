# A file of another kind than the command takes: what it seems to be, what the command takes, which command takes it.
"$GPH" inspect /dev/null 2>&1 | grep -q "no JSON reader" && exit 77
cp "$GPH" program
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; }\n' >kernel.ptx
printf 'Traceback (most recent call last):\nRuntimeError: CUDA error\n' >train.log
printf 'id,lower,upper,size\na,0,1,8\n' >buffers.csv
printf '\211PNG\r\n\032\n    IHDR' >plot.png
printf '\120\355\125\272\001\000\020\000    ' >image.fatbin
printf '\037\213\010\000zzzz' >graph.json.gz
printf '<!DOCTYPE html>\n<html>' >report.html
printf '#!/bin/sh\nexec true\n' >train.sh
printf '\000\001\002\003\004' >weights
printf '  {"nodes": 1}' >other.json
: >empty
cp "$CASES/plain.gphr" recipe
cp "$(find "$CASES/../doctor/recorded" -name 'capture.unjoined-fork*.log' | sort | head -1)" events
for file in program kernel.ptx train.log buffers.csv plot.png image.fatbin graph.json.gz report.html train.sh weights \
    other.json empty events .; do
    "$GPH" inspect $file
    echo "exit $?"
done
"$GPH" diff recipe events
echo "exit $?"
for file in program recipe other.json train.log buffers.csv; do
    "$GPH" plan $file 2>&1 | sed 's/ after .*//; /^time/d' | head -3
done
"$GPH" plan --ladder program
for file in program kernel.ptx recipe weights empty; do
    "$GPH" doctor --events $file
    echo "exit $?"
done
"$GPH" inspect - <kernel.ptx
echo "exit $?"
