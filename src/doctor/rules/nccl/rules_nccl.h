// SPDX-License-Identifier: Apache-2.0
/* What the files of this folder share. */
#ifndef GPHI_RULES_NCCL_H
#define GPHI_RULES_NCCL_H
#include "doctor/history/collectives.h"
#include "doctor/rules/rules.h"

/* ---- nccl_comm.c ---- */

/* Of a COLLECTIVE record. */
void gphi_nccl_destroy(gphi_rule_run *run);
void gphi_nccl_used(gphi_rule_run *run, const gphi_event *event);
void gphi_nccl_connect(gphi_rule_run *run, const gphi_event *event);
void gphi_nccl_launched(gphi_rule_run *run, const gphi_seen *seen);
/* Of a launch, in the rule of gphi_nccl_destroy(). */
void gphi_nccl_replayed(gphi_rule_run *run, const gphi_seen *seen);
#endif
