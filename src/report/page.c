// SPDX-License-Identifier: Apache-2.0
/* The page: its files and the data, one after the other, in one file. */
#include "report/page.h"
#include "base/fail.h"
#include "base/save.h"
#include "report/report.h"

#include <gph/explain.h>
#include <string.h>

int gph_report_has_page(void)
{
    return GPHI_HAS_PAGE;
}

#if GPHI_HAS_PAGE

/* The language comes before it. No network: what a browser holds it to, should anything here ever ask for one. */
static const char head[] =
    "\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n<title>gph doctor</title>\n<style>\n";

/* Without scripts, what they would fill is not there. */
static const char end_of_head[] =
    "</style>\n<noscript><style>.facts,.tiles,.body,.foot,#program,#verdict"
    "{display:none}</style></noscript>\n</head>\n<body>\n";

/* What fill() is given; `error` may be filled by it. */
typedef struct page {
    gph_report *report;
    const gph_program *program;
    const gph_advice *advice;
    gph_error *error;
} page;

static gph_status put(gphi_save *save, const char *begin, const char *end)
{
    return gphi_save_write(save, begin, (size_t)(end - begin));
}

/* Of texts that are ours; what the program said goes through gphi_report_data(). */
static gph_status put_text(gphi_save *save, const char *text)
{
    return put(save, text, text + strlen(text));
}

/* Style, page, what is shown without scripts, data, d3, code: the data is before the code
 * that reads it. */
static gph_status fill(void *user, gphi_save *save)
{
    const page *p = user;
    const bool is_chinese =
        gphi_doctor_language(p->report->doctor) == GPH_EXPLAIN_CHINESE;
    GPHI_TRY(put_text(save, "<!doctype html>\n<html lang=\""));
    GPHI_TRY(put_text(save, is_chinese ? "zh-CN" : "en"));
    GPHI_TRY(put_text(save, head));
    GPHI_TRY(put(save, gphi_page_css, gphi_page_css_end));
    GPHI_TRY(put_text(save, end_of_head));
    GPHI_TRY(put(save, gphi_page_html, gphi_page_html_end));
    GPHI_TRY(gphi_report_static(p->report, p->program, gphi_save_write, save, p->error));
    GPHI_TRY(put_text(save, "<script type=\"application/json\" id=\"data\">"));
    GPHI_TRY(gphi_report_data(p->report, p->program, p->advice, gphi_save_write, save,
                              p->error));
    GPHI_TRY(put_text(save, "</script>\n<script>\n"));
    GPHI_TRY(put(save, gphi_page_d3, gphi_page_d3_end));
    GPHI_TRY(put_text(save, "</script>\n<script>\n"));
    GPHI_TRY(put(save, gphi_page_code, gphi_page_code_end));
    return put_text(save, "</script>\n</body>\n</html>\n");
}

gph_status gph_report_page_save(gph_report *report, const gph_program *program,
                                const gph_advice *advice, const char *path,
                                gph_error *error)
{
    GPHI_TRY(gphi_need(error, report, path));
    page p = {report, program, advice, error};
    return gphi_save_file(path, fill, &p, error);
}

#else

gph_status gph_report_page_save(gph_report *report, const gph_program *program,
                                const gph_advice *advice, const char *path,
                                gph_error *error)
{
    (void)report, (void)program, (void)advice, (void)path;
    gphi_fail(error, GPH_E_UNSUPPORTED,
              "this build has no page for reports: d3 was missing");
    gphi_hint(error, "install Debian's node-d3 and build again");
    return GPH_E_UNSUPPORTED;
}

#endif
