// SPDX-License-Identifier: Apache-2.0
/* forge FROM TO: a log in which every text has a newline, a carriage return and an escape in it,
 * and after each what would be a line of gph's own. Text stays as long as it was. */
#include "event/event_log.h"

#include <stdio.h>
#include <string.h>

static void forge(char *text, size_t bytes)
{
    static const char lie[] = "\nFORGED\rFORGED\033[2JFORGED\xe2\x80\xa8"
                              "FORGED\n";
    if (bytes > 6) /* its first bytes stay: paths begin with a slash */
        for (size_t i = 2; i + 1 < bytes; i++)
            text[i] = lie[(i - 2) % (sizeof(lie) - 1)];
}

int main(int argc, char **argv)
{
    static _Alignas(64) uint8_t room[1 << 20];
    gphi_event_log *log = NULL;
    gphi_event_save *save = NULL;
    size_t at = 0, count = 0;
    if (argc != 3 || gphi_event_log_read(argv[1], NULL, &log, NULL) != GPH_OK ||
        gphi_event_save_begin(argv[2], NULL, &save, NULL) != GPH_OK)
        return 2;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)); count++) {
        const size_t bytes = (size_t)event->units * sizeof(*event);
        if (bytes > sizeof(room))
            return 2;
        memcpy(room, event, bytes);
        const gphi_event *copy = (const gphi_event *)(const void *)room;
        const gphi_part *part = gphi_event_parts(copy);
        for (uint32_t i = 0; i < copy->part_count; i++, part = gphi_part_next(part))
            if (part->kind == GPHI_PART_TEXT)
                forge((char *)(uintptr_t)(part + 1), part->bytes);
        if (gphi_event_save_add(save, copy, NULL) != GPH_OK)
            return 2;
    }
    gphi_event_log_close(log);
    return gphi_event_save_end(save, true, NULL) == GPH_OK && count > 0 ? 0 : 2;
}
