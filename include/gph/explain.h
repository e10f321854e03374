/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  The knowledge base: what goes wrong with CUDA graphs, why, what helps and what does
 *  not, in English and Chinese. `gph explain` looks texts up in it, and the doctor takes
 *  the text of its findings from it. It is static data of the library: nothing is read,
 *  nothing is allocated, nothing can fail. Tier: experimental. */
#ifndef GPH_EXPLAIN_H
#define GPH_EXPLAIN_H

#include <gph/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What an entry is about. */
typedef enum gph_explain_kind {
    GPH_EXPLAIN_RULE = 0,    /**< a rule of the doctor; the slug is the rule's id */
    GPH_EXPLAIN_CODE = 1,    /**< an error code of the driver and the runtime */
    GPH_EXPLAIN_RESULT = 2,  /**< a result of an update or of an instantiation */
    GPH_EXPLAIN_MESSAGE = 3, /**< a message of a framework, a library or a tool */
    GPH_EXPLAIN_NOTHING = 4, /**< a name that does not exist, and what was probably
                                  meant */
    GPH_EXPLAIN_FEATURE = 5  /**< an interface of CUDA or PyTorch, and what it is for */
} gph_explain_kind;

/** The languages of the texts. */
typedef enum gph_explain_language {
    GPH_EXPLAIN_ENGLISH = 0,
    GPH_EXPLAIN_CHINESE = 1,
    GPH_EXPLAIN_LANGUAGES = 2 /**< how many there are */
} gph_explain_language;

/** The products that have versions. */
typedef enum gph_explain_product {
    GPH_EXPLAIN_CUDA = 0,    /**< the toolkit: "12.3" */
    GPH_EXPLAIN_DRIVER = 1,  /**< the driver of Linux: "545.23.06" */
    GPH_EXPLAIN_PYTORCH = 2, /**< "1.10" */
    GPH_EXPLAIN_PRODUCTS = 3 /**< how many there are */
} gph_explain_product;

/** Since when a product has what an entry is about. Texts are empty where no source is
 *  known, never NULL. Layout frozen: entries hold one per product. */
typedef struct gph_explain_since {
    const char *introduced; /**< the first version; "<=2.1": 2.1 has it, older versions
                                 may */
    const char *deprecated; /**< the version since which it should not be used */
    const char *status;     /**< "current", "beta", "internal", "deprecated", "removed" */
    const char *source;     /**< where this is documented: a file of this repository, or
                                 an address */
} gph_explain_since;

/** What an entry says, in one language. Lists end with NULL and may be empty. Layout
 *  frozen: entries hold one per language. */
typedef struct gph_explain_text {
    const char *title;           /**< one line, no full stop */
    const char *cause;           /**< why it happens */
    const char *const *fix;      /**< what to do, one or two sentences each */
    const char *const *in_vain;  /**< what people try that does not help, and why */
    const char *const *versions; /**< since when, until when, in which state */
    const char *fix_text;        /**< `fix` as one paragraph */
    const char *in_vain_text;    /**< `in_vain` as one paragraph, or empty */
} gph_explain_text;

/** An entry. All of it is static storage; lists end with NULL and may be empty. Lent:
 *  grows at the end. */
typedef struct gph_explain_entry {
    const char *slug;         /**< its stable name: "cuda/904-stream-capture-unjoined" */
    gph_explain_kind kind;    /**< see there */
    int32_t rank;             /**< how specific it is, 0 to 9: causes before
                                   consequences */
    const char *const *codes; /**< numbers: "904" */
    const char *const *names; /**< names that match only as a whole */
    const char *const *messages; /**< parts of messages; a space matches any white
                                      space */
    const char *const *words;    /**< words that people use for it, for free text */
    const char *const *see;      /**< where to read on: slugs, files of this repository,
                                      addresses */
    const char *shown_by; /**< what shows it: "rule R64", "broken update.edges", "test X",
                               "measured ...", "source ..." */
    gph_explain_text text[GPH_EXPLAIN_LANGUAGES];  /**< by gph_explain_language */
    gph_explain_since since[GPH_EXPLAIN_PRODUCTS]; /**< by gph_explain_product */
} gph_explain_entry;

/** How many entries there are. Thread: any. */
GPH_API size_t gph_explain_count(void);

/** An entry by its index, in the order of the data file; NULL if there is none. Thread:
 *  any. */
GPH_API const gph_explain_entry *gph_explain_at(size_t index);

/** The entry of a slug, or of a rule's id; NULL if there is none. Thread: any. */
GPH_API const gph_explain_entry *gph_explain_get(const char *slug);

/** What in a text led to an entry, the strongest first. */
typedef enum gph_explain_reason {
    GPH_EXPLAIN_BY_SLUG = 0,    /**< its slug */
    GPH_EXPLAIN_BY_NAME = 1,    /**< a name, whole */
    GPH_EXPLAIN_BY_CODE = 2,    /**< a number, alone or after a word such as "error" */
    GPH_EXPLAIN_BY_MESSAGE = 3, /**< a piece of a message */
    GPH_EXPLAIN_BY_WORDS = 4    /**< words of the text occur in the entry */
} gph_explain_reason;

/** An entry that a text leads to. Layout frozen: the caller's array; the entry has
 *  everything else. */
typedef struct gph_explain_match {
    const gph_explain_entry *entry; /**< static */
    gph_explain_reason reason;      /**< see there */
    int32_t score;                  /**< compares matches of one text */
    const char *key;   /**< the entry's key that was found, static; NULL for words */
    size_t line;       /**< of the text, from 1 */
    size_t line_begin; /**< where that line begins in the text, in bytes */
    size_t line_bytes; /**< how long it is, without its end */
} gph_explain_match;

/** Finds the entries that a text is about: a number, a name, a slug, some words, or a log
 *  or traceback of any length, in English or Chinese. The most specific comes first: a
 *  message that names a cause before the code of a consequence; among equals, what occurs
 *  first in the text.
 *
 *  text      borrowed for the call; `bytes` of it, any bytes.
 *  out       filled with at most `capacity` matches of different entries, the best first.
 *
 *  Returns how many there are in `out`; 0 if the text leads nowhere. Thread: any. */
GPH_API size_t gph_explain_find(const char *text, size_t bytes, gph_explain_match *out,
                                size_t capacity);

/** Names, slugs and codes that are similar to one in the text: for "did you mean". A name
 *  that exists, though no entry has it, comes first, without its version suffix (_v2).
 *
 *  text  borrowed for the call; `bytes` of it.
 *  out   filled with at most `capacity` names, static, the nearest first.
 *
 *  Returns how many there are in `out`. Thread: any. */
GPH_API size_t gph_explain_near(const char *text, size_t bytes, const char **out,
                                size_t capacity);

/** The first name in a text that does not exist: it looks like a name of CUDA's graphs,
 *  captures or errors, or of torch.cuda, and is neither in the headers of CUDA 13.0 nor
 *  in PyTorch 2.11. Names that have an entry of their own are found by
 *  gph_explain_find().
 *
 *  text     borrowed for the call; the first 4096 of its `bytes` are looked at.
 *  begin    where the name begins in the text; untouched if there is none.
 *  nearest  the most similar name, static, or NULL; untouched if there is none.
 *
 *  Returns the length of the name in bytes, 0 if there is none. Thread: any. */
GPH_API size_t gph_explain_missing(const char *text, size_t bytes, size_t *begin,
                                   const char **nearest);

#ifdef __cplusplus
}
#endif
#endif
