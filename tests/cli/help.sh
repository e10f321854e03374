# Every command explains itself; help goes to standard output.
"$GPH" help 2>/dev/null
for command in run env inspect diff bench version help; do
    echo "\$ gph $command --help"
    "$GPH" $command --help 2>/dev/null || echo "exit $?"
    "$GPH" help $command | diff - "$("$GPH" $command --help >x; echo x)" || echo "differs"
done
"$GPH" >y && "$GPH" --help | diff y - && echo "gph, gph help and gph --help agree"
# Anywhere before --, and before another program.
"$GPH" plan --help >plan; "$GPH" run --help >run
for words in "plan file --help" "plan --help file" "plan a b c -h" "plan --frob --help" \
    "plan --out --help" "plan --time-limit=x file --help" "plan --ladder --help -- x"; do
    # shellcheck disable=SC2086
    "$GPH" $words 2>&1 | cmp - plan || echo "differs: $words"
done
"$GPH" run --driver hard --help | cmp - run
"$GPH" doctor --tier 7 env --help 2>&1
"$GPH" doctor --tier 7 -- --help 2>&1
"$GPH" explain -- --help | grep -c usage
"$GPH" help --help >/dev/full
echo "exit $?"
