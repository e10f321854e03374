// SPDX-License-Identifier: Apache-2.0
/* What both forms of an answer are made with: below explain_text.c and explain_out.c. The
 * command sees public headers alone, so UTF-8 is read here once more. */
#include "explain_out.h"

#include <string.h>

const char *explain_colon(const char *label)
{
    return (unsigned char)label[0] >= 0x80 ? "：" : ": ";
}

void explain_put_shown_by(const gph_explain_entry *entry, FILE *to)
{
    const char *what = entry->shown_by;
    if (strncmp(what, "rule ", 5) == 0)
        fprintf(to, "%s (docs/conformance.md)", what);
    else if (strncmp(what, "broken ", 7) == 0)
        fprintf(to, "tests/doctor/rules/%s.c", what + 7);
    else
        fputs(what, to);
}

/* A status is said where it is not the ordinary one. */
bool explain_since(const gph_explain_entry *entry, gph_explain_language language,
                   char out[EXPLAIN_SINCE])
{
    static const char *const names[GPH_EXPLAIN_LANGUAGES][GPH_EXPLAIN_PRODUCTS] = {
        {"CUDA", "driver", "PyTorch"}, {"CUDA", "驱动", "PyTorch"}};
    static const char *const until[GPH_EXPLAIN_LANGUAGES] = {"deprecated from", "弃用于"};
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < GPH_EXPLAIN_PRODUCTS && used < EXPLAIN_SINCE; i++) {
        const gph_explain_since *since = &entry->since[i];
        const bool has_end = since->deprecated[0] != '\0';
        const bool is_plain =
            has_end || i == GPH_EXPLAIN_DRIVER || strcmp(since->status, "current") == 0;
        if (since->introduced[0] == '\0')
            continue;
        used += (size_t)snprintf(
            out + used, EXPLAIN_SINCE - used, "%s%s %s%s%s%s%s%s%s", used > 0 ? ", " : "",
            names[language][i], since->introduced, has_end ? " (" : "",
            has_end ? until[language] : "", has_end ? " " : "", since->deprecated,
            is_plain ? "" : " (", is_plain ? "" : since->status);
        if (used + 1 < EXPLAIN_SINCE && (has_end || !is_plain))
            out[used++] = ')', out[used] = '\0';
    }
    return used > 0;
}
