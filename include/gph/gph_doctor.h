/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  All of libgph-doctor, in floor order: what programs do with CUDA graphs, read, judged,
 *  explained and shown. It stands on libgph, whose log, allocator seam and statuses it
 *  uses; a program that only records and replays graphs needs <gph/gph.h> alone. */
#ifndef GPH_GPH_DOCTOR_H
#define GPH_GPH_DOCTOR_H

#include <gph/base.h>

#include <gph/explain.h>

#include <gph/doctor.h>

#include <gph/advice.h>

#include <gph/report.h>

#endif
