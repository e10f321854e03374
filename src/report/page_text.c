// SPDX-License-Identifier: Apache-2.0
/* What a browser without scripts shows: the findings as gph doctor prints them, and the
 * tables. It is inside an element that a browser with scripts does not show. */
#include "base/fail.h"
#include "report/page.h"
#include "report/report.h"

#include <string.h>

/* Passes text on with what has a meaning in HTML as entities: names of the program may say
 * anything. */
typedef struct page_escape {
    gph_write_fn *write;
    void *user;
} page_escape;

static gph_status escape(void *user, const void *data, size_t bytes)
{
    const page_escape *to = user;
    const char *text = data;
    while (bytes > 0) {
        size_t plain = 0;
        while (plain < bytes && text[plain] != '<' && text[plain] != '&')
            plain++;
        if (plain > 0)
            GPHI_TRY(to->write(to->user, text, plain));
        text += plain;
        bytes -= plain;
        if (bytes > 0) {
            const char *entity = *text == '<' ? "&lt;" : "&amp;";
            GPHI_TRY(to->write(to->user, entity, strlen(entity)));
            text++;
            bytes--;
        }
    }
    return GPH_OK;
}

static gph_status put(const page_escape *to, const char *text)
{
    return to->write(to->user, text, strlen(text));
}

/* As it was started: the caller's words, or as the process recorded them. */
static gph_status put_program(page_escape *to, const gph_report *report,
                              const gph_program *program)
{
    GPHI_TRY(put(to, "<h1>"));
    for (size_t i = 0; i < program->word_count; i++) {
        if (i > 0)
            GPHI_TRY(put(to, " "));
        GPHI_TRY(escape(to, program->words[i], strlen(program->words[i])));
    }
    const char *at = program->word_count == 0 ? report->program : NULL;
    while (at && *at != '\0') { /* a word a line, and none may begin a line of ours */
        const size_t bytes = strcspn(at, "\n");
        GPHI_TRY(escape(to, at, bytes));
        at += bytes + (at[bytes] != '\0');
        GPHI_TRY(put(to, *at != '\0' ? " " : ""));
    }
    return put(to, "</h1>\n");
}

gph_status gphi_report_static(gph_report *report, const gph_program *program,
                              gph_write_fn *write, void *user, gph_error *error)
{
    page_escape to = {write, user};
    gph_program of;
    GPHI_TRY(gphi_options_read(&of, sizeof(of), "gph_program", program, error));
    GPHI_TRY(put(&to, "<noscript>\n"));
    GPHI_TRY(put_program(&to, report, &of));
    const uint32_t count = gph_doctor_finding_count(report->doctor);
    if (count == 0)
        GPHI_TRY(put(&to, "<p lang=\"en\">There are no findings.</p>"
                          "<p lang=\"zh\">没有发现。</p>\n"));
    for (uint32_t i = 0; i < count; i++) {
        GPHI_TRY(put(&to, "<pre class=\"said\">"));
        GPHI_TRY(gph_finding_text_write(gph_doctor_finding(report->doctor, i), 0, escape,
                                        &to, error));
        GPHI_TRY(put(&to, "</pre>\n"));
    }
    GPHI_TRY(put(&to, "<pre class=\"tables\">"));
    GPHI_TRY(gph_report_text_write(report, escape, &to, error));
    return put(&to, "</pre>\n</noscript>\n");
}
