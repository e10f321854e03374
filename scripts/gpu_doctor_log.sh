#!/usr/bin/env bash
# usage: scripts/gpu_doctor_log.sh BUILD OUT [PYTHON]
# On a GPU machine with PyTorch: records the event logs of what softcuda cannot show, and says
# whether the rule was reported. nccl.* need two GPUs (a communicator of one rank launches no kernel)
# and are left out with a word where there is but one.
set -u
build=$1 out=$2 python=${3:-/opt/torch/bin/python}
here=$(cd "$(dirname "$0")/.." && pwd)
[ -x "$python" ] || python=python3
mkdir -p "$out"
failed=0

# record RULE WANTED SECONDS ARGUMENTS...: WANTED is 1 if the rule must be reported, 0 if not. The
# logs are $out/RULE.$name.*, where name is WANTED unless it is set.
record() {
    local rule=$1 wanted=$2 seconds=$3 name=${name:-$2}
    shift 3
    timeout --signal=KILL $((seconds + 30)) "$build/bin/gph" doctor --driver cuda \
        --save-events "$out/$rule.$name.log" --json "$out/$rule.$name.json" -- \
        timeout --signal=KILL "$seconds" "$python" "$here/scripts/gpu_doctor_log.py" "$@" \
        > "$out/$rule.$name.txt" 2>&1
    local reported=0
    grep -q "\"$rule\"" "$out/$rule.$name.json" 2> /dev/null && reported=1
    local word=ok
    [ $reported = "$wanted" ] || { word=NOT; failed=1; }
    echo "$word $rule reported $reported wanted $wanted events $(stat -c %s "$out/$rule.$name.log" 2> /dev/null) bytes"
}

# PyTorch keeps the plan it has for a shape: what is captured before `benchmark` is switched on
# is not measured later.
name=late record cache.frozen-choice 0 240 choice late
record cache.frozen-choice 0 240 choice before
record rng.frozen 0 240 random
record memory.stale-address 0 240 healthy
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
    record nccl.destroy-before-graph 1 60 nccl destroy
    record nccl.destroy-before-graph 0 60 nccl right
else
    echo "skipped nccl.*: one GPU"
fi
exit $failed
