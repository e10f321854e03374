// SPDX-License-Identifier: Apache-2.0
/* usage: fault LOG|FOLDER...
 * Examines saved logs, and folders of rings and boards, while each allocation fails in turn: either the findings are there,
 * or the doctor says that it had no memory; nothing is left behind. */
#include "fault.h"
#include "test.h"
#include <gph/doctor.h>

#include <sys/stat.h>

enum { TRIES = 400 }; /* of a log: of many allocations each nth */

static char *const *logs;

typedef struct outcome {
    gph_status status;
    uint32_t findings;
    long allocations;
} outcome;

/* A ring gives back what was read, so a copy is. */
static gph_status read_folder(gph_doctor *doctor, const char *folder, gph_error *error)
{
    char command[2048], copy[512];
    snprintf(copy, sizeof(copy), "%s.copy", folder);
    snprintf(command, sizeof(command), "rm -rf '%s' && cp -r --sparse=always '%s' '%s'",
             copy, folder, copy);
    CHECK(system(command) == 0); // NOLINT(cert-env33-c): a path of fault.sh
    return gph_doctor_poll(doctor, copy, 1, error);
}

static gph_status read_it(gph_doctor *doctor, const char *path, gph_error *error)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode)
               ? read_folder(doctor, path, error)
               : gph_doctor_read(doctor, path, error);
}

static outcome examine(const char *log, long fail_at)
{
    fault_heap heap = {fail_at, 0};
    const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    gph_error error;
    outcome out = {0};
    options.allocator = &allocator;
    out.status = gph_doctor_create(&options, &doctor, &error);
    if (out.status == GPH_OK)
        out.status = read_it(doctor, log, &error);
    if (out.status == GPH_OK)
        out.status = gph_doctor_finish(doctor, &error);
    if (out.status == GPH_OK)
        out.findings = gph_doctor_finding_count(doctor);
    gph_doctor_destroy(doctor);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    out.allocations = fail_at - atomic_load(&heap.fail_at);
    return out;
}

static void each_allocation_fails_in_turn(void)
{
    for (char *const *log = logs; *log != NULL; log++) {
        const outcome whole = examine(*log, 1L << 40);
        if (!CHECK(whole.status == GPH_OK && whole.findings > 0))
            continue;
        const long step = whole.allocations / TRIES + 1;
        for (long at = 0; at < whole.allocations; at += step) {
            const outcome out = examine(*log, at);
            CHECK(out.status == GPH_E_NO_MEMORY ||
                  (out.status == GPH_OK && out.findings <= whole.findings));
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 77;
    logs = argv + 1;
    RUN(each_allocation_fails_in_turn);
    return test_done();
}
