// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "rate_variable.c"
