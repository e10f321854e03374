/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  All of libgph, lower layers first. The library that reads and judges other programs is
 *  libgph-doctor: <gph/gph_doctor.h>. */
#ifndef GPH_GPH_H
#define GPH_GPH_H

#include <gph/base.h>

#include <gph/cuda.h>
#include <gph/module.h>

#include <gph/graph.h>
#include <gph/plan.h>
#include <gph/plan_ladder.h>

#include <gph/file.h>
#include <gph/memory.h>
#include <gph/memory_ledger.h>

#include <gph/replay.h>
#include <gph/replay_flow.h>
#include <gph/update.h>

#include <gph/sentinel.h>

#include <gph/slot.h>

#include <gph/loop.h>

#include <gph/dispatch.h>

#include <gph/callable.h>

#include <gph/ranks.h>
#include <gph/ranks_comm.h>

#include <gph/cache.h>
#include <gph/cache_figures.h>

#include <gph/tree.h>

#include <gph/recipe.h>
#include <gph/recipe_load.h>

#endif
