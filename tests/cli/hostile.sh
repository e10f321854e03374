# Names and folders that are not what one would give: true sentences, the statuses that help
# names, no escape of a file's reaches the terminal, no output replaces another.
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
try() { "$@" 2>&1 | cat -v | sed 's/gph-doctor-[^:]*/NAME/'; }
status() { "$@" >/dev/null 2>&1; echo "exit $?"; }
near="$BROKEN/capture.unjoined-fork near"
echo "--- it was not observed, as its status says"
for folder in /no/such /etc/passwd; do
    TMPDIR=$folder try "$GPH" doctor --quiet -- $near
    TMPDIR=$folder status "$GPH" doctor --quiet -- $near
done
status "$GPH" doctor --quiet --save-events no/such/log -- $near
status "$GPH" doctor --quiet --events no/such/log
echo "--- two outputs are two files, and none is what is read"
status "$GPH" doctor --quiet --save-events log -- $near
cp log kept
ln -s log link
for options in "--json a --report a" "--report a --trace ./a --json a" "--events log --json log" "--events log --save-events link"; do
    try "$GPH" doctor --quiet $options $([ "${options#--events}" = "$options" ] && echo "-- $near")
done
cmp log kept && ls
status "$GPH" doctor --quiet --json /dev/null --report /dev/null -- $near
echo "--- links: to what is not there yet, and in a circle"
mkdir far
ln -s far/later later
ln -s circle other
ln -s other circle
status "$GPH" doctor --quiet --events log --json later
status "$GPH" doctor --quiet --events log --json circle
try "$GPH" doctor --quiet --events log --json circle | sed "s/[0-9]* events/N events/"
for name in later circle other far/later; do
    [ -L $name ] && echo "$name is a link" || echo "$name is a file"
done
echo "--- a program that is something else by now"
cp "$BROKEN/capture.unjoined-fork" program
status "$GPH" doctor --quiet --save-events log -- ./program first
rm program
mkfifo program
status timeout 20 "$GPH" doctor --events log
echo "--- what a terminal would act on"
escape=$(printf '\033[31m')
try "$GPH" inspect "no${escape}file"
try "$GPH" "run${escape}"
try "$GPH" run "no${escape}program"
try "$GPH" run ""
try "$GPH" ""
try "$GPH" inspect --quick"$escape"
try "$GPH" "$(printf '%0300d' 0)" | cut -c1-140
printf 'id,lower,upper,size\na,0,1,5%sx\n' "$escape" >table
try "$GPH" plan table
printf '{"format":"gph-graph","version":1,"graph":{"name":"a\\u001b[2Jb","nodes":[{"kind":"empty","name":"\\u009b2J"}],"edges":[]}}' >graph
try "$GPH" inspect graph
