#!/bin/sh
# usage: sources.sh GPH ROOT
# What an entry says it is shown by exists: a rule of docs/conformance.md, a program in
# tests/doctor/rules, a test. What it points to exists: another entry, a page of ours. And each rule that the doctor has is an entry.
set -u
gph=$1 root=$2
bad=0
list=$(mktemp) || exit 1
trap 'rm -f "$list" "$list.slugs"' EXIT
"$gph" explain --lang en --markdown >"$list"
"$gph" explain --lang en --list | sed 's/: .*//' >"$list.slugs"

complain() {
    echo "$1"
    bad=1
}

grep -o '^Shown by: rule [A-Za-z0-9_]*' "$list" | sed 's/.* //' | sort -u >"$list.rules"
while read -r rule; do
    grep -q "^| $rule |" "$root/docs/conformance.md" || complain "no rule $rule"
done <"$list.rules"
rm -f "$list.rules"

for program in $(grep -o 'tests/doctor/rules/[a-z.-]*\.c' "$list" | sort -u); do
    [ -f "$root/$program" ] || complain "no $program"
done
for program in $(grep -o '^Shown by: test [a-z_]*' "$list" | sed 's/.* //' | sort -u); do
    ls "$root"/tests/*/"$program".c "$root"/tests/*/"$program".py 2>/dev/null | grep -q . || complain "no test $program"
done
# People ask for each entry in their own words, but for names that do not exist.
for slug in $(grep -v '^none/' "$list.slugs"); do
    [ "$(awk -v slug="= $slug" '/^= /{is = $0 == slug; next} is' "$root/src/explain/asked.txt" | wc -l)" -ge 2 ] ||
        complain "asked.txt has no questions for $slug"
done
# An entry that a GPU showed has its line in the log.
for slug in $(awk '/^### /{slug = $2} /^Shown by: .*tests\/explain\/h100.log/{print slug}' "$list"); do
    grep -q "^$slug: ok: " "$root/tests/explain/h100.log" || complain "h100.log has no $slug"
done
for page in $(grep -oE 'docs/[a-z/.-]*\.md(#[a-z.-]+)?' "$list" | sort -u); do
    case $page in # a section of one page
    *"#"*) grep -qF "<a id=\"${page#*#}\">" "$root/${page%%#*}" || complain "no $page" ;;
    *) [ -f "$root/$page" ] || complain "no $page" ;;
    esac
done
for slug in $(grep '^Shown by: ' "$list" | sed -n 's/.* See: //p' | tr -d ',' |
    tr ' ' '\n' | grep -v -e '^docs/' -e '^https://' | sort -u); do
    grep -qxF "$slug" "$list.slugs" || complain "no entry $slug"
done
for rule in $(grep -rohE --include='*.c' '(\.id = |_RULE\(|GPHI_RULE(_NAME)?\()"[a-z.-]+"' "$root/src/doctor" "$root/src/advice" 2>/dev/null |
    grep -oE '[a-z-]+\.[a-z-]+' | sort -u); do
    grep -qxF "$rule" "$list.slugs" || complain "no entry for the rule $rule"
done
[ $bad = 0 ] && echo "all there"
exit $bad
