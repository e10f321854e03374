// SPDX-License-Identifier: Apache-2.0
/* Runs a fuzzer's entry point over the entries of packed corpora (scripts/corpus.py) and
 * over single files. So the committed corpus is a test without libFuzzer. Every entry is
 * also run cut short, and with single bytes changed, in a fixed order; after `--mutants N`
 * N times with several changes each: bits, bytes, numbers at their ends, parts that are
 * moved, left out or put in twice. */
#include "tests/corpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 20, VARIANTS = 400 };

static size_t runs;
static long mutants; /* of each entry; 0: cuts and single bytes */
static uint64_t state = 0x9E3779B97F4A7C15u;

static size_t below(size_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % most;
}

static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1); /* so that asan sees a byte too far */
    if (exact == NULL)
        return;
    if (size > 0)
        memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    runs++;
}

/* One change; the size after it. There is room for twice the size that is not 0. */
static size_t change(uint8_t *data, size_t size, size_t room)
{
    static const uint64_t ends[] = {
        0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX};
    const size_t at = below(size), from = below(size);
    size_t part = 1 + below(size < 64 ? size : 64);
    part = part > size - at ? size - at : part;
    part = part > size - from ? size - from : part;
    switch (below(6)) {
    case 0: data[at] ^= (uint8_t)(1u << below(8)); return size;
    case 1: data[at] = (uint8_t)below(256); return size;
    case 2:
        part = part < 8 ? part : 8;
        memcpy(data + at, &ends[below(sizeof(ends) / sizeof(*ends))], part);
        return size;
    case 3: memmove(data + at, data + from, part); return size;
    case 4:
        if (part == size)
            return size;
        memmove(data + at, data + at + part, size - at - part);
        return size - part;
    default:
        if (size + part > room)
            return size;
        memmove(data + at + part, data + at, size - at);
        return size + part;
    }
}

static void run_mutants(const uint8_t *data, size_t size)
{
    const size_t room = 2 * size + 64;
    uint8_t *copy = malloc(room);
    for (long i = 0; i < mutants && copy != NULL && size > 0; i++) {
        size_t bytes = size;
        memcpy(copy, data, size);
        for (size_t changes = 1 + below(8); changes > 0; changes--)
            bytes = change(copy, bytes, room);
        run(copy, bytes);
    }
    free(copy);
}

static void run_variants(uint8_t *data, size_t size)
{
    uint32_t random = 12345;
    if (mutants > 0) {
        run_mutants(data, size);
        return;
    }
    run(data, size);
    for (int i = 0; i < VARIANTS && size > 0; i++) {
        random = random * 1664525u + 1013904223u;
        const size_t at = (random >> 8) % size;
        const uint8_t old = data[at];
        run(data, at);
        data[at] = (uint8_t)(random >> 3);
        run(data, size);
        data[at] = old;
    }
}

static int run_file(const char *path)
{
    static uint8_t data[BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    const size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    run_variants(data, size);
    return 0;
}

static int run_corpus(const char *path)
{
    corpus entries;
    const bool is_open = corpus_open(&entries, path);
    while (is_open && corpus_next(&entries))
        run_variants(entries.data, entries.bytes);
    corpus_close(&entries);
    return !is_open;
}

int main(int count, char **words)
{
    int bad = 0;
    int i = 1;
    if (count > 2 && strcmp(words[1], "--mutants") == 0) {
        mutants = strtol(words[2], NULL, 10);
        i = 3;
    }
    for (; i < count; i++) {
        const char *end = strrchr(words[i], '.');
        const bool is_packed = end != NULL && strcmp(end, ".txt") == 0;
        bad |= is_packed ? run_corpus(words[i]) : run_file(words[i]);
    }
    printf("%zu runs\n", runs);
    return bad || runs == 0;
}
