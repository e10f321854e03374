/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of ranks.cu read and write; src/ranks includes it, too.
 *
 * Each rank has one piece of memory, into which every other one writes:
 *
 *   head   | dead | epoch of block 0 | epoch of block 1 | ...        its own words
 *   lines  | parity 0: from rank 0: block 0, block 1, ... | from rank 1: ... | parity 1 ...
 *
 *   line   | data 0..3 | flag | data 4..7 | flag |                   16 bytes
 *
 * A line is there when both flags are the epoch: data and flag come by one access each. */
#ifndef KERNELS_RANKS_CUH
#define KERNELS_RANKS_CUH

enum {
    RANKS_MAX = 8,      /* that the own kernels take */
    RANKS_BLOCKS = 64,  /* at most, each with an epoch and lines of its own */
    RANKS_THREADS = 256,
    RANKS_HEAD = 512,   /* bytes before the lines */
    RANKS_LINE = 16,    /* bytes; 8 of them are data */
    RANKS_DATA = 8,
    RANKS_CLEAN = (1 << 24) - 1 /* epochs from one cleaning to the next, less one */
};

enum { RANKS_SUM = 1, RANKS_MOST = 2, RANKS_LEAST = 3 }; /* as gph_comm_reduction */

/* In mapped host memory. */
typedef struct ranks_host {
    unsigned int stop; /* host: whoever waits ends */
    unsigned int pad[15];
    unsigned int failed; /* device: 1 after the words below */
    unsigned int rank;   /* device: the one that did not come */
    unsigned int epoch, place;
    unsigned int pad2[12];
} ranks_host;

/* The head of the memory. */
typedef struct ranks_head {
    unsigned int dead; /* nothing is waited for any more */
    unsigned int epochs[RANKS_BLOCKS];
} ranks_head;

typedef struct ranks_call {
    unsigned long long in, out;
    unsigned long long memory;               /* this rank's own */
    unsigned long long peers[RANKS_MAX - 1]; /* that of rank + 1, rank + 2, ... and round */
    ranks_host *host;
    unsigned long long patience; /* ns */
    unsigned long long bytes;    /* of one rank's tensor */
    unsigned int rank, count;
    unsigned int lines, chunk; /* in all, and of a block */
    unsigned int capacity;     /* of a block */
    unsigned int wide;         /* 1: both addresses and `bytes` are multiples of 8 but for the tail */
    unsigned int step;         /* bytes that may be loaded at once otherwise: 1, 2 or 4 */
    unsigned int reduction, root;
    unsigned int place; /* which call it is: a number for the host */
} ranks_call;

#endif
