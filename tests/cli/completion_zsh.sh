# What zsh's _arguments is given: every option once, with the words of its value.
command -v zsh >/dev/null || { echo "no zsh"; exit 77; }
"$GPH" help --completion zsh >_gph && zsh -n _gph || exit 1
cat >ask.zsh <<'END'
_arguments() {
    if [[ $1 == -C ]]; then
        state=$given; line=($name); return 1
    fi
    print -rl -- "$@" | grep -v '^ *$' | cut -c1-100
}
_describe() { print -rl -- ${(P)2} | head -3 }
gph() { $GPH "$@" }
for given name in command '' words run words inspect words bench words help words explain; do
    print "# $given $name"
    source ./_gph
done
_gph_entries
END
zsh -f ask.zsh
