// SPDX-License-Identifier: Apache-2.0
/* Which rank a process is: from the options, or from what its launcher set. */
#include "base/fail.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_MAX = 4 };

/* The variables of one launcher. */
typedef struct launcher {
    const char *rank, *count, *local;
    const char *here;         /* ranks of this host, or */
    const char *hosts;        /* hosts of the job; NULL: it does not say */
    const char *job[JOB_MAX]; /* that its other jobs have otherwise */
} launcher;

/* In the order in which they are asked: a launcher sets its own below another's, as torchrun
 * does under srun. */
static const launcher launchers[] = {
    {.rank = "GPH_RANK", .count = "GPH_RANKS"},
    /* torchrun, and whoever sets torch.distributed's variables. */
    {"RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     NULL,
     {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    /* Open MPI. */
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     NULL,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    /* Hydra, the launcher of MPICH and Intel MPI. */
    {"PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     NULL,
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    /* Slurm. SLURM_NTASKS is in a batch script, too, which is not a rank. */
    {"SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     NULL,
     "SLURM_STEP_NUM_NODES",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
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
    size_t length = strlen(out->name);
    for (size_t i = 0; !name && from && i < JOB_MAX; i++) {
        const char *value = variable(from->job[i]);
        if (value && length < sizeof(out->name))
            length += (size_t)snprintf(out->name + length, sizeof(out->name) - length,
                                       " %s", value);
    }
    if (length < sizeof(out->name))
        return GPH_OK;
    gphi_fail(error, GPH_E_INVALID,
              "what names the job has %zu bytes, %zu at most: '%.64s...'", length,
              sizeof(out->name) - 1, out->name);
    gphi_hint(error, "set GPH_RANKS_ID");
    return GPH_E_INVALID;
}

/* Shared memory reaches one host. */
static gph_status check_hosts(const launcher *from, uint32_t count, gph_error *error)
{
    uint32_t here = count, hosts = 1;
    if (variable(from->here))
        GPHI_TRY(number_of(from->here, GPH_RANKS_MAX, &here, error));
    if (variable(from->hosts))
        GPHI_TRY(number_of(from->hosts, UINT16_MAX, &hosts, error));
    if (here == count && hosts == 1)
        return GPH_OK;
    if (here != count)
        gphi_fail(error, GPH_E_UNSUPPORTED, "%u of the %u ranks are on this host (%s)",
                  here, count, from->here);
    else
        gphi_fail(error, GPH_E_UNSUPPORTED, "the %u ranks are on %u hosts (%s)", count,
                  hosts, from->hosts);
    gphi_hint(error,
              "gph_ranks_options.transport, such as gph_ranks_mpi()'s, reaches the "
              "others");
    return GPH_E_UNSUPPORTED;
}

static gph_status from_environment(const gph_ranks_options *options,
                                   gphi_ranks_identity *who, const launcher **out,
                                   gph_error *error)
{
    const launcher *from = NULL;
    for (size_t i = 0; !from && i < sizeof(launchers) / sizeof(launchers[0]); i++)
        if (variable(launchers[i].count) ||
            (variable(launchers[i].rank) && !launchers[i].hosts))
            from = &launchers[i];
    *out = from;
    who->count = 1;
    if (!from)
        return GPH_OK;
    GPHI_TRY(number_of(from->count, GPH_RANKS_MAX, &who->count, error));
    GPHI_TRY(number_of(from->rank, GPH_RANKS_MAX, &who->rank, error));
    who->local = who->rank;
    if (variable(from->local))
        GPHI_TRY(number_of(from->local, GPH_RANKS_MAX, &who->local, error));
    return options->transport ? GPH_OK : check_hosts(from, who->count, error);
}

gph_status gphi_ranks_identify(const gph_ranks_options *options, gphi_ranks_identity *out,
                               gph_error *error)
{
    const launcher *from = NULL;
    gphi_ranks_identity who = {
        .rank = options->rank, .count = options->count, .local = options->rank};
    if (options->count == 0 && options->rank == 0)
        GPHI_TRY(from_environment(options, &who, &from, error));
    if (who.count > GPH_RANKS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%u ranks, %d at most", who.count,
                         GPH_RANKS_MAX);
    if (who.rank >= who.count)
        return gphi_fail(error, GPH_E_INVALID, "rank %u of %u", who.rank, who.count);
    GPHI_TRY(name_job(&who, options->name, from, error));
    *out = who;
    return GPH_OK;
}
