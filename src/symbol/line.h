// SPDX-License-Identifier: Apache-2.0
/* Line programs (DWARF 2 to 5, section 6.2): which line of which file an address is. */
#ifndef GPHI_SYMBOL_LINE_H
#define GPHI_SYMBOL_LINE_H
#include "symbol/bytes.h"
#include <gph/base.h>

/* The sections that hold line programs and their texts. */
typedef struct gphi_line_sections {
    gphi_bytes line, text, line_text; /* .debug_line, .debug_str, .debug_line_str */
} gphi_line_sections;

/* The head of one program. */
typedef struct gphi_line_head {
    uint64_t offset; /* of the program in .debug_line */
    gphi_bytes operations;
    gphi_bytes directories, files; /* their tables, from their formats on */
    unsigned version, address_bytes, minimum_length, line_range, opcode_base;
    int line_base;
    bool is_64;
    const uint8_t *lengths; /* of the standard operations 1 ... opcode_base - 1 */
} gphi_line_head;

/* Addresses that follow each other in one program. */
typedef struct gphi_line_run {
    uint64_t start, end, program; /* start is first: they are sorted by it */
} gphi_line_run;

/* What a row says. */
typedef struct gphi_line_row {
    uint64_t address, file;
    int line;
} gphi_line_row;

/* Where a file of a program lies. Parts may be "". */
typedef struct gphi_line_name {
    const char *directory, *name;
} gphi_line_name;

/* The head of the program at an offset, and where the next one begins (0: none does).
 * False: it cannot be read. */
bool gphi_line_read(const gphi_line_sections *in, uint64_t offset, gphi_line_head *out,
                    uint64_t *next);

/* Calls `found` for each run of addresses of a program. */
void gphi_line_runs(const gphi_line_head *head,
                    void (*found)(void *user, const gphi_line_run *run), void *user);

/* The row of an address: the last one at or before it in its run. Its line is 0 where the
 * compiler says that it belongs to none. */
bool gphi_line_find(const gphi_line_head *head, uint64_t at, gphi_line_row *out);

/* The name of a file of a program, by its number. False: it has none. */
bool gphi_line_file(const gphi_line_sections *in, const gphi_line_head *head,
                    uint64_t number, gphi_line_name *out);
#endif
