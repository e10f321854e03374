# gph doctor --capturable, --advise and --summary in Chinese, of a saved log: tests/advice/region.c, first. Its
# figures are those of that run; the program's file is not here, so places have no names.
"$GPH" doctor --events "$CASES/advice.log" --quiet --lang zh --capturable --advise --summary 2>&1
echo "exit $?"
# In JSON what is a word of the interface stays English; reasons do not.
"$GPH" doctor --events "$CASES/advice.log" --quiet --lang zh --advise --json json >/dev/null 2>&1
grep -o '"question":"same shapes?","answer":"[a-z]*","because":"[^"]*"' json
grep -o '"verdict":"[a-z ]*"' json
# The same figures in both languages.
figures() { "$GPH" doctor --events "$CASES/advice.log" --quiet --lang "$1" --capturable --advise 2>&1 | grep -oE '0x[0-9a-f]+|[0-9]+\.[0-9]+' | sort; }
figures en >en
figures zh >zh
cmp en zh && [ "$(wc -l <en)" -gt 10 ] && echo "the figures are the same"
