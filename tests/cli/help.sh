# Every command explains itself; help goes to standard output.
"$GPH" help 2>/dev/null
for command in run env inspect diff bench version help; do
    echo "\$ gph $command --help"
    "$GPH" $command --help 2>/dev/null || echo "exit $?"
    "$GPH" help $command | diff - "$("$GPH" $command --help >x; echo x)" || echo "differs"
done
"$GPH" >y && "$GPH" --help | diff y - && echo "gph, gph help and gph --help agree"
