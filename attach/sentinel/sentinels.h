// SPDX-License-Identifier: Apache-2.0
/* gph doctor --watch: how far the program's replays are, in files that the doctor reads
 * when one hangs, faults or is killed: PID.N.board beside the ring. */
#ifndef ATTACH_SENTINELS_H
#define ATTACH_SENTINELS_H
#include "attach/driver/call.h"

/* GPH_DOCTOR_SENTINELS: "driver" if the driver itself says how far it is, as softcuda does;
 * "nodes": executables get sentinels, too, nodes that nothing waits for. `folder` is lent
 * for good: where boards go. */
void attach_sentinels_prepare(const char *folder);

/* Around an instantiation or an update: sentinels are in the graph meanwhile, and in
 * what the driver makes of it. Afterwards, what the program gets. */
void attach_sentinels_before(attach_call *call);
CUresult attach_sentinels_after(attach_call *call, CUresult result);

/* An executable was destroyed. */
void attach_sentinels_gone(uint64_t exec);

/* In a child of fork(): its own begin again. */
void attach_sentinels_forked(void);
#endif
