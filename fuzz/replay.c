// SPDX-License-Identifier: Apache-2.0
/* Runs a fuzzer's entry point over the entries of packed corpora (scripts/corpus.py) and
 * over single files. So the committed corpus is a test without libFuzzer. Every entry is
 * also run cut short, and with single bytes changed, in a fixed order; after `--mutants N`
 * N times with several changes each: bits, bytes, numbers at their ends, parts that are
 * moved, left out or put in twice. */
#include "tests/corpus.h"
#include "tests/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 20, VARIANTS = 400 };

static size_t runs;
static long mutants; /* of each entry; 0: cuts and single bytes */

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

static void run_mutants(const uint8_t *data, size_t size)
{
    const size_t room = 2 * size + 64;
    uint8_t *copy = malloc(room);
    for (long i = 0; i < mutants && copy != NULL && size > 0; i++) {
        size_t bytes = size;
        memcpy(copy, data, size);
        for (size_t changes = 1 + mutate_below(8); changes > 0; changes--)
            bytes = mutate(copy, bytes, room);
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
