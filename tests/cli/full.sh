# Disks that are full, and no standard output: what was found is said all the same, files are
# there whole or as they were, and the failure is said with its file.
small='id, lower, upper, size
a, 0, 3, 100
b, 1, 4, 100'
printf '%s\n' "$small" >plan.csv
printf '{"format":"gph-graph","version":1,"nodes":[],"edges":[]}\n' >graph.json
for words in "help" "version" "env --driver soft" "help --scdoc" "explain 910" \
    "explain --list" "plan plan.csv" "plan --out - plan.csv" "plan --help"; do
    # shellcheck disable=SC2086
    "$GPH" $words >/dev/full 2>err
    echo "gph $words >/dev/full: exit $?, $(cat err)"
    # shellcheck disable=SC2086
    "$GPH" $words >&- 2>err
    echo "gph $words >&-: exit $?, $(cat err)"
done
# Nor is one that is read standard input, and programs see the closed streams as they are.
"$GPH" plan - <&- 2>&1
"$GPH" doctor --tier 7 true 2>&- || echo "exit $?"
# A limit on file sizes is not a signal to any command that only writes.
for words in "explain --list" "help --scdoc" "plan --out - plan.csv"; do
    # shellcheck disable=SC2086
    (ulimit -f 0; "$GPH" $words 2>&1 >limited) | cat
done
# Without standard output a file that is written is not it.
"$GPH" plan --out placed.csv plan.csv >&- 2>err
echo "exit $?, $(cat err)"
cat placed.csv
[ -n "${SOFT_DRIVER:-}" ] && [ -n "${BROKEN:-}" ] || exit 77
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_MEMORY
"$GPH" run sh -c '[ -e /proc/self/fd/0 ] || echo "closed it stays"' <&-
"$GPH" doctor --quiet --save-events log -- "$BROKEN/capture.unjoined-fork" first >/dev/null 2>&1
plain() { sed -E 's/in [0-9,]+ events/in N events/' | grep -E '^(gph|error|[0-9]|exit)'; }
run() { { "$@" 2>&1; echo "exit $?"; } | plain; }
echo old >kept
for option in --json --save-events --report --trace; do
    echo "\$ gph doctor --events log $option"
    run sh -c 'ulimit -f 1; exec "$@"' sh "$GPH" doctor --events log $option kept
    run "$GPH" doctor --events log $option /dev/full
done
run "$GPH" doctor --events log --report no/folder --trace trace
run "$GPH" doctor --events log --save-events no/folder
run "$GPH" doctor --events log --json no/folder
run sh -c '"$@" >/dev/full' sh "$GPH" doctor --events log --json -
cat kept
ls
