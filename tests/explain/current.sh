#!/bin/sh
# usage: current.sh GPH DOCS: the pages of the knowledge base are what gph explain writes.
set -u
for language in en zh; do
    page=$2/explain.md
    [ $language = zh ] && page=$2/explain.zh.md
    "$1" explain --markdown --lang $language | diff -q - "$page" >/dev/null || {
        echo "$page is stale: gph explain --markdown --lang $language > $page"
        exit 1
    }
done
echo "both pages are current"
