// SPDX-License-Identifier: Apache-2.0
/* The folder in which a program under gph doctor writes its rings: TMPDIR/gph-doctor-XXXXXX,
 * with a link `owner` that says whose it is. */
#ifndef DOCTOR_FOLDER_H
#define DOCTOR_FOLDER_H
#include <gph/gph_doctor.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether LD_PRELOAD has no way to name such a path. */
bool doctor_folder_is_split(const char *path);

/* Makes one, by its whole path; where the library needs a link, one that LD_PRELOAD can
 * name. Those of doctors that were killed go, once nothing runs in them. False after a
 * message. */
bool doctor_folder_make(char *out, size_t bytes, const char *library);

void doctor_folder_remove(const char *folder);

/* Reads what is left in the folder of a doctor that was killed, and leaves it as it is.
 * The exit status; after a message if it fails. */
int doctor_folder_read(gph_doctor *doctor, const char *folder);
#endif
