// SPDX-License-Identifier: Apache-2.0
/* The pieces of JSON that are not plain format strings: texts, and members with them. */
#ifndef GPHI_BASE_JSON_H
#define GPHI_BASE_JSON_H
#include "base/text.h"

/* "value" with its quotes; null for NULL. Control characters are escaped; a byte that is
 * not UTF-8 (a path may hold any) becomes U+FFFD, so that readers take the whole. */
void gphi_json_text(gphi_text *text, const char *value);

/* The same, of `bytes` that may hold zeros. */
void gphi_json_bytes(gphi_text *text, const char *value, size_t bytes);

/* A comma, "name", a colon and the text. */
void gphi_json_member(gphi_text *text, const char *name, const char *value);

/* The same with a number. */
void gphi_json_number(gphi_text *text, const char *name, uint64_t value);

/* The same with a list of texts. */
void gphi_json_list(gphi_text *text, const char *name, const char *const *values,
                    size_t count);
#endif
