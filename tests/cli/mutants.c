// SPDX-License-Identifier: Apache-2.0
/* Damaged files through the whole command: each mutant is a process that runs the command's
 * own main() on it, with one of the command lines that read that kind of file.
 *
 *   mutants [--from N] [--limit SECONDS] [--say] KIND COUNT FILE...
 *
 * FILEs are seeds: packed corpora (.txt of fuzz/corpus) and files as they are. A mutant is made
 * from its kind and number, so that one can be run again alone: --from N KIND 1.
 *
 * It must end by itself, within the limit, with an exit status that the command's help
 * names, and, where it failed, with a sentence on standard error. Sanitizers have a status
 * of their own. What did not is kept in mutant.KIND.N, and said. */
#define _GNU_SOURCE
#include "tests/corpus.h"
#include "tests/mutate.h"

#include "event/event_log.h"
#include "event/ring.h"
#include "event/ring_format.h"
#include "file/bundle.h"

#include <gph/explain.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdnoreturn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int gph_main(int argc, char **argv); /* of tools/gph/main.c */

enum { SANITIZED = 86, SEEDS_MAX = 512, BYTES_MAX = 1 << 20, UNITS = 256, WORDS_MAX = 8 };

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "exitcode=86:allocator_may_return_null=1";
}

/* ---- kinds ---- */

typedef struct seed {
    uint8_t *bytes;
    size_t count;
} seed;

static seed seeds[SEEDS_MAX];
static size_t seed_count;
static uint8_t mutant[2 * BYTES_MAX + 64];
static size_t mutant_bytes;

typedef struct kind {
    const char *name;
    void (*write)(const char *path); /* the mutant's files; `path` is what @ stands for */
    unsigned statuses;               /* a bit each */
    bool is_text;
    unsigned least; /* of 1000 mutants, so many are read: else only the door is tried */
    /* Command lines; @ is the file, % a seed as it is, < the file as standard input. */
    const char *const (*lines)[WORDS_MAX];
} kind;

static void write_bytes(const char *path, const void *bytes, size_t count)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || (count > 0 && write(fd, bytes, count) != (ssize_t)count)) {
        perror(path);
        exit(2);
    }
    close(fd);
}

static void write_plain(const char *path)
{
    write_bytes(path, mutant, mutant_bytes);
}

/* Contents that are not packed get a head that agrees with them, mostly. */
static void write_recipe(const char *to)
{
    enum { HEAD = 48 };
    const bool is_file = mutant_bytes > HEAD && memcmp(mutant, "gphr", 4) == 0;
    if (is_file && mutate_below(4) == 0) {
        write_plain(to);
        return;
    }
    uint8_t *all = calloc(1, HEAD + mutant_bytes);
    if (all == NULL)
        exit(2);
    const uint64_t bytes = is_file ? mutant_bytes - HEAD : mutant_bytes;
    memcpy(all, "gphr\r\n\x1a\n", 8);
    all[8] = GPHI_BUNDLE_VERSION;
    memcpy(all + 16, &bytes, sizeof(bytes));
    memcpy(all + 24, &bytes, sizeof(bytes));
    memcpy(all + HEAD, mutant + mutant_bytes - bytes, (size_t)bytes);
    write_bytes(to, all, HEAD + (size_t)bytes);
    free(all);
}

/* ---- event logs ---- */

/* Records one by one: `kept` of a log's, changed between their head and their end, so that
 * readers go on. */
typedef void take_record(void *user, const gphi_event *event);

static void each_record(const seed *of, take_record *take, void *user)
{
    static _Alignas(64) uint8_t room[1 << 18];
    char path[64];
    gphi_event_log *log = NULL;
    size_t at = 0;
    const int fd = memfd_create("seed", 0);
    if (fd < 0 || write(fd, of->bytes, of->count) != (ssize_t)of->count)
        exit(2);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (gphi_event_log_read(path, NULL, &log, NULL) == GPH_OK)
        for (const gphi_event *event; (event = gphi_event_log_next(log, &at)) != NULL;) {
            const size_t bytes = (size_t)event->units * sizeof(*event);
            if (bytes > sizeof(room))
                continue;
            memcpy(room, event, bytes);
            gphi_event *copy = (gphi_event *)(void *)room;
            const size_t damaged = mutate_below(24) == 0 ? 1 + mutate_below(3) : 0;
            for (size_t i = 0; i < damaged; i++) /* after mark, kind and units */
                (void)mutate(room + 12, bytes - 12, 0);
            copy->units = event->units;
            take(user, copy);
        }
    gphi_event_log_close(log);
    close(fd);
}

static const seed *any_seed(void)
{
    return &seeds[mutate_below(seed_count)];
}

static void save_record(void *user, const gphi_event *event)
{
    if (gphi_event_is_whole(event, (size_t)event->units * sizeof(*event)))
        (void)!gphi_event_save_add(user, event, NULL);
}

/* Half of them are whole logs of damaged records. */
static void write_log(const char *path)
{
    gphi_event_save *save = NULL;
    if (mutate_below(2) == 0) {
        write_plain(path);
        return;
    }
    if (gphi_event_save_begin(path, NULL, &save, NULL) != GPH_OK)
        exit(2);
    each_record(any_seed(), save_record, save);
    (void)!gphi_event_save_end(save, true, NULL);
}

/* ---- what a killed doctor leaves ---- */

static void put_record(void *user, const gphi_event *event)
{
    gphi_event *to = gphi_event_ring_take(user, (size_t)(event->units - 1) * 64);
    if (!to)
        return;
    const uint16_t units = event->units;
    memcpy((char *)to + sizeof(to->mark), (const char *)event + sizeof(event->mark),
           (size_t)units * sizeof(*event) - sizeof(event->mark));
    to->units = units;
    gphi_event_ring_put(user, to);
}

/* Any bytes of head, slots and records; the file's size is as its head says, or not. */
static void damage_ring(const char *path)
{
    const int fd = open(path, O_RDWR);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        exit(2);
    uint8_t *at =
        mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        exit(2);
    const size_t which = mutate_below(8);
    if (which < 3)
        (void)mutate(at, 256, 0);
    for (size_t i = mutate_below(4); i > 0; i--) /* a few threads are in a call */
        (void)mutate(at + GPHI_RING_PAGE + mutate_below(8) * sizeof(gphi_event_slot),
                     sizeof(gphi_event_slot), 0);
    for (size_t i = mutate_below(8); i > 0; i--)
        (void)mutate(at + GPHI_RING_UNITS_AT, UNITS * 64, 0);
    if (which == 7 && ftruncate(fd, (off_t)mutate_below((size_t)info.st_size)) != 0)
        exit(2);
    munmap(at, (size_t)info.st_size);
    close(fd);
}

static void write_ring(const char *folder, const seed *of)
{
    char path[4096];
    gphi_event_ring *ring = NULL;
    snprintf(path, sizeof(path), "%s/%ld.ring", folder, (long)getpid());
    unlink(path);
    if (gphi_event_ring_create(path, UNITS, &ring, NULL) != GPH_OK)
        exit(2);
    each_record(of, put_record, ring);
    gphi_event_ring_forget(ring);
}

static void write_rings(const char *folder)
{
    char path[4096];
    mkdir(folder, 0700);
    write_ring(folder, any_seed());
    snprintf(path, sizeof(path), "%s/%ld.ring", folder, (long)getpid());
    damage_ring(path);
}

/* A board beside a ring of no seed's: its own process is read, and what it says of it. */
static void write_board(const char *folder)
{
    char path[4096];
    mkdir(folder, 0700);
    snprintf(path, sizeof(path), "%s/%ld.1.board", folder, (long)getpid());
    write_plain(path);
    write_ring(folder, &(seed){0});
}

/* ---- programs, as a log names them ---- */

static char program[4096];

/* The first module is the mutant's file. */
static void name_program(void *user, const gphi_event *event)
{
    static _Alignas(64) uint8_t room[8192];
    gphi_event *copy = (gphi_event *)(void *)room;
    if (event->kind != GPHI_EVENT_MODULE ||
        (size_t)event->units * sizeof(*event) > sizeof(room)) {
        save_record(user, event);
        return;
    }
    const size_t words = 3 * sizeof(uint64_t), text = strlen(program) + 1;
    *copy = *event;
    copy->word_count = 3;
    copy->part_count = 2;
    memset(copy + 1, 0, sizeof(room) - sizeof(*copy));
    memcpy(copy + 1, event + 1, words);
    gphi_part *part = (gphi_part *)(void *)((char *)(copy + 1) + words);
    *part = (gphi_part){.kind = GPHI_PART_TEXT, .bytes = (uint32_t)text};
    memcpy(part + 1, program, text);
    gphi_part *id = (gphi_part *)(uintptr_t)gphi_part_next(part);
    *id = (gphi_part){.kind = GPHI_PART_TEXT, .bytes = 1};
    const size_t bytes = (size_t)((char *)(id + 1) + 8 - (char *)copy);
    copy->units = (uint16_t)((bytes + 63) / 64);
    save_record(user, copy);
}

static void write_program(const char *path)
{
    gphi_event_save *save = NULL;
    snprintf(program, sizeof(program), "%s.elf", path);
    write_plain(program);
    if (gphi_event_save_begin(path, NULL, &save, NULL) != GPH_OK)
        exit(2);
    each_record(&seeds[seed_count - 1], name_program,
                save); /* the last seed is the log */
    (void)!gphi_event_save_end(save, true, NULL);
}

/* ---- the list ---- */

#define LINES (const char *const[][WORDS_MAX])
enum { OK = 1, FAILED = 2, USAGE = 4 };

static const kind kinds[] = {
    {"graph", write_plain, OK | FAILED | USAGE, true, 20,
     LINES{{"inspect", "@"},
           {"inspect", "-", "<"},
           {"diff", "@", "%"},
           {"diff", "--handles", "%", "@"},
           {"diff", "--quiet", "@", "@"},
           {"inspect", "--dot", "/dev/null", "@"},
           {NULL}}},
    {"recipe", write_recipe, OK | FAILED, false, 50,
     LINES{{"inspect", "@"}, {"inspect", "-", "<"}, {NULL}}},
    {"ptx", write_plain, OK | FAILED, true, 5,
     LINES{{"inspect", "--ptx", "--quick", "@"},
           {"inspect", "--ptx", "--quick", "--json", "-", "<"},
           {NULL}}},
    {"code", write_plain, OK | FAILED, true, 50,
     LINES{{"inspect", "--ptx", "@"},
           {"inspect", "--ptx", "--slow", "--json", "@"},
           {"inspect", "--ptx", "--ir", "@"},
           {NULL}}},
    {"image", write_plain, OK | FAILED, false, 0,
     LINES{{"inspect", "--ptx", "--quick", "@"}, {"inspect", "--ptx", "-", "<"}, {NULL}}},
    {"log", write_log, OK | FAILED, false, 200,
     LINES{{"doctor", "--events", "@"},
           {"doctor", "--events", "-", "<"},
           {"doctor", "--events", "@", "--json", "-"},
           {"doctor", "--events", "@", "--advise", "--capturable"},
           {"doctor", "--events", "@", "--report", "r.html", "--quiet"},
           {"doctor", "--events", "@", "--trace", "t.json", "--summary"},
           {"doctor", "--events", "@", "--lang", "zh", "--advise"},
           {NULL}}},
    {"ring", write_rings, OK | FAILED, false, 0,
     LINES{{"doctor", "--events", "@"},
           {"doctor", "--events", "@", "--json", "-"},
           {NULL}}},
    {"board", write_board, OK | FAILED, false, 0,
     LINES{{"doctor", "--events", "@"},
           {"doctor", "--events", "@", "--json", "-"},
           {NULL}}},
    {"program", write_program, OK | FAILED, false, 0,
     LINES{{"doctor", "--events", "@"},
           {"doctor", "--events", "@", "--capturable"},
           {NULL}}},
    {"table", write_plain, OK | FAILED | USAGE, true, 50,
     LINES{{"plan", "--time-limit", "1", "@"},
           {"plan", "--time-limit", "1", "--out", "-", "-", "<"},
           {"plan", "--time-limit", "1", "--capacity", "4096", "@"},
           {NULL}}},
    {"ladder", write_plain, OK | FAILED | USAGE, true, 50,
     LINES{{"plan", "--ladder", "@"},
           {"plan", "--ladder", "--buckets", "3", "@"},
           {"plan", "--ladder", "--multiple", "8", "--capacity", "1000000", "@"},
           {NULL}}},
    {"words", write_plain, OK | FAILED | USAGE, true, 200,
     LINES{{"explain", "<"},
           {"explain", "--lang", "zh", "-", "<"},
           {"explain", "--json", "-", "<"},
           {NULL}}},
};

/* ---- mutants ---- */

/* A number of a text becomes one of those at which sums and products break. */
static size_t change_number(uint8_t *data, size_t size, size_t room)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1e308",
                                          "-0.0",
                                          "nan",
                                          "4294967295",
                                          "4294967296",
                                          "18446744073709551615",
                                          "18446744073709551616",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "1e-320",
                                          "99999999999999999999999999999999999999999"};
    const char *number = numbers[mutate_below(sizeof(numbers) / sizeof(*numbers))];
    const size_t long_by = strlen(number);
    size_t at = mutate_below(size), end;
    while (at < size && (data[at] < '0' || data[at] > '9'))
        at++;
    for (end = at; end < size && data[end] >= '0' && data[end] <= '9';)
        end++;
    if (at == size || size - (end - at) + long_by > room)
        return size;
    memmove(data + at + long_by, data + end, size - end);
    memcpy(data + at, number, long_by);
    return size - (end - at) + long_by;
}

static bool is_word(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '%' || byte == '.';
}

/* From `*at` on, or nothing. */
static size_t find_word(const uint8_t *data, size_t size, size_t *at)
{
    size_t end;
    while (*at < size && !is_word(data[*at]))
        ++*at;
    for (end = *at; end < size && is_word(data[end]);)
        end++;
    return end - *at;
}

/* One word of it is where another did: mostly what follows can still be read. */
static size_t change_word(uint8_t *data, size_t size, size_t room)
{
    uint8_t word[64];
    size_t from = mutate_below(size), at = mutate_below(size);
    const size_t bytes = find_word(data, size, &from);
    const size_t old = find_word(data, size, &at);
    if (bytes == 0 || bytes > sizeof(word) || old == 0 || size - old + bytes > room)
        return size;
    memcpy(word, data + from, bytes);
    memmove(data + at + bytes, data + at + old, size - at - old);
    memcpy(data + at, word, bytes);
    return size - old + bytes;
}

static size_t line_at(const uint8_t *data, size_t size, size_t at, size_t *bytes)
{
    while (at > 0 && data[at - 1] != '\n')
        at--;
    const uint8_t *end = memchr(data + at, '\n', size - at);
    *bytes = end ? (size_t)(end + 1 - (data + at)) : size - at;
    return at;
}

/* One line of it is repeated before another, or is missing. */
static size_t change_line(uint8_t *data, size_t size, size_t room)
{
    uint8_t line[256];
    size_t bytes, old;
    const size_t from = line_at(data, size, mutate_below(size), &bytes);
    const size_t at = line_at(data, size, mutate_below(size), &old);
    if (mutate_below(3) == 0 && bytes < size) {
        memmove(data + from, data + from + bytes, size - from - bytes);
        return size - bytes;
    }
    if (bytes > sizeof(line) || size + bytes > room)
        return size;
    memcpy(line, data + from, bytes);
    memmove(data + at + bytes, data + at, size - at);
    memcpy(data + at, line, bytes);
    return size + bytes;
}

/* The end of one after the front of another, and, of a text, one piece very often. */
static size_t cross(uint8_t *data, size_t size, size_t room, bool is_text)
{
    const seed *other = any_seed();
    const size_t at = mutate_below(size), from = mutate_below(other->count + 1);
    size_t bytes = other->count - from;
    if (is_text && mutate_below(4) == 0) {
        const size_t piece = 1 + mutate_below(size - at < 4 ? size - at : 4);
        size_t to = at;
        for (size_t i = mutate_below(20000); i > 0 && to + piece < room; i--, to += piece)
            memmove(data + to, data + at, piece);
        return to > size ? to : size;
    }
    bytes = bytes < room - at ? bytes : room - at;
    memcpy(data + at, other->bytes + from, bytes);
    return at + bytes > 0 ? at + bytes : 1;
}

static void make(const kind *of, unsigned long number)
{
    mutate_state = 0x9E3779B97F4A7C15u * (number + 1);
    for (const char *at = of->name; *at != '\0'; at++)
        mutate_state = mutate_state * 31 + (unsigned char)*at;
    const seed *from = any_seed();
    const size_t room = 2 * from->count + 64 > 65536 ? 2 * from->count + 64 : 65536;
    mutant_bytes = from->count;
    memcpy(mutant, from->bytes, from->count);
    size_t changes = mutate_below(2) == 0 ? 1 : 2 + mutate_below(5);
    for (; changes > 0 && mutant_bytes > 0; changes--) {
        const size_t how = mutate_below(24);
        if (how == 0)
            mutant_bytes = cross(mutant, mutant_bytes, room, of->is_text);
        else if (how == 1)
            mutant_bytes = 1 + mutate_below(mutant_bytes);
        else if (of->is_text && how < 8)
            mutant_bytes = change_number(mutant, mutant_bytes, room);
        else if (of->is_text && how < 15)
            mutant_bytes = change_word(mutant, mutant_bytes, room);
        else if (of->is_text && how < 20)
            mutant_bytes = change_line(mutant, mutant_bytes, room);
        else
            mutant_bytes = mutate(mutant, mutant_bytes, room);
    }
}

/* ---- running ---- */

static char folder[256], path[300], whole[300];

static noreturn void run_command(const kind *of, unsigned long number)
{
    size_t lines = 0;
    while (of->lines[lines][0] != NULL)
        lines++;
    static char room[WORDS_MAX][300];
    char *words[WORDS_MAX + 2] = {(char[]){"gph"}};
    int count = 1;
    const char *from = "/dev/null";
    for (size_t i = 0; i < WORDS_MAX && of->lines[number % lines][i] != NULL; i++) {
        const char *word = of->lines[number % lines][i];
        if (strcmp(word, "<") == 0)
            from = path;
        else
            words[count++] = memccpy(room[i],
                                     strcmp(word, "@") == 0   ? path
                                     : strcmp(word, "%") == 0 ? whole
                                                              : word,
                                     0, sizeof(room[i]))
                                 ? room[i]
                                 : NULL;
    }
    const int in = open(from, O_RDONLY),
              out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600),
              said = open("said", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || said < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(said, 2) < 0)
        _exit(99);
    exit(gph_main(count, words));
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

/* The status as waitpid() has it; false: it did not end. */
static bool wait_for(pid_t child, double limit, int *status)
{
    const double end = now() + limit;
    long nap = 200000;
    while (waitpid(child, status, WNOHANG) == 0) {
        if (now() > end) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap < 1000000 ? nap * 2 : nap;
    }
    return true;
}

static unsigned long ended[8]; /* by exit status */

static const char *wrong_with(const kind *of, bool has_ended, int status, char *said)
{
    const int fd = open("said", O_RDONLY);
    const ssize_t got = fd >= 0 ? read(fd, said, 65535) : -1;
    said[got > 0 ? got : 0] = '\0';
    close(fd);
    if (!has_ended)
        return "does not end";
    if (!WIFEXITED(status))
        return "ends by a signal";
    if (WEXITSTATUS(status) == SANITIZED || strstr(said, "runtime error:") != NULL ||
        strstr(said, "Sanitizer") != NULL)
        return "is one for a sanitizer";
    if (WEXITSTATUS(status) > 7 || (of->statuses >> WEXITSTATUS(status) & 1) == 0)
        return "has another exit status";
    struct stat out;
    if (WEXITSTATUS(status) != 0 && said[0] == '\0' && strcmp(of->name, "graph") != 0 &&
        (stat("out", &out) != 0 || out.st_size == 0))
        return "fails without a word"; /* diff says it by its status */
    ended[WEXITSTATUS(status)]++;
    return NULL;
}

static void keep(const kind *of, unsigned long number, const char *home)
{
    char command[1200];
    snprintf(command, sizeof(command),
             "rm -rf '%s/mutant.%s.%lu'; cp -r '%s' '%s/mutant.%s.%lu'", home, of->name,
             number, path, home, of->name, number);
    if (system(command) != 0)
        puts("it could not be kept");
}

static bool is_saying; /* what each ended with */

static bool run_one(const kind *of, unsigned long number, double limit, const char *home)
{
    static char said[65536];
    int status = 0;
    make(of, number);
    of->write(path);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        run_command(of, number);
    const bool has_ended = wait_for(child, limit, &status);
    const char *wrong = wrong_with(of, has_ended, status, said);
    if (is_saying)
        printf("%lu: %d: %.*s\n", number, WEXITSTATUS(status), (int)strcspn(said, "\n"),
               said);
    if (!wrong)
        return true;
    printf("%s %lu %s: status 0x%x\n%.3000s\n", of->name, number, wrong, (unsigned)status,
           said);
    keep(of, number, home);
    return false;
}

/* ---- seeds ---- */

static void add_seed(const uint8_t *bytes, size_t count)
{
    if (seed_count == SEEDS_MAX || count > BYTES_MAX)
        return;
    uint8_t *copy = malloc(count + 1);
    if (copy == NULL)
        exit(2);
    memcpy(copy, bytes, count);
    seeds[seed_count++] = (seed){copy, count};
}

static void read_seeds(const char *from)
{
    static uint8_t data[BYTES_MAX];
    const char *end = strrchr(from, '.');
    corpus entries;
    if (end != NULL && strcmp(end, ".txt") == 0) {
        if (!corpus_open(&entries, from))
            exit(2);
        while (corpus_next(&entries))
            add_seed(entries.data, entries.bytes);
        corpus_close(&entries);
        return;
    }
    FILE *file = fopen(from, "rb");
    if (file == NULL) {
        perror(from);
        exit(2);
    }
    add_seed(data, fread(data, 1, sizeof(data), file));
    fclose(file);
}

static void open_folder(char *home, size_t bytes)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/gph-mutants-XXXXXX",
             temporary && temporary[0] != '\0' ? temporary : "/dev/shm");
    if (getcwd(home, bytes) == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        exit(2);
    }
    snprintf(path, sizeof(path), "%s/it", folder);
    snprintf(whole, sizeof(whole), "%s/whole", folder);
    write_bytes(whole, seeds[0].bytes, seeds[0].count);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
}

static int run_all(const kind *of, unsigned long from, unsigned long count, double limit)
{
    char home[512], command[300];
    unsigned long wrong = 0;
    open_folder(home, sizeof(home));
    const double begin = now();
    for (unsigned long i = from; i < from + count; i++)
        wrong += !run_one(of, i, limit, home);
    printf("%s: %lu mutants of %zu seeds in %.0f s: %lu ended with 0, %lu with 1, %lu "
           "with 2; "
           "%lu wrong\n",
           of->name, count, seed_count, now() - begin, ended[0], ended[1], ended[2],
           wrong);
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    if (chdir(home) != 0 || system(command) != 0)
        return 2;
    if (count >= 100 && ended[0] * 1000 < of->least * count) {
        printf("fewer than %u of 1000 were read: the seeds no longer fit\n", of->least);
        return 1;
    }
    return wrong > 0;
}

int main(int argc, char **argv)
{
    unsigned long from = 0;
    double limit = 20;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--say") == 0)
            is_saying = true;
        else if (strcmp(argv[at], "--from") == 0)
            from = strtoul(argv[++at], NULL, 10);
        else
            limit = strtod(argv[++at], NULL);
    }
    if (argc - at < 3)
        return 2;
    for (int i = at + 2; i < argc; i++)
        read_seeds(argv[i]);
    /* Once, not in each process: the index of explain, and softcuda. */
    gph_explain_match match;
    (void)gph_explain_find("graph", 5, &match, 1);
    const char *driver = getenv("GPH_SOFTCUDA_PATH");
    if (driver != NULL && dlopen(driver, RTLD_NOW | RTLD_LOCAL) == NULL)
        puts(dlerror());
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].name, argv[at]) == 0 && seed_count > 0)
            return run_all(&kinds[i], from, strtoul(argv[at + 1], NULL, 10), limit);
    fprintf(stderr, "mutants: no kind %s, or no seeds\n", argv[at]);
    return 2;
}
