// SPDX-License-Identifier: Apache-2.0
/* gph doctor: what is wrong with a program's use of CUDA graphs, by libgph's doctor.
 *
 * Findings go to standard error, for standard output is the program's. The status is the
 * program's own where that is not 0; a finding must not hide how the program ended. */
#define _GNU_SOURCE
#include "columns.h"
#include "commands.h"
#include "doctor.h"
#include "doctor_folder.h"
#include "launch.h"
#include "output.h"
#include "seems.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What all findings are, at one look. */
typedef struct tally {
    unsigned of[3]; /* by severity */
    bool are_many;  /* of several processes, so that each must say of which */
} tally;

typedef struct examination {
    gph_doctor *doctor;
    gph_advice *advice; /* NULL: not asked for */
    gph_report *report; /* NULL: not asked for */
    gph_driver driver;
    doctor_seen *seen;
    long grace_seconds, watch_seconds;
    const command_line *line;
    tally counts;
    bool was_told, is_told; /* the findings; and without a failure */
} examination;

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

/* "2 errors", after ", " unless it is the first. */
static void put_number(const char *language, unsigned count, const char *one,
                       const char *many, bool *is_first)
{
    if (count == 0)
        return;
    doctor_say(language, gph_write_file, stderr, "%s%s %s", *is_first ? "" : ", ",
               grouped(count), count == 1 ? one : many);
    *is_first = false;
}

static tally count_findings(const gph_doctor *doctor)
{
    tally out = {.are_many = false};
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        out.of[finding->severity]++;
        out.are_many |= finding->process != gph_doctor_finding(doctor, 0)->process;
    }
    return out;
}

static void put_count(const gph_doctor *doctor, const tally *counts,
                      const doctor_seen *seen)
{
    uint64_t lost = 0;
    bool is_first = true;
    const char *in = seen->language;
    const uint64_t events = gph_doctor_event_count(doctor, &lost);
    put_number(in, counts->of[GPH_SEVERITY_ERROR], "error", "errors", &is_first);
    put_number(in, counts->of[GPH_SEVERITY_WARNING], "warning", "warnings", &is_first);
    put_number(in, counts->of[GPH_SEVERITY_INFO], "info", "infos", &is_first);
    doctor_say(in, gph_write_file, stderr,
               is_first ? "no findings in %s %s" : " in %s %s", grouped(events),
               events == 1 ? "event" : "events");
    if (lost > 0)
        doctor_say(in, gph_write_file, stderr, "; %s came too fast and were lost",
                   grouped(lost));
    if (doctor_seen_is_blind(seen, events))
        doctor_say(in, gph_write_file, stderr, ": not all of the program was seen");
    else if (events == 0)
        doctor_say(in, gph_write_file, stderr,
                   seen->is_known ? ": the program did not use the driver"
                                  : ": the log is empty");
    fputc('\n', stderr);
}

/* no-color.org: any text in the variable turns colors off. */
static bool has_colours(void)
{
    const char *no_colour = getenv("NO_COLOR");
    return has_terminal() && (!no_colour || no_colour[0] == '\0');
}

static bool put_findings(const gph_doctor *doctor, bool are_many)
{
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        const gph_finding *finding = gph_doctor_finding(doctor, i);
        folded fold;
        const bool is_put =
            gph_finding_text_write(finding, has_colours(), gph_write_file,
                                   fold_begin(&fold, stderr), NULL) == GPH_OK;
        fold_end(&fold);
        if (!is_put)
            return false;
        if (finding->rank_count > 0)
            doctor_say(finding->language, gph_write_file, stderr,
                       "  rank %u (process %llu)\n", finding->rank,
                       (unsigned long long)finding->process);
        else if (are_many)
            doctor_say(finding->language, gph_write_file, stderr, "  process: %llu\n",
                       (unsigned long long)finding->process);
        fputc('\n', stderr);
    }
    return true;
}

/* Where something is wrong: who the ranks are, and how far each of them came. */
static bool put_ranks(const examination *of)
{
    const tally *counts = &of->counts;
    if (counts->of[GPH_SEVERITY_ERROR] + counts->of[GPH_SEVERITY_WARNING] == 0)
        return true;
    folded fold;
    const bool is_put = gph_doctor_ranks_write(of->doctor, gph_write_file,
                                               fold_begin(&fold, stderr), NULL) == GPH_OK;
    fold_end(&fold);
    return is_put;
}

/* Which parts of the advice are asked for; 0: none. */
static gph_advice_part parts_of(const command_line *line)
{
    return (
        gph_advice_part)((line->values[DOCTOR_ADVISE] ? GPH_ADVICE_PAYOFF : 0) |
                         (line->values[DOCTOR_CAPTURABLE] ? GPH_ADVICE_CAPTURABLE : 0));
}

/* The findings; with advice, and what was not seen, as members more, before the object's
 * end. */
static bool write_json(const examination *of, const command_line *line, int code,
                       FILE *to)
{
    const gph_program program = doctor_program(line, code);
    bool is_written =
        gph_doctor_json_write(of->doctor, &program, gph_write_file, to, NULL) == GPH_OK;
    if (of->advice && is_written)
        is_written = fseek(to, -(long)strlen("}\n"), SEEK_CUR) == 0 &&
                     fputs(",\n\"advice\":", to) >= 0 &&
                     gph_advice_json_write(of->advice, parts_of(line), gph_write_file, to,
                                           NULL) == GPH_OK &&
                     fputs("}\n", to) >= 0;
    if (is_written) {
        is_written =
            fseek(to, -(long)strlen("}\n"), SEEK_CUR) == 0 &&
            fputs(",\n\"device\":", to) >= 0 &&
            gph_report_device_write(of->report, gph_write_file, to, NULL) == GPH_OK &&
            fputs("}\n", to) >= 0;
    }
    if (of->seen->is_known && is_written) {
        is_written = fseek(to, -(long)strlen("}\n"), SEEK_CUR) == 0;
        fputs(",\n\"unseen\":", to);
        doctor_seen_json(of->seen, to);
        is_written = fputs("}\n", to) >= 0 && is_written;
    }
    return is_written;
}

static bool put_json(const examination *of, const command_line *line, int code)
{
    const char *path = line->values[DOCTOR_JSON];
    gph_error error = {0};
    char *json = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&json, &bytes);
    bool is_written = memory && write_json(of, line, code, memory);
    if (memory)
        is_written = fclose(memory) == 0 && is_written;
    if (!is_written)
        doctor_say(of->seen->language, gph_write_file, stderr,
                   "gph doctor: no memory for %.4000s\n", path);
    else if (strcmp(path, "-") == 0)
        is_written = (fwrite(json, 1, bytes, stdout), output_end());
    else if (gph_bytes_save(path, json, bytes, &error) != GPH_OK)
        is_written = fail(&error) == EXIT_OK;
    free(json);
    return is_written;
}

/* Under the findings, for it is worth reading only once they are put right. */
static bool put_advice(const examination *of, const command_line *line)
{
    if (!of->advice)
        return true;
    folded fold;
    const bool is_put =
        gph_advice_text_write(of->advice, parts_of(line), has_colours(), gph_write_file,
                              fold_begin(&fold, stderr), NULL) == GPH_OK;
    fold_end(&fold);
    if (!is_put)
        return false;
    fputc('\n', stderr);
    return true;
}

/* ---- the command ---- */

static int read_log(gph_doctor *doctor, const char *path)
{
    input in;
    gph_error error = {0};
    int code = EXIT_OK;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return doctor_folder_read(doctor, path);
    if (!input_open(path, &in))
        return EXIT_FAILED;
    if (gph_doctor_read(doctor, in.path, &error) != GPH_OK)
        code = fail_contents(in.path, path, FILE_EVENTS, &error);
    input_close(&in);
    return code;
}

/* Findings are there whatever fails: a log that could not be written, say. */
static bool finish(examination *of)
{
    gph_error error = {0};
    const bool is_finished = gph_doctor_finish(of->doctor, &error) == GPH_OK;
    if (!is_finished)
        fail(&error);
    if (!of->advice || gph_advice_finish(of->advice, &error) == GPH_OK)
        return is_finished;
    fail(&error);
    gph_advice_destroy(of->advice);
    of->advice = NULL;
    return false;
}

/* At the end, or at a hang that is left as it is. */
static void put_all(void *user)
{
    examination *of = user;
    of->is_told = finish(of);
    of->counts = count_findings(of->doctor);
    if (!of->line->values[DOCTOR_QUIET])
        of->is_told =
            put_findings(of->doctor, of->counts.are_many) && put_ranks(of) && of->is_told;
    of->is_told = put_advice(of, of->line) && of->is_told;
    of->was_told = true;
}

/* Reads the program, or a saved log. True: there is something to report. */
static bool read_all(examination *of, const command_line *line, int *code)
{
    const char *const *values = line->values;
    doctor_run run = {.driver = of->driver,
                      .is_logs_only =
                          values[DOCTOR_TIER] && strcmp(values[DOCTOR_TIER], "0") == 0,
                      .has_nodes = values[DOCTOR_NODES],
                      .has_kernels = values[DOCTOR_KERNELS],
                      .is_advised = of->advice,
                      .words = line->operands,
                      .seen = of->seen,
                      .grace_seconds = of->grace_seconds,
                      .watch_seconds = of->watch_seconds,
                      .is_checked = values[DOCTOR_CHECK],
                      .has_sentinels = values[DOCTOR_SENTINELS],
                      .is_left = values[DOCTOR_LEAVE],
                      .on_hang = put_all,
                      .user = of,
                      .doctor = of->doctor};
    if (values[DOCTOR_EVENTS]) {
        *code = read_log(of->doctor, values[DOCTOR_EVENTS]);
        return *code == EXIT_OK;
    }
    *code = doctor_run_program(&run);
    return run.has_started;
}

/* A status of 1 would say that the program has findings. */
static int failed_before(const command_line *line)
{
    return line->values[DOCTOR_EVENTS] ? EXIT_FAILED : EXIT_UNSEEN;
}

/* Whether what comes at the end can be written, asked before a program runs for an hour. */
static bool can_be_written(const command_line *line)
{
    static const int outputs[] = {DOCTOR_JSON, DOCTOR_REPORT, DOCTOR_TRACE};
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
        const char *path = line->values[outputs[i]];
        if (path && strcmp(path, "-") != 0 && !output_can_be(path))
            return false;
    }
    return true;
}

/* What cannot be begun is said before the program runs; what fails later takes no finding
 * away. */
static int examine(examination *of, const command_line *line)
{
    gph_error error = {0};
    const char *const *values = line->values;
    int code = 0;
    if (!values[DOCTOR_EVENTS] && !can_be_written(line))
        return EXIT_UNSEEN;
    if (values[DOCTOR_SAVE] &&
        gph_doctor_save(of->doctor, values[DOCTOR_SAVE], &error) != GPH_OK) {
        fail(&error);
        return failed_before(line);
    }
    if (!read_all(of, line, &code))
        return code;
    if (!of->was_told)
        put_all(of);
    bool is_told = of->is_told;
    const tally counts = of->counts;
    if (values[DOCTOR_JSON])
        is_told = put_json(of, line, code) && is_told;
    is_told = doctor_report_write(line, of->report, of->advice, code) && is_told;
    doctor_seen_write(of->seen, stderr);
    put_count(of->doctor, &counts, of->seen);
    if (code != 0)
        return code;
    const bool has_fault =
        counts.of[GPH_SEVERITY_ERROR] + counts.of[GPH_SEVERITY_WARNING] > 0;
    if (has_fault || !is_told)
        return EXIT_FAILED;
    return doctor_seen_is_blind(of->seen, gph_doctor_event_count(of->doctor, NULL))
               ? EXIT_UNSEEN
               : EXIT_OK;
}

/* Of two outputs the second would replace the first; of the log that is read, too. */
static bool has_same_file(const command_line *line)
{
    static const int files[] = {DOCTOR_EVENTS, DOCTOR_SAVE, DOCTOR_JSON, DOCTOR_REPORT,
                                DOCTOR_TRACE};
    enum { FILES = sizeof(files) / sizeof(*files) };
    for (int i = 0; i < FILES; i++)
        for (int k = 0; k < i; k++)
            if (is_same_file(line->values[files[k]], line->values[files[i]]))
                return true;
    return false;
}

/* Before anything runs: a program of hours must not end with a word on its options. */
static bool check_usage(const command_line *line)
{
    const char *tier = line->values[DOCTOR_TIER], *language = line->values[DOCTOR_LANG];
    const bool has_log = line->values[DOCTOR_EVENTS];
    const char *wrong = NULL, *value = NULL;
    static const struct {
        int option;
        const char *wrong;
    } of_programs[] = {
        {DOCTOR_WATCH, "--watch needs a program to run: a log is of one that has ended"},
        {DOCTOR_SENTINELS,
         "--sentinels needs a program to run: a log is of one that has ended"},
        {DOCTOR_KERNELS,
         "--kernels needs a program to run: times cannot be added to a log"},
        {DOCTOR_NODES, "--nodes needs a program to run: lines cannot be added to a log"},
        {DOCTOR_CHECK, "--check needs a program to run: a log was recorded without it"}};
    for (size_t i = 0; has_log && i < sizeof(of_programs) / sizeof(*of_programs); i++)
        if (line->values[of_programs[i].option])
            wrong = of_programs[i].wrong;
    if (line->operand_count == 0 && !has_log)
        wrong = "which program?";
    else if (line->operand_count > 0 && has_log)
        wrong = "a program, or --events FILE, not both";
    else if (tier && strcmp(tier, "0") != 0 && strcmp(tier, "1") != 0)
        wrong = "--tier is 0 or 1", value = tier;
    else if (tier && strcmp(tier, "0") == 0 &&
             (line->values[DOCTOR_ADVISE] || line->values[DOCTOR_CAPTURABLE]))
        wrong = "--advise and --capturable need calls, which --tier 0 does not see";
    else if (line->values[DOCTOR_LEAVE] && !line->values[DOCTOR_WATCH])
        wrong = "--leave needs --watch SECONDS";
    else if (language && strcmp(language, "en") != 0 && strcmp(language, "zh") != 0)
        wrong = "--lang is en or zh", value = language;
    else if (has_same_file(line))
        wrong = "two options name the same file";
    char plain[512] = ""; /* the value, with nothing that a terminal would act on */
    FILE *to = value ? fmemopen(plain, sizeof(plain), "w") : NULL;
    if (to) {
        put_text(to, value);
        fclose(to);
    }
    if (value)
        doctor_say(language, gph_write_file, stderr,
                   "gph doctor: %s, not %.100s\ntry: gph doctor --help\n", wrong, plain);
    else if (wrong)
        doctor_say(language, gph_write_file, stderr,
                   "gph doctor: %s\ntry: gph doctor --help\n", wrong);
    return !wrong;
}

int cmd_doctor(const command_line *typed)
{
    command_line with_language = *typed;
    const command_line *line = &with_language;
    if (!with_language.values[DOCTOR_LANG])
        with_language.values[DOCTOR_LANG] = locale_language();
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    doctor_seen seen = {.language = line->values[DOCTOR_LANG]};
    examination of = {.seen = &seen, .grace_seconds = 5, .line = line};
    gph_error error = {0};
    if (!check_usage(line) || !driver_parse(line->values[DOCTOR_DRIVER], &of.driver) ||
        !option_number("grace", line->values[DOCTOR_GRACE], 0, 1000000,
                       &of.grace_seconds) ||
        !option_number("watch", line->values[DOCTOR_WATCH], 1, 1000000,
                       &of.watch_seconds))
        return EXIT_USAGE;
    options.language = line->values[DOCTOR_LANG];
    gph_status status = gph_doctor_create(&options, &of.doctor, &error);
    if (status == GPH_OK && parts_of(line) != 0)
        status = gph_advice_create(of.doctor, NULL, &of.advice, &error);
    if (status == GPH_OK && !doctor_report_begin(line, of.doctor, &of.report))
        status = GPH_E_UNSUPPORTED; /* and said */
    if (status != GPH_OK && error.message[0] != '\0')
        fail(&error);
    const int code = status == GPH_OK ? examine(&of, line) : failed_before(line);
    gph_report_destroy(of.report);
    gph_advice_destroy(of.advice);
    gph_doctor_destroy(of.doctor);
    return code;
}
