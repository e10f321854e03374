# A newline, an escape or a turn of direction in a name of a graph, kernel, region, thread, file or program begins
# no line of any output, and reaches no terminal: text, JSON, HTML, DOT, traces and messages (src/base/plain.h).
lie=$(printf 'a\nFORGED\rFORGED\033[2JFORGED\342\200\250FORGED')
look() { # WHAT FILE...
    what=$1
    shift
    for file; do
        grep -aq FORGED "$file" || continue
        echo "$what" >>said
        grep -aq '^ *FORGED' "$file" && echo "$what: a line is forged in $(basename "$file")"
        LC_ALL=C grep -aqE "$(printf '[\001-\010\013-\037\177]|\342\200\250')" "$file" &&
            echo "$what: a control in $(basename "$file")"
    done
}
for log in "$CASES"/advice.log "$CASES"/../doctor/recorded/*.log; do
    "$FORGE" "$log" forged || exit 1
    "$GPH" doctor --events forged --capturable --advise --summary --json json --report page.html --trace trace \
        >out 2>&1
    [ $? -lt 2 ] || echo "$(basename "$log"): another exit status"
    look doctor out json page.html trace
done
cp "$CASES/advice.log" "$lie"
"$GPH" doctor --events "$lie.no" >out 2>&1
"$GPH" inspect "$lie" >>out 2>&1
"$GPH" diff "$lie" "$lie" >>out 2>&1
"$GPH" plan "$lie.no" >>out 2>&1
"$GPH" plan "$lie" >>out 2>&1
"$GPH" "$lie" >>out 2>&1
"$GPH" doctor "--$lie" >>out 2>&1
"$GPH" doctor --lang "$lie" -- true >>out 2>&1
"$GPH" doctor -- "./$lie" >>out 2>&1
"$GPH" run -- "./$lie.no" >>out 2>&1
"$GPH" bench --launches "$lie" >>out 2>&1
"$GPH" explain "$lie" >>out 2>&1
GPH_DRIVER="$lie" "$GPH" bench >>out 2>&1
GPH_LOG="$lie" "$GPH" bench --launches 1 >>out 2>&1
look messages out
# Names in graph files, tables and messages of softcuda; the names of a graph's nodes are in drawings, too.
cat >graph.json <<'END'
{"format": "gph-graph", "version": 1, "graph": {"name": "a\nFORGED\u001b[2JFORGED\u2028FORGED", "nodes": [
  {"kind": "kernel", "name": "b\nFORGED\u001b[2JFORGED", "function": "c\nFORGED\u001b[2J\u2028FORGED", "handle": "0x0",
   "grid": [4, 1, 1], "block": [128, 1, 1], "shared_bytes": 0}], "edges": []}}
END
sed 's/\[4, 1/[5, 1/' graph.json >other.json
"$GPH" inspect graph.json --dot dot >out 2>&1
"$GPH" diff graph.json other.json >differ 2>&1
look graph out differ dot
printf 'id,lower,upper,size\n"a\rFORGED\033[2JFORGED",0,9,4096\nb\342\200\250FORGED\033[2J,0,3,oh\rFORGED\n' >bad.csv
printf 'id,lower,upper,size\n"a\rFORGED\033[2JFORGED",0,9,4096\nb\342\200\250FORGED\033[2J,0,3,9\n' >good.csv
"$GPH" plan bad.csv >out 2>&1
"$GPH" plan good.csv --out placed.csv >text 2>&1
look plan out text
printf 'cudaErrorFORGED\033[2J\rFORGED error 900 FORGED\342\200\250 FORGED cudaStreamEndCapture FORGED' >question
"$GPH" explain - <question >out 2>&1
"$GPH" explain --json - <question >json 2>&1
look explain out json
sort said | uniq -c | sed 's/^ *//'
