# Without a driver: a sentence that says what was missing, exit status 1.
GPH_DRIVER=soft GPH_SOFTCUDA_PATH=/nowhere/libcuda.so.1
export GPH_DRIVER GPH_SOFTCUDA_PATH
for words in env "run true" "inspect --ptx x.ptx" "bench launch"; do
    echo "\$ gph $words"
    # shellcheck disable=SC2086
    "$GPH" $words
    echo "exit $?"
done
GPH_DRIVER=hard "$GPH" env >/dev/null
echo "exit $?"
GPH_SOFTCUDA_PATH=libm.so.6 "$GPH" run true
echo "exit $?"
