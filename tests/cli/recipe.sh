# gph inspect of recipes, good and bad.
plain=$CASES/../../fuzz/corpus/recipe/plain
"$GPH" inspect "$plain"
echo "exit $?"
"$GPH" inspect "$CASES/../../fuzz/corpus/recipe/plain" --dot out.dot
echo "exit $?"
head -c 100 "$plain" >short.gphr
"$GPH" inspect short.gphr
echo "exit $?"
{ head -c 8 "$plain"; printf '\002'; tail -c +10 "$plain"; } >later.gphr
"$GPH" inspect later.gphr
echo "exit $?"
ls
