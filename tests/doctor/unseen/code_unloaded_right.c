// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "code_unloaded.c"
