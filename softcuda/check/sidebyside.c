// SPDX-License-Identifier: Apache-2.0
/* One sweep over two lists that are sorted by address: those of either that reach to the current
 * item are kept, and each new one is compared with those of the other. */
#include "softcuda/check/sidebyside.h"

#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/vec.h"

struct active {
    const struct touch **list;
    uint32_t count;
};

struct pairing {
    const soft_unit *units[2];
    struct active active[2];
    struct known *known;
    struct beside_findings *out;
    uint32_t first; /* finding of this comparison */
    bool failed;
};

/* The same for each launch of a node, and of a kernel in a stream. */
static uint64_t key_of(const struct touch *touch)
{
    const soft_who *who = soft_touch_who(touch);
    uint64_t hash =
        gphi_hash_word(gphi_hash_word(GPHI_HASH_START, who->node), who->place);
    hash = gphi_hash_word(hash, who->type);
    for (const char *at = touch->item.ran->kernel; at && *at != '\0'; at++)
        hash = gphi_hash_word(hash, (uint64_t)*at);
    return hash;
}

static uint64_t pair_key(const struct touch *a, const struct touch *b)
{
    const uint64_t one = key_of(a), other = key_of(b);
    return one < other ? gphi_hash_word(one, other) : gphi_hash_word(other, one);
}

/* Where the finding of a pair is or goes; NULL: it was reported before, or no memory. */
static struct beside_found *place_of(struct pairing *p, uint64_t key)
{
    struct beside_findings *out = p->out;
    for (uint32_t i = p->first; i < out->count; i++)
        if (out->list[i].key == key)
            return &out->list[i];
    if (gphi_map_get(&p->known->pairs, key))
        return NULL;
    struct beside_found *list = gphi_array_room(out->heap, out->list, &out->capacity,
                                                out->count + 1ull, sizeof(*list));
    if (!list) {
        p->failed = true;
        return NULL;
    }
    out->list = list;
    list[out->count] = (struct beside_found){.key = key, .finding.address = UINT64_MAX};
    return &list[out->count++];
}

static void fill(struct beside_found *found, const struct touch *touches[2], uint64_t at)
{
    found->finding.address = at;
    for (int i = 0; i < 2; i++) {
        found->finding.sides[i] = soft_item_side(&touches[i]->item, at);
        found->finding.who[i] = *soft_touch_who(touches[i]);
        found->finding.sides[i].node = (uint32_t)i;
        if (found->finding.sides[i].kernel)
            memcpy(found->kernels[i], found->finding.sides[i].kernel,
                   sizeof(found->kernels[i]));
    }
}

/* The lowest byte of one memory that both touch, below `limit`; `limit`: there is none. */
static uint64_t common(const struct touch *a, const struct touch *b, uint64_t limit)
{
    struct item rest = a->item;
    while (rest.start < rest.end) {
        const uint64_t at = soft_item_common(&rest, &b->item, limit);
        if (at == limit)
            break;
        const uint64_t memory = soft_touch_memory(a, at);
        if (memory != 0 && memory == soft_touch_memory(b, at))
            return at;
        rest.start = at / FIRST_BYTES * FIRST_BYTES + FIRST_BYTES;
    }
    return limit;
}

/* `a` is of unit 0. */
static void compare(struct pairing *p, const struct touch *a, const struct touch *b)
{
    if (!soft_items_conflict(&a->item, &b->item) ||
        common(a, b, UINT64_MAX) == UINT64_MAX)
        return;
    if (p->units[0]->root == p->units[1]->root &&
        soft_units_ordered(p->units[0], a->item.node, p->units[1], b->item.node))
        return;
    struct beside_found *found = place_of(p, pair_key(a, b));
    if (!found)
        return;
    const uint64_t at = common(a, b, found->finding.address);
    const struct touch *touches[2] = {a, b};
    if (at < found->finding.address)
        fill(found, touches, at);
}

/* Drops what ends before the item; compares it with the rest. */
static void compare_active(struct pairing *p, int of, const struct touch *touch)
{
    struct active *others = &p->active[!of];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < others->count; i++) {
        const struct touch *other = others->list[i];
        if (other->item.end <= touch->item.start)
            continue;
        others->list[kept++] = other;
        if (of == 0)
            compare(p, touch, other);
        else
            compare(p, other, touch);
    }
    others->count = kept;
}

static void run(struct pairing *p)
{
    uint32_t at[2] = {0, 0};
    const struct footprint *prints[2] = {&p->units[0]->print, &p->units[1]->print};
    while (at[0] < prints[0]->count || at[1] < prints[1]->count) {
        const bool second =
            at[0] == prints[0]->count ||
            (at[1] < prints[1]->count &&
             prints[1]->touches[at[1]].item.start < prints[0]->touches[at[0]].item.start);
        const struct touch *touch = &prints[second]->touches[at[second]++];
        compare_active(p, second, touch);
        p->active[second].list[p->active[second].count++] = touch;
    }
}

bool soft_units_compare(const soft_unit *a, const soft_unit *b, struct known *known,
                        struct beside_findings *out)
{
    const bool turned = a->number > b->number;
    struct pairing p = {.units = {turned ? b : a, turned ? a : b},
                        .known = known,
                        .out = out,
                        .first = out->count};
    const uint64_t room = (uint64_t)a->print.count + b->print.count;
    const struct touch **lists = gphi_heap_array(out->heap, room, sizeof(*lists));
    if (!lists)
        return false;
    p.active[0].list = lists;
    p.active[1].list = lists + p.units[0]->print.count;
    run(&p);
    gphi_heap_free(out->heap, lists, room * sizeof(*lists));
    for (uint32_t i = p.first; i < out->count; i++) /* without memory: said again */
        (void)gphi_map_set(&known->pairs, out->list[i].key, 1);
    return !p.failed;
}
