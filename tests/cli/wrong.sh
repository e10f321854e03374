# Wrong use of every command, made from the commands' own help: the exit status is 2, nothing
# goes to standard output, and one option or command that is two letters away is named.
wrong() {
    tried=$((tried + 1))
    "$GPH" "$@" >out 2>err </dev/null
    code=$?
    [ $code = 2 ] || echo "exit $code: gph $*"
    [ -s err ] || echo "says nothing: gph $*"
    [ -s out ] && echo "standard output: gph $*"
}
suggests() {
    grep -qF "; did you mean $1?" err || { echo "no word of $1:"; cat err; }
}
tried=0
"$GPH" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
    wrong "x$command" && suggests "$command"
    wrong help "x$command" && suggests "$command"
    "$GPH" help "$command" >page
    case $command in
    run | doctor) given=true ;;
    bench) given=launch ;;
    diff) given='a b' ;;
    inspect | plan) given=missing ;;
    *) given= ;;
    esac
    # shellcheck disable=SC2086
    wrong "$command" --qqqqq $given
    grep -q 'did you mean' err && cat err
    # shellcheck disable=SC2086
    wrong "$command" -q $given
    case $command in
    run | doctor | bench | diff | inspect | plan) wrong "$command" ;;
    esac
    case $command in
    bench | diff | inspect | plan | version | env | help)
        # shellcheck disable=SC2086
        wrong "$command" $given one two
        ;;
    esac
    grep -oE '^  --[a-z-]+( [^ ]+)?' page >options
    while read -r option argument; do
        # shellcheck disable=SC2086
        wrong "$command" "${option}x" $given && suggests "$option"
        case $argument in
        '') wrong "$command" "$option=1" ;;
        *) wrong "$command" "$option" ;;
        esac
        with=
        case "$command $option" in
        'plan --buckets' | 'plan --multiple') with=--ladder ;;
        esac
        case $argument in
        N | BYTES | SECONDS) bad='-1 1x x 99999999999999999999' ;;
        *'|'*) bad='x' ;;
        *) bad= ;;
        esac
        # Waiting no time at all is a wait; nothing else may be 0.
        case $argument$option in
        SECONDS--grace) ;;
        N--* | BYTES--* | SECONDS--*) bad="0 $bad" ;;
        esac
        for value in $bad ''; do
            # A file may have any name but none.
            # shellcheck disable=SC2086
            [ -n "$argument" ] && wrong "$command" $with "$option" "$value" $given
            # shellcheck disable=SC2086
            [ -n "$argument" ] && wrong "$command" $with "$option=$value" $given
        done
    done <options
done <commands
wrong --qqqqq
wrong -q
wrong ''
wrong --versionx && suggests --version
wrong help --scdoc plan diff
wrong help --scdoc plam && suggests plan
wrong inspect --dot x --ptx missing
wrong plan --ladder --out x missing
wrong plan --buckets 3 missing
wrong explain --list word
wrong doctor --events missing --tier 0 true
for option in "--watch 3" --sentinels --kernels --nodes; do
    # shellcheck disable=SC2086
    wrong doctor --events missing $option
done
wrong explain --list --markdown
wrong explain --markdown --json
echo '{"format":"gph-graph","version":1,"graph":{"name":"a","nodes":[],"edges":[]}}' >read
printf 'id,lower,upper,size\na,0,2,100\n' >table
ln read other
cp read kept
wrong inspect --dot read read
wrong inspect --dot ./other read
wrong plan --out table table
cmp read kept
[ $tried -gt 200 ] && echo "all of it is refused"
for words in "inspect --jsn x" "doctor --save-event f true" "inspct x" "plan --ou x y" \
    "bench launch --node=3" "bench" "bench lunch" "bench launch x" "inspect" "inspect a b" "--hlp" "inspect -jsn x" "x" "inspect --i x"; do
    echo "\$ gph $words"
    # shellcheck disable=SC2086
    "$GPH" $words
    echo "exit $?"
done
