// SPDX-License-Identifier: Apache-2.0
/* One process under examination: its records through model, rules and listeners. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/examination.h"
#include "doctor/rules/rules.h"

#include <string.h>

static const struct {
    const gphi_rule *rules;
    const size_t *count;
} tables[] = {
#define X(class) {gphi_rules_##class, &gphi_rules_##class##_count},
    GPHI_RULE_TABLES(X)
#undef X
};

/* ---- life ---- */

static gph_status add_rules(gphi_patient *patient)
{
    gphi_model *model = patient->model;
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (size_t i = 0; i < *tables[t].count; i++) {
            const gphi_rule *rule = &tables[t].rules[i];
            void *state = NULL;
            GPHI_TRY(gphi_vec_reserve(&patient->runs, 1));
            if (rule->state_bytes > 0) {
                state = gphi_heap_alloc(model->heap, rule->state_bytes);
                if (state == NULL)
                    return GPH_E_NO_MEMORY;
            }
            *(gphi_rule_run *)gphi_vec_add(&patient->runs, 1) =
                (gphi_rule_run){.model = model,
                                .findings = &patient->findings,
                                .state = state,
                                .rule = rule};
        }
    return GPH_OK;
}

void gphi_patient_free(gph_doctor *doctor, gphi_patient *patient)
{
    gphi_rule_run *runs = patient->runs.items;
    for (size_t i = 0; i < patient->runs.count; i++) {
        if (runs[i].rule->fini != NULL)
            runs[i].rule->fini(&runs[i]);
        gphi_heap_free(doctor->heap, runs[i].state, runs[i].rule->state_bytes);
    }
    gphi_vec_fini(&patient->runs);
    gphi_vec_fini(&patient->first);
    gphi_repeats_fini(&patient->repeats);
    if (patient->model != NULL)
        gphi_findings_fini(&patient->findings);
    gphi_model_destroy(patient->model);
    gphi_stacks_destroy(patient->stacks);
    if (patient->ring != NULL)
        gphi_event_ring_close(patient->ring);
    gphi_heap_text_free(doctor->heap, patient->ring_path);
    gphi_heap_free(doctor->heap, patient, sizeof(*patient));
}

gph_status gphi_patient_add(gph_doctor *doctor, uint64_t process, gphi_patient **out)
{
    GPHI_TRY(gphi_vec_reserve(&doctor->patients, 1));
    gphi_patient *patient = gphi_heap_alloc(doctor->heap, sizeof(*patient));
    if (patient == NULL)
        return GPH_E_NO_MEMORY;
    patient->index = (uint32_t)doctor->patients.count;
    patient->process = process;
    gphi_vec_init(&patient->runs, doctor->heap, sizeof(gphi_rule_run));
    gphi_vec_init(&patient->first, doctor->heap, 1);
    gphi_repeats_init(&patient->repeats, doctor->heap);
    gph_status status = gphi_model_create(doctor->heap, &patient->model);
    if (status == GPH_OK)
        status = gphi_stacks_create(doctor->heap, &patient->stacks);
    if (status == GPH_OK) {
        patient->model->stacks = patient->stacks;
        patient->model->process = process;
    }
    if (patient->model != NULL)
        gphi_findings_init(&patient->findings, patient->model, patient->stacks);
    if (status == GPH_OK)
        status = add_rules(patient);
    if (status != GPH_OK) {
        gphi_patient_free(doctor, patient);
        return status;
    }
    *(gphi_patient **)gphi_vec_add(&doctor->patients, 1) = patient;
    *out = patient;
    return GPH_OK;
}

/* ---- records ---- */

/* The log has the processes' records in turn: a process's first record stands again
 * wherever another's ended. */
static gph_status save_record(gph_doctor *doctor, gphi_patient *patient,
                              const gphi_event *event, gph_error *error)
{
    if (event->kind == GPHI_EVENT_PROCESS && patient->first.count == 0) {
        const size_t bytes = (size_t)event->units * sizeof(*event);
        void *copy = gphi_vec_add(&patient->first, bytes);
        if (copy == NULL)
            return gphi_fail(error, GPH_E_NO_MEMORY, "keeping a process's record");
        memcpy(copy, event, bytes);
    }
    if (doctor->save == NULL)
        return GPH_OK;
    if (doctor->saved != patient && event->kind != GPHI_EVENT_PROCESS &&
        patient->first.count > 0)
        GPHI_TRY(gphi_event_save_add(doctor->save, patient->first.items, error));
    doctor->saved = patient;
    return gphi_event_save_add(doctor->save, event, error);
}

/* Stack numbers are a process's own; moved, they are the doctor's. */
static const gphi_event *renumber(gph_doctor *doctor, const gphi_patient *patient,
                                  const gphi_event *event)
{
    const uint32_t move = patient->index * GPHI_STACKS_A_PATIENT;
    const bool names_stack =
        event->kind == GPHI_EVENT_STACK || event->kind == GPHI_EVENT_PYTHON;
    if (move == 0 || (event->stack == 0 && !names_stack))
        return event;
    const size_t bytes = (size_t)event->units * sizeof(*event);
    doctor->scratch.count = 0;
    gphi_event *copy = gphi_vec_add(&doctor->scratch, bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, event, bytes);
    if (copy->stack != 0)
        copy->stack = copy->stack % GPHI_STACKS_A_PATIENT + move;
    if (names_stack)
        copy->id = copy->id % GPHI_STACKS_A_PATIENT + move;
    return copy;
}

static void run_rules(gphi_patient *patient, const gphi_event *event,
                      const gphi_seen *seen)
{
    gphi_rule_run *runs = patient->runs.items;
    for (size_t i = 0; i < patient->runs.count; i++) {
        const gphi_rule *rule = runs[i].rule;
        if (seen != NULL && (seen->call.flags & GPHI_CALL_UNRETURNED) != 0) {
            if (rule->unreturned != NULL)
                rule->unreturned(&runs[i], seen);
        } else if (seen != NULL && rule->call != NULL)
            rule->call(&runs[i], seen);
        if (seen == NULL && rule->event != NULL)
            rule->event(&runs[i], event);
    }
}

static gph_status take(gph_doctor *doctor, gphi_patient *patient, const gphi_event *event,
                       gph_error *error)
{
    event = renumber(doctor, patient, event);
    if (event == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "reading a record");
    gphi_seen seen;
    gph_status status = gphi_stacks_feed(patient->stacks, event);
    if (status == GPH_OK)
        status = gphi_model_feed(patient->model, event, &seen);
    if (status != GPH_OK)
        return gphi_fail(error, status, "taking in record %llu",
                         (unsigned long long)doctor->events);
    if (event->kind == GPHI_EVENT_PROCESS)
        patient->process = event->id;
    if (event->kind == GPHI_EVENT_EXIT && event->id != 2)
        patient->has_exited = true;
    const gphi_seen *call = seen.event != NULL ? &seen : NULL;
    run_rules(patient, event, call);
    if (call != NULL && (call->call.flags & GPHI_CALL_UNRETURNED) != 0)
        call = NULL; /* no call, to those who listen */
    for (size_t i = 0; i < GPHI_LISTENERS_MAX; i++)
        if (doctor->listeners[i].call != NULL)
            GPHI_TRY(
                doctor->listeners[i].call(doctor->listeners[i].user, event, call, error));
    return GPH_OK;
}

gph_status gphi_patient_feed(gph_doctor *doctor, gphi_patient *patient,
                             const gphi_event *event, gph_error *error)
{
    const gphi_event *again;
    gphi_graph_event graph;
    size_t at = 0;
    doctor->now = patient;
    doctor->events++;
    GPHI_TRY(save_record(doctor, patient, event, error));
    GPHI_TRY(take(doctor, patient, gphi_repeats_graph(&patient->repeats, event, &graph),
                  error));
    if (gphi_repeats_note(&patient->repeats, event) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "keeping a graph's nodes");
    if (event->kind != GPHI_EVENT_GRAPH || gphi_event_word(event, 8) == 0)
        return GPH_OK;
    while ((again = gphi_repeats_next(&patient->repeats, event, &at)) != NULL)
        GPHI_TRY(take(doctor, patient, again, error));
    return GPH_OK;
}

void gphi_patient_end(gphi_patient *patient)
{
    gphi_rule_run *runs = patient->runs.items;
    for (size_t i = 0; i < patient->runs.count; i++)
        if (runs[i].rule->end != NULL)
            runs[i].rule->end(&runs[i], !patient->has_exited);
}
