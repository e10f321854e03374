// SPDX-License-Identifier: Apache-2.0
/* The pass over a text: names, slugs and codes as whole words, messages anywhere. */
#include "explain/scan.h"
#include "explain/names.h"

#include <string.h>

enum {
    LOOK_BACK = 40,        /* bytes in which the word before a number is looked for */
    QUESTION_BYTES = 80,   /* a text so short is a question: a bare number is a code */
    PARTS_MAX = 8,         /* of a dotted name */
    RANK = 100,            /* what a rank counts in a score */
    SMALL_CODE_DIGITS = 2, /* numbers so short are codes beside a word of CUDA only */
    WHITE_MAX = 256,       /* bytes that a space of a message spans at most */
    HINT = 40,             /* what a name counts less in a line that only points on */
    NOISE_BYTES = 300      /* of a line that are looked at for what says nothing */
};

typedef struct scan {
    const gphi_index *index;
    const char *text;
    size_t bytes;
    bool is_question;
    gphi_hits *hits;
    size_t line; /* of the place that the pass is at, from 1 */
    size_t line_begin;
    size_t line_end; /* 0: not known yet */
} scan;

/* What a key counts for: first how much its entry says, then how sure the key is. */
static int32_t score_of(const scan *s, const gphi_key *of, size_t at, size_t bytes)
{
    static const int32_t reasons[] = {60, 50, 45, 30, 0};
    const size_t length = of->bytes;
    int32_t score = gphi_knowledge[of->entry].rank * RANK + reasons[of->reason];
    if (of->reason == GPH_EXPLAIN_BY_MESSAGE)
        score += (int32_t)(length < 100 ? length / 4 : 25);
    if (at == 0 && bytes == s->bytes)
        score += 10 * RANK; /* it is all that was asked */
    return score;
}

/* Whether the beginning of the line has `word` in it. */
static bool line_says(const scan *s, const char *word)
{
    const size_t bytes = strlen(word);
    for (size_t at = s->line_begin;
         at + bytes <= s->line_end && at - s->line_begin < NOISE_BYTES; at++)
        if (memcmp(s->text + at, word, bytes) == 0)
            return true;
    return false;
}

static void hit(scan *s, const gphi_key *of, size_t at, size_t bytes)
{
    if (s->line_end < s->line_begin || s->line_end == 0) {
        const char *end = memchr(s->text + s->line_begin, '\n', s->bytes - s->line_begin);
        s->line_end = end ? (size_t)(end - s->text) : s->bytes;
    }
    /* Programs ask for calls that a driver may lack: such a line of its log says nothing.
     */
    const bool is_message = of->reason == GPH_EXPLAIN_BY_MESSAGE;
    if (!is_message && line_says(s, "cuGetProcAddress"))
        return;
    /* PyTorch's pointer to the manual is below the error. */
    const bool is_hint = !is_message && line_says(s, "docs.nvidia.com");
    const gph_explain_match match = {
        .entry = &gphi_knowledge[of->entry],
        .reason = of->reason,
        .score = score_of(s, of, at, bytes) - (is_hint ? HINT : 0),
        .key = of->text,
        .line = s->line,
        .line_begin = s->line_begin,
        .line_bytes = s->line_end - s->line_begin,
    };
    gphi_hits_add(s->hits, of->entry, &match);
}

/* Whether the message is at `at`; a space of it is white space of any length. Gives
 * the bytes it takes, 0 if it does not. */
static size_t message_at(const scan *s, const char *message, size_t at)
{
    size_t to = at;
    for (; *message != '\0'; message++) {
        if (*message == ' ') {
            const size_t from = to;
            while (to < s->bytes && to - from < WHITE_MAX && gphi_is_space(s->text[to]))
                to++;
            if (to == from)
                return 0;
        } else if (to >= s->bytes || gphi_lower(s->text[to++]) != gphi_lower(*message)) {
            return 0;
        }
    }
    return to - at;
}

static void try_messages(scan *s, size_t at)
{
    if (at + 1 >= s->bytes)
        return;
    const gphi_key *keys = s->index->keys;
    for (uint16_t i = gphi_pairs_first(&s->index->messages, s->text[at], s->text[at + 1]);
         i != 0; i = keys[i].next) {
        const size_t bytes = message_at(s, keys[i].text, at);
        if (bytes > 0)
            hit(s, &keys[i], at, bytes);
    }
}

/* Whether `word` ends at text[end], in lower case; `*begin` is where it begins. */
static bool ends_with(const scan *s, size_t end, const char *word, size_t *begin)
{
    const size_t bytes = strlen(word);
    if (end < s->line_begin + bytes || !gphi_is_same(s->text + end - bytes, word, bytes))
        return false;
    *begin = end - bytes;
    return true;
}

/* Whether the line up to `end` has `word` in it. */
static bool line_has(const scan *s, size_t end, const char *word)
{
    const size_t from = end > s->line_begin + 200 ? end - 200 : s->line_begin;
    for (size_t at = from; at + strlen(word) <= end; at++)
        if (gphi_is_same(s->text + at, word, strlen(word)))
            return true;
    return false;
}

/* Where what separates a word from a number after it begins. */
static size_t before_separators(const scan *s, size_t at)
{
    static const char *const wide[] = {"：", "（", "＝", "，", "是", "为"};
    size_t end = at;
    bool is_more = true;
    while (is_more && end > s->line_begin && at - end < LOOK_BACK) {
        is_more = memchr(" \t:=([{<\"'`", s->text[end - 1], 11);
        if (is_more)
            end--;
        for (size_t i = 0; !is_more && i < sizeof(wide) / sizeof(wide[0]); i++)
            is_more = ends_with(s, end, wide[i], &end);
    }
    return end;
}

/* Whether what is before a number says that it is an error code. */
static bool is_code(const scan *s, size_t at)
{
    static const char *const words[] = {
        "error",    "err",         "code",      "status",      "rc",       "result",
        "returned", "returns",     "return",    "returning",   "curesult", "cudaerror",
        "hiperror", "cudaerror_t", "errorcode", "failed with", "错误",     "码",
        "代码",     "返回",        "返回值",    "报错",        "报",
    };
    const size_t end = before_separators(s, at);
    if (end == s->line_begin || gphi_is_digit(s->text[end - 1]))
        return false; /* most numbers of a table end here */
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t begin;
        if (!ends_with(s, end, words[i], &begin))
            continue;
        const bool is_tail = begin > s->line_begin && gphi_is_word(words[i][0]) &&
                             gphi_is_word(s->text[begin - 1]);
        if (!is_tail)
            return !line_has(s, end, "http") && !line_has(s, end, "exit") &&
                   !(s->is_question && line_has(s, s->bytes, "http"));
    }
    return false;
}

/* Whether a unit follows a number: "took 700 ms". */
static bool is_measure(const scan *s, size_t end)
{
    static const char *const units[] = {
        "ms",  "us",     "ns",    "s", "mb",    "gb",      "kb",         "mib",  "gib",
        "kib", "tokens", "steps", "x", "nodes", "kernels", "iterations", "times"};
    size_t from = end, to;
    if (from < s->bytes && s->text[from] == '%')
        return true;
    while (from < s->bytes && s->text[from] == ' ')
        from++;
    for (to = from; to < s->bytes && gphi_is_word(s->text[to]);)
        to++;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i]) == to - from &&
            gphi_is_same(s->text + from, units[i], to - from))
            return true;
    return false;
}

/* Whether a question has a word of what this is about, or asks what a number means. */
static bool is_about_cuda(const scan *s)
{
    static const char *const words[] = {
        "cu",     "hip",    "graph", "captur", "stream", "launch", "replay",
        "kernel", "update", "torch", "nccl",   "unjoin", "event",  "图",
        "捕获",   "流",     "重放",  "内核",   "启动",   "拷贝",   "线程",
        "更新",   "事件",   "报",    "mean",   "意思",   "含义",   "是什么"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (line_has(s, s->bytes, words[i]))
            return true;
    return false;
}

/* Whether a number that is a code is meant as one. Small numbers occur everywhere: they
 * count beside a word of CUDA only. */
static bool is_asked(const scan *s, size_t at, size_t end)
{
    if (at == 0 && end == s->bytes)
        return true;
    const bool is_small = end - at <= SMALL_CODE_DIGITS;
    if (s->is_question && !is_small && is_about_cuda(s))
        return (at == 0 || s->text[at - 1] != '#') && !is_measure(s, end);
    return is_code(s, at) &&
           (!is_small || line_has(s, at, "cu") || line_has(s, at, "hip"));
}

static bool try_key_as(scan *s, size_t at, size_t end, size_t bytes)
{
    bool is_found = false;
    for (uint32_t slot = gphi_hash_name(s->text + at, bytes) % GPHI_SLOTS;
         s->index->slots[slot] != 0; slot = (slot + 1) % GPHI_SLOTS) {
        const gphi_key *of = &s->index->keys[s->index->slots[slot]];
        /* What does not exist may differ from what does by case alone. */
        const bool is_exact = gphi_knowledge[of->entry].kind == GPH_EXPLAIN_NOTHING;
        if (of->bytes != bytes ||
            !(is_exact ? memcmp(s->text + at, of->text, bytes) == 0
                       : gphi_is_same(s->text + at, of->text, bytes)))
            continue;
        if (of->reason == GPH_EXPLAIN_BY_CODE && !is_asked(s, at, end))
            continue;
        hit(s, of, at, end - at);
        is_found = true;
    }
    return is_found;
}

/* A name of some version (_v2) is looked for as it is, then as the name. */
static bool try_key(scan *s, size_t at, size_t end)
{
    const size_t bytes = end - at;
    const size_t plain = gphi_name_plain(s->text + at, bytes);
    return try_key_as(s, at, end, bytes) ||
           (plain < bytes && plain > 0 && try_key_as(s, at, end, plain));
}

/* A word with its dots: the longest runs of its parts first. */
static bool try_parts(scan *s, size_t at, size_t end, char separator)
{
    size_t parts[PARTS_MAX + 1] = {at};
    size_t count = 0;
    for (size_t i = at; i < end && count < PARTS_MAX - 1; i++)
        if (s->text[i] == separator)
            parts[++count] = i + 1;
    parts[++count] = end + 1;
    for (size_t length = count; length > 0; length--) {
        bool is_found = false;
        for (size_t i = 0; i + length <= count; i++)
            if (parts[i + length] - 1 > parts[i])
                is_found |= try_key(s, parts[i], parts[i + length] - 1);
        if (is_found)
            return true;
    }
    return false;
}

/* Marks that are inside slugs and dotted names. */
static bool is_mark(char c)
{
    return c == '.' || c == '/' || c == '-';
}

/* A word with the marks that slugs have, then its pieces between them. */
static void try_word(scan *s, size_t at, size_t end)
{
    while (at < end && is_mark(s->text[at]))
        at++;
    while (at < end && is_mark(s->text[end - 1]))
        end--;
    if (at >= end || try_key(s, at, end))
        return;
    for (size_t from = at; from < end;) {
        size_t to = from;
        while (to < end && s->text[to] != '/' && s->text[to] != '-')
            to++;
        if (to > from && !(from == at && to == end))
            (void)(try_key(s, from, to) || try_parts(s, from, to, '.'));
        else if (to > from)
            (void)try_parts(s, from, to, '.');
        from = to + 1;
    }
}

/* Colors of a terminal: bytes they take at `at`, or 0. They end with a line. */
static size_t escape_at(const scan *s, size_t at)
{
    if (s->text[at] != '\x1b' || at + 1 >= s->bytes || s->text[at + 1] != '[')
        return 0;
    size_t to = at + 2;
    while (to < s->bytes && to - at < 32 && (s->text[to] < '@' || s->text[to] > '~') &&
           s->text[to] != '\n')
        to++;
    return to - at + (to < s->bytes && s->text[to] != '\n');
}

void gphi_scan(const char *text, size_t bytes, gphi_hits *hits)
{
    scan s = {
        .index = gphi_explain_index(),
        .text = text,
        .bytes = bytes,
        .hits = hits,
        .line = 1,
        .is_question = bytes <= QUESTION_BYTES && !memchr(text, '\n', bytes),
    };
    bool is_border = true; /* nothing of a word is before */
    size_t word_end = 0;
    if (bytes > 0 && s.is_question) /* the text of an error, and nothing else */
        (void)try_key(&s, 0, bytes);
    for (size_t at = 0; at < bytes; at++) {
        const size_t escape = escape_at(&s, at);
        if (escape > 0) {
            at += escape - 1;
            is_border = true;
            continue;
        }
        if (is_border || !gphi_is_word(text[at]))
            try_messages(&s, at);
        if (at >= word_end && is_border && gphi_is_word(text[at])) {
            word_end = at;
            while (word_end < bytes &&
                   (gphi_is_word(text[word_end]) || is_mark(text[word_end])))
                word_end++;
            try_word(&s, at, word_end);
        }
        is_border = !gphi_is_word(text[at]);
        if (text[at] == '\n') {
            s.line++;
            s.line_begin = at + 1;
            s.line_end = 0;
        }
    }
}
