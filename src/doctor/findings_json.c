// SPDX-License-Identifier: Apache-2.0
/* Findings as JSON; docs/doctor.schema.json says what stands there. */
#include "base/fail.h"
#include "base/json.h"
#include "doctor/language/language.h"
#include "doctor/ranks.h"

#include <gph/explain.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

/* Leaves the object open: `at` goes on with process and thread. */
static void add_place(gphi_text *text, const gph_place *place)
{
    gphi_text_add(text, "{\"line\":%d", place ? (int)place->line : 0);
    gphi_json_member(text, "function", place ? place->function : NULL);
    gphi_json_member(text, "file", place ? place->file : NULL);
    gphi_json_member(text, "module", place ? place->module : NULL);
}

/* One list for Python and one for the rest: a reader shows the one that is of its
 * world. */
static void add_frames(gphi_text *text, const char *name, const gph_finding *finding,
                       bool of_python)
{
    bool has_some = false;
    gphi_text_add(text, ",\"%s\":[", name);
    for (uint32_t i = 0; i < finding->frame_count; i++) {
        if ((finding->frames[i].is_python != 0) != of_python)
            continue;
        gphi_text_add(text, "%s", has_some ? "," : "");
        add_place(text, &finding->frames[i]);
        gphi_text_add(text, "}");
        has_some = true;
    }
    gphi_text_add(text, "]");
}

static void add_objects(gphi_text *text, const gph_finding *finding)
{
    gphi_text_add(text, ",\"objects\":[");
    for (uint32_t i = 0; i < finding->object_count; i++) {
        const gph_object *object = &finding->objects[i];
        gphi_text_add(text, "%s{\"kind\":\"%s\",\"handle\":\"0x%llx\"", i > 0 ? "," : "",
                      object->kind, (unsigned long long)object->handle);
        gphi_json_member(text, "name", object->name);
        gphi_text_add(text, ",\"place\":");
        if (object->place)
            add_place(text, object->place);
        gphi_text_add(text, object->place ? "}}" : "null}");
    }
    gphi_text_add(text, "]");
}

static void add_finding(gphi_text *text, const gph_finding *finding)
{
    static const char *const words[] = {"info", "warning", "error"};
    gphi_text_add(text, "{\"id\":");
    gphi_json_text(text, finding->id);
    gphi_json_member(text, "severity", words[finding->severity]);
    gphi_json_member(text, "title", finding->title);
    gphi_json_member(text, "cause", finding->cause);
    gphi_text_add(text, ",\"at\":");
    add_place(text, finding->frame_count > 0 ? &finding->frames[0] : NULL);
    gphi_text_add(text, ",\"process\":%llu,\"thread\":%llu",
                  (unsigned long long)finding->process,
                  (unsigned long long)finding->thread);
    gphi_json_member(text, "thread_name", finding->thread_name);
    if (finding->rank_count > 0)
        gphi_text_add(text, ",\"rank\":%u", finding->rank);
    gphi_text_add(text, ",\"time_ns\":%llu}", (unsigned long long)finding->time_ns);
    add_frames(text, "stack", finding, false);
    add_frames(text, "python", finding, true);
    gphi_json_list(text, "evidence", finding->evidence, finding->evidence_count);
    gphi_json_list(text, "consequences", finding->consequences,
                   finding->consequence_count);
    add_objects(text, finding);
    gphi_json_member(text, "fix", finding->fix);
    gphi_json_member(text, "does_not_help", finding->in_vain);
    gphi_json_member(text, "docs", finding->docs);
    gphi_text_add(text, ",\"count\":%llu}", (unsigned long long)finding->count);
}

gph_status gph_doctor_json_write(const gph_doctor *doctor, const gph_program *program,
                                 gph_write_fn *write, void *user, gph_error *error)
{
    char buffer[4096];
    gphi_text text;
    gph_program known;
    uint64_t lost = 0;
    const uint64_t events = gph_doctor_event_count(doctor, &lost);
    GPHI_TRY(gphi_need(error, doctor, write));
    GPHI_TRY(gphi_options_read(&known, sizeof(known), "gph_program", program, error));
    gphi_language_use(doctor->language);
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    gphi_text_add(&text, "{\"version\":%d", SCHEMA_VERSION);
    gphi_json_member(&text, "language",
                     doctor->language == GPH_EXPLAIN_CHINESE ? "zh" : "en");
    gphi_json_list(&text, "program", known.words, known.word_count);
    gphi_text_add(&text, ",\"exit\":%d,\"events\":%llu,\"lost\":%llu,\"findings\":[",
                  known.exit_code, (unsigned long long)events, (unsigned long long)lost);
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        gphi_text_add(&text, "%s", i > 0 ? ",\n" : "\n");
        add_finding(&text, gph_doctor_finding(doctor, i));
    }
    gphi_text_add(&text, "]");
    if (gphi_ranks_json(&text, doctor) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "writing the ranks");
    gphi_text_add(&text, "}\n");
    return gphi_text_end(&text, error);
}
