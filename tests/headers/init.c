// SPDX-License-Identifier: Apache-2.0
/* Every _INIT macro initializes its struct. */
#include <gph/gph.h>

extern const gph_options init_open;
extern const gph_file_options init_file;
extern const gph_capture_options init_capture;
extern const gph_exec_options init_exec;

const gph_options init_open = GPH_OPTIONS_INIT;
const gph_file_options init_file = GPH_FILE_OPTIONS_INIT;
const gph_capture_options init_capture = GPH_CAPTURE_OPTIONS_INIT;
const gph_exec_options init_exec = GPH_EXEC_OPTIONS_INIT;
