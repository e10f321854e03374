// SPDX-License-Identifier: Apache-2.0
/* One table makes the parser and the help. */
#include "options.h"

#include "fail.h"
#include <math.h>
#include <stdlib.h>

typedef enum option_id {
    OPTION_MODE,
    OPTION_BATCH,
    OPTION_PROBLEMS,
    OPTION_LIMIT,
    OPTION_EXPECT,
    OPTION_MODEL,
    OPTION_TOKENS,
    OPTION_NEW,
    OPTION_TOP_P,
    OPTION_TEMPERATURE,
    OPTION_SEED,
    OPTION_QUEUE,
    OPTION_REPEAT,
    OPTION_DRIVER,
    OPTION_KERNELS,
    OPTION_TRACE,
    OPTION_GAP,
    OPTION_WAY,
} option_id;

static const struct {
    const char *name, *value, *help;
} table[] = {
    [OPTION_MODE] = {"--mode", "MODE",
                     "eager, graph, both (the default), loop, all: compared with eager; "
                     "cache, tree, dispatch"},
    [OPTION_BATCH] = {"--batch", "N",
                      "sequences at a time (1, then 32; with --tokens 1)"},
    [OPTION_PROBLEMS] = {"--problems", "FILE", "lines like 12+34=46 (the model's own)"},
    [OPTION_LIMIT] = {"--limit", "N", "only the first N problems (all)"},
    [OPTION_EXPECT] = {"--expect", "N", "fail unless at least N answers are exact (0)"},
    [OPTION_MODEL] = {"--model", "DIR", "a Llama: config.json, model.safetensors"},
    [OPTION_TOKENS] = {"--tokens", "IDS", "continue these token ids, as in 1,2,11,3"},
    [OPTION_NEW] = {"--new", "N", "tokens to generate with --tokens (32)"},
    [OPTION_TOP_P] = {"--top-p", "P", "sample from the likeliest tokens (greedy)"},
    [OPTION_TEMPERATURE] = {"--temperature", "T", "of the sampling (1)"},
    [OPTION_SEED] = {"--seed", "S", "of the sampling (1)"},
    [OPTION_QUEUE] = {"--queue", "N", "steps in flight at most, 1 to 16 (2)"},
    [OPTION_REPEAT] = {"--repeat", "N",
                       "runs of each mode, the median counts (3; one mode 1)"},
    [OPTION_DRIVER] = {"--driver", "NAME", "auto, cuda or soft (auto, or $GPH_DRIVER)"},
    [OPTION_KERNELS] = {"--kernels", "DIR", "where decode.ptx lies"},
    [OPTION_TRACE] = {"--trace", "FILE",
                      "of --mode cache: what the largest bucket allocates, and when"},
    [OPTION_GAP] = {"--gap", "US",
                    "of --mode dispatch: between two requests on average (300)"},
    [OPTION_WAY] = {"--way", "NAME",
                    "of a loop: device, fastest, while, tail or host (device)"},
};
enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };

void options_help(void)
{
    printf(
        "usage: decode [option value]...\n\n"
        "Runs a Llama-architecture model: prompts eager, then token by token, each step\n"
        "as single launches (eager) and as a captured graph that is replayed (graph).\n"
        "loop: the device takes all steps of a batch's answers, the host sleeps "
        "meanwhile.\n"
        "cache: requests come and go, steps are padded to buckets of recorded sizes.\n"
        "tree: tokens are guessed and verified, by graphs chosen as it goes.\n"
        "dispatch: requests arrive while it runs, and a graph on the device serves "
        "them.\n\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        printf("  %-13s %-5s %s\n", table[i].name, table[i].value, table[i].help);
}

static gph_status wrong(option_id id, const char *value, const char *wanted,
                        gph_error *error)
{
    return fail(error, GPH_E_INVALID, "%s \"%.60s\" is %s", table[id].name, value,
                wanted);
}

static gph_status read_u64(option_id id, const char *value, uint64_t most, uint64_t *out,
                           gph_error *error)
{
    uint64_t number = 0;
    bool good = *value != 0;
    for (const char *c = value; *c != 0 && good; c++) {
        good = *c >= '0' && *c <= '9' && number <= (most - (uint64_t)(*c - '0')) / 10;
        number = number * 10 + (uint64_t)(*c - '0');
    }
    if (!good || number > most)
        return wrong(id, value, "not a number in its range", error);
    *out = number;
    return GPH_OK;
}

static gph_status read_u32(option_id id, const char *value, uint32_t least, uint32_t most,
                           uint32_t *out, gph_error *error)
{
    uint64_t number = 0;
    TRY(read_u64(id, value, most, &number, error));
    if (number < least)
        return wrong(id, value, "too small", error);
    *out = (uint32_t)number;
    return GPH_OK;
}

static gph_status read_real(option_id id, const char *value, double most, double *out,
                            gph_error *error)
{
    char *end;
    const double number = strtod(value, &end);
    if (end == value || *end != 0 || !(number > 0 && number <= most))
        return wrong(id, value, "not a number in its range", error);
    *out = number;
    return GPH_OK;
}

/* The place of a value in a list of words that ends with NULL. */
static gph_status read_word(option_id id, const char *value, const char *const *words,
                            int *out, gph_error *error)
{
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return GPH_OK;
        }
    return wrong(id, value,
                 id == OPTION_MODE
                     ? "not one of eager, graph, both, loop, all, cache, tree, dispatch"
                 : id == OPTION_WAY ? "not one of fastest, device, while, tail, host"
                                    : "not one of auto, cuda, soft",
                 error);
}

static gph_status read_one(option_id id, const char *value, options *o, gph_error *error)
{
    static const char *const modes[] = {"eager", "graph", "both",     "loop", "all",
                                        "cache", "tree",  "dispatch", NULL};
    static const unsigned runs[] = {
        RUN_EAGER, RUN_GRAPH, RUN_EAGER | RUN_GRAPH, RUN_EAGER | RUN_LOOP, RUN_MODES,
        RUN_CACHE, RUN_TREE,  RUN_DISPATCH};
    static const char *const ways[] = {"fastest", "device", "while",
                                       "tail",    "host",   NULL};
    static const char *const drivers[] = {"auto", "cuda", "soft", NULL};
    static const gph_driver ids[] = {GPH_DRIVER_AUTO, GPH_DRIVER_CUDA, GPH_DRIVER_SOFT};
    int word = 0;
    switch (id) {
    case OPTION_MODE:
        TRY(read_word(id, value, modes, &word, error));
        o->modes = runs[word];
        return GPH_OK;
    case OPTION_WAY:
        TRY(read_word(id, value, ways, &word, error));
        o->way = (gph_loop_way)word;
        return GPH_OK;
    case OPTION_DRIVER:
        TRY(read_word(id, value, drivers, &word, error));
        o->driver = ids[word];
        return GPH_OK;
    case OPTION_BATCH:
        o->batch_count = 1;
        return read_u32(id, value, 1, 1024, &o->batch[0], error);
    case OPTION_LIMIT: return read_u32(id, value, 1, 1 << 30, &o->limit, error);
    case OPTION_EXPECT: return read_u32(id, value, 0, 1 << 30, &o->expect, error);
    case OPTION_NEW: return read_u32(id, value, 1, 1 << 20, &o->new_tokens, error);
    case OPTION_QUEUE: return read_u32(id, value, 1, 16, &o->queue, error);
    case OPTION_REPEAT: return read_u32(id, value, 1, REPEAT_MAX, &o->repeat, error);
    case OPTION_GAP: return read_u32(id, value, 0, 1000000, &o->gap_us, error);
    case OPTION_SEED: return read_u64(id, value, UINT64_MAX, &o->seed, error);
    case OPTION_TOP_P: return read_real(id, value, 1, &o->top_p, error);
    case OPTION_TEMPERATURE: return read_real(id, value, 1000, &o->temperature, error);
    case OPTION_PROBLEMS: o->problems = value; return GPH_OK;
    case OPTION_MODEL: o->model = value; return GPH_OK;
    case OPTION_TOKENS: o->tokens = value; return GPH_OK;
    case OPTION_KERNELS: o->kernels = value; return GPH_OK;
    case OPTION_TRACE: o->trace = value; return GPH_OK;
    }
    return GPH_E_INVALID;
}

gph_status options_read(int count, char **words, options *out, gph_error *error)
{
    options o = {.modes = RUN_EAGER | RUN_GRAPH,
                 .queue = 2,
                 .way = GPH_LOOP_DEVICE,
                 .gap_us = 300,
                 .new_tokens = 32,
                 .temperature = 1,
                 .seed = 1};
    for (int i = 1; i < count; i++) {
        int id = 0;
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            o.help = true;
            continue;
        }
        while (id < OPTION_COUNT && strcmp(words[i], table[id].name) != 0)
            id++;
        if (id == OPTION_COUNT)
            return fail(error, GPH_E_INVALID, "there is no option \"%.60s\"", words[i]);
        if (i + 1 == count)
            return fail(error, GPH_E_INVALID, "%s needs a value (%s)", words[i],
                        table[id].value);
        TRY(read_one((option_id)id, words[++i], &o, error));
    }
    if (o.tokens != NULL && o.problems != NULL)
        return fail(error, GPH_E_INVALID, "--tokens and --problems exclude each other");
    if (o.model != NULL && o.tokens == NULL && o.problems == NULL)
        return fail(error, GPH_E_INVALID, "--model needs --tokens or --problems too");
    if (o.trace != NULL && o.modes != RUN_CACHE)
        return fail(error, GPH_E_INVALID, "--trace is for --mode cache");
    if (o.repeat == 0)
        o.repeat = o.modes > RUN_GRAPH && o.modes < RUN_CACHE ? 3 : 1;
    if (o.modes >= RUN_CACHE) {
        if (o.top_p > 0 && o.modes != RUN_DISPATCH)
            return fail(error, GPH_E_INVALID, "--mode %s goes without --top-p",
                        o.modes == RUN_TREE ? "tree" : "cache");
        if (o.modes == RUN_TREE && o.batch_count == 1 && o.batch[0] != 1)
            return fail(error, GPH_E_INVALID, "--mode tree takes one request at a time");
        if (o.batch_count == 0)
            o.batch[0] = o.modes == RUN_TREE || o.tokens != NULL ? 1 : 32;
        o.batch_count = 1;
    }
    if (o.batch_count == 0) {
        o.batch[0] = 1;
        o.batch[1] = 32;
        o.batch_count = o.tokens != NULL ? 1 : 2;
    }
    *out = o;
    return GPH_OK;
}
