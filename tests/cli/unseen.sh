# gph doctor says what it did not see, and why: never an all-clear for a program that it was not in.
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
plain() { sed -E 's/process [0-9]+/process N/g; s/in [0-9,]+ events/in N events/; s,/[^ ]*/(gph-doctor|capture),.../\1,g; s/gph-doctor-[A-Za-z0-9]+/gph-doctor-X/'; }
sick=$BROKEN/capture.unjoined-fork
libraries=$(dirname "$SOFT_DRIVER")
doctor() { # TITLE WORDS...: the last lines, and the status
    echo "== $1"
    shift
    "$@" >/dev/null 2>err </dev/null
    code=$?
    grep -E '^(not )?seen: |events|^gph' err | plain
    echo "exit $code"
}

doctor "seen" "$GPH" doctor --quiet -- "$sick" first
doctor "no driver call" "$GPH" doctor -- true
doctor "env -i" "$GPH" doctor -- env -i LD_LIBRARY_PATH="$libraries" "$sick" first
doctor "env -u" "$GPH" doctor -- env -u LD_PRELOAD -u CUDA_INJECTION64_PATH "$sick" first
doctor "env -u LD_PRELOAD" "$GPH" doctor --quiet -- env -u LD_PRELOAD "$sick" first
doctor "env -u LD_PRELOAD, healthy" "$GPH" doctor -- env -u LD_PRELOAD "$sick" near
doctor "env -i in a shell" "$GPH" doctor -- sh -c 'env -i true; true'
doctor "killed" "$GPH" doctor -- sh -c 'kill -9 $$'
printf 'int main(void) { return 0; }\n' >static.c
${CC:-cc} -static -o static static.c 2>/dev/null || { printf '#!/bin/sh\n' >static; LD_PRELOAD_OFF=1; }
[ -z "${LD_PRELOAD_OFF:-}" ] || { echo "no static C library"; exit 77; }
doctor "static" "$GPH" doctor -- ./static
doctor "static, in JSON" "$GPH" doctor --json json -- ./static
grep -o '"unseen":.*' json | plain
mkdir -p tmp "a b" "a:b"
doctor "relative TMPDIR" env TMPDIR=tmp "$GPH" doctor --quiet -- sh -c "cd / && exec $sick first"
doctor "TMPDIR with a space and a colon" env TMPDIR="$PWD/a b" "$GPH" doctor --quiet -- "$sick" first
doctor "no room for a ring" "$GPH" doctor -- sh -c "ulimit -f 0; exec $sick first"
doctor "room for a small ring" "$GPH" doctor --quiet -- sh -c "ulimit -f 4096; exec $sick first"
doctor "100 processes, the last is sick" "$GPH" doctor --quiet -- \
    sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11; do
        for j in 1 2 3 4 5 6 7 8 9; do $sick near || exit; done; done; $sick first"
doctor "a child outlives its shell" "$GPH" doctor --quiet -- sh -c "(sleep 0.3; exec $sick first) & exit 0"
doctor "and the time of grace" "$GPH" doctor --grace 0 -- sh -c 'exec sleep 1 & sleep 0.2; exit 0'
doctor "gph run" "$GPH" doctor --quiet -- "$GPH" run -- "$sick" first
doctor "a doctor under a doctor" "$GPH" doctor --quiet -- "$GPH" doctor --quiet -- "$sick" first
ls tmp "a b"
for name in "p q" "p:q" 'p;$q'; do # an installation whose path LD_PRELOAD splits
    mkdir -p "$name/bin" "$name/lib/gph"
    top=$(cd "$(dirname "$GPH")/.." && pwd)
    cp -L "$top"/bin/gph "$name/bin/gph"
    cp -L "$top"/lib/libgph.so.0 "$top"/lib/libgph-doctor.so.0 "$name/lib/"
    cp -L "$top"/lib/gph/libgph-attach.so "$name/lib/gph/"
    (cd "$name/lib" && doctor "$name" env LD_LIBRARY_PATH=. ../bin/gph doctor --quiet -- "$sick" first)
done
