// SPDX-License-Identifier: Apache-2.0
/* A call: where it is, whether a recording fits, and what is done if none does.
 *
 *   begins a step? ──► eager by nature (declared, writes a foreign input, path too long,
 *        │             could not be captured)? ──► beside the tree, the path stays
 *        ▼
 *   the path is warm? ──► warm-up: addresses of a warm path are not those of a recording
 *        ▼
 *   a node fits? ──► replay
 *        ▼
 *   too often recorded here? ──► beside the tree
 *        ▼
 *   not warmed up for this signature? ──► warm-up
 *        ▼
 *   record, then replay; if that cannot be, beside the tree
 *
 * Warm-ups and recordings need the pool's books: a checkpoint brings them back after
 * replays. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "callable/record.h"
#include "cuda/abi.h"
#include "event/note.h"
#include "tree/tree.h"
#include <string.h>

/* ---- inputs ---- */

static gph_status read_output(gphi_tree_turn *turn, uint32_t i, gph_error *error)
{
    gph_tree *tree = turn->tree;
    const gph_tree_output *output = &turn->inputs[i].output;
    const struct gphi_tree_slot *slot = gphi_tree_slot_of(tree, output);
    if (!slot)
        return gphi_tree_output_check(tree, output, error);
    tree->inputs[i] = gphi_tree_slot_tensor(tree, output->slot);
    turn->reads_path = true;
    const bool is_static = (turn->function->flags[i] & GPH_TREE_INPUT_STATIC) != 0;
    const bool is_eager = (output->slot & GPHI_TREE_EAGER_BIT) != 0;
    if (slot->block != GPHI_TREE_NO_BLOCK && (slot->block & GPHI_TREE_EAGER_BIT) == 0)
        tree->kinds[i] = GPHI_TREE_MANAGED;
    else /* a recorded call gives memory that is nobody's by a fixed address */
        tree->kinds[i] = is_static || !is_eager ? GPHI_TREE_STATIC : GPHI_TREE_COPIED;
    return GPH_OK;
}

static gph_status read_inputs(gphi_tree_turn *turn, gph_error *error)
{
    gph_tree *tree = turn->tree;
    const gph_tree_function *function = turn->function;
    for (uint32_t i = 0; i < function->input_count; i++) {
        const gph_tree_input *input = &turn->inputs[i];
        if (input->output.call != 0) {
            GPHI_TRY(read_output(turn, i, error));
            continue;
        }
        if (input->tensor.rank > GPH_TENSOR_RANK_MAX)
            return gphi_fail(error, GPH_E_INVALID,
                             "input %u of \"%s\" has rank %u, the most is %d", i,
                             function->name, input->tensor.rank, GPH_TENSOR_RANK_MAX);
        tree->inputs[i] = &input->tensor;
        tree->kinds[i] = (function->flags[i] & GPH_TREE_INPUT_STATIC) != 0
                             ? GPHI_TREE_STATIC
                             : GPHI_TREE_COPIED;
    }
    return GPH_OK;
}

/* The caller's tensors, before the function gets them. Not on the way of a replay: what
 * was recorded was checked, and nothing else fits it. */
static gph_status check_inputs(const gphi_tree_turn *turn, const char *phase,
                               gph_error *error)
{
    for (uint32_t i = 0; i < turn->function->input_count; i++) {
        if (turn->inputs[i].output.call != 0)
            continue;
        const gph_status status =
            gphi_tensor_check(&turn->inputs[i].tensor, "input", i, error);
        if (status != GPH_OK) {
            gphi_function_blame(turn->function->name, phase, error);
            return status;
        }
    }
    return GPH_OK;
}

/* Inputs that moved too often are copied until they have settled. */
static void read_ports(gphi_tree_turn *turn)
{
    gph_tree *tree = turn->tree;
    gph_tree_function *function = turn->function;
    for (uint32_t i = 0; i < function->input_count; i++) {
        struct gphi_tree_port *port = &function->ports[i];
        if (!port->copied)
            continue;
        const CUdeviceptr is = tree->inputs[i]->data;
        port->same = is == port->last ? port->same + 1 : 0;
        port->last = is;
        if (port->same < port->settle) {
            tree->kinds[i] = GPHI_TREE_COPIED;
            continue;
        }
        port->copied = false;
        port->moves = 0;
        port->settle *= 2;
        function->copied_count--;
        tree->stats.promotions++;
    }
}

/* Puts the inputs in a row, before tables grow that some of them lie in. */
static void line_up_inputs(const gphi_tree_turn *turn)
{
    gph_tree *tree = turn->tree;
    for (uint32_t i = 0; i < turn->function->input_count; i++) {
        if (tree->inputs[i] == &tree->tensors[i])
            continue;
        tree->tensors[i] = *tree->inputs[i];
        tree->inputs[i] = &tree->tensors[i];
    }
}

static void read_work(const gphi_tree_turn *turn, gphi_tree_work *work)
{
    gph_tree *tree = turn->tree;
    const gph_tree_function *function = turn->function;
    if (function->output_count != 0)
        memset(tree->results, 0, function->output_count * sizeof(*tree->results));
    *work = (gphi_tree_work){.fn = function->fn,
                             .user = function->user,
                             .name = function->name,
                             .inputs = tree->tensors,
                             .kinds = tree->kinds,
                             .key = turn->key,
                             .input_count = function->input_count,
                             .output_count = function->output_count,
                             .key_count = function->key_count};
}

/* ---- after the work ---- */

static void begin_path(gphi_tree_turn *turn)
{
    gph_tree *tree = turn->tree;
    tree->root = turn->function;
    tree->starts[tree->start_count++ & (GPHI_TREE_STARTS - 1)] =
        (struct gphi_tree_start){tree->stats.calls + 1, turn->function};
    tree->stats.paths++;
    if (!tree->is_explicit)
        tree->stats.steps++;
}

/* The call has worked: it gets its number. */
static void count_call(gphi_tree_turn *turn)
{
    gph_tree *tree = turn->tree;
    if (!tree->root)
        begin_path(turn);
    tree->stats.calls++;
    if (turn->function->kind == GPH_TREE_FORWARD)
        tree->due++;
    else if (turn->function->kind == GPH_TREE_BACKWARD && tree->due != 0)
        tree->due--;
}

static void hand_out(const gphi_tree_turn *turn, uint32_t number, uint32_t slot)
{
    turn->outputs[number] = (gph_tree_output){.call = turn->tree->stats.calls,
                                              .number = number,
                                              .function = turn->function->number,
                                              .slot = slot,
                                              .tree = turn->tree->cookie};
}

static void take_inputs(const gphi_tree_turn *turn)
{
    for (uint32_t i = 0; i < turn->function->input_count; i++)
        if (turn->inputs[i].take != 0 && turn->inputs[i].output.call != 0)
            gphi_tree_release(turn->tree, &turn->inputs[i].output);
}

/* Outputs of a call that goes into the path. */
static void extend_path(gphi_tree_turn *turn, const gph_tensor *outputs, bool is_lasting,
                        const uint32_t *blocks)
{
    gph_tree *tree = turn->tree;
    const uint32_t count = turn->function->output_count;
    for (uint32_t i = 0; i < count; i++)
        hand_out(turn, i, tree->slot_count + i);
    gphi_tree_slots_add(tree, outputs, is_lasting, blocks, count);
    tree->depth++;
    take_inputs(turn);
}

static void enter_node(gphi_tree_turn *turn, gphi_tree_node *node)
{
    gph_tree *tree = turn->tree;
    count_call(turn);
    gphi_tree_blocks_add(tree, node->ranges, node->block_count);
    if (tree->node)
        tree->node->hint = node;
    else
        tree->root_hint = node;
    tree->node = node;
    extend_path(turn, node->outputs, true, node->blocks);
}

/* ---- beside the tree ---- */

static bool is_fault(gph_tree_reason reason)
{
    return reason != GPH_TREE_FIRST && reason != GPH_TREE_SIGNATURE &&
           reason != GPH_TREE_WARM_PATH && reason != GPH_TREE_DECLARED;
}

/* What strict trees refuse. */
static gph_status refuse(gphi_tree_turn *turn, gph_tree_action action,
                         gph_tree_reason reason, gph_error *error)
{
    gph_tree *tree = turn->tree;
    if ((tree->options.flags & GPH_TREE_STRICT) == 0 || !is_fault(reason))
        return GPH_OK;
    gphi_tree_explain_refused(turn, action, reason);
    return gphi_fail(error, GPH_E_STATE, "%s", tree->text);
}

/* Reports it to the attached library, if one is loaded. */
static void note(const gphi_tree_turn *turn, gphi_note_kind kind,
                 const gphi_tree_node *node)
{
    const uint64_t words[] = {
        (uint64_t)(uintptr_t)turn->tree,
        (uint64_t)(uintptr_t)turn->function,
        node->id,
        (uint64_t)node->reason,
        node->parent ? (uint64_t)node->parent->id + 1 : 0,
        node->reason == GPH_TREE_STATIC && turn->input >= 0 ? turn->is : 0};
    gphi_note(kind, turn->function->name, words, 6);
}

static gph_status run_eagerly(gphi_tree_turn *turn, gph_tree_reason reason,
                              gph_error *error)
{
    gph_tree *tree = turn->tree;
    const uint32_t count = turn->function->output_count;
    GPHI_TRY(refuse(turn, GPH_TREE_EAGER, reason, error));
    GPHI_TRY(check_inputs(turn, "eager call", error));
    line_up_inputs(turn);
    GPHI_TRY(gphi_tree_path_reserve(tree, count, error));
    gphi_tree_work work;
    read_work(turn, &work);
    GPHI_TRY(
        tree->ops->run(tree->backend, GPHI_TREE_BESIDE, &work, tree->results, error));

    count_call(turn);
    gphi_tree_blocks_number(tree, GPHI_TREE_BESIDE, tree->results, count,
                            tree->result_blocks, tree->result_ranges);
    for (uint32_t i = 0; i < count; i++)
        hand_out(
            turn, i,
            gphi_tree_slot_add_eager(tree, &tree->results[i], tree->result_blocks[i]));
    take_inputs(turn);
    tree->stats.eager++;
    tree->stats.eager_for[reason]++;
    gphi_tree_explain(turn, GPH_TREE_EAGER, reason);
    return GPH_OK;
}

/* The pool refuses a replay that would write over what somebody keeps there. */
static gph_status replay(gphi_tree_turn *turn, gphi_tree_node *node, gph_error *error)
{
    gph_tree *tree = turn->tree;
    const gph_status status =
        tree->ops->replay(tree->backend, node->recording, tree->inputs, error);
    if (status != GPH_OK)
        return status == GPH_E_STATE ? run_eagerly(turn, GPH_TREE_OVERLAP, error)
                                     : status;
    gphi_tree_go_stale(tree);
    enter_node(turn, node);
    node->hits++;
    tree->stats.replays++;
    tree->event.call = tree->stats.calls;
    tree->event.action = GPH_TREE_REPLAYED;
    tree->event.reason = GPH_TREE_NONE;
    tree->event.function = turn->function->name;
    tree->event.node = node->id;
    if (gphi_note_is_on())
        note(turn, GPHI_NOTE_TREE_REPLAY, node);
    return GPH_OK;
}

/* Whether the call never gets a recording, and why. */
static gph_tree_reason eager_reason(gphi_tree_turn *turn)
{
    const gph_tree *tree = turn->tree;
    gph_tree_function *function = turn->function;
    if (function->is_eager)
        return GPH_TREE_DECLARED;
    if (function->mutates)
        for (uint32_t i = 0; i < function->input_count; i++)
            if ((function->flags[i] & GPH_TREE_INPUT_MUTATED) != 0 &&
                tree->kinds[i] == GPHI_TREE_COPIED) {
                turn->input = (int32_t)i;
                return GPH_TREE_MUTATION;
            }
    if (tree->depth >= tree->options.depth_max)
        return GPH_TREE_DEPTH;
    if (function->refused != GPH_TREE_NONE && function->eager_left != 0) {
        function->eager_left--;
        return function->refused;
    }
    return GPH_TREE_NONE;
}

/* ---- warm-ups ---- */

static gph_status warm_up(gphi_tree_turn *turn, gph_tree_reason reason, gph_error *error)
{
    gph_tree *tree = turn->tree;
    const uint32_t count = turn->function->output_count;
    const uint64_t signature = gphi_tree_signature(turn);
    GPHI_TRY(check_inputs(turn, "warm-up", error));
    line_up_inputs(turn);
    GPHI_TRY(gphi_tree_path_reserve(tree, count, error));
    GPHI_TRY(gphi_made(error,
                       gphi_map_get(&tree->warmed, signature) ||
                           gphi_map_set(&tree->warmed, signature, 0) == GPH_OK,
                       "warming up \"%s\"", turn->function->name));
    GPHI_TRY(gphi_tree_freshen(tree, error));
    gphi_tree_work work;
    read_work(turn, &work);
    GPHI_TRY(tree->ops->run(tree->backend, GPHI_TREE_POOL, &work, tree->results, error));

    count_call(turn);
    ++*gphi_map_get(&tree->warmed, signature);
    const uint32_t fresh =
        gphi_tree_blocks_number(tree, GPHI_TREE_POOL, tree->results, count,
                                tree->result_blocks, tree->result_ranges);
    gphi_tree_blocks_add(tree, tree->result_ranges, fresh);
    gphi_tree_explain(turn, GPH_TREE_WARMED, reason);
    tree->is_warm = true;
    tree->node = NULL;
    extend_path(turn, tree->results, false, tree->result_blocks);
    tree->stats.warmups++;
    return GPH_OK;
}

static bool is_warmed(const gphi_tree_turn *turn)
{
    const uint64_t *times = gphi_map_get(&turn->tree->warmed, gphi_tree_signature(turn));
    return times && *times >= turn->tree->options.warmups;
}

/* ---- recordings ---- */

/* Takes back a node whose recording is made but not linked. */
static void undo_recording(gph_tree *tree, gphi_tree_node *node)
{
    for (uint32_t i = 0; i < node->block_count; i++)
        tree->ops->free(tree->backend, GPHI_TREE_POOL, node->ranges[i].base);
    if (node->checkpoint)
        tree->ops->drop(tree->backend, node->checkpoint);
    tree->ops->forget(tree->backend, node->recording);
}

static gph_status record_node(gphi_tree_turn *turn, gphi_tree_node *node,
                              bool *is_captured, gph_error *error)
{
    gph_tree *tree = turn->tree;
    const uint32_t count = turn->function->output_count;
    gphi_tree_work work;
    read_work(turn, &work);
    GPHI_TRY(
        tree->ops->record(tree->backend, &work, node->outputs, &node->recording, error));
    *is_captured = true;
    node->block_count = gphi_tree_blocks_number(tree, GPHI_TREE_POOL, node->outputs,
                                                count, node->blocks, node->ranges);
    gph_status status = tree->ops->checkpoint(tree->backend, &node->checkpoint, error);
    GPHI_THEN(status,
              tree->ops->replay(tree->backend, node->recording, tree->inputs, error));
    if (status != GPH_OK)
        undo_recording(tree, node);
    return status;
}

static bool is_memory(gph_status status)
{
    return status == (gph_status)CUDA_ERROR_OUT_OF_MEMORY;
}

/* After a capture that failed: runs it beside the tree, and tries to record it again only
 * after a while. */
static gph_status give_up(gphi_tree_turn *turn, const gph_error *cause, gph_error *error)
{
    gph_tree_function *function = turn->function;
    const gph_tree_reason reason =
        is_memory(cause->code) ? GPH_TREE_MEMORY : GPH_TREE_CAPTURE;
    function->refused = reason;
    function->backoff =
        function->backoff == 0 ? turn->tree->options.backoff : function->backoff * 2;
    function->eager_left = function->backoff;
    memcpy(function->why, cause->message, sizeof(function->why) - 1);
    gphi_log("tree", GPH_LOG_INFO, "\"%s\" runs eagerly: %s", function->name,
             function->why);
    return run_eagerly(turn, reason, error);
}

static gph_status record(gphi_tree_turn *turn, gphi_tree_place *place,
                         gph_tree_reason reason, gph_error *error)
{
    gph_tree *tree = turn->tree;
    gph_tree_function *function = turn->function;
    GPHI_TRY(refuse(turn, GPH_TREE_RECORDED, reason, error));
    GPHI_TRY(check_inputs(turn, "recording", error));
    line_up_inputs(turn);
    GPHI_TRY(gphi_tree_path_reserve(tree, function->output_count, error));
    if (!place)
        GPHI_TRY(gphi_tree_place_add(tree, tree->node, function, &place, error));
    GPHI_TRY(gphi_tree_node_reserve(tree, turn->hash, error));
    GPHI_TRY(gphi_tree_freshen(tree, error));
    gphi_tree_node *node = NULL;
    GPHI_TRY(gphi_tree_node_create(turn, &node, error));

    gph_error cause = {0};
    bool is_captured = false;
    const gph_status status = record_node(turn, node, &is_captured, &cause);
    if (status != GPH_OK) {
        gphi_heap_free(tree->heap, node, node->bytes);
        if (!is_captured && status != GPH_E_NO_MEMORY)
            return give_up(turn, &cause, error);
        if (error)
            *error = cause;
        return status;
    }
    function->refused = GPH_TREE_NONE;
    function->backoff = 0;
    node->reason = reason;
    gphi_tree_count_recording(tree, place, reason);
    gphi_tree_node_link(tree, place, node);
    gphi_tree_explain(turn, GPH_TREE_RECORDED, reason);
    enter_node(turn, node);
    tree->event.call = tree->stats.calls;
    tree->event.node = node->id;
    tree->stats.recordings++;
    tree->stats.recorded_for[reason]++;
    note(turn, GPHI_NOTE_TREE_RECORD, node);
    return GPH_OK;
}

/* No recording fits. */
static gph_status call_anew(gphi_tree_turn *turn, gph_error *error)
{
    gph_tree *tree = turn->tree;
    gphi_tree_place *place = gphi_tree_place_find(tree, tree->node, turn->function);
    const gph_tree_reason reason = gphi_tree_reason_find(turn, place);
    if (turn->is_demoted) {
        gphi_tree_key_build(turn);
        gphi_tree_node *node = gphi_tree_find(turn);
        if (node)
            return replay(turn, node, error);
    }
    if (place && !gphi_tree_may_record(tree, place, reason))
        return run_eagerly(turn, GPH_TREE_LIMIT, error);
    if (!is_warmed(turn))
        return warm_up(turn, reason, error);
    return record(turn, place, reason, error);
}

/* ---- the call ---- */

/* Whether the call begins a step by the automatic rule, or by nobody's holding anything.
 */
static bool ends_path(const gphi_tree_turn *turn)
{
    const gph_tree *tree = turn->tree;
    if (!tree->root || tree->held == 0)
        return tree->root;
    return !tree->is_explicit && tree->due == 0 && !turn->reads_path &&
           (turn->function->is_root || turn->function == tree->root);
}

static gph_status make_call(gphi_tree_turn *turn, gph_error *error)
{
    gph_tree *tree = turn->tree;
    gph_tree_function *function = turn->function;
    GPHI_TRY(read_inputs(turn, error));
    if (ends_path(turn))
        gphi_tree_path_end(tree);
    function->calls++;
    if (function->copied_count != 0)
        read_ports(turn);
    const gph_tree_reason reason = eager_reason(turn);
    if (reason != GPH_TREE_NONE)
        return run_eagerly(turn, reason, error);
    if (tree->is_warm)
        return warm_up(turn, GPH_TREE_WARM_PATH, error);
    gphi_tree_key_build(turn);
    gphi_tree_node *node = gphi_tree_find(turn);
    return node ? replay(turn, node, error) : call_anew(turn, error);
}

gph_status gph_tree_call(gph_tree *tree, gph_tree_function *function, const int64_t *key,
                         const gph_tree_input *inputs, gph_tree_output *outputs,
                         gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree, function));
    if (function->tree != tree)
        return gphi_fail(error, GPH_E_INVALID, "\"%s\" is a function of another tree",
                         function->name);
    GPHI_TRY(gphi_need_named(error, __func__, function->key_count == 0 || key, "key"));
    GPHI_TRY(
        gphi_need_named(error, __func__, function->input_count == 0 || inputs, "inputs"));
    GPHI_TRY(gphi_need_named(error, __func__, function->output_count == 0 || outputs,
                             "outputs"));
    GPHI_TRY(gphi_tree_enter(tree, error));
    gphi_tree_turn turn = {.tree = tree,
                           .function = function,
                           .key = key,
                           .inputs = inputs,
                           .outputs = outputs,
                           .input = -1};
    const gph_status status = make_call(&turn, error);
    gphi_tree_leave(tree);
    return status;
}
