// SPDX-License-Identifier: Apache-2.0
/* What gph doctor has seen of a run, and what not: presence is written by the attached
 * library (attach/presence.c). */
#ifndef DOCTOR_SEEN_H
#define DOCTOR_SEEN_H
#include <gph/gph_doctor.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { SEEN_NAME_BYTES = 32, SEEN_SHOWN = 8 };

/* A sentence of the command in the language of the findings; a failure to write shows
 * where the file is flushed. */
#define doctor_say(...) ((void)(gph_doctor_say(__VA_ARGS__) == GPH_OK))

typedef enum seen_kind {
    SEEN_REPLACED, /* gone without its end: replaced itself, or was killed */
    SEEN_REFUSED,  /* used the driver, but there was no room for its ring */
    SEEN_DOCTOR,   /* another doctor, which examines its own program */
    SEEN_DEAF,     /* the driver's log was read, the program's calls were not */
    SEEN_RUNNING   /* outlived the program and the time of grace */
} seen_kind;

typedef struct seen_process {
    long number;
    seen_kind kind;
    int code; /* errno of SEEN_REFUSED */
    char name[SEEN_NAME_BYTES];
} seen_process;

/* Zeroed in the beginning. */
typedef struct doctor_seen {
    const char *language;  /* "en" (NULL) or "zh"; lent */
    bool is_known;         /* a program ran */
    bool was_read;         /* all that was written */
    long root;             /* the program's process */
    bool was_killed;       /* by a signal */
    bool is_root_in;       /* the library was in the program, as it ended */
    bool is_root_replaced; /* it was, but not in what followed */
    const char *program;   /* its word; lent */
    unsigned used, idle;   /* processes that called the driver, and that did not */
    unsigned unseen_count; /* of those in `unseen`, and more */
    seen_process unseen[SEEN_SHOWN];
    unsigned of_kind[SEEN_RUNNING + 1];
    unsigned small_count;                         /* rings that are smaller than wanted */
    unsigned long long small_bytes, small_wanted; /* of the smallest */
    char folder[256];                             /* where rings lay */
} doctor_seen;

/* Makes room for it in the folder of rings; an outer doctor learns of this one. False:
 * errno. */
bool doctor_seen_begin(const char *folder);

/* Whether a process that the library is in still runs, other than `root`. */
bool doctor_seen_runs(const char *folder, long root);

/* Reads it off, when the program has ended. `last_name` is the name of its process at its
 * end, or empty. */
void doctor_seen_read(doctor_seen *seen, const char *folder, const char *last_name);

/* Whether what was asked for could not be observed; of a run of so many events. */
bool doctor_seen_is_blind(const doctor_seen *seen, unsigned long long events);

/* Lines of what was not seen, and of what was; nothing where all was. */
void doctor_seen_write(const doctor_seen *seen, FILE *to);

/* As a JSON array of texts. */
void doctor_seen_json(const doctor_seen *seen, FILE *to);
#endif
