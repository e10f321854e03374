// SPDX-License-Identifier: Apache-2.0
/* What the searches look things up in: made of the knowledge base once, by the first text
 * that a process asks about, and only read from then on. No allocation.
 *
 *   keys      names, slugs, codes ---> slots, by their lower-case bytes
 *             messages, phrases   ---> lists, by their first two bytes
 *   terms     words of entries    ---> postings: which entry, where in it
 *   spelled   all names there are, with their letters counted */
#ifndef GPHI_EXPLAIN_INDEX_H
#define GPHI_EXPLAIN_INDEX_H
#include "explain/knowledge.h"
#include <stdbool.h>

enum {
    GPHI_ENTRIES_MAX = 512, /* a test holds this and what follows */
    GPHI_KEYS_MAX = 4096,   /* names, codes and messages of all */
    GPHI_PHRASES_MAX = 8192,
    GPHI_TERMS_MAX = 1 << 15, /* slots; at most half of them are taken */
    GPHI_POSTINGS_MAX = 1 << 16,
    GPHI_SPELLED_MAX = 4096,
    GPHI_LISTS = 1024, /* of messages or phrases, by a hash of their first pair */
    GPHI_SLOTS = 8192, /* of names: a power of two, twice the keys */
    GPHI_PAIRS = 1 << 16,
    GPHI_LETTERS = 32 /* what is counted of a name: a to z, digits, the rest */
};

typedef struct gphi_key {
    const char *text;
    uint16_t bytes;
    uint16_t entry;
    uint16_t next; /* message, phrase: the next one of its list, 0 for none */
    gph_explain_reason reason;
} gphi_key;

/* Texts that are looked for anywhere, by their first two bytes. */
typedef struct gphi_pairs {
    uint16_t lists[GPHI_LISTS];
    uint8_t has[GPHI_PAIRS / 8]; /* a bit a pair: most places of a text cost one look */
} gphi_pairs;

/* Where a term stands: an entry, how much the place says, and which phrase it is. */
typedef struct gphi_posting {
    uint16_t entry;
    uint16_t phrase; /* 0: none */
    uint16_t weight;
} gphi_posting;

/* A term's postings lie in a row. */
typedef struct gphi_term_slot {
    uint64_t hash; /* 0: free */
    uint32_t first;
    uint16_t count;
    uint16_t entries; /* how many different ones */
    uint16_t weight;  /* of the best of them */
} gphi_term_slot;

typedef struct gphi_spelled {
    const char *name;
    size_t bytes;
    uint64_t pairs; /* bits for each two letters that stand together */
    uint8_t letters[GPHI_LETTERS];
} gphi_spelled;

typedef struct gphi_index {
    size_t key_count, phrase_count, term_count, posting_count, spelled_count;
    gphi_key keys[GPHI_KEYS_MAX];       /* the first is not used */
    gphi_key phrases[GPHI_PHRASES_MAX]; /* as well */
    uint16_t slots[GPHI_SLOTS];
    gphi_pairs messages, phrase_pairs;
    gphi_term_slot terms[GPHI_TERMS_MAX];
    gphi_posting postings[GPHI_POSTINGS_MAX];
    gphi_spelled spelled[GPHI_SPELLED_MAX];
    uint16_t name_slots[GPHI_SLOTS]; /* of `spelled`, by all of their bytes */
} gphi_index;

/* The index of this process. Thread: any. */
const gphi_index *gphi_explain_index(void);

/* Case does not count: people write cudaErrorFoo in any way. */
uint32_t gphi_hash_name(const char *text, size_t bytes);

uint32_t gphi_pair_of(char first, char second);

/* The first of the texts that may stand where this pair does; 0: none. */
uint16_t gphi_pairs_first(const gphi_pairs *pairs, char first, char second);

/* The term of that hash, NULL if no entry has it. */
const gphi_term_slot *gphi_term_find(const gphi_index *index, uint64_t hash);

/* Counts the letters of a name. */
void gphi_spell(const char *name, size_t bytes, gphi_spelled *out);
#endif
