// SPDX-License-Identifier: Apache-2.0
/* The containers, against plain arrays, and with every allocation failing in turn. */
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "fault.h"
#include "test.h"

enum { KEYS = 512 };

/* Keys that collide in their low bits, as addresses do. */
static uint64_t key_of(unsigned i)
{
    return (uint64_t)(i % KEYS) << 12;
}

static void a_map_agrees_with_an_array(void)
{
    uint64_t values[KEYS] = {0};
    bool here[KEYS] = {false};
    size_t count = 0;
    gphi_map map;
    gphi_map_init(&map, gphi_heap(NULL));
    unsigned seed = 1;
    for (int step = 0; step < 20000; step++) {
        seed = seed * 1103515245u + 12345u;
        const unsigned i = (seed >> 8) % KEYS;
        if ((seed >> 20) % 3 != 0) {
            CHECK(gphi_map_set(&map, key_of(i), seed) == GPH_OK);
            count += !here[i];
            here[i] = true;
            values[i] = seed;
        } else {
            CHECK(gphi_map_remove(&map, key_of(i)) == here[i]);
            count -= here[i];
            here[i] = false;
        }
        CHECK(map.count == count);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        const uint64_t *found = gphi_map_get(&map, key_of(i));
        CHECK((found != NULL) == here[i]);
        CHECK(found == NULL || *found == values[i]);
    }
    gphi_map_fini(&map);
    CHECK(gphi_map_get(&map, 0) == NULL && !gphi_map_remove(&map, 0));
}

static void a_map_survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        gphi_map map;
        gphi_map_init(&map, (gph_allocator){fault_realloc, &heap});
        gph_status status = GPH_OK;
        unsigned added = 0;
        while (status == GPH_OK && added < 100)
            if ((status = gphi_map_set(&map, added, added)) == GPH_OK)
                added++;
        CHECK(map.count == added);
        for (unsigned i = 0; i < added; i++)
            CHECK(gphi_map_get(&map, i) != NULL && *gphi_map_get(&map, i) == i);
        gphi_map_fini(&map);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            return;
        CHECK(status == GPH_E_NO_MEMORY);
    }
}

static void a_vector_keeps_its_items_when_it_grows(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        gphi_vec vec;
        gphi_vec_init(&vec, (gph_allocator){fault_realloc, &heap}, sizeof(int));
        int added = 0;
        for (int *item; added < 100 && (item = gphi_vec_add(&vec, 1)) != NULL; added++) {
            CHECK(*item == 0);
            *item = added;
        }
        CHECK(vec.count == (size_t)added);
        for (int i = 0; i < added; i++)
            CHECK(*(int *)gphi_vec_at(&vec, (size_t)i) == i);
        CHECK(gphi_vec_add(&vec, SIZE_MAX / 2) == NULL);
        gphi_vec_fini(&vec);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (added == 100)
            return;
    }
}

static void an_array_whose_size_overflows_is_refused(void)
{
    CHECK(gphi_heap_array(gphi_heap(NULL), SIZE_MAX / 2, 3) == NULL);
    CHECK(gphi_heap_text(gphi_heap(NULL), NULL) == NULL);
}

int main(void)
{
    RUN(a_map_agrees_with_an_array);
    RUN(a_map_survives_every_failed_allocation);
    RUN(a_vector_keeps_its_items_when_it_grows);
    RUN(an_array_whose_size_overflows_is_refused);
    return test_done();
}
