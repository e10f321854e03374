// SPDX-License-Identifier: Apache-2.0
/* Ranks by the variables of launchers, the innermost first: a batch job's step that runs
 * torchrun has SLURM's variables in all of its processes, and they are the step's. */
#include "attach/rank.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { RANKS_MOST = 1 << 24 };

static bool read_number(const char *name, uint64_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *out <= RANKS_MOST;
}

attach_rank attach_rank_of_process(void)
{
    static const struct {
        const char *rank, *count;
    } launchers[] = {
        {"GPH_RANK", "GPH_RANKS"},
        {"RANK", "WORLD_SIZE"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMIX_RANK", "PMI_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
        {"PMIX_RANK", "SLURM_NTASKS"},
        {"SLURM_PROCID", "SLURM_NTASKS"},
    };
    for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
        attach_rank at = {0, 0};
        if (read_number(launchers[i].rank, &at.rank) &&
            read_number(launchers[i].count, &at.count) && at.rank < at.count)
            return at;
    }
    return (attach_rank){0, 0};
}
