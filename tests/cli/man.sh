# The list of commands in the page of gph is that of the table.
man=$CASES/../../man
sed -n '/^; begin of what/,/^; end of what/p' "$man/gph.1.scd" | sed '1d;$d' >page
"$GPH" help --scdoc | diff page - && echo "the list of commands agrees"
# Every setting that gph env shows of its own is in it.
GPH_DRIVER=soft GPH_SOFTCUDA_PATH=/nowhere "$GPH" env 2>/dev/null | grep -o '^GPH_[A-Z_]*' |
    while read -r name; do
        grep -q "^\*$name\*" "$man/gph.1.scd" || echo "missing: $name"
    done
# Each command has a page, made and installed; each option of its help is in the page, and no other.
# What is written by hand follows the options, refers to gph(1), and uses options that exist.
"$GPH" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
    sed -n 's/^  foreach(command \(.*\))$/\1/p' "$man/CMakeLists.txt" | grep -qw -- "$command" || echo "not made: $command"
    [ -s "$man/gph-$command.1.scd" ] || echo "nothing by hand: $command"
    "$GPH" help --scdoc "$command" >page || echo "no page: $command"
    "$GPH" help "$command" | sed -n 's/^  --\([a-z-]*\).*/\1/p' >help
    sed -n 's/^\*--\([a-z-]*\)\*.*/\1/p' page | diff help - || echo "other options: $command"
    head -1 page | grep -qx "gph-$command(1)" || echo "another title: $command"
    grep -q '^\*gph\*(1)' "$man/gph-$command.1.scd" || echo "no way to gph(1): $command"
    sed -n "s/^\t\(.* | \)*gph $command //p" "$man/gph-$command.1.scd" | sed 's/\(^\| \)-- .*//' | grep -o -- '--[a-z-]*' |
        while read -r option; do grep -qx -- "${option#--}" help || echo "an example of $command uses $option"; done
    [ "$command" = version ] || [ "$command" = env ] || grep -q '^# EXAMPLES' "$man/gph-$command.1.scd" || echo "no example: $command"
done <commands
grep -c . commands
if command -v scdoc >/dev/null; then
    while read -r command; do
        { "$GPH" help --scdoc "$command"; cat "$man/gph-$command.1.scd"; } | scdoc >page.1 || echo "scdoc refuses $command"
        ! command -v mandoc >/dev/null || mandoc -T lint -W error page.1 || echo "mandoc refuses $command"
    done <commands
fi
