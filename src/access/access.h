// SPDX-License-Identifier: Apache-2.0
/* What a kernel does with the addresses that it is given, read from its PTX: whether it
 * loads and stores through them. Where an address goes out of sight (it is stored, passed to
 * a function, mixed with another one), that is said, and nothing is concluded.
 *
 * Nothing is allocated: the attached library reads code in the middle of a program. */
#ifndef GPHI_ACCESS_H
#define GPHI_ACCESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a word of the arguments, 8 bytes; 0: the kernel does not use it as an address. */
typedef enum gphi_access_flag {
    GPHI_ACCESS_READS = 1,
    GPHI_ACCESS_WRITES = 2,
    GPHI_ACCESS_ADDS = 8,  /* by atomic operations, beside GPHI_ACCESS_WRITES by others */
    GPHI_ACCESS_LEAVES = 4 /* where it goes is not known */
} gphi_access_flag;

enum { GPHI_ACCESS_WORDS = 60 };

/* One kernel. What is not in `words` is 0. */
typedef struct gphi_access {
    const char *name; /* not terminated */
    uint32_t name_length;
    uint32_t bytes;      /* of its arguments */
    bool goes_elsewhere; /* it also stores where no argument of its own says, or calls */
    uint32_t count;
    struct gphi_access_word {
        uint32_t offset;
        uint16_t flags, store_bytes; /* the most that one store writes */
    } words[GPHI_ACCESS_WORDS];
} gphi_access;

typedef void gphi_access_fn(void *user, const gphi_access *kernel);

/* Bytes that gphi_access_read() works in; its contents do not matter before and after. */
size_t gphi_access_room(void);
/* Calls for each kernel of a module that is understood. `room`: as large as
 * gphi_access_room() says, aligned to 16. */
void gphi_access_read(const char *ptx, size_t length, void *room, gphi_access_fn *call,
                      void *user);
#endif
