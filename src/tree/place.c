// SPDX-License-Identifier: Apache-2.0
/* Places: the recordings of a function below a node. The key of a call, the node that
 * fits, why none does, and how often one may be added.
 *
 * A key is a row of words:
 *
 *   function and words of the key │ key ... │ tag, address, shape ..., strides ... │ ...
 *                                             └── of each input ──────────────────┘
 *
 * A tag is dtype, rank and how the input is taken; a copied input has no address. Which
 * outputs are dead is not in the key, since fewer live ones fit as well: nodes of one
 * hash are a chain, and each has a mask. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "tree/tree.h"
#include <string.h>

/* ---- keys ---- */

static uint64_t tag_of(const gph_tensor *tensor, uint8_t kind)
{
    return (uint64_t)kind << 56 | (uint64_t)tensor->rank << 32 | tensor->dtype;
}
static uint8_t tag_kind(uint64_t tag)
{
    return (uint8_t)(tag >> 56);
}
static uint32_t tag_rank(uint64_t tag)
{
    return (uint32_t)(tag >> 32) & 0xff;
}
static const uint64_t TAG_TYPE = UINT64_C(0x00ffffffffffffff);

static uint64_t first_word(const gph_tree_function *function)
{
    return (uint64_t)function->number << 32 | function->key_count;
}

void gphi_tree_key_build(gphi_tree_turn *turn)
{
    const gph_tree *tree = turn->tree;
    const gph_tree_function *function = turn->function;
    uint64_t *word = tree->key;
    *word++ = first_word(function);
    for (uint32_t i = 0; i < function->key_count; i++)
        *word++ = (uint64_t)turn->key[i];
    for (uint32_t i = 0; i < function->input_count; i++) {
        const gph_tensor *tensor = tree->inputs[i];
        *word++ = tag_of(tensor, tree->kinds[i]);
        if (tree->kinds[i] != GPHI_TREE_COPIED)
            *word++ = tensor->data;
        for (uint32_t axis = 0; axis < tensor->rank; axis++)
            *word++ = (uint64_t)tensor->shape[axis];
        for (uint32_t axis = 0; axis < tensor->rank; axis++)
            *word++ = (uint64_t)tensor->stride[axis];
    }
    turn->key_words = (uint32_t)(word - tree->key);
}

/* Two words a multiplication, half of what gphi_hash_word() takes: every call that hits
 * hashes its whole key (as in wyhash, Wang Yi 2019). */
static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const uint64_t *words, uint32_t count, uint64_t seed)
{
    uint64_t hash = fold(seed ^ GPHI_HASH_START, count + 1);
    uint32_t i = 0;
    for (; i + 1 < count; i += 2)
        hash = fold(words[i] ^ hash ^ UINT64_C(0xe7037ed1a0b428db),
                    words[i + 1] ^ UINT64_C(0x8ebc6af09c88c6e3));
    return i < count ? gphi_hash_word(hash, words[i]) : hash;
}

uint64_t gphi_tree_signature(const gphi_tree_turn *turn)
{
    const gph_tree_function *function = turn->function;
    uint64_t hash = gphi_hash_word(UINT64_C(0x589965cc75374cc3), first_word(function));
    for (uint32_t i = 0; i < function->key_count; i++)
        hash = gphi_hash_word(hash, (uint64_t)turn->key[i]);
    for (uint32_t i = 0; i < function->input_count; i++) {
        const gph_tensor *tensor = turn->tree->inputs[i];
        hash = gphi_hash_word(hash, tag_of(tensor, 0));
        for (uint32_t axis = 0; axis < tensor->rank; axis++)
            hash = gphi_hash_word(gphi_hash_word(hash, (uint64_t)tensor->shape[axis]),
                                  (uint64_t)tensor->stride[axis]);
    }
    return hash;
}

bool gphi_tree_key_is_sound(const gph_tree_function *function, const uint64_t *key,
                            uint32_t words, const uint8_t *kinds)
{
    size_t at = 1 + (size_t)function->key_count;
    if (at > words || key[0] != first_word(function))
        return false;
    for (uint32_t i = 0; i < function->input_count; i++) {
        if (at >= words)
            return false;
        const uint64_t tag = key[at++];
        if (tag_kind(tag) != kinds[i] || kinds[i] > GPHI_TREE_MANAGED ||
            tag_rank(tag) > GPH_TENSOR_RANK_MAX)
            return false;
        at += (kinds[i] != GPHI_TREE_COPIED ? 1 : 0) + 2 * (size_t)tag_rank(tag);
    }
    return at == words;
}

/* ---- nodes by key ---- */

static bool has_key(const gphi_tree_node *node, const gphi_tree_turn *turn)
{
    return node->key_words == turn->key_words &&
           memcmp(node->key, turn->tree->key, node->key_words * sizeof(uint64_t)) == 0;
}

/* Everything is dead that was when it was recorded: its replay writes there. */
static bool is_dead_enough(const gphi_tree_node *node, const gph_tree *tree)
{
    const uint64_t *live = tree->live.items;
    for (uint32_t i = 0; i < node->dead_words; i++)
        if ((live[i] & node->dead[i]) != 0)
            return false;
    return true;
}

uint64_t gphi_tree_key_hash(const uint64_t *key, uint32_t words,
                            const gphi_tree_node *parent)
{
    return hash_of(key, words, parent ? parent->id : UINT64_C(0));
}

gphi_tree_node *gphi_tree_find(gphi_tree_turn *turn)
{
    const gph_tree *tree = turn->tree;
    gphi_tree_node *parent = tree->node;
    gphi_tree_node *hint = parent ? parent->hint : tree->root_hint;
    if (hint && has_key(hint, turn) && is_dead_enough(hint, tree)) {
        turn->hash = hint->hash;
        return hint;
    }
    turn->hash = gphi_tree_key_hash(tree->key, turn->key_words, parent);
    const uint64_t *first = gphi_map_get(&tree->by_hash, turn->hash);
    gphi_tree_node *node = first ? (gphi_tree_node *)(uintptr_t)*first : NULL;
    while (node &&
           !(node->parent == parent && has_key(node, turn) && is_dead_enough(node, tree)))
        node = node->twin;
    return node;
}

/* ---- places ---- */

static uint64_t place_key(const gphi_tree_node *parent, const gph_tree_function *function)
{
    return (uint64_t)(parent ? parent->id : 0) << 32 | function->number;
}

gphi_tree_place *gphi_tree_place_find(const gph_tree *tree, const gphi_tree_node *parent,
                                      const gph_tree_function *function)
{
    const uint64_t *found = gphi_map_get(&tree->by_place, place_key(parent, function));
    return found ? (gphi_tree_place *)(uintptr_t)*found : NULL;
}

gph_status gphi_tree_place_add(gph_tree *tree, gphi_tree_node *parent,
                               gph_tree_function *function, gphi_tree_place **out,
                               gph_error *error)
{
    gphi_tree_place *place = gphi_heap_alloc(tree->heap, sizeof(*place));
    if (!place || gphi_map_set(&tree->by_place, place_key(parent, function),
                               (uint64_t)(uintptr_t)place) != GPH_OK) {
        gphi_heap_free(tree->heap, place, sizeof(*place));
        return gphi_fail(error, GPH_E_NO_MEMORY, "a place for \"%s\"", function->name);
    }
    place->parent = parent;
    place->function = function;
    gphi_tree_place **link = parent ? &parent->places : &tree->places;
    while (*link)
        link = &(*link)->next;
    *link = place;
    *out = place;
    return GPH_OK;
}

/* ---- why no node fits ---- */

/* Nearer is greater. */
enum nearness { OTHER_SIGNATURE, OTHER_MANAGED, OTHER_STATIC, OTHER_LIVENESS };

/* An input that lies elsewhere, or is taken in another way. */
typedef void moved_fn(gphi_tree_turn *turn, uint32_t input, CUdeviceptr was);

static enum nearness compare(gphi_tree_turn *turn, const gphi_tree_node *node,
                             moved_fn *moved)
{
    const gph_tree *tree = turn->tree;
    const gph_tree_function *function = turn->function;
    const uint64_t *a = node->key, *b = tree->key;
    const size_t head = 1 + (size_t)function->key_count;
    enum nearness near = OTHER_LIVENESS;
    if (memcmp(a, b, head * sizeof(*a)) != 0)
        return OTHER_SIGNATURE;
    a += head;
    b += head;
    for (uint32_t i = 0; i < function->input_count; i++) {
        const uint64_t was_tag = *a++, tag = *b++;
        const size_t extent = 2 * (size_t)tag_rank(tag);
        const CUdeviceptr was = tag_kind(was_tag) != GPHI_TREE_COPIED ? *a++ : 0;
        const CUdeviceptr is = tag_kind(tag) != GPHI_TREE_COPIED ? *b++ : 0;
        if ((was_tag & TAG_TYPE) != (tag & TAG_TYPE) ||
            memcmp(a, b, extent * sizeof(*a)) != 0)
            return OTHER_SIGNATURE;
        a += extent;
        b += extent;
        if (was_tag == tag && was == is)
            continue;
        const bool is_static = was_tag == tag && tag_kind(tag) == GPHI_TREE_STATIC;
        const enum nearness here = is_static ? OTHER_STATIC : OTHER_MANAGED;
        near = here < near ? here : near;
        if (moved)
            moved(turn, i, was);
    }
    return near;
}

/* Counts it, and copies the input from now on if it moves too often. */
static void count_move(gphi_tree_turn *turn, uint32_t input, CUdeviceptr was)
{
    gph_tree *tree = turn->tree;
    gph_tree_function *function = turn->function;
    struct gphi_tree_port *port = &function->ports[input];
    if (turn->input < 0) {
        turn->input = (int32_t)input;
        turn->was = was;
        turn->is = tree->inputs[input]->data;
    }
    if (port->copied)
        return;
    if (function->calls - port->moved_at > tree->options.settle)
        port->moves = 0;
    port->moved_at = function->calls;
    if (++port->moves <= tree->options.moves_max ||
        (function->flags[input] & GPH_TREE_INPUT_MUTATED) != 0 ||
        tree->kinds[input] == GPHI_TREE_COPIED)
        return;
    if (port->settle == 0)
        port->settle = tree->options.settle;
    port->copied = true;
    port->last = tree->inputs[input]->data;
    port->same = 0;
    function->copied_count++;
    tree->stats.demotions++;
    tree->kinds[input] = GPHI_TREE_COPIED;
    turn->is_demoted = true;
}

gph_tree_reason gphi_tree_reason_find(gphi_tree_turn *turn, const gphi_tree_place *place)
{
    static const gph_tree_reason reasons[] = {GPH_TREE_SIGNATURE, GPH_TREE_MANAGED,
                                              GPH_TREE_STATIC, GPH_TREE_LIVENESS};
    const gphi_tree_node *nearest = NULL;
    enum nearness best = OTHER_SIGNATURE;
    if (!place || !place->nodes)
        return GPH_TREE_FIRST;
    for (const gphi_tree_node *node = place->nodes; node; node = node->sibling) {
        const enum nearness near = compare(turn, node, NULL);
        if (!nearest || near >= best) {
            nearest = node;
            best = near;
        }
    }
    turn->nearest = nearest;
    if (best == OTHER_MANAGED || best == OTHER_STATIC)
        compare(turn, nearest, count_move);
    return reasons[best];
}

static uint64_t most_for(const gph_tree *tree, gph_tree_reason reason)
{
    const uint64_t most = tree->options.rerecords_max;
    return reason == GPH_TREE_FIRST       ? UINT64_MAX
           : reason == GPH_TREE_SIGNATURE ? most * 8
                                          : most;
}

bool gphi_tree_may_record(const gph_tree *tree, gphi_tree_place *place,
                          gph_tree_reason reason)
{
    if (place->count[reason] < most_for(tree, reason))
        return true;
    if (place->backoff == 0)
        place->backoff = place->eager_left = tree->options.backoff;
    if (place->eager_left == 0)
        return true; /* until one is made */
    place->eager_left--;
    return false;
}

void gphi_tree_count_recording(const gph_tree *tree, gphi_tree_place *place,
                               gph_tree_reason reason)
{
    if (place->count[reason]++ < most_for(tree, reason))
        return;
    place->backoff *= 2;
    place->eager_left = place->backoff;
}

/* ---- nodes ---- */

static void *carve(char **at, size_t count, size_t bytes)
{
    void *here = *at;
    *at += (count * bytes + 15) / 16 * 16;
    return here;
}

gph_status gphi_tree_node_create(const gphi_tree_turn *turn, gphi_tree_node **out,
                                 gph_error *error)
{
    gph_tree *tree = turn->tree;
    const gph_tree_function *function = turn->function;
    const size_t outputs = function->output_count, inputs = function->input_count;
    const size_t dead = (tree->block_count + 63) / 64;
    const size_t bytes =
        sizeof(gphi_tree_node) + 15 + turn->key_words * sizeof(uint64_t) + 15 +
        dead * sizeof(uint64_t) + 15 +
        outputs * (sizeof(gph_tensor) + sizeof(struct gphi_tree_range) + 4) + 45 +
        inputs + 15;
    gphi_tree_node *node = gphi_heap_alloc(tree->heap, bytes);
    GPHI_TRY(gphi_made(error, node, "recording \"%s\"", function->name));
    char *at = (char *)node;
    carve(&at, 1, sizeof(*node));
    uint64_t *key = carve(&at, turn->key_words, sizeof(*key));
    uint64_t *mask = carve(&at, dead, sizeof(*mask));
    node->outputs = carve(&at, outputs, sizeof(gph_tensor));
    node->ranges = carve(&at, outputs, sizeof(*node->ranges));
    node->blocks = carve(&at, outputs, sizeof(uint32_t));
    uint8_t *kinds = carve(&at, inputs, 1);

    memcpy(key, tree->key, turn->key_words * sizeof(*key));
    if (inputs != 0)
        memcpy(kinds, tree->kinds, inputs);
    const uint64_t *live = tree->live.items;
    for (uint32_t i = 0; i < dead; i++) {
        const uint32_t rest = tree->block_count - 64 * i;
        const uint64_t all = rest >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << rest) - 1;
        mask[i] = ~live[i] & all;
    }
    node->key = key;
    node->key_words = turn->key_words;
    node->dead = mask;
    node->dead_words = (uint32_t)dead;
    node->kinds = kinds;
    node->hash = turn->hash;
    node->function = turn->function;
    node->parent = tree->node;
    node->depth = tree->depth + 1;
    node->slot_first = tree->slot_count;
    node->block_first = tree->block_count;
    node->bytes = bytes;
    *out = node;
    return GPH_OK;
}

gph_status gphi_tree_node_reserve(gph_tree *tree, uint64_t hash, gph_error *error)
{
    if (gphi_vec_reserve(&tree->nodes, 1) != GPH_OK ||
        (!gphi_map_get(&tree->by_hash, hash) &&
         gphi_map_set(&tree->by_hash, hash, 0) != GPH_OK))
        return gphi_fail(error, GPH_E_NO_MEMORY, "recording number %zu",
                         tree->nodes.count + 1);
    return GPH_OK;
}

void gphi_tree_node_link(gph_tree *tree, gphi_tree_place *place, gphi_tree_node *node)
{
    uint64_t *first = gphi_map_get(&tree->by_hash, node->hash); /* reserved */
    node->twin = (gphi_tree_node *)(uintptr_t)*first;
    *first = (uint64_t)(uintptr_t)node;
    *(gphi_tree_node **)gphi_vec_add(&tree->nodes, 1) = node;
    node->id = (uint32_t)tree->nodes.count;
    node->place = place;
    if (place->last)
        place->last->sibling = node;
    else
        place->nodes = node;
    place->last = node;
    if (!node->parent)
        tree->stats.roots++;
    tree->stats.nodes++;
}
