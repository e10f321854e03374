// SPDX-License-Identifier: Apache-2.0
/* What a tree looks like, and what its last call was, in words. The last call is said in
 * a buffer of the tree, since a call allocates nothing; the whole is streamed to the
 * caller. Depth first without recursion: a path may have hundreds of calls. */
#include "base/fail.h"
#include "base/text.h"
#include "callable/record.h"
#include "tree/tree.h"
#include <inttypes.h>
#include <string.h>

static const char *const words[] = {"none",
#define X(name, value, word, text) [value] = word,
                                    GPH_TREE_REASON_MAP(X)
#undef X
};
static const char *const meanings[] = {"",
#define X(name, value, word, text) [value] = text,
                                       GPH_TREE_REASON_MAP(X)
#undef X
};

/* ---- the last call ---- */

/* The output that is held, and was dead when the nearest node was recorded. */
static void say_alive(const gphi_tree_turn *turn, gphi_text *text)
{
    const gph_tree *tree = turn->tree;
    const struct gphi_tree_slot *slots = tree->path.slots.items;
    for (uint32_t i = 0; turn->nearest && i < tree->slot_count; i++) {
        const uint32_t block = slots[i].block;
        if (slots[i].holders == 0 || block == GPHI_TREE_NO_BLOCK ||
            block / 64 >= turn->nearest->dead_words ||
            (turn->nearest->dead[block / 64] >> block % 64 & 1) == 0)
            continue;
        gphi_text_add(text,
                      ": an output of call %" PRIu64
                      " is held, which nobody held when node %u was "
                      "recorded",
                      slots[i].call, turn->nearest->id);
        return;
    }
    gphi_text_add(text, ": %s", meanings[GPH_TREE_LIVENESS]);
}

static void say_reason(const gphi_tree_turn *turn, gph_tree_reason reason,
                       gphi_text *text)
{
    const bool is_input = turn->input >= 0;
    if (reason == GPH_TREE_LIVENESS)
        say_alive(turn, text);
    else if ((reason == GPH_TREE_STATIC || reason == GPH_TREE_MANAGED) && is_input)
        gphi_text_add(text, ": %s: input %d was 0x%llx, is 0x%llx", meanings[reason],
                      (int)turn->input, turn->was, turn->is);
    else if (reason == GPH_TREE_MUTATION && is_input)
        gphi_text_add(text,
                      ": it writes input %d, which is neither static nor of the path",
                      (int)turn->input);
    else if (reason == GPH_TREE_CAPTURE || reason == GPH_TREE_MEMORY)
        gphi_text_add(text, ": %s: %s", meanings[reason], turn->function->why);
    else if (reason == GPH_TREE_DEPTH)
        gphi_text_add(text, ": %s: %u calls", meanings[reason], turn->tree->depth);
    else
        gphi_text_add(text, ": %s", meanings[reason]);
}

static void explain(gphi_tree_turn *turn, gph_tree_action action, const char *verb,
                    gph_tree_reason reason)
{
    gph_tree *tree = turn->tree;
    gphi_text text;
    gphi_text_fix(&text, tree->text, sizeof(tree->text));
    gphi_text_add(&text, "\"%s\" %s", turn->function->name, verb);
    if (tree->node)
        gphi_text_add(&text, " below node %u (\"%s\")", tree->node->id,
                      tree->node->function->name);
    else if (!tree->is_warm)
        gphi_text_put(&text, " at the root");
    say_reason(turn, reason, &text);
    tree->event = (gph_tree_event){.call = tree->stats.calls,
                                   .action = action,
                                   .reason = reason,
                                   .function = turn->function->name,
                                   .input = turn->input,
                                   .was = turn->was,
                                   .is = turn->is,
                                   .text = tree->text};
}

void gphi_tree_explain(gphi_tree_turn *turn, gph_tree_action action,
                       gph_tree_reason reason)
{
    static const char *const verbs[] = {
        [GPH_TREE_REPLAYED] = "is replayed",
        [GPH_TREE_RECORDED] = "is recorded",
        [GPH_TREE_WARMED] = "is warmed up",
        [GPH_TREE_EAGER] = "runs eagerly",
    };
    explain(turn, action, verbs[action], reason);
}

void gphi_tree_explain_refused(gphi_tree_turn *turn, gph_tree_action action,
                               gph_tree_reason reason)
{
    explain(turn, action,
            action == GPH_TREE_RECORDED ? "would be recorded, but the tree is strict,"
                                        : "would run eagerly, but the tree is strict,",
            reason);
}

/* ---- the whole ---- */

static gphi_tree_node *first_child(const gphi_tree_node *node)
{
    for (const gphi_tree_place *place = node->places; place; place = place->next)
        if (place->nodes)
            return place->nodes;
    return NULL;
}

/* The next recording below the same parent; NULL after the last. */
static gphi_tree_node *next_child(const gphi_tree_node *node)
{
    if (node->sibling)
        return node->sibling;
    for (const gphi_tree_place *place = node->place->next; place; place = place->next)
        if (place->nodes)
            return place->nodes;
    return NULL;
}

static gphi_tree_node *first_root(const gph_tree *tree)
{
    for (const gphi_tree_place *place = tree->places; place; place = place->next)
        if (place->nodes)
            return place->nodes;
    return NULL;
}

static bool is_alone(const gphi_tree_node *node)
{
    const gphi_tree_node *first = node->parent ? first_child(node->parent) : NULL;
    return first == node && !next_child(node);
}

/* Depth first without recursion: paths may be long. A child alone is after its
 * parent, several are in braces. */
static void put_short(gphi_text *to, const gph_tree *tree)
{
    const gphi_tree_node *node = first_root(tree);
    while (node) {
        gphi_text_add(to, "%s", node->function->name);
        const gphi_tree_node *child = first_child(node);
        if (child) {
            gphi_text_put(to, is_alone(child) ? "-" : "-{");
            node = child;
            continue;
        }
        while (node && !next_child(node)) {
            if (node->parent && !is_alone(node))
                gphi_text_put(to, "}");
            node = node->parent;
        }
        if (node) {
            gphi_text_put(to, ", ");
            node = next_child(node);
        }
    }
}

static void put_tensor(gphi_text *to, const gph_tensor *tensor)
{
    static const char *const names[] = {
#define X(name, value, bytes, text) [value] = text,
        GPH_DTYPE_MAP(X)
#undef X
    };
    const size_t count = sizeof(names) / sizeof(names[0]);
    gphi_text_add(to, "%s[",
                  tensor->dtype != 0 && tensor->dtype < count ? names[tensor->dtype]
                                                              : "?");
    for (uint32_t i = 0; i < tensor->rank; i++)
        gphi_text_add(to, "%s%" PRId64, i != 0 ? "," : "", tensor->shape[i]);
    gphi_text_put(to, "]");
}

/* Who copies it: NULL: it is not copied, or nothing is known of that. */
static const char *copier_of(const gph_tree *tree, const gphi_tree_node *node,
                             uint32_t input)
{
    if (node->kinds[input] != GPHI_TREE_COPIED || !tree->ops->record_of)
        return NULL;
    const struct gphi_record *record = tree->ops->record_of(node->recording);
    return record->pulls && record->pull_of[input] != GPHI_RECORD_NO_PULL
               ? ", by the graph"
               : ", by a call";
}

/* The inputs as the key has them. */
static void put_inputs(gphi_text *to, const gph_tree *tree, const gphi_tree_node *node)
{
    static const char *const kinds[] = {"copied", "static", "managed"};
    const gph_tree_function *function = node->function;
    const uint64_t *word = node->key + 1;
    for (uint32_t i = 0; i < function->key_count; i++)
        gphi_text_add(to, "  key %u: %" PRId64 "\n", i, (int64_t)*word++);
    for (uint32_t i = 0; i < function->input_count; i++) {
        const uint64_t tag = *word++;
        const uint8_t kind = node->kinds[i];
        gph_tensor tensor = {.dtype = (uint32_t)tag,
                             .rank = (uint32_t)(tag >> 32) & 0xff};
        if (kind != GPHI_TREE_COPIED)
            tensor.data = *word++;
        memcpy(tensor.shape, word, tensor.rank * sizeof(*word));
        word += 2 * tensor.rank;
        gphi_text_add(to, "  input %u: %s ", i, kinds[kind]);
        put_tensor(to, &tensor);
        if (kind != GPHI_TREE_COPIED)
            gphi_text_add(to, " at 0x%llx", tensor.data);
        const char *copier = copier_of(tree, node, i);
        gphi_text_add(to, "%s\n", copier ? copier : "");
    }
}

static void put_outputs(gphi_text *to, const gphi_tree_node *node)
{
    for (uint32_t i = 0; i < node->function->output_count; i++) {
        gphi_text_add(to, "  output %u: ", i);
        put_tensor(to, &node->outputs[i]);
        gphi_text_add(to, " at 0x%llx", node->outputs[i].data);
        const uint32_t block = node->blocks[i];
        if (block == GPHI_TREE_NO_BLOCK)
            gphi_text_put(to, ", not of the path");
        else if (block < node->block_first)
            gphi_text_add(to, ", in block %u of an earlier call", block);
        else
            gphi_text_add(to, ", block %u", block);
        gphi_text_put(to, "\n");
    }
}

static void put_dead(gphi_text *to, const gphi_tree_node *node)
{
    const char *comma = "  dead before:";
    for (uint32_t i = 0; i < node->block_first; i++)
        if ((node->dead[i / 64] >> i % 64 & 1) != 0) {
            gphi_text_add(to, "%s %u", comma, i);
            comma = ",";
        }
    if (comma[0] == ',')
        gphi_text_put(to, "\n");
}

static void put_counts(gphi_text *to, const char *what,
                       const uint64_t counts[GPH_TREE_REASON_COUNT])
{
    for (int i = 1; i < GPH_TREE_REASON_COUNT; i++)
        if (counts[i] != 0)
            gphi_text_add(to, "  %s, %s: %" PRIu64 "\n", what, words[i], counts[i]);
}

static void put_long(gphi_text *to, const gph_tree *tree)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    const gph_tree_stats *stats = &tree->stats;
    gphi_text_add(to,
                  "tree: %u recordings, %u roots; %" PRIu64 " calls: %" PRIu64
                  " replayed, %" PRIu64 " recorded, %" PRIu64 " warm-ups, %" PRIu64
                  " eager; %" PRIu64 " checkpoints restored\n",
                  stats->nodes, stats->roots, stats->calls, stats->replays,
                  stats->recordings, stats->warmups, stats->eager, stats->restores);
    put_counts(to, "recorded", stats->recorded_for);
    put_counts(to, "eager", stats->eager_for);
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const gphi_tree_node *node = nodes[i];
        gphi_text_add(to, "node %u: \"%s\"", node->id, node->function->name);
        if (node->parent)
            gphi_text_add(to, " below node %u", node->parent->id);
        else
            gphi_text_put(to, " at the root");
        gphi_text_add(to, ", recorded: %s, hits: %" PRIu64 "\n", words[node->reason],
                      node->hits);
        put_inputs(to, tree, node);
        put_dead(to, node);
        put_outputs(to, node);
    }
    gph_tree_function *const *functions = tree->functions.items;
    for (size_t i = 0; i < tree->functions.count; i++)
        if (functions[i]->refused != GPH_TREE_NONE)
            gphi_text_add(to, "\"%s\" runs eagerly: %s\n", functions[i]->name,
                          functions[i]->why);
}

/* A name between quotation marks of DOT. */
static void put_quoted(gphi_text *to, const char *text)
{
    for (; *text != '\0'; text++)
        gphi_text_add(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void put_dot(gphi_text *to, const gph_tree *tree)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    gphi_text_put(to, "digraph tree {\n  node [shape=box];\n");
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const gphi_tree_node *node = nodes[i];
        gphi_text_add(to, "  n%u [label=\"", node->id);
        put_quoted(to, node->function->name);
        gphi_text_add(to, "\\nnode %u, %" PRIu64 " hits\"];\n", node->id, node->hits);
        if (node->parent)
            gphi_text_add(to, "  n%u -> n%u [label=\"%s\"];\n", node->parent->id,
                          node->id, words[node->reason]);
    }
    gphi_text_put(to, "}\n");
}

gph_status gph_tree_write(const gph_tree *tree, gph_tree_form form, gph_write_fn *write,
                          void *user, gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree, write));
    char buffer[1024];
    gphi_text to;
    gphi_text_stream(&to, buffer, sizeof(buffer), write, user);
    switch (form) {
    case GPH_TREE_SHORT: put_short(&to, tree); break;
    case GPH_TREE_LONG: put_long(&to, tree); break;
    case GPH_TREE_DOT: put_dot(&to, tree); break;
    default:
        return gphi_fail(error, GPH_E_INVALID, "form %d is not a gph_tree_form",
                         (int)form);
    }
    return gphi_text_end(&to, error);
}
