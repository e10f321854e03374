# gph inspect of recipes, good and bad.
plain=$CASES/plain.gphr
"$GPH" inspect "$plain"
echo "exit $?"
"$GPH" inspect "$CASES/plain.gphr" --dot out.dot
echo "exit $?"
head -c 100 "$plain" >short.gphr
"$GPH" inspect short.gphr
echo "exit $?"
{ head -c 8 "$plain"; printf '\003'; tail -c +10 "$plain"; } >later.gphr
"$GPH" inspect later.gphr
echo "exit $?"
ls
