// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "scratch_of_two.c"
