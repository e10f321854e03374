# What a user gets wrong before anything runs: the message names it, and nothing was run for nothing.
mkdir folder
for words in "--report no/page.html" "--report folder" "--trace no/trace" "--json no/findings" "--save-events no/log"; do
    # shellcheck disable=SC2086
    "$GPH" doctor $words -- touch ran
    echo "exit $?"
done
[ -e ran ] && echo "the program ran for nothing"
: >empty
"$GPH" inspect empty
echo "exit $?"
[ -n "${SOFT_DRIVER:-}" ] || exit 0
export GPH_DRIVER=soft GPH_SOFTCUDA_PATH="$SOFT_DRIVER"
printf '#!/no/such/interpreter\n' >script && cp script here && chmod +x script here
for program in ./script here absent; do
    "$GPH" run "$program"
    echo "exit $?"
done
