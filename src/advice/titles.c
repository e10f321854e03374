// SPDX-License-Identifier: Apache-2.0
/* What sites, places, verdicts and answers are called. */
#include "advice/advice.h"
#include "doctor/findings/stacks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames of libraries that are between a program and the driver. */
static bool is_between(const gph_place *place)
{
    static const char *const modules[] = {"libcuda", "libgph", "libcudart", "libcublas",
                                          "libcudnn"};
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (place->module && strstr(place->module, modules[i]))
            return true;
    return !place->function && !place->file;
}

gph_place gphi_advice_place(const gph_advice *advice, uint32_t stack)
{
    uint32_t count = 0;
    const gph_place *frames =
        stack == 0 ? NULL : advice->frames(advice->frames_user, stack, &count);
    for (uint32_t i = count > 0 ? gphi_stacks_own(NULL, frames, count) : 0; i < count;
         i++)
        if (!is_between(&frames[i]))
            return frames[i];
    return count > 0 ? frames[0] : (gph_place){0};
}

const char *gphi_answer_text(gphi_answer value)
{
    static const char *const texts[] = {"no", "yes", "unknown"};
    return texts[value];
}

const char *gphi_verdict_text(gph_verdict verdict)
{
    static const char *const texts[] = {"unknown", "pays", "does not pay",
                                        "cannot be captured", "needs buckets"};
    return texts[verdict];
}

const char *gphi_obstacle_title(gphi_obstacle_kind kind)
{
    static const char *const texts[] = {
        "breaks a capture",
        "escapes a capture",
        "fits on a created stream",
        "cuts it into two graphs",
        "of other threads",
        "would be frozen",
        "changes from one repetition to the next",
        "stays outside",
        "is fine",
    };
    return texts[kind];
}

const char *gphi_obstacle_name(gphi_obstacle_kind kind)
{
    static const char *const texts[] = {"breaks",  "escapes",   "moves",
                                        "cuts",    "elsewhere", "frozen",
                                        "changes", "outside",   "fine"};
    return texts[kind];
}

/* The last word of a name as C++ compilers mangle it: _ZN2at6native4fillE is fill. */
static const char *last_word(const char *name, int *length)
{
    const char *at = name, *word = name;
    *length = (int)strlen(name);
    if (strncmp(at, "_Z", 2) != 0)
        return name;
    at += strspn(at + 2, "NKVrSt") + 2;
    for (size_t left; (left = strlen(at)) > 0 && isdigit((unsigned char)*at);) {
        char *end;
        const unsigned long bytes = strtoul(at, &end, 10);
        if (bytes == 0 || bytes > left - (size_t)(end - at))
            break;
        word = end;
        *length = (int)bytes;
        at = end + bytes;
    }
    return word;
}

const char *gphi_site_text(const gphi_site *site)
{
    static _Thread_local char text[200];
    int length = 0;
    const char *name = site->name ? last_word(site->name, &length) : "";
    snprintf(text, sizeof(text), "%s%s%.*s", gphi_call_name(site->call),
             site->name ? " " : "", length, name);
    return text;
}
