# gph diff of graph files: the same, other fields, another topology, trouble.
"$GPH" inspect /dev/null 2>&1 | grep -q "no JSON reader" && exit 77
cat >a.json <<'END'
{"format": "gph-graph", "version": 1, "graph": {"name": "two layers", "nodes": [
  {"kind": "memset", "address": "0x7f0000000000", "pitch_bytes": 0, "width": 64,
   "height": 1, "value": 0, "element_bytes": 4},
  {"kind": "kernel", "name": "first", "function": "layer", "handle": "0x10",
   "grid": [4, 1, 1], "block": [128, 1, 1], "shared_bytes": 0,
   "args": [{"offset": 0, "bytes": 8}, {"offset": 8, "bytes": 4}],
   "buffer": "0000000000007f0010000000"},
  {"kind": "kernel", "function": "add", "handle": "0x20",
   "grid": [1, 1, 1], "block": [32, 1, 1], "shared_bytes": 0},
  {"kind": "child", "graph": {"nodes": [{"kind": "empty"},
   {"kind": "batch_mem_op", "ops": [{"operation": 2, "flags": 0,
    "address": "0x7f0000001000", "value": 1}]}],
   "edges": [{"from": 0, "to": 1}]}}],
 "edges": [{"from": 0, "to": 1}, {"from": 1, "to": 2}, {"from": 0, "to": 3}]}}
END
try() {
    echo "\$ gph diff $*"
    "$GPH" diff "$@"
    echo "exit $?"
}
try a.json a.json
sed -e 's/\[4, 1, 1\]/[8, 1, 1]/' -e 's/7f0010000000/7f0020000000/' -e 's/"0x10"/"0x30"/' \
    -e 's/"value": 1}/"value": 2}/' -e 's/"shared_bytes": 0}/"shared_bytes": 0, "priority": -1}/' a.json >fields.json
try a.json fields.json
try --handles a.json fields.json
try --quiet a.json fields.json
sed 's/"0x10"/"0x30"/' a.json >handles.json
try a.json handles.json
sed -e 's/"kind": "kernel", "function": "add"/"kind": "kernel", "function": "gather"/' \
    -e 's/{"from": 1, "to": 2}/{"from": 1, "to": 2, "from_port": 1, "type": 1}/' a.json >function.json
try a.json function.json
sed -e '/"first"/,/buffer/d' -e 's/"edges": .*"to": 3}\]/"edges": [{"from": 0, "to": 1}]/' a.json >fewer.json
try a.json fewer.json
try fewer.json a.json
sed 's/"nodes": \[{"kind": "empty"}/"nodes": [{"kind": "host", "function": "0x1", "user": "0x2"}/' a.json >child.json
try a.json child.json
echo '{' >bad.json
try a.json bad.json
try a.json missing.json
try a.json
try a.json a.json --wrong
