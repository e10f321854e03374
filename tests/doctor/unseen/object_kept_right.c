// SPDX-License-Identifier: Apache-2.0
/* The same with the one reference that the graph takes over. */
#define FIXED
#include "object_kept.c"
