// SPDX-License-Identifier: Apache-2.0
/* Sharing of executables against every choice tried one by one; lines through measured
 * buckets; tables written to files. */
#define _POSIX_C_SOURCE 200809L
#include <gph/plan.h>
#include <gph/plan_ladder.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "test.h"

static uint64_t random_state = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % n);
}

/* ---- all choices ---- */

/* What a choice costs; INFINITY beyond the limits. */
static double judge(const gph_plan_sharer *g, uint32_t count, uint32_t own,
                    const gph_plan_share_options *o, uint64_t *bytes)
{
    uint32_t execs = 0;
    double cost = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t shared = 0;
        bool first = true; /* of the cold ones of its class */
        cost += g[i].frequency * g[i].launch_cost;
        if (own >> i & 1) {
            execs++;
            *bytes += g[i].bytes;
            continue;
        }
        cost += g[i].frequency * g[i].update_cost;
        for (uint32_t k = 0; k < count; k++) {
            if (g[k].topology != g[i].topology || own >> k & 1)
                continue;
            first &= k >= i;
            shared = g[k].bytes > shared ? g[k].bytes : shared;
        }
        execs += first;
        *bytes += first ? shared : 0;
    }
    const bool fits = (o->exec_max == 0 || execs <= o->exec_max) &&
                      (o->byte_budget == 0 || *bytes <= o->byte_budget);
    return fits ? cost : INFINITY;
}

static void random_graphs(gph_plan_sharer *g, uint32_t count, bool alike)
{
    const uint32_t classes = 1 + below(4), sizes = alike ? 1 : 6;
    for (uint32_t i = 0; i < count; i++)
        g[i] = (gph_plan_sharer){.topology = below(classes) * 1000,
                                 .bytes = 10 + below(sizes) * 3,
                                 .frequency = below(12),
                                 .launch_cost = below(5),
                                 .update_cost = below(9)};
}

static void check_owners(const gph_plan_sharer *g, uint32_t count, const uint32_t *owners,
                         const gph_plan_share_result *r)
{
    uint32_t own = 0, execs = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!CHECK(owners[i] < count && g[owners[i]].topology == g[i].topology &&
                   owners[owners[i]] == owners[i]))
            return;
        execs += owners[i] == i;
        bool alone = owners[i] == i;
        for (uint32_t k = 0; k < count; k++)
            alone &= k == i || owners[k] != i;
        own += alone;
        CHECK(owners[i] == i || g[owners[i]].frequency >= g[i].frequency);
    }
    CHECK(own == r->own_count && execs == r->exec_count);
}

static void compare_with_all(bool alike)
{
    for (int round = 0; round < 1500; round++) {
        gph_plan_sharer g[8];
        uint32_t owners[8];
        const uint32_t count = 1 + below(8);
        gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
        gph_plan_share_result r = GPH_SIZED(gph_plan_share_result);
        gph_error error = {0};
        uint64_t bytes = 0;
        double least = INFINITY;
        random_graphs(g, count, alike);
        o.exec_max = below(3) ? 1 + below(count) : 0;
        o.byte_budget = below(3) ? 10 + below(count * 16) : 0;
        for (uint32_t own = 0; own < 1u << count; own++)
            least = fmin(least, judge(g, count, own, &o, &bytes));
        const gph_status status = gph_plan_share(g, count, &o, owners, &r, &error);
        if (isinf(least)) {
            CHECK(status == GPH_E_STATE);
            continue;
        }
        if (!CHECK_OK(status, error))
            continue;
        check_owners(g, count, owners, &r);
        uint32_t own = 0;
        for (uint32_t i = 0; i < count; i++) {
            bool alone = owners[i] == i;
            for (uint32_t k = 0; k < count; k++)
                alone &= k == i || owners[k] != i;
            own |= (uint32_t)alone << i;
        }
        CHECK(r.exact && fabs(judge(g, count, own, &o, &bytes) - least) < 1e-9);
        CHECK(fabs(r.cost - least) < 1e-9 && r.bytes == bytes && r.cost >= r.cost_apart);
    }
}

static void no_choice_costs_less(void)
{
    compare_with_all(false);
}

static void nor_among_graphs_of_one_size(void)
{
    compare_with_all(true);
}

static void without_limits_all_have_their_own(void)
{
    gph_plan_sharer g[20];
    uint32_t owners[20];
    gph_plan_share_result r = GPH_SIZED(gph_plan_share_result);
    gph_error error = {0};
    random_graphs(g, 20, false);
    CHECK_OK(gph_plan_share(g, 20, NULL, owners, &r, &error), error);
    for (uint32_t i = 0; i < 20; i++)
        CHECK(owners[i] == i);
    CHECK(r.own_count == 20 && r.exec_count == 20 && r.bytes == r.bytes_apart &&
          r.cost == r.cost_apart && r.exact);
}

static void equal_graphs_go_by_index(void)
{
    gph_plan_sharer g[6];
    uint32_t owners[6];
    gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
    gph_error error = {0};
    for (uint32_t i = 0; i < 6; i++)
        g[i] = (gph_plan_sharer){7, 100, 1, 1, 1};
    o.exec_max = 3;
    CHECK_OK(gph_plan_share(g, 6, &o, owners, NULL, &error), error);
    const uint32_t expected[] = {0, 1, 2, 2, 2, 2};
    CHECK(memcmp(owners, expected, sizeof(expected)) == 0);
    o.exec_max = 0;
    o.byte_budget = 399;
    CHECK_OK(gph_plan_share(g, 6, &o, owners, NULL, &error), error);
    CHECK(memcmp(owners, expected, sizeof(expected)) == 0);
}

/* 67 buckets of one model, the traffic falls off: an eighth of the executables. */
static void hot_buckets_keep_their_own(void)
{
    gph_plan_sharer g[67];
    uint32_t owners[67];
    gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
    gph_plan_share_result r = GPH_SIZED(gph_plan_share_result);
    gph_error error = {0};
    for (uint32_t i = 0; i < 67; i++)
        g[i] = (gph_plan_sharer){.topology = 1,
                                 .bytes = 3000000 + 1000 * i,
                                 .frequency = 1000.0 / (1 + i),
                                 .launch_cost = 2,
                                 .update_cost = 60};
    o.byte_budget = 67u * 3000000u / 8;
    CHECK_OK(gph_plan_share(g, 67, &o, owners, &r, &error), error);
    CHECK(r.bytes <= o.byte_budget && r.exec_count == 8 && r.own_count == 7);
    for (uint32_t i = 0; i < 67; i++)
        CHECK(owners[i] == (i < 7 ? i : 7));
    printf("# 67 graphs: exact %u\n", r.exact);
}

/* Sizes all different, both limits: the front is thinned out, the limits are kept. */
static void thousands_are_planned_within_the_limits(void)
{
    enum { MANY = 2000 };
    gph_plan_sharer *g = calloc(MANY, sizeof(*g));
    uint32_t *owners = calloc(MANY, sizeof(*owners));
    gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
    gph_plan_share_result r = GPH_SIZED(gph_plan_share_result);
    gph_error error = {0};
    for (uint32_t i = 0; i < MANY; i++)
        g[i] = (gph_plan_sharer){.topology = i % 100,
                                 .bytes = 1000000 + below(1000000),
                                 .frequency = below(100000),
                                 .launch_cost = 2,
                                 .update_cost = 60};
    o.byte_budget = 400u * 1000 * 1000;
    o.exec_max = 300;
    CHECK_OK(gph_plan_share(g, MANY, &o, owners, &r, &error), error);
    CHECK(r.bytes <= o.byte_budget && r.exec_count <= 300 && r.exec_count > 200);
    CHECK(r.cost < 0.95 * (r.cost_apart + 60.0 / 2 * r.cost_apart));
    printf("# 2000 graphs: %u executables, exact %u\n", r.exec_count, r.exact);
    free(g);
    free(owners);
}

static void refused(const gph_plan_sharer *g, size_t count,
                    const gph_plan_share_options *o, gph_status code, const char *what)
{
    uint32_t owners[3] = {77, 77, 77};
    gph_plan_share_result r = {.size = sizeof(gph_plan_share_result), .cost = 77};
    gph_error error = {0};
    CHECK(gph_plan_share(g, count, o, owners, &r, &error) == code);
    if (!CHECK(strstr(error.message, what) != NULL))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(owners[0] == 77 && r.cost == 77);
}

static void wrong_graphs_are_refused(void)
{
    gph_plan_sharer g[] = {{1, 100, 1, 1, 1}, {2, 50, 1, 1, 1}, {1, 10, 1, 1, 1}};
    gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
    refused(NULL, 3, NULL, GPH_E_INVALID, "graphs is NULL");
    refused(g, 0, NULL, GPH_E_INVALID, "0 graphs");
    refused(g, 5000, NULL, GPH_E_INVALID, "5000 graphs");
    o.exec_max = 1;
    refused(g, 3, &o, GPH_E_STATE, "2 classes take an executable each, and 1");
    o.exec_max = 2;
    o.byte_budget = 149;
    refused(g, 3, &o, GPH_E_STATE, "2 classes take 150 bytes");
    g[1].update_cost = NAN;
    refused(g, 3, NULL, GPH_E_INVALID, "graph 1: update cost");
    g[1].update_cost = 1;
    g[2].frequency = -1;
    refused(g, 3, NULL, GPH_E_INVALID, "graph 2: frequency -1");
    g[2].frequency = 1;
    g[2].bytes = UINT64_MAX;
    refused(g, 3, NULL, GPH_E_INVALID, "graph 2: the executables have more than 2^62");
}

static void failed_allocations_leave_nothing(void)
{
    gph_plan_sharer g[8];
    gph_status status = GPH_E_NO_MEMORY;
    random_graphs(g, 8, false);
    for (long nth = 0; status != GPH_OK && nth < 1000; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_plan_share_options o = GPH_PLAN_SHARE_OPTIONS_INIT;
        uint32_t owners[8] = {77};
        gph_error error = {0};
        o.allocator = &allocator;
        o.byte_budget = 110;
        o.exec_max = 6;
        status = gph_plan_share(g, 8, &o, owners, NULL, &error);
        CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && owners[0] == 77));
        CHECK(heap.live_bytes == 0);
    }
    CHECK(status == GPH_OK);
}

/* ---- fits ---- */

static void two_measures_predict_a_line(void)
{
    const gph_plan_measure m[] = {{8, 1000, 300, 0.2}, {64, 8000, 300, 0.1}};
    gph_plan_fit fit;
    gph_error error = {0};
    CHECK_OK(gph_plan_cost_fit(m, 2, &fit, &error), error);
    CHECK(fit.size_min == 8 && fit.size_max == 64);
    const gph_plan_measure at = gph_plan_cost_at(&fit, 32);
    CHECK(at.size == 32 && fabs(at.tensor_bytes - 4000) < 1e-6 &&
          fabs(at.exec_bytes - 300) < 1e-9);
    CHECK(fit.seconds.slope == 0 && fit.seconds.base >= 0.1 && fit.seconds.base <= 0.2);
    CHECK(fit.tensor_bytes.spread < 0 && fit.tensor_bytes.base >= 0);
}

/* What was measured falls a few per cent off a line; so do predictions. */
static void predictions_are_near(void)
{
    for (int round = 0; round < 200; round++) {
        gph_plan_measure m[6];
        const double base = below(1000), slope = 1 + below(100);
        for (uint32_t i = 0; i < 6; i++) {
            const double noise = 1 + 0.02 * ((double)below(2001) / 1000 - 1);
            const double value = (base + slope * (double)(1u << i)) * noise;
            m[i] = (gph_plan_measure){1u << i, value, value * 3, value / 1000};
        }
        gph_plan_fit fit;
        gph_error error = {0};
        CHECK_OK(gph_plan_cost_fit(m, 6, &fit, &error), error);
        CHECK(fit.tensor_bytes.spread >= 0 && fit.tensor_bytes.spread < 0.03);
        for (uint64_t size = 1; size <= 64; size++) {
            const double truth = base + slope * (double)size;
            const gph_plan_measure at = gph_plan_cost_at(&fit, size);
            CHECK(fabs(at.tensor_bytes - truth) < 0.08 * truth);
            CHECK(fabs(at.seconds * 1000 - truth) < 0.08 * truth);
            CHECK(size == 1 ||
                  at.exec_bytes >= gph_plan_cost_at(&fit, size - 1).exec_bytes);
        }
    }
}

static void wrong_measures_are_refused(void)
{
    gph_plan_measure m[] = {{8, 10, 3, 1}, {8, 10, 3, 1}};
    gph_plan_fit fit = {.size_min = 77};
    gph_error error = {0};
    CHECK(gph_plan_cost_fit(m, 2, &fit, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "2 measures of one size") != NULL);
    CHECK(gph_plan_cost_fit(NULL, 0, &fit, &error) == GPH_E_INVALID);
    m[1].size = 0;
    CHECK(gph_plan_cost_fit(m, 2, &fit, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "measure 1 has size 0") != NULL);
    m[1].size = 9;
    m[1].seconds = -1;
    CHECK(gph_plan_cost_fit(m, 2, &fit, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "measure 1 has -1 seconds") != NULL);
    CHECK(fit.size_min == 77);
}

/* ---- files ---- */

static size_t read_file(const char *path, char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    const size_t bytes = file != NULL ? fread(to, 1, room - 1, file) : 0;
    to[bytes] = '\0';
    if (file != NULL)
        fclose(file);
    return bytes;
}

static gph_status fail_later(void *user, const void *data, size_t bytes)
{
    (void)data;
    int *left = user;
    return bytes != 0 && --*left < 0 ? 77 : GPH_OK;
}

static gph_plan_table *make_table(size_t rows)
{
    const size_t room = rows * 40 + 6000;
    char *text = malloc(room);
    size_t at = (size_t)snprintf(text, room, "id,lower,upper,size\n");
    memset(text + at, 'x', 5000); /* an id larger than what is written at a time */
    at += 5000;
    at += (size_t)snprintf(text + at, room - at, ",0,5,100\n");
    for (size_t i = 1; i < rows; i++)
        at += (size_t)snprintf(text + at, room - at, "b%zu,%zu,%zu,%zu\n", i, i, i + 5,
                               i * 3);
    gph_plan_table *table = NULL;
    gph_error error = {0};
    CHECK_OK(gph_plan_table_read(text, at, NULL, &table, &error), error);
    free(text);
    return table;
}

static void a_plan_replaces_its_file(void)
{
    enum { ROWS = 500 };
    char folder[] = "/tmp/plan_share_test.XXXXXX", path[64], text[32768];
    static uint64_t offsets[ROWS];
    gph_plan_table *table = make_table(ROWS);
    gph_error error = {0};
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof(path), "%s/out.csv", folder);
    for (uint64_t i = 0; i < ROWS; i++)
        offsets[i] = i * 7;
    CHECK_OK(gph_plan_table_save(table, offsets, path, &error), error);
    CHECK(read_file(path, text, sizeof(text)) > 5000);
    CHECK(strncmp(text, "id,lower,upper,size,offset\nxxx", 30) == 0);
    CHECK(strstr(text, "x,0,5,100,0\nb1,1,6,3,7\n") != NULL);
    CHECK(strstr(text, "\nb499,499,504,1497,3493\n") != NULL);
    CHECK(chmod(path, 0600) == 0); /* the mode stays, as does the file if that fails */
    CHECK_OK(gph_plan_table_save(table, offsets, path, &error), error);
    struct stat there;
    CHECK(stat(path, &there) == 0 && (there.st_mode & 0777) == 0600);
    unlink(path);
    CHECK(rmdir(folder) == 0); /* nothing else is left */
    CHECK(gph_plan_table_save(table, offsets, path, &error) == GPH_E_IO);
    CHECK(gph_plan_table_save(NULL, offsets, path, &error) == GPH_E_INVALID);
    CHECK(gph_plan_table_save(table, NULL, path, &error) == GPH_E_INVALID);
    CHECK(gph_plan_table_save(table, offsets, NULL, &error) == GPH_E_INVALID);
    CHECK(gph_plan_table_write(table, offsets, NULL, NULL, &error) == GPH_E_INVALID);
    int pieces = 0;
    for (int left = 0; left < 100; left++) {
        int now = left;
        if (gph_plan_table_write(table, offsets, fail_later, &now, &error) == GPH_OK)
            break;
        pieces++;
    }
    CHECK(pieces > 3 && pieces < 100);
    gph_plan_table_destroy(table);
}

int main(void)
{
    RUN(no_choice_costs_less);
    RUN(nor_among_graphs_of_one_size);
    RUN(without_limits_all_have_their_own);
    RUN(equal_graphs_go_by_index);
    RUN(hot_buckets_keep_their_own);
    RUN(thousands_are_planned_within_the_limits);
    RUN(wrong_graphs_are_refused);
    RUN(failed_allocations_leave_nothing);
    RUN(two_measures_predict_a_line);
    RUN(predictions_are_near);
    RUN(wrong_measures_are_refused);
    RUN(a_plan_replaces_its_file);
    return test_done();
}
