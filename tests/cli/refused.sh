# gph run says it where softcuda refused every call; and what the CUDA runtime's first refused
# call means.
[ -n "${SOFT_DRIVER:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_CACHE=off SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_CACHE SOFTCUDA_MEMORY
# In the child of a fork() the leak checker does not find the threads of the parent, and says so.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
for way in runtime before some last fork; do
    echo "\$ gph run refused $way"
    "$GPH" run "$REFUSED" $way 2>&1
    echo "exit $?"
done
echo "\$ gph run --summary refused before"
"$GPH" run --summary "$REFUSED" before 2>&1 | sed 's/^host time.*/host time/; s/^peak device.*/peak/'
SOFTCUDA_LOG=stderr "$GPH" run "$REFUSED" runtime 2>&1 | sed 's/^\[[^E]*E\] //'
LD_LIBRARY_PATH=$(dirname "$SOFT_DRIVER") "$REFUSED" before
echo "without gph run: exit $?"
