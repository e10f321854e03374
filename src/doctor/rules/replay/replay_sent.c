// SPDX-License-Identifier: Apache-2.0
/* Rule replay.frozen-value, where no step ran before the capture: the host sends a number
 * of the step (a position, a rate) to the device, and the graph was given the same number by
 * value. The numbers that follow are sent as well, and nobody reads them: the graph was
 * captured with the value in place of the address.
 *
 *   send 0    capture K(.., 0)    launch    send 1    launch    send 2    launch */
#include "doctor/rules/replay/rules_replay.h"

#include <inttypes.h>
#include <string.h>

enum { SENT_MAX = 256, NUMBER_MAX = 8, CHANGES_MIN = 2 };

void gphi_sent_note(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_replay_state *state = run->state;
    gphi_call_ranges ranges;
    uint64_t contents = 0;
    const gphi_part *part = gphi_event_part(seen->event, GPHI_PART_HASH, 0);
    if (!part || part->bytes != sizeof(contents) || !seen->work ||
        seen->work->is_captured || !gphi_call_ranges_of(seen, &ranges) ||
        !ranges.from_host || ranges.write_bytes > NUMBER_MAX)
        return;
    memcpy(&contents, part + 1, sizeof(contents));
    gphi_sent *one =
        gphi_vec_keyed(&state->sent, &ranges.write, sizeof(ranges.write), SENT_MAX);
    if (!one)
        return;
    one->changes += one->bytes != 0 && one->contents != contents;
    one->bytes = ranges.write_bytes;
    one->contents = contents;
    one->last = seen->call;
}

static const gphi_sent *sent_as(const gphi_replay_state *state, uint64_t value,
                                uint32_t bytes)
{
    const uint64_t contents = gphi_host_hash(bytes, &value, bytes); /* little endian */
    GPHI_EACH (const gphi_sent, one, &state->sent)
        if (one->bytes == bytes && one->contents == contents)
            return one;
    return NULL;
}

/* Of a struct nothing is known. */
static bool is_whole(const gph_kernel_params *params, const gphi_word *of)
{
    return of->arg < params->arg_count && params->args &&
           params->args[of->arg].bytes == of->bytes && (of->bytes == 4 || of->bytes == 8);
}

static void look_at_word(void *user, const gphi_word *of)
{
    gphi_look *at = user;
    const gphi_step_kernel *own = gphi_vec_at(&at->rounds->kernels, at->kernel);
    if (!is_whole(own->params, of) || !own->params->buffer)
        return;
    const uint64_t value = gphi_word_in(own->params->buffer, of);
    const gphi_sent *sent = sent_as(at->state, value, of->bytes);
    if (!sent || (of->bytes == 8 && gphi_is_address(at->run->model, value)))
        return;
    gphi_stray *new = gphi_stray_add(at, GPHI_FROZEN_VALUE);
    if (!new)
        return;
    new->arg = of->arg;
    new->offset = of->offset;
    new->bytes = of->bytes;
    new->values[0] = value;
    new->count = 1;
    new->sent = sent->address;
    new->sent_changes = sent->changes;
}

void gphi_sent_look(gphi_look *at)
{
    for (at->kernel = 0; at->kernel < at->rounds->kernels.count; at->kernel++) {
        const gphi_step_kernel *own = gphi_vec_at(&at->rounds->kernels, at->kernel);
        gphi_each_word(own->params, look_at_word, at);
    }
}

static const gphi_sent *sent_to(const gphi_replay_state *state, uint64_t address)
{
    GPHI_EACH (const gphi_sent, one, &state->sent)
        if (one->address == address)
            return one;
    return NULL;
}

/* By a copy, by a kernel that was given an address of the same memory, by a graph; in doubt
 * it is read. */
static bool is_read(const gphi_history *history, const gphi_sent *of)
{
    const gphi_allocation *memory = gphi_model_memory(history->model, of->address, false);
    const gphi_memory_history *one = memory ? gphi_history_memory(history, memory) : NULL;
    if (!one || one->overflows || one->pointers.count > 0)
        return true;
    GPHI_EACH (const gphi_range_history, range, &one->read)
        if (gphi_ranges_meet(range->start, range->end - range->start, of->address,
                             of->bytes))
            return true;
    for (size_t i = 0; i < history->execs.count; i++)
        if (gphi_history_touches(history, gphi_history_exec_at(history, i),
                                 memory->address, memory->bytes))
            return true;
    return false;
}

bool gphi_sent_is_lost(const gphi_rule_run *run, const gphi_stray *of)
{
    const gphi_sent *sent = sent_to(run->state, of->sent);
    return sent && sent->changes >= of->sent_changes + CHANGES_MIN &&
           !is_read(run->history, sent);
}

void gphi_sent_report(const gphi_rule_run *run, const gphi_stray *of, gphi_draft *draft)
{
    const gphi_exec_history *exec = of->exec;
    const gphi_sent *sent = sent_to(run->state, of->sent);
    gphi_cause(draft,
               "argument %u of %s has the value that the host had sent to %s when the "
               "graph was captured; the host goes on to send other values there, which "
               "nothing ever reads, and the graph has the first one in all its %" PRIu64
               " launches",
               of->arg, gphi_say_node(exec->source, of->node),
               gphi_say_memory(run->model, of->sent), exec->launches);
    gphi_evidence_call(draft, &sent->last, "the last value was sent by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
}
