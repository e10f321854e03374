// SPDX-License-Identifier: Apache-2.0
/* Saved logs: what was saved is read; what is damaged is refused, with an offset. */
#define _GNU_SOURCE
#include "event/event_log.h"
#include "event/log_format.h"
#include "fault.h"
#include "test.h"

#include <unistd.h>

static char log_path[64];

typedef struct record {
    gphi_event event;
    uint64_t body[24];
} record;

/* A call with two words, a text and a hash. */
static record call_record(uint32_t call, uint64_t id)
{
    record r = {.event = {.mark = 99,
                          .kind = GPHI_EVENT_CALL,
                          .units = 4,
                          .thread = 1,
                          .id = id,
                          .word_count = 2,
                          .part_count = 2,
                          .u.call = {.call = (uint16_t)call, .result = 900}}};
    r.body[0] = id + 1;
    r.body[1] = id + 2;
    const gphi_part text = {GPHI_PART_TEXT, 0, 6}, hash = {GPHI_PART_HASH, 1, 8};
    memcpy(&r.body[2], &text, 8);
    memcpy(&r.body[3], "hello", 6);
    memcpy(&r.body[4], &hash, 8);
    r.body[5] = 77;
    return r;
}

static gph_status save(int count, const gph_allocator *allocator, gph_error *error)
{
    gphi_event_save *out = NULL;
    gph_status status = gphi_event_save_begin(log_path, allocator, &out, error);
    if (status != GPH_OK)
        return status;
    for (int i = 0; i < count && status == GPH_OK; i++) {
        const record r = call_record(GPHI_CALL_cuLaunchKernel, (uint64_t)i);
        status = gphi_event_save_add(out, &r.event, error);
    }
    const gph_status ended = gphi_event_save_end(out, status == GPH_OK, error);
    return status != GPH_OK ? status : ended;
}

static void what_is_saved_is_read(void)
{
    gph_error error = {0};
    CHECK_OK(save(1000, NULL, &error), error);
    gphi_event_log *log = NULL;
    CHECK_OK(gphi_event_log_read(log_path, NULL, &log, &error), error);
    size_t at = 0;
    uint64_t count = 0;
    for (const gphi_event *event; (event = gphi_event_log_next(log, &at)) != NULL;) {
        CHECK(event->id == count && event->mark == 0);
        CHECK(gphi_event_word(event, 0) == count + 1);
        CHECK(gphi_event_word(event, 2) == 0); /* beyond its words */
        CHECK(strcmp(gphi_event_text(event, 0), "hello") == 0);
        CHECK(strcmp(gphi_event_text(event, 1), "") == 0);
        const gphi_part *hash = gphi_event_arg(event, GPHI_PART_HASH, 1);
        CHECK(hash != NULL && *(const uint64_t *)gphi_part_bytes(hash) == 77);
        CHECK(gphi_event_arg(event, GPHI_PART_HASH, 0) == NULL);
        count++;
    }
    CHECK(count == 1000);
    gphi_event_log_close(log);
    gphi_event_log_close(NULL);
}

static size_t read_file(unsigned char *bytes, size_t room)
{
    FILE *file = fopen(log_path, "rb");
    const size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

static void write_file(const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(log_path, "wb");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

static void a_log_of_other_call_numbers_keeps_its_names(void)
{
    static unsigned char bytes[1 << 16];
    gph_error error = {0};
    CHECK_OK(save(1, NULL, &error), error);
    const size_t count = read_file(bytes, sizeof(bytes));
    /* As written where cuLaunchKernel had another name's place, and that one is unknown
     * here: same length, so the rest stays. */
    char *name = strstr((char *)bytes + 64, "\ncuLaunchKernel\n");
    memcpy(name + 1, "cuLaunchKerneX", 14);
    write_file(bytes, count);
    gphi_event_log *log = NULL;
    CHECK_OK(gphi_event_log_read(log_path, NULL, &log, &error), error);
    size_t at = 0;
    const gphi_event *event = gphi_event_log_next(log, &at);
    CHECK(event->u.call.call == GPHI_CALL_COUNT);
    CHECK(strcmp(gphi_call_name(event->u.call.call), "?") == 0);
    gphi_event_log_close(log);
    memcpy(name + 1, "cuMemAlloc\ncuX", 14); /* two names where one was */
    write_file(bytes, count);
    CHECK_OK(gphi_event_log_read(log_path, NULL, &log, &error), error);
    at = 0;
    CHECK(gphi_event_log_next(log, &at)->u.call.call == GPHI_CALL_cuMemAlloc);
    gphi_event_log_close(log);
}

static void damage_is_refused_with_an_offset(void)
{
    static unsigned char bytes[1 << 16], bad[1 << 16];
    gph_error error = {0};
    CHECK_OK(save(20, NULL, &error), error);
    const size_t count = read_file(bytes, sizeof(bytes));
    gphi_event_log *log = NULL;
    for (size_t cut = 0; cut < count; cut += 131) {
        write_file(bytes, cut);
        CHECK(gphi_event_log_read(log_path, NULL, &log, &error) == GPH_E_FORMAT);
        CHECK(strncmp(error.message, log_path, strlen(log_path)) == 0);
        CHECK(
            strstr(error.message, cut < 64 ? ": this is not an event log" : ": offset "));
    }
    /* all of the head, little of the names */
    for (size_t at = 0; at < count; at += at < 64 || count - at < 1000 ? 3 : 501)
        for (int bit = 0; bit < 8; bit += 3) {
            memcpy(bad, bytes, count);
            bad[at] ^= (unsigned char)(1 << bit);
            write_file(bad, count);
            const gph_status status = gphi_event_log_read(log_path, NULL, &log, &error);
            CHECK(status == GPH_OK || status == GPH_E_FORMAT);
            if (status != GPH_OK)
                continue;
            size_t next = 0;
            for (const gphi_event *e; (e = gphi_event_log_next(log, &next)) != NULL;)
                CHECK(gphi_event_is_whole(e, (size_t)e->units * 64));
            gphi_event_log_close(log);
        }
}

static void a_record_is_whole_or_not(void)
{
    record r = call_record(GPHI_CALL_cuMemAlloc, 1);
    CHECK(gphi_event_is_whole(&r.event, sizeof(r)));
    CHECK(!gphi_event_is_whole(&r.event, 63));
    CHECK(!gphi_event_is_whole(&r.event, 255));
    record bad = r;
    bad.event.units = 0;
    CHECK(!gphi_event_is_whole(&bad.event, sizeof(bad)));
    bad = r;
    bad.event.kind = 0;
    CHECK(!gphi_event_is_whole(&bad.event, sizeof(bad)));
    bad = r;
    bad.event.word_count = 25;
    CHECK(!gphi_event_is_whole(&bad.event, sizeof(bad)));
    bad = r;
    bad.event.part_count = 300;
    CHECK(!gphi_event_is_whole(&bad.event, sizeof(bad)));
    bad = r;
    memset((char *)&bad.body[3] + 5, 'x', 1); /* the text does not end */
    CHECK(!gphi_event_is_whole(&bad.event, sizeof(bad)));
}

static int argument_is(uint32_t call, uint32_t index, const char *wanted)
{
    int length = 0;
    const char *name = gphi_call_argument(call, index, &length);
    return (size_t)length == strlen(wanted) && memcmp(name, wanted, (size_t)length) == 0;
}

static void names_and_numbers_agree(void)
{
    CHECK(strcmp(gphi_call_name(GPHI_CALL_cuGraphLaunch), "cuGraphLaunch") == 0);
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++)
        CHECK(gphi_call_find(gphi_call_name(call)) == call);
    CHECK(gphi_call_find("cuNothing") == GPHI_CALL_COUNT);
    CHECK(argument_is(GPHI_CALL_cuEventRecord, 0, "hEvent"));
    CHECK(argument_is(GPHI_CALL_cuEventRecord, 1, "hStream"));
    CHECK(argument_is(GPHI_CALL_cuEventRecord, 2, "?"));
    CHECK(argument_is(GPHI_CALL_cuCtxSynchronize, 0, "?"));
    CHECK(argument_is(GPHI_CALL_COUNT, 0, "?"));
    CHECK(gphi_event_version() != 0 && gphi_event_version() == gphi_event_version());
}

static void an_unfinished_save_leaves_nothing(void)
{
    gph_error error = {0};
    unlink(log_path);
    gphi_event_save *out = NULL;
    CHECK_OK(gphi_event_save_begin(log_path, NULL, &out, &error), error);
    const record r = call_record(GPHI_CALL_cuMemAlloc, 1);
    CHECK_OK(gphi_event_save_add(out, &r.event, &error), error);
    CHECK(access(log_path, F_OK) != 0);
    CHECK_OK(gphi_event_save_end(out, false, &error), error);
    CHECK(access(log_path, F_OK) != 0);
    CHECK(gphi_event_save_begin("/nonexistent/x", NULL, &out, &error) == GPH_E_IO);
    gphi_event_log *log = NULL;
    CHECK(gphi_event_log_read("/nonexistent/x", NULL, &log, &error) == GPH_E_IO);
    CHECK(gphi_event_log_read("/tmp", NULL, &log, &error) == GPH_E_FORMAT);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_error error = {0};
        gph_status status = save(3, &allocator, &error);
        gphi_event_log *log = NULL;
        if (status == GPH_OK)
            status = gphi_event_log_read(log_path, &allocator, &log, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((log != NULL) == (status == GPH_OK));
        gphi_event_log_close(log);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
    }
}

int main(void)
{
    snprintf(log_path, sizeof(log_path), "/tmp/event_log_test.%d", (int)getpid());
    RUN(what_is_saved_is_read);
    RUN(a_log_of_other_call_numbers_keeps_its_names);
    RUN(damage_is_refused_with_an_offset);
    RUN(a_record_is_whole_or_not);
    RUN(names_and_numbers_agree);
    RUN(an_unfinished_save_leaves_nothing);
    RUN(survives_every_failed_allocation);
    unlink(log_path);
    return test_done();
}
