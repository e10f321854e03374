// SPDX-License-Identifier: Apache-2.0
/* Answers of gph explain for programs (JSON) and for a page of the documentation.
 *
 * JSON members are an interface: they are added to, and never renamed; `version` would
 * change with a member's meaning. docs/explain.md and explain.zh.md are this file's output,
 * and a test compares them. */
#include "explain_out.h"
#include "columns.h"

#include <string.h>

static const char *const kind_words[] = {"rule",    "code",    "result",
                                         "message", "nothing", "feature"};
static const char *const reason_words[] = {"slug", "name", "code", "message", "words"};

/* Bytes that are not UTF-8 become U+FFFD. */
static void put_string(const char *text, size_t bytes, FILE *to)
{
    fputc('"', to);
    for (size_t at = 0; at < bytes;) {
        const size_t length = columns_character(text + at, bytes - at);
        const unsigned char first = (unsigned char)text[at];
        if (length == 0)
            fputs("\\ufffd", to);
        else if (first == '"' || first == '\\')
            fprintf(to, "\\%c", first);
        else if (length == 1 && columns_control(text + at, 1) > 0)
            fprintf(to, "\\u%04x", first);
        else if (columns_control(text + at, length) > 0)
            fputs("\\ufffd", to);
        else
            fwrite(text + at, 1, length, to);
        at += length > 0 ? length : 1;
    }
    fputc('"', to);
}

static void put_member(const char *name, const char *text, FILE *to)
{
    fprintf(to, "\"%s\":", name);
    put_string(text, strlen(text), to);
    fputc(',', to);
}

/* Up to `most` texts, or to the NULL that ends the list. */
static void put_array(const char *name, const char *const *list, size_t most, FILE *to)
{
    fprintf(to, "\"%s\":[", name);
    for (size_t i = 0; i < most && list[i]; i++) {
        fputs(i > 0 ? "," : "", to);
        put_string(list[i], strlen(list[i]), to);
    }
    fputc(']', to);
}

/* By product, empty texts too. */
static void put_since(const gph_explain_entry *entry, FILE *to)
{
    static const char *const names[] = {"cuda", "driver", "pytorch"};
    for (int i = 0; i < GPH_EXPLAIN_PRODUCTS; i++) {
        fprintf(to, ",\"%s\":{", names[i]);
        put_member("introduced", entry->since[i].introduced, to);
        put_member("deprecated", entry->since[i].deprecated, to);
        put_member("status", entry->since[i].status, to);
        fputs("\"source\":", to);
        put_string(entry->since[i].source, strlen(entry->since[i].source), to);
        fputc('}', to);
    }
}

/* All that an entry has, empty lists too: who reads it need not ask whether it is there. */
static void put_entry(const gph_explain_entry *entry, gph_explain_language language,
                      FILE *to)
{
    const gph_explain_text *text = &entry->text[language];
    const struct {
        const char *name;
        const char *const *list;
    } lists[] = {
        {"codes", entry->codes},
        {"names", entry->names},
        {"messages", entry->messages},
        {"fix", text->fix},
        {"does_not_help", text->in_vain},
        {"versions", text->versions},
        {"see", entry->see},
    };
    fputc('{', to);
    put_member("slug", entry->slug, to);
    put_member("kind", kind_words[entry->kind], to);
    put_member("title", text->title, to);
    put_member("cause", text->cause, to);
    put_member("shown_by", entry->shown_by, to);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        fputs(i > 0 ? "," : "", to);
        put_array(lists[i].name, lists[i].list, SIZE_MAX, to);
    }
    put_since(entry, to);
    fputc('}', to);
}

/* A line of a log may be of any length: what is shown of it is cut, and a character cut
 * in two becomes U+FFFD. */
static void put_match(const explain_answer *answer, const gph_explain_match *match,
                      FILE *to)
{
    fputc('{', to);
    put_member("slug", match->entry->slug, to);
    put_member("title", match->entry->text[answer->language].title, to);
    put_member("by", reason_words[match->reason], to);
    put_member("key", match->key ? match->key : "", to);
    fprintf(to, "\"line\":%zu,\"text\":", match->line);
    put_string(answer->text + match->line_begin,
               match->line_bytes < 4096 ? match->line_bytes : 4096, to);
    fputc('}', to);
}

void explain_put_json(const explain_answer *answer, FILE *to)
{
    fprintf(to, "{\"version\":1,\"found\":%s", answer->count > 0 ? "true" : "false");
    fprintf(to, ",\"language\":\"%s\"",
            answer->language == GPH_EXPLAIN_CHINESE ? "zh" : "en");
    if (answer->count > 0) {
        fputs(",\"match\":", to);
        put_match(answer, &answer->matches[0], to);
        fputs(",\"entry\":", to);
        put_entry(answer->matches[0].entry, answer->language, to);
    }
    fputs(",\"others\":[", to);
    for (size_t i = 1; i < answer->count; i++) {
        fputs(i > 1 ? "," : "", to);
        put_match(answer, &answer->matches[i], to);
    }
    fputs("],", to);
    put_array("near", answer->near, answer->near_count, to);
    if (answer->missing_bytes > 0) {
        fputs(",\"missing\":{\"name\":", to);
        put_string(answer->text + answer->missing, answer->missing_bytes, to);
        fputs(",\"nearest\":", to);
        if (answer->nearest)
            put_string(answer->nearest, strlen(answer->nearest), to);
        else
            fputs("null", to);
        fputc('}', to);
    }
    fputs("}\n", to);
}

void explain_list_json(gph_explain_language language, FILE *to)
{
    fputs("{\"version\":1,\"entries\":[", to);
    for (size_t i = 0; i < gph_explain_count(); i++) {
        fputs(i > 0 ? ",\n" : "\n", to);
        put_entry(gph_explain_at(i), language, to);
    }
    fputs("\n]}\n", to);
}

/* A page: a section a kind, an entry a heading. */
typedef struct page_words {
    const char *title, *about, *kinds[6];
    const char *keys, *fix, *use, *in_vain, *versions, *since, *shown_by, *see;
    const char *stop, *next; /* after a title, after what shows it */
} page_words;

static const page_words pages[GPH_EXPLAIN_LANGUAGES] = {
    {.title = "What goes wrong with CUDA graphs",
     .about =
         "All that `gph explain` knows, made by `gph explain --markdown` of "
         "src/explain/knowledge.json. What is said is shown by a program on "
         "softcuda (`tests/doctor/rules`), by a rule of docs/conformance.md, which was "
         "also run on GPUs, or by the measurement or source that is named.",
     .kinds = {"Rules of gph doctor", "Error codes",
               "Results of updates and instantiation",
               "Messages of frameworks, libraries and tools", "Names that do not exist",
               "Interfaces of CUDA and PyTorch"},
     .keys = "Found by",
     .fix = "What helps",
     .use = "How to use it",
     .since = "Introduced",
     .in_vain = "What does not help",
     .versions = "Versions",
     .shown_by = "Shown by",
     .see = "See",
     .stop = ".",
     .next = ". "},
    {.title = "CUDA 图会出哪些问题",
     .about =
         "`gph explain` 的全部条目，由 `gph explain --lang zh --markdown` 根据 "
         "src/explain/knowledge.json 生成。每条结论都由 softcuda 上的程序"
         "（`tests/doctor/rules`）、docs/conformance.md 中的规则（也在 GPU 上运行过），"
         "或所注明的测量与出处支持。",
     .kinds = {"gph doctor 的规则", "错误码", "更新与实例化的结果",
               "框架、库和工具的报错与提示", "不存在的名称", "CUDA 与 PyTorch 的接口"},
     .keys = "查找依据",
     .fix = "解决办法",
     .use = "用法",
     .since = "引入版本",
     .in_vain = "无效的做法",
     .versions = "版本",
     .shown_by = "证据",
     .see = "参见",
     .stop = "。",
     .next = "。"},
};

static void page_list(const char *label, const char *const *list, FILE *to)
{
    if (!list[0])
        return;
    fprintf(to, "**%s**\n\n", label);
    for (; *list; list++)
        fprintf(to, "- %s\n", *list);
    fputc('\n', to);
}

static void page_entry(const gph_explain_entry *entry, gph_explain_language language,
                       FILE *to)
{
    const page_words *say = &pages[language];
    const gph_explain_text *text = &entry->text[language];
    const char *const *const keys[] = {entry->codes, entry->names, entry->messages};
    size_t count = 0;
    fprintf(to, "### %s\n\n**%s%s** %s\n\n", entry->slug, text->title, say->stop,
            text->cause);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        for (size_t at = 0; keys[i][at]; at++, count++)
            fprintf(to, "%s%s`%s`", count == 0 ? say->keys : ",",
                    count == 0 ? explain_colon(say->keys) : " ", keys[i][at]);
    fputs(count > 0 ? "\n\n" : "", to);
    page_list(entry->kind == GPH_EXPLAIN_FEATURE ? say->use : say->fix, text->fix, to);
    page_list(say->in_vain, text->in_vain, to);
    page_list(say->versions, text->versions, to);
    char since[EXPLAIN_SINCE];
    if (explain_since(entry, language, since))
        fprintf(to, "%s%s%s\n\n", say->since, explain_colon(say->since), since);
    fprintf(to, "%s%s", say->shown_by, explain_colon(say->shown_by));
    explain_put_shown_by(entry, to);
    for (size_t i = 0; entry->see[i]; i++)
        fprintf(to, "%s%s%s%s", i == 0 ? say->next : ", ", i == 0 ? say->see : "",
                i == 0 ? explain_colon(say->see) : "", entry->see[i]);
    fputs("\n\n", to);
}

void explain_list_markdown(gph_explain_language language, FILE *to)
{
    const page_words *say = &pages[language];
    fprintf(to, "# %s\n\n%s\n", say->title, say->about);
    for (int kind = GPH_EXPLAIN_RULE; kind <= GPH_EXPLAIN_FEATURE; kind++) {
        fprintf(to, "\n## %s\n\n", say->kinds[kind]);
        for (size_t i = 0; i < gph_explain_count(); i++)
            if (gph_explain_at(i)->kind == (gph_explain_kind)kind)
                page_entry(gph_explain_at(i), language, to);
    }
}
