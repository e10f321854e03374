// SPDX-License-Identifier: Apache-2.0
/* Every _INIT macro initializes its struct. */
#include <gph/gph.h>

extern const gph_options init_open;
extern const gph_file_options init_file;
extern const gph_capture_options init_capture;
extern const gph_exec_options init_exec;
extern const gph_track_options init_track;
extern const gph_update_options init_update;
extern const gph_update_report init_report;
extern const gph_slots_options init_slots;
extern const gph_tree_options init_tree;
extern const gph_tree_function_options init_tree_function;

const gph_options init_open = GPH_OPTIONS_INIT;
const gph_file_options init_file = GPH_FILE_OPTIONS_INIT;
const gph_capture_options init_capture = GPH_CAPTURE_OPTIONS_INIT;
const gph_exec_options init_exec = GPH_EXEC_OPTIONS_INIT;
const gph_track_options init_track = GPH_TRACK_OPTIONS_INIT;
const gph_update_options init_update = GPH_UPDATE_OPTIONS_INIT;
const gph_update_report init_report = GPH_UPDATE_REPORT_INIT;
const gph_slots_options init_slots = GPH_SLOTS_OPTIONS_INIT;
const gph_cache_options init_cache = GPH_CACHE_OPTIONS_INIT;
const gph_cache_call_args init_cache_call = GPH_CACHE_CALL_INIT;
const gph_tree_options init_tree = GPH_TREE_OPTIONS_INIT;
const gph_tree_function_options init_tree_function = GPH_TREE_FUNCTION_OPTIONS_INIT;
