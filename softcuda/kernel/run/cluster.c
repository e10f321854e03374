// SPDX-License-Identifier: Apache-2.0
/* Clusters: the memory that their blocks share, and the barrier of all of them.
 *
 *   ring    | slot 0 | slot 1 | ... | slot n-1 | slot 0 | slot 1 | ... | slot n-1 |
 *            <------- one file -------------->  <------ the same once more ----->
 *   slot    | shared memory of the block of this rank | read-only to its end |
 *
 * Shared memory ends at a page's end, so that a store over its end faults. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softcuda/kernel/run/runner.h"

#define STRIDE ((size_t)PTX_CLUSTER_STRIDE)
#define GIVE_WAY                                                                         \
    (UINT32_MAX / 2) /* safepoints after which no block is patient any more */

static size_t to_pages(size_t room, size_t page)
{
    return (room + page - 1) & ~(page - 1);
}

static void ring_fini(soft_cluster *cluster)
{
    if (cluster->ring)
        munmap(cluster->ring, 2 * cluster->slots * STRIDE);
    cluster->ring = NULL;
    cluster->slots = 0;
    cluster->room = 0;
}

/* Both halves of the ring are the same bytes of one file. */
static bool map_halves(unsigned char *ring, size_t half, int file)
{
    const int access = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
    return ftruncate(file, (off_t)half) == 0 &&
           mmap(ring, half, access, how, file, 0) != MAP_FAILED &&
           mmap(ring + half, half, access, how, file, 0) != MAP_FAILED;
}

static bool protect_ends(unsigned char *ring, uint32_t slots, size_t used)
{
    for (uint32_t i = 0; i < 2 * slots; i++)
        if (mprotect(ring + i * STRIDE + used, STRIDE - used, PROT_READ) != 0)
            return false;
    return true;
}

static bool ring_init(soft_cluster *cluster, uint32_t slots, size_t room, size_t page)
{
    const size_t half = slots * STRIDE;
    ring_fini(cluster);
    unsigned char *ring = mmap(NULL, 2 * half, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ring == MAP_FAILED)
        return false;
    const int file = memfd_create("softcuda-cluster", MFD_CLOEXEC);
    const bool made = file >= 0 && map_halves(ring, half, file) &&
                      protect_ends(ring, slots, to_pages(room, page));
    if (file >= 0)
        close(file);
    if (!made) {
        munmap(ring, 2 * half);
        return false;
    }
    cluster->ring = ring;
    cluster->slots = slots;
    cluster->room = room;
    return true;
}

static void destroy(soft_cluster *cluster)
{
    ring_fini(cluster);
    free(cluster);
}

/* From the C library's heap: they belong to the thread, not to a context. */
soft_cluster *soft_cluster_take(soft_runner *runner, uint64_t index)
{
    const soft_kernel_launch *launch = runner->launch;
    const uint32_t size = launch->grid.cluster_size;
    const size_t room = launch->shared_room;
    soft_cluster *cluster = runner->clusters;
    while (cluster && cluster->running != 0)
        cluster = cluster->next;
    if (!cluster) {
        cluster = calloc(1, sizeof(*cluster));
        if (!cluster)
            return NULL;
        cluster->next = runner->clusters;
        runner->clusters = cluster;
        runner->destroy_cluster = destroy;
    }
    if (room != 0 && (cluster->slots != size || cluster->room != room) &&
        !ring_init(cluster, size, room, launch->page_bytes))
        return NULL;
    cluster->size = size;
    cluster->index = index;
    cluster->running = cluster->arrived = cluster->gone = cluster->phase = 0;
    return cluster;
}

void soft_cluster_join(soft_cluster *cluster, soft_block *block, uint32_t rank)
{
    const soft_kernel_launch *launch = block->runner->launch;
    const size_t room = launch->shared_room;
    if (room != 0)
        block->view.shared =
            cluster->ring + rank * STRIDE + to_pages(room, launch->page_bytes) - room;
    block->view.cluster_rank = rank;
    block->cluster = cluster;
    cluster->running++;
}

/* The barrier is complete when every block has arrived or ended. */
static void look(soft_cluster *cluster)
{
    if (cluster->arrived == 0 || cluster->arrived + cluster->gone < cluster->size)
        return;
    cluster->arrived = 0;
    cluster->phase++;
}

void soft_cluster_leave(soft_block *block)
{
    block->cluster->running--;
    block->cluster->gone++;
    look(block->cluster);
}

void soft_cluster_arrive(soft_block *block)
{
    if (!block->cluster)
        return;
    block->cluster->arrived++;
    look(block->cluster);
}

void soft_cluster_wait(soft_block *block)
{
    const soft_cluster *cluster = block->cluster;
    if (!cluster)
        return;
    const uint32_t phase = cluster->phase;
    soft_cluster_arrive(block);
    while (cluster->phase == phase) {
        block->safepoints = GIVE_WAY;
        soft_block_safepoint(block);
    }
}

bool soft_cluster_holds(const soft_cluster *cluster, uint64_t address, uint64_t bytes)
{
    const uint64_t base = (uint64_t)(uintptr_t)cluster->ring;
    const uint64_t room = 2 * cluster->slots * STRIDE;
    return cluster->ring && address >= base && bytes <= room &&
           address - base <= room - bytes;
}
