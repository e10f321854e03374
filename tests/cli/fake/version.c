// SPDX-License-Identifier: Apache-2.0
/* Passes for the libgph of a version that is to come. */
#include <gph/base.h>

uint32_t gph_version(void)
{
    return 90807;
}

const char *gph_version_text(void)
{
    return "9.8.7";
}
