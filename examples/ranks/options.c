// SPDX-License-Identifier: Apache-2.0
/* Reads the command line; prints modes and tokens. */
#include "options.h"

#include "examples/decode/fail.h"
#include <stdlib.h>

static const char help[] =
    "usage: ranks [OPTIONS], a process a rank: see run.sh\n"
    "  --mode eager|graph|own|all  launches one by one; a graph a token with NCCL's "
    "sums, with\n"
    "                              libgph's own; all that can be here (the default)\n"
    "  --check         compares with what one rank computes\n"
    "  --repeat N      says what a token takes: the median of N\n"
    "  --tokens N      of each request (16)\n"
    "  --ahead N       steps in flight before the host waits (8)\n"
    "  --requests N    at a time, to 16 (3)\n"
    "  --width N       of the random model (64)\n"
    "  --layers N      of it (2)\n"
    "  --model FOLDER  another model: config.json, model.safetensors\n";

static const char *const mode_names[] = {"eager", "graph", "own", "all"};
static const unsigned mode_bits[] = {RUN_EAGER, RUN_GRAPH, RUN_OWN, RUN_ALL};

static gph_status read_mode(const char *word, unsigned *out, gph_error *error)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(word, mode_names[i]) == 0) {
            *out = mode_bits[i];
            return GPH_OK;
        }
    return fail(error, GPH_E_INVALID, "--mode %.40s: eager, graph, own or all", word);
}

enum { COUNT = 6 }; /* of options that are numbers */

gph_status options_read(int count, char **words, options *out, gph_error *error)
{
    options o = {.modes = RUN_ALL,
                 .requests = 3,
                 .tokens = 16,
                 .ahead = 8,
                 .repeat = 1,
                 .width = 64,
                 .layers = 2};
    const struct {
        const char *name;
        uint32_t *to, least, most;
    } numbers[COUNT] = {
        {"--requests", &o.requests, 1, 16}, {"--tokens", &o.tokens, 2, 2048},
        {"--ahead", &o.ahead, 1, 2048},     {"--repeat", &o.repeat, 1, 1000000},
        {"--width", &o.width, 8, 16384},    {"--layers", &o.layers, 1, 512}};
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        size_t k = 0;
        if (strcmp(word, "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        }
        if (strcmp(word, "--check") == 0) {
            o.check = true;
            continue;
        }
        i++;
        if (strcmp(word, "--mode") == 0) {
            TRY(read_mode(value, &o.modes, error));
            continue;
        }
        if (strcmp(word, "--model") == 0 && *value != 0) {
            o.model = value;
            continue;
        }
        while (k < COUNT && strcmp(word, numbers[k].name) != 0)
            k++;
        if (k == COUNT)
            return fail(error, GPH_E_INVALID, "%.40s is not an option (--help)", word);
        char *end = NULL;
        const long number = strtol(value, &end, 10);
        if (end == value || *end != 0 || number < (long)numbers[k].least ||
            number > (long)numbers[k].most)
            return fail(error, GPH_E_INVALID, "%s %.40s: %u to %u", word, value,
                        numbers[k].least, numbers[k].most);
        *numbers[k].to = (uint32_t)number;
        o.times |= numbers[k].to == &o.repeat;
    }
    *out = o;
    return GPH_OK;
}

void options_text(const options *o, char *out, size_t bytes)
{
    snprintf(out, bytes, "modes %u, %u times %u tokens, check %d, model %.200s, %u x %u",
             o->modes, o->repeat, o->tokens, o->check, o->model ? o->model : "random",
             o->layers, o->width);
}

void options_print_mode(const options *o, const char *name, double us, double first)
{
    printf("%-11s", name);
    if (o->times)
        printf(" %9.1f us a token, %5.2f x", us, first / us);
    printf(" %s\n", o->check ? "tokens as by one rank, logits within 1 of 1000"
                             : "the same tokens on every rank");
    fflush(stdout);
}

void options_print_tokens(const options *o, uint32_t request, const int *token)
{
    printf("request %u:", request);
    for (uint32_t i = 0; i < o->tokens && token[i] >= 0; i++) /* -1: it has ended */
        printf(" %d", token[i]);
    printf("\n");
}
