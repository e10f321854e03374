// SPDX-License-Identifier: Apache-2.0
/* What ranks agree on, each by one gather. */
#include "base/fail.h"
#include "ranks/ranks.h"

#include <string.h>

static gph_status check_call(const char *function, const gph_ranks *ranks,
                             const char *what, gph_error *error)
{
    GPHI_TRY(gphi_need_named(error, function, ranks != NULL, "ranks"));
    GPHI_TRY(gphi_need_named(error, function, what != NULL, "what"));
    if (what[0] == '\0' || strlen(what) >= GPHI_RANKS_WHAT)
        return gphi_fail(error, GPH_E_INVALID,
                         "%s: what is '%.70s', of %zu bytes, not 1 to %d", function, what,
                         strlen(what), GPHI_RANKS_WHAT - 1);
    return GPH_OK;
}

gph_status gph_ranks_gather_at(const char *place, gph_ranks *ranks, const char *what,
                               const void *mine, size_t bytes, void *all,
                               gph_error *error)
{
    GPHI_TRY(check_call("gph_ranks_gather", ranks, what, error));
    if (bytes > 0) {
        GPHI_TRY(gphi_need_named(error, "gph_ranks_gather", mine != NULL, "mine"));
        GPHI_TRY(gphi_need_named(error, "gph_ranks_gather", all != NULL, "all"));
    }
    if (bytes > GPH_RANKS_GATHER_MAX)
        return gphi_fail(error, GPH_E_INVALID, "'%s' gathers %zu bytes, %d at most", what,
                         bytes, GPH_RANKS_GATHER_MAX);
    return gphi_ranks_call_run(
        ranks, &(gphi_ranks_call){place, what, GPHI_RANKS_GATHER, mine, bytes, all},
        error);
}

gph_status gph_ranks_agree_at(const char *place, gph_ranks *ranks, const char *what,
                              const char *mine, gph_error *error)
{
    /* All of it goes: records of one gather have as many bytes. */
    char text[GPH_RANKS_TEXT_MAX] = {0};
    GPHI_TRY(check_call("gph_ranks_agree", ranks, what, error));
    GPHI_TRY(gphi_need_named(error, "gph_ranks_agree", mine != NULL, "mine"));
    const size_t length = strlen(mine);
    if (length >= sizeof(text))
        return gphi_fail(error, GPH_E_INVALID,
                         "the text of '%s' has %zu bytes, %d at most", what, length,
                         GPH_RANKS_TEXT_MAX - 1);
    memcpy(text, mine, length);
    GPHI_TRY(gphi_ranks_call_run(ranks,
                                 &(gphi_ranks_call){place, what, GPHI_RANKS_AGREE, text,
                                                    sizeof(text), ranks->room},
                                 error));
    /* Against rank 0's, on each rank: so all of them come to the same words. */
    const char *first = (const char *)ranks->room;
    for (uint32_t rank = 1; rank < ranks->who.count; rank++) {
        const char *other = first + rank * sizeof(text);
        if (strcmp(first, other) != 0)
            return gphi_fail(error, GPH_E_INVALID,
                             "'%s' is '%.200s' on rank %u and '%.200s' on rank 0", what,
                             other, rank, first);
    }
    return GPH_OK;
}

static gph_status extreme_of(const gphi_ranks_call *call, gph_ranks *ranks, int64_t *out,
                             gph_error *error)
{
    GPHI_TRY(gphi_ranks_call_run(ranks, call, error));
    int64_t best;
    memcpy(&best, call->mine, sizeof(best));
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        int64_t other;
        memcpy(&other, ranks->room + rank * sizeof(other), sizeof(other));
        if (call->kind == GPHI_RANKS_MOST ? other > best : other < best)
            best = other;
    }
    *out = best;
    return GPH_OK;
}

gph_status gph_ranks_most_at(const char *place, gph_ranks *ranks, const char *what,
                             int64_t mine, int64_t *out, gph_error *error)
{
    GPHI_TRY(check_call("gph_ranks_most", ranks, what, error));
    GPHI_TRY(gphi_need_named(error, "gph_ranks_most", out != NULL, "out"));
    return extreme_of(&(gphi_ranks_call){place, what, GPHI_RANKS_MOST, &mine,
                                         sizeof(mine), ranks->room},
                      ranks, out, error);
}

gph_status gph_ranks_least_at(const char *place, gph_ranks *ranks, const char *what,
                              int64_t mine, int64_t *out, gph_error *error)
{
    GPHI_TRY(check_call("gph_ranks_least", ranks, what, error));
    GPHI_TRY(gphi_need_named(error, "gph_ranks_least", out != NULL, "out"));
    return extreme_of(&(gphi_ranks_call){place, what, GPHI_RANKS_LEAST, &mine,
                                         sizeof(mine), ranks->room},
                      ranks, out, error);
}

/* What a rank that failed says of it. */
static void report(gphi_ranks_cause *out, gph_status status, const gph_error *cause,
                   uint32_t rank)
{
    memset(out, 0, sizeof(*out));
    out->code = status;
    out->rank = rank;
    if (cause && status != GPH_OK) {
        memcpy(out->message, cause->message, sizeof(out->message));
        memcpy(out->hint, cause->hint, sizeof(out->hint));
        out->message[sizeof(out->message) - 1] = out->hint[sizeof(out->hint) - 1] = '\0';
    }
}

gph_status gph_ranks_all_at(const char *place, gph_ranks *ranks, const char *what,
                            gph_status mine, const gph_error *cause, gph_error *error)
{
    GPHI_TRY(check_call("gph_ranks_all", ranks, what, error));
    gph_status *statuses = (gph_status *)(void *)ranks->room;
    gphi_ranks_call call = {place, what, GPHI_RANKS_ALL, &mine, sizeof(mine), statuses};
    GPHI_TRY(gphi_ranks_call_run(ranks, &call, error));
    uint32_t failed = 0;
    while (failed < ranks->who.count && statuses[failed] == GPH_OK)
        failed++;
    if (failed == ranks->who.count)
        return GPH_OK;

    /* Only now their words, which are long. */
    gphi_ranks_cause words;
    report(&words, mine, cause, ranks->who.rank);
    call.mine = &words;
    call.bytes = sizeof(words);
    GPHI_TRY(gphi_ranks_call_run(ranks, &call, error));
    memcpy(&words, ranks->room + failed * sizeof(words), sizeof(words));
    gphi_fail(error, words.code, "rank %u: %s", failed,
              words.message[0] ? words.message : gph_status_name(words.code));
    if (words.hint[0])
        gphi_hint(error, "%s", words.hint);
    return words.code;
}
