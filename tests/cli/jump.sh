# gph doctor on logs whose clock jumps an hour back and forth (fake/clock.c): no duration is negative, or
# of the years that a difference of unsigned times would be.
absurd() { grep -oE '[^0-9a-fA-Fx.]([0-9]{12,}(\.[0-9]+)?|-[0-9]+(\.[0-9]+)?) ?(ns|us|ms|s|m|h|%)\b|"dur":(-|[0-9]{11})[^,}]*|[^a-z](nan|inf)[^a-z]|[0-9]e\+[0-9]+' "$@"; }
for log in "$CASES"/advice.log "$CASES"/../doctor/recorded/*.log; do
    "$CLOCK" "$log" jumped || exit 1
    "$GPH" doctor --events jumped --capturable --advise --summary --json json --report page.html --trace trace \
        >out 2>&1
    code=$?
    [ $code -lt 2 ] || echo "$(basename "$log"): exit $code"
    grep -E '[0-9]{6,}\.[0-9]+ [TGM]iB' out && basename "$log"
    absurd out trace && basename "$log"
    grep -oE '"[a-z_]*(duration|ns|us|ms|seconds)":(-[0-9.]+|[0-9]{14,})' json | grep -v time_ns && basename "$log"
done
"$CLOCK" "$CASES/advice.log" jumped
"$GPH" doctor --events jumped --quiet --advise 2>&1 | grep -o 'unknown: the clock of this log goes back'
echo done
