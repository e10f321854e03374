// SPDX-License-Identifier: Apache-2.0
/* Calls that headers have no more and old clients make: prepared launches, cuCtxAttach()
 * and cuCtxDetach(), and what questions for names say of NULL. As an H100 answers. */
#include "driver.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u32 v, .param .f32 f)\n{\n"
    ".reg .b64 %a, %o; .reg .b32 %r<6>; .reg .f32 %f<3>;\n"
    "ld.param.u64 %a, [p]; ld.param.u32 %r0, [v]; ld.param.f32 %f0, [f];\n"
    "mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %o, %r1, 4; add.u64 %a, %a, %o;\n"
    "cvt.rzi.u32.f32 %r4, %f0; add.u32 %r0, %r0, %r4; add.u32 %r0, %r0, %r1;\n"
    "st.global.u32 [%a], %r0;\nret;\n}\n"
    ".visible .entry narrow() .maxntid 128, 1, 1 { ret; }\n";

/* Calls without a prototype in the current headers. */
static struct {
    CUresult (*shape)(CUfunction, int, int, int), (*shared)(CUfunction, unsigned);
    CUresult (*size)(CUfunction, unsigned), (*launch)(CUfunction);
    CUresult (*set_int)(CUfunction, int, unsigned), (*set_float)(CUfunction, int, float);
    CUresult (*set)(CUfunction, int, void *, unsigned);
    CUresult (*grid)(CUfunction, int, int), (*async)(CUfunction, int, int, CUstream);
    CUresult (*attach)(CUcontext *, unsigned), (*detach)(CUcontext);
    CUresult (*create)(CUcontext *, unsigned, CUdevice);
} old;

static bool find(void *to, const char *name)
{
    void *found = dlsym(driver_library, name);
    memcpy(to, &found, sizeof(found));
    return CHECK(found != NULL);
}

static bool find_all(void)
{
    return find(&old.shape, "cuFuncSetBlockShape") &&
           find(&old.shared, "cuFuncSetSharedSize") &&
           find(&old.size, "cuParamSetSize") && find(&old.launch, "cuLaunch") &&
           find(&old.set_int, "cuParamSeti") && find(&old.set_float, "cuParamSetf") &&
           find(&old.set, "cuParamSetv") && find(&old.grid, "cuLaunchGrid") &&
           find(&old.async, "cuLaunchGridAsync") && find(&old.attach, "cuCtxAttach") &&
           find(&old.detach, "cuCtxDetach") && find(&old.create, "cuCtxCreate_v2");
}

static CUmodule module;

static void a_prepared_function_runs_with_what_was_set(void)
{
    CUfunction k;
    CUdeviceptr memory;
    uint32_t out[24];
    OK(cu.cuModuleGetFunction(&k, module, "k"));
    OK(cu.cuMemAlloc(&memory, sizeof(out)));
    OK(cu.cuMemsetD8(memory, 0, sizeof(out)));
    OK(old.set(k, 0, &memory, sizeof(memory)));
    OK(old.set_int(k, 8, 100));
    OK(old.set_float(k, 12, 1000.5f));
    OK(old.size(k, 16));
    OK(old.shared(k, 64));
    OK(old.launch(k)); /* without a shape it is one thread */
    OK(cu.cuMemcpyDtoH(out, memory, sizeof(out)));
    CHECK(out[0] == 1100 && out[1] == 0);
    OK(old.shape(k, 4, 1, 1));
    OK(old.grid(k, 3, 2));
    OK(cu.cuMemcpyDtoH(out, memory, sizeof(out)));
    for (uint32_t i = 0; i < 24; i++)
        CHECK(out[i] == 1100 + i);
    OK(old.set_int(k, 8, 7));
    OK(old.async(k, 1, 1, NULL));
    OK(cu.cuMemcpyDtoH(out, memory, sizeof(out)));
    CHECK(out[3] == 1010 && out[4] == 1104);
    OK(cu.cuMemFree(memory));
}

static void a_shape_that_no_launch_can_have_is_refused(void)
{
    CUfunction k, narrow;
    OK(cu.cuModuleGetFunction(&k, module, "k"));
    OK(cu.cuModuleGetFunction(&narrow, module, "narrow"));
    REFUSED(INVALID_VALUE, old.shape(k, 0, 1, 1));
    REFUSED(INVALID_VALUE, old.shape(k, -1, 1, 1));
    REFUSED(INVALID_VALUE, old.shape(k, 1025, 1, 1));
    REFUSED(INVALID_VALUE, old.shape(narrow, 256, 1, 1));
    OK(old.shape(narrow, 128, 1, 1));
    OK(old.launch(narrow));
    OK(cu.cuCtxSynchronize());
}

static void the_last_detach_destroys(void)
{
    CUcontext context, again = NULL;
    OK(old.create(&context, 0, 0));
    OK(old.attach(&again, 0));
    CHECK(again == context);
    REFUSED(INVALID_VALUE, old.attach(&again, 1));
    OK(old.detach(context));
    OK(cu.cuCtxSynchronize());
    OK(old.detach(context));
    REFUSED(INVALID_CONTEXT, old.detach(context));
    REFUSED(INVALID_CONTEXT, old.detach(NULL));
    (void)use_primary();
}

static void names_of_null_are_a_bad_value(void)
{
    const char *name;
    CUmodule of;
    REFUSED(INVALID_VALUE, cu.cuFuncGetName(&name, NULL));
    REFUSED(INVALID_VALUE, cu.cuKernelGetName(&name, NULL));
    REFUSED(INVALID_VALUE, cu.cuFuncGetModule(&of, NULL));
}

int main(void)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    OK(cu.cuModuleLoadData(&module, text));
    if (!find_all())
        return 1;
    RUN(a_prepared_function_runs_with_what_was_set);
    RUN(a_shape_that_no_launch_can_have_is_refused);
    RUN(names_of_null_are_a_bad_value);
    RUN(the_last_detach_destroys);
    return test_done();
}
