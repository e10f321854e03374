// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "odd_size_left_open.c"
