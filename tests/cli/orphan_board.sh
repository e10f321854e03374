# How far a replay was that hung, in what a killed doctor leaves: boards are read beside the rings.
[ -n "${SOFT_DRIVER:-}" ] && [ -x "${STANDING:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
mkdir tmp
export TMPDIR="$PWD/tmp"
for how in "" --sentinels; do
    rm -f end
    "$GPH" doctor --quiet --watch 1000 $how -- sh -c "kill -9 \$PPID; $STANDING killed; echo >end" >/dev/null 2>&1
    for i in $(seq 200); do
        [ -e end ] && break
        sleep 0.1
    done
    sleep 0.2
    for turn in 1 2; do
        "$GPH" doctor --events tmp/gph-doctor-* 2>&1 | grep -E 'info launch.crash|of its [0-9]+ nodes' |
            sed -E 's/executable [^ ]+/executable #/'
    done
    echo "$(ls tmp/gph-doctor-*/*.board | wc -l) board, $(ls tmp | wc -l) folder"
    rm -r tmp/gph-doctor-*
done
