// SPDX-License-Identifier: Apache-2.0
/* The driver's log, line by line. */
#include "doctor/findings/said.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void gphi_said_note(gphi_said *said, const gphi_event *event)
{
    if (event->kind != GPHI_EVENT_LOG)
        return;
    const char *text = gphi_event_text(event, 0);
    if (text[0] == '\0' || strncmp(text, "Returning ", 10) == 0)
        return;
    gphi_said_line *line = &said->lines[said->next++ % GPHI_SAID_KEPT];
    line->time_ns = event->time_ns;
    line->thread = event->thread;
    snprintf(line->text, sizeof(line->text), "%s", text);
    line->text[strcspn(line->text, "\n")] = '\0';
}

/* A call's time is that of its beginning, a line's lies within. */
const char *gphi_said_of(const gphi_said *said, const gphi_call *call)
{
    const uint64_t end = call->time_ns + call->duration_ns;
    for (uint32_t i = 0; i < GPHI_SAID_KEPT && i < said->next; i++) {
        const gphi_said_line *line = &said->lines[(said->next - 1 - i) % GPHI_SAID_KEPT];
        if (line->thread == call->thread && line->time_ns >= call->time_ns &&
            line->time_ns <= end)
            return line->text;
    }
    return "";
}

bool gphi_said_has(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return length == 0;
}

bool gphi_said_backing(const char *text)
{
    return gphi_said_has(text, "operand type is incompatible") ||
           gphi_said_has(text, "operand is incompatible");
}

bool gphi_said_foreign(const char *text)
{
    return gphi_said_has(text, "not associated to the executable graph") ||
           gphi_said_has(text, "is not of the graph that the executable") ||
           gphi_said_has(text,
                         "is none of the graph that the executable"); /* older logs */
}
