// SPDX-License-Identifier: Apache-2.0
/* An examination of a saved log: what it finds, what it refuses, and that it survives any
 * allocation that fails. argv[1]: the folder of logs. */
#include "fault.h"
#include "test.h"

#include <gph/doctor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static const char *log_path(const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s.log", folder, name);
    return path;
}

static gph_status examine(const char *path, const gph_allocator *allocator,
                          const char *save, char **text, uint32_t *count)
{
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    options.allocator = allocator;
    gph_status status = gph_doctor_create(&options, &doctor, NULL);
    if (status == GPH_OK && save != NULL)
        status = gph_doctor_save(doctor, save, NULL);
    if (status == GPH_OK)
        status = gph_doctor_read(doctor, path, NULL);
    if (status == GPH_OK)
        status = gph_doctor_finish(doctor, NULL);
    if (status == GPH_OK) {
        *count = gph_doctor_finding_count(doctor);
        size_t bytes = 0;
        FILE *to = open_memstream(text, &bytes);
        status = gph_doctor_json_write(doctor, NULL, gph_write_file, to, NULL);
        fclose(to);
    }
    gph_doctor_destroy(doctor);
    return status;
}

static void test_findings(void)
{
    const char *path = log_path("capture.unjoined-fork");
    char *text = NULL;
    uint32_t count = 0;
    CHECK(examine(path, NULL, NULL, &text, &count) == GPH_OK);
    CHECK(count == 1);
    CHECK(text != NULL && strstr(text, "\"id\":\"capture.unjoined-fork\"") != NULL);
    free(text);
}

/* Logs of true processes on a GPU: what each shows (recorded/README.md). NULL: nothing.
 */
static void test_recorded(void)
{
    static const struct {
        const char *log, *id;
    } logs[] = {
        {"nccl.destroy-before-graph.1", "\"id\":\"nccl.destroy-before-graph\""},
        {"nccl.destroy-before-graph.0", NULL},
        {"nccl.watchdog-query.1", "\"id\":\"nccl.watchdog-query\""},
        {"nccl.watchdog-query.0", NULL},
        {"cache.frozen-choice.1", "\"id\":\"cache.frozen-choice\""},
        {"cache.frozen-choice.0", NULL},
        {"cache.frozen-choice.late", NULL},
        {"rng.frozen.0", NULL},
        {"memory.read-before-done.1", "\"id\":\"memory.read-before-done\""},
        {"memory.stale-address.0", NULL},
        {"instantiate.multiple-contexts.1", "\"id\":\"instantiate.multiple-contexts\""},
    };
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        char *text = NULL;
        uint32_t count = UINT32_MAX;
        CHECK(examine(log_path(logs[i].log), NULL, NULL, &text, &count) == GPH_OK);
        CHECK(count == (logs[i].id != NULL));
        CHECK(text != NULL && (logs[i].id == NULL || strstr(text, logs[i].id) != NULL));
        free(text);
    }
}

/* What is saved is read back to the same findings. */
static void test_save(void)
{
    const char *path = log_path("capture.unjoined-fork");
    char saved[] = "/tmp/doctor-saved-XXXXXX";
    const int fd = mkstemp(saved);
    char *first = NULL, *second = NULL;
    uint32_t count = 0;
    CHECK(fd >= 0);
    close(fd);
    CHECK(examine(path, NULL, saved, &first, &count) == GPH_OK);
    CHECK(examine(saved, NULL, NULL, &second, &count) == GPH_OK);
    CHECK(first != NULL && second != NULL && strcmp(first, second) == 0);
    free(first);
    free(second);
    unlink(saved);
}

static void test_refusals(void)
{
    gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
    gph_doctor *doctor = NULL;
    gph_error error = {0};
    options.language = "fr";
    CHECK(gph_doctor_create(&options, &doctor, &error) == GPH_E_INVALID);
    CHECK(doctor == NULL && strstr(error.message, "fr") != NULL);
    CHECK(gph_doctor_create(NULL, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_doctor_create(NULL, &doctor, &error) == GPH_OK);
    CHECK(gph_doctor_read(doctor, "/nonexistent/log", &error) == GPH_E_IO);
    CHECK(strstr(error.message, "/nonexistent/log") != NULL);
    CHECK(gph_doctor_poll(doctor, "/nonexistent", 0, &error) == GPH_E_IO);
    CHECK(gph_doctor_read(doctor, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_doctor_finding(doctor, 0) == NULL);
    CHECK(gph_doctor_finish(doctor, &error) == GPH_OK);
    CHECK(gph_doctor_finish(doctor, &error) == GPH_E_STATE);
    CHECK(gph_doctor_read(doctor, "/nonexistent/log", &error) == GPH_E_STATE);
    CHECK(gph_doctor_finding_count(doctor) == 0);
    CHECK(gph_doctor_finding_count(NULL) == 0);
    CHECK(gph_finding_text_write(NULL, 0, gph_write_file, stdout, &error) ==
          GPH_E_INVALID);
    gph_doctor_destroy(doctor);
    gph_doctor_destroy(NULL);
}

/* Each allocation in turn fails: the examination ends with no memory or, where it can do
 * without, as ever; nothing is left. */
static void sweep(const char *path)
{
    fault_heap heap = {0};
    const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
    long refused = 0;
    gph_status status = GPH_E_NO_MEMORY;
    for (long at = 0; at < 100000; at++) {
        char *text = NULL;
        uint32_t count = 0;
        atomic_store(&heap.fail_at, at);
        status = examine(path, &allocator, NULL, &text, &count);
        free(text);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        refused += status == GPH_E_NO_MEMORY;
        if (atomic_load(&heap.fail_at) >= 0) /* it was never reached */
            break;
    }
    CHECK(status == GPH_OK);
    CHECK(refused > 100);
}

static void test_faults(void)
{
    static const char *const logs[] = {"capture.unjoined-fork", "update.node-count",
                                       "launch.unfreed-allocation"};
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
        sweep(log_path(logs[i]));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    folder = argv[1];
    RUN(test_findings);
    RUN(test_recorded);
    RUN(test_save);
    RUN(test_refusals);
    RUN(test_faults);
    return test_done();
}
