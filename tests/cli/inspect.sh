# gph inspect of graph files, good and bad.
"$GPH" inspect /dev/null 2>&1 | grep -q "no JSON reader" && exit 77
cat >good.json <<'END'
{"format": "gph-graph", "version": 1, "graph": {"name": "two layers", "nodes": [
  {"kind": "memset", "address": "0x7f0000000000", "pitch_bytes": 0, "width": 64,
   "height": 1, "value": 0, "element_bytes": 4},
  {"kind": "kernel", "name": "first", "function": "layer", "handle": "0x0",
   "grid": [4, 1, 1], "block": [128, 1, 1], "shared_bytes": 0},
  {"kind": "kernel", "function": "layer", "handle": "0x0",
   "grid": [4, 1, 1], "block": [128, 1, 1], "shared_bytes": 0},
  {"kind": "kernel", "function": "add", "handle": "0x0",
   "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0},
  {"kind": "child", "graph": {"nodes": [{"kind": "empty"}, {"kind": "empty"}],
   "edges": [{"from": 0, "to": 1}]}}],
 "edges": [{"from": 0, "to": 1}, {"from": 0, "to": 2}, {"from": 1, "to": 3},
  {"from": 2, "to": 3}]}}
END
"$GPH" inspect good.json --dot good.dot
echo "exit $?"
cat good.dot
sed 's/"kind": "memset"/"kind": "menuet"/' good.json >bad.json
"$GPH" inspect bad.json
echo "exit $?"
head -c 100 good.json >cut.json
"$GPH" inspect cut.json
echo "exit $?"
"$GPH" inspect missing.json
echo "exit $?"
"$GPH" inspect good.json --dot no/such/folder.dot >out
echo "exit $?"
"$GPH" inspect . 2>&1 | sed 's/^gph: //'
ls
