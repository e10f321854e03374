# On a terminal long lines end at a space before its edge, under their own indent; the words are those of a pipe, where
# lines stay whole.
command -v script >/dev/null || { echo "script is not there (Debian: bsdutils)"; exit 77; }
"$GPH" inspect /dev/null 2>&1 | grep -q "no JSON reader" && exit 77
log=$(find "$CASES/../doctor/recorded" -name "capture.unjoined-fork*.log" | sort | head -1)
printf 'import sys, os\nprint(1)\n' >step.py
TERM=xterm
export TERM GPH log
longest() { # a path may be longer than a terminal is wide
    awk '!/\/libcuda/ && length > most { most = length } END { print most + 0 }' "$1"
}
words() { tr -s ' \n' '\n\n' <"$1" >"$1.words"; }
compare() { # what, columns, command
    script -qec "stty cols $2; $3" /dev/null </dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >narrow
    sh -c "$3" >wide 2>&1
    words narrow && words wide
    cmp narrow.words wide.words || return
    [ "$(longest narrow)" -lt "$2" ] && fits=fits || fits="$(longest narrow)"
    [ "$(longest wide)" -ge "$2" ] && pipe=longer || pipe=fits
    echo "$1 in $2 columns: $fits; in a pipe: $pipe"
}
compare doctor 72 '"$GPH" doctor --events "$log"'
compare settings 80 '"$GPH" env --driver soft 2>/dev/null'
compare explain 60 '"$GPH" explain 901'
compare "a hint" 80 '"$GPH" inspect step.py'
