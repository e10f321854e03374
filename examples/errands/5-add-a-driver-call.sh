#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 5: add a driver call to softcuda, in the places that docs/ARCHITECTURE.md names. It works in a copy of the source and
# builds it, which takes some minutes. softcuda refuses this call today: which atomics devices can do on each other's memory.
GPH_PREFIX=none
. "$(dirname "$0")/common.sh"
call=cuDeviceGetP2PAtomicCapabilities

step "Is it missing?"
(cd "$source" && show "grep -n '$call' docs/driver-calls.md src/cuda/calls.h attach/policy.def softcuda/graph/capture_calls.def") >said
cat said
want "docs/driver-calls.md" said
awk '/^## Not built/ { missing = 1 } missing && /'$call'/ { found = 1 } END { exit !found }' "$source/docs/driver-calls.md" ||
    { echo "softcuda has $call by now: choose another for this errand"; exit 77; }

step "Its three rows exist already, as for every call; only its code is missing"
mkdir copy
(cd "$source" && tar -c --exclude=./build --exclude=./.git --exclude=./.cache .) | tar -x -C copy
cd copy
cat >>softcuda/api/cu_device.c <<'END'

/* Devices share one memory: what one can do, each can. */
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                          const CUatomicOperation *operations,
                                          unsigned int count, CUdevice source,
                                          CUdevice destination)
{
    SOFT_TRY(soft_enter_with(__func__, capabilities, "capabilities"));
    if (!operations || count == 0 || source == destination)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u operations of devices %d and %d",
                         count, source, destination);
    for (unsigned i = 0; i < count; i++)
        capabilities[i] = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
    return CUDA_SUCCESS;
}
END
cat >tests/conformance/atomics_test.c <<'END'
// SPDX-License-Identifier: Apache-2.0
/* Which atomics devices can do on each other's memory. */
#include "driver.h"

static void a_device_has_no_peer_in_itself(void)
{
    const CUatomicOperation add = CU_ATOMIC_OPERATION_INTEGER_ADD;
    unsigned able = 77;
    CHECK(cu.cuDeviceGetP2PAtomicCapabilities(&able, &add, 1, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(able == 77); /* a refusal changes nothing */
}

int main(void)
{
    DEVICE_OR_SKIP();
    RUN(a_device_has_no_peer_in_itself);
    return test_done();
}
END
echo 'conformance_test(atomics_test)' >>tests/conformance/CMakeLists.txt

step "Build it and test it"
show 'cmake --preset debug >/dev/null && cmake --build build/debug --target softcuda softcuda_jit conformance_atomics_test | tail -1'
show 'ctest --test-dir build/debug -R "^conformance_atomics_test$" --output-on-failure' >said
tail -3 said
want "100% tests passed" said
