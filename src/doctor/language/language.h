// SPDX-License-Identifier: Apache-2.0
/* The doctor's languages, as gettext has them: a sentence stands in English where it is
 * made, and its format is the key under which zh.def has it in Chinese.
 *
 * A value of a plain %s is looked up, too, so that `cond ? "its own" : "the"` needs no more
 * than lines in zh.def. What is the program's (names, paths) has a precision, %.200s, and
 * stays as it is. scripts/chinese.py holds zh.def and the sentences together. */
#ifndef GPHI_DOCTOR_LANGUAGE_H
#define GPHI_DOCTOR_LANGUAGE_H
#include "base/text.h"
#include <stdbool.h>

/* What this thread says from now on is said in `language`, a gph_explain_language. Each
 * public function that puts something into words begins with it. */
void gphi_language_use(uint32_t language);
bool gphi_language_is_chinese(void);

/* Of "en" and "zh"; GPH_EXPLAIN_LANGUAGES: of neither. NULL is English. */
uint32_t gphi_language_named(const char *name);

/* The sentence in the thread's language; itself in English, or if zh.def lacks it. */
const char *gphi_language_of(const char *english);

/* As gphi_text_add(), in the thread's language. */
void gphi_text_say(gphi_text *text, const char *format, ...) GPH_PRINTF(2, 3);
void gphi_text_sayv(gphi_text *text, const char *format, va_list values);

/* The same into a buffer. What does not fit is left out, to the last whole character. */
void gphi_language_into(char *out, size_t bytes, const char *format, ...)
    GPH_PRINTF(3, 4);
void gphi_language_intov(char *out, size_t bytes, const char *format, va_list values);

/* The rows of zh.def; for their test. */
typedef struct gphi_translation {
    const char *english, *chinese;
} gphi_translation;
const gphi_translation *gphi_translations(size_t *count);
#endif
