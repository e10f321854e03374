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

/* Counts the postings of a term, or writes them in a row when all are counted. */
static void post(gphi_index *to, bool is_counting, const gphi_term *term,
                 const gphi_posting *what)
{
    gphi_term_slot *slot = slot_of(to, term->hash);
    if (is_counting) {
        if (slot->hash == 0 && to->term_count * 2 >= GPHI_TERMS_MAX)
            return;
        to->term_count += slot->hash == 0;
        slot->hash = term->hash;
        slot->first++; /* becomes where they begin */
        return;
    }
    if (slot->hash == 0)
        return;
    gphi_posting *last = &to->postings[slot->first + slot->count];
    if (slot->count == 0 || last[-1].entry != what->entry)
        slot->entries++;
    else if (last[-1].phrase == what->phrase && last[-1].weight >= what->weight)
        return;
    *last = *what;
    slot->count++;
    slot->weight = what->weight > slot->weight ? what->weight : slot->weight;
}

static void post_text(gphi_index *to, bool is_counting, const char *text, uint16_t entry,
                      uint16_t phrase, uint16_t weight)
{
    gphi_term_reader reader = {.text = text, .bytes = strlen(text)};
    const gphi_posting what = {.entry = entry, .phrase = phrase, .weight = weight};
    for (gphi_term term; gphi_term_next(&reader, &term);)
        if (!term.is_stop)
            post(to, is_counting, &term, &what);
}

/* What people call it says most, then the title, then names and messages, then the cause.
 */
static void post_entries(gphi_index *to, bool is_counting)
{
    uint16_t phrase = 0;
    for (uint16_t i = 0; i < gphi_knowledge_count; i++) {
        const gph_explain_entry *entry = &gphi_knowledge[i];
        for (const char *const *at = entry->words; *at; at++)
            post_text(to, is_counting, *at, i, ++phrase, GPHI_WEIGHT_WORDS);
        post_text(to, is_counting, entry->slug, i, 0, GPHI_WEIGHT_TITLE);
        const bool is_feature = entry->kind == GPH_EXPLAIN_FEATURE;
        for (const char *const *at = entry->names; *at; at++)
            post_text(to, is_counting, *at, i, 0,
                      is_feature ? GPHI_WEIGHT_TITLE : GPHI_WEIGHT_KEY);
        for (const char *const *at = entry->messages; *at; at++)
            post_text(to, is_counting, *at, i, 0, GPHI_WEIGHT_KEY);
        for (int language = 0; language < GPH_EXPLAIN_LANGUAGES; language++) {
            const gph_explain_text *text = &entry->text[language];
            post_text(to, is_counting, text->title, i, 0, GPHI_WEIGHT_TITLE);
            post_text(to, is_counting, text->cause, i, 0, GPHI_WEIGHT_CAUSE);
            post_text(to, is_counting, text->fix_text, i, 0, GPHI_WEIGHT_FIX);
        }
    }
}

/* Turns counts into where each term's postings begin; terms that have no room are left
 * out, and a test holds that there are none. */
static void place_postings(gphi_index *to)
{
    for (size_t i = 0; i < GPHI_TERMS_MAX; i++) {
        gphi_term_slot *slot = &to->terms[i];
        const uint32_t count = slot->first;
        slot->first = (uint32_t)to->posting_count;
        if (slot->hash != 0 && to->posting_count + count >= GPHI_POSTINGS_MAX)
            slot->hash = 0;
        else
            to->posting_count += count;
    }
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
    post_entries(to, true);
    place_postings(to);
    post_entries(to, false);
}

const gphi_index *gphi_explain_index(void)
{
    pthread_once(&index_once, make_index);
    return &the_index;
}
