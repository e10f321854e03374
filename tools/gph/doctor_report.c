// SPDX-License-Identifier: Apache-2.0
/* gph doctor --report, --trace, --summary: what happened, beside what is wrong. They read
 * the events that the doctor reads, so they have to exist before it reads the first. */
#include "commands.h"
#include "doctor.h"
#include "output.h"

#include <string.h>

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
    if (values[DOCTOR_REPORT] != NULL && !gph_report_has_page()) {
        fprintf(stderr, "gph doctor: this build writes no reports: d3 was missing "
                        "(Debian: node-d3). --trace and --summary work\n");
        return false;
    }
    if (values[DOCTOR_REPORT] == NULL && values[DOCTOR_TRACE] == NULL &&
        values[DOCTOR_SUMMARY] == NULL)
        return true;
    if (gph_report_create(doctor, NULL, out, &error) == GPH_OK)
        return true;
    fail(&error);
    return false;
}

bool doctor_report_write(const command_line *line, gph_report *report,
                         const gph_advice *advice, int code)
{
    const char *const *values = line->values;
    const gph_program program = doctor_program(line, code);
    gph_error error = {0};
    gph_status status = GPH_OK;
    if (report == NULL)
        return true;
    if (values[DOCTOR_SUMMARY] != NULL) {
        status = gph_report_text_write(report, gph_write_file, stderr, &error);
        fputc('\n', stderr);
    }
    if (status == GPH_OK && values[DOCTOR_REPORT] != NULL)
        status =
            gph_report_page_save(report, &program, advice, values[DOCTOR_REPORT], &error);
    if (status == GPH_OK && values[DOCTOR_TRACE] != NULL)
        status =
            gph_report_trace_save(report, &program, advice, values[DOCTOR_TRACE], &error);
    if (status != GPH_OK)
        fail(&error);
    return status == GPH_OK;
}
