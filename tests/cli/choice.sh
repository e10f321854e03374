# Which driver gph takes, and what it says. The false ones answer what FAKE_ variables say.
GPH_SOFTCUDA_PATH=$FAKE_DRIVER
export GPH_SOFTCUDA_PATH
nvidia=$(dirname "$FAKE_NVIDIA") soft=$(dirname "$FAKE_DRIVER")
driver() {
    {
        echo "\$ $* gph env"
        env "$@" "$GPH" env 2>&1 >out
        sed -n '2p' out
    } | sed "s|$nvidia|NVIDIA|g; s|$soft|SOFT|g"
}
driver LD_LIBRARY_PATH="$nvidia" FAKE_DEVICES=1
driver LD_LIBRARY_PATH="$nvidia" GPH_LOG=cuda:info
driver LD_LIBRARY_PATH="$nvidia" FAKE_VERSION=11080 GPH_LOG=cuda:info
driver LD_LIBRARY_PATH="$nvidia" GPH_DRIVER=cuda FAKE_VERSION=11080
driver LD_LIBRARY_PATH="$nvidia" GPH_DRIVER=cuda FAKE_INIT=999
driver LD_LIBRARY_PATH="$nvidia" GPH_DRIVER=soft
driver LD_LIBRARY_PATH="$soft"
driver LD_LIBRARY_PATH="$soft" GPH_DRIVER=cuda
driver LD_LIBRARY_PATH="$soft" GPH_DRIVER=soft GPH_SOFTCUDA_PATH=/nowhere
# What --check asks for NVIDIA's driver has in part.
env LD_LIBRARY_PATH="$nvidia" FAKE_DEVICES=1 GPH_DRIVER=cuda "$GPH" doctor --check -- "$GPH" version 2>&1 >/dev/null
echo "exit $?"
