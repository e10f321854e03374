# gph doctor and gph explain in Chinese: help, and wrong use.
unset LC_ALL LC_MESSAGES LANG
"$GPH" doctor --lang zh --help
"$GPH" doctor --help --lang=zh | cmp - "$("$GPH" doctor --lang zh --help >x; echo x)"
"$GPH" doctor --lang zh --lang en --help | cmp - "$("$GPH" doctor --help >x; echo x)"
"$GPH" explain --help --lang zh
LANG=zh_CN.UTF-8 "$GPH" explain --help | cmp - "$("$GPH" explain --lang zh --help >x; echo x)"
LANG=zh_CN.UTF-8 "$GPH" help explain | cmp - x
LANG=zh_CN.UTF-8 "$GPH" explain --lang en --help | head -1
for words in "" "--tier 7 -- true" "--events log -- true" "--tier 0 --advise -- true"; do
    # shellcheck disable=SC2086
    "$GPH" doctor --lang zh $words
    echo "exit $?"
done
