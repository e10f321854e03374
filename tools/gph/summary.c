// SPDX-License-Identifier: Apache-2.0
#include "summary.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

/* "key": 12 */
static bool find_number(const char *json, const char *key, unsigned long long *out)
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\"", key);
    const char *at = strstr(json, quoted);
    if (at == NULL)
        return false;
    at += strlen(quoted);
    at += strspn(at, " \t\r\n");
    if (*at++ != ':')
        return false;
    at += strspn(at, " \t\r\n");
    char *end;
    const unsigned long long value = strtoull(at, &end, 10);
    if (end == at || *at == '-')
        return false;
    *out = value;
    return true;
}

bool summary_parse(const char *json, summary *out)
{
    summary found;
    if (!find_number(json, "kernels_launched", &found.kernels_launched) ||
        !find_number(json, "graphs", &found.graphs) ||
        !find_number(json, "graph_nodes", &found.graph_nodes) ||
        !find_number(json, "graph_launches", &found.graph_launches) ||
        !find_number(json, "launch_host_ns", &found.launch_host_ns) ||
        !find_number(json, "peak_device_bytes", &found.peak_device_bytes))
        return false;
    *out = found;
    return true;
}

void summary_print(const summary *of, const char *driver, FILE *to)
{
    const unsigned long long launches = of->kernels_launched + of->graph_launches;
    put_row(to, "driver", "%s", driver);
    put_row(to, "kernels launched one by one", "%llu", of->kernels_launched);
    put_row(to, "graphs", "%llu", of->graphs);
    put_row(to, "nodes in them", "%llu", of->graph_nodes);
    put_row(to, "graph launches", "%llu", of->graph_launches);
    put_row(to, "host time in launches", "%.3f ms, %.2f us each",
            (double)of->launch_host_ns / 1e6,
            launches > 0 ? (double)of->launch_host_ns / 1e3 / (double)launches : 0.0);
    put_row(to, "peak device memory", "%s", bytes_text(of->peak_device_bytes));
}
