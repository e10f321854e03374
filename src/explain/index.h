// SPDX-License-Identifier: Apache-2.0
/* What the searches look things up in: made of the knowledge base once, by the first text
 * that a process asks about, and only read from then on. No allocation.
 *
 *   keys      names, slugs, codes ---> slots, by their lower-case bytes
 *             messages, phrases   ---> lists, by their first two bytes
 *   terms     words of entries    ---> postings: how often an entry says it
 *                                 ---> stands: which lines (phrases, questions) have it
 *   spelled   all names there are, with their letters counted */
#ifndef GPHI_EXPLAIN_INDEX_H
#define GPHI_EXPLAIN_INDEX_H
#include "explain/knowledge.h"
#include <stdbool.h>

enum {
    GPHI_ENTRIES_MAX = 512, /* a test holds this and what follows */
    GPHI_KEYS_MAX = 4096,   /* names, codes and messages of all */
    GPHI_PHRASES_MAX = 8192,
    GPHI_LINES_MAX = 1 << 14, /* phrases, questions and titles of all */
    GPHI_TERMS_MAX = 1 << 15, /* slots; at most half of them are taken */
    GPHI_POSTINGS_MAX = 3 << 16,
    GPHI_STANDS_MAX = 1 << 17,
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

/* How often an entry says a term, by where: in tenths of a question. */
typedef struct gphi_posting {
    uint32_t next; /* of the same term, another entry; 0 for none */
    uint16_t entry;
    uint16_t often;
} gphi_posting;

/* A line that has a term. */
typedef struct gphi_stand {
    uint32_t next; /* 0 for none */
    uint16_t line;
} gphi_stand;

typedef struct gphi_term_slot {
    uint64_t hash;             /* 0: free */
    uint32_t postings, stands; /* the last of each */
    uint32_t seen;             /* the text that had it last: counted once in each */
    uint16_t entries; /* how many different ones have it where it says something */
    uint16_t entry;   /* the last of these, + 1 */
    uint16_t rarity;  /* in 1/256: the logarithm of how few these are; 0: none */
    bool is_like;     /* a group of words, or how some begin: never unknown */
} gphi_term_slot;

/* A phrase, a question or a title: what lies nearest to a question is an answer to it. */
typedef struct gphi_line {
    uint32_t norm; /* the root of the sum of the squares of its rarities */
    uint16_t entry;
} gphi_line;

typedef struct gphi_spelled {
    const char *name;
    size_t bytes;
    uint64_t pairs; /* bits for each two letters that are together */
    uint8_t letters[GPHI_LETTERS];
} gphi_spelled;

typedef struct gphi_index {
    size_t key_count, phrase_count, line_count, term_count;
    size_t posting_count, stand_count, spelled_count;
    gphi_key keys[GPHI_KEYS_MAX];       /* the first is not used */
    gphi_key phrases[GPHI_PHRASES_MAX]; /* as well */
    uint16_t slots[GPHI_SLOTS];
    gphi_pairs messages, phrase_pairs;
    gphi_term_slot terms[GPHI_TERMS_MAX];
    gphi_posting postings[GPHI_POSTINGS_MAX]; /* the first of each list is not used */
    gphi_stand stands[GPHI_STANDS_MAX];
    gphi_line lines[GPHI_LINES_MAX];
    uint32_t said[GPHI_ENTRIES_MAX]; /* by an entry: the sum of `often` */
    uint32_t said_mean;
    gphi_spelled spelled[GPHI_SPELLED_MAX];
    uint16_t name_slots[GPHI_SLOTS]; /* of `spelled`, by all of their bytes */
} gphi_index;

/* The index of this process. Thread: any. */
const gphi_index *gphi_explain_index(void);

/* Case does not count: people write cudaErrorFoo in any way. */
uint32_t gphi_hash_name(const char *text, size_t bytes);

uint32_t gphi_pair_of(char first, char second);

/* The first of the texts that may be where this pair does; 0: none. */
uint16_t gphi_pairs_first(const gphi_pairs *pairs, char first, char second);

/* The term of that hash, NULL if no entry has it. */
const gphi_term_slot *gphi_term_find(const gphi_index *index, uint64_t hash);

/* The root, rounded down. */
uint32_t gphi_root(uint64_t of);

/* Counts the letters of a name. */
void gphi_spell(const char *name, size_t bytes, gphi_spelled *out);
#endif
