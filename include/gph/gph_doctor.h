/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  All of libgph-doctor, lower layers first: it reads, judges, explains and shows what
 *  programs do with CUDA graphs. It uses libgph: its log, allocator seam and statuses; a
 *  program that only records and replays graphs needs <gph/gph.h> alone. */
#ifndef GPH_GPH_DOCTOR_H
#define GPH_GPH_DOCTOR_H

#include <gph/base.h>

#include <gph/explain.h>

#include <gph/doctor.h>

#include <gph/advice.h>

#include <gph/report.h>

#endif
