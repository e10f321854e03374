// SPDX-License-Identifier: Apache-2.0
/* Findings: reported once a place, with what follows from them folded under them. */
#include "doctor/findings/finding.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "doctor/language/language.h"

#include <gph/explain.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Here are the functions that these macros call. */
#undef gphi_cause
#undef gphi_evidence
#undef gphi_evidence_call
#undef gphi_fix

enum {
    DRAFTS_MAX = 1000,   /* of a process; more are counted with none */
    LINES_MAX = 64,      /* of evidence */
    AFTERMATHS_MAX = 16, /* sorts of consequence */
    TOLD_MAX = 1 << 16,  /* then all is forgotten: rules ask about late calls */
    EVIDENCE_FRAMES = 4  /* of a call that is evidence */
};

void gphi_findings_init(gphi_findings *findings, gphi_model *model, gphi_stacks *stacks)
{
    *findings = (gphi_findings){.heap = model->heap, .model = model, .stacks = stacks};
    gphi_vec_init(&findings->drafts, model->heap, sizeof(gphi_draft *));
    gphi_map_init(&findings->by_key, model->heap);
    gphi_map_init(&findings->reported, model->heap);
}

static void texts_fini(gph_allocator heap, gphi_vec *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        gphi_heap_text_free(heap, gphi_vec_pointer(texts, i));
    gphi_vec_fini(texts);
}

static void lines_drop(gph_allocator heap, gphi_draft *draft)
{
    gphi_line *lines = draft->evidence.items;
    for (size_t i = 0; i < draft->evidence.count; i++)
        gphi_heap_text_free(heap, lines[i].text);
    draft->evidence.count = 0;
}

static void draft_free(gph_allocator heap, gphi_draft *draft)
{
    lines_drop(heap, draft);
    gphi_vec_fini(&draft->evidence);
    gphi_vec_fini(&draft->consequences);
    gphi_named_drop(&draft->named);
    gphi_vec_fini(&draft->named);
    gphi_vec_fini(&draft->objects);
    texts_fini(heap, &draft->evidence_texts);
    texts_fini(heap, &draft->consequence_texts);
    char *const texts[] = {draft->cause, draft->fix, draft->fix_text, draft->docs_text};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        gphi_heap_text_free(heap, texts[i]);
    gphi_heap_free(heap, draft, sizeof(*draft));
}

void gphi_findings_fini(gphi_findings *findings)
{
    for (size_t i = 0; i < findings->drafts.count; i++)
        draft_free(findings->heap, gphi_vec_pointer(&findings->drafts, i));
    gphi_vec_fini(&findings->drafts);
    gphi_map_fini(&findings->by_key);
    gphi_map_fini(&findings->reported);
}

/* ---- writing ---- */

static void tell(gphi_findings *findings, const gphi_call *call)
{
    if (call->number == 0)
        return;
    if (findings->reported.count >= TOLD_MAX) {
        gphi_map_fini(&findings->reported);
        gphi_map_init(&findings->reported, findings->heap);
    }
    if (gphi_map_set(&findings->reported, call->number, 1) != GPH_OK)
        findings->is_short = true;
}

bool gphi_is_told(const gphi_rule_run *run, const gphi_call *call)
{
    return call->number != 0 && gphi_map_get(&run->findings->reported, call->number);
}

static uint64_t key_of(const gphi_rule_run *run, const gphi_call *at, uint64_t key)
{
    /* Without a stack calls of one name and thread are one place. */
    const uint64_t place = at->stack != 0
                               ? gphi_stacks_key(run->findings->stacks, at->stack)
                               : (uint64_t)at->call << 40 | at->thread;
    const uint64_t hash = gphi_hash_text(GPHI_HASH_START, run->rule->id);
    return gphi_hash_word(gphi_hash_word(hash, place), key);
}

static gphi_draft *new_draft(gphi_rule_run *run, const gphi_call *at, uint64_t hash)
{
    gphi_findings *findings = run->findings;
    if (findings->drafts.count >= DRAFTS_MAX)
        return NULL;
    gphi_draft *draft = NULL;
    if (gphi_vec_reserve(&findings->drafts, 1) == GPH_OK)
        draft = gphi_heap_alloc(findings->heap, sizeof(*draft));
    if (!draft) {
        findings->is_short = true;
        return NULL;
    }
    draft->of = findings;
    draft->rule = run->rule;
    draft->at = *at;
    draft->count = 1;
    draft->is_doubtful = findings->model->lost > 0 && at->result == 0;
    gphi_vec_init(&draft->evidence, findings->heap, sizeof(gphi_line));
    gphi_vec_init(&draft->consequences, findings->heap, sizeof(gphi_aftermath));
    gphi_vec_init(&draft->named, findings->heap, sizeof(gphi_named));
    gphi_vec_init(&draft->objects, findings->heap, sizeof(gph_object));
    gphi_vec_init(&draft->evidence_texts, findings->heap, sizeof(char *));
    gphi_vec_init(&draft->consequence_texts, findings->heap, sizeof(char *));
    *(gphi_draft **)gphi_vec_add(&findings->drafts, 1) = draft;
    if (gphi_map_set(&findings->by_key, hash, (uint64_t)(uintptr_t)draft) != GPH_OK)
        findings->is_short = true;
    return draft;
}

/* What was taken back is reported after all, with what is written now. */
static void revive(gphi_draft *draft, const gphi_call *at)
{
    lines_drop(draft->of->heap, draft);
    gphi_heap_text_free(draft->of->heap, draft->cause);
    gphi_heap_text_free(draft->of->heap, draft->fix);
    draft->cause = NULL;
    draft->fix = NULL;
    gphi_named_drop(&draft->named);
    draft->consequences.count = 0;
    draft->consequence_count = 0;
    draft->is_withdrawn = false;
    draft->is_mild = false;
    draft->is_grave = false;
    draft->entry = NULL;
    draft->at = *at;
    draft->count = 1;
}

gphi_draft *gphi_finding_begin_any(gphi_rule_run *run, const gphi_call *at, uint64_t key,
                                   bool *is_new)
{
    const uint64_t hash = key_of(run, at, key);
    gphi_draft *draft = gphi_map_pointer(&run->findings->by_key, hash);
    tell(run->findings, at);
    *is_new = true;
    if (!draft)
        return new_draft(run, at, hash);
    if (draft->is_withdrawn) {
        revive(draft, at);
        return draft;
    }
    draft->count++;
    *is_new = false;
    return draft;
}

gphi_draft *gphi_finding_begin(gphi_rule_run *run, const gphi_call *at, uint64_t key)
{
    bool is_new;
    gphi_draft *draft = gphi_finding_begin_any(run, at, key, &is_new);
    return is_new ? draft : NULL;
}

/* A text of our own in the thread's language; NULL, and is_short, without memory. */
static char *format_text(gphi_findings *findings, const char *format, va_list values)
{
    gphi_text words;
    gphi_text_init(&words, findings->heap);
    gphi_text_put(&words, "");
    gphi_text_sayv(&words, format, values);
    char *text =
        words.status == GPH_OK ? gphi_heap_text(findings->heap, words.bytes) : NULL;
    findings->is_short |= !text;
    gphi_text_fini(&words);
    return text;
}

/* A text of a finding, which has the objects that it names. */
static char *draft_text(gphi_draft *draft, const char *format, va_list values)
{
    char *text = format_text(draft->of, format, values);
    draft->of->is_short |= !gphi_named_keep(&draft->named, text);
    return text;
}

static char *GPH_PRINTF(2, 3) new_text(gphi_findings *findings, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *text = format_text(findings, format, values);
    va_end(values);
    return text;
}

void gphi_cause(gphi_draft *draft, const char *format, ...)
{
    if (!draft)
        return;
    va_list values;
    va_start(values, format);
    char *text = draft_text(draft, format, values);
    va_end(values);
    gphi_heap_text_free(draft->of->heap, draft->cause);
    draft->cause = text;
}

void gphi_fix(gphi_draft *draft, const char *format, ...)
{
    if (!draft)
        return;
    va_list values;
    va_start(values, format);
    char *text = draft_text(draft, format, values);
    va_end(values);
    if (draft->fix && text) {
        static const char stop[] = "。"; /* has its space within */
        const size_t bytes = strlen(draft->fix), last = sizeof(stop) - 1;
        const bool is_chinese = bytes >= last && !strcmp(draft->fix + bytes - last, stop);
        char *both =
            new_text(draft->of, "%s%s%s", draft->fix, is_chinese ? "" : " ", text);
        gphi_heap_text_free(draft->of->heap, text);
        text = both;
    }
    gphi_heap_text_free(draft->of->heap, draft->fix);
    draft->fix = text;
}

static void add_line(gphi_draft *draft, const gphi_call *call, const char *format,
                     va_list values)
{
    if (draft->evidence.count >= LINES_MAX)
        return;
    gphi_line *line = gphi_vec_add(&draft->evidence, 1);
    if (!line) {
        draft->of->is_short = true;
        return;
    }
    line->text = draft_text(draft, format, values);
    if (call)
        line->call = *call;
}

void gphi_evidence(gphi_draft *draft, const char *format, ...)
{
    if (!draft)
        return;
    va_list values;
    va_start(values, format);
    add_line(draft, NULL, format, values);
    va_end(values);
}

void gphi_evidence_call(gphi_draft *draft, const gphi_call *call, const char *format, ...)
{
    if (!draft || call->number == 0)
        return;
    va_list values;
    va_start(values, format);
    add_line(draft, call, format, values);
    va_end(values);
}

void gphi_evidence_node(gphi_draft *draft, const gphi_snapshot *snapshot, uint32_t index,
                        const char *what)
{
    const gphi_call *made = gphi_snapshot_made(snapshot, index);
    if (made->number != 0)
        gphi_evidence_call(draft, made, "%s: %s, made by", what,
                           gphi_say_node(snapshot, index));
    else
        gphi_evidence(draft, "%s: %s", what, gphi_say_node(snapshot, index));
}

void gphi_evidence_said(gphi_draft *draft, const char *said)
{
    if (said[0] != '\0')
        gphi_evidence(draft, "the driver says: %s", said);
}

void gphi_consequence(gphi_draft *draft, const gphi_call *call)
{
    if (!draft)
        return;
    tell(draft->of, call);
    gphi_stacks *stacks = draft->of->stacks;
    const uint64_t place = gphi_stacks_key(stacks, call->stack);
    gphi_aftermath *known = draft->consequences.items;
    for (size_t i = 0; i < draft->consequences.count; i++)
        if (known[i].call.call == call->call && known[i].call.result == call->result &&
            gphi_stacks_key(stacks, known[i].call.stack) == place) {
            const bool is_same = known[i].last == call->number; /* two rules saw it */
            known[i].last = call->number;
            known[i].count += is_same ? 0 : 1;
            draft->consequence_count += is_same ? 0 : 1;
            return;
        }
    draft->consequence_count++;
    if (draft->consequences.count >= AFTERMATHS_MAX)
        return;
    const gphi_aftermath new = {.call = *call, .last = call->number, .count = 1};
    if (gphi_vec_push(&draft->consequences, &new) != GPH_OK)
        draft->of->is_short = true;
}

void gphi_finding_explain(gphi_draft *draft, const gph_explain_entry *entry)
{
    if (draft)
        draft->entry = entry;
}

static bool is_named(const gph_explain_entry *entry, const char *id)
{
    bool is = strcmp(entry->slug, id) == 0;
    for (const char *const *see = entry->see; *see && !is; see++)
        is = strcmp(*see, id) == 0;
    return is;
}

gphi_draft *gphi_finding_known(const gphi_rule_run *run, const gphi_call *at,
                               const gph_explain_entry *entry)
{
    gphi_findings *findings = run->findings;
    gphi_draft *known = NULL;
    for (size_t i = 0; i < findings->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&findings->drafts, i);
        const bool has_failed = draft->at.result != 0 || draft->consequence_count > 0;
        if (draft->is_withdrawn || draft->entry || draft->at.time_ns > at->time_ns)
            continue;
        if (is_named(entry, draft->rule->id))
            return draft;
        if (entry->kind != GPH_EXPLAIN_MESSAGE && has_failed &&
            (!known || draft->at.time_ns > known->at.time_ns))
            known = draft;
    }
    return known;
}

void gphi_finding_move(gphi_draft *draft, const gphi_call *at)
{
    if (draft && at->number != 0)
        draft->at = *at;
}

void gphi_withdraw(gphi_draft *draft)
{
    if (draft)
        draft->is_withdrawn = true;
}

void gphi_soften(gphi_draft *draft)
{
    if (draft)
        draft->is_mild = true;
}

void gphi_harden(gphi_draft *draft)
{
    if (draft)
        draft->is_grave = true;
}

void gphi_short(gphi_rule_run *run)
{
    run->findings->is_short = true;
}

static gph_severity severity_of(const gphi_draft *draft)
{
    return draft->is_mild || draft->is_doubtful ? GPH_SEVERITY_INFO
           : draft->is_grave                    ? GPH_SEVERITY_ERROR
                                                : draft->rule->severity;
}

/* ---- in words ---- */

/* Takes the text, also on failure. */
static gph_status take_text(gphi_findings *findings, gphi_vec *texts, char *text)
{
    if (text && gphi_vec_push(texts, &text) == GPH_OK)
        return GPH_OK;
    gphi_heap_text_free(findings->heap, text);
    return GPH_E_NO_MEMORY;
}

/* " at function (file:line), thread 7 "name"" of a call. */
static const char *where(gphi_findings *findings, const gphi_call *call)
{
    const char *place = gphi_say_place(findings->model, call);
    const char *thread = gphi_say_thread(findings->model, call->thread);
    return place[0] ? gphi_say(" at %.400s, %s", place, thread)
                    : gphi_say(", %s", thread);
}

static gph_status say_line(gphi_findings *findings, gphi_draft *draft,
                           const gphi_line *line)
{
    const char *text = line->text ? line->text : "";
    gphi_vec *texts = &draft->evidence_texts;
    if (line->call.number == 0)
        return take_text(findings, texts, new_text(findings, "%s", text));
    GPHI_TRY(
        take_text(findings, texts,
                  new_text(findings, "%s: %s%s", text, gphi_call_name(line->call.call),
                           where(findings, &line->call))));
    uint32_t count = 0;
    const gph_place *frames =
        gphi_stacks_frames(findings->stacks, line->call.stack, &count);
    for (uint32_t i = 0; count > 1 && i < count && i < EVIDENCE_FRAMES; i++) {
        char place[400];
        gphi_place_text(&frames[i], place, sizeof(place));
        GPHI_TRY(take_text(findings, texts, new_text(findings, "  #%u %s", i, place)));
    }
    return GPH_OK;
}

static gph_status say_consequences(gphi_findings *findings, gphi_draft *draft)
{
    const gphi_aftermath *of = draft->consequences.items;
    uint64_t reported = 0;
    for (size_t i = 0; i < draft->consequences.count; i++) {
        const unsigned long long count = of[i].count;
        const char *why =
            of[i].call.result != 0 ? gphi_say_result(of[i].call.result) : "not as wanted";
        reported += count;
        GPHI_TRY(
            take_text(findings, &draft->consequence_texts,
                      new_text(findings, "%s: %s%s%s", gphi_call_name(of[i].call.call),
                               why, where(findings, &of[i].call),
                               count > 1 ? gphi_say(", %llu times", count) : "")));
    }
    if (reported < draft->consequence_count)
        GPHI_TRY(take_text(
            findings, &draft->consequence_texts,
            new_text(findings, "and %llu more",
                     (unsigned long long)(draft->consequence_count - reported))));
    return GPH_OK;
}

static gph_status say_knowledge(gphi_findings *findings, gphi_draft *draft,
                                uint32_t language)
{
    const char *id = draft->rule->id;
    const gph_explain_entry *entry = draft->entry ? draft->entry : gph_explain_get(id);
    const gph_explain_text *text = entry ? &entry->text[language] : NULL;
    const char *known = text ? text->fix_text : "";
    gph_finding *out = &draft->out;
    draft->docs_text = new_text(findings, "docs/doctor-rules.md#%s, gph explain %s", id,
                                entry ? entry->slug : id);
    draft->fix_text = draft->fix && known[0]
                          ? new_text(findings, "%s\nIn general: %s", draft->fix, known)
                          : new_text(findings, "%s", draft->fix ? draft->fix : known);
    if (!draft->docs_text || !draft->fix_text)
        return GPH_E_NO_MEMORY;
    out->title = text ? text->title : id;
    out->fix = draft->fix_text;
    out->in_vain = text ? text->in_vain_text : "";
    out->docs = draft->docs_text;
    out->cause = draft->cause ? draft->cause : text ? text->cause : "";
    return GPH_OK;
}

static gph_status say_draft(gphi_findings *findings, gphi_draft *draft, uint32_t language)
{
    gph_finding *out = &draft->out;
    out->language = language == GPH_EXPLAIN_CHINESE ? "zh" : "en";
    const gphi_thread *thread = gphi_model_thread(findings->model, draft->at.thread);
    GPHI_TRY(say_knowledge(findings, draft, language));
    for (size_t i = 0; i < draft->evidence.count; i++)
        GPHI_TRY(say_line(findings, draft, gphi_vec_at(&draft->evidence, i)));
    GPHI_TRY(say_consequences(findings, draft));
    if (draft->is_doubtful)
        GPHI_TRY(take_text(findings, &draft->evidence_texts,
                           new_text(findings,
                                    "%llu records were lost before: what "
                                    "contradicts this may have been among them",
                                    (unsigned long long)findings->model->lost)));
    if (!gphi_named_tell(&draft->named, findings->stacks, &draft->objects))
        return GPH_E_NO_MEMORY;
    out->objects = draft->objects.items;
    out->object_count = (uint32_t)draft->objects.count;
    out->id = draft->rule->id;
    out->severity = severity_of(draft);
    out->thread_name = thread ? thread->name : "";
    out->process = findings->model->process;
    out->rank = findings->model->rank;
    out->rank_count = findings->model->rank_count > 1 ? findings->model->rank_count : 0;
    out->thread = draft->at.thread;
    out->count = draft->count;
    out->time_ns = draft->at.time_ns;
    out->frames =
        gphi_stacks_frames(findings->stacks, draft->at.stack, &out->frame_count);
    const uint32_t own =
        gphi_stacks_own(gphi_stacks_for(findings->stacks, draft->at.stack), out->frames,
                        out->frame_count);
    out->frames = own > 0 ? out->frames + own : out->frames;
    out->frame_count -= own;
    out->evidence = draft->evidence_texts.items;
    out->evidence_count = (uint32_t)draft->evidence_texts.count;
    out->consequences = draft->consequence_texts.items;
    out->consequence_count = (uint32_t)draft->consequence_texts.count;
    return GPH_OK;
}

/* Whoever has an error need not hear what would be tidier. */
static void leave_out_asides(const gphi_findings *findings)
{
    bool has_error = false;
    for (size_t i = 0; i < findings->drafts.count; i++) {
        const gphi_draft *draft = gphi_vec_pointer(&findings->drafts, i);
        has_error |= !draft->is_withdrawn && !draft->rule->is_aside &&
                     severity_of(draft) == GPH_SEVERITY_ERROR;
    }
    for (size_t i = 0; has_error && i < findings->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&findings->drafts, i);
        draft->is_withdrawn |= draft->rule->is_aside;
    }
}

gph_status gphi_findings_finish(gphi_findings *findings, uint32_t language)
{
    gphi_language_use(language);
    leave_out_asides(findings);
    for (size_t i = 0; i < findings->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&findings->drafts, i);
        if (!draft->is_withdrawn)
            GPHI_TRY(say_draft(findings, draft, language));
    }
    return findings->is_short ? GPH_E_NO_MEMORY : GPH_OK;
}
