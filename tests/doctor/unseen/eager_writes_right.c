// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "eager_writes.c"
