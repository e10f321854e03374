// SPDX-License-Identifier: Apache-2.0
/* Runs a program on a driver. */
#include "drive.h"

#include <stdio.h>
#include <string.h>

#include "kernels.h"

struct drive drive;

bool drive_check(CUresult code, const char *call)
{
    if (code == CUDA_SUCCESS)
        return true;
    if (drive.out && drive.out->code == 0) {
        drive.out->code = (uint32_t)code;
        snprintf(drive.out->failed, sizeof(drive.out->failed), "%.*s",
                 (int)strcspn(call, "("), call);
    }
    return false;
}

enum { TEXTS = 3 };
static const char *const texts[TEXTS] = {work_ptx, launch_ptx, change_ptx};

static bool find(const CUmodule *modules, const char *name, CUfunction *out)
{
    for (int i = 0; i < TEXTS; i++)
        if (cu.cuModuleGetFunction(out, modules[i], name) == CUDA_SUCCESS)
            return true;
    return false;
}

const char *drive_text(int at)
{
    return at >= 0 && at < TEXTS ? texts[at] : NULL;
}

/* What the driver's compiler says of a text that it refuses is the reason. */
static bool load_texts(CUmodule *modules, const char **why)
{
    static char said[1200];
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    for (int i = 0; i < TEXTS; i++) {
        const CUresult code =
            cu.cuModuleLoadDataEx(&modules[i], texts[i], 2, options, values);
        if (code == CUDA_SUCCESS)
            continue;
        snprintf(said, sizeof(said), "text %d of its kernels does not load (%d): %s", i,
                 (int)code, log);
        *why = said;
        return false;
    }
    return true;
}

bool drive_open(const char **why)
{
    CUmodule modules[TEXTS];
    if (!driver_load(SOFTCUDA_PATH, why))
        return false;
    *why = "no device";
    if (driver_start() != CUDA_SUCCESS)
        return false;
    drive.context = driver_context;
    if (!load_texts(modules, why))
        return false;
    *why = "a kernel is missing from its texts, or memory ran out";
#define X(name)                                                                          \
    if (!find(modules, #name, &drive.kernel.name))                                       \
        return false;
    KERNELS_OF(X)
#undef X
    return cu.cuStreamCreate(&drive.stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&drive.words, 4 * WORDS) == CUDA_SUCCESS &&
           cu.cuMemAlloc(&drive.table, TABLE_BYTES) == CUDA_SUCCESS;
}

static bool refill(void)
{
    uint32_t guards[GUARDS];
    for (int i = 0; i < GUARDS; i++)
        guards[i] = first_guard(drive.p, i);
    return DID(cu.cuMemcpyHtoD(drive_word(GUARDS_AT), guards, sizeof(guards)));
}

static bool start(void)
{
    uint32_t words[WORDS] = {0};
    for (int i = 0; i < GUARDS_AT; i++)
        words[i] = first_word(i);
    bool good = DID(cu.cuMemcpyHtoD(drive.words, words, sizeof(words))) && refill() &&
                drive_build() &&
                DID(cu.cuMemcpyHtoD(drive.table, drive.host_table, TABLE_BYTES));
    for (int g = 0; good && g < drive.p->graphs; g++)
        good = DID(cu.cuGraphUpload(drive.execs[g], drive.stream));
    return good && DID(cu.cuStreamSynchronize(drive.stream));
}

static bool do_call(const struct host_call *call)
{
    CUgraphExec exec = drive.execs[call->graph];
    CUgraphNode node = call->item < 0 ? NULL : drive.nodes[call->item];
    switch (call->call) {
    case LAUNCH_TWICE:
        if (!DID(cu.cuGraphLaunch(exec, drive.stream)))
            return false;
        return DID(cu.cuGraphLaunch(exec, drive.stream));
    case LAUNCH: return DID(cu.cuGraphLaunch(exec, drive.stream));
    case UPLOAD: return DID(cu.cuGraphUpload(exec, drive.stream));
    case REFILL: return refill();
    case EDIT:
        return DID(cu.cuGraphExecKernelNodeSetParams(
            exec, node, drive_kernel(&drive.p->item[call->item], call->value)));
    case SWITCH_OFF:
    case SWITCH_ON:
        return DID(cu.cuGraphNodeSetEnabled(exec, node, call->call == SWITCH_ON));
    }
    return false;
}

static void end(void)
{
    for (int g = 0; g < drive.p->graphs; g++) {
        if (drive.execs[g])
            DID(cu.cuGraphExecDestroy(drive.execs[g]));
        if (drive.graphs[g])
            DID(cu.cuGraphDestroy(drive.graphs[g]));
    }
}

void drive_program(const struct device_program *p, struct result *out)
{
    memset(out, 0, sizeof(*out));
    drive.p = p;
    drive.out = out;
    bool good = start();
    for (int i = 0; good && i < p->calls; i++) {
        good = do_call(&p->call[i]) && DID(cu.cuStreamSynchronize(drive.stream)) &&
               DID(cu.cuMemcpyDtoH(out->words[i], drive.words, 4 * WORDS));
        out->calls += good;
    }
    end();
}
