// SPDX-License-Identifier: Apache-2.0
/* Programs that a command runs: gph run, gph doctor. `who` names the command in
 * messages. */
#ifndef LAUNCH_H
#define LAUNCH_H
#include "output.h"

#include <sys/types.h>

/* As env and timeout have them. */
enum {
    EXIT_UNSEEN = 125, /* the program could not be observed */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128
};

/* Sets a variable of the program's, and of ours; false after a message. */
bool launch_variable(const char *who, const char *name, const char *value);

/* The same of a list with colons: the value comes before or after what is set. */
bool launch_list(const char *who, const char *name, const char *value, bool is_first);

/* A template for mkstemp() and mkdtemp(), in TMPDIR or /tmp; cut where it is too long, and
 * then they fail. */
void launch_temporary(char *out, size_t bytes, const char *name);

/* Opens the driver that is wanted, and prepares the environment for it; false after a
 * message. */
bool launch_prepare(const char *who, gph_driver wanted, gph_driver *chosen);

/* Becomes the program. Returns the exit status, after a message, if it cannot. */
int launch_exec(const char *who, char **words);

/* Starts it as a child, as a shell does: Ctrl-C is for the program, whose end we still
 * want to report; SIGTERM and SIGHUP are passed on. < 0 after a message. */
pid_t launch_start(const char *who, char **words);

/* Its exit status as a shell reports it. */
int launch_wait(pid_t child);

/* The same without waiting; false: it still runs. `signal_number`: what ended it, 0: it
 * ended itself. */
bool launch_is_over(pid_t child, int *code, int *signal_number);
#endif
