// SPDX-License-Identifier: Apache-2.0
/* The rules of perf.*, by file. */
#ifndef GPHI_DOCTOR_RULES_PERF_H
#define GPHI_DOCTOR_RULES_PERF_H
#include "doctor/rules/memory/rules_memory.h"

/* perf_graph.c: what the graph itself shows */
void gphi_rule_too_many_branches(gphi_rule_run *run);
void gphi_rule_serialised(gphi_rule_run *run);
void gphi_rule_same_buffers(gphi_rule_run *run);

/* perf_rare.c */
void gphi_rule_hardly_replayed(gphi_rule_run *run);
#endif
