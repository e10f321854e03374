// SPDX-License-Identifier: Apache-2.0
/* Tier 2: CUPTI, where it was asked for. */
#ifndef ATTACH_CUPTI_H
#define ATTACH_CUPTI_H
#include "attach/driver/symbol.h"
#include <stdatomic.h>

/* Read by each wrapper. */
extern atomic_bool attach_cupti_is_on;

/* When cuInit() has succeeded. */
void attach_cupti_start(void);

/* Around each of the program's calls, with `busy` set. */
void attach_cupti_before(const attach_symbol *symbol);
void attach_cupti_after(const attach_symbol *symbol);

/* In a child of fork(): off. */
void attach_cupti_forget(void);
#endif
