// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: launches side by side. What streams and graphs report to the check, and what
 * it says. All of it does nothing where the check is not asked for. */
#ifndef SOFT_DEVICE_RACING_H
#define SOFT_DEVICE_RACING_H

#include "softcuda/check/beside.h"
#include "softcuda/device/stream.h"

/* cuInit(): the check, where it is asked for. */
CUresult soft_racing_start(void);
extern soft_beside *soft_racing_check __attribute__((
    visibility("hidden"))); /* racing.c; set before any call can ask for it */
/* NULL: it is not asked for. */
static inline soft_beside *soft_racing(void)
{
    return soft_racing_check;
}

/* What comes next in the stream waits for the point, reached or not. */
void soft_racing_after(const soft_stream *stream, soft_point point);
/* The program has waited for the point, or seen that it is reached. */
void soft_racing_waited(soft_point point);
/* The context is destroyed. */
void soft_racing_forget(const soft_context *context);

/* A kernel, copy, fill or batch of a stream, whose mutex is locked: begun before it is
 * submitted; then its record is watched; then what notes its end is submitted, at *point
 * (untouched where nothing is). A host function: what is before it the program may know. */
typedef struct soft_racing_task soft_racing_task;
soft_racing_task *soft_racing_begin(soft_stream *stream, const soft_task *task);
void soft_racing_watch(soft_racing_task *racing, soft_record *record,
                       soft_task_kind kind);
void soft_racing_end(soft_racing_task *racing, soft_stream *stream, bool submitted,
                     soft_point *point);

/* "kernel add (node 7) writes 4 bytes (line 20 of the PTX, block [0,0,0], thread [1,0,0])",
 * "memset (node 8) writes"; `who` is in the brackets after the name. */
void soft_race_describe(const soft_race_side *side, uint32_t type, const char *who,
                        char *text, size_t bytes);
/* "680 bytes into the allocation of 4096 bytes at 0x..." */
void soft_race_place(uint64_t address, char *text, size_t bytes);

#endif
