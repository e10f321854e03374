# gph doctor: text, JSON, exit status, logs.
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
plain() { sed -E 's/0x[0-9a-f]{6,}/0x?/g; s/thread [0-9]+/thread N/g; s/broken.h:[0-9]+/broken.h:N/g; s/in [0-9,]+ events/in N events/; s/共 [0-9,]+ 个/共 N 个/'; }

"$GPH" doctor -- "$BROKEN/capture.unjoined-fork" first 2>err >out
echo "exit $?"
plain <err
cat out
"$GPH" doctor --quiet -- "$BROKEN/capture.unjoined-fork" near 2>&1 | plain
"$GPH" doctor --quiet --lang zh -- "$BROKEN/capture.unjoined-fork" first 2>&1 >/dev/null | plain
"$GPH" doctor --quiet --save-events log -- "$BROKEN/capture.unjoined-fork" first >/dev/null 2>&1
"$GPH" doctor --events log 2>err2
echo "exit $?"
plain <err >e; plain <err2 >e2; diff e e2 && echo "a log gives the same"
"$GPH" doctor --quiet --json - --events log 2>/dev/null | head -1 | sed -E 's/"events":[1-9][0-9]*/"events":N/' | cut -c1-62
head -c 100 log >cut
"$GPH" doctor --events cut 2>&1 | sed 's/offset.*/offset/'
"$GPH" doctor --events missing
echo "exit $?"
"$GPH" doctor -- sh -c 'exit 9' 2>&1
echo "exit $?"
"$GPH" doctor -- no-such-program
echo "exit $?"
"$GPH" doctor
echo "exit $?"
"$GPH" doctor --tier 7 -- true
echo "exit $?"
"$GPH" doctor --lang fr -- true
echo "exit $?"
"$GPH" doctor --events log -- true
echo "exit $?"
LD_PRELOAD=$PWD/none.so "$GPH" doctor --quiet -- sh -c 'echo "${LD_PRELOAD%%:*}" | sed "s,.*/,,"' 2>/dev/null
# A race that the code of the kernels shows is a warning; check mode sees it happen. A log was seen without it.
"$GPH" doctor --quiet -- "$BROKEN/check.race" first 2>&1 | plain
"$GPH" doctor --check -- "$BROKEN/check.race" first 2>&1 | grep -c '^error check.race'
"$GPH" doctor --check --events log
echo "exit $?"
