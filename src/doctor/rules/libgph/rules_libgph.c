// SPDX-License-Identifier: Apache-2.0
/* Rules libgph.*: what a program does with libgph itself, by what libgph says of itself. */
#include "doctor/rules/libgph/rules_libgph.h"
#include "doctor/rules/rules.h"

const gphi_rule gphi_rules_libgph[] = {
    GPHI_RULE("libgph.ignored-status", ERROR, .list_bytes = sizeof(gphi_libgph_refusal),
              .call = gphi_libgph_refused_call, .event = gphi_libgph_refused_event,
              .end = gphi_libgph_refused_end),
    GPHI_RULE("libgph.slot-not-bound-again", ERROR,
              .list_bytes = sizeof(gphi_libgph_slot), .call = gphi_libgph_rebind_call,
              .event = gphi_libgph_slots_event),
    GPHI_RULE("libgph.slot-unread", WARNING, .list_bytes = sizeof(gphi_libgph_slot),
              .call = gphi_libgph_unread_call, .event = gphi_libgph_slots_event,
              .end = gphi_libgph_unread_end),
    GPHI_RULE("libgph.slots-bypassed", ERROR, .state_bytes = 1,
              .call = gphi_libgph_bypass_call),
    GPHI_RULE("libgph.edited-past", ERROR, .list_bytes = sizeof(gphi_libgph_tracked),
              .call = gphi_libgph_past_call, .event = gphi_libgph_past_event),
    GPHI_RULE("libgph.memory-given-back", ERROR,
              .state_bytes = sizeof(gphi_libgph_memory), .map_count = 1,
              .init = gphi_libgph_memory_init, .call = gphi_libgph_memory_call,
              .event = gphi_libgph_memory_event, .end = gphi_libgph_memory_end,
              .fini = gphi_libgph_memory_fini),
    GPHI_RULE("libgph.cache-never-records", WARNING,
              .list_bytes = sizeof(gphi_libgph_cache), .event = gphi_libgph_idle_event,
              .end = gphi_libgph_idle_end),
    GPHI_RULE("libgph.padding-kept", WARNING, .list_bytes = sizeof(gphi_libgph_cache),
              .call = gphi_libgph_padding_call, .event = gphi_libgph_padding_event),
    GPHI_RULE("libgph.static-input-moves", WARNING,
              .list_bytes = sizeof(gphi_libgph_function), .call = gphi_libgph_moves_call,
              .event = gphi_libgph_moves_event, .end = gphi_libgph_moves_end),
    GPHI_RULE("libgph.range-not-placed", WARNING, .list_bytes = sizeof(gphi_libgph_range),
              .event = gphi_libgph_unplaced_event, .end = gphi_libgph_unplaced_end),
    {.id = NULL},
};
