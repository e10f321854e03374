// SPDX-License-Identifier: Apache-2.0
/* A wrapper for each of the driver's calls. They take integers, which all arguments of the
 * calls that go through them are, in registers or in places of 8 bytes; those that a call
 * does not have are never looked at. */
#include "shim.h"

#include <stdio.h>
#include <string.h>

struct shim shim = {.fail_at = -1, .code = CUDA_ERROR_UNKNOWN};
gphi_cuda_table below;
gphi_cuda_source shim_source;

static const gphi_cuda_source *below_source;
static gphi_driver *driver;

#define DECLARED(type)                                                                   \
    type a, type b, type c, type d, type e, type f, type g, type h, type i, type j,      \
        type k, type l
#define PASSED a, b, c, d, e, f, g, h, i, j, k, l

typedef CUresult any_fn(DECLARED(uint64_t));

static const struct shim_rule *rule_of(const char *name)
{
    static const struct shim_rule plain = {"", NULL, 1};
    for (const struct shim_rule *at = shim.rules; at->name != NULL; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    return shim.has_all && strncmp(name, "cuLogs", 6) != 0 ? &plain : NULL;
}

/* Callers cannot help the failure of what gives back. */
static bool gives_back(const char *name)
{
    static const char *const words[] = {"Destroy", "Unload", "Unmap", "Release",
                                        "AddressFree"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

bool shim_fails(const char *name)
{
    shim.calls++;
    const bool is_it = shim.fail_at >= 0 && shim.fail_at-- == 0;
    if (is_it)
        shim.failed = name;
    return is_it;
}

static CUresult pass_on(const char *name, any_fn *call, DECLARED(uint64_t))
{
    const struct shim_rule *rule = rule_of(name);
    const bool can_fail = shim.has_all ? !gives_back(name) : rule->change >= 0;
    if (can_fail && shim_fails(name))
        return shim.code;
    const CUresult result = call(PASSED);
    if (result == CUDA_SUCCESS && rule->count != NULL)
        *rule->count += rule->change;
    return result;
}

#define X(call, version, arguments)                                                      \
    static CUresult wrap_##call(DECLARED(uint64_t))                                      \
    {                                                                                    \
        return pass_on(#call, (any_fn *)(gph_cuda_fn)below.call, PASSED);                \
    }
GPHI_CUDA_CALLS(X)
#undef X

static gph_cuda_fn find(void *user, const char *name, int version)
{
    (void)user;
    gph_cuda_fn out = NULL;
    if (shim.special != NULL && shim.special(name, version, &out))
        return out;
    out = below_source->find(below_source->user, name, version);
    if (version == 12000 && gphi_cuda_call_version(name) > version)
        return out; /* an older form, which no wrapper has */
    if (out == NULL || rule_of(name) == NULL)
        return out;
#define X(call, since, arguments)                                                        \
    if (strcmp(name, #call) == 0)                                                        \
        return (gph_cuda_fn)wrap_##call;
    GPHI_CUDA_CALLS(X)
#undef X
    return out;
}

bool shim_open(gph_driver which, const struct shim_rule *rules)
{
    gph_error error = {0};
    if (gphi_driver_retain(which, NULL, &driver, &error) != GPH_OK) {
        printf("skipped: %s\n", error.message);
        return false;
    }
    shim.rules = rules;
    below_source = gphi_driver_source(driver);
    gphi_cuda_table_fill(&below, below_source);
    shim_source = *below_source;
    shim_source.find = find;
    return true;
}

void shim_close(void)
{
    gphi_driver_release(driver);
}

void shim_over(gphi_cuda_table *calls, const struct shim_rule *rules, bool is_on)
{
    if (shim.rules == NULL)
        below = *calls;
    shim.rules = rules;
#define X(call, version, arguments)                                                      \
    if (rule_of(#call) != NULL) {                                                        \
        const gph_cuda_fn wrap = (gph_cuda_fn)wrap_##call;                               \
        memcpy(&calls->call, is_on ? (const void *)&wrap : (const void *)&below.call,    \
               sizeof(calls->call));                                                     \
    }
    GPHI_CUDA_CALLS(X)
#undef X
}
