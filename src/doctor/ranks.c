// SPDX-License-Identifier: Apache-2.0
/* Ranks side by side: for each communicator the n-th collective of every rank.
 *
 *   rank 0   all_reduce 1024   all_reduce 64    all_gather 8
 *   rank 1   all_reduce 1024   all_reduce 128   (ended)
 *               alike          nccl.rank-divergence: at the first that is not alike
 *
 * Where all are alike as far as they go and one rank has fewer, it is missing (nccl.rank-
 * missing), once another has waited for it: ranks that are stopped together, or that run
 * ahead of each other, have no fault. Without records of a rank nothing is said of it. */
#include "doctor/ranks.h"
#include "base/clock.h"
#include "base/fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAITED_NS = 1000000000, /* until a rank is missing */
    OWN_OPS = 5             /* ncclRedOp_t: of its own making are those from here on */
};

/* ---- groups ---- */

static int by_time(const void *a, const void *b)
{
    const gphi_comm *x = ((const gphi_member *)a)->comm;
    const gphi_comm *y = ((const gphi_member *)b)->comm;
    if (x->same != y->same)
        return x->same < y->same ? -1 : 1;
    if (x->made.time_ns != y->made.time_ns)
        return x->made.time_ns < y->made.time_ns ? -1 : 1;
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const gphi_comm *x = ((const gphi_member *)a)->comm;
    const gphi_comm *y = ((const gphi_member *)b)->comm;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* All communicators of all processes, those that belong together in turn. */
gph_status gphi_members(const gph_doctor *doctor, gphi_vec *out)
{
    gphi_vec_init(out, doctor->heap, sizeof(gphi_member));
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
        for (size_t k = 0; k < process->collectives.comms.count; k++) {
            const gphi_member member = {process,
                                        gphi_vec_pointer(&process->collectives.comms, k)};
            if (member.comm->same != 0)
                GPHI_TRY(gphi_vec_push(out, &member));
        }
    }
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(gphi_member), by_time);
    return GPH_OK;
}

static uint64_t end_of(const gphi_process *process)
{
    return process->model->last_ns;
}

static bool has_rank(const gphi_member *of, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (of[i].comm->rank == rank)
            return true;
    return false;
}

/* Whether the ranks lived together, and those of the next job came after them; and no record
 * of them is missing. Else nothing can be compared. */
static bool is_whole(const gphi_group *group, const gphi_member *next)
{
    uint64_t first_end = UINT64_MAX, last_end = 0, last_made = 0;
    for (size_t i = 0; i < group->count; i++) {
        const gphi_process *process = group->of[i].process;
        const uint64_t end = end_of(process), made = group->of[i].comm->made.time_ns;
        if (process->model->lost > 0 || process->lost > 0)
            return false;
        first_end = end < first_end ? end : first_end;
        last_end = end > last_end ? end : last_end;
        last_made = made > last_made ? made : last_made;
    }
    return last_made <= first_end && (!next || next->comm->made.time_ns > last_end);
}

/* A rank that comes again is of another job, which went before or came after. */
bool gphi_group_next(const gphi_vec *members, size_t *at, gphi_group *out)
{
    if (*at >= members->count)
        return false;
    gphi_member *of = gphi_vec_at(members, *at);
    const size_t left = members->count - *at;
    size_t count = 1;
    while (count < left && of[count].comm->same == of->comm->same &&
           !has_rank(of, count, of[count].comm->rank))
        count++;
    const bool has_next = count < left && of[count].comm->same == of->comm->same;
    *out = (gphi_group){.of = of, .count = count};
    out->is_whole = is_whole(out, has_next ? &of[count] : NULL);
    qsort(of, count, sizeof(*of), by_rank);
    *at += count;
    return true;
}

/* ---- words ---- */

const char *gphi_say_process(const gphi_model *model)
{
    if (model->rank_count > 1)
        return gphi_say("rank %u (process %" PRIu64 ")", model->rank, model->process);
    return gphi_say("process %" PRIu64, model->process);
}

/* A rank of a communicator need not be that of the job. */
static const char *say_member(const gphi_member *of)
{
    const gphi_model *model = of->process->model;
    if (model->rank_count > 1 && model->rank == of->comm->rank)
        return gphi_say_process(model);
    return gphi_say("rank %u (of process %" PRIu64 ")", of->comm->rank, model->process);
}

/* " at step (train.c:41)", of a call of any process. */
static const char *say_at(const gphi_process *process, const gphi_call *call)
{
    const char *place = gphi_say_place(process->model, call);
    return place[0] ? gphi_say(" at %.300s", place) : "";
}

/* "ncclAllReduce of 64 f32, captured, at step (train.c:41)". */
static const char *say_call(const gphi_member *of, const gphi_collective *call)
{
    return gphi_say("%s%s%s", gphi_say_collective(call),
                    call->capture != 0 ? ", captured," : "",
                    say_at(of->process, &call->call));
}

const char *gphi_say_ended(const gphi_process *process)
{
    const gphi_model *model = process->model;
    if (model->hung != 0)
        return "it hung and was ended";
    if (model->signal != 0)
        return gphi_say("it ended by signal %u", model->signal);
    if (process->collectives.has_code)
        return gphi_say("it ended with exit status %u", process->collectives.code);
    return "it was ended from outside, or still runs";
}

/* What a rank is in the middle of, or did last. */
static const char *say_doing(const gphi_process *process)
{
    const gphi_collectives *of = &process->collectives;
    GPHI_EACH (const gphi_comm_inside, inside, &of->inside)
        if (inside->is_open &&
            gphi_collective_sort_of(inside->at.id) >= GPHI_COLLECTIVE_MAKE &&
            gphi_collective_sort_of(inside->at.id) != GPHI_COLLECTIVE_GROUP)
            return gphi_say("was inside %s%s", gphi_collective_name(inside->at.id),
                            say_at(process, &inside->at.call));
    if (of->unreturned.number != 0)
        return gphi_say("was inside %s%s", gphi_say_call(&of->unreturned),
                        say_at(process, &of->unreturned));
    if (of->last.number != 0)
        return gphi_say("called %s last%s", gphi_say_call(&of->last),
                        say_at(process, &of->last));
    return "made no driver call";
}

/* ---- findings ---- */

static gphi_rule_run *run_of(gphi_process *process, const char *id)
{
    GPHI_EACH (gphi_rule_run, run, &process->runs)
        if (strcmp(run->rule->id, id) == 0)
            return run;
    return NULL;
}

/* What waits for the rank at fault is reported there, and not as a fault of its own. */
static void fold_waiting(gphi_draft *draft, const gphi_group *group,
                         const gphi_process *but)
{
    static const char *const waits[] = {"launch.hang", "launch.crash",
                                        "launch.crash-elsewhere"};
    for (size_t i = 0; draft && i < group->count; i++) {
        gphi_process *process = group->of[i].process;
        GPHI_EACH (gphi_draft *, other, &process->findings.drafts)
            for (size_t k = 0; k < sizeof(waits) / sizeof(*waits); k++)
                if (process != but && strcmp((*other)->rule->id, waits[k]) == 0)
                    gphi_withdraw(*other);
    }
}

static void put_last(gphi_draft *draft, const gphi_member *of)
{
    const uint64_t count = gphi_comm_count(of->comm);
    const gphi_collective *last = count > 0 ? gphi_comm_at(of->comm, count - 1) : NULL;
    if (last)
        gphi_evidence(draft, "%s: %s, the last %s", say_member(of),
                      gphi_say_count(count, "collective"), say_call(of, last));
    else
        gphi_evidence(draft, "%s: no collective", say_member(of));
}

/* ---- nccl.rank-divergence ---- */

static uint64_t op_of(const gphi_collective *of)
{
    const bool has_op = of->id == GPHI_COLLECTIVE_ncclAllReduce ||
                        of->id == GPHI_COLLECTIVE_ncclReduceScatter;
    return has_op && of->op >= OWN_OPS ? OWN_OPS : of->op;
}

static bool is_alike(const gphi_collective *a, const gphi_collective *b)
{
    return a->id == b->id && a->count == b->count && a->dtype == b->dtype &&
           op_of(a) == op_of(b) && (a->capture != 0) == (b->capture != 0);
}

/* Of the n-th collective: a rank that has another than most; NULL: all are alike. */
static const gphi_member *odd_one(const gphi_group *group, uint64_t number,
                                  const gphi_member **other)
{
    const gphi_member *odd = NULL;
    size_t fewest = group->count + 1;
    *other = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const gphi_member *member = &group->of[i], *unlike = NULL;
        size_t alike = 0;
        for (size_t k = 0; k < group->count; k++) {
            const gphi_member *peer = &group->of[k];
            if (is_alike(gphi_comm_at(member->comm, number),
                         gphi_comm_at(peer->comm, number)))
                alike++;
            else if (!unlike)
                unlike = peer;
        }
        if (unlike && alike <= fewest) {
            odd = member;
            fewest = alike;
            *other = unlike;
        }
    }
    return odd;
}

static const char *say_difference(const gphi_collective *a, const gphi_collective *b)
{
    if (a->id != b->id)
        return "another call";
    if (a->count != b->count)
        return "another count";
    if (a->dtype != b->dtype)
        return "another type";
    if (op_of(a) != op_of(b))
        return "another operation or root";
    return a->capture != 0 ? "captured on one rank, run immediately on the other"
                           : "run immediately on one rank, captured on the other";
}

static void tell_divergence(const gphi_group *group, const gphi_member *odd,
                            const gphi_member *other, uint64_t number)
{
    gphi_rule_run *run = run_of(odd->process, "nccl.rank-divergence");
    const gphi_collective *at = gphi_comm_at(odd->comm, number);
    const gphi_collective *peer = gphi_comm_at(other->comm, number);
    gphi_draft *draft = run ? gphi_finding_begin(run, &at->call, 0) : NULL;
    if (!draft)
        return;
    gphi_cause(draft,
               "collective %" PRIu64
               " of a communicator of %zu ranks is %s on %s, and %s "
               "on %s: %s",
               number + 1, group->count, say_call(odd, at), say_member(odd),
               say_call(other, peer), say_member(other), say_difference(at, peer));
    if (number > 0)
        gphi_evidence(draft, "alike on all ranks before it: %s",
                      gphi_say_count(number, "collective"));
    for (size_t i = 0; i < group->count; i++)
        put_last(draft, &group->of[i]);
    fold_waiting(draft, group, NULL);
}

/* ---- nccl.rank-missing ---- */

/* When it came to one of any communicator last; 0: never. */
static uint64_t last_collective(const gphi_process *process)
{
    const gphi_vec *comms = &process->collectives.comms;
    uint64_t last = 0;
    for (size_t i = 0; i < comms->count; i++) {
        const gphi_comm *comm = gphi_vec_pointer(comms, i);
        const uint64_t count = gphi_comm_count(comm);
        const gphi_collective *at = count > 0 ? gphi_comm_at(comm, count - 1) : NULL;
        if (at && at->call.time_ns > last)
            last = at->call.time_ns;
    }
    return last;
}

/* By itself, and not because somebody stops the job. */
static bool has_left(const gphi_process *process)
{
    enum { INTERRUPTED = 130, TERMINATED = 143, BY_INT = 2, BY_KILL = 9, BY_TERM = 15 };
    const gphi_model *model = process->model;
    if (process->collectives.has_code)
        return process->collectives.code != INTERRUPTED &&
               process->collectives.code != TERMINATED;
    return model->signal != 0 && model->hung == 0 && model->signal != BY_INT &&
           model->signal != BY_KILL && model->signal != BY_TERM;
}

/* Whether the others wait for the rank: it ended, or it has come to no collective for long
 * while they were there. One that is slow goes on coming to others before. */
static bool is_missed(const gphi_member *missing, const gphi_process *waiting,
                      uint64_t since_ns)
{
    const uint64_t until = end_of(missing->process), others = end_of(waiting);
    const uint64_t last = last_collective(missing->process);
    if (has_left(missing->process))
        return true;
    return gphi_span_ns(since_ns > last ? since_ns : last,
                        until < others ? until : others) >= WAITED_NS;
}

/* It still called the driver: it may be about to come. */
static bool is_at_work(const gphi_process *process)
{
    return !has_left(process) && process->model->hung == 0 &&
           gphi_span_ns(process->collectives.last.time_ns, end_of(process)) < WAITED_NS;
}

/* A rank ended what it captured, with fewer collectives than another has of it: the one
 * before was captured by both, on the other rank together with this one. */
static bool has_captured_less(const gphi_member *few, const gphi_member *more,
                              uint64_t number)
{
    const gphi_collective *at = gphi_comm_at(more->comm, number);
    if (number == 0 || at->capture == 0)
        return false;
    const gphi_collective *last = gphi_comm_at(few->comm, number - 1);
    const gphi_collective *before = gphi_comm_at(more->comm, number - 1);
    if (!last || !before || last->capture == 0 || before->capture != at->capture)
        return false;
    const gphi_capture *capture = gphi_model_capture(few->process->model, last->capture);
    return capture && !capture->is_open;
}

static void tell_more(const gphi_group *group, const gphi_member *few,
                      const gphi_member *more, uint64_t number)
{
    const gphi_collective *at = gphi_comm_at(more->comm, number);
    gphi_rule_run *run = run_of(more->process, "nccl.rank-divergence");
    gphi_draft *draft = run ? gphi_finding_begin(run, &at->call, 0) : NULL;
    if (!draft)
        return;
    gphi_cause(draft,
               "collective %" PRIu64 " of a communicator of %zu ranks was captured only "
               "by %s: %s ended its capture without it",
               number + 1, group->count, say_member(more), say_member(few));
    for (size_t i = 0; i < group->count; i++)
        put_last(draft, &group->of[i]);
    fold_waiting(draft, group, NULL);
}

/* Where a rank's work goes on: its last collective, else its last driver call. */
static const gphi_call *place_of(const gphi_member *of)
{
    const uint64_t count = gphi_comm_count(of->comm);
    const gphi_collective *last = count > 0 ? gphi_comm_at(of->comm, count - 1) : NULL;
    return last ? &last->call : &of->comm->made;
}

static void put_waiting(gphi_draft *draft, const gphi_group *group, uint64_t number)
{
    for (size_t i = 0; i < group->count; i++) {
        const gphi_member *of = &group->of[i];
        const gphi_collective *at = gphi_comm_at(of->comm, number);
        if (at)
            gphi_evidence(draft, "%s waits in collective %" PRIu64 ", %s; it %s",
                          say_member(of), number + 1, say_call(of, at),
                          say_doing(of->process));
    }
}

static void tell_missing(const gphi_group *group, const gphi_member *few,
                         const gphi_member *more, uint64_t number)
{
    const gphi_collective *at = gphi_comm_at(more->comm, number);
    gphi_rule_run *run = run_of(few->process, "nccl.rank-missing");
    gphi_draft *draft = run ? gphi_finding_begin(run, place_of(few), 0) : NULL;
    if (!draft)
        return;
    gphi_cause(draft,
               "%s did not reach collective %" PRIu64
               " of a communicator of %zu ranks, %s on %s: %s",
               say_member(few), number + 1, group->count, say_call(more, at),
               say_member(more), gphi_say_ended(few->process));
    put_last(draft, few);
    gphi_evidence(draft, "instead it %s", say_doing(few->process));
    if (is_at_work(few->process)) {
        gphi_evidence(draft,
                      "it called the driver until the end: it may have been on its way");
        gphi_soften(draft);
    }
    put_waiting(draft, group, number);
    fold_waiting(draft, group, few->process);
}

static uint64_t least_count(const gphi_group *group)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < group->count; i++)
        if (gphi_comm_count(group->of[i].comm) < least)
            least = gphi_comm_count(group->of[i].comm);
    return least;
}

static void judge_counts(const gphi_group *group, uint64_t least)
{
    const gphi_member *few = NULL, *more = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const gphi_member *of = &group->of[i];
        if (gphi_comm_count(of->comm) == least)
            few = few ? few : of;
        else if (!more && gphi_comm_at(of->comm, least))
            more = of;
    }
    if (!few || !more)
        return;
    const gphi_collective *at = gphi_comm_at(more->comm, least);
    if (has_captured_less(few, more, least))
        tell_more(group, few, more, least);
    else if (is_missed(few, more->process, at->call.time_ns))
        tell_missing(group, few, more, least);
}

/* ---- a communicator that was never made ---- */

static gphi_process *process_of_rank(const gph_doctor *doctor, uint32_t rank,
                                     uint32_t count)
{
    for (size_t i = 0; i < doctor->processes.count; i++) {
        gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
        if (process->model->rank_count == count && process->model->rank == rank)
            return process;
    }
    return NULL;
}

/* The first rank that did not call what makes it. */
static uint32_t absent_rank(const gphi_group *group)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < group->count && group->of[i].comm->rank == rank; i++)
        rank++;
    return rank;
}

static const char *say_absent(const gphi_process *process, uint32_t rank)
{
    if (!process)
        return gphi_say("rank %u, which has no process that was seen here", rank);
    return gphi_say("%s, which %s; %s", gphi_say_process(process->model),
                    say_doing(process), gphi_say_ended(process));
}

static void judge_making(const gph_doctor *doctor, const gphi_group *group)
{
    const gphi_member *first = group->of;
    for (size_t i = 0; i < group->count; i++)
        if (group->of[i].comm->is_made)
            return;
    if (group->count >= first->comm->ranks ||
        gphi_span_ns(first->comm->made.time_ns, end_of(first->process)) < WAITED_NS)
        return;
    const uint32_t rank = absent_rank(group);
    const gphi_process *absent = process_of_rank(doctor, rank, first->comm->ranks);
    gphi_rule_run *run = run_of(first->process, "nccl.rank-missing");
    gphi_draft *draft = run ? gphi_finding_begin(run, &first->comm->made, 0) : NULL;
    gphi_cause(draft, "%s of %u ranks did not return: %zu of them called it, but not %s",
               gphi_say_call(&first->comm->made), first->comm->ranks, group->count,
               say_absent(absent, rank));
    /* It may be on another host, or on its way, where nobody has waited as long as asked. */
    if (first->process->model->hung == 0 && (!absent || is_at_work(absent)))
        gphi_soften(draft);
}

/* ---- all of it ---- */

static void judge(const gph_doctor *doctor, const gphi_group *group)
{
    const uint64_t least = least_count(group);
    uint64_t number = 0;
    if (!group->is_whole)
        return;
    judge_making(doctor, group);
    for (size_t i = 0; i < group->count; i++)
        if (group->of[i].comm->first > number)
            number = group->of[i].comm->first;
    for (; number < least; number++) {
        const gphi_member *other, *odd = odd_one(group, number, &other);
        if (odd) {
            tell_divergence(group, odd, other, number);
            return;
        }
    }
    judge_counts(group, least);
}

gph_status gphi_ranks_judge(gph_doctor *doctor)
{
    gphi_vec members;
    gphi_group group;
    size_t at = 0;
    gph_status status = gphi_members(doctor, &members);
    while (status == GPH_OK && gphi_group_next(&members, &at, &group))
        judge(doctor, &group);
    gphi_vec_fini(&members);
    return status;
}

/* ---- while it runs ---- */

static bool is_inside(const gphi_process *process, bool of_end, uint64_t before_ns,
                      uint32_t *thread, uint64_t *since_ns)
{
    GPHI_EACH (const gphi_comm_inside, inside, &process->collectives.inside) {
        const gphi_collective_sort sort = gphi_collective_sort_of(inside->at.id);
        const bool is_it =
            of_end ? sort == GPHI_COLLECTIVE_END : sort == GPHI_COLLECTIVE_MAKE;
        if (!inside->is_open || inside->at.call.time_ns > before_ns || !is_it)
            continue;
        *thread = inside->thread;
        *since_ns = inside->at.call.time_ns;
        return true;
    }
    return false;
}

/* No process that may still do something has made a call since. */
static bool are_silent(const gph_doctor *doctor, uint64_t before_ns)
{
    for (size_t i = 0; i < doctor->processes.count; i++) {
        const gphi_process *process = gphi_vec_pointer(&doctor->processes, i);
        if (process->ring && !process->has_exited && process->model->hung == 0 &&
            process->model->last_ns > before_ns)
            return false;
    }
    return true;
}

/* The process is of a group in which one rank has called what another has not. */
static bool is_uneven(const gphi_group *group, const gphi_process *process,
                      uint64_t *since_ns)
{
    const uint64_t least = least_count(group);
    bool is_of_it = false;
    *since_ns = 0;
    for (size_t i = 0; i < group->count; i++) {
        const gphi_collective *at = gphi_comm_at(group->of[i].comm, least);
        is_of_it |= group->of[i].process == process;
        if (at)
            *since_ns = at->call.time_ns;
    }
    return is_of_it && *since_ns != 0;
}

bool gphi_ranks_hang(const gph_doctor *doctor, const gphi_process *process,
                     uint64_t before_ns, uint32_t *thread, uint64_t *since_ns)
{
    gphi_vec members;
    gphi_group group;
    size_t at = 0;
    bool is_hung = false;
    if (process->collectives.comms.count == 0)
        return false;
    if (is_inside(process, true, before_ns, thread, since_ns))
        return true;
    if (!are_silent(doctor, before_ns))
        return false;
    if (is_inside(process, false, before_ns, thread, since_ns))
        return true;
    *thread = (uint32_t)process->number;
    const gph_status status = gphi_members(doctor, &members);
    while (status == GPH_OK && !is_hung && gphi_group_next(&members, &at, &group))
        is_hung = group.is_whole && is_uneven(&group, process, since_ns);
    gphi_vec_fini(&members);
    return is_hung;
}
