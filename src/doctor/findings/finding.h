// SPDX-License-Identifier: Apache-2.0
/* Findings of one process while they are written, and put into words at the end. */
#ifndef GPHI_DOCTOR_FINDING_H
#define GPHI_DOCTOR_FINDING_H
#include "base/text.h"
#include "doctor/findings/rule.h"
#include "doctor/findings/stacks.h"

/* A line of evidence; with a call: followed by its place and stack. */
typedef struct gphi_line {
    char *text;
    gphi_call call; /* number 0: none */
} gphi_line;

/* An object that a text names. */
typedef struct gphi_named {
    char *name;
    const char *kind;
    uint64_t handle;
    uint32_t stack, depth; /* where it was made: a frame of a stack; stack 0: unknown */
} gphi_named;

/* Later failures that look the same. */
typedef struct gphi_aftermath {
    gphi_call call; /* the first */
    uint64_t last;  /* number of the last */
    uint64_t count;
} gphi_aftermath;

struct gphi_draft {
    gphi_findings *of;
    const gphi_rule *rule;
    gphi_call at;
    uint64_t count;
    bool is_withdrawn;
    bool is_mild;     /* reported as info, whatever its rule says */
    bool is_grave;    /* reported as an error */
    bool is_doubtful; /* of calls that succeeded, when records had been lost: info */
    const gph_explain_entry *entry; /* whose words it has; NULL: the rule's */
    char *cause, *fix;
    gphi_vec evidence;     /* of gphi_line */
    gphi_vec consequences; /* of gphi_aftermath */
    gphi_vec named;        /* of gphi_named */
    uint64_t consequence_count;
    /* in words, by gphi_findings_finish() */
    gph_finding out;
    gphi_vec evidence_texts, consequence_texts; /* of char * */
    gphi_vec objects;                           /* of gph_object */
    char *fix_text, *docs_text;
};

struct gphi_findings {
    gph_allocator heap;
    gphi_model *model;
    gphi_stacks *stacks;
    gphi_vec drafts;   /* of gphi_draft * */
    gphi_map by_key;   /* -> gphi_draft * */
    gphi_map reported; /* numbers of calls whose failure is reported */
    bool is_short;     /* memory ran out */
};

/* Keeps the objects that a text names, of those that this thread has put into words last:
 * each object once, under its first name. NULL text: none. False: short of memory. */
bool gphi_named_keep(gphi_vec *named, const char *text);
void gphi_named_drop(gphi_vec *named);
/* As gph_object; names stay those of `named`. False: short of memory. */
bool gphi_named_tell(const gphi_vec *named, gphi_stacks *stacks, gphi_vec *objects);

void gphi_findings_init(gphi_findings *findings, gphi_model *model, gphi_stacks *stacks);
void gphi_findings_fini(gphi_findings *findings);

/* Puts all into words. `language`: a gph_explain_language. */
gph_status gphi_findings_finish(gphi_findings *findings, uint32_t language);
#endif
