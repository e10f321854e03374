// SPDX-License-Identifier: Apache-2.0
/* Rules without memory: a log that breaks many of them is read while each allocation
 * fails in turn. */
#include "fault.h"
#include "forge.h"
#include "test.h"

#include <gph/doctor.h>
#include <unistd.h>

static char path[64];

enum {
    STREAM = 0x5000,
    SIDE = 0x5010,
    KERNEL = 0x8000,
    RANDOM = 0x8010,
    BUFFER = 0x200000,
    BYTES = 4096
};

static void one_word(forge *f, gphi_call_id call, uint64_t word)
{
    forge_call(f, call, 0, &word, 1);
}

static void allocate(forge *f, uint64_t address)
{
    const uint64_t words[] = {address, BYTES};
    forge_call(f, GPHI_CALL_cuMemAlloc, 0, words, 2);
}

static void to_host(forge *f, uint64_t from, uint64_t host)
{
    const uint64_t words[] = {host, from, BYTES};
    forge_call(f, GPHI_CALL_cuMemcpyDtoH, 0, words, 3);
}

static void from_host(forge *f, uint64_t to)
{
    const uint64_t words[] = {to, 0x7f0000, BYTES};
    forge_call(f, GPHI_CALL_cuMemcpyHtoD, 0, words, 3);
}

/* Two inputs and one output; the input is freed, its address used again; graphs made in
 * each step, random numbers, reads that come too early. */
static void forge_all(void)
{
    forge f;
    const uint64_t in = BUFFER, out = BUFFER + 2 * BYTES, other = BUFFER + 4 * BYTES;
    const uint64_t pointers[] = {out, in}, stream[] = {STREAM, 1}, side[] = {SIDE, 1};
    forge_begin(&f, path);
    forge_function(&f, KERNEL, "copy", 2);
    forge_function(&f, RANDOM, "philox_fill", 2);
    forge_call(&f, GPHI_CALL_cuStreamCreate, 0, stream, 2);
    forge_call(&f, GPHI_CALL_cuStreamCreate, 0, side, 2);
    allocate(&f, in);
    allocate(&f, out);
    allocate(&f, other);
    from_host(&f, in);
    for (uint64_t i = 0; i < 10; i++) {
        const uint64_t exec = 0x70000 + 0x100 * i;
        forge_graph(&f, STREAM, 0x60000 + 0x100 * i, exec, i % 2 == 0 ? KERNEL : RANDOM,
                    pointers, 2);
        for (int k = 0; k < 3; k++)
            forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, exec, STREAM);
        forge_launch(&f, KERNEL, SIDE, 0, pointers, 2);
        to_host(&f, out, 0x7f1000 + BYTES * i);
        from_host(&f, other);
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, exec, STREAM);
        one_word(&f, GPHI_CALL_cuStreamSynchronize, STREAM);
        one_word(&f, GPHI_CALL_cuMemFree, in);
        allocate(&f, in);
        forge_exec_call(&f, GPHI_CALL_cuGraphLaunch, exec, STREAM);
        if (i < 9)
            forge_exec_call(&f, GPHI_CALL_cuGraphExecDestroy, exec, 0);
    }
    CHECK(forge_end(&f, 0) == 0);
}

static void survives_every_failed_allocation(void)
{
    forge_all();
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {.realloc = fault_realloc, .user = &heap};
        gph_doctor_options options = GPH_DOCTOR_OPTIONS_INIT;
        gph_error error = {0};
        gph_doctor *doctor = NULL;
        options.allocator = &allocator;
        gph_status status = gph_doctor_create(&options, &doctor, &error);
        CHECK((doctor != NULL) == (status == GPH_OK));
        if (status == GPH_OK)
            status = gph_doctor_read(doctor, path, &error);
        if (status == GPH_OK)
            status = gph_doctor_finish(doctor, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        const uint32_t count = status == GPH_OK ? gph_doctor_finding_count(doctor) : 0;
        gph_doctor_destroy(doctor);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (atomic_load(&heap.fail_at) >= 0) { /* none was left to fail */
            CHECK(status == GPH_OK && count > 3);
            return;
        }
    }
}

int main(void)
{
    snprintf(path, sizeof(path), "/tmp/gph_rules_fault_%ld", (long)getpid());
    RUN(survives_every_failed_allocation);
    (void)unlink(path);
    return test_done();
}
