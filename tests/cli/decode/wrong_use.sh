# usage: wrong_use.sh DECODE MODEL_FOLDER: what decode says to wrong options and bad files.
# Every line of output is compared with wrong_use.out, which lies beside this file.
decode=$1 model=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
out=$work/out
try() {
    "$decode" --driver soft "$@" >/dev/null 2>"$work/err"
    code=$?
    { echo "\$ decode $*"; cat "$work/err"; echo "exit $code"; } | sed "s|$work|WORK|g" >>"$out"
}
copy() { rm -rf "$work/m" && mkdir "$work/m" && cp "$model/config.json" "$model/model.safetensors" "$work/m/"; }

try --batch 0
try --batch
try --bach 1
try --mode fast
try --mode cache --top-p 0.9
try --mode tree --batch 4
try --top-p 1.5
try --tokens 1,2 --problems x
try --model "$work/m"
try --tokens 1,16
try --problems "$work/none.txt"
printf '1+2=3\n1-2=3\n' >"$work/bad.txt"
try --problems "$work/bad.txt"
try --model "$work/none" --tokens 1

copy; sed -i 's/"num_hidden_layers": 2/"num_hidden_layers": 3/' "$work/m/config.json"
try --model "$work/m" --tokens 1
copy; sed -i 's/"llama"/"gpt2"/' "$work/m/config.json"
try --model "$work/m" --tokens 1
copy; truncate -s -1 "$work/m/model.safetensors"
try --model "$work/m" --tokens 1
copy; truncate -s 100 "$work/m/model.safetensors"
try --model "$work/m" --tokens 1
copy; printf '\377\377\377\377\377\377\377\377' | dd of="$work/m/model.safetensors" conv=notrunc status=none
try --model "$work/m" --tokens 1
copy; sed -i '1s/"data_offsets":\[0,/"data_offsets":[2,/' "$work/m/model.safetensors"
try --model "$work/m" --tokens 1

diff "$(dirname "$0")/wrong_use.out" "$out"
