// SPDX-License-Identifier: Apache-2.0
/* gph doctor: what is wrong with a program's use of CUDA graphs, by libgph's doctor. */
#include "commands.h"
#include "doctor.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- findings ---- */

/* "1,204"; lent until the next but three. */
static const char *grouped(unsigned long long value)
{
    static char rooms[4][32];
    static unsigned next;
    char *at = rooms[next++ % 4] + 31;
    int digits = 0;
    *at = '\0';
    do {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + value % 10);
        value /= 10;
        digits++;
    } while (value > 0);
    return at;
}

static void put_number(unsigned count, const char *one, const char *many, bool *is_first)
{
    if (count == 0)
        return;
    fprintf(stderr, "%s%s %s", *is_first ? "" : ", ", grouped(count),
            count == 1 ? one : many);
    *is_first = false;
}

static void put_count(const gph_doctor *doctor)
{
    unsigned counts[3] = {0, 0, 0};
    uint64_t lost = 0;
    bool is_first = true;
    const uint64_t events = gph_doctor_event_count(doctor, &lost);
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++)
        counts[gph_doctor_finding(doctor, i)->severity]++;
    put_number(counts[GPH_SEVERITY_ERROR], "error", "errors", &is_first);
    put_number(counts[GPH_SEVERITY_WARNING], "warning", "warnings", &is_first);
    put_number(counts[GPH_SEVERITY_INFO], "info", "infos", &is_first);
    fprintf(stderr, "%sin %s %s", is_first ? "no findings " : " ", grouped(events),
            events == 1 ? "event" : "events");
    if (lost > 0)
        fprintf(stderr, "; %s came too fast and were lost", grouped(lost));
    if (events == 0)
        fprintf(stderr, ": the program did not use the driver");
    fputc('\n', stderr);
}

/* Whether findings are of several processes, so that each must say of which. */
static bool is_of_many(const gph_doctor *doctor)
{
    for (uint32_t i = 1; i < gph_doctor_finding_count(doctor); i++)
        if (gph_doctor_finding(doctor, i)->process !=
            gph_doctor_finding(doctor, 0)->process)
            return true;
    return false;
}

static bool put_findings(const gph_doctor *doctor)
{
    const char *no_colour = getenv("NO_COLOR");
    const bool has_colours =
        isatty(STDERR_FILENO) && (no_colour == NULL || no_colour[0] == '\0');
    const bool are_many = is_of_many(doctor);
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        char *text = gph_finding_text(finding, has_colours);
        if (text == NULL)
            return false;
        fputs(text, stderr);
        if (are_many)
            fprintf(stderr, "  process: %llu\n", (unsigned long long)finding->process);
        fputc('\n', stderr);
        free(text);
    }
    return true;
}

static bool has_fault(const gph_doctor *doctor)
{
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++)
        if (gph_doctor_finding(doctor, i)->severity != GPH_SEVERITY_INFO)
            return true;
    return false;
}

static bool put_json(const gph_doctor *doctor, const command_line *line, int code)
{
    const char *path = line->values[DOCTOR_JSON];
    char *json = gph_doctor_json(doctor, (const char *const *)line->operands,
                                 (uint32_t)line->operand_count, code);
    const bool is_stdout = strcmp(path, "-") == 0;
    FILE *to = json == NULL ? NULL : is_stdout ? stdout : fopen(path, "w");
    bool is_written = to != NULL && fputs(json, to) >= 0;
    if (to != NULL)
        is_written = (is_stdout ? fflush(to) : fclose(to)) == 0 && is_written;
    if (!is_written)
        fprintf(stderr, "gph doctor: cannot write %s\n", path);
    free(json);
    return is_written;
}

/* ---- the command ---- */

static bool read_log(gph_doctor *doctor, const char *path)
{
    gph_error error = {0};
    if (gph_doctor_read(doctor, path, &error) == GPH_OK)
        return true;
    fail(&error);
    return false;
}

/* The program, or a saved log, through the doctor. */
static int examine(gph_doctor *doctor, const command_line *line)
{
    gph_error error = {0};
    const char *const *values = line->values;
    doctor_run run = {.driver = values[DOCTOR_DRIVER],
                      .is_logs_only = values[DOCTOR_TIER] != NULL &&
                                      strcmp(values[DOCTOR_TIER], "0") == 0,
                      .has_nodes = values[DOCTOR_NODES] != NULL,
                      .has_kernels = values[DOCTOR_KERNELS] != NULL,
                      .words = line->operands,
                      .doctor = doctor};
    int code = 0;
    if (values[DOCTOR_SAVE] != NULL &&
        gph_doctor_save(doctor, values[DOCTOR_SAVE], &error) != GPH_OK)
        return fail(&error);
    if (values[DOCTOR_EVENTS] != NULL) {
        if (!read_log(doctor, values[DOCTOR_EVENTS]))
            return EXIT_FAILED;
    } else {
        code = doctor_run_program(&run);
        if (!run.has_started)
            return code;
    }
    if (gph_doctor_finish(doctor, &error) != GPH_OK)
        return fail(&error);
    const bool is_told = (values[DOCTOR_QUIET] != NULL || put_findings(doctor)) &&
                         (values[DOCTOR_JSON] == NULL || put_json(doctor, line, code));
    put_count(doctor);
    if (code != 0)
        return code;
    return has_fault(doctor) || !is_told ? EXIT_FAILED : EXIT_OK;
}

static bool check_usage(const command_line *line)
{
    const char *tier = line->values[DOCTOR_TIER], *language = line->values[DOCTOR_LANG];
    const bool has_log = line->values[DOCTOR_EVENTS] != NULL;
    const char *wrong = NULL;
    if (line->operand_count == 0 && !has_log)
        wrong = "which program?";
    else if (line->operand_count > 0 && has_log)
        wrong = "a program, or --events FILE, not both";
    else if (tier != NULL && strcmp(tier, "0") != 0 && strcmp(tier, "1") != 0)
        wrong = "--tier is 0 or 1";
    else if (language != NULL && strcmp(language, "en") != 0 &&
             strcmp(language, "zh") != 0)
        wrong = "--lang is en or zh";
    if (wrong != NULL)
        fprintf(stderr, "gph doctor: %s\ntry: gph doctor --help\n", wrong);
    return wrong == NULL;
}

int cmd_doctor(const command_line *line)
{
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    gph_error error = {0};
    if (!check_usage(line))
        return EXIT_USAGE;
    options.language = line->values[DOCTOR_LANG];
    if (gph_doctor_create(&options, &doctor, &error) != GPH_OK)
        return fail(&error);
    const int code = examine(doctor, line);
    gph_doctor_destroy(doctor);
    return code;
}
