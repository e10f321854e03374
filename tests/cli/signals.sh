# A signal that a process sends to the doctor is for the program; nothing is left, whatever
# ends first, and whoever stops to read.
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
mkdir tmp
export TMPDIR="$PWD/tmp"
for signal in INT QUIT TERM HUP USR1 USR2; do
    said=$(timeout --foreground --preserve-status -k 20 -s $signal 2 "$GPH" doctor --quiet -- sh -c \
        "trap 'echo it got it; exit 7' $signal; while :; do sleep 0.1; done" 2>/dev/null)
    echo "$signal: $said, exit status $?, $(ls tmp | wc -l) left"
done
# Nobody reads what it says: the program goes on to its end, and knows nothing of it.
"$GPH" doctor -- sh -c "sleep 1; $BROKEN/capture.unjoined-fork first >/dev/null; echo ended >end" 2>&1 | true
for i in $(seq 100); do
    [ -e end ] && [ "$(ls tmp | wc -l)" = 0 ] && break
    sleep 0.1
done
echo "$(cat end), $(ls tmp | wc -l) left"
"$GPH" doctor --quiet -- sh -c 'kill -PIPE $$; echo it is ignored' 2>/dev/null
echo "SIGPIPE in the program: $?"
