// SPDX-License-Identifier: Apache-2.0
/* How a ring file is laid out; both ends map it. */
#ifndef GPHI_EVENT_RING_FORMAT_H
#define GPHI_EVENT_RING_FORMAT_H
#include "event/ring.h"

#define GPHI_RING_MAGIC UINT64_C(0x676e697265687067) /* "gphering" */
enum {
    GPHI_RING_PAGE = 4096,
    GPHI_RING_UNIT = 64,
    GPHI_RING_SLOTS = 512, /* threads that can be shown as being in a call at one time */
    GPHI_RING_UNITS_AT = GPHI_RING_PAGE + GPHI_RING_SLOTS * (int)sizeof(gphi_event_slot)
};

/* Kind of the record that fills the end of the ring, when the next does not fit there. */
enum { GPHI_RING_SKIP = 0 };

/* Positions count units from the beginning and never wrap in practice (2^64 units). */
typedef struct gphi_event_ring_head {
    uint64_t magic; /* set last */
    uint64_t version;
    uint64_t secret;
    uint32_t units;
    uint32_t process;
    _Alignas(64) uint64_t head; /* taken by writers; __atomic */
    _Alignas(64) uint64_t tail; /* given back by the reader; __atomic */
    _Alignas(64) uint64_t lost; /* records, in all; __atomic */
    uint64_t unsaid; /* of them, those that no LOST record has reported; __atomic */
} gphi_event_ring_head;

/* The mark of a whole record at a position: a stray word of another record's body is
 * never one by chance. */
static inline uint64_t gphi_event_ring_mark(uint64_t secret, uint64_t position)
{
    uint64_t x = (position + 1) ^ secret; /* the finalizer of splitmix64: a bijection */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
#endif
