// SPDX-License-Identifier: Apache-2.0
/* Every _INIT macro of the headers initializes its struct, in C and in C++; a macro that
 * is missing here fails the configuration. */
#include <gph/gph.h>
#include <gph/gph_doctor.h>

#define INITS(X)                                                                         \
    X(gph_advice_options, GPH_ADVICE_OPTIONS_INIT)                                       \
    X(gph_arena_options, GPH_ARENA_OPTIONS_INIT)                                         \
    X(gph_cache_call_args, GPH_CACHE_CALL_INIT)                                          \
    X(gph_cache_options, GPH_CACHE_OPTIONS_INIT)                                         \
    X(gph_callable_options, GPH_CALLABLE_OPTIONS_INIT)                                   \
    X(gph_capture_options, GPH_CAPTURE_OPTIONS_INIT)                                     \
    X(gph_comm_options, GPH_COMM_OPTIONS_INIT)                                           \
    X(gph_condition, GPH_CONDITION_INIT)                                                 \
    X(gph_dispatch_options, GPH_DISPATCH_OPTIONS_INIT)                                   \
    X(gph_doctor_options, GPH_DOCTOR_OPTIONS_INIT)                                       \
    X(gph_exec_options, GPH_EXEC_OPTIONS_INIT)                                           \
    X(gph_sentinel_options, GPH_SENTINEL_OPTIONS_INIT)                                   \
    X(gph_file_options, GPH_FILE_OPTIONS_INIT)                                           \
    X(gph_loop_options, GPH_LOOP_OPTIONS_INIT)                                           \
    X(gph_options, GPH_OPTIONS_INIT)                                                     \
    X(gph_plan_ladder_options, GPH_PLAN_LADDER_OPTIONS_INIT)                             \
    X(gph_plan_options, GPH_PLAN_OPTIONS_INIT)                                           \
    X(gph_plan_share_options, GPH_PLAN_SHARE_OPTIONS_INIT)                               \
    X(gph_pool_options, GPH_POOL_OPTIONS_INIT)                                           \
    X(gph_ranks_options, GPH_RANKS_OPTIONS_INIT)                                         \
    X(gph_recipe_cache_entry, GPH_RECIPE_CACHE_ENTRY_INIT)                               \
    X(gph_recipe_entry, GPH_RECIPE_ENTRY_INIT)                                           \
    X(gph_loaded_options, GPH_LOADED_OPTIONS_INIT)                                       \
    X(gph_report_options, GPH_REPORT_OPTIONS_INIT)                                       \
    X(gph_slots_options, GPH_SLOTS_OPTIONS_INIT)                                         \
    X(gph_track_options, GPH_TRACK_OPTIONS_INIT)                                         \
    X(gph_tree_function_options, GPH_TREE_FUNCTION_OPTIONS_INIT)                         \
    X(gph_tree_options, GPH_TREE_OPTIONS_INIT)                                           \
    X(gph_update_options, GPH_UPDATE_OPTIONS_INIT)                                       \
    X(gph_update_report, GPH_UPDATE_REPORT_INIT)

#define X(type, macro)                                                                   \
    extern const type init_##type;                                                       \
    const type init_##type = macro;
INITS(X)
#undef X
