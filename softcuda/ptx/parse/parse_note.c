// SPDX-License-Identifier: Apache-2.0
/* Directives that say nothing about the code: .pragma, .file, .loc and .section. What
 * .loc and .file say is kept for messages; debug sections are skipped. */
#include "softcuda/ptx/parse/parse.h"

#define FILES_MAX 65536u

/* .pragma "nounroll", "x"; the semicolon may be missing in the head of a function. */
gph_status ptx_parse_pragma(ptx_parser *parser)
{
    bool more = true;
    GPHI_TRY(ptx_next(parser));
    while (more) {
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_fail_expected(parser, "a string such as \"nounroll\"");
        GPHI_TRY(ptx_next(parser));
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return ptx_accept(parser, ';', &more);
}

/* .file 1 "name.cu", 1700000000, 4096 */
gph_status ptx_parse_file(ptx_parser *parser)
{
    uint32_t index;
    GPHI_TRY(ptx_next(parser));
    const ptx_token where = parser->token;
    GPHI_TRY(ptx_parse_u32(parser, "the number of a file", &index));
    if (index >= FILES_MAX)
        return ptx_fail_at(parser, &where, NULL, "file number %u is above the limit %u",
                           index, FILES_MAX - 1);
    if (parser->token.kind != PTX_TOKEN_STRING)
        return ptx_fail_expected(parser, "the name of a file in quotes");
    const char *name = ptx_keep_name(parser, &parser->token);
    if (!name)
        return ptx_fail_memory(parser);
    while (parser->files.count <= index)
        if (!ptx_vec_add(parser->scratch, &parser->files, sizeof(name)))
            return ptx_fail_memory(parser);
    ((const char **)parser->files.items)[index] = name;
    GPHI_TRY(ptx_next(parser));
    for (int i = 0; i < 2; i++) { /* time and size */
        bool more;
        int64_t ignored;
        GPHI_TRY(ptx_accept(parser, ',', &more));
        if (more)
            GPHI_TRY(ptx_parse_int(parser, "a number", &ignored));
    }
    return GPH_OK;
}

/* file, line, column; where the column is, no message asks. */
static gph_status parse_place(ptx_parser *parser, uint32_t *file, uint32_t *line)
{
    uint32_t column;
    GPHI_TRY(ptx_parse_u32(parser, "the number of a file", file));
    GPHI_TRY(ptx_parse_u32(parser, "a line number", line));
    return ptx_parse_u32(parser, "a column number", &column);
}

/* .loc 1 12 3, function_name $L__info_string0, inlined_at 1 14 9 */
gph_status ptx_parse_loc(ptx_parser *parser)
{
    uint32_t file, line;
    bool more;
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(parse_place(parser, &file, &line));
    parser->body.source_file = file;
    parser->body.source_line = line;
    GPHI_TRY(ptx_accept(parser, ',', &more));
    while (more) {
        if (ptx_is_word(&parser->token, "function_name")) {
            int64_t ignored;
            ptx_token label;
            GPHI_TRY(ptx_next(parser));
            GPHI_TRY(ptx_take_word(parser, "a label", &label));
            GPHI_TRY(ptx_accept(parser, '+', &more));
            if (more)
                GPHI_TRY(ptx_parse_int(parser, "an offset", &ignored));
        } else if (ptx_is_word(&parser->token, "inlined_at")) {
            GPHI_TRY(ptx_next(parser));
            GPHI_TRY(parse_place(parser, &file, &line));
        } else {
            return ptx_fail_expected(parser, "function_name or inlined_at");
        }
        GPHI_TRY(ptx_accept(parser, ',', &more));
    }
    return GPH_OK;
}

/* .section .debug_str { ... }: debug information, of no use here. */
gph_status ptx_skip_section(ptx_parser *parser)
{
    GPHI_TRY(ptx_next(parser));
    if (parser->token.kind != PTX_TOKEN_DOT && parser->token.kind != PTX_TOKEN_WORD)
        return ptx_fail_expected(parser, "the name of a section");
    GPHI_TRY(ptx_next(parser));
    GPHI_TRY(ptx_expect(parser, '{', "'{'"));
    while (!ptx_at(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_END)
            return ptx_fail_expected(parser, "'}' at the end of the section");
        GPHI_TRY(ptx_next(parser));
    }
    return ptx_next(parser);
}
