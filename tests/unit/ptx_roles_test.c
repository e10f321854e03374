// SPDX-License-Identifier: Apache-2.0
/* What lowering says of instructions before it writes them: roles, registers, memory,
 * uniformity; forms with wrong operands; and the library appended to a program. */
#include "softcuda/ptx/compile.h"
#include "softcuda/ptx/lower/emit.h"
#include "test.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY                                                                             \
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"        \
         ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"                        \
         ".const .b32 konst[4];\n.shared .b32 common[8];\n"                              \
         ".visible .entry kernel(.param .u64 arg)\n{\n .reg .pred %p<4>;\n"              \
         " .reg .b16 %h<4>;\n .reg .b32 %r<8>;\n .reg .b64 %w<8>;\n .reg .f32 %f<8>;\n"  \
         " .reg .f64 %d<4>;\n .param .b32 four;\n .param .b64 eight;\n"

static ptx_module *parse(const char *snippet)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s %s\n ret;\n}\n", BODY, snippet);
    ptx_module *module = NULL;
    gph_error error = {0};
    CHECK_OK(ptx_parse(text, strlen(text), NULL, &module, &error), error);
    return module;
}

static const ptx_function *kernel_of(const ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_entry)
            return &module->functions[i];
    return NULL;
}

static void check_role(const char *snippet, ptx_role expected)
{
    ptx_module *module = parse(snippet);
    if (module == NULL)
        return;
    const ptx_function *kernel = kernel_of(module);
    const char *reason = NULL;
    const ptx_role role = ptx_insn_role(module, kernel, &kernel->insns[0], &reason);
    if (!CHECK(role == expected))
        fprintf(stderr, "  %s is %d\n", snippet, (int)role);
    CHECK((role == PTX_ROLE_UNSUPPORTED) == (reason != NULL));
    ptx_module_destroy(module);
}

static void roles_are_told(void)
{
    static const struct {
        const char *snippet;
        ptx_role role;
    } cases[] = {
        {"add.s32 %r0, %r1, %r2;", PTX_ROLE_PLAIN},
        {"bar.sync 0;", PTX_ROLE_BARRIER},
        {"barrier.cta.red.popc.u32 %r0, 0, %p0;", PTX_ROLE_BARRIER},
        {"bar.warp.sync 0xffffffff;", PTX_ROLE_WARP},
        {"shfl.sync.idx.b32 %r0, %r1, %r2, 31, 0xffffffff;", PTX_ROLE_WARP},
        {"activemask.b32 %r0;", PTX_ROLE_WARP},
        {"exit;", PTX_ROLE_EXIT},
        {"call (four), vprintf, (eight, eight);", PTX_ROLE_CALL},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, {%f4, %f5}];", PTX_ROLE_PLAIN},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%w0, %w1, {%f4, %f5}];",
         PTX_ROLE_UNSUPPORTED},
        {"tld4.r.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%w0, {%r4, %r5}];",
         PTX_ROLE_UNSUPPORTED},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%r0, {%f4, %f5}];",
         PTX_ROLE_UNSUPPORTED},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%p0, [%w0, {%f4, %f5}];",
         PTX_ROLE_PLAIN},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%r0, [%w0, {%f4, %f5}];",
         PTX_ROLE_UNSUPPORTED},
        {"txq.width.b32 %r0, [%w0];", PTX_ROLE_PLAIN},
        {"txq.channel_order.b32 %r0, [%w0];", PTX_ROLE_UNSUPPORTED},
        {"suld.b.2d.v2.b64.clamp {%w0, %w1}, [%w2, {%r0, %r1}];", PTX_ROLE_PLAIN},
        {"suld.b.2d.v4.b64.clamp {%w0, %w1, %w2, %w3}, [%w2, {%r0, %r1}];",
         PTX_ROLE_UNSUPPORTED},
        {"suld.b.cube.b32.clamp %r0, [%w2, {%r0, %r1, %r2, %r2}];", PTX_ROLE_UNSUPPORTED},
        {"sust.b.1d.b32.trap [%w0, {%r0}], %r1;", PTX_ROLE_PLAIN},
        {"sust.b.1d.b32.trap [%w0, {%r0}], {%r1};", PTX_ROLE_PLAIN},
        {"suld.b.1d.b32.trap {%r1}, [%w0, {%r0}];", PTX_ROLE_PLAIN},
        {"sust.p.1d.v4.b32.zero [%w0, {%r0}], {%r1, %r2, %r3, %r4};", PTX_ROLE_PLAIN},
        {"sured.b.add.2d.u32.trap [%w0, {%r0, %r1}], %r2;", PTX_ROLE_PLAIN},
        {"sured.b.xor.2d.b32.trap [%w0, {%r0, %r1}], %r2;", PTX_ROLE_UNSUPPORTED},
        {"mbarrier.try_wait.shared.b64 %p0, [%r0], %w0;", PTX_ROLE_PLAIN},
        {"mbarrier.arrive.expect_tx.shared.b64 _, [%r0], 16;", PTX_ROLE_PLAIN},
        {"mbarrier.try_wait.shared.b64 %r1, [%r0], %w0;", PTX_ROLE_UNSUPPORTED},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
         ".multicast::cluster [%r0], [%w0], 16, [%r1], %h0;",
         PTX_ROLE_PLAIN},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
         ".multicast::cluster [%r0], [%w0], 16, [%r1];",
         PTX_ROLE_UNSUPPORTED},
        {"barrier.cluster.arrive;", PTX_ROLE_PLAIN},
        {"vset2.u32 %r0, %r1;", PTX_ROLE_UNSUPPORTED},
        {"cp.async.bulk.wait_group 0;", PTX_ROLE_PLAIN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_role(cases[i].snippet, cases[i].role);
}

/* Each parses, and none may reach IR. */
static void forms_with_wrong_operands_are_unsupported(void)
{
    static const char *const snippets[] = {
        "add.s32 %p0, %r1, %r2;",
        "add.s32 %r0, %p1, %r2;",
        "add.s32 1, %r1, %r2;",
        "add.s32 %r0, {%r1, %r2}, %r3;",
        "add.f32 %f0, %f1, 7;",
        "add.s32.ftz %r0, %r1, %r2;",
        "add.sat.u32 %r0, %r1, %r2;",
        "add.rz.rn.sat.ftz.v2.f32 %f0, %f1, %f2;",
        "mul.s32 %r0, %r1, %r2;",
        "mul.wide.s64 %w0, %w1, %w2;",
        "setp.lo.s32 %p0, %r1, %r2;",
        "setp.equ.u32 %p0, %r1, %r2;",
        "setp.lt.b32 %p0, %r1, %r2;",
        "setp.lt.s32 %r0, %r1, %r2;",
        "selp.b32 %r0, %r1, %r2, %r3;",
        "cvt.s32.f32 %r0, %f1;",
        "cvt.f32.f64 %f0, %d1;",
        "cvt.f32.s32 %f0, %r1;",
        "lop3.b32 %r0, %r1, %r2, %r3, %r4;",
        "ld.global.u32 %r0, [%p0];",
        "ld.shared.u32 %r0, [konst];",
        "ld.global.u32 [%w0], %r0;",
        "st.global.u32 %r0, [%w0];",
        "atom.global.inc.s32 %r0, [%w0], %r1;",
        "atom.global.min.f32 %f0, [%w0], %f1;",
        "atom.global.add.f16x2 %r0, [%w0], %r1;",
        "atom.local.add.u32 %r0, [%w0], %r1;",
        "mov.b32 %r0, {%h0, %h1, %h2};",
        "mov.u32 %r0, {%h0, %h1};",
        "cvta.u64 %w0, %w1;",
        "vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2;",
        "vadd.u32.u32.u32 %r0.h1, %r1, %r2, %r3;",
        "vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;",
        "vadd2.u32.u32.u32 %r0.h2, %r1, %r2, %r3;",
        "atom.shared.v2.f32.add {%f0, %f1}, [%w0], {%f2, %f3};",
        "atom.global.v2.f16x2.add {%r0, %r1}, [%w0], {%r2, %r3};",
        "cp.async.ca.shared.global [%r0], [%w0], 5;",
        "prmt.b32.clamp %r0, %r1, %r2, %r3;",
        "call (four), vprintf, (four, four);",
        "call (four), malloc, (eight);",
    };
    for (size_t i = 0; i < sizeof(snippets) / sizeof(snippets[0]); i++)
        check_role(snippets[i], PTX_ROLE_UNSUPPORTED);
}

/* Names of the registers in a list, in order of their indexes, "%r1 %r2 ". */
static void name_list(const ptx_function *f, const uint32_t *list, uint32_t count,
                      char *out, size_t bytes)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t reg = 0; reg < f->register_count; reg++)
        for (uint32_t i = 0; i < count; i++)
            if (list[i] == reg)
                at +=
                    (size_t)snprintf(out + at, bytes - at, "%s ", f->registers[reg].name);
}

static void check_registers(const char *snippet, const char *reads, const char *writes)
{
    ptx_module *module = parse(snippet);
    if (module == NULL)
        return;
    const ptx_function *kernel = kernel_of(module);
    uint32_t in[PTX_OPERANDS_MAX], out[PTX_OPERANDS_MAX], in_count, out_count;
    ptx_insn_registers(kernel, &kernel->insns[0], in, &in_count, out, &out_count);
    char text[256];
    name_list(kernel, in, in_count, text, sizeof(text));
    if (!CHECK(strcmp(text, reads) == 0))
        fprintf(stderr, "  %s reads %s\n", snippet, text);
    name_list(kernel, out, out_count, text, sizeof(text));
    if (!CHECK(strcmp(text, writes) == 0))
        fprintf(stderr, "  %s writes %s\n", snippet, text);
    ptx_module_destroy(module);
}

static void registers_are_told(void)
{
    check_registers("add.s32 %r0, %r1, %r1;", "%r1 ", "%r0 ");
    check_registers("@%p0 add.s32 %r0, %r1, %r2;", "%p0 %r0 %r1 %r2 ", "%r0 ");
    check_registers("setp.lt.and.s32 %p0|%p1, %r1, %r2, !%p2;", "%p2 %r1 %r2 ",
                    "%p0 %p1 ");
    check_registers("ld.global.v2.u32 {%r0, %r1}, [%w0+8];", "%w0 ", "%r0 %r1 ");
    check_registers("st.global.v2.u32 [%w0], {%r0, %r1};", "%r0 %r1 %w0 ", "");
    check_registers("mov.b64 {%r0, _}, %w1;", "%w1 ", "%r0 ");
    check_registers("red.global.add.u32 [%w0], %r1;", "%r1 %w0 ", "");
    check_registers("atom.global.cas.b32 %r0, [%w0], %r1, %r2;", "%r1 %r2 %w0 ", "%r0 ");
    check_registers("shfl.sync.up.b32 %r0|%p0, %r1, 1, 0, -1;", "%r1 ", "%p0 %r0 ");
    check_registers("mbarrier.arrive.expect_tx.shared.b64 %w0, [%r0], %r1;", "%r0 %r1 ",
                    "%w0 ");
    check_registers("mbarrier.expect_tx.relaxed.cta.shared.b64 [%r0], %r1;", "%r0 %r1 ",
                    "");
    check_registers("bar.red.popc.u32 %r0, 0, %p1;", "%p1 ", "%r0 ");
}

static void memory_and_uniformity_are_told(void)
{
    static const struct {
        const char *snippet;
        bool reads, writes, is_volatile, uniform;
    } cases[] = {
        {"add.s32 %r0, %r1, %r2;", false, false, false, true},
        {"ld.global.u32 %r0, [%w0];", true, false, false, false},
        {"ld.volatile.global.u32 %r0, [%w0];", true, false, true, false},
        {"ld.acquire.gpu.global.u32 %r0, [%w0];", true, false, true, false},
        {"st.global.u32 [%w0], %r0;", false, true, false, true},
        {"atom.global.add.u32 %r0, [%w0], 1;", true, true, true, false},
        {"cp.async.ca.shared.global [%r0], [%w0], 16;", true, true, false, false},
        {"cp.async.commit_group;", false, false, false, true},
        {"mov.u32 %r0, %ctaid.x;", false, false, false, true},
        {"mov.u32 %r0, %tid.x;", false, false, false, false},
        {"mov.u64 %w0, eight;", false, false, false, false},
        {"mov.u64 %w0, konst;", false, false, false, true},
        {"cvta.local.u64 %w0, %w1;", false, false, false, false},
        {"activemask.b32 %r0;", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_module *module = parse(cases[i].snippet);
        if (module == NULL)
            continue;
        const ptx_function *kernel = kernel_of(module);
        const ptx_insn *insn = &kernel->insns[0];
        if (!CHECK(ptx_insn_reads_memory(insn) == cases[i].reads &&
                   ptx_insn_writes_memory(insn) == cases[i].writes &&
                   ptx_insn_is_volatile(insn) == cases[i].is_volatile &&
                   ptx_insn_keeps_uniformity(kernel, insn) == cases[i].uniform))
            fprintf(stderr, "  %s\n", cases[i].snippet);
        ptx_module_destroy(module);
    }
}

/* What the program names, and what that names, once each. */
static void library_brings_what_is_used(void)
{
    gphi_text text = {0};
    gphi_text_add(&text,
                  "define float @k(float %%a) {\n"
                  "  %%b = call float @x_fma_rz_f32(float %%a, float %%a, float %%a)\n"
                  "  %%c = call float @llvm.sqrt.f32(float %%b)\n"
                  "  %%d = call float @llvm.sqrt.f32(float %%c)\n"
                  "  %%e = call i32 @llvm.fptosi.sat.i32.f32(float %%d)\n"
                  "  ret float %%d\n}\n");
    ptx_lower_library(&text, PTX_HALF_NONE);
    CHECK(text.status == GPH_OK);
    CHECK(strstr(text.bytes, "define internal float @x_fma_rz_f32(") != NULL);
    CHECK(strstr(text.bytes, "define internal double @x_odd_add_f64(") != NULL);
    CHECK(strstr(text.bytes, "define internal float @x_fma_rp_f32(") == NULL);
    const char *first = strstr(text.bytes, "declare float @llvm.sqrt.f32(float)\n");
    CHECK(first != NULL && strstr(first + 1, "declare float @llvm.sqrt.f32") == NULL);
    CHECK(strstr(text.bytes, "declare i32 @llvm.fptosi.sat.i32.f32(float)\n") != NULL);
    gphi_text_fini(&text);
}

int main(void)
{
    RUN(roles_are_told);
    RUN(forms_with_wrong_operands_are_unsupported);
    RUN(registers_are_told);
    RUN(memory_and_uniformity_are_told);
    RUN(library_brings_what_is_used);
    return test_done();
}
