// SPDX-License-Identifier: Apache-2.0
/* usage: frames RING
 * Prints the Python frames in a ring: a line a stack, its number first. */
#include "event/ring.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    gph_error error = {0};
    gphi_event_ring_reader *reader = NULL;
    if (argc != 2 || gphi_event_ring_open(argv[1], NULL, &reader, &error) != GPH_OK) {
        fprintf(stderr, "frames: %s\n", error.message);
        return 1;
    }
    for (const gphi_event *event; (event = gphi_event_ring_next(reader, true)) != NULL;) {
        if (event->kind != GPHI_EVENT_PYTHON)
            continue;
        printf("%u ", (unsigned)event->id);
        for (const char *at = gphi_event_text(event, 0); *at != '\0'; at++)
            putchar(*at == '\n' ? '|' : *at);
        putchar('\n');
    }
    gphi_event_ring_close(reader);
    return 0;
}
