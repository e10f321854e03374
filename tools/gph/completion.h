// SPDX-License-Identifier: Apache-2.0
/* Completion of shells, from the table of the commands, which ends with a NULL name. */
#ifndef COMPLETION_H
#define COMPLETION_H
#include "option.h"

void completion_bash(const command *commands, FILE *to);
void completion_zsh(const command *commands, FILE *to);
#endif
