// SPDX-License-Identifier: Apache-2.0
/* Free text: words of English cut to their stem, and pairs of neighbouring Chinese
 * characters, which stand for words there. A word counts by how few entries have it and
 * by where it stands in them. */
#include "explain/scan.h"

#include <string.h>

enum {
    TERMS_MAX = 48,
    TERM_BYTES = 24,
    TEXT_BYTES = 1000,  /* a longer text is a log: words of it mean nothing */
    RARITY_MAX = 8,     /* of a word that one entry in 2^7 has, or fewer */
    RARITY_UNKNOWN = 4, /* what a word costs that no entry has */
    HEAVY = 4,          /* weight from which on a place names the subject */
    PHRASE = 20         /* a byte of a phrase of the entry that stands there */
};

typedef struct term {
    char text[TERM_BYTES + 1];
    size_t bytes;
    size_t at;   /* of the text */
    size_t span; /* bytes there, before its ending was cut */
    bool is_chinese;
    int rarity;
    uint8_t weights[GPHI_ENTRIES_MAX]; /* in each entry */
} term;

typedef struct terms {
    term list[TERMS_MAX];
    size_t count;
    int most;     /* rarities of all */
    bool is_word; /* the text is one word and nothing else */
} terms;

static bool is_stop(const char *word, size_t bytes)
{
    static const char *const stops[] = {
        "is",     "it",      "in",    "on",     "of",      "to",     "my",    "an",
        "at",     "by",      "be",    "do",     "or",      "if",     "no",    "so",
        "we",     "as",      "am",    "me",     "up",      "us",     "the",   "and",
        "for",    "with",    "that",  "this",   "does",    "not",    "why",   "what",
        "when",   "how",     "are",   "was",    "but",     "has",    "have",  "can",
        "you",    "its",     "from",  "into",   "after",   "before", "while", "get",
        "got",    "gets",    "error", "fails",  "fail",    "failed", "cuda",  "graph",
        "graphs", "all",     "our",   "please", "help",    "during", "there", "using",
        "use",    "when",    "then",  "always", "program", "code",   "mean",  "means",
        "gph",    "explain", "any",   "out",    "cannot",  "could",  "will",  "would",
        "should", "only",    "same",  "one",    "two",     "问题",   "什么",  "为什",
        "怎么",   "错误",    "请问",  "么办",   "我的",    "这个",   "出现",
    };
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (strlen(stops[i]) == bytes && memcmp(stops[i], word, bytes) == 0)
            return true;
    return false;
}

/* Cuts endings, so that "captured" finds "capture". */
static size_t stem(const char *word, size_t bytes)
{
    static const char *const ends[] = {"ing", "ed", "es", "s", "e"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t end = strlen(ends[i]);
        if (bytes >= end + 4 && memcmp(word + bytes - end, ends[i], end) == 0)
            return bytes - end;
    }
    return bytes;
}

/* Each term once; what is too long for a word of a person is left out. */
static void add_term(terms *all, const char *text, size_t bytes, size_t at, bool chinese)
{
    if (bytes > TERM_BYTES || all->count == TERMS_MAX || bytes < 2)
        return;
    term *to = &all->list[all->count];
    *to = (term){.bytes = bytes, .at = at, .span = bytes, .is_chinese = chinese};
    bool is_number = !chinese;
    for (size_t i = 0; i < bytes; i++)
        is_number &= gphi_is_digit(text[i]);
    if (is_number)
        return; /* it would be a code, if anything */
    for (size_t i = 0; i < bytes; i++)
        to->text[i] = gphi_lower(text[i]);
    if (is_stop(to->text, bytes))
        return;
    if (!chinese)
        to->bytes = stem(to->text, bytes);
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].bytes == to->bytes &&
            memcmp(all->list[i].text, to->text, to->bytes) == 0)
            return;
    all->count++;
}

/* The three bytes of a common Chinese character. */
static bool is_chinese_at(const char *text, size_t bytes, size_t at)
{
    if (at + 3 > bytes)
        return false;
    const uint8_t first = (uint8_t)text[at];
    return first >= 0xe4 && first <= 0xe9 && ((uint8_t)text[at + 1] & 0xc0) == 0x80 &&
           ((uint8_t)text[at + 2] & 0xc0) == 0x80;
}

/* Chinese is written without spaces: each pair of neighbours is a term. */
static void read_terms(const char *text, size_t bytes, terms *all)
{
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        if (is_chinese_at(text, bytes, at)) {
            if (is_chinese_at(text, bytes, at + 3))
                add_term(all, text + at, 6, at, true);
            at += 3;
            continue;
        }
        while (end < bytes && gphi_is_word(text[end]))
            end++;
        add_term(all, text + at, end - at, at, false);
        at = end > at ? end : at + 1;
    }
}

/* Whether the term stands in the text: Chinese anywhere, English where a word begins. */
static bool has_term(const char *text, const term *of)
{
    if (of->is_chinese)
        return strstr(text, of->text) != NULL;
    const char upper = of->text[0] >= 'a' && of->text[0] <= 'z'
                           ? (char)(of->text[0] - ('a' - 'A'))
                           : of->text[0];
    const char first[] = {of->text[0], upper, '\0'};
    for (const char *at = text; (at = strpbrk(at, first)) != NULL; at++)
        if (gphi_is_same(at, of->text, of->bytes) &&
            (at == text || !gphi_is_word(at[-1])))
            return true;
    return false;
}

static bool list_has(const char *const *list, const term *of)
{
    for (; *list != NULL; list++)
        if (has_term(*list, of))
            return true;
    return false;
}

/* How much the term says about the entry: by the best place where it stands, 0 for none.
 */
static int weight_in(const gph_explain_entry *entry, const term *of)
{
    if (list_has(entry->words, of))
        return HEAVY + 1;
    const gph_explain_text *english = &entry->text[GPH_EXPLAIN_ENGLISH];
    const gph_explain_text *chinese = &entry->text[GPH_EXPLAIN_CHINESE];
    if (has_term(english->title, of) || has_term(chinese->title, of) ||
        has_term(entry->slug, of))
        return HEAVY;
    if (list_has(entry->messages, of) || list_has(entry->names, of))
        return 3;
    if (has_term(english->cause, of) || has_term(chinese->cause, of))
        return 2;
    return list_has(english->fix, of) || list_has(chinese->fix, of) ? 1 : 0;
}

/* Several words of one phrase say more than as many from all over the entry. */
static int phrase_bonus(const gph_explain_entry *entry, const terms *all)
{
    int most = 0;
    for (const char *const *phrase = entry->words; *phrase != NULL; phrase++) {
        int having = 0;
        for (size_t i = 0; i < all->count; i++)
            having += has_term(*phrase, &all->list[i]) ? all->list[i].rarity : 0;
        most = having > most ? having : most;
    }
    return most * 2;
}

/* How long the longest phrase of the entry is that stands in the text as it is. */
static size_t longest_phrase(const gph_explain_entry *entry, const char *text,
                             size_t bytes)
{
    size_t longest = 0;
    for (const char *const *phrase = entry->words; *phrase != NULL; phrase++) {
        const size_t length = strlen(*phrase);
        for (size_t at = 0; length > longest && at + length <= bytes; at++) {
            const bool is_whole =
                (at == 0 || !gphi_is_word(text[at - 1]) || !gphi_is_word(text[at])) &&
                (at + length == bytes || !gphi_is_word(text[at + length]));
            if (is_whole && gphi_is_same(text + at, *phrase, length))
                longest = length;
        }
    }
    return longest;
}

/* Weights of all terms in all entries, and from them how rare each term is. */
static void weigh_terms(terms *all)
{
    for (size_t i = 0; i < all->count; i++) {
        term *of = &all->list[i];
        size_t having = 0;
        for (size_t at = 0; at < gphi_knowledge_count; at++) {
            of->weights[at] = (uint8_t)weight_in(&gphi_knowledge[at], of);
            having += of->weights[at] > 0;
        }
        /* Most pairs of Chinese characters are the border of two words. */
        const int unknown = of->is_chinese ? 1 : RARITY_UNKNOWN;
        of->rarity = having == 0 ? unknown : 1;
        for (;
             having > 0 && having * 2 <= gphi_knowledge_count && of->rarity < RARITY_MAX;
             having *= 2)
            of->rarity++;
        all->most += of->rarity;
    }
}

/* Where the first word that counted stands: that line is shown. */
static void set_line(const char *text, size_t bytes, size_t at, gph_explain_match *match)
{
    match->line = 1;
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            match->line++;
            match->line_begin = i + 1;
        }
    const char *end = memchr(text + at, '\n', bytes - at);
    match->line_bytes = (end != NULL ? (size_t)(end - text) : bytes) - match->line_begin;
}

/* What an entry counts for, 0 if too little: of several words two have to name its
 * subject, and what names it has to be half of what was asked. */
static int32_t score_of(size_t entry, const terms *all, size_t *first)
{
    int heavy = 0, heavy_count = 0;
    int32_t score = 0;
    for (size_t i = 0; i < all->count; i++) {
        const term *of = &all->list[i];
        const int weight = of->weights[entry];
        if (weight >= HEAVY) {
            heavy += of->rarity;
            heavy_count++;
        }
        score += weight * of->rarity;
        if (weight > 0 && of->at < *first)
            *first = of->at;
    }
    if (heavy_count == 0 || heavy * 2 < all->most || (heavy_count == 1 && !all->is_word))
        return 0;
    return score + phrase_bonus(&gphi_knowledge[entry], all);
}

/* A name or an expression of a program, and not a sentence. */
static bool is_expression(const char *text, size_t bytes)
{
    bool is_plain = true;
    for (size_t i = 0; i < bytes; i++) {
        if (gphi_is_space(text[i]) || (uint8_t)text[i] >= 0x80)
            return false;
        is_plain &= gphi_lower(text[i]) >= 'a' && gphi_lower(text[i]) <= 'z';
    }
    return !is_plain;
}

void gphi_scan_words(const char *text, size_t bytes, gphi_hits *hits)
{
    if (bytes == 0 || bytes > TEXT_BYTES || gphi_knowledge_count > GPHI_ENTRIES_MAX)
        return;
    terms all;
    memset(&all, 0, sizeof(all));
    if (!is_expression(text, bytes))
        read_terms(text, bytes, &all);
    all.is_word = all.count == 1 && all.list[0].span == bytes;
    weigh_terms(&all);
    for (size_t at = 0; at < gphi_knowledge_count; at++) {
        size_t first = bytes - 1;
        int32_t score = score_of(at, &all, &first);
        score += (int32_t)longest_phrase(&gphi_knowledge[at], text, bytes) * PHRASE;
        if (score == 0)
            continue;
        gph_explain_match match = {
            .entry = &gphi_knowledge[at], .reason = GPH_EXPLAIN_BY_WORDS, .score = score};
        set_line(text, bytes, first, &match);
        gphi_hits_add(hits, at, &match);
    }
}
