# Files that are pipes: - is standard input, and a FIFO can be read, in every command that reads
# a file: what is said is what is said of a plain file. A table may begin with the mark that
# Windows puts before UTF-8.
"$GPH" inspect /dev/null 2>&1 | grep -q "no JSON reader" && exit 77
cat >graph.json <<'END'
{"format": "gph-graph", "version": 1, "graph": {"name": "two", "nodes": [
  {"kind": "empty"}, {"kind": "empty"}], "edges": [{"from": 0, "to": 1}]}}
END
sed 's/, {"kind": "empty"}//; s/{"from".*}\]/]/; s/\]}\]}}/]}}/' graph.json >one.json
printf 'id,lower,upper,size\na,0,1,8\nb,0,1,8\n' >plan.csv
printf 'size,count\n1,5\n8,2\n' >sizes.csv
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; }\n' >e.ptx
cp "$CASES/plain.gphr" recipe
cp "$(find "$CASES/../doctor/recorded" -name 'capture.unjoined-fork*.log' | sort | head -1)" log
plain() { sed -E 's/^time .*/time/'; }
# FILE COMMAND...: the word FILE of the command is the file itself, a FIFO, standard input.
same() {
    file=$1
    shift
    echo "gph $*" | sed "s/FILE/$file/"
    for way in "$file" fifo -; do
        rm -f fifo
        mkfifo fifo
        [ $way = fifo ] && { cat "$file" >fifo & }
        # shellcheck disable=SC2046
        "$GPH" $(echo "$*" | sed "s/FILE/$way/") <"$file" 2>&1 | plain >"$way.out"
        wait
    done
    cmp "$file.out" fifo.out && cmp "$file.out" ./-.out && [ -s "$file.out" ] && echo "  the same"
}
same graph.json inspect FILE
same recipe inspect FILE
same plan.csv plan FILE
same sizes.csv plan --ladder FILE
same log doctor --events FILE
same graph.json diff FILE one.json
same graph.json diff one.json FILE
[ -n "${SOFT_DRIVER:-}" ] && GPH_SOFTCUDA_PATH=$SOFT_DRIVER && export GPH_SOFTCUDA_PATH
same e.ptx inspect --ptx --quick FILE
cat graph.json | "$GPH" inspect - | head -1
cat recipe | "$GPH" inspect /dev/stdin | head -1
head -c 60 graph.json | "$GPH" inspect -
echo "exit $?"
"$GPH" inspect - <&-
echo "exit $?"
for table in plan.csv sizes.csv; do
    { printf '\357\273\277'; cat $table; } >marked.csv
    option=
    [ $table = sizes.csv ] && option=--ladder
    "$GPH" plan $option $table | plain >without
    "$GPH" plan $option marked.csv 2>&1 | plain | diff without - && echo "$table: the mark is passed over"
done
