// SPDX-License-Identifier: Apache-2.0
/* A finding as lines for a terminal:
 *
 *   error RULE: TITLE
 *     at FUNCTION (FILE:LINE) in thread N "NAME", 3 times
 *       #1 FUNCTION (FILE:LINE)
 *     cause: ...
 *     evidence: ...           with places and stacks, indented
 *     consequences: ...
 *     fix: ...
 *     does not help: ...
 *     see: ... */
#include "base/fail.h"
#include "base/plain.h"
#include "doctor/findings/finding.h"
#include "doctor/language/language.h"

#include <string.h>

/* By gph_severity; bold, so that they stand out on light and dark ground. */
static const char *const words[] = {"info", "warning", "error"};
static const char *const colors[] = {"\033[1;36m", "\033[1;33m", "\033[1;31m"};

/* A caller's finding may have any number. */
static const char *word_of(gph_severity severity)
{
    return words[severity <= GPH_SEVERITY_ERROR ? severity : GPH_SEVERITY_INFO];
}

static void add_list(gphi_text *text, const char *head, const char *const *lines,
                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gphi_text_say(text, "  %s%s\n", i == 0 ? head : "  ", lines[i]);
}

static void add_place(gphi_text *text, const gph_finding *finding)
{
    char place[400];
    if (finding->frame_count > 0) {
        gphi_place_text(&finding->frames[0], place, sizeof(place));
        gphi_text_say(text, "  at %s in thread %llu", place,
                      (unsigned long long)finding->thread);
    } else {
        gphi_text_say(text, "  in thread %llu", (unsigned long long)finding->thread);
    }
    if (finding->thread_name[0] != '\0')
        gphi_text_add(text, " \"%s\"", finding->thread_name);
    if (finding->count > 1)
        gphi_text_say(text, ", %llu times", (unsigned long long)finding->count);
    gphi_text_put(text, "\n");
    for (uint32_t i = 1; i < finding->frame_count; i++) {
        gphi_place_text(&finding->frames[i], place, sizeof(place));
        gphi_text_add(text, "    #%u %s\n", i, place);
    }
}

/* What to do here, and below it what is right in general. */
static void add_fix(gphi_text *text, const char *fix)
{
    const char *end = strchr(fix, '\n');
    gphi_text_say(text, "  fix: ");
    gphi_text_put_bytes(text, fix, end ? (size_t)(end - fix) : strlen(fix));
    gphi_text_add(text, "%s%s\n", end ? "\n    " : "", end ? end + 1 : "");
}

gph_status gph_finding_text_write(const gph_finding *finding, int with_colours,
                                  gph_write_fn *write, void *user, gph_error *error)
{
    char buffer[1024];
    gphi_text text;
    gphi_plain plain = {.write = write, .user = user, .has_colours = with_colours != 0};
    GPHI_TRY(gphi_need(error, finding, write));
    gphi_language_use(gphi_language_named(finding->language));
    gphi_text_stream(&text, buffer, sizeof(buffer), gphi_plain_write, &plain);
    gphi_text_say(&text, "%s%s%s %s: %s\n", with_colours ? colors[finding->severity] : "",
                  word_of(finding->severity), with_colours ? "\033[0m" : "", finding->id,
                  finding->title);
    add_place(&text, finding);
    if (finding->cause[0] != '\0')
        gphi_text_say(&text, "  cause: %s\n", finding->cause);
    add_list(&text, "evidence: ", finding->evidence, finding->evidence_count);
    if (finding->consequence_count > 0)
        gphi_text_say(&text, "  consequences: later calls that failed because of it:\n");
    for (uint32_t i = 0; i < finding->consequence_count; i++)
        gphi_text_add(&text, "    %s\n", finding->consequences[i]);
    if (finding->fix[0] != '\0')
        add_fix(&text, finding->fix);
    if (finding->in_vain[0] != '\0')
        gphi_text_say(&text, "  does not help: %s\n", finding->in_vain);
    gphi_text_say(&text, "  see: %s\n", finding->docs);
    return gphi_text_end(&text, error);
}
