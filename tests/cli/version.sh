# A libgph of another version is named and refused by every command but the one that shows it.
for words in "version" "explain 910" "run true" "doctor true" "help run"; do
    echo "\$ gph $words"
    # shellcheck disable=SC2086
    LD_PRELOAD=$OTHER_VERSION "$GPH" $words 2>&1 | sed "s|$(dirname "$OTHER_VERSION")|FOLDER|"
done
LD_PRELOAD=$OTHER_VERSION "$GPH" explain 910 >/dev/null 2>&1
echo "exit $?"
