// SPDX-License-Identifier: Apache-2.0
/* Collectives of small tensors: every thread writes its lines into every rank's memory, each
 * with a flag in the same word, and waits for the others' lines in its own. One trip over the
 * link, no barrier. docs/design/ranks.md says why memory of two parities is enough. */
#include "ranks.cuh"
#include "math.cuh"

static const u32 SPINS = 1024; /* between two looks at the host's word and at the time */

typedef struct epoch_of {
    u32 flag;   /* the epoch, never 0 */
    u32 parity;
    bool alive; /* of this thread */
} epoch_of;

typedef struct line_words {
    u64 first, second;
} line_words;

__device__ __forceinline__ volatile ranks_head *head_of(const ranks_call &c)
{
    return (volatile ranks_head *)c.memory;
}

/* From the beginning of anybody's memory. */
__device__ __forceinline__ u64 line_at(const ranks_call &c, const epoch_of &e, u32 source,
                                       u32 line)
{
    const u64 index =
        ((u64)(e.parity * c.count + source) * RANKS_BLOCKS + blockIdx.x) * c.capacity + line;
    return RANKS_HEAD + index * RANKS_LINE;
}

__device__ __forceinline__ void write_line(u64 at, u64 first, u64 second)
{
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
                 :
                 : "l"(at), "l"(first), "l"(second)
                 : "memory");
}

__device__ __forceinline__ line_words read_line(u64 at)
{
    line_words line;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(line.first), "=l"(line.second)
                 : "l"(at)
                 : "memory");
    return line;
}

/* ---- a block's epoch ---- */

/* Flags of long ago must not be met again when epochs come round: every 2^24 of them the
 * lines of the next parity are wiped. Nobody writes there before it has lines of this epoch,
 * which are sent afterwards. */
__device__ __forceinline__ void wipe_next(const ranks_call &c, const epoch_of &e)
{
    epoch_of next = e;
    next.parity = e.parity ^ 1;
    for (u32 source = 0; source < c.count; source++)
        for (u32 i = threadIdx.x; i < c.capacity; i += blockDim.x)
            write_line(c.memory + line_at(c, next, source, i), 0, 0);
    fence();
    __syncthreads();
}

__device__ __forceinline__ epoch_of enter(const ranks_call &c)
{
    epoch_of e;
    e.flag = head_of(c)->epochs[blockIdx.x] + 1;
    if (e.flag == 0) /* the value of memory that nobody wrote */
        e.flag = 2;
    e.parity = e.flag & 1;
    e.alive = head_of(c)->dead == 0;
    if ((e.flag & RANKS_CLEAN) <= 1)
        wipe_next(c, e);
    return e;
}

/* Every thread comes here, also one that gave up. */
__device__ __forceinline__ void leave(const ranks_call &c, const epoch_of &e)
{
    __syncthreads(); /* all have read the epoch */
    if (threadIdx.x == 0)
        head_of(c)->epochs[blockIdx.x] = e.flag;
}

/* ---- waiting ---- */

static const u64 ENDED = ~0ull;

/* Is it time to end? The first one that loses patience says for whom it waited. The time
 * since when it waits, or ENDED. Values, since a reference would put all of them in memory. */
__device__ __noinline__ u64 look_up(u64 memory, ranks_host *to, u64 patience, u32 place,
                                    u32 flag, u32 source, u64 since)
{
    volatile ranks_head *head = (volatile ranks_head *)memory;
    volatile ranks_host *host = to;
    if (host->stop != 0)
        head->dead = 1;
    if (head->dead != 0)
        return ENDED;
    const u64 now = now_ns();
    if (since == 0 || now - since < patience)
        return since == 0 ? now : since;
    u32 before;
    asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(before) : "l"(memory) : "memory");
    if (before == 0) {
        host->rank = source;
        host->epoch = flag;
        host->place = place;
        fence();
        host->failed = 1;
    }
    return ENDED;
}

/* The line that `source` wrote; what it gives after the end has no meaning. */
__device__ __forceinline__ u64 await(const ranks_call &c, epoch_of &e, u32 source, u32 line)
{
    const u64 at = c.memory + line_at(c, e, source, line);
    u64 since = 0;
    u32 spins = 0;
    line_words words = read_line(at);
    while (e.alive &&
           ((u32)(words.first >> 32) != e.flag || (u32)(words.second >> 32) != e.flag)) {
        if ((++spins & 63) == 0) /* for long: others may have use for the place */
            asm volatile("nanosleep.u32 100;");
        if (spins == SPINS) {
            spins = 0;
            since = look_up(c.memory, c.host, c.patience, c.place, e.flag, source, since);
            e.alive = since != ENDED;
        }
        words = read_line(at);
    }
    return (words.first & 0xffffffffu) | words.second << 32;
}

__device__ __forceinline__ void send(const ranks_call &c, const epoch_of &e, u32 line, u64 data)
{
    const u64 flag = (u64)e.flag << 32, at = line_at(c, e, c.rank, line);
#pragma unroll
    for (u32 i = 0; i < RANKS_MAX - 1; i++)
        if (i + 1 < c.count)
            write_line(c.peers[i] + at, flag | (data & 0xffffffffu), flag | data >> 32);
}

/* ---- tensors ---- */

/* Up to eight bytes from byte 8 * line on. */
__device__ __forceinline__ u64 load(const ranks_call &c, u64 base, u32 line)
{
    const u64 from = (u64)line * RANKS_DATA;
    const u64 left = c.bytes - from;
    const u32 bytes = left < RANKS_DATA ? (u32)left : (u32)RANKS_DATA;
    if (c.wide != 0 && bytes == RANKS_DATA)
        return *(const u64 *)(base + from);
    u64 data = 0;
    for (u32 i = 0; i < bytes; i += c.step) {
        const u64 at = base + from + i;
        const u64 part = c.step == 4   ? *(const u32 *)at
                         : c.step == 2 ? *(const unsigned short *)at
                                       : *(const unsigned char *)at;
        data |= part << (8 * i);
    }
    return data;
}

__device__ __forceinline__ void store(const ranks_call &c, u64 base, u32 line, u64 data)
{
    const u64 from = (u64)line * RANKS_DATA;
    const u64 left = c.bytes - from;
    const u32 bytes = left < RANKS_DATA ? (u32)left : (u32)RANKS_DATA;
    if (c.wide != 0 && bytes == RANKS_DATA) {
        *(u64 *)(base + from) = data;
        return;
    }
    for (u32 i = 0; i < bytes; i += c.step) {
        const u64 at = base + from + i, part = data >> (8 * i);
        if (c.step == 4)
            *(u32 *)at = (u32)part;
        else if (c.step == 2)
            *(unsigned short *)at = (unsigned short)part;
        else
            *(unsigned char *)at = (unsigned char)part;
    }
}

/* ---- reduction ---- */

__device__ __forceinline__ float put_together(u32 reduction, float a, float b)
{
    float out;
    if (reduction == RANKS_SUM)
        return a + b;
    if (reduction == RANKS_MOST)
        asm("max.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    else
        asm("min.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
}

/* Eight bytes as numbers that are added up, and back: 2 of four bytes, or 4 of two. */
struct of_f32 {
    typedef float number;
    enum { COUNT = 2 };
    static __device__ __forceinline__ float get(u64 data, u32 i)
    {
        return __int_as_float((int)(u32)(data >> (32 * i)));
    }
    static __device__ __forceinline__ u64 put(float x, u32 i)
    {
        return (u64)(u32)__float_as_int(x) << (32 * i);
    }
    static __device__ __forceinline__ float both(u32 reduction, float a, float b)
    {
        return put_together(reduction, a, b);
    }
};

struct of_i32 {
    typedef int number;
    enum { COUNT = 2 };
    static __device__ __forceinline__ int get(u64 data, u32 i)
    {
        return (int)(u32)(data >> (32 * i));
    }
    static __device__ __forceinline__ u64 put(int x, u32 i)
    {
        return (u64)(u32)x << (32 * i);
    }
    static __device__ __forceinline__ int both(u32 reduction, int a, int b)
    {
        return reduction == RANKS_SUM    ? (int)((u32)a + (u32)b)
               : reduction == RANKS_MOST ? (a > b ? a : b)
                                         : (a < b ? a : b);
    }
};

struct of_f16 : of_f32 {
    enum { COUNT = 4 };
    static __device__ __forceinline__ float get(u64 data, u32 i)
    {
        float out;
        const unsigned short half = (unsigned short)(data >> (16 * i));
        asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(half));
        return out;
    }
    static __device__ __forceinline__ u64 put(float x, u32 i)
    {
        unsigned short half;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
        return (u64)half << (16 * i);
    }
};

struct of_bf16 : of_f32 {
    enum { COUNT = 4 };
    static __device__ __forceinline__ float get(u64 data, u32 i)
    {
        return __int_as_float((int)((u32)(data >> (16 * i)) << 16));
    }
    /* To the nearest, ties to even. */
    static __device__ __forceinline__ u64 put(float x, u32 i)
    {
        const u32 bits = (u32)__float_as_int(x);
        u32 half = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
        if (x != x)
            half = 0x7fff;
        return (u64)half << (16 * i);
    }
};

/* In the order of ranks, so that all of them get the same bits. */
template <typename T> __device__ __forceinline__ u64 reduce_line(const ranks_call &c, epoch_of &e, u32 line, u64 own)
{
    typename T::number sum[T::COUNT];
    for (u32 source = 0; source < c.count; source++) {
        const u64 data = source == c.rank ? own : await(c, e, source, line);
#pragma unroll
        for (u32 i = 0; i < T::COUNT; i++)
            sum[i] = source == 0 ? T::get(data, i) : T::both(c.reduction, sum[i], T::get(data, i));
    }
    u64 out = 0;
#pragma unroll
    for (u32 i = 0; i < T::COUNT; i++)
        out |= T::put(sum[i], i);
    return out;
}

/* The lines of this block. */
#define EACH_LINE(c, line)                                                                   \
    for (u32 line = threadIdx.x;                                                             \
         line < (c).chunk && blockIdx.x * (c).chunk + line < (c).lines; line += blockDim.x)

template <typename T> __device__ __forceinline__ void reduce(const ranks_call &c)
{
    epoch_of e = enter(c);
    const u32 first = blockIdx.x * c.chunk;
    if (e.alive)
        EACH_LINE(c, line)
        send(c, e, line, load(c, c.in, first + line));
    if (e.alive)
        EACH_LINE(c, line)
        store(c, c.out, first + line,
              reduce_line<T>(c, e, line, load(c, c.in, first + line)));
    leave(c, e);
}

KERNEL gph_ranks_reduce_f32(const ranks_call c)
{
    reduce<of_f32>(c);
}
KERNEL gph_ranks_reduce_f16(const ranks_call c)
{
    reduce<of_f16>(c);
}
KERNEL gph_ranks_reduce_bf16(const ranks_call c)
{
    reduce<of_bf16>(c);
}
KERNEL gph_ranks_reduce_i32(const ranks_call c)
{
    reduce<of_i32>(c);
}

/* ---- the others ---- */

KERNEL gph_ranks_gather(const ranks_call c)
{
    epoch_of e = enter(c);
    const u32 first = blockIdx.x * c.chunk;
    if (e.alive)
        EACH_LINE(c, line)
        {
            const u64 data = load(c, c.in, first + line);
            send(c, e, line, data);
            store(c, c.out + c.rank * c.bytes, first + line, data);
        }
    for (u32 source = 0; source < c.count; source++)
        if (source != c.rank)
            EACH_LINE(c, line)
            store(c, c.out + source * c.bytes, first + line, await(c, e, source, line));
    leave(c, e);
}

/* The others send their first line, too: nobody may be two epochs ahead of anybody. */
KERNEL gph_ranks_broadcast(const ranks_call c)
{
    epoch_of e = enter(c);
    const u32 first = blockIdx.x * c.chunk;
    const bool is_root = c.rank == c.root;
    if (e.alive)
        EACH_LINE(c, line)
        if (is_root || line == 0)
            send(c, e, line, is_root ? load(c, c.in, first + line) : 0);
    if (!is_root)
        EACH_LINE(c, line)
        store(c, c.out, first + line, await(c, e, c.root, line));
    for (u32 source = 0; source < c.count && threadIdx.x == 0; source++)
        if (source != c.rank && source != c.root)
            (void)await(c, e, source, 0);
    leave(c, e);
}
