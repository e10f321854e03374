// SPDX-License-Identifier: Apache-2.0
/* Ranks and their communicators, as lines and as JSON:
 *
 *   ranks of the job: 2
 *     rank 0 (process 17): it ended with exit status 0
 *   communicator of 2 ranks, made in main (train.c:12)
 *     rank 0: 12 collectives, the last ncclAllReduce of 64 f32 at step (train.c:40)
 *     rank 1: 11 collectives, ...; up to 3.2 ms after the first, at collective 4 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/json.h"
#include "doctor/language/language.h"
#include "doctor/ranks.h"

#include <inttypes.h>

/* How long a rank came after the first, at most, and in which collective. */
typedef struct lateness {
    uint64_t ns, number;
} lateness;

static lateness late_of(const gphi_group *group, const gphi_member *of)
{
    lateness out = {0, 0};
    const uint64_t count = gphi_comm_count(of->comm);
    for (uint64_t n = of->comm->first; n < count; n++) {
        const gphi_collective *own = gphi_comm_at(of->comm, n);
        uint64_t first = own->call.time_ns;
        for (size_t i = 0; i < group->count; i++) {
            const gphi_collective *at = gphi_comm_at(group->of[i].comm, n);
            if (at && at->call.time_ns < first)
                first = at->call.time_ns;
        }
        if (own->call.time_ns - first > out.ns)
            out = (lateness){own->call.time_ns - first, n};
    }
    return out;
}

static const gphi_collective *last_of(const gphi_member *of)
{
    const uint64_t count = gphi_comm_count(of->comm);
    return count > 0 ? gphi_comm_at(of->comm, count - 1) : NULL;
}

/* How many ranks the job has; 0: no process said so. */
static uint32_t job_ranks(const gph_doctor *doctor)
{
    uint32_t most = 0;
    for (size_t i = 0; i < doctor->processes.count; i++) {
        const gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
        if (process->model->rank_count > most)
            most = process->model->rank_count;
    }
    return most > 1 ? most : 0;
}

/* ---- lines ---- */

static void add_job(gphi_text *text, const gph_doctor *doctor)
{
    const uint32_t count = job_ranks(doctor);
    if (count > 0)
        gphi_text_say(text, "ranks of the job: %u\n", count);
    for (uint32_t rank = 0; rank < count; rank++)
        for (size_t i = 0; i < doctor->processes.count; i++) {
            const gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
            if (process->model->rank_count == count && process->model->rank == rank)
                gphi_text_say(text, "  %s: %s\n", gphi_say_process(process->model),
                              gphi_say_ended(process));
        }
}

static void add_member(gphi_text *text, const gphi_group *group, const gphi_member *of)
{
    const gphi_collective *last = last_of(of);
    const lateness late = late_of(group, of);
    gphi_text_say(text, "  rank %u: %s", of->comm->rank,
                  gphi_say_count(gphi_comm_count(of->comm), "collective"));
    if (last) {
        const char *place = gphi_say_place(of->process->model, &last->call);
        gphi_text_say(text, ", the last %s", gphi_say_collective(last));
        if (place[0])
            gphi_text_say(text, " at %.300s", place);
    }
    if (late.ns > 0)
        gphi_text_say(text, "; up to %.1f ms after the first, at collective %" PRIu64,
                      (double)late.ns / 1e6, late.number + 1);
    gphi_text_add(text, "\n");
}

static void add_group(gphi_text *text, const gphi_group *group)
{
    const gphi_comm *comm = group->of->comm;
    const char *place = comm->made.number != 0
                            ? gphi_say_place(group->of->process->model, &comm->made)
                            : "";
    if (comm->name[0] != '\0')
        gphi_text_say(text, "communicator '%.63s' of %zu ranks", comm->name,
                      group->count);
    else
        gphi_text_say(text, "communicator of %zu ranks", group->count);
    if (place[0])
        gphi_text_say(text, ", made in %.300s", place);
    gphi_text_add(text, "\n");
    for (size_t i = 0; i < group->count; i++)
        add_member(text, group, &group->of[i]);
}

gph_status gph_doctor_ranks_write(const gph_doctor *doctor, gph_write_fn *write,
                                  void *user, gph_error *error)
{
    char buffer[1024];
    gphi_text text;
    gphi_vec members;
    gphi_group group;
    size_t at = 0;
    GPHI_TRY(gphi_need(error, doctor, write));
    gphi_language_use(doctor->language);
    const gph_status status = gphi_members(doctor, &members);
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    add_job(&text, doctor);
    while (status == GPH_OK && gphi_group_next(&members, &at, &group))
        if (group.count > 1)
            add_group(&text, &group);
    gphi_vec_fini(&members);
    return status == GPH_OK ? gphi_text_end(&text, error)
                            : gphi_fail(error, status, "writing the ranks");
}

/* ---- JSON ---- */

static void add_job_json(gphi_text *text, const gph_doctor *doctor)
{
    const uint32_t count = job_ranks(doctor);
    bool is_first = true;
    gphi_text_add(text, ",\n\"ranks\":{\"count\":%u,\"processes\":[", count);
    for (uint32_t rank = 0; rank < count;
         rank++) /* which process is read first is chance */
        for (size_t i = 0; i < doctor->processes.count; i++) {
            const gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
            if (process->model->rank_count < 2 || process->model->rank != rank)
                continue;
            gphi_text_add(text, "%s{\"rank\":%u,\"process\":%" PRIu64,
                          is_first ? "" : ",", rank, process->model->process);
            gphi_json_member(text, "ended", gphi_say_ended(process));
            gphi_text_add(text, "}");
            is_first = false;
        }
    gphi_text_add(text, "],\"communicators\":[");
}

static void add_member_json(gphi_text *text, const gphi_group *group,
                            const gphi_member *of)
{
    const gphi_collective *last = last_of(of);
    const lateness late = late_of(group, of);
    gphi_text_add(text,
                  "{\"rank\":%u,\"process\":%" PRIu64 ",\"collectives\":%" PRIu64
                  ",\"late_ns\":%" PRIu64 ",\"late_at\":%" PRIu64,
                  of->comm->rank, of->process->model->process, gphi_comm_count(of->comm),
                  late.ns, late.ns > 0 ? late.number + 1 : 0);
    gphi_json_member(text, "last", last ? gphi_say_collective(last) : NULL);
    gphi_json_member(text, "last_place",
                     last ? gphi_say_place(of->process->model, &last->call) : NULL);
    gphi_text_add(text, "}");
}

static void add_group_json(gphi_text *text, const gphi_group *group)
{
    const gphi_comm *comm = group->of->comm;
    gphi_text_add(text, "{\"ranks\":%u", comm->ranks);
    gphi_json_member(text, "name", comm->name);
    gphi_text_add(text, ",\"members\":[");
    for (size_t i = 0; i < group->count; i++) {
        gphi_text_add(text, "%s", i > 0 ? ",\n" : "");
        add_member_json(text, group, &group->of[i]);
    }
    gphi_text_add(text, "]}");
}

gph_status gphi_ranks_json(gphi_text *text, const gph_doctor *doctor)
{
    gphi_vec members;
    gphi_group group;
    size_t at = 0;
    bool is_first = true;
    const gph_status status = gphi_members(doctor, &members);
    add_job_json(text, doctor);
    while (status == GPH_OK && gphi_group_next(&members, &at, &group)) {
        gphi_text_add(text, is_first ? "\n" : ",\n");
        add_group_json(text, &group);
        is_first = false;
    }
    gphi_text_add(text, "]}");
    gphi_vec_fini(&members);
    return status;
}
