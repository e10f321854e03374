// SPDX-License-Identifier: Apache-2.0
/* Which rank a process is: from the options, or from what its launcher set. */
#include "base/fail.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_MAX = 4 };

/* The variables of one launcher: `job` are those that its other jobs have otherwise. */
typedef struct launcher {
    const char *rank, *count, *local;
    const char *job[JOB_MAX];
} launcher;

static const launcher launchers[] = {
    {"GPH_RANK", "GPH_RANKS", NULL, {0}},
    {"RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

static const char *variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value && value[0] ? value : NULL;
}

static gph_status number_of(const char *name, uint32_t most, uint32_t *out,
                            gph_error *error)
{
    const char *value = variable(name);
    uint64_t number = 0;
    if (!value)
        return gphi_fail(error, GPH_E_INVALID, "the variable %s is not set", name);
    for (const char *at = value; *at; at++) {
        if (*at < '0' || *at > '9' || number > most)
            return gphi_fail(error, GPH_E_INVALID,
                             "the variable %s is '%s', not a number to %u", name, value,
                             most);
        number = number * 10 + (uint64_t)(*at - '0');
    }
    if (number > most)
        return gphi_fail(error, GPH_E_INVALID,
                         "the variable %s is '%s', not a number to %u", name, value,
                         most);
    *out = (uint32_t)number;
    return GPH_OK;
}

static gph_status name_job(gphi_ranks_identity *out, const char *wish,
                           const launcher *from, gph_error *error)
{
    const char *name = wish ? wish : variable("GPH_RANKS_ID");
    if (name && strlen(name) >= sizeof(out->name))
        return gphi_fail(error, GPH_E_INVALID,
                         "the name '%.32s...' has %zu bytes, %zu at most", name,
                         strlen(name), sizeof(out->name) - 1);
    snprintf(out->name, sizeof(out->name), "%s", name ? name : "job");
    for (size_t i = 0; !name && from && i < JOB_MAX; i++) {
        const char *value = variable(from->job[i]);
        const size_t used = strlen(out->name);
        if (value)
            snprintf(out->name + used, sizeof(out->name) - used, " %s", value);
    }
    return GPH_OK;
}

gph_status gphi_ranks_identify(const gph_ranks_options *options, gphi_ranks_identity *out,
                               gph_error *error)
{
    const launcher *from = NULL;
    gphi_ranks_identity who = {
        .rank = options->rank, .count = options->count, .local = options->rank};
    if (options->count == 0 && options->rank == 0) {
        for (size_t i = 0; !from && i < sizeof(launchers) / sizeof(launchers[0]); i++)
            if (variable(launchers[i].rank) || variable(launchers[i].count))
                from = &launchers[i];
        who.count = 1;
        if (from) {
            GPHI_TRY(number_of(from->count, GPH_RANKS_MAX, &who.count, error));
            GPHI_TRY(number_of(from->rank, GPH_RANKS_MAX, &who.rank, error));
            who.local = who.rank;
            if (variable(from->local))
                GPHI_TRY(number_of(from->local, GPH_RANKS_MAX, &who.local, error));
        }
    }
    if (who.count > GPH_RANKS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u ranks, %d at most", who.count,
                         GPH_RANKS_MAX);
    if (who.rank >= who.count)
        return gphi_fail(error, GPH_E_INVALID, "rank %u of %u", who.rank, who.count);
    GPHI_TRY(name_job(&who, options->name, from, error));
    *out = who;
    return GPH_OK;
}
