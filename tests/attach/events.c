// SPDX-License-Identifier: Apache-2.0
/* Prints a ring or a saved log as text, a line a record:
 *
 *   events FILE.ring | FILE     --over: the writer is gone, skip what it left unfinished
 *   events --save OUT FILE.ring saves a ring as a log */
#define _GNU_SOURCE
#include "event/log.h"
#include "event/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t first_ns;

static void print_parts(const gphi_event *event)
{
    const gphi_part *part = gphi_event_parts(event);
    for (uint32_t i = 0; i < event->part_count; i++, part = gphi_part_next(part)) {
        const unsigned char *bytes = gphi_part_bytes(part);
        static const char *const names[] = {"?",     "text", "params", "struct",
                                            "array", "hash", "host"};
        printf(" %s%u", names[part->kind], part->arg);
        if (part->kind == GPHI_PART_TEXT) {
            printf("=\"");
            for (const char *at = (const char *)bytes; *at != '\0'; at++)
                printf(*at == '\n' ? "\\n" : "%c", *at);
            printf("\"");
            continue;
        }
        printf("[%u]=", part->bytes);
        for (uint32_t b = 0; b < part->bytes && b < 64; b++)
            printf("%s%02x", b > 0 && b % 8 == 0 ? "." : "", bytes[b]);
    }
}

static void print_call(const gphi_event *event)
{
    printf("%s = %d (", gphi_call_name(event->u.call.call), event->u.call.result);
    for (uint32_t i = 0; i < event->word_count; i++)
        printf("%s%llx", i > 0 ? " " : "", (unsigned long long)gphi_event_word(event, i));
    printf(") %u ns", event->u.call.duration_ns);
    if (event->u.call.open > 0 || event->u.call.status != 0xFF)
        printf(" open %u status %d capture %llu node %llx", event->u.call.open,
               event->u.call.status == 0xFF ? -1 : event->u.call.status,
               (unsigned long long)event->u.call.capture, (unsigned long long)event->id);
    const unsigned flags = event->u.call.flags;
    printf("%s%s%s%s mode %u", flags & GPHI_CALL_PER_THREAD ? " per-thread" : "",
           flags & GPHI_CALL_HOST_NODE ? " host-node" : "",
           flags & GPHI_CALL_NESTED ? " nested" : "", flags & GPHI_CALL_OLD ? " old" : "",
           flags >> GPHI_CALL_MODE_SHIFT & 3);
}

static void print_event(const gphi_event *event)
{
    static const char *const kinds[] = {
        "?",     "CALL", "STACK",   "PYTHON", "MODULE",  "THREAD", "FUNCTION",
        "GRAPH", "NODE", "EDGES",   "LOG",    "PROCESS", "DEVICE", "EXIT",
        "GPU",   "NOTE", "POINTER", "LOST",   "HOST",    "ORIGIN"};
    if (first_ns == 0)
        first_ns = event->time_ns;
    printf("%10.3f %u %s ", (double)(int64_t)(event->time_ns - first_ns) / 1e3,
           event->thread, kinds[event->kind]);
    if (event->kind == GPHI_EVENT_CALL)
        print_call(event);
    else {
        printf("id %llx (", (unsigned long long)event->id);
        for (uint32_t i = 0; i < event->word_count; i++)
            printf("%s%llx", i > 0 ? " " : "",
                   (unsigned long long)gphi_event_word(event, i));
        printf(")");
    }
    if (event->stack != 0)
        printf(" stack %u", event->stack);
    print_parts(event);
    printf("\n");
}

static int print_ring(gphi_event_ring_reader *ring, bool is_over, const char *save_path)
{
    gph_error error = {0};
    gphi_event_save *save = NULL;
    if (save_path != NULL &&
        gphi_event_save_begin(save_path, NULL, &save, &error) != GPH_OK)
        goto failed;
    for (const gphi_event *event; (event = gphi_event_ring_next(ring, is_over)) != NULL;)
        if (save == NULL)
            print_event(event);
        else if (gphi_event_save_add(save, event, &error) != GPH_OK)
            goto failed;
    if (save != NULL && gphi_event_save_end(save, true, &error) != GPH_OK)
        goto failed;
    gphi_event_ring_close(ring);
    return 0;

failed:
    fprintf(stderr, "events: %s\n", error.message);
    return 1;
}

static int print_log(const char *path)
{
    gph_error error = {0};
    gphi_event_log *log = NULL;
    if (gphi_event_log_read(path, NULL, &log, &error) != GPH_OK) {
        fprintf(stderr, "events: %s: %s\n", path, error.message);
        return 1;
    }
    size_t at = 0;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)) != NULL;)
        print_event(event);
    gphi_event_log_close(log);
    return 0;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *save_path = NULL;
    bool is_over = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--over") == 0)
            is_over = true;
        else if (strcmp(argv[i], "--save") == 0 && i + 1 < argc)
            save_path = argv[++i];
        else
            path = argv[i];
    if (path == NULL) {
        fprintf(stderr, "usage: events [--over] [--save OUT] FILE\n");
        return 2;
    }
    gphi_event_ring_reader *ring = NULL;
    if (gphi_event_ring_open(path, NULL, &ring, NULL) == GPH_OK)
        return print_ring(ring, is_over || save_path != NULL, save_path);
    return print_log(path);
}
