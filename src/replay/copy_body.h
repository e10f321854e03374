// SPDX-License-Identifier: Apache-2.0
/* How a kernel of libgph copies a range, as a piece of PTX. It needs, in registers: %d3 to,
 * %d4 from, %d5 bytes, %d6 this thread among all that copy the range, %d7 how many they
 * are. It changes %p1, %p2, %r6 to %r21 and %d3 to %d19, and ends before or at DONE.
 *
 * Three ways by how the two sides lie to each other: vectors of 16 bytes, words of 4,
 * bytes. Before the first whole unit of the destination and after the last there are less
 * than 16 bytes (4): threads of the first block copy one each. Vectors are read four at a
 * time: a read may not pass a write. */
#ifndef GPHI_REPLAY_COPY_BODY_H
#define GPHI_REPLAY_COPY_BODY_H

/* clang-format off */
#define GPHI_COPY_UNITS(NAME, MASK, SHIFT) \
    NAME ":\n" \
    "neg.s64 %d9, %d3;\nand.b64 %d9, %d9, " MASK ";\nmin.u64 %d9, %d9, %d5;\n" \
    "sub.s64 %d10, %d5, %d9;\n"        /* after the head */                              \
    "shr.u64 %d11, %d10, " SHIFT ";\n" /* units */ \
    "shl.b64 %d12, %d11, " SHIFT ";\n" /* their bytes */ \
    "sub.s64 %d13, %d5, %d12;\n"       /* head and tail */ \
    "setp.ge.u64 %p1, %d6, %d13;\n@%p1 bra " NAME "_BODY;\n" \
    "setp.lt.u64 %p2, %d6, %d9;\nadd.s64 %d14, %d6, %d12;\n" \
    "selp.b64 %d14, %d6, %d14, %p2;\n" \
    "add.s64 %d15, %d4, %d14;\nld.global.u8 %r6, [%d15];\n" \
    "add.s64 %d15, %d3, %d14;\nst.global.u8 [%d15], %r6;\n" \
    NAME "_BODY:\n" \
    "add.s64 %d3, %d3, %d9;\nadd.s64 %d4, %d4, %d9;\n"

#define GPHI_COPY_BODY \
    "xor.b64 %d8, %d3, %d4;\n" \
    "and.b64 %d9, %d8, 15;\nsetp.eq.s64 %p1, %d9, 0;\n@%p1 bra WIDE;\n" \
    "and.b64 %d9, %d8, 3;\nsetp.eq.s64 %p1, %d9, 0;\n@%p1 bra WORDS;\n" \
    "BYTES:\n" \
    "setp.ge.u64 %p1, %d6, %d5;\n@%p1 bra DONE;\n" \
    "add.s64 %d14, %d4, %d6;\nld.global.u8 %r6, [%d14];\n" \
    "add.s64 %d15, %d3, %d6;\nst.global.u8 [%d15], %r6;\n" \
    "add.s64 %d6, %d6, %d7;\nbra BYTES;\n" \
    GPHI_COPY_UNITS("WORDS", "3", "2") \
    "WORDS_NEXT:\n" \
    "setp.ge.u64 %p1, %d6, %d11;\n@%p1 bra DONE;\n" \
    "shl.b64 %d16, %d6, 2;\n" \
    "add.s64 %d14, %d4, %d16;\nld.global.u32 %r6, [%d14];\n" \
    "add.s64 %d15, %d3, %d16;\nst.global.u32 [%d15], %r6;\n" \
    "add.s64 %d6, %d6, %d7;\nbra WORDS_NEXT;\n" \
    GPHI_COPY_UNITS("WIDE", "15", "4") \
    "mul.lo.s64 %d17, %d7, 3;\n" \
    "shl.b64 %d18, %d7, 4;\n" /* bytes of a step */ \
    "WIDE_FOUR:\n" \
    "add.s64 %d19, %d6, %d17;\nsetp.ge.u64 %p1, %d19, %d11;\n@%p1 bra WIDE_NEXT;\n" \
    "shl.b64 %d16, %d6, 4;\nadd.s64 %d14, %d4, %d16;\nadd.s64 %d15, %d3, %d16;\n" \
    "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d14];\nadd.s64 %d14, %d14, %d18;\n" \
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d14];\nadd.s64 %d14, %d14, %d18;\n" \
    "ld.global.v4.u32 {%r14, %r15, %r16, %r17}, [%d14];\nadd.s64 %d14, %d14, %d18;\n" \
    "ld.global.v4.u32 {%r18, %r19, %r20, %r21}, [%d14];\n" \
    "st.global.v4.u32 [%d15], {%r6, %r7, %r8, %r9};\nadd.s64 %d15, %d15, %d18;\n" \
    "st.global.v4.u32 [%d15], {%r10, %r11, %r12, %r13};\nadd.s64 %d15, %d15, %d18;\n" \
    "st.global.v4.u32 [%d15], {%r14, %r15, %r16, %r17};\nadd.s64 %d15, %d15, %d18;\n" \
    "st.global.v4.u32 [%d15], {%r18, %r19, %r20, %r21};\n" \
    "add.s64 %d6, %d19, %d7;\nbra WIDE_FOUR;\n" \
    "WIDE_NEXT:\n" \
    "setp.ge.u64 %p1, %d6, %d11;\n@%p1 bra DONE;\n" \
    "shl.b64 %d16, %d6, 4;\nadd.s64 %d14, %d4, %d16;\nadd.s64 %d15, %d3, %d16;\n" \
    "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d14];\n" \
    "st.global.v4.u32 [%d15], {%r6, %r7, %r8, %r9};\n" \
    "add.s64 %d6, %d6, %d7;\nbra WIDE_NEXT;\n"
/* clang-format on */
#endif
