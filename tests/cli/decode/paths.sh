# usage: paths.sh GPH KERNEL_FOLDER: every kernel of kernels/ takes the fast path, and the
# matrix kernels keep little between cuts: more would mean that an address which moves
# uniformly lies in an array by thread, and that its loads are gathers.
gph=$1 folder=$2 bad=0
inspect() {
    text=$("$gph" inspect --ptx --quick "$folder/$1.ptx" 2>&1)
    case $text in
    *"no softcuda"* | *"has no gph_softcuda_report_write"*)
        echo "SKIPPED: $text"
        exit 77
        ;;
    esac
    echo "$text" | grep -q '^kernel ' || { echo "$1: no report: $text" && bad=1; }
    echo "$text" | grep '^kernel ' | grep -v ': fast path' && bad=1
}
live() { # kernel, most registers live across cuts
    count=$(echo "$text" | awk -v k="$1" '$1 == "kernel" { on = $2 == k }
        on && /registers live across cuts/ { print $5 + 0; exit }')
    [ -n "$count" ] && [ "$count" -le "$2" ] && return
    echo "$1 keeps ${count:-an unknown number of} registers across cuts, $2 are enough"
    bad=1
}
inspect hello
inspect bench
live gemv 2
live matmul_tiled 4
inspect decode
live matvec 2
live matmul 12
exit $bad
