// SPDX-License-Identifier: Apache-2.0
/* PTX with a few lines lost, doubled, exchanged or changed, loaded, compiled and run on
 * both paths: it is refused, ends in an error or ends well, and the process lives. In
 * check mode, in which a kernel reaches nothing but what it is given.
 *     kernel_mutate_test [ROUNDS [SEED]] */
#include "kernel_run.h"
#include "test.h"

#define LINES_MAX 4096
#define TEXT_BYTES (1u << 17)
#define BUFFER_BYTES (1u << 16)

static char original[TEXT_BYTES], mutant[2 * TEXT_BYTES];
static const char *lines[LINES_MAX];
static uint32_t line_count, rounds = 12;
static uint64_t state = 1;
static gph_error error;
static unsigned char buffer[BUFFER_BYTES];

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void *reach(void *user, uint64_t address, uint64_t bytes, bool write, char *reason,
                   size_t reason_bytes)
{
    const uint64_t base = (uint64_t)(uintptr_t)buffer;
    (void)user;
    (void)write;
    if (address >= base && bytes <= BUFFER_BYTES &&
        address - base <= BUFFER_BYTES - bytes)
        return (void *)(uintptr_t)address;
    snprintf(reason, reason_bytes, "not the buffer");
    return NULL;
}

static void split(void)
{
    for (char *at = original; *at != '\0' && line_count < LINES_MAX;) {
        lines[line_count++] = at;
        at += strcspn(at, "\n");
        if (*at != '\0')
            *at++ = '\0';
    }
}

/* One digit, or one instruction's first word, is another one. */
static size_t put_changed(char *to, const char *line)
{
    static const char *const words[] = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32",
                                        "max.u32", "shl.b32", "div.u32",    "xor.b32"};
    size_t length = strlen(line);
    memcpy(to, line, length + 1);
    if (draw(2) == 0 && line[0] == '\t' && line[1] >= 'a' && line[1] <= 'z') {
        const size_t word = strcspn(line + 1, " \t;");
        return (size_t)sprintf(to, "\t%s%s", words[draw(8)], line + 1 + word);
    }
    for (uint32_t attempt = 0; attempt < 20 && length > 0; attempt++) {
        const size_t at = draw((uint32_t)length);
        if (to[at] < '0' || to[at] > '9')
            continue;
        to[at] = (char)('0' + draw(10));
        break;
    }
    return length;
}

static void mutate(void)
{
    const uint32_t changes = 1 + draw(3);
    uint32_t where[3], how[3];
    size_t length = 0;
    for (uint32_t k = 0; k < changes; k++) {
        where[k] = draw(line_count);
        how[k] = draw(5);
    }
    for (uint32_t i = 0; i < line_count; i++) {
        uint32_t now = 5;
        for (uint32_t k = 0; k < changes; k++)
            now = where[k] == i ? how[k] : now;
        if (now == 0)
            continue;
        if (now == 1)
            length += (size_t)sprintf(mutant + length, "%s\n", lines[i]);
        if (now == 2)
            length += (size_t)sprintf(mutant + length, "%s\n", lines[draw(line_count)]);
        if (now == 3 || now == 4)
            length += put_changed(mutant + length, lines[i]);
        else
            length += (size_t)sprintf(mutant + length, "%s", lines[i]);
        mutant[length++] = '\n';
    }
    mutant[length] = '\0';
}

static void run_all(kernel_unit *unit)
{
    const uint64_t at = (uint64_t)(uintptr_t)buffer;
    unsigned char params[4096] = {0};
    for (size_t i = 0; i + 8 <= sizeof(params); i += 8)
        memcpy(params + i, &at, sizeof(at));
    static const char *const names[] = {"sums", "parts", "votes", "leaves"};
    unit->check = reach;
    unit->timeout_ns = 30000000;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const ptx_kernel *about = kernel_about(unit, names[i]);
        const kernel_call call = {.name = names[i], .grid = {3}, .block = {64}};
        if (about == NULL || about->param_bytes > sizeof(params))
            continue;
        const gph_status status = kernel_run(unit, &call, params, &error);
        CHECK(status == 0 || error.message[0] != '\0');
    }
}

static void mutants_are_refused_or_run(void)
{
    uint32_t opened = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        mutate();
        for (int path = 0; path < 2; path++) {
            error.message[0] = '\0';
            kernel_unit *unit = kernel_open(
                mutant, (path == 0 ? KERNEL_FAST : KERNEL_SLOW) | KERNEL_CHECK, &error);
            if (unit == NULL) {
                CHECK(error.message[0] != '\0');
                break;
            }
            opened++;
            run_all(unit);
            kernel_close(unit);
        }
    }
    printf("%u of %u mutants ran\n", opened / 2, rounds);
    CHECK(opened > 0);
}

int main(int argc, char **argv)
{
    FILE *file = fopen(KERNEL_INLINE_PTX, "r");
    if (file == NULL || fread(original, 1, sizeof(original) - 1, file) == 0)
        return 1;
    fclose(file);
    if (argc > 1)
        rounds = (uint32_t)atoi(argv[1]);
    if (argc > 2)
        state = (uint64_t)atoll(argv[2]);
    split();
    RUN(mutants_are_refused_or_run);
    return test_done();
}
