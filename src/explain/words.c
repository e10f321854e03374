// SPDX-License-Identifier: Apache-2.0
/* Free text. An entry counts by two measures: BM25 over all that it says, and how near its
 * nearest three lines (questions, phrases, titles) lie to the question, as the cosine of
 * their words weighed by rarity. A phrase that is in the text as it is, a name, and a
 * product that both name count besides. What little of a question an entry knows must not
 * look like an answer. */
#include "explain/products.h"
#include "explain/scan.h"
#include "explain/terms.h"

#include <string.h>

enum {
    TERMS_MAX = 48,
    LIKES_MAX = 96,
    WORDS_MAX = 80,    /* of a list that is looked for */
    TEXT_BYTES = 1000, /* a longer text is a log: words of it mean nothing */
    RARE = 700,        /* a word that names its subject alone */
    TERSE_BYTES = 48,  /* a question of a few words */
    NEAREST = 3,       /* lines of an entry that count */
    NEAR_ANY = 700,   /* a line so near makes a question ours that says nothing of CUDA */
    NEAR_KNOWN = 780, /* one so near is meant, though a code is beside it */
    NEAR_SAME = 950,  /* a line of the same words */
    SAME = 500,       /* what it counts besides, at 1000 */
    NAMED = 300,      /* what a name of the entry counts beside words */
    PHRASE = 1500     /* a phrase that is all of the question */
};

typedef struct asked {
    const gphi_term_slot *slot; /* NULL: no entry has it */
    size_t at;
    int rarity;
} asked;

/* What an entry counts for. */
typedef struct tally {
    int64_t said;      /* BM25 in 1/256 */
    int heavy;         /* rarities of terms that name its subject */
    int heavy_count;   /* how many these are */
    int near[NEAREST]; /* of its nearest lines, in 1/1000, the nearest first */
    int whole;         /* bytes of its longest phrase that is in the text */
    int phrase;        /* what these count: half, where they are a name and no words */
    bool is_named;     /* a name of it is there */
    size_t first;      /* where the first term is */
} tally;

enum subject { SUBJECT_ANY, SUBJECT_SHARED, SUBJECT_OURS, SUBJECTS };

typedef struct question {
    const gphi_index *index;
    const char *text;
    size_t bytes;
    asked terms[TERMS_MAX];
    size_t count;
    const gphi_term_slot *likes[LIKES_MAX];
    size_t like_count;
    int most;         /* rarities of all words, as far as they have to be answered */
    int64_t all;      /* of all words and what they are like */
    uint64_t squares; /* of the words */
    bool is_terse;    /* a few words on graphs */
    bool is_word;     /* the text is one word and nothing else */
    enum subject subject;
    uint32_t products; /* that it names */
    bool is_complaint; /* something is wrong: what an interface is does not help */
    size_t known_end;  /* of the last Chinese pair that says something */
    tally entries[GPHI_ENTRIES_MAX];
    uint32_t lines[GPHI_LINES_MAX]; /* squares of the terms that were asked */
} question;

static int rarity_of(const question *of, const gphi_term_slot *slot)
{
    /* What a word costs that no entry has. Beside "CUDA graph" it is the name of a model
     * or a machine; beside nothing of ours it is what the question is about. */
    static const int unknown[SUBJECTS] = {1500, 700, 400};
    return slot ? slot->rarity : unknown[of->subject];
}

/* Most pairs of Chinese characters are the border of two words: one that names no subject
 * costs something only where the pair before it does not say what its first character
 * belongs to. */
static int cost_of(question *of, const gphi_term *term, const asked *to)
{
    if (term->kind != GPHI_TERM_CHINESE)
        return to->rarity;
    const bool is_border = term->is_border || term->at < of->known_end;
    if (to->slot || term->is_stop)
        of->known_end = term->at + term->bytes;
    return to->slot ? to->rarity : is_border || term->is_stop ? 0 : rarity_of(of, NULL);
}

static void add_likes(question *of, const gphi_term *term)
{
    for (size_t i = 0; i < term->like_count; i++) {
        const gphi_term_slot *slot = gphi_term_find(of->index, term->like[i]);
        bool is_new = slot && slot->rarity > 0 && of->like_count < LIKES_MAX;
        for (size_t k = 0; is_new && k < of->like_count; k++)
            is_new = of->likes[k] != slot;
        if (!is_new)
            continue;
        of->likes[of->like_count++] = slot;
        of->all += slot->rarity;
    }
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
    const int cost = cost_of(of, term, to);
    of->most += cost;
    of->all += cost;
    of->squares += (uint64_t)cost * (uint64_t)cost;
    of->count += !term->is_stop;
    if (!term->is_stop)
        add_likes(of, term);
}

/* A word that says something of what an entry is about. */
static const gphi_term_slot *find_term(const question *of, const gphi_term *term)
{
    const gphi_term_slot *slot =
        term->is_stop ? NULL : gphi_term_find(of->index, term->hash);
    return slot && slot->rarity > 0 ? slot : NULL;
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
        const gphi_term_slot *slot = find_term(of, &term);
        if (of->is_word && term.kind == GPHI_TERM_WHOLE && !slot)
            return;
        if (term.kind == GPHI_TERM_WHOLE && !slot)
            continue;
        if (term.kind == GPHI_TERM_WHOLE) {
            known_end = term.at + term.bytes;
            of->subject = SUBJECT_OURS;
        }
        add_term(of, &term, slot);
    }
}

/* BM25 with k1 = 1.2 and b = 0.3: what is said twice counts less than twice, and an entry
 * that says much counts each of it less. */
static int64_t weight_of(const gphi_index *index, const gphi_posting *at)
{
    const uint64_t mean = index->said_mean;
    const uint64_t length = 12 * (7 * mean + 3 * (uint64_t)index->said[at->entry]);
    return (int64_t)((uint64_t)at->often * 563 * mean * 10 /
                     ((uint64_t)at->often * mean * 10 + length));
}

static void count_term(question *of, const asked *term)
{
    const gphi_index *index = of->index;
    for (uint32_t i = term->slot->postings; i != 0; i = index->postings[i].next) {
        const gphi_posting *at = &index->postings[i];
        tally *entry = &of->entries[at->entry];
        entry->said += term->rarity * weight_of(index, at) / 256;
        if (term->at < entry->first)
            entry->first = term->at;
        if (at->often >= GPHI_OFTEN_ASKED) {
            entry->heavy += term->rarity;
            entry->heavy_count++;
        }
    }
    for (uint32_t i = term->slot->stands; i != 0; i = index->stands[i].next)
        of->lines[index->stands[i].line] += (uint32_t)(term->rarity * term->rarity) / 256;
}

static void count_like(question *of, const gphi_term_slot *slot)
{
    const gphi_index *index = of->index;
    for (uint32_t i = slot->postings; i != 0; i = index->postings[i].next)
        of->entries[index->postings[i].entry].said +=
            slot->rarity * weight_of(index, &index->postings[i]) / 256;
}

static void count_lines(question *of)
{
    const uint64_t norm = gphi_root(of->squares);
    for (size_t i = 1; i <= of->index->line_count; i++) {
        if (of->lines[i] == 0)
            continue;
        const gphi_line *line = &of->index->lines[i];
        int near = (int)((uint64_t)of->lines[i] * 256 * 1000 / (norm * line->norm + 1));
        for (size_t k = 0; k < NEAREST; k++) {
            int *kept = &of->entries[line->entry].near[k];
            if (near <= *kept)
                continue;
            const int less = *kept;
            *kept = near;
            near = less;
        }
    }
}

/* What separates words: a phrase is written with spaces, hyphens or underscores. */
static bool is_gap(char c)
{
    return gphi_is_space(c) || c == '-' || c == '_';
}

/* Whether the phrase is at `at`, whole. */
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
            entry->phrase = is_sentence(&keys[i]) ? entry->whole : entry->whole / 2;
            if (at < entry->first)
                entry->first = at;
        }
}

/* Where the first word that counted is: that line is shown. */
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

/* Tenths that an entry keeps: more where it is about what the question names, less where
 * that is another product, or an engine that nobody named. */
static int product_share(const question *of, const gph_explain_entry *what)
{
    const uint32_t product = gphi_product_of_slug(what->slug);
    if (product == 0 || (of->products == 0 && !gphi_product_is_engine(product)))
        return 10;
    return of->products & product ? 13 : of->products != 0 ? 7 : 8;
}

/* What an entry counts for, 0 if too little. What names its subject has to be a good part
 * of what was asked, the more the less sure it is what that is about: 30, 10 or 5 of 40. Of
 * several words two have to, or a rare one. A phrase counts by how much of the question
 * it is; that of an interface is less than a complaint about it, and where somebody
 * complains, what an interface is for says little: "cudaGraphInstantiate takes 800 us". */
static int32_t score_of(const question *of, const gph_explain_entry *what,
                        const tally *entry)
{
    static const int least[SUBJECTS] = {30, 10, 5}, nearest[SUBJECTS] = {700, 400, 0};
    const bool is_all = entry->whole == (int)of->bytes;
    const bool is_one = (of->subject == SUBJECT_OURS || of->is_terse) &&
                        (entry->heavy >= RARE || entry->heavy == of->most);
    const bool is_known =
        entry->heavy_count > 1 || of->is_word || entry->whole > 0 || is_one;
    const bool is_near = entry->near[0] >= nearest[of->subject];
    if (!is_all && (!is_known || !is_near ||
                    (int64_t)entry->heavy * 40 < (int64_t)of->most * least[of->subject]))
        return 0;
    const bool is_interface = what->rank == 0;
    int64_t score = entry->said * 1000 / (of->all + 1) +
                    (entry->near[0] * 6 + entry->near[1] * 4 + entry->near[2] * 3) / 10;
    score += (int64_t)(is_all ? PHRASE * 2 : PHRASE) *
             (is_all ? entry->whole : entry->phrase) / (int64_t)of->bytes /
             (is_interface && !entry->is_named ? 2 : 1);
    if (entry->near[0] > NEAR_SAME)
        score += (entry->near[0] - NEAR_SAME) * SAME / (1000 - NEAR_SAME);
    score += entry->is_named ? NAMED + (is_all ? PHRASE : 0) : 0;
    if (is_interface && of->is_complaint && !is_all)
        score = score * 3 / 4;
    return (int32_t)(score * product_share(of, what) / 10);
}

/* How many of the words are in the text, up to `enough`; most places of it begin none. */
static int count_said(const char *text, size_t bytes, const char *const *words,
                      int enough)
{
    bool begins[256] = {false}, is_said[WORDS_MAX] = {false};
    int count = 0;
    for (size_t i = 0; words[i]; i++)
        begins[(uint8_t)words[i][0]] = true;
    for (size_t at = 0; at < bytes && count < enough; at++) {
        if (!begins[(uint8_t)gphi_lower(text[at])])
            continue;
        for (size_t i = 0; i < WORDS_MAX && words[i]; i++) {
            const size_t length = strlen(words[i]);
            if (is_said[i] || at + length > bytes ||
                !gphi_is_same(text + at, words[i], length))
                continue;
            is_said[i] = true;
            count++;
        }
    }
    return count;
}

/* Words that occur nowhere else, and words that other trades have as well. */
static const char *const ours[] = {
    "cuda",          "gpu",  "torch", "nccl",  "vllm",   "llama.cpp", "jax",
    "xla",           "cupy", "cudn",  "cubla", "unjoin", "replay",    "enforce_eager",
    "enforce-eager", "内核", "重放",  "张量",  "显存",   NULL};
static const char *const shared[] = {
    "graph",   "captur",    "stream", "kernel",   "tensor", "conditional node",
    "图",      "捕获",      "流",     "条件节点", "warmup", "warm-up",
    "warm up", "inference", "预热",   "推理",     NULL};

/* Graphs and files of other trades, which nothing here is about where it says no word of
 * recording and replaying. */
static const char *const others[] = {"create_graph",
                                     "retain_graph",
                                     "static_graph",
                                     "matplotlib",
                                     "neo4j",
                                     "networkx",
                                     "knowledge graph",
                                     "graph neural",
                                     "tensorboard",
                                     "computation graph",
                                     "call graph",
                                     "directed graph",
                                     "graph search",
                                     "graph theory",
                                     "computational graph",
                                     "cannot open shared object",
                                     "too many open files",
                                     "num_workers",
                                     "no module named",
                                     "pip install",
                                     "知识图谱",
                                     "计算图",
                                     "图神经",
                                     NULL};
static const char *const recording[] = {
    "captur",  "replay",          "cuda graph", "cudagraph", "cuda-graph", "cuda_graph",
    "cugraph", "reduce-overhead", "捕获",       "重放",      NULL};

static bool is_of_others(const char *text, size_t bytes)
{
    return count_said(text, bytes, others, 1) > 0 &&
           count_said(text, bytes, recording, 1) == 0;
}

/* How sure it is that the text is about what the entries are about: one word of ours, or
 * two of those that are shared, one, or none. */
static enum subject subject_of(const char *text, size_t bytes)
{
    if (count_said(text, bytes, ours, 1) > 0)
        return SUBJECT_OURS;
    const int count = count_said(text, bytes, shared, 2);
    return count > 1 ? SUBJECT_OURS : count > 0 ? SUBJECT_SHARED : SUBJECT_ANY;
}

/* Words of somebody to whom something happens, and not of one who wants to know what an
 * interface does. */
static const char *const complaints[] = {"slow",
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
                                         "illegal",
                                         " error",
                                         "cannot",
                                         "can't",
                                         "unable",
                                         "exception",
                                         "mismatch",
                                         "regress",
                                         "degrad",
                                         " poor",
                                         "异常",
                                         NULL};

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

static const char *const graphs[] = {"graph", "captur", "图", "捕获", NULL};

/* "graph is slow", 图卡住: who asks here in a few words that entries have means the graphs
 * that are meant here. */
static bool is_terse(const question *of)
{
    bool is_known = of->count > 0 && of->bytes <= TERSE_BYTES;
    for (size_t i = 0; i < of->count; i++)
        is_known &= of->terms[i].slot != NULL;
    return is_known && of->subject == SUBJECT_SHARED &&
           count_said(of->text, of->bytes, graphs, 1) > 0;
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
        entry->phrase = entry->whole;
    }
}

void gphi_scan_words(const char *text, size_t bytes, gphi_words which, gphi_hits *hits)
{
    if (bytes == 0 || bytes > TEXT_BYTES || which == GPHI_WORDS_NONE ||
        is_of_others(text, bytes))
        return;
    question of = {.index = gphi_explain_index(), .text = text, .bytes = bytes};
    of.products = gphi_products_of(text, bytes);
    of.subject = of.products != 0 ? SUBJECT_OURS : subject_of(text, bytes);
    of.is_complaint = count_said(text, bytes, complaints, 1) > 0;
    take_names(&of, hits);
    if (!is_expression(text, bytes))
        read_terms(&of);
    of.is_terse = is_terse(&of);
    for (size_t i = 0; i < of.count; i++)
        if (of.terms[i].slot)
            count_term(&of, &of.terms[i]);
    for (size_t i = 0; i < of.like_count; i++)
        count_like(&of, of.likes[i]);
    count_lines(&of);
    count_phrases(&of);
    for (size_t at = 0; at < gphi_knowledge_count; at++) {
        const tally *entry = &of.entries[at];
        gph_explain_match match = {.entry = &gphi_knowledge[at],
                                   .reason = GPH_EXPLAIN_BY_WORDS,
                                   .score = score_of(&of, &gphi_knowledge[at], entry)};
        if (match.score == 0 || (which == GPHI_WORDS_NEAR &&
                                 (entry->near[0] < NEAR_KNOWN || entry->heavy_count < 3)))
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
