# gph explain: codes, names, slugs, words and logs, in both languages; what is not there.
unset LC_ALL LC_MESSAGES LANG
try() {
    echo "\$ gph explain $*"
    "$GPH" explain "$@"
    echo "exit $?"
}
try 904
try cudaErrorGraphUpdateViolation
try torch.cuda.Graph --lang zh
try cuda/909-timeout
try instantiate.multiple-contexts
try cudaErrorStreamCaptureUnjoind
try cudaErrorQuiteAnother </dev/null
try cuGraphExecUpdate_v2 --lang zh
try graph output constant after replay
try --json cudaErrorStreamCaptureUnjoind
cat >log <<'END_OF_LOG'
INFO 03-02 09:14:50 capture begins
Traceback (most recent call last):
  File "run.py", line 900, in <module>
RuntimeError: CUDA error: dependency created on uncaptured work in another stream
RuntimeError: CUDA error: operation failed due to a previous error during capture
END_OF_LOG
echo "\$ gph explain <log"
"$GPH" explain <log
echo "exit $?"
echo "\$ gph explain - --json <log"
"$GPH" explain - --json <log
echo "exit $?"
echo "\$ LANG=zh_CN.UTF-8 gph explain <question"
echo "另外一个线程调用 cudaMemcpy，返回错误码 906" | LANG=zh_CN.UTF-8 "$GPH" explain
echo "exit $?"
echo "\$ gph explain 图卡住了怎么办"; "$GPH" explain 图卡住了怎么办 | head -2 # asked in Chinese
"$GPH" explain --lang en 图卡住了怎么办 | head -1
printf 'x\033]0;title\007 \377\200 cudaErrorStreamCaptureMerge \033[31m\nsecond\n' >hostile
echo "\$ gph explain <hostile"
"$GPH" explain <hostile | head -3
"$GPH" explain --json <hostile | head -c 300
echo
echo "\$ gph explain <nothing"
"$GPH" explain </dev/null
echo "exit $?"
try --lang fr 910
try --list 910
try --wrong
echo "entries: $("$GPH" explain --list | wc -l) $("$GPH" explain --list --lang zh | wc -l)"
if command -v python3 >/dev/null; then
    for language in en zh; do
        "$GPH" explain --list --json --lang $language | python3 -c 'import json, sys
entries = json.load(sys.stdin)["entries"]
print(len(entries), sorted({e["kind"] for e in entries}), all(e["fix"] for e in entries))'
    done
fi
