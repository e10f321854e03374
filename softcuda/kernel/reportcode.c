// SPDX-License-Identifier: Apache-2.0
/* What the machine code of a kernel says: how wide its vectors are. Read from the
 * disassembly, so that it is what runs, not what was hoped for. */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/kernel/report.h"

/* The instructions of one function. */
struct line {
    uint64_t offset;
    int64_t target; /* distance of a jump backwards, INT64_MAX: none */
    uint32_t vector_bits;
};

struct listing {
    gphi_vec lines; /* struct line */
    uint64_t bytes;
    bool failed;
    gphi_text *assembly;
};

static const struct line *line_at(const struct listing *listing, size_t i)
{
    return gphi_vec_at(&listing->lines, i);
}

/* An xmm register is used for single numbers, too: then the mnemonic decides (mulps
 * against mulss). */
static bool is_packed(const char *mnemonic, size_t length)
{
    if (length < 3)
        return false;
    const char *last = mnemonic + length - 2;
    if (strncmp(last, "ps", 2) == 0 || strncmp(last, "pd", 2) == 0)
        return true;
    /* Integer vectors: paddd, vpaddd, ... but not push, pop, prefetch. */
    const bool vex = mnemonic[0] == 'v' && mnemonic[1] == 'p';
    const bool old = mnemonic[0] == 'p' && strncmp(mnemonic, "pu", 2) != 0 &&
                     strncmp(mnemonic, "po", 2) != 0 && strncmp(mnemonic, "pr", 2) != 0;
    return vex || old;
}

#if defined(__x86_64__)
static uint32_t vector_bits(const char *text)
{
    if (strstr(text, "%zmm"))
        return 512;
    if (strstr(text, "%ymm"))
        return 256;
    while (*text == '\t' || *text == ' ')
        text++;
    return strstr(text, "%xmm") && is_packed(text, strcspn(text, " \t")) ? 128 : 0;
}
#else
static uint32_t vector_bits(const char *text)
{
    static const char *const lanes[] = {".4s", ".2d", ".8h", ".16b"};
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
        if (strstr(text, lanes[i]))
            return 128;
    (void)is_packed;
    return 0;
}
#endif

/* The distance of a jump, as LLVM prints it: "\tjne\t-45", "\tb.ne\t#-64". */
static bool jump_distance(const char *text, long *out)
{
    while (*text == '\t' || *text == ' ')
        text++;
    const bool is_jump = text[0] == 'j' || text[0] == 'b' ||
                         strncmp(text, "cb", 2) == 0 || strncmp(text, "tb", 2) == 0;
    const char *number = strrchr(text, '\t');
    if (!is_jump || !number)
        return false;
    const char *last = strrchr(number, ' ');
    number = last ? last + 1 : number + 1;
    if (*number == '#')
        number++;
    char *end;
    *out = strtol(number, &end, 0);
    return end != number && *end == '\0';
}

static void take_line(void *user, uint64_t offset, const char *text)
{
    struct listing *listing = user;
    if (listing->assembly)
        gphi_text_add(listing->assembly, "%6llx:%s\n", (unsigned long long)offset, text);
    struct line *line = gphi_vec_add(&listing->lines, 1);
    if (!line) {
        /* Goes on, so that the disassembler ends by itself; the report fails as a
         * whole. */
        listing->failed = true;
        return;
    }
    long distance = 0;
    const bool jump = jump_distance(text, &distance) && distance < 0;
    /* Where the instruction ends is known with the next one; see soft_read_code(). */
    *line = (struct line){offset, jump ? distance : INT64_MAX, vector_bits(text)};
}

static uint64_t end_of(const struct listing *listing, size_t i)
{
    return i + 1 < listing->lines.count ? line_at(listing, i + 1)->offset
                                        : listing->bytes;
}

/* The widest vector between the target of a jump backwards and the jump: code outside of
 * loops runs once, and its vectors (a copied structure, say) would flatter the kernel.
 * x86-64 counts a jump from the end of its instruction, aarch64 from its start. */
static uint32_t widest_in_loops(const struct listing *listing)
{
    uint32_t widest = 0;
    for (size_t i = 0; i < listing->lines.count; i++) {
        const struct line *jump = line_at(listing, i);
        if (jump->target == INT64_MAX)
            continue;
#if defined(__x86_64__)
        const int64_t from = (int64_t)end_of(listing, i);
#else
        const int64_t from = (int64_t)jump->offset;
#endif
        const int64_t target = from + jump->target;
        for (size_t k = i + 1; k-- > 0 && (int64_t)line_at(listing, k)->offset >= target;)
            if (line_at(listing, k)->vector_bits > widest)
                widest = line_at(listing, k)->vector_bits;
    }
    return widest;
}

void soft_read_code(const soft_jit_api *jit, const soft_image *image,
                    const soft_image_function *function, bool want_assembly,
                    soft_machine_code *out)
{
    *out = (soft_machine_code){.code_bytes = function->bytes};
    struct listing listing = {.bytes = function->bytes,
                              .assembly = want_assembly ? &out->assembly : NULL};
    gphi_vec_init(&listing.lines, gphi_heap(NULL), sizeof(struct line));
    if (jit->disassemble(image->base + function->start, function->bytes, take_line,
                         &listing) == 0)
        out->vector_bits = widest_in_loops(&listing);
    if (listing.failed)
        out->assembly.status = GPH_E_NO_MEMORY;
    gphi_vec_fini(&listing.lines);
}
