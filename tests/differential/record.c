// SPDX-License-Identifier: Apache-2.0
/* Transcripts as bytes: variable-length numbers, trailing zeros of a step left out; a
 * length before each program. Files may be packed with zstd. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

struct cursor {
    unsigned char *to;
    const unsigned char *from, *end;
    bool bad;
};

static void put(struct cursor *c, int64_t value)
{
    uint64_t word = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    while (word >= 128) {
        *c->to++ = (unsigned char)(word | 128);
        word >>= 7;
    }
    *c->to++ = (unsigned char)word;
}

static int64_t get(struct cursor *c)
{
    uint64_t word = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (c->from == c->end) {
            c->bad = true;
            return 0;
        }
        const unsigned char byte = *c->from++;
        word |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return (int64_t)(word >> 1) ^ -(int64_t)(word & 1);
    }
    c->bad = true;
    return 0;
}

static int32_t get_below(struct cursor *c, int32_t limit)
{
    const int64_t value = get(c);
    if (value < 0 || value >= limit) {
        c->bad = true;
        return 0;
    }
    return (int32_t)value;
}

/* Addresses have their buffer above and their offset below; cells are what varies. */
static void put_step(struct cursor *c, const struct step *step)
{
    int count = op_arguments(step->op);
    while (count > 0 && step->a[count - 1] == 0)
        count--;
    *c->to++ = (unsigned char)step->op;
    *c->to++ = (unsigned char)count;
    for (int i = 0; i < count; i++)
        put(c, step->a[i]);
}

static void get_step(struct cursor *c, struct step *step)
{
    memset(step, 0, sizeof(*step));
    if (c->end - c->from < 2) {
        c->bad = true;
        return;
    }
    step->op = *c->from++;
    const int count = *c->from++;
    if (step->op >= OP_COUNT || count > STEP_ARGS) {
        step->op = 0;
        c->bad = true;
        return;
    }
    for (int i = 0; i < count; i++)
        step->a[i] = (int32_t)get(c);
}

size_t transcript_write(const struct transcript *t, unsigned char *to)
{
    struct cursor c = {.to = to};
    put(&c, t->program.seed);
    put(&c, t->crashed);
    put(&c, t->program.count);
    for (int i = 0; i < t->program.count; i++) {
        put_step(&c, &t->program.steps[i]);
        put(&c, t->answers[i].code);
        put(&c, t->answers[i].count);
        for (int k = 0; k < t->answers[i].count; k++)
            put(&c, t->answers[i].v[k]);
    }
    put(&c, t->finish.code);
    for (int i = 0; i < OBJECTS; i++)
        put(&c, t->finish.destroyed[i]);
    memcpy(c.to, t->finish.hash, sizeof(t->finish.hash));
    c.to += sizeof(t->finish.hash);
    return (size_t)(c.to - to);
}

size_t transcript_frame(const struct transcript *t, unsigned char *to)
{
    static unsigned char bytes[RECORD_BYTES_MAX];
    struct cursor c = {.to = to};
    const size_t count = transcript_write(t, bytes);
    put(&c, (int64_t)count);
    memcpy(c.to, bytes, count);
    return (size_t)(c.to - to) + count;
}

bool transcript_read(const unsigned char *from, size_t bytes, struct transcript *t)
{
    struct cursor c = {.from = from, .end = from + bytes};
    memset(t, 0, sizeof(*t));
    t->program.seed = (uint32_t)get(&c);
    t->crashed = (int32_t)get(&c);
    t->program.count = get_below(&c, STEPS_MAX + 1);
    for (int i = 0; i < t->program.count && !c.bad; i++) {
        get_step(&c, &t->program.steps[i]);
        t->answers[i].code = (int32_t)get(&c);
        t->answers[i].count = get_below(&c, ANSWER_VALUES + 1);
        for (int k = 0; k < t->answers[i].count && !c.bad; k++)
            t->answers[i].v[k] = (int32_t)get(&c);
    }
    t->finish.code = (int32_t)get(&c);
    for (int i = 0; i < OBJECTS; i++)
        t->finish.destroyed[i] = (int32_t)get(&c);
    if (c.bad || (size_t)(c.end - c.from) < sizeof(t->finish.hash))
        return false;
    memcpy(t->finish.hash, c.from, sizeof(t->finish.hash));
    return true;
}

/* ---- files ---- */

static unsigned char *read_all(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *out = NULL;
    if (file == NULL) {
        perror(path);
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        out = size < 0 ? NULL : malloc((size_t)size + 1);
        if (out && fread(out, 1, (size_t)size, file) != (size_t)size) {
            free(out);
            out = NULL;
        }
        *bytes = (size_t)size;
    }
    fclose(file);
    if (out == NULL)
        fprintf(stderr, "%s cannot be read\n", path);
    return out;
}

#ifdef HAVE_ZSTD
static unsigned char *unpack(unsigned char *packed, size_t *bytes)
{
    const unsigned long long size = ZSTD_getFrameContentSize(packed, *bytes);
    unsigned char *out = size < (1ull << 30) ? malloc((size_t)size + 1) : NULL;
    const size_t got = out ? ZSTD_decompress(out, (size_t)size, packed, *bytes) : 0;
    free(packed);
    if (out == NULL || ZSTD_isError(got)) {
        fprintf(stderr, "the transcripts cannot be unpacked\n");
        free(out);
        return NULL;
    }
    *bytes = got;
    return out;
}

bool file_pack(const char *to, const unsigned char *plain, size_t bytes)
{
    const size_t room = ZSTD_compressBound(bytes);
    unsigned char *packed = malloc(room);
    const size_t size = packed ? ZSTD_compress(packed, room, plain, bytes, 19) : 0;
    FILE *file = fopen(to, "wb");
    const bool good =
        packed && !ZSTD_isError(size) && file && fwrite(packed, 1, size, file) == size;
    const bool closed = file == NULL || fclose(file) == 0;
    printf("%zu bytes packed to %zu\n", bytes, size);
    free(packed);
    return good && closed;
}
#else
static unsigned char *unpack(unsigned char *packed, size_t *bytes)
{
    (void)bytes;
    free(packed);
    fprintf(stderr, "this build has no zstd, and the transcripts are packed\n");
    return NULL;
}

bool file_pack(const char *to, const unsigned char *plain, size_t bytes)
{
    (void)plain;
    (void)bytes;
    fprintf(stderr, "this build has no zstd: %s is not made\n", to);
    return false;
}
#endif

unsigned char *file_read(const char *path, size_t *bytes)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char *out = read_all(path, bytes);
    if (out && *bytes >= 4 && memcmp(out, magic, 4) == 0)
        return unpack(out, bytes);
    return out;
}

bool file_next(const unsigned char **at, const unsigned char *end, struct transcript *t)
{
    struct cursor c = {.from = *at, .end = end};
    if (*at == end)
        return false;
    const int64_t bytes = get(&c);
    if (c.bad || bytes < 0 || bytes > end - c.from ||
        !transcript_read(c.from, (size_t)bytes, t)) {
        fprintf(stderr, "the transcripts end in a broken one\n");
        return false;
    }
    *at = c.from + bytes;
    return true;
}
