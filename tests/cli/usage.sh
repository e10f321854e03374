# Wrong usage: the words are named, the exit status is 2.
for words in frob "run" "run --driver" "run --driver -- true" "run --frob x" "run -x y" "run --summary=1 true" \
    "version extra" "bench" "bench speed" "bench launch --nodes 0" \
    "bench launch --launches=ten" "inspect" "inspect a b" "inspect --ir a" \
    "inspect --ptx --dot x a" "help frob" "help a b" "env --driver hard"; do
    echo "\$ gph $words"
    # shellcheck disable=SC2086
    "$GPH" $words
    echo "exit $?"
done
