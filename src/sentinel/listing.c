// SPDX-License-Identifier: Apache-2.0
/* Listings are written once and read by whoever finds them: nothing in one is believed. */
#include "sentinel/listing.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"

#include <string.h>

/* ---- writing ---- */

struct draft {
    const gphi_listing_source *source;
    gph_allocator heap;
    uint32_t *order; /* by place: node */
    uint32_t *place; /* by node: place */
    uint32_t *word;  /* by node */
    gphi_vec entries, waits;
    gphi_text texts;
};

/* Neighbors mostly have the same one. */
static uint32_t put_text(struct draft *draft, const char *text, uint32_t before)
{
    if (!text || text[0] == '\0')
        return 0;
    if (before > 0 && strcmp(draft->texts.bytes + before, text) == 0)
        return before;
    const uint32_t at = (uint32_t)draft->texts.length;
    gphi_text_put_bytes(&draft->texts, text, strlen(text) + 1);
    return at;
}

static gph_status put_node(struct draft *draft, uint32_t place)
{
    const gphi_listing_source *source = draft->source;
    const gphi_topology *topology = source->topology;
    const uint32_t index = draft->order[place];
    const gph_node *node = gph_graph_node(source->graph, index);
    const gphi_listing_entry *before =
        place > 0 ? gphi_vec_at(&draft->entries, place - 1) : &(gphi_listing_entry){0};
    const char *region =
        source->region ? source->region(source->user, index) : node->name;
    const char *where = source->place ? source->place(source->user, index) : NULL;
    const char *kernel = node->kind == GPH_NODE_KERNEL ? node->u.kernel.function : NULL;
    const gphi_listing_entry entry = {.index = index,
                                      .kind = (uint32_t)node->kind,
                                      .word = draft->word[index],
                                      .wait_count = topology->first[index + 1] -
                                                    topology->first[index],
                                      .region = put_text(draft, region, before->region),
                                      .kernel = put_text(draft, kernel, before->kernel),
                                      .place = put_text(draft, where, before->place)};
    for (uint32_t i = topology->first[index]; i < topology->first[index + 1]; i++) {
        const uint32_t wait = draft->place[topology->deps[i]] |
                              (topology->data[i] != 0 ? GPHI_WAIT_EARLY : 0);
        GPHI_TRY(gphi_vec_push(&draft->waits, &wait));
    }
    return gphi_vec_push(&draft->entries, &entry);
}

static gph_status fill(struct draft *draft)
{
    const gphi_listing_source *source = draft->source;
    for (uint32_t i = 0; i < source->topology->count; i++) {
        draft->place[draft->order[i]] = i;
        draft->word[i] = GPH_NODE_NONE;
    }
    for (uint32_t i = 0; i < source->count; i++)
        draft->word[source->nodes[i]] = i;
    gphi_text_put_bytes(&draft->texts, "", 1);
    for (uint32_t i = 0; i < source->topology->count; i++)
        GPHI_TRY(put_node(draft, i));
    return draft->texts.status;
}

static gph_status copy(gphi_board *board, const struct draft *draft, uint64_t *out,
                       gph_error *error)
{
    const size_t entries = draft->entries.count * sizeof(gphi_listing_entry),
                 waits = draft->waits.count * sizeof(uint32_t),
                 bytes = sizeof(gphi_listing) + entries + waits + draft->texts.length;
    const uint64_t offset = gphi_board_take(board, GPHI_BLOCK_LISTING, bytes);
    if (offset == 0)
        return gphi_fail(error, GPH_E_STATE,
                         "the board of %llu bytes has no room for the %zu bytes of a "
                         "graph of %zu nodes",
                         (unsigned long long)board->bytes, bytes, draft->entries.count);
    gphi_listing *table = gphi_board_at(board->memory, offset);
    table->count = (uint32_t)draft->entries.count;
    table->wait_count = (uint32_t)draft->waits.count;
    table->text_bytes = (uint32_t)draft->texts.length;
    char *at = (char *)(table + 1);
    if (entries > 0)
        memcpy(at, draft->entries.items, entries);
    if (waits > 0)
        memcpy(at + entries, draft->waits.items, waits);
    memcpy(at + entries + waits, draft->texts.bytes, draft->texts.length);
    *out = offset;
    return GPH_OK;
}

gph_status gphi_listing_write(gphi_board *board, const gphi_listing_source *source,
                              uint64_t *out, gph_error *error)
{
    const size_t count = source->topology->count, words = 3 * count + 1;
    struct draft draft = {.source = source, .heap = board->runtime->heap};
    gphi_vec_init(&draft.entries, draft.heap, sizeof(gphi_listing_entry));
    gphi_vec_init(&draft.waits, draft.heap, sizeof(uint32_t));
    gphi_text_init(&draft.texts, draft.heap);
    draft.order = gphi_heap_array(draft.heap, words, sizeof(uint32_t));
    GPHI_TRY(gphi_made(error, draft.order, "listing %zu nodes", count));
    draft.place = draft.order + count;
    draft.word = draft.place + count;
    gph_status status = gph_graph_order(source->graph, draft.order, error);
    if (status == GPH_OK) {
        status = fill(&draft);
        if (status != GPH_OK)
            gphi_fail(error, status, "listing %zu nodes", count);
    }
    GPHI_THEN(status, copy(board, &draft, out, error));
    gphi_text_fini(&draft.texts);
    gphi_vec_fini(&draft.waits);
    gphi_vec_fini(&draft.entries);
    gphi_heap_free(draft.heap, draft.order, words * sizeof(uint32_t));
    return status;
}

/* ---- reading ---- */

static bool is_text(const gphi_listing_parts *parts, uint32_t at)
{
    return at < parts->head->text_bytes;
}

static bool check_entries(const gphi_listing_parts *parts, uint32_t word_count)
{
    uint64_t waits = 0;
    for (uint32_t i = 0; i < parts->head->count; i++) {
        const gphi_listing_entry *entry = &parts->entries[i];
        if (entry->index >= parts->head->count || !is_text(parts, entry->region) ||
            !is_text(parts, entry->kernel) || !is_text(parts, entry->place) ||
            (entry->word != GPH_NODE_NONE && entry->word >= word_count) ||
            waits + entry->wait_count > parts->head->wait_count)
            return false;
        for (uint32_t k = 0; k < entry->wait_count; k++)
            if ((parts->waits[waits++] & ~GPHI_WAIT_EARLY) >= i)
                return false;
    }
    return true;
}

bool gphi_listing_open(const char *memory, uint64_t bytes, uint64_t offset,
                       uint32_t word_count, gphi_listing_parts *out)
{
    if (offset % 16 != 0 || offset > bytes || bytes - offset < sizeof(gphi_listing))
        return false;
    const gphi_listing *head = gphi_board_at(memory, offset);
    const uint64_t room = head->block.bytes, count = head->count,
                   entries = count * sizeof(gphi_listing_entry),
                   waits = (uint64_t)head->wait_count * sizeof(uint32_t);
    if (head->block.kind != GPHI_BLOCK_LISTING || room > bytes - offset ||
        sizeof(*head) + entries + waits + head->text_bytes > room ||
        head->text_bytes == 0)
        return false;
    const char *at = memory + offset + sizeof(*head);
    *out = (gphi_listing_parts){.head = head,
                                .entries = gphi_board_at(at, 0),
                                .waits = gphi_board_at(at, entries),
                                .texts = at + entries + waits};
    return out->texts[head->text_bytes - 1] == '\0' && check_entries(out, word_count);
}
