// SPDX-License-Identifier: Apache-2.0
/* Random programs of the device side: conditional nodes nested to depth 3, graphs that kernels
 * launch into all three streams, and nodes that kernels change.
 *
 *   draw.c (seed) ──program──> model.c  (what the rules say: memory after each step)
 *                      └─────> build.c, drive.c  (a driver) ── compared word by word
 *
 * A program has one result on every schedule that the rules allow. Memory is cut into
 * domains: what runs one after the other (a graph, and the tails that come of it) shares
 * one; a graph that is fired and forgotten, or a sibling, has one of its own, and others read
 * it only when it is over. Nodes side by side in a graph have cells of their own (lanes). */
#ifndef DIFFERENTIAL_DEVICE_PROGRAM_H
#define DIFFERENTIAL_DEVICE_PROGRAM_H
#include "../differential.h"

enum {
    DOMAINS = 8,
    CELLS = 16,     /* of a domain */
    LOG_WORDS = 48, /* then its log: a count, a hash, the last entries */
    LOG_ENTRIES = LOG_WORDS - 2,
    DOMAIN_WORDS = CELLS + LOG_WORDS,
    COUNTERS = 48, /* of loops, one each; after the domains */
    GUARDS = 24,   /* how many launches are left; after the counters */
    COUNTERS_AT = DOMAINS * DOMAIN_WORDS,
    GUARDS_AT = COUNTERS_AT + COUNTERS,
    WORDS = GUARDS_AT + GUARDS
};
enum {
    ITEMS = 640,
    LISTS = 256,
    LIST_ITEMS = 10,
    BRANCHES = 3,
    HANDLES = 40,
    DEVICE_GRAPHS = 20,
    CHANGED = 24, /* nodes that kernels change */
    CALLS = 24,
    UPDATES = 3 /* of one call that makes several */
};

enum kind {
    MIX,    /* dst = dst * 5 + src + value */
    TAKE,   /* dst = src % value */
    NOTE,   /* value into the log */
    BLOCKS, /* dst += blocks of the grid */
    COPY,   /* dst = src, a copy node */
    FILL,   /* dst = value, a fill node */
    DECIDE, /* handle = src % value */
    COUNT,  /* one less of dst, which is then the handle's value */
    SIDE,   /* branches side by side */
    CHILD,  /* a child graph, branch 0 */
    IF,
    WHILE,
    SWITCH,
    FIRE,  /* launches graph `target` into `stream`, while dst (a guard) is not 0; logs */
    SELF,  /* the same with %current_graph_exec */
    PARAM, /* parameter 2 of node `target` = src; logs the answer */
    ENABLE, /* node `target` is on if src is odd */
    GRID,   /* node `target` has 1 + src % 5 blocks */
    APPLY   /* several of these at once, with values that were known at the start */
};

enum stream { TAIL = 1, FORGET, SIBLING };

struct update {
    enum kind kind;
    int node;
    uint32_t value;
};

struct item {
    enum kind kind;
    int dst, src; /* words */
    uint32_t value;
    int branch[BRANCHES], branches; /* lists */
    int handle;
    int target;
    enum stream stream;
    int changed; /* of a node that kernels change: its number; else -1 */
    int updates;
    struct update update[UPDATES];
    int graph;
    bool is_outer; /* a node of the graph itself, not of a body or a child */
};

struct list {
    int count, items[LIST_ITEMS];
};

struct handle {
    int graph;
    uint32_t initial;
    bool assigned; /* at each launch */
};

struct graph {
    int list, domain;
    bool is_device; /* else the host alone launches it */
    bool decides, launches;
    int parent; /* who fires it, of graphs with a domain of their own; else -1 */
};

enum call { LAUNCH, LAUNCH_TWICE, UPLOAD, EDIT, SWITCH_OFF, SWITCH_ON, REFILL };
struct host_call {
    enum call call;
    int graph;
    int item; /* a MIX of it */
    uint32_t value;
};

/* What no page promises, and nobody has asked yet; programs of the first are most. */
enum question {
    PLAIN,
    EDITED_BY_BOTH, /* the host edits an executable whose nodes kernels change */
    CHANGED_LATE,   /* a node is changed of a graph that waits in a list of tails */
    CHANGED_IN_BODIES,
    LAUNCHES_BESIDE_BODIES, /* one graph has conditional nodes and launches graphs */
    QUESTIONS
};

struct device_program {
    uint32_t seed;
    enum question question;
    int graphs, lists, items, handles, counters, guards, domains, changed, calls;
    struct graph graph[DEVICE_GRAPHS];
    struct list list[LISTS];
    struct item item[ITEMS];
    struct handle handle[HANDLES];
    int changed_item[CHANGED], changed_graph[CHANGED]; /* by number */
    struct host_call call[CALLS];
};

/* What a program leaves: all words after each call, and a code when a call failed. */
struct result {
    int calls;
    uint32_t code;
    char failed[64]; /* which call, or "" */
    uint32_t words[CALLS][WORDS];
};

enum question question_of(uint32_t seed);
void draw_program(struct device_program *program, uint32_t seed);
void print_program(const struct device_program *program);
uint32_t first_word(int at);
uint32_t first_guard(const struct device_program *program, int guard);
void model_program(const struct device_program *program, struct result *out);
void model_print_ran(void); /* of all programs so far: what they did */

/* A driver; the context stays. */
bool drive_open(const char **why);
const char *drive_text(int at); /* of its kernels, as PTX; NULL beyond the last */
void drive_program(const struct device_program *program, struct result *out);
#endif
