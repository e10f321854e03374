// SPDX-License-Identifier: Apache-2.0
/* Findings as JSON; docs/doctor.schema.json says what stands there. */
#include "doctor/examination.h"

#include <string.h>

enum { SCHEMA_VERSION = 1 };

/* A JSON text: what is no UTF-8 becomes U+FFFD. */
static size_t utf8_length(const unsigned char *at)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80                    ? 1
                          : at[0] >= 0xC2 && at[0] < 0xE0 ? 2
                          : at[0] >= 0xE0 && at[0] < 0xF0 ? 3
                          : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
                                                          : 0;
    unsigned code = length > 1 ? at[0] & (0xFFU >> (length + 1)) : at[0];
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3FU);
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return length > 1 && (code < least[length] || code > 0x10FFFF || is_surrogate)
               ? 0
               : length;
}

static void add_string(gphi_text *text, const char *value)
{
    const unsigned char *at = (const unsigned char *)(value != NULL ? value : "");
    gphi_text_add(text, "\"");
    while (*at != '\0') {
        const size_t length = utf8_length(at);
        if (length == 0)
            gphi_text_add(text, "\\ufffd");
        else if (*at == '"' || *at == '\\')
            gphi_text_add(text, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7F)
            gphi_text_add(text, "\\u%04x", *at);
        else
            gphi_text_add(text, "%.*s", (int)length, (const char *)at);
        at += length > 0 ? length : 1;
    }
    gphi_text_add(text, "\"");
}

static void add_strings(gphi_text *text, const char *name, const char *const *values,
                        uint32_t count)
{
    gphi_text_add(text, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        gphi_text_add(text, "%s", i > 0 ? "," : "");
        add_string(text, values[i]);
    }
    gphi_text_add(text, "]");
}

static void add_member(gphi_text *text, const char *name, const char *value)
{
    gphi_text_add(text, ",\"%s\":", name);
    add_string(text, value);
}

/* Null where a text is unknown. */
static void add_known(gphi_text *text, const char *name, const char *value)
{
    if (value != NULL)
        add_member(text, name, value);
    else
        gphi_text_add(text, ",\"%s\":null", name);
}

static void add_place(gphi_text *text, const gph_place *place)
{
    gphi_text_add(text, "{\"line\":%d", place != NULL ? (int)place->line : 0);
    add_known(text, "function", place != NULL ? place->function : NULL);
    add_known(text, "file", place != NULL ? place->file : NULL);
    add_known(text, "module", place != NULL ? place->module : NULL);
}

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

static void add_finding(gphi_text *text, const gph_finding *finding)
{
    static const char *const words[] = {"info", "warning", "error"};
    gphi_text_add(text, "{\"id\":");
    add_string(text, finding->id);
    add_member(text, "severity", words[finding->severity]);
    add_member(text, "title", finding->title);
    add_member(text, "cause", finding->cause);
    gphi_text_add(text, ",\"at\":");
    add_place(text, finding->frame_count > 0 ? &finding->frames[0] : NULL);
    gphi_text_add(text, ",\"process\":%llu,\"thread\":%llu",
                  (unsigned long long)finding->process,
                  (unsigned long long)finding->thread);
    add_member(text, "thread_name", finding->thread_name);
    gphi_text_add(text, ",\"time_ns\":%llu}", (unsigned long long)finding->time_ns);
    add_frames(text, "stack", finding, false);
    add_frames(text, "python", finding, true);
    add_strings(text, "evidence", finding->evidence, finding->evidence_count);
    add_strings(text, "consequences", finding->consequences, finding->consequence_count);
    add_member(text, "fix", finding->fix);
    add_member(text, "does_not_help", finding->in_vain);
    add_member(text, "docs", finding->docs);
    gphi_text_add(text, ",\"count\":%llu}", (unsigned long long)finding->count);
}

char *gph_doctor_json(const gph_doctor *doctor, const char *const *program,
                      uint32_t argument_count, int exit_code)
{
    gphi_text text = {.at = NULL};
    uint64_t lost = 0;
    const uint64_t events = gph_doctor_event_count(doctor, &lost);
    if (doctor == NULL)
        return NULL;
    gphi_text_add(&text, "{\"version\":%d", SCHEMA_VERSION);
    add_strings(&text, "program", program, argument_count);
    gphi_text_add(&text, ",\"exit\":%d,\"events\":%llu,\"lost\":%llu,\"findings\":[",
                  exit_code, (unsigned long long)events, (unsigned long long)lost);
    for (uint32_t i = 0; i < gph_doctor_finding_count(doctor); i++) {
        gphi_text_add(&text, "%s", i > 0 ? ",\n" : "\n");
        add_finding(&text, gph_doctor_finding(doctor, i));
    }
    gphi_text_add(&text, "]}\n");
    return gphi_text_take(&text);
}
