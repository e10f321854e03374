// SPDX-License-Identifier: Apache-2.0
/* Free text. A term counts by how few entries have it and by where it stands in them;
 * several of one phrase count more than as many from all over an entry, and a phrase that
 * stands in the text as it is counts most. What little of a question an entry knows must
 * not look like an answer. */
#include "explain/scan.h"
#include "explain/terms.h"

#include <string.h>

enum {
    TERMS_MAX = 48,
    TEXT_BYTES = 1000,  /* a longer text is a log: words of it mean nothing */
    RARITY_MAX = 8,     /* of a word that one entry in 2^7 has, or fewer */
    RARITY_UNKNOWN = 4, /* what a word costs that no entry has, and half as much again
                           where the question may be about anything */
    PHRASE = 20,        /* a byte of a phrase of the entry that stands there */
    RARE = 6,           /* a word that names its subject alone */
    NAMED = 100         /* what a name of the entry counts beside words */
};

typedef struct asked {
    const gphi_term_slot *slot; /* NULL: no entry has it */
    size_t at;
    int rarity;
} asked;

/* What an entry counts for. */
typedef struct tally {
    int32_t score;
    int heavy;       /* rarities of terms that name its subject */
    int heavy_count; /* how many these are */
    int phrase;      /* rarities of the terms of its best phrase */
    int whole;       /* bytes of its longest phrase that stands in the text */
    int said;        /* what these count: half, where they are a name and no words */
    bool is_named;   /* a name of it stands there */
    size_t first;    /* where the first term stands */
} tally;

enum subject { SUBJECT_ANY, SUBJECT_SHARED, SUBJECT_OURS, SUBJECTS };

typedef struct question {
    const gphi_index *index;
    const char *text;
    size_t bytes;
    asked terms[TERMS_MAX];
    size_t count;
    int most;     /* rarities of all */
    bool is_word; /* the text is one word and nothing else */
    enum subject subject;
    bool is_complaint; /* something is wrong: what an interface is does not help */
    size_t known_end;  /* of the last Chinese pair that says something */
    tally entries[GPHI_ENTRIES_MAX];
    uint16_t phrases[GPHI_PHRASES_MAX]; /* rarities of their terms that were asked */
} question;

static int rarity_of(const question *of, const gphi_term_slot *slot)
{
    int rarity = 1;
    if (!slot)
        return of->subject == SUBJECT_ANY ? RARITY_UNKNOWN * 3 / 2 : RARITY_UNKNOWN;
    for (size_t having = slot->entries;
         having * 2 <= gphi_knowledge_count && rarity < RARITY_MAX; having *= 2)
        rarity++;
    return rarity;
}

/* Most pairs of Chinese characters are the border of two words: one that names no subject
 * costs something only where the pair before it does not say what its first character
 * belongs to. */
static int cost_of(question *of, const gphi_term *term, const asked *to)
{
    const bool is_subject = to->slot && to->slot->weight >= GPHI_WEIGHT_TITLE;
    if (term->kind != GPHI_TERM_CHINESE)
        return to->rarity;
    const bool is_border = term->is_border || term->at < of->known_end;
    if (is_subject || term->is_stop)
        of->known_end = term->at + term->bytes;
    return is_subject ? to->rarity : is_border || term->is_stop ? 0 : rarity_of(of, NULL);
}

static void add_term(question *of, const gphi_term *term, const gphi_term_slot *slot)
{
    if (of->count == TERMS_MAX)
        return;
    for (size_t i = 0; slot && i < of->count; i++)
        if (of->terms[i].slot == slot)
            return;
    asked *to = &of->terms[of->count];
    *to = (asked){.slot = slot, .at = term->at, .rarity = rarity_of(of, slot)};
    of->most += cost_of(of, term, to);
    of->count += !term->is_stop;
}

/* A name that entries have is one term; any other is its parts, but not where it is all
 * that was asked: there a like name is meant, if any. */
static void read_terms(question *of)
{
    gphi_term_reader reader = {.text = of->text, .bytes = of->bytes};
    size_t known_end = 0, count = 0;
    for (gphi_term term; gphi_term_next(&reader, &term);) {
        count += term.kind != GPHI_TERM_PART;
        of->is_word |= count == 1 && term.bytes == of->bytes;
        const bool is_chinese = term.kind == GPHI_TERM_CHINESE;
        if ((term.is_stop && !is_chinese) ||
            (term.kind == GPHI_TERM_PART && term.at < known_end))
            continue;
        const gphi_term_slot *slot =
            term.is_stop ? NULL : gphi_term_find(of->index, term.hash);
        if (of->is_word && term.kind == GPHI_TERM_WHOLE && !slot)
            return;
        if (term.kind == GPHI_TERM_WHOLE && !slot)
            continue;
        if (term.kind == GPHI_TERM_WHOLE)
            known_end = term.at + term.bytes;
        add_term(of, &term, slot);
    }
}

/* Each term once an entry, by the best place where it stands. */
static void count_term(question *of, const asked *term)
{
    const gphi_posting *at = &of->index->postings[term->slot->first];
    for (size_t i = 0; i < term->slot->count;) {
        tally *entry = &of->entries[at[i].entry];
        const uint16_t which = at[i].entry;
        int weight = 0;
        for (; i < term->slot->count && at[i].entry == which; i++) {
            weight = at[i].weight > weight ? at[i].weight : weight;
            if (at[i].phrase == 0)
                continue;
            uint16_t *sum = &of->phrases[at[i].phrase];
            *sum = (uint16_t)(*sum + term->rarity);
            entry->phrase = *sum > entry->phrase ? *sum : entry->phrase;
        }
        entry->score += weight * term->rarity;
        if (term->at < entry->first)
            entry->first = term->at;
        if (weight >= GPHI_WEIGHT_TITLE) {
            entry->heavy += term->rarity;
            entry->heavy_count++;
        }
    }
}

/* What separates words: a phrase is written with spaces, hyphens or underscores. */
static bool is_gap(char c)
{
    return gphi_is_space(c) || c == '-' || c == '_';
}

/* Whether the phrase stands at `at`, whole. */
static bool phrase_at(const question *of, const gphi_key *phrase, size_t at)
{
    size_t to = at;
    if (at > 0 && gphi_is_word(of->text[at - 1]) && gphi_is_word(of->text[at]))
        return false;
    for (size_t i = 0; i < phrase->bytes; i++, to++) {
        if (to >= of->bytes)
            return false;
        const bool is_same = gphi_lower(phrase->text[i]) == gphi_lower(of->text[to]);
        if (!is_same && !(is_gap(phrase->text[i]) && is_gap(of->text[to])))
            return false;
    }
    return to == of->bytes || !gphi_is_word(of->text[to - 1]) ||
           !gphi_is_word(of->text[to]);
}

/* Several words, or Chinese, and not the name of a call: many a question has that. */
static bool is_sentence(const gphi_key *phrase)
{
    for (size_t i = 0; i < phrase->bytes; i++)
        if (is_gap(phrase->text[i]) || (uint8_t)phrase->text[i] >= 0x80)
            return true;
    return false;
}

static void count_phrases(question *of)
{
    const gphi_key *keys = of->index->phrases;
    for (size_t at = 0; at + 1 < of->bytes; at++)
        for (uint16_t i = gphi_pairs_first(&of->index->phrase_pairs, of->text[at],
                                           of->text[at + 1]);
             i != 0; i = keys[i].next) {
            tally *entry = &of->entries[keys[i].entry];
            if (keys[i].bytes <= entry->whole || !phrase_at(of, &keys[i], at))
                continue;
            entry->whole = keys[i].bytes;
            entry->said = is_sentence(&keys[i]) ? entry->whole : entry->whole / 2;
            if (at < entry->first)
                entry->first = at;
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
    match->line_bytes = (end ? (size_t)(end - text) : bytes) - match->line_begin;
}

/* What an entry counts for, 0 if too little. What names its subject has to be a good part
 * of what was asked, the more the less sure it is what that is about: 3, 1.2 or 1 of 4. Of
 * several words two have to, or a rare one. A phrase counts by how much of the question
 * it is; that of an interface is less than a complaint about it, and where somebody
 * complains, a name says little: "cudaGraphInstantiate takes 800 us". */
static int32_t score_of(const question *of, const gph_explain_entry *what,
                        const tally *entry)
{
    static const int least[SUBJECTS] = {30, 12, 10};
    const bool is_all = entry->whole == (int)of->bytes;
    const bool is_one =
        of->subject == SUBJECT_OURS && (entry->heavy >= RARE || entry->heavy == of->most);
    const bool is_known =
        entry->heavy_count > 1 || of->is_word || entry->whole > 0 || is_one;
    if (!is_all && (!is_known || entry->heavy * 40 < of->most * least[of->subject]))
        return 0;
    const bool is_less = what->kind == GPH_EXPLAIN_FEATURE && !entry->is_named;
    const int32_t phrase =
        (is_all ? entry->whole : entry->said) * (is_less ? PHRASE / 2 : PHRASE);
    const int32_t words = entry->score + entry->phrase * 2;
    if (what->rank == 0 && of->is_complaint && !is_all)
        return entry->is_named ? words / 2
                               : (words + phrase * entry->heavy / (of->most + 1)) / 2;
    return words + (entry->is_named ? NAMED : 0) +
           (is_all || of->most == 0 ? phrase : phrase * entry->heavy / of->most);
}

/* Whether one of the words stands in the text; most places of it begin none of them. */
static bool says_one(const char *text, size_t bytes, const char *const *words)
{
    bool begins[256] = {false};
    for (size_t i = 0; words[i]; i++)
        begins[(uint8_t)words[i][0]] = true;
    for (size_t at = 0; at < bytes; at++) {
        if (!begins[(uint8_t)gphi_lower(text[at])])
            continue;
        for (size_t i = 0; words[i]; i++) {
            const size_t length = strlen(words[i]);
            if (at + length <= bytes && gphi_is_same(text + at, words[i], length))
                return true;
        }
    }
    return false;
}

/* How sure it is that the text is about what the entries are about: words that stand
 * nowhere else, words that other trades have as well, or neither. */
static enum subject subject_of(const char *text, size_t bytes)
{
    static const char *const ours[] = {
        "cuda", "gpu",   "torch",  "nccl",   "vllm", "llama.cpp", "jax",  "xla",  "cupy",
        "cudn", "cubla", "unjoin", "replay", "内核", "重放",      "张量", "显存", NULL};
    static const char *const shared[] = {
        "graph",      "captur", "stream", "kernel", "tensor",   "conditional node",
        "graph node", "图",     "捕获",   "流",     "条件节点", NULL};
    return says_one(text, bytes, ours)     ? SUBJECT_OURS
           : says_one(text, bytes, shared) ? SUBJECT_SHARED
                                           : SUBJECT_ANY;
}

/* Words of somebody to whom something happens, and not of one who wants to know what an
 * interface does. */
static bool is_complaint(const char *text, size_t bytes)
{
    static const char *const words[] = {"slow",
                                        "leak",
                                        "grow",
                                        "hang",
                                        "crash",
                                        "wrong",
                                        "stuck",
                                        "fail",
                                        " us ",
                                        "oom",
                                        "not supported",
                                        "out of memory",
                                        "no effect",
                                        "segfault",
                                        "deadlock",
                                        "doesn't",
                                        "does not",
                                        "returns error",
                                        "returns invalid",
                                        "too much",
                                        "too many",
                                        "recompil",
                                        " twice",
                                        "很慢",
                                        "太慢",
                                        "变慢",
                                        "报错",
                                        "失败",
                                        "不支持",
                                        "泄漏",
                                        "卡住",
                                        "卡死",
                                        "崩溃",
                                        "无效",
                                        "不对",
                                        "错误",
                                        "增长",
                                        "forg",
                                        "freez",
                                        "garbage",
                                        "never",
                                        " nan",
                                        "segm",
                                        "segv",
                                        "abort",
                                        "twice",
                                        "stale",
                                        "corrupt",
                                        "double free",
                                        "destroyed",
                                        "out of scope",
                                        "not work",
                                        "段错误",
                                        "忘",
                                        "没有释放",
                                        NULL};
    return says_one(text, bytes, words);
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

/* Names that the pass has found are phrases of their entries. */
static void take_names(question *of, const gphi_hits *hits)
{
    for (size_t i = 0; i < gphi_knowledge_count; i++)
        of->entries[i].first = of->bytes - 1;
    for (size_t i = 0; i < hits->count; i++) {
        tally *entry = &of->entries[hits->found[i]];
        entry->is_named = true;
        entry->whole = (int)strlen(hits->best[hits->found[i]].key);
        entry->said = entry->whole;
    }
}

void gphi_scan_words(const char *text, size_t bytes, gphi_hits *hits)
{
    if (bytes == 0 || bytes > TEXT_BYTES)
        return;
    question of = {.index = gphi_explain_index(), .text = text, .bytes = bytes};
    of.subject = subject_of(text, bytes);
    of.is_complaint = is_complaint(text, bytes);
    take_names(&of, hits);
    if (!is_expression(text, bytes))
        read_terms(&of);
    for (size_t i = 0; i < of.count; i++)
        if (of.terms[i].slot)
            count_term(&of, &of.terms[i]);
    count_phrases(&of);
    for (size_t at = 0; at < gphi_knowledge_count; at++) {
        const tally *entry = &of.entries[at];
        gph_explain_match match = {.entry = &gphi_knowledge[at],
                                   .reason = GPH_EXPLAIN_BY_WORDS,
                                   .score = score_of(&of, &gphi_knowledge[at], entry)};
        if (match.score == 0)
            continue;
        set_line(text, bytes, entry->first, &match);
        if (entry->is_named) {
            const int32_t score = match.score;
            match = hits->best[at];
            match.score = match.score > score ? match.score : score;
        }
        gphi_hits_add(hits, at, &match);
    }
}
