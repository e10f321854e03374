#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh NAME FOLDER [GPH SOFTCUDA]: builds tests/programs/NAME.cu with nvcc in every form in which people
# build programs and compares what each says with NAME.out. Without GPH on this machine's GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
name=$1 folder=$2/$1
shift 2
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || { echo "nvcc was not found"; exit 77; }
mkdir -p "$folder/cache" && cd "$folder" || exit 1
export XDG_CACHE_HOME="$folder/cache" SOFTCUDA_CACHE="$folder/kernels" SOFTCUDA_MEMORY=512M
run=()
if [ $# = 2 ]; then
    export GPH_SOFTCUDA_PATH=$2
    run=("$1" run --driver soft --)
    library=$(dirname "$(readlink -f "$nvcc")")/../lib64/libcudart_static.a
    python3 "$(dirname "$2")/static_runtime.py" "$library" >table || exit 1
fi

sources=$here/$name.cu
case $name in
parts) sources="$sources $here/parts_other.cu -rdc=true -lcudadevrt" ;;
children) sources="$sources -rdc=true -lcudadevrt" ;;
esac
# A form and how it is built; the whole program is compiled for each.
forms=(
    "static -O2"
    "shared -O2 -cudart=shared"
    "plain -O0 -G"
    "fixed -O2 -Xcompiler -fno-pie -Xlinker -no-pie"
    "several -O2 -Xfatbin=-compress-all -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"
)
case $name in streams) forms+=("threads -O2 --default-stream per-thread") ;; esac
[ -n "${PROGRAMS_FORMS:-}" ] && forms=("${forms[@]:0:$PROGRAMS_FORMS}")
failed=0
say() {
    timeout 60 "${run[@]}" "./$1" >"$1.out" 2>"$1.err"
    code=$?
    if [ $code = 0 ] && cmp -s "$1.out" "$here/$name.out"; then
        echo "ok $name $1"
    else
        echo "FAILED $name $1: status $code"
        diff "$here/$name.out" "$1.out"
        head -5 "$1.err"
        failed=1
    fi
}
for form in "${forms[@]}"; do
    out=${form%% *}
    if [ ! "$out" -nt "$here/$name.cu" ]; then
        # shellcheck disable=SC2086
        "$nvcc" -std=c++17 ${form#* } -o "$out" $sources || exit 1
    fi
    say "$out"
done
cp static stripped && strip stripped && say stripped

# The doctor on what is right has nothing to say, on what is wrong its line.
findings() {
    timeout 100 "${run[0]}" doctor --driver soft -- ./static >doctor.out 2>&1
    grep -E '^(error|warning) ' doctor.out | sed 's/:.*//'
}
if [ ${#run[@]} -gt 0 ]; then
    case $name in
    graphs) expected="error capture.synchronize
error instantiate.clone-memory-nodes" ;;
    launch) expected="error error.refused-call" ;;
    *) expected="" ;;
    esac
    found=$(findings)
    if [ "$found" = "$expected" ]; then
        echo "ok $name doctor"
    else
        echo "FAILED $name doctor: $found"
        failed=1
    fi
fi
exit $failed
