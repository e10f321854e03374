// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "recycled_input.c"
