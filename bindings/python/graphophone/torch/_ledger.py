# SPDX-License-Identifier: Apache-2.0
"""What there is and why: the graphs with their memory, and what was recorded, run eagerly or let go of."""
import collections
import time
import weakref

import torch

graphs = weakref.WeakSet()  # every CUDAGraph of ours
_COUNTS = "graphs", "nodes", "reserved_bytes", "allocated_bytes", "segments"
_events = collections.deque(maxlen=1000)


def note(what, who, why):
    """Keeps one event for explain()."""
    _events.append({"time": time.time(), "what": what, "who": who, "why": why})


def explain(who=None):
    """What was recorded, recorded again, run eagerly or failed, and why: a list of dicts of time, what, who and why, the
    oldest first; the last 1,000. who: of this function alone, by its name."""
    return [dict(event) for event in _events if who is None or event["who"] == who]


def memory():
    """Every byte that graphs hold, of all devices: a dict of

    pools    of PyTorch's private pools that graphs of ours use, by id: graphs (how many), nodes, reserved_bytes (taken from the
             driver), allocated_bytes (of these in use by tensors that live), segments
    driver_bytes  what the driver took while graphs were made executable, as far as it shows in cuMemGetInfo
    graphs   how many there are that can be replayed, or are a part of a loop
    reserved_bytes, allocated_bytes   sums over the pools"""
    pools = {}
    held = [graph for graph in graphs if graph.handle is not None or graph.part_of]
    for graph in held:
        pool = pools.setdefault(tuple(graph.pool()), dict.fromkeys(_COUNTS, 0))
        pool["graphs"] += 1
        pool["nodes"] += graph.nodes
    for segment in torch.cuda.memory_snapshot() if held else []:
        pool = pools.get(tuple(segment.get("segment_pool_id", (0, 0))))
        if pool is not None:
            pool["reserved_bytes"] += segment["total_size"]
            pool["allocated_bytes"] += segment["allocated_size"]
            pool["segments"] += 1
    return {"pools": pools, "graphs": len(held), "driver_bytes": sum(graph.driver_bytes for graph in held),
            "reserved_bytes": sum(pool["reserved_bytes"] for pool in pools.values()),
            "allocated_bytes": sum(pool["allocated_bytes"] for pool in pools.values())}
