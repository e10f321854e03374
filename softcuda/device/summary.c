// SPDX-License-Identifier: Apache-2.0
/* The counters of the process, and their file. */
#include "softcuda/device/summary.h"

#include <stdio.h>
#include <stdlib.h>

#include "softcuda/device/driver.h"
#include "softcuda/memory/memory.h"

soft_counters soft_counted;

bool soft_summary_wanted(void)
{
    static atomic_int wanted; /* 0 not looked up, 1 no, 2 yes */
    int now = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (now == 0) {
        const char *path = getenv("SOFTCUDA_SUMMARY");
        now = path && path[0] != '\0' ? 2 : 1;
        atomic_store_explicit(&wanted, now, memory_order_relaxed);
    }
    return now == 2;
}

static unsigned long long count(const atomic_ullong *counter)
{
    return atomic_load(counter);
}

/* A file that is half written is never seen: the last step is the rename. */
void soft_summary_write(void)
{
    const char *path = getenv("SOFTCUDA_SUMMARY");
    char fresh[4096];
    if (!soft_summary_wanted() ||
        snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh))
        return;
    uint64_t peak = 0;
    for (int i = 0; i < soft_device_count(); i++) {
        soft_memory_info info;
        soft_memory_get_info(soft_device_at(i)->memory, &info);
        peak += info.peak_bytes;
    }
    FILE *file = fopen(fresh, "we");
    if (!file) {
        soft_log(CU_LOG_LEVEL_WARNING, "SOFTCUDA_SUMMARY: %s cannot be written", fresh);
        return;
    }
    fprintf(file,
            "{\"kernels_launched\": %llu, \"graphs\": %llu, \"graph_nodes\": %llu, "
            "\"graph_launches\": %llu, \"launch_host_ns\": %llu, "
            "\"peak_device_bytes\": %llu, \"devices\": %d}\n",
            count(&soft_counted.kernels_launched), count(&soft_counted.graphs),
            count(&soft_counted.graph_nodes), count(&soft_counted.graph_launches),
            count(&soft_counted.launch_host_ns), (unsigned long long)peak,
            soft_device_count());
    if (fclose(file) != 0 || rename(fresh, path) != 0)
        soft_log(CU_LOG_LEVEL_WARNING, "SOFTCUDA_SUMMARY: %s was not written", path);
}
