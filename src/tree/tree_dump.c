// SPDX-License-Identifier: Apache-2.0
/* What a tree looks like, and what its last call was, in words. */
#include "base/fail.h"
#include "tree/tree.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
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

static void say(char *text, size_t capacity, const char *format, ...) GPH_PRINTF(3, 4);

/* Appends. */
static void say(char *text, size_t capacity, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, capacity - length, format, args);
    va_end(args);
}

/* The output that is held, and was dead when the nearest node was recorded. */
static void say_alive(const gphi_tree_turn *turn, char *text, size_t capacity)
{
    const gph_tree *tree = turn->tree;
    const struct gphi_tree_slot *slots = tree->path.slots.items;
    for (uint32_t i = 0; turn->nearest != NULL && i < tree->slot_count; i++) {
        const uint32_t block = slots[i].block;
        if (slots[i].holders == 0 || block == GPHI_TREE_NO_BLOCK ||
            block / 64 >= turn->nearest->dead_words ||
            (turn->nearest->dead[block / 64] >> block % 64 & 1) == 0)
            continue;
        say(text, capacity,
            ": an output of call %" PRIu64 " is held, which nobody held when node %u was "
            "recorded",
            slots[i].call, turn->nearest->id);
        return;
    }
    say(text, capacity, ": %s", meanings[GPH_TREE_LIVENESS]);
}

static void say_reason(const gphi_tree_turn *turn, gph_tree_reason reason, char *text,
                       size_t capacity)
{
    const bool is_input = turn->input >= 0;
    if (reason == GPH_TREE_LIVENESS)
        say_alive(turn, text, capacity);
    else if ((reason == GPH_TREE_STATIC || reason == GPH_TREE_MANAGED) && is_input)
        say(text, capacity, ": %s: input %d was 0x%llx, is 0x%llx", meanings[reason],
            (int)turn->input, turn->was, turn->is);
    else if (reason == GPH_TREE_MUTATION && is_input)
        say(text, capacity,
            ": it writes input %d, which is neither static nor of the path",
            (int)turn->input);
    else if (reason == GPH_TREE_CAPTURE || reason == GPH_TREE_MEMORY)
        say(text, capacity, ": %s: %s", meanings[reason], turn->function->why);
    else if (reason == GPH_TREE_DEPTH)
        say(text, capacity, ": %s: %u calls", meanings[reason], turn->tree->depth);
    else
        say(text, capacity, ": %s", meanings[reason]);
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
    gph_tree *tree = turn->tree;
    char *text = tree->text;
    text[0] = '\0';
    say(text, sizeof(tree->text), "\"%s\" %s", turn->function->name, verbs[action]);
    if (tree->node != NULL)
        say(text, sizeof(tree->text), " below node %u (\"%s\")", tree->node->id,
            tree->node->function->name);
    else if (!tree->is_warm)
        say(text, sizeof(tree->text), " at the root");
    say_reason(turn, reason, text, sizeof(tree->text));
    tree->event = (gph_tree_event){.call = tree->stats.calls,
                                   .action = action,
                                   .reason = reason,
                                   .function = turn->function->name,
                                   .input = turn->input,
                                   .was = turn->was,
                                   .is = turn->is,
                                   .text = text};
}

/* ---- the whole ---- */

/* Writes as far as there is room, counts on. */
typedef struct sink {
    char *text;
    size_t capacity, length;
} sink;

static void put(sink *to, const char *format, ...) GPH_PRINTF(2, 3);
static void put(sink *to, const char *format, ...)
{
    const size_t room = to->length < to->capacity ? to->capacity - to->length : 0;
    va_list args;
    va_start(args, format);
    const int count =
        vsnprintf(room != 0 ? to->text + to->length : NULL, room, format, args);
    va_end(args);
    if (count > 0)
        to->length += (size_t)count;
}

static gphi_tree_node *first_child(const gphi_tree_node *node)
{
    for (const gphi_tree_place *place = node->places; place != NULL; place = place->next)
        if (place->nodes != NULL)
            return place->nodes;
    return NULL;
}

/* The next recording below the same parent; NULL behind the last. */
static gphi_tree_node *next_child(const gphi_tree_node *node)
{
    if (node->sibling != NULL)
        return node->sibling;
    for (const gphi_tree_place *place = node->place->next; place != NULL;
         place = place->next)
        if (place->nodes != NULL)
            return place->nodes;
    return NULL;
}

static gphi_tree_node *first_root(const gph_tree *tree)
{
    for (const gphi_tree_place *place = tree->places; place != NULL; place = place->next)
        if (place->nodes != NULL)
            return place->nodes;
    return NULL;
}

static bool is_alone(const gphi_tree_node *node)
{
    const gphi_tree_node *first = node->parent != NULL ? first_child(node->parent) : NULL;
    return first == node && next_child(node) == NULL;
}

/* Depth first without recursion: paths may be long. A child alone stands behind its
 * parent, several stand in braces. */
static void put_short(sink *to, const gph_tree *tree)
{
    const gphi_tree_node *node = first_root(tree);
    while (node != NULL) {
        put(to, "%s", node->function->name);
        const gphi_tree_node *child = first_child(node);
        if (child != NULL) {
            put(to, is_alone(child) ? "-" : "-{");
            node = child;
            continue;
        }
        while (node != NULL && next_child(node) == NULL) {
            if (node->parent != NULL && !is_alone(node))
                put(to, "}");
            node = node->parent;
        }
        if (node != NULL) {
            put(to, ", ");
            node = next_child(node);
        }
    }
}

static void put_tensor(sink *to, const gph_tensor *tensor)
{
    static const char *const names[] = {
#define X(name, value, bytes, text) [value] = text,
        GPH_DTYPE_MAP(X)
#undef X
    };
    const size_t count = sizeof(names) / sizeof(names[0]);
    put(to, "%s[",
        tensor->dtype != 0 && tensor->dtype < count ? names[tensor->dtype] : "?");
    for (uint32_t i = 0; i < tensor->rank; i++)
        put(to, "%s%" PRId64, i != 0 ? "," : "", tensor->shape[i]);
    put(to, "]");
}

/* The inputs as the key has them. */
static void put_inputs(sink *to, const gphi_tree_node *node)
{
    static const char *const kinds[] = {"copied", "static", "managed"};
    const gph_tree_function *function = node->function;
    const uint64_t *word = node->key + 1;
    for (uint32_t i = 0; i < function->key_count; i++)
        put(to, "  key %u: %" PRId64 "\n", i, (int64_t)*word++);
    for (uint32_t i = 0; i < function->input_count; i++) {
        const uint64_t tag = *word++;
        const uint8_t kind = node->kinds[i];
        gph_tensor tensor = {.dtype = (uint32_t)tag,
                             .rank = (uint32_t)(tag >> 32) & 0xff};
        if (kind != GPHI_TREE_COPIED)
            tensor.data = *word++;
        memcpy(tensor.shape, word, tensor.rank * sizeof(*word));
        word += 2 * tensor.rank;
        put(to, "  input %u: %s ", i, kinds[kind]);
        put_tensor(to, &tensor);
        if (kind != GPHI_TREE_COPIED)
            put(to, " at 0x%llx", tensor.data);
        put(to, "\n");
    }
}

static void put_outputs(sink *to, const gphi_tree_node *node)
{
    for (uint32_t i = 0; i < node->function->output_count; i++) {
        put(to, "  output %u: ", i);
        put_tensor(to, &node->outputs[i]);
        put(to, " at 0x%llx", node->outputs[i].data);
        const uint32_t block = node->blocks[i];
        if (block == GPHI_TREE_NO_BLOCK)
            put(to, ", not of the path");
        else if (block < node->block_first)
            put(to, ", in block %u of an earlier call", block);
        else
            put(to, ", block %u", block);
        put(to, "\n");
    }
}

static void put_dead(sink *to, const gphi_tree_node *node)
{
    const char *comma = "  dead before:";
    for (uint32_t i = 0; i < node->block_first; i++)
        if ((node->dead[i / 64] >> i % 64 & 1) != 0) {
            put(to, "%s %u", comma, i);
            comma = ",";
        }
    if (comma[0] == ',')
        put(to, "\n");
}

static void put_counts(sink *to, const char *what,
                       const uint64_t counts[GPH_TREE_REASON_COUNT])
{
    for (int i = 1; i < GPH_TREE_REASON_COUNT; i++)
        if (counts[i] != 0)
            put(to, "  %s, %s: %" PRIu64 "\n", what, words[i], counts[i]);
}

static void put_long(sink *to, const gph_tree *tree)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    const gph_tree_stats *stats = &tree->stats;
    put(to,
        "tree: %u recordings, %u roots; %" PRIu64 " calls: %" PRIu64 " replayed, %" PRIu64
        " recorded, %" PRIu64 " warm-ups, %" PRIu64 " eager; %" PRIu64
        " checkpoints restored\n",
        stats->nodes, stats->roots, stats->calls, stats->replays, stats->recordings,
        stats->warmups, stats->eager, stats->restores);
    put_counts(to, "recorded", stats->recorded_for);
    put_counts(to, "eager", stats->eager_for);
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const gphi_tree_node *node = nodes[i];
        put(to, "node %u: \"%s\"", node->id, node->function->name);
        if (node->parent != NULL)
            put(to, " below node %u", node->parent->id);
        else
            put(to, " at the root");
        put(to, ", recorded: %s, hits: %" PRIu64 "\n", words[node->reason], node->hits);
        put_inputs(to, node);
        put_dead(to, node);
        put_outputs(to, node);
    }
    gph_tree_function *const *functions = tree->functions.items;
    for (size_t i = 0; i < tree->functions.count; i++)
        if (functions[i]->refused != GPH_TREE_NONE)
            put(to, "\"%s\" runs eagerly: %s\n", functions[i]->name, functions[i]->why);
}

/* A name between quotation marks of DOT. */
static void put_quoted(sink *to, const char *text)
{
    for (; *text != '\0'; text++)
        put(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void put_dot(sink *to, const gph_tree *tree)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    put(to, "digraph tree {\n  node [shape=box];\n");
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const gphi_tree_node *node = nodes[i];
        put(to, "  n%u [label=\"", node->id);
        put_quoted(to, node->function->name);
        put(to, "\\nnode %u, %" PRIu64 " hits\"];\n", node->id, node->hits);
        if (node->parent != NULL)
            put(to, "  n%u -> n%u [label=\"%s\"];\n", node->parent->id, node->id,
                words[node->reason]);
    }
    put(to, "}\n");
}

gph_status gph_tree_dump(const gph_tree *tree, gph_tree_form form, char *text,
                         size_t capacity, size_t *length, gph_error *error)
{
    if (tree == NULL || (text == NULL && capacity != 0))
        return gphi_fail(error, GPH_E_INVALID, "tree is NULL, or text is for %zu bytes",
                         capacity);
    sink to = {.text = text, .capacity = capacity};
    if (capacity != 0)
        text[0] = '\0';
    switch (form) {
    case GPH_TREE_SHORT: put_short(&to, tree); break;
    case GPH_TREE_LONG: put_long(&to, tree); break;
    case GPH_TREE_DOT: put_dot(&to, tree); break;
    default:
        return gphi_fail(error, GPH_E_INVALID, "form %d is no gph_tree_form", (int)form);
    }
    if (length != NULL)
        *length = to.length;
    return GPH_OK;
}
