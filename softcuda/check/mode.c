// SPDX-License-Identifier: Apache-2.0
/* The words of SOFTCUDA_CHECK. */
#include "softcuda/check/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* False: it is none. */
static bool take_word(const char *text, size_t length, soft_check_mode *out)
{
    if (is_word(text, length, "memory")) {
        out->memory = true;
    } else if (is_word(text, length, "race") || is_word(text, length, "all")) {
        out->memory = out->race = true;
    } else if (is_word(text, length, "fatal")) {
        out->fatal = true;
    } else {
        return length == 0 || is_word(text, length, "none");
    }
    return true;
}

bool soft_check_mode_parse(const char *text, soft_check_mode *out, char *unknown,
                           size_t bytes)
{
    *out = (soft_check_mode){0};
    bool known = true;
    for (const char *at = text; at && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!take_word(at, length, out) && known) {
            known = false;
            if (unknown)
                snprintf(unknown, bytes, "%.*s", (int)length, at);
        }
        at += length + (at[length] == ',');
    }
    return known;
}

soft_check_mode soft_check_mode_wanted(void)
{
    soft_check_mode mode;
    (void)soft_check_mode_parse(getenv("SOFTCUDA_CHECK"), &mode, NULL, 0);
    return mode;
}
