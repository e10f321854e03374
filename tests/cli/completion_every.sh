# Every option of every command, as --help lists them, is asked of the completion functions of
# bash and zsh as a shell asks them: by its name, by a part of it, and for its value.
command -v zsh >/dev/null && command -v python3 >/dev/null || { echo "no zsh or no python3"; exit 77; }
python3 "$CASES/completion_every.py" "$GPH"
