// SPDX-License-Identifier: Apache-2.0
/* The PTX parser: what good text becomes, compared as a compact print of the data. */
#include <glob.h>
#include <gph/base.h>
#include <stdarg.h>

#include "softcuda/ptx/ptx.h"
#include "test.h"

#define HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"
/* The registers that the snippets use. */
#define BODY                                                                             \
    HEAD ".func (.param .b32 out) callee (.param .b32 a, .param .b64 b) ;\n"             \
         ".global .align 4 .b32 gv[8];\n"                                                \
         ".visible .entry kernel (.param .u64 arg, .param .align 8 .b8 big[24])\n{\n"    \
         ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<5>;\n"       \
         ".reg .v4 .f32 %v; .shared .b32 sv[4];\n"

static gph_status parse(const char *text, ptx_module **out, gph_error *error)
{
    return ptx_parse(text, strlen(text), NULL, out, error);
}

/* ---- printing --------------------------------------------------------------------- */

struct print {
    char text[4096];
    size_t length;
};

static void add(struct print *p, const char *format, ...) GPH_PRINTF(2, 3);
static void add(struct print *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n =
        vsnprintf(p->text + p->length, sizeof(p->text) - p->length, format, args);
    va_end(args);
    if (n > 0 && p->length + (size_t)n < sizeof(p->text))
        p->length += (size_t)n;
}

static const char *variable_name(const ptx_module *m, const ptx_function *f,
                                 uint32_t index)
{
    return index & PTX_VAR_LOCAL ? f->variables[index & ~PTX_VAR_LOCAL].name
                                 : m->variables[index].name;
}

static void print_base(struct print *p, const ptx_module *m, const ptx_function *f,
                       const ptx_operand *o)
{
    switch (o->base) {
    case PTX_OPERAND_REG: add(p, "%s", f->registers[o->index].name); break;
    case PTX_OPERAND_VAR: add(p, "%s", variable_name(m, f, o->index)); break;
    case PTX_OPERAND_FUNC: add(p, "%s", m->functions[o->index].name); break;
    default: add(p, "abs"); break;
    }
    add(p, "%+lld", (long long)o->imm);
}

static void print_operand(struct print *p, const ptx_module *m, const ptx_function *f,
                          const ptx_operand *o)
{
    add(p, " %s", o->negate ? "!" : "");
    switch ((ptx_operand_kind)o->kind) {
    case PTX_OPERAND_NONE: add(p, "?"); break;
    case PTX_OPERAND_REG: add(p, "%s", f->registers[o->index].name); break;
    case PTX_OPERAND_SREG: add(p, "sreg%u", o->index); break;
    case PTX_OPERAND_INT: add(p, "%lld", (long long)o->imm); break;
    case PTX_OPERAND_FLOAT:
        add(p, "%s%llx", o->single ? "f" : "d", (unsigned long long)o->imm);
        break;
    case PTX_OPERAND_VAR:
        add(p, "&%s%+lld", variable_name(m, f, o->index), (long long)o->imm);
        break;
    case PTX_OPERAND_FUNC: add(p, "%s()", m->functions[o->index].name); break;
    case PTX_OPERAND_LABEL:
        add(p, "%s:%u", f->labels[o->index].name, f->labels[o->index].insn);
        break;
    case PTX_OPERAND_ADDRESS:
        add(p, "[");
        print_base(p, m, f, o);
        add(p, "]");
        break;
    case PTX_OPERAND_VECTOR: add(p, "vec%u:", o->index); break;
    case PTX_OPERAND_SINK: add(p, "_"); break;
    }
    if (o->select)
        add(p, ".%s", ptx_modifier_name((ptx_modifier)o->select));
    if (o->pair)
        add(p, "|");
}

static const char *const space_names[] = {"",      "reg",   "const", "global",
                                          "local", "param", "shared"};

static void print_insn(struct print *p, const ptx_module *m, const ptx_function *f,
                       const ptx_insn *insn)
{
    if (insn->guarded)
        add(p, "@%s%s ", insn->guard_negate ? "!" : "", f->registers[insn->guard].name);
    add(p, "%s", ptx_opcode_name((ptx_opcode)insn->opcode));
    for (unsigned i = 0; i < insn->mod_count; i++)
        add(p, ".%s", ptx_modifier_name((ptx_modifier)insn->mods[i]));
    if (insn->space)
        add(p, " <%s%s%s>", space_names[insn->space], insn->space2 ? "," : "",
            space_names[insn->space2]);
    for (unsigned i = 0; i < insn->type_count; i++)
        add(p, "%s%s", i ? "," : " ", ptx_type_name((ptx_type)insn->types[i]));
    for (uint32_t i = 0; i < insn->operand_count; i++)
        print_operand(p, m, f, &f->operands[insn->operand + i]);
    if (insn->return_count || insn->argument_count)
        add(p, " (%u<-%u)", insn->return_count, insn->argument_count);
}

static const ptx_function *find_function(const ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->function_count; i++)
        if (strcmp(m->functions[i].name, name) == 0)
            return &m->functions[i];
    return NULL;
}

/* ---- instructions ----------------------------------------------------------------- */

struct insn_case {
    const char *text, *expected; /* the last instruction of the text */
};

static const struct insn_case insn_cases[] = {
    {"ret;", "ret"},
    {"ret.uni;", "ret.uni"},
    {"exit;;", "exit"},
    {"add.s32 %r1, %r2, -5;", "add s32 %r1 %r2 -5"},
    {"add.f32 %f1, %f2, 0f3F800000;", "add f32 %f1 %f2 f3f800000"},
    {"add.rn.ftz.sat.f32 %f1,%f2,-0fBF800000;", "add.rn.ftz.sat f32 %f1 %f2 f3f800000"},
    {"mov.f64 %rd1, 0d3FF0000000000000;", "mov f64 %rd1 d3ff0000000000000"},
    {"mov.f64 %rd1, 1.5;", "mov f64 %rd1 d3ff8000000000000"},
    {"mov.f64 %rd1, -25e-1;", "mov f64 %rd1 dc004000000000000"},
    {"mov.u32 %r1, 0xFFFFFFFF;", "mov u32 %r1 4294967295"},
    {"mov.u32 %r1, 0x1fU;", "mov u32 %r1 31"},
    {"mov.u32 %r1, 017;", "mov u32 %r1 15"},
    {"mov.u32 %r1, 0b101;", "mov u32 %r1 5"},
    {"mov.u64 %rd1, 18446744073709551615;", "mov u64 %rd1 -1"},
    {"mov.u32 %r1, (1+2)*3-(4<<2);", "mov u32 %r1 -7"},
    {"mov.u32 %r1, ~0 & 0xff | 0x100 ^ 1;", "mov u32 %r1 511"},
    {"mov.u32 %r1, 10 / 3 % 2 == 1 && 1 < 2;", "mov u32 %r1 1"},
    {"mov.s64 %rd1, (.s64) -3 >> 1;", "mov s64 %rd1 -2"},
    {"mov.u32 %r1, WARP_SZ;", "mov u32 %r1 32"},
    {"mov.u32 %r1, %tid.x;", "mov u32 %r1 sreg1"},
    {"mov.u32 %r1, %ctaid.z;", "mov u32 %r1 sreg9"},
    {"mov.u64 %rd1, %clock64;", "mov u64 %rd1 sreg26"},
    {"mov.b32 %r1, %pm3;", "mov b32 %r1 sreg0"},
    {"mov.b32 %r8, gv;", "mov b32 %r8 &gv+0"},
    {"mov.u64 %rd1, gv+8;", "mov u64 %rd1 &gv+8"},
    {"mov.u64 %rd1, callee;", "mov u64 %rd1 callee()"},
    {"mov.b64 %rd1, {%r1, %r2};", "mov b64 %rd1 vec2: %r1 %r2"},
    {"mov.b64 {%r1, _}, %rd1;", "mov b64 vec2: %r1 _ %rd1"},
    {"mov.f32 %f1, %v.z;", "mov f32 %f1 %v.z"},
    {"mov.f32 %v.a, %f1;", "mov f32 %v.w %f1"},
    {"ld.global.v4.f32 %v, [%rd1];",
     "ld.v4 <global> f32 vec4: %v.x %v.y %v.z %v.w [%rd1+0]"},
    {"ld.param.u64 %rd1, [arg];", "ld <param> u64 %rd1 [arg+0]"},
    {"ld.param::entry.b32 %r1, [big+8];", "ld <param> b32 %r1 [big+8]"},
    {"ld.global.nc.L1::evict_first.L2::128B.f32 %f1, [%rd1+-4];",
     "ld.nc.L1::evict_first.L2::128B <global> f32 %f1 [%rd1-4]"},
    {"ld.volatile.shared::cta.b32 %r1, [sv+4*3];",
     "ld.volatile <shared> b32 %r1 [sv+12]"},
    {"ld.shared::cluster.b32 %r1, [%r2];", "ld.shared::cluster <shared> b32 %r1 [%r2+0]"},
    {"ld.u8 %r1, [1024];", "ld u8 %r1 [abs+1024]"},
    {"st.global.v2.f32 [%rd1+8], {%f1, 0f00000000};",
     "st.v2 <global> f32 [%rd1+8] vec2: %f1 f0"},
    {"cp.async.ca.shared.global.L2::128B [%r1], [%rd2], 16, %r3;",
     "cp.async.ca.L2::128B <shared,global> [%r1+0] [%rd2+0] 16 %r3"},
    {"setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;", "setp.eq.and s32 %p1| %p2 %r1 0 !%p3"},
    {"setp.lt.f32 _|%p2, %f1, %f2;", "setp.lt f32 _| %p2 %f1 %f2"},
    {"@%p1 add.s32 %r1, %r2, %r3;", "@%p1 add s32 %r1 %r2 %r3"},
    {"@ ! %p2 exit;", "@!%p2 exit"},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;",
     "shfl.sync.bfly b32 %r1| %p1 %r2 16 31 -1"},
    {"cvt.rn.f16.f32 %r1, %f2;", "cvt.rn f16,f32 %r1 %f2"},
    {"cvt.rna.tf32.f32 %r1, %f2;", "cvt.rna tf32,f32 %r1 %f2"},
    {"cvta.to.global.u64 %rd1, %rd2;", "cvta.to <global> u64 %rd1 %rd2"},
    {"atom.global.cas.b32 %r1, [%rd1], %r2, %r3;",
     "atom.cas <global> b32 %r1 [%rd1+0] %r2 %r3"},
    {"bar.sync 0;", "bar.sync 0"},
    {"barrier.sync.aligned 1, %r1;", "barrier.sync.aligned 1 %r1"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, "
     "{%r3}, {%f1,%f2,%f3,%f4};",
     "mma.sync.aligned.m16n8k16.row.col f32,f16,f16,f32 vec4: %f1 %f2 %f3 %f4 vec2: %r1 "
     "%r2 vec1: "
     "%r3 vec4: %f1 %f2 %f3 %f4"},
    {"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1, %r2}];",
     "tex.2d.v4 f32,s32 vec4: %f1 %f2 %f3 %f4 [%rd1+0] vec2: %r1 %r2"},
    {"vadd.s32.u32.u32 %r1, %r2.b1, %r3.h0;", "vadd s32,u32,u32 %r1 %r2.b1 %r3.h0"},
    {"tensormap.quux.u32 %r1;", "?.? u32 %r1"},
    {"L: bra.uni L;", "bra.uni L:0"},
    {"@%p1 bra END; ret; END:", "ret"},
    {"bra END; END:", "bra END:1"},
    {"ret; ts: .branchtargets A, B, A; brx.idx %r1, ts; A: B:",
     "brx.idx %r1 A:2 B:2 A:2"},
    {"call.uni (%r1), callee, (%r2, 7);", "call.uni %r1 callee() %r2 7 (1<-2)"},
    {"{ .param .b32 p0; .param .b32 q; .param .b64 p1; call (q), callee, (p0, p1); }",
     "call &q+0 callee() &p0+0 &p1+0 (1<-2)"},
    {"P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn; call "
     "(%r1), %rd1, (%rd2, %r3), P;",
     "call %r1 %rd1 %rd2 %r3 P() (1<-2)"},
    {"T: .calltargets callee; call (%r1), %rd1, (%r2, %rd3), T;",
     "call %r1 %rd1 %r2 %rd3 callee() (1<-2)"},
    {"/* c ; } */ ret // d }\n;", "ret"},
    {"{ .reg .b32 %r1; { .reg .b32 a<3>; mov.b32 a2, %r1; } }", "mov b32 a2 %r1"},
    {"membar.gl;", "membar.gl"},
    {"vote.sync.all.pred %p1, !%p2, 0xffff;", "vote.sync.all pred %p1 !%p2 65535"},
    {"vote.sync.ballot.b32 %r1, 1, -1;", "vote.sync.ballot b32 %r1 1 -1"},
    {"elect.sync _|%p1, -1;", "elect.sync _| %p1 -1"},
    {"bar.red.and.pred %p1, 0, 64, !%p2;", "bar.red.and pred %p1 0 64 !%p2"},
    {"bar.red.popc.u32 %r1, %r2, %p2;", "bar.red.popc u32 %r1 %r2 %p2"},
    {"barrier.cluster.arrive.aligned;", "barrier.cluster.arrive.aligned"},
    {"bar.warp.sync -1;", "bar.warp.sync -1"},
    {"trap;", "trap"},
    {"tensormap.replace.tile [%rd1], 1, 2, 3, 4, 5, 6, 7;",
     "?.?.tile [%rd1+0] 1 2 3 4 5 6 7"},
};

static void parses_every_instruction_form(void)
{
    for (size_t i = 0; i < sizeof(insn_cases) / sizeof(insn_cases[0]); i++) {
        char text[2048];
        snprintf(text, sizeof(text), "%s%s\n}\n", BODY, insn_cases[i].text);
        ptx_module *module = NULL;
        gph_error error = {0};
        if (!CHECK_OK(parse(text, &module, &error), error)) {
            fprintf(stderr, "  %s\n", insn_cases[i].text);
            continue;
        }
        const ptx_function *f = find_function(module, "kernel");
        struct print p = {.length = 0};
        if (CHECK(f->insn_count > 0))
            print_insn(&p, module, f, &f->insns[f->insn_count - 1]);
        if (!CHECK(strcmp(p.text, insn_cases[i].expected) == 0))
            fprintf(stderr, "  %s\n  got      %s\n  expected %s\n", insn_cases[i].text,
                    p.text, insn_cases[i].expected);
        ptx_module_destroy(module);
    }
}

/* Inner names hide outer ones, and the same label may be in each of two scopes. */
static void scopes_shadow(void)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    if (!CHECK_OK(parse(HEAD ".entry k() { .reg .b32 a; mov.b32 a, 1;\n"
                             "{ .reg .b32 a; mov.b32 a, 2; bra L; L: }\n"
                             "{ .reg .b64 a; mov.b64 a, 3; L: bra L; }\n"
                             "mov.b32 a, 4; bra L; { L: { bra L; } } L: ret; }",
                        &module, &error),
                  error))
        return;
    const ptx_function *f = &module->functions[0];
    CHECK(f->register_count == 3);
    CHECK(f->registers[0].type == PTX_B32 && f->registers[2].type == PTX_B64);
    const uint32_t regs[] = {0, 1, 2, 0}, movs[] = {0, 1, 3, 5};
    for (int i = 0; i < 4; i++)
        CHECK(f->operands[f->insns[movs[i]].operand].index == regs[i]);
    const uint32_t bras[] = {2, 4, 6, 7}, to[] = {3, 4, 8, 7};
    for (int i = 0; i < 4; i++) {
        const ptx_operand *o = &f->operands[f->insns[bras[i]].operand];
        CHECK(o->kind == PTX_OPERAND_LABEL && f->labels[o->index].insn == to[i]);
    }
    ptx_module_destroy(module);
}

static void keeps_places_and_text(void)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    if (!CHECK_OK(parse(HEAD
                        ".entry k() {\n\t.reg .pred %p;\n.loc 2 17 3\n"
                        "\t@%p  trap\n ;\n.loc 3 4 5, function_name $L0, inlined_at 1 "
                        "2 3\nexit;\n}\n.file 2 \"a.cu\"\n.file 3 \"b.cu\", 1, 2\n",
                        &module, &error),
                  error))
        return;
    const ptx_insn *insn = module->functions[0].insns;
    CHECK(insn[0].line == 7 && insn[0].column == 7);
    CHECK(insn[0].source_file == 2 && insn[0].source_line == 17);
    CHECK(insn[1].line == 10 && insn[1].source_file == 3 && insn[1].source_line == 4);
    CHECK(module->functions[0].line == 4);
    CHECK(module->file_count == 4 && strcmp(module->files[2], "a.cu") == 0);
    CHECK(module->files[1] == NULL && strcmp(module->files[3], "b.cu") == 0);
    char text[32];
    ptx_insn_text(module, &insn[0], text, sizeof(text));
    CHECK(strcmp(text, "@%p trap ") == 0);
    ptx_insn_text(module, &insn[0], text, 5);
    CHECK(strcmp(text, "@%p ") == 0);
    ptx_module_destroy(module);
}

/* ---- variables and functions
 * ----------------------------------------------------------- */

struct variable_case {
    const char *text, *expected;
};

static const struct variable_case variable_cases[] = {
    {".global .b32 x;", "x global b32 align4 bytes4"},
    {".visible .global .align 16 .f32 x[10];", "x global f32 align16 bytes40 visible"},
    {".const .b8 x[3] = {1, -2, 255};", "x const b8 align1 bytes3 01feff"},
    {".const .u16 x[] = {1, 0x203, 'A'};", NULL},
    {".const .u16 x[] = {1, 0x203};", "x const u16 align2 bytes4 01000302"},
    {".global .f32 x = 0f3F800000;", "x global f32 align4 bytes4 0000803f"},
    {".global .f32 x = 2;", "x global f32 align4 bytes4 00000040"},
    {".global .f64 x = 0.5;", "x global f64 align8 bytes8 000000000000e03f"},
    {".global .b32 x = -0f3F800000;", "x global b32 align4 bytes4 000080bf"},
    {".global .b8 x[2][3] = {{1}, {2, 3}};", "x global b8 align1 bytes6 010000020300"},
    {".global .b8 x[][2] = {1, 2, 3};", "x global b8 align1 bytes4 01020300"},
    {".global .b8 x[2][2] = {1, 2, {3}};", "x global b8 align1 bytes4 01020300"},
    {".global .v2 .b16 x[2] = {{1, 2}, {3, 4}};",
     "x global b16 align4 bytes8 0100020003000400"},
    {".global .b8 x[2] = {};", "x global b8 align1 bytes2 0000"},
    {".extern .shared .align 16 .b8 x[];", "x shared b8 align16 bytes0 extern"},
    {".weak .global .attribute(.managed) .align 4 .u32 x;",
     "x global u32 align4 bytes4 visible"},
    {".common .global .b64 x;", "x global b64 align8 bytes8 visible"},
    {".global .texref x;", "x global other align8 bytes8"},
    {".global .u64 x = y+4; .global .b32 y[4];",
     "x global u64 align8 bytes8 0000000000000000 @0:8 y+4"},
    {".global .b32 y; .global .u64 x[2] = {generic(y)-4, 7};",
     "x global u64 align8 bytes16 00000000000000000700000000000000 @0:8 generic y-4"},
    {".global .b32 y; .global .b8 x[3] = {1, 0xFF(y), 0xFF00(generic(y+1))};",
     "x global b8 align1 bytes3 010000 @1:1 y+0 @2:1 generic y+1 >>8"},
    {".func f; .global .u64 x = f;",
     "x global u64 align8 bytes8 0000000000000000 @0:8 f()+0"},
    {".extern .global .b32 x; .visible .global .b32 x = 3;",
     "x global b32 align4 bytes4 visible 03000000"},
    {".global .b32 x[4*2+1];", "x global b32 align4 bytes36"},
};

static void print_variable(struct print *p, const ptx_module *m, const ptx_variable *v)
{
    add(p, "%s %s %s align%u bytes%llu", v->name, space_names[v->space],
        ptx_type_name((ptx_type)v->type), v->align, (unsigned long long)v->bytes);
    add(p, "%s%s%s", v->is_visible ? " visible" : "", v->is_extern ? " extern" : "",
        v->init ? " " : "");
    for (uint64_t i = 0; v->init && i < v->bytes; i++)
        add(p, "%02x", v->init[i]);
    for (uint32_t i = 0; i < v->relocation_count; i++) {
        const ptx_relocation *r = &v->relocations[i];
        add(p, " @%llu:%u %s%s%s%+lld", (unsigned long long)r->offset, r->bytes,
            r->is_generic ? "generic " : "",
            r->is_function ? m->functions[r->index].name : m->variables[r->index].name,
            r->is_function ? "()" : "", (long long)r->addend);
        if (r->shift)
            add(p, " >>%u", r->shift);
    }
}

static void parses_every_variable_form(void)
{
    for (size_t i = 0; i < sizeof(variable_cases) / sizeof(variable_cases[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), HEAD "%s\n", variable_cases[i].text);
        ptx_module *module = NULL;
        gph_error error = {0};
        const gph_status status = parse(text, &module, &error);
        if (variable_cases[i].expected == NULL) {
            CHECK(status == 218 && module == NULL);
            continue;
        }
        if (!CHECK_OK(status, error)) {
            fprintf(stderr, "  %s\n", variable_cases[i].text);
            continue;
        }
        struct print p = {.length = 0};
        for (uint32_t v = 0; v < module->variable_count; v++)
            if (strcmp(module->variables[v].name, "x") == 0)
                print_variable(&p, module, &module->variables[v]);
        if (!CHECK(strcmp(p.text, variable_cases[i].expected) == 0))
            fprintf(stderr, "  %s\n  got      %s\n  expected %s\n",
                    variable_cases[i].text, p.text, variable_cases[i].expected);
        ptx_module_destroy(module);
    }
}

static void parses_function_heads(void)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    if (!CHECK_OK(
            parse(
                HEAD
                ".extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param "
                ".b64 b);\n"
                ".func (.reg .u32 %res) inc (.reg .u32 %x) { add.u32 %res, %x, 1; ret; "
                "}\n"
                ".visible .entry k (.param .u64 .ptr .global .align 8 a, .param .align 4 "
                ".b8 b[12]) .maxntid 64, 2 .minnctapersm 3 .maxnreg 40 .reqntid 8, 4, 2 "
                ".pragma \"nounroll\"; { .local .align 8 .b8 d[16]; ret; }\n"
                ".func gone() .noreturn;\n"
                ".func gone() { trap; }\n"
                ".func other; .func target { ret; }\n"
                ".func user { call other; ret; }\n"
                ".alias other, target;\n",
                &module, &error),
            error))
        return;
    const ptx_function *f = find_function(module, "vprintf");
    CHECK(f->is_extern && f->parameter_count == 2 && f->return_count == 1);
    CHECK(f->variables[1].bytes == 8 &&
          strcmp(f->variables[2].name, "func_retval0") == 0);
    f = find_function(module, "inc");
    CHECK(!f->is_extern && f->parameter_registers != NULL);
    CHECK(f->variables[0].space == PTX_SPACE_REG && f->parameter_registers[0] == 0);
    CHECK(f->parameter_registers[1] == 1 && f->register_count == 2);
    CHECK(strcmp(f->registers[1].name, "%res") == 0);
    f = find_function(module, "k");
    CHECK(f->is_entry && f->parameter_count == 2 && f->variable_count == 3);
    CHECK(f->variables[1].bytes == 12 && f->variables[1].align == 4);
    CHECK(f->variables[2].space == PTX_SPACE_LOCAL && f->variables[2].bytes == 16);
    CHECK(f->max_threads[0] == 64 && f->max_threads[1] == 2 && f->max_threads[2] == 1);
    CHECK(f->required_threads[2] == 2 && f->min_blocks == 3 && f->max_registers == 40);
    f = find_function(module, "gone");
    CHECK(f->is_noreturn && !f->is_extern && f->insn_count == 1);
    f = find_function(module, "user");
    CHECK(&module->functions[f->operands[0].index] == find_function(module, "target"));
    CHECK(module->version_major == 8 && module->target == 70 &&
          module->address_bits == 64);
    ptx_module_destroy(module);
}

static void skips_what_has_no_meaning(void)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    CHECK_OK(parse("// c\n.version 8.0\n.target sm_70, debug\n.address_size 64\n"
                   ".section .debug_str { .b8 1, 2 $L0: .b32 $L0+4, a-b }\n"
                   ".pragma \"x\", \"y\";\n.file 1 \"/a b\\\"c\"\n.func f\n{\n.pragma "
                   "\"z\";\nret;\n}\n/* end */",
                   &module, &error),
             error);
    ptx_module_destroy(module);
    module = NULL;
    CHECK_OK(ptx_parse(HEAD "\0\0", sizeof(HEAD) + 2, NULL, &module, &error), error);
    ptx_module_destroy(module);
}

/* ---- what compilers write
 * ---------------------------------------------------------------- */

static size_t check_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    static char text[1 << 20];
    if (!CHECK(file != NULL))
        return 0;
    const size_t bytes = fread(text, 1, sizeof(text), file);
    fclose(file);
    ptx_module *module = NULL;
    gph_error error = {0};
    if (!CHECK_OK(ptx_parse(text, bytes, NULL, &module, &error), error)) {
        fprintf(stderr, "  %s\n", path);
        return 0;
    }
    size_t kernels = 0;
    for (uint32_t f = 0; f < module->function_count; f++) {
        const ptx_function *function = &module->functions[f];
        kernels += function->is_entry;
        for (uint32_t i = 0; i < function->insn_count; i++) {
            const ptx_insn *insn = &function->insns[i];
            if (!CHECK(insn->opcode != PTX_OP_UNKNOWN && !ptx_has(insn, PTX_MOD_UNKNOWN)))
                fprintf(stderr, "  %s:%u\n", path, insn->line);
        }
    }
    ptx_module_destroy(module);
    return kernels;
}

/* Every kernel that the repository holds: clang's and nvcc's PTX, all words known. */
static void parses_every_committed_kernel(void)
{
    static const char *const patterns[] = {KERNELS "/ptx/*.ptx",
                                           KERNELS "/corpus/ptx/*.ptx"};
    size_t kernels = 0;
    for (int i = 0; i < 2; i++) {
        glob_t found;
        if (!CHECK(glob(patterns[i], 0, NULL, &found) == 0))
            continue;
        for (size_t f = 0; f < found.gl_pathc; f++)
            kernels += check_file(found.gl_pathv[f]);
        globfree(&found);
    }
    CHECK(kernels > 200);
}

int main(void)
{
    RUN(parses_every_instruction_form);
    RUN(scopes_shadow);
    RUN(keeps_places_and_text);
    RUN(parses_every_variable_form);
    RUN(parses_function_heads);
    RUN(skips_what_has_no_meaning);
    RUN(parses_every_committed_kernel);
    return test_done();
}
