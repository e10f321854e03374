# Where softcuda is found: beside libgph, else in the wheel's folder beside the package's; and
# there only of libgph's version. A variable takes any.
lib=$(dirname "$(dirname "$GPH")")/lib
site="$PWD/site packages"
wheel="$site/graphophone_softcuda/lib/gph/soft" beside="$site/graphophone/lib/gph/soft"
mkdir -p "$wheel" "$beside" "$site/graphophone/bin"
cp "$GPH" "$site/graphophone/bin/gph"
cp -L "$lib/libgph.so.0" "$lib/libgph-doctor.so.0" "$site/graphophone/lib/"
driver() {
    echo "\$ $*"
    env LD_LIBRARY_PATH="$site/graphophone/lib" GPH_DRIVER=soft "$@" \
        "$site/graphophone/bin/gph" env 2>&1 | grep -E '^(gph:|hint:|path)' | sed "s|$site|SITE|g"
}
version=$("$GPH" version | sed 's/.*libgph //')
driver FAKE_SOFTCUDA_VERSION="$version" | sed "s/$version/OURS/g; s/: cannot open.*//"
cp "$FAKE_DRIVER" "$wheel/"
driver FAKE_SOFTCUDA_VERSION="$version" | sed "s/$version/OURS/g"
driver FAKE_SOFTCUDA_VERSION=9.8.7 | sed "s/$version/OURS/g"
driver FAKE_SOFTCUDA_VERSION=9.8.7 GPH_SOFTCUDA_PATH="$wheel/libcuda.so.1" | sed "s|$site|SITE|g"
cp "$FAKE_DRIVER" "$beside/"
driver FAKE_SOFTCUDA_VERSION="$version" | sed "s/$version/OURS/g"
