# bash completes what the parser takes; its own completion of programs is not there.
"$GPH" help --completion bash >gph.bash && bash -n gph.bash || exit 1
mkdir -p here && : >here/graph.json && : >here/graph.dot
cat >ask.bash <<'END'
PATH=$PWD/bin:$PATH
source ./gph.bash
ask() { # words, the last one is being written
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    COMP_WORDS[0]=$GPH
    _gph
    echo "$*: $(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | cut -c1-160)"
}
ask gph ''
ask gph d
ask gph run --
ask gph run --driver ''
ask gph run --driver = s
ask gph doctor --lang z
ask gph doctor --watch ''
ask gph doctor --driver soft own-pro
ask gph doctor --driver soft own-program here/g
ask gph doctor -- own-program --driver ''
ask gph doctor --json here/graph.j
ask gph inspect here/g
ask gph inspect --dot here/graph.d
ask gph diff --q
ask gph bench ''
ask gph help do
ask gph explain capture.unjoined
ask gph nothing ''
END
mkdir bin && printf '#!/bin/sh\n' >bin/own-program && chmod +x bin/own-program
bash ask.bash
"$GPH" help --completion fish
echo "exit $?"
"$GPH" help --completion bash run
echo "exit $?"
"$GPH" help --completion bash --scdoc
echo "exit $?"
"$GPH" help --completion bash >/dev/full
echo "exit $?"
