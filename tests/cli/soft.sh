# The command on softcuda: settings, a summary, what becomes of PTX.
[ -n "${SOFT_DRIVER:-}" ] || { echo "this build has no softcuda"; exit 77; }
GPH_SOFTCUDA_PATH=$SOFT_DRIVER GPH_DRIVER=soft SOFTCUDA_CACHE=off SOFTCUDA_MEMORY=256M
export GPH_SOFTCUDA_PATH GPH_DRIVER SOFTCUDA_CACHE SOFTCUDA_MEMORY
"$GPH" env | sed -n '2p;4,5p'

# A bad value is named where the driver is opened.
SOFTCUDA_WORKERS=x "$GPH" env 2>&1 | grep -o 'the driver says: .*'
SOFTCUDA_KERNEL_TIMEOUT_MS=nan "$GPH" env 2>&1 | grep -o 'the driver says: .*'
SOFTCUDA_GRAPH_TIMEOUT_MS=-1 "$GPH" env 2>&1 | grep -o 'the driver says: .*'
SOFTCUDA_WORKERS=x "$GPH" run -- "$ORDINARY" 2>&1 | grep -c SOFTCUDA_WORKERS

# Every variable that softcuda's sources read is listed, and nothing else.
grep -rhoE --include='*.c' '"(SOFTCUDA|CUDA)_[A-Z_0-9]+"' "$CASES/../../softcuda" | tr -d '"' |
    grep -vE '^CUDA_(ERROR|SUCCESS|DEVICE_GRAPH)|^SOFTCUDA_CHECK_' | sort -u >in_sources
"$GPH" env | grep -oE '^(SOFTCUDA|CUDA)_[A-Z_0-9]+' | sort >listed
diff in_sources listed && echo "all settings are listed"

"$GPH" run --summary -- "$GPH" bench launch --nodes 3 --launches 10 2>&1 >/dev/null |
    sed 's/^host time.*/host time/; s/^peak device.*/peak/'

"$GPH" run --summary -- "$ORDINARY" 2>&1 | sed 's/^host time.*/host time/'
mkdir tmp
TMPDIR=$PWD/tmp "$GPH" run --summary -- "$ORDINARY" 2>/dev/null
rmdir tmp && echo "nothing is left in TMPDIR"
"$GPH" run -- "$ORDINARY"

cat >good.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry plain() { ret; }
.visible .entry meets(.param .u64 p)
{
    .shared .align 4 .b32 box[32];
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [box], %r1;
    bar.sync 0;
    ld.shared.u32 %r2, [box];
    st.global.u32 [%d1], %r2;
    ret;
}
END
"$GPH" inspect --ptx good.ptx | grep -E '^kernel|cut at'
echo "exit $?"
"$GPH" inspect --ptx --slow good.ptx | grep -E '^kernel'
"$GPH" inspect --ptx --quick good.ptx | grep -c 'machine code'
"$GPH" inspect --ptx --asm good.ptx | grep -q ret && echo "machine code is shown"
"$GPH" inspect --ptx --ir good.ptx | grep -q define && echo "IR is shown"
"$GPH" inspect --ptx --json good.ptx | head -c 1
echo
sed 's/bar.sync 0/bar.bfly 0/' good.ptx >strange.ptx
"$GPH" inspect --ptx strange.ptx | grep -E '^kernel'
sed 's/%r1, %tid/%r1 %tid/' good.ptx >bad.ptx
"$GPH" inspect --ptx bad.ptx
echo "exit $?"
head -c 200 good.ptx >cut.ptx
"$GPH" inspect --ptx cut.ptx
echo "exit $?"
"$GPH" inspect --ptx missing.ptx
echo "exit $?"
# An installation whose path LD_LIBRARY_PATH splits: a link names it, one for all runs.
mkdir tmp
top=$(cd "$(dirname "$GPH")/.." && pwd)
for name in "p q" "p:q" 'p;$q'; do
    mkdir -p "$name/bin" "$name/lib/gph/soft"
    cp -L "$top/bin/gph" "$name/bin/"
    cp -L "$top"/lib/libgph.so.0 "$top"/lib/libgph-doctor.so.0 "$name/lib/"
    cp -L "$SOFT_DRIVER" "$name/lib/gph/soft/"
    for turn in 1 2; do
        (cd "$name/lib" && env -u GPH_SOFTCUDA_PATH TMPDIR="$OLDPWD/tmp" LD_LIBRARY_PATH=. \
            ../bin/gph run --driver soft -- "$FAKE_PROGRAM")
    done
done
echo "$(find tmp -type l | wc -l) links"
for link in tmp/*; do ln -sfn elsewhere "$link"; done
(cd p:q/lib && env -u GPH_SOFTCUDA_PATH TMPDIR="$OLDPWD/tmp" LD_LIBRARY_PATH=. \
    ../bin/gph run --driver soft -- "$FAKE_PROGRAM") 2>&1 |
    sed -E 's,/[^ ]*/,,g; s/gph-soft-[0-9a-f-]*/LINK/'

# Programs that compile by a child get PTX where they ask for machine code.
cat >stand-ins.sh <<'END'
"$TRITON_PTXAS_PATH" --version | grep -o 'release 13.0'
"$TRITON_PTXAS_PATH" -lineinfo -v --gpu-name=sm_80 good.ptx -o good.cubin
tr -d '\0' <good.cubin | cmp - good.ptx && echo "ptxas: PTX stays as it is"
echo nothing >none.ptx
"$TRITON_PTXAS_PATH" none.ptx -o none.cubin 2>&1
nvcc --cubin -arch sm_80 a\ b.cu
ls a*
nvcc -O2 -o c c.cu
END
mkdir bin
printf '#!/bin/sh\nprintf "nvcc:"; printf " <%%s>" "$@"; echo; : >"a b.ptx"\n' >bin/nvcc
chmod +x bin/nvcc
PATH=$PWD/bin:$PATH "$GPH" run -- sh stand-ins.sh
TRITON_PTXAS_PATH=mine "$GPH" run -- sh -c 'echo "$TRITON_PTXAS_PATH"'
