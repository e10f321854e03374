// SPDX-License-Identifier: Apache-2.0
/* gph doctor --report, --trace, --summary: what happened, beside what is wrong. They read
 * the events that the doctor reads, so they have to exist before it reads the first. */
#include "commands.h"
#include "doctor.h"
#include "output.h"

gph_program doctor_program(const command_line *line, int code)
{
    return (gph_program){.size = sizeof(gph_program),
                         .exit_code = code,
                         .words = (const char *const *)line->operands,
                         .word_count = (size_t)line->operand_count};
}

bool doctor_report_begin(const command_line *line, gph_doctor *doctor, gph_report **out)
{
    const char *const *values = line->values;
    gph_error error = {0};
    if (values[DOCTOR_REPORT] && !gph_report_has_page()) {
        doctor_say(values[DOCTOR_LANG], gph_write_file, stderr,
                   "gph doctor: this build writes no reports: d3 was missing "
                   "(Debian: node-d3). --trace and --summary work\n");
        return false;
    }
    const bool is_drawn = values[DOCTOR_REPORT] || values[DOCTOR_TRACE];
    if (!is_drawn && !values[DOCTOR_SUMMARY] && !values[DOCTOR_JSON])
        return true;
    gph_report_options options = GPH_REPORT_OPTIONS_INIT;
    options.calls_max = is_drawn ? 0 : 1; /* tables need counts alone */
    if (gph_report_create(doctor, &options, out, &error) == GPH_OK)
        return true;
    fail(&error);
    return false;
}

static bool is_kept(gph_status status, const gph_error *error)
{
    return status == GPH_OK || fail(error) == EXIT_OK;
}

/* Where one cannot be written the others are all the same. */
bool doctor_report_write(const command_line *line, gph_report *report,
                         const gph_advice *advice, int code)
{
    const char *const *values = line->values;
    const gph_program program = doctor_program(line, code);
    gph_error error = {0};
    const char *page = values[DOCTOR_REPORT], *trace = values[DOCTOR_TRACE];
    bool all = true;
    if (!report)
        return true;
    if (values[DOCTOR_SUMMARY]) {
        all = is_kept(gph_report_text_write(report, gph_write_file, stderr, &error),
                      &error);
        fputc('\n', stderr);
    }
    if (page)
        all = is_kept(gph_report_page_save(report, &program, advice, page, &error),
                      &error) &&
              all;
    if (trace)
        all = is_kept(gph_report_trace_save(report, &program, advice, trace, &error),
                      &error) &&
              all;
    return all;
}
