// SPDX-License-Identifier: Apache-2.0
/* Waiting for a launch without the processor. To be woken by the driver takes 75 us after the
 * last kernel (an H100), wakes threads of the driver's, and costs 50 to 100 us of CPU time
 * where the sleep was long; a nap costs 5. So the host looks at the word that the last kernel
 * writes: often while a launch is short, and once, when it should be there, where the
 * launches before were all as long:
 *
 *   short          nap nap nap nap [ended]                      up to doze_ns
 *   as before      sleep ................... [ended]            alike >= wanted
 *   else           the driver's event
 *
 * Whoever sleeps through a launch that ends early notices late, so lengths have to be alike
 * several times before they are believed, and twice as often after each mistake. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/thread.h"
#include "loop/loop.h"

#include <time.h>

/* How long a nap is asked for (it takes a few us more, or 50, as the system likes), and how
 * long the stream is asked for once the last word of a launch is there: it ends some us
 * later. */
enum { NAP_NS = 25000, NAP_MOST_NS = 1000000, ASK_NS = 20000 };

/* From the call that launches to the first round, and from the last word to the stream's
 * end. */
enum { BESIDE_NS = 30000 };

/* Parts of a length: lengths that differ by less are alike, a sleep lasts longer than the
 * length by, a nap after it takes, and naps go on for. */
enum { ALIKE_PART = 32, MORE_PART = 64, NAP_PART = 64, LATE_PART = 8 };

enum { WANTED_MOST = 64 };

/* ---- how long launches take ---- */

void gphi_lengths_note(gphi_loop_lengths *lengths, uint64_t ns)
{
    const uint64_t last = lengths->last_ns;
    const uint64_t apart = ns > last ? ns - last : last - ns;
    const bool is_alike = last > 0 && apart <= last / ALIKE_PART;
    if (lengths->wanted == 0)
        lengths->wanted = GPHI_LENGTHS_WANTED;
    if (lengths->was_asleep && ns + ns / ALIKE_PART < last)
        lengths->wanted =
            lengths->wanted < WANTED_MOST ? 2 * lengths->wanted : lengths->wanted;
    lengths->was_asleep = false;
    lengths->alike = is_alike ? lengths->alike + 1 : 0;
    lengths->last_ns = ns;
}

uint64_t gphi_lengths_expect(const gphi_loop_lengths *lengths)
{
    return lengths->wanted > 0 && lengths->alike >= lengths->wanted ? lengths->last_ns
                                                                    : 0;
}

/* ---- sleeping ---- */

static uint64_t ended(const gph_loop *loop)
{
    return __atomic_load_n(&loop->host->ended, __ATOMIC_ACQUIRE);
}

static bool has_ended(const gph_loop *loop)
{
    return ended(loop) >= atomic_load_explicit(&loop->launched, memory_order_relaxed);
}

/* True once the last word is there; false where `until` has passed, or a signal came. */
static bool nap_until(const gph_loop *loop, uint64_t nap_ns, uint64_t until)
{
    const struct timespec nap = {.tv_nsec = (long)nap_ns};
    while (!has_ended(loop))
        if (gphi_clock_ns() > until || nanosleep(&nap, NULL) != 0)
            return false;
    return true;
}

static bool doze(const gph_loop *loop)
{
    const uint64_t last = __atomic_load_n(&loop->host->ns, __ATOMIC_ACQUIRE);
    return last <= loop->doze_ns &&
           nap_until(loop, NAP_NS, gphi_clock_ns() + loop->doze_ns);
}

/* One sleep for nearly all of it; a late launch is looked for some more. An abort wakes, and
 * then nothing is known about the end. */
static bool sleep_through(gph_loop *loop, uint64_t expected)
{
    const uint64_t from = atomic_load_explicit(&loop->launch_ns, memory_order_relaxed);
    const uint64_t until = from + expected + expected / MORE_PART + BESIDE_NS;
    const uint64_t nap = expected / NAP_PART;
    const unsigned bell = atomic_load_explicit(&loop->launch_bell, memory_order_relaxed);
    loop->lengths.was_asleep = true;
    for (uint64_t now; !has_ended(loop) && (now = gphi_clock_ns()) < until;) {
        if (atomic_load_explicit(&loop->bell, memory_order_acquire) != bell)
            return false;
        gphi_futex_wait(&loop->bell, bell, until - now);
    }
    return nap_until(loop,
                     nap < NAP_NS        ? NAP_NS
                     : nap > NAP_MOST_NS ? NAP_MOST_NS
                                         : nap,
                     until + expected / LATE_PART);
}

/* The stream, whose last word is there: it ends some us later. */
static bool ask(const gph_loop *loop, CUstream stream, CUresult *result)
{
    const uint64_t until = gphi_clock_ns() + ASK_NS;
    do
        *result = loop->runtime->cu.cuStreamQuery(stream);
    while (*result == CUDA_ERROR_NOT_READY && gphi_clock_ns() < until);
    return *result != CUDA_ERROR_NOT_READY;
}

/* Only of launches that gph_loop_launch() made, one at a time: others are not counted. */
static bool is_awaited(gph_loop *loop, CUstream stream, CUresult *result)
{
    if (loop->doze_ns == 0 || loop->is_lent || ended(loop) == 0)
        return false;
    if (doze(loop))
        return ask(loop, stream, result);
    const uint64_t expected = gphi_lengths_expect(&loop->lengths);
    const bool is_alone =
        atomic_load_explicit(&loop->launch_ns, memory_order_relaxed) > 0;
    return expected > 0 && is_alone && sleep_through(loop, expected) &&
           ask(loop, stream, result);
}

/* cuStreamSynchronize() keeps a core busy unless the context was made otherwise. */
CUresult gphi_loop_sleep(gph_loop *loop, CUstream stream)
{
    const gphi_cuda_table *cu = &loop->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    if (!is_awaited(loop, stream, &result)) {
        result = cu->cuEventRecord(loop->event, stream);
        if (result == CUDA_SUCCESS)
            result = cu->cuEventSynchronize(loop->event);
    }
    if (result == CUDA_SUCCESS &&
        atomic_exchange_explicit(&loop->launch_ns, 0, memory_order_relaxed) > 0)
        gphi_lengths_note(&loop->lengths,
                          __atomic_load_n(&loop->host->ns, __ATOMIC_ACQUIRE));
    return result;
}
