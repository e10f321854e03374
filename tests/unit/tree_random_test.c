// SPDX-License-Identifier: Apache-2.0
/* Random programs on a tree without a driver. TREE_SEEDS=FIRST:LAST runs others. */
#include "unit/tree_fake.h"
#include "unit/tree_random.h"

static fake f;
static fault_heap heap;

static gph_status world_tree(const gph_tree_options *options, gph_tree **out)
{
    heap = (fault_heap){.fail_at = -1};
    fake_init(&f);
    f.fail_with = one_in(2) ? 2 : 719;
    return gphi_tree_create((gph_allocator){fault_realloc, &heap}, &f.base, options, out,
                            &error);
}

static void world_end(gph_tree *ended)
{
    gph_tree_destroy(ended);
    CHECK(atomic_load(&heap.live_bytes) == 0);
}

static gph_tensor world_tensor(uint32_t n, uint32_t units, uint64_t seed)
{
    return user_tensor(&f, n, units, seed);
}

static value world_value(const gph_tensor *tensor)
{
    return value_at(&f, tensor);
}

static void world_arm(uint32_t nth)
{
    f.fail_at = nth;
}

static bool world_disarm(void)
{
    const bool has_failed = f.fail_at == -1;
    f.fail_at = -1;
    return has_failed;
}

/* The books hold the path, or nothing. */
static void world_check(const gph_tree_stats *stats)
{
    CHECK(f.pools[GPHI_TREE_POOL].count == (tree->is_fresh ? stats->live_blocks : 0));
}

static void world_timed(uint64_t ns)
{
    (void)ns;
}

static void random_programs_do_what_a_model_does(void)
{
    unsigned long long first = 0, last = 150;
    const char *range = getenv("TREE_SEEDS");
    if (range != NULL)
        CHECK(sscanf(range, "%llu:%llu", &first, &last) == 2);
    for (uint64_t seed = first; seed < last && atomic_load(&test_failures) == 0; seed++)
        run_seed(seed, 400);
    printf("# %llu calls, %llu replays, %llu restores, %llu outputs refused\n",
           (unsigned long long)total_calls, (unsigned long long)total_replays,
           (unsigned long long)total_restores, (unsigned long long)total_refused);
    CHECK(range != NULL || (total_replays > total_calls / 20 && total_restores > 100));
    CHECK(range != NULL || total_strict > 100);
}

int main(void)
{
    RUN(random_programs_do_what_a_model_does);
    return test_done();
}
