# SPDX-License-Identifier: Apache-2.0
"""usage: completion_every.py GPH, in an empty folder

Reads the commands and options from gph's --help, and compares with them what bash's function and
zsh's completion system (in a terminal of its own) offer for each. Prints what differs."""
import os
import pty
import re
import subprocess
import sys

GPH = sys.argv[1]
BASH = """
PATH=$PWD/bin:$PATH
source ./gph.bash
while IFS= read -r line; do
    words=($line)
    [[ $line == *' ' ]] && words+=('')
    COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
    COMP_WORDS[0]=$GPH
    _gph
    printf '%s' "$line"; printf '\\t%s' "${COMPREPLY[@]}"; echo
done <questions
"""
# A line editor that is opened asks all of it and ends: what compadd is given is what is offered.
ZSH = """
PATH=$PWD/bin:$PATH
fpath=($PWD $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' insert-tab false
setopt no_beep
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)* ]]; then builtin compadd "$@"; return; fi
    local -a hits
    builtin compadd -A hits "$@"
    offered+=($hits)
    builtin compadd "$@"
}
zle-line-init() {
    local line
    for line in ${(f)"$(<questions)"}; do
        offered=()
        BUFFER=$line CURSOR=$#line
        zle complete-word 2>/dev/null
        print -r -- "$line"$'\\t'${(pj:\\t:)offered} >>zsh.answers
    done
    exit
}
zle -N zle-line-init
"""


def help_of(command):
    return subprocess.run([GPH, command, "--help"] if command else [GPH, "--help"], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) {2,}", help_of(""), re.M)


def options(command):
    """(name, argument or None) of each, and --help, which no list has."""
    return re.findall(r"^  --([\w-]+)(?: (\S+))?(?: {2,}|$)", help_of(command), re.M) + [("help", "")]


def questions(table):
    """What is asked, and what must be offered at least."""
    yield "gph ", set(table)
    for command, listed in table.items():
        yield f"gph {command} --", {"--" + name for name, _ in listed}
        for name, argument in listed:
            yield f"gph {command} --{name[:-1]}", {"--" + name}
            if "|" in argument:
                yield f"gph {command} --{name} ", set(argument.split("|"))
                yield f"gph {command} --{name} {argument.split('|')[0][0]}", {argument.split("|")[0]}
            elif "FILE" in argument or "OUT" in argument:
                yield f"gph {command} --{name} own.f", {"own.file"}


def faults(shell, asked, answers):
    for line, wanted in asked:
        if line not in answers:
            yield f"{shell}: '{line}' was not answered"
            continue
        # zsh adds a = to options that take a value, and describes both forms
        offered = {re.sub(r"[= ]+$", "", word) for word in answers[line]}
        if not wanted <= offered:
            yield f"{shell}: '{line}' offers {sorted(offered)}, without {sorted(wanted - offered)}"
        if line.endswith(" --"):
            for word in offered - {"--" + name for name, _ in TABLE[line.split()[1]]}:
                yield f"{shell}: '{line}' offers {word}, which --help does not list"


def read(text):
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: [word for word in row[1:] if word] for row in rows}


TABLE = {command: options(command) for command in commands()}
asked = list(questions(TABLE))
os.mkdir("bin")
os.symlink(GPH, "bin/gph")
for name, text in (("own.file", ""), ("ask.bash", BASH), (".zshrc", ZSH), ("questions", "".join(line + "\n" for line, _ in asked))):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
for shell, name in (("bash", "gph.bash"), ("zsh", "_gph")):
    with open(name, "w", encoding="utf-8") as file:
        subprocess.run([GPH, "help", "--completion", shell], stdout=file, check=True)
os.environ.update(GPH=GPH, ZDOTDIR=os.getcwd(), TERM="dumb")
done = subprocess.run(["bash", "ask.bash"], stdout=subprocess.PIPE, text=True, check=True)
found = list(faults("bash", asked, read(done.stdout)))
child, terminal = pty.fork()
if child == 0:
    os.execvp("zsh", ["zsh", "-i"])
try:
    while os.read(terminal, 65536):
        pass
except OSError:  # it has ended
    pass
os.waitpid(child, 0)
with open("zsh.answers", encoding="utf-8") as file:
    found += faults("zsh", asked, read(file.read()))
print("\n".join(found) or "every option of every command, in bash and zsh")
if sum(len(listed) for listed in TABLE.values()) < 40:
    print("too few options were found:", TABLE)
sys.exit(1 if found else 0)
