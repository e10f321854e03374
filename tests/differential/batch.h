// SPDX-License-Identifier: Apache-2.0
/* Many programs at a time, and single ones for those who look for a reason. */
#ifndef BATCH_H
#define BATCH_H
#include "differential.h"

/* Differences of one program against its transcript; -1: the device is gone. */
int compare_program(const struct transcript *t, bool verbose, bool quiet);
/* One program of the generator against the model; prints differences unless quiet. */
int model_program(uint32_t seed, bool verbose);
int model_seeds(uint32_t first, uint32_t last);
/* The model against what was recorded, without a driver. */
int judge_model(const char *path);
int show_program(uint32_t seed, bool verbose);
int show_transcript(const char *path, uint32_t seed);
int shrink_program(const char *path, uint32_t seed);
#endif
