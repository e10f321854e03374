// SPDX-License-Identifier: Apache-2.0
/* The files of the page, as page_files.S holds them. */
#ifndef GPHI_REPORT_PAGE_H
#define GPHI_REPORT_PAGE_H
#include <gph/report.h>

/* Each between a begin and an end: the sheet, the body, d3, the modules in order. */
extern const char gphi_page_css[], gphi_page_css_end[];
extern const char gphi_page_html[], gphi_page_html_end[];
extern const char gphi_page_d3[], gphi_page_d3_end[];
extern const char gphi_page_code[], gphi_page_code_end[];

/* Findings and tables as HTML for a browser without scripts. Failures as
 * gph_report_text_write(). */
gph_status gphi_report_static(gph_report *report, const gph_program *program,
                              gph_write_fn *write, void *user, gph_error *error);
#endif
