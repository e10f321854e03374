// SPDX-License-Identifier: Apache-2.0
/* bench/load: the graphs, for what libgph loads and for the driver's own calls beside it. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H
#include <stddef.h>
#include <stdint.h>

enum { LOAD_KERNELS = 8, LOAD_PARTS = 4 };

/* PTX of kernels layer0 ...; number i adds what it is given to a counter. */
const char *load_ptx(size_t *bytes);
/* 16 topologies: neighboring buckets differ in grids and numbers only. */
int load_node_count(int graph, int graph_count);
/* Every 8th node of the chain has one beside it. */
int load_is_beside(int node, int count);
/* What the counter holds when each graph has run once; blocks count, too. */
unsigned int load_sum(int graph_count);

/* What a node is given. */
struct load_node {
    uint64_t sum, a, b, c;
    unsigned int n, blocks;
    float s;
};
struct load_node load_node_at(uint64_t base, int graph, int node);

/* By the driver's own calls, in this process: graphs are built node by node, instantiated and,
 * if `uploads`, uploaded, by so many threads. Prints nanoseconds passed, then those of all
 * threads in adding nodes, in instantiating and in uploading. */
void load_by_hand(int graph_count, int threads, int uploads);

#endif
