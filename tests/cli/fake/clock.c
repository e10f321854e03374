// SPDX-License-Identifier: Apache-2.0
/* clock FROM TO: a log with a clock that jumps. Every third event was an hour earlier, every
 * fifth an hour later; every second GPU time ends before it begins. */
#include "event/event_log.h"

#include <stdio.h>
#include <string.h>

enum { HOUR = 3600 };

int main(int argc, char **argv)
{
    static _Alignas(64) uint8_t room[1 << 20];
    const uint64_t hour = HOUR * UINT64_C(1000000000);
    gphi_event_log *log = NULL;
    gphi_event_save *save = NULL;
    size_t at = 0, count = 0;
    if (argc != 3 || gphi_event_log_read(argv[1], NULL, &log, NULL) != GPH_OK ||
        gphi_event_save_begin(argv[2], NULL, &save, NULL) != GPH_OK)
        return 2;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)); count++) {
        const size_t bytes = (size_t)event->units * sizeof(*event);
        gphi_event *copy = (gphi_event *)(void *)room;
        if (bytes > sizeof(room))
            return 2;
        memcpy(room, event, bytes);
        if (count % 3 == 2)
            copy->time_ns -= copy->time_ns > hour ? hour : 0;
        else if (count % 5 == 4)
            copy->time_ns += hour;
        if (copy->kind == GPHI_EVENT_GPU && count % 2 == 0) {
            uint64_t *words = (uint64_t *)(void *)(copy + 1);
            words[2] = words[1] - words[1] / 2;
        }
        if (gphi_event_save_add(save, copy, NULL) != GPH_OK)
            return 2;
    }
    gphi_event_log_close(log);
    return gphi_event_save_end(save, true, NULL) == GPH_OK && count > 0 ? 0 : 2;
}
