// SPDX-License-Identifier: Apache-2.0
/* Makes the index: once a process, 10 ms. A text that is asked about afterwards costs what
 * it has in it, not what the knowledge base has. */
#include "explain/index.h"
#include "base/hash.h"
#include "explain/names.h"
#include "explain/scan.h"
#include "explain/terms.h"

#include <pthread.h>
#include <string.h>

static gphi_index the_index;
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

uint32_t gphi_hash_name(const char *text, size_t bytes)
{
    uint64_t hash = GPHI_HASH_START;
    for (size_t i = 0; i < bytes; i++)
        hash = gphi_hash_word(hash, (uint8_t)gphi_lower(text[i]));
    return (uint32_t)hash;
}

uint32_t gphi_pair_of(char first, char second)
{
    return (uint32_t)(uint8_t)gphi_lower(first) << 8 | (uint8_t)gphi_lower(second);
}

static uint32_t list_of(uint32_t pair)
{
    return (pair * 40503u >> 6) % GPHI_LISTS;
}

uint16_t gphi_pairs_first(const gphi_pairs *pairs, char first, char second)
{
    const uint32_t pair = gphi_pair_of(first, second);
    const bool is_there = (pairs->has[pair / 8] & 1u << pair % 8) != 0;
    return is_there ? pairs->lists[list_of(pair)] : 0;
}

/* Into its list; `keys` is the array that `at` is of. */
static void list_key(gphi_pairs *pairs, gphi_key *keys, uint16_t at)
{
    const uint32_t pair = gphi_pair_of(keys[at].text[0], keys[at].text[1]);
    pairs->has[pair / 8] |= (uint8_t)(1u << pair % 8);
    keys[at].next = pairs->lists[list_of(pair)];
    pairs->lists[list_of(pair)] = at;
}

static void add_key(gphi_index *to, size_t entry, const char *text,
                    gph_explain_reason reason)
{
    if (to->key_count + 1 >= GPHI_KEYS_MAX)
        return; /* a test holds that there are fewer */
    const uint16_t at = (uint16_t)++to->key_count;
    to->keys[at] = (gphi_key){.text = text,
                              .bytes = (uint16_t)strlen(text),
                              .entry = (uint16_t)entry,
                              .reason = reason};
    if (reason == GPH_EXPLAIN_BY_MESSAGE) {
        list_key(&to->messages, to->keys, at);
        return;
    }
    uint32_t slot = gphi_hash_name(text, to->keys[at].bytes) % GPHI_SLOTS;
    while (to->slots[slot] != 0)
        slot = (slot + 1) % GPHI_SLOTS;
    to->slots[slot] = at;
}

static void add_keys(gphi_index *to, size_t entry, const char *const *list,
                     gph_explain_reason reason)
{
    for (; *list; list++)
        add_key(to, entry, *list, reason);
}

static void add_phrase(gphi_index *to, size_t entry, const char *text)
{
    if (to->phrase_count + 1 >= GPHI_PHRASES_MAX || strlen(text) < 2)
        return;
    const uint16_t at = (uint16_t)++to->phrase_count;
    to->phrases[at] = (gphi_key){.text = text,
                                 .bytes = (uint16_t)strlen(text),
                                 .entry = (uint16_t)entry,
                                 .reason = GPH_EXPLAIN_BY_WORDS};
    list_key(&to->phrase_pairs, to->phrases, at);
}

/* Where a hash is, or the free slot for it. */
static gphi_term_slot *slot_of(gphi_index *of, uint64_t hash)
{
    size_t at = (size_t)(hash >> 8) % GPHI_TERMS_MAX;
    while (of->terms[at].hash != 0 && of->terms[at].hash != hash)
        at = (at + 1) % GPHI_TERMS_MAX;
    return &of->terms[at];
}

const gphi_term_slot *gphi_term_find(const gphi_index *index, uint64_t hash)
{
    const gphi_term_slot *slot = slot_of((gphi_index *)index, hash);
    return slot->hash != 0 ? slot : NULL;
}

/* A text of an entry on its way into the index. */
typedef struct text_of {
    uint16_t entry;
    uint16_t often;  /* what it counts */
    bool is_subject; /* it says what the entry is about */
    uint16_t line;   /* 0: none */
    uint32_t number; /* of the text */
} text_of;

static void post(gphi_index *to, uint64_t hash, bool is_like, const text_of *of)
{
    gphi_term_slot *slot = slot_of(to, hash);
    if (slot->hash == 0) {
        if (to->term_count * 2 >= GPHI_TERMS_MAX)
            return; /* a test holds that there is room */
        to->term_count++;
        *slot = (gphi_term_slot){.hash = hash, .is_like = is_like};
    }
    if (slot->seen == of->number)
        return;
    slot->seen = of->number;
    gphi_posting *last = &to->postings[slot->postings];
    if (slot->postings == 0 || last->entry != of->entry) {
        if (to->posting_count + 1 >= GPHI_POSTINGS_MAX)
            return;
        const uint32_t at = (uint32_t)++to->posting_count;
        to->postings[at] = (gphi_posting){.next = slot->postings, .entry = of->entry};
        slot->postings = at;
        last = &to->postings[at];
    }
    last->often = (uint16_t)(last->often + of->often);
    to->said[of->entry] += of->often;
    if (of->is_subject && slot->entry != of->entry + 1) {
        slot->entry = (uint16_t)(of->entry + 1);
        slot->entries++;
    }
    if (of->line == 0 || is_like || to->stand_count + 1 >= GPHI_STANDS_MAX)
        return;
    to->stands[++to->stand_count] = (gphi_stand){.next = slot->stands, .line = of->line};
    slot->stands = (uint32_t)to->stand_count;
}

static uint16_t new_line(gphi_index *to, uint16_t entry)
{
    if (to->line_count + 1 >= GPHI_LINES_MAX)
        return 0;
    to->lines[++to->line_count] = (gphi_line){.entry = entry};
    return (uint16_t)to->line_count;
}

static void post_text(gphi_index *to, const char *text, size_t bytes, text_of of)
{
    static uint32_t number; /* under the once of the index */
    gphi_term_reader reader = {.text = text, .bytes = bytes};
    of.number = ++number;
    for (gphi_term term; gphi_term_next(&reader, &term);) {
        if (term.is_stop)
            continue;
        post(to, term.hash, false, &of);
        for (size_t i = 0; i < term.like_count; i++)
            post(to, term.like[i], true, &of);
    }
}

static void post_line(gphi_index *to, const char *text, size_t bytes, text_of of)
{
    of.is_subject = true;
    of.line = new_line(to, of.entry);
    post_text(to, text, bytes, of);
}

static void post_list(gphi_index *to, const char *const *list, bool is_line, text_of of)
{
    for (; *list; list++) {
        if (is_line)
            post_line(to, *list, strlen(*list), of);
        else
            post_text(to, *list, strlen(*list), of);
    }
}

static void post_asked(gphi_index *to, const char *lines, text_of of)
{
    for (const char *at = lines; *at != '\0';) {
        const size_t bytes = strcspn(at, "\n");
        post_line(to, at, bytes, of);
        at += bytes + 1;
    }
}

static const char *asked_of(const char *slug)
{
    for (size_t i = 0; gphi_asked_list[i].slug; i++)
        if (strcmp(gphi_asked_list[i].slug, slug) == 0)
            return gphi_asked_list[i].lines;
    return "";
}

/* Questions, phrases, names and the title say what an entry is about; cause and fix also
 * speak of other things. */
static void post_entry(gphi_index *to, uint16_t at)
{
    const gph_explain_entry *entry = &gphi_knowledge[at];
    const text_of of = {.entry = at, .often = GPHI_OFTEN_ASKED, .is_subject = true};
    text_of title = of, cause = of, fix = of;
    title.often = GPHI_OFTEN_TITLE;
    cause.often = GPHI_OFTEN_CAUSE;
    fix.often = GPHI_OFTEN_FIX;
    cause.is_subject = fix.is_subject = false;
    post_asked(to, asked_of(entry->slug), of);
    post_list(to, entry->words, true, of);
    post_text(to, entry->slug, strlen(entry->slug), of);
    post_list(to, entry->names, false, of);
    post_list(to, entry->messages, false, of);
    for (int language = 0; language < GPH_EXPLAIN_LANGUAGES; language++) {
        const gph_explain_text *text = &entry->text[language];
        post_line(to, text->title, strlen(text->title), title);
        post_text(to, text->cause, strlen(text->cause), cause);
        post_list(to, text->fix, false, fix);
    }
}

/* The binary logarithm in 1/256, of a number of at least 1/65536 in 1/65536: whole
 * numbers, so that every machine orders entries alike. */
static uint32_t logarithm(uint64_t of)
{
    uint32_t whole = 0;
    while (of >= 2u << 16) {
        of >>= 1;
        whole += 256;
    }
    for (uint32_t bit = 128; bit > 0; bit /= 2) {
        of = of * of >> 16;
        if (of >= 2u << 16) {
            of >>= 1;
            whole += bit;
        }
    }
    return whole;
}

uint32_t gphi_root(uint64_t of)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= of)
            root += bit;
    return (uint32_t)root;
}

/* Rarities as BM25 has them, half as much for what is only like a word; then the lengths
 * of lines. */
static void weigh_terms(gphi_index *to)
{
    enum { RARITY_MAX = 1500 }; /* a word that occurs by chance in one entry says less */
    const uint64_t all = gphi_knowledge_count;
    static uint64_t squares[GPHI_LINES_MAX];
    for (size_t i = 0; i < GPHI_TERMS_MAX; i++) {
        gphi_term_slot *slot = &to->terms[i];
        const uint64_t having = slot->entries;
        if (slot->hash == 0 || having == 0)
            continue;
        const uint64_t ratio = ((all - having) * 2 + 1) * 65536 / (having * 2 + 1);
        const uint32_t rarity = logarithm(65536 + ratio);
        slot->rarity = (uint16_t)(rarity < RARITY_MAX ? rarity : RARITY_MAX);
        if (slot->is_like)
            slot->rarity /= 2;
        for (uint32_t at = slot->stands; at != 0; at = to->stands[at].next)
            squares[to->stands[at].line] += (uint64_t)slot->rarity * slot->rarity;
    }
    for (size_t i = 1; i <= to->line_count; i++)
        to->lines[i].norm = gphi_root(squares[i]);
    for (size_t i = 0; i < all; i++)
        to->said_mean += to->said[i];
    to->said_mean = to->said_mean / (uint32_t)all + 1;
}

void gphi_spell(const char *name, size_t bytes, gphi_spelled *out)
{
    *out = (gphi_spelled){.name = name, .bytes = bytes};
    for (size_t i = 1; i < bytes; i++)
        out->pairs |= UINT64_C(1) << gphi_pair_of(name[i - 1], name[i]) * 40503u % 61;
    for (size_t i = 0; i < bytes; i++) {
        const char c = gphi_lower(name[i]);
        const int letter = c >= 'a' && c <= 'z' ? c - 'a'
                           : gphi_is_digit(c)   ? 26 + (c - '0') % 4
                           : c == '_'           ? 30
                                                : 31;
        out->letters[letter]++; /* a name has fewer bytes than 256 */
    }
}

/* Each name once: entries and the list of names share most of theirs. */
static void add_spelled(gphi_index *to, const char *name)
{
    const size_t bytes = strlen(name);
    uint32_t slot = gphi_hash_name(name, bytes) % GPHI_SLOTS;
    for (; to->name_slots[slot] != 0; slot = (slot + 1) % GPHI_SLOTS)
        if (strcmp(to->spelled[to->name_slots[slot]].name, name) == 0)
            return;
    if (to->spelled_count + 1 >= GPHI_SPELLED_MAX)
        return;
    const size_t at = ++to->spelled_count; /* the first is not used */
    gphi_spell(name, bytes, &to->spelled[at]);
    to->name_slots[slot] = (uint16_t)at;
}

static void make_index(void)
{
    gphi_index *to = &the_index;
    for (size_t i = 0; i < gphi_knowledge_count && i < GPHI_ENTRIES_MAX; i++) {
        const gph_explain_entry *entry = &gphi_knowledge[i];
        add_key(to, i, entry->slug, GPH_EXPLAIN_BY_SLUG);
        add_keys(to, i, entry->names, GPH_EXPLAIN_BY_NAME);
        add_keys(to, i, entry->codes, GPH_EXPLAIN_BY_CODE);
        add_keys(to, i, entry->messages, GPH_EXPLAIN_BY_MESSAGE);
        for (const char *const *at = entry->words; *at; at++)
            add_phrase(to, i, *at);
        if (entry->kind == GPH_EXPLAIN_NOTHING)
            continue;
        add_spelled(to, entry->slug);
        for (const char *const *at = entry->names; *at; at++)
            add_spelled(to, *at);
    }
    for (size_t i = 0; i < gphi_names_count; i++)
        add_spelled(to, gphi_names[i]);
    for (size_t i = 0; i < gphi_knowledge_count && i < GPHI_ENTRIES_MAX; i++)
        post_entry(to, (uint16_t)i);
    weigh_terms(to);
}

const gphi_index *gphi_explain_index(void)
{
    pthread_once(&index_once, make_index);
    return &the_index;
}
