// SPDX-License-Identifier: Apache-2.0
/* What the words of a board say of nodes.
 *
 * A sentinel that was written says that its node has ended, and so has all that this one
 * waited for. One that was not says that its node has not; what waits for that one has not
 * begun. Nodes run if all that they wait for has ended and they have not. Between
 * sentinels nothing is known.
 *
 * Where the driver writes the words, each node has one, and it says all. */
#define _GNU_SOURCE
#include "sentinel/progress.h"
#include "base/fail.h"
#include "base/heap.h"
#include "sentinel/listing.h"
#include <gph/softcuda.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An executable's nodes, what they wait for and their texts lie in one piece. */
struct kept {
    gph_progress_exec exec; /* first: lent as it is */
    void *piece;
    size_t bytes;
};

/* ---- what is known ---- */

struct view {
    const gphi_listing_parts *parts;
    const gphi_board_exec *block;
    gph_progress_node *nodes;
    uint32_t *waits; /* as many as the listing has; nodes' lists are parts of it */
};

/* GPH_TRAIL_WAITS where it has none. */
static uint32_t word_at(const struct view *view, uint32_t place)
{
    const uint32_t word = view->parts->entries[place].word;
    return word == GPH_NODE_NONE
               ? (uint32_t)GPH_TRAIL_WAITS
               : atomic_load_explicit(&view->block->words[word], memory_order_relaxed);
}

static bool is_written(const struct view *view, uint32_t place)
{
    return word_at(view, place) == GPH_TRAIL_ENDED;
}

static bool is_drivers(const struct view *view)
{
    return (view->block->flags & GPHI_EXEC_DRIVERS) != 0;
}

/* From the end back: if a node has ended, so has what it waited for. */
static void find_done(const struct view *view)
{
    const gphi_listing_parts *parts = view->parts;
    uint32_t at = parts->head->wait_count;
    for (uint32_t i = parts->head->count; i-- > 0;) {
        at -= parts->entries[i].wait_count;
        if (is_written(view, i))
            view->nodes[i].state = GPH_NODE_DONE;
        for (uint32_t k = 0; k < parts->entries[i].wait_count; k++)
            if (view->nodes[i].state == GPH_NODE_DONE &&
                (parts->waits[at + k] & GPHI_WAIT_EARLY) == 0)
                view->nodes[parts->waits[at + k]].state = GPH_NODE_DONE;
    }
}

/* Of a node that is not known to have ended. */
static gph_node_state state_of(const struct view *view, uint32_t place,
                               const uint32_t *waits)
{
    const gphi_listing_entry *entry = &view->parts->entries[place];
    bool is_free = true;
    for (uint32_t k = 0; k < entry->wait_count; k++) {
        const uint32_t before = waits[k] & ~GPHI_WAIT_EARLY;
        const gph_progress_node *node = &view->nodes[before];
        if (node->state == GPH_NODE_DONE)
            continue;
        is_free = false;
        /* It has not ended for certain: it waits itself, or its sentinel is missing. */
        if ((waits[k] & GPHI_WAIT_EARLY) == 0 &&
            (node->state == GPH_NODE_WAITING || node->state == GPH_NODE_RUNNING ||
             view->parts->entries[before].word != GPH_NODE_NONE))
            return GPH_NODE_WAITING;
    }
    return is_free && entry->word != GPH_NODE_NONE ? GPH_NODE_RUNNING : GPH_NODE_UNKNOWN;
}

/* What stands for order alone has ended when all before it has. */
static gph_node_state word_state(const struct view *view, uint32_t place,
                                 const uint32_t *waits)
{
    const gphi_listing_entry *entry = &view->parts->entries[place];
    const uint32_t word = word_at(view, place);
    if (word != GPH_TRAIL_ORDER)
        return word == GPH_TRAIL_RUNS ? GPH_NODE_RUNNING : GPH_NODE_WAITING;
    for (uint32_t k = 0; k < entry->wait_count; k++)
        if (view->nodes[waits[k] & ~GPHI_WAIT_EARLY].state != GPH_NODE_DONE)
            return GPH_NODE_WAITING;
    return GPH_NODE_DONE;
}

static void list_waits(const struct view *view, gph_progress_node *node,
                       const gphi_listing_entry *entry, const uint32_t *waits,
                       uint32_t *list)
{
    node->waits_for = list;
    for (uint32_t k = 0; k < entry->wait_count; k++) {
        const uint32_t before = waits[k] & ~GPHI_WAIT_EARLY;
        if (view->nodes[before].state != GPH_NODE_DONE)
            list[node->waits_for_count++] = view->parts->entries[before].index;
    }
}

static void find_states(const struct view *view, gph_progress_exec *exec)
{
    uint32_t at = 0;
    find_done(view);
    for (uint32_t i = 0; i < exec->node_count; i++) {
        const gphi_listing_entry *entry = &view->parts->entries[i];
        const uint32_t *waits = view->parts->waits + at;
        gph_progress_node *node = &view->nodes[i];
        if (node->state != GPH_NODE_DONE)
            node->state = (uint32_t)(is_drivers(view) ? word_state(view, i, waits)
                                                      : state_of(view, i, waits));
        if (node->state == GPH_NODE_WAITING)
            list_waits(view, node, entry, waits, view->waits + at);
        exec->counts[node->state]++;
        at += entry->wait_count;
    }
}

static gph_launch_state launch_state(const struct view *view, gph_progress_exec *exec)
{
    bool is_missing = false;
    for (uint32_t i = 0; i < exec->sentinel_count; i++) {
        const uint32_t word =
            atomic_load_explicit(&view->block->words[i], memory_order_relaxed);
        is_missing |= word == GPH_TRAIL_WAITS || word == GPH_TRAIL_RUNS;
    }
    if (is_missing)
        return GPH_LAUNCH_UNDER_WAY;
    if (exec->launches == 0)
        return GPH_LAUNCH_NONE;
    return exec->counts[GPH_NODE_DONE] == exec->node_count ? GPH_LAUNCH_ENDED
                                                           : GPH_LAUNCH_MAYBE_ENDED;
}

/* ---- reading ---- */

static gph_status take_nodes(gph_progress *progress, struct kept *kept,
                             const gphi_board_exec *block,
                             const gphi_listing_parts *parts)
{
    const size_t count = parts->head->count, nodes = count * sizeof(gph_progress_node),
                 waits = parts->head->wait_count * sizeof(uint32_t),
                 texts = parts->head->text_bytes;
    char *piece = gphi_heap_alloc(progress->heap, nodes + waits + texts);
    if (!piece)
        return GPH_E_NO_MEMORY;
    struct view view = {parts, block, gphi_board_at(piece, 0),
                        gphi_board_at(piece, nodes)};
    memcpy(piece + nodes + waits, parts->texts, texts);
    for (uint32_t i = 0; i < count; i++) {
        const gphi_listing_entry *entry = &parts->entries[i];
        view.nodes[i] =
            (gph_progress_node){.index = entry->index,
                                .kind = entry->kind,
                                .region = piece + nodes + waits + entry->region,
                                .kernel = piece + nodes + waits + entry->kernel,
                                .place = piece + nodes + waits + entry->place};
    }
    kept->piece = piece;
    kept->bytes = nodes + waits + texts;
    kept->exec.node_count = (uint32_t)count;
    kept->exec.nodes = view.nodes;
    find_states(&view, &kept->exec);
    kept->exec.state = (uint32_t)launch_state(&view, &kept->exec);
    if (kept->exec.state == GPH_LAUNCH_NONE) { /* words are as after a launch */
        memset(kept->exec.counts, 0, sizeof(kept->exec.counts));
        kept->exec.counts[GPH_NODE_UNKNOWN] = kept->exec.node_count;
        for (uint32_t i = 0; i < count; i++)
            view.nodes[i].state = GPH_NODE_UNKNOWN;
    }
    return GPH_OK;
}

static gph_status take_exec(gph_progress *progress, const char *memory, uint64_t bytes,
                            uint64_t at)
{
    const gphi_board_exec *block = gphi_board_at(memory, at);
    gphi_listing_parts parts;
    const uint64_t room = block->block.bytes;
    const uint32_t words = block->word_count;
    const uint64_t handle = atomic_load_explicit(&block->handle, memory_order_acquire);
    if (handle == 0 || room < sizeof(*block) + words * sizeof(atomic_uint))
        return GPH_OK;
    struct kept *kept = gphi_vec_add(&progress->execs, 1);
    if (!kept)
        return GPH_E_NO_MEMORY;
    kept->exec = (gph_progress_exec){
        .handle = handle,
        .launches = atomic_load_explicit(&block->launches, memory_order_relaxed),
        .sentinel_count = words,
        .stride = sizeof(gph_progress_node)};
    const uint64_t listing = atomic_load_explicit(&block->listing, memory_order_acquire);
    if (!gphi_listing_open(memory, bytes, listing, words, &parts))
        return GPH_OK; /* it was being written when the process ended */
    return take_nodes(progress, kept, block, &parts);
}

/* A file ends where its blocks make no sense any more. `only`: 0 is all. */
static gph_status take_all(gph_progress *progress, const char *memory, uint64_t bytes,
                           uint64_t only)
{
    for (uint64_t at = sizeof(gphi_board_head); bytes - at >= sizeof(gphi_board_exec);) {
        const gphi_board_block *block = gphi_board_at(memory, at);
        const uint64_t room = block->bytes;
        if (room < sizeof(*block) || room % 16 != 0 || room > bytes - at)
            break;
        if (block->kind == GPHI_BLOCK_EXEC && (only == 0 || only == at))
            GPHI_TRY(take_exec(progress, memory, bytes, at));
        at += room;
    }
    return GPH_OK;
}

static gph_status begin(gph_allocator heap, uint64_t process, gph_progress **out)
{
    gph_progress *progress = gphi_heap_alloc(heap, sizeof(*progress));
    if (!progress)
        return GPH_E_NO_MEMORY;
    progress->heap = heap;
    progress->process = process;
    gphi_vec_init(&progress->execs, heap, sizeof(struct kept));
    *out = progress;
    return GPH_OK;
}

gph_status gphi_progress_take(gph_allocator heap, const char *memory, uint64_t bytes,
                              uint64_t only, gph_progress **out, gph_error *error)
{
    const gphi_board_head *head = gphi_board_at(memory, 0);
    gph_progress *progress = NULL;
    gph_status status = begin(heap, head->process, &progress);
    GPHI_THEN(status, take_all(progress, memory, bytes, only));
    if (status == GPH_OK) {
        *out = progress;
        return GPH_OK;
    }
    gph_progress_destroy(progress);
    return gphi_fail(error, status, "reading sentinels");
}

/* All of it, or as much as is left of `bytes`. */
static gph_status read_bytes(int fd, char *to, size_t bytes, const char *path,
                             gph_error *error)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t got = read(fd, to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gphi_save_fail(error, "read", path);
        if (got == 0)
            return gphi_fail(error, GPH_E_FORMAT, "%s is shorter than it was", path);
        done += (size_t)got;
    }
    return GPH_OK;
}

static gph_status check_head(const char *memory, size_t bytes, const char *path,
                             gph_error *error)
{
    const gphi_board_head *head = gphi_board_at(memory, 0);
    if (memcmp(head->magic, GPHI_BOARD_MAGIC, sizeof(head->magic)) != 0 ||
        head->bytes != bytes)
        return gphi_fail(error, GPH_E_FORMAT, "%s is not a board of sentinels", path);
    return GPH_OK;
}

static gph_status read_fd(int fd, const char *path, gph_allocator heap,
                          gph_progress **out, gph_error *error)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return gphi_save_fail(error, "read", path);
    if (!S_ISREG(about.st_mode) || about.st_size < (off_t)sizeof(gphi_board_head) ||
        (uint64_t)about.st_size > GPHI_BOARD_BYTES_MAX)
        return gphi_fail(error, GPH_E_FORMAT, "%s is not a board of sentinels", path);
    const size_t bytes = (size_t)about.st_size;
    char *memory = gphi_heap_alloc(heap, bytes);
    GPHI_TRY(gphi_made(error, memory, "reading %s", path));
    gph_status status = read_bytes(fd, memory, bytes, path, error);
    GPHI_THEN(status, check_head(memory, bytes, path, error));
    GPHI_THEN(status, gphi_progress_take(heap, memory, bytes, 0, out, error));
    gphi_heap_free(heap, memory, bytes);
    return status;
}

gph_status gph_progress_load(const char *path, const gph_allocator *allocator,
                             gph_progress **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, path, out));
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return gphi_save_fail(error, "open", path);
    const gph_status status = read_fd(fd, path, gphi_heap(allocator), out, error);
    close(fd);
    return status;
}

/* ---- what it holds ---- */

void gph_progress_destroy(gph_progress *progress)
{
    if (!progress)
        return;
    GPHI_EACH (const struct kept, kept, &progress->execs)
        gphi_heap_free(progress->heap, kept->piece, kept->bytes);
    gphi_vec_fini(&progress->execs);
    gphi_heap_free(progress->heap, progress, sizeof(*progress));
}

uint64_t gph_progress_process(const gph_progress *progress)
{
    return progress ? progress->process : 0;
}

uint32_t gph_progress_exec_count(const gph_progress *progress)
{
    return progress ? (uint32_t)progress->execs.count : 0;
}

const gph_progress_exec *gph_progress_exec_at(const gph_progress *progress,
                                              uint32_t index)
{
    return index < gph_progress_exec_count(progress)
               ? gphi_vec_at(&progress->execs, index)
               : NULL;
}
