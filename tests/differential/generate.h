// SPDX-License-Identifier: Apache-2.0
/* The generator: draws the next step from what the model knows. */
#ifndef GENERATE_H
#define GENERATE_H
#include "model.h"

struct generator {
    struct rng rng;
    struct model *model;
    struct transcript *transcript;
    /* Runs a step for real; NULL: the model's word is taken. */
    void (*execute)(const struct step *step, struct answer *out);
    void (*mismatch)(struct generator *gen, const struct answer *predicted);
    int next_node; /* slots of nodes are not used twice */
    int memory;    /* percent of the steps that are about graph memory */
    int next_alloc;
    const struct mgraph
        *scope; /* whose allocations draw_work() may use; NULL: live ones */
    int mismatches;
    bool full;
};

/* generate.c: draws a whole program. */
void generate(struct generator *gen, uint32_t seed);
/* Runs and notes a step; false: the program is full or the model is lost. */
bool emit(struct generator *gen, const struct step *step);
bool emit_step(struct generator *gen, int op, int count, const int32_t *arguments);
#define EMIT(gen, op, ...)                                                               \
    emit_step(gen, op, (int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)),        \
              (int32_t[]){__VA_ARGS__})

/* One object of those there are, or -1. */
int pick_graph(struct generator *gen);
int pick_node(struct generator *gen);
int pick_node_of(struct generator *gen, const struct mgraph *graph);
int pick_exec(struct generator *gen);
int free_graph(struct generator *gen);
int free_exec(struct generator *gen);
int free_node(struct generator *gen);
int pick_stream(struct generator *gen, bool capturing); /* that does, or does not */
bool any_capture(const struct model *model);
/* Orders `stream` after all that was submitted so far. */
void order_behind(struct generator *gen, int stream);

/* generate_work.c */
struct cells {
    uint64_t reads[BUFFERS * BUFFER_CELLS / 64], writes[BUFFERS * BUFFER_CELLS / 64];
};
void cells_of(const struct work *work, struct cells *out);
bool cells_clash(const struct cells *a, const struct cells *b);
/* A valid work of the kind. `eager`: for a stream that does not capture. */
struct work draw_work(struct generator *gen, int kind, bool eager);
int draw_kind(struct generator *gen);
/* Whether it clashes with nodes of the graph that are not before `deps`. */
bool work_clashes(struct model *model, const struct mgraph *graph,
                  struct mnode *const *deps, int count, const struct work *work);
void spoil_work(struct generator *gen, struct work *work);

/* the families: false where nothing could be drawn */
bool draw_graph(struct generator *gen);
bool draw_query(struct generator *gen);
bool draw_exec(struct generator *gen);
bool draw_capture(struct generator *gen);
bool draw_stream(struct generator *gen);
bool draw_object(struct generator *gen);
bool draw_memory(struct generator *gen);
#endif
