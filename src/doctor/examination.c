// SPDX-License-Identifier: Apache-2.0
/* An examination, from its folder of rings or its log to its findings.
 *
 *   gph_doctor_poll    PID.ring, one a process, while they run and once after
 *   gph_doctor_read    a log, in which the processes' records stand in turn
 *        │
 *        └──> gphi_process_feed(), record by record
 *
 *   gph_doctor_finish  rules conclude, findings are put into words and sorted
 *
 * Processes stay until gph_doctor_destroy(): findings lend their texts. */
#define _GNU_SOURCE
#include "doctor/examination.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/language/language.h"

#include <dirent.h>
#include <errno.h>
#include <gph/explain.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gphi_process *process_at(const gph_doctor *doctor, size_t index)
{
    return gphi_vec_pointer(&doctor->processes, index);
}

/* ---- life ---- */

gph_status gph_doctor_create(const gph_doctor_options *options, gph_doctor **out,
                             gph_error *error)
{
    gph_doctor_options read = GPH_DOCTOR_OPTIONS_INIT;
    GPHI_TRY(gphi_need(error, out));
    if (options)
        GPHI_TRY(
            gphi_options_read(&read, sizeof(read), "gph_doctor_options", options, error));
    const uint32_t language = gphi_language_named(read.language);
    if (language == GPH_EXPLAIN_LANGUAGES)
        return gphi_fail(error, GPH_E_INVALID, "language '%.20s': en or zh is possible",
                         read.language);
    const gph_allocator heap = gphi_heap(read.allocator);
    gph_doctor *doctor = gphi_heap_alloc(heap, sizeof(*doctor));
    GPHI_TRY(gphi_made(error, doctor, "making a doctor"));
    doctor->heap = heap;
    doctor->language = language;
    doctor->keep_events = read.keep_events;
    gphi_vec_init(&doctor->processes, heap, sizeof(gphi_process *));
    gphi_vec_init(&doctor->blocks, heap, sizeof(uint32_t));
    gphi_vec_init(&doctor->scratch, heap, 1);
    gphi_vec_init(&doctor->findings, heap, sizeof(gphi_draft *));
    *out = doctor;
    return GPH_OK;
}

void gph_doctor_destroy(gph_doctor *doctor)
{
    if (!doctor)
        return;
    if (doctor->save)
        gphi_ignore(gphi_event_save_end(doctor->save, false, NULL), "nothing is kept");
    for (size_t i = 0; i < doctor->processes.count; i++)
        gphi_process_free(doctor, process_at(doctor, i));
    gphi_vec_fini(&doctor->processes);
    gphi_vec_fini(&doctor->blocks);
    gphi_vec_fini(&doctor->scratch);
    gphi_vec_fini(&doctor->findings);
    gphi_heap_free(doctor->heap, doctor, sizeof(*doctor));
}

/* The first place that is the user's, or free; so to add twice is to replace. */
void gphi_doctor_listen(gph_doctor *doctor, gphi_listener *listener, void *user)
{
    for (size_t i = 0; i < GPHI_LISTENERS_MAX; i++) {
        const bool is_users =
            doctor->listeners[i].call && doctor->listeners[i].user == user;
        const bool is_room = !doctor->listeners[i].call;
        if (listener ? !is_room && !is_users : !is_users)
            continue;
        doctor->listeners[i].call = listener;
        doctor->listeners[i].user = user;
        return;
    }
}

gphi_model *gphi_doctor_model(gph_doctor *doctor)
{
    return doctor->now ? doctor->now->model : NULL;
}

uint32_t gphi_doctor_language(const gph_doctor *doctor)
{
    return doctor->language;
}

const gph_place *gphi_doctor_frames(gph_doctor *doctor, uint32_t stack, uint32_t *count)
{
    const uint32_t block = stack / GPHI_STACK_BLOCK;
    *count = 0;
    if (block >= doctor->blocks.count)
        return NULL;
    const uint32_t index = *(const uint32_t *)gphi_vec_at(&doctor->blocks, block);
    if (index >= doctor->processes.count)
        return NULL; /* of one that could not be made */
    return gphi_stacks_frames(process_at(doctor, index)->stacks, stack, count);
}

/* ---- logs ---- */

/* A number may be a process's again after exec(): its records go on in the same log. */
static gphi_process *find_process(const gph_doctor *doctor, uint64_t number)
{
    for (size_t i = 0; i < doctor->processes.count; i++)
        if (process_at(doctor, i)->number == number)
            return process_at(doctor, i);
    return NULL;
}

/* Whose record it is; a log without a first record is of process 0. */
static gph_status process_of(gph_doctor *doctor, const gphi_event *event,
                             gphi_process **out, bool *is_again, gph_error *error)
{
    gphi_process *of = doctor->now;
    *is_again = false;
    if (event->kind == GPHI_EVENT_PROCESS) {
        of = find_process(doctor, event->id);
        *is_again = of;
    }
    if (!of) {
        const uint64_t number = event->kind == GPHI_EVENT_PROCESS ? event->id : 0;
        const gph_status status = gphi_process_add(doctor, number, &of);
        if (status != GPH_OK)
            return gphi_fail(error, status, "examining process %llu",
                             (unsigned long long)number);
    }
    *out = of;
    return GPH_OK;
}

/* Words of a finding are made once: what came later would be in none of them. */
static gph_status check_reading(const gph_doctor *doctor, const char *function,
                                const char *path, gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, function, doctor != NULL, "doctor"));
    GPHI_TRY(gphi_need_named(error, function, path != NULL, "path"));
    if (doctor->is_finished)
        return gphi_fail(error, GPH_E_STATE, "%.300s: the examination is over", path);
    return GPH_OK;
}

/* A process's first record says whose those after it are. It stands again wherever the
 * log comes back to that process, and is fed only once. */
gph_status gph_doctor_read(gph_doctor *doctor, const char *path, gph_error *error)
{
    gphi_event_log *log = NULL;
    GPHI_TRY(check_reading(doctor, __func__, path, error));
    GPHI_TRY(gphi_event_log_read(path, &doctor->heap, &log, error));
    gph_status status = GPH_OK;
    const gphi_event *event;
    doctor->now = NULL;
    for (size_t at = 0; status == GPH_OK && (event = gphi_event_log_next(log, &at));) {
        gphi_process *process = NULL;
        bool is_again = false;
        status = process_of(doctor, event, &process, &is_again, error);
        if (status != GPH_OK)
            break;
        doctor->now = process;
        if (!is_again)
            status = gphi_process_feed(doctor, process, event, error);
    }
    gphi_event_log_close(log);
    return status;
}

gph_status gph_doctor_save(gph_doctor *doctor, const char *path, gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, path, error));
    if (doctor->save)
        return gphi_fail(error, GPH_E_STATE, "%.300s: a log is being written already",
                         path);
    return gphi_event_save_begin(path, &doctor->heap, &doctor->save, error);
}

/* ---- rings ---- */

/* Rings are found again at each poll. */
static bool is_known(const gph_doctor *doctor, const char *path)
{
    for (size_t i = 0; i < doctor->processes.count; i++) {
        const char *known = process_at(doctor, i)->ring_path;
        if (known && strcmp(known, path) == 0)
            return true;
    }
    return false;
}

/* Opens it if it is a ring, and whole; else it may become one. */
static gph_status open_ring(gph_doctor *doctor, const char *path, int is_over,
                            gph_error *error)
{
    gphi_event_ring_reader *ring = NULL;
    gph_error why = {0};
    gph_status status = gphi_event_ring_open(path, &doctor->heap, &ring, &why);
    if (status == GPH_E_NO_MEMORY || (status == GPH_E_FORMAT && is_over)) {
        if (error)
            *error = why;
        return status;
    }
    if (status != GPH_OK)
        return GPH_OK;
    gphi_process *process = NULL;
    char *copy = gphi_heap_text(doctor->heap, path);
    status = copy ? gphi_process_add(doctor, gphi_event_ring_process(ring), &process)
                  : GPH_E_NO_MEMORY;
    if (status != GPH_OK) {
        gphi_heap_text_free(doctor->heap, copy);
        gphi_event_ring_close(ring);
        return gphi_fail(error, status, "examining the process of %.300s", path);
    }
    process->ring = ring;
    process->ring_path = copy;
    return GPH_OK;
}

/* New processes of the program: each makes its ring when it first calls the driver. */
static gph_status find_rings(gph_doctor *doctor, const char *folder, int is_over,
                             gph_error *error)
{
    DIR *list = opendir(folder);
    if (!list)
        return gphi_fail(error, GPH_E_IO, "cannot open %.300s: %s", folder,
                         strerror(errno));
    gph_status status = GPH_OK;
    const struct dirent *entry;
    while (status == GPH_OK && (entry = readdir(list))) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[PATH_MAX];
        if (!dot || strcmp(dot, ".ring") != 0 ||
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
                (int)sizeof(path) ||
            is_known(doctor, path))
            continue;
        status = open_ring(doctor, path, is_over, error);
    }
    closedir(list);
    return status;
}

/* Children may outlive the program that is examined. */
static bool is_running(uint64_t number)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)number);
    FILE *file = fopen(path, "r");
    const size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = '\0';
    const char *end = strrchr(text, ')'); /* of its name */
    return end && !strchr("ZX", end[1] != '\0' ? end[2] : 'X');
}

/* A ring whose process has ended goes: a run of many processes must not fill the disk. */
static void close_ring(gph_doctor *doctor, gphi_process *process)
{
    gphi_standing_remove(process);
    gphi_event_ring_close(process->ring);
    process->ring = NULL;
    unlink(process->ring_path);
    gphi_heap_text_free(doctor->heap, process->ring_path);
    process->ring_path = NULL;
}

/* The first time counts: after a hang its end does not say more. */
static gph_status stand(gph_doctor *doctor, gphi_process *process, gph_error *error)
{
    if (process->has_stood)
        return GPH_OK;
    process->has_stood = true;
    return gphi_standing_feed(doctor, process, error);
}

/* Of a rank it matters how long it ran after its last call: until then others may have
 * waited for it. */
static void note_running(gphi_process *process)
{
    enum { PAUSE_NS = 100000000 };
    const uint64_t now = gphi_clock_ns();
    if (process->collectives.comms.count == 0 || process->has_exited ||
        gphi_span_ns(process->looked_ns, now) < PAUSE_NS)
        return;
    process->looked_ns = now;
    if (is_running(gphi_event_ring_process(process->ring)))
        process->ran_ns = now;
}

/* Once the process is gone, records that it was in the midst of writing are skipped, and
 * what its threads were in the midst of calling is read off the ring's slots. Before the
 * end only a process that said that it ends is taken for gone: another namespace has
 * other numbers. */
static gph_status drain(gph_doctor *doctor, gphi_process *process, bool is_over,
                        gph_error *error)
{
    const gphi_event *event;
    const bool is_gone =
        (is_over || process->has_exited) &&
        (process->is_left || !is_running(gphi_event_ring_process(process->ring)));
    note_running(process);
    is_over = is_over && is_gone;
    const uint64_t before = doctor->events;
    while ((event = gphi_event_ring_next(process->ring, is_over))) {
        if (event->kind == GPHI_EVENT_CALL && gphi_is_sticky(event->u.call.result))
            GPHI_TRY(stand(doctor, process, error));
        GPHI_TRY(gphi_process_feed(doctor, process, event, error));
    }
    if (is_over && !process->has_exited)
        GPHI_TRY(stand(doctor, process, error));
    process->lost = gphi_event_ring_lost(process->ring);
    if (is_gone && !is_over && doctor->events == before)
        close_ring(doctor, process);
    return GPH_OK;
}

gph_status gph_doctor_poll(gph_doctor *doctor, const char *folder, int is_over,
                           gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, folder, error));
    GPHI_TRY(find_rings(doctor, folder, is_over, error));
    for (size_t i = 0; i < doctor->processes.count; i++)
        if (process_at(doctor, i)->ring)
            GPHI_TRY(drain(doctor, process_at(doctor, i), is_over != 0, error));
    return GPH_OK;
}

/* ---- the end ---- */

/* The program that was in a process before exec() did not end by what ended the process.
 */
static bool is_last_of(const gph_doctor *doctor, const gphi_process *process)
{
    for (size_t i = 0; i < doctor->processes.count; i++) {
        const gphi_process *other = process_at(doctor, i);
        if (other->number == process->number &&
            other->model->first_ns > process->model->first_ns)
            return false;
    }
    return true;
}

/* As if the attached library had written an EXIT record: it could not. */
static gph_status feed_end(gph_doctor *doctor, gphi_process *process, uint64_t id,
                           const uint64_t words[3], gph_error *error)
{
    _Alignas(64) struct {
        gphi_event head;
        uint64_t words[8];
    } event = {.head = {.kind = GPHI_EVENT_EXIT,
                        .units = 2,
                        .thread = (uint32_t)process->number,
                        .time_ns = id == 4 ? words[0] : gphi_clock_ns(),
                        .id = id,
                        .word_count = 3},
               .words = {words[0], words[1], words[2]}};
    return gphi_process_feed(doctor, process, &event.head, error);
}

gph_status gph_doctor_killed(gph_doctor *doctor, uint64_t number, int signal,
                             gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, "killed", error));
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = process_at(doctor, i);
        if (process->has_exited || process->model->signal != 0 ||
            !is_last_of(doctor, process) || (number != 0 && number != process->number))
            continue;
        const uint64_t words[] = {(uint64_t)signal, 0, 0};
        GPHI_TRY(feed_end(doctor, process, 2, words, error));
    }
    return GPH_OK;
}

/* A launch of a graph that nobody has waited for. */
static bool has_replay(const gphi_model *model)
{
    for (size_t i = model->execs.count; i-- > 0;)
        if (gphi_exec_pending(model, gphi_vec_pointer(&model->execs, i)))
            return true;
    return false;
}

/* Calls that do not wait for the GPU: one that does not return hangs by itself. */
static bool is_never_long(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuGraphLaunch:
    case GPHI_CALL_cuGraphUpload:
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams:
    case GPHI_CALL_cuGraphExecUpdate: return true;
    default: return false;
    }
}

/* Whether it has done nothing for so long but ask for the end of its work. A call that is
 * recorded, as one is that says "ended", begins it again; so does a second without asking. A
 * slot that is just being filled has no time, so one look says nothing. */
static bool only_asks(gphi_process *process, uint64_t now, uint64_t ns,
                      gphi_event_slot *slot)
{
    enum { PAUSE_NS = 1000000000 };
    const uint64_t since = now > PAUSE_NS ? now - PAUSE_NS : 0;
    const bool asks = gphi_event_ring_polls(process->ring, since, slot);
    if (asks)
        process->asked_ns = now;
    if (process->asked_ns < since || process->asks_after != process->model->call_count) {
        process->asks_ns = now;
        process->asks_after = process->model->call_count;
    }
    slot->time_ns = process->asks_ns;
    return asks && now - process->asks_ns >= ns;
}

/* The thread that hangs, in `slot`, and how; false: none does. */
static bool find_hung(const gph_doctor *doctor, gphi_process *process, uint64_t now,
                      uint64_t ns, gphi_event_slot *slot, gphi_hang_how *how)
{
    const bool is_replaying = has_replay(process->model);
    *how = GPHI_HANG_INSIDE;
    if (gphi_event_ring_stuck(process->ring, now - ns, slot) &&
        (is_replaying || is_never_long(slot->call - 1)))
        return true;
    *how = GPHI_HANG_RANKS;
    uint32_t thread;
    uint64_t since;
    if (gphi_ranks_hang(doctor, process, now - ns, &thread, &since)) {
        slot->thread = thread;
        slot->time_ns = since;
        return true;
    }
    *how = GPHI_HANG_ASKS;
    return is_replaying && only_asks(process, now, ns, slot);
}

gph_status gph_doctor_hung(gph_doctor *doctor, double seconds, uint64_t *number,
                           gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, "hung", error));
    GPHI_TRY(gphi_need(error, number));
    if (!(seconds > 0))
        return gphi_fail(error, GPH_E_INVALID, "gph_doctor_hung: %g seconds", seconds);
    const uint64_t now = gphi_clock_ns(), ns = (uint64_t)(seconds * 1e9);
    *number = 0;
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = process_at(doctor, i);
        gphi_event_slot slot;
        gphi_hang_how how;
        if (!process->ring || process->has_exited || process->model->hung != 0 ||
            now < ns || !find_hung(doctor, process, now, ns, &slot, &how))
            continue;
        const uint64_t words[] = {slot.thread, slot.time_ns, (uint64_t)how};
        GPHI_TRY(stand(doctor, process, error));
        GPHI_TRY(feed_end(doctor, process, 3, words, error));
        *number = process->number;
        return GPH_OK;
    }
    return GPH_OK;
}

gph_status gph_doctor_left(gph_doctor *doctor, uint64_t number, gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, "left", error));
    for (size_t i = 0; i < doctor->processes.count; i++)
        if (process_at(doctor, i)->number == number)
            process_at(doctor, i)->is_left = true;
    return GPH_OK;
}

/* Errors first, then in the order of the program, so that causes stand before effects. */
static int by_weight(const void *a, const void *b)
{
    const gph_finding *first = &(*(gphi_draft *const *)a)->out;
    const gph_finding *second = &(*(gphi_draft *const *)b)->out;
    if (first->severity != second->severity)
        return first->severity > second->severity ? -1 : 1;
    if (first->time_ns != second->time_ns)
        return first->time_ns < second->time_ns ? -1 : 1;
    return strcmp(first->id, second->id);
}

static gph_status gather(gph_doctor *doctor, const gphi_findings *of)
{
    for (size_t i = 0; i < of->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&of->drafts, i);
        if (draft->is_withdrawn)
            continue;
        GPHI_TRY(gphi_vec_push(&doctor->findings, &draft));
    }
    return GPH_OK;
}

/* So that a saved log says, too, how long a rank ran. */
static gph_status put_ran(gph_doctor *doctor, gph_error *error)
{
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = process_at(doctor, i);
        const uint64_t words[3] = {process->ran_ns};
        if (process->ran_ns > process->model->last_ns)
            GPHI_TRY(feed_end(doctor, process, 4, words, error));
    }
    return GPH_OK;
}

gph_status gph_doctor_finish(gph_doctor *doctor, gph_error *error)
{
    GPHI_TRY(check_reading(doctor, __func__, "finish", error));
    GPHI_TRY(put_ran(doctor, error));
    doctor->is_finished = true;
    gphi_language_use(doctor->language);
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = process_at(doctor, i);
        process->model->is_replaced = !is_last_of(doctor, process);
        gphi_process_end(process);
    }
    gph_status status = gphi_ranks_judge(doctor);
    for (size_t i = 0; i < doctor->processes.count && status == GPH_OK; i++) {
        gphi_process *process = process_at(doctor, i);
        if (process->collectives.is_short)
            process->findings.is_short = true;
        status = gphi_findings_finish(&process->findings, doctor->language);
        GPHI_THEN(status, gather(doctor, &process->findings));
    }
    if (status != GPH_OK)
        return gphi_fail(error, status, "putting findings into words");
    if (doctor->findings.count > 1)
        qsort(doctor->findings.items, doctor->findings.count, sizeof(gphi_draft *),
              by_weight);
    gphi_event_save *save = doctor->save;
    doctor->save = NULL;
    return save ? gphi_event_save_end(save, true, error) : GPH_OK;
}

uint32_t gph_doctor_finding_count(const gph_doctor *doctor)
{
    return doctor ? (uint32_t)doctor->findings.count : 0;
}

const gph_finding *gph_doctor_finding(const gph_doctor *doctor, uint32_t index)
{
    if (index >= gph_doctor_finding_count(doctor))
        return NULL;
    const gphi_draft *draft = gphi_vec_pointer(&doctor->findings, index);
    return &draft->out;
}

/* The ring counts what was lost before it could say so in a LOST record. */
uint64_t gph_doctor_event_count(const gph_doctor *doctor, uint64_t *lost)
{
    uint64_t sum = 0;
    for (size_t i = 0; doctor && i < doctor->processes.count; i++) {
        const gphi_process *process = process_at(doctor, i);
        sum +=
            process->lost > process->model->lost ? process->lost : process->model->lost;
    }
    if (lost)
        *lost = sum;
    return doctor ? doctor->events : 0;
}
