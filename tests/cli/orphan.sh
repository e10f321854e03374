# What a doctor leaves that was killed: it can be read, as often as one likes, and the next
# doctor takes it away, but not what is in use.
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
mkdir tmp
export TMPDIR="$PWD/tmp"
plain() { sed -E 's/in [0-9,]+ events/in N events/' | grep -E '^(gph|error|[0-9])'; }
sick="$BROKEN/capture.unjoined-fork"
"$GPH" doctor --quiet -- sh -c "kill -9 \$PPID; $sick first; echo >end; for i in \$(seq 100); do [ -e go ] || sleep 0.1; done; echo >gone" >/dev/null 2>&1
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e end ] && break
    sleep 0.5
done
echo "$(ls tmp | wc -l) folder of a killed doctor"
"$GPH" doctor --quiet -- true 2>/dev/null
echo "$(ls tmp | wc -l) where something runs in it"
echo >go
for i in $(seq 50); do [ -e gone ] || sleep 0.1; done
sleep 0.5
for turn in 1 2; do
    "$GPH" doctor --events tmp/gph-doctor-* 2>&1 | plain
done
"$GPH" doctor --events tmp
echo "exit $?"
# Another namespace's or machine's, and those without an owner, are not judged.
mkdir tmp/gph-doctor-far tmp/gph-doctor-none
ln -s "$$ 1 elsewhere 0" tmp/gph-doctor-far/owner
ln -s gph-doctor-none tmp/gph-doctor-link
"$GPH" doctor --quiet -- "$GPH" doctor --quiet -- sh -c 'ls -d tmp/gph-doctor-??????| wc -l' 2>/dev/null
ls tmp
