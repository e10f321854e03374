// SPDX-License-Identifier: Apache-2.0
/* PTX as words and statements; only what access.c needs of it. */
#ifndef GPHI_ACCESS_SCAN_H
#define GPHI_ACCESS_SCAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of the text. */
typedef struct gphi_span {
    const char *at, *end;
} gphi_span;

/* Whether a piece is `word`, or begins with it. */
bool gphi_span_is(gphi_span span, const char *word);
bool gphi_span_begins(gphi_span span, const char *word);
/* Whether one of the opcode's parts, between its dots, is `word`. */
bool gphi_opcode_has(gphi_span opcode, const char *word);

/* Without white space and comments before it, and white space after it. */
gphi_span gphi_span_trim(gphi_span span);
/* A name or number at the start of *rest, which goes on after it; empty: there is none. */
gphi_span gphi_span_word(gphi_span *rest);
/* Up to a comma that is in no bracket; *rest goes on after it. */
gphi_span gphi_span_item(gphi_span *rest);

/* The kernel that begins next. False: there is none. *rest goes on after its body. */
typedef struct gphi_ptx_kernel {
    gphi_span name, params, body;
} gphi_ptx_kernel;
bool gphi_ptx_next(gphi_span *rest, gphi_ptx_kernel *out);

/* The next instruction of a body; labels, directives and predicates are passed over. */
typedef struct gphi_ptx_instruction {
    gphi_span opcode, operands;
} gphi_ptx_instruction;
bool gphi_ptx_instruction_next(gphi_span *rest, gphi_ptx_instruction *out);
#endif
