// SPDX-License-Identifier: Apache-2.0
#define FIXED
#include "makes_and_uses.c"
