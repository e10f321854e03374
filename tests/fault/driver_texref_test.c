// SPDX-License-Identifier: Apache-2.0
/* Texture references under want of memory: what was bound stays bound. */
#include "fault/sweep.h"

#include "conformance/kernels.h"

static const char image_ptx[] = PTX_HEAD ".visible .global .texref image;\n"
                                         ".visible .entry nothing() { ret; }\n";

static CUresult (*get)(CUtexref *, CUmodule, const char *);
static CUresult (*set_array)(CUtexref, CUarray, unsigned);
static CUresult (*get_array)(CUarray *, CUtexref);

static void a_reference_is_bound_or_as_before(void)
{
    CUarray arrays[2];
    const CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    for (int i = 0; i < 2; i++)
        OK(cu.cuArray3DCreate(&arrays[i], &desc));
    for (SWEEP(nth)) {
        CUmodule module;
        CUtexref ref = NULL;
        CUarray is = NULL;
        OK(cu.cuModuleLoadData(&module, image_ptx));
        fail_allocation(nth);
        bool fine = worked(get(&ref, module, "image"), nth) &&
                    worked(set_array(ref, arrays[0], CU_TRSA_OVERRIDE_FORMAT), nth);
        const bool first = fine;
        fine = fine && worked(set_array(ref, arrays[1], CU_TRSA_OVERRIDE_FORMAT), nth);
        END_OF_SWEEP(nth, fine);
        if (first) {
            OK(get_array(&is, ref));
            CHECK(is == arrays[fine]);
        }
        OK(cu.cuModuleUnload(module));
    }
    CHECK(swept >= 3);
    for (int i = 0; i < 2; i++)
        OK(cu.cuArrayDestroy(arrays[i]));
}

int main(void)
{
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    *(void **)&get = dlsym(driver_library, "cuModuleGetTexRef");
    *(void **)&set_array = dlsym(driver_library, "cuTexRefSetArray");
    *(void **)&get_array = dlsym(driver_library, "cuTexRefGetArray");
    OK(cu.cuInit(0));
    use_primary();
    RUN(a_reference_is_bound_or_as_before);
    return test_done();
}
