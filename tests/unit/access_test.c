// SPDX-License-Identifier: Apache-2.0
/* What kernels do with what they are given, read from PTX as compilers and people write it. */
#include "access/access.h"
#include "access/fatbin.h"
#include "test.h"

#include <stdbool.h>

static char said[1 << 12]; /* "name bytes [elsewhere] offset:flags/bytes ..." a line */

static void say(void *user, const gphi_access *kernel)
{
    size_t at = strlen(said);
    (void)user;
    at += (size_t)snprintf(said + at, sizeof(said) - at, "%.*s %u%s",
                           (int)kernel->name_length, kernel->name, kernel->bytes,
                           kernel->goes_elsewhere ? " elsewhere" : "");
    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->words[i].flags != 0)
            at += (size_t)snprintf(said + at, sizeof(said) - at, " %u:%u/%u",
                                   kernel->words[i].offset, kernel->words[i].flags,
                                   kernel->words[i].store_bytes);
    snprintf(said + at, sizeof(said) - at, "\n");
}

static const char *read_text(const char *ptx)
{
    void *room = malloc(gphi_access_room());
    said[0] = '\0';
    gphi_access_read(ptx, strlen(ptx), room, say, NULL);
    free(room);
    return said;
}

/* A kernel of the parameters "a, b, n" with this body. */
static const char *read_body(const char *body)
{
    char ptx[4096];
    snprintf(ptx, sizeof(ptx),
             ".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1,\n"
             "\t.param .u32 k_param_2\n)\n{\n%s}\n",
             body);
    return read_text(ptx);
}

#define IS(text, expected)                                                               \
    do {                                                                                 \
        const char *got = text;                                                          \
        if (strcmp(got, expected) != 0)                                                  \
            fprintf(stderr, "got \"%s\"\n", got);                                        \
        CHECK(strcmp(got, expected) == 0);                                               \
    } while (0)

#define LOADS                                                                            \
    "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\n"                 \
    "ld.param.u32 %r1, [k_param_2];\ncvta.to.global.u64 %rd3, %rd1;\n"                   \
    "cvta.to.global.u64 %rd4, %rd2;\nmul.wide.u32 %rd5, %r2, 4;\n"

static void one_is_read_and_one_written(void)
{
    IS(read_body(LOADS "@%p1 bra $L__BB0_2;\n add.s64 %rd6, %rd3, %rd5;\n"
                       "add.s64 %rd7, %rd4, %rd5;\nld.global.f32 %f1, [%rd7];\n"
                       "st.global.f32 [%rd6], %f1;\n$L__BB0_2:\nret;\n"),
       "k 20 0:2/4 8:1/0\n");
}

static void order_does_not_matter(void)
{
    /* the pointer goes on in a loop whose store comes first */
    IS(read_body(
           "$L1: st.global.v4.f32 [%rd9], {%f1,%f1,%f1,%f1};\nadd.s64 %rd9, %rd8, 4;\n"
           "mov.u64 %rd8, %rd9;\nbra $L1;\n" LOADS "mov.u64 %rd8, %rd3;\n"),
       "k 20 0:2/16\n");
}

static void atomics_are_said_apart(void)
{
    IS(read_body(LOADS "atom.global.add.u32 %r3, [%rd3+4], 1;\n"
                       "red.global.add.f32 [%rd4], %f1;\n"),
       "k 20 0:9/4 8:9/4\n");
}

static void what_goes_out_of_sight(void)
{
    IS(read_body(LOADS "st.global.u64 [%rd3], %rd4;\n"), "k 20 0:2/8 8:4/0\n");
    IS(read_body(LOADS "selp.b64 %rd6, %rd3, %rd4, %p1;\nst.global.u32 [%rd6], 1;\n"),
       "k 20 0:4/0 8:4/0\n");
    IS(read_body("mov.u64 %rd9, k_param_0;\nld.param.u64 %rd2, [k_param_1];\n"
                 "ld.u32 %r1, [%rd2];\n"),
       "k 20 0:4/0 8:1/0\n");
    IS(read_body(LOADS "{ .param .b64 param0;\nst.param.b64 [param0+0], %rd3;\n"
                       "call.uni f, (param0);\n}\n"),
       "k 20 elsewhere 0:4/0\n");
    IS(read_body(LOADS "ld.global.u64 %rd7, [%rd3];\nst.global.u32 [%rd7], 1;\n"),
       "k 20 elsewhere 0:1/0\n");
    IS(read_body(LOADS "frobnicate.b64 %rd7, %rd3;\n"), "k 20 0:4/0\n");
}

static void memory_of_its_own_is_nobodys(void)
{
    IS(read_body(".shared .align 4 .b8 s[64];\n" LOADS "mov.u32 %r5, s;\n"
                 "st.shared.f32 [%r5], %f1;\nld.shared.f32 %f2, [%r5+4];\n"
                 "st.global.f32 [%rd3], %f2;\nbar.sync 0;\n"),
       "k 20 0:2/4\n");
}

static void structs_by_value_and_other_forms(void)
{
    IS(read_text(
           ".version 8.0 // .entry no(\n/* .entry neither { */\n.target sm_90\n"
           ".global .align 4 .b8 text[8] = {1, 2};\n"
           ".func (.param .b32 r) helper(.param .b64 p) { st.u32 [p], 1; ret; }\n"
           ".entry first(.param .align 8 .b8 s[24], .param .b64 .ptr .global .align 4 q)"
           " .maxntid 128, 1, 1 { .reg .b64 a, b; .loc 1 2 3\n"
           "ld.param.v2.u64 {a, b}, [s+8]; st.global.u8 [b], 0;\n"
           "ld.param.u64 a2, [q]; ld.global.nc.f32 f, [a2+16]; ret; }\n"
           ".entry second { ret; }\n.visible .entry third() { trap; }\n"),
       "first 32 16:2/1 24:1/0\nsecond 0\nthird 0\n");
}

static void broken_text_ends(void)
{
    IS(read_text(""), "");
    IS(read_text(".entry"), "");
    IS(read_text(".entry k("), "");
    IS(read_text(".entry k() {"), "k 0\n");
    IS(read_text(".entry k(.param .u64) { ret; }"), "");
    IS(read_text(".entry k(.param .b8 x[4000000000]) { ret; }"), "");
    IS(read_text(".entry k(.param .b64 x[536870912]) { ret; }"), "");
    IS(read_text(".entry k() { ld.param.u64 %rd1, ; st.global [, ; /* "),
       "k 0 elsewhere\n");
    IS(read_text("/*/ .entry k() { ret; } */ .entry l() { ret; }"), "l 0\n");
}

static void every_shorter_text_ends(void)
{
    const char *whole =
        ".entry k(.param .align 8 .b8 s[24], .param .u64 q) { @!%p bra L; \"x\" .loc 1 "
        "1\n"
        "ld.param.v2.u64 {%a, %b}, [s+8]; st.global.u8 [%b + 4], 0; // c\n /* d */ }";
    for (size_t length = 0; length <= strlen(whole); length++) {
        char *text = malloc(length + 1); /* so that a sanitizer sees its end */
        memcpy(text, whole, length);
        text[length] = '\0';
        (void)read_text(text);
        free(text);
    }
    CHECK(strstr(said, "k 32") == said);
}

/* ---- blocks of LZ4 ---- */

/* "abcabcabcabcX" and then literals: a match that reaches into itself. */
static const unsigned char block[] = {0x35, 'a', 'b', 'c', 3,   0,
                                      0x50, 'X', '1', '2', '3', '4'};

static void a_block_is_unpacked(void)
{
    char out[32] = {0};
    CHECK(gphi_lz4_unpack(block, sizeof(block), out, sizeof(out)) == 17);
    CHECK(strcmp(out, "abcabcabcabcX1234") == 0);
    CHECK(gphi_lz4_unpack(block, sizeof(block), out, 17) == 17);
}

static void long_literals_and_matches(void)
{
    enum { LITERALS = 15 + 255 + 7, MATCH = 19 + 255 + 9 };
    unsigned char in[LITERALS + 16] = {0xff, 255, 7};
    char out[LITERALS + MATCH + 8];
    size_t at = 3;
    for (int i = 0; i < LITERALS; i++)
        in[at++] = (unsigned char)('a' + i % 26);
    const unsigned char rest[] = {1, 0, 255, 9, 0x10, '!'};
    memcpy(in + at, rest, sizeof(rest));
    CHECK(gphi_lz4_unpack(in, at + sizeof(rest), out, sizeof(out)) ==
          LITERALS + MATCH + 1);
    CHECK(out[LITERALS + MATCH - 1] == out[LITERALS - 1]);
    CHECK(out[LITERALS + MATCH] == '!');
}

static void a_damaged_block_gives_nothing(void)
{
    for (size_t room = 0; room < 17; room++) {
        char *out = malloc(room + 1);
        CHECK(gphi_lz4_unpack(block, sizeof(block), out, room) == 0);
        free(out);
    }
    for (size_t length = 0; length < sizeof(block); length++) {
        unsigned char *in = malloc(length + 1);
        char out[17];
        memcpy(in, block, length);
        CHECK(gphi_lz4_unpack(in, length, out, sizeof(out)) < 17);
        free(in);
    }
    for (unsigned back = 0; back < 1U << 16; back += 97) {
        unsigned char in[sizeof(block)];
        char out[17];
        memcpy(in, block, sizeof(in));
        in[4] = (unsigned char)back;
        in[5] = (unsigned char)(back >> 8);
        CHECK((gphi_lz4_unpack(in, sizeof(in), out, sizeof(out)) == 17) ==
              (back > 0 && back <= 3));
    }
}

int main(void)
{
    RUN(a_block_is_unpacked);
    RUN(long_literals_and_matches);
    RUN(a_damaged_block_gives_nothing);
    RUN(one_is_read_and_one_written);
    RUN(order_does_not_matter);
    RUN(atomics_are_said_apart);
    RUN(what_goes_out_of_sight);
    RUN(memory_of_its_own_is_nobodys);
    RUN(structs_by_value_and_other_forms);
    RUN(broken_text_ends);
    RUN(every_shorter_text_ends);
    return test_done();
}
