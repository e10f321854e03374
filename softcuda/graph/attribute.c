// SPDX-License-Identifier: Apache-2.0
/* Attributes of kernel nodes. What only tunes a GPU is kept and given back; priority,
 * cooperative and the clusters are part of the launch. */
#include <string.h>

#include "softcuda/device/alloc.h"
#include "softcuda/graph/node.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/rules/rules.h"

#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (-5)

/* Of a launch or a stream alone, or of nothing. */
static CUresult refuse(CUlaunchAttributeID id)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not one of a kernel node",
                     (int)id);
}

/* Those of a node; the others are of launches or streams alone. */
static bool is_of_node(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return true;
    default: return false;
    }
}

static bool fits(CUlaunchAttributeID id)
{
    return (int)id >= 0 && id < CU_LAUNCH_ATTRIBUTE_MAX;
}

/* What was asked for counts at updates (R69a); what is reported is what the device has. */
static int clamp(int priority)
{
    return priority > LEAST_PRIORITY      ? LEAST_PRIORITY
           : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                          : priority;
}

static CUlaunchAttributeValue initial_value(CUlaunchAttributeID id)
{
    CUlaunchAttributeValue value = {{0}};
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        value.memSyncDomainMap.remote = 1;
    return value;
}

CUresult soft_node_attribute_get(const soft_node *node, CUlaunchAttributeID id,
                                 CUlaunchAttributeValue *out)
{
    if (!is_of_node(id) && (soft_rule(M_kernel_attributes) || !fits(id)))
        return refuse(id);
    CUlaunchAttributeValue value = initial_value(id);
    if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value.priority = clamp(node->task.u.launch.priority);
    else if (node->attributes && node->attributes->set & 1u << id)
        value = node->attributes->values[id];
    else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value.cooperative = node->task.u.launch.cooperative;
    *out = value;
    return CUDA_SUCCESS;
}

static CUresult check_cluster(const soft_launch *launch, const uint16_t given[3])
{
    uint32_t shape[3];
    return soft_cluster_of(launch->function, launch->grid, given, shape);
}

/* As a GPU checks it; nothing here has a cache to set aside. */
static CUresult check_window(const CUaccessPolicyWindow *window)
{
    if (!(window->hitRatio >= 0 && window->hitRatio <= 1))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the hit ratio is %g, not 0 to 1",
                         (double)window->hitRatio);
    if (window->missProp == CU_ACCESS_PROPERTY_PERSISTING)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "what misses the window cannot be persisting");
    return CUDA_SUCCESS;
}

static CUresult check_range(const char *what, unsigned value, unsigned most)
{
    if (value <= most)
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is %d, not 0 to %u", what, (int)value,
                     most);
}

static CUresult check_value(const soft_node *node, CUlaunchAttributeID id,
                            const CUlaunchAttributeValue *value)
{
    uint16_t cluster[3];
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        soft_cluster_read(value, cluster);
        return check_cluster(&node->task.u.launch, cluster);
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return check_range("deviceUpdatable",
                           (unsigned)value->deviceUpdatableKernelNode.deviceUpdatable, 1);
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return check_window(&value->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return check_range("the carveout", value->sharedMemCarveout, 100);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return check_range("the domain", (unsigned)value->memSyncDomain, 1);
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        SOFT_TRY(check_range("the default domain", value->memSyncDomainMap.default_, 3));
        return check_range("the remote domain", value->memSyncDomainMap.remote, 3);
    default: return CUDA_SUCCESS;
    }
}

/* Allocated with the first that is set: most nodes have none. */
static CUresult keep(soft_node *node, CUlaunchAttributeID id,
                     const CUlaunchAttributeValue *value)
{
    if (!node->attributes)
        node->attributes = soft_new(sizeof(*node->attributes));
    SOFT_TRY(soft_made(node->attributes, "no memory for node attributes"));
    node->attributes->set |= 1u << id;
    node->attributes->values[id] = *value;
    return CUDA_SUCCESS;
}

CUresult soft_node_attribute_set(soft_node *node, CUlaunchAttributeID id,
                                 CUlaunchAttributeValue *value)
{
    soft_launch *launch = &node->task.u.launch;
    if (!is_of_node(id) && (soft_rule(M_kernel_attributes) || !fits(id)))
        return refuse(id);
    SOFT_TRY(check_value(node, id, value));
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        if (soft_rule(R18) && value->cooperative && node->arguments.extra)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "the node's arguments came as extra, which a cooperative "
                             "kernel does not take");
        SOFT_TRY(keep(node, id, value)); /* any number is given back as it came */
        launch->cooperative = value->cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        SOFT_TRY(keep(node, id, value));
        soft_cluster_read(value, launch->cluster);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return soft_updatable_set(node, value);
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        launch->priority = value->priority;
        return CUDA_SUCCESS;
    default: return keep(node, id, value);
    }
}

void soft_node_attributes_add(soft_node_attributes *to, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value)
{
    if (!is_of_node(id) || id == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
        id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        return;
    to->set |= 1u << id;
    to->values[id] = *value;
}

/* All or nothing, priority and cooperative included. */
CUresult soft_node_attributes_copy(soft_node *to, const soft_node *from)
{
    static const char what[] = "attributes are copied neither to it nor from it";
    SOFT_TRY(soft_updatable_keep(to, what));
    SOFT_TRY(soft_updatable_keep(from, what));
    if (to == from)
        return CUDA_SUCCESS;
    SOFT_TRY(check_cluster(&to->task.u.launch, from->task.u.launch.cluster));
    soft_node_attributes *fresh = NULL;
    if (from->attributes) {
        fresh = soft_new(sizeof(*fresh));
        SOFT_TRY(soft_made(fresh, "no memory for node attributes"));
        *fresh = *from->attributes;
    }
    soft_delete(to->attributes);
    to->attributes = fresh;
    to->task.u.launch.priority = from->task.u.launch.priority;
    to->task.u.launch.cooperative = from->task.u.launch.cooperative;
    memcpy(to->task.u.launch.cluster, from->task.u.launch.cluster,
           sizeof(to->task.u.launch.cluster));
    return CUDA_SUCCESS;
}
