// SPDX-License-Identifier: Apache-2.0
/* Rules capture.captured-event-query and capture.event-after-capture: an edge of a graph is
 * taken for an event, while its capture is open and when it is over. */
#include "doctor/rules/capture/rules_capture.h"

void gphi_tell_captured_event(gphi_rule_run *run, const gphi_seen *seen,
                              const gphi_cuda_event *event)
{
    gphi_watch *watch = event ? gphi_watch_of(run->state, event->recorded_in) : NULL;
    const bool breaks = gphi_capture_class(seen->call.call) == GPHI_CLASS_EVENT;
    if (watch && watch->incident) {
        gphi_watch_noticed(watch, &seen->call);
        return;
    }
    gphi_draft *draft =
        gphi_first_cause(run, GPHI_RULE_CAPTURED_EVENT, seen, breaks ? watch : NULL);
    if (!draft)
        return;
    gphi_cause(
        draft,
        "%s was called for an event that was recorded in a capture that is still open; "
        "such an event is an edge of the graph: it is never done and has no time.%s",
        gphi_say_call(&seen->call), breaks ? " The capture has been invalid since." : "");
    if (event)
        gphi_evidence_call(draft, &event->recorded, "the event was recorded on %s",
                           gphi_say_stream(run->model, event->recorded_on));
    if (watch)
        gphi_tell_capture(run->model, draft, watch->capture);
}

/* The record was of no use to the graph: it was meant for whoever asks now. */
static gphi_draft *useless_record(gphi_rule_run *run, const gphi_seen *seen,
                                  gphi_watch *watch, const gphi_cuda_event *event)
{
    gphi_incident *incident =
        gphi_capture_tell(run, GPHI_RULE_EVENT_AFTER, &event->recorded, watch);
    if (!incident)
        return NULL;
    if (watch)
        gphi_watch_settle(watch);
    gphi_cause(incident->fresh,
               "an event was recorded in a capture in which no stream waits for it, so "
               "that the record is nothing in the graph; then %s got the event, and "
               "nothing ever ran that would set it.",
               gphi_say_call(&seen->call));
    gphi_evidence_call(incident->fresh, &seen->call, "the event was then used by");
    gphi_incident_noticed(incident, &seen->call);
    return incident->fresh;
}

static gphi_draft *asked_edge(gphi_rule_run *run, const gphi_seen *seen,
                              gphi_watch *watch, const gphi_cuda_event *event)
{
    gphi_draft *draft = gphi_first_cause(run, GPHI_RULE_EVENT_AFTER, seen, watch);
    gphi_cause(draft,
               "%s got an event that was last recorded in a capture, and the capture is "
               "over: nothing ever ran that would set the event.",
               gphi_say_call(&seen->call));
    gphi_evidence_call(draft, &event->recorded, "the event was recorded, for the graph");
    return draft;
}

/* An edge of a graph was taken for an event. What the capture itself waits for is recorded
 * rightly, and whoever asks is wrong; else it is the record. */
void gphi_tell_event_after(gphi_rule_run *run, const gphi_seen *seen,
                           const gphi_cuda_event *event)
{
    gphi_watch *watch = gphi_watch_of(run->state, seen->capture);
    if (watch && watch->is_over)
        watch = NULL;
    if (watch && watch->incident) {
        gphi_watch_noticed(watch, &seen->call);
        return;
    }
    gphi_draft *draft = event->is_edge ? asked_edge(run, seen, watch, event)
                                       : useless_record(run, seen, watch, event);
    if (!draft)
        return;
    gphi_evidence_call(draft, &event->recorded_in->begin, "that capture began");
    gphi_evidence_call(draft, &event->recorded_in->end, "and ended");
    if (watch)
        gphi_tell_capture(run->model, draft, watch->capture);
}
