// SPDX-License-Identifier: Apache-2.0
/* Our declarations of the CUDA ABI against the toolkit's <cuda.h>, where CMake found one
 * of the version that they describe. */
#include "abi_facts.h"
#include "cuda/calls.h"
#include "test.h"

static void declarations_equal_the_toolkits(void)
{
#ifdef ABI_HAS_TOOLKIT
    CHECK(abi_ours_count == abi_theirs_count);
    for (size_t i = 0; i < abi_ours_count; i++)
        if (!CHECK(abi_ours[i].value == abi_theirs[i].value))
            fprintf(stderr, "  %s is %lld here, %lld in <cuda.h>\n", abi_ours[i].what,
                    abi_ours[i].value, abi_theirs[i].value);
#else
    SKIP("no toolkit with CUDA_VERSION 13000 (set CUDA_HOME)");
#endif
}

struct call {
    const char *name;
    int version;
};

static const struct call calls[] = {
#define X(name, version, args) {#name, version},
    GPHI_CUDA_CALLS(X)
#undef X
};

static const struct symbol {
    const char *symbol, *name;
    int version, per_thread;
} symbols[] = {
#define X(symbol, name, version, per_thread, args) {#symbol, #name, version, per_thread},
    GPHI_CUDA_SYMBOLS(X)
#undef X
};

static void every_call_has_a_symbol_of_its_version(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        int found = 0;
        for (size_t k = 0; k < sizeof(symbols) / sizeof(symbols[0]); k++)
            found += !symbols[k].per_thread && symbols[k].version == calls[i].version &&
                     strcmp(symbols[k].name, calls[i].name) == 0;
        if (!CHECK(found == 1))
            fprintf(stderr, "  %s %d: %d symbols\n", calls[i].name, calls[i].version,
                    found);
    }
}

static void symbols_are_unique_and_begin_with_their_name(void)
{
    const size_t count = sizeof(symbols) / sizeof(symbols[0]);
    CHECK(count == 637);
    for (size_t i = 0; i < count; i++) {
        const struct symbol *s = &symbols[i];
        CHECK(strncmp(s->symbol, s->name, strlen(s->name)) == 0);
        const size_t length = strlen(s->symbol);
        const int thread = length > 5 && (strcmp(s->symbol + length - 5, "_ptsz") == 0 ||
                                          strcmp(s->symbol + length - 5, "_ptds") == 0);
        CHECK(thread == s->per_thread);
        CHECK(s->version >= 2000 && s->version <= CUDA_VERSION);
        for (size_t k = i + 1; k < count; k++)
            CHECK(strcmp(s->symbol, symbols[k].symbol) != 0);
    }
}

int main(void)
{
    RUN(declarations_equal_the_toolkits);
    RUN(every_call_has_a_symbol_of_its_version);
    RUN(symbols_are_unique_and_begin_with_their_name);
    return test_done();
}
