// SPDX-License-Identifier: Apache-2.0
/* gph doctor's run of a program under the attached library. */
#ifndef DOCTOR_H
#define DOCTOR_H
#include "doctor_seen.h"
#include "option.h"

#include <gph/gph.h>
#include <gph/gph_doctor.h>
#include <stdbool.h>

typedef struct doctor_run {
    gph_driver driver; /* that is wanted */
    bool is_logs_only; /* tier 0 */
    bool has_nodes, has_kernels;
    bool is_advised;    /* times are measured for the advice */
    char **words;       /* the program */
    gph_doctor *doctor; /* reads what it does */
    long grace_seconds; /* for processes that outlive it */
    long watch_seconds; /* after which a call that does not return is a hang; 0: never */
    bool is_checked;    /* by softcuda, every access */
    bool has_sentinels; /* graphs get nodes that say how far they are */
    bool is_left;       /* what hangs is left to itself, and reported at once: on_hang */
    /* Reports what is known, while the program goes on hanging; nothing is read any more. */
    void (*on_hang)(void *user);
    void *user; /* of on_hang */
    bool has_started;
    doctor_seen *seen; /* what it could see, and what not */
} doctor_run;

/* Runs it to its end; the exit status as a shell reports it. No files are left. */
int doctor_run_program(doctor_run *run);

/* The program of the command line, which ended with `code`. */
gph_program doctor_program(const command_line *line, int code);

/* Keeps what the doctor reads if an option asks for a report, a trace or tables; else
 * *out is as it was. False: after a message. */
bool doctor_report_begin(const command_line *line, gph_doctor *doctor, gph_report **out);

/* Writes what was asked for; report NULL: nothing was; advice NULL: without. False: after
 * a message. */
bool doctor_report_write(const command_line *line, gph_report *report,
                         const gph_advice *advice, int code);
#endif
