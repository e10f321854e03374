// SPDX-License-Identifier: Apache-2.0
/* An answer as text. What comes from a log is shown without anything
 * that a terminal would obey. */
#include "columns.h"
#include "explain_out.h"

#include <string.h>

/* A traceback's line fits, a minified program's does not. */
enum { LINE_SHOWN = 160 };

/* The labels of an answer by language. */
typedef struct labels {
    const char *matched, *by, *cause, *fix, *about, *use, *in_vain, *versions, *since,
        *shown_by, *see, *others;
    const char *nothing, *ask, *near, *exists, *stands, *missing, *missing_torch,
        *nearest, *reasons[5];
} labels;

static const labels words[GPH_EXPLAIN_LANGUAGES] = {
    {.matched = "found in line",
     .by = "by",
     .cause = "cause",
     .fix = "fix",
     .about = "about",
     .use = "use",
     .since = "introduced",
     .in_vain = "does not help",
     .versions = "versions",
     .shown_by = "shown by",
     .see = "see",
     .others = "or is it",
     .nothing = "nothing is known about this",
     .ask = "give an error code, a name, a few words, or a log on standard input; "
            "gph explain --list lists all entries",
     .near = "did you mean",
     .exists = "exists; no entry is about it alone",
     .stands = "it occurs in",
     .missing = "does not exist in CUDA 13.0",
     .missing_torch = "does not exist in PyTorch 2.11",
     .nearest = "the nearest name is",
     .reasons = {"the slug", "the name", "the code", "the message", "its words"}},
    {.matched = "命中行",
     .by = "依据",
     .cause = "原因",
     .fix = "解决办法",
     .about = "说明",
     .use = "用法",
     .since = "引入版本",
     .in_vain = "无效的做法",
     .versions = "版本",
     .shown_by = "证据",
     .see = "参见",
     .others = "也可能是",
     .nothing = "没有找到相关条目",
     .ask = "请给出错误码、名称、几个词，或通过标准输入给出日志；gph explain --list "
            "列出全部条目",
     .near = "是否想找",
     .exists = "存在；没有专门的条目",
     .stands = "出现于",
     .missing = "CUDA 13.0 中不存在",
     .missing_torch = "PyTorch 2.11 中不存在",
     .nearest = "最接近的名称是",
     .reasons = {"条目名", "名称", "错误码", "报错信息", "关键词"}},
};

static void put_field(const char *label, const char *text, FILE *to)
{
    fprintf(to, "  %s%s", label, explain_colon(label));
    columns_wrap(text, 4, columns_of(label) + 4, to);
}

static void put_list(const char *label, const char *const *list, FILE *to)
{
    if (!list[0])
        return;
    fprintf(to, "  %s%s\n", label, (unsigned char)label[0] >= 0x80 ? "：" : ":");
    for (; *list; list++) {
        fputs("    - ", to);
        columns_wrap(*list, 6, 6, to);
    }
}

/* A line of the log: what a terminal would obey, and what is not UTF-8, becomes a dot. */
static void put_line_shown(const char *line, size_t bytes, FILE *to)
{
    size_t at = 0;
    while (at < bytes && (line[at] == ' ' || line[at] == '\t'))
        at++;
    for (size_t begin = at; at < bytes && at - begin < LINE_SHOWN;) {
        const size_t length = columns_character(line + at, bytes - at);
        const unsigned char first = (unsigned char)line[at];
        const bool is_control = columns_control(line + at, bytes - at) > 0;
        if (length == 0 || is_control)
            fputc(first == '\t' ? ' ' : '.', to);
        else
            fwrite(line + at, 1, length, to);
        at += length > 0 ? length : 1;
    }
    fputs(at < bytes ? "...\n" : "\n", to);
}

/* Where it was found, unless the key is all that was asked. */
static void put_match(const explain_answer *answer, const labels *say, FILE *to)
{
    const gph_explain_match *match = &answer->matches[0];
    const bool is_one_line = !memchr(answer->text, '\n', answer->bytes);
    const char *key = match->key ? match->key : "";
    if (is_one_line && (key[0] == '\0' || strlen(key) == answer->bytes))
        return;
    fprintf(to, "  %s %zu, %s %s%s%s%s:\n    > ", say->matched, match->line, say->by,
            say->reasons[match->reason], key[0] != '\0' ? " \"" : "", key,
            key[0] != '\0' ? "\"" : "");
    put_line_shown(answer->text + match->line_begin, match->line_bytes, to);
}

static void put_names(const char *label, const char *const *list, FILE *to)
{
    char text[2048];
    size_t used = 0;
    if (!list[0])
        return;
    for (size_t i = 0; list[i] && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 i == 0 ? "" : ", ", list[i]);
    put_field(label, text, to);
}

static void put_missing(const explain_answer *answer, const labels *say, FILE *to)
{
    const char *name = answer->text + answer->missing;
    fprintf(to, "%.*s: %s\n", (int)answer->missing_bytes, name,
            strncmp(name, "torch", 5) == 0 ? say->missing_torch : say->missing);
    if (answer->nearest)
        fprintf(to, "  %s %s\n", say->nearest, answer->nearest);
}

/* A versioned name (_v2) counts as the name: nobody asks for it by its number. */
bool explain_knows(const explain_answer *answer)
{
    const size_t bytes = answer->near_count > 0 ? strlen(answer->near[0]) : 0;
    return bytes > 0 && bytes <= answer->bytes && answer->bytes <= bytes + 8 &&
           memcmp(answer->near[0], answer->text, bytes) == 0 &&
           (bytes == answer->bytes || answer->text[bytes] == '_');
}

static bool list_names(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strstr(*list, name))
            return true;
    return false;
}

/* A name that exists: entries that speak of it. */
static void put_known(const char *name, const labels *say, gph_explain_language language,
                      FILE *to)
{
    enum { SHOWN = 4 };
    const char *slugs[SHOWN + 1] = {NULL};
    size_t count = 0;
    fprintf(to, "%s: %s\n", name, say->exists);
    for (size_t i = 0; i < gph_explain_count() && count < SHOWN; i++) {
        const gph_explain_text *text = &gph_explain_at(i)->text[language];
        if (strstr(text->title, name) || strstr(text->cause, name) ||
            list_names(text->fix, name) || list_names(text->in_vain, name) ||
            list_names(text->versions, name))
            slugs[count++] = gph_explain_at(i)->slug;
    }
    put_names(say->stands, slugs, to);
}

static void put_nothing(const explain_answer *answer, const labels *say, FILE *to)
{
    if (explain_knows(answer)) {
        put_known(answer->near[0], say, answer->language, to);
        return;
    }
    fprintf(to, "gph explain: %s\n", say->nothing);
    for (size_t i = 0; i < answer->near_count; i++)
        fprintf(to, "%s %s\n", i == 0 ? say->near : "         or", answer->near[i]);
    if (answer->near_count == 0)
        columns_wrap(say->ask, 0, 0, to);
}

void explain_put_text(const explain_answer *answer, FILE *to)
{
    const labels *say = &words[answer->language];
    if (answer->missing_bytes > 0) {
        put_missing(answer, say, to);
        if (answer->count == 0)
            return;
        fputc('\n', to);
    }
    if (answer->count == 0) {
        put_nothing(answer, say, to);
        return;
    }
    const gph_explain_entry *entry = answer->matches[0].entry;
    const gph_explain_text *text = &entry->text[answer->language];
    fprintf(to, "%s: ", entry->slug);
    columns_fold(text->title, 2, columns_of(entry->slug) + 2, to);
    put_match(answer, say, to);
    const bool is_feature = entry->kind == GPH_EXPLAIN_FEATURE;
    put_field(is_feature ? say->about : say->cause, text->cause, to);
    put_list(is_feature ? say->use : say->fix, text->fix, to);
    put_list(say->in_vain, text->in_vain, to);
    put_list(say->versions, text->versions, to);
    char since[EXPLAIN_SINCE];
    if (explain_since(entry, answer->language, since))
        put_field(say->since, since, to);
    fprintf(to, "  %s%s", say->shown_by, explain_colon(say->shown_by));
    explain_put_shown_by(entry, to);
    fputs("\n", to);
    put_names(say->see, entry->see, to);
    for (size_t i = 1; i < answer->count; i++) {
        const gph_explain_entry *other = answer->matches[i].entry;
        char line[512];
        snprintf(line, sizeof(line), "%s: %s", other->slug,
                 other->text[answer->language].title);
        put_field(say->others, line, to);
    }
}

void explain_list_text(gph_explain_language language, FILE *to)
{
    for (size_t i = 0; i < gph_explain_count(); i++) {
        const gph_explain_entry *entry = gph_explain_at(i);
        fprintf(to, "%s: %s\n", entry->slug, entry->text[language].title);
    }
}
