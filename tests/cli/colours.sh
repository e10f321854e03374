# Colors and lines that are written over are for terminals: not for pipes, not where TERM says
# that it can do nothing, and colors not where NO_COLOR is set.
command -v script >/dev/null || { echo "script is not there (Debian: bsdutils)"; exit 77; }
log=$(find "$CASES/../doctor/recorded" -name "capture.unjoined-fork*.log" | sort | head -1)
printf 'id,lower,upper,size\na,0,1,8\n' >plan.csv
unset NO_COLOR
TERM=xterm
export TERM GPH log
escapes() {
    case $(tr -cd '\033' | wc -c) in
    0) echo "$1: plain" ;;
    *) echo "$1: escapes" ;;
    esac
}
terminal() { script -qec "$1" /dev/null </dev/null; }
doctor='"$GPH" doctor --events "$log"'
plan='"$GPH" plan plan.csv'
terminal "$doctor" | escapes "doctor on a terminal"
terminal "$plan" | escapes "plan on a terminal"
"$GPH" doctor --events "$log" 2>&1 | escapes "doctor in a pipe"
"$GPH" plan plan.csv 2>&1 | escapes "plan in a pipe"
NO_COLOR=1 terminal "$doctor" | escapes "doctor with NO_COLOR"
NO_COLOR= terminal "$doctor" | escapes "doctor with an empty NO_COLOR"
TERM=dumb terminal "$doctor" | escapes "doctor with TERM=dumb"
TERM=dumb terminal "$plan" | escapes "plan with TERM=dumb"
terminal "env -u TERM $doctor" | escapes "doctor without TERM"
