# usage: paths.sh GPH KERNEL_FOLDER: every kernel of kernels/ takes the fast path, and the
# matrix kernels keep little between cuts: more would mean that an address which moves
# uniformly lies in an array by thread, and that its loads are gathers.
gph=$1 folder=$2 bad=0
live() { # file, kernel, most registers live across cuts
    count=$("$gph" inspect --ptx "$folder/$1.ptx" 2>&1 |
        awk -v k="$2" '$1 == "kernel" { on = $2 == k } on && /registers live across cuts/ { print $5 + 0; exit }')
    [ -n "$count" ] && [ "$count" -le "$3" ] && return
    echo "$1.ptx: $2 keeps ${count:-an unknown number of} registers across cuts, $3 are enough"
    bad=1
}
for file in decode bench hello; do
    text=$("$gph" inspect --ptx "$folder/$file.ptx" 2>&1)
    case $text in *"no softcuda"* | *"has no gph_softcuda_ptx_report"*) echo "SKIPPED: $text"; exit 77 ;; esac
    echo "$text" | grep '^kernel ' | grep -v ': fast path' && bad=1
    echo "$text" | grep -q '^kernel ' || { echo "$file: no report: $text"; bad=1; }
done
live decode matvec 2
live decode matmul 12
live bench gemv 2
live bench matmul_tiled 4
exit $bad
