// SPDX-License-Identifier: Apache-2.0
/* Makes a report of a made log, in the language of MAKE_PAGE_LANG: make_page CALLS NODES
 * plain|hostile|gpu|crowd PAGE [TRACE] */
#include "made_log.h"
#include <gph/gph_doctor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gph_status to_stdout(void *user, const void *data, size_t bytes)
{
    (void)user;
    return fwrite(data, 1, bytes, stdout) == bytes ? GPH_OK : GPH_E_IO;
}

static gph_status write_all(gph_doctor *doctor, gph_report *report, char **argv, int argc,
                            gph_error *error)
{
    const gph_program program = GPH_SIZED(gph_program);
    gph_status status = gph_doctor_finish(doctor, error);
    if (status == GPH_OK)
        status = gph_report_page_save(report, &program, NULL, argv[4], error);
    if (status == GPH_OK && argc > 5)
        status = gph_report_trace_save(report, &program, NULL, argv[5], error);
    if (status == GPH_OK)
        status = gph_report_text_write(report, to_stdout, NULL, error);
    return status;
}

int main(int argc, char **argv)
{
    char log[4096];
    gph_error error = {0};
    if (argc < 5) {
        fprintf(stderr,
                "usage: make_page CALLS NODES plain|hostile|gpu|crowd PAGE [TRACE]\n");
        return 2;
    }
    if (!gph_report_has_page()) {
        fprintf(stderr, "SKIPPED: this build has no page (d3 was missing)\n");
        return 77;
    }
    snprintf(log, sizeof(log), "%.4000s.log", argv[4]);
    const made_log_options options = {.calls = (uint32_t)strtoul(argv[1], NULL, 10),
                                      .nodes = (uint32_t)strtoul(argv[2], NULL, 10),
                                      .is_hostile = strcmp(argv[3], "hostile") == 0,
                                      .has_gpu_times = strcmp(argv[3], "gpu") == 0,
                                      .is_crowded = strcmp(argv[3], "crowd") == 0};
    gph_doctor_options read = GPH_DOCTOR_OPTIONS_INIT;
    read.language = getenv("MAKE_PAGE_LANG");
    gph_doctor *doctor = NULL;
    gph_report *report = NULL;
    gph_status status = made_log_write(log, &options, &error);
    if (status == GPH_OK)
        status = gph_doctor_create(&read, &doctor, &error);
    if (status == GPH_OK)
        status = gph_report_create(doctor, NULL, &report, &error);
    if (status == GPH_OK)
        status = gph_doctor_read(doctor, log, &error);
    if (status == GPH_OK)
        status = write_all(doctor, report, argv, argc, &error);
    if (status != GPH_OK)
        fprintf(stderr, "make_page: %s\n", error.message);
    gph_report_destroy(report);
    gph_doctor_destroy(doctor);
    remove(log);
    return status == GPH_OK ? 0 : 1;
}
