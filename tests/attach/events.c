// SPDX-License-Identifier: Apache-2.0
/* Prints a ring or a saved log as text, a line a record:
 *
 *   events FILE.ring | FILE     --over: the writer is gone, skip what it left unfinished
 *   events --save OUT FILE.ring saves a ring as a log
 *   events --cut OUT [--process ID] FILE saves a log without its Python stacks and the
 *     calls of cuCtxGetDevice, and of one process only: for logs that are kept as tests
 */
#define _GNU_SOURCE
#include "event/event_log.h"
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
                                            "array", "hash", "host",   "source"};
        int length = 0;
        const char *name = gphi_call_argument(event->u.call.call, part->arg, &length);
        if (event->kind == GPHI_EVENT_CALL)
            printf(" %s %.*s", names[part->kind], length, name);
        else
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
    for (uint32_t i = 0; i < event->word_count; i++) {
        int length = 0;
        const char *name = gphi_call_argument(event->u.call.call, i, &length);
        printf("%s%.*s=%llx", i > 0 ? " " : "", length, name,
               (unsigned long long)gphi_event_word(event, i));
    }
    printf(") %u ns", event->u.call.duration_ns);
    if (event->u.call.open > 0 || event->u.call.status != 0xFF)
        printf(" open %u status %d capture %llu node %llx", event->u.call.open,
               event->u.call.status == 0xFF ? -1 : event->u.call.status,
               (unsigned long long)event->u.call.capture, (unsigned long long)event->id);
    const unsigned flags = event->u.call.flags;
    printf("%s%s%s%s%s mode %u", flags & GPHI_CALL_UNRETURNED ? " unreturned" : "",
           flags & GPHI_CALL_PER_THREAD ? " per-thread" : "",
           flags & GPHI_CALL_HOST_NODE ? " host-node" : "",
           flags & GPHI_CALL_NESTED ? " nested" : "", flags & GPHI_CALL_OLD ? " old" : "",
           flags >> GPHI_CALL_MODE_SHIFT & 3);
}

static void print_event(const gphi_event *event)
{
    static const char *const kinds[] = {
        "?",        "CALL",    "STACK",  "PYTHON",   "MODULE",  "THREAD",
        "FUNCTION", "GRAPH",   "NODE",   "EDGES",    "LOG",     "PROCESS",
        "DEVICE",   "EXIT",    "GPU",    "NOTE",     "POINTER", "LOST",
        "HOST",     "ORIGIN",  "STDERR", "STANDING", "KEPT",    "COLLECTIVE",
        "FORKED",   "CRASHED", "BLOCK",  "ACCESS",   "NUMBER"};
    _Static_assert(sizeof(kinds) / sizeof(kinds[0]) == GPHI_EVENT_NUMBER + 1,
                   "a name each");
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

/* Whether a record of a log that is cut is kept, but for stacks. */
static bool is_kept(const gphi_event *event, uint64_t process, uint64_t *now)
{
    if (event->kind == GPHI_EVENT_PROCESS)
        *now = event->id;
    return (process == 0 || *now == process) &&
           !(event->kind == GPHI_EVENT_CALL &&
             event->u.call.call == GPHI_CALL_cuCtxGetDevice);
}

static gph_status cut(const gphi_event_log *log, uint64_t process, gphi_event_save *save,
                      gph_error *error)
{
    static bool is_used[1 << 20]; /* stacks, by number */
    gph_status status = GPH_OK;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t now = 0;
        bool is_begun = false;
        size_t at = 0;
        for (const gphi_event *event;
             status == GPH_OK && (event = gphi_event_log_next(log, &at)) != NULL;) {
            const bool is_stack =
                event->kind == GPHI_EVENT_STACK || event->kind == GPHI_EVENT_PYTHON;
            const bool is_head = event->kind == GPHI_EVENT_PROCESS && process != 0;
            if (!is_kept(event, process, &now) || (is_head && is_begun))
                continue;
            is_begun |= is_head;
            if (pass == 0 && !is_stack)
                is_used[event->stack % (1 << 20)] = true;
            else if (pass == 1 && (!is_stack || is_used[event->id % (1 << 20)]))
                status = gphi_event_save_add(save, event, error);
        }
    }
    return status;
}

static int save_cut(const char *path, uint64_t process, const char *save_path)
{
    gph_error error = {0};
    gphi_event_log *log = NULL;
    gphi_event_save *save = NULL;
    gph_status status = gphi_event_log_read(path, NULL, &log, &error);
    if (status == GPH_OK)
        status = gphi_event_save_begin(save_path, NULL, &save, &error);
    if (status == GPH_OK)
        status = cut(log, process, save, &error);
    if (status == GPH_OK)
        status = gphi_event_save_end(save, true, &error);
    gphi_event_log_close(log);
    if (status != GPH_OK)
        fprintf(stderr, "events: %s\n", error.message);
    return status != GPH_OK;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *save_path = NULL, *cut_path = NULL;
    uint64_t process = 0;
    bool is_over = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--over") == 0)
            is_over = true;
        else if (strcmp(argv[i], "--save") == 0 && i + 1 < argc)
            save_path = argv[++i];
        else if (strcmp(argv[i], "--cut") == 0 && i + 1 < argc)
            cut_path = argv[++i];
        else if (strcmp(argv[i], "--process") == 0 && i + 1 < argc)
            process = strtoull(argv[++i], NULL, 0);
        else
            path = argv[i];
    if (path == NULL) {
        fprintf(stderr,
                "usage: events [--over] [--save OUT | --cut OUT [--process ID]] FILE\n");
        return 2;
    }
    if (cut_path != NULL)
        return save_cut(path, process, cut_path);
    gphi_event_ring_reader *ring = NULL;
    if (gphi_event_ring_open(path, NULL, &ring, NULL) == GPH_OK)
        return print_ring(ring, is_over || save_path != NULL, save_path);
    return print_log(path);
}
