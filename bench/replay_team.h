// SPDX-License-Identifier: Apache-2.0
/* bench/replay --team, and the end of --costs. */
#ifndef BENCH_REPLAY_TEAM_H
#define BENCH_REPLAY_TEAM_H
#include "replay.h"
#include "softcuda/engine/engine.h"

void replay_team(soft_engine *engine, replay_fn *fn, double round_ns, int threads,
                 int rounds, int least);
/* replay_line.c: what a hand-over from thread to thread takes on this machine at least.
 */
void replay_hand_over(int threads);
#endif
