// SPDX-License-Identifier: Apache-2.0
/* The few driver calls that running a form takes, from a driver opened by path. */
#include "forms.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef int result;
typedef void *handle;
typedef unsigned long long address;

struct driver {
    void *library;
    char name[128];
    int device;
    handle context;
    result (*init)(unsigned);
    result (*version)(int *);
    result (*device_name)(char *, int, int);
    result (*retain)(handle *, int);
    result (*reset)(int);
    result (*set_current)(handle);
    result (*load)(handle *, const void *, unsigned, int *, void **);
    result (*unload)(handle);
    result (*function)(handle *, handle, const char *);
    result (*allocate)(address *, size_t);
    result (*release)(address);
    result (*to_device)(address, const void *, size_t);
    result (*to_host)(void *, address, size_t);
    result (*fill)(address, unsigned char, size_t);
    result (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, handle, void **, void **);
    result (*synchronize)(void);
};

#define IN_BYTES ((size_t)THREADS_MAX * INPUTS_MAX * SLOT_BYTES)
#define OUT_BYTES ((size_t)THREADS_MAX * OUTPUTS_MAX * SLOT_BYTES)
#define OWN_BYTES ((size_t)THREADS_MAX * 64)
#define COMMON_BYTES ((size_t)4096)
#define NOT_SUPPORTED 801

static bool bind(driver *d)
{
    const struct {
        const char *name;
        void *to;
    } calls[] = {
        {"cuInit", &d->init},
        {"cuDriverGetVersion", &d->version},
        {"cuDeviceGetName", &d->device_name},
        {"cuDevicePrimaryCtxRetain", &d->retain},
        {"cuDevicePrimaryCtxReset_v2", &d->reset},
        {"cuCtxSetCurrent", &d->set_current},
        {"cuModuleLoadDataEx", &d->load},
        {"cuModuleUnload", &d->unload},
        {"cuModuleGetFunction", &d->function},
        {"cuMemAlloc_v2", &d->allocate},
        {"cuMemFree_v2", &d->release},
        {"cuMemcpyHtoD_v2", &d->to_device},
        {"cuMemcpyDtoH_v2", &d->to_host},
        {"cuMemsetD8_v2", &d->fill},
        {"cuLaunchKernel", &d->launch},
        {"cuCtxSynchronize", &d->synchronize},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        void *symbol = dlsym(d->library, calls[i].name);
        if (symbol == NULL) {
            fprintf(stderr, "the driver has no %s\n", calls[i].name);
            return false;
        }
        memcpy(calls[i].to, &symbol, sizeof(symbol));
    }
    return true;
}

static bool start(driver *d)
{
    int version = 0;
    char name[80] = "";
    if (d->init(0) != 0 || d->version(&version) != 0 ||
        d->device_name(name, sizeof(name), 0) != 0 || d->retain(&d->context, 0) != 0 ||
        d->set_current(d->context) != 0) {
        fprintf(stderr, "no device\n");
        return false;
    }
    snprintf(d->name, sizeof(d->name), "%s, driver API %d.%d", name, version / 1000,
             version % 1000 / 10);
    return true;
}

driver *driver_open(const char *path)
{
    driver *d = calloc(1, sizeof(*d));
    if (d == NULL)
        return NULL;
    d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (d->library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        free(d);
        return NULL;
    }
    if (!bind(d) || !start(d)) {
        free(d);
        return NULL;
    }
    return d;
}

/* The library stays: drivers have threads that outlive a dlclose. */
void driver_close(driver *d)
{
    if (d != NULL)
        (void)d->reset(0);
    free(d);
}

const char *driver_name(const driver *d)
{
    return d->name;
}

static handle load_module(driver *d, const form *f, size_t count, bool verbose)
{
    char *ptx = kernels_write(f, count);
    char log[4096] = "";
    enum { LOG_BUFFER = 5, LOG_BYTES = 6 }; /* of CUjit_option, errors */
    int options[] = {LOG_BUFFER, LOG_BYTES};
    void *values[] = {log, (void *)(size_t)sizeof(log)};
    handle module = NULL;
    const result code = d->load(&module, ptx, 2, options, values);
    if (code != 0 && verbose)
        fprintf(stderr, "%s: module rejected (%d): %s\n", f->name, code, log);
    free(ptx);
    return code == 0 ? module : NULL;
}

/* Buffers of one launch. */
typedef struct buffers {
    address in, out, own, common;
} buffers;

static bool buffers_get(driver *d, buffers *b)
{
    memset(b, 0, sizeof(*b));
    return d->allocate(&b->in, IN_BYTES) == 0 && d->allocate(&b->out, OUT_BYTES) == 0 &&
           d->allocate(&b->own, OWN_BYTES) == 0 &&
           d->allocate(&b->common, COMMON_BYTES) == 0;
}

static void buffers_give(driver *d, const buffers *b)
{
    (void)d->release(b->in);
    (void)d->release(b->out);
    (void)d->release(b->own);
    (void)d->release(b->common);
}

/* The outputs side by side, as they are recorded. */
static void take_outputs(const form *f, const unsigned char *slots, unsigned char *out)
{
    for (uint32_t k = 0; k < f->threads; k++) {
        for (uint32_t i = 0; i < f->output_count; i++) {
            memcpy(out, slots + ((size_t)k * OUTPUTS_MAX + i) * SLOT_BYTES,
                   f->outputs[i]->bytes);
            out += f->outputs[i]->bytes;
        }
    }
}

static outcome run_one(driver *d, handle module, const form *f, size_t index,
                       const buffers *b, unsigned char *out)
{
    static unsigned char in[IN_BYTES], slots[OUT_BYTES];
    char name[24];
    snprintf(name, sizeof(name), "k%zu", index);
    handle function = NULL;
    inputs_make(f, in);
    result code = d->function(&function, module, name);
    if (code == 0)
        code = d->to_device(b->in, in, IN_BYTES);
    if (code == 0)
        code = d->fill(b->out, 0xee, OUT_BYTES);
    if (code == 0)
        code = d->fill(b->own, 0, OWN_BYTES);
    if (code == 0)
        code = d->fill(b->common, 0, COMMON_BYTES);
    if (code == 0) {
        buffers copy = *b;
        void *parameters[] = {&copy.in, &copy.out, &copy.own, &copy.common};
        code = d->launch(function, f->threads / BLOCK_THREADS, 1, 1, BLOCK_THREADS, 1, 1,
                         0, NULL, parameters, NULL);
        if (code == NOT_SUPPORTED)
            return UNSUPPORTED;
    }
    if (code == 0)
        code = d->synchronize();
    if (code == 0)
        code = d->to_host(slots, b->out, OUT_BYTES);
    if (code != 0) {
        fprintf(stderr, "%s: error %d\n", f->name, code);
        return BROKE;
    }
    take_outputs(f, slots, out);
    return RAN;
}

/* After an error the context may be dead: starts over. */
static bool restart(driver *d)
{
    (void)d->reset(0);
    return d->retain(&d->context, 0) == 0 && d->set_current(d->context) == 0;
}

void driver_run(driver *d, const form *f, size_t count, outcome *outcomes,
                unsigned char **out, bool verbose)
{
    for (size_t i = 0; i < count; i++)
        outcomes[i] = BROKE;
    handle module = load_module(d, f, count, verbose && count == 1);
    if (module == NULL) {
        outcomes[0] = REJECTED;
        if (count > 1) { /* find out which */
            driver_run(d, f, count / 2, outcomes, out, verbose);
            driver_run(d, f + count / 2, count - count / 2, outcomes + count / 2,
                       out + count / 2, verbose);
        }
        return;
    }
    buffers b;
    if (!buffers_get(d, &b)) {
        fprintf(stderr, "no memory on the device\n");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        outcomes[i] = run_one(d, module, &f[i], i, &b, out[i]);
        if (outcomes[i] != BROKE)
            continue;
        if (!restart(d))
            return;
        if (i + 1 < count)
            driver_run(d, f + i + 1, count - i - 1, outcomes + i + 1, out + i + 1,
                       verbose);
        return;
    }
    buffers_give(d, &b);
    (void)d->unload(module);
}
