// SPDX-License-Identifier: Apache-2.0
/* docs/ptx.md: the table, section by section, with what was recorded. */
#include "forms.h"

#include <string.h>

/* Forms of the template on `line`: all, and those that the recorded device ran. */
static void count(const forms *all, const recording *r, uint32_t line, size_t *total,
                  size_t *recorded, const form **first)
{
    *total = *recorded = 0;
    *first = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const form *f = &all->forms[i];
        if (f->line != line)
            continue;
        bool rejected;
        if (*first == NULL)
            *first = f;
        (*total)++;
        *recorded += recording_find(r, f, &rejected) != NULL;
    }
}

static void write_tolerance(FILE *to, const form *f)
{
    switch (f->tolerance) {
    case EXACT: fprintf(to, "bit by bit"); break;
    case ULP: fprintf(to, "within %g ulp", f->bound); break;
    case ABSOLUTE: fprintf(to, "within %g", f->bound); break;
    case RELATIVE: fprintf(to, "within %g relative", f->bound); break;
    case EITHER: fprintf(to, "within %g, absolute or relative", f->bound); break;
    }
}

/* The name of a template, with bars escaped for a table. */
static void write_name(FILE *to, const char *line)
{
    const char *end = strstr(line, " :: ");
    fputc('`', to);
    for (; line < end; line++) {
        if (*line == '|')
            fputc('\\', to);
        fputc(*line, to);
    }
    fputc('`', to);
}

/* The heading before the first row of its section that there is. */
static void write_row(FILE *to, const forms *all, const recording *r, uint32_t line,
                      const char **heading)
{
    size_t total, recorded;
    const form *f;
    count(all, r, line, &total, &recorded, &f);
    if (f == NULL || recorded == 0)
        return;
    if (*heading != NULL)
        fprintf(to, "\n%s\n\n| form | forms | compared |\n|---|---|---|\n", *heading);
    *heading = NULL;
    fprintf(to, "| ");
    write_name(to, all->lines[line - 1]);
    fprintf(to, " | %zu | ", recorded);
    write_tolerance(to, f);
    fprintf(to, " |\n");
}

bool docs_write(FILE *to, const forms *all, const recording *r)
{
    size_t recorded = 0;
    for (size_t i = 0; i < all->count; i++) {
        bool rejected;
        recorded += recording_find(r, &all->forms[i], &rejected) != NULL;
    }
    fprintf(to,
            "# PTX that softcuda executes\n\n"
            "<!-- Written by tests/conformance/ptx/ptx_forms --docs; do not edit. -->\n\n"
            "%zu forms of instructions, each tested on both execution paths against the "
            "results of a GPU (%s). A word in braces stands for one form each. Where a "
            "result is a floating-point number, any NaN counts as equal to any NaN; all "
            "other results are compared as the last column says. Forms that are not "
            "listed may work, but count as unsupported.\n",
            recorded, recording_source(r));
    const char *heading = NULL;
    for (uint32_t line = 1; line <= all->line_count; line++) {
        const char *text = all->lines[line - 1];
        if (strncmp(text, "## ", 3) == 0)
            heading = text;
        else if (text[0] != '#' && text[0] != '\0')
            write_row(to, all, r, line, &heading);
    }
    return !ferror(to);
}
