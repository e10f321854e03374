// SPDX-License-Identifier: Apache-2.0
/* The table of code ranges:
 *
 *   chunk -> chunk -> ...      chunks are added, never freed; an entry is a range and
 *   [start, end, image] x 64   the image after it, start 0 while it is empty
 *
 * Writers hold a mutex. A reader loads `start` (acquire), then the rest; an image is
 * removed only when none of its kernels runs, so the entry that a handler looks for
 * cannot change under it. */
#include "softcuda/kernel/run/place.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "softcuda/kernel/run/launch.h"

enum { CHUNK = 64 };

struct entry {
    atomic_uintptr_t start, end;
    _Atomic(const soft_image *) image;
};

struct chunk {
    struct entry entries[CHUNK];
    _Atomic(struct chunk *) next;
};

static struct chunk first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

extern const char soft_text_start[] __asm__("__start_soft_text")
    __attribute__((visibility("hidden")));
extern const char soft_text_stop[] __asm__("__stop_soft_text")
    __attribute__((visibility("hidden")));

static struct entry *find_empty(void)
{
    for (struct chunk *chunk = &first;;) {
        for (int i = 0; i < CHUNK; i++)
            if (atomic_load_explicit(&chunk->entries[i].start, memory_order_relaxed) == 0)
                return &chunk->entries[i];
        struct chunk *next = atomic_load_explicit(&chunk->next, memory_order_relaxed);
        if (!next) {
            next = calloc(1, sizeof(*next));
            if (!next)
                return NULL;
            /* with the acquire load in find() */
            atomic_store_explicit(&chunk->next, next, memory_order_release);
        }
        chunk = next;
    }
}

bool soft_place_add(const soft_image *image)
{
    pthread_mutex_lock(&mutex);
    struct entry *entry = find_empty();
    if (entry) {
        const uintptr_t start = (uintptr_t)image->base;
        atomic_store_explicit(&entry->end, start + image->text_bytes,
                              memory_order_relaxed);
        atomic_store_explicit(&entry->image, image, memory_order_relaxed);
        /* with the acquire load in find() */
        atomic_store_explicit(&entry->start, start, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
    return entry;
}

void soft_place_remove(const soft_image *image)
{
    pthread_mutex_lock(&mutex);
    for (struct chunk *chunk = &first; chunk;
         chunk = atomic_load_explicit(&chunk->next, memory_order_relaxed))
        for (int i = 0; i < CHUNK; i++) {
            struct entry *entry = &chunk->entries[i];
            if (atomic_load_explicit(&entry->image, memory_order_relaxed) != image)
                continue;
            atomic_store_explicit(&entry->start, 0, memory_order_release);
            atomic_store_explicit(&entry->image, NULL, memory_order_relaxed);
        }
    pthread_mutex_unlock(&mutex);
}

static const soft_image *find(uintptr_t pc)
{
    for (struct chunk *chunk = &first; chunk;
         chunk = atomic_load_explicit(&chunk->next, memory_order_acquire))
        for (int i = 0; i < CHUNK; i++) {
            struct entry *entry = &chunk->entries[i];
            const uintptr_t start =
                atomic_load_explicit(&entry->start, memory_order_acquire);
            if (start != 0 && pc >= start &&
                pc < atomic_load_explicit(&entry->end, memory_order_relaxed))
                return atomic_load_explicit(&entry->image, memory_order_relaxed);
        }
    return NULL;
}

static bool is_text(uintptr_t pc)
{
    return pc >= (uintptr_t)soft_text_start && pc < (uintptr_t)soft_text_stop;
}

bool soft_place_holds(uintptr_t pc)
{
    return is_text(pc) || find(pc);
}

/* Sixteen bytes of any alignment. Most calls are for a few hundred bytes, where starting
 * a string instruction costs more than the work. */
typedef uint64_t sixteen __attribute__((vector_size(16), aligned(1), may_alias));
#define STRING_BYTES 2048u

SOFT_TEXT void *soft_text_copy(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
#if defined(__x86_64__)
    if (bytes >= STRING_BYTES) {
        __asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(bytes) : : "memory");
        return to;
    }
#endif
    for (; bytes >= 16; bytes -= 16, t += 16, f += 16)
        *(sixteen *)t = *(const sixteen *)f;
    for (size_t i = 0; i < bytes; i++)
        t[i] = f[i];
    return to;
}

SOFT_TEXT uint64_t soft_text_load(const void *from, size_t bytes)
{
    uint64_t value = 0;
    switch (bytes) {
    case 8: __builtin_memcpy(&value, from, 8); break;
    case 4: __builtin_memcpy(&value, from, 4); break;
    case 2: __builtin_memcpy(&value, from, 2); break;
    default: __builtin_memcpy(&value, from, 1);
    }
    return value;
}

SOFT_TEXT void soft_text_store(void *to, uint64_t value, size_t bytes)
{
    switch (bytes) {
    case 8: __builtin_memcpy(to, &value, 8); break;
    case 4: __builtin_memcpy(to, &value, 4); break;
    case 2: __builtin_memcpy(to, &value, 2); break;
    default: __builtin_memcpy(to, &value, 1);
    }
}

/* Forwards like a copy unless the end of the source would be overwritten first. */
SOFT_TEXT void *soft_text_move(void *to, const void *from, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if ((uintptr_t)t - (uintptr_t)f >= bytes)
        return soft_text_copy(to, from, bytes);
    while (bytes >= 8) {
        uint64_t word;
        bytes -= 8;
        __builtin_memcpy(&word, f + bytes, 8);
        __builtin_memcpy(t + bytes, &word, 8);
    }
    while (bytes-- > 0)
        t[bytes] = f[bytes];
    return to;
}

SOFT_TEXT void *soft_text_fill(void *to, int value, size_t bytes)
{
    unsigned char *t = to;
    const unsigned char byte = (unsigned char)value;
#if defined(__x86_64__)
    if (bytes >= STRING_BYTES) {
        __asm__ volatile("rep stosb" : "+D"(t), "+c"(bytes) : "a"(value) : "memory");
        return to;
    }
#endif
    const uint64_t word = byte * 0x0101010101010101u;
    const sixteen block = {word, word};
    for (; bytes >= 16; bytes -= 16, t += 16)
        *(sixteen *)t = block;
    for (size_t i = 0; i < bytes; i++)
        t[i] = byte;
    return to;
}

SOFT_TEXT int soft_text_compare(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < bytes; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

SOFT_TEXT size_t soft_text_length(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0')
        length++;
    return length;
}
