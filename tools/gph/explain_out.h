// SPDX-License-Identifier: Apache-2.0
/* Answers of gph explain: on a terminal, in JSON, as a page. */
#ifndef EXPLAIN_OUT_H
#define EXPLAIN_OUT_H
#include <gph/gph_doctor.h>
#include <stdbool.h>
#include <stdio.h>

enum { EXPLAIN_MATCHES = 4, EXPLAIN_NEAR = 5, EXPLAIN_SINCE = 256 };

/* What was asked and what was found. */
typedef struct explain_answer {
    const char *text;
    size_t bytes;
    gph_explain_language language;
    gph_explain_match matches[EXPLAIN_MATCHES]; /* the first is the answer */
    size_t count;
    const char *near[EXPLAIN_NEAR]; /* where nothing was found */
    size_t near_count;
    size_t missing,
        missing_bytes;   /* a name in the text that does not exist; 0 bytes: none */
    const char *nearest; /* and the one it may be, or NULL */
} explain_answer;

/* Whether what was asked is a name that exists, and nothing else. */
bool explain_knows(const explain_answer *answer);

void explain_put_text(const explain_answer *answer, FILE *to);
void explain_put_json(const explain_answer *answer, FILE *to);

/* All entries: slug and title; in JSON; as a page. */
void explain_list_text(gph_explain_language language, FILE *to);
void explain_list_json(gph_explain_language language, FILE *to);
void explain_list_markdown(gph_explain_language language, FILE *to);

/* What shows an entry, for people: "rule R64" is "rule R64 (docs/conformance.md)". */
void explain_put_shown_by(const gph_explain_entry *entry, FILE *to);

/* Since when products have it: "CUDA 12.3, driver 545.23.06, PyTorch 1.10 (beta)". false:
 * nothing is known. */
bool explain_since(const gph_explain_entry *entry, gph_explain_language language,
                   char out[EXPLAIN_SINCE]);

/* What follows a label: ": ", or the colon of a Chinese one. */
const char *explain_colon(const char *label);
#endif
