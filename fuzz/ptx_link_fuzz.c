// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the inputs of a link, apart at lines of "//---": what the parser takes
 * alone is still taken when it went through the linker, and inputs that fit each other
 * give a text, or a refusal with a sentence. Aborts otherwise. */
#define _GNU_SOURCE /* memmem */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/ptx/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ENSURE(cond)                                                                     \
    do {                                                                                 \
        if (!(cond)) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                   \
            abort();                                                                     \
        }                                                                                \
    } while (0)

enum { INPUTS_MAX = 4 };

/* Functions that the text defines; -1: it is none. */
static int64_t defined_functions(const char *text, size_t bytes)
{
    ptx_module *module = NULL;
    gph_error error = {0};
    int64_t count = 0;
    if (ptx_parse(text, bytes, NULL, &module, &error) != GPH_OK)
        return -1;
    for (uint32_t i = 0; i < module->function_count; i++)
        count += !module->functions[i].is_extern && !module->functions[i].is_prototype;
    ptx_module_destroy(module);
    return count;
}

static void link_inputs(const ptx_link_input *inputs, uint32_t count, int64_t functions)
{
    char *text = NULL;
    size_t bytes = 0;
    gph_error error = {0}, again = {0};
    const gph_status status = ptx_link(inputs, count, NULL, &text, &bytes, &error);
    const gph_status partial = ptx_link_check(inputs, count, NULL, &again);
    ENSURE((status == GPH_OK) == (text != NULL));
    ENSURE(status == GPH_OK || status == PTX_LINK_FAILED);
    ENSURE(status != GPH_OK || partial == GPH_OK);
    if (status != GPH_OK) {
        ENSURE(error.message[0] != '\0');
        return;
    }
    ENSURE(strlen(text) == bytes);
    if (count == 1)
        ENSURE(defined_functions(text, bytes) == functions);
    else /* signatures may differ */
        (void)defined_functions(text, bytes);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "//---";
    ptx_link_input inputs[INPUTS_MAX + 1];
    uint32_t count = 0;
    const char *at = (const char *)data, *end = at + size;
    while (count < INPUTS_MAX && at < end) {
        const char *next = memmem(at, (size_t)(end - at), line, sizeof(line) - 1);
        const size_t bytes = (size_t)((next ? next : end) - at);
        const int64_t functions = defined_functions(at, bytes);
        if (functions >= 0 && memchr(at, '\0', bytes) == NULL) {
            inputs[count] = (ptx_link_input){at, bytes, "input"};
            link_inputs(&inputs[count], 1, functions);
            count++;
        }
        at = next ? next + sizeof(line) - 1 : end;
    }
    if (count == 0)
        return 0;
    inputs[count] = inputs[0]; /* everything visible is there twice */
    link_inputs(inputs, count + 1, 0);
    if (count > 1)
        link_inputs(inputs, count, 0);
    return 0;
}
