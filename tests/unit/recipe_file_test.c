// SPDX-License-Identifier: Apache-2.0
/* The bytes of a recipe: what is written is read again, and nothing else is. */
#include "base/heap.h"
#include "base/sha256.h"
#include "fault.h"
#include "file/bundle.h"
#include "test.h"

static const struct gphi_bundle_limits limits = {.unpacked_bytes = 1 << 20,
                                                 .nodes = 1000};

static void sha256_is_that_of_the_standard(void)
{
    static const struct {
        const char *text;
        const char *hash;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        for (size_t cut = 0; cut <= strlen(known[i].text); cut++) {
            gphi_sha256 hash;
            unsigned char out[32];
            char text[65];
            gphi_sha256_begin(&hash);
            gphi_sha256_add(&hash, known[i].text, cut);
            gphi_sha256_add(&hash, known[i].text + cut, strlen(known[i].text) - cut);
            gphi_sha256_end(&hash, out);
            for (int j = 0; j < 32; j++)
                snprintf(text + 2 * j, 3, "%02x", out[j]);
            CHECK(strcmp(text, known[i].hash) == 0);
        }
    gphi_sha256 hash;
    unsigned char out[32];
    gphi_sha256_begin(&hash);
    for (int i = 0; i < 15625; i++)
        gphi_sha256_add(
            &hash, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            64);
    gphi_sha256_end(&hash, out);
    CHECK(out[0] == 0xcd && out[1] == 0xc7 && out[31] == 0xd0);
}

#define ADD(vec, type) ((type *)gphi_vec_add(vec, 1))

static gph_status fill_graph(struct gphi_bundle_graph *graph)
{
    struct gphi_bundle_node *nodes = gphi_vec_add(&graph->nodes, 4);
    gph_edge *edges = gphi_vec_add(&graph->edges, 2);
    gph_memcpy_params *copy = ADD(&graph->copies, gph_memcpy_params);
    gph_memset_params *set = ADD(&graph->fills, gph_memset_params);
    struct gphi_bundle_attribute *attribute =
        ADD(&graph->attributes, struct gphi_bundle_attribute);
    struct gphi_bundle_word *words = gphi_vec_add(&graph->words, 4);
    struct gphi_bundle_use *use = ADD(&graph->uses, struct gphi_bundle_use);
    struct gphi_bundle_tensor *tensors = gphi_vec_add(&graph->tensors, 2);
    struct gphi_bundle_block *block = ADD(&graph->blocks, struct gphi_bundle_block);
    int64_t *keys = gphi_vec_add(&graph->keys, 2);
    unsigned char *data = gphi_vec_add(&graph->data, 16);
    if (!nodes || !edges || !copy || !set || !attribute || !words || !use || !tensors ||
        !block || !keys || !data)
        return GPH_E_NO_MEMORY;
    nodes[0] = (struct gphi_bundle_node){.kind = GPH_NODE_MEMSET};
    nodes[1] = (struct gphi_bundle_node){.kind = GPH_NODE_KERNEL,
                                         .grid = {4, 1, 1},
                                         .block = {128, 1, 1},
                                         .data_bytes = 12,
                                         .attribute_count = 1};
    nodes[2] = (struct gphi_bundle_node){.kind = GPH_NODE_MEMCPY};
    nodes[3] = (struct gphi_bundle_node){.kind = GPH_NODE_EMPTY};
    edges[0] = (gph_edge){.from = 0, .to = 1};
    edges[1] = (gph_edge){.from = 1, .to = 2, .from_port = 1, .type = 1};
    copy->dst = (gph_memcpy_side){.memory = GPH_MEMORY_DEVICE, .address = 0x7f0000000000};
    copy->src = (gph_memcpy_side){.memory = GPH_MEMORY_DEVICE, .address = 0x7f0000000400};
    copy->width_bytes = 64;
    copy->height = copy->depth = 1;
    *set = (gph_memset_params){
        .address = 0x7f0000000400, .width = 16, .height = 1, .element_bytes = 4};
    attribute->id = 8;
    words[0] = (struct gphi_bundle_word){0, GPHI_BUNDLE_DST, 0};
    words[1] = (struct gphi_bundle_word){1, 0, 0};
    words[2] = (struct gphi_bundle_word){2, GPHI_BUNDLE_DST, 0};
    words[3] = (struct gphi_bundle_word){2, GPHI_BUNDLE_SRC, 0};
    *use = (struct gphi_bundle_use){0, 0};
    for (int i = 0; i < 2; i++)
        tensors[i] = (struct gphi_bundle_tensor){
            .dtype = 12, .rank = 1, .shape = {16}, .stride = {1}, .offset = 1024};
    *block = (struct gphi_bundle_block){.kind = 2, .offset = 1024, .bytes = 1024};
    keys[0] = 8;
    keys[1] = -1;
    memset(data, 7, 16);
    return gphi_bundle_order(graph);
}

/* memset -> kernel -> copy, and an empty node beside them; one refused graph. */
static gph_status fill(gphi_bundle *bundle)
{
    uint32_t arena, kernel_name, graph_name, other, why;
    if (gphi_bundle_text_add(bundle, "arena", &arena) != GPH_OK ||
        gphi_bundle_text_add(bundle, "axpy", &kernel_name) != GPH_OK ||
        gphi_bundle_text_add(bundle, "bucket 8", &graph_name) != GPH_OK ||
        gphi_bundle_text_add(bundle, "other", &other) != GPH_OK ||
        gphi_bundle_text_add(bundle, "it calls a function of this process", &why) !=
            GPH_OK)
        return GPH_E_NO_MEMORY;
    bundle->driver_version = 13000;
    bundle->capability = 90;
    struct gphi_bundle_range *range = ADD(&bundle->ranges, struct gphi_bundle_range);
    gph_kernel_arg *arg = gphi_vec_add(&bundle->args, 2);
    struct gphi_bundle_kernel *kernel = ADD(&bundle->kernels, struct gphi_bundle_kernel);
    struct gphi_bundle_graph *graph = gphi_vec_add(&bundle->graphs, 2);
    struct gphi_bundle_block *eager = ADD(&bundle->eager, struct gphi_bundle_block);
    if (graph != NULL) {
        gphi_bundle_graph_init(&graph[0], bundle->heap);
        gphi_bundle_graph_init(&graph[1], bundle->heap);
    }
    if (range == NULL || arg == NULL || kernel == NULL || graph == NULL || eager == NULL)
        return GPH_E_NO_MEMORY;
    *range = (struct gphi_bundle_range){arena, 0x7f0000000000, 0x7f1000000000, 1 << 20};
    arg[0] = (gph_kernel_arg){0, 8};
    arg[1] = (gph_kernel_arg){8, 4};
    *kernel = (struct gphi_bundle_kernel){.image = "hash",
                                          .name = kernel_name,
                                          .buffer_bytes = 12,
                                          .carveout = -1,
                                          .arg_count = 2};
    *eager = (struct gphi_bundle_block){.kind = 5, .offset = 512, .bytes = 512};
    graph[0].name = graph_name;
    graph[0].is_movable = 1;
    graph[0].input_count = 1;
    graph[1].name = other;
    struct gphi_bundle_refusal *refusal =
        ADD(&graph[1].refusals, struct gphi_bundle_refusal);
    if (refusal == NULL)
        return GPH_E_NO_MEMORY;
    *refusal = (struct gphi_bundle_refusal){3, GPH_NODE_HOST, -1, why};
    return fill_graph(graph);
}

/* The file of fill(). */
static gphi_vec written;

static void write_once(void)
{
    gph_error error = {0};
    gphi_bundle bundle;
    gphi_bundle_init(&bundle, gphi_heap(NULL));
    CHECK(fill(&bundle) == GPH_OK);
    gphi_vec_init(&written, gphi_heap(NULL), 1);
    CHECK_OK(gphi_bundle_write(&bundle, &written, &error), error);
    gphi_bundle_fini(&bundle);
}

static gph_status read_bytes(const void *bytes, size_t count, gphi_bundle *out,
                             gph_error *error)
{
    gphi_bundle_init(out, gphi_heap(NULL));
    return gphi_bundle_read(out, bytes, count, &limits, error);
}

static void what_is_written_is_read_again(void)
{
    gph_error error = {0};
    gphi_bundle again;
    CHECK_OK(read_bytes(written.items, written.count, &again, &error), error);
    CHECK(again.graphs.count == 2 && again.kernels.count == 1 && again.ranges.count == 1);
    const struct gphi_bundle_graph *graph = GPHI_BUNDLE_AT(&again.graphs, graph, 0);
    CHECK(strcmp(gphi_bundle_text(&again, graph->name), "bucket 8") == 0);
    CHECK(graph->nodes.count == 4 && graph->edges.count == 2 && graph->words.count == 4);
    CHECK(graph->order.count == 4);
    CHECK(((const gph_edge *)gphi_vec_at(&graph->edges, 1))->type == 1);
    CHECK(*(int64_t *)gphi_vec_at(&graph->keys, 1) == -1);
    CHECK(GPHI_BUNDLE_AT(&again.kernels, kernel, 0)->carveout == -1);
    gphi_vec twice;
    gphi_vec_init(&twice, gphi_heap(NULL), 1);
    CHECK_OK(gphi_bundle_write(&again, &twice, &error), error);
    CHECK(twice.count == written.count &&
          memcmp(twice.items, written.items, twice.count) == 0);
    gphi_vec_fini(&twice);
    gphi_bundle_fini(&again);
}

static void every_shorter_file_is_refused(void)
{
    for (size_t count = 0; count < written.count; count++) {
        gph_error error = {0};
        gphi_bundle again;
        if (!CHECK(read_bytes(written.items, count, &again, &error) == GPH_E_FORMAT))
            fprintf(stderr, "  %zu bytes: %s\n", count, error.message);
        CHECK(strncmp(error.message, "byte ", 5) == 0 ||
              strcmp(error.message, "this is not a recipe") == 0);
        CHECK(again.graphs.count == 0 && again.graphs.items == NULL);
        gphi_bundle_fini(&again);
    }
}

/* The contents of the file alone, as a file that is not packed and has no checksum, so
 * that what is in it is reached. */
static size_t plain_file(unsigned char *out, size_t room)
{
    gph_error error = {0};
    gphi_bundle again;
    CHECK_OK(read_bytes(written.items, written.count, &again, &error), error);
    gphi_vec plain;
    gphi_vec_init(&plain, gphi_heap(NULL), 1);
    CHECK_OK(gphi_bundle_write_plain(&again, &plain, &error), error);
    const size_t count = plain.count;
    if (CHECK(count > 48 && count <= room))
        memcpy(out, plain.items, count);
    gphi_vec_fini(&plain);
    gphi_bundle_fini(&again);
    return count;
}

static void no_changed_byte_breaks_the_reader(void)
{
    static unsigned char plain[8192];
    const size_t count = plain_file(plain, sizeof(plain));
    uint32_t refused = 0;
    for (size_t at = 0; at < count; at++)
        for (int bit = 0; bit < 9; bit++) {
            const unsigned char before = plain[at];
            plain[at] = bit < 8 ? (unsigned char)(before ^ (1 << bit)) : 0xff;
            gph_error error = {0};
            gphi_bundle again;
            const gph_status status = read_bytes(plain, count, &again, &error);
            CHECK(status == GPH_OK || status == GPH_E_FORMAT ||
                  (status == GPH_E_UNSUPPORTED && at < 48));
            CHECK(status == GPH_OK || error.message[0] != '\0');
            refused += status != GPH_OK;
            gphi_bundle_fini(&again);
            plain[at] = before;
        }
    CHECK(refused > count);                     /* most bits mean something */
    for (size_t cut = 48; cut < count; cut++) { /* with a header that agrees */
        gph_error error = {0};
        gphi_bundle again;
        const uint64_t left = cut - 48;
        memcpy(plain + 16, &left, 8);
        memcpy(plain + 24, &left, 8);
        CHECK(read_bytes(plain, cut, &again, &error) == GPH_E_FORMAT);
        gphi_bundle_fini(&again);
    }
}

static void header_errors_name_the_byte_and_the_value(void)
{
    static const struct {
        size_t at;
        unsigned char value;
        gph_status status;
        const char *says;
    } wrong[] = {
        {0, 'x', GPH_E_FORMAT, "this is not a recipe"},
        {8, 9, GPH_E_UNSUPPORTED,
         "byte 8: version 9 of the format; this library reads 2"},
        {22, 1, GPH_E_FORMAT, "byte 16: "},
        {24, 1, GPH_E_FORMAT, "byte 24: "},
        {40, 7, GPH_E_FORMAT, "byte 40: checksum of kind 7"},
        {44, 7, GPH_E_FORMAT, "byte 40: "},
    };
    static unsigned char plain[8192];
    const size_t count = plain_file(plain, sizeof(plain));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const unsigned char before = plain[wrong[i].at];
        plain[wrong[i].at] = wrong[i].value;
        gph_error error = {0};
        gphi_bundle again;
        CHECK(read_bytes(plain, count, &again, &error) == wrong[i].status);
        if (!CHECK(strstr(error.message, wrong[i].says) != NULL))
            fprintf(stderr, "  %s\n", error.message);
        gphi_bundle_fini(&again);
        plain[wrong[i].at] = before;
    }
}

static void a_changed_byte_of_a_file_with_a_checksum_is_found(void)
{
    const unsigned char *bytes = written.items;
    if (bytes[40] == 0)
        SKIP("this build has no xxhash");
    unsigned char *copy = malloc(written.count);
    memcpy(copy, bytes, written.count);
    copy[written.count - 1] ^= 1;
    gph_error error = {0};
    gphi_bundle again;
    CHECK(read_bytes(copy, written.count, &again, &error) == GPH_E_FORMAT);
    CHECK(strstr(error.message, "checksum") != NULL);
    gphi_bundle_fini(&again);
    free(copy);
}

static void limits_hold(void)
{
    gph_error error = {0};
    gphi_bundle again;
    gphi_bundle_init(&again, gphi_heap(NULL));
    const struct gphi_bundle_limits few = {.unpacked_bytes = 1 << 20, .nodes = 3};
    CHECK(gphi_bundle_read(&again, written.items, written.count, &few, &error) ==
          GPH_E_FORMAT);
    CHECK(strstr(error.message, "4 nodes") != NULL);
    const struct gphi_bundle_limits small = {.unpacked_bytes = 100, .nodes = 1000};
    CHECK(gphi_bundle_read(&again, written.items, written.count, &small, &error) ==
          GPH_E_FORMAT);
    gphi_bundle_fini(&again);
}

static void graphs_are_put_into_order_and_cycles_found(void)
{
    struct gphi_bundle_graph graph;
    gphi_bundle_graph_init(&graph, gphi_heap(NULL));
    enum { NODES = 2000 };
    CHECK(gphi_vec_add(&graph.nodes, NODES) != NULL);
    for (uint32_t i = 0; i + 1 < NODES; i++) /* a chain that runs backwards */
        *ADD(&graph.edges, gph_edge) = (gph_edge){.from = i + 1, .to = i};
    CHECK(gphi_bundle_order(&graph) == GPH_OK);
    const uint32_t *order = graph.order.items;
    for (uint32_t i = 0; i < NODES; i++)
        CHECK(order[i] == NODES - 1 - i);
    *ADD(&graph.edges, gph_edge) = (gph_edge){.from = 0, .to = NODES - 1};
    CHECK(gphi_bundle_order(&graph) == GPH_E_INVALID);
    gphi_bundle_graph_fini(&graph);
}

static void survives_every_failed_allocation(void)
{
    for (long nth = 0; nth < 1000; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_error error = {0};
        gphi_bundle bundle, again;
        gphi_vec bytes;
        gphi_vec_init(&bytes, allocator, 1);
        gphi_bundle_init(&bundle, allocator);
        gphi_bundle_init(&again, allocator);
        gph_status status = fill(&bundle);
        if (status == GPH_OK)
            status = gphi_bundle_write(&bundle, &bytes, &error);
        if (status == GPH_OK)
            status = gphi_bundle_read(&again, bytes.items, bytes.count, &limits, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        gphi_bundle_fini(&again);
        gphi_bundle_fini(&bundle);
        gphi_vec_fini(&bytes);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (atomic_load(&heap.fail_at) >= 0) { /* none was left to fail */
            CHECK(status == GPH_OK);
            return;
        }
    }
    CHECK(atomic_load(&test_failures) > 0); /* it never ended */
}

int main(void)
{
    write_once();
    RUN(sha256_is_that_of_the_standard);
    RUN(what_is_written_is_read_again);
    RUN(every_shorter_file_is_refused);
    RUN(no_changed_byte_breaks_the_reader);
    RUN(header_errors_name_the_byte_and_the_value);
    RUN(a_changed_byte_of_a_file_with_a_checksum_is_found);
    RUN(limits_hold);
    RUN(graphs_are_put_into_order_and_cycles_found);
    RUN(survives_every_failed_allocation);
    gphi_vec_fini(&written);
    return test_done();
}
