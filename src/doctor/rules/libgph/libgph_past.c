// SPDX-License-Identifier: Apache-2.0
/* Rule libgph.edited-past. libgph knows what a tracked executable holds, and sends the
 * driver only what differs. What the program sets past it, it does not know:
 *
 *   gph_exec_track ── cuGraphExec...SetParams by the program ── gph_exec_update: "nothing"
 *
 * An update of the whole, or a new executable, puts all of it right again. */
#include "doctor/findings/stacks.h"
#include "doctor/rules/libgph/rules_libgph.h"

#include <gph/update.h>
#include <string.h>

enum { TRACKED_MAX = 256 };

static void report(gphi_rule_run *run, const gphi_libgph_tracked *of, uint64_t way)
{
    gphi_draft *draft = gphi_finding_begin(run, &of->edited, of->exec);
    gphi_cause(draft,
               "%s changed %s, which libgph tracks; gph_exec_update() compares with what "
               "libgph knows, and %s: the change stays",
               gphi_say_call(&of->edited),
               gphi_say_exec(run->model, gphi_model_exec(run->model, of->exec)),
               way == GPH_UPDATE_NOTHING ? "found nothing to do"
                                         : "set only other nodes");
    gphi_evidence_call(draft, &of->tracked, "tracked since");
}

void gphi_libgph_past_event(gphi_rule_run *run, const gphi_event *event)
{
    const uint64_t exec = gphi_event_word(event, 0);
    if (event->kind != GPHI_EVENT_NOTE ||
        (event->id != GPHI_NOTE_TRACKED && event->id != GPHI_NOTE_UPDATED) ||
        !gphi_model_exec(run->model, exec))
        return;
    gphi_libgph_tracked *of =
        gphi_vec_keyed(run->state, &exec, sizeof(exec), TRACKED_MAX);
    if (!of)
        return;
    const uint64_t way = gphi_event_word(event, 1);
    if (event->id == GPHI_NOTE_TRACKED)
        of->tracked = gphi_libgph_at(run, event);
    else if (of->edited.number != 0 &&
             (way == GPH_UPDATE_NOTHING || way == GPH_UPDATE_NODES))
        report(run, of, way);
    of->edited.number = 0;
}

static bool is_edit(uint32_t call)
{
    const char *name = gphi_call_name(call);
    return (strncmp(name, "cuGraphExec", 11) == 0 && strstr(name, "SetParams")) ||
           call == GPHI_CALL_cuGraphNodeSetEnabled || call == GPHI_CALL_cuGraphExecUpdate;
}

void gphi_libgph_past_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *all = run->state;
    if (all->count == 0 || !seen->exec || seen->call.result != 0)
        return;
    GPHI_EACH (gphi_libgph_tracked, of, all) {
        if (of->exec != seen->exec->handle)
            continue;
        if (gphi_call_is_instantiation(seen->call.call))
            of->tracked.number = of->edited.number = 0; /* another one with its handle */
        else if (of->tracked.number != 0 && is_edit(seen->call.call) &&
                 !gphi_stacks_entered(run->model->stacks, seen->call.stack))
            of->edited = seen->call;
    }
}
