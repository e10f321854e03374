// SPDX-License-Identifier: Apache-2.0
/* The version of the library that is loaded, beside that of the headers. */
#include <gph/base.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

uint32_t gph_version(void)
{
    return GPH_VERSION_MAJOR * 10000 + GPH_VERSION_MINOR * 100 + GPH_VERSION_PATCH;
}

const char *gph_version_text(void)
{
    return TEXT(GPH_VERSION_MAJOR) "." TEXT(GPH_VERSION_MINOR) "." TEXT(
        GPH_VERSION_PATCH);
}
