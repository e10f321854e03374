// SPDX-License-Identifier: Apache-2.0
/* What the files of the rules launch.* share, below all of them: the launches seen last,
 * and memory that is gone. */
#include "doctor/rules/launch/rules_launch.h"

#include <string.h>

/* The node that a call sets in an executable; 0: none. */
static uint64_t set_node(const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    return strncmp(name, "cuGraphExec", 11) == 0 && strstr(name, "SetParams") &&
                   seen->call.result == 0
               ? gphi_event_word(seen->event, 1)
               : 0;
}

void gphi_launch_keep(gphi_launch_uses *uses, const gphi_seen *seen)
{
    uses->recent[uses->next++ % GPHI_LAUNCH_USES] =
        (gphi_launch_use){.call = seen->call,
                          .exec = seen->exec,
                          .stream = seen->stream,
                          .made = seen->exec->created.number,
                          .work = seen->work ? seen->work->number : 0,
                          .node = set_node(seen)};
}

const gphi_launch_use *gphi_launch_at(const gphi_launch_uses *uses, uint32_t back)
{
    return back < uses->next && back < GPHI_LAUNCH_USES
               ? &uses->recent[(uses->next - 1 - back) % GPHI_LAUNCH_USES]
               : NULL;
}

bool gphi_launch_is_gone(const gphi_model *model, uint64_t address)
{
    return address != 0 && !gphi_model_memory(model, address, false) &&
           gphi_model_memory(model, address, true);
}

uint64_t gphi_launch_operand_at(const gph_node *node, uint32_t nth)
{
    const gph_memcpy_params *copy = &node->u.memcpy;
    const gph_kernel_params *kernel = &node->u.kernel;
    uint64_t value = 0;
    switch (node->kind) {
    case GPH_NODE_MEMSET: return nth == 0 ? node->u.memset.address : 0;
    case GPH_NODE_MEMCPY:
        if (nth == 0 && copy->dst.memory != GPH_MEMORY_ARRAY)
            return copy->dst.address;
        return nth == 1 && copy->src.memory != GPH_MEMORY_ARRAY ? copy->src.address : 0;
    case GPH_NODE_KERNEL:
        if (kernel->args[nth].bytes == sizeof(value) &&
            kernel->args[nth].offset + sizeof(value) <= kernel->buffer_bytes)
            memcpy(&value, kernel->buffer + kernel->args[nth].offset, sizeof(value));
        return value;
    default: return 0;
    }
}

uint32_t gphi_launch_operand_count(const gph_node *node)
{
    switch (node->kind) {
    case GPH_NODE_MEMSET: return 1;
    case GPH_NODE_MEMCPY: return 2;
    case GPH_NODE_KERNEL: return node->u.kernel.arg_count;
    default: return 0;
    }
}

uint64_t gphi_launch_gone_operand(const gphi_model *model, const gph_node *node)
{
    for (uint32_t i = 0; i < gphi_launch_operand_count(node); i++) {
        const uint64_t address = gphi_launch_operand_at(node, i);
        if (gphi_launch_is_gone(model, address))
            return address;
    }
    return 0;
}
