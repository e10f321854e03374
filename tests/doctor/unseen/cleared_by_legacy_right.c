// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "cleared_by_legacy.c"
