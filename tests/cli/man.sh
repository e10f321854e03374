# The man page holds what the tables of the commands say.
sed -n '/^; begin of what/,/^; end of what/p' "$CASES/../../man/gph.1.scd" | sed '1d;$d' >page
"$GPH" help --scdoc | diff page - && echo "the man page agrees"
# Every setting that gph env shows of its own stands in it.
GPH_DRIVER=soft GPH_SOFTCUDA_PATH=/nowhere "$GPH" env 2>/dev/null | grep -o '^GPH_[A-Z_]*' |
    while read -r name; do
        grep -q "^\*$name\*" "$CASES/../../man/gph.1.scd" || echo "missing: $name"
    done
