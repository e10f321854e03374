# gph run: the program's libcuda.so.1 is the chosen one; its exit status is gph's.
GPH_SOFTCUDA_PATH=$FAKE_DRIVER
export GPH_SOFTCUDA_PATH
say() {
    echo "\$ gph run $*"
    "$GPH" run "$@" 2>&1
    echo "exit $?"
}
ln -s "$FAKE_PROGRAM" program
say --driver soft ./program 3
say --driver=soft -- ./program 1 7
say --driver soft --summary ./program 5
say --driver soft --summary -- ./program 1 signal
say --driver soft --summary true
say --driver soft --summary sh -c 'kill -TERM $PPID; sleep 2; echo "not reached"'
say --driver soft ./no-such-program
say --driver soft --summary ./no-such-program
: >file
say --driver soft ./file
GPH_DRIVER=soft say ./program 1
LD_LIBRARY_PATH=/tmp say --driver soft sh -c 'echo "${LD_LIBRARY_PATH##*:}"'
say --driver soft --summary sh -c 'echo "{}" >"$SOFTCUDA_SUMMARY"'
FAKE_VERSION=11080 say --driver soft ./program 2>&1 | sed 's| /.*/| |'
"$GPH" env --driver soft 2>/dev/null | sed -n '2p'
