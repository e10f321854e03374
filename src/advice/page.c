// SPDX-License-Identifier: Apache-2.0
#include "advice/advice.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gphi_page_add(gphi_page *page, const char *format, ...)
{
    va_list values, again;
    va_start(values, format);
    va_copy(again, values);
    const int bytes = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (bytes < 0)
        page->failed = true;
    if (!page->failed && page->bytes + (size_t)bytes + 1 > page->room) {
        const size_t room = 2 * page->room + (size_t)bytes + 1024;
        char *text = realloc(page->text, room);
        page->failed = text == NULL;
        if (text != NULL) {
            page->text = text;
            page->room = room;
        }
    }
    if (!page->failed) {
        (void)vsnprintf(page->text + page->bytes, page->room - page->bytes, format,
                        again);
        page->bytes += (size_t)bytes;
    }
    va_end(again);
}

void gphi_page_json_text(gphi_page *page, const char *text)
{
    gphi_page_add(page, "\"");
    for (; text != NULL && *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            gphi_page_add(page, "\\%c", c);
        else if (c < 0x20)
            gphi_page_add(page, "\\u%04x", c);
        else
            gphi_page_add(page, "%c", c);
    }
    gphi_page_add(page, "\"");
}

char *gphi_page_take(gphi_page *page)
{
    gphi_page_add(page, "%s", ""); /* a page without text is "" */
    if (!page->failed)
        return page->text;
    free(page->text);
    return NULL;
}
