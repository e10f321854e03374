// SPDX-License-Identifier: Apache-2.0
/* The ring of this process: made at its first driver call, ended at its exit, and never
 * the parent's.
 *
 *   GPH_DOCTOR_DIR   where the file goes: PID.ring, or PID.2.ring after exec in the same
 *                    process
 *   GPH_DOCTOR_TIER  0: the driver's log alone; else calls, too
 *   GPH_DOCTOR_RING  units of the ring, a power of two
 *   GPH_DOCTOR_CHAIN an injection library that was set before */
#define _GNU_SOURCE
#include "attach/process.h"
#include "attach/crash.h"
#include "attach/cupti/cupti.h"
#include "attach/driver/find.h"
#include "attach/interpreter/numbers.h"
#include "attach/output.h"
#include "attach/peek/memory.h"
#include "attach/peek/stack.h"
#include "attach/presence.h"
#include "attach/rank.h"
#include "attach/record/device.h"
#include "attach/record/inside.h"
#include "attach/record/sentence.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "attach/sentinel/sentinels.h"
#include "attach/timing/timing.h"
#include "attach/track/capture.h"
#include "attach/track/freed.h"
#include "attach/track/function.h"
#include "attach/track/look.h"
#include "attach/track/pinned.h"
#include "event/ring_format.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { UNITS = 1 << 19, UNITS_LEAST = 1 << 14, COMMAND_MAX = 8192 };

static pid_t ring_process;
static pid_t forked_of; /* a process that had used the driver; 0: none */
static atomic_flag is_starting = ATOMIC_FLAG_INIT;

/* ---- begin ---- */

static bool is_no_room(int code)
{
    return code == ENOSPC || code == EFBIG || code == EDQUOT;
}

/* As large as there is room for: where `wanted` does not fit, half of it, and so on. */
static gphi_event_ring *fit_ring(const char *path, uint32_t wanted)
{
    gphi_event_ring *ring = NULL;
    uint32_t units = wanted;
    int code = 0;
    for (;; units /= 2) {
        errno = EINVAL;
        if (gphi_event_ring_create(path, units, &ring, NULL) == GPH_OK)
            break;
        code = errno;
        if (is_no_room(code) && units / 2 >= UNITS_LEAST)
            continue;
        attach_presence_refused(code);
        return NULL;
    }
    attach_presence_ring((size_t)units * GPHI_RING_UNIT, (size_t)wanted * GPHI_RING_UNIT);
    return ring;
}

static gphi_event_ring *make_ring(void)
{
    const char *folder = attach_presence_folder();
    if (!folder)
        return NULL;
    const char *wanted = getenv("GPH_DOCTOR_RING");
    const unsigned long units =
        wanted && wanted[0] != '\0' ? strtoul(wanted, NULL, 10) : UNITS;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%ld.ring", folder, (long)getpid());
    for (int i = 2; access(path, F_OK) == 0 && i < 1000; i++)
        snprintf(path, sizeof(path), "%s/%ld.%d.ring", folder, (long)getpid(), i);
    return units <= UINT32_MAX ? fit_ring(path, (uint32_t)units) : NULL;
}

/* Arguments are split by \n; those of them stay as they are. */
static void read_command(char *text, size_t room)
{
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file >= 0 ? read(file, text, room - 1) : 0;
    if (file >= 0)
        close(file);
    bytes = bytes > 0 ? bytes : 0;
    while (bytes > 0 && text[bytes - 1] == '\0')
        bytes--;
    for (ssize_t i = 0; i < bytes; i++)
        if (text[i] == '\0')
            text[i] = '\n';
    text[bytes] = '\0';
}

static void tell_process(uint64_t tier)
{
    char command[COMMAND_MAX];
    read_command(command, sizeof(command));
    int version = 0;
    if (ATTACH_ASK(cuDriverGetVersion, &version) != CUDA_SUCCESS)
        version = 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const attach_rank rank = attach_rank_of_process();
    const uint64_t words[] = {(uint64_t)version,
                              (uint64_t)now.tv_sec * UINT64_C(1000000000) +
                                  (uint64_t)now.tv_nsec,
                              tier, rank.count, rank.rank};
    attach_draft draft = {.head.kind = GPHI_EVENT_PROCESS,
                          .head.id = (uint64_t)getpid(),
                          .words = words,
                          .word_count = 5};
    attach_add_text(&draft, command);
    attach_add_text(&draft, attach_driver()->path);
    attach_write(&draft);
}

/* 1: this library is before the C library in the order of loading; -1: it is not. */
static int find_order(struct dl_phdr_info *info, size_t bytes, void *user)
{
    const uintptr_t ours = (uintptr_t)&is_starting, from = (uintptr_t)info->dlpi_addr;
    (void)bytes, (void)user;
    if (strstr(info->dlpi_name, "/libc.so"))
        return -1;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            ours - from - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return 1;
    return 0;
}

/* Whether the program's own calls come by here. Where LD_PRELOAD was taken out of the
 * environment the driver loads this library all the same, after all others, and it hears
 * the driver's log alone. */
static bool is_preloaded(void)
{
    return dl_iterate_phdr(find_order, NULL) >= 0;
}

bool attach_start(void)
{
    if (atomic_flag_test_and_set(&is_starting)) /* another thread does */
        return atomic_load(&attach_is) == ATTACH_ON;
    const char *tier = getenv("GPH_DOCTOR_TIER");
    const bool is_asked = tier && strcmp(tier, "0") == 0;
    const bool is_logs = is_asked || !is_preloaded();
    if (is_logs && !is_asked)
        attach_presence_deaf();
    gphi_event_ring *ring = make_ring();
    ring_process = getpid();
    attach_ring_set(ring);
    if (ring)
        tell_process(is_logs ? 0 : 1);
    if (ring && forked_of != 0)
        attach_tell(GPHI_EVENT_FORKED, (uint64_t)forked_of, attach_stack_kept(), NULL, 0,
                    NULL);
    const uint32_t is = !ring ? ATTACH_OFF : is_logs ? ATTACH_LOGS : ATTACH_ON;
    const gphi_timing_host host = {attach_entry, attach_open_captures};
    if (is == ATTACH_ON) {
        gphi_timing_start(&host);
        attach_crash_prepare();
        attach_pinned_start();
    }
    atomic_store_explicit(&attach_is, is, memory_order_release);
    return is == ATTACH_ON;
}

/* The driver's own way in (CUDA_INJECTION64_PATH), within cuInit(). Where our wrappers
 * are in the program, that of cuInit() listens when it is done. */
ATTACH_API int InitializeInjection(void);

int InitializeInjection(void)
{
    if (attach_me.depth == 0) {
        attach_me.busy++;
        if (atomic_load(&attach_is) != ATTACH_OFF)
            attach_start();
        if (attach_ring())
            attach_listen_to_logs();
        attach_me.busy--;
    }
    return attach_chain(getenv("GPH_DOCTOR_CHAIN"));
}

/* ---- end ---- */

static void tell_exit(uint64_t how, int code)
{
    gphi_event_ring *ring = attach_ring();
    if (!ring || getpid() != ring_process)
        return; /* also in a child of vfork(), which has our memory */
    const uint64_t words[] = {(uint64_t)(uint32_t)code};
    attach_tell(GPHI_EVENT_EXIT, how, 0, words, 1, NULL);
}

static void on_exit_called(int code, void *user)
{
    (void)user;
    tell_exit(0, code & 0xFF);
    attach_presence_end();
}

static void on_quick_exit(void)
{
    tell_exit(1, 0);
    attach_presence_end();
}

_Noreturn static void leave(int code)
{
    tell_exit(1, code & 0xFF);
    attach_presence_end();
    for (;;)
        syscall(SYS_exit_group, code);
}

ATTACH_API _Noreturn void _exit(int code)
{
    leave(code);
}

ATTACH_API _Noreturn void _Exit(int code)
{
    leave(code);
}

/* The child may go on with its parent's driver: the doctor says where it was made. */
static void forks(void)
{
    attach_presence_forks();
    if (!attach_ring() || attach_me.busy != 0)
        return;
    attach_me.busy++;
    attach_stack_keep();
    attach_me.busy--;
}

static void forked(void)
{
    forked_of = attach_ring() ? ring_process : 0;
    gphi_event_ring *ring = attach_ring_set(NULL);
    gphi_event_ring_forget(ring);
    attach_process_note();
    attach_presence_forked();
    memset(&attach_me, 0, sizeof(attach_me));
    attach_capture_forked();
    attach_graph_edited(); /* another ring has none of the snapshots */
    attach_forget_functions();
    attach_sentinels_forked();
    attach_stack_forked();
    gphi_timing_forget();
    attach_pinned_forked();
    attach_numbers_forked();
    attach_cupti_forget();
    atomic_flag_clear(&is_starting);
    attach_forget_devices();
    if (ring)
        atomic_store(&attach_is, ATTACH_FORKED);
}

__attribute__((constructor)) static void load(void)
{
    const char *folder = getenv("GPH_DOCTOR_DIR");
    if (!folder || folder[0] == '\0') {
        atomic_store(&attach_is, ATTACH_OFF);
        return;
    }
    attach_process_note();
    attach_presence_begin();
    attach_memory_prepare();
    attach_masks_prepare();
    attach_stack_prepare();
    attach_inside_prepare();
    attach_freed_prepare();
    attach_output_prepare();
    attach_sentinels_prepare(attach_presence_folder());
    pthread_atfork(forks, NULL, forked);
    on_exit(on_exit_called, NULL);
    at_quick_exit(on_quick_exit);
}
