// SPDX-License-Identifier: Apache-2.0
/* The PTX parser: where and how bad text is refused, limits, and every allocation failing
 * in turn. */
#include <gph/base.h>

#include "fault.h"
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
#define BODY_LINE 10 /* where a snippet after BODY begins */

static gph_status parse(const char *text, ptx_module **out, gph_error *error)
{
    return ptx_parse(text, strlen(text), NULL, out, error);
}

/* ---- bad text
 * -------------------------------------------------------------------------- */

struct bad_case {
    const char *text; /* whole, or after BODY if `in_body` */
    int in_body;
    const char
        *message; /* the line counts from the first line of the snippet if in_body */
    gph_status status;
};

static const struct bad_case bad_cases[] = {
    {"", 0, "line 1, column 1: found the end of the text, expected .version", 218},
    {"hello", 0, "line 1, column 1: found 'hello', expected .version", 218},
    {".version 9.1\n.target sm_90", 0,
     "line 1, column 10: PTX version 9.1 is newer than 9.0", 222},
    {".version 10.0\n.target sm_90", 0,
     "line 1, column 10: PTX version 10.0 is newer than 9.0", 222},
    {".version eight", 0,
     "line 1, column 10: found 'eight', expected a version such as 8.5", 218},
    {".version 8.0\n.target sm_130", 0,
     "line 2, column 9: target sm_130 is not below or equal to sm_121", 222},
    {".version 8.0\n.target gpu", 0,
     "line 2, column 9: found 'gpu', expected a target such as sm_90", 218},
    {".version 8.0\n.target sm_70\n.address_size 32", 0,
     "line 3, column 15: address size 32 is not 64", 218},
    {HEAD "ret;", 0,
     "line 4, column 1: found 'ret', expected a variable, .func or .entry", 218},
    {HEAD ".reg .b32 %r;", 0, "line 4, column 1: '.reg' is declared outside a function",
     218},
    {HEAD ".entry k() {\nret;\n", 0,
     "line 6, column 1: found the end of the text, expected '}' for the '{' of line 4, "
     "column 12",
     218},
    {HEAD ".entry k() { /* ", 0, "line 4, column 14: found a comment that does not end",
     218},
    {HEAD ".entry k(.param .b32 a) {}\n.entry k(.param .b32 a) {}", 0,
     "line 5, column 8: function 'k' is already defined on line 4", 218},
    {HEAD ".func f(.param .b32 a);\n.func f() { ret; }", 0,
     "line 5, column 7: 'f' is declared differently on line 4", 218},
    {HEAD ".entry k(.param .b32 a, .param .b32 a) {}", 0,
     "line 4, column 37: 'a' is already defined on line 4", 218},
    {HEAD ".entry k(.b32 a) {}", 0,
     "line 4, column 10: found '.b32', expected a parameter such as .param .b64 name",
     218},
    {HEAD ".entry k() {\n.reg .b32 %r<3>;\nadd.bogus.u32 %r0, %r1, %r2;\n}", 0,
     "line 6, column 4: '.bogus' is not a PTX modifier", 218},
    {HEAD ".entry k() {\n.reg .b32 %r<3>;\nadd.u32.entry %r0, %r1, %r2;\n}", 0,
     "line 6, column 8: '.entry' is not a PTX modifier", 218},
    {HEAD ".entry k() {\n.reg .b32 %r<3>;\nadd.u32 %r0, %r1.b0, %r2;\n}", 0,
     "line 6, column 17: a register of 1 element has no '.b0'", 218},
    {HEAD ".entry k() {\n.reg .b32 %r<4>;\nvadd2.u32.u32.u32 %r0.h4, %r1, %r2, %r3;\n}",
     0, "line 6, column 22: a register of 1 element has no '.h4'", 218},
    {HEAD ".entry k() {\n.reg .b32 %r<4>;\nvmad.u32.u32.u32 %r0, -5, %r2, %r3;\n}", 0,
     "line 6, column 24: found '5', expected a register after '-'", 218},
    {HEAD ".entry k() 5", 0, "line 4, column 12: found '5', expected '{' or ';'", 218},
    {HEAD ".global .b32 x;\n.global .b32 x;", 0,
     "line 5, column 14: 'x' is already defined on line 4", 218},
    {HEAD ".global .b33 x;", 0,
     "line 4, column 9: found '.b33', expected a type such as .b32", 218},
    {HEAD ".global x;", 0, "line 4, column 9: found 'x', expected a type such as .b32",
     218},
    {HEAD ".global .align 3 .b32 x;", 0,
     "line 4, column 16: alignment 3 is not a power of two up to 1048576", 218},
    {HEAD ".global .b32 x[-1];", 0, "line 4, column 15: a dimension of -1 elements", 218},
    {HEAD ".global .b32 x[3][];", 0, "line 4, column 18: a dimension of 0 elements", 218},
    {HEAD ".global .b32 x[99999999999][99999999999];", 0,
     "line 4, column 28: an array of more than 1099511627776 bytes", 218},
    {HEAD ".global .b32 x[2] = {1,2,3};", 0,
     "line 4, column 26: the initializer of x has more than 2 elements here", 218},
    {HEAD ".global .b32 x[2] = {{1}};", 0,
     "line 4, column 22: '{' nests deeper than the 1 dimensions of x", 218},
    {HEAD ".global .b32 x = y;", 0, "line 4, column 18: 'y' is not defined", 218},
    {HEAD ".global .b8 x = x;", 0, "line 4, column 17: an address does not fit in .b8",
     218},
    {HEAD ".global .b8 x = 0xF0(x);", 0,
     "line 4, column 22: the mask of this address is not one byte of it", 218},
    {HEAD ".global .u8 x = 1.5;", 0,
     "line 4, column 17: a floating-point literal cannot initialize .u8", 218},
    {HEAD ".shared .b32 x = 1;", 0, "line 4, column 16: 'x' takes no initializer", 218},
    {HEAD ".global .b32 x = 0f3F8;", 0,
     "line 4, column 18: found a malformed floating-point literal", 218},
    {HEAD ".global .b64 x = 99999999999999999999;", 0,
     "line 4, column 18: found a number that does not fit in 64 bits", 218},
    {HEAD ".global .b64 x = 09;", 0, "line 4, column 18: found a malformed number", 218},
    {HEAD ".global .b64 x = 1 / 0;", 0,
     "line 4, column 23: the constant in front divides by 0", 218},
    {HEAD ".alias a, b;", 0,
     "line 4, column 8: found 'a', expected the name of a declared function", 218},
    {HEAD "\x80", 0, "line 4, column 1: found '\\x80', a byte that is not PTX", 218},
    {HEAD ".file 1 \"x", 0,
     "line 4, column 9: found a string that does not end on its line", 218},
    {HEAD ".file 70000 \"x\"", 0,
     "line 4, column 7: file number 70000 is above the limit 65535", 218},
    {"add.s32 %r1, %r2", 1, "line 2, column 1: found '}', expected ',' or ';'", 218},
    {"add.s32 %r1, %r2;", 1, "line 1, column 1: 'add' takes 3 operands, found 2", 218},
    {"  ret %r1;", 1, "line 1, column 3: 'ret' takes no operands, found 1", 218},
    {"setp.eq.s32 %p1, %r1;", 1,
     "line 1, column 1: 'setp' takes 3 to 4 operands, found 2", 218},
    {"add.s32 %r1, %r2, %r9;", 1, "line 1, column 19: register '%r9' is not defined",
     218},
    {"add.s32 %r1, %r2, %r01;", 1, "line 1, column 19: register '%r01' is not defined",
     218},
    {"mov.u64 %rd1, nowhere;", 1, "line 1, column 15: 'nowhere' is not defined", 218},
    {"mov.u32 %r1, %tid.q;", 1, "line 1, column 14: register '%tid' is not defined", 218},
    {"add.u33 %r1, %r2, 1;", 1, "line 1, column 4: '.u33' is not a type", 218},
    {"bra L;", 1, "line 1, column 5: label 'L' is not defined", 218},
    {"{ L: } bra L;", 1, "line 1, column 12: label 'L' is not defined", 218},
    {"L: L: ret;", 1, "line 1, column 4: 'L' is already defined on line 10", 218},
    {".reg .b32 %r5;", 1, "line 1, column 11: '%r5' is already defined on line 8", 218},
    {".reg .b32 %r<5>;", 1, "line 1, column 11: '%r'<...> is already defined on line 8",
     218},
    {".reg .b32 a<2000000>;", 1,
     "line 1, column 12: 2000000 registers are above the limit 1048576", 218},
    {".reg .b32 a<-1>;", 1,
     "line 1, column 13: found '-', expected a number of registers", 218},
    {".reg .tf32 a;", 1, "line 1, column 12: a register cannot have the type in front",
     218},
    {".global .b32 x;", 1, "line 1, column 1: '.global' is declared inside a function",
     218},
    {"ld.global.v4.f32 {%f1, %f2}, [%rd1];", 1,
     "line 1, column 18: a vector of 2 elements, but 'ld' moves 4", 218},
    {"st.global.f32 [%rd1], {%f1, %f2};", 1,
     "line 1, column 23: a vector of 2 elements, but 'st' moves 1", 218},
    {"ld.v2.f32 %f1, [%rd1];", 1, "line 1, column 1: 'ld'.v2 without a vector operand",
     218},
    {"mov.f32 %f1, %f2.x;", 1, "line 1, column 17: a register of 1 element has no '.x'",
     218},
    {"@%r1 ret;", 1, "line 1, column 2: '%r1' is not a predicate register", 218},
    {"@%p9 ret;", 1, "line 1, column 2: register '%p9' is not defined", 218},
    {"@%p1 L: ret;", 1, "line 1, column 6: 'L' is not a PTX instruction", 218},
    {"ret; nonsense;", 1, "line 1, column 6: 'nonsense' is not a PTX instruction", 218},
    {"rn.u32 %r1, %r2;", 1, "line 1, column 1: 'rn' is not a PTX instruction", 218},
    {"selp.b32 %r1, 1, 2, !%r2;", 1,
     "line 1, column 22: '%r2' is not a predicate register", 218},
    {"ld.u32 %r1, [%p1;", 1, "line 1, column 17: found ';', expected ']'", 218},
    {"ld.u32 %r1, [0f00000000];", 1,
     "line 1, column 14: '0f00000000' cannot be an address, expected a register, a "
     "variable "
     "or a number",
     218},
    {"call nothing;", 1, "line 1, column 6: 'nothing' is not defined", 218},
    {"call (%r1), callee, (%r2);", 1,
     "line 1, column 13: the call passes 1 arguments, 'callee' takes 2", 218},
    {"call callee, (%r2, %rd1);", 1,
     "line 1, column 6: the call takes 0 results, 'callee' gives 1", 218},
    {"call %rd1, (%r2);", 1,
     "line 1, column 17: found ';', expected ',' and the label of a .callprototype", 218},
    {"brx.idx %r1, L;", 1,
     "line 1, column 14: found 'L', expected the label of a .branchtargets further up",
     218},
    {"mov.b32 %r1, L; L:", 1, "line 1, column 14: 'L' is not defined", 218},
    {"L: mov.b32 %r1, L;", 1,
     "line 1, column 17: 'L' is a label, expected a register, a variable or a number",
     218},
    {"mov.b64 %rd1, {%r1 %r2};", 1, "line 1, column 20: found '%r2', expected ',' or '}'",
     218},
    {"add.f32 %f1, %f2, ~1.5;", 1,
     "line 1, column 23: the floating-point literal in front has an operator that takes "
     "integers",
     218},
    {"vote.sync.ballot.b32 %r1, [sv], -1;", 1,
     "line 1, column 1: 'vote' has no form with such an operand 2", 218},
    {"vote.sync.all.pred %r1, %p1, -1;", 1,
     "line 1, column 1: 'vote' has no form with such an operand 1", 218},
    {"shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;", 1,
     "line 1, column 1: 'shfl' has no form with such an operand 1", 218},
    {"bar.sync %p1;", 1, "line 1, column 1: 'bar' has no form with such an operand 1",
     218},
    {"bar.red.popc.u32 %r1, 0;", 1,
     "line 1, column 1: 'bar' has no form with such an operand 3", 218},
    {"mov.u32 %r1, \"x\";", 1, "line 1, column 14: found '\"x\"', expected an operand",
     218},
};

static void refuses_bad_text_at_its_place(void)
{
    for (size_t i = 0; i < sizeof(bad_cases) / sizeof(bad_cases[0]); i++) {
        const struct bad_case *bad = &bad_cases[i];
        char text[2048], expected[512];
        snprintf(text, sizeof(text), "%s%s%s", bad->in_body ? BODY : "", bad->text,
                 bad->in_body ? "\n}\n" : "");
        snprintf(expected, sizeof(expected), "%s", bad->message);
        unsigned line;
        if (bad->in_body && sscanf(bad->message, "line %u", &line) == 1)
            snprintf(expected, sizeof(expected), "line %u%s", line + BODY_LINE - 1,
                     strchr(bad->message, ','));
        ptx_module *module = NULL;
        gph_error error = {0};
        const gph_status status = parse(text, &module, &error);
        if (!CHECK(status == bad->status && module == NULL &&
                   strcmp(error.message, expected) == 0))
            fprintf(stderr, "  %s\n  got      %d %s\n  expected %d %s\n", bad->text,
                    status, error.message, bad->status, expected);
        ptx_module_destroy(module);
        CHECK(parse(text, &module, NULL) == bad->status); /* the error may be NULL */
    }
}

static void hints_say_what_to_do(void)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    CHECK(parse(BODY "add.s32 %r1, %r2, %x;\n}", &module, &error) == 218);
    CHECK(strcmp(error.hint, "declare it with .reg") == 0);
    CHECK(parse(".version 8.0\n.target sm_130", &module, &error) == 222);
    CHECK(strcmp(error.hint, "compile for sm_90 or below") == 0);
    CHECK(parse(".version 9.2\n.target sm_90", &module, &error) == 222);
    CHECK(strstr(error.hint, "pin the packages that compile to CUDA 13.0") != NULL);
}

/* ---- limits
 * ------------------------------------------------------------------------------ */

/* `count` copies of `piece` between `first` and `last`; the caller frees it. */
static char *repeat(const char *first, const char *piece, size_t count, const char *last)
{
    const size_t bytes = strlen(piece);
    char *text = malloc(strlen(first) + bytes * count + strlen(last) + 1);
    if (text == NULL)
        exit(2);
    char *at = text + strlen(strcpy(text, first));
    for (size_t i = 0; i < count; i++, at += bytes)
        memcpy(at, piece, bytes + 1);
    strcpy(at, last);
    return text;
}

static void check_limit(char *text, const char *message)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    CHECK(parse(text, &module, &error) == 218 && module == NULL);
    if (!CHECK(strstr(error.message, message) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    free(text);
}

static void limits_hold(void)
{
    check_limit(repeat(HEAD ".func f ", "{", 100, ""), "scopes nest deeper than 64");
    check_limit(repeat(HEAD ".func f { vset2 ", "1,", 300, "1; }"),
                "more than 256 operands");
    check_limit(repeat(HEAD ".global .b32 x = ", "(", 100, "1;"),
                "a constant with more than 32 operators open");
    check_limit(repeat(HEAD ".global .b32 x = ", "-", 100000, "1;"),
                "a constant with more than 32 operators open");
    check_limit(repeat(HEAD ".global .b32 x", "[2]", 40, ";"), "more than 15 dimensions");
    check_limit(repeat(HEAD ".func f { ", "{ .reg .b32 %r<1000000>; }", 4, "}"),
                "more than 1048576 registers in a function");
    check_limit(repeat(HEAD, ".func f { .reg .b32 %r<1000000>; }\n", 1,
                       ".global .b8 x[1000000000] = {1};"),
                "bytes of PTX declare more than");
}

/* Deep but legal input, and labels that wait through many scopes, stay fast. */
static void hostile_shapes_parse(void)
{
    char *inner = repeat("", "bra l;", 20000, "");
    char *opens = repeat(HEAD ".func f {", "{", 60, inner);
    char *text = repeat(opens, "}", 60, " l: ret; }");
    ptx_module *module = NULL;
    gph_error error = {0};
    if (CHECK_OK(parse(text, &module, &error), error)) {
        const ptx_function *f = &module->functions[0];
        CHECK(f->insn_count == 20001 && f->labels[0].insn == 20000);
        ptx_module_destroy(module);
    }
    free(text);
    free(opens);
    free(inner);
}

/* ---- memory
 * ------------------------------------------------------------------------------ */

static const char everything[] =
    BODY "ts: .branchtargets A, B;\nbrx.idx %r1, ts;\nA: add.s32 %r1, %r2, 3;\n"
         "B: { .reg .v2 .b32 w<3>; mov.b64 %rd1, {w0.x, w2.y}; bra C; }\n"
         "C: P: .callprototype _ (.param .b64 _);\ncall %rd1, (%rd2), P;\nret;\n}\n"
         ".file 1 \"x\"\n.func a; .func b { ret; } .alias a, b;\n"
         ".global .u64 t[3] = {generic(gv), a, b};\n.global .b8 z[] = {1, 2, 3};\n";

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
        ptx_module *module = NULL;
        gph_error error = {0};
        const gph_status status =
            ptx_parse(everything, strlen(everything), &allocator, &module, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((module != NULL) == (status == GPH_OK));
        ptx_module_destroy(module);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK) {
            CHECK(nth > 3);
            return;
        }
    }
}

/* 5 MB of ordinary code takes less than 40 bytes a byte. */
static void memory_is_bounded_by_the_text(void)
{
    char *text = repeat(BODY, "add.s32 %r1, %r2, 5;\n", 100000, "ret;\n}\n");
    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
    ptx_module *module = NULL;
    gph_error error = {0};
    CHECK_OK(ptx_parse(text, strlen(text), &allocator, &module, &error), error);
    CHECK((size_t)atomic_load(&heap.live_bytes) < 40 * strlen(text));
    ptx_module_destroy(module);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    free(text);
}

int main(void)
{
    RUN(refuses_bad_text_at_its_place);
    RUN(hints_say_what_to_do);
    RUN(limits_hold);
    RUN(hostile_shapes_parse);
    RUN(survives_every_failed_allocation);
    RUN(memory_is_bounded_by_the_text);
    return test_done();
}
